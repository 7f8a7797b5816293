/*
 * Partitions of a table: rows of metadata as directories, and how they compare.
 */
#ifndef SINTER_TABLE_PARTITIONS_H
#define SINTER_TABLE_PARTITIONS_H

#include "table/manifest_entry.h"
#include "table/manifest_list.h"
#include "table/table_options.h"

/** The partition columns of a table. Zeroed with `arena.env` set is none. Confined. */
typedef struct sinter__partitions {
    sinter__arena arena;
    size_t count;
    sinter_column *columns;
    sinter_field *fields;      /* the same */
    sinter_key_codec **codecs; /* one a column: the order of its values */
    sinter__partition_names names;
    sinter_datum *values; /* of the row that was read last */
    sinter_text key;      /* scratch */
} sinter__partitions;

/**
 * Find them.
 *
 * @param out      release with sinter__partitions_fini(), after a failure too
 * @param schema   and options: borrowed as long as the result
 * @return         SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a type without an order)
 */
sinter_status
sinter__partitions_init(sinter__partitions *out, const sinter_schema *schema,
                        const sinter__table_options *options, sinter_error *err);

void
sinter__partitions_fini(sinter__partitions *self);

/** Append the directory of a partition, "a=1/b=x"; nothing without columns.
 *  @return as sinter__partition_path(), SINTER_E_CORRUPT (no such row) */
sinter_status
sinter__partitions_path(sinter__partitions *self, sinter_bytes row, sinter_text *out,
                        sinter_error *err);

/**
 * Statistics of the partitions of some entries, as a manifest list has them.
 * @param arena  gets what they point to
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT, SINTER_E_INVALID (values that no
 *               column of the type has)
 */
sinter_status
sinter__partitions_stats(sinter__partitions *self, const sinter__manifest_entry *const *entries,
                         size_t count, sinter__arena *arena, sinter__simple_stats *out,
                         sinter_error *err);

/**
 * May a manifest have entries of this partition? What its list doesn't know, it may.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT
 */
sinter_status
sinter__partitions_may_hold(sinter__partitions *self, const sinter__manifest_meta *meta,
                            sinter_bytes row, bool *out, sinter_error *err);

#endif
