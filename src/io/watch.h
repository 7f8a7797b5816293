/*
 * Watching wrappers that count together (watch.c).
 */
#ifndef SINTER_IO_WATCH_H
#define SINTER_IO_WATCH_H

#include "io/io_base.h"

struct sinter__watch_counts;

/** A wrapper that counts calls, maybe where another one does too, and tells the listener of its own
 *  environment of slow ones. Shared. */
typedef struct sinter__watch_io {
    sinter__io_wrapper base;
    const sinter_env *env;
    uint64_t slow_ns; /* 0: nothing is slow */
    struct sinter__watch_counts *counts;
} sinter__watch_io;

/**
 * Set up a wrapper in place that is as `watch`, a wrapper of sinter_io_watch_create(), and counts
 * where it does, but has another environment: its listener is told of slow calls.
 *
 * @param watch  borrowed while the new one is in use
 * @param env    allocator, clock and listener; borrowed likewise
 * @return       the new wrapper as an io; nothing to release, but its files must be closed
 */
sinter_io *
sinter__watch_share(const sinter_io *watch, const sinter_env *env, sinter__watch_io *out);

#endif
