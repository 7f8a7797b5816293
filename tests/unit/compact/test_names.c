/*
 * Names that are searched for, alone and where there are many. Comparisons of texts are counted:
 * this program has a strcmp of its own, which the library is linked with.
 */
#include "compact/names.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/alloc.h"
#include "compact/increment.h"
#include "compact/result.h"
#include "files.h"
#include "sinter/io.h"
#include "sinter/levels.h"
#include "support/fault_alloc.h"

TestSuite(compact_names, .timeout = 60);

/* Each by each would be a hundred million, or fifty. */
enum { MANY = 10000, COMPARISONS_MAX = 64 * MANY };

static uint64_t comparisons;

int
strcmp(const char *a, const char *b)
{
    comparisons++;
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

/* ---- alone ---- */

Test(compact_names, a_name_is_found_with_its_file_and_others_are_not)
{
    static const char *const extras[] = {"m.index", "a.index"};
    sinter_file_meta files[] = {file_of("m", 0, "a", "b"), file_of("c", 1, "a", "b"),
                                file_of("x", 2, "a", "b")};
    sinter__names names;

    files[1].extra_files = extras;
    files[1].extra_file_count = 2;
    cr_assert_eq(sinter__names_of_files(sinter_env_default(), files, 3, &names, NULL), SINTER_OK);
    cr_assert_not_null(sinter__names_find(&names, "m"));
    cr_expect_eq(sinter__names_find(&names, "m")->file, &files[0]);
    cr_expect_eq(sinter__names_find(&names, "x")->file, &files[2]);
    cr_expect_null(sinter__names_find(&names, "m.index"));
    cr_expect_null(sinter__names_find(&names, ""));
    sinter__names_fini(sinter_env_default(), &names);
    cr_assert_eq(sinter__names_of_all(sinter_env_default(), files, 3, &names, NULL), SINTER_OK);
    cr_assert_not_null(sinter__names_find(&names, "m.index"));
    cr_expect_eq(sinter__names_find(&names, "a.index")->file, &files[1]);
    sinter__names_fini(sinter_env_default(), &names);
    cr_expect_null(sinter__names_find(&names, "m"), "an empty one has none");
}

/* ---- many ---- */

static char texts[MANY][64];
static sinter_file_meta many[MANY];
static uint8_t keys[MANY][4];

/* Files of a level in key order, with names as the library gives them, in no order. */
static void
make_many(int32_t level)
{
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t mixed = i * 7919 % MANY;
        const uint8_t key[4] = {0, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};

        memcpy(keys[i], key, sizeof key);
        (void)snprintf(texts[i], sizeof texts[i], "data-%08x-0000-4000-8000-000000000000-%u.sst",
                       (unsigned)mixed, (unsigned)i);
        many[i] = file_of(texts[i], level, "", "");
        many[i].min_key = (sinter_bytes){keys[i], 4};
        many[i].max_key = (sinter_bytes){keys[i], 4};
        many[i].min_sequence_number = i;
        many[i].max_sequence_number = i;
    }
}

static void
expect_few(const char *what)
{
    cr_expect_lt(comparisons, COMPARISONS_MAX, "%s: %llu comparisons", what,
                 (unsigned long long)comparisons);
    cr_expect_gt(comparisons, MANY, "%s: they are counted", what);
    comparisons = 0;
}

static void
nothing(void *ctx, const sinter_file_meta *file)
{
    (*(size_t *)ctx)++;
    (void)file;
}

/* A compaction that moves all files up. */
static sinter_compact_result *
move_all(int32_t level)
{
    sinter_compact_result *result = NULL;

    cr_assert_eq(sinter__result_create(sinter_env_default(), many, MANY, &result, NULL), SINTER_OK);
    for (size_t i = 0; i < MANY; i++) {
        cr_assert_eq(sinter__result_add_before(result, &many[i], NULL), SINTER_OK);
        cr_assert_eq(sinter__result_add_upgraded(result, &many[i], level, NULL), SINTER_OK);
    }
    return result;
}

Test(compact_names, increments_of_many_files_need_few_comparisons)
{
    sinter_compact_result *first = NULL;
    sinter_compact_result *second = NULL;
    sinter_increment earlier;
    sinter_increment later;
    size_t own = 0;
    size_t gone = 0;

    make_many(1);
    first = move_all(3);
    make_many(3);
    second = move_all(5);
    sinter__increment_init(&earlier, sinter_env_default());
    sinter__increment_init(&later, sinter_env_default());
    comparisons = 0;
    cr_assert_eq(sinter__increment_note(&earlier, first, nothing, &gone, NULL), SINTER_OK);
    cr_assert_eq(sinter__increment_note(&later, second, nothing, &gone, NULL), SINTER_OK);
    expect_few("noted");
    cr_assert_eq(sinter__increment_join(&earlier, &later, nothing, &gone, NULL), SINTER_OK);
    expect_few("joined");
    sinter__increment_each_own(&earlier, nothing, &own);
    expect_few("told apart");
    cr_expect_eq(own, 0, "all are the catalog's");
    cr_expect_eq(gone, 0);
    cr_expect_eq(earlier.compact_after.list.count, MANY);
    sinter__increment_fini(&later);
    sinter__increment_fini(&earlier);
    sinter_compact_result_destroy(second);
    sinter_compact_result_destroy(first);
}

Test(compact_names, levels_of_many_files_need_few_comparisons)
{
    const sinter_levels_options options = {
        .struct_size = sizeof options, .num_levels = 6, .base_dir = "d"};
    sinter_env env = *sinter_env_default();
    const sinter_file_set *held = NULL;
    sinter_compact_result *moved = NULL;
    const sinter_file_list *after = NULL;
    sinter_levels *levels = NULL;
    sinter_io *memory = NULL;

    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &memory, NULL),
                 SINTER_OK);
    env.io = memory;
    cr_assert_eq(memory->ops->mkdir(memory, "d", NULL), SINTER_OK);
    make_many(1);
    moved = move_all(4);
    after = sinter_compact_result_after(moved);
    cr_assert_eq(sinter_levels_create(&env, &options, many, MANY, &levels, NULL), SINTER_OK);
    comparisons = 0;
    held = sinter_levels_acquire(levels);
    cr_assert_eq(sinter_levels_update(levels, many, MANY, after->files, after->count, NULL),
                 SINTER_OK);
    expect_few("moved");
    cr_expect_eq(sinter_levels_discard(levels, &many[MANY / 2], NULL), SINTER_E_INVALID);
    cr_assert_eq(sinter_levels_update(levels, after->files, after->count, NULL, 0, NULL),
                 SINTER_OK);
    comparisons = 0;
    for (size_t i = 0; i < MANY; i++) {
        cr_assert_eq(sinter_levels_discard(levels, &many[i], NULL), SINTER_OK);
    }
    cr_expect_lt(comparisons, COMPARISONS_MAX, "discarded under a reader");
    sinter_file_set_release(held);
    sinter_levels_destroy(levels);
    sinter_compact_result_destroy(moved);
    sinter_io_destroy(memory);
}

Test(compact_names, cleaning_beside_many_files_needs_few_comparisons)
{
    const sinter_clean_options options = {
        .struct_size = sizeof options, .files = many, .count = MANY};
    sinter_clean_result done = {.struct_size = sizeof done};
    sinter_env env = *sinter_env_default();
    sinter_io *memory = NULL;

    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &memory, NULL),
                 SINTER_OK);
    env.io = memory;
    cr_assert_eq(memory->ops->mkdir(memory, "d", NULL), SINTER_OK);
    make_many(1);
    for (size_t i = 0; i < MANY; i += 10) {
        char path[80];

        (void)snprintf(path, sizeof path, "d/%.60s", texts[i]);
        cr_assert_eq(memory->ops->replace(memory, path, "x", 1, NULL), SINTER_OK);
    }
    comparisons = 0;
    cr_assert_eq(sinter_clean_dir(&env, "d", &options, &done, NULL), SINTER_OK);
    expect_few("cleaned");
    cr_expect_eq(done.files, 0);
    sinter_io_destroy(memory);
}

Test(compact_names, every_allocation_may_fail)
{
    static const char *const extras[] = {"m.index"};
    sinter_file_meta file = file_of("m", 0, "a", "b");
    sinter_status st = SINTER_E_NOMEM;

    file.extra_files = extras;
    file.extra_file_count = 1;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__names names;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter__names_of_all(&fault.env, &file, 1, &names, NULL);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && names.count == 0));
        sinter__names_fini(&fault.env, &names);
        cr_assert_eq(fault.live, 0);
    }
}
