/*
 * Wrappers that share their rates (limit.c).
 */
#ifndef SINTER_IO_LIMIT_H
#define SINTER_IO_LIMIT_H

#include "io/io_base.h"

struct sinter__rate;

/** A wrapper that lets bytes through at rates, which may be another wrapper's too. Shared. */
typedef struct sinter__limit_io {
    sinter__io_wrapper base;
    const sinter_env *env;
    struct sinter__rate *rate;
    sinter_io_limit_mode mode; /* what sinter_io_limit_set() changes */
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
} sinter__limit_io;

/**
 * Set up a wrapper in place that is as `limit`, a wrapper of sinter_io_limit_create(), and shares
 * its rates, but has another io beneath, and whose requests end by a question of its own.
 *
 * @param limit         borrowed while the new one is in use
 * @param under         what it wraps; borrowed likewise
 * @param is_cancelled  as in sinter_io_limit_options
 * @return              the new wrapper as an io; nothing to release, but its files must be closed
 */
sinter_io *
sinter__limit_share(const sinter_io *limit, sinter_io *under, sinter__limit_io *out,
                    bool (*is_cancelled)(void *ctx), void *cancel_ctx);

#endif
