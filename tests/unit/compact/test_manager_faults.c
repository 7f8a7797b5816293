/*
 * Faults seen in the field, put to managers and merge trees: what a pick may do to reads (F2, F5),
 * work that never ends or never starts (F11, F12, F14), storage that fails (F15, F16). Picks that
 * aren't safe (F1, F13) are in test_manager_rules.c, loss of power (F17) in
 * test_tree_power_loss.c.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "support/told_strategy.h"
#include "support/tree_bed.h"
#include "support/watch_io.h"
#include "world.h"

TestSuite(field_faults, .timeout = 60);

static const model_rules newest = {
    .engine = MODEL_DEDUPLICATE, .drop_delete = true, .has_ages = true};

static sinter_manager *
manager_of(world *w, sinter_compact_task *task, sinter_strategy *strategy,
           sinter_scheduler *scheduler)
{
    const sinter_manager_config config = {.struct_size = sizeof config,
                                          .name = "bucket",
                                          .task = task,
                                          .strategy = strategy,
                                          .scheduler = scheduler,
                                          .files = w->files,
                                          .count = w->count};
    sinter_manager *manager = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    sinter_compact_task_init(task);
    task->base_dir = world_dir;
    task->format = &w->format;
    task->options = &w->options;
    cr_assert_eq(sinter_manager_create(&w->env, &config, &manager, &err), SINTER_OK, "%s",
                 err.text);
    return manager;
}

/* Is the file one of the result's new ones? */
static bool
lives_on(const sinter_compact_result *result, const char *name)
{
    const sinter_file_list *after = sinter_compact_result_after(result);

    for (size_t i = 0; i < after->count; i++) {
        if (strcmp(after->files[i].file_name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Trigger, take, put the result into the world as a catalog would. */
static sinter_status
step(world *w, sinter_manager *manager, bool full, sinter_error *err)
{
    sinter_compact_result *result = NULL;
    sinter_status st = sinter_manager_trigger(manager, full, err);

    if (st == SINTER_OK) {
        st = sinter_manager_take_result(manager, true, &result, err);
    }
    if (st == SINTER_OK) {
        const sinter_file_list *before = sinter_compact_result_before(result);

        for (size_t i = 0; i < before->count; i++) {
            char path[128];

            if (!lives_on(result, before->files[i].file_name)) {
                (void)snprintf(path, sizeof path, "%s/%s", world_dir, before->files[i].file_name);
                cr_assert_eq(w->io->ops->unlink(w->io, path, NULL), SINTER_OK, "%s", path);
            }
        }
        world_apply(w, result);
    }
    sinter_compact_result_destroy(result);
    return st;
}

static int64_t
deletes_of(const world *w)
{
    int64_t deletes = 0;

    for (size_t i = 0; i < w->count; i++) {
        deletes += w->files[i].delete_row_count;
    }
    return deletes;
}

/* ---- F2 ---- */

static void
drop_above_the_bottom(bool has_bottom)
{
    const test_record a[] = {world_delete("k", 20)};
    const test_record b[] = {world_record("a", 21, "1")};
    const test_record c[] = {world_record("k", 1, "v")};
    sinter_compact_task task;
    told_strategy told;
    sinter_manager *manager = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    size_t places[2];
    world w;

    world_init(&w, false, NULL);
    if (has_bottom) {
        world_add(&w, 5, c, 1);
    }
    places[0] = world_add(&w, 0, a, 1);
    places[1] = world_add(&w, 0, b, 1);
    told_init(&told);
    told_files(&told, 3, w.files[places[0]].file_name, w.files[places[1]].file_name, NULL);
    manager = manager_of(&w, &task, &told.base, NULL);
    cr_assert_eq(step(&w, manager, false, &err), SINTER_OK, "%s", err.text);
    cr_expect_str_eq(world_text(&w), "a=1 ");
    cr_expect_eq(deletes_of(&w), has_bottom ? 1 : 0);
    if (has_bottom) {
        cr_assert_eq(step(&w, manager, true, &err), SINTER_OK, "%s", err.text);
        cr_expect_eq(w.count, 1);
        cr_expect_eq(w.files[0].row_count, 1);
        cr_expect_eq(deletes_of(&w), 0);
        cr_expect_str_eq(world_text(&w), "a=1 ");
    }
    cr_expect_eq(world_name_count(&w), w.count);
    sinter_manager_destroy(manager);
    world_fini(&w);
}

Test(field_faults, f02_a_manager_drops_deletes_at_the_bottom_only)
{
    drop_above_the_bottom(true);
    drop_above_the_bottom(false);
}

/* ---- F5 ---- */

/** How the tie is put to a manager. */
typedef struct tie_way {
    bool is_minor; /* with a third file, and more files that make it due */
    bool is_reversed;
    bool is_retract_first; /* a retract of the same sequence stands in the younger file */
    uint32_t threads;
    int32_t engine;
} tie_way;

static void
reverse_files(world *w)
{
    for (size_t i = 0, j = w->count; i + 1 < j; i++) {
        const sinter_file_meta file = w->files[i];

        w->files[i] = w->files[--j];
        w->files[j] = file;
    }
}

static void
add_tie_files(world *w, const tie_way *way)
{
    const test_record f1[] = {world_record("1", 0, "8"), world_record("2", 1, "old")};
    const test_record f2[] = {world_record("1", 0, "9"), world_record("3", 1, "old")};
    const test_record f2_retract[] = {world_delete("1", 0), world_record("3", 1, "old")};
    const test_record third[] = {world_record("0", 5, "third"), world_record("4", 6, "third")};

    if (way->is_minor) {
        world_add_rows(w, 5, 1000, 1, 4000, -9000, 100); /* too large to be taken along */
    }
    world_add(w, 0, f1, 2);
    w->now_ms += 1000;
    world_add(w, 0, way->is_retract_first ? f2_retract : f2, 2);
    w->now_ms += 1000;
    if (way->is_minor) {
        world_add(w, 0, third, 2);
        for (int64_t i = 0; i < 3; i++) {
            const test_record more[] = {world_record("0", 10 + 2 * i, "more"),
                                        world_record("4", 11 + 2 * i, "more")};

            world_add(w, 0, more, 2);
        }
    }
    if (way->is_reversed) {
        reverse_files(w);
    }
}

static void
tie(const tie_way *way)
{
    sinter_compact_task task;
    sinter_manager *manager = NULL;
    sinter_pool *pool = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    char when[96];
    world w;

    (void)snprintf(when, sizeof when, "minor %d, reversed %d, retract %d, %u threads, engine %d",
                   way->is_minor, way->is_reversed, way->is_retract_first, way->threads,
                   (int)way->engine);
    world_init(&w, false, NULL);
    if (way->threads > 1) {
        cr_assert_eq(sinter_pool_create(sinter_env_default(), way->threads, 64, &pool, NULL),
                     SINTER_OK);
        w.env.executor = sinter_pool_executor(pool);
        w.options.sub_compactions = way->threads;
    }
    w.options.sort_engine = way->engine;
    add_tie_files(&w, way);
    manager = manager_of(&w, &task, NULL, NULL);
    for (int read = 0; read < 4; read++) {
        world_rows rows;

        world_expect_model(&w, &newest, when);
        world_read(&w, NULL, &rows);
        for (size_t i = 0; i < rows.count; i++) {
            if (test_bytes_equal(rows.records[i].key, test_text("1"))) {
                cr_assert(test_bytes_equal(rows.records[i].value,
                                           test_text(way->is_retract_first ? "8" : "9")),
                          "%s, read %d", when, read);
            }
        }
        world_rows_fini(&rows);
        if (read == 0 && way->is_minor) {
            cr_assert_eq(step(&w, manager, false, &err), SINTER_OK, "%s: %s", when, err.text);
            cr_assert_geq(w.count, 2, "%s: it was to be minor", when);
        } else if (read < 3) {
            const sinter_status st = step(&w, manager, true, &err);

            cr_assert(st == SINTER_OK || st == SINTER_END, "%s: %s", when, err.text);
        }
    }
    sinter_manager_destroy(manager);
    sinter_pool_destroy(pool);
    world_fini(&w);
}

Test(field_faults, f05_of_two_versions_with_one_sequence_the_younger_file_wins_whatever_happens)
{
    for (unsigned bits = 0; bits < 32; bits++) {
        tie(&(tie_way){.is_minor = (bits & 1) != 0,
                       .is_reversed = (bits & 2) != 0,
                       .is_retract_first = (bits & 4) != 0,
                       .threads = (bits & 8) != 0 ? 8 : 1,
                       .engine = (bits & 16) != 0 ? SINTER_SORT_MIN_HEAP : SINTER_SORT_LOSER_TREE});
    }
}

/* ---- F11, F12 ---- */

Test(field_faults, f11_what_was_compacted_is_not_compacted_again_a_hundred_times)
{
    sinter_error err = SINTER_ERROR_INIT;
    watch_io watch;
    static tree_bed bed;
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};
    uint64_t reads = 0;
    uint64_t generation = 0;

    bed_init(&bed, NULL, "bucket");
    watch_io_init(&watch, bed.memory);
    bed.env.io = &watch.base;
    cr_assert_eq(bed_open(&bed, &err), SINTER_OK, "%s", err.text);
    for (uint32_t i = 0; i < 300; i++) {
        bed_put(&bed, i % 100);
        if (i % 30 == 29) {
            cr_assert_eq(bed_flush(&bed, &err), SINTER_OK, "%s", err.text);
        }
    }
    cr_assert_eq(bed_compact(&bed, true, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(bed_commit(&bed, true, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(bed_run_count(&bed), 1);
    reads = watch.calls[WATCH_READ] + watch.calls[WATCH_OPEN];
    generation = bed.catalog.count;
    sinter_merge_tree_metrics_get(bed.tree, &metrics);
    for (uint64_t i = 0, compactions = metrics.compactions; i < 100; i++) {
        sinter_increment *increment = NULL;

        cr_assert_eq(sinter_manager_trigger(sinter_merge_tree_manager(bed.tree), true, &err),
                     SINTER_END);
        cr_assert_eq(bed_compact(&bed, true, &err), SINTER_OK, "%s", err.text);
        cr_assert_eq(sinter_merge_tree_prepare_commit(bed.tree, true, &increment, &err), SINTER_OK);
        cr_assert(sinter_increment_is_empty(increment), "no snapshot");
        sinter_increment_destroy(increment);
        sinter_merge_tree_metrics_get(bed.tree, &metrics);
        cr_assert_eq(metrics.compactions, compactions, "no unit");
    }
    cr_expect_eq(watch.calls[WATCH_READ] + watch.calls[WATCH_OPEN], reads, "nothing was read");
    cr_expect_eq(bed.catalog.count, generation);
    bed_fini(&bed, true);
}

static void
compact_until_nothing_is_left(const char *ratio, bool full, const char *codec)
{
    sinter_compact_task task;
    sinter_manager *manager = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};
    uint64_t written = 0;
    int steps = 0;
    world w;

    world_init(&w, false, NULL);
    w.options.target_file_bytes = 60000;
    cr_assert_eq(sinter_compact_options_set(&w.options, "compaction.small-file-ratio", ratio, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_compact_options_set(&w.options, "file.compression", codec, NULL),
                 SINTER_OK);
    for (int64_t i = 0; i < 7; i++) {
        world_add_rows(&w, 0, (unsigned)i * 50, 3, 700, 10000 * i, 100);
    }
    manager = manager_of(&w, &task, NULL, NULL);
    for (; st == SINTER_OK && steps < 30; steps++) {
        st = step(&w, manager, full, &err);
        cr_assert(st == SINTER_OK || st == SINTER_END, "%s", err.text);
    }
    cr_expect_gt(steps, 1);
    cr_expect_lt(steps, 30, "ratio %s: it never ends", ratio);
    cr_expect_geq(w.count, 3, "several files, the last one short");
    sinter_manager_metrics_get(manager, &metrics);
    written = metrics.compact_written_bytes;
    cr_expect_gt(written, 0);
    for (int again = 0; again < 5; again++) {
        cr_expect_eq(step(&w, manager, full, &err), SINTER_END);
    }
    sinter_manager_metrics_get(manager, &metrics);
    cr_expect_eq(metrics.compact_written_bytes, written, "ratio %s rewrites what it has written",
                 ratio);
    world_expect_model(&w, &newest, ratio);
    sinter_manager_destroy(manager);
    world_fini(&w);
}

Test(field_faults, f12_files_a_little_under_the_target_are_not_rewritten_for_ever)
{
    static const char *const ratios[] = {"0", "0.7", "0.95", "1.0"};

    for (size_t r = 0; r < 4; r++) {
        compact_until_nothing_is_left(ratios[r], true, "none");
        compact_until_nothing_is_left(ratios[r], true, "zstd");
        compact_until_nothing_is_left(ratios[r], false, "lz4");
    }
}

/* ---- F14: each call must come back; the suite's timeout is the judge ---- */

typedef enum nobody { STOP_BELOW_TRIGGER, WRITE_ONLY, NEVER_PICKS, PAUSED, PAUSED_POOL } nobody;

/* Write far beyond the stop trigger: every call comes back, and either the runs stay few or a call
 * says why they don't. */
static void
write_on(tree_bed *bed, size_t runs_max, bool may_be_busy)
{
    sinter_error err = SINTER_ERROR_INIT;
    bool was_told = false;

    for (uint32_t i = 0; i < 25; i++) {
        sinter_status st = bed_write(bed, i % 7, SINTER_KIND_INSERT, &err);

        st = st == SINTER_OK ? bed_flush(bed, &err) : st;
        cr_assert(st == SINTER_OK || st == SINTER_E_BUSY, "%s: %s", sinter_status_name(st),
                  err.text);
        cr_assert(st == SINTER_OK || strlen(err.text) > 0);
        was_told = was_told || st != SINTER_OK;
    }
    cr_assert(may_be_busy || !was_told, "%s", err.text);
    cr_assert(was_told || bed_run_count(bed) <= runs_max, "%zu runs, and nobody says why",
              bed_run_count(bed));
    for (int full = 0; full < 2; full++) {
        const sinter_status st = bed_compact(bed, full != 0, &err);

        cr_assert(st == SINTER_OK || st == SINTER_E_BUSY || st == SINTER_E_INVALID, "%s", err.text);
    }
    (void)bed_commit(bed, true, &err);
    bed_expect_view(bed, "after waiting for nobody");
}

static void
wait_for(nobody who)
{
    static tree_bed bed;
    told_strategy told;
    sinter_scheduler *scheduler = NULL;
    sinter_pool *pool = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    bed_init(&bed, NULL, "bucket");
    told_init(&told);
    if (who == STOP_BELOW_TRIGGER) {
        bed_set(&bed, "num-sorted-run.compaction-trigger", "6");
        if (sinter_compact_options_set(&bed.options, "num-sorted-run.stop-trigger", "2", &err) ==
                SINTER_OK &&
            sinter_compact_options_check(&bed.options, &err) == SINTER_OK) {
            cr_assert_geq(sinter_compact_stop_trigger(&bed.options), 6,
                          "neither refused nor mended");
        }
    } else if (who == WRITE_ONLY) {
        bed_set(&bed, "write-only", "true");
    } else if (who == NEVER_PICKS) {
        bed.config.strategy = &told.base;
    } else {
        if (who == PAUSED_POOL) {
            cr_assert_eq(sinter_pool_create(sinter_env_default(), 2, 64, &pool, NULL), SINTER_OK);
            bed.env.executor = sinter_pool_executor(pool);
        }
        cr_assert_eq(sinter_scheduler_create(&bed.env, NULL, &scheduler, NULL), SINTER_OK);
        sinter_scheduler_pause(scheduler);
        bed.config.scheduler = scheduler;
    }
    cr_assert_eq(bed_open(&bed, &err), SINTER_OK, "%s", err.text);
    write_on(&bed, who == WRITE_ONLY ? SIZE_MAX : 10, who == NEVER_PICKS || scheduler != NULL);
    if (scheduler != NULL) {
        sinter_compact_result *result = NULL;

        cr_expect_eq(sinter_scheduler_drain(scheduler, &err), SINTER_E_BUSY);
        cr_expect_eq(
            sinter_manager_take_result(sinter_merge_tree_manager(bed.tree), true, &result, &err),
            SINTER_E_BUSY, "waiting might never end");
        sinter_scheduler_resume(scheduler);
        cr_expect_eq(bed_flush(&bed, &err), SINTER_OK, "%s", err.text);
        cr_expect_eq(bed_commit(&bed, true, &err), SINTER_OK, "%s", err.text);
        bed_expect_view(&bed, "resumed");
        bed_expect_catalog(&bed, "resumed");
        sinter_scheduler_pause(scheduler);
        bed_put(&bed, 1);
    }
    bed_close(&bed);
    bed_expect_names(&bed, "closed");
    sinter_scheduler_destroy(scheduler);
    sinter_pool_destroy(pool);
    bed_fini(&bed, true);
}

Test(field_faults, f14_a_stop_trigger_below_the_trigger_makes_nobody_wait_for_ever)
{
    wait_for(STOP_BELOW_TRIGGER);
}

Test(field_faults, f14_write_only_makes_nobody_wait)
{
    wait_for(WRITE_ONLY);
}

Test(field_faults, f14_a_strategy_that_never_picks_makes_nobody_wait_for_ever)
{
    wait_for(NEVER_PICKS);
}

Test(field_faults, f14_a_paused_scheduler_makes_nobody_wait_for_ever)
{
    wait_for(PAUSED);
    wait_for(PAUSED_POOL);
}

/* ---- F15 ---- */

Test(field_faults, f15_the_same_manager_succeeds_after_space_was_freed_and_others_go_on_meanwhile)
{
    static tree_bed big;
    static tree_bed small;
    sinter_scheduler *scheduler = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    small_disk disk;
    size_t names = 0;
    char files[1024];

    bed_init(&big, NULL, "big");
    small_disk_init(&disk, big.memory, UINT64_MAX);
    big.env.io = &disk.io.base;
    bed_init(&small, big.memory, "small");
    small.env.io = big.env.io;
    cr_assert_eq(sinter_scheduler_create(&big.env, NULL, &scheduler, NULL), SINTER_OK);
    big.config.scheduler = scheduler;
    small.config.scheduler = scheduler;
    big.value_bytes = 2000;
    bed_set(&big, "file.compression", "none");
    bed_set(&big, "num-sorted-run.compaction-trigger", "20");
    cr_assert_eq(bed_open(&big, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(bed_open(&small, &err), SINTER_OK, "%s", err.text);
    for (uint32_t i = 0; i < 400; i++) {
        bed_put(&big, i % 300);
    }
    cr_assert_eq(bed_commit(&big, false, &err), SINTER_OK, "%s", err.text);
    for (uint32_t i = 0; i < 100; i++) {
        bed_put(&big, i);
    }
    cr_assert_eq(bed_commit(&big, false, &err), SINTER_OK, "%s", err.text);
    names = bed_name_count(&big);
    (void)snprintf(files, sizeof files, "%s", bed_files_text(&big));
    disk.room = disk.used + 200000; /* a third of what is needed */
    for (int tries = 0; tries < 3; tries++) {
        cr_assert_eq(bed_compact(&big, true, &err), SINTER_OK, "%s", err.text);
        err = (sinter_error)SINTER_ERROR_INIT;
        cr_assert_eq(bed_commit(&big, true, &err), SINTER_E_NO_SPACE, "%s", err.text);
        cr_expect_gt(strlen(err.text), 0);
        cr_expect_eq(bed_name_count(&big), names, "the partial output is gone");
        cr_expect_str_eq(bed_files_text(&big), files);
        bed_expect_view(&big, "full");
        for (uint32_t i = 0; i < 60; i++) {
            bed_put(&small, i % 20);
            if (i % 10 == 9) {
                cr_assert_eq(bed_flush(&small, &err), SINTER_OK, "%s", err.text);
            }
        }
        cr_assert_eq(bed_compact(&small, true, &err), SINTER_OK, "%s", err.text);
        cr_assert_eq(bed_commit(&small, true, &err), SINTER_OK, "%s", err.text);
        cr_expect_eq(bed_run_count(&small), 1, "the other bucket was compacted");
        bed_expect_view(&small, "beside a full disk");
    }
    disk.room = UINT64_MAX;
    cr_assert_eq(bed_compact(&big, true, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(bed_commit(&big, true, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(bed_run_count(&big), 1);
    bed_expect_view(&big, "after space was freed");
    bed_expect_names(&big, "after space was freed");
    bed_close(&big);
    bed_close(&small);
    sinter_scheduler_destroy(scheduler);
    small_disk_fini(&disk);
    bed_fini(&small, false);
    bed_fini(&big, true);
}

/* ---- F16 ---- */

/** Does something at the first append to the third output. */
typedef struct third_output {
    watch_io io;
    sinter_manager *manager; /* to be cancelled; NULL: fail */
    uint64_t created;
    bool was_met;
} third_output;

static sinter_status
at_third_output(void *ctx, const watch_call *call, sinter_error *err)
{
    third_output *third = ctx;

    third->created += call->op == WATCH_CREATE;
    if (call->op == WATCH_APPEND && third->created == 3 && !third->was_met) {
        third->was_met = true;
        if (third->manager == NULL) {
            return SINTER__ERR_SYS(err, SINTER_E_IO, 5, "", -1,
                                   "the third output can't be written");
        }
        sinter_manager_cancel(third->manager);
    }
    return SINTER_OK;
}

static void
fail_at_third_output(bool cancels, bool has_scheduler)
{
    sinter_bytes contents[3];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    sinter_scheduler *scheduler = NULL;
    sinter_manager *manager = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    third_output third = {.was_met = false};
    world w;

    world_init(&w, false, NULL);
    w.options.target_file_bytes = 20000;
    w.options.block_bytes = 1000;
    for (int64_t i = 0; i < 3; i++) {
        const size_t place = world_add_rows(&w, 0, (unsigned)i, 3, 300, 10000 * i, 100);

        contents[i] = world_content(&w, w.files[place].file_name);
    }
    watch_io_init(&third.io, w.io);
    third.io.ctx = &third;
    third.io.before = at_third_output;
    w.env.io = &third.io.base;
    if (has_scheduler) {
        cr_assert_eq(sinter_scheduler_create(&w.env, NULL, &scheduler, NULL), SINTER_OK);
    }
    manager = manager_of(&w, &task, NULL, scheduler);
    third.manager = cancels ? manager : NULL;
    cr_assert_eq(sinter_manager_trigger(manager, true, &err), SINTER_OK, "%s", err.text);
    st = sinter_manager_take_result(manager, true, &result, &err);
    cr_assert_eq(st, cancels ? SINTER_END : SINTER_E_IO, "%s: %s", sinter_status_name(st),
                 err.text);
    cr_assert(third.was_met);
    cr_expect_null(result);
    cr_expect_eq(world_name_count(&w), 3);
    cr_expect_eq(third.io.open_files, 0);
    for (size_t i = 0; i < 3; i++) {
        cr_expect(test_bytes_equal(contents[i], world_content(&w, w.files[i].file_name)));
    }
    cr_expect_eq(sinter_manager_take_result(manager, true, &result, &err), SINTER_END);
    cr_expect_eq(step(&w, manager, true, &err), SINTER_OK, "the manager goes on: %s", err.text);
    world_expect_model(&w, &newest, "afterwards");
    sinter_manager_destroy(manager);
    sinter_scheduler_destroy(scheduler);
    world_fini(&w);
}

Test(field_faults, f16_a_manager_whose_task_fails_or_is_cancelled_at_the_third_output_goes_on)
{
    fail_at_third_output(false, false);
    fail_at_third_output(false, true);
    fail_at_third_output(true, false);
    fail_at_third_output(true, true);
}

Test(field_faults, f16_a_manager_whose_merge_function_fails_keeps_its_files)
{
    sinter_compact_task task;
    sinter_manager *manager = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    const test_record retract[] = {world_delete("00000891", 90000)};
    world w;

    world_init(&w, false, NULL);
    w.options.target_file_bytes = 20000;
    w.options.block_bytes = 1000;
    w.options.merge_engine = SINTER_MERGE_ENGINE_FIRST_ROW;
    world_add_rows(&w, 0, 0, 3, 300, 1, 100);
    world_add_rows(&w, 0, 1, 3, 300, 10000, 100);
    world_add(&w, 0, retract, 1);
    manager = manager_of(&w, &task, NULL, NULL);
    for (int tries = 0; tries < 2; tries++) {
        cr_expect_eq(step(&w, manager, true, &err), SINTER_E_RETRACT, "%s", err.text);
        cr_expect_eq(world_name_count(&w), 3);
    }
    sinter_manager_destroy(manager);
    world_fini(&w);
}
