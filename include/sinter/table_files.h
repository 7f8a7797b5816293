/*
 * The data files of a table's snapshots, for those who want to look at them.
 */
#ifndef SINTER_TABLE_FILES_H
#define SINTER_TABLE_FILES_H

#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A data file. Strings live for the call that it is given to. */
typedef struct sinter_table_file {
    uint32_t struct_size;
    int32_t bucket;        /* -2: postponed */
    int32_t total_buckets; /* when it was written; -1: without buckets, or dynamic ones */
    int32_t level;
    const char *partition; /* its directory, "dt=2024-01-01/hr=5"; "" without partition columns */
    const char *file_name;
    const char *path;
    uint64_t file_size;
    uint64_t row_count;
    int64_t delete_row_count; /* rows that are deletes; -1: not known */
    int64_t vector_row_count; /* rows that a deletion vector marks; -1: it has none, or of an old
                                 one the number isn't known */
    const char *min_key;      /* for people; NULL: the table has no primary key */
    const char *max_key;
    int64_t min_sequence_number;
    int64_t max_sequence_number;
    int64_t schema_id;
    int64_t creation_time_ms; /* the writer's wall clock as if it were UTC; 0: not known */
    int32_t file_source;      /* sinter_file_source */
    uint32_t has_vector;      /* 1: a deletion vector belongs to it */
    uint64_t reserved[4];
} sinter_table_file;

/**
 * Call `each` with the live files of a snapshot, by partition and bucket.
 *
 * @param snapshot  NULL: the newest; a table without any has no files
 * @param each      a failure of it ends the walk and is returned
 * @return          SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget), SINTER_E_CORRUPT,
 *                  SINTER_E_NOT_FOUND (metadata that is gone), SINTER_E_UNSUPPORTED, SINTER_E_IO,
 *                  what `each` gave
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_each_file(sinter_table *table, const sinter_snapshot *snapshot,
                       sinter_status (*each)(void *ctx, const sinter_table_file *file), void *ctx,
                       sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
