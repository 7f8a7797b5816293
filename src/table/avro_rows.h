/*
 * Records of Avro data files as values of columns (table-layout.md 9.1).
 */
#ifndef SINTER_TABLE_AVRO_ROWS_H
#define SINTER_TABLE_AVRO_ROWS_H

#include "format/avro_codec.h"
#include "sinter/type.h"

/** Decodes the records of one file. Confined. */
typedef struct sinter__avro_rows sinter__avro_rows;

/**
 * Compile a decoder for some columns of a file.
 *
 * @param schema   of the file, which must outlive the decoder
 * @param columns  names and types as the file has them, `count` of them; the types' parts are
 *                 borrowed. A field that is there twice in `columns` is given twice
 * @param out      release with sinter__avro_rows_destroy()
 * @return         SINTER_OK, SINTER_E_NOMEM,
 *                 SINTER_E_CORRUPT      the file has no such column, or one of another type
 *                 SINTER_E_UNSUPPORTED  VARIANT and BLOB, by name
 */
sinter_status
sinter__avro_rows_create(const sinter_env *env, const sinter__avro_schema *schema,
                         const sinter_column *columns, size_t count, sinter__avro_rows **out,
                         sinter_error *err);

/** Release; takes NULL. */
void
sinter__avro_rows_destroy(sinter__avro_rows *rows);

/**
 * From now on values are checked as before, but only some are given, and no nested ones are made:
 * of those is told only whether they are null.
 *
 * @param kept  one per column, for the call: is its value given? Others may be or not. NULL: all
 */
void
sinter__avro_rows_keep(sinter__avro_rows *rows, const bool *kept);

/**
 * Decode one record.
 *
 * @param cursor  moved behind the record
 * @param values  one per column; bytes point into the block, nested values into the decoder, until
 *                its next record
 * @return        SINTER_OK; SINTER_E_CORRUPT with the column's name; SINTER_E_NOMEM,
 *                SINTER_E_TOO_LARGE (a nested value)
 */
sinter_status
sinter__avro_rows_next(sinter__avro_rows *rows, sinter__avro_cursor *cursor, sinter_datum *values,
                       sinter_error *err);

/** Decode the first fields of a record; their columns' values are given, the others stay. Else as
 *  sinter__avro_rows_next(). */
sinter_status
sinter__avro_rows_head(sinter__avro_rows *rows, sinter__avro_cursor *cursor, size_t field_count,
                       sinter_datum *values, sinter_error *err);

#endif
