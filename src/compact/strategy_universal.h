/*
 * The universal strategy (spec/compaction.md 7.1).
 */
#ifndef SINTER_COMPACT_STRATEGY_UNIVERSAL_H
#define SINTER_COMPACT_STRATEGY_UNIVERSAL_H

#include "compact/early_full.h"

/** The universal strategy. */
typedef struct sinter__universal {
    const sinter_compact_options *options; /* borrowed */
    sinter__early_full early;
} sinter__universal;

/** Choose. @return SINTER_OK, SINTER_END (`out` says why) */
sinter_status
sinter__universal_pick(sinter__universal *universal, const sinter_pick_request *request,
                       sinter_pick *out);

/**
 * Take the first `count` runs, at least one, and those behind that aren't much larger.
 *
 * @param rule    which asks
 * @param forced  a pick is made whatever the sizes are
 * @return        SINTER_OK; SINTER_END: only the first run, and it isn't forced (`out` says why)
 */
sinter_status
sinter__universal_pick_by_ratio(sinter__universal *universal, const sinter_pick_request *request,
                                sinter_pick_rule rule, size_t count, bool forced, sinter_pick *out);

#endif
