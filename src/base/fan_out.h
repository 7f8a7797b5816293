/*
 * Pieces of work done side by side: on the caller's thread and on whatever the executor lends.
 */
#ifndef SINTER_BASE_FAN_OUT_H
#define SINTER_BASE_FAN_OUT_H

#include "sinter/env.h"

/**
 * Call `work(ctx, i)` once for each i below `count`, and return when all calls have returned.
 *
 * The calling thread works too and never waits for a piece that nobody has begun, so this may be
 * called from a thread of the executor itself, however busy that is. Without an executor, or
 * without memory for sharing, the pieces are done one after the other.
 *
 * The environment's allocator must outlive the executor's queue: work that was submitted and came
 * too late still releases a few bytes there.
 */
void
sinter__fan_out(const sinter_env *env, size_t count, void (*work)(void *ctx, size_t index),
                void *ctx);

#endif
