/*
 * Faults of the field that come with tables: each by its number, over tables in memory that are
 * made, written and compacted as a user would.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "sinter/rows.h"
#include "sinter/table_compact.h"
#include "sinter/table_create.h"
#include "sinter/table_maintenance.h"
#include "sinter/table_scan.h"
#include "sinter/table_write.h"

TestSuite(field_faults, .timeout = 120);

enum { JSON_BYTES = 4096, RESULTS_MAX = 8 };

/* ---- tables ---- */

static sinter_table *
open_table(const sinter_env *env)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;

    cr_assert_eq(sinter_table_open(env, &config, &table, &err), SINTER_OK, "%s", err.text);
    return table;
}

/* `columns` as JSON; those of `key` (and of `partition`, NULL: none) are names in quotes. */
static void
make_table(place *p, const char *columns, const char *key, const char *partition)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_schema *schema = NULL;
    char json[JSON_BYTES];

    place_init(p, NULL);
    (void)snprintf(json, sizeof json,
                   "{\"fields\":[%s],\"primaryKeys\":[%s],\"partitionKeys\":[%s],\"options\":{"
                   "\"file.format\":\"avro\",\"bucket\":\"1\"}}",
                   columns, key, partition == NULL ? "" : partition);
    cr_assert_eq(sinter_schema_parse(&p->env, NULL,
                                     (sinter_bytes){(const uint8_t *)json, strlen(json)}, &schema,
                                     &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_create(&p->env, &config, schema, &err), SINTER_OK, "%s", err.text);
    sinter_schema_destroy(schema);
}

/* Rows as lines of JSON, as a commit. */
static void
write_rows(const place *p, const char *lines)
{
    const sinter_row_options json = {.struct_size = (uint32_t)sizeof json};
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_row_reader *reader = NULL;
    sinter_table_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = open_table(&p->env);
    sinter_status st = SINTER_OK;

    cr_assert_eq(sinter_table_writer_open(table, NULL, &writer, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_row_reader_create(&p->env, sinter_table_writer_row_type(writer), &json,
                                          &reader, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_row_reader_feed(reader, lines, strlen(lines), &err), SINTER_OK);
    sinter_row_reader_end(reader);
    while ((st = sinter_row_reader_next(reader, &row, &err)) == SINTER_OK) {
        cr_assert_eq(sinter_table_writer_add(writer, row.kind, row.values, &err), SINTER_OK, "%s",
                     err.text);
    }
    cr_assert_eq(st, SINTER_END, "%s", err.text);
    cr_assert_eq(sinter_table_writer_commit(writer, &result, &err), SINTER_OK, "%s", err.text);
    sinter_row_reader_destroy(reader);
    sinter_table_writer_close(writer);
    sinter_table_close(table);
}

/* Rows in the order of a scan, as lines of JSON. Release with free(). */
static char *
scan_rows(const place *p, const sinter_predicate *where)
{
    const sinter_table_scan_options options = {
        .struct_size = (uint32_t)sizeof options, .bucket = -1, .where = where};
    const sinter_row_options json = {.struct_size = (uint32_t)sizeof json};
    sinter_table *table = open_table(&p->env);
    sinter_table_scan *scan = NULL;
    sinter_row_writer *writer = NULL;
    const sinter_datum *values = NULL;
    char *out = NULL;
    sinter_text text;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    sinter_text_init(&p->env, &text);
    cr_assert_eq(sinter_table_scan_open(table, &options, &scan, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(
        sinter_row_writer_create(&p->env, sinter_table_scan_row_type(scan), &json, &writer, &err),
        SINTER_OK, "%s", err.text);
    while ((st = sinter_table_scan_next(scan, &values, &err)) == SINTER_OK) {
        cr_assert_eq(sinter_row_writer_append(writer, SINTER_KIND_INSERT, values, &text, &err),
                     SINTER_OK, "%s", err.text);
    }
    cr_assert_eq(st, SINTER_END, "%s", err.text);
    out = calloc(1, text.size + 1);
    cr_assert_not_null(out);
    if (text.size > 0) {
        memcpy(out, text.data, text.size);
    }
    sinter_row_writer_destroy(writer);
    sinter_table_scan_close(scan);
    sinter_text_fini(&text);
    sinter_table_close(table);
    return out;
}

static void
expect_rows(const place *p, const char *expected)
{
    char *rows = scan_rows(p, NULL);

    cr_expect_str_eq(rows, expected);
    free(rows);
}

/* ---- compaction ---- */

typedef struct results {
    sinter_text documents[RESULTS_MAX];
    sinter_table_result items[RESULTS_MAX];
    size_t count;
} results;

/* Plan and run all of it, or what is of a partition. */
static sinter_status
run_all(sinter_table *table, const sinter_env *env, const char *partition, results *out,
        sinter_error *err)
{
    const sinter_table_plan_options options = {.struct_size = (uint32_t)sizeof options,
                                               .full = true,
                                               .bucket = -1,
                                               .partitions = &partition,
                                               .partition_count = partition == NULL ? 0 : 1};
    sinter_table_plan *plan = NULL;
    sinter_status st = sinter_table_plan_create(table, &options, &plan, err);

    *out = (results){.count = 0};
    for (size_t i = 0; st == SINTER_OK && i < sinter_table_plan_count(plan); i++) {
        sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};
        sinter_text *document = &out->documents[i];

        cr_assert(i < RESULTS_MAX);
        sinter_table_plan_get(plan, i, &task);
        sinter_text_init(env, document);
        out->count++;
        st = sinter_table_task_run(env, task.document, NULL, document, err);
        out->items[i].document = (sinter_bytes){(const uint8_t *)document->data, document->size};
    }
    sinter_table_plan_destroy(plan);
    return st;
}

static void
results_fini(results *r)
{
    for (size_t i = 0; i < r->count; i++) {
        sinter_text_fini(&r->documents[i]);
    }
}

static void
compact(const place *p, const char *partition, size_t tasks)
{
    sinter_table *table = open_table(&p->env);
    sinter_error err = SINTER_ERROR_INIT;
    results r;

    cr_assert_eq(run_all(table, &p->env, partition, &r, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(r.count, tasks);
    cr_assert_eq(sinter_table_commit_results(table, r.items, r.count, NULL, NULL, &err), SINTER_OK,
                 "%s", err.text);
    results_fini(&r);
    sinter_table_close(table);
}

static int64_t
latest(const place *p)
{
    sinter_table *table = open_table(&p->env);
    int64_t id = 0;

    cr_assert_eq(sinter_table_latest_id(table, &id, NULL), SINTER_OK);
    sinter_table_close(table);
    return id;
}

/* ---- F9 ---- */

static const char pairs[] =
    "{\"name\":\"k\",\"type\":\"INT\"},{\"name\":\"p\",\"type\":\"STRING\"},"
    "{\"name\":\"v\",\"type\":\"STRING\"}";

static sinter_status
count_one(void *ctx, const char *name)
{
    *(int *)ctx += strncmp(name, "data-", 5) == 0 ? 1 : 0;
    return SINTER_OK;
}

static int
count_files(const place *p, const char *directory)
{
    int count = 0;

    cr_assert_eq(p->memory->ops->list(p->memory, directory, count_one, &count, NULL), SINTER_OK);
    return count;
}

Test(field_faults, f9_a_partition_that_went_meanwhile_is_named_and_the_others_are_planned_again)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    results r;
    place p;

    make_table(&p, pairs, "\"k\",\"p\"", "\"p\"");
    write_rows(&p, "{\"k\":1,\"p\":\"a\",\"v\":\"x\"}\n{\"k\":1,\"p\":\"b\",\"v\":\"x\"}\n");
    write_rows(&p, "{\"k\":2,\"p\":\"a\",\"v\":\"y\"}\n{\"k\":2,\"p\":\"b\",\"v\":\"y\"}\n");
    table = open_table(&p.env);
    cr_assert_eq(run_all(table, &p.env, NULL, &r, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(r.count, 2);
    compact(&p, "p=b", 1);
    cr_expect_eq(sinter_table_commit_results(table, r.items, r.count, NULL, NULL, &err),
                 SINTER_E_CONFLICT);
    cr_expect_not_null(strstr(err.text, "p=b"), "%s", err.text);
    cr_expect_eq(latest(&p), 3, "half of it was committed");
    for (size_t i = 0; i < r.count; i++) {
        cr_assert_eq(sinter_table_result_discard(table, &r.items[i], &err), SINTER_OK);
    }
    cr_expect_eq(count_files(&p, "t/p=a/bucket-0"), 2);
    cr_expect_eq(count_files(&p, "t/p=b/bucket-0"), 3);
    compact(&p, NULL, 1); /* only p=a is left to do */
    expect_rows(&p, "{\"k\":1,\"p\":\"a\",\"v\":\"x\"}\n{\"k\":2,\"p\":\"a\",\"v\":\"y\"}\n"
                    "{\"k\":1,\"p\":\"b\",\"v\":\"x\"}\n{\"k\":2,\"p\":\"b\",\"v\":\"y\"}\n");
    results_fini(&r);
    sinter_table_close(table);
    place_fini(&p);
}

/* Results of three users, of which the first one's is in the table each time. */
Test(field_faults, f9_what_is_left_of_results_is_committed_by_its_own_user)
{
    static const char *const partitions[] = {"p=a", "p=b", "p=c"};
    sinter_table *table = NULL;
    results r[3];
    place p;

    make_table(&p, pairs, "\"k\",\"p\"", "\"p\"");
    write_rows(&p, "{\"k\":1,\"p\":\"a\"}\n{\"k\":1,\"p\":\"b\"}\n{\"k\":1,\"p\":\"c\"}\n");
    table = open_table(&p.env);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(run_all(table, &p.env, partitions[i], &r[i], NULL), SINTER_OK);
        cr_assert_eq(r[i].count, 1);
    }
    for (size_t i = 0; i < 3; i++) {
        const sinter_table_result pair[] = {r[0].items[0], r[i].items[0]};
        sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
        const int64_t before = latest(&p);

        cr_assert_eq(sinter_table_commit_results(table, pair, i == 0 ? 1 : 2, NULL, &info, NULL),
                     SINTER_OK);
        cr_expect(!info.was_done && latest(&p) == before + 1, "result %zu", i);
    }
    for (size_t i = 0; i < 3; i++) {
        results_fini(&r[i]);
    }
    sinter_table_close(table);
    place_fini(&p);
}

/* ---- F17 ---- */

/* Lose the power at one call of a compaction. @return whether it came to it */
static bool
lose_power(uint64_t at_call)
{
    static const char rows[] =
        "{\"k\":1,\"p\":\"a\",\"v\":\"z\"}\n{\"k\":2,\"p\":\"a\",\"v\":\"y\"}\n";
    const sinter_fault_options fault = {
        .struct_size = (uint32_t)sizeof fault, .kind = SINTER_FAULT_CRASH, .at_call = at_call};
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *faulty = NULL;
    sinter_table *table = NULL;
    sinter_env env;
    results r;
    place p;
    bool came_to_it = false;
    sinter_status st = SINTER_OK;

    make_table(&p, pairs, "\"k\",\"p\"", "\"p\"");
    cr_assert_eq(p.memory->ops->sync_dir(p.memory, ".", NULL), SINTER_OK);
    write_rows(&p, "{\"k\":1,\"p\":\"a\",\"v\":\"x\"}\n{\"k\":2,\"p\":\"a\",\"v\":\"y\"}\n");
    write_rows(&p, "{\"k\":1,\"p\":\"a\",\"v\":\"z\"}\n");
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), p.memory, NULL, &faulty, NULL),
                 SINTER_OK);
    env = p.env;
    env.io = faulty;
    table = open_table(&env);
    sinter_io_fault_set(faulty, &fault);
    st = run_all(table, &env, NULL, &r, &err);
    if (st == SINTER_OK) {
        st = sinter_table_commit_results(table, r.items, r.count, NULL, &info, &err);
    }
    came_to_it = sinter_io_fault_calls(faulty) > at_call;
    results_fini(&r);
    sinter_table_close(table);
    cr_assert_eq(sinter_io_fault_restart(faulty, &err), SINTER_OK, "%s", err.text);
    sinter_io_destroy(faulty);
    cr_expect(st != SINTER_OK || latest(&p) == 3,
              "call %" PRIu64 ": a commit that was told is lost", at_call);
    expect_rows(&p, rows);
    if (latest(&p) == 2) {
        compact(&p, NULL, 1); /* what was interrupted hinders nobody */
        expect_rows(&p, rows);
    }
    place_fini(&p);
    return came_to_it;
}

Test(field_faults, f17_power_may_be_lost_at_any_call_of_a_tables_compaction)
{
    uint64_t n = 0;

    while (lose_power(n)) {
        n += n < 20 ? 1 : 3;
    }
    cr_expect_gt(n, 40);
}

/* ---- F23, F24 ---- */

/* Write these keys in three commits, none in order, and read them in order, merged or compacted. */
static void
keys_keep_their_order(const char *type, const char *const *keys, size_t count)
{
    char columns[256];
    char expected[JSON_BYTES] = "";
    char *rows = NULL;
    place p;

    (void)snprintf(columns, sizeof columns,
                   "{\"name\":\"k\",\"type\":\"%s NOT NULL\"},{\"name\":\"v\",\"type\":\"INT\"}",
                   type);
    make_table(&p, columns, "\"k\"", NULL);
    for (size_t commit = 0; commit < 3; commit++) {
        char lines[JSON_BYTES] = "";
        size_t used = 0;

        for (size_t i = count; i-- > 0;) {
            if (i % 3 != commit) { /* each key twice */
                used += (size_t)snprintf(lines + used, sizeof lines - used,
                                         "{\"k\":%s,\"v\":%zu}\n", keys[i], i);
            }
        }
        write_rows(&p, lines);
    }
    for (size_t i = 0, used = 0; i < count; i++) {
        used += (size_t)snprintf(expected + used, sizeof expected - used, "{\"k\":%s,\"v\":%zu}\n",
                                 keys[i], i);
    }
    rows = scan_rows(&p, NULL);
    cr_expect_str_eq(rows, expected, "%s: %s", type, rows);
    free(rows);
    compact(&p, NULL, 1);
    rows = scan_rows(&p, NULL);
    cr_expect_str_eq(rows, expected, "%s, compacted: %s", type, rows);
    free(rows);
    place_fini(&p);
}

#define ORDER(type, ...)                                                 \
    do {                                                                 \
        static const char *const keys[] = {__VA_ARGS__};                 \
        keys_keep_their_order((type), keys, sizeof keys / sizeof *keys); \
    } while (0)

Test(field_faults, f23_keys_below_zero_keep_their_order_through_a_tables_compaction)
{
    ORDER("INT", "-2147483648", "-2", "-1", "0", "1", "2147483647");
    ORDER("BIGINT", "-9223372036854775808", "-1", "0", "9223372036854775807");
    ORDER("DATE", "\"0001-01-01\"", "\"1969-12-30\"", "\"1969-12-31\"", "\"1970-01-01\"");
    ORDER("DECIMAL(10, 2)", "\"-1.00\"", "\"-0.01\"", "\"0.00\"", "\"0.01\"");
    ORDER("DECIMAL(38, 18)", "\"-12345678901234567890.000000000000000001\"",
          "\"-1.000000000000000000\"", "\"0.000000000000000000\"",
          "\"12345678901234567890.000000000000000001\"");
    ORDER("TIMESTAMP(6)", "\"1969-12-31 23:59:59.000001\"", "\"1969-12-31 23:59:59.999999\"",
          "\"1970-01-01 00:00:00.000000\"", "\"1970-01-01 00:00:00.000001\"");
    ORDER("STRING", "\"\"", "\"\\u0000\"", "\"\\u0000a\"", "\"a\"", "\"a\\u0000\"", "\"aa\"",
          "\"b\"");
}

Test(field_faults, f24_floats_have_a_total_order_through_a_tables_compaction)
{
    ORDER("FLOAT", "\"-Infinity\"", "-1.5", "-0", "0", "1.5", "\"Infinity\"", "\"NaN\"");
    ORDER("DOUBLE", "\"-Infinity\"", "-1.5", "-0", "0", "1.5", "\"Infinity\"", "\"NaN\"");
}

/* ---- F26 ---- */

Test(field_faults, f26_partition_values_are_compared_as_values_and_not_as_paths)
{
    static const char odd[] = "{\"k\":1,\"p\":\"a/b=c%d:e f\",\"v\":\"x\"}\n"
                              "{\"k\":2,\"p\":\"a/b=c%d:e f\",\"v\":\"y\"}\n";
    const sinter_bytes value = {(const uint8_t *)"a/b=c%d:e f", 11};
    const sinter_predicate where = {.struct_size = (uint32_t)sizeof where,
                                    .op = SINTER_PREDICATE_EQUAL,
                                    .column = "p",
                                    .values = &value,
                                    .value_count = 1};
    char *rows = NULL;
    place p;

    make_table(&p, pairs, "\"k\",\"p\"", "\"p\"");
    write_rows(&p,
               "{\"k\":1,\"p\":\"a/b=c%d:e f\",\"v\":\"x\"}\n{\"k\":1,\"p\":\"a\",\"v\":\"x\"}\n");
    write_rows(&p,
               "{\"k\":2,\"p\":\"a/b=c%d:e f\",\"v\":\"y\"}\n{\"k\":2,\"p\":\"a\",\"v\":\"y\"}\n");
    cr_expect_eq(count_files(&p, "t/p=a%2Fb%3Dc%25d%3Ae f/bucket-0"), 2);
    compact(&p, "p=a/b=c%d:e f", 1);
    cr_expect_eq(count_files(&p, "t/p=a%2Fb%3Dc%25d%3Ae f/bucket-0"), 3);
    cr_expect_eq(count_files(&p, "t/p=a/bucket-0"), 2, "only that partition was asked for");
    rows = scan_rows(&p, &where);
    cr_expect_str_eq(rows, odd);
    free(rows);
    place_fini(&p);
}

Test(field_faults, f26_a_partition_value_may_have_a_zero_byte)
{
    place p;

    make_table(&p, pairs, "\"k\",\"p\"", "\"p\"");
    write_rows(&p, "{\"k\":1,\"p\":\"a\\u0000b\",\"v\":\"x\"}\n");
    write_rows(&p, "{\"k\":2,\"p\":\"a\\u0000b\",\"v\":\"y\"}\n");
    compact(&p, NULL, 1);
    cr_expect_eq(count_files(&p, "t/p=a%00b/bucket-0"), 3);
    expect_rows(&p, "{\"k\":1,\"p\":\"a\\u0000b\",\"v\":\"x\"}\n"
                    "{\"k\":2,\"p\":\"a\\u0000b\",\"v\":\"y\"}\n");
    place_fini(&p);
}

/* ---- F29 ---- */

Test(field_faults, f29_a_new_column_of_an_old_name_is_null_in_old_rows_after_a_compaction_too)
{
    static const char expected[] = "{\"k\":1,\"c\":10,\"b\":null}\n{\"k\":2,\"c\":20,\"b\":null}\n{"
                                   "\"k\":3,\"c\":30,\"b\":7}\n";
    place p;

    make_table(&p,
               "{\"name\":\"k\",\"type\":\"INT NOT NULL\"},{\"name\":\"a\",\"type\":\"INT\"},"
               "{\"name\":\"b\",\"type\":\"INT\"}",
               "\"k\"", NULL);
    write_rows(&p, "{\"k\":1,\"a\":10,\"b\":100}\n{\"k\":2,\"a\":20,\"b\":200}\n");
    place_write(&p, "t/schema/schema-1",
                "{\"version\":3,\"id\":1,\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT "
                "NULL\"},{\"id\":1,\"name\":\"c\",\"type\":\"INT\"},{\"id\":3,\"name\":\"b\","
                "\"type\":\"INT\"}],\"highestFieldId\":3,\"partitionKeys\":[],\"primaryKeys\":["
                "\"k\"],\"options\":{\"file.format\":\"avro\",\"bucket\":\"1\"},\"comment\":\"\","
                "\"timeMillis\":1}");
    write_rows(&p, "{\"k\":3,\"c\":30,\"b\":7}\n");
    expect_rows(&p, expected);
    compact(&p, NULL, 1);
    expect_rows(&p, expected);
    place_fini(&p);
}

/* ---- F31 ---- */

Test(field_faults, f31_a_reader_of_a_snapshot_that_is_expired_is_told_so)
{
    const sinter_expire_options all_but_one = {
        .struct_size = (uint32_t)sizeof all_but_one, .retain_min = 1, .retain_max = 1};
    sinter_table_scan_options options = {.struct_size = (uint32_t)sizeof options, .bucket = -1};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table_scan *scan = NULL;
    sinter_snapshot *first = NULL;
    const sinter_datum *values = NULL;
    sinter_table *table = NULL;
    place p;

    make_table(&p, pairs, "\"k\",\"p\"", "\"p\"");
    write_rows(&p, "{\"k\":1,\"p\":\"a\",\"v\":\"x\"}\n");
    table = open_table(&p.env);
    cr_assert_eq(sinter_table_snapshot_get(table, 1, &first, &err), SINTER_OK, "%s", err.text);
    options.snapshot = first;
    cr_assert_eq(sinter_table_scan_open(table, &options, &scan, &err), SINTER_OK, "%s", err.text);
    write_rows(&p, "{\"k\":1,\"p\":\"a\",\"v\":\"y\"}\n");
    compact(&p, NULL, 1);
    cr_assert_eq(sinter_table_expire(table, &all_but_one, NULL, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(sinter_table_scan_next(scan, &values, &err), SINTER_E_EXPIRED);
    cr_expect_not_null(strstr(err.text, "snapshot 1"), "%s", err.text);
    cr_expect_not_null(strstr(err.file, "data-"), "%s", err.file);
    sinter_table_scan_close(scan);
    cr_expect_eq(sinter_table_scan_open(table, &options, &scan, &err), SINTER_E_EXPIRED);
    cr_expect_not_null(strstr(err.text, "snapshot 1"), "%s", err.text);
    sinter_snapshot_destroy(first);
    sinter_table_close(table);
    place_fini(&p);
}

static sinter_status
remove_data_file(void *ctx, const char *name)
{
    char path[128];

    if (strncmp(name, "data-", 5) == 0) {
        (void)snprintf(path, sizeof path, "t/p=a/bucket-0/%s", name);
        cr_assert_eq(
            ((const place *)ctx)->memory->ops->unlink(((const place *)ctx)->memory, path, NULL),
            SINTER_OK);
    }
    return SINTER_OK;
}

Test(field_faults, f31_what_a_tag_holds_is_damaged_and_not_expired_when_a_file_is_gone)
{
    const sinter_expire_options all_but_one = {
        .struct_size = (uint32_t)sizeof all_but_one, .retain_min = 1, .retain_max = 1};
    sinter_table_scan_options options = {.struct_size = (uint32_t)sizeof options, .bucket = -1};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    char text[2048] = {0};
    sinter_io_range range = {.data = text};
    uint64_t size = 0;
    sinter_table_scan *scan = NULL;
    sinter_snapshot *tagged = NULL;
    const sinter_datum *values = NULL;
    sinter_table *table = NULL;
    sinter_io *io = NULL;
    place p;

    make_table(&p, pairs, "\"k\",\"p\"", "\"p\"");
    io = p.memory;
    write_rows(&p, "{\"k\":1,\"p\":\"a\",\"v\":\"x\"}\n");
    cr_assert_eq(io->ops->open(io, "t/snapshot/snapshot-1", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    cr_assert_lt(size, sizeof text);
    range.size = (size_t)size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    place_write(&p, "t/tag/tag-old", text);
    write_rows(&p, "{\"k\":1,\"p\":\"a\",\"v\":\"y\"}\n");
    table = open_table(&p.env);
    cr_assert_eq(sinter_table_expire(table, &all_but_one, NULL, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_snapshot_of_tag(table, "old", &tagged, &err), SINTER_OK);
    options.snapshot = tagged;
    cr_assert_eq(sinter_table_scan_open(table, &options, &scan, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(io->ops->list(io, "t/p=a/bucket-0", remove_data_file, &p, NULL), SINTER_OK);
    cr_expect_eq(sinter_table_scan_next(scan, &values, &err), SINTER_E_NOT_FOUND, "%s", err.text);
    sinter_table_scan_close(scan);
    sinter_snapshot_destroy(tagged);
    sinter_table_close(table);
    place_fini(&p);
}
