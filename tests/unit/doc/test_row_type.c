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
        "null\"},{\"id\":1,\"name\":\"v\",\"type\":\"STRING\"}]",
        "{\"type\":\"ROW\",\"fields\":[{\"name\":\"k\",\"id\":\"7\",\"type\":\"INT NOT "
        "NULL\"},"
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

Test(doc_row_type, nested_types_have_their_parts_and_nothing_is_dropped)
{
    const char *json =
        "{\"type\":\"ROW\",\"fields\":[{\"id\":0,\"name\":\"l\",\"type\":{\"type\":\"ARRAY NOT "
        "NULL\","
        "\"element\":{\"type\":\"MAP\",\"key\":\"INT NOT NULL\",\"value\":{\"type\":\"MULTISET\","
        "\"element\":\"DATE\"}},\"later\":[1]},\"description\":\"d\",\"defaultValue\":\"5\",\"x\":{"
        "\"y\":null}},{\"id\":1,\"name\":\"r\",\"type\":{\"type\":\"ROW\",\"fields\":[{\"id\":9,"
        "\"name\":"
        "\"a\",\"type\":\"VARIANT\",\"description\":\"of a\",\"z\":true}]}}]}";
    sinter_row_type *row_type = NULL;
    sinter_row_type *copy = NULL;
    const sinter_field *fields = NULL;
    sinter_type row = {.id = SINTER_TYPE_ROW};
    sinter_type_parts parts = {.count = 2};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(parse(json, &row_type, &err), SINTER_OK, "%s", err.text);
    cr_expect_str_eq(sinter_row_type_json(row_type), json);
    fields = sinter_row_type_fields(row_type);
    cr_assert_eq(sinter_type_print_full(&fields[0].type, &text, NULL), SINTER_OK);
    cr_expect_str_eq(text.data, "ARRAY<MAP<INT NOT NULL, MULTISET<DATE>>> NOT NULL");
    cr_expect_str_eq(fields[0].description, "d");
    cr_expect_str_eq(fields[0].default_value, "5");
    cr_expect_eq(fields[1].type.parts->fields[0].id, 9);
    cr_expect_str_eq(fields[1].type.parts->fields[0].description, "of a");
    /* A copy has everything but what nobody knows. */
    parts.fields = fields;
    row.parts = &parts;
    cr_assert_eq(sinter_row_type_of_type(sinter_env_default(), &row, NULL, 0, &copy, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect(sinter_type_equal(&sinter_row_type_fields(copy)[0].type, &fields[0].type));
    cr_expect(!sinter_type_equal(&sinter_row_type_fields(copy)[1].type, &fields[0].type));
    cr_expect_not_null(strstr(sinter_row_type_json(copy),
                              "\"description\":\"d\",\"defaultValue\":\"5\"},{\"id\":1"));
    sinter_row_type_destroy(copy);
    sinter_text_fini(&text);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_type, ids_that_are_left_out_go_on_as_paimon_numbers_them)
{
    static const char *const cases[][2] = {
        /* A column before its fields, a field after those in it. */
        {"[{\"name\":\"a\",\"type\":\"INT\"},{\"name\":\"r\",\"type\":\"ROW<x INT, y ARRAY<ROW<z "
         "DATE>>>\"},{\"name\":\"b\",\"type\":\"INT\"}]",
         "{\"type\":\"ROW\",\"fields\":[{\"id\":0,\"name\":\"a\",\"type\":\"INT\"},{\"id\":1,"
         "\"name\":"
         "\"r\",\"type\":{\"type\":\"ROW\",\"fields\":[{\"id\":2,\"name\":\"x\",\"type\":\"INT\"},{"
         "\"id\":4,\"name\":\"y\",\"type\":{\"type\":\"ARRAY\",\"element\":{\"type\":\"ROW\","
         "\"fields\":[{\"id\":3,\"name\":\"z\",\"type\":\"DATE\"}]}}}]}},{\"id\":5,\"name\":\"b\","
         "\"type\":\"INT\"}]}"},
        {"[{\"id\":7,\"name\":\"a\",\"type\":\"INT\"},{\"name\":\"b\",\"type\":\"INT\"}]",
         "{\"type\":\"ROW\",\"fields\":[{\"id\":7,\"name\":\"a\",\"type\":\"INT\"},{\"id\":8,"
         "\"name\":"
         "\"b\",\"type\":\"INT\"}]}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_row_type *row_type = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        cr_assert_eq(parse(cases[i][0], &row_type, &err), SINTER_OK, "%s", err.text);
        cr_expect_str_eq(sinter_row_type_json(row_type), cases[i][1]);
        sinter_row_type_destroy(row_type);
    }
}

Test(doc_row_type, rows_in_rows_may_be_32_deep)
{
    char json[4096];
    size_t at = 0;

    for (size_t depth = 32; depth <= 33; depth++) {
        sinter_row_type *row_type = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        at = (size_t)snprintf(json, sizeof json, "[{\"name\":\"a\",\"type\":");
        for (size_t i = 0; i < depth; i++) {
            at += (size_t)snprintf(
                json + at, sizeof json - at,
                "{\"type\":\"ROW\",\"fields\":[{\"id\":%zu,\"name\":\"a\",\"type\":", i);
        }
        at += (size_t)snprintf(json + at, sizeof json - at, "\"INT\"");
        for (size_t i = 0; i < depth; i++) {
            at += (size_t)snprintf(json + at, sizeof json - at, "}]}");
        }
        (void)snprintf(json + at, sizeof json - at, "}]");
        cr_expect_eq(parse(json, &row_type, &err), depth == 32 ? SINTER_OK : SINTER_E_INVALID, "%s",
                     err.text);
        cr_expect(depth == 32 || strstr(err.text, "a type nested deeper than 32") != NULL, "%s",
                  err.text);
        sinter_row_type_destroy(row_type);
    }
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
        {"[{\"name\":\"a\",\"type\":{\"type\":\"ARRAY\"}}]",
         "member [0].type: member \"element\" is missing"},
        {"[{\"name\":\"a\",\"type\":{\"type\":\"MAP\",\"key\":\"INTX\",\"value\":\"INT\"}}]",
         "member [0].type.key: type \"INTX\""},
        {"[{\"name\":\"a\",\"type\":{\"type\":\"ROW\",\"fields\":[{\"name\":\"b\",\"type\":7}]}}]",
         "member [0].type.fields[0].type: a type text expected"},
        {"[{\"name\":\"a\",\"type\":\"ARRAY\"}]", "type ARRAY lacks its parts"},
        {"[{\"name\":\"a\",\"type\":\"ROW<b INT, b INT>\"}]",
         "two fields of a ROW are named \"b\""},
        {"[{\"name\":\"a\",\"description\":7,\"type\":\"INT\"}]", "a string expected"},
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
        "\"type\":{\"type\":\"ARRAY\",\"element\":\"INT\"}},{\"name\":\"c\",\"type\":"
        "\"ROW<x MAP<INT, INT> COMMENT 'c', `y` INT>\"}],\"primaryKeys\":[\"a\"]}";
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
