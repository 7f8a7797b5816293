/*
 * Rows of a file, written with an older schema, as rows of the table's (table-layout.md 9.2):
 * columns are matched by field id, also inside of rows; what the file doesn't have is null, what
 * has another type is cast.
 */
#ifndef SINTER_TABLE_EVOLUTION_H
#define SINTER_TABLE_EVOLUTION_H

#include "sinter/type.h"

/** How to get from one schema to the other. Confined. */
typedef struct sinter__evolution sinter__evolution;

/** Some columns of a row type. Borrowed. */
typedef struct sinter__columns {
    const sinter_row_type *row_type;
    const size_t *positions; /* NULL: all, in order */
    size_t count;
} sinter__columns;

/**
 * Find out.
 *
 * @param file   columns that the file has; borrowed as long as the evolution
 * @param table  columns that are wanted; borrowed as long as the evolution
 * @param out    release with sinter__evolution_destroy()
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (types that can't be cast; the
 *               column and both are named)
 */
sinter_status
sinter__evolution_create(const sinter_env *env, const sinter__columns *file,
                         const sinter__columns *table, sinter__evolution **out, sinter_error *err);

/** Release; takes NULL. */
void
sinter__evolution_destroy(sinter__evolution *self);

/** Positions, in the file's row type, of the columns that are needed, each once. */
const size_t *
sinter__evolution_needs(const sinter__evolution *self, size_t *count_out);

/**
 * Make a row.
 *
 * @param values  of the columns that are needed, in their order
 * @param out     one per column that is wanted; bytes point into `values` or into the evolution,
 *                until its next call
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a text that can't be cast, with its
 *                column), SINTER_E_CORRUPT (a nested value)
 */
sinter_status
sinter__evolution_apply(sinter__evolution *self, const sinter_datum *values, sinter_datum *out,
                        sinter_error *err);

#endif
