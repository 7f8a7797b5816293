/*
 * Values of ARRAY, MAP, MULTISET and ROW.
 *
 * The datum of such a value holds its binary form in `as.bytes`, as it stands in a BinaryRow
 * (table-layout.md 5): the functions here build it from the datums of its parts and give those
 * back. A MULTISET is a map from element to count.
 */
#ifndef SINTER_NESTED_H
#define SINTER_NESTED_H

#include "sinter/base.h"
#include "sinter/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Elements being read. A small value: copy it freely. Immutable. */
typedef struct sinter_array {
    const sinter_type *element; /* borrowed from the type */
    sinter_bytes bytes;         /* borrowed from the value */
    size_t count;
} sinter_array;

/**
 * Begin to read an ARRAY. Any bytes are safe.
 *
 * @param type   an ARRAY with its parts; borrowed as long as `out`
 * @param value  `as.bytes` of a datum that isn't null; borrowed as long as `out`
 * @return       SINTER_OK, SINTER_E_CORRUPT
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_array_open(const sinter_type *type, sinter_bytes value, sinter_array *out,
                  sinter_error *err);

/** Begin to read a MAP or MULTISET: keys (elements) and values (counts), equally many.
 *  @return as sinter_array_open() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_map_open(const sinter_type *type, sinter_bytes value, sinter_array *keys,
                sinter_array *values, sinter_error *err);

/**
 * Read an element.
 *
 * @param index  below `count`
 * @param out    bytes point into the array
 * @return       SINTER_OK, SINTER_E_CORRUPT, SINTER_E_UNSUPPORTED (VARIANT or BLOB)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_array_get(const sinter_array *array, size_t index, sinter_datum *out, sinter_error *err);

/** Read field `index` of a ROW. @return as sinter_array_get(); the field is named */
SINTER_API SINTER_NODISCARD sinter_status
sinter_nested_row_get(const sinter_type *type, sinter_bytes value, size_t index, sinter_datum *out,
                      sinter_error *err);

/**
 * Build an ARRAY, appended to `out`.
 *
 * @param type    an ARRAY with its parts
 * @param values  `count` elements, checked against the type of elements
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (an element, its position named),
 *                SINTER_E_UNSUPPORTED (VARIANT or BLOB), SINTER_E_TOO_LARGE (more than
 *                SINTER_VALUE_BYTES_MAX)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_array_encode(const sinter_type *type, const sinter_datum *values, size_t count,
                    sinter_text *out, sinter_error *err);

/** Build a MAP or MULTISET of `count` keys and values, in this order, appended to `out`. Whether
 *  a key comes twice is not looked at. @return as sinter_array_encode() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_map_encode(const sinter_type *type, const sinter_datum *keys, const sinter_datum *values,
                  size_t count, sinter_text *out, sinter_error *err);

/** Build a ROW of one value per field, appended to `out`. @return as sinter_array_encode() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_nested_row_encode(const sinter_type *type, const sinter_datum *values, sinter_text *out,
                         sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
