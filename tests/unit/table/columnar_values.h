/*
 * A column of every atomic type, and values for it.
 */
#ifndef SINTER_TESTS_COLUMNAR_VALUES_H
#define SINTER_TESTS_COLUMNAR_VALUES_H

#include "table/columnar_type.h"

enum { VALUE_COLUMNS = 26 };

/** The columns: ids 0, 1, ...; names "c0", "c1", ... */
void
values_fields(sinter__columnar_field out[VALUE_COLUMNS]);

/** A row that follows from its number: nulls, extremes, and values between. Strings are static. */
void
values_row(uint64_t row, sinter_datum out[VALUE_COLUMNS]);

/** Is it the same value of this type? */
bool
values_equal(const sinter_type *type, const sinter_datum *left, const sinter_datum *right);

#endif
