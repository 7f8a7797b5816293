#include "format/avro_schema.h"

#include <avro.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/type.h"
#include "support/fault_alloc.h"

TestSuite(format_avro_schema, .timeout = 60);

static sinter_bytes
text_bytes(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

static sinter__avro_schema *
parse(const char *text)
{
    sinter__avro_schema *schema = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter__avro_schema_parse(sinter_env_default(), text_bytes(text), &schema, &err),
                 SINTER_OK, "%s: %s", text, err.text);
    return schema;
}

static const char nested[] =
    "[\"null\",{\"type\":\"record\",\"name\":\"record\",\"namespace\":\"org.x\",\"fields\":["
    "{\"name\":\"a\",\"type\":\"int\",\"doc\":\"d\"},"
    "{\"name\":\"b\",\"type\":[\"null\",{\"type\":\"record\",\"name\":\"record_b\",\"fields\":["
    "{\"name\":\"c\",\"type\":{\"type\":\"array\",\"items\":[\"null\",\"long\"]}},"
    "{\"name\":\"t\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}}]}],"
    "\"default\":null},"
    "{\"name\":\"again\",\"type\":\"record_b\"},"
    "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"e.E\",\"symbols\":[\"A\",\"B\"]}},"
    "{\"name\":\"f\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":7}},"
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"e.E\"}}]}]";

Test(format_avro_schema, a_schema_is_read_with_names_resolved)
{
    sinter__avro_schema *schema = parse(nested);
    const sinter__avro_node *root = sinter__avro_schema_root(schema);
    int32_t branch = 0;

    cr_assert_eq(root->type, SINTER__AVRO_UNION);
    root = sinter__avro_node_unwrap(root, &branch);
    cr_assert_eq(branch, 1);
    cr_expect_str_eq(root->name, "org.x.record");
    cr_assert_eq(root->field_count, 6);
    cr_expect_eq(sinter__avro_node_find(root, "again"), 2);
    cr_expect_eq(sinter__avro_node_find(root, "c"), -1);
    cr_expect_eq(root->fields[2].type, sinter__avro_node_unwrap(root->fields[1].type, &branch));
    cr_expect_str_eq(root->fields[2].type->name, "org.x.record_b");
    cr_expect_str_eq(root->fields[2].type->fields[1].type->logical_type, "timestamp-millis");
    cr_expect_eq(root->fields[2].type->fields[0].type->fields[0].type->type, SINTER__AVRO_UNION);
    cr_expect_eq(root->fields[4].type->size, 7);
    cr_expect_eq(root->fields[5].type->fields[0].type, root->fields[3].type);
    cr_expect_str_eq(sinter__avro_type_name(root->fields[5].type->type), "map");
    sinter__avro_schema_destroy(schema);
}

Test(format_avro_schema, a_union_of_null_and_something_is_unwrapped_in_either_order)
{
    static const struct {
        const char *text;
        int32_t branch;
        bool is_one;
    } cases[] = {{"[\"null\",\"int\"]", 1, true},
                 {"[\"int\",\"null\"]", 0, true},
                 {"[\"int\"]", 0, true},
                 {"\"int\"", -1, true},
                 {"[\"int\",\"string\"]", 0, false},
                 {"[\"null\",\"int\",\"string\"]", 0, false},
                 {"[\"null\"]", 0, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter__avro_schema *schema = parse(cases[i].text);
        int32_t branch = 0;
        const sinter__avro_node *node =
            sinter__avro_node_unwrap(sinter__avro_schema_root(schema), &branch);

        cr_expect_eq(node != NULL, cases[i].is_one, "%s", cases[i].text);
        cr_expect(node == NULL || (branch == cases[i].branch && node->type == SINTER__AVRO_INT));
        sinter__avro_schema_destroy(schema);
    }
}

Test(format_avro_schema, names_may_be_of_any_letters_and_types_may_hold_themselves)
{
    sinter__avro_schema *schema =
        parse("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"\xc3\xa9\",\"type\":"
              "\"int\"},{\"name\":\"next\",\"type\":[\"null\",\"r\"]}]}");
    const sinter__avro_node *root = sinter__avro_schema_root(schema);

    cr_expect_str_eq(root->fields[0].name, "\xc3\xa9");
    cr_expect_eq(root->fields[1].type->fields[1].type, root);
    sinter__avro_schema_destroy(schema);
}

static void
refused(const char *text, sinter_status status, const char *word)
{
    sinter__avro_schema *schema = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter__avro_schema_parse(sinter_env_default(), text_bytes(text), &schema, &err),
                 status, "%s", text);
    cr_expect_null(schema);
    cr_expect_not_null(strstr(err.text, word), "%s: %s", text, err.text);
}

Test(format_avro_schema, what_is_no_schema_is_refused_with_the_reason)
{
    char deep[4000] = "";

    refused("", SINTER_E_CORRUPT, "no JSON");
    refused("{\"type\":\"int\"", SINTER_E_CORRUPT, "no JSON");
    refused("7", SINTER_E_CORRUPT, "neither text nor list nor object");
    refused("[]", SINTER_E_CORRUPT, "a union without branches");
    refused("[[\"int\"]]", SINTER_E_CORRUPT, "a union in a union");
    refused("\"integer\"", SINTER_E_CORRUPT, "there is no type integer");
    refused("{\"type\":{\"type\":\"int\"}}", SINTER_E_CORRUPT, "a type that is no text");
    refused("{\"type\":\"array\"}", SINTER_E_CORRUPT, "neither text nor list nor object");
    refused("{\"type\":\"record\",\"fields\":[]}", SINTER_E_CORRUPT, "a type without a name");
    refused("{\"type\":\"record\",\"name\":\"r\"}", SINTER_E_CORRUPT, "no fields in record r");
    refused("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\"}]}", SINTER_E_CORRUPT,
            "a field without name or type");
    refused("{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}", SINTER_E_CORRUPT, "no size");
    refused("{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[]}", SINTER_E_CORRUPT, "no symbols");
    refused("[{\"type\":\"fixed\",\"name\":\"f\",\"size\":1},{\"type\":\"fixed\",\"name\":\"f\","
            "\"size\":1}]",
            SINTER_E_CORRUPT, "two types are named f");
    for (size_t i = 0; i < 70; i++) {
        (void)strcat(deep, "{\"type\":\"array\",\"items\":");
    }
    (void)strcat(deep, "\"int\"");
    for (size_t i = 0; i < 70; i++) {
        (void)strcat(deep, "}");
    }
    refused(deep, SINTER_E_TOO_LARGE, "types in more than 64 types");
}

Test(format_avro_schema, thousands_of_types_are_found_by_name)
{
    enum { COUNT = 3000 };
    sinter_text text;
    sinter__avro_schema *schema = NULL;

    sinter_text_init(sinter_env_default(), &text);
    (void)(sinter_text_append(&text, "[", 1, NULL) == SINTER_OK);
    for (int i = 0; i < COUNT; i++) {
        char one[80];
        const int size =
            snprintf(one, sizeof one, "{\"type\":\"fixed\",\"name\":\"f%d\",\"size\":%d},", i, i);

        (void)(sinter_text_append(&text, one, (size_t)size, NULL) == SINTER_OK);
    }
    (void)(sinter_text_append(&text, "\"f1234\"]", 8, NULL) == SINTER_OK);
    schema = parse(text.data);
    cr_expect_eq(sinter__avro_schema_root(schema)->fields[COUNT].type->size, 1234);
    sinter__avro_schema_destroy(schema);
    sinter_text_fini(&text);
}

Test(format_avro_schema, a_field_is_printed_as_it_stands_unless_its_type_is_defined_elsewhere)
{
    static const char text[] =
        "[\"null\",{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"i\",\"type\":"
        "[\"null\",{\"type\":\"record\",\"name\":\"r_i\",\"fields\":[{\"name\":\"x\", \"type\":"
        "[\"null\",{\"type\":\"long\",\"logicalType\":\"l\"}], \"default\":null}]}]},"
        "{\"name\":\"y\",\"type\":[\"null\",\"r_i\"]},{\"name\":\"z\",\"type\":\"int\"}]}]";
    sinter__arena arena = {.env = sinter_env_default()};
    sinter_error err = SINTER_ERROR_INIT;
    const char *out = NULL;

    cr_assert_eq(sinter__avro_schema_print_field(&arena, text_bytes(text), "i", "x", &out, NULL),
                 SINTER_OK);
    cr_expect_str_eq(out, "{\"name\":\"x\",\"type\":[\"null\",{\"type\":\"long\",\"logicalType\":"
                          "\"l\"}],\"default\":null}");
    cr_assert_eq(sinter__avro_schema_print_field(&arena, text_bytes(text), NULL, "z", &out, NULL),
                 SINTER_OK);
    cr_expect_str_eq(out, "{\"name\":\"z\",\"type\":\"int\"}");
    cr_expect_eq(sinter__avro_schema_print_field(&arena, text_bytes(text), NULL, "y", &out, &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.text, "field y can't be carried over: its type is defined outside of it");
    sinter__arena_fini(&arena);
}

static void
compare(const sinter__avro_node *node, avro_schema_t theirs)
{
    static const sinter__avro_type types[] = {
        [AVRO_STRING] = SINTER__AVRO_STRING,   [AVRO_BYTES] = SINTER__AVRO_BYTES,
        [AVRO_INT32] = SINTER__AVRO_INT,       [AVRO_INT64] = SINTER__AVRO_LONG,
        [AVRO_FLOAT] = SINTER__AVRO_FLOAT,     [AVRO_DOUBLE] = SINTER__AVRO_DOUBLE,
        [AVRO_BOOLEAN] = SINTER__AVRO_BOOLEAN, [AVRO_NULL] = SINTER__AVRO_NULL,
        [AVRO_RECORD] = SINTER__AVRO_RECORD,   [AVRO_ENUM] = SINTER__AVRO_ENUM,
        [AVRO_FIXED] = SINTER__AVRO_FIXED,     [AVRO_MAP] = SINTER__AVRO_MAP,
        [AVRO_ARRAY] = SINTER__AVRO_ARRAY,     [AVRO_UNION] = SINTER__AVRO_UNION};

    if (avro_typeof(theirs) == AVRO_LINK) {
        theirs = avro_schema_link_target(theirs);
    }
    cr_assert_eq(node->type, types[avro_typeof(theirs)]);
    if (node->type == SINTER__AVRO_RECORD) {
        cr_assert_eq(node->field_count, avro_schema_record_size(theirs));
    }
    for (uint32_t i = 0; i < node->field_count; i++) {
        avro_schema_t inner = NULL;

        switch (node->type) {
        case SINTER__AVRO_RECORD:
            cr_expect_str_eq(node->fields[i].name, avro_schema_record_field_name(theirs, (int)i));
            inner = avro_schema_record_field_get_by_index(theirs, (int)i);
            break;
        case SINTER__AVRO_UNION:
            inner = avro_schema_union_branch(theirs, (int)i);
            break;
        case SINTER__AVRO_ARRAY:
            inner = avro_schema_array_items(theirs);
            break;
        default:
            inner = avro_schema_map_values(theirs);
            break;
        }
        compare(node->fields[i].type, inner);
    }
}

Test(format_avro_schema, avro_c_reads_the_same)
{
    sinter__avro_schema *schema = parse(nested);
    avro_schema_t theirs = NULL;

    cr_assert_eq(avro_schema_from_json_length(nested, strlen(nested), &theirs), 0);
    compare(sinter__avro_schema_root(schema), theirs);
    avro_schema_decref(theirs);
    sinter__avro_schema_destroy(schema);
}

Test(format_avro_schema, every_allocation_may_fail_and_the_budget_is_kept)
{
    sinter_memory *memory = NULL;
    sinter_status st = SINTER_E_NOMEM;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 100000, &memory, NULL), SINTER_OK);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__avro_schema *schema = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.memory = memory;
        st = sinter__avro_schema_parse(&fault.env, text_bytes(nested), &schema, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        if (st == SINTER_OK) {
            sinter__arena arena = {.env = &fault.env};
            const char *out = NULL;

            st = sinter__avro_schema_print_field(&arena, text_bytes(nested), NULL, "b", &out, &err);
            cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
            sinter__arena_fini(&arena);
        }
        sinter__avro_schema_destroy(schema);
        cr_assert_eq(fault.live, 0);
        cr_assert_eq(sinter_memory_used(memory), 0);
    }
    sinter_memory_destroy(memory);
}
