/*
 * Where a row belongs: its partition and its bucket. Source: table-layout.md 5.1, 5.2.
 */
#ifndef SINTER_TABLE_ROW_PLACE_H
#define SINTER_TABLE_ROW_PLACE_H

#include "base/arena.h"
#include "table/table_options.h"

/** Finds places. Confined. */
typedef struct sinter__row_place {
    sinter__arena arena;
    sinter_row_type *partition_type; /* NULL: no partitions */
    size_t *partition_columns;       /* positions in the schema */
    sinter_row_type *bucket_type;    /* NULL: one bucket */
    size_t *bucket_columns;
    size_t bucket_column_count;
    int32_t buckets;
    bool is_modulo; /* bucket-function.type=mod */
    sinter_datum *values;
    sinter_text partition;
    sinter_text key;
} sinter__row_place;

/**
 * Set up.
 *
 * @param out     zeroed with `arena.env` set; release with sinter__row_place_fini(), after a
 * failure too
 * @param schema  with fixed buckets, or without buckets and key; borrowed
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a column that isn't there),
 *                SINTER_E_UNSUPPORTED (a function of buckets, or its type)
 */
sinter_status
sinter__row_place_init(sinter__row_place *out, const sinter_schema *schema,
                       const sinter__table_options *options, sinter_error *err);

void
sinter__row_place_fini(sinter__row_place *self);

/**
 * Find the place of a row.
 *
 * @param values         one per column of the schema
 * @param partition_out  a row with its arity in front, until the next call
 * @return               SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a value, column named)
 */
sinter_status
sinter__row_place_find(sinter__row_place *self, const sinter_datum *values,
                       sinter_bytes *partition_out, int32_t *bucket_out, sinter_error *err);

#endif
