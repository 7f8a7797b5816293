/*
 * The tables are ones that Paimon 1.3.1 wrote: tests/data/tables/oracle/append_index_kinds_avro.db
 * and pk_index_embedded_avro.db. Their rows must give the indexes that it made of them, byte by
 * byte.
 */
#include "table/file_index_writer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/binary.h"
#include "place.h"
#include "sinter/type.h"
#include "support/fault_alloc.h"
#include "table/data_reader.h"
#include "table/live_files.h"
#include "table/scan_columns.h"
#include "table/table.h"
#include "table/write_plan.h"

enum { ROWS_MAX = 64, COLUMNS_MAX = 32, PATH_BYTES = 4096, INDEX_BYTES_MAX = 64 << 10 };

static const char kinds_table[] = SINTER_TABLES "/append_index_kinds_avro.db/t";
static const char embedded_table[] = SINTER_TABLES "/pk_index_embedded_avro.db/t";

/** A file of a table: its rows, and the indexes that Paimon made of them. */
typedef struct bed {
    sinter_env real;
    sinter_io *files;
    place place; /* where new files go */
    sinter_table *table;
    sinter__table_options options;
    sinter__scan_columns columns;
    sinter__write_plan plan;
    sinter_snapshot *snapshot;
    sinter__live_files *live;
    sinter__arena arena;
    sinter_datum rows[ROWS_MAX][COLUMNS_MAX];
    size_t row_count;
    uint8_t expected[INDEX_BYTES_MAX];
    size_t expected_size;
} bed;

static void
open_bed(bed *b, const char *path)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = path};
    int64_t id = 0;

    memset(b, 0, sizeof *b);
    place_init(&b->place, NULL);
    place_write(&b->place, "t/beside", "");
    sinter_env_init(&b->real);
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, NULL, &b->files, NULL),
                 SINTER_OK);
    b->real.io = b->files;
    b->arena.env = b->columns.arena.env = b->plan.arena.env = &b->real;
    cr_assert_eq(sinter_table_open(&b->real, &config, &b->table, NULL), SINTER_OK, "%s", path);
    cr_assert_eq(sinter__table_options_load(sinter_table_schema(b->table), &b->options, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__scan_columns_init(&b->columns, sinter_table_schema(b->table), &b->options,
                                           NULL, 0, NULL),
                 SINTER_OK);
    cr_assert_eq(
        sinter__write_plan_init(&b->plan, sinter_table_schema(b->table), &b->options, NULL),
        SINTER_OK);
    cr_assert_eq(sinter_table_latest_id(b->table, &id, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_snapshot_get(b->table, id, &b->snapshot, NULL), SINTER_OK);
    cr_assert_eq(sinter__live_files_read(b->table, b->snapshot, &b->live, NULL), SINTER_OK);
}

static void
close_bed(bed *b)
{
    sinter__arena_fini(&b->arena);
    sinter__live_files_destroy(b->live);
    sinter_snapshot_destroy(b->snapshot);
    sinter__write_plan_fini(&b->plan);
    sinter__scan_columns_fini(&b->columns);
    sinter_table_close(b->table);
    sinter_io_destroy(b->files);
    place_fini(&b->place);
}

static void
load_expected(bed *b, const sinter__data_file *file, const char *path)
{
    char name[PATH_BYTES + 8];
    FILE *from = NULL;

    if (file->extra_files.count == 0) {
        cr_assert(file->embedded_index.size > 0 && file->embedded_index.size < INDEX_BYTES_MAX);
        b->expected_size = file->embedded_index.size;
        memcpy(b->expected, file->embedded_index.data, b->expected_size);
        return;
    }
    (void)snprintf(name, sizeof name, "%s" SINTER__FILE_INDEX_SUFFIX, path);
    from = fopen(name, "rb");
    cr_assert_not_null(from, "%s", name);
    b->expected_size = fread(b->expected, 1, sizeof b->expected, from);
    cr_assert(b->expected_size > 0 && b->expected_size < sizeof b->expected);
    (void)fclose(from);
}

static void
load_row(bed *b, sinter_bytes given)
{
    sinter__slots slots;
    sinter_bytes row;

    cr_assert(b->row_count < ROWS_MAX && b->columns.count <= COLUMNS_MAX);
    cr_assert_eq(sinter__arena_copy(&b->arena, given, &row, NULL), SINTER_OK);
    cr_assert_eq(sinter__slots_of_row(b->columns.count, row, &slots, NULL), SINTER_OK);
    for (size_t i = 0; i < b->columns.count; i++) {
        cr_assert_eq(sinter__slots_get(&slots, &b->columns.fields[i].type, i,
                                       &b->rows[b->row_count][i], NULL),
                     SINTER_OK);
    }
    b->row_count++;
}

/* Load rows and indexes of a live file; false: there are no more. */
static bool
load_file(bed *b, size_t index)
{
    size_t count = 0;
    const sinter__bucket_files *bucket = sinter__live_files_buckets(b->live, &count);
    sinter__data_input input = {.row_type = sinter_table_schema(b->table)->row_type};
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    char path[PATH_BYTES];

    cr_assert_eq(count, 1);
    if (index == bucket->count) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/bucket-0/%.*s", sinter_table_path(b->table),
                   (int)bucket->entries[index]->file.file_name.size,
                   (const char *)bucket->entries[index]->file.file_name.data);
    load_expected(b, &bucket->entries[index]->file, path);
    input.path = path;
    b->row_count = 0;
    cr_assert_eq(sinter__data_reader_open(&b->real, &b->columns.plan, &input, NULL, &reader, NULL),
                 SINTER_OK);
    while (reader->ops->next(reader, &batch, NULL) == SINTER_OK) {
        for (uint32_t i = 0; i < batch->row_count; i++) {
            load_row(b, batch->payload_ops->value(batch, i));
        }
    }
    reader->ops->close(reader);
    return true;
}

/* Index the rows; `out` lives as long as the writer. */
static sinter_status
index_rows(const bed *b, const sinter_env *env, sinter__file_index_writer **writer,
           sinter__file_index_made *out, sinter_error *err)
{
    sinter_status st = sinter__file_index_writer_open(
        env, &b->plan.indexes, b->plan.fields + b->plan.system_count, writer, err);

    for (size_t i = 0; i < b->row_count && st == SINTER_OK; i++) {
        st = sinter__file_index_writer_add(*writer, b->rows[i], err);
    }
    return st == SINTER_OK ? sinter__file_index_writer_finish(*writer, "t/data.avro", out, err)
                           : st;
}

static bool
is_there(const bed *b, const char *path)
{
    sinter_io_stat stat;

    return b->place.memory->ops->stat(b->place.memory, path, &stat, NULL) == SINTER_OK;
}

static void
expect_file(const bed *b)
{
    static uint8_t bytes[INDEX_BYTES_MAX];
    sinter_io *io = b->place.memory;
    sinter_io_file *file = NULL;
    uint64_t size = 0;
    sinter_io_range range = {.data = bytes};

    cr_assert_eq(io->ops->open(io, "t/data.avro.index", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    cr_assert_eq(size, b->expected_size);
    range.size = (size_t)size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_expect_eq(memcmp(bytes, b->expected, range.size), 0);
    file->ops->close(file);
}

TestSuite(table_file_index_writer, .timeout = 120);

Test(table_file_index_writer, indexes_in_a_file_are_those_that_paimon_made_of_the_rows)
{
    sinter__file_index_writer *writer = NULL;
    sinter__file_index_made made;
    sinter_error err = SINTER_ERROR_INIT;
    static bed b;

    open_bed(&b, kinds_table);
    cr_assert(load_file(&b, 0));
    cr_assert_eq(index_rows(&b, &b.place.env, &writer, &made, &err), SINTER_OK, "%s", err.text);
    cr_expect_str_eq(made.file_name, "data.avro.index");
    cr_expect_eq(made.embedded.size, 0);
    expect_file(&b);
    sinter__file_index_writer_keep(writer);
    sinter__file_index_writer_close(writer);
    cr_expect(is_there(&b, "t/data.avro.index"));
    close_bed(&b);
}

Test(table_file_index_writer, indexes_for_the_manifest_are_those_that_paimon_made_of_the_rows)
{
    size_t count = 0;
    static bed b;

    open_bed(&b, embedded_table);
    for (; load_file(&b, count); count++) {
        sinter__file_index_writer *writer = NULL;
        sinter__file_index_made made;

        cr_assert_eq(index_rows(&b, &b.place.env, &writer, &made, NULL), SINTER_OK);
        cr_expect_null(made.file_name);
        cr_assert_eq(made.embedded.size, b.expected_size);
        cr_expect_eq(memcmp(made.embedded.data, b.expected, b.expected_size), 0);
        sinter__file_index_writer_close(writer);
    }
    cr_expect_eq(count, 2);
    close_bed(&b);
}

Test(table_file_index_writer, a_file_that_is_not_kept_goes)
{
    sinter__file_index_writer *writer = NULL;
    sinter__file_index_made made;
    static bed b;

    open_bed(&b, kinds_table);
    cr_assert(load_file(&b, 0));
    cr_assert_eq(index_rows(&b, &b.place.env, &writer, &made, NULL), SINTER_OK);
    cr_expect(is_there(&b, "t/data.avro.index"));
    sinter__file_index_writer_close(writer);
    cr_expect(!is_there(&b, "t/data.avro.index"));
    close_bed(&b);
}

Test(table_file_index_writer, a_name_that_is_taken_stays_what_it_is)
{
    sinter__file_index_writer *writer = NULL;
    sinter__file_index_made made;
    static bed b;

    open_bed(&b, kinds_table);
    cr_assert(load_file(&b, 0));
    place_write(&b.place, "t/data.avro.index", "other");
    cr_expect_eq(index_rows(&b, &b.place.env, &writer, &made, NULL), SINTER_E_EXISTS);
    sinter__file_index_writer_close(writer);
    cr_expect(is_there(&b, "t/data.avro.index"));
    close_bed(&b);
}

Test(table_file_index_writer, a_number_without_a_sign_free_form_is_refused_with_its_column)
{
    sinter__file_index_writer *writer = NULL;
    sinter__file_index_made made;
    sinter_error err = SINTER_ERROR_INIT;
    static bed b;

    open_bed(&b, kinds_table);
    cr_assert(load_file(&b, 0));
    b.rows[3][0].as.integer = INT64_MIN; /* id */
    cr_expect_eq(index_rows(&b, &b.place.env, &writer, &made, &err), SINTER_E_TOO_LARGE);
    cr_expect_not_null(strstr(err.text, "bsi index of column id"), "%s", err.text);
    sinter__file_index_writer_close(writer);
    close_bed(&b);
}

Test(table_file_index_writer, what_it_holds_is_charged_to_the_budget)
{
    sinter_memory *memory = NULL;
    sinter__file_index_writer *writer = NULL;
    sinter__file_index_made made;
    sinter_error err = SINTER_ERROR_INIT;
    static bed b;
    sinter_env env;

    open_bed(&b, kinds_table);
    cr_assert(load_file(&b, 0));
    cr_assert_eq(sinter_memory_create(sinter_env_default(), 16 << 10, &memory, NULL), SINTER_OK);
    env = b.place.env;
    env.memory = memory;
    cr_expect_eq(index_rows(&b, &env, &writer, &made, &err), SINTER_E_TOO_LARGE);
    cr_expect_not_null(strstr(err.text, "index of column "), "%s", err.text);
    cr_expect_gt(sinter_memory_used(memory), 0);
    sinter__file_index_writer_close(writer);
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
    close_bed(&b);
}

/* Index the rows with each `step`-th allocation refused, until nothing is. */
static void
sweep(bed *b, size_t step)
{
    sinter_status st = SINTER_E_NOMEM;

    for (size_t n = 0; st != SINTER_OK; n += step) {
        sinter__file_index_writer *writer = NULL;
        sinter__file_index_made made;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.io = b->place.memory;
        st = index_rows(b, &fault.env, &writer, &made, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %zu: status %d", n, (int)st);
        sinter__file_index_writer_close(writer);
        cr_assert_eq(fault.live, 0, "leak when allocation %zu fails", n);
        cr_assert(!is_there(b, "t/data.avro.index"));
    }
}

Test(table_file_index_writer, every_allocation_may_fail)
{
    static bed b;

    open_bed(&b, embedded_table);
    cr_assert(load_file(&b, 0));
    sweep(&b, 1);
    close_bed(&b);
    open_bed(&b, kinds_table);
    cr_assert(load_file(&b, 0));
    sweep(&b, 23);
    close_bed(&b);
}
