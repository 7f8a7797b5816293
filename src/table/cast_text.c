#include "table/cast_text.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/number.h"

enum {
    MS_PER_SECOND = 1000,
    MS_PER_MINUTE = 60000,
    MS_PER_HOUR = 3600000,
    MS_PER_DAY = 86400000,
    NANOS_PER_MS = 1000000,
    DATE_TEXT_MAX = 72,
    NUMBER_TEXT_MAX = 1024,
    EXPONENT_TEXT_MAX = 24,
    FRACTION_MAX = 9,
    EXPONENT_MAX = 1000000
};

/* ---- reading ---- */

/* A text that is read from its front. */
typedef struct cursor {
    const uint8_t *at;
    const uint8_t *end;
} cursor;

static bool
take(cursor *c, char wanted)
{
    if (c->at < c->end && *c->at == (uint8_t)wanted) {
        c->at++;
        return true;
    }
    return false;
}

static bool
is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* A number of at most `most` digits; false when there is none. */
static bool
take_number(cursor *c, int most, int64_t *out)
{
    int count = 0;

    *out = 0;
    while (c->at < c->end && is_digit(*c->at) && count < most) {
        *out = *out * 10 + (*c->at++ - '0');
        count++;
    }
    return count > 0;
}

static sinter_bytes
trimmed(sinter_bytes text)
{
    while (text.size > 0 && text.data[0] <= ' ') {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && text.data[text.size - 1] <= ' ') {
        text.size--;
    }
    return text;
}

static cursor
cursor_of(sinter_bytes text)
{
    return (cursor){text.data, text.data + text.size};
}

static sinter_status
refuse(sinter_bytes text, const sinter_type *to, sinter_error *err)
{
    char name[SINTER_TYPE_TEXT_MAX];

    sinter_type_print(to, name);
    return SINTER__ERR(err, SINTER_E_INVALID, "\"%.*s\" can't be cast to %s",
                       (int)(text.size < 80 ? text.size : 80), (const char *)text.data, name);
}

/* Digits with a '-' or without. */
static bool
is_internal(sinter_bytes text, int64_t *out)
{
    bool is_out_of_range = false;

    return text.size > 0 && sinter__integer_parse(text, out, &is_out_of_range);
}

/* ---- BOOLEAN and integers ---- */

static bool
is_word(sinter_bytes text, const char *const *words)
{
    for (; *words != NULL; words++) {
        size_t i = 0;

        while (i < text.size && (*words)[i] != '\0' &&
               (text.data[i] >= 'A' && text.data[i] <= 'Z' ? text.data[i] | 0x20 : text.data[i]) ==
                   (uint8_t)(*words)[i]) {
            i++;
        }
        if (i == text.size && (*words)[i] == '\0') {
            return true;
        }
    }
    return false;
}

static bool
read_boolean(sinter_bytes text, int64_t *out)
{
    static const char *const yes[] = {"t", "true", "y", "yes", "1", NULL};
    static const char *const no[] = {"f", "false", "n", "no", "0", NULL};

    *out = is_word(text, yes) ? 1 : 0;
    return *out == 1 || is_word(text, no);
}

static bool
fits(const sinter_type *to, int64_t value)
{
    switch (to->id) {
    case SINTER_TYPE_TINYINT:
        return value >= INT8_MIN && value <= INT8_MAX;
    case SINTER_TYPE_SMALLINT:
        return value >= INT16_MIN && value <= INT16_MAX;
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
        return value >= INT32_MIN && value <= INT32_MAX;
    default:
        return true;
    }
}

/* A sign, digits, and a fraction that is dropped. */
static bool
read_integer(sinter_bytes text, const sinter_type *to, int64_t *out)
{
    cursor c = cursor_of(text);
    const bool negative = take(&c, '-');
    int64_t value = 0; /* kept below zero, where there is one value more */

    if (!negative) {
        (void)take(&c, '+');
    }
    if (c.at == c.end) {
        return false;
    }
    for (; c.at < c.end && is_digit(*c.at); c.at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, *c.at - '0', &value)) {
            return false;
        }
    }
    if (take(&c, '.')) {
        while (c.at < c.end && is_digit(*c.at)) {
            c.at++;
        }
    }
    if (c.at != c.end || (!negative && value == INT64_MIN)) {
        return false;
    }
    *out = negative ? value : -value;
    return fits(to, *out);
}

/* ---- floating point and DECIMAL ---- */

/* The parts of a decimal number as Java reads it: ".5", "5." and "+5" are numbers too. */
typedef struct number_text {
    bool negative;
    sinter_bytes whole;
    sinter_bytes fraction;
    int64_t exponent;
} number_text;

static sinter_bytes
take_digits(cursor *c)
{
    sinter_bytes digits = {c->at, 0};

    while (c->at < c->end && is_digit(*c->at)) {
        c->at++;
    }
    digits.size = (size_t)(c->at - digits.data);
    return digits;
}

static bool
take_exponent(cursor *c, int64_t *out)
{
    const bool negative = take(c, '-');

    if (!negative) {
        (void)take(c, '+');
    }
    if (!take_number(c, 10, out)) {
        return false;
    }
    if (*out > EXPONENT_MAX) {
        *out = EXPONENT_MAX;
    }
    *out = negative ? -*out : *out;
    return true;
}

static bool
take_number_text(cursor *c, number_text *out)
{
    *out = (number_text){.negative = take(c, '-')};
    if (!out->negative) {
        (void)take(c, '+');
    }
    out->whole = take_digits(c);
    if (take(c, '.')) {
        out->fraction = take_digits(c);
    }
    if (out->whole.size + out->fraction.size == 0) {
        return false;
    }
    return !(take(c, 'e') || take(c, 'E')) || take_exponent(c, &out->exponent);
}

/* Put a number in the form that JSON has, which the parsers of numbers take. */
static bool
put_canonical(const number_text *number, char *out, size_t size)
{
    const char *const zero = "0";
    const sinter_bytes whole =
        number->whole.size > 0 ? number->whole : (sinter_bytes){(const uint8_t *)zero, 1};
    int length = 0;

    if (whole.size + number->fraction.size + EXPONENT_TEXT_MAX > size) {
        return false;
    }
    length = snprintf(out, size, "%s%.*s%s%.*se%lld", number->negative ? "-" : "", (int)whole.size,
                      (const char *)whole.data, number->fraction.size > 0 ? "." : "",
                      (int)number->fraction.size,
                      number->fraction.size > 0 ? (const char *)number->fraction.data : "",
                      (long long)number->exponent);
    return length > 0 && (size_t)length < size;
}

static void
put_infinity(const sinter_type *to, bool negative, sinter_datum *out)
{
    if (to->id == SINTER_TYPE_FLOAT) {
        out->as.float_bits = negative ? 0xff800000u : 0x7f800000u;
    } else {
        out->as.double_bits = negative ? 0xfff0000000000000u : 0x7ff0000000000000u;
    }
}

static bool
read_word(sinter_bytes text, const sinter_type *to, sinter_datum *out)
{
    static const char infinity[] = "Infinity";
    const size_t sign = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+') ? 1 : 0;

    if (text.size - sign == 3 && memcmp(text.data + sign, "NaN", 3) == 0) {
        if (to->id == SINTER_TYPE_FLOAT) {
            out->as.float_bits = 0x7fc00000u;
        } else {
            out->as.double_bits = 0x7ff8000000000000u;
        }
        return true;
    }
    if (text.size - sign == sizeof infinity - 1 &&
        memcmp(text.data + sign, infinity, sizeof infinity - 1) == 0) {
        put_infinity(to, sign == 1 && text.data[0] == '-', out);
        return true;
    }
    return false;
}

/* As Double.parseDouble() does, but for hexadecimal numbers. */
static bool
read_floating(sinter_bytes text, const sinter_type *to, sinter_datum *out)
{
    char canonical[NUMBER_TEXT_MAX];
    sinter_bytes number_bytes = {(const uint8_t *)canonical, 0};
    number_text number;
    cursor c = cursor_of(trimmed(text));
    bool is_finite = false;

    if (read_word(trimmed(text), to, out)) {
        return true;
    }
    if (!take_number_text(&c, &number)) {
        return false;
    }
    (void)(take(&c, 'd') || take(&c, 'f') || take(&c, 'D') || take(&c, 'F'));
    if (c.at != c.end || !put_canonical(&number, canonical, sizeof canonical)) {
        return false;
    }
    number_bytes.size = strlen(canonical);
    is_finite = to->id == SINTER_TYPE_FLOAT
                    ? sinter__float_parse(number_bytes, &out->as.float_bits)
                    : sinter__double_parse(number_bytes, &out->as.double_bits);
    if (!is_finite) {
        put_infinity(to, number.negative, out);
    }
    return true;
}

/* The i-th digit of a number without its point; 0 behind the last. */
static int
digit_at(const number_text *number, int64_t i)
{
    const int64_t whole = (int64_t)number->whole.size;

    if (i < whole) {
        return number->whole.data[i] - '0';
    }
    return i - whole < (int64_t)number->fraction.size ? number->fraction.data[i - whole] - '0' : 0;
}

sinter_status
sinter__cast_text_to_decimal(sinter_bytes text, const sinter_type *to, sinter_datum *out,
                             sinter_error *err)
{
    const sinter__uint128 limit = sinter__power_of_ten(to->precision);
    sinter__uint128 value = 0;
    number_text number;
    cursor c = cursor_of(text);
    int64_t keep = 0;

    if (!take_number_text(&c, &number) || c.at != c.end) {
        return refuse(text, to, err);
    }
    keep = (int64_t)number.whole.size + number.exponent + to->scale;
    for (int64_t i = 0; i < keep && value < limit; i++) {
        if (value == 0 && i >= (int64_t)(number.whole.size + number.fraction.size)) {
            break; /* nothing but zeros */
        }
        value = value * 10 + (unsigned)digit_at(&number, i);
    }
    if (keep >= 0 && value < limit && digit_at(&number, keep) >= 5) {
        value++;
    }
    if (value >= limit) {
        out->is_null = true;
        return SINTER_OK;
    }
    sinter__decimal_set(out, number.negative ? -(sinter__int128)value : (sinter__int128)value);
    return SINTER_OK;
}

/* ---- dates and times ---- */

/* Days of a date; false where there is no such day. */
static bool
days_of(int64_t year, int64_t month, int64_t day, int64_t *out)
{
    char text[DATE_TEXT_MAX];
    const int length = snprintf(text, sizeof text, "%04lld-%02lld-%02lld", (long long)year,
                                (long long)month, (long long)day);
    const sinter_bytes bytes = {(const uint8_t *)text, (size_t)length};

    return year <= 9999 && month <= 12 && day <= 31 && sinter__date_parse(bytes, out) == bytes.size;
}

/* A part between separators, with blanks around it. */
static bool
take_part(cursor *c, char separator, int64_t *out)
{
    const uint8_t *end = c->at;
    cursor part;

    while (end < c->end && *end != (uint8_t)separator) {
        end++;
    }
    part = cursor_of(trimmed((sinter_bytes){c->at, (size_t)(end - c->at)}));
    c->at = end < c->end ? end + 1 : end;
    return take_number(&part, FRACTION_MAX, out) && part.at == part.end;
}

/* "2024", "2024-2", "2024-02-09"; what follows behind a blank is left out. */
static bool
read_date(sinter_bytes text, int64_t *out)
{
    const sinter_bytes all = trimmed(text);
    const uint8_t *blank = all.size == 0 ? NULL : memchr(all.data, ' ', all.size);
    cursor c = cursor_of(all);
    int64_t year = 0;
    int64_t month = 1;
    int64_t day = 1;

    c.end = blank != NULL ? blank : c.end;
    if (!take_part(&c, '-', &year)) {
        return false;
    }
    if (c.at < c.end && !take_part(&c, '-', &month)) {
        return false;
    }
    return (c.at == c.end || take_part(&c, '\0', &day)) && days_of(year, month, day, out);
}

/* ".123456" as nanoseconds: digits without a limit, those behind the ninth don't count. */
static int64_t
nanos_of(sinter_bytes digits)
{
    int64_t nanos = 0;

    for (size_t i = 0; i < FRACTION_MAX; i++) {
        nanos = nanos * 10 + (i < digits.size ? digits.data[i] - '0' : 0);
    }
    return nanos;
}

/* "15", "15.123": seconds. */
static bool
read_seconds(cursor *c, int64_t *ms)
{
    const uint8_t *point = memchr(c->at, '.', (size_t)(c->end - c->at));
    cursor fraction = {c->end, c->end};
    sinter_bytes digits;
    int64_t second = 0;

    if (point != NULL) {
        fraction.at = point + 1;
        c->end = point;
    }
    if (!take_part(c, ':', &second) || c->at != c->end) {
        return false;
    }
    digits = take_digits(&fraction);
    *ms = second * MS_PER_SECOND + nanos_of(digits) / NANOS_PER_MS;
    return fraction.at == fraction.end;
}

/* "7", "7:30", "7:30:15.123": milliseconds of the day. */
static bool
read_time(sinter_bytes text, int64_t *out)
{
    cursor c = cursor_of(text);
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t ms = 0;

    if (!take_part(&c, ':', &hour) || (c.at < c.end && !take_part(&c, ':', &minute)) ||
        (c.at < c.end && !read_seconds(&c, &ms))) {
        return false;
    }
    *out = hour * MS_PER_HOUR + minute * MS_PER_MINUTE + ms;
    return true;
}

/* ---- timestamps ---- */

/* The last day of a month, where the text has one that isn't there. */
static bool
take_date(cursor *c, int64_t *out)
{
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;

    if (!take_number(c, 4, &year) || !take(c, '-') || !take_number(c, 2, &month) || !take(c, '-') ||
        !take_number(c, 2, &day) || year == 0 || day > 31) {
        return false;
    }
    for (int64_t less = 0; less < 4 && day > 28 - less; less++) {
        if (days_of(year, month, day - less, out)) {
            return true;
        }
    }
    return days_of(year, month, day, out);
}

static bool
take_clock(cursor *c, int64_t *ms, int32_t *nanos)
{
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    int64_t fraction = 0;

    if (!take_number(c, 2, &hour) || !take(c, ':') || !take_number(c, 2, &minute) ||
        !take(c, ':') || !take_number(c, 2, &second)) {
        return false;
    }
    if (take(c, '.')) {
        const sinter_bytes digits = take_digits(c);

        if (digits.size > FRACTION_MAX) {
            return false;
        }
        fraction = nanos_of(digits);
    }
    *ms = hour * MS_PER_HOUR + minute * MS_PER_MINUTE + second * MS_PER_SECOND +
          fraction / NANOS_PER_MS;
    *nanos = (int32_t)(fraction % NANOS_PER_MS);
    return minute < 60 && second < 60 && (hour < 24 || (*ms == MS_PER_DAY && *nanos == 0));
}

/* A number counts in the unit of the type's last decimal. */
static bool
put_internal(int64_t value, const sinter_type *to, sinter_datum *out)
{
    int64_t per_ms = 1;

    for (uint32_t i = to->precision; i < 3; i++) {
        if (__builtin_mul_overflow(value, 10, &value)) {
            return false;
        }
    }
    for (uint32_t i = 3; i < to->precision; i++) {
        per_ms *= 10;
    }
    out->as.integer = value / per_ms - (value % per_ms < 0 ? 1 : 0);
    out->nanos = (int32_t)((value - out->as.integer * per_ms) * (NANOS_PER_MS / per_ms));
    return true;
}

static bool
read_timestamp(sinter_bytes text, const sinter_type *to, sinter_datum *out)
{
    static const int32_t units[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    cursor c = cursor_of(text);
    int64_t days = 0;
    int64_t ms = 0;
    int32_t nanos = 0;

    if (to->id == SINTER_TYPE_TIMESTAMP && is_internal(text, &days)) {
        return put_internal(days, to, out);
    }
    if (!take_date(&c, &days)) {
        return false;
    }
    if (c.at != c.end && (!take(&c, ' ') || !take_clock(&c, &ms, &nanos) || c.at != c.end)) {
        return false;
    }
    ms += days * MS_PER_DAY;
    if (to->precision <= 3) {
        ms -= ms % units[3 + to->precision];
        nanos = 0;
    } else {
        nanos -= nanos % units[to->precision - 3];
    }
    out->as.integer = ms;
    out->nanos = nanos;
    return true;
}

sinter_status
sinter__cast_text(sinter_bytes text, const sinter_type *to, sinter_datum *out, sinter_error *err)
{
    bool is_read = false;

    switch (to->id) {
    case SINTER_TYPE_BOOLEAN:
        is_read = read_boolean(text, &out->as.integer);
        break;
    case SINTER_TYPE_FLOAT:
    case SINTER_TYPE_DOUBLE:
        is_read = read_floating(text, to, out);
        break;
    case SINTER_TYPE_DECIMAL:
        return sinter__cast_text_to_decimal(text, to, out, err);
    case SINTER_TYPE_DATE:
        is_read = is_internal(text, &out->as.integer) || read_date(text, &out->as.integer);
        is_read = is_read && fits(to, out->as.integer);
        break;
    case SINTER_TYPE_TIME:
        is_read = is_internal(text, &out->as.integer) || read_time(text, &out->as.integer);
        is_read = is_read && out->as.integer >= 0 && out->as.integer < MS_PER_DAY;
        break;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        is_read = read_timestamp(text, to, out);
        break;
    default:
        is_read = read_integer(text, to, &out->as.integer);
        break;
    }
    return is_read ? SINTER_OK : refuse(text, to, err);
}
