/*
 * The least and the greatest of some values of a column of Arrow.
 */
#ifndef SINTER_TABLE_EXTREMES_H
#define SINTER_TABLE_EXTREMES_H

#include "table/columnar_rows.h"

/** Where they are. */
typedef struct sinter__extremes {
    int64_t least;    /* its row; -1: there is no value, or values of this type have no order */
    int64_t greatest; /* likewise; NaN is greater than any other number */
    int64_t nulls;
} sinter__extremes;

/** Rows side by side, counted from the array's own offset. */
typedef struct sinter__row_span {
    int64_t first;
    int64_t count;
} sinter__row_span;

/** Find them among some of the rows. */
void
sinter__extremes_find(const sinter__cells *cells, const struct ArrowArray *array,
                      const sinter__row_span *spans, size_t span_count, sinter__extremes *out);

/** Count the nulls among some of the rows, whatever their type is. */
int64_t
sinter__extremes_nulls(const struct ArrowArray *array, const sinter__row_span *spans,
                       size_t span_count);

#endif
