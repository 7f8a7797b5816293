/*
 * What all buckets live in, from one restart of everything to the next: the io, the scheduler with
 * its pool, budgets.
 */
#ifndef SOAK_WORLD_H
#define SOAK_WORLD_H

#include "soak/bucket.h"
#include "soak/reader.h"

enum { SOAK_WRITERS_MAX = 8 };

/** The command line. */
typedef struct soak_options {
    uint64_t seconds;
    uint64_t seed;
    uint64_t buckets;
    uint64_t writers;
    uint64_t readers;
    uint64_t keys; /* of a bucket */
    const char *dir;
    bool memory_backend;
    bool allow_zero;
    bool keep; /* the files, at the end */
} soak_options;

typedef struct soak_world {
    soak_options options;
    soak_random random; /* of the program's main thread */
    soak_bucket *buckets;
    sinter_io *disk;  /* the memory backend, for as long as the program lives; or of this epoch */
    sinter_io *power; /* over the memory backend: loses power */
    sinter_io *storm;
    sinter_env env; /* with bad weather */
    sinter_pool *pool;
    sinter_scheduler *scheduler;
    sinter_write_pool *buffers[SOAK_WRITERS_MAX]; /* NULL: each bucket its own */
    sinter_memory *read_memory;
    sinter_env read_env;
} soak_world;

/** Make the buckets, closed; and, with the memory backend, the disk. */
void
soak_world_init(soak_world *world, const soak_options *options);
void
soak_world_fini(soak_world *world);

/** Start anew from the catalogs: everything is opened, and checked. */
void
soak_world_open(soak_world *world);

/** Stop: commit some, check all, close everything. After a loss of power only close. */
void
soak_world_close(soak_world *world);

/** Take the power away, at a call that comes soon. */
void
soak_world_power_off(soak_world *world);

#endif
