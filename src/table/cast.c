#include "table/cast.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/number.h"
#include "doc/text.h"
#include "doc/type.h"
#include "table/cast_text.h"
#include "table/java_text.h"

enum { MS_PER_DAY = 86400000, MS_PER_SECOND = 1000, NANOS_PER_MS = 1000000 };

/* ---- families ---- */

typedef enum family {
    FAMILY_NONE,
    FAMILY_BOOLEAN,
    FAMILY_INTEGER,
    FAMILY_FLOATING,
    FAMILY_DECIMAL,
    FAMILY_STRING,
    FAMILY_BINARY,
    FAMILY_DATE,
    FAMILY_TIME,
    FAMILY_TIMESTAMP
} family;

static family
family_of(const sinter_type *type)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        return FAMILY_BOOLEAN;
    case SINTER_TYPE_TINYINT:
    case SINTER_TYPE_SMALLINT:
    case SINTER_TYPE_INT:
    case SINTER_TYPE_BIGINT:
        return FAMILY_INTEGER;
    case SINTER_TYPE_FLOAT:
    case SINTER_TYPE_DOUBLE:
        return FAMILY_FLOATING;
    case SINTER_TYPE_DECIMAL:
        return FAMILY_DECIMAL;
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
        return FAMILY_STRING;
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
        return FAMILY_BINARY;
    case SINTER_TYPE_DATE:
        return FAMILY_DATE;
    case SINTER_TYPE_TIME:
        return FAMILY_TIME;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return FAMILY_TIMESTAMP;
    default:
        return FAMILY_NONE;
    }
}

/* ---- to integers ---- */

/* What is left of a number in the type's bytes, two's complement. */
static int64_t
wrap(const sinter_type *to, int64_t value)
{
    switch (to->id) {
    case SINTER_TYPE_TINYINT:
        return (int8_t)(uint8_t)(uint64_t)value;
    case SINTER_TYPE_SMALLINT:
        return (int16_t)(uint16_t)(uint64_t)value;
    case SINTER_TYPE_INT:
        return (int32_t)(uint32_t)(uint64_t)value;
    default:
        return value;
    }
}

static double
double_of(const sinter_type *type, const sinter_datum *value)
{
    float single = 0;
    double number = 0;

    if (type->id == SINTER_TYPE_FLOAT) {
        memcpy(&single, &value->as.float_bits, sizeof single);
        return (double)single;
    }
    memcpy(&number, &value->as.double_bits, sizeof number);
    return number;
}

/* Towards zero; what is too large becomes the nearest, what is no number 0. */
static int64_t
saturate(double number, int64_t low, int64_t high)
{
    if (isnan(number)) {
        return 0;
    }
    if (number >= (double)high) {
        return high;
    }
    return number <= (double)low ? low : (int64_t)number;
}

static int64_t
integer_of_double(const sinter_type *to, double number)
{
    /* Java goes to INT first where the target is smaller. */
    return to->id == SINTER_TYPE_BIGINT ? saturate(number, INT64_MIN, INT64_MAX)
                                        : wrap(to, saturate(number, INT32_MIN, INT32_MAX));
}

/* ---- to floating point ---- */

static void
put_double(const sinter_type *to, double number, sinter_datum *out)
{
    const float single = (float)number;

    if (to->id == SINTER_TYPE_FLOAT) {
        memcpy(&out->as.float_bits, &single, sizeof single);
    } else {
        memcpy(&out->as.double_bits, &number, sizeof number);
    }
}

static void
put_integer_as_floating(const sinter_type *to, int64_t value, sinter_datum *out)
{
    const float single = (float)value;
    const double number = (double)value;

    if (to->id == SINTER_TYPE_FLOAT) {
        memcpy(&out->as.float_bits, &single, sizeof single);
    } else {
        memcpy(&out->as.double_bits, &number, sizeof number);
    }
}

/* ---- to DECIMAL ---- */

/* Change the number of decimals, half away from zero; null where the digits don't suffice. */
static void
put_decimal(const sinter_type *to, sinter__int128 value, uint32_t scale, sinter_datum *out)
{
    if (scale > to->scale) {
        const sinter__int128 unit = (sinter__int128)sinter__power_of_ten(scale - to->scale);
        const sinter__int128 rest = value % unit;

        value /= unit;
        if ((rest < 0 ? -rest : rest) >= unit - unit / 2) {
            value += rest < 0 ? -1 : 1;
        }
    } else if (scale < to->scale &&
               __builtin_mul_overflow(
                   value, (sinter__int128)sinter__power_of_ten(to->scale - scale), &value)) {
        out->is_null = true;
        return;
    }
    if (!sinter__decimal_fits(value, to->precision)) {
        out->is_null = true;
        return;
    }
    sinter__decimal_set(out, value);
}

/* ---- to strings and bytes ---- */

/* Bytes of the first `count` characters. */
static size_t
prefix_size(sinter_bytes text, size_t count)
{
    size_t at = 0;

    while (at < text.size) {
        if ((text.data[at] & 0xc0u) != 0x80u && count-- == 0) {
            break;
        }
        at++;
    }
    return at;
}

/* Cut a text to what the type holds; CHAR is filled with blanks. */
static sinter_status
put_text(const sinter_type *to, size_t begin, sinter_text *bytes, sinter_datum *out,
         sinter_error *err)
{
    sinter_bytes text = {(const uint8_t *)bytes->data + begin, bytes->size - begin};
    size_t count = 0;

    text.size = prefix_size(text, to->precision);
    count = sinter__utf8_count(text);
    if (to->id == SINTER_TYPE_CHAR && count < to->precision) {
        bytes->size = begin + text.size;
        SINTER__CHECK(sinter__text_fill(bytes, ' ', to->precision - count, err));
        text = (sinter_bytes){(const uint8_t *)bytes->data + begin, bytes->size - begin};
    }
    out->as.bytes = text;
    return SINTER_OK;
}

static sinter_status
put_binary(const sinter_type *to, sinter_bytes value, sinter_text *bytes, sinter_datum *out,
           sinter_error *err)
{
    size_t begin = bytes->size;

    if (value.size > to->precision) {
        value.size = to->precision;
    }
    out->as.bytes = value;
    if (to->id == SINTER_TYPE_BINARY && value.size < to->precision) {
        SINTER__CHECK(sinter_text_append(bytes, value.data, value.size, err));
        SINTER__CHECK(sinter__text_fill(bytes, '\0', to->precision - value.size, err));
        out->as.bytes = (sinter_bytes){(const uint8_t *)bytes->data + begin, bytes->size - begin};
    }
    return SINTER_OK;
}

static sinter_status
cast_to_string(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
               sinter_text *bytes, sinter_datum *out, sinter_error *err)
{
    const size_t begin = bytes->size;

    if (family_of(from) == FAMILY_BINARY) {
        out->as.bytes = value->as.bytes; /* neither cut nor filled */
        return SINTER_OK;
    }
    SINTER__CHECK(sinter_text_append(bytes, NULL, 0, err));
    SINTER__CHECK(sinter__java_cast_text(from, value, bytes, err));
    return put_text(to, begin, bytes, out, err);
}

/* ---- to timestamps ---- */

/* Decimals that the type doesn't have go: of the milliseconds towards zero, of what is below a
 * millisecond downwards, as the reference does. */
static void
put_timestamp(const sinter_type *to, int64_t ms, int32_t nanos, sinter_datum *out)
{
    static const int32_t units[] = {1000000, 100000, 10000, 1000, 100, 10, 1};

    if (to->precision <= 3) {
        const int64_t unit = units[3 + to->precision];

        out->as.integer = ms - ms % unit;
        out->nanos = 0;
    } else {
        out->as.integer = ms;
        out->nanos = nanos - nanos % units[to->precision - 3];
    }
}

static int64_t
floor_days(int64_t ms)
{
    return ms / MS_PER_DAY - (ms % MS_PER_DAY < 0 ? 1 : 0);
}

/* ---- which there are ---- */

static bool
is_numeric(family f)
{
    return f == FAMILY_INTEGER || f == FAMILY_FLOATING || f == FAMILY_DECIMAL;
}

static bool
has_seconds(const sinter_type *type)
{
    return type->id == SINTER_TYPE_INT || type->id == SINTER_TYPE_BIGINT;
}

bool
sinter__cast_is_known(const sinter_type *from, const sinter_type *to)
{
    const family f = family_of(from);
    const family t = family_of(to);

    if (f == FAMILY_NONE || t == FAMILY_NONE) {
        return false;
    }
    if (f == t || f == FAMILY_STRING || t == FAMILY_STRING) {
        return true;
    }
    switch (t) {
    case FAMILY_BOOLEAN:
        return f == FAMILY_INTEGER;
    case FAMILY_INTEGER:
        return f == FAMILY_BOOLEAN || is_numeric(f) || (f == FAMILY_TIMESTAMP && has_seconds(to));
    case FAMILY_FLOATING:
    case FAMILY_DECIMAL:
        return f == FAMILY_BOOLEAN || is_numeric(f);
    case FAMILY_DATE:
    case FAMILY_TIME:
        return f == FAMILY_TIMESTAMP;
    case FAMILY_TIMESTAMP:
        return f == FAMILY_DATE || f == FAMILY_TIME || (f == FAMILY_INTEGER && has_seconds(from));
    default:
        return false;
    }
}

/* ---- casting ---- */

static double
double_of_decimal(const sinter_type *from, const sinter_datum *value, bool single)
{
    char text[SINTER__NUMBER_TEXT_MAX];
    uint64_t bits = 0;
    uint32_t float_bits = 0;
    float number_single = 0;
    double number = 0;
    sinter_bytes bytes = {(const uint8_t *)text, 0};

    sinter__decimal_print(sinter__decimal_get(value), from->scale, text);
    bytes.size = strlen(text);
    if (single) {
        (void)sinter__float_parse(bytes, &float_bits);
        memcpy(&number_single, &float_bits, sizeof number_single);
        return (double)number_single;
    }
    (void)sinter__double_parse(bytes, &bits);
    memcpy(&number, &bits, sizeof number);
    return number;
}

static int64_t
integer_of_decimal(const sinter_type *from, const sinter_datum *value)
{
    const sinter__int128 unit = (sinter__int128)sinter__power_of_ten(from->scale);

    return (int64_t)(uint64_t)(sinter__uint128)(sinter__decimal_get(value) / unit);
}

static sinter_status
cast_to_integer(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
                sinter_datum *out)
{
    switch (family_of(from)) {
    case FAMILY_FLOATING:
        out->as.integer = integer_of_double(to, double_of(from, value));
        break;
    case FAMILY_DECIMAL:
        out->as.integer = wrap(to, integer_of_decimal(from, value));
        break;
    case FAMILY_TIMESTAMP:
        out->as.integer = wrap(to, value->as.integer / MS_PER_SECOND);
        break;
    default:
        out->as.integer = wrap(to, value->as.integer);
        break;
    }
    return SINTER_OK;
}

static sinter_status
cast_to_floating(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
                 sinter_datum *out)
{
    switch (family_of(from)) {
    case FAMILY_FLOATING:
        put_double(to, double_of(from, value), out);
        break;
    case FAMILY_DECIMAL:
        put_double(to, double_of_decimal(from, value, to->id == SINTER_TYPE_FLOAT), out);
        break;
    default:
        put_integer_as_floating(to, value->as.integer, out);
        break;
    }
    return SINTER_OK;
}

/* By way of the number's text: 1.005 has two halves of decimals then, as a person would say. */
static sinter_status
cast_floating_to_decimal(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
                         sinter_datum *out, sinter_error *err)
{
    const double number = double_of(from, value);
    char text[SINTER__NUMBER_TEXT_MAX];
    uint64_t bits = 0;

    memcpy(&bits, &number, sizeof bits);
    sinter__double_print(bits, text);
    return sinter__cast_text_to_decimal((sinter_bytes){(const uint8_t *)text, strlen(text)}, to,
                                        out, err);
}

static sinter_status
cast_to_decimal(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
                sinter_datum *out, sinter_error *err)
{
    switch (family_of(from)) {
    case FAMILY_FLOATING:
        return cast_floating_to_decimal(from, to, value, out, err);
    case FAMILY_DECIMAL:
        put_decimal(to, sinter__decimal_get(value), from->scale, out);
        return SINTER_OK;
    default:
        put_decimal(to, value->as.integer, 0, out);
        return SINTER_OK;
    }
}

static sinter_status
cast_to_timestamp(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
                  sinter_datum *out)
{
    switch (family_of(from)) {
    case FAMILY_DATE:
        put_timestamp(to, value->as.integer * MS_PER_DAY, 0, out);
        break;
    case FAMILY_INTEGER: /* seconds, which wrap */
        put_timestamp(to, (int64_t)((uint64_t)value->as.integer * MS_PER_SECOND), 0, out);
        break;
    default:
        put_timestamp(to, value->as.integer, value->nanos, out);
        break;
    }
    return SINTER_OK;
}

static sinter_status
cast_from_timestamp(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
                    sinter_datum *out)
{
    const int64_t ms = value->as.integer;

    if (to->id == SINTER_TYPE_TIME) {
        out->as.integer = ms - floor_days(ms) * MS_PER_DAY;
    } else {
        /* The reference cuts the days of a plain timestamp towards zero. */
        out->as.integer = from->id == SINTER_TYPE_TIMESTAMP ? ms / MS_PER_DAY : floor_days(ms);
    }
    return SINTER_OK;
}

sinter_status
sinter__cast(const sinter_type *from, const sinter_type *to, const sinter_datum *value,
             sinter_text *bytes, sinter_datum *out, sinter_error *err)
{
    const family f = family_of(from);

    assert(sinter__cast_is_known(from, to));
    *out = (sinter_datum){.is_null = value->is_null};
    if (value->is_null) {
        return SINTER_OK;
    }
    switch (family_of(to)) {
    case FAMILY_STRING:
        return cast_to_string(from, to, value, bytes, out, err);
    case FAMILY_BINARY:
        return put_binary(to, value->as.bytes, bytes, out, err);
    default:
        break;
    }
    if (f == FAMILY_STRING) {
        return sinter__cast_text(value->as.bytes, to, out, err);
    }
    switch (family_of(to)) {
    case FAMILY_BOOLEAN:
        out->as.integer = value->as.integer != 0 ? 1 : 0;
        return SINTER_OK;
    case FAMILY_INTEGER:
        return cast_to_integer(from, to, value, out);
    case FAMILY_FLOATING:
        return cast_to_floating(from, to, value, out);
    case FAMILY_DECIMAL:
        return cast_to_decimal(from, to, value, out, err);
    case FAMILY_TIMESTAMP:
        return cast_to_timestamp(from, to, value, out);
    case FAMILY_DATE:
    case FAMILY_TIME:
        if (f == FAMILY_TIMESTAMP) {
            return cast_from_timestamp(from, to, value, out);
        }
        break;
    default:
        break;
    }
    *out = *value; /* TIME to a TIME of other decimals stays what it is */
    return SINTER_OK;
}
