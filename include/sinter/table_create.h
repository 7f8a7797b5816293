/*
 * Making tables: a directory with the first schema in it. Source: table-layout.md 2.
 */
#ifndef SINTER_TABLE_CREATE_H
#define SINTER_TABLE_CREATE_H

#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Read what a table is to be made of: `{"fields":[...],"partitionKeys":[...],"primaryKeys":[...],
 * "options":{...},"comment":"..."}`, as schema files have it; `fields` is needed. Other members of
 * such files are passed over. Ids of fields may be left out.
 *
 * @param source  name for errors; NULL: none
 * @param text    borrowed for the call
 * @param out     release with sinter_schema_destroy()
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE,
 *                SINTER_E_INVALID  (line, column, member) JSON, a type, a name twice, a key that is
 *                                  no column
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_schema_parse(const sinter_env *env, const char *source, sinter_bytes text,
                    sinter_schema **out, sinter_error *err);

/** Release a schema of sinter_schema_parse(); takes NULL. */
SINTER_API void
sinter_schema_destroy(sinter_schema *schema);

/**
 * Make a table: write `schema/schema-0`, in a directory that is made if it isn't there.
 *
 * Columns of the primary key become NOT NULL. Options `primary-key` and `partition` name columns as
 * the lists do, and aren't kept as options. Without `file.format` a table is one of Parquet files
 * where libsinter_columnar can be loaded, else `file.format` is set to `avro`.
 *
 * @param env     its clock tells when the table was made
 * @param config  where; a branch can't be made
 * @param schema  row type, keys, options and comment count, nothing else. Borrowed for the call
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_NO_SPACE, SINTER_E_IO,
 *                SINTER_E_EXISTS       there is a schema already
 *                SINTER_E_INVALID      what Paimon refuses as well, by name: a partition column
 *                                      that the primary key of a table with fixed buckets lacks,
 *                                      a name of a system column, `bucket-key` without buckets...
 *                SINTER_E_UNSUPPORTED  a type that the format, a key or a partition can't have; a
 *                                      URI that isn't "file:"
 * After a failure nothing is left behind.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_create(const sinter_env *env, const sinter_table_config *config,
                    const sinter_schema *schema, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
