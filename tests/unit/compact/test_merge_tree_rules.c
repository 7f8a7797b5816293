/*
 * The write path of a bucket, rule by rule (spec/compaction.md 15.3, 15.4): sequences, flushes,
 * what an increment says, which files are there and which are gone.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/told_strategy.h"
#include "support/tree_bed.h"
#include "support/watch_io.h"

TestSuite(compact_merge_tree_rules, .timeout = 60);

static tree_bed bed;
static told_strategy strategy;
static sinter_error err;

/* An open tree that compacts nothing but what `strategy` says, when a trigger comes. */
static void
begin(void)
{
    bed_init(&bed, NULL, "bucket");
    told_init(&strategy);
    bed.config.strategy = &strategy.base;
    err = (sinter_error)SINTER_ERROR_INIT;
}

static void
open_tree(void)
{
    cr_assert_eq(bed_open(&bed, &err), SINTER_OK, "%s: %s", sinter_status_name(err.status),
                 err.text);
}

static void
begin_open(void)
{
    begin();
    open_tree();
}

static void
end(void)
{
    bed_fini(&bed, true);
}

static void
flush(void)
{
    cr_assert_eq(bed_flush(&bed, &err), SINTER_OK, "%s: %s", sinter_status_name(err.status),
                 err.text);
}

static void
commit(bool wait)
{
    cr_assert_eq(bed_commit(&bed, wait, &err), SINTER_OK, "%s: %s", sinter_status_name(err.status),
                 err.text);
}

/* Compact everything to a level now: the trigger of one flush, taken by the next. */
static void
compact_to(int32_t level)
{
    told_all(&strategy, level);
    flush();
    told_nothing(&strategy);
    flush();
}

/* Name of the only file at a level. Static memory, four names at a time. */
static const char *
name_at(int32_t level)
{
    static char names[4][BED_NAME_BYTES];
    static unsigned turn;
    char *name = names[turn++ % 4];
    const sinter_file_set *set = sinter_merge_tree_acquire(bed.tree);
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);

    name[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (files[i].level == level) {
            (void)snprintf(name, BED_NAME_BYTES, "%s", files[i].file_name);
        }
    }
    sinter_file_set_release(set);
    cr_assert_gt(strlen(name), 0, "no file at level %d", (int)level);
    return name;
}

static bool
is_on_disk(const char *name)
{
    char path[256];
    sinter_io_stat info;

    (void)snprintf(path, sizeof path, "%s/%s", bed.dir, name);
    return bed.memory->ops->stat(bed.memory, path, &info, NULL) == SINTER_OK;
}

static sinter_increment *
prepare(bool wait)
{
    sinter_increment *increment = NULL;

    cr_assert_eq(sinter_merge_tree_prepare_commit(bed.tree, wait, &increment, &err), SINTER_OK,
                 "%s: %s", sinter_status_name(err.status), err.text);
    return increment;
}

/* Put an increment that was looked at into the catalog. */
static void
finish(sinter_increment *increment)
{
    bed_apply(&bed, increment);
    cr_assert_eq(sinter_merge_tree_committed(bed.tree, increment, &err), SINTER_OK, "%s", err.text);
    sinter_increment_destroy(increment);
}

static bool
lists(const sinter_file_list *list, const char *name, int32_t level)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->files[i].level == level && strcmp(list->files[i].file_name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- sequences ---- */

static int64_t
next_sequence_of(int64_t known)
{
    int64_t given = 0;

    bed.catalog.max_sequence = known;
    open_tree();
    bed_put(&bed, 1);
    commit(true);
    for (uint64_t i = 0; i < bed.catalog.count; i++) {
        given =
            bed.catalog.files[i].sequence_max > given ? bed.catalog.files[i].sequence_max : given;
    }
    bed_close(&bed);
    return given;
}

Test(compact_merge_tree_rules, sequences_go_on_behind_the_largest_that_catalog_or_files_know)
{
    begin();
    cr_expect_eq(next_sequence_of(-1), 0, "the first of all");
    cr_expect_eq(next_sequence_of(0), 1);
    cr_expect_eq(next_sequence_of(-1), 2, "the files know more than the catalog");
    cr_expect_eq(next_sequence_of(1000), 1001, "the catalog knows more than the files");
    cr_expect_eq(next_sequence_of(5), 1002);
    end();
}

Test(compact_merge_tree_rules, sequences_do_not_go_back_after_a_failed_flush)
{
    const sinter_fault_options fails = {
        .struct_size = sizeof fails, .kind = SINTER_FAULT_EIO, .only_op = "publish"};
    const sinter_fault_options works = {.struct_size = sizeof works, .at_call = UINT64_MAX};
    sinter_increment *increment = NULL;
    sinter_io *fault = NULL;

    begin();
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), bed.memory, &works, &fault, NULL),
                 SINTER_OK);
    bed.env.io = fault;
    open_tree();
    for (uint32_t i = 0; i < 10; i++) {
        bed_put(&bed, i);
    }
    sinter_io_fault_set(fault, &fails);
    cr_expect_eq(bed_flush(&bed, &err), SINTER_E_IO);
    cr_expect_eq(bed_name_count(&bed), 0);
    sinter_io_fault_set(fault, &works);
    for (uint32_t i = 5; i < 20; i++) {
        bed_put(&bed, i);
    }
    increment = prepare(true);
    cr_assert_eq(sinter_increment_new_files(increment)->count, 1);
    cr_expect_eq(sinter_increment_new_files(increment)->files[0].min_sequence_number, 0);
    cr_expect_eq(sinter_increment_new_files(increment)->files[0].max_sequence_number, 24);
    cr_expect_eq(sinter_increment_new_files(increment)->files[0].row_count, 20);
    cr_expect_eq(sinter_increment_max_sequence(increment), 24);
    bed.flushed = bed.live;
    finish(increment);
    bed_expect_view(&bed, "after a flush that failed once");
    bed_close(&bed);
    sinter_io_destroy(fault);
    end();
}

Test(compact_merge_tree_rules, after_the_last_sequence_nothing_is_written)
{
    begin();
    bed.catalog.max_sequence = INT64_MAX - 2;
    open_tree();
    bed_put(&bed, 1);
    bed_put(&bed, 2);
    cr_expect_eq(bed_write(&bed, 3, SINTER_KIND_INSERT, &err), SINTER_E_OVERFLOW);
    cr_expect_eq(bed_write(&bed, 3, SINTER_KIND_INSERT, &err), SINTER_E_OVERFLOW);
    cr_expect_gt(strlen(err.text), 0);
    commit(true);
    bed_expect_view(&bed, "two rows");
    cr_expect_eq(bed.catalog.max_sequence, INT64_MAX);
    bed_close(&bed);
    open_tree(); /* to read and to compact */
    cr_expect_eq(bed_write(&bed, 3, SINTER_KIND_INSERT, &err), SINTER_E_OVERFLOW);
    end();
}

/* ---- what an increment says ---- */

Test(compact_merge_tree_rules, an_increment_of_nothing_is_empty)
{
    sinter_increment *increment = NULL;

    begin_open();
    increment = prepare(true);
    cr_expect(sinter_increment_is_empty(increment));
    cr_expect_eq(sinter_increment_max_sequence(increment), -1);
    finish(increment);
    bed_put(&bed, 1);
    increment = prepare(false);
    cr_expect_not(sinter_increment_is_empty(increment));
    bed.flushed = bed.live;
    finish(increment);
    increment = prepare(false);
    cr_expect(sinter_increment_is_empty(increment), "what was handed over doesn't come twice");
    cr_expect_eq(sinter_increment_max_sequence(increment), 0);
    finish(increment);
    end();
}

Test(compact_merge_tree_rules, a_chain_of_compactions_between_two_commits_leaves_its_net_effect)
{
    sinter_increment *increment = NULL;
    char old[2][BED_NAME_BYTES];
    char middle[BED_NAME_BYTES];
    char fresh[BED_NAME_BYTES];

    begin_open();
    bed_put(&bed, 1);
    flush();
    (void)snprintf(old[0], sizeof old[0], "%s", name_at(0));
    commit(false);
    bed_put(&bed, 1);
    commit(false);
    cr_assert_eq(bed_run_count(&bed), 2);
    compact_to(3); /* both are rewritten */
    (void)snprintf(middle, sizeof middle, "%s", name_at(3));
    compact_to(4); /* moved */
    cr_expect_str_eq(name_at(4), middle, "one file alone is moved");
    bed_put(&bed, 1);
    flush();
    (void)snprintf(fresh, sizeof fresh, "%s", name_at(0));
    cr_expect(is_on_disk(middle));
    compact_to(5);
    cr_expect_not(is_on_disk(middle), "it was never in a catalog and nobody reads it");
    cr_expect(is_on_disk(fresh), "the next increment names it");
    increment = prepare(true);
    cr_expect_eq(sinter_increment_new_files(increment)->count, 1);
    cr_expect(lists(sinter_increment_new_files(increment), fresh, 0));
    cr_expect_eq(sinter_increment_compact_before(increment)->count, 3, "%s",
                 bed_list_text(sinter_increment_compact_before(increment)));
    cr_expect(lists(sinter_increment_compact_before(increment), old[0], 0));
    cr_expect(lists(sinter_increment_compact_before(increment), fresh, 0));
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 1, "%s",
                 bed_list_text(sinter_increment_compact_after(increment)));
    cr_expect(lists(sinter_increment_compact_after(increment), name_at(5), 5));
    cr_expect_eq(bed_name_count(&bed), 4, "what the catalog still names stays");
    finish(increment);
    cr_expect_eq(bed_name_count(&bed), 1, "what it retired goes when it is told so");
    bed_expect_view(&bed, "at the end");
    end();
}

Test(compact_merge_tree_rules, a_file_that_only_changes_its_level_keeps_its_data)
{
    sinter_increment *increment = NULL;
    char name[BED_NAME_BYTES];

    begin_open();
    bed_put(&bed, 7);
    commit(false);
    (void)snprintf(name, sizeof name, "%s", name_at(0));
    compact_to(2);
    compact_to(4);
    increment = prepare(true);
    cr_expect_eq(sinter_increment_new_files(increment)->count, 0);
    cr_expect_eq(sinter_increment_compact_before(increment)->count, 1);
    cr_expect(lists(sinter_increment_compact_before(increment), name, 0));
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 1);
    cr_expect(lists(sinter_increment_compact_after(increment), name, 4));
    cr_expect_eq(sinter_increment_compact_after(increment)->files[0].file_source,
                 SINTER_FILE_SOURCE_APPEND);
    finish(increment);
    cr_expect(is_on_disk(name), "it is retired at level 0 and added at level 4");
    bed_expect_view(&bed, "after the commit");
    bed_close(&bed);
    open_tree();
    bed_expect_view(&bed, "after a restart");
    end();
}

Test(compact_merge_tree_rules, a_file_that_was_moved_and_then_rewritten_is_retired_as_it_was)
{
    sinter_increment *increment = NULL;
    char name[BED_NAME_BYTES];

    begin_open();
    bed_put(&bed, 7);
    commit(false);
    (void)snprintf(name, sizeof name, "%s", name_at(0));
    compact_to(2);
    bed_put(&bed, 7);
    compact_to(3);
    cr_expect(is_on_disk(name), "the catalog names it at level 0");
    increment = prepare(true);
    cr_expect_eq(sinter_increment_compact_before(increment)->count, 2);
    cr_expect(lists(sinter_increment_compact_before(increment), name, 0), "%s",
              bed_list_text(sinter_increment_compact_before(increment)));
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 1);
    finish(increment);
    cr_expect_not(is_on_disk(name));
    bed_expect_names(&bed, "after the commit");
    end();
}

/* ---- schemas ---- */

static int64_t
schema_at(int32_t level)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(bed.tree);
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);
    int64_t schema_id = -1;

    for (size_t i = 0; i < count; i++) {
        schema_id = files[i].level == level ? files[i].schema_id : schema_id;
    }
    sinter_file_set_release(set);
    return schema_id;
}

Test(compact_merge_tree_rules, new_files_have_the_newest_schema_that_task_or_files_know)
{
    begin();
    bed.task.schema_id = 7;
    open_tree();
    bed_put(&bed, 1);
    flush();
    cr_expect_eq(schema_at(0), 7);
    compact_to(3);
    cr_expect_eq(schema_at(3), 7);
    commit(true);
    bed_close(&bed);
    bed.task.schema_id = 5; /* the files know a newer one */
    open_tree();
    bed_put(&bed, 1);
    flush();
    cr_expect_eq(schema_at(0), 7);
    commit(true);
    bed_close(&bed);
    bed.task.schema_id = 9; /* the files are rewritten with it */
    open_tree();
    compact_to(4);
    cr_expect_eq(schema_at(4), 9);
    commit(true);
    bed_close(&bed);
    bed.task.schema_id = (int64_t)UINT32_MAX + 1;
    cr_expect_eq(bed_open(&bed, &err), SINTER_E_OVERFLOW);
    end();
}

/* ---- a commit that failed for sure ---- */

static void
give_back(sinter_increment *increment)
{
    cr_assert_eq(sinter_merge_tree_return(bed.tree, increment, &err), SINTER_OK, "%s", err.text);
}

Test(compact_merge_tree_rules, an_increment_that_came_back_is_part_of_the_next)
{
    sinter_increment *increment = NULL;
    char first[BED_NAME_BYTES];
    char made[BED_NAME_BYTES];

    begin_open();
    bed_put(&bed, 1);
    flush();
    (void)snprintf(first, sizeof first, "%s", name_at(0));
    bed_put(&bed, 2);
    compact_to(3);
    (void)snprintf(made, sizeof made, "%s", name_at(3));
    increment = prepare(true);
    cr_expect(lists(sinter_increment_compact_after(increment), made, 3));
    give_back(increment);
    cr_expect(is_on_disk(made));
    cr_expect(is_on_disk(first));
    bed_put(&bed, 1);
    compact_to(4); /* what the increment made goes into another file */
    increment = prepare(true);
    cr_expect_not(is_on_disk(made), "nobody names it any more");
    cr_expect_eq(sinter_increment_max_sequence(increment), 2, "numbers go on");
    cr_expect_eq(sinter_increment_new_files(increment)->count, 3);
    cr_expect_eq(sinter_increment_compact_before(increment)->count, 3, "%s",
                 bed_list_text(sinter_increment_compact_before(increment)));
    cr_expect_not(lists(sinter_increment_compact_before(increment), made, 3));
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 1, "%s",
                 bed_list_text(sinter_increment_compact_after(increment)));
    cr_expect(lists(sinter_increment_compact_after(increment), name_at(4), 4));
    bed.flushed = bed.live;
    finish(increment);
    bed_expect_same_files(&bed);
    bed_expect_catalog(&bed, "after the second try");
    cr_expect_eq(bed_name_count(&bed), 1);
    end();
}

Test(compact_merge_tree_rules, a_file_of_an_increment_that_came_back_stays_while_a_set_lists_it)
{
    const sinter_file_set *held = NULL;
    char made[BED_NAME_BYTES];

    begin_open();
    bed_put(&bed, 1);
    compact_to(3);
    (void)snprintf(made, sizeof made, "%s", name_at(3));
    held = sinter_merge_tree_acquire(bed.tree);
    give_back(prepare(true));
    bed_put(&bed, 2);
    compact_to(4);
    give_back(prepare(true));
    cr_expect(is_on_disk(made), "a reader holds it");
    bed_close(&bed);
    cr_expect(is_on_disk(made));
    sinter_file_set_release(held);
    cr_expect_eq(bed_name_count(&bed), 0, "no catalog names a file");
    end();
}

Test(compact_merge_tree_rules, increments_come_back_in_the_opposite_order)
{
    sinter_increment *increments[3];

    begin_open();
    for (int i = 0; i < 3; i++) {
        bed_put(&bed, (uint32_t)i);
        increments[i] = prepare(false);
    }
    cr_expect_eq(sinter_merge_tree_return(bed.tree, increments[0], &err), SINTER_E_INVALID);
    cr_expect_eq(sinter_merge_tree_return(bed.tree, increments[1], &err), SINTER_E_INVALID);
    give_back(prepare(false)); /* an empty one says nothing */
    give_back(increments[2]);
    cr_expect_eq(sinter_merge_tree_return(bed.tree, increments[0], &err), SINTER_E_INVALID);
    give_back(increments[1]);
    bed.flushed = bed.live;
    finish(increments[0]);
    increments[0] = prepare(false);
    cr_expect_eq(sinter_increment_new_files(increments[0])->count, 2);
    bed_apply(&bed, increments[0]);
    cr_assert_eq(sinter_merge_tree_committed(bed.tree, increments[0], &err), SINTER_OK);
    cr_expect_eq(sinter_merge_tree_return(bed.tree, increments[0], &err), SINTER_E_INVALID,
                 "the catalog has it");
    sinter_increment_destroy(increments[0]);
    bed_expect_same_files(&bed);
    bed_expect_catalog(&bed, "in two commits");
    end();
}

Test(compact_merge_tree_rules, nobody_loses_a_file_that_a_held_set_lists)
{
    const sinter_file_set *set = NULL;
    char middle[BED_NAME_BYTES];
    char old[BED_NAME_BYTES];

    begin_open();
    bed_put(&bed, 1);
    commit(false);
    (void)snprintf(old, sizeof old, "%s", name_at(0));
    bed_put(&bed, 1);
    compact_to(3);
    (void)snprintf(middle, sizeof middle, "%s", name_at(3));
    set = sinter_merge_tree_acquire(bed.tree);
    bed_put(&bed, 1);
    compact_to(4);
    cr_expect(is_on_disk(middle), "a reader holds it");
    sinter_file_set_release(set);
    flush(); /* whenever the tree looks next */
    cr_expect_not(is_on_disk(middle));
    commit(true);
    cr_expect_not(is_on_disk(old));

    (void)snprintf(old, sizeof old, "%s", name_at(4));
    set = sinter_merge_tree_acquire(bed.tree);
    bed_put(&bed, 1);
    compact_to(5);
    commit(true);
    cr_expect(is_on_disk(old), "retired by a commit, and held");
    sinter_file_set_release(set);
    flush();
    cr_expect_not(is_on_disk(old));
    bed_expect_names(&bed, "at the end");
    end();
}

/* ---- flushes ---- */

Test(compact_merge_tree_rules, a_flush_of_several_files_makes_several_runs)
{
    sinter_increment *increment = NULL;
    size_t files = 0;

    begin();
    bed_set(&bed, "target-file-size", "8 kb");
    bed_set(&bed, "file.compression", "none");
    bed.value_bytes = 200;
    open_tree();
    for (uint32_t i = 0; i < 200; i++) {
        bed_put(&bed, i);
    }
    flush();
    bed_expect_view(&bed, "after the flush");
    increment = prepare(false);
    files = sinter_increment_new_files(increment)->count;
    cr_expect_geq(files, 4);
    cr_expect_eq(bed_run_count(&bed), files, "in level 0 each file is a run");
    finish(increment);
    bed_expect_catalog(&bed, "after the commit");
    bed_expect_names(&bed, "after the commit");
    end();
}

Test(compact_merge_tree_rules, a_full_buffer_is_flushed_by_the_write_that_finds_it_full)
{
    begin();
    bed_set(&bed, "write-buffer-size", "256 kb");
    bed_set(&bed, "target-file-size", "10 mb");
    bed.value_bytes = 4000;
    open_tree();
    for (uint32_t i = 0; i < 300; i++) {
        bed_put(&bed, i % 100);
        if (i % 20 == 0) {
            bed_expect_view(&bed, "while it fills");
        }
    }
    cr_expect_geq(bed_run_count(&bed), 4, "1.2 MB through 256 KB");
    commit(true);
    bed_expect_view(&bed, "at the end");
    bed_expect_names(&bed, "at the end");
    end();
}

Test(compact_merge_tree_rules, versions_of_a_key_in_one_buffer_become_one_row)
{
    sinter_increment *increment = NULL;
    const sinter_file_meta *file = NULL;

    begin_open();
    for (uint32_t i = 0; i < 100; i++) {
        bed_put(&bed, i % 3);
    }
    bed_delete(&bed, 1);
    bed_delete(&bed, 9);
    cr_assert_eq(bed_write(&bed, 2, SINTER_KIND_UPDATE_BEFORE, &err), SINTER_OK);
    cr_assert_eq(bed_write(&bed, 2, SINTER_KIND_UPDATE_AFTER, &err), SINTER_OK);
    increment = prepare(true);
    cr_assert_eq(sinter_increment_new_files(increment)->count, 1);
    file = &sinter_increment_new_files(increment)->files[0];
    cr_expect_eq(file->row_count, 4, "0, 1 deleted, 2, 9 deleted");
    cr_expect_eq(file->delete_row_count, 2, "a delete may meet an older row");
    cr_expect_eq(file->level, 0);
    cr_expect_eq(file->min_sequence_number, 99, "of the rows that were written");
    cr_expect_eq(file->max_sequence_number, 103);
    bed.flushed = bed.live;
    finish(increment);
    bed_expect_view(&bed, "deletes hide");
    end();
}

Test(compact_merge_tree_rules, when_all_rows_are_deleted_a_full_compaction_leaves_no_file)
{
    begin_open();
    for (uint32_t i = 0; i < 50; i++) {
        bed_put(&bed, i);
    }
    commit(false);
    for (uint32_t i = 0; i < 50; i++) {
        bed_delete(&bed, i);
    }
    cr_assert_eq(bed_compact(&bed, true, &err), SINTER_OK, "%s", err.text);
    commit(true);
    cr_expect_eq(bed.catalog.count, 0, "before 2, after 0");
    cr_expect_eq(bed_name_count(&bed), 0);
    bed_put(&bed, 3);
    commit(true);
    bed_expect_view(&bed, "life goes on");
    end();
}

Test(compact_merge_tree_rules, first_row_keeps_the_first_through_flush_and_compaction)
{
    begin();
    bed_set(&bed, "merge-engine", "first-row");
    bed_set(&bed, "ignore-delete", "true");
    open_tree();
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 60; i++) {
            bed_put(&bed, (i * 7 + round) % 50);
        }
        flush();
        bed_expect_view(&bed, "after a flush");
    }
    bed_delete(&bed, 3);
    flush();
    bed_expect_view(&bed, "after a delete that is ignored");
    cr_assert_eq(bed_compact(&bed, true, &err), SINTER_OK, "%s", err.text);
    commit(true);
    bed_expect_view(&bed, "after a full compaction");
    bed_expect_catalog(&bed, "after a full compaction");
    cr_expect_eq(bed.catalog.count, 1);
    end();
}

Test(compact_merge_tree_rules, rows_that_cannot_be_written_are_refused_and_the_rest_stays)
{
    static const uint8_t bytes[2 << 20];
    const sinter_bytes key = {bytes, 4};

    begin();
    bed_set(&bed, "write-buffer-size", "512 kb");
    open_tree();
    bed_put(&bed, 1);
    cr_expect_eq(sinter_merge_tree_write(bed.tree, (sinter_bytes){bytes, SINTER_KEY_BYTES_MAX + 1},
                                         0, key, &err),
                 SINTER_E_TOO_LARGE);
    cr_expect_eq(
        sinter_merge_tree_write(bed.tree, key, 0, (sinter_bytes){bytes, sizeof bytes}, &err),
        SINTER_E_TOO_LARGE, "larger than the buffer");
    cr_expect_not_null(strstr(err.text, "write-buffer-size"), "the limit is named: %s", err.text);
    cr_expect_eq(sinter_merge_tree_write(bed.tree, key, 4, key, &err), SINTER_E_INVALID,
                 "there is no such kind");
    bed_put(&bed, 2);
    commit(true);
    bed_expect_view(&bed, "two rows");
    end();
}

/* ---- closing ---- */

Test(compact_merge_tree_rules, closing_without_a_commit_leaves_no_file)
{
    begin_open();
    bed_put(&bed, 1);
    flush();
    bed_put(&bed, 1);
    flush();
    cr_expect_eq(bed_name_count(&bed), 2);
    bed_close(&bed);
    cr_expect_eq(bed_name_count(&bed), 0);
    open_tree();
    bed_put(&bed, 1);
    flush();
    bed_put(&bed, 1);
    compact_to(3);
    bed_put(&bed, 2);
    bed_close(&bed);
    cr_expect_eq(bed_name_count(&bed), 0, "new files and results of compactions");
    end();
}

Test(compact_merge_tree_rules, closing_keeps_what_the_catalog_names)
{
    char name[BED_NAME_BYTES];

    begin_open();
    bed_put(&bed, 1);
    commit(true);
    (void)snprintf(name, sizeof name, "%s", name_at(0));
    compact_to(3); /* moved */
    bed_close(&bed);
    bed_expect_names(&bed, "a move that was not committed");
    bed_expect_catalog(&bed, "a move that was not committed");
    open_tree();
    cr_expect_str_eq(name_at(0), name);
    bed_put(&bed, 1);
    compact_to(3); /* rewritten */
    bed_close(&bed);
    bed_expect_names(&bed, "a rewrite that was not committed");
    bed_expect_catalog(&bed, "a rewrite that was not committed");
    open_tree();
    bed_put(&bed, 2);
    told_all(&strategy, 4);
    flush(); /* its result is taken by nobody */
    bed_close(&bed);
    bed_expect_names(&bed, "a result that nobody took");
    bed_expect_catalog(&bed, "a result that nobody took");
    end();
}

/* ---- waiting for compactions: a scheduler whose tasks run when somebody waits ---- */

static sinter_scheduler *
begin_with_scheduler(void)
{
    sinter_scheduler *scheduler = NULL;

    begin();
    cr_assert_eq(sinter_scheduler_create(&bed.env, NULL, &scheduler, NULL), SINTER_OK);
    bed.config.scheduler = scheduler;
    return scheduler;
}

static void
end_with_scheduler(sinter_scheduler *scheduler)
{
    bed_close(&bed);
    sinter_scheduler_destroy(scheduler);
    bed_expect_names(&bed, "at the end");
    end();
}

Test(compact_merge_tree_rules, a_commit_waits_for_the_compaction_only_when_asked_to)
{
    sinter_scheduler *scheduler = begin_with_scheduler();
    sinter_increment *increment = NULL;

    open_tree();
    bed_put(&bed, 1);
    flush();
    bed_put(&bed, 1);
    told_all(&strategy, 3);
    increment = prepare(false);
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 0, "it runs on");
    cr_expect_eq(sinter_increment_new_files(increment)->count, 2);
    bed.flushed = bed.live;
    finish(increment);
    told_nothing(&strategy);
    increment = prepare(true);
    cr_expect_eq(sinter_increment_compact_before(increment)->count, 2);
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 1);
    finish(increment);
    bed_expect_view(&bed, "after the second commit");
    bed_put(&bed, 1);
    told_all(&strategy, 4);
    increment = prepare(true);
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 1,
                 "the compaction that its own flush began, too");
    bed.flushed = bed.live;
    finish(increment);
    bed_expect_view(&bed, "after the third commit");
    told_nothing(&strategy);
    end_with_scheduler(scheduler);
}

Test(compact_merge_tree_rules, with_force_compact_a_commit_always_waits)
{
    sinter_scheduler *scheduler = begin_with_scheduler();
    sinter_increment *increment = NULL;

    bed_set(&bed, "commit.force-compact", "true");
    open_tree();
    bed_put(&bed, 1);
    flush();
    bed_put(&bed, 1);
    told_all(&strategy, 3);
    increment = prepare(false);
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 1);
    bed.flushed = bed.live;
    finish(increment);
    told_nothing(&strategy);
    end_with_scheduler(scheduler);
}

Test(compact_merge_tree_rules, a_commit_waits_when_there_are_too_many_runs)
{
    sinter_scheduler *scheduler = begin_with_scheduler();
    sinter_increment *increment = NULL;

    bed_set(&bed, "num-sorted-run.compaction-trigger", "2");
    bed_set(&bed, "num-sorted-run.stop-trigger", "3");
    bed.config.strategy = NULL;
    open_tree();
    for (uint32_t i = 0; i < 3; i++) {
        bed_put(&bed, 1);
        flush();
    }
    cr_expect_eq(bed_run_count(&bed), 3, "nobody has run the compaction");
    increment = prepare(false);
    cr_expect_eq(sinter_increment_compact_after(increment)->count, 0, "three runs are allowed");
    finish(increment);
    bed_put(&bed, 1);
    flush(); /* four runs now */
    bed_put(&bed, 1);
    flush();
    cr_expect_leq(bed_run_count(&bed), 4, "a flush beyond the stop trigger waits");
    commit(false);
    bed_expect_view(&bed, "at the end");
    end_with_scheduler(scheduler);
}

/* ---- events ---- */

typedef struct heard {
    unsigned begun, ended, created, deleted;
    sinter_status ended_with;
} heard;

static void
hear_begin(void *ctx, const sinter_event *event)
{
    (void)event;
    ((heard *)ctx)->begun++;
}

static void
hear_end(void *ctx, const sinter_event *event)
{
    ((heard *)ctx)->ended++;
    ((heard *)ctx)->ended_with = event->status;
}

static void
hear_created(void *ctx, const sinter_event *event)
{
    cr_expect_not_null(event->file);
    ((heard *)ctx)->created++;
}

static void
hear_deleted(void *ctx, const sinter_event *event)
{
    cr_expect_not_null(event->file);
    ((heard *)ctx)->deleted++;
}

Test(compact_merge_tree_rules, a_compaction_that_can_not_be_started_costs_no_commit_its_rows)
{
    unsigned failed = 0;

    begin_open();
    told_all(&strategy, 5);
    strategy.answer = SINTER_E_CORRUPT;
    for (uint32_t i = 0; i < 12; i++) {
        bed_put(&bed, i);
        failed += bed_commit(&bed, false, &err) != SINTER_OK;
    }
    cr_expect_eq(failed, 0, "a compaction that can't be started is told, no more");
    cr_expect_eq(bed.catalog.count, 12);
    end();
}

Test(compact_merge_tree_rules, the_listener_hears_of_every_file_and_every_task)
{
    heard h = {0};
    const sinter_listener listener = {.struct_size = sizeof listener,
                                      .ctx = &h,
                                      .task_begin = hear_begin,
                                      .task_end = hear_end,
                                      .file_created = hear_created,
                                      .file_deleted = hear_deleted};
    watch_io watch;

    begin();
    watch_io_init(&watch, bed.memory);
    bed.env.io = &watch.base;
    bed.env.listener = &listener;
    open_tree();
    for (uint32_t i = 0; i < 12; i++) {
        bed_put(&bed, i % 3);
        compact_to(1 + (int32_t)(i / 3));
        commit(true);
    }
    cr_expect_eq(h.created, watch.calls[WATCH_PUBLISH], "%u of %u", h.created,
                 (unsigned)watch.calls[WATCH_PUBLISH]);
    cr_expect_eq(h.deleted, watch.calls[WATCH_UNLINK]);
    cr_expect_geq(h.begun, 12);
    cr_expect_eq(h.begun, h.ended);
    cr_expect_eq(h.ended_with, SINTER_OK);
    cr_expect_eq(watch.open_files, 0);
    bed_close(&bed);
    end();
}
