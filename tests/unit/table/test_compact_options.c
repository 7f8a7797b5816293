/*
 * What of a table's options a compaction takes, ignores and refuses.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "table/compact_options.h"
#include "table/schema.h"

TestSuite(table_compact_options, .timeout = 60);

/* A table with key k, or without key, and these options as JSON members. */
static sinter_schema *
schema_with(bool has_key, const char *options)
{
    char text[1024];
    sinter_schema *schema = NULL;

    (void)snprintf(
        text, sizeof text,
        "{\"version\":3,\"id\":0,\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT "
        "NULL\"},{\"id\":1,\"name\":\"v\",\"type\":\"INT\"}],\"highestFieldId\":1,"
        "\"partitionKeys\":[],\"primaryKeys\":[%s],\"options\":{%s},\"timeMillis\":0}",
        has_key ? "\"k\"" : "", options);
    cr_assert_eq(sinter__schema_of_text(sinter_env_default(), "schema-0",
                                        (sinter_bytes){(const uint8_t *)text, strlen(text)},
                                        &schema, NULL),
                 SINTER_OK, "%s", text);
    return schema;
}

static sinter_status
load(bool has_key, const char *options, sinter__compaction *out, sinter_error *err)
{
    sinter_schema *schema = schema_with(has_key, options);
    const sinter_status st = sinter__compaction_load(schema, &(sinter__settings){0}, out, err);

    sinter_schema_destroy(schema);
    return st;
}

/* Refused, and the text names the key. */
static void
expect_refused(bool has_key, const char *key, const char *value)
{
    sinter__compaction compaction;
    sinter_error err = SINTER_ERROR_INIT;
    char options[256];

    (void)snprintf(options, sizeof options, "\"%s\":\"%s\"", key, value);
    cr_expect_eq(load(has_key, options, &compaction, &err), SINTER_E_UNSUPPORTED, "%s", options);
    cr_expect_not_null(strstr(err.text, key), "%s: %s", options, err.text);
}

Test(table_compact_options, keys_that_change_the_outcome_are_refused_by_name)
{
    expect_refused(true, "changelog-producer", "lookup");
    expect_refused(true, "changelog-producer", "full-compaction");
    expect_refused(true, "merge-engine", "partial-update");
    expect_refused(true, "merge-engine", "aggregation");
    expect_refused(true, "bucket", "-2");
    expect_refused(true, "chain-table.enabled", "true");
    expect_refused(false, "data-evolution.enabled", "true");
    expect_refused(false, "clustering.incremental", "true");
    expect_refused(false, "type", "format-table");
}

Test(table_compact_options, values_that_ask_for_nothing_are_fine)
{
    sinter__compaction compaction;

    cr_assert_eq(load(true,
                      "\"changelog-producer\":\"NONE\",\"row-tracking.enabled\":\"false\","
                      "\"merge-engine\":\"first-row\",\"type\":\"table\"",
                      &compaction, NULL),
                 SINTER_OK);
    cr_expect_eq(compaction.core.merge_engine, SINTER_MERGE_ENGINE_FIRST_ROW);
    cr_expect(compaction.needs_lookup, "first-row looks keys up");
    cr_assert_eq(load(true, "\"changelog-producer\":\"input\"", &compaction, NULL), SINTER_OK);
    cr_expect(!compaction.needs_lookup);
    cr_assert_eq(load(true, "\"deletion-vectors.enabled\":\"true\"", &compaction, NULL), SINTER_OK);
    cr_expect(compaction.needs_lookup);
    cr_assert_eq(load(false, "\"merge-engine\":\"aggregation\"", &compaction, NULL), SINTER_OK,
                 "without a key nothing is merged");
}

Test(table_compact_options, keys_of_the_core_and_of_append_tables_are_taken)
{
    sinter__compaction compaction;

    cr_assert_eq(load(true,
                      "\"num-sorted-run.compaction-trigger\":\"3\",\"target-file-size\":\"2 kb\","
                      "\"compaction.size-ratio\":\"7\"",
                      &compaction, NULL),
                 SINTER_OK);
    cr_expect_eq(compaction.core.num_sorted_run_trigger, 3);
    cr_expect_eq(compaction.core.target_file_bytes, 2048);
    cr_expect_eq(compaction.core.size_ratio, 7);
    cr_assert_eq(load(false,
                      "\"compaction.min.file-num\":\"3\",\"source.split.open-file-cost\":\"1 mb\","
                      "\"compaction.delete-ratio-threshold\":\"0.5\"",
                      &compaction, NULL),
                 SINTER_OK);
    cr_expect_eq(compaction.core.append_file_num_min, 3);
    cr_expect_eq(compaction.core.append_open_file_cost, 1 << 20);
    cr_expect_eq(compaction.core.append_delete_ratio, 0.5);
}

Test(table_compact_options, the_target_size_depends_on_the_key)
{
    sinter__compaction compaction;

    cr_assert_eq(load(true, "", &compaction, NULL), SINTER_OK);
    cr_expect_eq(compaction.core.target_file_bytes, (uint64_t)128 << 20);
    cr_assert_eq(load(false, "", &compaction, NULL), SINTER_OK);
    cr_expect_eq(compaction.core.target_file_bytes, (uint64_t)256 << 20);
}

Test(table_compact_options, keys_of_other_programs_and_of_writers_are_left_alone)
{
    sinter__compaction compaction;

    cr_assert_eq(load(true,
                      "\"owner\":\"someone\",\"write-only\":\"true\",\"commit.force-compact\":"
                      "\"true\",\"file.compression\":\"snappy\",\"spill-compression\":\"lzo\","
                      "\"snapshot.time-retained\":\"1 d\"",
                      &compaction, NULL),
                 SINTER_OK);
}

Test(table_compact_options, bad_values_are_named)
{
    sinter__compaction compaction;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(load(true, "\"target-file-size\":\"many\"", &compaction, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "target-file-size"), "%s", err.text);
    err = (sinter_error)SINTER_ERROR_INIT;
    cr_assert_eq(load(false, "\"compaction.min.file-num\":\"0\"", &compaction, &err),
                 SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "compaction.min.file-num"), "%s", err.text);
}

Test(table_compact_options, settings_go_before_the_schema_and_have_to_be_known)
{
    const sinter_option size = {"target-file-size", "3 kb"};
    const sinter_option unknown = {"target-file-sise", "3 kb"};
    const sinter_option tables = {"merge-engine", "first-row"};
    sinter_schema *schema = schema_with(true, "\"target-file-size\":\"2 kb\"");
    sinter__compaction compaction;

    cr_assert_eq(sinter__compaction_load(schema, &(sinter__settings){&size, 1}, &compaction, NULL),
                 SINTER_OK);
    cr_expect_eq(compaction.core.target_file_bytes, 3072);
    cr_expect_eq(
        sinter__compaction_load(schema, &(sinter__settings){&unknown, 1}, &compaction, NULL),
        SINTER_E_INVALID);
    cr_expect_eq(
        sinter__compaction_load(schema, &(sinter__settings){&tables, 1}, &compaction, NULL),
        SINTER_E_INVALID, "merge-engine is the table's alone");
    sinter_schema_destroy(schema);
}
