/*
 * How many runs a memory budget lets stay on their files, and what a merge needs at least.
 */
#ifndef SINTER_MERGE_BUDGET_H
#define SINTER_MERGE_BUDGET_H

#include "sinter/merge.h"

/** What is to be merged. Borrowed. */
typedef struct sinter__merge_needs {
    const sinter_merge_input *inputs;
    const size_t *order; /* of the inputs: which are spilled first (spec 14.1) */
    size_t count;
    size_t direct_max; /* runs that may stay on their files at all */
    const sinter_merge_options *options;
} sinter__merge_needs;

/** What to do about it. */
typedef struct sinter__merge_plan {
    size_t spilled;        /* the first so many of the order */
    uint64_t enough_bytes; /* the least that surely is enough, whatever the records; 0: not known */
} sinter__merge_plan;

/** What the reader of a run takes, as far as is known. */
uint64_t
sinter__merge_reader_bytes(const sinter_merge_input *input);

/**
 * Spill as few runs as `left_bytes` allow; all of them if that is not enough either, since runs
 * that lie in the spill file can still be merged with each other beforehand.
 */
sinter__merge_plan
sinter__merge_plan_memory(const sinter__merge_needs *needs, uint64_t left_bytes);

/**
 * Let the refusal of a merge name the budget that is enough for all of it rather than for the step
 * that failed, if that is known and is more than there is. For those too who take the merge's rows
 * and were counted in kept_back_bytes.
 * @return `st`
 */
sinter_status
sinter__merge_name_budget(const sinter_merge *merge, sinter_status st, sinter_error *err);

#endif
