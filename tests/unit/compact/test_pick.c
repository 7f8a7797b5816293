#include <criterion/criterion.h>
#include <inttypes.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

TestSuite(compact_pick, .timeout = 20);

enum { FILES_MAX = 8 };

static bool
is_named_x(void *ctx, const sinter_file_meta *file)
{
    (*(size_t *)ctx)++;
    return file->file_name[0] == 'x';
}

/* Names of what is picked, one letter each. */
static const char *
names_of(const sinter_compact_task *task)
{
    static char names[FILES_MAX + 1];

    for (size_t i = 0; i < task->count; i++) {
        names[i] = task->files[i].file_name[0];
    }
    names[task->count] = '\0';
    return names;
}

Test(compact_pick, a_full_pick_takes_all_files_and_drops_deletes_where_nothing_lies_below)
{
    const sinter_file_meta files[] = {file_of("a", 0, "a", "m"), file_of("b", 2, "b", "c"),
                                      file_of("c", 5, "a", "z")};
    sinter_file_meta picked[3];
    sinter_compact_task task;

    sinter_compact_task_init(&task);
    task.output_level = 5;
    task.max_level = 5;
    cr_assert_eq(sinter_compact_task_pick_full(&task, files, 3, picked, NULL), SINTER_OK);
    cr_expect_str_eq(names_of(&task), "abc");
    cr_expect_eq(task.files, picked);
    cr_expect(task.drop_delete);
    cr_expect_not(task.file_rewrite);
    task.output_level = 3;
    cr_assert_eq(sinter_compact_task_pick_full(&task, files, 3, picked, NULL), SINTER_OK);
    cr_expect_not(task.drop_delete, "c lies below level 3");
}

Test(compact_pick, one_run_at_the_highest_level_is_left_unless_a_file_gains)
{
    const sinter_file_meta files[] = {file_of("a", 5, "a", "b"), file_of("x", 5, "c", "d"),
                                      file_of("c", 5, "e", "f")};
    sinter_compact_options options;
    sinter_file_meta picked[3];
    sinter_compact_task task;
    size_t asked = 0;

    sinter_compact_options_init(&options);
    sinter_compact_task_init(&task);
    task.output_level = 5;
    task.max_level = 5;
    task.options = &options;
    cr_assert_eq(sinter_compact_task_pick_full(&task, files, 3, picked, NULL), SINTER_OK);
    cr_expect_eq(task.count, 0);
    task.is_expired = is_named_x;
    task.expire_ctx = &asked;
    cr_assert_eq(sinter_compact_task_pick_full(&task, files, 3, picked, NULL), SINTER_OK);
    cr_expect_str_eq(names_of(&task), "x");
    cr_expect(task.file_rewrite, "each file by itself");
    cr_expect_eq(asked, 3);
    options.force_rewrite_all_files = true;
    cr_assert_eq(sinter_compact_task_pick_full(&task, files, 3, picked, NULL), SINTER_OK);
    cr_expect_str_eq(names_of(&task), "axc");
    cr_expect(task.file_rewrite);
    task.max_level = 6;
    cr_assert_eq(sinter_compact_task_pick_full(&task, files, 3, picked, NULL), SINTER_OK);
    cr_expect_str_eq(names_of(&task), "axc", "the highest level is 6 now");
    cr_expect_not(task.file_rewrite);
}

Test(compact_pick, of_nothing_nothing_is_picked)
{
    sinter_compact_task task;

    sinter_compact_task_init(&task);
    task.count = 7;
    cr_assert_eq(sinter_compact_task_pick_full(&task, NULL, 0, NULL, NULL), SINTER_OK);
    cr_expect_eq(task.count, 0);
}

Test(compact_pick, bad_arguments_are_refused_and_the_task_stays)
{
    const sinter_file_meta good = file_of("a", 0, "a", "b");
    const sinter_file_meta bad = file_of("a/b", 0, "a", "b");
    sinter_compact_options bad_options;
    sinter_file_meta picked[1];
    sinter_compact_task task;
    sinter_error err = SINTER_ERROR_INIT;

    sinter_compact_options_init(&bad_options);
    bad_options.block_bytes = 0;
    sinter_compact_task_init(&task);
    task.count = 7;
    cr_expect_eq(sinter_compact_task_pick_full(NULL, &good, 1, picked, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_compact_task_pick_full(&task, NULL, 1, picked, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_compact_task_pick_full(&task, &good, 1, NULL, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_compact_task_pick_full(&task, &bad, 1, picked, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "a/b");
    task.options = &bad_options;
    cr_expect_eq(sinter_compact_task_pick_full(&task, &good, 1, picked, NULL), SINTER_E_INVALID);
    task.options = NULL;
    task.struct_size = 0;
    cr_expect_eq(sinter_compact_task_pick_full(&task, &good, 1, picked, NULL), SINTER_E_INVALID);
    cr_expect_eq(task.count, 7);
    cr_expect_null(task.files);
}

Test(compact_pick, a_pick_is_a_unit_that_a_task_takes)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        test_rng rng = {seed * 7919};
        const int32_t max_level = 1 + (int32_t)test_rng_below(&rng, 4);
        const bool is_forced = test_rng_chance(&rng, 30);
        static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
        static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
        const size_t count = test_rng_below(&rng, FILES_MAX + 1);
        sinter_file_meta files[FILES_MAX];
        sinter_file_meta picked[FILES_MAX];
        sinter_compact_options options;
        sinter_compact_result *result = NULL;
        sinter_compact_task task;
        bool is_top = true;

        for (size_t i = 0; i < count; i++) {
            const int32_t level =
                test_rng_chance(&rng, 60) ? max_level : (int32_t)test_rng_below(&rng, 2);

            files[i] = file_of(names[i], level, keys[i], keys[i]);
            is_top = is_top && level == max_level;
        }
        sinter_compact_options_init(&options);
        options.force_rewrite_all_files = is_forced;
        sinter_compact_task_init(&task);
        task.max_level = max_level;
        task.output_level = max_level;
        task.base_dir = ".";
        task.options = &options;
        cr_assert_eq(sinter_compact_task_pick_full(&task, files, count, picked, NULL), SINTER_OK);
        cr_assert_eq(task.count, is_top && !is_forced ? 0 : count, "seed %" PRIu64, seed);
        cr_assert(task.drop_delete, "seed %" PRIu64, seed);
        cr_assert_eq(sinter_compact_task_plan(sinter_env_default(), &task, &result, NULL),
                     SINTER_OK, "seed %" PRIu64, seed);
        sinter_compact_result_destroy(result);
    }
}
