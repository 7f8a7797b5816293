/*
 * Inside of types: what the codecs ask of them.
 */
#ifndef SINTER_DOC_TYPE_H
#define SINTER_DOC_TYPE_H

#include "sinter/type.h"

/** Does the value fit one 8-byte slot (DECIMAL up to 18 digits, TIMESTAMP up to 3 decimals)?
 *  True for all other types. */
bool
sinter__type_is_compact(const sinter_type *type);

/** CHAR, VARCHAR, BINARY or VARBINARY? */
bool
sinter__type_is_bytes(const sinter_type *type);

/** VARIANT, BLOB, or a nested type whose parts are not known, in this type or as it; else NULL. */
const sinter_type *
sinter__type_without_values(const sinter_type *type);

/** CHAR or VARCHAR? */
static inline bool
sinter__type_is_string(const sinter_type *type)
{
    return type->id == SINTER_TYPE_CHAR || type->id == SINTER_TYPE_VARCHAR;
}

/** TIMESTAMP with or without zone? */
static inline bool
sinter__type_is_timestamp(const sinter_type *type)
{
    return type->id == SINTER_TYPE_TIMESTAMP || type->id == SINTER_TYPE_TIMESTAMP_LTZ;
}

/** Make every NaN the canonical one. Source: key-encoding.md 1. */
static inline uint32_t
sinter__float_canonical(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
}

static inline uint64_t
sinter__double_canonical(uint64_t bits)
{
    return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u ? 0x7ff8000000000000u : bits;
}

/** Is it valid UTF-8 (no surrogates, no overlong forms, at most U+10FFFF)? */
bool
sinter__utf8_is_valid(sinter_bytes text);

/** Code points of a text: bytes that continue none. */
size_t
sinter__utf8_count(sinter_bytes text);

/** Append a text as a JSON string with quotes; it must be valid UTF-8. */
sinter_status
sinter__json_string_print(sinter_bytes text, sinter_text *out, sinter_error *err);

/** Range check of a value that is not null; `column` NULL: none. As sinter_datum_check(). */
sinter_status
sinter__datum_check_range(const sinter_type *type, const char *column, const sinter_datum *datum,
                          sinter_error *err);

#endif
