/*
 * Columns of Arrow as values of Paimon types.
 */
#ifndef SINTER_TABLE_COLUMNAR_ROWS_H
#define SINTER_TABLE_COLUMNAR_ROWS_H

#include "format/columnar.h"
#include "table/nest.h"

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
    SINTER__CELL_TIME,
    SINTER__CELL_FIELDS, /* ROW */
    SINTER__CELL_LIST,   /* ARRAY */
    SINTER__CELL_PAIRS   /* MAP, MULTISET */
} sinter__cell_form;

/** A column of a file, or a part of one, whose values are wanted as a type. Confined: nested values
 *  are made in it. */
typedef struct sinter__cells sinter__cells;
struct sinter__cells {
    sinter_type type;
    int32_t form;         /* sinter__cell_form */
    int32_t width;        /* SINTER__CELL_FIXED_BYTES */
    int64_t per_second;   /* SINTER__CELL_TIME: units of a timestamp in a second */
    bool is_padded;       /* CHAR in ORC: blanks at the end are none of the value's */
    sinter__cells *parts; /* of a nested type: fields, element, or key and value */
    sinter__nest *nest;   /* the parent's part, or the column's own */
};

/**
 * Prepare to read a column.
 *
 * @param arena  takes the parts; must outlive `out`
 * @param kind   sinter__columnar_kind of the file
 * @param field  the column in the file's schema; not kept
 * @param type   its type in the schema that the file was written with; its parts are borrowed as
 *               long as `out`
 * @param out    end with sinter__cells_fini(), after a failure too
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a type that is too deep, or of
 *               unknown parts), SINTER_E_CORRUPT (the file's column is none of this type); the
 *               column is named
 */
sinter_status
sinter__cells_bind(sinter__arena *arena, int32_t kind, const struct ArrowSchema *field,
                   const sinter_type *type, sinter__cells *out, sinter_error *err);

/** Takes one that is zeroed. */
void
sinter__cells_fini(sinter__cells *cells);

/**
 * One value.
 *
 * @param array  the column in a batch, as batch_export() gives it; `row` < its length
 * @param out    bytes point into the array, those of nested values into `cells` until the next call
 * @return       SINTER_OK; SINTER_E_NOMEM, SINTER_E_TOO_LARGE (a nested value)
 */
sinter_status
sinter__cells_get(const sinter__cells *cells, const struct ArrowArray *array, int64_t row,
                  sinter_datum *out, sinter_error *err);

#endif
