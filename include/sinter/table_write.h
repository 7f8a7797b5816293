/*
 * Writing rows into tables: files of new rows, and the snapshot that names them.
 */
#ifndef SINTER_TABLE_WRITE_H
#define SINTER_TABLE_WRITE_H

#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How to write. Zeroed with struct_size set: one commit of a random user. */
typedef struct sinter_table_write_options {
    uint32_t struct_size;
    bool has_identifier; /* `identifier` counts */
    const char *user;    /* groups commits of a job; NULL: a random one. Copied */
    int64_t identifier;  /* of the commit, grows per user. Not given: one more than the user's last,
                            INT64_MAX for a random user */
    uint64_t buffer_bytes;           /* rows that are held for sorting, of all buckets together; 0:
                                        write-buffer-size of the table */
    const char *spill_dir;           /* a full buffer goes there; NULL: it becomes files. Copied */
    bool (*is_cancelled)(void *ctx); /* asked now and then; NULL: never */
    void *cancel_ctx;
} sinter_table_write_options;

/** What a commit made. */
typedef struct sinter_table_write_result {
    uint32_t struct_size;
    bool was_done;       /* the user had committed this identifier before: nothing was written */
    bool is_empty;       /* there was nothing to commit */
    int64_t snapshot_id; /* -1: none was made */
    int64_t identifier;
    uint64_t rows; /* in the new files */
    uint64_t files;
    uint64_t bytes;
    uint64_t buckets; /* that got files */
    uint64_t reserved[4];
} sinter_table_write_result;

/** Rows on their way into a table. Confined. */
typedef struct sinter_table_writer sinter_table_writer;

/**
 * Begin to write: tables with a primary key and fixed buckets, tables without a key with fixed
 * buckets or without. Partition and bucket of a row are computed as Paimon does it, its sequence
 * number goes on behind those of its bucket. Files of level 0 come where the buffer is full, and at
 * the commit.
 *
 * @param table    refreshed; borrowed until close
 * @param options  NULL: defaults
 * @param out      release with sinter_table_writer_close()
 * @return         SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (an option), failures of reading the
 *                 table's metadata,
 *                 SINTER_E_UNSUPPORTED  by name: dynamic or postponed buckets, a merge engine, a
 *                                       changelog producer, a format, a type
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_writer_open(sinter_table *table, const sinter_table_write_options *options,
                         sinter_table_writer **out, sinter_error *err);

/** Columns of the rows, all of the newest schema; lives as long as the table. */
SINTER_API const sinter_row_type *
sinter_table_writer_row_type(const sinter_table_writer *writer);

/**
 * Add a row. Values that are null get the default of their column.
 *
 * @param kind    sinter_kind; without a primary key it must not retract. Where the table has
 *                `rowkind.field`, that column says it. What `ignore-delete` (retracts) and
 *                `ignore-update-before` (-U) ignore is left out
 * @param values  one per column, copied
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_CANCELLED,
 *                SINTER_E_INVALID    a value, a kind; a partition with another number of buckets
 *                SINTER_E_TOO_LARGE  the row, or the budget
 *                SINTER_E_RETRACT    the merge engine takes no such kind
 *                failures of making files
 * After a failure but SINTER_E_INVALID of this row the writer can only be closed.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_writer_add(sinter_table_writer *writer, uint8_t kind, const sinter_datum *values,
                        sinter_error *err);

/**
 * Make the rows visible: one snapshot of kind APPEND. No rows make no snapshot, unless an
 * identifier was given. The writer can only be closed afterwards.
 *
 * @param out  set after success; struct_size must be set
 * @return     SINTER_OK, failures of making files, and of the commit: SINTER_E_CONFLICT,
 *             SINTER_E_NO_SPACE, SINTER_E_IO. After a failure the table is as before; where it is
 *             not known whether the snapshot was published, its files stay
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_writer_commit(sinter_table_writer *writer, sinter_table_write_result *out,
                           sinter_error *err);

/** Release; takes NULL. What was not committed is gone, its files too. */
SINTER_API void
sinter_table_writer_close(sinter_table_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
