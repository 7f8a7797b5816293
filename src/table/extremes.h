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

/** Find them among `count` rows from `first` on, which counts from the array's own offset. */
void
sinter__extremes_find(const sinter__cells *cells, const struct ArrowArray *array, int64_t first,
                      int64_t count, sinter__extremes *out);

#endif
