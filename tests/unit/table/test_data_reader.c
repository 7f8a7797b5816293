/*
 * The file is one that Paimon 1.3.1 wrote: tests/data/tables/oracle/pk_nested_avro.db. That its
 * rows are read right is checked by tests/tables.
 */
#include "table/data_reader.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/binary.h"
#include "format/avro_binary.h"
#include "format/avro_writer.h"
#include "place.h"
#include "sinter/table.h"
#include "support/fault_alloc.h"

enum { COLUMNS_MAX = 64, FILE_BYTES_MAX = 64 << 10 };

/** A copy of the file in memory, and the table it belongs to. */
typedef struct bed {
    place place;
    uint8_t bytes[FILE_BYTES_MAX];
    size_t size;
    sinter_io *files;
    sinter_table *table;
    sinter_env real;
    sinter_field fields[COLUMNS_MAX];
    size_t positions[COLUMNS_MAX];
    size_t keys[1];
    sinter_key_codec *codec;
    sinter__row_plan plan;
} bed;

static void
load_file(bed *b)
{
    struct dirent **entries = NULL;
    const int count = scandir(SINTER_TABLE "/bucket-0", &entries, NULL, alphasort);
    char path[4096];
    FILE *file = NULL;

    cr_assert_gt(count, 2);
    for (int i = 0; i < count && b->size == 0; i++) {
        if (strstr(entries[i]->d_name, ".avro") != NULL) {
            (void)snprintf(path, sizeof path, "%s/bucket-0/%s", SINTER_TABLE, entries[i]->d_name);
            file = fopen(path, "rb");
            cr_assert_not_null(file);
            b->size = fread(b->bytes, 1, sizeof b->bytes, file);
            cr_assert(b->size > 0 && b->size < sizeof b->bytes);
            (void)fclose(file);
        }
    }
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
}

static void
open_bed(bed *b)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config,
                                        .path = SINTER_TABLE};
    const sinter_row_type *type = NULL;

    memset(b, 0, sizeof *b);
    load_file(b);
    place_init(&b->place, NULL);
    sinter_env_init(&b->real);
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, NULL, &b->files, NULL),
                 SINTER_OK);
    b->real.io = b->files;
    cr_assert_eq(sinter_table_open(&b->real, &config, &b->table, NULL), SINTER_OK);
    type = sinter_table_schema(b->table)->row_type;
    b->plan.row_type = type;
    b->plan.count = sinter_row_type_count(type);
    for (size_t i = 0; i < b->plan.count; i++) {
        b->fields[i].name = sinter_row_type_column_name(type, i);
        b->fields[i].type = *sinter_row_type_column_type(type, i);
        b->positions[i] = i;
    }
    b->keys[0] = sinter_row_type_find(type, sinter_table_schema(b->table)->primary_keys[0]);
    cr_assert_eq(sinter_table_schema(b->table)->primary_key_count, 1);
    cr_assert_eq(sinter_key_codec_create(sinter_env_default(), &b->fields[b->keys[0]].type, 1,
                                         &b->codec, NULL),
                 SINTER_OK);
    b->plan.fields = b->fields;
    b->plan.positions = b->positions;
    b->plan.keys = b->keys;
    b->plan.key_count = 1;
    b->plan.key_codec = b->codec;
}

static void
close_bed(bed *b)
{
    sinter_key_codec_destroy(b->codec);
    sinter_table_close(b->table);
    sinter_io_destroy(b->files);
    place_fini(&b->place);
}

static void
write_bytes(bed *b, size_t size)
{
    (void)b->place.memory->ops->unlink(b->place.memory, "f.avro", NULL);
    cr_assert_eq(b->place.memory->ops->replace(b->place.memory, "f.avro", b->bytes, size, NULL),
                 SINTER_OK);
}

/* Read the file; `rows` gets how many there were. */
static sinter_status
read_all(bed *b, const sinter_env *env, const sinter__data_input *file,
         const sinter_read_options *options, uint64_t *rows)
{
    sinter_env here = *env;
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    *rows = 0;
    here.io = b->place.memory;
    st = sinter__data_reader_open(&here, &b->plan, file, options, &reader, NULL);
    while (st == SINTER_OK) {
        st = reader->ops->next(reader, &batch, NULL);
        for (uint32_t i = 0; st == SINTER_OK && i < batch->row_count; i++) {
            *rows += batch->dropped == NULL || batch->dropped[i] == SINTER_DROP_KEEP ? 1 : 0;
        }
    }
    if (reader != NULL) {
        reader->ops->close(reader);
    }
    return st;
}

static bool
is_even(void *ctx, uint64_t position)
{
    (void)ctx;
    return position % 2 == 0;
}

Test(table_data_reader, ranges_and_deleted_rows_are_left_out)
{
    static bed b;
    sinter__data_input file = {.path = "f.avro"};
    sinter_read_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_text begin;
    sinter_text end;
    uint64_t all = 0;
    uint64_t rows = 0;

    open_bed(&b);
    write_bytes(&b, b.size);
    file.row_type = b.plan.row_type;
    cr_assert_eq(read_all(&b, sinter_env_default(), &file, NULL, &all), SINTER_END);
    cr_assert_gt(all, 10);
    file.is_deleted = is_even;
    cr_assert_eq(read_all(&b, sinter_env_default(), &file, NULL, &rows), SINTER_END);
    cr_expect_eq(rows, all / 2);
    file.is_deleted = NULL;
    sinter_text_init(sinter_env_default(), &begin);
    sinter_text_init(sinter_env_default(), &end);
    cr_assert_eq(sinter_key_encode(b.codec, &(sinter_datum){.as.integer = 5}, &begin, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_key_encode(b.codec, &(sinter_datum){.as.integer = 10}, &end, NULL),
                 SINTER_OK);
    options.has_begin_key = true;
    options.begin_key = sinter_text_bytes(&begin);
    cr_assert_eq(read_all(&b, sinter_env_default(), &file, &options, &rows), SINTER_END);
    cr_expect_lt(rows, all);
    options.has_end_key = true;
    options.end_key = sinter_text_bytes(&end);
    cr_assert_eq(read_all(&b, sinter_env_default(), &file, &options, &rows), SINTER_END);
    cr_expect_leq(rows, 5);
    cr_expect_gt(rows, 0);
    sinter_text_fini(&begin);
    sinter_text_fini(&end);
    close_bed(&b);
}

Test(table_data_reader, a_file_that_ends_anywhere_is_noticed)
{
    static bed b;
    sinter__data_input file = {.path = "f.avro"};
    sinter_read_options options = {.struct_size = (uint32_t)sizeof options};
    uint64_t rows = 0;

    open_bed(&b);
    file.row_type = b.plan.row_type;
    options.expected_file_bytes = b.size;
    for (size_t size = 0; size < b.size; size += 1 + size / 64) {
        write_bytes(&b, size);
        cr_assert_eq(read_all(&b, sinter_env_default(), &file, &options, &rows), SINTER_E_CORRUPT,
                     "%zu", size);
    }
    close_bed(&b);
}

Test(table_data_reader, damaged_bytes_never_do_harm)
{
    static bed b;
    sinter__data_input file = {.path = "f.avro"};
    uint64_t rows = 0;

    open_bed(&b);
    file.row_type = b.plan.row_type;
    for (size_t at = 0; at < b.size; at += 1 + at / 512) {
        const uint8_t kept = b.bytes[at];

        b.bytes[at] ^= (uint8_t)(1u << (at % 8));
        write_bytes(&b, b.size);
        (void)read_all(&b, sinter_env_default(), &file, NULL, &rows);
        b.bytes[at] = kept;
    }
    close_bed(&b);
}

/* "f.avro": one column t of microseconds. */
static void
write_micros(bed *b, const int64_t *values, size_t count)
{
    const sinter__avro_writer_options options = {
        .schema = "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"t\",\"type\":"
                  "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}}]}"};
    sinter__avro_writer *writer = NULL;
    uint64_t size = 0;

    cr_assert_eq(sinter__avro_writer_open(&b->place.env, "f.avro", &options, &writer, NULL),
                 SINTER_OK);
    for (size_t i = 0; i < count; i++) {
        uint8_t *at = NULL;

        cr_assert_eq(sinter__avro_writer_reserve(writer, SINTER__AVRO_LONG_BYTES_MAX, &at, NULL),
                     SINTER_OK);
        cr_assert_eq(sinter__avro_writer_commit(
                         writer, (size_t)(sinter__avro_put_long(at, values[i]) - at), NULL),
                     SINTER_OK);
    }
    cr_assert_eq(sinter__avro_writer_finish(writer, &size, NULL), SINTER_OK);
    sinter__avro_writer_close(writer);
}

Test(table_data_reader, microseconds_of_any_time_are_read)
{
    static const struct {
        int64_t micros;
        int64_t ms;
        int32_t nanos;
    } cases[] = {{INT64_MIN, -9223372036854776, 192000},
                 {INT64_MAX, 9223372036854775, 807000},
                 {-1, -1, 999000},
                 {0, 0, 0}};
    enum { COUNT = sizeof cases / sizeof cases[0] };
    static bed b;
    const sinter_type micros = {.id = SINTER_TYPE_TIMESTAMP, .precision = 6};
    const sinter_column column = {.name = "t", .type = micros};
    const sinter_row_layout layout = {
        .struct_size = (uint32_t)sizeof layout, .columns = &column, .count = 1};
    const sinter_field field = {.name = "t", .type = micros};
    const size_t position = 0;
    sinter__row_plan plan = {.fields = &field, .positions = &position, .count = 1};
    sinter__data_input file = {.path = "f.avro"};
    int64_t values[COUNT];
    sinter_row_type *type = NULL;
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;

    open_bed(&b);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = cases[i].micros;
    }
    write_micros(&b, values, COUNT);
    cr_assert_eq(sinter_row_type_create(&b.place.env, &layout, &type, NULL), SINTER_OK);
    plan.row_type = file.row_type = type;
    cr_assert_eq(sinter__data_reader_open(&b.place.env, &plan, &file, NULL, &reader, NULL),
                 SINTER_OK);
    cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
    cr_assert_eq(batch->row_count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        sinter_datum value;
        sinter__slots slots;

        cr_assert_eq(sinter__slots_of_row(1, batch->payload_ops->value(batch, i), &slots, NULL),
                     SINTER_OK);
        cr_assert_eq(sinter__slots_get(&slots, &micros, 0, &value, NULL), SINTER_OK);
        cr_expect_eq(value.as.integer, cases[i].ms, "%u", i);
        cr_expect_eq(value.nanos, cases[i].nanos, "%u", i);
    }
    reader->ops->close(reader);
    sinter_row_type_destroy(type);
    close_bed(&b);
}

Test(table_data_reader, other_formats_are_refused_by_name)
{
    static bed b;
    sinter__data_input file = {.path = "f.csv"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_reader *reader = NULL;

    open_bed(&b);
    file.row_type = b.plan.row_type;
    cr_expect_eq(sinter__data_reader_open(&b.place.env, &b.plan, &file, NULL, &reader, &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "csv"));
    cr_expect_null(reader);
    close_bed(&b);
}

Test(table_data_reader, every_allocation_may_fail)
{
    static bed b;
    sinter__data_input file = {.path = "f.avro"};
    sinter_status st = SINTER_E_NOMEM;

    open_bed(&b);
    write_bytes(&b, b.size);
    file.row_type = b.plan.row_type;
    for (uint64_t n = 0; st != SINTER_END; n++) {
        fault_alloc fault;
        uint64_t rows = 0;

        fault_alloc_init(&fault, n);
        st = read_all(&b, &fault.env, &file, NULL, &rows);
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM, "%d", (int)st);
        cr_assert_eq(fault.live, 0);
        cr_assert_lt(n, 20000);
    }
    close_bed(&b);
}
