/*
 * Rows and arrays in binary form: slots are written and read here, whatever they belong to.
 */
#ifndef SINTER_DOC_BINARY_H
#define SINTER_DOC_BINARY_H

#include "doc/type.h"

/** What is written: a row of fields, or an array of elements of one type. */
typedef struct sinter__shape {
    const sinter_field *fields; /* of a row */
    const sinter_type *element; /* of an array; NULL: a row */
    size_t count;
} sinter__shape;

/** Bytes that a row or array takes. The values are not checked. SINTER_E_TOO_LARGE: more than
 *  SINTER_VALUE_BYTES_MAX. */
sinter_status
sinter__binary_size(const sinter__shape *shape, const sinter_datum *values, size_t *out,
                    sinter_error *err);

/** Write a row or array of that size to zeroed bytes. */
void
sinter__binary_put(const sinter__shape *shape, const sinter_datum *values, uint8_t *out);

/** A row or array being read. */
typedef struct sinter__slots {
    sinter_bytes bytes;
    size_t count;
    size_t null_bit; /* the first, counted from the first byte */
    size_t slots_at;
    size_t slot_bytes;
    size_t variable_at;
} sinter__slots;

/** Begin to read; bytes are borrowed. SINTER_E_CORRUPT: too few. */
sinter_status
sinter__slots_of_row(size_t count, sinter_bytes bytes, sinter__slots *out, sinter_error *err);
sinter_status
sinter__slots_of_array(const sinter_type *element, sinter_bytes bytes, sinter__slots *out,
                       sinter_error *err);

/** Read value `index`. SINTER_E_CORRUPT: it lies outside or is none; SINTER_E_UNSUPPORTED: VARIANT
 *  or BLOB, named. */
sinter_status
sinter__slots_get(const sinter__slots *slots, const sinter_type *type, size_t index,
                  sinter_datum *out, sinter_error *err);

#endif
