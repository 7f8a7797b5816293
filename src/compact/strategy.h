/*
 * The built-in strategy, and what the options make of it.
 */
#ifndef SINTER_COMPACT_STRATEGY_H
#define SINTER_COMPACT_STRATEGY_H

#include "compact/strategy_force_up.h"

/** What a strategy is made of beyond the options. */
typedef struct sinter__strategy_config {
    const sinter_compact_options *options; /* checked; copied */
    const sinter_strategy_origin *origin;
    bool forces_up;
    uint32_t force_up_interval; /* 0: whenever nothing else is found */
} sinter__strategy_config;

/** Make a strategy; release with sinter_strategy_destroy(). @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__strategy_create(const sinter_env *env, const sinter__strategy_config *config,
                        sinter_strategy **out, sinter_error *err);

#endif
