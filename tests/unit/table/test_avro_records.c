/*
 * Records that pass a compaction as bytes, against rows that are decoded and encoded again.
 */
#include "table/avro_records.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc/number.h"
#include "place.h"
#include "sinter/table.h"
#include "support/fault_alloc.h"
#include "support/records.h"
#include "table/bucket_output.h"
#include "table/data_reader.h"
#include "table/scan_columns.h"

TestSuite(table_avro_records, .timeout = 120);

enum {
    SEEDS = 6,
    ROWS = 300,
    DAMAGE_ROWS = 2,
    SWEEP_ROWS = 2,
    FIELDS_MAX = 24,
    BYTES_MAX = 1 << 18,
    NESTED_CHARS = 160
};

/** A table with columns of all types, and random rows in "t/a.avro". */
typedef struct bed {
    place place;
    sinter_table *table;
    const sinter_schema *schema;
    sinter__table_options options;
    sinter__scan_columns columns;
    sinter__write_plan plan;
    test_rng rng;
    test_pool pool;
} bed;

static const char fields[] =
    "{\"id\":0,\"name\":\"k\",\"type\":\"STRING NOT NULL\"},"
    "{\"id\":1,\"name\":\"b\",\"type\":\"BOOLEAN\"},"
    "{\"id\":2,\"name\":\"i8\",\"type\":\"TINYINT\"},"
    "{\"id\":3,\"name\":\"i16\",\"type\":\"SMALLINT NOT NULL\"},"
    "{\"id\":4,\"name\":\"i32\",\"type\":\"INT\"},"
    "{\"id\":5,\"name\":\"i64\",\"type\":\"BIGINT\"},"
    "{\"id\":6,\"name\":\"f\",\"type\":\"FLOAT\"},"
    "{\"id\":7,\"name\":\"d\",\"type\":\"DOUBLE NOT NULL\"},"
    "{\"id\":8,\"name\":\"c\",\"type\":\"CHAR(4)\"},"
    "{\"id\":9,\"name\":\"s\",\"type\":\"STRING\"},"
    "{\"id\":10,\"name\":\"y\",\"type\":\"BYTES\"},"
    "{\"id\":11,\"name\":\"d9\",\"type\":\"DECIMAL(9, 2)\"},"
    "{\"id\":12,\"name\":\"d38\",\"type\":\"DECIMAL(38, 4)\"},"
    "{\"id\":13,\"name\":\"day\",\"type\":\"DATE\"},"
    "{\"id\":14,\"name\":\"t\",\"type\":\"TIME(3)\"},"
    "{\"id\":15,\"name\":\"t3\",\"type\":\"TIMESTAMP(3)\"},"
    "{\"id\":16,\"name\":\"t6\",\"type\":\"TIMESTAMP(6) NOT NULL\"},"
    "{\"id\":17,\"name\":\"z\",\"type\":\"TIMESTAMP(6) WITH LOCAL TIME ZONE\"},"
    "{\"id\":18,\"name\":\"m\",\"type\":{\"type\":\"MAP\",\"key\":\"INT\",\"value\":\"STRING\"}},"
    "{\"id\":19,\"name\":\"w\",\"type\":{\"type\":\"MULTISET\",\"element\":\"STRING\"}},"
    "{\"id\":20,\"name\":\"a\",\"type\":{\"type\":\"ARRAY\",\"element\":\"TINYINT\"}},"
    "{\"id\":21,\"name\":\"r\",\"type\":{\"type\":\"ROW\",\"fields\":["
    "{\"id\":22,\"name\":\"x\",\"type\":\"BOOLEAN\"},{\"id\":23,\"name\":\"n\",\"type\":{\"type\":"
    "\"ARRAY\",\"element\":\"DECIMAL(5, 1)\"}}]}}";

/* ---- random values ---- */

static sinter_bytes
random_bytes(bed *b, size_t size_max, bool is_text)
{
    const size_t size = test_rng_below(&b->rng, size_max + 1);
    uint8_t *bytes = test_pool_take(&b->pool, size + 1);

    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(is_text ? 'a' + test_rng_below(&b->rng, 26) : test_rng_next(&b->rng));
    }
    return (sinter_bytes){bytes, size};
}

static int64_t
random_integer(bed *b, const sinter_type *type)
{
    const int64_t any = (int64_t)test_rng_next(&b->rng) >> test_rng_below(&b->rng, 60);

    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        return any & 1;
    case SINTER_TYPE_TINYINT:
        return (int8_t)any;
    case SINTER_TYPE_SMALLINT:
        return (int16_t)any;
    case SINTER_TYPE_TIME:
        return any & 0xfffff;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return any >> 16;
    case SINTER_TYPE_BIGINT:
        return any;
    default:
        return (int32_t)any;
    }
}

static void
print_nested(int32_t id, int n, char out[NESTED_CHARS])
{
    static const char *const forms[] = {"[[%d,\"x\"],[7,null]]", "[[\"a\",1%d],[\"\",1]]",
                                        "[%d,null,-1]", "{\"x\":true,\"n\":[%d.5,null]}"};
    static const char *const least[] = {"[]", "[]", "[]", "{\"x\":null,\"n\":null}"};
    const size_t at = id == SINTER_TYPE_MAP        ? 0
                      : id == SINTER_TYPE_MULTISET ? 1
                      : id == SINTER_TYPE_ARRAY    ? 2
                                                   : 3;
    const char *split = strstr(forms[at], "%d");

    (void)snprintf(out, NESTED_CHARS, "%s", least[at]);
    if (n >= 20) {
        (void)snprintf(out, NESTED_CHARS, "%.*s%d%s", (int)(split - forms[at]), forms[at], n,
                       split + 2);
    }
}

static sinter_datum
random_nested(bed *b, const sinter_field *field)
{
    const sinter_column column = {.name = field->name, .type = field->type};
    sinter_text scratch;
    sinter_datum value;
    char text[NESTED_CHARS];

    print_nested(field->type.id, (int)test_rng_below(&b->rng, 100), text);
    sinter_text_init(sinter_env_default(), &scratch);
    cr_assert_eq(sinter_datum_parse(&column, (sinter_bytes){(const uint8_t *)text, strlen(text)}, 0,
                                    &scratch, &value, NULL),
                 SINTER_OK, "%s", text);
    value.as.bytes = test_pool_copy(&b->pool, value.as.bytes);
    sinter_text_fini(&scratch);
    return value;
}

static sinter_datum
random_value(bed *b, const sinter_field *field)
{
    const sinter_type *type = &field->type;
    sinter_datum value = {.is_null = type->nullable && test_rng_chance(&b->rng, 20)};

    if (value.is_null) {
        return value;
    }
    switch (type->id) {
    case SINTER_TYPE_FLOAT:
        value.as.float_bits = (uint32_t)test_rng_next(&b->rng);
        break;
    case SINTER_TYPE_DOUBLE:
        value.as.double_bits = test_rng_next(&b->rng);
        break;
    case SINTER_TYPE_CHAR:
        value.as.bytes = random_bytes(b, 4, true);
        break;
    case SINTER_TYPE_VARCHAR:
        value.as.bytes = random_bytes(b, 40, true);
        break;
    case SINTER_TYPE_VARBINARY:
        value.as.bytes = random_bytes(b, 40, false);
        break;
    case SINTER_TYPE_DECIMAL:
        sinter__decimal_set(&value, (sinter__int128)random_integer(b, type));
        value.as.decimal.low %= 100000000;
        value.as.decimal.low *= value.as.decimal.high < 0 ? (uint64_t)-1 : 1;
        value.as.decimal.high = value.as.decimal.high < 0 && value.as.decimal.low != 0 ? -1 : 0;
        break;
    case SINTER_TYPE_ARRAY:
    case SINTER_TYPE_MAP:
    case SINTER_TYPE_MULTISET:
    case SINTER_TYPE_ROW:
        return random_nested(b, field);
    default:
        value.as.integer = random_integer(b, type);
        break;
    }
    if (type->id == SINTER_TYPE_TIMESTAMP || type->id == SINTER_TYPE_TIMESTAMP_LTZ) {
        value.nanos = type->precision == 6 ? (int32_t)test_rng_below(&b->rng, 1000) * 1000 : 0;
    }
    return value;
}

/* ---- the bed ---- */

static void
add_row(bed *b, uint32_t number, sinter_batch_builder *builder)
{
    sinter_datum values[FIELDS_MAX];
    sinter_datum key_values[FIELDS_MAX];
    sinter_text key;
    sinter_text row;
    char name[32];

    sinter_text_init(sinter_env_default(), &key);
    sinter_text_init(sinter_env_default(), &row);
    for (size_t c = 0; c < b->columns.plan.count; c++) {
        values[c] = random_value(b, &b->columns.fields[c]);
    }
    (void)snprintf(name, sizeof name, "key %06u", number);
    values[0] = (sinter_datum){.as.bytes = {(const uint8_t *)name, strlen(name)}};
    for (size_t c = 0; c < b->columns.key_count; c++) {
        key_values[c] = values[b->columns.keys[c]];
    }
    if (b->columns.key_codec != NULL) {
        cr_assert_eq(sinter_key_encode(b->columns.key_codec, key_values, &key, NULL), SINTER_OK);
    }
    cr_assert_eq(sinter_row_encode(b->schema->row_type, values, SINTER_KIND_INSERT, &row, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_batch_builder_add(
                     builder, sinter_text_bytes(&key), (int64_t)test_rng_next(&b->rng) >> 8,
                     (uint8_t)test_rng_below(&b->rng, 4), sinter_text_bytes(&row), NULL),
                 SINTER_OK);
    sinter_text_fini(&key);
    sinter_text_fini(&row);
}

static sinter_batch_builder *
make_rows(bed *b, uint32_t count)
{
    sinter_batch_builder *builder = NULL;

    cr_assert_eq(sinter_batch_builder_create(&b->place.env, &builder, NULL), SINTER_OK);
    for (uint32_t i = 0; i < count; i++) {
        add_row(b, i, builder);
    }
    return builder;
}

static void
check_ok(sinter_status st, const sinter_error *err)
{
    cr_assert_eq(st, SINTER_OK, "%d: %s", (int)st, err->text);
}

/* Begin a file of the plan's form. */
static sinter_status
begin_file(const bed *b, const sinter_env *env, const char *path, sinter__bucket_output **output,
           sinter_writer **writer, sinter_error *err)
{
    const sinter__bucket_output_config config = {.plan = &b->plan, .level = 5};
    const sinter_write_options options = {.struct_size = (uint32_t)sizeof options, .level = 5};
    sinter_status st = SINTER_OK;

    (void)b->place.memory->ops->unlink(b->place.memory, path, NULL);
    *writer = NULL;
    st = sinter__bucket_output_create(env, &config, output, err);
    return st != SINTER_OK ? st
                           : sinter__bucket_output_open(*output, env, path, &options, writer, err);
}

static void
open_bed(bed *b, uint64_t seed, const char *keys, const char *options)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    char *text = malloc(8192);

    memset(b, 0, sizeof *b);
    cr_assert_not_null(text);
    place_init(&b->place, NULL);
    b->place.env.random_seed = seed + 1;
    b->rng.state = seed;
    (void)snprintf(text, 8192,
                   "{\"version\":3,\"id\":0,\"fields\":[%s],\"highestFieldId\":23,"
                   "\"partitionKeys\":[],\"primaryKeys\":[%s],\"options\":{\"file.format\":"
                   "\"avro\"%s},\"timeMillis\":0}",
                   fields, keys, options);
    place_write(&b->place, "t/schema/schema-0", text);
    free(text);
    cr_assert_eq(sinter_table_open(&b->place.env, &config, &b->table, NULL), SINTER_OK);
    b->schema = sinter_table_schema(b->table);
    b->columns.arena.env = b->plan.arena.env = &b->place.env;
    cr_assert_eq(sinter__table_options_load(b->schema, &b->options, NULL), SINTER_OK);
    cr_assert_eq(sinter__scan_columns_init(&b->columns, b->schema, &b->options, NULL, 0, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__write_plan_init(&b->plan, b->schema, &b->options, NULL), SINTER_OK);
}

static void
close_bed(bed *b)
{
    test_pool_fini(&b->pool);
    sinter__write_plan_fini(&b->plan);
    sinter__scan_columns_fini(&b->columns);
    sinter_table_close(b->table);
    place_fini(&b->place);
}

/* Write "t/a.avro" of random rows. */
static void
write_rows(bed *b, uint32_t count)
{
    sinter_batch_builder *builder = make_rows(b, count);
    const sinter_range range = {.batch = sinter_batch_builder_batch(builder), .count = count};
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};
    sinter__bucket_output *output = NULL;
    sinter_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    size_t taken = 0;
    uint32_t rows = 0;

    check_ok(begin_file(b, &b->place.env, "t/a.avro", &output, &writer, &err), &err);
    check_ok(writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &rows, &err), &err);
    check_ok(writer->ops->finish(writer, &stats, &err), &err);
    writer->ops->close(writer);
    sinter__bucket_output_destroy(output);
    sinter_batch_builder_destroy(builder);
}

/* ---- from file to file ---- */

/** How a file is written again. */
typedef struct way {
    bool keeps_records;
    uint64_t seed; /* which rows are left out; 0: none */
    bool spills;   /* every other batch, as far as it can be told from outside */
} way;

/** What became of it. */
typedef struct outcome {
    sinter_file_stats stats;
    sinter__data_made made; /* in `output` */
    sinter__bucket_output *output;
    uint8_t *bytes;
    uint64_t size;
    uint64_t record_batches;
} outcome;

/** Rows that were frozen. */
typedef struct frost {
    test_pool *pool;
    sinter_bytes *at;
} frost;

static sinter_status
take_frozen(void *ctx, const void *data, size_t size)
{
    frost *to = ctx;

    *to->at++ = test_pool_copy(to->pool, (sinter_bytes){data, size});
    return SINTER_OK;
}

/* Is a row of the file left out? */
static bool
is_left_out(uint64_t seed, uint64_t position)
{
    test_rng rng = {seed + position};

    return seed != 0 && test_rng_chance(&rng, 30);
}

/* Append the rows of a batch that stay, side by side as they are. */
static sinter_status
append_batch(sinter_writer *writer, const sinter_batch *batch, uint64_t seed, uint64_t position,
             sinter_error *err)
{
    sinter_range range = {.batch = batch};
    sinter_status st = SINTER_OK;

    for (uint32_t row = 0; st == SINTER_OK && row <= batch->row_count; row++) {
        size_t taken = 0;
        uint32_t rows = 0;

        if (row < batch->row_count && !is_left_out(seed, position + row)) {
            range.count++;
            continue;
        }
        if (range.count > 0) {
            st = writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &rows, err);
            cr_assert(st != SINTER_OK || taken == 1);
        }
        range = (sinter_range){.batch = batch, .first = row + 1};
    }
    return st;
}

/* The batch as it is after a spill. */
static sinter_status
append_spilled(bed *b, sinter_writer *writer, const sinter_batch *batch, sinter_error *err)
{
    sinter_bytes *frozen = test_pool_take(&b->pool, batch->row_count * sizeof(sinter_bytes) + 1);
    frost to = {&b->pool, frozen};
    sinter_batch thawed = *batch;
    void *state = NULL;
    sinter_status st = SINTER_OK;

    for (uint32_t i = 0; i < batch->row_count; i++) {
        check_ok(batch->payload_ops->freeze(batch, i, take_frozen, &to, err), err);
    }
    check_ok(batch->payload_ops->thaw(&b->place.env, frozen, batch->row_count, &state,
                                      &thawed.payload, err),
             err);
    st = append_batch(writer, &thawed, 0, 0, err);
    batch->payload_ops->thaw_end(&b->place.env, state);
    return st;
}

static sinter_status
open_source(const bed *b, const sinter_env *env, sinter__data_input *input, bool keeps_records,
            sinter_reader **out, sinter_error *err)
{
    *input = (sinter__data_input){.path = "t/a.avro",
                                  .row_type = b->schema->row_type,
                                  .written_as = keeps_records ? &b->plan : NULL};
    return sinter__data_reader_open(env, &b->columns.plan, input, NULL, out, err);
}

/* Write "t/a.avro" again, as "t/b.avro". */
static sinter_status
rewrite(bed *b, const sinter_env *env, const way *how, outcome *out, sinter_error *err)
{
    sinter__data_input input;
    sinter_reader *reader = NULL;
    sinter_writer *writer = NULL;
    const sinter_batch *batch = NULL;
    uint64_t position = 0;
    sinter_status st = begin_file(b, env, "t/b.avro", &out->output, &writer, err);

    if (st == SINTER_OK) {
        st = open_source(b, env, &input, how->keeps_records, &reader, err);
    }
    while (st == SINTER_OK && (st = reader->ops->next(reader, &batch, err)) == SINTER_OK) {
        const bool is_of_records = batch->payload_ops == &sinter__records_payload_ops;

        cr_assert_eq(is_of_records, how->keeps_records);
        out->record_batches += is_of_records ? 1 : 0;
        st = how->spills && is_of_records && out->record_batches % 2 == 1
                 ? append_spilled(b, writer, batch, err)
                 : append_batch(writer, batch, how->seed, position, err);
        position += batch->row_count;
    }
    if (st == SINTER_END) {
        out->stats.struct_size = (uint32_t)sizeof out->stats;
        st = writer->ops->finish(writer, &out->stats, err);
    }
    if (reader != NULL) {
        reader->ops->close(reader);
    }
    if (writer != NULL) {
        writer->ops->close(writer);
    }
    return st;
}

static void
read_result(const bed *b, outcome *out)
{
    sinter_io *io = b->place.memory;
    sinter_io_file *file = NULL;
    sinter_io_range range = {.offset = 0};
    const sinter__data_made *made = sinter__bucket_output_find(out->output, "b.avro");

    cr_assert_not_null(made);
    out->made = *made;
    cr_assert_eq(io->ops->open(io, "t/b.avro", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &out->size, NULL), SINTER_OK);
    cr_assert_lt(out->size, BYTES_MAX);
    out->bytes = malloc(BYTES_MAX);
    cr_assert_not_null(out->bytes);
    range.data = out->bytes;
    range.size = out->size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
}

static void
end_outcome(outcome *out)
{
    free(out->bytes);
    sinter__bucket_output_destroy(out->output);
}

static void
check_bytes(const char *what, sinter_bytes a, sinter_bytes b)
{
    cr_assert_eq(a.size, b.size, "%s", what);
    cr_assert(a.size == 0 || memcmp(a.data, b.data, a.size) == 0, "%s", what);
}

static void
check_stats(const sinter__simple_stats *a, const sinter__simple_stats *b)
{
    check_bytes("least values", a->min_values, b->min_values);
    check_bytes("greatest values", a->max_values, b->max_values);
    cr_assert_eq(a->null_counts.count, b->null_counts.count);
    for (size_t i = 0; i < a->null_counts.count; i++) {
        cr_assert_eq(a->null_counts.items[i], b->null_counts.items[i], "column %zu", i);
    }
}

static void
check_same(const outcome *a, const outcome *b)
{
    check_bytes("files", (sinter_bytes){a->bytes, a->size}, (sinter_bytes){b->bytes, b->size});
    cr_assert_eq(a->stats.row_count, b->stats.row_count);
    cr_assert_eq(a->stats.retract_count, b->stats.retract_count);
    cr_assert_eq(a->stats.sequence_min, b->stats.sequence_min);
    cr_assert_eq(a->stats.sequence_max, b->stats.sequence_max);
    cr_assert_eq(a->stats.file_size, b->stats.file_size);
    check_stats(&a->made.key_stats, &b->made.key_stats);
    check_stats(&a->made.value_stats.stats, &b->made.value_stats.stats);
    cr_assert_eq(a->made.value_stats.has_columns, b->made.value_stats.has_columns);
}

static const char *const key_sets[] = {"\"k\"", "", "\"k\",\"i16\",\"t6\""};
static const char *const option_sets[] = {
    "", ",\"data-file.thin-mode\":\"true\"",
    ",\"metadata.stats-mode\":\"none\",\"metadata.stats-dense-store\":\"false\"",
    ",\"metadata.stats-mode\":\"counts\"",
    ",\"metadata.stats-mode\":\"full\",\"file.compression\":\"none\""};

/* Without a wrong bit: file, statistics and numbers are those that decoding and encoding gives. */
Test(table_avro_records, records_become_the_file_that_their_rows_become)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const way ways[] = {{.keeps_records = true, .seed = seed},
                            {.keeps_records = true, .spills = true}};
        sinter_error err = SINTER_ERROR_INIT;
        bed b;

        open_bed(&b, seed, key_sets[seed % 3], option_sets[seed % 5]);
        write_rows(&b, ROWS);
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
            const way plain = {.seed = ways[w].seed};
            outcome rows = {.size = 0};
            outcome records = {.size = 0};

            check_ok(rewrite(&b, &b.place.env, &plain, &rows, &err), &err);
            read_result(&b, &rows);
            check_ok(rewrite(&b, &b.place.env, &ways[w], &records, &err), &err);
            read_result(&b, &records);
            cr_assert_gt(records.record_batches, 0);
            check_same(&rows, &records);
            end_outcome(&rows);
            end_outcome(&records);
        }
        close_bed(&b);
    }
}

/* Keys, sequences and kinds of a batch of records are those of its rows. */
Test(table_avro_records, batches_differ_in_nothing_but_their_values)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter__data_input inputs[2];
    sinter_reader *readers[2] = {NULL, NULL};
    const sinter_batch *batches[2] = {NULL, NULL};
    uint32_t at[2] = {0, 0};
    uint32_t rows = 0;
    bed b;

    open_bed(&b, 7, "\"k\",\"i16\"", "");
    write_rows(&b, ROWS);
    for (size_t i = 0; i < 2; i++) {
        check_ok(open_source(&b, &b.place.env, &inputs[i], i == 1, &readers[i], &err), &err);
    }
    while (rows < ROWS) {
        for (size_t i = 0; i < 2; i++) {
            if (batches[i] == NULL || at[i] == batches[i]->row_count) {
                check_ok(readers[i]->ops->next(readers[i], &batches[i], &err), &err);
                at[i] = 0;
            }
        }
        check_bytes("keys", sinter_batch_key(batches[0], at[0]),
                    sinter_batch_key(batches[1], at[1]));
        cr_assert_eq(batches[0]->sequences[at[0]], batches[1]->sequences[at[1]]);
        cr_assert_eq(batches[0]->kinds[at[0]], batches[1]->kinds[at[1]]);
        cr_assert_null(batches[1]->payload_ops->value);
        at[0]++;
        at[1]++;
        rows++;
    }
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(readers[i]->ops->next(readers[i], &batches[i], &err), SINTER_END);
        readers[i]->ops->close(readers[i]);
    }
    close_bed(&b);
}

/* Flip a bit of a record, here and there one of the header: whether that is noticed doesn't depend
 * on the way. */
Test(table_avro_records, a_damaged_record_is_found_as_it_is_in_rows)
{
    const way ways[2] = {{.keeps_records = false}, {.keeps_records = true}};
    outcome whole = {.size = 0};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t header = 0;
    uint32_t damaged = 0;
    bed b;

    open_bed(&b, 3, "\"k\"", ",\"file.compression\":\"none\"");
    write_rows(&b, DAMAGE_ROWS);
    check_ok(rewrite(&b, &b.place.env, &ways[0], &whole, &err), &err);
    read_result(&b, &whole);
    cr_assert_gt(whole.size, 300);
    header = whole.size - 300;
    for (uint64_t at = 0; at < whole.size; at += at < header ? 100 : 1) {
        sinter_status found[2] = {SINTER_OK, SINTER_OK};

        whole.bytes[at] ^= (uint8_t)(1u << at % 8);
        (void)b.place.memory->ops->unlink(b.place.memory, "t/a.avro", NULL);
        cr_assert_eq(
            b.place.memory->ops->replace(b.place.memory, "t/a.avro", whole.bytes, whole.size, NULL),
            SINTER_OK);
        for (size_t w = 0; w < 2; w++) {
            sinter__data_input input;
            sinter_reader *reader = NULL;
            const sinter_batch *batch = NULL;

            found[w] = open_source(&b, &b.place.env, &input, w == 1, &reader, NULL);
            while (found[w] == SINTER_OK) {
                found[w] = reader->ops->next(reader, &batch, NULL);
            }
            if (reader != NULL) {
                reader->ops->close(reader);
            }
        }
        cr_assert_eq(found[0], found[1], "byte %u: %d, %d", (unsigned)at, found[0], found[1]);
        damaged += found[1] == SINTER_E_CORRUPT ? 1 : 0;
        whole.bytes[at] ^= (uint8_t)(1u << at % 8);
    }
    cr_expect_gt(damaged, 50);
    end_outcome(&whole);
    close_bed(&b);
}

Test(table_avro_records, files_of_other_columns_are_rows)
{
    sinter__data_input input;
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bed with_keys;
    bed thin;

    open_bed(&with_keys, 1, "\"k\"", "");
    open_bed(&thin, 2, "\"k\"", ",\"data-file.thin-mode\":\"true\"");
    write_rows(&with_keys, 1);
    input = (sinter__data_input){
        .path = "t/a.avro", .row_type = with_keys.schema->row_type, .written_as = &thin.plan};
    check_ok(sinter__data_reader_open(&with_keys.place.env, &with_keys.columns.plan, &input, NULL,
                                      &reader, &err),
             &err);
    check_ok(reader->ops->next(reader, &batch, &err), &err);
    cr_expect_neq(batch->payload_ops, &sinter__records_payload_ops);
    cr_expect_not_null(batch->payload_ops->value);
    reader->ops->close(reader);
    close_bed(&with_keys);
    close_bed(&thin);
}

Test(table_avro_records, every_allocation_may_fail)
{
    const way how = {.keeps_records = true};
    sinter_status st = SINTER_E_NOMEM;
    bed b;

    open_bed(&b, 4, "\"k\"", "");
    write_rows(&b, SWEEP_ROWS);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        outcome out = {.size = 0};
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.io = b.place.memory;
        st = rewrite(&b, &fault.env, &how, &out, NULL);
        end_outcome(&out);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "%d", (int)st);
        cr_assert_eq(fault.live, 0, "allocation %u", (unsigned)n);
        cr_assert_lt(n, 5000);
    }
    close_bed(&b);
}

Test(table_avro_records, every_call_of_the_io_may_fail)
{
    const way how = {.keeps_records = true};
    sinter_status st = SINTER_E_IO;
    bed b;

    open_bed(&b, 5, "\"k\"", "");
    write_rows(&b, SWEEP_ROWS);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options options = {
            .struct_size = (uint32_t)sizeof options, .kind = SINTER_FAULT_EIO, .at_call = n};
        outcome out = {.size = 0};
        sinter_env env = b.place.env;

        cr_assert_eq(
            sinter_io_fault_create(sinter_env_default(), b.place.memory, &options, &env.io, NULL),
            SINTER_OK);
        st = rewrite(&b, &env, &how, &out, NULL);
        cr_assert_eq(st, sinter_io_fault_calls(env.io) <= n ? SINTER_OK : SINTER_E_IO);
        end_outcome(&out);
        sinter_io_destroy(env.io);
        cr_assert_lt(n, 1000);
    }
    close_bed(&b);
}
