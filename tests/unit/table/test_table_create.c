#include "sinter/table_create.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "place.h"
#include "support/fault_alloc.h"

static sinter_status
create_of(const sinter_env *env, const char *json, sinter_error *err)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "w/a.db/t"};
    const sinter_bytes text = {(const uint8_t *)json, strlen(json)};
    sinter_schema *schema = NULL;
    sinter_status st = sinter_schema_parse(env, "s.json", text, &schema, err);

    if (st == SINTER_OK) {
        st = sinter_table_create(env, &config, schema, err);
    }
    sinter_schema_destroy(schema);
    return st;
}

static sinter_table *
open_table(const sinter_env *env)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "w/a.db/t"};
    sinter_table *table = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_table_open(env, &config, &table, &err), SINTER_OK, "%s", err.text);
    return table;
}

static void
expect_refused(const char *json, sinter_status wanted, const char *word)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_stat stat;
    place p;

    place_init(&p, NULL);
    cr_expect_eq(create_of(&p.env, json, &err), wanted, "%s", json);
    cr_expect_not_null(strstr(err.text, word), "%s: %s", json, err.text);
    cr_expect_eq(p.memory->ops->stat(p.memory, "w", &stat, NULL), SINTER_E_NOT_FOUND);
    place_fini(&p);
}

#define COLUMNS "\"fields\":[{\"name\":\"k\",\"type\":\"INT\"},{\"name\":\"p\",\"type\":\"INT\"}]"
#define OPTIONS(text) "{" COLUMNS ",\"options\":{" text "}}"
#define KEYED(text) "{" COLUMNS ",\"primaryKeys\":[\"k\"],\"options\":{" text "}}"
#define TYPED(type, format)                                                                        \
    "{\"fields\":[{\"name\":\"c\",\"type\":" type "}],\"options\":{\"file.format\":\"" format "\"" \
    "}}"
#define NAMED(name) "{\"fields\":[{\"name\":\"" name "\",\"type\":\"INT\"}]}"

Test(table_table_create, a_table_has_keys_not_null_ids_and_no_options_that_stand_for_keys)
{
    static const char *const json =
        "{\"id\":7,\"version\":1,\"fields\":[{\"name\":\"k\",\"type\":\"BIGINT\"},"
        "{\"name\":\"r\",\"type\":{\"type\":\"ROW\",\"fields\":[{\"name\":\"x\",\"type\":\"INT\"}]}"
        ","
        "\"description\":\"d\"},{\"name\":\"p\",\"type\":\"STRING\",\"defaultValue\":\"v\"}],"
        "\"options\":{\"primary-key\":\"p, k\",\"partition\":\"p\",\"bucket\":\"2\","
        "\"file.format\":\"avro\"},\"comment\":\"c\"}";
    const sinter_schema *schema = NULL;
    const sinter_field *fields = NULL;
    sinter_table *table = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    place p;

    place_init(&p, NULL);
    cr_assert_eq(create_of(&p.env, json, &err), SINTER_OK, "%s", err.text);
    table = open_table(&p.env);
    schema = sinter_table_schema(table);
    fields = sinter_row_type_fields(schema->row_type);
    cr_expect(schema->version == 3 && schema->id == 0 && schema->highest_field_id == 3);
    cr_expect(fields[0].id == 0 && fields[1].id == 1 && fields[2].id == 3);
    cr_expect(!fields[0].type.nullable && fields[1].type.nullable && !fields[2].type.nullable);
    cr_expect_str_eq(fields[1].description, "d");
    cr_expect_str_eq(fields[2].default_value, "v");
    cr_assert(schema->primary_key_count == 2 && schema->partition_key_count == 1);
    cr_expect_str_eq(schema->primary_keys[0], "p");
    cr_expect_str_eq(schema->primary_keys[1], "k");
    cr_expect_eq(schema->option_count, 2);
    cr_expect_str_eq(schema->comment, "c");
    cr_expect_gt(schema->time_ms, 0);
    sinter_table_close(table);
    cr_expect_eq(create_of(&p.env, json, &err), SINTER_E_EXISTS);
    place_fini(&p);
}

Test(table_table_create, without_the_columnar_library_files_are_avro)
{
    sinter_table *table = NULL;
    place p;

    place_init(&p, NULL);
    p.env.columnar_library = "/nowhere/libsinter_columnar.so";
    cr_assert_eq(create_of(&p.env, NAMED("a"), NULL), SINTER_OK);
    table = open_table(&p.env);
    cr_expect_str_eq(sinter_schema_option(sinter_table_schema(table), "file.format"), "avro");
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_create, names_of_system_columns_are_refused)
{
    static const char *const bad[] = {NAMED("rowkind"),     NAMED("_LEVEL"),
                                      NAMED("_VALUE_KIND"), NAMED("_SEQUENCE_NUMBER"),
                                      NAMED("_ROW_ID"),     NAMED("_KEY_a")};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_refused(bad[i], SINTER_E_INVALID, "files have a column");
    }
    expect_refused("{\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"INT\"},{\"id\":1,\"name\":"
                   "\"b\",\"type\":\"INT\"}]}",
                   SINTER_E_INVALID, "id 1");
    expect_refused("{\"fields\":[]}", SINTER_E_INVALID, "fields");
    expect_refused("[1]", SINTER_E_INVALID, "object");
}

Test(table_table_create, keys_and_buckets_that_make_no_sense_are_refused)
{
    static const struct {
        const char *json;
        const char *word;
    } bad[] = {
        {"{" COLUMNS ",\"primaryKeys\":[\"k\"],\"partitionKeys\":[\"p\"],\"options\":{\"bucket\":"
         "\"2\"}}",
         "partition column \"p\""},
        {"{" COLUMNS ",\"primaryKeys\":[\"p\"],\"partitionKeys\":[\"p\"]}", "one row"},
        {"{" COLUMNS ",\"partitionKeys\":[\"p\",\"p\"]}", "twice"},
        {"{" COLUMNS ",\"partitionKeys\":[\"z\"]}", "\"z\""},
        {"{" COLUMNS ",\"primaryKeys\":[\"k\",\"k\"]}", "twice"},
        {KEYED("\"primary-key\":\"k\""), "primary-key"},
        {OPTIONS("\"primary-key\":\"z\""), "\"z\""},
        {OPTIONS("\"bucket\":\"2\""), "bucket-key"},
        {OPTIONS("\"bucket\":\"0\""), "bucket"},
        {OPTIONS("\"bucket\":\"-2\""), "primary key"},
        {OPTIONS("\"bucket-key\":\"k\""), "number of buckets"},
        {KEYED("\"bucket\":\"2\",\"bucket-key\":\"p\""), "\"p\""},
        {OPTIONS("\"bucket\":\"2\",\"bucket-key\":\"z\""), "\"z\""},
        {OPTIONS("\"full-compaction.delta-commits\":\"2\""), "full-compaction"},
        {KEYED("\"sequence.field\":\"z\""), "\"z\""},
        {KEYED("\"sequence.field\":\"p , p\""), "twice"},
        {KEYED("\"sequence.field\":\"p\",\"merge-engine\":\"first-row\""), "first-row"},
        {OPTIONS("\"changelog-producer\":\"input\""), "primary key"},
        {KEYED("\"changelog-producer\":\"input\",\"merge-engine\":\"first-row\""), "first-row"},
        {KEYED("\"deletion-vectors.enabled\":\"true\",\"merge-engine\":\"first-row\""),
         "first-row"},
        {KEYED("\"deletion-vectors.enabled\":\"true\",\"changelog-producer\":\"full-compaction\""),
         "full-compaction"},
        {KEYED("\"rowkind.field\":\"z\""), "\"z\""},
        {OPTIONS("\"snapshot.num-retained.min\":\"3\",\"snapshot.num-retained.max\":\"2\""),
         "above"},
        {OPTIONS("\"file.format.per.level\":\"avro\""), "LEVEL:FORMAT"},
        {NAMED(" "), "blank"},
        {OPTIONS("\"bucket\":\"2\",\"bucket-key\":\"k, k\""), "twice"},
        {KEYED("\"changelog-producer\":\"x\""), "\"x\""},
        {OPTIONS("\"changelog-producer\":\"Lookup\""), "primary key"},
        {OPTIONS("\"changelog.num-retained.max\":\"9\""), "changelog.num-retained.min"},
        {OPTIONS("\"bucket\":\"2\",\"bucket-key\":\"k\",\"row-tracking.enabled\":\"true\""),
         "row-tracking.enabled"},
        {KEYED("\"row-tracking.enabled\":\"true\""), "row-tracking.enabled"},
        {OPTIONS("\"data-evolution.enabled\":\"true\""), "row-tracking.enabled"},
        {OPTIONS("\"data-evolution.enabled\":\"true\",\"row-tracking.enabled\":\"true\","
                 "\"deletion-vectors.enabled\":\"true\""),
         "deletion-vectors.enabled"},
        {KEYED("\"bucket\":\"2\",\"clustering.incremental\":\"true\""), "buckets"},
        {OPTIONS("\"streaming-read-overwrite\":\"true\""), "primary key"},
        {OPTIONS("\"partition.expiration-time\":\"1 d\""), "no partitions"},
        {OPTIONS("\"record-level.expire-time\":\"1 d\",\"record-level.time-field\":\"z\""),
         "\"z\""},
        {"{\"fields\":[{\"name\":\"s\",\"type\":\"STRING\"}],\"options\":{"
         "\"record-level.expire-time\":\"1 d\",\"record-level.time-field\":\"s\"}}",
         "TIMESTAMP"},
        {OPTIONS("\"fields.k,z.stats-mode\":\"full\""), "\"z\""},
        {KEYED("\"merge-engine\":\"partial-update\",\"fields.p.sequence-group\":\"k,z\""), "\"z\""},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_refused(bad[i].json, SINTER_E_INVALID, bad[i].word);
    }
}

Test(table_table_create, what_options_of_columns_and_ages_may_say_is_allowed)
{
    static const char *const good[] = {
        OPTIONS("\"changelog.num-retained.min\":\"12\",\"snapshot.num-retained.min\":\"3\""),
        OPTIONS("\"row-tracking.enabled\":\"true\",\"data-evolution.enabled\":\"true\""),
        OPTIONS("\"record-level.expire-time\":\"1 d\",\"record-level.time-field\":\"p\""),
        KEYED("\"changelog-producer\":\"INPUT\""),
        OPTIONS("\"record-level.time-field\":\"z\",\"fields.default-aggregate-function\":\"sum\","
                "\"fields.k,p.sequence-group\":\"z\",\"fields.p.stats-mode\":\"full\"")};

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        place p;

        place_init(&p, NULL);
        cr_expect_eq(create_of(&p.env, good[i], &err), SINTER_OK, "%s: %s", good[i], err.text);
        place_fini(&p);
    }
}

Test(table_table_create, types_that_a_format_a_key_or_a_partition_lacks_are_refused)
{
    expect_refused(TYPED("\"TIMESTAMP(9)\"", "avro"), SINTER_E_UNSUPPORTED, "TIMESTAMP(9)");
    expect_refused(TYPED("{\"type\":\"ARRAY\",\"element\":\"TIMESTAMP_LTZ(7)\"}", "Avro"),
                   SINTER_E_UNSUPPORTED, "TIMESTAMP(7)");
    expect_refused(TYPED("\"TIME(6)\"", "avro"), SINTER_E_UNSUPPORTED, "TIME(6)");
    expect_refused(TYPED("\"VARIANT\"", "orc"), SINTER_E_UNSUPPORTED, "VARIANT");
    expect_refused(TYPED("\"BLOB\"", "parquet"), SINTER_E_UNSUPPORTED, "BLOB");
    expect_refused(TYPED("\"INT\"", "csv"), SINTER_E_UNSUPPORTED, "csv");
    expect_refused("{\"fields\":[{\"name\":\"c\",\"type\":\"TIMESTAMP(9)\"}],\"options\":{"
                   "\"file.format\":\"parquet\",\"file.format.per.level\":\"0:avro\"}}",
                   SINTER_E_UNSUPPORTED, "TIMESTAMP(9)");
    expect_refused("{\"fields\":[{\"name\":\"c\",\"type\":{\"type\":\"ARRAY\",\"element\":"
                   "\"INT\"}}],\"primaryKeys\":[\"c\"]}",
                   SINTER_E_UNSUPPORTED, "ARRAY");
}

/* What a failed call leaves: nothing, or the table of a call that succeeded. */
static void
expect_clean(const place *p, sinter_status st)
{
    sinter_io_stat stat;

    cr_expect_eq(p->memory->ops->stat(p->memory, "w", &stat, NULL),
                 st == SINTER_OK ? SINTER_OK : SINTER_E_NOT_FOUND);
}

Test(table_table_create, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        place p;

        fault_alloc_init(&fault, n);
        place_init(&p, &fault.env);
        st = create_of(&p.env, NAMED("a"), &err);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %llu: %s",
                  (unsigned long long)n, err.text);
        expect_clean(&p, st);
        place_fini(&p);
        cr_assert_eq(fault.live, 0, "leak when allocation %llu fails", (unsigned long long)n);
    }
}

Test(table_table_create, every_call_of_the_io_may_fail)
{
    sinter_status st = SINTER_E_IO;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options options = {
            .struct_size = (uint32_t)sizeof options, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_io *faulty = NULL;
        place p;

        place_init(&p, NULL);
        cr_assert_eq(
            sinter_io_fault_create(sinter_env_default(), p.memory, &options, &faulty, NULL),
            SINTER_OK);
        p.env.io = faulty;
        st = create_of(&p.env, NAMED("a"), NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_IO, "call %llu", (unsigned long long)n);
        expect_clean(&p, st);
        sinter_io_destroy(faulty);
        place_fini(&p);
    }
}
