/*
 * Columns of Arrow as values of Paimon types.
 */
#ifndef SINTER_TABLE_COLUMNAR_ROWS_H
#define SINTER_TABLE_COLUMNAR_ROWS_H

#include "format/columnar.h"
#include "sinter/type.h"

/** How the values of one column are stored. */
typedef enum sinter__cell_form {
    SINTER__CELL_BITS,
    SINTER__CELL_INT8,
    SINTER__CELL_INT16,
    SINTER__CELL_INT32,
    SINTER__CELL_INT64,
    SINTER__CELL_UINT32, /* the bits of a float */
    SINTER__CELL_UINT64,
    SINTER__CELL_DECIMAL,
    SINTER__CELL_BYTES,
    SINTER__CELL_FIXED_BYTES,
    SINTER__CELL_TIME
} sinter__cell_form;

/** A column of a file whose values are wanted as a type. Plain memory; copies are good. Immutable.
 */
typedef struct sinter__cells {
    sinter_type type;
    int32_t form;       /* sinter__cell_form */
    int32_t width;      /* SINTER__CELL_FIXED_BYTES */
    int64_t per_second; /* SINTER__CELL_TIME: units of a timestamp in a second */
    bool is_padded;     /* CHAR in ORC: blanks at the end are none of the value's */
} sinter__cells;

/**
 * Prepare to read a column.
 *
 * @param kind   sinter__columnar_kind of the file
 * @param field  the column in the file's schema; not kept
 * @param type   its type in the schema that the file was written with
 * @return       SINTER_OK, SINTER_E_UNSUPPORTED (a nested type, column and type named),
 *               SINTER_E_CORRUPT (the file's column is none of this type, both named)
 */
sinter_status
sinter__cells_bind(int32_t kind, const struct ArrowSchema *field, const sinter_type *type,
                   sinter__cells *out, sinter_error *err);

/**
 * One value.
 *
 * @param array  the column in a batch, as batch_export() gives it; `row` < its length
 * @param out    bytes point into the array
 */
void
sinter__cells_get(const sinter__cells *cells, const struct ArrowArray *array, int64_t row,
                  sinter_datum *out);

#endif
