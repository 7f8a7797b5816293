#include "table/schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "place.h"
#include "support/fault_alloc.h"

static const char *const full =
    "{\n  \"version\" : 3,\n  \"id\" : 2,\n"
    "  \"fields\" : [ { \"id\" : 0, \"name\" : \"k\", \"type\" : \"INT NOT NULL\" },\n"
    "    { \"id\" : 5, \"name\" : \"p\", \"type\" : \"STRING NOT NULL\", \"description\" : \"d\" "
    "},\n"
    "    { \"id\" : 3, \"name\" : \"v\", \"type\" : \"DECIMAL(10, 2)\", \"defaultValue\" : \"5\" } "
    "],\n"
    "  \"highestFieldId\" : 9,\n  \"partitionKeys\" : [ \"p\" ],\n"
    "  \"primaryKeys\" : [ \"p\", \"k\" ],\n"
    "  \"options\" : { \"bucket\" : \"2\", \"file.format\" : \"avro\" },\n"
    "  \"comment\" : \"c\",\n  \"timeMillis\" : 1795980857588,\n  \"later\" : [ 1 ]\n}";

static sinter_status
read_text(const sinter_env *env, const char *text, sinter_schema **out, sinter_error *err)
{
    sinter_status st = SINTER_OK;
    static place p; /* its env outlives the call: the schema was made with it */

    place_init(&p, env);
    place_write(&p, "t/schema/schema-2", text);
    st = sinter__schema_read(&p.env, "t/schema/schema-2", out, err);
    place_fini(&p);
    return st;
}

Test(table_schema, every_member_is_read)
{
    sinter_schema *schema = NULL;
    size_t count = 0;
    const size_t *keys = NULL;

    cr_assert_eq(read_text(sinter_env_default(), full, &schema, NULL), SINTER_OK);
    cr_expect(schema->version == 3 && schema->id == 2 && schema->highest_field_id == 9);
    cr_assert_eq(sinter_row_type_count(schema->row_type), 3);
    cr_expect_str_eq(sinter_row_type_column_name(schema->row_type, 1), "p");
    cr_expect_eq(sinter_row_type_column_id(schema->row_type, 1), 5);
    cr_expect_eq(sinter_row_type_column_type(schema->row_type, 2)->id, SINTER_TYPE_DECIMAL);
    keys = sinter_row_type_keys(schema->row_type, &count);
    cr_expect(count == 2 && keys[0] == 1 && keys[1] == 0);
    cr_expect(schema->partition_key_count == 1 && schema->primary_key_count == 2);
    cr_expect_str_eq(schema->partition_keys[0], "p");
    cr_expect_str_eq(schema->primary_keys[1], "k");
    cr_expect_str_eq(sinter_schema_option(schema, "file.format"), "avro");
    cr_expect_null(sinter_schema_option(schema, "file"));
    cr_expect_str_eq(schema->comment, "c");
    cr_expect_eq(schema->time_ms, 1795980857588);
    sinter_schema_destroy(schema);
}

Test(table_schema, what_makes_no_sense_is_corrupt_and_named)
{
    static const struct {
        const char *find;
        const char *put;
        sinter_status status;
        const char *named;
    } cases[] = {
        {"\"version\" : 3", "\"version\" : 4", SINTER_E_UNSUPPORTED, "version 4"},
        {"\"id\" : 2", "\"id\" : -1", SINTER_E_CORRUPT, "id"},
        {"\"fields\"", "\"fiels\"", SINTER_E_CORRUPT, "fields"},
        {"INT NOT NULL", "INTT", SINTER_E_CORRUPT, "fields[0].type"},
        {"\"name\" : \"p\"", "\"name\" : \"k\"", SINTER_E_CORRUPT, "k"},
        {"[ \"p\" ]", "[ \"q\" ]", SINTER_E_CORRUPT, "partitionKeys"},
        {"\"p\", \"k\" ]", "\"p\", \"z\" ]", SINTER_E_CORRUPT, "z"},
        {"\"bucket\" : \"2\"", "\"bucket\" : 2", SINTER_E_CORRUPT, "options.bucket"},
        {"\"highestFieldId\" : 9", "\"highestFieldId\" : \"x\"", SINTER_E_CORRUPT,
         "highestFieldId"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *at = strstr(full, cases[i].find);
        sinter_error err = SINTER_ERROR_INIT;
        sinter_schema *schema = NULL;
        char text[2048];

        cr_assert_not_null(at, "%zu", i);
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - full), full, cases[i].put,
                       at + strlen(cases[i].find));
        cr_expect_eq(read_text(sinter_env_default(), text, &schema, &err), cases[i].status, "%zu",
                     i);
        cr_expect_null(schema);
        cr_expect_str_eq(err.file, "t/schema/schema-2");
        cr_expect_not_null(strstr(err.text, cases[i].named), "%zu: %s", i, err.text);
    }
}

Test(table_schema, old_files_lack_members)
{
    sinter_schema *schema = NULL;

    cr_assert_eq(read_text(sinter_env_default(),
                           "{\"id\":0,\"fields\":[{\"id\":0,\"name\":\"a\",\"type\":\"INT\"}],"
                           "\"highestFieldId\":0,\"partitionKeys\":[],\"primaryKeys\":[]}",
                           &schema, NULL),
                 SINTER_OK);
    cr_expect(schema->version == 1 && schema->time_ms == 0 && schema->option_count == 0);
    cr_expect_null(schema->comment);
    sinter_schema_destroy(schema);
}

Test(table_schema, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        sinter_schema *schema = NULL;

        fault_alloc_init(&fault, n);
        st = read_text(&fault.env, full, &schema, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        sinter_schema_destroy(schema);
        cr_assert_eq(fault.live, 0);
        cr_assert_lt(n, 200);
    }
}
