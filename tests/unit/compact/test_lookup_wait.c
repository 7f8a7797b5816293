#include <criterion/criterion.h>

#include "files.h"
#include "sinter/io.h"
#include "sinter/merge_tree.h"

TestSuite(compact_lookup_wait, .timeout = 60);

/* Does a commit that need not wait hand over what the compaction of its flush has done? Nobody but
 * one who waits runs it. */
static bool
commit_has_compaction(bool needs_lookup, bool lookup_wait)
{
    sinter_env env = *sinter_env_default();
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_merge_tree_config config = {.struct_size = sizeof config, .max_sequence = -1};
    sinter_scheduler *scheduler = NULL;
    sinter_merge_tree *tree = NULL;
    sinter_increment *increment = NULL;
    bool has_compaction = false;

    cr_assert_eq(sinter_io_create(&env, SINTER_IO_MEMORY, NULL, &env.io, NULL), SINTER_OK);
    cr_assert_eq(env.io->ops->mkdir(env.io, "bucket", NULL), SINTER_OK);
    cr_assert_eq(sinter_scheduler_create(&env, NULL, &scheduler, NULL), SINTER_OK);
    sinter_compact_options_init(&options);
    options.write_buffer_bytes = 1 << 20;
    options.memory_bytes = 16 << 20;
    options.lookup_wait = lookup_wait;
    options.force_up_level_0 = true;
    sinter_compact_task_init(&task);
    task.base_dir = "bucket";
    task.options = &options;
    config.task = &task;
    config.scheduler = scheduler;
    config.needs_lookup = needs_lookup;
    cr_assert_eq(sinter_merge_tree_open(&env, &config, &tree, NULL), SINTER_OK);
    cr_assert_eq(sinter_merge_tree_write(tree, text_bytes("key"), SINTER_KIND_INSERT,
                                         text_bytes("value"), NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_merge_tree_prepare_commit(tree, false, &increment, NULL), SINTER_OK);
    cr_assert_eq(sinter_increment_new_files(increment)->count, 1);
    has_compaction = sinter_increment_compact_after(increment)->count == 1;
    sinter_increment_destroy(increment);
    sinter_merge_tree_close(tree);
    sinter_scheduler_destroy(scheduler);
    sinter_io_destroy(env.io);
    return has_compaction;
}

Test(compact_lookup_wait, a_commit_waits_where_lookup_is_needed_unless_it_is_told_not_to)
{
    cr_expect(commit_has_compaction(true, true));
    cr_expect_not(commit_has_compaction(true, false));
    cr_expect_not(commit_has_compaction(false, true), "level 0 is forced up, and nobody waits");
}
