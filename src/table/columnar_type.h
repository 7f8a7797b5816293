/*
 * Paimon types and the columns of Parquet and ORC files that hold them (table-layout.md 9.1).
 */
#ifndef SINTER_TABLE_COLUMNAR_TYPE_H
#define SINTER_TABLE_COLUMNAR_TYPE_H

#include "format/columnar.h"
#include "sinter/type.h"

/** Room for the words of any atomic type in Arrow's C Data Interface. */
#define SINTER__ARROW_FORMAT_MAX 32

/** A column to be written, or to be read as. */
typedef struct sinter__columnar_field {
    const char *name; /* borrowed */
    sinter_type type;
    int64_t id; /* of the field; -1: none */
} sinter__columnar_field;

/**
 * Print the words for a type as it is read from, and written to, files of either format.
 * Timestamps have the coarsest unit that holds their decimals.
 *
 * @return SINTER_OK, SINTER_E_UNSUPPORTED (VARIANT, BLOB, or a nested type, named)
 */
sinter_status
sinter__columnar_type_print(const sinter_type *type, char out[SINTER__ARROW_FORMAT_MAX],
                            sinter_error *err);

/**
 * Make the schema of a file to be written, or of columns to be read as. What is inside of a column
 * with an id has ids too: fields of a ROW their own, elements, keys and values those of
 * table-layout.md 9.3.
 *
 * @param fields  `count` of them, copied
 * @param out     release it by its own function
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (VARIANT, BLOB; column named)
 */
sinter_status
sinter__columnar_schema_make(const sinter_env *env, const sinter__columnar_field *fields,
                             size_t count, struct ArrowSchema *out, sinter_error *err);

/**
 * Are the fields of a ROW in a file's column, which stand in the order of its type, those of the
 * type by name? What isn't nested in the same way is seen by who reads it.
 * @return SINTER_OK, SINTER_E_CORRUPT (both named)
 */
sinter_status
sinter__columnar_check_fields(const struct ArrowSchema *field, const sinter_type *type,
                              sinter_error *err);

#endif
