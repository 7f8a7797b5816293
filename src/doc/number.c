#include "doc/number.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer text is no number that anybody wrote; it bounds the copy that strtod needs. */
enum { FLOAT_TEXT_MAX = 1200 };

static size_t
digits_at(sinter_bytes text, size_t at)
{
    size_t count = 0;

    while (at + count < text.size && text.data[at + count] >= '0' && text.data[at + count] <= '9') {
        count++;
    }
    return count;
}

static bool
byte_is(sinter_bytes text, size_t at, char byte)
{
    return at < text.size && text.data[at] == (uint8_t)byte;
}

bool
sinter__number_is_json(sinter_bytes text)
{
    size_t at = byte_is(text, 0, '-') ? 1 : 0;
    size_t count = digits_at(text, at);

    if (count == 0 || (count > 1 && text.data[at] == '0')) {
        return false;
    }
    at += count;
    if (byte_is(text, at, '.')) {
        count = digits_at(text, at + 1);
        if (count == 0) {
            return false;
        }
        at += 1 + count;
    }
    if (byte_is(text, at, 'e') || byte_is(text, at, 'E')) {
        at++;
        if (byte_is(text, at, '+') || byte_is(text, at, '-')) {
            at++;
        }
        count = digits_at(text, at);
        if (count == 0) {
            return false;
        }
        at += count;
    }
    return at == text.size;
}

bool
sinter__integer_parse(sinter_bytes text, int64_t *out, bool *overflow_out)
{
    const bool negative = byte_is(text, 0, '-');
    int64_t value = 0;

    *overflow_out = false;
    if (text.size == (negative ? 1u : 0u)) {
        return false;
    }
    for (size_t i = negative ? 1 : 0; i < text.size; i++) {
        const int digit = text.data[i] - '0';

        if (digit < 0 || digit > 9) {
            *overflow_out = false;
            return false;
        }
        /* Below zero there is one value more, so the sum is kept negative. */
        if (!*overflow_out && (__builtin_mul_overflow(value, (int64_t)10, &value) ||
                               __builtin_sub_overflow(value, (int64_t)digit, &value))) {
            *overflow_out = true;
        }
    }
    if (!negative && value == INT64_MIN) {
        *overflow_out = true;
    }
    if (*overflow_out) {
        return false;
    }
    *out = negative ? value : -value;
    return true;
}

/* The numeric conversions of the C library follow the locale of the thread. */
static locale_t
enter_c_locale(locale_t *made_out)
{
    *made_out = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *made_out == (locale_t)0 ? (locale_t)0 : uselocale(*made_out);
}

static void
leave_c_locale(locale_t made, locale_t before)
{
    if (made != (locale_t)0) {
        (void)uselocale(before);
        freelocale(made);
    }
}

static double
word_value(sinter_bytes text)
{
    if (text.size == 3 && memcmp(text.data, "NaN", 3) == 0) {
        return (double)NAN;
    }
    if (text.size == 8 && memcmp(text.data, "Infinity", 8) == 0) {
        return (double)INFINITY;
    }
    if (text.size == 9 && memcmp(text.data, "-Infinity", 9) == 0) {
        return -(double)INFINITY;
    }
    return 0;
}

/* Copy a number so that it ends with a zero byte; false when it is none. Leading zeros and a bare
 * point are refused by JSON itself; cells of CSV may have leading zeros. */
static bool
number_copy(sinter_bytes text, char out[FLOAT_TEXT_MAX + 1])
{
    const bool negative = byte_is(text, 0, '-');
    size_t zeros = 0;
    sinter_bytes number = text;

    while (byte_is(text, (negative ? 1u : 0u) + zeros, '0')) {
        zeros++;
    }
    if (zeros > 0 && digits_at(text, (negative ? 1u : 0u) + zeros) == 0) {
        zeros--;
    }
    number.data = text.data == NULL ? NULL : text.data + zeros;
    number.size = text.size - zeros;
    if (number.size > FLOAT_TEXT_MAX || number.size == 0) {
        return false;
    }
    memcpy(out, number.data, number.size);
    out[number.size] = '\0';
    if (negative) {
        out[0] = '-';
    }
    return sinter__number_is_json(
        (sinter_bytes){.data = (const uint8_t *)out, .size = number.size});
}

bool
sinter__double_parse(sinter_bytes text, uint64_t *bits_out)
{
    char number[FLOAT_TEXT_MAX + 1];
    double value = word_value(text);

    if (value == 0) {
        locale_t made;
        locale_t before;

        if (!number_copy(text, number)) {
            return false;
        }
        before = enter_c_locale(&made);
        value = strtod(number, NULL);
        leave_c_locale(made, before);
        if (isinf(value)) {
            return false;
        }
    }
    memcpy(bits_out, &value, sizeof value);
    return true;
}

bool
sinter__float_parse(sinter_bytes text, uint32_t *bits_out)
{
    char number[FLOAT_TEXT_MAX + 1];
    float value = (float)word_value(text);

    if (value == 0) {
        locale_t made;
        locale_t before;

        if (!number_copy(text, number)) {
            return false;
        }
        before = enter_c_locale(&made);
        value = strtof(number, NULL);
        leave_c_locale(made, before);
        if (isinf(value)) {
            return false;
        }
    }
    memcpy(bits_out, &value, sizeof value);
    return true;
}

static bool
print_word(double value, char *out)
{
    if (isnan(value)) {
        memcpy(out, "NaN", sizeof "NaN");
        return true;
    }
    if (isinf(value)) {
        const char *word = value < 0 ? "-Infinity" : "Infinity";

        memcpy(out, word, strlen(word) + 1);
        return true;
    }
    return false;
}

/* "%.*g" or "%.*e"; both fit `out` for every double with at most 17 digits. */
static void
print_digits(double value, int precision, bool exponent, char out[SINTER__NUMBER_TEXT_MAX])
{
    char wide[512]; /* what "%g" could need if the precision were any */
    const int length = exponent ? snprintf(wide, sizeof wide, "%.*e", precision - 1, value)
                                : snprintf(wide, sizeof wide, "%.*g", precision, value);

    assert(precision >= 1 && precision <= 17);
    assert(length > 0 && length < SINTER__NUMBER_TEXT_MAX);
    memcpy(out, wide, (size_t)length + 1);
}

static bool
reads_back(const char *text, double value, bool single)
{
    return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/*
 * The least P. A normal number that reads back with DIG digits (15, or 6 for FLOAT) has one text of
 * at most DIG digits only, so its trailing zeros tell P. Subnormal numbers have fewer digits than
 * that and are tried one by one.
 */
static int
least_precision(double value, bool single, char out[SINTER__NUMBER_TEXT_MAX])
{
    const int safe = single ? FLT_DIG : DBL_DIG;
    const int most = single ? 9 : 17;
    const double smallest = single ? (double)FLT_MIN : DBL_MIN;
    int precision = safe;

    if (fabs(value) < smallest) {
        for (precision = 1; precision < most; precision++) {
            print_digits(value, precision, false, out);
            if (reads_back(out, value, single)) {
                return precision;
            }
        }
        return most;
    }
    for (; precision < most; precision++) {
        print_digits(value, precision, true, out);
        if (reads_back(out, value, single)) {
            break;
        }
    }
    if (precision == safe) {
        const char *last = strchr(out, 'e');

        assert(last != NULL);
        while (precision > 1 && last[-1] == '0') {
            last--;
            precision--;
        }
    }
    return precision;
}

static void
print_shortest(double value, bool single, char out[SINTER__NUMBER_TEXT_MAX])
{
    locale_t made;
    locale_t before;
    int precision;

    if (print_word(value, out)) {
        return;
    }
    before = enter_c_locale(&made);
    precision = least_precision(value, single, out);
    print_digits(value, precision, false, out);
    leave_c_locale(made, before);
}

void
sinter__float_print(uint32_t bits, char out[SINTER__NUMBER_TEXT_MAX])
{
    float value;

    memcpy(&value, &bits, sizeof value);
    print_shortest((double)value, true, out);
}

void
sinter__double_print(uint64_t bits, char out[SINTER__NUMBER_TEXT_MAX])
{
    double value;

    memcpy(&value, &bits, sizeof value);
    print_shortest(value, false, out);
}

sinter__uint128
sinter__power_of_ten(uint32_t exponent)
{
    sinter__uint128 power = 1;

    assert(exponent <= SINTER__DECIMAL_PRECISION_MAX);
    for (uint32_t i = 0; i < exponent; i++) {
        power *= 10;
    }
    return power;
}

static sinter__uint128
magnitude(sinter__int128 value)
{
    return value < 0 ? (sinter__uint128)0 - (sinter__uint128)value : (sinter__uint128)value;
}

bool
sinter__decimal_fits(sinter__int128 value, uint32_t precision)
{
    return magnitude(value) < sinter__power_of_ten(precision);
}

/* The parts of a number text. */
typedef struct decimal_text {
    bool negative;
    size_t digits_at;
    size_t whole_count;
    size_t fraction_count;
    int64_t exponent;
} decimal_text;

static bool
decimal_split(sinter_bytes text, decimal_text *out)
{
    size_t at = 0;

    memset(out, 0, sizeof *out);
    out->negative = byte_is(text, 0, '-');
    at = out->negative ? 1 : 0;
    out->digits_at = at;
    out->whole_count = digits_at(text, at);
    at += out->whole_count;
    if (out->whole_count == 0) {
        return false;
    }
    if (byte_is(text, at, '.')) {
        out->fraction_count = digits_at(text, at + 1);
        at += 1 + out->fraction_count;
        if (out->fraction_count == 0) {
            return false;
        }
    }
    if (byte_is(text, at, 'e') || byte_is(text, at, 'E')) {
        const bool down = byte_is(text, at + 1, '-');

        at += down || byte_is(text, at + 1, '+') ? 2 : 1;
        const size_t count = digits_at(text, at);

        if (count == 0 || count > 9) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            out->exponent = out->exponent * 10 + (text.data[at + i] - '0');
        }
        out->exponent = down ? -out->exponent : out->exponent;
        at += count;
    }
    return at == text.size;
}

/* The i-th digit, with the point left out. */
static int
decimal_digit(sinter_bytes text, const decimal_text *parts, size_t i)
{
    const size_t at = parts->digits_at + i + (i >= parts->whole_count ? 1 : 0);

    return text.data[at] - '0';
}

bool
sinter__decimal_parse(sinter_bytes text, uint32_t precision, uint32_t scale, sinter__int128 *out)
{
    const sinter__uint128 limit = sinter__power_of_ten(precision);
    sinter__uint128 value = 0;
    decimal_text parts;
    int64_t keep = 0;
    size_t count = 0;

    if (!decimal_split(text, &parts)) {
        return false;
    }
    count = parts.whole_count + parts.fraction_count;
    /* Digits before `keep` make the unscaled value; those behind would be lost. */
    keep = (int64_t)parts.whole_count + parts.exponent + (int64_t)scale;
    for (size_t i = 0; i < count; i++) {
        const int digit = decimal_digit(text, &parts, i);

        if ((int64_t)i >= keep) {
            if (digit != 0) {
                return false;
            }
            continue;
        }
        if (value >= limit / 10) {
            return false;
        }
        value = value * 10 + (unsigned)digit;
    }
    for (int64_t i = (int64_t)count; i < keep && value != 0; i++) {
        if (value >= limit / 10) {
            return false;
        }
        value *= 10;
    }
    *out = parts.negative ? -(sinter__int128)value : (sinter__int128)value;
    return true;
}

void
sinter__decimal_print(sinter__int128 value, uint32_t scale, char out[SINTER__NUMBER_TEXT_MAX])
{
    char digits[48];
    size_t count = 0;
    size_t at = 0;
    sinter__uint128 rest = magnitude(value);

    assert(scale <= SINTER__DECIMAL_PRECISION_MAX);
    do {
        digits[count++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest != 0 || count <= scale);
    if (value < 0) {
        out[at++] = '-';
    }
    while (count > 0) {
        if (count == scale && scale > 0) {
            out[at++] = '.';
        }
        out[at++] = digits[--count];
    }
    out[at] = '\0';
}
