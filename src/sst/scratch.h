/*
 * Working memory that is reused from block to block and counted against the memory budget.
 */
#ifndef SINTER_SST_SCRATCH_H
#define SINTER_SST_SCRATCH_H

#include "base/alloc.h"

/** Zeroed is empty. Its capacity is reserved from env->memory for as long as it is held. */
typedef struct sinter__scratch {
    uint8_t *data;
    size_t capacity;
} sinter__scratch;

/**
 * Hold at least `size` bytes; what was in it is lost when it grows. A scratch more than eight
 * times as large as needed shrinks, so that one huge block is not paid for until the end.
 * @return SINTER_OK, SINTER_E_TOO_LARGE (the budget), SINTER_E_NOMEM; empty after a failure
 */
sinter_status
sinter__scratch_fit(const sinter_env *env, sinter__scratch *scratch, size_t size,
                    sinter_error *err);

/** Hold at least `size` bytes and keep the content; unchanged after a failure. Doubles. */
sinter_status
sinter__scratch_grow(const sinter_env *env, sinter__scratch *scratch, size_t size,
                     sinter_error *err);

/** The capacity that a scratch of `size` bytes has, for estimates of what a budget must hold. */
size_t
sinter__scratch_room(size_t size);

/** Release memory and reservation. */
void
sinter__scratch_fini(const sinter_env *env, sinter__scratch *scratch);

/** Bytes that are put one behind the other, in counted memory. Zeroed is empty. */
typedef struct sinter__pile {
    sinter__scratch memory;
    size_t size;
} sinter__pile;

/** Put bytes behind the last ones. @return as of sinter__scratch_grow() */
sinter_status
sinter__pile_append(const sinter_env *env, sinter__pile *pile, const void *data, size_t size,
                    sinter_error *err);

/** Release memory and reservation. */
void
sinter__pile_fini(const sinter_env *env, sinter__pile *pile);

#endif
