/*
 * Dates and times of day. Days are counted with the Gregorian calendar in both directions, years
 * as astronomers do (0 is 1 BC), which is what java.time prints.
 */
#include <assert.h>
#include <stdio.h>

#include "doc/number.h"

/* Days from 1970-01-01; the year begins in March, so that the leap day is its last. */
static int64_t
days_from_civil(int64_t year, int64_t month, int64_t day)
{
    const int64_t shifted = month <= 2 ? year - 1 : year;
    const int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
    const int64_t year_of_era = shifted - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

static int
days_in_month(int64_t year, int month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && leap ? 29 : days[month - 1];
}

size_t
sinter__date_print(int64_t days, char out[SINTER__NUMBER_TEXT_MAX])
{
    const int64_t shifted = days + 719468;
    const int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    const int64_t day_of_era = shifted - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t month_index = (5 * day_of_year + 2) / 153;
    const int day = (int)(day_of_year - (153 * month_index + 2) / 5 + 1);
    const int month = (int)(month_index < 10 ? month_index + 3 : month_index - 9);
    const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
    const char *sign = year < 0 ? "-" : (year > 9999 ? "+" : "");
    int length;

    assert(month >= 1 && month <= 12);
    length = snprintf(out, SINTER__NUMBER_TEXT_MAX, "%s%04lld-%02d-%02d", sign,
                      (long long)(year < 0 ? -year : year), month, day);
    assert(length > 0 && length < SINTER__NUMBER_TEXT_MAX);
    return (size_t)length;
}

/* Exactly `count` digits at `at`; -1 if there are fewer. */
static int64_t
digits_value(sinter_bytes text, size_t at, size_t count)
{
    int64_t value = 0;

    if (at > text.size || count > text.size - at) {
        return -1;
    }
    for (size_t i = at; i < at + count; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return -1;
        }
        value = value * 10 + (text.data[i] - '0');
    }
    return value;
}

static bool
is_byte(sinter_bytes text, size_t at, char byte)
{
    return at < text.size && text.data[at] == (uint8_t)byte;
}

size_t
sinter__date_parse(sinter_bytes text, int64_t *days_out)
{
    const bool negative = is_byte(text, 0, '-');
    const size_t begin = negative || is_byte(text, 0, '+') ? 1 : 0;
    size_t digits = 0;
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;

    while (begin + digits < text.size && digits < 10 && text.data[begin + digits] != '-') {
        digits++;
    }
    /* Five digits and more need a sign, so that a typing mistake is no far future. */
    if (digits < 4 || digits > 9 || (digits > 4 && begin == 0)) {
        return 0;
    }
    year = digits_value(text, begin, digits);
    month = digits_value(text, begin + digits + 1, 2);
    day = digits_value(text, begin + digits + 4, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1 || !is_byte(text, begin + digits, '-') ||
        !is_byte(text, begin + digits + 3, '-')) {
        return 0;
    }
    year = negative ? -year : year;
    if (day > days_in_month(year, (int)month)) {
        return 0;
    }
    *days_out = days_from_civil(year, month, day);
    return begin + digits + 6;
}

size_t
sinter__time_parse(sinter_bytes text, uint32_t decimals, sinter__clock_time *out)
{
    const int64_t hour = digits_value(text, 0, 2);
    const int64_t minute = digits_value(text, 3, 2);
    const int64_t second = digits_value(text, 6, 2);
    int64_t fraction = 0;
    uint32_t count = 0;

    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 ||
        !is_byte(text, 2, ':') || !is_byte(text, 5, ':')) {
        return 0;
    }
    if (is_byte(text, 8, '.')) {
        while (count < 9 && digits_value(text, 9 + count, 1) >= 0) {
            const int64_t digit = digits_value(text, 9 + count, 1);

            if (count >= decimals && digit != 0) {
                return 0;
            }
            fraction = fraction * 10 + digit;
            count++;
        }
        if (count == 0) {
            return 0;
        }
    }
    for (uint32_t i = count; i < 9; i++) {
        fraction *= 10;
    }
    out->ms = ((hour * 60 + minute) * 60 + second) * 1000 + fraction / 1000000;
    out->nanos = (int32_t)(fraction % 1000000);
    return count == 0 ? 8 : 9 + (size_t)count;
}

size_t
sinter__time_print(sinter__clock_time time, uint32_t decimals, char out[SINTER__NUMBER_TEXT_MAX])
{
    const int64_t seconds = time.ms / 1000;
    int64_t fraction = time.ms % 1000 * 1000000 + time.nanos;
    int length;

    assert(time.ms >= 0 && time.ms < 86400000);
    assert(decimals <= 9);
    for (uint32_t i = decimals; i < 9; i++) {
        fraction /= 10;
    }
    length = snprintf(out, SINTER__NUMBER_TEXT_MAX, "%02d:%02d:%02d", (int)(seconds / 3600),
                      (int)(seconds / 60 % 60), (int)(seconds % 60));
    assert(length == 8);
    if (decimals > 0) {
        length += snprintf(out + length, SINTER__NUMBER_TEXT_MAX - (size_t)length, ".%0*lld",
                           (int)decimals, (long long)fraction);
    }
    return (size_t)length;
}
