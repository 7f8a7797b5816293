#include "cases.h"

#include <criterion/criterion.h>
#include <string.h>

#include "doc/number.h"
#include "doc/type.h"

uint64_t
case_next(case_random *random)
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t
case_below(case_random *random, uint32_t limit)
{
    return (uint32_t)(case_next(random) % limit);
}

sinter_type
case_type(case_random *random, bool nullable)
{
    sinter_type type = {.id = (int32_t)case_below(random, SINTER_TYPE_ARRAY), .nullable = nullable};

    switch (type.id) {
    case SINTER_TYPE_DECIMAL:
        type.precision = 1 + case_below(random, 38);
        type.scale = case_below(random, type.precision + 1);
        break;
    case SINTER_TYPE_TIME:
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        type.precision = case_below(random, 10);
        break;
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_BINARY:
        type.precision = CASE_BYTES_MAX;
        break;
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_VARBINARY:
        type.precision = SINTER_TYPE_LENGTH_MAX;
        break;
    default:
        break;
    }
    return type;
}

static int64_t
integer_within(case_random *random, int64_t low, int64_t high)
{
    const uint64_t span = (uint64_t)high - (uint64_t)low;

    switch (case_below(random, 6)) {
    case 0:
        return low;
    case 1:
        return high;
    case 2:
        return low <= 0 ? 0 : low;
    case 3:
        return low <= -1 ? -1 : low;
    default:
        return (int64_t)((uint64_t)low +
                         (span == UINT64_MAX ? case_next(random) : case_next(random) % (span + 1)));
    }
}

static uint64_t
floating_bits(case_random *random, bool single)
{
    static const double special[] = {0.0, -0.0, 1.5, -1.5, 0.1, 100.0, 1e300, 5e-324};
    double value = special[case_below(random, 8)];
    float value32 = (float)value;
    uint32_t bits32;
    uint64_t bits64;

    switch (case_below(random, 4)) {
    case 0:
        return single ? case_next(random) & 0xffffffffu : case_next(random);
    case 1: /* infinities and NaNs of all kinds */
        return single ? 0x7f800000u | (case_next(random) & 0x80000003u)
                      : 0x7ff0000000000000u | (case_next(random) & 0x8000000000000003u);
    default:
        memcpy(&bits32, &value32, sizeof bits32);
        memcpy(&bits64, &value, sizeof bits64);
        return single ? bits32 : bits64;
    }
}

static void
decimal_within(case_random *random, uint32_t precision, sinter_datum *out)
{
    const sinter__int128 most = (sinter__int128)sinter__power_of_ten(precision) - 1;
    sinter__int128 value = 0;

    switch (case_below(random, 5)) {
    case 0:
        value = most;
        break;
    case 1:
        value = (sinter__int128)case_below(random, 3) - 1;
        break;
    default:
        value = (sinter__int128)(((sinter__uint128)case_next(random) << 64 | case_next(random)) %
                                 ((sinter__uint128)most + 1));
        break;
    }
    sinter__decimal_set(out, case_below(random, 2) == 0 ? value : -value);
}

static size_t
fill_bytes(case_random *random, bool utf8, uint8_t room[CASE_BYTES_MAX])
{
    static const char *const pieces[] = {"",   "a",        "b",  "\"", ",",
                                         "\n", "\xc3\xa9", "\\", "\t", "\xf0\x9f\x98\x80"};
    const size_t wanted = case_below(random, CASE_BYTES_MAX - 3);
    size_t size = 0;

    while (size < wanted) {
        if (utf8 && case_below(random, 8) != 0) {
            const char *piece = pieces[case_below(random, 10)];
            const size_t length = strlen(piece);

            memcpy(room + size, piece, length);
            size += length;
            if (length == 0) {
                break;
            }
        } else {
            /* Bytes that escapes are about come often. */
            const uint32_t kind = case_below(random, 4);

            room[size++] = (uint8_t)(kind == 0 ? 0 : kind == 1 ? 1 : utf8 ? 'x' : 0xff);
        }
    }
    return size;
}

sinter_datum
case_datum(case_random *random, const sinter_type *type, bool utf8, uint8_t room[CASE_BYTES_MAX])
{
    sinter_datum datum = {.is_null = false};

    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        datum.as.integer = case_below(random, 2);
        break;
    case SINTER_TYPE_TINYINT:
        datum.as.integer = integer_within(random, INT8_MIN, INT8_MAX);
        break;
    case SINTER_TYPE_SMALLINT:
        datum.as.integer = integer_within(random, INT16_MIN, INT16_MAX);
        break;
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
        datum.as.integer = integer_within(random, INT32_MIN, INT32_MAX);
        break;
    case SINTER_TYPE_BIGINT:
        datum.as.integer = integer_within(random, INT64_MIN, INT64_MAX);
        break;
    case SINTER_TYPE_TIME:
        datum.as.integer = integer_within(random, 0, 86399999);
        break;
    case SINTER_TYPE_FLOAT:
        datum.as.float_bits = (uint32_t)floating_bits(random, true);
        break;
    case SINTER_TYPE_DOUBLE:
        datum.as.double_bits = floating_bits(random, false);
        break;
    case SINTER_TYPE_DECIMAL:
        decimal_within(random, type->precision, &datum);
        break;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ: {
        /* What the type can print: no more decimals than it has, years of four digits. */
        int64_t unit = 1;
        int64_t nanos = integer_within(random, 0, 999999999);

        for (uint32_t i = type->precision; i < 9; i++) {
            unit *= 10;
        }
        nanos -= nanos % unit;
        datum.as.integer = integer_within(random, -2000000000, 4000000000) * 1000 + nanos / 1000000;
        datum.nanos = (int32_t)(nanos % 1000000);
        break;
    }
    default:
        datum.as.bytes.size = fill_bytes(random, utf8 && sinter__type_is_string(type), room);
        datum.as.bytes.data = room;
        break;
    }
    return datum;
}

static int
order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Doubles by value, -0 below 0, every NaN above all. */
static int
compare_floating(double a, double b)
{
    const bool a_nan = a != a;
    const bool b_nan = b != b;

    if (a_nan || b_nan) {
        return (int)a_nan - (int)b_nan;
    }
    if (a == b) {
        return (int)__builtin_signbit(b) / (__builtin_signbit(b) != 0 ? __builtin_signbit(b) : 1) -
               (int)__builtin_signbit(a) / (__builtin_signbit(a) != 0 ? __builtin_signbit(a) : 1);
    }
    return a < b ? -1 : 1;
}

static double
double_of(const sinter_type *type, const sinter_datum *datum)
{
    double value;
    float value32;

    if (type->id == SINTER_TYPE_FLOAT) {
        memcpy(&value32, &datum->as.float_bits, sizeof value32);
        return (double)value32;
    }
    memcpy(&value, &datum->as.double_bits, sizeof value);
    return value;
}

static int
compare_bytes(sinter_bytes a, sinter_bytes b)
{
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        if (a.data[i] != b.data[i]) {
            return a.data[i] < b.data[i] ? -1 : 1;
        }
    }
    return (a.size > b.size) - (a.size < b.size);
}

int
case_compare(const sinter_type *type, const sinter_datum *a, const sinter_datum *b)
{
    if (a->is_null || b->is_null) {
        return (int)b->is_null - (int)a->is_null;
    }
    switch (type->id) {
    case SINTER_TYPE_FLOAT:
    case SINTER_TYPE_DOUBLE:
        return compare_floating(double_of(type, a), double_of(type, b));
    case SINTER_TYPE_DECIMAL: {
        const sinter__int128 x = sinter__decimal_get(a);
        const sinter__int128 y = sinter__decimal_get(b);

        return (x > y) - (x < y);
    }
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return a->as.integer != b->as.integer ? order_of(a->as.integer, b->as.integer)
                                              : order_of(a->nanos, b->nanos);
    default:
        return sinter__type_is_bytes(type) ? compare_bytes(a->as.bytes, b->as.bytes)
                                           : order_of(a->as.integer, b->as.integer);
    }
}

bool
case_equal(const sinter_type *type, const sinter_datum *a, const sinter_datum *b, bool canonical)
{
    if (a->is_null || b->is_null) {
        return a->is_null == b->is_null;
    }
    if (type->id == SINTER_TYPE_FLOAT) {
        return canonical ? sinter__float_canonical(a->as.float_bits) ==
                               sinter__float_canonical(b->as.float_bits)
                         : a->as.float_bits == b->as.float_bits;
    }
    if (type->id == SINTER_TYPE_DOUBLE) {
        return canonical ? sinter__double_canonical(a->as.double_bits) ==
                               sinter__double_canonical(b->as.double_bits)
                         : a->as.double_bits == b->as.double_bits;
    }
    return case_compare(type, a, b) == 0;
}

sinter_type
case_parse_type(const char *text)
{
    sinter_type type = {0};
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_type_parse(text, &type, &err), SINTER_OK, "%s: %s", text, err.text);
    return type;
}

size_t
case_hex(const char *hex, uint8_t *out, size_t capacity)
{
    size_t digits = 0;

    for (; *hex != '\0'; hex++) {
        const char c = *hex;

        if (c == ' ') {
            continue;
        }
        const int value = c >= 'a' ? c - 'a' + 10 : c - '0';

        cr_assert_lt(digits / 2, capacity);
        out[digits / 2] = (uint8_t)(digits % 2 == 0 ? value << 4 : out[digits / 2] | value);
        digits++;
    }
    cr_assert_eq(digits % 2, 0);
    return digits / 2;
}
