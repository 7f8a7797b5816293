/*
 * What a merge has to give, computed the simple way: all records in one array, sorted; groups of
 * equal keys reduced by the letter of the specification. Source: spec/compaction.md 1, 14.
 */
#ifndef SINTER_TESTS_MODEL_H
#define SINTER_TESTS_MODEL_H

#include "sinter/merge.h"
#include "support/records.h"

/** How equal keys become one. */
typedef enum model_engine { MODEL_DEDUPLICATE, MODEL_FIRST_ROW } model_engine;

/** Rules of one merge. */
typedef struct model_rules {
    model_engine engine;
    bool ignore_delete;
    bool drop_delete;
    bool has_ages; /* else equal sequences fall as the tree decides (spec 14.2) */
} model_rules;

/** What came of it. */
typedef struct model_result {
    sinter_status status;        /* SINTER_OK or SINTER_E_RETRACT */
    const test_record **records; /* in key order; up to the failure */
    size_t count;
    sinter_merge_counters counters; /* records and keys only */
    test_pool pool;
} model_result;

/** Merge; the result refers to the runs' records. Release with model_result_fini(). */
void
model_merge(const test_runs *runs, const model_rules *rules, model_result *out);

void
model_result_fini(model_result *result);

/** All records that were not dropped, ordered by key and sequence order, oldest first. The order
 *  of full ties is that of ages, or, without ages, undefined. `*count_out` records. */
const test_record **
model_sort(const test_runs *runs, test_pool *pool, size_t *count_out);

/** The same in the order in which the tree of spec 14.2 hands records out; ages don't count. */
const test_record **
model_tree_sort(const test_runs *runs, test_pool *pool, size_t *count_out);

/** Order of two records of one key without age: <0 when `a` is older. */
int
model_sequence_compare(const test_record *a, const test_record *b);

/** Direct runs, then spilled ones, as spec 14.1 says; gives the number of direct ones. */
size_t
model_spill_plan(const uint64_t *sizes, size_t count, uint32_t threshold, size_t *order_out);

#endif
