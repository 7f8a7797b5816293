/*
 * Texts cast to other types, as Paimon's readers of Java's number and date texts do it.
 */
#ifndef SINTER_TABLE_CAST_TEXT_H
#define SINTER_TABLE_CAST_TEXT_H

#include "sinter/type.h"

/**
 * Read a text as a value of an atomic type that is neither text nor bytes.
 *
 * Only digits (with a '-') are the number that stands for a DATE, TIME or TIMESTAMP inside.
 *
 * @param out  zeroed; null where a DECIMAL has too few digits
 * @return     SINTER_OK, SINTER_E_INVALID (no such value; the text is in the message)
 */
sinter_status
sinter__cast_text(sinter_bytes text, const sinter_type *to, sinter_datum *out, sinter_error *err);

/** The same for DECIMAL: rounded half away from zero. */
sinter_status
sinter__cast_text_to_decimal(sinter_bytes text, const sinter_type *to, sinter_datum *out,
                             sinter_error *err);

#endif
