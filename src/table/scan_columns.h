/*
 * The columns of a table that a read wants, and those that it needs to merge.
 */
#ifndef SINTER_TABLE_SCAN_COLUMNS_H
#define SINTER_TABLE_SCAN_COLUMNS_H

#include "base/arena.h"
#include "table/data_reader.h"
#include "table/sequence_order.h"
#include "table/table_options.h"

/** Columns of rows while they are read: those that are shown come first. */
typedef struct sinter__scan_columns {
    sinter__arena arena;
    const bool *also; /* in: marks, for each column of the schema, of others to read; NULL: none */
    const sinter_schema *schema;
    sinter_field *fields;
    size_t *positions; /* in the schema */
    size_t count;
    size_t shown_count;
    size_t *keys; /* positions here of the primary key without partition columns */
    size_t key_count;
    size_t *partition_keys; /* positions in the schema */
    size_t *sequences;      /* positions here of the sequence fields */
    size_t sequence_count;
    sinter_key_codec *key_codec; /* NULL: no primary key */
    sinter__sequence_order *order;
    sinter_row_type *shown; /* row type of those that are shown */
    sinter__row_plan plan;
} sinter__scan_columns;

/**
 * Find them.
 *
 * @param out    zeroed with `arena.env` (and `also`, borrowed for the call) set; release with
 * sinter__scan_columns_fini(), after a failure too
 * @param names  `count` columns to show; NULL: all
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a column or sequence field that isn't
 *               there), SINTER_E_UNSUPPORTED (a type that can't be a key)
 */
sinter_status
sinter__scan_columns_init(sinter__scan_columns *out, const sinter_schema *schema,
                          const sinter__table_options *options, const char *const *names,
                          size_t count, sinter_error *err);

void
sinter__scan_columns_fini(sinter__scan_columns *columns);

#endif
