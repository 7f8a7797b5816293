#include "columnar_values.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const types[VALUE_COLUMNS] = {
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT NOT NULL",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(1, 0)",
    "DECIMAL(9, 2)",
    "DECIMAL(10, 2)",
    "DECIMAL(18, 18)",
    "DECIMAL(19, 0)",
    "DECIMAL(38, 10)",
    "DATE",
    "TIME(3)",
    "TIMESTAMP(0)",
    "TIMESTAMP(3)",
    "TIMESTAMP(6)",
    "TIMESTAMP(9)",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "CHAR(5)",
    "VARCHAR(10)",
    "STRING",
    "BINARY(3)",
    "BYTES",
};

void
values_fields(sinter__columnar_field out[VALUE_COLUMNS])
{
    static char names[VALUE_COLUMNS][8];

    for (int i = 0; i < VALUE_COLUMNS; i++) {
        (void)snprintf(names[i], sizeof names[i], "c%d", i);
        out[i] = (sinter__columnar_field){.name = names[i], .id = i};
        cr_assert_eq(sinter_type_parse(types[i], &out[i].type, NULL), SINTER_OK, "%s", types[i]);
    }
}

/** A number between least and most, both among them. */
static int64_t
integer_of(uint64_t random, int64_t least, int64_t most)
{
    const uint64_t width = (uint64_t)most - (uint64_t)least;

    if (random % 5 == 0) {
        return least;
    }
    if (random % 5 == 1) {
        return most;
    }
    return (int64_t)((uint64_t)least + (width == UINT64_MAX ? random : random % (width + 1)));
}

static void
decimal_of(uint64_t random, uint32_t precision, sinter_datum *out)
{
    unsigned __int128 most = 1;
    __int128 value = 0;

    for (uint32_t i = 0; i < precision; i++) {
        most *= 10;
    }
    value = (__int128)(((unsigned __int128)random << 64 | ~random) % most);
    value = random % 7 == 0 ? (__int128)most - 1 : value;
    value = random % 2 == 0 ? -value : value;
    out->as.decimal.low = (uint64_t)value;
    out->as.decimal.high = (int64_t)(value >> 64);
}

/** Years 1 to 9999, but for those of more than six decimals: 1677 to 2262, less a day or two. */
static void
time_of(uint64_t random, const sinter_type *type, sinter_datum *out)
{
    const int64_t least = type->precision > 6 ? -9223200000000 : -62135596800000;
    const int64_t most = type->precision > 6 ? 9223200000000 : 253402300799999;
    static const int32_t steps[] = {0, 0, 0, 0, 0, 0, 1000, 1000, 1000, 1};

    out->as.integer = integer_of(random >> 3, least, most);
    if (type->precision == 0 || out->as.integer < 0) { /* before 1970 ORC takes whole seconds */
        out->as.integer -= (out->as.integer % 1000 + 1000) % 1000;
    }
    if (type->precision > 3 && out->as.integer >= 0) {
        out->nanos =
            (int32_t)(random % 1000000 / (uint64_t)steps[type->precision]) * steps[type->precision];
    }
}

static sinter_bytes
string_of(uint64_t random, const sinter_type *type)
{
    static const char text[] = "\xc3\xa9zwei  drei vier\0\x01\xff.";
    sinter_bytes bytes = {(const uint8_t *)text, 0};

    if (type->id == SINTER_TYPE_BINARY) {
        bytes.size = type->precision;
    } else if (type->id == SINTER_TYPE_VARBINARY) {
        bytes.size = random % sizeof text;
    } else if (type->id == SINTER_TYPE_CHAR) { /* no blank at its end: those are not kept */
        bytes.size = 2 + random % 4;
        bytes.size = random % 3 == 0 ? 0 : bytes.size;
    } else {
        bytes.size = random % 2 == 0 ? 0 : 2 + random % 8;
    }
    return bytes;
}

void
values_row(uint64_t row, sinter_datum out[VALUE_COLUMNS])
{
    static const int64_t least[] = {INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN};
    static const int64_t most[] = {INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};
    sinter__columnar_field fields[VALUE_COLUMNS];

    values_fields(fields);
    for (int i = 0; i < VALUE_COLUMNS; i++) {
        const sinter_type *type = &fields[i].type;
        uint64_t random = (row * VALUE_COLUMNS + (uint64_t)i + 1) * 0x9e3779b97f4a7c15u;

        random ^= random >> 29;
        random *= 0xbf58476d1ce4e5b9u;
        random ^= random >> 32;
        memset(&out[i], 0, sizeof out[i]);
        out[i].is_null = type->nullable && random % 6 == 0;
        if (out[i].is_null) {
            continue;
        }
        switch (type->id) {
        case SINTER_TYPE_BOOLEAN:
            out[i].as.integer = (int64_t)(random >> 7 & 1);
            break;
        case SINTER_TYPE_FLOAT:
            out[i].as.float_bits = (uint32_t)(random % 3 == 0 ? 0x7f800000u : random & 0x7f7fffffu);
            break;
        case SINTER_TYPE_DOUBLE:
            out[i].as.double_bits = random % 3 == 0 ? (uint64_t)1 << 63 : random >> 2;
            break;
        case SINTER_TYPE_DECIMAL:
            decimal_of(random, type->precision, &out[i]);
            break;
        case SINTER_TYPE_DATE:
            out[i].as.integer = integer_of(random, -719162, 2932896);
            break;
        case SINTER_TYPE_TIME:
            out[i].as.integer = integer_of(random, 0, 86399999);
            break;
        case SINTER_TYPE_TIMESTAMP:
        case SINTER_TYPE_TIMESTAMP_LTZ:
            time_of(random, type, &out[i]);
            break;
        case SINTER_TYPE_TINYINT:
        case SINTER_TYPE_SMALLINT:
        case SINTER_TYPE_INT:
        case SINTER_TYPE_BIGINT:
            out[i].as.integer = integer_of(random, least[type->id - SINTER_TYPE_TINYINT],
                                           most[type->id - SINTER_TYPE_TINYINT]);
            break;
        default:
            out[i].as.bytes = string_of(random, type);
            break;
        }
    }
}

bool
values_equal(const sinter_type *type, const sinter_datum *left, const sinter_datum *right)
{
    if (left->is_null || right->is_null) {
        return left->is_null && right->is_null;
    }
    switch (type->id) {
    case SINTER_TYPE_FLOAT:
        return left->as.float_bits == right->as.float_bits;
    case SINTER_TYPE_DOUBLE:
        return left->as.double_bits == right->as.double_bits;
    case SINTER_TYPE_DECIMAL:
        return left->as.decimal.low == right->as.decimal.low &&
               left->as.decimal.high == right->as.decimal.high;
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
        return left->as.bytes.size == right->as.bytes.size &&
               (left->as.bytes.size == 0 ||
                memcmp(left->as.bytes.data, right->as.bytes.data, left->as.bytes.size) == 0);
    default:
        return left->as.integer == right->as.integer && left->nanos == right->nanos;
    }
}
