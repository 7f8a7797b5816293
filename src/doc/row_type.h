/*
 * Inside of row types.
 */
#ifndef SINTER_DOC_ROW_TYPE_H
#define SINTER_DOC_ROW_TYPE_H

#include "doc/doc_read.h"

/** Make a row type of a loaded value: a list of fields, or an object with `fields`. */
sinter_status
sinter__row_type_from_json(const sinter_env *env, const sinter__doc_object *object,
                           sinter_row_type **out, sinter_error *err);

/** Is this column part of the key? */
bool
sinter__row_type_is_key(const sinter_row_type *row_type, size_t index);

/** Refuse by name columns whose values can't be read or written: VARIANT, BLOB and what holds
 *  them. */
sinter_status
sinter__row_type_check_values(const sinter_row_type *row_type, sinter_error *err);

#endif
