/*
 * Values as text in the way that Java prints them: in names of partitions, and where a column is
 * cast to STRING.
 */
#ifndef SINTER_TABLE_JAVA_TEXT_H
#define SINTER_TABLE_JAVA_TEXT_H

#include "sinter/type.h"

/**
 * Append a value cast to STRING: "1.0E10", "2022-01-08", "2023-11-14 22:13:20.100".
 *
 * @param datum  not null, of an atomic type within its range
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a type without a text)
 */
sinter_status
sinter__java_cast_text(const sinter_type *type, const sinter_datum *datum, sinter_text *out,
                       sinter_error *err);

/**
 * Append the text of a value as the reference holds it inside: a DATE is the number of its day, a
 * TIME the millisecond, a TIMESTAMP "2023-11-14T22:13"; all others as above. Failures as above.
 */
sinter_status
sinter__java_internal_text(const sinter_type *type, const sinter_datum *datum, sinter_text *out,
                           sinter_error *err);

/** Is there nothing in the text but what Java counts as white space? True for an empty one. */
bool
sinter__java_is_blank(sinter_bytes text);

#endif
