/*
 * Forcing level 0 up, over the universal strategy (spec/compaction.md 7.4).
 */
#ifndef SINTER_COMPACT_STRATEGY_FORCE_UP_H
#define SINTER_COMPACT_STRATEGY_FORCE_UP_H

#include "compact/strategy_universal.h"

/** When level 0 is forced up. */
typedef struct sinter__force_up {
    uint32_t interval; /* each time that the universal strategy has found nothing so often; 0: at
                          once */
    uint32_t counter;
} sinter__force_up;

/** Choose. @return SINTER_OK, SINTER_END (`out` says why) */
sinter_status
sinter__force_up_pick(sinter__force_up *force_up, sinter__universal *universal,
                      const sinter_pick_request *request, sinter_pick *out);

#endif
