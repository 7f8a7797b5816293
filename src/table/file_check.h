/*
 * Is a data file what its metadata says?
 */
#ifndef SINTER_TABLE_FILE_CHECK_H
#define SINTER_TABLE_FILE_CHECK_H

#include "table/manifest_entry.h"
#include "table/row_place.h"
#include "table/scan_columns.h"
#include "table/table.h"

/** What checking files written with one schema takes. */
typedef struct sinter__checked_schema {
    struct sinter__checked_schema *next;
    int64_t id;
    sinter__table_options options;
    sinter__scan_columns columns;
    sinter__row_place place;
    bool has_place; /* rows can be asked for their bucket */
} sinter__checked_schema;

/** Checks files. Zeroed with `table` set; release with sinter__file_checker_fini(). Confined. */
typedef struct sinter__file_checker {
    sinter_table *table;
    sinter__checked_schema *schemas;
    uint64_t rows;                   /* read so far */
    bool (*is_cancelled)(void *ctx); /* NULL: never */
    void *cancel_ctx;
} sinter__file_checker;

void
sinter__file_checker_fini(sinter__file_checker *self);

/**
 * Check one.
 *
 * @param path          of the file
 * @param is_changelog  keys may come twice and in any order
 * @return              SINTER_OK; SINTER_E_CORRUPT: the first thing that isn't as it should be;
 *                      SINTER_E_CANCELLED, failures of opening and reading
 */
sinter_status
sinter__file_check(sinter__file_checker *checker, const sinter__manifest_entry *entry,
                   const char *path, bool is_changelog, sinter_error *err);

/** The encoded key of a row of metadata, appended to `out`.
 *  @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT */
sinter_status
sinter__metadata_key_encode(const sinter__scan_columns *columns, sinter_bytes row, sinter_text *out,
                            sinter_error *err);

#endif
