/*
 * Values of a column whose type was changed after they were written (table-layout.md 9.2). The
 * rules are Paimon's: what doesn't fit wraps, is cut, or becomes null, as Java's own conversions
 * do.
 */
#ifndef SINTER_TABLE_CAST_H
#define SINTER_TABLE_CAST_H

#include "sinter/type.h"

/** Can values of `from` be cast to `to`? Equal types can. Nullability doesn't count. */
bool
sinter__cast_is_known(const sinter_type *from, const sinter_type *to);

/**
 * Cast a value.
 *
 * @param from   type of `value`
 * @param to     another one, for which sinter__cast_is_known()
 * @param value  may be null, which stays null
 * @param bytes  gets bytes of texts that were made; `out` may point there until it is reset
 * @param out    null where the value doesn't fit a DECIMAL
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a text that is no such value, named)
 */
sinter_status
sinter__cast(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
             sinter_text *bytes, sinter_datum *out, sinter_error *err);

#endif
