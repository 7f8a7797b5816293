/*
 * Which small files of an append table without buckets are joined (append-compaction.md 2 to 5):
 * rounds of scanning snapshots, and files of each partition that wait until there are enough.
 */
#ifndef SINTER_APPEND_COORDINATOR_H
#define SINTER_APPEND_COORDINATOR_H

#include "sinter/env.h"

/** A file. `name` and `carried` are borrowed as long as it waits. */
typedef struct sinter__append_file {
    sinter_bytes name;
    uint64_t bytes;
    uint64_t rows;
    const void *carried; /* the caller's */
} sinter__append_file;

/** The deletion vector of a file. */
typedef struct sinter__append_vector {
    bool has;
    int64_t cardinality;     /* -1: unknown */
    sinter_bytes index_file; /* that holds it */
} sinter__append_vector;

/** How files are chosen. */
typedef struct sinter__append_limits {
    uint64_t target_bytes;
    uint64_t small_bytes; /* files below it are small */
    uint64_t open_file_cost;
    uint64_t file_num_min;
    uint64_t file_num_limit; /* files taken in a round */
    double delete_ratio;
    bool has_vectors;
} sinter__append_limits;

/** What a coordinator is told of a table. */
typedef struct sinter__append_source {
    void *ctx;
    /** Id of the newest snapshot; SINTER_END: there is none. */
    sinter_status (*latest)(void *ctx, int64_t *out, sinter_error *err);
    /** Id of the oldest one. */
    sinter_status (*earliest)(void *ctx, int64_t *out, sinter_error *err);
    /** Begin with all live files of a snapshot, or those that it added; SINTER_END: it isn't there.
     */
    sinter_status (*open)(void *ctx, int64_t id, bool is_delta, sinter_error *err);
    /** The next file, which was not deleted by this snapshot; SINTER_END. */
    sinter_status (*next)(void *ctx, sinter_bytes *partition, sinter__append_file *file,
                          sinter_error *err);
    /** The vector of a file in the newest snapshot. NULL: tables have none. */
    sinter_status (*vector)(void *ctx, sinter_bytes partition, const sinter__append_file *file,
                            sinter__append_vector *out, sinter_error *err);
} sinter__append_source;

/** A coordinator: one a table. Confined. */
typedef struct sinter__append_coordinator sinter__append_coordinator;

/** Files to be joined, in the order in which they are read. Lives for the call. */
typedef struct sinter__append_task {
    sinter_bytes partition;
    const sinter__append_file *files;
    size_t count;
    bool is_aged;     /* fewer than a bin asks for, but they waited long enough */
    bool has_vectors; /* some of them have one */
} sinter__append_task;

/**
 * Make one.
 * @param source        borrowed until destroy
 * @param is_streaming  go on with snapshots that come later; else the newest one is all
 * @return              SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__append_coordinator_create(const sinter_env *env, const sinter__append_limits *limits,
                                  const sinter__append_source *source, bool is_streaming,
                                  sinter__append_coordinator **out, sinter_error *err);

/** Release; takes NULL. */
void
sinter__append_coordinator_destroy(sinter__append_coordinator *self);

/** Tell of files of a partition, whose name is copied. Those that need nothing are left out.
 *  @return SINTER_OK, SINTER_E_NOMEM, what the source gives */
sinter_status
sinter__append_coordinator_notify(sinter__append_coordinator *self, sinter_bytes partition,
                                  const sinter__append_file *files, size_t count,
                                  sinter_error *err);

/** Make tasks of what waits, partition by partition. @return SINTER_OK, SINTER_E_NOMEM, what the
 *  source and `each` give */
sinter_status
sinter__append_coordinator_plan(sinter__append_coordinator *self,
                                sinter_status (*each)(void *ctx, const sinter__append_task *task),
                                void *ctx, sinter_error *err);

/** One round: scan, and plan if there was news. @return as above; SINTER_END: not streaming, and
 * all was scanned */
sinter_status
sinter__append_coordinator_run(sinter__append_coordinator *self,
                               sinter_status (*each)(void *ctx, const sinter__append_task *task),
                               void *ctx, sinter_error *err);

/** A partition that is remembered, by its number in the order of names; false past the last. */
typedef struct sinter__append_waiting {
    sinter_bytes partition;
    uint32_t age;
    const sinter__append_file *files;
    size_t count;
} sinter__append_waiting;

bool
sinter__append_coordinator_waiting(const sinter__append_coordinator *self, size_t index,
                                   sinter__append_waiting *out);

#endif
