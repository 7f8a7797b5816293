/*
 * An io that tells of each call before it is made, to a callback that may refuse it, and after it.
 * Everything else is passed on to another io. With it a test counts, measures by a clock of its
 * own, fills a disk, or does something at the n-th call.
 */
#ifndef SINTER_TESTS_WATCH_IO_H
#define SINTER_TESTS_WATCH_IO_H

#include "sinter/io.h"

typedef enum watch_op {
    WATCH_OPEN,
    WATCH_CREATE,
    WATCH_READ, /* read_begin too */
    WATCH_APPEND,
    WATCH_SYNC,
    WATCH_PUBLISH,
    WATCH_CLOSE, /* can't be refused */
    WATCH_SYNC_DIR,
    WATCH_UNLINK,
    WATCH_REPLACE,
    WATCH_OPS
} watch_op;

/** One call. */
typedef struct watch_call {
    watch_op op;
    uint64_t file;    /* a number for each file that was opened or created; 0: none */
    const char *path; /* of open, publish, sync_dir, unlink, replace; the directory of create */
    const void *data; /* of append and replace */
    size_t size;      /* bytes of read, append and replace */
} watch_call;

typedef struct watch_io {
    sinter_io base; /* hand this to the code under test */
    sinter_io *inner;
    void *ctx;
    /** A failure is returned instead of making the call. NULL: nobody asks. Any thread. */
    sinter_status (*before)(void *ctx, const watch_call *call, sinter_error *err);
    /** The call went through. NULL: nobody asks. Any thread. */
    void (*after)(void *ctx, const watch_call *call);
    _Atomic uint64_t files;
    _Atomic uint64_t calls[WATCH_OPS];
    _Atomic uint64_t read_bytes;
    _Atomic uint64_t appended_bytes;
    _Atomic int64_t open_files;
    _Atomic int64_t open_files_max;
} watch_io;

void
watch_io_init(watch_io *io, sinter_io *inner);

/** Calls of all kinds so far. */
uint64_t
watch_io_calls(const watch_io *io);

/**
 * A disk with so much room: appended bytes that would pass it are refused with SINTER_E_NO_SPACE.
 * What files give back that are unlinked, or closed without a name, is free again.
 */
typedef struct small_disk {
    watch_io io; /* its base is for the code under test */
    _Atomic uint64_t room;
    _Atomic uint64_t used;
    _Atomic uint64_t refused;
    uint64_t (*sizes)[2]; /* by number of the file: bytes, and whether it has a name */
} small_disk;

enum { SMALL_DISK_FILES_MAX = 1 << 16 };

void
small_disk_init(small_disk *disk, sinter_io *inner, uint64_t room);

void
small_disk_fini(small_disk *disk);

#endif
