/*
 * Tables that track rows: compacted files keep the id of each row, and the snapshot that it came
 * with, in two more columns (table-layout.md 8.3, 12.1).
 */
#ifndef SINTER_TABLE_ROW_TRACKING_H
#define SINTER_TABLE_ROW_TRACKING_H

#include "sinter/table.h"
#include "table/data_reader.h"
#include "table/manifest_entry.h"

/** A schema with the columns `_ROW_ID` and `_SEQUENCE_NUMBER` at its end. Zeroed is empty. */
typedef struct sinter__tracked_schema {
    sinter_schema schema;
    sinter_row_type *row_type;
} sinter__tracked_schema;

/**
 * Make one.
 * @param base  borrowed as long as it
 * @param out   release with sinter__tracked_schema_fini()
 * @return      SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a column has such a name already)
 */
sinter_status
sinter__tracked_schema_init(const sinter_env *env, const sinter_schema *base,
                            sinter__tracked_schema *out, sinter_error *err);

/** Release. */
void
sinter__tracked_schema_fini(sinter__tracked_schema *self);

/** Does a file have the two columns? */
bool
sinter__has_tracking_columns(const sinter__data_file *file);

/** What rows of a file get that have no id or sequence of their own, as columns `at` and `at + 1`
 *  of what is read. */
sinter__row_defaults
sinter__row_defaults_of(const sinter__data_file *file, size_t at);

#endif
