/*
 * Is a table sound? Every file that a snapshot names is opened and compared with what is said of
 * it.
 */
#ifndef SINTER_TABLE_CHECK_H
#define SINTER_TABLE_CHECK_H

#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SINTER_CHECK_ALL = 1u << 0,          /* all snapshots and tags of the branch, not the newest */
    SINTER_CHECK_METADATA_ONLY = 1u << 1 /* data files must be there and have their size */
};

/** What to check. Zeroed with struct_size set: the newest snapshot, all of it. */
typedef struct sinter_table_check_options {
    uint32_t struct_size;
    uint32_t flags;                  /* SINTER_CHECK_* */
    const sinter_snapshot *snapshot; /* this one alone; NULL: as the flags say. Borrowed */
    /** Told of every fault: its class, file, offset and a sentence; lives for the call. NULL:
     *  faults are only counted. */
    void (*fault)(void *ctx, sinter_status status, const sinter_error *err);
    /** Told now and then how much was read. NULL: nobody asks. */
    void (*progress)(void *ctx, uint64_t bytes, uint64_t rows);
    void *ctx;
    bool (*is_cancelled)(void *ctx); /* NULL: never */
    void *cancel_ctx;
} sinter_table_check_options;

/** What was looked at. Files that several snapshots name count once. */
typedef struct sinter_table_check_result {
    uint32_t struct_size;
    uint32_t reserved32;
    uint64_t snapshots;
    uint64_t lists; /* of manifests, and index manifests */
    uint64_t manifests;
    uint64_t data_files; /* changelog files included */
    uint64_t index_files;
    uint64_t rows;  /* read */
    uint64_t bytes; /* of data files */
    uint64_t faults;
    uint64_t reserved[4];
} sinter_table_check_result;

/**
 * Check a table. Nothing is written. What is found:
 *
 * - a file that a snapshot names is missing or has another size: lists, manifests, data files and
 *   what lies beside them, index files, statistics
 * - manifests: numbers of entries, ranges of buckets and levels; a file added twice, or deleted and
 *   never added; record counts of the snapshot
 * - data files: damage that the format can tell, numbers of rows and deletes, first and last key,
 *   order of keys, sequence numbers, partition and bucket of every row, texts that are no UTF-8,
 *   values outside of the statistics, null counts; files of a level above 0 that overlap
 * - deletion vectors: checksums, cardinality, positions, vectors of files that aren't there
 *
 * Of each data file the first fault is told.
 *
 * @param table    borrowed
 * @param options  NULL: defaults
 * @param out      its struct_size must be set
 * @return         SINTER_OK, also when faults were found; SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the
 *                 budget), SINTER_E_CANCELLED, SINTER_E_INVALID (arguments)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_check(sinter_table *table, const sinter_table_check_options *options,
                   sinter_table_check_result *out, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
