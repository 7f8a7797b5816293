/*
 * Directories of partitions and buckets (table-layout.md 1 and 1.1).
 */
#ifndef SINTER_TABLE_PARTITION_PATH_H
#define SINTER_TABLE_PARTITION_PATH_H

#include "sinter/type.h"

/** How a table names its partitions. */
typedef struct sinter__partition_names {
    const char *default_name; /* partition.default-name */
    bool legacy;              /* partition.legacy-name: internal values instead of text */
} sinter__partition_names;

/** Append a text with the characters escaped that don't belong into a directory's name. */
sinter_status
sinter__partition_escape(sinter_bytes text, sinter_text *out, sinter_error *err);

/** Append what an escaped text stands for; '%' without two hex digits stays itself. */
sinter_status
sinter__partition_unescape(sinter_bytes text, sinter_text *out, sinter_error *err);

/**
 * Append the directory of a partition, "a=1/b=x", nothing without columns.
 *
 * @param columns  names and types of the partition columns, `count` of them
 * @param values   one per column. NULL, empty and blank values share a directory
 * @return         SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a type whose values Paimon gives
 * no name, column named), SINTER_E_INVALID (a value out of its type's range)
 */
sinter_status
sinter__partition_path(const sinter__partition_names *names, const sinter_column *columns,
                       size_t count, const sinter_datum *values, sinter_text *out,
                       sinter_error *err);

/** Append a bucket's directory: "bucket-3", "bucket-postpone" for -2. */
sinter_status
sinter__bucket_path(int32_t bucket, sinter_text *out, sinter_error *err);

#endif
