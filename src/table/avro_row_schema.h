/*
 * Avro schemas of data files, as Paimon words them (table-layout.md 4, 9.1).
 */
#ifndef SINTER_TABLE_AVRO_ROW_SCHEMA_H
#define SINTER_TABLE_AVRO_ROW_SCHEMA_H

#include "sinter/type.h"

/**
 * Append the schema of a file with these columns.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a name that is no UTF-8),
 *         SINTER_E_UNSUPPORTED (a column's type, both named)
 */
sinter_status
sinter__avro_row_schema(const sinter_field *fields, size_t count, sinter_text *out,
                        sinter_error *err);

#endif
