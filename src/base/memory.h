/*
 * Budgets that lie in other objects and draw on a larger one.
 */
#ifndef SINTER_BASE_MEMORY_H
#define SINTER_BASE_MEMORY_H

#include <stdatomic.h>

#include "sinter/env.h"

struct sinter_memory {
    const sinter_env *env; /* of one that sinter_memory_create() made */
    sinter_memory *whole;  /* what is taken here is taken there too; NULL: of nothing else */
    uint64_t limit_bytes;
    _Atomic uint64_t used_bytes;
    _Atomic uint64_t peak_bytes;
};

/**
 * Set up a budget in place: a share of `whole`, which is no share itself and is borrowed while this
 * one is in use (NULL: of nothing). Nothing to release, but everything reserved must be given back.
 *
 * @param limit_bytes  0: none of its own
 */
void
sinter__memory_init(sinter_memory *memory, sinter_memory *whole, uint64_t limit_bytes);

#endif
