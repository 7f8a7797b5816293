/*
 * An io that asks before each call what is to become of it, and tells when it is over.
 */
#ifndef SOAK_HOOK_IO_H
#define SOAK_HOOK_IO_H

#include "soak/common.h"

#define SOAK_OP_MAP(X) \
    X(OPEN)            \
    X(CREATE)          \
    X(SIZE)            \
    X(READ)            \
    X(READ_BEGIN)      \
    X(READ_END)        \
    X(APPEND)          \
    X(SYNC)            \
    X(PUBLISH)         \
    X(STAT)            \
    X(SYNC_DIR)        \
    X(MKDIR)           \
    X(UNLINK)          \
    X(LIST)            \
    X(CLEAN)           \
    X(REPLACE)         \
    X(LOCK)

typedef enum soak_op {
#define SOAK_OP_CONSTANT(name) SOAK_OP_##name,
    SOAK_OP_MAP(SOAK_OP_CONSTANT)
#undef SOAK_OP_CONSTANT
        SOAK_OP_COUNT
} soak_op;

/** What becomes of a call. A torn append writes half of its bytes and fails with EIO. */
typedef enum soak_verdict {
    SOAK_PASS,
    SOAK_FAIL_EIO,
    SOAK_FAIL_NO_SPACE,
    SOAK_FAIL_TORN
} soak_verdict;

typedef struct soak_hook {
    void *ctx;
    /** Any thread. */
    soak_verdict (*before)(void *ctx, soak_op op);
    /** On the same thread, however the call went. NULL: nobody asks. */
    void (*after)(void *ctx, soak_op op);
} soak_hook;

/** Wrap `base`, which must outlive the wrapper; sinter_io_destroy() releases it. */
sinter_io *
soak_hook_io_create(sinter_io *base, const soak_hook *hook);

#endif
