/*
 * sinter_merge_open(), _next(), _close(): arguments, failures, cancelling, blocks that pass whole.
 */
#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

#include "merge_cases.h"
#include "support/fault_alloc.h"

static const model_rules newest = {.engine = MODEL_DEDUPLICATE, .has_ages = true};

/* Some runs that overlap, the same for the same seed. */
static void
some_runs(uint64_t seed, size_t run_count, test_runs *out)
{
    test_rng rng = {seed};
    const test_shape shape = {.run_count = run_count,
                              .rows_max = 60,
                              .files_per_run = 2,
                              .key_space = 150,
                              .sequence_space = 4,
                              .value_max = 20,
                              .retract_percent = 20,
                              .stretches = true,
                              .keys = TEST_KEYS_VARIABLE};

    test_runs_random(&rng, &shape, out);
}

Test(merge_merge, no_inputs_give_no_rows)
{
    for (int engine = 0; engine < 2; engine++) {
        for (int has_ages = 0; has_ages < 2; has_ages++) {
            run_world world = {0};
            test_runs runs = {0};
            merge_setup setup;
            merged result;

            merge_setup_init(&setup, &world, &runs);
            setup.options.sort_engine = engine;
            setup.options.has_ages = has_ages != 0;
            merge_run(&setup, &runs, &result);
            cr_expect_eq(result.status, SINTER_OK);
            cr_expect_eq(result.count, 0);
            cr_expect_not(result.has_complaint, "%s", result.complaint);
            merged_fini(&result);
        }
    }
}

Test(merge_merge, runs_without_rows_are_as_good_as_none)
{
    const test_record record = {.key = {(const uint8_t *)"k", 1}};
    char text[MERGE_TEXT_BYTES];

    for (uint32_t pattern = 0; pattern < 16; pattern++) {
        run_world world = {.has_blocks = pattern % 3 == 0};
        test_runs runs = {0};
        merge_setup setup;

        for (uint32_t r = 0; r < 4; r++) {
            test_runs_add(&runs, &record, pattern >> r & 1);
            if (runs.items[r].count > 0) {
                runs.items[r].records[0].origin = r;
            }
        }
        merge_setup_init(&setup, &world, &runs);
        cr_expect(both_engines_match(&setup, &runs, &newest, text), "pattern %u: %s", pattern,
                  text);
        test_runs_fini(&runs);
    }
}

Test(merge_merge, bad_arguments_are_refused)
{
    run_world world = {0};
    test_run run = {0};
    run_source source = {.world = &world, .run = &run};
    sinter_merge_input input = {
        .struct_size = sizeof input, .open = run_source_open, .ctx = &source};
    sinter_merge_options options;
    sinter_merge *merge = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    sinter_merge_options_init(&options);
    cr_expect_eq(sinter_merge_open(NULL, &input, 1, &options, &merge, &err), SINTER_E_INVALID);
    cr_expect_eq(err.status, SINTER_E_INVALID);
    cr_expect_eq(sinter_merge_open(sinter_env_default(), NULL, 1, &options, &merge, NULL),
                 SINTER_E_INVALID);
    cr_expect_eq(sinter_merge_open(sinter_env_default(), &input, 1, &options, NULL, NULL),
                 SINTER_E_INVALID);
    options.sort_engine = 2;
    cr_expect_eq(sinter_merge_open(sinter_env_default(), &input, 1, &options, &merge, NULL),
                 SINTER_E_INVALID);
    options.sort_engine = -1;
    cr_expect_eq(sinter_merge_open(sinter_env_default(), &input, 1, &options, &merge, NULL),
                 SINTER_E_INVALID);
    cr_expect_eq(world.live_readers, 0);
    sinter_merge_close(NULL);
}

/* Merge with the `call`-th call of any reader failing; true if it failed, and as it must. */
static bool
fails_at(uint64_t call, bool has_blocks, int engine)
{
    run_world world = {.has_blocks = has_blocks,
                       .batch_seed = 77,
                       .fail_at_call = call,
                       .fail_status = SINTER_E_CORRUPT};
    merge_setup setup;
    test_runs runs;
    merged result;
    bool has_failed = false;

    some_runs(3, 5, &runs);
    merge_setup_init(&setup, &world, &runs);
    merge_options_rules(&newest, &setup.options);
    setup.options.sort_engine = engine;
    setup.watches_blocks = has_blocks;
    setup.accept_percent = 50;
    merge_run(&setup, &runs, &result);
    cr_assert_not(result.has_complaint, "call %llu: %s", (unsigned long long)call,
                  result.complaint);
    has_failed = result.status != SINTER_OK;
    if (has_failed) {
        cr_assert_eq(result.status, SINTER_E_CORRUPT);
        cr_assert_eq(result.err.status, SINTER_E_CORRUPT);
        cr_assert_eq(result.err.offset, 4711);
        cr_assert_str_eq(result.err.file, "run-reader");
        cr_assert_neq((void *)strstr(result.err.text, "told to fail"), NULL);
    }
    merged_fini(&result);
    test_runs_fini(&runs);
    return has_failed;
}

Test(merge_merge, a_failure_of_any_call_of_a_reader_passes_through_and_closes_everything)
{
    for (int variant = 0; variant < 4; variant++) {
        uint64_t call = 1;

        while (fails_at(call, variant / 2 != 0, variant % 2)) {
            call++;
        }
        cr_expect_gt(call, 10, "only %llu calls were failed", (unsigned long long)call);
    }
}

Test(merge_merge, cancelling_at_any_ask_ends_the_merge_and_closes_everything)
{
    test_runs runs;
    uint64_t cancelled = 0;

    some_runs(11, 6, &runs);
    for (uint64_t ask = 1;; ask++) {
        run_world world = {.batch_rows = 3};
        merge_setup setup;
        merged result;
        sinter_status st = SINTER_OK;

        merge_setup_init(&setup, &world, &runs);
        setup.options.has_ages = true;
        setup.cancel_at = ask;
        setup.capacity = 2;
        merge_run(&setup, &runs, &result);
        cr_assert_not(result.has_complaint, "ask %llu: %s", (unsigned long long)ask,
                      result.complaint);
        st = result.status;
        merged_fini(&result);
        if (st == SINTER_OK) {
            break;
        }
        cr_assert_eq(st, SINTER_E_CANCELLED);
        cancelled++;
    }
    cr_expect_gt(cancelled, 0, "nobody asked");
    test_runs_fini(&runs);
}

Test(merge_merge, a_merge_from_which_nothing_comes_can_be_cancelled_too)
{
    enum { ROWS = 2000, BATCH_ROWS = 10 };

    for (int variant = 0; variant < 6; variant++) {
        run_world world = {.batch_rows = BATCH_ROWS};
        static uint8_t keys[ROWS][2];
        static test_record records[ROWS];
        test_runs runs = {0};
        merge_setup setup;
        merged result;

        for (size_t i = 0; i < ROWS; i++) {
            keys[i][0] = (uint8_t)(i >> 8);
            keys[i][1] = (uint8_t)i;
            records[i] = (test_record){.key = {keys[i], 2},
                                       .kind = SINTER_KIND_DELETE,
                                       .dropped = variant < 3 ? 0 : SINTER_DROP_EXPIRED};
        }
        test_runs_add(&runs, records, ROWS);
        test_runs_add(&runs, records, ROWS);
        runs.items[1].records[0].origin = 1;
        merge_setup_init(&setup, &world, &runs);
        setup.options.has_ages = variant % 3 != 2;
        setup.options.sort_engine =
            variant % 3 == 1 ? SINTER_SORT_MIN_HEAP : SINTER_SORT_LOSER_TREE;
        setup.options.drop_delete = true;
        setup.cancel_at = ROWS / BATCH_ROWS;
        merge_run(&setup, &runs, &result);
        cr_expect_eq(result.status, SINTER_E_CANCELLED, "variant %d: asked %llu times", variant,
                     (unsigned long long)result.cancel_asks);
        cr_expect_not(result.has_complaint, "%s", result.complaint);
        merged_fini(&result);
        test_runs_fini(&runs);
    }
}

Test(merge_merge, a_merge_that_is_closed_early_leaves_nothing_open)
{
    test_runs runs;

    some_runs(17, 8, &runs);
    for (uint64_t stop_after = 1; stop_after < 30; stop_after++) {
        run_world world = {.batch_rows = 2, .has_blocks = stop_after % 2 == 0};
        merge_setup setup;
        merged result;

        merge_setup_init(&setup, &world, &runs);
        setup.options.has_ages = true;
        setup.options.sort_engine = (int)(stop_after / 2 % 2);
        setup.watches_blocks = true;
        setup.accept_percent = 50;
        setup.stop_after = stop_after;
        merge_run(&setup, &runs, &result);
        cr_expect_not(result.has_complaint, "%s", result.complaint);
        merged_fini(&result);
    }
    test_runs_fini(&runs);
}

Test(merge_merge, every_allocation_may_fail)
{
    test_runs runs;

    some_runs(23, 40, &runs);
    for (int variant = 0; variant < 4; variant++) {
        sinter_status st = SINTER_E_NOMEM;
        uint64_t n = 0;

        for (; st != SINTER_OK; n++) {
            run_world world = {.batch_rows = 4, .has_blocks = variant / 2 != 0};
            fault_alloc fault;
            merge_setup setup;
            merged result;

            fault_alloc_init(&fault, n);
            merge_setup_init(&setup, &world, &runs);
            setup.env = &fault.env;
            setup.options.has_ages = n % 2 == 0;
            setup.options.sort_engine = variant % 2;
            merge_run(&setup, &runs, &result);
            cr_assert_not(result.has_complaint, "allocation %llu: %s", (unsigned long long)n,
                          result.complaint);
            st = result.status;
            cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %llu: %s",
                      (unsigned long long)n, sinter_status_name(st));
            cr_assert(st == SINTER_OK || result.err.status == st);
            cr_assert_eq(fault.live, 0, "leak when allocation %llu fails", (unsigned long long)n);
            merged_fini(&result);
        }
        cr_expect_gt(n, 2);
    }
    test_runs_fini(&runs);
}

/* ---- blocks ---- */

Test(merge_merge, blocks_that_meet_nobody_pass_without_being_decoded)
{
    test_rng rng = {1};
    test_runs runs = {0};
    run_world world = {.has_blocks = true, .batch_rows = 10};
    merge_setup setup;
    merged result;
    model_result model;
    char text[MERGE_TEXT_BYTES];

    for (uint32_t r = 0; r < 4; r++) {
        const test_shape shape = {.run_count = 1,
                                  .rows_max = 100,
                                  .files_per_run = 1,
                                  .key_space = 200,
                                  .sequence_space = 9,
                                  .value_max = 5,
                                  .keys = TEST_KEYS_FIXED,
                                  .key_width = 4};
        test_runs one;

        test_runs_random(&rng, &shape, &one);
        for (size_t i = 0; i < one.items[0].count; i++) {
            test_record *record = &one.items[0].records[i];
            uint8_t key[5] = {(uint8_t)(3 - r)};

            memcpy(key + 1, record->key.data, 4);
            record->key = test_pool_copy(&runs.pool, (sinter_bytes){key, 5});
            record->value = test_pool_copy(&runs.pool, record->value);
            record->origin = r;
        }
        test_runs_add(&runs, one.items[0].records, one.items[0].count);
        test_runs_fini(&one);
    }
    merge_setup_init(&setup, &world, &runs);
    setup.options.has_ages = true;
    setup.watches_blocks = true;
    setup.accept_percent = 100;
    merge_run(&setup, &runs, &result);
    model_merge(&runs, &newest, &model);
    cr_expect(merged_matches(&result, &model, text), "%s", text);
    cr_expect_eq(world.decoded_rows, 0, "%llu rows were decoded",
                 (unsigned long long)world.decoded_rows);
    cr_expect_gt(result.stored_blocks, 10);
    model_result_fini(&model);
    merged_fini(&result);
    test_runs_fini(&runs);
}

Test(merge_merge, a_block_that_ends_in_the_next_key_of_another_run_is_decoded)
{
    const test_record old[] = {
        {.key = {(const uint8_t *)"1", 1}, .value = {(const uint8_t *)"x", 1}},
        {.key = {(const uint8_t *)"5", 1}, .value = {(const uint8_t *)"old", 3}, .sequence = 1}};
    const test_record young[] = {
        {.key = {(const uint8_t *)"5", 1},
         .value = {(const uint8_t *)"new", 3},
         .sequence = 2,
         .origin = 1},
        {.key = {(const uint8_t *)"9", 1}, .value = {(const uint8_t *)"y", 1}, .origin = 1}};
    test_runs runs = {0};
    run_world world = {.has_blocks = true};
    merge_setup setup;
    merged result;

    test_runs_add(&runs, old, 2);
    test_runs_add(&runs, young, 2);
    merge_setup_init(&setup, &world, &runs);
    setup.options.has_ages = true;
    setup.watches_blocks = true;
    setup.accept_percent = 100;
    merge_run(&setup, &runs, &result);
    cr_assert_not(result.has_complaint, "%s", result.complaint);
    cr_assert_eq(result.count, 3, "key 5 is in both");
    cr_expect(test_bytes_equal(result.records[1].value, test_text("new")));
    cr_expect_eq(result.stored_blocks, 0);
    merged_fini(&result);
    test_runs_fini(&runs);
}

static void
pass_some(uint64_t seed)
{
    test_rng rng = {seed * 2038074743};
    model_rules rules = rules_random(&rng);
    run_world world = {.has_blocks = true};
    char text[MERGE_TEXT_BYTES];
    merge_setup setup;
    test_shape shape;
    test_runs runs;

    test_shape_random(&rng, &shape);
    shape.stretches = test_rng_chance(&rng, 80);
    shape.key_space = 1 + test_rng_below(&rng, 2000);
    world.batch_rows = (uint32_t)test_rng_below(&rng, 12);
    world.batch_seed = test_rng_chance(&rng, 50) ? seed : 0;
    if (test_rng_chance(&rng, 20)) {
        rules.has_ages = false;
        shape.sequence_space = 1000000;
    }
    test_runs_random(&rng, &shape, &runs);
    merge_setup_init(&setup, &world, &runs);
    setup.seed = seed;
    setup.watches_blocks = true;
    setup.accept_percent = (uint32_t)test_rng_below(&rng, 5) * 25;
    setup.capacity = test_rng_chance(&rng, 30) ? 1 : 0;
    cr_assert(both_engines_match(&setup, &runs, &rules, text), "seed %llu: %s",
              (unsigned long long)seed, text);
    test_runs_fini(&runs);
}

Test(merge_merge, blocks_that_pass_change_nothing_in_what_comes_out)
{
    for (uint64_t seed = 1; seed <= case_count(4000); seed++) {
        pass_some(seed);
    }
}

Test(merge_merge, structs_of_older_callers_are_read_and_filled_as_far_as_they_go)
{
    sinter_merge_counters counters;
    sinter_merge_options options;
    sinter_merge *merge = NULL;

    sinter_merge_options_init(&options);
    options.struct_size = offsetof(sinter_merge_options, kept_back_bytes);
    options.kept_back_bytes = UINT64_MAX; /* not in it: not read */
    cr_assert_eq(sinter_merge_open(sinter_env_default(), NULL, 0, &options, &merge, NULL),
                 SINTER_OK);
    memset(&counters, 0xab, sizeof counters);
    counters.struct_size = offsetof(sinter_merge_counters, records_out);
    sinter_merge_counters_get(merge, &counters);
    cr_expect_eq(counters.struct_size, offsetof(sinter_merge_counters, records_out));
    cr_expect_eq(counters.records_in, 0);
    cr_expect_eq(counters.records_out, UINT64_C(0xabababababababab));
    sinter_merge_close(merge);
    options.struct_size = 0;
    cr_expect_eq(sinter_merge_open(sinter_env_default(), NULL, 0, &options, &merge, NULL),
                 SINTER_E_INVALID);
}
