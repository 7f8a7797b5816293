/*
 * The data files of a snapshot, by partition and bucket (table-layout.md 6.3).
 */
#ifndef SINTER_TABLE_LIVE_FILES_H
#define SINTER_TABLE_LIVE_FILES_H

#include "sinter/table.h"
#include "sst/scratch.h"
#include "table/entry_filter.h"

/** The files of a bucket, in the order of the manifests. */
typedef struct sinter__bucket_files {
    sinter_bytes partition; /* a row with its arity in front */
    int32_t bucket;
    int32_t total_buckets; /* of the first file */
    /* NULL where entries have no statistics (entry_filter.h): see sinter__live_files_unfold() */
    const sinter__manifest_entry *const *entries;
    size_t count;
    size_t first; /* of its entries among those of all buckets */
} sinter__bucket_files;

/** All live files of a snapshot. Immutable. */
typedef struct sinter__live_files sinter__live_files;

/**
 * Read them.
 *
 * @param out  release with sinter__live_files_destroy()
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget), SINTER_E_CORRUPT (also a
 *             file that is deleted and was never there), SINTER_E_NOT_FOUND, SINTER_E_UNSUPPORTED
 *             (a version or format of a manifest), SINTER_E_IO
 */
sinter_status
sinter__live_files_read(const sinter_table *table, const sinter_snapshot *snapshot,
                        sinter__live_files **out, sinter_error *err);

/** What reading them took. */
typedef struct sinter__live_files_counters {
    uint64_t manifests_read;
    uint64_t manifests_skipped;
} sinter__live_files_counters;

/**
 * Read those that are wanted. Manifests are read side by side on the executor; what comes out, and
 * what fails first, is the same for any number of threads.
 *
 * @param filter        NULL: all
 * @param counters_out  may be NULL
 * @return              as above; entries that aren't wanted are not checked against each other
 */
sinter_status
sinter__live_files_read_some(const sinter_table *table, const sinter_snapshot *snapshot,
                             const sinter__entry_filter *filter, sinter__live_files **out,
                             sinter__live_files_counters *counters_out, sinter_error *err);

/** Release; takes NULL. */
void
sinter__live_files_destroy(sinter__live_files *files);

/** Buckets in the order of their partitions' bytes, then of their numbers. */
const sinter__bucket_files *
sinter__live_files_buckets(const sinter__live_files *files, size_t *count_out);

/**
 * Have the entries of a bucket, whichever form they are kept in.
 *
 * @param bucket  one of sinter__live_files_buckets()
 * @param room    takes them where they are kept without statistics; until its next use
 * @param out     the bucket with its entries
 * @return        SINTER_OK; SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget)
 */
sinter_status
sinter__live_files_unfold(const sinter__live_files *files, const sinter__bucket_files *bucket,
                          sinter__scratch *room, sinter__bucket_files *out, sinter_error *err);

#endif
