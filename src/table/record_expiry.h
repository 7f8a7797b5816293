/*
 * Rows that are too old are dropped by compactions (spec/compaction.md 12): options
 * `record-level.expire-time` and `record-level.time-field` of tables with a key.
 */
#ifndef SINTER_TABLE_RECORD_EXPIRY_H
#define SINTER_TABLE_RECORD_EXPIRY_H

#include "sinter/compact.h"
#include "table/scan_columns.h"

/** Which rows are. Zeroed: none. Immutable once it is loaded. */
typedef struct sinter__record_expiry {
    bool is_on;
    sinter_table *table;                 /* of the schemas of files */
    const sinter__scan_columns *columns; /* of rows */
    size_t column;                       /* of the time, in the schema */
    int64_t oldest_s;                    /* what is before it is expired */
} sinter__record_expiry;

/**
 * Find out.
 * @param columns  all of the schema; borrowed, as `table` is
 * @param now_ms   the clock's time
 * @return         SINTER_OK; SINTER_E_INVALID, named: an option's value, or a column that isn't
 *                 there or is neither INT, BIGINT nor TIMESTAMP
 */
sinter_status
sinter__record_expiry_load(sinter_table *table, const sinter__scan_columns *columns, int64_t now_ms,
                           sinter__record_expiry *out, sinter_error *err);

/** As is_expired of a task, whose metadata carries entries of the table: does it hold a row that
 *  is? What isn't known doesn't. */
bool
sinter__record_expiry_of_file(void *self, const sinter_file_meta *file);

/** As keep_record of a task. A row without a time is kept (F27), and so is one that can't be read:
 *  who writes it says so. */
bool
sinter__record_expiry_keeps(void *self, const sinter_batch *batch, uint32_t row);

#endif
