/*
 * Every backend, and every bad mood of its system, that the contract is tried on.
 */
#ifndef SINTER_TESTS_IO_BACKENDS_H
#define SINTER_TESTS_IO_BACKENDS_H

#include "fault_alloc.h"
#include "sinter/io.h"

/** One way to have files. */
typedef struct backend {
    const char *name;
    uint32_t flags;   /* for open and create */
    bool is_uring;    /* skipped where the kernel refuses io_uring */
    bool is_ringless; /* io_uring, but its files are moved by plain calls */
    bool is_memory;
    sinter_status (*make)(const sinter_env *env, sinter_io **out, sinter_error *err);
} backend;

extern const backend backends[];
extern const size_t backend_count;

/** What lies between a test and a backend. */
typedef enum wrapping { BARE, IN_FAULT, IN_LIMIT, IN_WATCH, WRAPPINGS } wrapping;

/** A backend at work in an empty directory. */
typedef struct bench_io {
    const backend *kind;
    sinter_env env;
    wrapping wrapped;
    sinter_io *base; /* what the wrapper wraps; NULL without one */
    sinter_io *io;
    char dir[64];
    char path[96]; /* of path_in() */
} bench_io;

/** Make backend, wrapper and directory; fails the test if it can't. The limiting wrapper cuts into
 *  slices of a few kilobytes, and waits by a clock that goes on at once. */
void
bench_io_init(bench_io *bench, const backend *kind, wrapping wrapped);
/** Empty and remove the directory, release the backend. */
void
bench_io_fini(bench_io *bench);

/** Path of a file in the directory; valid until the next call. */
const char *
path_in(bench_io *bench, const char *name);

/** How many names the directory holds. */
size_t
name_count(bench_io *bench);

/** Run `body` over each backend, bare and in each wrapper; names the ones that had to be left out.
 */
void
over_all_backends(void (*body)(bench_io *bench));

/** The bytes from `offset` on of a file made from `seed`. */
void
pattern_fill(uint64_t seed, uint64_t offset, void *data, size_t size);
bool
pattern_holds(uint64_t seed, uint64_t offset, const void *data, size_t size);

/** Create, append the pattern, sync, publish, sync the directory; the test fails if that does. */
void
put_file(bench_io *bench, const char *name, uint64_t seed, size_t size);

/** The next number of a small generator. */
uint64_t
random_next(uint64_t *state);

/** Open descriptors of this process. */
size_t
descriptor_count(void);

#endif
