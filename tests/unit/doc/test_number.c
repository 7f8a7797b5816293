#include <criterion/criterion.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "doc/number.h"

TestSuite(doc_number, .timeout = 60);

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){.data = (const uint8_t *)text, .size = strlen(text)};
}

static const char *
print_double(double value)
{
    static char text[SINTER__NUMBER_TEXT_MAX];
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    sinter__double_print(bits, text);
    return text;
}

static const char *
print_float(float value)
{
    static char text[SINTER__NUMBER_TEXT_MAX];
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    sinter__float_print(bits, text);
    return text;
}

Test(doc_number, floating_point_prints_the_fewest_digits)
{
    cr_expect_str_eq(print_double(0.1), "0.1");
    cr_expect_str_eq(print_double(1e300), "1e+300");
    cr_expect_str_eq(print_double(-0.0), "-0");
    cr_expect_str_eq(print_double(21), "21");
    cr_expect_str_eq(print_double(100), "1e+02", "%%.1g reads back");
    cr_expect_str_eq(print_double(123456789012345680.0), "1.2345678901234568e+17");
    cr_expect_str_eq(print_double(5e-324), "5e-324");
    cr_expect_str_eq(print_double(1.0 / 3), "0.3333333333333333");
    cr_expect_str_eq(print_double(2.0 / 3 * 3 + 1e-15), "2.000000000000001");
    cr_expect_str_eq(print_float(0.1f), "0.1");
    cr_expect_str_eq(print_float(16777216.0f), "16777216");
    cr_expect_str_eq(print_float(1e-45f), "1e-45");
    cr_expect_str_eq(print_float(3.4028235e38f), "3.4028235e+38");
}

/* The plain way: P from 1 on until the text reads back. */
static void
print_slowly(double value, bool single, char out[SINTER__NUMBER_TEXT_MAX])
{
    for (int precision = 1; precision <= (single ? 9 : 17); precision++) {
        (void)snprintf(out, SINTER__NUMBER_TEXT_MAX, "%.*g", precision, value);
        if (single ? strtof(out, NULL) == (float)value : strtod(out, NULL) == value) {
            return;
        }
    }
}

Test(doc_number, the_fewest_digits_are_those_of_a_plain_search)
{
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        case_random random = {.state = seed};
        uint64_t bits = case_next(&random);
        uint32_t bits32 = (uint32_t)case_next(&random);
        char expected[SINTER__NUMBER_TEXT_MAX];
        char found[SINTER__NUMBER_TEXT_MAX];
        uint64_t back = 0;
        uint32_t back32 = 0;
        double value;
        float value32;

        if (seed % 3 == 0) { /* few digits */
            value = (double)(int64_t)(bits % 2000001) / 1000.0 - 1000.0;
            memcpy(&bits, &value, sizeof bits);
            value32 = (float)value;
            memcpy(&bits32, &value32, sizeof bits32);
        } else if (seed % 3 == 1) { /* subnormal */
            bits &= 0x800fffffffffffffu;
            bits32 &= 0x807fffffu;
        }
        memcpy(&value, &bits, sizeof value);
        memcpy(&value32, &bits32, sizeof value32);
        if (value - value == 0) {
            print_slowly(value, false, expected);
            sinter__double_print(bits, found);
            cr_assert_str_eq(found, expected, "seed %" PRIu64, seed);
            cr_assert(sinter__double_parse(bytes_of(found), &back) && back == bits,
                      "seed %" PRIu64 ": %s", seed, found);
        }
        if (value32 - value32 == 0) {
            print_slowly((double)value32, true, expected);
            sinter__float_print(bits32, found);
            cr_assert_str_eq(found, expected, "seed %" PRIu64, seed);
            cr_assert(sinter__float_parse(bytes_of(found), &back32) && back32 == bits32,
                      "seed %" PRIu64 ": %s", seed, found);
        }
    }
}

Test(doc_number, floating_point_text_is_json_or_one_of_three_words)
{
    static const char *const refused[] = {
        "",   "-",  ".5",  "1.",  "1e",    "1e+",    "+1",        "nan",  "inf",  "0x1",
        "1 ", " 1", "1,5", "--1", "1e400", "-1e400", "Infinity1", "NaN ", "1_000"};
    static const char *const taken[] = {"NaN", "Infinity", "-Infinity", "0",    "-0",
                                        "007", "-007.5",   "1e5",       "1E-5", "1e+5",
                                        "0.5", "00",       "1e-400"};
    uint64_t bits = 0;
    uint32_t bits32 = 0;

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        cr_expect_not(sinter__double_parse(bytes_of(refused[i]), &bits), "\"%s\"", refused[i]);
        cr_expect_not(sinter__float_parse(bytes_of(refused[i]), &bits32), "\"%s\"", refused[i]);
    }
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        cr_expect(sinter__double_parse(bytes_of(taken[i]), &bits), "\"%s\"", taken[i]);
        cr_expect(sinter__float_parse(bytes_of(taken[i]), &bits32), "\"%s\"", taken[i]);
    }
    cr_expect_not(sinter__float_parse(bytes_of("1e39"), &bits32), "no FLOAT is so large");
    cr_expect(sinter__double_parse(bytes_of("-007.5"), &bits) && bits == 0xc01e000000000000u);
}

Test(doc_number, a_long_number_is_read_and_a_longer_one_refused)
{
    char text[1400];
    uint64_t bits = 0;

    memset(text, '1', sizeof text);
    memcpy(text, "0.", 2);
    cr_expect(sinter__double_parse((sinter_bytes){.data = (uint8_t *)text, .size = 1000}, &bits));
    cr_expect_not(
        sinter__double_parse((sinter_bytes){.data = (uint8_t *)text, .size = 1400}, &bits));
}

Test(doc_number, a_foreign_locale_changes_nothing)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"};
    uint64_t bits = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)setlocale(LC_ALL, names[i]);
        cr_expect_str_eq(print_double(1.5), "1.5");
        cr_expect(sinter__double_parse(bytes_of("2.5"), &bits));
        cr_expect_eq(bits, 0x4004000000000000u);
    }
}

Test(doc_number, integers_are_64_bits)
{
    static const struct {
        const char *text;
        bool is_integer;
        bool overflow;
        int64_t value;
    } cases[] = {
        {"0", true, false, 0},
        {"-0", true, false, 0},
        {"0042", true, false, 42},
        {"9223372036854775807", true, false, INT64_MAX},
        {"-9223372036854775808", true, false, INT64_MIN},
        {"9223372036854775808", false, true, 0},
        {"-9223372036854775809", false, true, 0},
        {"99999999999999999999999", false, true, 0},
        {"9223372036854775808x", false, false, 0},
        {"", false, false, 0},
        {"-", false, false, 0},
        {"+1", false, false, 0},
        {"1.0", false, false, 0},
        {"1e3", false, false, 0},
        {" 1", false, false, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 0;
        bool overflow = false;

        cr_expect_eq(sinter__integer_parse(bytes_of(cases[i].text), &value, &overflow),
                     cases[i].is_integer, "\"%s\"", cases[i].text);
        cr_expect_eq(overflow, cases[i].overflow, "\"%s\"", cases[i].text);
        cr_expect_eq(value, cases[i].value, "\"%s\"", cases[i].text);
    }
}

static void
expect_decimal(const char *text, uint32_t precision, uint32_t scale, const char *printed)
{
    sinter__int128 value = 0;
    char out[SINTER__NUMBER_TEXT_MAX];
    const bool taken = sinter__decimal_parse(bytes_of(text), precision, scale, &value);

    cr_expect_eq(taken, printed != NULL, "\"%s\" as DECIMAL(%u, %u)", text, precision, scale);
    if (taken && printed != NULL) {
        sinter__decimal_print(value, scale, out);
        cr_expect_str_eq(out, printed);
    }
}

Test(doc_number, decimals_lose_no_digit)
{
    expect_decimal("1.25", 10, 2, "1.25");
    expect_decimal("-1.25", 10, 2, "-1.25");
    expect_decimal("1", 10, 2, "1.00");
    expect_decimal("0.050", 10, 2, "0.05");
    expect_decimal("-0.05", 2, 2, "-0.05");
    expect_decimal("0.051", 10, 2, NULL);
    expect_decimal("12.5e1", 10, 2, "125.00");
    expect_decimal("1250e-3", 10, 2, "1.25");
    expect_decimal("1251e-3", 10, 2, NULL);
    expect_decimal("100.00", 4, 2, NULL);
    expect_decimal("99.99", 4, 2, "99.99");
    expect_decimal("0e999999999", 4, 2, "0.00");
    expect_decimal("1e999999999", 4, 2, NULL);
    expect_decimal("1e-999999999", 4, 2, NULL);
    expect_decimal("1e9999999999", 4, 2, NULL);
    expect_decimal("99999999999999999999999999999999999999", 38, 0,
                   "99999999999999999999999999999999999999");
    expect_decimal("-99999999999999999999999999999999999999", 38, 0,
                   "-99999999999999999999999999999999999999");
    expect_decimal("100000000000000000000000000000000000000", 38, 0, NULL);
    expect_decimal("399999999999999999999999999999999999999", 38, 0, NULL);
    expect_decimal("00000000000000000000000000000000000000000000001", 38, 0, "1");
    expect_decimal("", 10, 2, NULL);
    expect_decimal("-", 10, 2, NULL);
    expect_decimal(".5", 10, 2, NULL);
    expect_decimal("5.", 10, 2, NULL);
    expect_decimal("1e", 10, 2, NULL);
    expect_decimal("1 ", 10, 2, NULL);
    expect_decimal("NaN", 10, 2, NULL);
}

static size_t
parse_date(const char *text, int64_t *days)
{
    return sinter__date_parse(bytes_of(text), days);
}

Test(doc_number, dates_are_those_of_the_gregorian_calendar)
{
    static const struct {
        const char *text;
        int64_t days;
    } dates[] = {{"1970-01-01", 0},
                 {"1969-12-31", -1},
                 {"2024-02-29", 19782},
                 {"2000-02-29", 11016},
                 {"1900-03-01", -25508},
                 {"0000-01-01", -719528},
                 {"-0001-12-31", -719529},
                 {"9999-12-31", 2932896},
                 {"+10000-01-01", 2932897},
                 {"+5881580-07-11", INT32_MAX},
                 {"-5877641-06-23", INT32_MIN}};
    static const char *const refused[] = {
        "",           "2023-02-29",  "1900-02-29",        "2024-13-01", "2024-00-01",
        "2024-01-00", "2024-04-31",  "24-01-01",          "2024/01/01", "10000-01-01",
        "2024-1-1",   "+-001-01-01", "+99999999999-01-01"};

    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        int64_t days = 0;
        char text[SINTER__NUMBER_TEXT_MAX];

        cr_expect_eq(parse_date(dates[i].text, &days), strlen(dates[i].text), "%s", dates[i].text);
        cr_expect_eq(days, dates[i].days, "%s", dates[i].text);
        (void)sinter__date_print(dates[i].days, text);
        cr_expect_str_eq(text, dates[i].text);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        int64_t days = 0;

        cr_expect_eq(parse_date(refused[i], &days), 0, "%s", refused[i]);
    }
}

Test(doc_number, every_day_of_eight_centuries_comes_back)
{
    int64_t back = 0;
    char text[SINTER__NUMBER_TEXT_MAX];

    for (int64_t day = -146097; day <= 146097; day++) {
        const size_t size = sinter__date_print(day, text);

        cr_assert_eq(sinter__date_parse(bytes_of(text), &back), size);
        cr_assert_eq(back, day, "%s", text);
    }
}

Test(doc_number, times_have_as_many_decimals_as_their_type)
{
    sinter__clock_time time;
    char text[SINTER__NUMBER_TEXT_MAX];

    cr_expect_eq(sinter__time_parse(bytes_of("23:59:59.999"), 3, &time), 12);
    cr_expect_eq(time.ms, 86399999);
    cr_expect_eq(sinter__time_parse(bytes_of("00:00:00.0000001"), 7, &time), 16);
    cr_expect_eq(time.nanos, 100);
    cr_expect_eq(sinter__time_parse(bytes_of("00:00:00.1200"), 2, &time), 13, "zeros may follow");
    cr_expect_eq(sinter__time_parse(bytes_of("00:00:00.123"), 2, &time), 0);
    cr_expect_eq(sinter__time_parse(bytes_of("24:00:00"), 3, &time), 0);
    cr_expect_eq(sinter__time_parse(bytes_of("23:60:00"), 3, &time), 0);
    cr_expect_eq(sinter__time_parse(bytes_of("23:00:60"), 3, &time), 0);
    cr_expect_eq(sinter__time_parse(bytes_of("23:00"), 3, &time), 0);
    cr_expect_eq(sinter__time_parse(bytes_of("23:00:00."), 3, &time), 0);
    time = (sinter__clock_time){.ms = 86399999, .nanos = 1000};
    (void)sinter__time_print(time, 9, text);
    cr_expect_str_eq(text, "23:59:59.999001000");
    (void)sinter__time_print(time, 0, text);
    cr_expect_str_eq(text, "23:59:59");
}
