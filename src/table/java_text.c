#include "table/java_text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "doc/number.h"
#include "doc/text.h"
#include "doc/type.h"
#include "table/java_digits.h"

enum { MS_PER_DAY = 86400000, PLAIN_EXPONENT_MIN = -3, PLAIN_EXPONENT_MAX = 6 };

/* ---- floating point ---- */

static char *
put_plain(const sinter__java_digits *d, char *out)
{
    if (d->exponent < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = -1; i > d->exponent; i--) {
            *out++ = '0';
        }
        memcpy(out, d->text, (size_t)d->count);
        return out + d->count;
    }
    for (int i = 0; i <= d->exponent || i < d->count; i++) {
        if (i == d->exponent + 1) {
            *out++ = '.';
        }
        if (i < d->count) {
            *out++ = d->text[i];
        } else {
            *out++ = '0';
        }
    }
    if (d->count <= d->exponent + 1) {
        *out++ = '.';
        *out++ = '0';
    }
    return out;
}

/* A finite number. */
static sinter_status
append_digits(const sinter__java_digits *d, bool is_negative, sinter_text *out, sinter_error *err)
{
    char text[SINTER__NUMBER_TEXT_MAX];
    char *at = text;

    if (is_negative) {
        *at++ = '-';
    }
    if (d->exponent >= PLAIN_EXPONENT_MIN && d->exponent <= PLAIN_EXPONENT_MAX) {
        at = put_plain(d, at);
    } else {
        *at++ = d->text[0];
        *at++ = '.';
        memcpy(at, d->count > 1 ? d->text + 1 : "0", (size_t)(d->count > 1 ? d->count - 1 : 1));
        at += d->count > 1 ? d->count - 1 : 1;
        at += snprintf(at, (size_t)(text + sizeof text - at), "E%d", d->exponent);
    }
    return sinter_text_append(out, text, (size_t)(at - text), err);
}

static sinter_status
append_float(uint32_t bits, sinter_text *out, sinter_error *err)
{
    char text[SINTER__NUMBER_TEXT_MAX];
    sinter__java_digits digits;

    if ((bits & 0x7f800000) == 0x7f800000) {
        sinter__float_print(bits, text);
        return sinter__text_puts(out, text, err);
    }
    sinter__java_float_digits(bits, &digits);
    return append_digits(&digits, bits >> 31 != 0, out, err);
}

static sinter_status
append_double(uint64_t bits, sinter_text *out, sinter_error *err)
{
    const uint64_t infinity = UINT64_C(0x7ff0000000000000);
    char text[SINTER__NUMBER_TEXT_MAX];
    sinter__java_digits digits;

    if ((bits & infinity) == infinity) {
        sinter__double_print(bits, text);
        return sinter__text_puts(out, text, err);
    }
    sinter__java_double_digits(bits, &digits);
    return append_digits(&digits, bits >> 63 != 0, out, err);
}

/* ---- dates and times ---- */

static int64_t
floor_days(int64_t ms)
{
    return ms / MS_PER_DAY - (ms % MS_PER_DAY < 0 ? 1 : 0);
}

static sinter__clock_time
clock_of(const sinter_datum *datum)
{
    return (sinter__clock_time){.ms =
                                    datum->as.integer - floor_days(datum->as.integer) * MS_PER_DAY,
                                .nanos = datum->nanos};
}

/* "22:13", "22:13:20", or with as many groups of three decimals as there are. */
static size_t
print_short_time(sinter__clock_time time, char out[SINTER__NUMBER_TEXT_MAX])
{
    enum { MINUTE_TEXT = 5 };

    if (time.ms % 60000 == 0 && time.nanos == 0) {
        (void)sinter__time_print(time, 0, out);
        return MINUTE_TEXT;
    }
    if (time.nanos == 0) {
        return sinter__time_print(time, time.ms % 1000 == 0 ? 0 : 3, out);
    }
    return sinter__time_print(time, time.nanos % 1000 == 0 ? 6 : 9, out);
}

/* As many decimals as the type has, fewer where they are zeros, one at least. */
static size_t
print_cast_time(sinter__clock_time time, uint32_t precision, char out[SINTER__NUMBER_TEXT_MAX])
{
    size_t size = sinter__time_print(time, precision > 3 ? 3 : precision, out);
    const size_t least = strlen("00:00:00.0");

    while (size > least && out[size - 1] == '0') {
        size--;
    }
    return size;
}

static sinter_status
append_timestamp(const sinter_type *type, const sinter_datum *datum, bool internal,
                 sinter_text *out, sinter_error *err)
{
    char date[SINTER__NUMBER_TEXT_MAX];
    char time[SINTER__NUMBER_TEXT_MAX];
    size_t size = sinter__date_print(floor_days(datum->as.integer), date);

    SINTER__CHECK(sinter_text_append(out, date, size, err));
    SINTER__CHECK(sinter__text_puts(out, internal ? "T" : " ", err));
    size = internal ? print_short_time(clock_of(datum), time)
                    : sinter__time_print(clock_of(datum), type->precision, time);
    return sinter_text_append(out, time, size, err);
}

/* ---- both forms ---- */

static sinter_status
append_plain(const sinter_type *type, const sinter_datum *datum, sinter_text *out,
             sinter_error *err)
{
    char text[SINTER__NUMBER_TEXT_MAX];

    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        return sinter__text_puts(out, datum->as.integer != 0 ? "true" : "false", err);
    case SINTER_TYPE_FLOAT:
        return append_float(datum->as.float_bits, out, err);
    case SINTER_TYPE_DOUBLE:
        return append_double(datum->as.double_bits, out, err);
    case SINTER_TYPE_DECIMAL:
        sinter__decimal_print(sinter__decimal_get(datum), type->scale, text);
        return sinter__text_puts(out, text, err);
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
        return sinter_text_append(out, datum->as.bytes.data, datum->as.bytes.size, err);
    case SINTER_TYPE_TINYINT:
    case SINTER_TYPE_SMALLINT:
    case SINTER_TYPE_INT:
    case SINTER_TYPE_BIGINT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
        (void)snprintf(text, sizeof text, "%lld", (long long)datum->as.integer);
        return sinter__text_puts(out, text, err);
    default:
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "values of %s have no text",
                           sinter_type_name(type->id));
    }
}

sinter_status
sinter__java_cast_text(const sinter_type *type, const sinter_datum *datum, sinter_text *out,
                       sinter_error *err)
{
    char text[SINTER__NUMBER_TEXT_MAX];
    size_t size = 0;

    assert(!datum->is_null);
    if (sinter__type_is_timestamp(type)) {
        return append_timestamp(type, datum, false, out, err);
    }
    if (type->id == SINTER_TYPE_DATE) {
        size = sinter__date_print(datum->as.integer, text);
    } else if (type->id == SINTER_TYPE_TIME) {
        size = print_cast_time(clock_of(datum), type->precision, text);
    } else {
        return append_plain(type, datum, out, err);
    }
    return sinter_text_append(out, text, size, err);
}

sinter_status
sinter__java_internal_text(const sinter_type *type, const sinter_datum *datum, sinter_text *out,
                           sinter_error *err)
{
    assert(!datum->is_null);
    return sinter__type_is_timestamp(type) ? append_timestamp(type, datum, true, out, err)
                                           : append_plain(type, datum, out, err);
}

/* ---- white space ---- */

/* Length of the white space at the front; 0: none. The text is UTF-8. */
static size_t
blank_size(const uint8_t *at, size_t size)
{
    uint32_t point = 0;

    if ((at[0] >= 0x09 && at[0] <= 0x0d) || (at[0] >= 0x1c && at[0] <= 0x20)) {
        return 1;
    }
    if (size < 3 || (at[0] & 0xf0u) != 0xe0u) {
        return 0;
    }
    point = (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    if (point == 0x1680 || (point >= 0x2000 && point <= 0x200a && point != 0x2007) ||
        point == 0x2028 || point == 0x2029 || point == 0x205f || point == 0x3000) {
        return 3;
    }
    return 0;
}

bool
sinter__java_is_blank(sinter_bytes text)
{
    size_t step = 0;

    for (size_t at = 0; at < text.size; at += step) {
        step = blank_size(text.data + at, text.size - at);
        if (step == 0) {
            return false;
        }
    }
    return true;
}
