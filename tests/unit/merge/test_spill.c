/*
 * Spilling (spec/compaction.md 14.1) on the memory backend: the same records whatever the
 * threshold, the codec and the budget; nothing left behind on any way out.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>

#include "merge_cases.h"
#include "sinter/io.h"
#include "support/count_io.h"
#include "support/fault_alloc.h"

#define SPILL_DIR "/spill"

/* An environment of its own: files in memory, all of them counted, and a budget. */
typedef struct spill_world {
    fault_alloc alloc;
    sinter_io *memory_io;
    sinter_io *fault_io; /* around it */
    count_io io;         /* around that */
    sinter_env env;
} spill_world;

static void
spill_world_begin(spill_world *w, uint64_t fail_alloc, uint64_t budget)
{
    fault_alloc_init(&w->alloc, fail_alloc);
    cr_assert_eq(
        sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &w->memory_io, NULL),
        SINTER_OK);
    cr_assert_eq(w->memory_io->ops->mkdir(w->memory_io, SPILL_DIR, NULL), SINTER_OK);
    cr_assert_eq(
        sinter_io_fault_create(sinter_env_default(), w->memory_io,
                               &(sinter_fault_options){.struct_size = sizeof(sinter_fault_options),
                                                       .at_call = UINT64_MAX},
                               &w->fault_io, NULL),
        SINTER_OK);
    count_io_init(&w->io, w->fault_io);
    w->env = w->alloc.env;
    w->env.io = &w->io.base;
    if (budget != 0) {
        cr_assert_eq(sinter_memory_create(sinter_env_default(), budget, &w->env.memory, NULL),
                     SINTER_OK);
    }
}

static sinter_status
name_seen(void *ctx, const char *name)
{
    (void)name;
    ++*(size_t *)ctx;
    return SINTER_OK;
}

/* Everything must be as before. */
static void
spill_world_end(spill_world *w, uint64_t seed)
{
    size_t names = 0;

    cr_assert_eq(w->io.open_files, 0, "seed %llu: %lld files left open", (unsigned long long)seed,
                 (long long)w->io.open_files);
    cr_assert_eq(w->memory_io->ops->list(w->memory_io, SPILL_DIR, name_seen, &names, NULL),
                 SINTER_OK);
    cr_assert_eq(names, 0, "seed %llu: %zu files left behind", (unsigned long long)seed, names);
    cr_assert_eq(w->alloc.live, 0, "seed %llu: %lld blocks leaked", (unsigned long long)seed,
                 (long long)w->alloc.live);
    cr_assert_eq(sinter_memory_used(w->env.memory), 0, "seed %llu: budget not given back",
                 (unsigned long long)seed);
    sinter_memory_destroy(w->env.memory);
    sinter_io_destroy(w->fault_io);
    sinter_io_destroy(w->memory_io);
}

static void
spill_setup(merge_setup *setup, const spill_world *w, run_world *world, const test_runs *runs)
{
    merge_setup_init(setup, world, runs);
    setup->env = &w->env;
    setup->options.has_ages = true;
    setup->options.spill_dir = SPILL_DIR;
}

static void
codec_random(test_rng *rng, sinter_merge_options *options)
{
    options->spill_codec = (int32_t)test_rng_below(rng, 3);
    options->spill_codec_level = 1 + (int32_t)test_rng_below(rng, 3);
}

/* Runs of equal shape, with every key in about half of them. */
static void
dense_runs(test_rng *rng, size_t run_count, size_t rows_max, uint64_t value_max, test_runs *out)
{
    const test_shape shape = {.run_count = run_count,
                              .rows_max = rows_max,
                              .files_per_run = 2,
                              .key_space = rows_max,
                              .sequence_space = 3,
                              .value_max = value_max,
                              .retract_percent = 20,
                              .keys = TEST_KEYS_VARIABLE};

    test_runs_random(rng, &shape, out);
}

Test(merge_spill, the_smallest_runs_are_spilled_and_read_before_the_others_are_opened)
{
    for (uint32_t threshold = 2; threshold <= 9; threshold++) {
        test_rng rng = {threshold};
        uint32_t opened[9];
        uint64_t sizes[9];
        size_t plan[9];
        size_t direct = 0;
        run_world world = {.open_order = opened};
        spill_world w = {0};
        merge_setup setup;
        test_runs runs;
        merged result;

        spill_world_begin(&w, UINT64_MAX, 0);
        dense_runs(&rng, 9, 40, 10, &runs);
        for (size_t r = 0; r < 9; r++) {
            sizes[r] = runs.items[r].count * 50;
        }
        spill_setup(&setup, &w, &world, &runs);
        setup.options.spill_threshold = threshold;
        merge_run(&setup, &runs, &result);
        cr_assert_eq(result.status, SINTER_OK);
        cr_assert_not(result.has_complaint, "%s", result.complaint);
        direct = model_spill_plan(sizes, 9, threshold, plan);
        cr_assert_eq(world.open_count, 9);
        for (size_t i = 0; i < 9; i++) {
            const size_t wanted = i < 9 - direct ? plan[direct + i] : plan[i - (9 - direct)];

            cr_expect_eq(opened[i], wanted, "threshold %u place %zu: run %u", threshold, i,
                         opened[i]);
        }
        cr_expect_eq(result.counters.spill_runs, 9 - direct);
        cr_expect_leq(world.live_readers_max, (int64_t)direct);
        cr_expect_leq(w.io.created, 1, "one spill file per merge");
        cr_expect_leq(w.io.open_files_max, 1);
        cr_expect_eq(result.counters.spilled_bytes > 0, direct < 9);
        merged_fini(&result);
        test_runs_fini(&runs);
        spill_world_end(&w, threshold);
    }
}

/* What was told of spilling. */
typedef struct spill_news {
    unsigned begun;
    unsigned ended;
    unsigned failed;
    uint64_t bytes;
    uint64_t records;
} spill_news;

static void
note_begin(void *ctx, const sinter_event *event)
{
    spill_news *news = ctx;

    cr_assert_str_eq(event->file, SPILL_DIR);
    cr_assert_eq(news->begun, news->ended, "one at a time");
    news->begun++;
}

static void
note_end(void *ctx, const sinter_event *event)
{
    spill_news *news = ctx;

    news->ended++;
    news->failed += event->status != SINTER_OK ? 1 : 0;
    news->bytes += event->bytes;
    news->records += event->records;
}

Test(merge_spill, each_run_that_is_spilled_is_told_with_its_size_also_when_it_fails)
{
    for (int is_failing = 0; is_failing < 2; is_failing++) {
        spill_news news = {0};
        const sinter_listener listener = {.struct_size = (uint32_t)sizeof listener,
                                          .ctx = &news,
                                          .spill_begin = note_begin,
                                          .spill_end = note_end};
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_ENOSPC, .only_op = "append"};
        uint64_t sizes[9];
        size_t plan[9];
        uint64_t spilled = 0;
        test_rng rng = {7};
        run_world world = {0};
        spill_world w = {0};
        merge_setup setup;
        test_runs runs;
        merged result;

        spill_world_begin(&w, UINT64_MAX, 0);
        w.env.listener = &listener;
        dense_runs(&rng, 9, 40, 10, &runs);
        for (size_t r = 0; r < 9; r++) {
            sizes[r] = runs.items[r].count * 50;
        }
        for (size_t i = model_spill_plan(sizes, 9, 3, plan); i < 9; i++) {
            spilled += runs.items[plan[i]].count;
        }
        spill_setup(&setup, &w, &world, &runs);
        setup.options.spill_threshold = 3;
        if (is_failing) {
            sinter_io_fault_set(w.fault_io, &rule);
        }
        merge_run(&setup, &runs, &result);
        cr_expect_eq(result.status, is_failing ? SINTER_E_NO_SPACE : SINTER_OK);
        cr_expect_eq(news.begun, news.ended);
        if (is_failing) {
            cr_expect(news.ended == 1 && news.failed == 1);
        } else {
            cr_expect(news.ended == result.counters.spill_runs && news.failed == 0);
            cr_expect_eq(news.records, spilled);
            cr_expect_eq(news.bytes, result.counters.spilled_bytes);
        }
        merged_fini(&result);
        test_runs_fini(&runs);
        spill_world_end(&w, 7);
    }
}

Test(merge_spill, without_a_directory_nothing_is_spilled)
{
    test_rng rng = {1};
    run_world world = {0};
    spill_world w = {0};
    merge_setup setup;
    test_runs runs;
    merged result;

    spill_world_begin(&w, UINT64_MAX, 0);
    dense_runs(&rng, 12, 20, 5, &runs);
    spill_setup(&setup, &w, &world, &runs);
    setup.options.spill_threshold = 3;
    setup.options.spill_dir = NULL;
    merge_run(&setup, &runs, &result);
    cr_expect_eq(result.status, SINTER_OK);
    cr_expect_eq(result.counters.spill_runs, 0);
    cr_expect_eq(world.live_readers_max, 12);
    merged_fini(&result);
    test_runs_fini(&runs);
    spill_world_end(&w, 0);
}

static void
try_threshold(uint64_t seed)
{
    test_rng rng = {seed * 179424673};
    model_rules rules = rules_random(&rng);
    run_world world = world_random(&rng);
    spill_world w = {0};
    char text[MERGE_TEXT_BYTES];
    merge_setup setup;
    test_shape shape;
    test_runs runs;

    test_shape_random(&rng, &shape);
    test_runs_random(&rng, &shape, &runs);
    spill_world_begin(&w, UINT64_MAX, 0);
    spill_setup(&setup, &w, &world, &runs);
    codec_random(&rng, &setup.options);
    setup.seed = seed;
    setup.options.spill_threshold = 2 + (uint32_t)test_rng_below(&rng, shape.run_count);
    if (test_rng_chance(&rng, 20)) {
        world.has_blocks = true;
        world.payload = RUN_PAYLOAD_BYTES;
        setup.watches_blocks = true;
        setup.accept_percent = 60;
    }
    cr_assert(both_engines_match(&setup, &runs, &rules, text), "seed %llu: %s",
              (unsigned long long)seed, text);
    test_runs_fini(&runs);
    spill_world_end(&w, seed);
}

Test(merge_spill, any_threshold_and_codec_give_what_the_model_gives)
{
    for (uint64_t seed = 1; seed <= case_count(2500); seed++) {
        try_threshold(seed);
    }
}

Test(merge_spill, full_ties_of_bare_runs_fall_as_in_the_order_direct_then_spilled)
{
    for (uint64_t seed = 1; seed <= case_count(800); seed++) {
        test_rng rng = {seed * 217645177};
        const size_t run_count = 2 + (size_t)test_rng_below(&rng, 8);
        const model_rules rules = {.engine = MODEL_DEDUPLICATE};
        run_world world = {0};
        uint64_t sizes[10];
        size_t plan[10];
        test_run items[10];
        spill_world w = {0};
        char text[MERGE_TEXT_BYTES];
        model_result model;
        merge_setup setup;
        test_runs runs;
        test_runs ordered;
        merged result;

        dense_runs(&rng, run_count, 12, 9, &runs);
        spill_world_begin(&w, UINT64_MAX, 0);
        spill_setup(&setup, &w, &world, &runs);
        setup.options.has_ages = false;
        setup.options.spill_threshold = 2 + (uint32_t)test_rng_below(&rng, run_count);
        for (size_t r = 0; r < run_count; r++) {
            sizes[r] = runs.items[r].count * 50;
        }
        model_spill_plan(sizes, run_count, setup.options.spill_threshold, plan);
        ordered = (test_runs){.items = items, .count = run_count};
        for (size_t r = 0; r < run_count; r++) {
            items[r] = runs.items[plan[r]];
        }
        model_merge(&ordered, &rules, &model);
        merge_run(&setup, &runs, &result);
        cr_assert(merged_matches(&result, &model, text), "seed %llu: %s", (unsigned long long)seed,
                  text);
        merged_fini(&result);
        model_result_fini(&model);
        test_runs_fini(&runs);
        spill_world_end(&w, seed);
    }
}

Test(merge_spill, the_limit_of_open_files_is_kept_by_spilling)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        test_rng rng = {seed * 15487469};
        const size_t run_count = 10 + (size_t)test_rng_below(&rng, 150);
        run_world world = world_random(&rng);
        spill_world w = {0};
        model_result model;
        merge_setup setup;
        test_runs runs;
        merged result;
        char text[MERGE_TEXT_BYTES];

        dense_runs(&rng, run_count, 20, 20, &runs);
        spill_world_begin(&w, UINT64_MAX, 0);
        spill_setup(&setup, &w, &world, &runs);
        setup.options.open_files_max = 4 + (uint32_t)test_rng_below(&rng, 60);
        merge_run(&setup, &runs, &result);
        model_merge(&runs, &(model_rules){.has_ages = true}, &model);
        cr_assert(merged_matches(&result, &model, text), "seed %llu: %s", (unsigned long long)seed,
                  text);
        cr_assert_leq(world.live_readers_max + w.io.open_files_max,
                      (int64_t)setup.options.open_files_max, "seed %llu: %lld readers, %lld files",
                      (unsigned long long)seed, (long long)world.live_readers_max,
                      (long long)w.io.open_files_max);
        model_result_fini(&model);
        merged_fini(&result);
        test_runs_fini(&runs);
        spill_world_end(&w, seed);
    }
}

/* The largest number in a text; 0 if there is none. */
static uint64_t
largest_number(const char *text)
{
    uint64_t largest = 0;

    while (*text != '\0') {
        uint64_t number = 0;

        while (*text >= '0' && *text <= '9') {
            number = number * 10 + (uint64_t)(*text++ - '0');
        }
        largest = number > largest ? number : largest;
        text += *text != '\0' ? 1 : 0;
    }
    return largest;
}

/* Merge under a budget; what it needs if it is too small, else 0. */
static uint64_t
merge_within(uint64_t budget, uint64_t seed, const test_runs *runs, run_world world,
             uint64_t *passes)
{
    test_rng rng = {seed};
    spill_world w = {0};
    uint64_t needed = 0;
    char text[MERGE_TEXT_BYTES];
    model_result model;
    merge_setup setup;
    merged result;

    spill_world_begin(&w, UINT64_MAX, budget);
    spill_setup(&setup, &w, &world, runs);
    codec_random(&rng, &setup.options);
    setup.seed = seed;
    setup.options.spill_threshold = 2 + (uint32_t)test_rng_below(&rng, 6);
    setup.options.sort_engine = (int)test_rng_below(&rng, 2);
    merge_run(&setup, runs, &result);
    cr_assert_leq(sinter_memory_peak(w.env.memory), budget);
    if (result.status == SINTER_E_TOO_LARGE) {
        needed = largest_number(result.err.text);
        cr_assert_gt(needed, budget, "seed %llu: \"%s\" doesn't name the least that works",
                     (unsigned long long)seed, result.err.text);
        cr_assert_not(result.has_complaint, "%s", result.complaint);
    } else {
        model_merge(runs, &(model_rules){.has_ages = true}, &model);
        cr_assert(merged_matches(&result, &model, text), "seed %llu: %s", (unsigned long long)seed,
                  text);
        *passes += result.counters.spill_passes;
        model_result_fini(&model);
    }
    merged_fini(&result);
    spill_world_end(&w, seed);
    return needed;
}

Test(merge_spill, a_small_budget_gives_the_same_records_after_merging_beforehand)
{
    uint64_t passes = 0;
    uint64_t refused = 0;

    for (uint64_t seed = 1; seed <= case_count(30); seed++) {
        test_rng rng = {seed * 982451653};
        const run_world world = world_random(&rng);
        uint64_t budget = (uint64_t)1 << (14 + test_rng_below(&rng, 9));
        test_runs runs;
        uint64_t needed = 0;

        dense_runs(&rng, 20 + (size_t)test_rng_below(&rng, 60), 400, 200, &runs);
        needed = merge_within(budget, seed, &runs, world, &passes);
        for (int tries = 0; needed != 0 && tries < 20; tries++) {
            refused++;
            budget = needed + needed / 4; /* what is named is enough for that one step */
            needed = merge_within(budget, seed, &runs, world, &passes);
        }
        cr_assert_eq(needed, 0, "seed %llu: %llu bytes aren't enough", (unsigned long long)seed,
                     (unsigned long long)budget);
        cr_assert_leq(budget, (uint64_t)4 << 20, "seed %llu: it takes %llu bytes",
                      (unsigned long long)seed, (unsigned long long)budget);
        test_runs_fini(&runs);
    }
    cr_expect_gt(passes, 0, "no run was merged beforehand");
    cr_expect_gt(refused, 0, "no budget was too small");
}

Test(merge_spill, keys_of_a_mebibyte_and_values_of_four_survive_a_spill)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        test_rng rng = {seed};
        const test_shape shape = {.run_count = 5,
                                  .rows_max = 8,
                                  .files_per_run = 1,
                                  .key_space = 24,
                                  .sequence_space = 2,
                                  .value_max = seed % 2 == 0 ? (uint64_t)4 << 20 : 100,
                                  .retract_percent = 20,
                                  .keys = TEST_KEYS_LONG};
        run_world world = {.payload = seed % 3 == 0 ? RUN_PAYLOAD_COLUMNAR : RUN_PAYLOAD_BYTES};
        spill_world w = {0};
        char text[MERGE_TEXT_BYTES];
        merge_setup setup;
        test_runs runs;

        test_runs_random(&rng, &shape, &runs);
        spill_world_begin(&w, UINT64_MAX, 0);
        spill_setup(&setup, &w, &world, &runs);
        codec_random(&rng, &setup.options);
        setup.options.spill_threshold = 2;
        cr_assert(both_engines_match(&setup, &runs, &(model_rules){.has_ages = true}, text),
                  "seed %llu: %s", (unsigned long long)seed, text);
        test_runs_fini(&runs);
        spill_world_end(&w, seed);
    }
}

/* ---- failures ---- */

/* A merge that spills twelve runs, and merges some of them beforehand. */
static void
spilling_merge(spill_world *w, run_world *world, const test_runs *runs, uint64_t cancel_at,
               merged *out)
{
    merge_setup setup;

    spill_setup(&setup, w, world, runs);
    setup.options.spill_threshold = 2;
    setup.options.spill_codec = SINTER_CODEC_NONE; /* its context would be most of the memory */
    setup.cancel_at = cancel_at;
    merge_run(&setup, runs, out);
    cr_assert_not(out->has_complaint, "%s", out->complaint);
}

static void
spilling_runs(test_runs *out)
{
    test_rng rng = {4242};

    dense_runs(&rng, 24, 1000, 100, out);
}

/* A budget that makes the merge above merge runs beforehand. */
static uint64_t
tight_budget(const test_runs *runs)
{
    uint64_t budget = 1000;

    for (int tries = 0; tries < 40; tries++) {
        run_world world = {.batch_rows = 30};
        spill_world w = {0};
        merged result;
        uint64_t needed = 0;
        uint64_t passes = 0;

        spill_world_begin(&w, UINT64_MAX, budget);
        spilling_merge(&w, &world, runs, 0, &result);
        needed = result.status == SINTER_E_TOO_LARGE ? largest_number(result.err.text) : 0;
        cr_assert(needed != 0 || result.status == SINTER_OK);
        passes = result.counters.spill_passes;
        merged_fini(&result);
        spill_world_end(&w, 0);
        if (needed == 0) {
            cr_assert_gt(passes, 0, "no run was merged beforehand");
            return budget;
        }
        budget = needed + needed / 16;
    }
    cr_assert_fail("no budget is enough");
    return budget;
}

Test(merge_spill, every_allocation_of_a_spilling_merge_may_fail)
{
    test_runs runs;
    uint64_t budget = 0;
    uint64_t n = 0;

    spilling_runs(&runs);
    budget = tight_budget(&runs);
    for (sinter_status st = SINTER_E_NOMEM; st != SINTER_OK; n++) {
        run_world world = {.batch_rows = 30};
        spill_world w = {0};
        merged result;

        spill_world_begin(&w, n, budget);
        spilling_merge(&w, &world, &runs, 0, &result);
        st = result.status;
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && result.err.status == st),
                  "allocation %llu: %s", (unsigned long long)n, sinter_status_name(st));
        merged_fini(&result);
        spill_world_end(&w, n);
    }
    cr_expect_gt(n, 20);
    test_runs_fini(&runs);
}

static void
fail_every_call(sinter_fault_kind kind, const test_runs *runs, uint64_t budget)
{
    const sinter_status wanted = kind == SINTER_FAULT_ENOSPC ? SINTER_E_NO_SPACE : SINTER_E_IO;
    uint64_t n = 0;

    for (sinter_status st = SINTER_E_IO; st != SINTER_OK; n++) {
        const sinter_fault_options options = {
            .struct_size = sizeof options, .kind = kind, .at_call = n};
        run_world world = {.batch_rows = 30};
        spill_world w = {0};
        merged result;

        spill_world_begin(&w, UINT64_MAX, budget);
        sinter_io_fault_set(w.fault_io, &options);
        spilling_merge(&w, &world, runs, 0, &result);
        st = result.status;
        cr_assert(st == SINTER_OK || (st == wanted && result.err.status == st), "call %llu: %s",
                  (unsigned long long)n, sinter_status_name(st));
        merged_fini(&result);
        spill_world_end(&w, n);
    }
    cr_expect_gt(n, 5, "%llu calls", (unsigned long long)n);
}

Test(merge_spill, every_io_call_of_a_spilling_merge_may_fail)
{
    test_runs runs;
    uint64_t budget = 0;

    spilling_runs(&runs);
    budget = tight_budget(&runs);
    fail_every_call(SINTER_FAULT_EIO, &runs, budget);
    fail_every_call(SINTER_FAULT_ENOSPC, &runs, budget);
    fail_every_call(SINTER_FAULT_TORN_WRITE, &runs, budget);
    test_runs_fini(&runs);
}

Test(merge_spill, every_call_of_a_reader_of_a_spilling_merge_may_fail)
{
    test_runs runs;
    uint64_t n = 1;

    spilling_runs(&runs);
    for (sinter_status st = SINTER_E_CORRUPT; st != SINTER_OK; n++) {
        run_world world = {.batch_rows = 30, .fail_at_call = n, .fail_status = SINTER_E_CORRUPT};
        spill_world w = {0};
        merged result;

        spill_world_begin(&w, UINT64_MAX, 0);
        spilling_merge(&w, &world, &runs, 0, &result);
        st = result.status;
        cr_assert(st == SINTER_OK || (st == SINTER_E_CORRUPT && result.err.offset == 4711),
                  "call %llu: %s", (unsigned long long)n, sinter_status_name(st));
        merged_fini(&result);
        spill_world_end(&w, n);
    }
    cr_expect_gt(n, 30);
    test_runs_fini(&runs);
}

Test(merge_spill, cancelling_at_any_ask_of_a_spilling_merge_leaves_nothing_behind)
{
    test_runs runs;
    uint64_t budget = 0;
    uint64_t while_spilling = 0;

    spilling_runs(&runs);
    budget = tight_budget(&runs);
    for (uint64_t ask = 1;; ask++) {
        run_world world = {.batch_rows = 30};
        spill_world w = {0};
        merged result;
        sinter_status st = SINTER_OK;

        spill_world_begin(&w, UINT64_MAX, budget);
        spilling_merge(&w, &world, &runs, ask, &result);
        st = result.status;
        while_spilling += result.was_opened ? 0 : 1;
        merged_fini(&result);
        spill_world_end(&w, ask);
        if (st == SINTER_OK) {
            break;
        }
        cr_assert_eq(st, SINTER_E_CANCELLED);
    }
    cr_expect_gt(while_spilling, 0, "nobody asks while runs are spilled");
    test_runs_fini(&runs);
}

Test(merge_spill, a_spilling_merge_that_is_closed_early_leaves_nothing_behind)
{
    test_runs runs;

    spilling_runs(&runs);
    for (uint64_t stop_after = 1; stop_after < 20; stop_after++) {
        run_world world = {.batch_rows = 30};
        spill_world w = {0};
        merge_setup setup;
        merged result;

        spill_world_begin(&w, UINT64_MAX, 0);
        spill_setup(&setup, &w, &world, &runs);
        setup.options.spill_threshold = 3;
        setup.stop_after = stop_after;
        merge_run(&setup, &runs, &result);
        cr_assert_not(result.has_complaint, "%s", result.complaint);
        merged_fini(&result);
        spill_world_end(&w, stop_after);
    }
    test_runs_fini(&runs);
}

/* The merge of spilling_runs() within a limit of its spill files; gives what they took at most. */
static uint64_t
spill_within(uint64_t limit, uint64_t budget, const test_runs *runs, merged *out)
{
    run_world world = {.batch_rows = 30};
    spill_world w = {0};
    merge_setup setup;
    sinter_memory *space = NULL;
    uint64_t peak = 0;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), limit, &space, NULL), SINTER_OK);
    spill_world_begin(&w, UINT64_MAX, budget);
    spill_setup(&setup, &w, &world, runs);
    setup.options.spill_threshold = 2;
    setup.options.spill_codec = SINTER_CODEC_NONE;
    setup.options.spill_space = space;
    merge_run(&setup, runs, out);
    cr_assert_not(out->has_complaint, "%s", out->complaint);
    peak = sinter_memory_peak(space);
    cr_expect_eq(sinter_memory_used(space), 0, "what spill files took was not given back");
    sinter_memory_destroy(space);
    spill_world_end(&w, limit);
    return peak;
}

Test(merge_spill, spill_files_take_no_more_than_their_limit_at_a_time)
{
    merged result;
    test_runs runs;
    uint64_t budget = 0;
    uint64_t peak = 0;

    spilling_runs(&runs);
    budget = tight_budget(&runs);
    peak = spill_within(0, 0, &runs, &result);
    cr_expect_eq(peak, result.counters.spilled_bytes, "one file, which stays to the end");
    merged_fini(&result);

    /* Runs are merged beforehand: two files at a time, the old one goes when the new one is done */
    peak = spill_within(0, budget, &runs, &result);
    cr_expect_geq(peak, result.counters.spilled_bytes / (1 + result.counters.spill_passes));
    cr_expect_leq(peak, result.counters.spilled_bytes);
    merged_fini(&result);
    cr_expect_eq(spill_within(peak, budget, &runs, &result), peak);
    cr_expect_eq(result.status, SINTER_OK, "%s", result.err.text);
    merged_fini(&result);
    for (uint64_t limit = peak - 1; limit > 0; limit = limit * 2 / 3) {
        cr_expect_leq(spill_within(limit, budget, &runs, &result), limit);
        cr_assert_eq(result.status, SINTER_E_NO_SPACE);
        cr_expect_str_eq(result.err.file, SPILL_DIR);
        cr_expect_neq((void *)strstr(result.err.text, "sinter.spill-limit"), NULL, "%s",
                      result.err.text);
        merged_fini(&result);
    }
    test_runs_fini(&runs);
}

/* A merge that spills, where so much is free. */
static void
merge_with_free(uint64_t free_bytes, const test_runs *runs, uint64_t *created_out, merged *out)
{
    run_world world = {.batch_rows = 30};
    spill_world w = {0};
    merge_setup setup;

    spill_world_begin(&w, UINT64_MAX, 0);
    w.io.tells_free = true;
    w.io.free_bytes = free_bytes;
    spill_setup(&setup, &w, &world, runs);
    setup.options.spill_threshold = 2;
    merge_run(&setup, runs, out);
    *created_out = atomic_load(&w.io.created);
    spill_world_end(&w, free_bytes);
}

Test(merge_spill, runs_that_take_more_than_is_free_are_not_spilled_at_all)
{
    test_rng rng = {77};
    uint64_t sizes[14];
    size_t plan[14];
    uint64_t spilled = 0;
    uint64_t created = 0;
    merged result;
    test_runs runs;

    dense_runs(&rng, 14, 40, 10, &runs);
    for (size_t r = 0; r < 14; r++) {
        sizes[r] = runs.items[r].count * 50; /* as merge_run() says */
    }
    for (size_t i = model_spill_plan(sizes, 14, 2, plan); i < 14; i++) {
        spilled += sizes[plan[i]];
    }
    merge_with_free(spilled - 1, &runs, &created, &result);
    cr_expect_eq(result.status, SINTER_E_NO_SPACE);
    cr_expect_str_eq(result.err.file, SPILL_DIR);
    cr_expect_eq(largest_number(result.err.text), spilled, "%s", result.err.text);
    cr_expect_eq(created, 0, "the spill file was begun");
    merged_fini(&result);
    merge_with_free(spilled, &runs, &created, &result);
    cr_expect_eq(result.status, SINTER_OK, "%s", result.err.text);
    cr_expect_eq(created, 1);
    merged_fini(&result);
    test_runs_fini(&runs);
}

Test(merge_spill, a_spill_directory_that_is_not_there_is_a_failure_that_names_it)
{
    test_rng rng = {1};
    run_world world = {0};
    spill_world w = {0};
    merge_setup setup;
    test_runs runs;
    merged result;

    spill_world_begin(&w, UINT64_MAX, 0);
    dense_runs(&rng, 6, 20, 10, &runs);
    spill_setup(&setup, &w, &world, &runs);
    setup.options.spill_threshold = 2;
    setup.options.spill_dir = "/not-there";
    merge_run(&setup, &runs, &result);
    cr_expect_lt(result.status, 0);
    cr_expect_neq((void *)strstr(result.err.file, "not-there"), NULL, "file \"%s\" text \"%s\"",
                  result.err.file, result.err.text);
    merged_fini(&result);
    test_runs_fini(&runs);
    spill_world_end(&w, 0);
}
