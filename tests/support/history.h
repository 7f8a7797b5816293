/*
 * What a program did to its files, call by call, and the disks that a loss of power at any moment
 * of it could leave: bytes that were not synced are there or not, names that were given or taken
 * since the last sync of their directory are as they were, as they are or anything between, each by
 * itself and so in any order.
 */
#ifndef SINTER_TESTS_HISTORY_H
#define SINTER_TESTS_HISTORY_H

#include "support/records.h"
#include "support/watch_io.h"

enum { HISTORY_CALLS_MAX = 16384 };

typedef struct history {
    watch_io io; /* its base is for the code under test; confined */
    watch_call calls[HISTORY_CALLS_MAX];
    size_t count;
    test_pool pool;
} history;

/** Record what goes through to `inner`, which is empty. */
void
history_init(history *h, sinter_io *inner);

void
history_fini(history *h);

/** Calls of one kind among the first `count`. */
size_t
history_count(const history *h, size_t count, watch_op op);

/** A disk in memory as a loss of power after the first `count` calls may leave it. `rng` draws
 *  which. With the directory `dir`. Release with sinter_io_destroy(). */
sinter_io *
history_crash(const history *h, size_t count, const char *dir, test_rng *rng);

#endif
