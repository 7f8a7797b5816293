/*
 * Rows of metadata as bounds of columns: partitions, keys and statistics (table-layout.md 5.1, 7).
 * What can't be read is not known: bounds save time, and whoever needs the row itself tells what is
 * wrong with it.
 */
#ifndef SINTER_TABLE_METADATA_ROW_H
#define SINTER_TABLE_METADATA_ROW_H

#include "doc/binary.h"
#include "table/predicate.h"
#include "table/simple_stats.h"

/** Open a row that has its arity, `count`, in front. @return SINTER_OK, SINTER_E_CORRUPT */
sinter_status
sinter__metadata_row_open(sinter_bytes row, size_t count, sinter__slots *out, sinter_error *err);

/** Bounds of the partition columns, at their positions in the schema, of rows of a partition. */
void
sinter__partition_bounds(const sinter_schema *schema, const size_t *partition_keys,
                         sinter_bytes partition, sinter__column_bounds *bounds);

/** Where statistics have a column. */
typedef struct sinter__stats_column {
    const sinter_type *type; /* as it was written */
    size_t arity;            /* of the statistics' rows */
    size_t index;
    int64_t row_count;
} sinter__stats_column;

/** Bounds of a column by statistics. */
void
sinter__stats_bounds(const sinter__simple_stats *stats, const sinter__stats_column *column,
                     sinter__column_bounds *out);

#endif
