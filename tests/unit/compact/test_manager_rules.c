/*
 * The rules of a compact manager one by one (spec/compaction.md 8), on files that are made up and
 * with a strategy that is told what to pick. Compactions run when a test lets them.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "files.h"
#include "sinter/manager.h"
#include "support/fault_alloc.h"
#include "support/records.h"
#include "support/told_strategy.h"

TestSuite(compact_manager_rules, .timeout = 30);
TestSuite(field_faults, .timeout = 30);

/** A manager with everything around it. */
typedef struct bench {
    sinter_env env;
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_rewriter rewriter;
    told_strategy strategy;
    sinter_scheduler *scheduler;
    sinter_manager_config config;
    sinter_manager *manager;
    /* what the rewriter saw, and what it answers */
    unsigned rewrites;
    bool dropped;
    int32_t output_level;
    size_t inputs;
    sinter_status answer;
    bool cancels; /* the manager, before it answers */
} bench;

/* One made-up file that covers the inputs. */
static sinter_status
made_up(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
        sinter_error *err)
{
    bench *b = ctx;
    char name[32];
    sinter_file_meta made = file_of(name, request->output_level, "", "");

    (void)snprintf(name, sizeof name, "made-%u", b->rewrites++);
    b->dropped = request->drop_delete;
    b->output_level = request->output_level;
    b->inputs = 0;
    for (size_t s = 0; s < request->section_count; s++) {
        for (size_t r = 0; r < request->sections[s].count; r++) {
            for (size_t f = 0; f < request->sections[s].runs[r].count; f++) {
                const sinter_file_meta *file = request->sections[s].runs[r].files[f];
                const bool is_first = b->inputs++ == 0;

                if (is_first || test_bytes_compare(file->min_key, made.min_key) < 0) {
                    made.min_key = file->min_key;
                }
                if (is_first || test_bytes_compare(file->max_key, made.max_key) > 0) {
                    made.max_key = file->max_key;
                }
            }
        }
    }
    if (b->cancels) {
        sinter_manager_cancel(b->manager);
    }
    if (b->answer != SINTER_OK) {
        return SINTER__ERR(err, b->answer, "the rewriter was told to fail");
    }
    return sinter_compact_result_add_after(result, &made, err);
}

static void
bench_init(bench *b)
{
    const sinter_scheduler_options options = {.struct_size = sizeof options};

    *b = (bench){.env = *sinter_env_default()};
    told_init(&b->strategy);
    sinter_compact_options_init(&b->options);
    cr_assert_eq(sinter_compact_options_set(&b->options, "num-levels", "6", NULL), SINTER_OK);
    sinter_compact_task_init(&b->task);
    b->rewriter =
        (sinter_rewriter){.struct_size = sizeof b->rewriter, .ctx = b, .rewrite = made_up};
    b->task.options = &b->options;
    b->task.rewriter = &b->rewriter;
    cr_assert_eq(sinter_scheduler_create(&b->env, &options, &b->scheduler, NULL), SINTER_OK);
    b->config = (sinter_manager_config){.struct_size = sizeof b->config,
                                        .name = "a bucket",
                                        .task = &b->task,
                                        .strategy = &b->strategy.base,
                                        .scheduler = b->scheduler};
}

static void
bench_start(bench *b, const sinter_file_meta *files, size_t count)
{
    sinter_error err = SINTER_ERROR_INIT;

    b->config.files = files;
    b->config.count = count;
    cr_assert_eq(sinter_manager_create(&b->env, &b->config, &b->manager, &err), SINTER_OK, "%s",
                 err.text);
}

static void
bench_fini(bench *b)
{
    sinter_manager_destroy(b->manager);
    sinter_scheduler_destroy(b->scheduler);
}

/* Trigger, run, take; the taken status. */
static sinter_status
compact(bench *b, bool full)
{
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = sinter_manager_trigger(b->manager, full, &err);

    if (st == SINTER_OK) {
        st = sinter_manager_take_result(b->manager, true, &result, &err);
    }
    sinter_compact_result_destroy(result);
    return st;
}

/* "a@0 b@5 " of the manager's files. Static memory. */
static const char *
files_text(sinter_manager *manager)
{
    static char text[2048];
    const sinter_file_set *set = sinter_manager_acquire(manager);
    size_t count = 0;
    size_t used = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s@%" PRId32 " ",
                                 files[i].file_name, files[i].level);
    }
    sinter_file_set_release(set);
    return text;
}

static sinter_file_meta
level0(const char *name, const char *min, const char *max, int64_t sequence)
{
    sinter_file_meta file = file_with_sequences(name, 0, min, max, sequence, sequence + 9);

    file.creation_time_ms = sequence;
    return file;
}

/* ---- trigger ---- */

Test(compact_manager_rules, nothing_is_started_while_a_task_waits_or_its_result_does)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10), level0("b", "b", "n", 20)};
    const sinter_file_meta late = level0("c", "a", "z", 30);
    sinter_compact_result *result = NULL;
    bench b;

    bench_init(&b);
    bench_start(&b, files, 2);
    told_files(&b.strategy, 5, "a", "b", NULL);
    cr_assert_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_OK);
    cr_expect(sinter_manager_is_busy(b.manager));
    cr_expect_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_END, "it waits to run");
    cr_expect_eq(sinter_manager_take_result(b.manager, false, &result, NULL), SINTER_END);
    cr_expect_null(result);
    cr_expect_eq(b.strategy.asked, 1, "a strategy's state must not move for nothing");
    cr_assert_eq(sinter_manager_add_file(b.manager, &late, NULL), SINTER_OK);
    cr_assert_eq(sinter_scheduler_run_one(b.scheduler), SINTER_OK);
    cr_expect_eq(b.rewrites, 1);
    cr_expect_eq(b.inputs, 2, "the task has the files of its submission");
    cr_expect_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_END, "it has a result");
    cr_expect_eq(b.strategy.asked, 1);
    cr_expect_str_eq(files_text(b.manager), "c@0 b@0 a@0 ", "levels change when it is taken");
    cr_assert_eq(sinter_manager_take_result(b.manager, false, &result, NULL), SINTER_OK);
    cr_expect_eq(sinter_compact_result_before(result)->count, 2);
    cr_expect_eq(sinter_compact_result_after(result)->count, 1);
    sinter_compact_result_destroy(result);
    cr_expect_str_eq(files_text(b.manager), "c@0 made-0@5 ", "a file that came meanwhile stays");
    cr_expect_not(sinter_manager_is_busy(b.manager));
    told_nothing(&b.strategy);
    cr_expect_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_END);
    cr_expect_eq(b.strategy.asked, 2, "now it may be asked again");
    bench_fini(&b);
}

Test(compact_manager_rules, a_single_file_at_the_output_level_and_no_file_at_all_are_discarded)
{
    sinter_file_meta files[] = {level0("a", "a", "m", 30), file_of("p", 4, "a", "z")};
    bench b;

    bench_init(&b);
    bench_start(&b, files, 2);
    told_files(&b.strategy, 4, "p", NULL, NULL);
    cr_expect_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_END);
    told_files(&b.strategy, 5, "nobody", NULL, NULL);
    cr_expect_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_END);
    cr_expect_not(sinter_manager_is_busy(b.manager));
    cr_expect_eq(sinter_scheduler_run_one(b.scheduler), SINTER_END, "nothing was submitted");
    told_files(&b.strategy, 3, "a", NULL, NULL);
    cr_expect_eq(compact(&b, false), SINTER_OK, "another level is a reason");
    cr_expect_str_eq(files_text(b.manager), "a@3 p@4 ");
    told_files(&b.strategy, 5, "a", "p", NULL);
    cr_expect_eq(compact(&b, false), SINTER_OK);
    cr_expect_str_eq(files_text(b.manager), "made-0@5 ");
    bench_fini(&b);
}

/** A row of the drop-delete rule: what lies where, what goes where. */
typedef struct drop_row {
    int32_t levels[3]; /* of x, y and z; -1: isn't there. x and y overlap, x is the newest */
    const char *unit[3];
    int32_t output_level;
    bool drops; /* unless deletes are kept */
} drop_row;

Test(compact_manager_rules, deletes_go_when_nothing_lies_below_the_output_and_nobody_keeps_them)
{
    static const drop_row rows[] = {
        {{0, 0, -1}, {"x", "y"}, 1, true},     /* the highest is level 0 */
        {{0, 0, -1}, {"x", "y"}, 5, true},     /* */
        {{0, 0, 5}, {"x", "y"}, 4, false},     /* z lies below */
        {{0, 0, 3}, {"x", "y"}, 2, false},     /* */
        {{0, 0, 3}, {"x", "y", "z"}, 3, true}, /* z is the highest and in the unit */
        {{0, 0, 3}, {"x", "y", "z"}, 5, true}, /* */
        {{0, 3, 3}, {"x", "y", "z"}, 3, true}, /* the unit's own files count */
        {{0, 2, 4}, {"x", "y"}, 2, false},     /* */
        {{0, 2, 4}, {"x", "y"}, 3, false},     /* */
        {{0, 2, -1}, {"x", "y"}, 2, true},     /* */
        {{0, 2, -1}, {"x", "y"}, 3, true},     /* */
        {{1, 2, 3}, {"x", "y"}, 2, false},     /* */
        {{1, 2, 3}, {"x", "y", "z"}, 3, true}, /* */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int keeps = 0; keeps < 2; keeps++) {
            sinter_file_meta all[] = {level0("x", "a", "m", 30), level0("y", "c", "n", 20),
                                      level0("z", "o", "p", 10)};
            sinter_file_meta files[3];
            size_t count = 0;
            bench b;

            bench_init(&b);
            b.config.keep_deletes = keeps != 0;
            for (size_t f = 0; f < 3; f++) {
                all[f].level = rows[i].levels[f];
                if (all[f].level >= 0) {
                    files[count++] = all[f];
                }
            }
            bench_start(&b, files, count);
            told_files(&b.strategy, rows[i].output_level, rows[i].unit[0], rows[i].unit[1],
                       rows[i].unit[2]);
            cr_assert_eq(compact(&b, false), SINTER_OK, "row %zu", i);
            cr_assert_eq(b.rewrites, 1, "row %zu", i);
            cr_expect_eq(b.output_level, rows[i].output_level);
            cr_expect_eq(b.dropped, rows[i].drops && keeps == 0, "row %zu, keep %d", i, keeps);
            bench_fini(&b);
        }
    }
}

Test(compact_manager_rules, a_full_compaction_is_refused_while_a_task_is_there)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10), level0("b", "b", "n", 20)};
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bench b;

    bench_init(&b);
    bench_start(&b, files, 2);
    cr_assert_eq(sinter_manager_trigger(b.manager, true, NULL), SINTER_OK);
    cr_expect_eq(b.strategy.asked, 0, "a full compaction is no business of the strategy");
    cr_expect_eq(sinter_manager_trigger(b.manager, true, &err), SINTER_E_INVALID);
    cr_expect_gt(strlen(err.text), 0);
    cr_assert_eq(sinter_scheduler_run_one(b.scheduler), SINTER_OK);
    cr_expect_eq(sinter_manager_trigger(b.manager, true, NULL), SINTER_E_INVALID,
                 "it is there until it is taken");
    cr_assert_eq(sinter_manager_take_result(b.manager, true, &result, NULL), SINTER_OK);
    sinter_compact_result_destroy(result);
    cr_expect_str_eq(files_text(b.manager), "made-0@5 ");
    cr_expect_eq(sinter_manager_trigger(b.manager, true, NULL), SINTER_END, "F11: nothing to do");
    bench_fini(&b);
}

Test(compact_manager_rules, a_failed_task_raises_once_and_the_next_one_may_begin)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10), level0("b", "b", "n", 20)};
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bench b;

    bench_init(&b);
    bench_start(&b, files, 2);
    told_files(&b.strategy, 5, "a", "b", NULL);
    b.answer = SINTER_E_IO;
    cr_assert_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_OK);
    cr_expect_eq(sinter_manager_take_result(b.manager, true, &result, &err), SINTER_E_IO);
    cr_expect_not_null(strstr(err.text, "told to fail"), "%s", err.text);
    cr_expect_null(result);
    cr_expect_not(sinter_manager_is_busy(b.manager));
    cr_expect_eq(sinter_manager_take_result(b.manager, true, &result, NULL), SINTER_END,
                 "it is told once");
    cr_expect_str_eq(files_text(b.manager), "b@0 a@0 ");
    b.answer = SINTER_OK;
    cr_expect_eq(compact(&b, false), SINTER_OK);
    cr_expect_str_eq(files_text(b.manager), "made-1@5 ");
    sinter_manager_metrics_get(b.manager, &metrics);
    cr_expect_eq(metrics.compactions, 2);
    cr_expect_eq(metrics.compactions_failed, 1);
    cr_expect_eq(metrics.compactions_completed, 1);
    cr_expect_eq(metrics.running, 0);
    cr_expect_eq(metrics.files_by_reason[SINTER_REASON_OVERLAP], 2, "of the one that completed");
    cr_expect_eq(metrics.picks_by_rule[SINTER_PICK_CUSTOM], 2, "a strategy that names no rule");
    bench_fini(&b);
}

Test(compact_manager_rules, a_cancelled_task_gives_nothing_and_does_not_come_back_by_itself)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10), level0("b", "b", "n", 20)};
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bench b;

    bench_init(&b);
    bench_start(&b, files, 2);
    sinter_manager_cancel(b.manager); /* nothing runs */
    told_files(&b.strategy, 5, "a", "b", NULL);
    cr_assert_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_OK);
    sinter_manager_cancel(b.manager);
    cr_expect_eq(sinter_manager_take_result(b.manager, true, &result, &err), SINTER_END,
                 "cancelled while it waited: %s", err.text);
    cr_expect_eq(b.rewrites, 0);
    cr_expect_eq(sinter_scheduler_run_one(b.scheduler), SINTER_END);
    cr_expect_eq(b.rewrites, 0);
    b.cancels = true;
    b.answer = SINTER_E_CANCELLED;
    cr_assert_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_OK);
    cr_expect_eq(sinter_manager_take_result(b.manager, true, &result, &err), SINTER_END,
                 "cancelled while it ran: %s", err.text);
    cr_expect_null(result);
    cr_expect_not(sinter_manager_is_busy(b.manager));
    cr_expect_str_eq(files_text(b.manager), "b@0 a@0 ");
    cr_expect_eq(sinter_scheduler_run_one(b.scheduler), SINTER_END);
    b.cancels = false;
    b.answer = SINTER_OK;
    cr_expect_eq(compact(&b, false), SINTER_OK);
    sinter_manager_metrics_get(b.manager, &metrics);
    cr_expect_eq(metrics.compactions_cancelled, 2);
    cr_expect_eq(metrics.compactions_failed, 0);
    bench_fini(&b);
}

Test(compact_manager_rules, what_a_strategy_fails_with_comes_out_of_the_trigger)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10)};
    bench b;

    bench_init(&b);
    bench_start(&b, files, 1);
    b.strategy.answer = SINTER_E_OVERFLOW;
    cr_expect_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_E_OVERFLOW);
    cr_expect_not(sinter_manager_is_busy(b.manager));
    b.strategy.answer = SINTER_OK;
    told_files(&b.strategy, 3, "a", NULL, NULL);
    cr_expect_eq(compact(&b, false), SINTER_OK);
    bench_fini(&b);
}

/* ---- units that aren't safe ---- */

static void
expect_refused(bench *b, int32_t level, const char *one, const char *two, const char *named)
{
    sinter_error err = SINTER_ERROR_INIT;

    told_files(&b->strategy, level, one, two, NULL);
    cr_expect_eq(sinter_manager_trigger(b->manager, false, &err), SINTER_E_INVALID, "%s, %s", one,
                 two == NULL ? "" : two);
    cr_expect(named == NULL || strstr(err.file, named) != NULL || strstr(err.text, named) != NULL,
              "%s is not named: %s (%s)", named, err.text, err.file);
    cr_expect_gt(strlen(err.text), 0);
    cr_expect_eq(b->rewrites, 0);
    cr_expect_not(sinter_manager_is_busy(b->manager));
}

Test(field_faults, f01_a_pick_that_steps_over_a_run_is_refused_and_the_run_is_named)
{
    const sinter_file_meta files[] = {level0("N-file", "k", "k", 20), level0("M-file", "k", "k", 7),
                                      file_with_sequences("P-file", 5, "k", "k", 3, 3)};
    bench b;

    bench_init(&b);
    bench_start(&b, files, 3);
    expect_refused(&b, 5, "N-file", "P-file", "M-file");
    told_files(&b.strategy, 4, "M-file", NULL, NULL);
    cr_expect_eq(compact(&b, false), SINTER_OK, "between what is younger and what is older");
    bench_fini(&b);
}

Test(field_faults, f01_other_picks_that_are_not_safe_are_refused)
{
    const sinter_file_meta files[] = {level0("n", "k", "m", 20), level0("o", "k", "k", 7),
                                      file_with_sequences("p", 3, "a", "l", 3, 4),
                                      file_with_sequences("q", 3, "m", "z", 3, 4)};
    bench b;

    bench_init(&b);
    bench_start(&b, files, 4);
    expect_refused(&b, 0, "n", "o", NULL);  /* level 0 is no output */
    expect_refused(&b, 6, "n", "o", NULL);  /* there is no such level */
    expect_refused(&b, -1, "n", "o", NULL); /* */
    expect_refused(&b, 2, "p", NULL, "p");  /* downwards */
    expect_refused(&b, 3, "n", "o", NULL);  /* meets p and q there */
    expect_refused(&b, 4, "n", "o", NULL);  /* passes p and q, which are older */
    expect_refused(&b, 3, "n", "p", NULL);  /* steps over o */
    told_files(&b.strategy, 2, "o", NULL, NULL);
    cr_expect_eq(compact(&b, false), SINTER_OK, "o is older than n, and younger than p");
    cr_expect_str_eq(files_text(b.manager), "n@0 o@2 p@3 q@3 ");
    bench_fini(&b);
}

Test(field_faults, f13_no_unit_ever_has_level_0_as_its_output)
{
    static const uint64_t kib[] = {1, 1, 1, 1024, 10240}; /* newest first */
    sinter_file_meta files[5];
    char names[5][8];
    bench b;

    for (size_t i = 0; i < 5; i++) {
        (void)snprintf(names[i], sizeof names[i], "f%zu", i);
        files[i] = level0(names[i], "a", "b", 100 - 10 * (int64_t)i);
        files[i].file_size = kib[i] << 10;
    }
    bench_init(&b);
    b.config.strategy = NULL;
    bench_start(&b, files, 5);
    cr_assert_eq(compact(&b, false), SINTER_OK);
    cr_expect_eq(b.output_level, 5);
    cr_expect_eq(b.inputs, 5);
    cr_expect_eq(compact(&b, false), SINTER_END);
    bench_fini(&b);
}

/* ---- waiting ---- */

static void
expect_waits(bench *b, size_t runs, bool latest, bool prepare)
{
    cr_expect_eq(sinter_manager_should_wait_latest(b->manager), latest, "%zu runs", runs);
    cr_expect_eq(sinter_manager_should_wait_prepare(b->manager), prepare, "%zu runs", runs);
}

static void
add_runs_and_look(const char *trigger, const char *stop, size_t stop_runs)
{
    char names[24][8];
    bench b;

    bench_init(&b);
    cr_assert_eq(
        sinter_compact_options_set(&b.options, "num-sorted-run.compaction-trigger", trigger, NULL),
        SINTER_OK);
    if (stop != NULL) {
        cr_assert_eq(
            sinter_compact_options_set(&b.options, "num-sorted-run.stop-trigger", stop, NULL),
            SINTER_OK);
    }
    bench_start(&b, NULL, 0);
    for (size_t i = 0; i < 24; i++) {
        sinter_file_meta file;

        (void)snprintf(names[i], sizeof names[i], "f%zu", i);
        file = level0(names[i], "a", "b", 10 * (int64_t)i);
        cr_assert_eq(sinter_manager_add_file(b.manager, &file, NULL), SINTER_OK);
        expect_waits(&b, i + 1, i + 1 > stop_runs, i + 1 > stop_runs + 1);
    }
    bench_fini(&b);
}

Test(compact_manager_rules, writers_wait_beyond_the_stop_trigger_and_commits_one_run_later)
{
    add_runs_and_look("5", NULL, 8);
    add_runs_and_look("5", "12", 12);
    add_runs_and_look("1", "1", 1);
    add_runs_and_look("2", "2147483647", SIZE_MAX - 1);
    add_runs_and_look("2147483646", NULL, SIZE_MAX - 1);
    add_runs_and_look("2147483647", NULL, SIZE_MAX - 1);
}

Test(compact_manager_rules, a_table_with_lookup_is_busy_as_long_as_level_0_holds_a_file)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10), level0("b", "b", "n", 20)};
    bench b;

    bench_init(&b);
    b.config.needs_lookup = true;
    bench_start(&b, files, 2);
    cr_expect(sinter_manager_is_busy(b.manager));
    told_files(&b.strategy, 5, "a", "b", NULL);
    cr_expect_eq(compact(&b, false), SINTER_OK);
    cr_expect_not(sinter_manager_is_busy(b.manager));
    bench_fini(&b);
}

Test(compact_manager_rules, a_write_only_manager_never_waits_and_never_compacts)
{
    char names[24][8];
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bench b;

    bench_init(&b);
    cr_assert_eq(sinter_compact_options_set(&b.options, "write-only", "true", NULL), SINTER_OK);
    b.config.strategy = NULL;
    bench_start(&b, NULL, 0);
    for (size_t i = 0; i < 24; i++) {
        sinter_file_meta file;

        (void)snprintf(names[i], sizeof names[i], "f%zu", i);
        file = level0(names[i], "a", "b", 10 * (int64_t)i);
        cr_assert_eq(sinter_manager_add_file(b.manager, &file, NULL), SINTER_OK);
        expect_waits(&b, i + 1, false, false);
        cr_expect_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_END);
    }
    cr_expect_eq(sinter_manager_trigger(b.manager, true, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "write-only"), "%s", err.text);
    cr_expect_eq(sinter_manager_take_result(b.manager, true, &result, NULL), SINTER_END);
    cr_expect_eq(b.rewrites, 0);
    bench_fini(&b);
}

/* ---- what a pick says of itself ---- */

Test(compact_manager_rules, the_last_pick_has_its_rule_and_its_numbers)
{
    sinter_file_meta files[5];
    char names[5][8];
    const sinter_pick *pick = NULL;
    bench b;

    for (size_t i = 0; i < 5; i++) {
        (void)snprintf(names[i], sizeof names[i], "f%zu", i);
        files[i] = level0(names[i], "a", "b", 10 * (int64_t)i);
    }
    bench_init(&b);
    b.config.strategy = NULL;
    bench_start(&b, files, 4);
    cr_assert_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_END);
    pick = sinter_manager_last_pick(b.manager);
    cr_expect_gt(strlen(pick->text), 0, "why there is nothing to do is said too");
    cr_assert_eq(sinter_manager_add_file(b.manager, &files[4], NULL), SINTER_OK);
    cr_assert_eq(compact(&b, false), SINTER_OK);
    pick = sinter_manager_last_pick(b.manager);
    cr_expect_eq(pick->rule, SINTER_PICK_SIZE_AMPLIFICATION, "%s",
                 sinter_pick_rule_code((sinter_pick_rule)pick->rule));
    cr_expect_not_null(strstr(pick->text, "400"), "4000 bytes over 1000: %s", pick->text);
    cr_expect_not_null(strstr(pick->text, "200"), "%s", pick->text);
    cr_expect_null(pick->members);
    bench_fini(&b);
}

Test(compact_manager_rules, files_are_rewritten_each_by_itself_in_their_own_level_only)
{
    const sinter_file_meta files[] = {level0("n", "k", "k", 20),
                                      file_with_sequences("p", 5, "k", "k", 3, 3)};
    bench b;

    bench_init(&b);
    bench_start(&b, files, 2);
    b.strategy.file_rewrite = true;
    expect_refused(&b, 5, "n", "p", "n"); /* a delete in n would go without what it deletes */
    told_files(&b.strategy, 5, "p", NULL, NULL);
    cr_expect_eq(compact(&b, false), SINTER_END, "one file that lies there already is no unit");
    bench_fini(&b);
}

/* ---- making and ending ---- */

Test(compact_manager_rules, files_without_a_name_and_levels_that_are_not_there_are_refused)
{
    const sinter_file_meta nameless[] = {level0("a", "a", "b", 10), {.struct_size = 0}};
    const sinter_file_meta deep = file_of("deep", 6, "a", "b");
    bench b;

    bench_init(&b);
    b.config.files = nameless;
    b.config.count = 2;
    cr_expect_eq(sinter_manager_create(&b.env, &b.config, &b.manager, NULL), SINTER_E_INVALID);
    bench_start(&b, NULL, 0);
    cr_expect_eq(sinter_manager_add_file(b.manager, &deep, NULL), SINTER_E_INVALID);
    cr_expect_str_eq(files_text(b.manager), "");
    bench_fini(&b);
}

Test(compact_manager_rules, a_task_that_was_refused_shows_no_progress)
{
    const sinter_scheduler_options options = {
        .struct_size = sizeof options, .queue_max = 1, .when_full = SINTER_QUEUE_REFUSE};
    const sinter_file_meta files[] = {level0("a", "a", "b", 10), level0("b", "a", "b", 20)};
    uint64_t bytes = 1;
    uint64_t total = 1;
    sinter_manager *first = NULL;
    sinter_scheduler *scheduler = NULL;
    bench b;

    bench_init(&b);
    cr_assert_eq(sinter_scheduler_create(&b.env, &options, &scheduler, NULL), SINTER_OK);
    sinter_scheduler_pause(scheduler);
    b.config.scheduler = scheduler;
    bench_start(&b, files, 2);
    first = b.manager;
    bench_start(&b, files, 2);
    told_all(&b.strategy, 5);
    cr_assert_eq(sinter_manager_trigger(first, false, NULL), SINTER_OK);
    cr_assert_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_E_BUSY);
    sinter_manager_progress(b.manager, &bytes, &total);
    cr_expect_eq(total, 0);
    cr_expect_eq(bytes, 0);
    sinter_manager_progress(first, &bytes, &total);
    cr_expect_gt(total, 0);
    sinter_scheduler_resume(scheduler);
    sinter_manager_destroy(first);
    sinter_manager_destroy(b.manager);
    sinter_scheduler_destroy(scheduler);
    sinter_scheduler_destroy(b.scheduler);
}

Test(compact_manager_rules, files_that_make_no_levels_are_refused_by_name)
{
    const sinter_file_meta twice[] = {level0("same", "a", "b", 10), level0("same", "c", "d", 20)};
    const sinter_file_meta overlap[] = {file_of("left", 3, "a", "m"),
                                        file_of("right", 3, "m", "z")};
    sinter_error err = SINTER_ERROR_INIT;
    bench b;

    bench_init(&b);
    b.config.files = twice;
    b.config.count = 2;
    cr_expect_eq(sinter_manager_create(&b.env, &b.config, &b.manager, &err), SINTER_E_INVALID);
    cr_expect_null(b.manager);
    cr_expect(strstr(err.text, "same") != NULL || strstr(err.file, "same") != NULL, "%s", err.text);
    b.config.files = overlap;
    err = (sinter_error)SINTER_ERROR_INIT;
    cr_expect_eq(sinter_manager_create(&b.env, &b.config, &b.manager, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "left"), "%s", err.text);
    cr_expect_not_null(strstr(err.text, "right"), "%s", err.text);
    bench_fini(&b);
}

Test(compact_manager_rules, a_file_that_would_overlap_is_refused_and_changes_nothing)
{
    const sinter_file_meta files[] = {file_of("left", 3, "a", "m")};
    const sinter_file_meta bad = file_of("right", 3, "m", "z");
    const sinter_file_meta good = file_of("far", 3, "n", "z");
    sinter_error err = SINTER_ERROR_INIT;
    bench b;

    bench_init(&b);
    bench_start(&b, files, 1);
    cr_expect_eq(sinter_manager_add_file(b.manager, &bad, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "left"), "%s", err.text);
    cr_expect_not_null(strstr(err.text, "right"), "%s", err.text);
    cr_expect_str_eq(files_text(b.manager), "left@3 ");
    cr_expect_eq(sinter_manager_add_file(b.manager, &good, NULL), SINTER_OK, "any level will do");
    cr_expect_str_eq(files_text(b.manager), "left@3 far@3 ");
    bench_fini(&b);
}

Test(compact_manager_rules, a_set_that_is_held_shows_the_old_files_until_it_is_released)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10), level0("b", "b", "n", 20)};
    const sinter_file_set *set = NULL;
    size_t count = 0;
    bench b;

    bench_init(&b);
    bench_start(&b, files, 2);
    set = sinter_manager_acquire(b.manager);
    told_files(&b.strategy, 5, "a", "b", NULL);
    cr_assert_eq(compact(&b, false), SINTER_OK);
    cr_expect_str_eq(files_text(b.manager), "made-0@5 ");
    cr_expect_str_eq(sinter_file_set_files(set, &count)[0].file_name, "b");
    cr_expect_eq(count, 2);
    bench_fini(&b);
    cr_expect_str_eq(sinter_file_set_files(set, &count)[1].file_name, "a",
                     "it outlives the manager");
    sinter_file_set_release(set);
}

Test(compact_manager_rules, without_a_scheduler_a_trigger_does_the_work)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10), level0("b", "b", "n", 20)};
    sinter_compact_result *result = NULL;
    bench b;

    bench_init(&b);
    b.config.scheduler = NULL;
    bench_start(&b, files, 2);
    told_files(&b.strategy, 5, "a", "b", NULL);
    cr_assert_eq(sinter_manager_trigger(b.manager, false, NULL), SINTER_OK);
    cr_expect_eq(b.rewrites, 1);
    cr_expect_str_eq(files_text(b.manager), "b@0 a@0 ");
    cr_assert_eq(sinter_manager_take_result(b.manager, false, &result, NULL), SINTER_OK);
    sinter_compact_result_destroy(result);
    cr_expect_str_eq(files_text(b.manager), "made-0@5 ");
    b.answer = SINTER_E_IO;
    cr_assert_eq(sinter_manager_trigger(b.manager, true, NULL), SINTER_END);
    bench_fini(&b);
}

/* ---- every allocation ---- */

/* A life in small: made, filled, compacted twice, taken. */
static sinter_status
live(bench *b, const sinter_file_meta *files, sinter_error *err)
{
    sinter_compact_result *result = NULL;
    sinter_status st = sinter_manager_create(&b->env, &b->config, &b->manager, err);

    if (st == SINTER_OK) {
        st = sinter_manager_add_file(b->manager, &files[2], err);
    }
    for (int full = 0; st == SINTER_OK && full < 2; full++) {
        st = sinter_manager_trigger(b->manager, full != 0, err);
        if (st == SINTER_OK) {
            st = sinter_manager_take_result(b->manager, true, &result, err);
            sinter_compact_result_destroy(result);
            result = NULL;
        }
    }
    return st;
}

Test(compact_manager_rules, every_allocation_may_fail)
{
    const sinter_file_meta files[] = {level0("a", "a", "m", 10), level0("b", "b", "n", 20),
                                      level0("c", "c", "d", 30)};
    sinter_status st = SINTER_E_NOMEM;
    uint64_t n = 0;

    for (; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        bench b;

        bench_init(&b);
        fault_alloc_init(&fault, n);
        b.env = fault.env;
        b.config.scheduler = NULL;
        b.config.files = files;
        b.config.count = 2;
        told_files(&b.strategy, 3, "a", "b", NULL);
        st = live(&b, files, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st),
                  "allocation %" PRIu64 ": %s: %s", n, sinter_status_name(st), err.text);
        if (b.manager != NULL && st != SINTER_OK) {
            /* it goes on as if nothing had been */
            fault.fail_at = UINT64_MAX;
            told_files(&b.strategy, 5, NULL, NULL, NULL);
            cr_assert_eq(sinter_manager_trigger(b.manager, true, &err), SINTER_OK, "%" PRIu64, n);
        }
        bench_fini(&b);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    cr_expect_gt(n, 10);
}
