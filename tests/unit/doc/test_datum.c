#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "cases.h"
#include "support/fault_alloc.h"

TestSuite(doc_datum, .timeout = 60);

static sinter_status
parse(const char *type_text, const char *text, uint32_t flags, sinter_text *scratch,
      sinter_datum *out, sinter_error *err)
{
    const sinter_column column = {"c", case_parse_type(type_text)};

    return sinter_datum_parse(&column,
                              (sinter_bytes){.data = (const uint8_t *)text, .size = strlen(text)},
                              flags, scratch, out, err);
}

Test(doc_datum, values_print_in_their_canonical_form)
{
    static const struct {
        const char *type;
        const char *text;
        const char *json;
    } cases[] = {
        {"BOOLEAN", "true", "true"},
        {"BOOLEAN", "false", "false"},
        {"TINYINT", "-128", "-128"},
        {"BIGINT", "-9223372036854775808", "-9223372036854775808"},
        {"FLOAT", "0.1", "0.1"},
        {"DOUBLE", "1e300", "1e+300"},
        {"DOUBLE", "-0", "-0"},
        {"DOUBLE", "NaN", "\"NaN\""},
        {"FLOAT", "-Infinity", "\"-Infinity\""},
        {"DECIMAL(10, 2)", "-1.25", "\"-1.25\""},
        {"DECIMAL(38, 0)", "12345678901234567890123456789012345678",
         "\"12345678901234567890123456789012345678\""},
        {"STRING", "\xc3\xa9\n\"\\\x01\x1f\x7f/", "\"\xc3\xa9\\n\\\"\\\\\\u0001\\u001F\x7f/\""},
        {"STRING", "\b\f\r\t", "\"\\b\\f\\r\\t\""},
        {"CHAR(3)", "ab", "\"ab\""},
        {"BYTES", "00FF", "\"00ff\""},
        {"DATE", "1969-12-31", "\"1969-12-31\""},
        {"TIME(0)", "23:59:59.999", "\"23:59:59.999\""},
        {"TIMESTAMP(0)", "2024-02-29T12:00:00", "\"2024-02-29 12:00:00\""},
        {"TIMESTAMP(3)", "2024-02-29 12:00:00.125", "\"2024-02-29 12:00:00.125\""},
        {"TIMESTAMP(9)", "1969-12-31 23:59:59.999999999", "\"1969-12-31 23:59:59.999999999\""},
        {"TIMESTAMP(3) WITH LOCAL TIME ZONE", "2024-02-29 12:00:00.125Z",
         "\"2024-02-29 12:00:00.125Z\""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sinter_type type = case_parse_type(cases[i].type);
        sinter_datum datum;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text scratch;
        sinter_text out;

        sinter_text_init(sinter_env_default(), &scratch);
        sinter_text_init(sinter_env_default(), &out);
        cr_assert_eq(parse(cases[i].type, cases[i].text, 0, &scratch, &datum, &err), SINTER_OK,
                     "%s: %s", cases[i].text, err.text);
        cr_assert_eq(sinter_datum_print_json(&type, &datum, 0, &out, &err), SINTER_OK);
        cr_expect_str_eq(out.data, cases[i].json);
        sinter_text_fini(&out);
        sinter_text_fini(&scratch);
    }
}

Test(doc_datum, what_does_not_fit_is_refused_by_column)
{
    static const struct {
        const char *type;
        const char *text;
        const char *says;
    } cases[] = {
        {"BOOLEAN", "TRUE", "column \"c\": \"TRUE\" is no BOOLEAN"},
        {"TINYINT", "128", "column \"c\": 128 is out of the range of TINYINT"},
        {"SMALLINT NOT NULL", "-32769", "out of the range of SMALLINT NOT NULL"},
        {"INT", "2147483648", "out of the range of INT"},
        {"BIGINT", "9223372036854775808", "out of the range of BIGINT"},
        {"INT", "1.0", "\"1.0\" is no INT"},
        {"INT", "", "\"\" is no INT"},
        {"FLOAT", "1e39", "is no FLOAT"},
        {"DOUBLE", "abc", "is no DOUBLE"},
        {"DECIMAL(4, 2)", "100.00", "is no DECIMAL(4, 2)"},
        {"VARCHAR(2)", "abc", "3 characters don't fit VARCHAR(2)"},
        {"VARBINARY(1)", "0011", "2 bytes don't fit VARBINARY(1)"},
        {"BYTES", "0", "\"0\" is no BYTES"},
        {"BYTES", "0g", "\"0g\" is no BYTES"},
        {"DATE", "2023-02-29", "is no DATE"},
        {"DATE", "2024-01-01 ", "is no DATE"},
        {"DATE", "+5881580-07-12", "is no DATE"},
        {"TIME", "12:00", "is no TIME(0)"},
        {"TIME", "12:00:00.0001", "is no TIME(0)"},
        {"TIMESTAMP(3)", "2024-01-01", "is no TIMESTAMP(3)"},
        {"TIMESTAMP(3)", "2024-01-01 12:00:00.0001", "is no TIMESTAMP(3)"},
        {"TIMESTAMP(3)", "2024-01-01 12:00:00Z", "is no TIMESTAMP(3)"},
        {"TIMESTAMP(3)", "+999999999-01-01 00:00:00", "is no TIMESTAMP(3)"},
        {"TIMESTAMP(3) WITH LOCAL TIME ZONE", "2024-01-01 12:00:00", "is no TIMESTAMP(3) WITH"},
        {"INT", "\xff", "a text of 1 bytes is no INT"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_datum datum;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text scratch;

        sinter_text_init(sinter_env_default(), &scratch);
        cr_expect_eq(parse(cases[i].type, cases[i].text, 0, &scratch, &datum, &err),
                     SINTER_E_INVALID, "%s \"%s\"", cases[i].type, cases[i].text);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s", err.text);
        sinter_text_fini(&scratch);
    }
}

Test(doc_datum, long_texts_are_cut_between_characters_in_errors)
{
    char text[200];
    sinter_datum datum;
    sinter_error err = SINTER_ERROR_INIT;

    memset(text, 'x', 59);
    memcpy(text + 59, "\xc3\xa9\xc3\xa9", 5);
    cr_expect_eq(parse("INT", text, 0, NULL, &datum, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "xxx...\" is no INT"), "%s", err.text);
}

Test(doc_datum, characters_are_counted_not_bytes)
{
    sinter_datum datum;

    cr_expect_eq(parse("VARCHAR(2)", "\xc3\xa9\xf0\x9f\x98\x80", 0, NULL, &datum, NULL), SINTER_OK);
    cr_expect_eq(parse("CHAR(1)", "\xc3\xa9\xc3\xa9", 0, NULL, &datum, NULL), SINTER_E_INVALID);
}

Test(doc_datum, nested_types_without_their_parts_are_refused_by_name)
{
    const sinter_type type = case_parse_type("MULTISET<INT>");
    sinter_datum datum = {.is_null = true};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_expect_eq(parse("ARRAY<INT>", "[]", 0, NULL, &datum, &err), SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.text, "column \"c\": values of type ARRAY are not supported");
    cr_expect_eq(sinter_datum_check(&type, NULL, &datum, &err), SINTER_E_UNSUPPORTED);
    cr_expect_eq(sinter_datum_print_json(&type, &datum, 0, &out, &err), SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.text, "values of type MULTISET are not supported");
    sinter_text_fini(&out);
}

Test(doc_datum, invalid_utf8_prints_as_hex_only)
{
    static const char *const invalid[] = {
        "\xff",         "\xc3",  "\xc0\x80",        "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xe0\x80\x80", "a\x80", "\xf0\x80\x80\x80"};
    const sinter_type type = case_parse_type("STRING");
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        const sinter_datum datum = {
            .as.bytes = {.data = (const uint8_t *)invalid[i], .size = strlen(invalid[i])}};

        cr_expect_eq(sinter_datum_print_json(&type, &datum, 0, &out, NULL), SINTER_E_INVALID);
        cr_expect_eq(sinter_datum_print_text(&type, &datum, 0, &out, NULL), SINTER_E_INVALID);
        sinter_text_reset(&out);
        cr_expect_eq(sinter_datum_print_json(&type, &datum, SINTER_PRINT_HEX_STRINGS, &out, NULL),
                     SINTER_OK);
    }
    cr_expect_str_eq(out.data, "\"f0808080\"");
    sinter_text_fini(&out);
}

Test(doc_datum, every_value_comes_back_from_its_text)
{
    sinter_text scratch;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &scratch);
    sinter_text_init(sinter_env_default(), &out);
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        case_random random = {.state = seed};
        const sinter_type type = case_type(&random, false);
        uint8_t room[CASE_BYTES_MAX];
        const sinter_datum datum = case_datum(&random, &type, true, room);
        sinter_datum back;
        sinter_error err = SINTER_ERROR_INIT;

        sinter_text_reset(&scratch);
        sinter_text_reset(&out);
        cr_assert_eq(sinter_datum_print_text(&type, &datum, 0, &out, &err), SINTER_OK,
                     "seed %" PRIu64 ": %s", seed, err.text);
        cr_assert_eq(sinter_datum_parse(&(sinter_column){"c", type}, sinter_text_bytes(&out), 0,
                                        &scratch, &back, &err),
                     SINTER_OK, "seed %" PRIu64 ": %s", seed, err.text);
        cr_assert(case_equal(&type, &datum, &back, true), "seed %" PRIu64 ": %s", seed, out.data);
    }
    sinter_text_fini(&out);
    sinter_text_fini(&scratch);
}

Test(doc_datum, ranges_are_checked)
{
    const sinter_type time = case_parse_type("TIME(3) NOT NULL");
    const sinter_type stamp = case_parse_type("TIMESTAMP(6)");
    sinter_datum datum = {.as.integer = 86400000};
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter_datum_check(&time, "t", &datum, &err), SINTER_E_INVALID);
    datum.as.integer = 0;
    datum.nanos = 1000000;
    cr_expect_eq(sinter_datum_check(&stamp, "t", &datum, &err), SINTER_E_INVALID);
    datum.nanos = 999999;
    cr_expect_eq(sinter_datum_check(&stamp, "t", &datum, &err), SINTER_OK);
    datum.is_null = true;
    cr_expect_eq(sinter_datum_check(&stamp, "t", &datum, &err), SINTER_OK);
    cr_expect_eq(sinter_datum_check(&time, "t", &datum, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "column \"t\": null, but declared NOT NULL");
}

Test(doc_datum, every_allocation_may_fail)
{
    const sinter_type type = case_parse_type("BYTES");
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_datum datum;
        sinter_text scratch;
        sinter_text out;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        sinter_text_init(&fault.env, &scratch);
        sinter_text_init(&fault.env, &out);
        st = parse("BYTES", "00ff", 0, &scratch, &datum, &err);
        if (st == SINTER_OK) {
            st = sinter_datum_print_json(&type, &datum, 0, &out, &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        sinter_text_fini(&out);
        sinter_text_fini(&scratch);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
}
