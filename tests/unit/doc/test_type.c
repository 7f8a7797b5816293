#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "cases.h"
#include "support/fault_alloc.h"

TestSuite(doc_type, .timeout = 60);

Test(doc_type, texts_have_one_canonical_form)
{
    static const char *const cases[][2] = {
        {"INT NOT NULL", "INT NOT NULL"},
        {"int", "INT"},
        {"INTEGER", "INT"},
        {"INT NULL", "INT"},
        {"  BIGINT   NOT  NULL ", "BIGINT NOT NULL"},
        {"BOOLEAN", "BOOLEAN"},
        {"TINYINT", "TINYINT"},
        {"SMALLINT", "SMALLINT"},
        {"FLOAT", "FLOAT"},
        {"DOUBLE PRECISION", "DOUBLE"},
        {"DECIMAL", "DECIMAL(10, 0)"},
        {"DEC(5)", "DECIMAL(5, 0)"},
        {"NUMERIC( 38 ,38 )", "DECIMAL(38, 38)"},
        {"DECIMAL(10, 2)", "DECIMAL(10, 2)"},
        {"DATE", "DATE"},
        {"TIME", "TIME(0)"},
        {"TIME(3) WITHOUT TIME ZONE", "TIME(3)"},
        {"TIMESTAMP", "TIMESTAMP(6)"},
        {"TIMESTAMP(9) NOT NULL", "TIMESTAMP(9) NOT NULL"},
        {"TIMESTAMP(0) WITHOUT TIME ZONE", "TIMESTAMP(0)"},
        {"TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE"},
        {"TIMESTAMP_LTZ(3) NOT NULL", "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL"},
        {"CHAR", "CHAR(1)"},
        {"CHAR(2147483647)", "CHAR(2147483647)"},
        {"VARCHAR(20)", "VARCHAR(20)"},
        {"VARCHAR(2147483647)", "STRING"},
        {"STRING NOT NULL", "STRING NOT NULL"},
        {"BINARY(4)", "BINARY(4)"},
        {"VARBINARY(4)", "VARBINARY(4)"},
        {"BYTES", "BYTES"},
        {"ARRAY<INT NOT NULL> NOT NULL", "ARRAY NOT NULL"},
        {"MAP<STRING, ARRAY<INT>>", "MAP"},
        {"MULTISET", "MULTISET"},
        {"ROW<a INT>", "ROW"},
        {"VARIANT", "VARIANT"},
        {"BLOB", "BLOB"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sinter_type type = case_parse_type(cases[i][0]);
        char text[SINTER_TYPE_TEXT_MAX];

        sinter_type_print(&type, text);
        cr_expect_str_eq(text, cases[i][1]);
    }
}

Test(doc_type, what_is_no_type_is_refused_with_its_place)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"", "character 1: no type has this name"},
        {"INTX", "character 1: no type has this name"},
        {"AVERYLONGNAMEINDEED", "character 1: no type has this name"},
        {"INT NOT", "character 5: what stands here belongs to no type"},
        {"INT(4)", "character 4: what stands here belongs to no type"},
        {"STRING(4)", "character 7: what stands here belongs to no type"},
        {"DECIMAL(0, 0)", "DECIMAL has 1 to 38 digits"},
        {"DECIMAL(39, 0)", "DECIMAL has 1 to 38 digits"},
        {"DECIMAL(4, 5)", "DECIMAL has more decimals than digits"},
        {"DECIMAL(4", "\")\" is missing"},
        {"DECIMAL()", "a number is missing"},
        {"DECIMAL(-1)", "a number is missing"},
        {"TIMESTAMP(10)", "at most 9 decimals"},
        {"TIME(10)", "at most 9 decimals"},
        {"VARCHAR(0)", "the length is at least 1"},
        {"VARCHAR(2147483648)", "the number is too large"},
        {"VARCHAR(99999999999999999999999)", "the number is too large"},
        {"ARRAY<INT", "\">\" is missing"},
        {"TIME WITH LOCAL TIME ZONE", "belongs to no type"},
        {"INT\x01", "belongs to no type"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_type type = {.id = -7};
        sinter_error err = SINTER_ERROR_INIT;

        cr_expect_eq(sinter_type_parse(cases[i].text, &type, &err), SINTER_E_INVALID, "%s",
                     cases[i].text);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s: %s", cases[i].text, err.text);
        cr_expect_eq(type.id, -7, "untouched");
    }
}

Test(doc_type, nested_texts_have_one_canonical_form)
{
    static const char *const cases[][2] = {
        {"array<int not null> not null", "ARRAY<INT NOT NULL> NOT NULL"},
        {"MAP < STRING , ARRAY<INT> >", "MAP<STRING, ARRAY<INT>>"},
        {"MULTISET<DECIMAL(5, 2)>", "MULTISET<DECIMAL(5, 2)>"},
        {"ROW<a INT, b ROW<`c` STRING NOT NULL>>", "ROW<a INT, b ROW<c STRING NOT NULL>>"},
        {"ROW(a INT, `b c` STRING)", "ROW<a INT, `b c` STRING>"},
        {"ROW<`a``b` INT COMMENT 'it''s', c INT 'plain'>",
         "ROW<`a``b` INT COMMENT 'it''s', c INT COMMENT 'plain'>"},
        {"ROW<\xc3\xa9 INT>", "ROW<\xc3\xa9 INT>"},
        {"ROW<array ARRAY<INT>>", "ROW<array ARRAY<INT>>"},
        {"ROW<> NOT NULL", "ROW<> NOT NULL"},
        {"ROW<v VARIANT, b BLOB>", "ROW<v VARIANT, b BLOB>"},
        {"INT NOT NULL", "INT NOT NULL"},
        {"MAP", "MAP"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_type *type = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text text;

        sinter_text_init(sinter_env_default(), &text);
        cr_assert_eq(sinter_type_create(sinter_env_default(), cases[i][0], &type, &err), SINTER_OK,
                     "%s", err.text);
        cr_assert_eq(sinter_type_print_full(type, &text, NULL), SINTER_OK);
        cr_expect_str_eq(text.data, cases[i][1]);
        sinter_text_fini(&text);
        sinter_type_destroy(type);
    }
}

Test(doc_type, nested_texts_are_refused_with_their_place)
{
    static const char *const cases[][2] = {
        {"ARRAY<INTX>", "character 7: no type has this name"},
        {"MAP<INT>", "character 8: \",\" is missing"},
        {"MAP<INT, INT", "\">\" is missing"},
        {"ROW<a>", "no type has this name"},
        {"ROW<a INT b INT>", "\">\" is missing"},
        {"ROW(a INT>", "\")\" is missing"},
        {"ROW<INT>", "no type has this name"},
        {"ROW<, a INT>", "the name of a field is missing"},
        {"ROW<`a INT>", "the closing quote is missing"},
        {"ROW<a INT COMMENT>", "a text in quotes is missing"},
        {"ROW<a INT, a DATE>", "two fields of a ROW are named \"a\""},
        {"ROW<`` INT>", "field 1 of a ROW has no name"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_type *type = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        cr_expect_eq(sinter_type_create(sinter_env_default(), cases[i][0], &type, &err),
                     SINTER_E_INVALID, "%s", cases[i][0]);
        cr_expect_null(type);
        cr_expect_not_null(strstr(err.text, cases[i][1]), "%s: %s", cases[i][0], err.text);
    }
}

Test(doc_type, every_allocation_may_fail)
{
    static const char text[] = "ROW<a ARRAY<INT>, `b``` MAP<INT, MULTISET<INT>> COMMENT 'c'>";
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_type *type = NULL;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter_type_create(&fault.env, text, &type, NULL);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && type == NULL));
        sinter_type_destroy(type);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
}

Test(doc_type, every_atomic_type_comes_back_from_its_text)
{
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        case_random random = {.state = seed};
        const sinter_type type = case_type(&random, case_below(&random, 2) == 0);
        sinter_type back = {0};
        char text[SINTER_TYPE_TEXT_MAX];

        sinter_type_print(&type, text);
        cr_assert_eq(sinter_type_parse(text, &back, NULL), SINTER_OK, "seed %" PRIu64, seed);
        cr_assert(back.id == type.id && back.nullable == type.nullable &&
                      back.precision == type.precision && back.scale == type.scale,
                  "seed %" PRIu64 ": %s", seed, text);
    }
}

Test(doc_type, the_names_of_numbers_that_are_no_type_are_unknown)
{
    cr_expect_str_eq(sinter_type_name(-1), "unknown");
    cr_expect_str_eq(sinter_type_name(1000), "unknown");
    cr_expect_str_eq(sinter_type_name(SINTER_TYPE_MULTISET), "MULTISET");
}
