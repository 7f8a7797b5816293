#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "support/fault_alloc.h"

TestSuite(doc_row_type, .timeout = 60);

static sinter_status
parse(const char *json, sinter_row_type **out, sinter_error *err)
{
    return sinter_row_type_parse(sinter_env_default(), json, strlen(json), out, err);
}

Test(doc_row_type, both_forms_are_taken_and_one_is_printed)
{
    static const char *const forms[] = {
        "[{\"id\":7,\"name\":\"k\",\"type\":\"int not "
        "null\"},{\"name\":\"v\",\"type\":\"STRING\"}]",
        "{\"type\":\"ROW\",\"fields\":[{\"name\":\"k\",\"id\":\"7\",\"type\":\"INT NOT "
        "NULL\",\"x\":1},"
        "{\"name\":\"v\",\"type\":\"VARCHAR(2147483647)\",\"id\":1}]}",
    };

    for (size_t i = 0; i < 2; i++) {
        sinter_row_type *row_type = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        size_t key_count = 9;

        cr_assert_eq(parse(forms[i], &row_type, &err), SINTER_OK, "%s", err.text);
        cr_expect_str_eq(
            sinter_row_type_json(row_type),
            "{\"type\":\"ROW\",\"fields\":[{\"id\":7,\"name\":\"k\",\"type\":\"INT NOT NULL\"},"
            "{\"id\":1,\"name\":\"v\",\"type\":\"STRING\"}]}");
        cr_expect_eq(sinter_row_type_count(row_type), 2);
        cr_expect_eq(sinter_row_type_column_id(row_type, 0), 7);
        cr_expect_eq(sinter_row_type_find(row_type, "v"), 1);
        cr_expect_eq(sinter_row_type_find(row_type, "w"), SIZE_MAX);
        (void)sinter_row_type_keys(row_type, &key_count);
        cr_expect_eq(key_count, 0);
        sinter_row_type_destroy(row_type);
    }
}

Test(doc_row_type, key_columns_travel_with_the_row_type)
{
    const sinter_column columns[] = {{"a", case_parse_type("STRING")},
                                     {"b", case_parse_type("INT NOT NULL")},
                                     {"c", case_parse_type("DATE NOT NULL")}};
    const char *const keys[] = {"c", "b"};
    sinter_row_type *made = NULL;
    sinter_row_type *back = NULL;
    sinter_key_codec *codec = NULL;
    size_t count = 0;
    const size_t *positions;

    cr_assert_eq(sinter_row_type_create(
                     sinter_env_default(),
                     &(sinter_row_layout){sizeof(sinter_row_layout), 0, columns, 3, keys, 2}, &made,
                     NULL),
                 SINTER_OK);
    cr_assert_eq(parse(sinter_row_type_json(made), &back, NULL), SINTER_OK);
    cr_expect_str_eq(sinter_row_type_json(back), sinter_row_type_json(made));
    positions = sinter_row_type_keys(back, &count);
    cr_assert_eq(count, 2);
    cr_expect(positions[0] == 2 && positions[1] == 1, "in key order");
    cr_assert_eq(sinter_key_codec_of_row_type(sinter_env_default(), back, &codec, NULL), SINTER_OK);
    cr_expect_str_eq(sinter_key_codec_types(codec), "DATE NOT NULL\nINT NOT NULL");
    sinter_key_codec_destroy(codec);
    sinter_row_type_destroy(back);
    sinter_row_type_destroy(made);
}

Test(doc_row_type, nested_types_keep_their_json)
{
    const char *json = "{\"type\":\"ROW\",\"fields\":[{\"id\":0,\"name\":\"l\",\"type\":{\"type\":"
                       "\"ARRAY NOT NULL\","
                       "\"element\":\"INT\"}}]}";
    sinter_row_type *row_type = NULL;
    sinter_datum value = {.is_null = true};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text row;

    sinter_text_init(sinter_env_default(), &row);
    cr_assert_eq(parse(json, &row_type, &err), SINTER_OK, "%s", err.text);
    cr_expect_str_eq(sinter_row_type_json(row_type), json);
    cr_expect_eq(sinter_row_encode(row_type, &value, 0, &row, &err), SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.text, "column \"l\": values of type ARRAY are not supported");
    sinter_text_fini(&row);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_type, faults_are_named_with_their_place)
{
    static const struct {
        const char *json;
        const char *says;
    } cases[] = {
        {"", "row type: line 1, column 1"},
        {"[]", "a list of fields expected"},
        {"{}", "member \"fields\" is missing"},
        {"7", "a list of fields expected"},
        {"[7]", "member [0]: an object expected, an integer found"},
        {"[{\"type\":\"INT\"}]", "member [0]: member \"name\" is missing"},
        {"[{\"name\":\"a\"}]", "member \"type\" is missing"},
        {"[{\"name\":\"a\",\"type\":\"INTX\"}]", "column 21, member [0].type: type \"INTX\""},
        {"[{\"name\":\"a\",\"type\":7}]", "a type text expected"},
        {"[{\"name\":\"a\",\"type\":{\"type\":\"INT\"}}]", "no nested type"},
        {"[{\"name\":\"a\",\"type\":{}}]", "no nested type"},
        {"[{\"name\":\"\",\"type\":\"INT\"}]", "column 1 has an empty name"},
        {"[{\"name\":\"a\",\"type\":\"INT\"},{\"name\":\"a\",\"type\":\"INT\"}]",
         "two columns are named \"a\""},
        {"[{\"id\":1.5,\"name\":\"a\",\"type\":\"INT\"}]",
         "an integer expected, a number with fraction or exponent found"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"INT\"}],\"primaryKeys\":[\"b\"]}",
         "key column \"b\" is no column of the row"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"INT\"},{\"name\":\"b\",\"type\":\"INT\"}],"
         "\"primaryKeys\":[\"a\",\"a\"]}",
         "key column \"a\" is named twice"},
        {"[{\"name\":\"a\",\"name\":\"b\",\"type\":\"INT\"}]", "duplicate object key"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_row_type *row_type = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        cr_expect_eq(parse(cases[i].json, &row_type, &err), SINTER_E_INVALID, "%s", cases[i].json);
        cr_expect_null(row_type);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s: %s", cases[i].json, err.text);
    }
}

Test(doc_row_type, every_name_is_found)
{
    enum { COUNT = 300 };
    static char names[COUNT][24];
    static sinter_column columns[COUNT];
    sinter_row_type *row_type = NULL;
    case_random random = {.state = 5};

    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(names[i], sizeof names[i], "%" PRIx64, case_next(&random));
        columns[i] = (sinter_column){names[i], case_parse_type("INT")};
    }
    cr_assert_eq(sinter_row_type_create(
                     sinter_env_default(),
                     &(sinter_row_layout){sizeof(sinter_row_layout), 0, columns, COUNT, NULL, 0},
                     &row_type, NULL),
                 SINTER_OK);
    for (size_t i = 0; i < COUNT; i++) {
        cr_expect_eq(sinter_row_type_find(row_type, names[i]), i);
    }
    sinter_row_type_destroy(row_type);
}

Test(doc_row_type, every_allocation_may_fail)
{
    const char *json =
        "{\"fields\":[{\"name\":\"a\",\"type\":\"INT NOT NULL\"},{\"name\":\"b\","
        "\"type\":{\"type\":\"ARRAY\",\"element\":\"INT\"}}],\"primaryKeys\":[\"a\"]}";
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_row_type *row_type = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter_row_type_parse(&fault.env, json, strlen(json), &row_type, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && row_type == NULL));
        sinter_row_type_destroy(row_type);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
}
