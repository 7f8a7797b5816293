/*
 * What a table can't be made of: the rules by which Paimon refuses a schema.
 */
#ifndef SINTER_TABLE_SCHEMA_CHECK_H
#define SINTER_TABLE_SCHEMA_CHECK_H

#include "table/table_options.h"

/** Formats of data files. Paimon knows no others. */
typedef enum sinter__data_format {
    SINTER__FORMAT_PARQUET,
    SINTER__FORMAT_AVRO,
    SINTER__FORMAT_ORC,
    SINTER__FORMAT_SST
} sinter__data_format;

/** Take the next of names that are parted by commas, without the blanks around it.
 *  @return false: there is none left */
bool
sinter__name_list_next(const char **at, sinter_bytes *out);

/** Is the name the text? */
bool
sinter__name_is(sinter_bytes name, const char *text);

/**
 * Check a schema that is to be written.
 *
 * @param schema  its row type has the primary key
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID, SINTER_E_UNSUPPORTED: column, option
 *                or type and the rule
 */
sinter_status
sinter__schema_check(const sinter_env *env, const sinter_schema *schema, sinter_error *err);

#endif
