/*
 * Full compactions before size rules ask for them (spec/compaction.md 7.3).
 */
#ifndef SINTER_COMPACT_EARLY_FULL_H
#define SINTER_COMPACT_EARLY_FULL_H

#include "sinter/strategy.h"

/** Thresholds and the time of the last full compaction. */
typedef struct sinter__early_full {
    int64_t interval_ms;        /* 0: unset */
    uint64_t total_bytes;       /* 0: unset */
    uint64_t incremental_bytes; /* 0: unset */
    bool has_last;
    int64_t last_ms;
} sinter__early_full;

/** Thresholds of options; the time of the last full compaction from `origin`. */
void
sinter__early_full_init(sinter__early_full *early, const sinter_compact_options *options,
                        const sinter_strategy_origin *origin);

/** Is a full compaction due? Then it counts as done now, and `out` has the rule with its numbers.
 */
bool
sinter__early_full_try(sinter__early_full *early, const sinter_pick_request *request,
                       sinter_pick *out);

/** All files were picked by another rule. Without a threshold nothing is noted. */
void
sinter__early_full_note(sinter__early_full *early, int64_t now_ms);

#endif
