/*
 * The io_uring backend's making, and its door for tests.
 */
#ifndef SINTER_IO_URING_H
#define SINTER_IO_URING_H

#include "io/posix.h"
#include "io/ring.h"

/** What a backend is made of. Numbers are within the limits of sinter_io_options. */
typedef struct sinter__uring_setup {
    unsigned queue_depth;
    unsigned buffer_count;
    unsigned buffer_bytes;
    bool is_ring_only;                /* files that lie in memory go through the ring as well */
    const sinter__posix_calls *calls; /* borrowed */
    const sinter__ring_hooks *hooks;  /* borrowed; NULL: none */
} sinter__uring_setup;

/**
 * Make the backend; sinter_io_destroy() releases it.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED with the kernel's errno
 */
sinter_status
sinter__uring_create(const sinter_env *env, const sinter__uring_setup *setup, sinter_io **out,
                     sinter_error *err);

#endif
