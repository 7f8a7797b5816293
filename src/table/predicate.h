/*
 * Predicates bound to the columns of a schema: whether they hold for a row, and whether they may
 * hold for any of the rows that bounds are known of.
 */
#ifndef SINTER_TABLE_PREDICATE_H
#define SINTER_TABLE_PREDICATE_H

#include "base/arena.h"
#include "sinter/predicate.h"

/** A bound predicate. Immutable: any number of threads. */
typedef struct sinter__predicate sinter__predicate;

/** What is known of a column's values in some rows. Zeroed: nothing. */
typedef struct sinter__column_bounds {
    bool has_min;
    bool has_max;
    bool has_null_count;
    sinter_datum min; /* no value is smaller; of the column's type */
    sinter_datum max; /* none is greater; of a FLOAT or DOUBLE but NaN */
    int64_t null_count;
    int64_t row_count; /* with `has_null_count` */
} sinter__column_bounds;

/**
 * Bind a predicate.
 *
 * @param arena     takes what it is made of
 * @param row_type  columns by name; its types' parts are borrowed as long as the result
 * @return          SINTER_OK, SINTER_E_NOMEM,
 *                  SINTER_E_INVALID      a column that isn't there, a value that is none of its
 *                                        type, a wrong number of values, too deep, no such op
 *                  SINTER_E_UNSUPPORTED  a comparison of a nested type, or VARIANT or BLOB
 */
sinter_status
sinter__predicate_bind(sinter__arena *arena, const sinter_predicate *given,
                       const sinter_row_type *row_type, const sinter__predicate **out,
                       sinter_error *err);

/** Make one that holds where both do. Either may be NULL, which holds. */
sinter_status
sinter__predicate_both(sinter__arena *arena, const sinter__predicate *a, const sinter__predicate *b,
                       const sinter__predicate **out, sinter_error *err);

/** Mark the columns that it looks at: `marks` has one for each of the row type. */
void
sinter__predicate_mark(const sinter__predicate *self, bool *marks);

/** Does it hold? `values` has one for each column of the row type; those that aren't marked are
 *  not looked at. */
bool
sinter__predicate_holds(const sinter__predicate *self, const sinter_datum *values);

/** May it hold for one of the rows with these bounds, one for each column of the row type? */
bool
sinter__predicate_may_hold(const sinter__predicate *self, const sinter__column_bounds *bounds);

/** Order of two values of an atomic type, neither null. */
int
sinter__datum_compare(const sinter_type *type, const sinter_datum *a, const sinter_datum *b);

#endif
