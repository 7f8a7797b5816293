/*
 * Run a merge over records in memory, take everything it gives, check what must hold of every
 * merge, and compare it with the model.
 */
#ifndef SINTER_TESTS_MERGE_HARNESS_H
#define SINTER_TESTS_MERGE_HARNESS_H

#include "model/model.h"
#include "support/run_reader.h"

/** What a merge gave. */
typedef struct merged {
    sinter_status status; /* how it ended: SINTER_OK for a whole merge, else the failure */
    bool was_opened;      /* sinter_merge_open() succeeded */
    sinter_error err;
    test_record *records; /* copies; `dropped` and `origin` are 0 */
    size_t count;
    size_t capacity;
    uint64_t calls; /* of sinter_merge_next() */
    uint64_t stored_blocks;
    sinter_merge_counters counters;
    bool has_complaint;
    char complaint[256]; /* what the merge did wrong by its own contract */
    test_pool pool;
} merged;

/** How to run it. */
typedef struct merge_setup {
    const sinter_env *env;
    sinter_merge_options options;
    run_world *world;
    size_t capacity;     /* ranges per call; 0: random, up to 20 */
    uint64_t seed;       /* of the capacities */
    uint64_t stop_after; /* close after so many calls; 0: at the end */
} merge_setup;

/** Merge to the end or the first failure. Release with merged_fini(). */
void
merge_run(const merge_setup *setup, const test_runs *runs, merged *out);

void
merged_fini(merged *result);

/** Is it what the model says? Else false, and `text_out` (of 512 bytes) says what differs. */
bool
merged_matches(const merged *result, const model_result *model, char *text_out);

/** Do both hold the same records (counters aside)? As above. */
bool
merged_equal(const merged *a, const merged *b, char *text_out);

/** Let the world's readers fit these runs. */
void
run_world_fit(run_world *world, const test_runs *runs);

/** Options of the merge for a model's rules. */
void
merge_options_for(const model_rules *rules, sinter_merge_options *out);

#endif
