/*
 * A bucket under test: a merge tree, the model of what it must answer, and its catalog.
 */
#ifndef SOAK_BUCKET_H
#define SOAK_BUCKET_H

#include <pthread.h>
#include <stdatomic.h>

#include "soak/catalog.h"
#include "soak/model.h"
#include "soak/storm.h"

enum { SOAK_INCREMENTS_MAX = 3 };

/** What the writers, readers and the program count. Any thread. */
#define SOAK_COUNT_MAP(X)                                        \
    X(WRITES, "rows written")                                    \
    X(COMMITS, "commits")                                        \
    X(COMMIT_FAILURES, "commits that failed")                    \
    X(RETURNS, "increments given back")                          \
    X(RESTARTS, "restarts of a bucket from its catalog")         \
    X(EPOCHS, "restarts of everything")                          \
    X(CANCELS, "cancels")                                        \
    X(PAUSES, "pauses")                                          \
    X(RATE_CHANGES, "changes of the rate")                       \
    X(FULL_COMPACTIONS, "full compactions asked for")            \
    X(FAILURES, "calls of writers that failed")                  \
    X(POINT_READS, "point reads")                                \
    X(RANGE_READS, "range reads")                                \
    X(WHOLE_READS, "reads of a whole bucket")                    \
    X(READ_FAILURES, "reads that failed")                        \
    X(HELD_SETS, "file sets held over a restart")                \
    X(OUTLIVED_SETS, "sets of a closed tree that missed a file") \
    X(GARBAGE, "files removed as garbage after a restart")       \
    X(COMPACTIONS, "compactions completed")                      \
    X(COMPACTIONS_CANCELLED, "compactions cancelled")            \
    X(COMPACTIONS_FAILED, "compactions that failed")             \
    X(STALLS, "stalls of writers")                               \
    X(FLUSHES, "flushes")                                        \
    X(EXPORTS, "exports of the counters")

typedef enum soak_count {
#define SOAK_COUNT_CONSTANT(name, text) SOAK_COUNT_##name,
    SOAK_COUNT_MAP(SOAK_COUNT_CONSTANT)
#undef SOAK_COUNT_CONSTANT
        SOAK_COUNT_COUNT
} soak_count;

void
soak_count_add(soak_count what, uint64_t more);
uint64_t
soak_count_get(soak_count what);
const char *
soak_count_text(soak_count what);

/** Bytes of all buckets so far, and what they hold now. */
typedef struct soak_volume {
    uint64_t bytes_in;
    uint64_t flushed_bytes;
    uint64_t compact_read_bytes;
    uint64_t compact_written_bytes;
    uint64_t stall_ns;
} soak_volume;

/** What a bucket is opened with; borrowed until it is closed. */
typedef struct soak_surroundings {
    const sinter_env *env; /* with bad weather */
    sinter_scheduler *scheduler;
    sinter_write_pool *pool; /* shared by the buckets of one writer; NULL: each its own buffer */
} soak_surroundings;

/** Owned by one writer; what is marked shared may be used by any thread. */
typedef struct soak_bucket {
    uint32_t number;
    char name[16];
    char dir[400];
    soak_model model; /* shared */
    soak_random random;
    soak_catalog catalog; /* as it was last swapped in, or read */
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_increment *increments[SOAK_INCREMENTS_MAX]; /* prepared, not committed */
    uint64_t moments[SOAK_INCREMENTS_MAX];
    size_t increment_count;
    uint64_t flushes; /* as last seen */
    uint64_t rows;    /* written since it was opened */
    uint32_t failures_in_a_row;
    bool is_plain; /* next time it is opened: no tiny budget */
    soak_surroundings around;
    pthread_rwlock_t door; /* guards what follows: shared users hold it while they use it */
    sinter_merge_tree *tree;
    unsigned tree_number;
    /* shared, without the door */
    atomic_uint
        removing_tree;   /* the last one that removed files: sets of those before can't know */
    atomic_uint holders; /* sets of the present tree or older ones that readers hold */
    soak_volume volume;  /* of trees that are closed; for the owner */
} soak_bucket;

void
soak_bucket_init(soak_bucket *bucket, uint32_t number, const char *base_dir, uint64_t seed,
                 uint32_t key_count);
void
soak_bucket_fini(soak_bucket *bucket);

/** Open from the catalog, which is made if there is none; check the directory (unless readers hold
 *  sets) and everything the bucket holds. Calm. False: the power is off, it stays closed. */
bool
soak_bucket_open(soak_bucket *bucket, const soak_surroundings *around);

/** Close without a commit, if it is open. */
void
soak_bucket_close(soak_bucket *bucket);

/** One random thing that a writer does to an open bucket; it may be closed then, with the power
 * off.
 */
void
soak_bucket_step(soak_bucket *bucket);

/** Read all, and compare. Calm. False: the power is off. */
bool
soak_bucket_verify(soak_bucket *bucket, const char *what);

/** Flush, prepare, swap the catalog, tell the tree. True: it was committed. */
bool
soak_bucket_commit(soak_bucket *bucket);

/** Add what the open tree has counted to `out`, and its gauges. Shared. */
void
soak_bucket_metrics(soak_bucket *bucket, sinter_bucket_metrics *out);

#endif
