#include <criterion/criterion.h>
#include <string.h>

#include "base/uuid.h"

TestSuite(base_uuid, .timeout = 20);

static void
check_form(const char *uuid)
{
    cr_assert_eq(strlen(uuid), SINTER__UUID_CHARS);
    for (size_t i = 0; i < SINTER__UUID_CHARS; i++) {
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        cr_assert(is_dash ? uuid[i] == '-' : strchr("0123456789abcdef", uuid[i]) != NULL, "%s",
                  uuid);
    }
    cr_assert(uuid[14] == '4' && strchr("89ab", uuid[19]) != NULL, "version 4: %s", uuid);
}

Test(base_uuid, names_are_of_version_4_and_differ)
{
    enum { COUNT = 300 };
    static char seen[COUNT][SINTER__UUID_CHARS + 1];
    sinter_env env;

    for (uint64_t seed = 0; seed < 2; seed++) {
        sinter_env_init(&env);
        env.random_seed = seed;
        for (size_t i = 0; i < COUNT; i++) {
            cr_assert_eq(sinter__uuid(&env, i, seen[i], NULL), SINTER_OK);
            check_form(seen[i]);
            for (size_t n = 0; n < i; n++) {
                cr_assert(strcmp(seen[i], seen[n]) != 0, "seed %d, %zu and %zu", (int)seed, i, n);
            }
        }
    }
}

Test(base_uuid, a_seed_gives_the_same_names_again)
{
    char first[SINTER__UUID_CHARS + 1];
    char again[SINTER__UUID_CHARS + 1];
    char other[SINTER__UUID_CHARS + 1];
    sinter_env env;

    sinter_env_init(&env);
    env.random_seed = 5;
    cr_assert_eq(sinter__uuid(&env, 1, first, NULL), SINTER_OK);
    cr_assert_eq(sinter__uuid(&env, 1, again, NULL), SINTER_OK);
    env.random_seed = 6;
    cr_assert_eq(sinter__uuid(&env, 1, other, NULL), SINTER_OK);
    cr_expect(strcmp(first, again) == 0);
    cr_expect(strcmp(first, other) != 0);
}
