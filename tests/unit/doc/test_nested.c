#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "sinter/sinter.h"
#include "support/fault_alloc.h"

TestSuite(doc_nested, .timeout = 120);

/* A type with its parts; release it. */
static sinter_type *
type_of(const char *text)
{
    sinter_type *type = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_type_create(sinter_env_default(), text, &type, &err), SINTER_OK, "%s: %s",
                 text, err.text);
    return type;
}

/* A value from its JSON, in `scratch`. */
static sinter_status
parse(const sinter_env *env, const sinter_type *type, const char *json, sinter_text *scratch,
      sinter_datum *out, sinter_error *err)
{
    const sinter_column column = {"c", *type};

    sinter_text_init(env, scratch);
    return sinter_datum_parse(&column,
                              (sinter_bytes){.data = (const uint8_t *)json, .size = strlen(json)},
                              0, scratch, out, err);
}

/* The status of a value's JSON, and what the failure says. */
static void
expect_refused(const char *type_text, const char *json, sinter_status st, const char *says)
{
    sinter_type *type = type_of(type_text);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text scratch;
    sinter_datum datum;

    cr_expect_eq(parse(sinter_env_default(), type, json, &scratch, &datum, &err), st, "%s: %s",
                 type_text, json);
    cr_expect_not_null(strstr(err.text, says), "%s: %s: %s", type_text, json, err.text);
    sinter_text_fini(&scratch);
    sinter_type_destroy(type);
}

/* A value's JSON comes back as `canonical`, as text and as JSON. */
static void
expect_json(const char *type_text, const char *json, const char *canonical)
{
    sinter_type *type = type_of(type_text);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text scratch;
    sinter_text out;
    sinter_datum datum;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(parse(sinter_env_default(), type, json, &scratch, &datum, &err), SINTER_OK,
                 "%s: %s: %s", type_text, json, err.text);
    cr_assert_eq(sinter_datum_check(type, "c", &datum, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_datum_print_json(type, &datum, 0, &out, &err), SINTER_OK, "%s", err.text);
    cr_expect_str_eq(out.data, canonical);
    sinter_text_reset(&out);
    cr_assert_eq(sinter_datum_print_text(type, &datum, 0, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, canonical, "a cell holds the JSON");
    sinter_text_fini(&out);
    sinter_text_fini(&scratch);
    sinter_type_destroy(type);
}

Test(doc_nested, values_have_one_canonical_json)
{
    expect_json("ARRAY<INT>", "[]", "[]");
    expect_json("ARRAY<INT>", " [ 1 , null , -3 ] ", "[1,null,-3]");
    expect_json("ARRAY<ARRAY<STRING>>", "[[],null,[\"a\",\"longer than seven\"]]",
                "[[],null,[\"a\",\"longer than seven\"]]");
    expect_json("MAP<STRING, INT>", "[[\"b\",1],[\"a\",null],[\"B\",3]]",
                "[[\"B\",3],[\"a\",null],[\"b\",1]]");
    expect_json("MAP<INT, INT>", "[[9,1],[10,2],[null,3]]", "[[10,2],[9,1],[null,3]]");
    expect_json("MULTISET<STRING>", "[[\"z\",2],[\"y\",1]]", "[[\"y\",1],[\"z\",2]]");
    expect_json("ROW<a INT, b ARRAY<INT>>", "{\"b\":[1]}", "{\"a\":null,\"b\":[1]}");
    expect_json("ROW<>", "{}", "{}");
    expect_json("ARRAY<ROW<>>", "[{},null]", "[{},null]");
    expect_json("ROW<`q\"` INT>", "{\"q\\\"\":1}", "{\"q\\\"\":1}");
    expect_json("MAP<ROW<x DATE>, ARRAY<BYTES>>", "[[{\"x\":\"1970-01-02\"},[\"00ff\",\"\"]]]",
                "[[{\"x\":\"1970-01-02\"},[\"00ff\",\"\"]]]");
}

Test(doc_nested, numbers_lose_nothing)
{
    expect_json("ARRAY<DOUBLE>", "[-0,1e300,\"NaN\",0.1]", "[-0,1e+300,\"NaN\",0.1]");
    expect_json("ARRAY<FLOAT>", "[16777217,0.1]", "[16777216,0.1]");
    expect_json("MAP<STRING, DECIMAL(38, 2)>",
                "[[\"a\",123456789012345678901234567890.5],[\"b\",\"-1.25\"],[\"c\",3]]",
                "[[\"a\",\"123456789012345678901234567890.50\"],[\"b\",\"-1.25\"],[\"c\","
                "\"3.00\"]]");
    expect_json("ROW<s STRING, d DECIMAL(30, 0), f ARRAY<DECIMAL(20, 1)>>",
                "{\"f\":[1.5,99999999999999999999e-1],\"d\":99999999999999999999,\"s\":\"7\"}",
                "{\"s\":\"7\",\"d\":\"99999999999999999999\",\"f\":[\"1.5\",\"9999999999999999999."
                "9\"]}");
    expect_refused("ROW<s STRING, d DECIMAL(30, 0)>", "{\"d\":99999999999999999999,\"s\":7}",
                   SINTER_E_INVALID, "column \"c\": field \"s\": a number is no text");
}

Test(doc_nested, what_does_not_fit_is_refused_with_its_place)
{
    expect_refused("ARRAY<INT>", "[1,\"x\"]", SINTER_E_INVALID,
                   "column \"c\": element 1: \"x\" is no INT");
    expect_refused("ARRAY<TINYINT>", "[1,128]", SINTER_E_INVALID, "element 1: 128 is out of");
    expect_refused("ARRAY<INT NOT NULL>", "[1,null]", SINTER_E_INVALID,
                   "element 1: null, but declared NOT NULL");
    expect_refused("ARRAY<INT>", "{}", SINTER_E_INVALID, "column \"c\": an object is no ARRAY");
    expect_refused("ARRAY<INT>", "\"[]\"", SINTER_E_INVALID, "a string is no ARRAY");
    expect_refused("ARRAY<INT>", "null", SINTER_E_INVALID, "column \"c\": null is no value");
    expect_refused("ARRAY<INT>", "[1", SINTER_E_INVALID, "column \"c\": line 1, column 3");
    expect_refused("ARRAY<INT>", "", SINTER_E_INVALID, "line 1, column 1");
    expect_refused("ARRAY<ARRAY<INT>>", "[[1],[[2]]]", SINTER_E_INVALID,
                   "element 1: element 0: an array is no INT");
    expect_refused("MAP<INT, INT>", "[[1]]", SINTER_E_INVALID, "pair 0: [key, value] expected");
    expect_refused("MAP<INT, INT>", "[[1,2],3]", SINTER_E_INVALID, "pair 1: [key, value]");
    expect_refused("MULTISET<INT>", "[[1,null]]", SINTER_E_INVALID,
                   "count 0: null, but declared NOT NULL");
    expect_refused("MAP<INT, INT>", "[[1,2],[2,2],[1,3]]", SINTER_E_INVALID,
                   "column \"c\": the key 1 comes twice");
    expect_refused("MAP<INT NOT NULL, INT>", "[[null,1]]", SINTER_E_INVALID, "key 0: null");
    expect_refused("ROW<a INT>", "{\"b\":1}", SINTER_E_INVALID,
                   "column \"c\": unknown field \"b\"");
    expect_refused("ROW<a INT, b INT NOT NULL>", "{\"a\":1}", SINTER_E_INVALID,
                   "field \"b\": null, but declared NOT NULL");
    expect_refused("ROW<a INT>", "[1]", SINTER_E_INVALID, "an array is no ROW");
    expect_refused("ARRAY<VARCHAR(2)>", "[\"abc\"]", SINTER_E_INVALID, "3 characters don't fit");
}

Test(doc_nested, variant_and_blob_have_no_values_anywhere)
{
    sinter_type *type = type_of("ROW<a INT, b ARRAY<VARIANT>>");
    const sinter_datum null = {.is_null = true};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_expect_eq(sinter_datum_check(type, "c", &null, &err), SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.text, "column \"c\": values of type VARIANT are not supported");
    cr_expect_eq(sinter_datum_print_json(type, &null, 0, &out, NULL), SINTER_E_UNSUPPORTED);
    expect_refused("ARRAY<BLOB>", "[]", SINTER_E_UNSUPPORTED, "values of type BLOB");
    sinter_text_fini(&out);
    sinter_type_destroy(type);
}

/* The row of the layout page, without its arity. */
static const char *const page_row =
    "0000000000000000 1800000030000000 2c00000048000000 1800000078000000 3000000090000000 "
    "08000000c0000000 030000000200000001000000000000000300000000000000 "
    "18000000 0200000000000000 6100000000000081 6262000000000082 "
    "02000000020000000100000000000000 00000000 "
    "0000000000000000 2a00000000000000 6e65737465640086 "
    "0200000002000000 1100000018000000 0000000000000000 "
    "6c6f6e676572207468616e20736576656e00000000000000 3132333435363738";

static sinter_row_type *
page_type(void)
{
    static const char json[] =
        "[{\"name\":\"f0\",\"type\":\"ARRAY<INT>\"},{\"name\":\"f1\",\"type\":\"MAP<STRING, "
        "INT>\"},{\"name\":\"f2\",\"type\":\"ROW<a INT, b STRING>\"},"
        "{\"name\":\"f3\",\"type\":\"ARRAY<STRING>\"},{\"name\":\"f4\",\"type\":\"STRING\"}]";
    sinter_row_type *row_type = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_row_type_parse(sinter_env_default(), json, strlen(json), &row_type, &err),
                 SINTER_OK, "%s", err.text);
    return row_type;
}

static sinter_datum
integer(int64_t value)
{
    return (sinter_datum){.as.integer = value};
}

static sinter_datum
string(const char *text)
{
    return (sinter_datum){.as.bytes = {.data = (const uint8_t *)text, .size = strlen(text)}};
}

Test(doc_nested, the_row_of_the_layout_page_is_built_from_datums)
{
    const sinter_datum null = {.is_null = true};
    const sinter_datum integers[] = {integer(1), null, integer(3)};
    const sinter_datum keys[] = {string("a"), string("bb")};
    const sinter_datum fields[] = {integer(42), string("nested")};
    const sinter_datum strings[] = {string("longer than seven"), null};
    sinter_row_type *row_type = page_type();
    const sinter_field *columns = sinter_row_type_fields(row_type);
    sinter_datum row[5] = {[4] = string("12345678")};
    uint8_t expected[256];
    const size_t size = case_hex(page_row, expected, sizeof expected);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text parts[4];
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    for (size_t i = 0; i < 4; i++) {
        sinter_text_init(sinter_env_default(), &parts[i]);
    }
    cr_assert_eq(sinter_array_encode(&columns[0].type, integers, 3, &parts[0], &err), SINTER_OK);
    cr_assert_eq(sinter_map_encode(&columns[1].type, keys, integers, 2, &parts[1], &err),
                 SINTER_OK);
    cr_assert_eq(sinter_nested_row_encode(&columns[2].type, fields, &parts[2], &err), SINTER_OK);
    cr_assert_eq(sinter_array_encode(&columns[3].type, strings, 2, &parts[3], &err), SINTER_OK);
    for (size_t i = 0; i < 4; i++) {
        row[i].as.bytes = sinter_text_bytes(&parts[i]);
    }
    cr_assert_eq(sinter_row_encode(row_type, row, 0, &out, &err), SINTER_OK, "%s", err.text);
    cr_expect(out.size == size && memcmp(out.data, expected, size) == 0);
    for (size_t i = 0; i < 4; i++) {
        sinter_text_fini(&parts[i]);
    }
    sinter_text_fini(&out);
    sinter_row_type_destroy(row_type);
}

Test(doc_nested, the_row_of_the_layout_page_is_walked)
{
    sinter_row_type *row_type = page_type();
    const sinter_field *columns = sinter_row_type_fields(row_type);
    uint8_t bytes[256];
    const sinter_bytes row = {.data = bytes, .size = case_hex(page_row, bytes, sizeof bytes)};
    sinter_datum values[5];
    sinter_datum datum;
    sinter_array keys;
    sinter_array mapped;

    cr_assert_eq(sinter_row_decode(row_type, row, values, NULL), SINTER_OK);
    cr_assert_eq(sinter_array_open(&columns[0].type, values[0].as.bytes, &keys, NULL), SINTER_OK);
    cr_assert_eq(keys.count, 3);
    cr_assert_eq(sinter_array_get(&keys, 1, &datum, NULL), SINTER_OK);
    cr_expect(datum.is_null);
    cr_assert_eq(sinter_array_get(&keys, 2, &datum, NULL), SINTER_OK);
    cr_expect_eq(datum.as.integer, 3);
    cr_expect_eq(sinter_array_get(&keys, 3, &datum, NULL), SINTER_E_INVALID);
    cr_assert_eq(sinter_map_open(&columns[1].type, values[1].as.bytes, &keys, &mapped, NULL),
                 SINTER_OK);
    cr_assert_eq(keys.count, 2);
    cr_assert_eq(sinter_array_get(&keys, 1, &datum, NULL), SINTER_OK);
    cr_expect(datum.as.bytes.size == 2 && memcmp(datum.as.bytes.data, "bb", 2) == 0);
    cr_assert_eq(sinter_array_get(&mapped, 0, &datum, NULL), SINTER_OK);
    cr_expect_eq(datum.as.integer, 1);
    cr_assert_eq(sinter_nested_row_get(&columns[2].type, values[2].as.bytes, 1, &datum, NULL),
                 SINTER_OK);
    cr_expect(datum.as.bytes.size == 6 && memcmp(datum.as.bytes.data, "nested", 6) == 0);
    cr_expect_eq(sinter_array_open(&columns[1].type, values[1].as.bytes, &keys, NULL),
                 SINTER_E_INVALID, "a MAP is no ARRAY");
    cr_expect_eq(sinter_nested_row_get(&columns[2].type, values[2].as.bytes, 2, &datum, NULL),
                 SINTER_E_INVALID);
    sinter_row_type_destroy(row_type);
}

/* Walk everything in a value by printing it. */
static sinter_status
walk(const sinter_type *type, sinter_bytes value, sinter_error *err)
{
    const sinter_datum datum = {.as.bytes = value};
    sinter_text out;
    sinter_status st;

    sinter_text_init(sinter_env_default(), &out);
    st = sinter_datum_print_json(type, &datum, SINTER_PRINT_HEX_STRINGS, &out, err);
    sinter_text_fini(&out);
    return st;
}

Test(doc_nested, damage_is_named_and_stays_inside)
{
    static const struct {
        const char *type;
        const char *hex;
        const char *says;
    } cases[] = {
        {"ARRAY<INT>", "", "an array of 0 elements has 0 bytes"},
        {"ARRAY<INT>", "010000", "has 3 bytes"},
        {"ARRAY<INT>", "0100000000000000", "an array of 1 elements has 8 bytes"},
        {"ARRAY<INT>", "ffffffff00000000", "an array of 4294967295 elements"},
        {"ARRAY<INT>", "ffffff7f00000000", "an array of 2147483647 elements"},
        {"ARRAY<STRING>", "0100000000000000 0800000008000000",
         "element 0: a value lies outside the array"},
        {"ARRAY<STRING>", "0100000000000000 08000000f8ffff7f",
         "element 0: a value lies outside the array"},
        {"ARRAY<ARRAY<INT>>", "0100000000000000 0800000010000000",
         "element 0: a value lies outside the array"},
        {"ARRAY<ARRAY<INT>>", "0100000000000000 0800000010000000 0900000000000000",
         "an array of 9 elements has 8 bytes"},
        {"ARRAY<BOOLEAN>", "0100000000000000 0200000000000000", "a BOOLEAN is 0 or 1"},
        {"MAP<INT, INT>", "0000", "keys of 0 bytes in a map of 2"},
        {"MAP<INT, INT>", "10000000 0000000000000000", "keys of 16 bytes in a map of 12"},
        {"MAP<INT, INT>", "08000000 0000000000000000", "an array of 0 elements has 0 bytes"},
        {"MAP<INT, INT>", "08000000 0000000000000000 0100000000000000 0000000000000000",
         "a map of 0 keys has 1 values"},
        {"ROW<a INT>", "0000000000000000", "a row of 1 columns has 8 bytes"},
        {"ROW<a STRING>", "0000000000000000 0800000010000000",
         "field \"a\": a value lies outside the row"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_type *type = type_of(cases[i].type);
        uint8_t bytes[64];
        const sinter_datum datum = {
            .as.bytes = {.data = bytes, .size = case_hex(cases[i].hex, bytes, sizeof bytes)}};
        sinter_error err = SINTER_ERROR_INIT;

        cr_expect_eq(walk(type, datum.as.bytes, &err), SINTER_E_CORRUPT, "%s", cases[i].hex);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s: %s", cases[i].hex, err.text);
        cr_expect_eq(sinter_datum_check(type, "c", &datum, &err), SINTER_E_INVALID,
                     "to a caller it is a bad argument");
        sinter_type_destroy(type);
    }
}

Test(doc_nested, no_byte_of_a_value_leads_outside)
{
    static const char text[] =
        "ARRAY<ROW<m MAP<STRING, DECIMAL(30, 2)>, t TIMESTAMP(9), s MULTISET<BYTES>>>";
    static const char json[] =
        "[{\"m\":[[\"a longer key\",\"1.25\"],[\"b\",null]],\"t\":\"2024-11-26 "
        "06:38:56.001000001\",\"s\":[[\"0011223344556677\",2]]},null,{\"m\":null,\"t\":null}]";
    sinter_type *type = type_of(text);
    sinter_text scratch;
    sinter_datum datum;
    case_random random = {.state = 11};

    cr_assert_eq(parse(sinter_env_default(), type, json, &scratch, &datum, NULL), SINTER_OK);
    for (size_t i = 0; i < 20000; i++) {
        /* Its own block, so that a byte behind it is seen. */
        const size_t size = case_below(&random, 4) == 0
                                ? case_below(&random, (uint32_t)datum.as.bytes.size)
                                : datum.as.bytes.size;
        uint8_t *copy = malloc(size + 1);
        uint8_t *exact = NULL;

        memcpy(copy, datum.as.bytes.data, size);
        for (uint32_t k = case_below(&random, 4); size > 0 && k > 0; k--) {
            copy[case_below(&random, (uint32_t)size)] =
                (uint8_t)(case_below(&random, 2) == 0 ? case_below(&random, 256)
                                                      : case_below(&random, 8) * 8);
        }
        exact = size == 0 ? copy : realloc(copy, size);
        const sinter_status st = walk(type, (sinter_bytes){.data = exact, .size = size}, NULL);

        cr_assert(st == SINTER_OK || st == SINTER_E_CORRUPT || st == SINTER_E_INVALID, "%zu", i);
        free(exact);
    }
    sinter_text_fini(&scratch);
    sinter_type_destroy(type);
}

/* A type of ARRAYs in ARRAYs. */
static void
deep_text(size_t depth, char out[1024])
{
    size_t at = 0;

    for (size_t i = 0; i < depth; i++) {
        at += (size_t)snprintf(out + at, 1024 - at, "ARRAY<");
    }
    at += (size_t)snprintf(out + at, 1024 - at, "INT");
    memset(out + at, '>', depth);
    out[at + depth] = '\0';
}

Test(doc_nested, types_are_32_deep_at_most)
{
    char text[1024];
    char json[256];
    sinter_type *type = NULL;
    sinter_type ring = {.id = SINTER_TYPE_ARRAY, .nullable = true};
    const sinter_field element = {.name = "element", .id = -1, .type = ring};
    sinter_field fields[1] = {element};
    const sinter_type_parts parts = {.fields = fields, .count = 1};
    const sinter_column column = {"c", {.id = SINTER_TYPE_ARRAY, .parts = &parts}};
    sinter_row_type *row_type = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    deep_text(33, text);
    cr_expect_eq(sinter_type_create(sinter_env_default(), text, &type, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "nested deeper than 32"), "%s", err.text);
    deep_text(32, text);
    memset(json, '[', 32);
    memcpy(json + 32, "7", 1);
    memset(json + 33, ']', 32);
    json[65] = '\0';
    expect_json(text, json, json);
    /* A caller's type may hold itself. */
    fields[0].type.parts = &parts;
    cr_expect_eq(sinter_row_type_create(
                     sinter_env_default(),
                     &(sinter_row_layout){sizeof(sinter_row_layout), 0, &column, 1, NULL, 0},
                     &row_type, &err),
                 SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "column \"c\": a type nested deeper than 32");
    cr_expect_eq(walk(&column.type, (sinter_bytes){.data = (const uint8_t *)"", .size = 0}, NULL),
                 SINTER_E_UNSUPPORTED);
}

/* Rows of one JSON line go through a format and come back. */
static void
expect_lines(int32_t format, const char *json, const char *text)
{
    sinter_row_type *row_type = page_type();
    const sinter_row_options read = {.struct_size = (uint32_t)sizeof read, .source = "x"};
    const sinter_row_options print = {.struct_size = (uint32_t)sizeof print, .format = format};
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_row_reader *reader = NULL;
    sinter_row_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(sinter_row_reader_create(sinter_env_default(), row_type, &read, &reader, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), row_type, &print, &writer, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_row_reader_feed(reader, json, strlen(json), NULL), SINTER_OK);
    sinter_row_reader_end(reader);
    while (sinter_row_reader_next(reader, &row, &err) == SINTER_OK) {
        cr_assert_eq(sinter_row_writer_append(writer, row.kind, row.values, &out, NULL), SINTER_OK);
    }
    cr_assert_eq(sinter_row_writer_end(writer, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, text, "%s", err.text);
    sinter_row_writer_destroy(writer);
    sinter_row_reader_destroy(reader);
    sinter_text_fini(&out);
    sinter_row_type_destroy(row_type);
}

static const char *const two_rows =
    "{\"f0\":[1,null],\"f1\":[[\"a\",1]],\"f2\":{\"a\":1,\"b\":\"x\"},\"f3\":[],\"f4\":\"s\"}\n"
    "{\"f0\":null,\"f1\":null,\"f2\":null,\"f3\":[\"q\\\"\"],\"f4\":null}\n";

static const char *const two_csv_rows =
    "f0,f1,f2,f3,f4\n\"[1,null]\",\"[[\"\"a\"\",1]]\",\"{\"\"a\"\":1,\"\"b\"\":\"\"x\"\"}\",[],s\n"
    ",,,\"[\"\"q\\\"\"\"\"]\",\n";

Test(doc_nested, lines_cells_and_tables_hold_the_json)
{
    expect_lines(SINTER_ROW_FORMAT_JSON, two_rows, two_rows);
    expect_lines(SINTER_ROW_FORMAT_CSV, two_rows, two_csv_rows);
    expect_lines(SINTER_ROW_FORMAT_TABLE,
                 "{\"f0\":[1,2],\"f1\":[[\"a\",1]],\"f2\":{\"a\":1},\"f3\":null}\n",
                 "f0     f1         f2                f3    f4\n"
                 "[1,2]  [[\"a\",1]]  {\"a\":1,\"b\":null}  NULL  NULL\n");
}

/* Rows of a text as JSON lines. */
static sinter_status
read_rows(const sinter_env *env, int32_t format, const char *text, sinter_text *out,
          sinter_error *err)
{
    sinter_row_type *row_type = page_type();
    const sinter_row_options read = {
        .struct_size = (uint32_t)sizeof read, .format = format, .source = "x"};
    const sinter_row_options print = {.struct_size = (uint32_t)sizeof print};
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_row_reader *reader = NULL;
    sinter_row_writer *writer = NULL;
    sinter_status st = sinter_row_reader_create(env, row_type, &read, &reader, err);

    st = st != SINTER_OK ? st : sinter_row_writer_create(env, row_type, &print, &writer, err);
    st = st != SINTER_OK ? st : sinter_row_reader_feed(reader, text, strlen(text), err);
    if (st == SINTER_OK) {
        sinter_row_reader_end(reader);
    }
    while (st == SINTER_OK) {
        st = sinter_row_reader_next(reader, &row, err);
        st = st != SINTER_OK ? st : sinter_row_writer_append(writer, 0, row.values, out, err);
    }
    sinter_row_writer_destroy(writer);
    sinter_row_reader_destroy(reader);
    sinter_row_type_destroy(row_type);
    return st == SINTER_END ? SINTER_OK : st;
}

Test(doc_nested, csv_cells_hold_json_texts)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(read_rows(sinter_env_default(), SINTER_ROW_FORMAT_CSV, two_csv_rows, &out, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect_str_eq(out.data, two_rows);
    cr_expect_eq(
        read_rows(sinter_env_default(), SINTER_ROW_FORMAT_CSV, "f4,f0\nx,\"[1,x]\"\n", &out, &err),
        SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "line 2: column \"f0\": line 1, column 5"), "%s", err.text);
    sinter_text_fini(&out);
}

Test(doc_nested, every_allocation_may_fail)
{
    const char *const texts[] = {two_rows, two_csv_rows};

    for (int32_t format = SINTER_ROW_FORMAT_JSON; format <= SINTER_ROW_FORMAT_CSV; format++) {
        sinter_status st = SINTER_E_NOMEM;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            sinter_error err = SINTER_ERROR_INIT;
            fault_alloc fault;
            sinter_text out;

            fault_alloc_init(&fault, n);
            sinter_text_init(&fault.env, &out);
            st = read_rows(&fault.env, format, texts[format], &out, &err);
            cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st), "%s",
                      err.text);
            sinter_text_fini(&out);
            cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        }
    }
}

Test(doc_nested, building_refuses_what_does_not_fit)
{
    sinter_type *array = type_of("ARRAY<TINYINT NOT NULL>");
    sinter_type *map = type_of("MAP<INT NOT NULL, INT>");
    sinter_type *row = type_of("ROW<a INT NOT NULL>");
    const sinter_datum null = {.is_null = true};
    const sinter_datum large[] = {integer(1), integer(128)};
    const uint8_t byte = 0;
    const sinter_datum huge = {.as.bytes = {.data = &byte, .size = SIZE_MAX}};
    sinter_type *strings = type_of("ARRAY<BYTES>");
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_expect_eq(sinter_array_encode(array, large, 2, &out, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "element 1: 128 is out of the range of TINYINT NOT NULL");
    cr_expect_eq(sinter_array_encode(array, &null, 1, &out, &err), SINTER_E_INVALID);
    cr_expect_eq(sinter_map_encode(map, &null, large, 1, &out, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "key 0: null, but declared NOT NULL");
    cr_expect_eq(sinter_nested_row_encode(row, &null, &out, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "column \"a\": null, but declared NOT NULL");
    cr_expect_eq(sinter_array_encode(strings, &huge, 1, &out, &err), SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter_array_encode(strings, &huge, SIZE_MAX / 2, &out, &err), SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter_array_encode(map, large, 2, &out, &err), SINTER_E_INVALID);
    cr_expect_eq(out.size, 0);
    sinter_text_fini(&out);
    sinter_type_destroy(strings);
    sinter_type_destroy(row);
    sinter_type_destroy(map);
    sinter_type_destroy(array);
}
