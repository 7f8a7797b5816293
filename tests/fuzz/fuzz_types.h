/*
 * Column types chosen by bytes of the input.
 */
#ifndef SINTER_TESTS_FUZZ_TYPES_H
#define SINTER_TESTS_FUZZ_TYPES_H

#include "sinter/sinter.h"

/** Three bytes a type. */
enum { FUZZ_TYPE_BYTES = 3 };

/** An atomic type. */
static inline sinter_type
fuzz_type(const uint8_t *bytes)
{
    sinter_type type = {.id = bytes[0] % SINTER_TYPE_ARRAY, .nullable = (bytes[0] & 0x80u) != 0};

    switch (type.id) {
    case SINTER_TYPE_DECIMAL:
        type.precision = 1u + bytes[1] % 38u;
        type.scale = bytes[2] % (type.precision + 1u);
        break;
    case SINTER_TYPE_TIME:
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        type.precision = bytes[1] % 10u;
        break;
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
        type.precision = bytes[1] == 0 ? SINTER_TYPE_LENGTH_MAX : bytes[1];
        break;
    default:
        break;
    }
    return type;
}

#endif
