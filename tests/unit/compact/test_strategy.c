#include "compact/strategy.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

TestSuite(field_faults, .timeout = 60);

enum { RUNS_MAX = 64, NUM_LEVELS = 6 };

/** Runs that a test asks with, each of one file but for what it says. */
typedef struct question {
    sinter_level_run runs[RUNS_MAX];
    size_t members[RUNS_MAX];
    sinter_pick_request request;
    sinter_pick pick;
    char answer[64]; /* "0..2 -> 3", "none" */
} question;

/* Read runs as "0:10 0:20 5:400". */
static void
question_init(question *q, const char *runs)
{
    const char *p = runs;
    int used = 0;
    int level = 0;
    uint64_t bytes = 0;

    memset(q, 0, sizeof *q);
    q->request = (sinter_pick_request){
        .struct_size = sizeof q->request, .num_levels = NUM_LEVELS, .runs = q->runs};
    while (sscanf(p, " %d:%" SCNu64 "%n", &level, &bytes, &used) == 2) {
        q->runs[q->request.run_count++] =
            (sinter_level_run){.level = level, .bytes = bytes, .count = 1};
        p += used;
    }
    q->request.file_count = q->request.run_count;
}

static const char *
ask(question *q, sinter_strategy *strategy)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    q->pick = (sinter_pick){.struct_size = sizeof q->pick, .members = q->members};
    st = sinter_strategy_pick(strategy, &q->request, &q->pick, &err);
    cr_assert(st == SINTER_OK || st == SINTER_END, "%s", err.text);
    if (st == SINTER_END) {
        (void)snprintf(q->answer, sizeof q->answer, "none");
    } else {
        (void)snprintf(q->answer, sizeof q->answer, "0..%zu -> %d", q->pick.run_count - 1,
                       q->pick.output_level);
    }
    return q->answer;
}

static sinter_strategy *
strategy_of(const sinter_compact_options *options)
{
    sinter_strategy *strategy = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_strategy_create(sinter_env_default(), options, NULL, &strategy, &err),
                 SINTER_OK, "%s", err.text);
    return strategy;
}

/* One pick of a fresh strategy. */
static const char *
pick_once(const sinter_compact_options *options, const char *runs, question *q)
{
    sinter_strategy *strategy = strategy_of(options);

    question_init(q, runs);
    ask(q, strategy);
    sinter_strategy_destroy(strategy);
    return q->answer;
}

Test(compact_strategy, examples_u1_to_u8_of_the_specification)
{
    sinter_compact_options options;
    question q;

    sinter_compact_options_init(&options);
    cr_expect_str_eq(pick_once(&options, "0:10 0:10 0:10 5:10", &q), "none");
    cr_expect_str_eq(q.pick.text, "4 runs, trigger 5");
    cr_expect_str_eq(pick_once(&options, "0:100 0:101 0:250 4:9000 5:100000", &q), "0..2 -> 3");
    cr_expect_eq(q.pick.rule, SINTER_PICK_SIZE_RATIO);
    cr_expect_str_eq(pick_once(&options, "0:100 0:102 0:250 4:9000 5:100000", &q), "none");
    cr_expect_str_eq(q.pick.text, "5 runs, trigger 5; size amplification 9 % <= 200 %; run 1 has "
                                  "102 bytes > 101 % of 100");
    cr_expect_str_eq(pick_once(&options, "0:10 0:20 0:40 0:80 4:9000 5:100000", &q), "0..3 -> 3");
    cr_expect_eq(q.pick.rule, SINTER_PICK_FILE_NUM);
    cr_expect_str_eq(q.pick.text, "6 runs > trigger 5: 4 of 6 runs to level 3, as the next has "
                                  "9000 bytes > 101 % of 150");
    cr_expect_str_eq(pick_once(&options, "0:10 0:20 0:40 0:80 1:9000 5:100000", &q), "0..4 -> 4");
    cr_expect_str_eq(pick_once(&options, "0:100 0:100 0:300 1:1000 2:1400 5:100000000", &q),
                     "0..4 -> 4");
    options.max_size_amplification_percent = 50;
    cr_expect_str_eq(pick_once(&options, "0:50 0:50 0:50 0:51 5:400", &q), "0..4 -> 5");
    cr_expect_eq(q.pick.rule, SINTER_PICK_SIZE_AMPLIFICATION);
    cr_expect_str_eq(q.pick.text, "size amplification 51 % > 50 %");
    cr_expect_str_eq(pick_once(&options, "0:50 0:50 0:50 0:50 5:400", &q), "0..3 -> 4");
}

Test(compact_strategy, examples_u9_and_u10_of_the_specification)
{
    sinter_compact_options options;
    question q;

    sinter_compact_options_init(&options);
    options.total_size_threshold = 1000;
    cr_expect_str_eq(pick_once(&options, "0:10 5:900", &q), "0..1 -> 5");
    cr_expect_eq(q.pick.rule, SINTER_PICK_TOTAL_SIZE);
    cr_expect_str_eq(q.pick.text, "910 bytes in all < 1000 bytes");
    cr_expect_str_eq(pick_once(&options, "0:100 5:900", &q), "none");
    options.total_size_threshold = 0;
    options.incremental_size_threshold = 99;
    cr_expect_str_eq(pick_once(&options, "0:100 5:900", &q), "0..1 -> 5");
    cr_expect_eq(q.pick.rule, SINTER_PICK_INCREMENTAL_SIZE);
}

Test(compact_strategy, examples_f1_to_f4_and_g_of_the_specification)
{
    sinter_compact_options options;
    sinter_strategy *gentle;
    question q;

    sinter_compact_options_init(&options);
    options.force_up_level_0 = true;
    cr_expect_str_eq(pick_once(&options, "0:10 0:20 4:5000", &q), "0..1 -> 3");
    cr_expect_eq(q.pick.rule, SINTER_PICK_FORCE_UP_LEVEL_0);
    cr_expect_str_eq(q.pick.text, "2 runs in level 0: 2 of 3 runs to level 3, as the next has 5000 "
                                  "bytes > 101 % of 30");
    cr_expect_str_eq(pick_once(&options, "0:10 1:20 4:5000", &q), "0..1 -> 3");
    cr_expect_str_eq(pick_once(&options, "0:10 2:10 4:5000", &q), "0..1 -> 3");
    cr_expect_str_eq(pick_once(&options, "4:5000", &q), "none");
    cr_expect_str_eq(q.pick.text, "level 0 is empty; 1 runs, trigger 5");
    cr_expect_str_eq(pick_once(&options, "0:10 1:5000 4:5000", &q), "0..2 -> 5");
    cr_expect_str_eq(pick_once(&options, "0:10 0:10 0:10", &q), "0..2 -> 5");

    options.force_lookup = true;
    options.lookup_compact = SINTER_LOOKUP_COMPACT_GENTLE;
    options.num_sorted_run_trigger = 3;
    options.lookup_max_interval = 3;
    gentle = strategy_of(&options);
    cr_expect_str_eq(gentle->ops->name, "force-up-level-0");
    question_init(&q, "0:10 4:5000");
    cr_expect_str_eq(ask(&q, gentle), "none");
    cr_expect_str_eq(ask(&q, gentle), "none");
    cr_expect_str_eq(ask(&q, gentle), "0..0 -> 3");
    cr_expect_str_eq(ask(&q, gentle), "none");
    sinter_strategy_destroy(gentle);
}

Test(compact_strategy, what_the_options_ask_for_is_made)
{
    sinter_strategy_origin origin = {.struct_size = sizeof origin};
    sinter_strategy *strategy = NULL;
    sinter_compact_options options;

    cr_assert_eq(sinter_strategy_create(sinter_env_default(), NULL, NULL, &strategy, NULL),
                 SINTER_OK);
    cr_expect_str_eq(strategy->ops->name, "universal");
    sinter_strategy_destroy(strategy);
    origin.needs_lookup = true;
    cr_assert_eq(sinter_strategy_create(sinter_env_default(), NULL, &origin, &strategy, NULL),
                 SINTER_OK);
    cr_expect_str_eq(strategy->ops->name, "force-up-level-0");
    sinter_strategy_destroy(strategy);
    sinter_compact_options_init(&options);
    options.merge_engine = SINTER_MERGE_ENGINE_FIRST_ROW;
    strategy = strategy_of(&options);
    cr_expect_str_eq(strategy->ops->name, "force-up-level-0", "first-row needs lookup");
    sinter_strategy_destroy(strategy);
    options.size_ratio = UINT32_MAX;
    cr_expect_eq(sinter_strategy_create(sinter_env_default(), &options, NULL, &strategy, NULL),
                 SINTER_E_INVALID);
    cr_expect_null(strategy);
    cr_expect_eq(sinter_strategy_create(NULL, NULL, NULL, &strategy, NULL), SINTER_E_INVALID);
    sinter_strategy_destroy(NULL);
}

Test(compact_strategy, the_interval_counts_from_the_last_full_compaction)
{
    sinter_strategy_origin origin = {.struct_size = sizeof origin, .has_last_full = true};
    sinter_strategy *strategy = NULL;
    sinter_compact_options options;
    question q;

    sinter_compact_options_init(&options);
    options.optimization_interval_ms = 1000;
    origin.last_full_ms = 5000;
    cr_assert_eq(sinter_strategy_create(sinter_env_default(), &options, &origin, &strategy, NULL),
                 SINTER_OK);
    question_init(&q, "0:10 5:900");
    q.request.now_ms = 6000;
    cr_expect_str_eq(ask(&q, strategy), "none", "not longer ago than the interval");
    q.request.now_ms = 6001;
    cr_expect_str_eq(ask(&q, strategy), "0..1 -> 5");
    cr_expect_eq(q.pick.rule, SINTER_PICK_OPTIMIZATION_INTERVAL);
    cr_expect_str_eq(q.pick.text, "last full compaction 1001 ms ago > 1000 ms");
    cr_expect_str_eq(ask(&q, strategy), "none");
    q.request.now_ms = INT64_MIN;
    cr_expect_str_eq(ask(&q, strategy), "none", "a clock that was put back");
    sinter_strategy_destroy(strategy);
    strategy = strategy_of(&options);
    cr_expect_str_eq(ask(&q, strategy), "0..1 -> 5", "none is known of");
    sinter_strategy_destroy(strategy);
}

Test(compact_strategy, off_peak_hours_raise_the_ratio)
{
    sinter_compact_options options;
    size_t inside = 0;
    question q;

    sinter_compact_options_init(&options);
    options.offpeak_ratio = 100;
    for (int32_t begin = 0; begin < 24; begin++) {
        for (int32_t end = 0; end < 24; end++) {
            options.offpeak_start_hour = begin;
            options.offpeak_end_hour = end;
            for (int32_t hour = 0; hour < 24; hour++) {
                /* Walk from begin to end round the clock: is the hour met? */
                const int32_t walk = (end - begin + 24) % 24;
                const bool is_off_peak = (hour - begin + 24) % 24 < walk;
                sinter_strategy *strategy = strategy_of(&options);

                question_init(&q, "0:100 0:190 0:10000 4:1000000 5:10000000");
                q.request.local_hour = hour;
                cr_assert_str_eq(ask(&q, strategy), is_off_peak ? "0..2 -> 3" : "none",
                                 "%d in %d..%d", hour, begin, end);
                inside += is_off_peak ? 1 : 0;
                sinter_strategy_destroy(strategy);
            }
        }
    }
    cr_expect_gt(inside, 0);
}

Test(compact_strategy, sizes_near_the_largest_number_do_not_wrap)
{
    sinter_compact_options options;
    question q;

    sinter_compact_options_init(&options);
    cr_expect_str_eq(pick_once(&options, "0:1 0:1 0:1 0:1 5:18446744073709551615", &q),
                     "0..3 -> 4");
    cr_expect_str_eq(pick_once(&options,
                               "0:9223372036854775807 0:9223372036854775807 "
                               "0:9223372036854775807 0:1 5:1",
                               &q),
                     "0..4 -> 5");
    options.total_size_threshold = 100;
    cr_expect_str_eq(pick_once(&options, "0:9223372036854775807 5:9223372036854775807", &q), "none",
                     "a sum that wrapped would be small");
}

Test(field_faults, f13_no_unit_has_output_level_0)
{
    sinter_compact_options options;
    question q;

    sinter_compact_options_init(&options);
    cr_expect_str_eq(pick_once(&options, "0:1024 0:1024 0:1024 0:1048576 0:10485760", &q),
                     "0..4 -> 5");
    for (uint64_t seed = 1; seed <= scaled_cases(3000); seed++) {
        test_rng rng = {seed};
        const size_t count = 1 + test_rng_below(&rng, 12);
        char runs[256] = "";
        size_t used = 0;

        for (size_t i = 0; i < count; i++) {
            used += (size_t)snprintf(runs + used, sizeof runs - used, "0:%" PRIu64 " ",
                                     test_rng_below(&rng, 1u << test_rng_below(&rng, 20)));
        }
        options.num_sorted_run_trigger = 1 + (uint32_t)test_rng_below(&rng, 6);
        options.force_up_level_0 = test_rng_chance(&rng, 50);
        (void)pick_once(&options, runs, &q);
        cr_assert(q.pick.member_count == 0 || q.pick.output_level > 0, "seed %" PRIu64, seed);
    }
}

/** A bucket as strategies see it. */
typedef struct runs_model {
    sinter_level_run runs[RUNS_MAX];
    size_t count;
} runs_model;

static void
random_runs(test_rng *rng, runs_model *out)
{
    const size_t young = test_rng_below(rng, 10);

    out->count = 0;
    for (size_t i = 0; i < young; i++) {
        out->runs[out->count++] =
            (sinter_level_run){.level = 0, .bytes = test_rng_below(rng, 1000), .count = 1};
    }
    for (int32_t level = 1; level < NUM_LEVELS; level++) {
        if (test_rng_chance(rng, 40)) {
            out->runs[out->count++] =
                (sinter_level_run){.level = level,
                                   .bytes = test_rng_below(rng, 1u << test_rng_below(rng, 24)),
                                   .count = 1 + test_rng_below(rng, 3)};
        }
    }
}

/* Put the picked runs in their place: one run at the output level. False: nothing would change. */
static bool
apply(runs_model *model, const sinter_pick *pick)
{
    sinter_level_run made = {.level = pick->output_level};
    const bool is_one_at_level = pick->run_count == 1 && model->runs[0].level == pick->output_level;

    for (size_t i = 0; i < pick->run_count; i++) {
        cr_assert_leq(model->runs[i].level, pick->output_level);
        made.bytes += model->runs[i].bytes;
        made.count += model->runs[i].count;
    }
    cr_assert(pick->run_count == model->count ||
                  model->runs[pick->run_count].level > pick->output_level,
              "what is left out lies below");
    memmove(&model->runs[1], &model->runs[pick->run_count],
            (model->count - pick->run_count) * sizeof model->runs[0]);
    model->runs[0] = made;
    model->count -= pick->run_count - 1;
    return !is_one_at_level;
}

/* Options of a case; an interval is left out: with one, time goes on for ever. */
static void
random_options(test_rng *rng, sinter_compact_options *options)
{
    sinter_compact_options_init(options);
    options->num_sorted_run_trigger = 1 + (uint32_t)test_rng_below(rng, 8);
    options->size_ratio = (uint32_t)test_rng_below(rng, 100);
    options->max_size_amplification_percent = (uint32_t)test_rng_below(rng, 300);
    options->force_up_level_0 = test_rng_chance(rng, 30);
    options->force_lookup = test_rng_chance(rng, 30);
    options->lookup_compact = (int32_t)test_rng_below(rng, 2);
    if (test_rng_chance(rng, 30)) {
        options->total_size_threshold = 1 + test_rng_below(rng, 5000);
    }
    if (test_rng_chance(rng, 30)) {
        options->incremental_size_threshold = 1 + test_rng_below(rng, 5000);
    }
}

static void
run_to_its_end(uint64_t seed)
{
    test_rng rng = {seed};
    sinter_compact_options options;
    sinter_strategy *strategy;
    runs_model model;
    size_t steps = 0;
    size_t quiet = 0;

    random_options(&rng, &options);
    random_runs(&rng, &model);
    strategy = strategy_of(&options);
    /* A gentle strategy may find something after a number of times. */
    while (quiet <= sinter_compact_lookup_max_interval(&options)) {
        const size_t before = model.count;
        size_t members[RUNS_MAX * 3];
        sinter_pick pick = {.struct_size = sizeof pick, .members = members};
        sinter_pick_request request = {.struct_size = sizeof request,
                                       .num_levels = NUM_LEVELS,
                                       .runs = model.runs,
                                       .run_count = model.count};

        for (size_t i = 0; i < model.count; i++) {
            request.file_count += model.runs[i].count;
        }
        if (sinter_strategy_pick(strategy, &request, &pick, NULL) == SINTER_END) {
            cr_assert_gt(strlen(pick.text), 0);
            quiet++;
            continue;
        }
        quiet = 0;
        cr_assert(apply(&model, &pick), "seed %" PRIu64 ": %s changes nothing", seed, pick.text);
        cr_assert_leq(model.count, before, "seed %" PRIu64, seed);
        cr_assert_lt(++steps, RUNS_MAX, "seed %" PRIu64 " doesn't come to an end", seed);
    }
    sinter_strategy_destroy(strategy);
}

Test(compact_strategy, units_change_their_input_and_come_to_an_end)
{
    for (uint64_t seed = 1; seed <= scaled_cases(3000); seed++) {
        run_to_its_end(seed);
    }
}

Test(field_faults, f11_what_is_compacted_is_not_picked_again)
{
    sinter_file_meta top[] = {file_of("a", 5, "a", "b"), file_of("b", 5, "c", "d")};
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_file_meta picked[2];
    question q;

    sinter_compact_options_init(&options);
    sinter_compact_task_init(&task);
    task.max_level = 5;
    task.output_level = 5;
    options.num_sorted_run_trigger = 1;
    options.force_up_level_0 = true;
    options.total_size_threshold = UINT32_MAX;
    options.optimization_interval_ms = 1;
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(sinter_compact_task_pick_full(&task, top, 2, picked, NULL), SINTER_OK);
        cr_assert_eq(task.count, 0);
        cr_assert_str_eq(pick_once(&options, "5:2000", &q), "none");
    }
}

/** A strategy of a user: answers as it is told. */
typedef struct own_strategy {
    sinter_strategy base;
    sinter_status status;
    int32_t output_level;
    size_t members[4];
    size_t member_count;
    size_t run_count;
} own_strategy;

static sinter_status
own_pick(sinter_strategy *strategy, const sinter_pick_request *request, sinter_pick *out,
         sinter_error *err)
{
    const own_strategy *own = (const own_strategy *)strategy;

    (void)request;
    (void)err;
    cr_expect_eq(out->member_count, 0);
    out->output_level = own->output_level;
    out->rule = SINTER_PICK_CUSTOM;
    out->member_count = own->member_count;
    out->run_count = own->run_count;
    memset(out->text, 'x', sizeof out->text);
    for (size_t i = 0; i < own->member_count && i < 3; i++) {
        out->members[i] = own->members[i];
    }
    return own->status;
}

static const sinter_strategy_ops own_ops = {
    .struct_size = sizeof own_ops, .name = "own", .pick = own_pick};

static sinter_status
ask_own(own_strategy own, question *q, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    own.base.ops = &own_ops;
    question_init(q, "0:1 0:2 3:4");
    q->pick = (sinter_pick){.struct_size = sizeof q->pick, .members = q->members};
    st = sinter_strategy_pick(&own.base, &q->request, &q->pick, err);
    sinter_strategy_destroy(&own.base); /* static ones have nothing to release */
    return st;
}

Test(compact_strategy, answers_of_a_users_strategy_are_checked)
{
    sinter_error err = SINTER_ERROR_INIT;
    question q;

    cr_expect_eq(
        ask_own((own_strategy){.output_level = 3, .members = {0, 2}, .member_count = 2}, &q, NULL),
        SINTER_OK);
    cr_expect_eq(q.pick.member_count, 2);
    cr_expect_eq(q.pick.rule, SINTER_PICK_CUSTOM);
    cr_expect_eq(strlen(q.pick.text), sizeof q.pick.text - 1, "a text always ends");
    cr_expect_eq(ask_own((own_strategy){.output_level = 3}, &q, NULL), SINTER_END, "no files");
    cr_expect_eq(ask_own((own_strategy){.status = SINTER_END, .member_count = 1}, &q, NULL),
                 SINTER_END);
    cr_expect_eq(q.pick.member_count, 0);
    cr_expect_eq(ask_own((own_strategy){.status = SINTER_E_IO}, &q, NULL), SINTER_E_IO);
    cr_expect_eq(ask_own((own_strategy){.output_level = 0, .member_count = 1}, &q, &err),
                 SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "own"), "%s", err.text);
    cr_expect_eq(ask_own((own_strategy){.output_level = 6, .member_count = 1}, &q, NULL),
                 SINTER_E_INVALID);
    cr_expect_eq(
        ask_own((own_strategy){.output_level = 1, .members = {3}, .member_count = 1}, &q, NULL),
        SINTER_E_INVALID);
    cr_expect_eq(
        ask_own((own_strategy){.output_level = 1, .members = {1, 1}, .member_count = 2}, &q, NULL),
        SINTER_E_INVALID);
    cr_expect_eq(ask_own((own_strategy){.output_level = 1, .member_count = 4}, &q, NULL),
                 SINTER_E_INVALID);
    cr_expect_eq(
        ask_own(
            (own_strategy){.output_level = 3, .members = {0, 2}, .member_count = 2, .run_count = 2},
            &q, NULL),
        SINTER_E_INVALID, "not the first two runs");
    cr_expect_eq(
        ask_own((own_strategy){.output_level = 3, .member_count = 1, .run_count = 4}, &q, NULL),
        SINTER_E_INVALID);
}

Test(compact_strategy, bad_requests_are_refused)
{
    sinter_compact_options options;
    sinter_strategy *strategy;
    question q;

    sinter_compact_options_init(&options);
    strategy = strategy_of(&options);
    question_init(&q, "3:10 0:10");
    q.pick = (sinter_pick){.struct_size = sizeof q.pick, .members = q.members};
    cr_expect_eq(sinter_strategy_pick(strategy, &q.request, &q.pick, NULL), SINTER_E_INVALID,
                 "levels descend");
    question_init(&q, "0:10 3:10");
    q.pick = (sinter_pick){.struct_size = sizeof q.pick, .members = q.members};
    q.request.file_count = 1;
    cr_expect_eq(sinter_strategy_pick(strategy, &q.request, &q.pick, NULL), SINTER_E_INVALID);
    q.request.file_count = 3;
    cr_expect_eq(sinter_strategy_pick(strategy, &q.request, &q.pick, NULL), SINTER_E_INVALID);
    q.request.file_count = 2;
    q.request.local_hour = 24;
    cr_expect_eq(sinter_strategy_pick(strategy, &q.request, &q.pick, NULL), SINTER_E_INVALID);
    q.request.local_hour = 0;
    q.request.num_levels = 1;
    cr_expect_eq(sinter_strategy_pick(strategy, &q.request, &q.pick, NULL), SINTER_E_INVALID);
    q.request.num_levels = 6;
    q.pick.members = NULL;
    cr_expect_eq(sinter_strategy_pick(strategy, &q.request, &q.pick, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_strategy_pick(NULL, &q.request, &q.pick, NULL), SINTER_E_INVALID);
    sinter_strategy_destroy(strategy);
}

Test(compact_strategy, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_strategy *strategy = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter_strategy_create(&fault.env, NULL, NULL, &strategy, &err);
        cr_assert(st == SINTER_OK ||
                  (st == SINTER_E_NOMEM && err.status == st && strategy == NULL));
        sinter_strategy_destroy(strategy);
        cr_assert_eq(fault.live, 0);
    }
}

Test(compact_strategy, rules_have_names)
{
    for (int rule = 0; rule < SINTER_PICK_RULE_COUNT; rule++) {
        cr_expect_str_neq(sinter_pick_rule_code((sinter_pick_rule)rule), "unknown");
    }
    cr_expect_str_eq(sinter_pick_rule_code(SINTER_PICK_SIZE_RATIO), "size-ratio");
    cr_expect_str_eq(sinter_pick_rule_code(SINTER_PICK_RULE_COUNT), "unknown");
}
