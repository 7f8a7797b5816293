/*
 * That files have what Paimon's have is checked by tests/tables.
 */
#include "table/data_writer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "place.h"
#include "sinter/table.h"
#include "support/fault_alloc.h"
#include "table/bucket_output.h"
#include "table/columns_reader.h"
#include "table/data_reader.h"
#include "table/scan_columns.h"

TestSuite(table_data_writer, .timeout = 120);

enum { ROWS = 40, SWEEP_ROWS = 3, COLUMNS = 5 };

/** A table of columns k, v, m MAP, s MULTISET, r ROW, and rows for it. */
typedef struct bed {
    place place;
    sinter_table *table;
    const sinter_schema *schema;
    sinter__table_options options;
    sinter__scan_columns columns;
    sinter__write_plan plan;
    sinter_batch_builder *builder;
    sinter_range range;
} bed;

/* Row `number`, as texts of its values. */
static void
add_row(bed *b, int number)
{
    sinter_text scratch[COLUMNS];
    sinter_datum values[COLUMNS];
    sinter_text key;
    sinter_text value;
    char texts[COLUMNS][80];

    (void)snprintf(texts[0], sizeof texts[0], "%d", number);
    (void)snprintf(texts[1], sizeof texts[1], "value of row %d", number);
    (void)snprintf(texts[2], sizeof texts[2], "[[%d,\"x\"],[%d,null]]", number, number + 1);
    (void)snprintf(texts[3], sizeof texts[3], "[[\"a\",%d]]", number + 1);
    (void)snprintf(texts[4], sizeof texts[4], "{\"x\":%d,\"y\":[1,null,%d]}", number, number);
    sinter_text_init(sinter_env_default(), &key);
    sinter_text_init(sinter_env_default(), &value);
    for (size_t i = 0; i < COLUMNS; i++) {
        const sinter_column column = {.name = b->columns.fields[i].name,
                                      .type = b->columns.fields[i].type};
        const sinter_bytes text = {(const uint8_t *)texts[i], strlen(texts[i])};
        sinter_error err = SINTER_ERROR_INIT;

        sinter_text_init(sinter_env_default(), &scratch[i]);
        cr_assert_eq(sinter_datum_parse(&column, text, 0, &scratch[i], &values[i], &err), SINTER_OK,
                     "%s: %s", texts[i], err.text);
    }
    if (b->columns.key_codec != NULL) {
        cr_assert_eq(sinter_key_encode(b->columns.key_codec, values, &key, NULL), SINTER_OK);
    }
    cr_assert_eq(sinter_row_encode(b->schema->row_type, values, SINTER_KIND_INSERT, &value, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_batch_builder_add(b->builder, sinter_text_bytes(&key), 100 + number,
                                          number % 4 == 3 ? SINTER_KIND_DELETE : SINTER_KIND_INSERT,
                                          sinter_text_bytes(&value), NULL),
                 SINTER_OK);
    for (size_t i = 0; i < COLUMNS; i++) {
        sinter_text_fini(&scratch[i]);
    }
    sinter_text_fini(&key);
    sinter_text_fini(&value);
}

static void
open_bed(bed *b, const char *format, const char *keys)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    char text[1024];

    memset(b, 0, sizeof *b);
    place_init(&b->place, NULL);
#ifdef COLUMNAR_LIBRARY
    b->place.env.columnar_library = COLUMNAR_LIBRARY;
#endif
    (void)snprintf(
        text, sizeof text,
        "{\"version\":3,\"id\":0,\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT NULL\"},"
        "{\"id\":1,\"name\":\"v\",\"type\":\"STRING\"},"
        "{\"id\":2,\"name\":\"m\",\"type\":{\"type\":\"MAP\",\"key\":\"INT\",\"value\":"
        "\"STRING\"}},{\"id\":3,\"name\":\"s\",\"type\":{\"type\":\"MULTISET\",\"element\":"
        "\"STRING\"}},{\"id\":4,\"name\":\"r\",\"type\":{\"type\":\"ROW\",\"fields\":["
        "{\"id\":5,\"name\":\"x\",\"type\":\"INT\"},{\"id\":6,\"name\":\"y\",\"type\":{\"type\":"
        "\"ARRAY\",\"element\":\"INT\"}}]}}],\"highestFieldId\":6,\"partitionKeys\":[],"
        "\"primaryKeys\":[%s],\"options\":{\"file.format\":\"%s\"},\"timeMillis\":0}",
        keys, format);
    place_write(&b->place, "t/schema/schema-0", text);
    cr_assert_eq(sinter_table_open(&b->place.env, &config, &b->table, NULL), SINTER_OK);
    b->schema = sinter_table_schema(b->table);
    b->columns.arena.env = b->plan.arena.env = &b->place.env;
    cr_assert_eq(sinter__table_options_load(b->schema, &b->options, NULL), SINTER_OK);
    cr_assert_eq(sinter__scan_columns_init(&b->columns, b->schema, &b->options, NULL, 0, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__write_plan_init(&b->plan, b->schema, &b->options, NULL), SINTER_OK);
    cr_assert_eq(sinter_batch_builder_create(&b->place.env, &b->builder, NULL), SINTER_OK);
    for (int i = 0; i < ROWS; i++) {
        add_row(b, i);
    }
    b->range = (sinter_range){.batch = sinter_batch_builder_batch(b->builder), .count = ROWS};
}

static void
close_bed(bed *b)
{
    sinter_batch_builder_destroy(b->builder);
    sinter__write_plan_fini(&b->plan);
    sinter__scan_columns_fini(&b->columns);
    sinter_table_close(b->table);
    place_fini(&b->place);
}

static bool
exists(const bed *b, const char *path)
{
    sinter_io_stat stat = {0};

    return b->place.memory->ops->stat(b->place.memory, path, &stat, NULL) == SINTER_OK;
}

/* Write a file of all rows; what is known of it goes to `output`. */
static sinter_status
write_file(const bed *b, const sinter_env *env, const char *path, sinter__bucket_output *output,
           sinter_file_stats *stats)
{
    const sinter_write_options options = {.struct_size = (uint32_t)sizeof options, .level = 5};
    sinter_writer *writer = NULL;
    size_t taken = 0;
    uint32_t rows = 0;
    sinter_status st = sinter__bucket_output_open(output, env, path, &options, &writer, NULL);

    if (st == SINTER_OK) {
        st = writer->ops->append(writer, &b->range, 1, UINT64_MAX, &taken, &rows, NULL);
        st = st == SINTER_OK ? writer->ops->finish(writer, stats, NULL) : st;
        writer->ops->close(writer);
    }
    return st;
}

static sinter__bucket_output *
open_output(const bed *b, const sinter_env *env, int64_t first_sequence)
{
    const sinter__bucket_output_config config = {
        .plan = &b->plan, .level = 5, .first_sequence = first_sequence};
    sinter__bucket_output *output = NULL;

    return sinter__bucket_output_create(env, &config, &output, NULL) == SINTER_OK ? output : NULL;
}

static void
check_file(const bed *b, const char *path)
{
    const sinter__data_input input = {.path = path, .row_type = b->schema->row_type};
    const sinter_batch *given = b->range.batch;
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint32_t at = 0;
    sinter_status st =
        sinter__data_reader_open(&b->place.env, &b->columns.plan, &input, NULL, &reader, &err);

    cr_assert_eq(st, SINTER_OK, "%s", err.text);
    while ((st = reader->ops->next(reader, &batch, &err)) == SINTER_OK) {
        for (uint32_t i = 0; i < batch->row_count; i++, at++) {
            const sinter_bytes value = batch->payload_ops->value(batch, i);
            const sinter_bytes expected = given->payload_ops->value(given, at);

            cr_assert_eq(batch->sequences[i],
                         b->columns.key_codec == NULL ? (int64_t)at : given->sequences[at]);
            cr_assert_eq(value.size, expected.size);
            cr_assert_eq(memcmp(value.data, expected.data, value.size), 0, "row %u", at);
        }
    }
    cr_assert_eq(st, SINTER_END, "%s", err.text);
    cr_assert_eq(at, ROWS);
    reader->ops->close(reader);
}

/* The formats that this build can write. */
static const char *const formats[] = {"avro",
#ifdef COLUMNAR_LIBRARY
                                      "parquet", "orc",
#endif
                                      NULL};

/* Rows of a file that ends at so many bytes, of copies of a range. */
static uint64_t
copies_until(const bed *b, const sinter_range *range, uint64_t stop_bytes)
{
    const sinter_write_options options = {.struct_size = (uint32_t)sizeof options, .level = 5};
    sinter__bucket_output *output = open_output(b, &b->place.env, 0);
    sinter_writer *writer = NULL;
    size_t taken = 1;
    uint32_t part = 0;
    uint64_t rows = 0;

    cr_assert_not_null(output);
    cr_assert_eq(sinter__bucket_output_open(output, &b->place.env, "f", &options, &writer, NULL),
                 SINTER_OK);
    while (taken == 1 && rows < 100000) {
        cr_assert_eq(writer->ops->append(writer, range, 1, stop_bytes, &taken, &part, NULL),
                     SINTER_OK);
        rows += taken * ROWS + part;
    }
    writer->ops->close(writer);
    sinter__bucket_output_destroy(output);
    return rows;
}

static uint64_t
rows_until(const bed *b, uint64_t stop_bytes)
{
    return copies_until(b, &b->range, stop_bytes);
}

/* As Paimon's do (spec/compaction.md 15.1): it looks after each thousand rows, in ORC after each
 * 1024, and in Parquet counts values as they are until their page is full. */
Test(table_data_writer, files_end_at_rows_where_their_size_is_looked_at)
{
    for (size_t f = 0; formats[f] != NULL; f++) {
        const bool is_orc = strcmp(formats[f], "orc") == 0;
        bed b;

        open_bed(&b, formats[f], "\"k\"");
        cr_expect_eq(rows_until(&b, 1), is_orc ? 1024 : 1000, "%s", formats[f]);
        if (strcmp(formats[f], "avro") != 0) {
            cr_expect_eq(rows_until(&b, 20 << 10), is_orc ? 1024 : 1000, "%s", formats[f]);
            cr_expect_eq(rows_until(&b, 200 << 10) % (is_orc ? 1024 : 1000), 0);
            cr_expect_gt(rows_until(&b, 200 << 10), is_orc ? 1024 : 1000, "%s", formats[f]);
        }
        close_bed(&b);
    }
}

Test(table_data_writer, rows_come_back_and_the_numbers_are_theirs)
{
    for (size_t f = 0; formats[f] != NULL; f++) {
        sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
        sinter__bucket_output *output = NULL;
        char path[32];
        bed b;

        open_bed(&b, formats[f], "\"k\"");
        output = open_output(&b, &b.place.env, 0);
        (void)snprintf(path, sizeof path, "t/f%s", sinter__bucket_output_extension(output));
        cr_assert_eq(write_file(&b, &b.place.env, path, output, &stats), SINTER_OK, "%s", path);
        cr_expect_eq(stats.row_count, ROWS);
        cr_expect_eq(stats.retract_count, ROWS / 4);
        cr_expect_eq(stats.sequence_min, 100);
        cr_expect_eq(stats.sequence_max, 100 + ROWS - 1);
        cr_assert_not_null(sinter__bucket_output_find(output, strchr(path, 'f')));
        cr_expect_null(sinter__bucket_output_find(output, "other"));
        check_file(&b, path);
        sinter__bucket_output_destroy(output);
        close_bed(&b);
    }
}

Test(table_data_writer, rows_without_keys_are_counted_on_from_file_to_file)
{
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    sinter__bucket_output *output = NULL;
    bed b;

    open_bed(&b, "avro", "");
    output = open_output(&b, &b.place.env, 1000);
    cr_assert_eq(write_file(&b, &b.place.env, "t/f.avro", output, &stats), SINTER_OK);
    cr_expect_eq(stats.sequence_min, 1000);
    cr_expect_eq(stats.sequence_max, 1000 + ROWS - 1);
    cr_expect_eq(stats.retract_count, 0);
    cr_assert_eq(write_file(&b, &b.place.env, "t/g.avro", output, &stats), SINTER_OK);
    cr_expect_eq(stats.sequence_min, 1000 + ROWS);
    check_file(&b, "t/g.avro");
    sinter__bucket_output_destroy(output);
    close_bed(&b);
}

Test(table_data_writer, a_file_of_another_level_is_refused)
{
    const sinter_write_options options = {.struct_size = (uint32_t)sizeof options, .level = 1};
    sinter__bucket_output *output = NULL;
    sinter_writer *writer = NULL;
    bed b;

    open_bed(&b, "avro", "\"k\"");
    output = open_output(&b, &b.place.env, 0);
    cr_expect_eq(sinter__bucket_output_open(output, &b.place.env, "t/f", &options, &writer, NULL),
                 SINTER_E_INVALID);
    cr_expect_null(writer);
    sinter__bucket_output_destroy(output);
    close_bed(&b);
}

Test(table_data_writer, a_file_ends_when_it_is_large_enough)
{
    const sinter_write_options options = {.struct_size = (uint32_t)sizeof options, .level = 5};
    sinter__bucket_output *output = NULL;
    sinter_writer *writer = NULL;
    size_t taken = 0;
    uint32_t rows = 0;
    bed b;

    open_bed(&b, "avro", "\"k\"");
    output = open_output(&b, &b.place.env, 0);
    cr_assert_eq(
        sinter__bucket_output_open(output, &b.place.env, "t/f.avro", &options, &writer, NULL),
        SINTER_OK);
    for (int i = 0; taken + rows < 2 && i < 5000; i++) { /* a block of Avro is 64,000 bytes */
        cr_assert_eq(writer->ops->append(writer, &b.range, 1, 1000, &taken, &rows, NULL),
                     SINTER_OK);
        if (taken == 0) {
            break;
        }
    }
    cr_expect_eq(taken, 0);
    cr_expect_lt(rows, ROWS);
    cr_expect_geq(writer->ops->size(writer), 1000);
    writer->ops->close(writer);
    cr_expect(!exists(&b, "t/f.avro"), "a file that was not finished vanishes");
    sinter__bucket_output_destroy(output);
    close_bed(&b);
}

static sinter_status
write_in(const bed *b, const sinter_env *env)
{
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    sinter__bucket_output *output = open_output(b, env, 0);
    const sinter_status st =
        output == NULL ? SINTER_E_NOMEM : write_file(b, env, "t/f", output, &stats);

    sinter__bucket_output_destroy(output);
    return st;
}

Test(table_data_writer, every_allocation_may_fail)
{
    /* Avro and Parquet; ORC's rows are built by the same code. */
    for (size_t f = 0; f < 2 && formats[f] != NULL; f++) {
        sinter_status st = SINTER_E_NOMEM;
        bed b;

        open_bed(&b, formats[f], "\"k\"");
        b.range.count = SWEEP_ROWS;
        for (uint64_t n = 0; st != SINTER_OK; n++) {
            fault_alloc fault;

            fault_alloc_init(&fault, n);
            fault.env.io = b.place.memory;
            fault.env.columnar_library = b.place.env.columnar_library;
            st = write_in(&b, &fault.env);
            cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "%s: %d", formats[f], (int)st);
            cr_assert_eq(fault.live, 0, "%s: allocation %u", formats[f], (unsigned)n);
            cr_assert_eq(exists(&b, "t/f"), st == SINTER_OK);
            cr_assert_lt(n, 5000);
        }
        close_bed(&b);
    }
}

static void
sweep_io(const bed *b, sinter_fault_kind kind, sinter_status expected)
{
    sinter_status st = expected;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options options = {
            .struct_size = (uint32_t)sizeof options, .kind = kind, .at_call = n};
        sinter_env env = b->place.env;

        cr_assert_eq(
            sinter_io_fault_create(sinter_env_default(), b->place.memory, &options, &env.io, NULL),
            SINTER_OK);
        st = write_in(b, &env);
        cr_assert_eq(st, sinter_io_fault_calls(env.io) <= n ? SINTER_OK : expected, "call %u: %d",
                     (unsigned)n, (int)st);
        cr_assert_eq(exists(b, "t/f"), st == SINTER_OK);
        sinter_io_destroy(env.io);
        cr_assert_lt(n, 1000);
    }
}

Test(table_data_writer, every_call_of_the_io_may_fail)
{
    for (size_t f = 0; formats[f] != NULL; f++) {
        const bool is_full = f % 2 == 1;
        bed b;

        open_bed(&b, formats[f], "\"k\"");
        b.range.count = SWEEP_ROWS;
        sweep_io(&b, is_full ? SINTER_FAULT_ENOSPC : SINTER_FAULT_EIO,
                 is_full ? SINTER_E_NO_SPACE : SINTER_E_IO);
        close_bed(&b);
    }
}

#ifdef COLUMNAR_LIBRARY
/* Write all rows to "t/f.EXTENSION", and open that for columns. */
static sinter_reader *
open_columns(const bed *b, sinter__data_input *input, const sinter_read_options *options)
{
    const sinter__columns_request request = {
        .plan = &b->plan, .form = &b->plan.form, .key_codec = b->columns.key_codec, .file = input};
    sinter_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter__columns_reader_open(&b->place.env, &request, options, &reader, &err),
                 SINTER_OK, "%s", err.text);
    return reader;
}

static sinter_status
compare_frozen(void *ctx, const void *data, size_t size)
{
    const sinter_bytes *expected = ctx;

    return size == expected->size && memcmp(data, expected->data, size) == 0 ? SINTER_OK
                                                                             : SINTER_E_CORRUPT;
}

/* A batch of rows from `first` on is what was given, and so are its rows when they were spilled. */
static void
check_columns(const bed *b, const sinter_batch *batch, uint32_t first)
{
    const sinter_batch *given = b->range.batch;

    cr_assert_eq(batch->payload_ops, &sinter__columns_payload_ops);
    cr_assert_null(batch->payload_ops->value);
    for (uint32_t i = 0; i < batch->row_count; i++) {
        sinter_bytes value = given->payload_ops->value(given, first + i);
        const sinter_bytes key = sinter_batch_key(batch, i);
        const sinter_bytes expected = sinter_batch_key(given, first + i);

        cr_assert(key.size == expected.size && memcmp(key.data, expected.data, key.size) == 0);
        cr_assert_eq(batch->sequences[i], given->sequences[first + i]);
        cr_assert_eq(batch->kinds[i], given->kinds[first + i]);
        cr_assert_eq(batch->payload_ops->freeze(batch, i, compare_frozen, &value, NULL), SINTER_OK,
                     "row %u", first + i);
    }
}

/* Half of the rows as columns, the others as if they had been spilled: both go into one file. */
static void
write_mixed(const bed *b, const sinter_batch *batch, const char *path)
{
    const sinter_write_options options = {.struct_size = (uint32_t)sizeof options, .level = 5};
    const sinter_payload_ops *ops = &sinter__columns_payload_ops;
    sinter__bucket_output *output = open_output(b, &b->place.env, 0);
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    sinter_bytes frozen[ROWS];
    sinter_batch thawed = *batch;
    sinter_range ranges[2] = {{batch, 0, ROWS / 2}, {&thawed, ROWS / 2, ROWS / 2}};
    sinter_writer *writer = NULL;
    void *state = NULL;
    size_t taken = 0;
    uint32_t rows = 0;

    for (uint32_t i = 0; i < ROWS; i++) {
        frozen[i] = b->range.batch->payload_ops->value(b->range.batch, i);
    }
    cr_assert_eq(ops->thaw(&b->place.env, frozen, ROWS, &state, &thawed.payload, NULL), SINTER_OK);
    cr_assert_eq(sinter__bucket_output_open(output, &b->place.env, path, &options, &writer, NULL),
                 SINTER_OK);
    cr_assert_eq(writer->ops->append(writer, ranges, 2, UINT64_MAX, &taken, &rows, NULL),
                 SINTER_OK);
    cr_assert_eq(taken, 2);
    cr_assert_eq(writer->ops->finish(writer, &stats, NULL), SINTER_OK);
    cr_expect_eq(stats.row_count, ROWS);
    cr_expect_eq(stats.retract_count, ROWS / 4);
    cr_expect_eq(stats.sequence_min, 100);
    cr_expect_eq(stats.sequence_max, 100 + ROWS - 1);
    writer->ops->close(writer);
    ops->thaw_end(&b->place.env, state);
    sinter__bucket_output_destroy(output);
}

Test(table_data_writer, columns_are_the_rows_also_when_they_were_spilled)
{
    for (size_t f = 1; formats[f] != NULL; f++) {
        sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
        sinter__bucket_output *output = NULL;
        sinter__data_input input = {.path = NULL};
        sinter_reader *reader = NULL;
        const sinter_batch *batch = NULL;
        char path[32];
        char copy[32];
        bed b;

        open_bed(&b, formats[f], "\"k\"");
        output = open_output(&b, &b.place.env, 0);
        (void)snprintf(path, sizeof path, "t/f.%s", formats[f]);
        cr_assert_eq(write_file(&b, &b.place.env, path, output, &stats), SINTER_OK);
        input.path = path;
        reader = open_columns(&b, &input, NULL);
        cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
        cr_assert_eq(batch->row_count, ROWS);
        cr_expect_eq(batch->retract_count, ROWS / 4);
        check_columns(&b, batch, 0);
        (void)snprintf(copy, sizeof copy, "t/g.%s", formats[f]);
        write_mixed(&b, batch, copy);
        check_file(&b, copy);
        cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_END);
        reader->ops->close(reader);
        sinter__bucket_output_destroy(output);
        close_bed(&b);
    }
}

/* Columns go on from where the file is large enough to where its size is looked at, as rows do. */
Test(table_data_writer, files_of_columns_end_where_their_size_is_looked_at)
{
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    sinter__data_input input = {.path = "t/f.orc"};
    const uint64_t stops[] = {1, 20 << 10, 300 << 10};
    sinter__bucket_output *output = NULL;
    sinter_reader *reader = NULL;
    sinter_range range = {.count = ROWS};
    bed b;

    open_bed(&b, "orc", "\"k\"");
    output = open_output(&b, &b.place.env, 0);
    cr_assert_eq(write_file(&b, &b.place.env, input.path, output, &stats), SINTER_OK);
    reader = open_columns(&b, &input, NULL);
    cr_assert_eq(reader->ops->next(reader, &range.batch, NULL), SINTER_OK);
    cr_assert_eq(range.batch->row_count, ROWS);
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        const uint64_t rows = copies_until(&b, &range, stops[i]);

        cr_expect(rows > 0 && rows < 100000 && rows % 1024 == 0, "%lu rows", rows);
    }
    reader->ops->close(reader);
    sinter__bucket_output_destroy(output);
    close_bed(&b);
}

static bool
is_third(void *ctx, uint64_t position)
{
    (void)ctx;
    return position % 3 == 0;
}

Test(table_data_writer, columns_of_a_range_of_keys_are_those_rows_and_deleted_ones_are_marked)
{
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    sinter_read_options options = {
        .struct_size = (uint32_t)sizeof options, .has_begin_key = true, .has_end_key = true};
    sinter__bucket_output *output = NULL;
    sinter__data_input input = {.path = "t/f.parquet", .is_deleted = is_third};
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    bed b;

    open_bed(&b, "parquet", "\"k\"");
    output = open_output(&b, &b.place.env, 0);
    cr_assert_eq(write_file(&b, &b.place.env, "t/f.parquet", output, &stats), SINTER_OK);
    options.begin_key = sinter_batch_key(b.range.batch, 7);
    options.end_key = sinter_batch_key(b.range.batch, 21);
    reader = open_columns(&b, &input, &options);
    cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
    cr_assert_eq(batch->row_count, 21 - 7);
    check_columns(&b, batch, 7);
    for (uint32_t i = 0; i < batch->row_count; i++) {
        cr_expect_eq(batch->dropped[i], (i + 7) % 3 == 0 ? SINTER_DROP_VECTOR : SINTER_DROP_KEEP);
    }
    cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_END);
    reader->ops->close(reader);
    options.begin_key = options.end_key;
    reader = open_columns(&b, &input, &options);
    cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_END);
    reader->ops->close(reader);
    sinter__bucket_output_destroy(output);
    close_bed(&b);
}

/* Read the columns of a file, and freeze a row. */
static sinter_status
read_columns(const bed *b, const sinter_env *env, const sinter__data_input *input)
{
    const sinter__columns_request request = {
        .plan = &b->plan, .form = &b->plan.form, .key_codec = b->columns.key_codec, .file = input};
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = sinter__columns_reader_open(env, &request, NULL, &reader, NULL);

    while (st == SINTER_OK) {
        st = reader->ops->next(reader, &batch, NULL);
    }
    if (reader != NULL) {
        reader->ops->close(reader);
    }
    return st;
}

Test(table_data_writer, every_allocation_of_reading_columns_may_fail)
{
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    sinter__bucket_output *output = NULL;
    const sinter__data_input input = {.path = "t/f.parquet"};
    sinter_status st = SINTER_E_NOMEM;
    bed b;

    open_bed(&b, "parquet", "\"k\"");
    output = open_output(&b, &b.place.env, 0);
    cr_assert_eq(write_file(&b, &b.place.env, "t/f.parquet", output, &stats), SINTER_OK);
    for (uint64_t n = 0; st != SINTER_END; n++) {
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.io = b.place.memory;
        fault.env.columnar_library = b.place.env.columnar_library;
        st = read_columns(&b, &fault.env, &input);
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM, "%d", (int)st);
        cr_assert_eq(fault.live, 0, "allocation %u", (unsigned)n);
        cr_assert_lt(n, 2000);
    }
    sinter__bucket_output_destroy(output);
    close_bed(&b);
}
#endif
