/*
 * Inside of nested values.
 */
#ifndef SINTER_DOC_NESTED_H
#define SINTER_DOC_NESTED_H

#include "doc/binary.h"
#include "sinter/nested.h"

/** The parts of a nested value that is to be written. */
typedef struct sinter__nested_value {
    const sinter_type *type;
    const sinter_datum *first;  /* elements, fields, keys */
    const sinter_datum *second; /* values of a MAP, counts of a MULTISET */
    size_t count;
} sinter__nested_value;

/** Bytes that it takes. SINTER_E_TOO_LARGE: more than SINTER_VALUE_BYTES_MAX. */
sinter_status
sinter__nested_size(const sinter__nested_value *value, size_t *out, sinter_error *err);

/** Write it to that many zeroed bytes. The parts were checked. */
void
sinter__nested_put(const sinter__nested_value *value, uint8_t *out);

/** Check a value and all in it: structure (SINTER_E_CORRUPT), and what sinter_datum_check() asks
 *  of its parts. */
sinter_status
sinter__nested_check(const sinter_type *type, sinter_bytes value, sinter_error *err);

/** Append the canonical JSON of a value that isn't null. As sinter_datum_print_json(). */
sinter_status
sinter__nested_print(const sinter_type *type, sinter_bytes value, uint32_t flags, sinter_text *out,
                     sinter_error *err);

/** Does one of the keys come twice? They are compared by their JSON. */
sinter_status
sinter__keys_check_unique(const sinter_env *env, const sinter_type *type, const sinter_datum *keys,
                          size_t count, sinter_error *err);

#endif
