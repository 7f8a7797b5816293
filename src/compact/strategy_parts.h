/*
 * What the built-in strategies share: sizes, units that are a prefix of the runs, explanations.
 */
#ifndef SINTER_COMPACT_STRATEGY_PARTS_H
#define SINTER_COMPACT_STRATEGY_PARTS_H

#include "sinter/strategy.h"

/** Size of a run, at most INT64_MAX: the rules count in 64-bit integers. */
static inline uint64_t
sinter__run_bytes(const sinter_level_run *run)
{
    return run->bytes > (uint64_t)INT64_MAX ? (uint64_t)INT64_MAX : run->bytes;
}

/** a + b, at most INT64_MAX, which neither exceeds. */
static inline uint64_t
sinter__add_bytes(uint64_t a, uint64_t b)
{
    return a > (uint64_t)INT64_MAX - b ? (uint64_t)INT64_MAX : a + b;
}

/** Name the rule of a pick, or what speaks against one, and its numbers; cut when too long. */
void
sinter__pick_explain(sinter_pick *out, sinter_pick_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Let the pick be all files of the first `run_count` runs, to `output_level`. */
void
sinter__pick_runs(sinter_pick *out, const sinter_pick_request *request, size_t run_count,
                  int32_t output_level);

#endif
