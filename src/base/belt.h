/*
 * A belt: items that are put on it are worked on by their owner and by a helper from the executor,
 * side by side, and leave it one by one in the order in which they came.
 *
 *            left        begun            filled
 *     .. gone | in work or done | waiting | free ..
 */
#ifndef SINTER_BASE_BELT_H
#define SINTER_BASE_BELT_H

#include "base/fail.h"
#include "sinter/env.h"

/** Who works on an item: the owner or the helper, one at a time each. */
enum { SINTER__BELT_OWNER = 0, SINTER__BELT_HELPER = 1, SINTER__BELT_WORKERS = 2 };

/** What is done with an item; `place` is where it lies, below the number of places. */
typedef struct sinter__belt_ops {
    /** May work on it begin? Called for one item after the other, in order, until the answer is
     *  yes; under a lock: must not block. After a no it is asked again when other work is done. */
    bool (*begin)(void *ctx, size_t place);
    /** Work on it, beside work on other items. */
    sinter_status (*work)(void *ctx, size_t place, int worker, sinter_error *err);
    /** It leaves: called in order, one at a time, on either thread. Empties the place. */
    sinter_status (*leave)(void *ctx, size_t place, sinter_error *err);
} sinter__belt_ops;

/** A belt. Confined to its owner; the helper comes and goes by itself. */
typedef struct sinter__belt sinter__belt;

/**
 * Make an empty belt.
 *
 * The owner never waits for work that nobody has begun, so it may itself run on the executor,
 * however busy that is. The helper never waits at all: it goes when nothing can be begun, and is
 * called again. Without an executor the owner does everything.
 *
 * @param env     its allocator must outlive the executor's queue: a helper that comes too late
 * still releases a few bytes there
 * @param ops     static
 * @param ctx     handed to each function; borrowed until destroy
 * @param places  at least 1
 * @return        SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__belt_create(const sinter_env *env, const sinter__belt_ops *ops, void *ctx, size_t places,
                    sinter__belt **out, sinter_error *err);

/**
 * Wait for a free place, working meanwhile, and tell which it is. The item lies there when
 * sinter__belt_put() is called.
 * @return SINTER_OK, or the first failure in the order of items, here and from then on
 */
sinter_status
sinter__belt_room(sinter__belt *belt, size_t *place_out, sinter_error *err);

/** The item in the place told last is ready. Calls the helper when there is enough for both. */
void
sinter__belt_put(sinter__belt *belt);

/** Can help be hoped for? No: it was called and has not come while the belt filled up. It may still
 *  come, and the answer changes. */
bool
sinter__belt_has_help(sinter__belt *belt);

/** Items that were put and have not left. */
size_t
sinter__belt_count(sinter__belt *belt);

/**
 * Work or wait until no more than `most` items are left. With 0 nothing is done beside the owner
 * any more when this returns, also after a failure.
 * @return as sinter__belt_room()
 */
sinter_status
sinter__belt_reduce(sinter__belt *belt, size_t most, sinter_error *err);

/** Drop what is still on it and release; waits for work in progress. Takes NULL. */
void
sinter__belt_destroy(sinter__belt *belt);

#endif
