/*
 * An io that counts: open files now and at most, and calls that read or write. Everything is
 * passed on to another io.
 */
#ifndef SINTER_TESTS_COUNT_IO_H
#define SINTER_TESTS_COUNT_IO_H

#include "sinter/io.h"

typedef struct count_io {
    sinter_io base; /* hand this to the code under test */
    sinter_io *inner;
    _Atomic int64_t open_files;
    _Atomic int64_t open_files_max;
    _Atomic uint64_t opened;  /* files opened for reading */
    _Atomic uint64_t created; /* files begun */
    _Atomic int64_t reads;    /* on their way */
    bool tells_free;          /* answer with free_bytes; else that can't be told */
    uint64_t free_bytes;
} count_io;

void
count_io_init(count_io *io, sinter_io *inner);

#endif
