/* Expected texts were taken from names of partitions that Paimon 1.3.1 made. */
#include "table/java_text.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sinter/env.h"

typedef sinter_status (*text_of)(const sinter_type *type, const sinter_datum *datum,
                                 sinter_text *out, sinter_error *err);

static void
expect(text_of print, const char *type_text, const char *value, const char *expected)
{
    sinter_column column = {.name = "c"};
    sinter_text scratch;
    sinter_text out;
    sinter_datum datum;
    const sinter_bytes bytes = {(const uint8_t *)value, strlen(value)};

    sinter_text_init(sinter_env_default(), &scratch);
    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(sinter_type_parse(type_text, &column.type, NULL), SINTER_OK);
    cr_assert_eq(sinter_datum_parse(&column, bytes, 0, &scratch, &datum, NULL), SINTER_OK, "%s",
                 value);
    cr_assert_eq(print(&column.type, &datum, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, expected, "%s %s", type_text, value);
    sinter_text_fini(&scratch);
    sinter_text_fini(&out);
}

Test(table_java_text, floating_point_has_a_fraction_and_a_capital_exponent)
{
    static const char *const cases[][2] = {
        {"0", "0.0"},
        {"-0", "-0.0"},
        {"1.5", "1.5"},
        {"10", "10.0"},
        {"100", "100.0"},
        {"9999999", "9999999.0"},
        {"1e7", "1.0E7"},
        {"12345678.9", "1.23456789E7"},
        {"1e10", "1.0E10"},
        {"0.001", "0.001"},
        {"0.0123", "0.0123"},
        {"0.00099", "9.9E-4"},
        {"1e-5", "1.0E-5"},
        {"1e300", "1.0E300"},
        {"-2.5e-300", "-2.5E-300"},
        {"1234.5678", "1234.5678"},
        {"NaN", "NaN"},
        {"-Infinity", "-Infinity"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(sinter__java_cast_text, "DOUBLE", cases[i][0], cases[i][1]);
    }
    expect(sinter__java_cast_text, "FLOAT", "3.4028235e38", "3.4028235E38");
    expect(sinter__java_cast_text, "FLOAT", "0.1", "0.1");
}

/* Java 17's own: the shortest digits, and where it finds others. */
Test(table_java_text, numbers_have_the_digits_that_java_17_gives_them)
{
    static const struct {
        const char *type;
        uint64_t bits;
        const char *text;
    } cases[] = {{"DOUBLE", 0x1, "4.9E-324"},
                 {"DOUBLE", 0x4375ed5ab347f6dc, "9.8751173145619904E16"},
                 {"DOUBLE", 0x4b30000000000000, "1.5324955408658889E54"},
                 {"DOUBLE", 0x7bc0000000000000, "1.2181642514249999E288"},
                 {"DOUBLE", 0x43cf3252a9eaffb9, "4.4959001075137541E18"},
                 {"DOUBLE", 0x3720000000000000, "3.5873240686715317E-43"},
                 {"DOUBLE", 0x2f00000000000000, "2.6355494858076308E-82"},
                 {"DOUBLE", 0x44b52d02c7e14af6, "9.999999999999999E22"},
                 {"DOUBLE", 0x453a590000000000, "3.1852361926955756E25"},
                 {"DOUBLE", 0x453a1cffffffffff, "3.1569019937983573E25"},
                 {"DOUBLE", 0x7fefffffffffffff, "1.7976931348623157E308"},
                 {"DOUBLE", 0xbfb999999999999a, "-0.1"},
                 {"DOUBLE", 0x3f60624dd2f1a9fc, "0.002"},
                 {"DOUBLE", 0x416312cffff5c28f, "9999999.99875"},
                 {"FLOAT", 0x00800000, "1.17549435E-38"},
                 {"FLOAT", 0x00000001, "1.4E-45"},
                 {"FLOAT", 0x4b800000, "1.6777216E7"},
                 {"FLOAT", 0x5f000000, "9.223372E18"},
                 {"FLOAT", 0x69000000, "9.6714065E24"},
                 {"FLOAT", 0x6a5567fc, "6.4498062E25"},
                 {"FLOAT", 0x7f7fffff, "3.4028235E38"},
                 {"FLOAT", 0x3dcccccd, "0.1"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_field column;
        sinter_datum datum = {.nanos = 0};
        sinter_text out;

        sinter_text_init(sinter_env_default(), &out);
        cr_assert_eq(sinter_type_parse(cases[i].type, &column.type, NULL), SINTER_OK);
        if (column.type.id == SINTER_TYPE_FLOAT) {
            datum.as.float_bits = (uint32_t)cases[i].bits;
        } else {
            datum.as.double_bits = cases[i].bits;
        }
        cr_assert_eq(sinter__java_cast_text(&column.type, &datum, &out, NULL), SINTER_OK);
        cr_expect_str_eq(out.data, cases[i].text);
        sinter_text_fini(&out);
    }
}

Test(table_java_text, cast_to_string_has_dates_and_all_decimals_of_timestamps)
{
    static const char *const cases[][3] = {
        {"BOOLEAN", "true", "true"},
        {"BIGINT", "-9223372036854775808", "-9223372036854775808"},
        {"DECIMAL(12, 3)", "-0.001", "-0.001"},
        {"DATE", "1969-12-31", "1969-12-31"},
        {"TIME(3)", "12:34:56.000", "12:34:56.0"},
        {"TIME(3)", "10:00:00.120", "10:00:00.12"},
        {"TIME(3)", "00:00:00.007", "00:00:00.007"},
        {"TIME(0)", "10:00:00", "10:00:00"},
        {"TIMESTAMP(3)", "2023-11-14 22:13:20.100", "2023-11-14 22:13:20.100"},
        {"TIMESTAMP(6)", "1969-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999"},
        {"TIMESTAMP(0)", "2023-11-14 22:13:20", "2023-11-14 22:13:20"},
        {"TIMESTAMP(3) WITH LOCAL TIME ZONE", "2023-11-14 22:00:00.000Z",
         "2023-11-14 22:00:00.000"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(sinter__java_cast_text, cases[i][0], cases[i][1], cases[i][2]);
    }
}

Test(table_java_text, internal_text_has_day_numbers_and_the_shortest_timestamps)
{
    static const char *const cases[][3] = {
        {"DATE", "2022-01-08", "19000"},
        {"DATE", "0001-01-01", "-719162"},
        {"TIME(3)", "10:00:00.120", "36000120"},
        {"TIMESTAMP(3)", "1970-01-01 00:00:00.000", "1970-01-01T00:00"},
        {"TIMESTAMP(3)", "2023-11-14 22:13:00.001", "2023-11-14T22:13:00.001"},
        {"TIMESTAMP(3)", "0001-01-01 10:00:00.000", "0001-01-01T10:00"},
        {"TIMESTAMP(6)", "2023-11-14 22:13:20.123000", "2023-11-14T22:13:20.123"},
        {"TIMESTAMP(6)", "2023-11-14 22:00:00.000001", "2023-11-14T22:00:00.000001"},
        {"TIMESTAMP(6)", "2023-11-14 22:13:01.000000", "2023-11-14T22:13:01"},
        {"TIMESTAMP(9)", "2023-11-14 22:13:01.000000001", "2023-11-14T22:13:01.000000001"},
        {"TIMESTAMP(3) WITH LOCAL TIME ZONE", "1969-12-31 23:59:59.999Z",
         "1969-12-31T23:59:59.999"},
        {"DOUBLE", "1e10", "1.0E10"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(sinter__java_internal_text, cases[i][0], cases[i][1], cases[i][2]);
    }
}

Test(table_java_text, bytes_have_no_text_and_are_refused_by_name)
{
    const sinter_type type = {.id = SINTER_TYPE_VARBINARY, .precision = SINTER_TYPE_LENGTH_MAX};
    const sinter_datum datum = {0};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_expect_eq(sinter__java_cast_text(&type, &datum, &out, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "VARBINARY"));
    sinter_text_fini(&out);
}

Test(table_java_text, white_space_is_what_java_says)
{
    static const char *const blank[] = {
        "", " ", "\t\n\x0b\f\r", "\x1c\x1f", "\xe3\x80\x80 ", "\xe2\x80\x83", "\xe1\x9a\x80"};
    static const char *const not_blank[] = {"a",        " a ",         "\xc2\xa0", "\xe2\x80\x87",
                                            "\xe2\x80", "\xe2\x80\x8b"};

    for (size_t i = 0; i < sizeof blank / sizeof blank[0]; i++) {
        cr_expect(
            sinter__java_is_blank((sinter_bytes){(const uint8_t *)blank[i], strlen(blank[i])}),
            "%zu", i);
    }
    for (size_t i = 0; i < sizeof not_blank / sizeof not_blank[0]; i++) {
        cr_expect_not(sinter__java_is_blank(
                          (sinter_bytes){(const uint8_t *)not_blank[i], strlen(not_blank[i])}),
                      "%zu", i);
    }
}
