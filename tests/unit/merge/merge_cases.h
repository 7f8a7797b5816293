/*
 * One random merge against the model, for the tests of this room.
 */
#ifndef SINTER_TESTS_MERGE_CASES_H
#define SINTER_TESTS_MERGE_CASES_H

#include <stdio.h>
#include <stdlib.h>

#include "model/merge_harness.h"

enum { MERGE_TEXT_BYTES = 512 };

/** Draw rules; first-row without ignore-delete now and then fails on retracts. */
static inline model_rules
rules_random(test_rng *rng)
{
    return (model_rules){
        .engine = test_rng_chance(rng, 30) ? MODEL_FIRST_ROW : MODEL_DEDUPLICATE,
        .ignore_delete = test_rng_chance(rng, 40),
        .drop_delete = test_rng_chance(rng, 40),
        .has_ages = true,
    };
}

/** Draw how readers hand out batches. */
static inline run_world
world_random(test_rng *rng)
{
    run_world world = {0};

    switch (test_rng_below(rng, 4)) {
    case 0:
        world.batch_rows = 1;
        break;
    case 1:
        world.batch_rows = 1 + (uint32_t)test_rng_below(rng, 8);
        break;
    case 2:
        world.batch_seed = test_rng_next(rng) | 1;
        break;
    default: /* each run in one batch */
        break;
    }
    world.payload = test_rng_chance(rng, 30) ? RUN_PAYLOAD_COLUMNAR : RUN_PAYLOAD_BYTES;
    world.origins_column = test_rng_chance(rng, 20);
    return world;
}

/** How many cases a property tries: `cases`, or that times SINTER_TEST_SCALE. */
static inline uint64_t
case_count(uint64_t cases)
{
    const char *scale = getenv("SINTER_TEST_SCALE");

    return scale == NULL || atoi(scale) < 1 ? cases : cases * (uint64_t)atoi(scale);
}

/**
 * Merge runs with both engines and compare both with the model.
 * False: `text_out` says what differs.
 */
static inline bool
both_engines_match(const merge_setup *setup, const test_runs *runs, const model_rules *rules,
                   char *text_out)
{
    model_result model;
    bool is_good = true;

    model_merge(runs, rules, &model);
    for (int engine = SINTER_SORT_LOSER_TREE; engine <= SINTER_SORT_MIN_HEAP && is_good; engine++) {
        merge_setup with_engine = *setup;
        char text[MERGE_TEXT_BYTES];
        merged result;

        merge_options_rules(rules, &with_engine.options);
        with_engine.options.sort_engine = engine;
        merge_run(&with_engine, runs, &result);
        is_good = merged_matches(&result, &model, text);
        if (!is_good) {
            snprintf(text_out, MERGE_TEXT_BYTES, "%s: %.400s",
                     engine == SINTER_SORT_LOSER_TREE ? "loser-tree" : "min-heap", text);
        }
        merged_fini(&result);
    }
    model_result_fini(&model);
    return is_good;
}

#endif
