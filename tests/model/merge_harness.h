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
    uint64_t asked_blocks; /* calls of accepts_block */
    uint64_t accepted_blocks;
    uint64_t cancel_asks; /* calls of is_cancelled */
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
    size_t capacity;         /* ranges per call; 0: random, up to 20 */
    uint64_t seed;           /* of the capacities */
    uint64_t stop_after;     /* close after so many calls; 0: at the end */
    bool watches_blocks;     /* give accepts_block, and check when it is asked */
    uint32_t accept_percent; /* so many of the blocks that may be accepted are */
    uint64_t cancel_at;      /* the ask of is_cancelled that says yes, from 1; 0: none */
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

/** Put a model's rules into options that were set up. */
void
merge_options_rules(const model_rules *rules, sinter_merge_options *out);

/** A setup with default options, the default environment and readers that fit the runs. */
void
merge_setup_init(merge_setup *setup, run_world *world, const test_runs *runs);

#endif
