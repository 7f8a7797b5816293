#include "sinter/table_write.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "place.h"
#include "sinter/rows.h"
#include "sinter/table_create.h"
#include "sinter/table_scan.h"
#include "support/fault_alloc.h"
#include "table/live_files.h"

#define FIELDS                                                                         \
    "\"fields\":[{\"name\":\"k\",\"type\":\"INT\"},{\"name\":\"p\",\"type\":\"INT\"}," \
    "{\"name\":\"v\",\"type\":\"STRING\"}]"
#define KEYED(options)                                                                  \
    "{" FIELDS ",\"primaryKeys\":[\"k\",\"p\"],\"partitionKeys\":[\"p\"],\"options\":{" \
    "\"file.format\":\"avro\",\"bucket\":\"2\"" options "}}"
#define PLAIN(options) "{" FIELDS ",\"options\":{\"file.format\":\"avro\"" options "}}"

static sinter_table *
open_table(const sinter_env *env)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;

    cr_assert_eq(sinter_table_open(env, &config, &table, &err), SINTER_OK, "%s", err.text);
    return table;
}

static void
make_table(const sinter_env *env, const char *json)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_schema *schema = NULL;

    cr_assert_eq(sinter_schema_parse(env, NULL, (sinter_bytes){(const uint8_t *)json, strlen(json)},
                                     &schema, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_create(env, &config, schema, &err), SINTER_OK, "%s", err.text);
    sinter_schema_destroy(schema);
}

/* Add the rows of a text of JSON lines. */
static sinter_status
add_lines(const sinter_env *env, sinter_table_writer *writer, const char *lines, sinter_error *err)
{
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_row_reader *reader = NULL;
    sinter_status st =
        sinter_row_reader_create(env, sinter_table_writer_row_type(writer), &options, &reader, err);

    if (st == SINTER_OK) {
        st = sinter_row_reader_feed(reader, lines, strlen(lines), err);
        sinter_row_reader_end(reader);
    }
    while (st == SINTER_OK) {
        st = sinter_row_reader_next(reader, &row, err);
        if (st == SINTER_OK) {
            st = sinter_table_writer_add(writer, row.kind, row.values, err);
        }
    }
    sinter_row_reader_destroy(reader);
    return st == SINTER_END ? SINTER_OK : st;
}

static sinter_status
write_with(const sinter_env *env, sinter_table *table, const sinter_table_write_options *options,
           const char *lines, sinter_table_write_result *result)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table_writer *writer = NULL;
    sinter_status st = sinter_table_writer_open(table, options, &writer, &err);

    result->struct_size = (uint32_t)sizeof *result;
    if (st == SINTER_OK) {
        st = add_lines(env, writer, lines, &err);
    }
    if (st == SINTER_OK) {
        st = sinter_table_writer_commit(writer, result, &err);
    }
    cr_expect_eq(err.status, st == SINTER_OK ? SINTER_OK : st, "%s", err.text);
    sinter_table_writer_close(writer);
    return st;
}

static void
write_lines(const sinter_env *env, const char *lines)
{
    sinter_table_write_result result = {0};
    sinter_table *table = open_table(env);

    cr_assert_eq(write_with(env, table, NULL, lines, &result), SINTER_OK, "%s", lines);
    sinter_table_close(table);
}

/* All rows, one a line, in the order of the scan. */
static void
scan_text(const sinter_env *env, sinter_text *out)
{
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    const sinter_datum *values = NULL;
    sinter_row_writer *printer = NULL;
    sinter_table_scan *scan = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = open_table(env);
    sinter_status st = sinter_table_scan_open(table, NULL, &scan, &err);

    cr_assert_eq(st, SINTER_OK, "%s", err.text);
    cr_assert_eq(
        sinter_row_writer_create(env, sinter_table_scan_row_type(scan), &options, &printer, NULL),
        SINTER_OK);
    while ((st = sinter_table_scan_next(scan, &values, &err)) == SINTER_OK) {
        cr_assert_eq(sinter_row_writer_append(printer, SINTER_KIND_INSERT, values, out, NULL),
                     SINTER_OK);
    }
    cr_assert_eq(st, SINTER_END, "%s", err.text);
    cr_assert_eq(sinter_text_append(out, "", 1, NULL), SINTER_OK);
    sinter_row_writer_destroy(printer);
    sinter_table_scan_close(scan);
    sinter_table_close(table);
}

static void
expect_rows(const sinter_env *env, const char *wanted)
{
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    scan_text(env, &text);
    cr_expect_str_eq(text.data, wanted);
    sinter_text_fini(&text);
}

/* "bucket/total:min-max" of all files. */
static void
expect_files(const sinter_env *env, const char *wanted)
{
    sinter__live_files *files = NULL;
    sinter_snapshot *snapshot = NULL;
    const sinter__bucket_files *buckets = NULL;
    sinter_table *table = open_table(env);
    char text[512] = "";
    size_t count = 0;
    int64_t id = 0;

    cr_assert_eq(sinter_table_latest_id(table, &id, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_snapshot_get(table, id, &snapshot, NULL), SINTER_OK);
    cr_assert_eq(sinter__live_files_read(table, snapshot, &files, NULL), SINTER_OK);
    buckets = sinter__live_files_buckets(files, &count);
    for (size_t b = 0; b < count; b++) {
        for (size_t i = 0; i < buckets[b].count; i++) {
            const sinter__data_file *file = &buckets[b].entries[i]->file;
            const size_t size = strlen(text);

            (void)snprintf(text + size, sizeof text - size, "%d/%d:%" PRId64 "-%" PRId64 " ",
                           buckets[b].bucket, buckets[b].total_buckets, file->min_sequence,
                           file->max_sequence);
        }
    }
    cr_expect_str_eq(text, wanted);
    sinter__live_files_destroy(files);
    sinter_snapshot_destroy(snapshot);
    sinter_table_close(table);
}

static sinter_status
count_name(void *ctx, const char *name)
{
    (void)name;
    ++*(size_t *)ctx;
    return SINTER_OK;
}

static size_t
names_in(const place *p, const char *dir)
{
    size_t count = 0;
    const sinter_status st = p->memory->ops->list(p->memory, dir, count_name, &count, NULL);

    cr_expect(st == SINTER_OK || st == SINTER_E_NOT_FOUND);
    return count;
}

static void
expect_refused(const char *schema, const char *lines, sinter_status wanted, const char *word)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table_writer *writer = NULL;
    sinter_table *table = NULL;
    sinter_status st;
    place p;

    place_init(&p, NULL);
    make_table(&p.env, schema);
    table = open_table(&p.env);
    st = sinter_table_writer_open(table, NULL, &writer, &err);
    if (st == SINTER_OK) {
        st = add_lines(&p.env, writer, lines, &err);
    }
    cr_expect_eq(st, wanted, "%s %s", schema, lines);
    cr_expect_not_null(strstr(err.text, word), "%s", err.text);
    sinter_table_writer_close(writer);
    cr_expect_eq(names_in(&p, "t"), 1, "nothing but schema/");
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_write, rows_of_a_key_are_merged_and_sequences_go_on_behind_those_of_the_bucket)
{
    place p;

    place_init(&p, NULL);
    make_table(&p.env, KEYED(""));
    write_lines(&p.env, "{\"k\":1,\"p\":7,\"v\":\"a\"}\n{\"k\":0,\"p\":7,\"v\":\"b\"}\n"
                        "{\"k\":1,\"p\":7,\"v\":\"c\"}\n{\"k\":1,\"p\":8,\"v\":\"d\"}\n");
    expect_rows(&p.env, "{\"k\":1,\"p\":7,\"v\":\"c\"}\n{\"k\":0,\"p\":7,\"v\":\"b\"}\n"
                        "{\"k\":1,\"p\":8,\"v\":\"d\"}\n");
    write_lines(&p.env, "{\"_kind\":\"-D\",\"k\":1,\"p\":7}\n{\"k\":1,\"p\":8,\"v\":\"e\"}\n");
    expect_rows(&p.env, "{\"k\":0,\"p\":7,\"v\":\"b\"}\n{\"k\":1,\"p\":8,\"v\":\"e\"}\n");
    expect_files(&p.env, "0/2:1-1 0/2:2-2 1/2:0-0 0/2:0-0 0/2:1-1 ");
    place_fini(&p);
}

Test(table_table_write, tables_without_a_key_keep_the_order_of_rows)
{
    static const char *const rows = "{\"k\":3,\"p\":1,\"v\":\"x\"}\n{\"k\":1,\"p\":1,\"v\":null}\n";
    place p;

    place_init(&p, NULL);
    make_table(&p.env, PLAIN(""));
    write_lines(&p.env, rows);
    expect_rows(&p.env, rows);
    write_lines(&p.env, "{\"k\":9}\n");
    expect_files(&p.env, "0/-1:0-1 0/-1:0-0 ");
    place_fini(&p);
    place_init(&p, NULL);
    make_table(&p.env, PLAIN(",\"bucket\":\"3\",\"bucket-key\":\"k\""));
    write_lines(&p.env, rows);
    write_lines(&p.env, rows);
    expect_files(&p.env, "1/3:0-1 1/3:2-3 ");
    place_fini(&p);
}

Test(table_table_write, a_commit_that_is_there_already_changes_nothing)
{
    const sinter_table_write_options options = {.struct_size = (uint32_t)sizeof options,
                                                .has_identifier = true,
                                                .user = "u",
                                                .identifier = 5};
    const sinter_table_write_options next = {.struct_size = (uint32_t)sizeof next, .user = "u"};
    sinter_table_write_result result = {0};
    sinter_table *table = NULL;
    place p;

    place_init(&p, NULL);
    make_table(&p.env, PLAIN(""));
    table = open_table(&p.env);
    cr_assert_eq(write_with(&p.env, table, &options, "{\"k\":1}\n", &result), SINTER_OK);
    cr_expect(result.snapshot_id == 1 && !result.was_done && result.rows == 1);
    cr_expect(result.files == 1 && result.buckets == 1 && result.bytes > 0);
    cr_assert_eq(write_with(&p.env, table, &options, "{\"k\":1}\n", &result), SINTER_OK);
    cr_expect(result.was_done && result.rows == 0 && result.identifier == 5);
    cr_expect_eq(names_in(&p, "t/bucket-0"), 1);
    cr_assert_eq(write_with(&p.env, table, &next, "{\"k\":2}\n", &result), SINTER_OK);
    cr_expect(result.snapshot_id == 2 && result.identifier == 6);
    cr_assert_eq(write_with(&p.env, table, NULL, "", &result), SINTER_OK);
    cr_expect(result.is_empty && result.snapshot_id == -1, "no rows, no snapshot");
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_write, what_is_not_committed_leaves_nothing)
{
    sinter_table_writer *writer = NULL;
    sinter_table *table = NULL;
    place p;

    place_init(&p, NULL);
    make_table(&p.env, KEYED(",\"write-buffer-size\":\"64 kb\""));
    table = open_table(&p.env);
    cr_assert_eq(sinter_table_writer_open(table, NULL, &writer, NULL), SINTER_OK);
    for (int i = 0; i < 3000; i++) {
        char line[64];

        (void)snprintf(line, sizeof line, "{\"k\":%d,\"p\":%d}\n", i, i % 3);
        cr_assert_eq(add_lines(&p.env, writer, line, NULL), SINTER_OK);
    }
    cr_expect_gt(names_in(&p, "t/p=0"), 0, "full buffers became files");
    sinter_table_writer_close(writer);
    cr_expect_eq(names_in(&p, "t"), 1, "nothing but schema/");
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_write, many_buckets_without_a_key_share_the_open_files)
{
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_table_writer *writer = NULL;
    sinter_table *table = NULL;
    place p;

    place_init(&p, NULL);
    make_table(&p.env,
               "{" FIELDS ",\"partitionKeys\":[\"p\"],\"options\":{\"file.format\":\"avro\"}}");
    table = open_table(&p.env);
    cr_assert_eq(sinter_table_writer_open(table, NULL, &writer, NULL), SINTER_OK);
    for (int i = 0; i < 160; i++) {
        char line[64];

        (void)snprintf(line, sizeof line, "{\"k\":%d,\"p\":%d}\n", i, i % 80);
        cr_assert_eq(add_lines(&p.env, writer, line, NULL), SINTER_OK);
    }
    cr_assert_eq(sinter_table_writer_commit(writer, &result, NULL), SINTER_OK);
    cr_expect(result.rows == 160 && result.buckets == 80 && result.files == 160);
    sinter_table_writer_close(writer);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_write, defaults_kinds_of_a_column_and_ignored_deletes_count)
{
    place p;

    place_init(&p, NULL);
    make_table(&p.env, "{\"fields\":[{\"name\":\"k\",\"type\":\"INT\"},{\"name\":\"v\",\"type\":"
                       "\"STRING\",\"defaultValue\":\"none\"},{\"name\":\"r\",\"type\":\"STRING\"}"
                       "],\"primaryKeys\":[\"k\"],\"options\":{\"file.format\":\"avro\",\"bucket\":"
                       "\"1\",\"rowkind.field\":\"r\"}}");
    write_lines(&p.env, "{\"k\":1,\"r\":\"+I\"}\n{\"k\":2,\"v\":\"x\",\"r\":\"+U\"}\n"
                        "{\"k\":2,\"r\":\"-D\"}\n");
    expect_rows(&p.env, "{\"k\":1,\"v\":\"none\",\"r\":\"+I\"}\n");
    place_fini(&p);
    place_init(&p, NULL);
    make_table(&p.env, KEYED(",\"ignore-delete\":\"true\""));
    write_lines(&p.env, "{\"k\":1,\"p\":1}\n{\"_kind\":\"-D\",\"k\":1,\"p\":1}\n");
    expect_rows(&p.env, "{\"k\":1,\"p\":1,\"v\":null}\n");
    place_fini(&p);
}

Test(table_table_write, rows_before_an_update_are_ignored_where_the_table_says_so)
{
    static const char rows[] = "{\"k\":1,\"p\":1}\n{\"k\":2,\"p\":1}\n"
                               "{\"_kind\":\"-U\",\"k\":1,\"p\":1}\n";
    place p;

    place_init(&p, NULL);
    make_table(&p.env, KEYED(",\"ignore-update-before\":\"true\""));
    write_lines(&p.env, rows);
    write_lines(&p.env, "{\"_kind\":\"-D\",\"k\":2,\"p\":1}\n");
    expect_rows(&p.env, "{\"k\":1,\"p\":1,\"v\":null}\n");
    place_fini(&p);
    place_init(&p, NULL);
    make_table(&p.env, PLAIN(",\"ignore-update-before\":\"true\""));
    write_lines(&p.env, rows);
    expect_rows(&p.env, "{\"k\":1,\"p\":1,\"v\":null}\n{\"k\":2,\"p\":1,\"v\":null}\n");
    place_fini(&p);
}

Test(table_table_write, what_cannot_be_written_is_refused_by_name)
{
    static const char *const row = "{\"k\":1,\"p\":1}\n";
    static const char *const dead = "{\"_kind\":\"-D\",\"k\":1,\"p\":1}\n";

    expect_refused(KEYED(",\"merge-engine\":\"aggregation\""), row, SINTER_E_UNSUPPORTED,
                   "aggregation");
    expect_refused(KEYED(",\"changelog-producer\":\"input\""), row, SINTER_E_UNSUPPORTED, "input");
    expect_refused("{" FIELDS ",\"primaryKeys\":[\"k\"],\"options\":{\"file.format\":\"avro\"}}",
                   row, SINTER_E_UNSUPPORTED, "dynamic");
    expect_refused("{" FIELDS ",\"primaryKeys\":[\"k\"],\"options\":{\"file.format\":\"avro\","
                   "\"bucket\":\"-2\"}}",
                   row, SINTER_E_UNSUPPORTED, "postponed");
    expect_refused(KEYED(",\"bucket-function.type\":\"hive\""), row, SINTER_E_UNSUPPORTED, "hive");
    expect_refused(KEYED(",\"merge-engine\":\"first-row\""), dead, SINTER_E_RETRACT, "first-row");
    expect_refused(PLAIN(""), dead, SINTER_E_INVALID, "inserts");
    expect_refused(KEYED(""), "{\"k\":1}\n", SINTER_E_INVALID, "\"p\"");
}

Test(table_table_write, a_partition_keeps_its_number_of_buckets)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table_writer *writer = NULL;
    sinter_table *table = NULL;
    place p;

    place_init(&p, NULL);
    make_table(&p.env, KEYED(""));
    write_lines(&p.env, "{\"k\":1,\"p\":1}\n");
    place_write(&p, "t/schema/schema-1",
                "{\"version\":3,\"id\":1,\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":"
                "\"INT NOT NULL\"},{\"id\":1,\"name\":\"p\",\"type\":\"INT NOT NULL\"},{\"id\":2,"
                "\"name\":\"v\",\"type\":\"STRING\"}],\"highestFieldId\":2,\"partitionKeys\":"
                "[\"p\"],\"primaryKeys\":[\"k\",\"p\"],\"options\":{\"bucket\":\"4\",\"file.format"
                "\":\"avro\"}}");
    table = open_table(&p.env);
    cr_assert_eq(sinter_table_writer_open(table, NULL, &writer, NULL), SINTER_OK);
    cr_expect_eq(add_lines(&p.env, writer, "{\"k\":1,\"p\":1}\n", &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "has 2 buckets"), "%s", err.text);
    cr_expect_eq(add_lines(&p.env, writer, "{\"k\":1,\"p\":2}\n", &err), SINTER_OK);
    sinter_table_writer_close(writer);
    sinter_table_close(table);
    place_fini(&p);
}

#define OWN_FORMAT                                                         \
    "{" FIELDS ",\"primaryKeys\":[\"k\",\"p\"],\"partitionKeys\":[\"p\"]," \
    "\"options\":{\"file.format\":\"sst\",\"bucket\":\"2\"}}"
#define TWO_PLACES                                                    \
    ",\"data-file.external-paths\":\"file:///x/one, file:/x//two/\"," \
    "\"data-file.external-paths.strategy\":\"round-robin\""

Test(table_table_write, files_go_to_external_directories_in_turn)
{
    sinter_table_write_result result = {0};
    sinter_table *table = NULL;
    place p;

    place_init(&p, NULL);
    make_table(&p.env, KEYED(TWO_PLACES ",\"target-file-size\":\"1 b\""));
    table = open_table(&p.env);
    cr_assert_eq(write_with(&p.env, table, NULL, "{\"k\":1,\"p\":1}\n{\"k\":3,\"p\":1}\n", &result),
                 SINTER_OK);
    cr_expect_eq(names_in(&p, "/x/one/p=1/bucket-0") + names_in(&p, "/x/two/p=1/bucket-0") +
                     names_in(&p, "/x/one/p=1/bucket-1") + names_in(&p, "/x/two/p=1/bucket-1"),
                 result.files);
    cr_expect_eq(names_in(&p, "/x/one/p=1"), names_in(&p, "/x/two/p=1"), "the same buckets");
    cr_expect_eq(names_in(&p, "t/p=1"), 0, "none in the table");
    expect_rows(&p.env, "{\"k\":1,\"p\":1,\"v\":null}\n{\"k\":3,\"p\":1,\"v\":null}\n");
    sinter_table_close(table);
    place_fini(&p);
}

/* One row into a table that is there, with faults of allocation or io. */
static sinter_status
write_one(const sinter_env *env, const char *line)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_table_writer *writer = NULL;
    sinter_table *table = NULL;
    sinter_status st = sinter_table_open(env, &config, &table, NULL);

    if (st == SINTER_OK) {
        st = sinter_table_writer_open(table, NULL, &writer, NULL);
    }
    if (st == SINTER_OK) {
        st = add_lines(env, writer, line, NULL);
    }
    if (st == SINTER_OK) {
        st = sinter_table_writer_commit(writer, &result, NULL);
    }
    sinter_table_writer_close(writer);
    sinter_table_close(table);
    return st;
}

static void
expect_all_or_nothing(place *p, sinter_status st, uint64_t n)
{
    p->env.io = p->memory;
    if (st == SINTER_OK) {
        expect_rows(&p->env, "{\"k\":1,\"p\":1,\"v\":null}\n");
        return;
    }
    cr_expect_eq(names_in(p, "t/snapshot"), 0, "call %" PRIu64, n);
    cr_expect_eq(names_in(p, "t/p=1"), 0, "call %" PRIu64, n);
    cr_expect_eq(names_in(p, "/x/one"), 0, "call %" PRIu64, n);
    cr_expect_eq(names_in(p, "/x/two"), 0, "call %" PRIu64, n);
}

static void
sweep_allocations(const char *schema)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n += 3) {
        fault_alloc fault;
        place p;

        place_init(&p, NULL);
        make_table(&p.env, schema);
        fault_alloc_init(&fault, n);
        fault.env.io = p.memory;
        st = write_one(&fault.env, "{\"k\":1,\"p\":1}\n");
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %" PRIu64 ": %d", n, st);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        expect_all_or_nothing(&p, st, n);
        place_fini(&p);
    }
}

Test(table_table_write, every_allocation_may_fail)
{
    sweep_allocations(KEYED(""));
    sweep_allocations(KEYED(TWO_PLACES));
    sweep_allocations(OWN_FORMAT);
}

static void
sweep_io(const char *schema)
{
    sinter_status st = SINTER_E_IO;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options options = {
            .struct_size = (uint32_t)sizeof options, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_io *faulty = NULL;
        place p;

        place_init(&p, NULL);
        make_table(&p.env, schema);
        cr_assert_eq(
            sinter_io_fault_create(sinter_env_default(), p.memory, &options, &faulty, NULL),
            SINTER_OK);
        p.env.io = faulty;
        st = write_one(&p.env, "{\"k\":1,\"p\":1}\n");
        expect_all_or_nothing(&p, st, n);
        if (st == SINTER_OK && sinter_io_fault_calls(faulty) > n) {
            st = SINTER_E_IO; /* a fault that was got over */
        }
        sinter_io_destroy(faulty);
        place_fini(&p);
    }
}

Test(table_table_write, every_call_of_the_io_may_fail)
{
    sweep_io(KEYED(""));
    sweep_io(KEYED(TWO_PLACES));
    sweep_io(OWN_FORMAT);
}
