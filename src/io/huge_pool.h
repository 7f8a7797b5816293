/*
 * Memory for direct reads and writes: pieces of huge pages.
 *
 * The device reaches memory page by page. A megabyte in one huge page is a few segments of one
 * request; in ordinary pages it is 256, which are pinned one by one and don't fit one request:
 * eight times the CPU time and a fifth of the throughput (docs/io.md).
 */
#ifndef SINTER_IO_HUGE_POOL_H
#define SINTER_IO_HUGE_POOL_H

#include "base/sync.h"
#include "io/io_base.h"

enum { SINTER__HUGE_PIECE_BYTES = 1 << 20 };

/** Shared. An arena counts against the budget as long as a piece of it is out. */
typedef struct sinter__huge_pool {
    const sinter_env *env;
    sinter__mutex mutex; /* guards what follows */
    struct sinter__huge_arena *arenas;
} sinter__huge_pool;

/** Set up over zeroed memory; `env` is borrowed. SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__huge_pool_init(sinter__huge_pool *pool, const sinter_env *env, sinter_error *err);

/** Release. Every piece was given back. */
void
sinter__huge_pool_fini(sinter__huge_pool *pool);

/** A piece of SINTER__HUGE_PIECE_BYTES, aligned to its size; NULL: the budget is short, or the
 *  allocator refuses. */
void *
sinter__huge_pool_take(sinter__huge_pool *pool);

/** Give a piece back. */
void
sinter__huge_pool_give(sinter__huge_pool *pool, void *piece);

#endif
