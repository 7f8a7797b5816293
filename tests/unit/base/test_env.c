#include <criterion/criterion.h>
#include <string.h>

#include "base/env.h"
#include "base/hash.h"

TestSuite(base_env, .timeout = 20);

Test(base_env, a_fresh_environment_has_all_it_needs)
{
    sinter_env env;
    int64_t before = 0;
    void *block = NULL;

    memset(&env, 0xab, sizeof env);
    sinter_env_init(&env);
    cr_expect_eq(env.struct_size, sizeof env);
    cr_expect(env.io != NULL && env.memory == NULL && env.listener == NULL);
    cr_expect(env.executor.submit == NULL && env.random_seed == 0);
    cr_expect(sinter__now_ms(&env) > INT64_C(1500000000000));
    before = sinter__now_ns(&env);
    cr_expect(sinter__now_ns(&env) >= before);
    cr_expect(sinter__cpu_ns(&env) >= 0);
    block = env.allocator.allocate(env.allocator.ctx, 100);
    block = env.allocator.resize(env.allocator.ctx, block, 1000);
    cr_expect(block != NULL && (uintptr_t)block % 16 == 0);
    env.allocator.release(env.allocator.ctx, block);
    cr_expect(sinter_env_default() == sinter_env_default());
}

static void
note(void *ctx, const sinter_event *event)
{
    sinter_event *seen = ctx;

    *seen = *event;
    cr_expect(strcmp(event->text, "words") == 0 && strcmp(event->file, "a file") == 0);
}

Test(base_env, a_listener_hears_and_silence_is_fine)
{
    sinter_event seen = {0};
    sinter_listener listener = {.struct_size = (uint32_t)sizeof listener, .ctx = &seen};
    sinter_env env;

    sinter_env_init(&env);
    sinter__log(&env, SINTER_E_IO, "a file", "words");
    env.listener = &listener;
    sinter__log(&env, SINTER_E_IO, "a file", "words");
    cr_expect_eq(seen.status, 0);
    listener.log = note;
    sinter__log(&env, SINTER_E_IO, "a file", "words");
    cr_expect_eq(seen.status, SINTER_E_IO);
    cr_expect_eq(seen.struct_size, sizeof seen);
}

static int64_t
given_ms(void *ctx)
{
    return *(const int64_t *)ctx;
}

static int32_t
no_hour(void *ctx)
{
    (void)ctx;
    return 24;
}

static int32_t
hour_7(void *ctx)
{
    (void)ctx;
    return 7;
}

Test(base_env, the_local_hour_is_that_of_utc_where_the_clock_has_none)
{
    int64_t now_ms = 13 * INT64_C(3600000) - 1;
    sinter_env env;

    sinter_env_init(&env);
    cr_expect(sinter__local_hour(&env) >= 0 && sinter__local_hour(&env) <= 23);
    env.clock.ctx = &now_ms;
    env.clock.wall_ms = given_ms;
    env.clock.local_hour = hour_7;
    cr_expect_eq(sinter__local_hour(&env), 7);
    env.clock.local_hour = no_hour;
    cr_expect_eq(sinter__local_hour(&env), 12);
    env.clock.local_hour = NULL;
    cr_expect_eq(sinter__local_hour(&env), 12);
    now_ms++;
    cr_expect_eq(sinter__local_hour(&env), 13);
    now_ms = -1;
    cr_expect_eq(sinter__local_hour(&env), 23);
    env.clock.local_hour = hour_7;
    env.clock.struct_size = (uint32_t)offsetof(sinter_clock, local_hour);
    cr_expect_eq(sinter__local_hour(&env), 23, "a clock of an older header");
}

Test(base_env, hashes_are_those_of_the_published_function)
{
    /* XXH3 64 of nothing, as in the test vectors of xxHash. */
    cr_expect_eq(sinter__hash("", 0), UINT64_C(0x2d06800538d394c2));
    cr_expect_eq(sinter__hash_seeded("abc", 3, 0), sinter__hash("abc", 3));
    cr_expect_neq(sinter__hash_seeded("abc", 3, 1), sinter__hash("abc", 3));
}
