#include "table/data_reader.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "doc/binary.h"
#include "doc/key_codec.h"
#include "doc/text.h"
#include "doc/type.h"
#include "sinter/sst.h"
#include "sst/keys.h"
#include "table/avro_records.h"
#include "table/avro_row_schema.h"
#include "table/evolution.h"
#include "table/row_source.h"
#include "table/write_plan.h"

enum {
    BATCH_ROWS = 1024,
    BATCH_BYTES = 256 << 10,
    BUILDER_BYTES = 2 * BATCH_BYTES + 64 * BATCH_ROWS, /* room that doubles, and numbers of rows */
    SYSTEM_COLUMNS = 2
};

typedef struct data_reader {
    sinter_reader base;
    const sinter_env *env;
    const sinter__row_plan *plan;
    const sinter__data_input *file;
    sinter__arena arena;
    sinter__row_source *source;
    sinter_footprint *measured; /* NULL: the file is read */
    sinter__evolution *evolution;
    size_t need_count;     /* columns of the file that are read, system columns after them */
    sinter_datum *read;    /* their values */
    sinter_datum *wanted;  /* values of the plan's columns; with records they are `read` */
    sinter_bytes *records; /* NULL: values are BinaryRows */
    sinter__records_payload payload;
    sinter_datum *key_values;
    sinter_text key;
    sinter_text value;
    sinter_text begin_key;
    sinter_text end_key;
    bool has_begin_key;
    bool has_end_key;
    bool is_over;
    uint64_t position; /* of the next row in the file */
    uint32_t prefix_skip;
    uint32_t origin;
    sinter_batch_builder *builder;
    uint64_t *prefixes;
    size_t prefix_capacity;
    uint8_t dropped[BATCH_ROWS];
    bool has_dropped;
    sinter_batch batch;
} data_reader;

static void
data_close(sinter_reader *base)
{
    data_reader *reader = (data_reader *)base;
    const sinter_env *env = reader->env;

    if (reader->source != NULL) {
        reader->source->close(reader->source);
    }
    sinter__evolution_destroy(reader->evolution);
    sinter_batch_builder_destroy(reader->builder);
    sinter__free(env, reader->prefixes);
    sinter_text_fini(&reader->key);
    sinter_text_fini(&reader->value);
    sinter_text_fini(&reader->begin_key);
    sinter_text_fini(&reader->end_key);
    sinter__arena_fini(&reader->arena);
    sinter__free(env, reader);
}

/* ---- rows ---- */

/* The key lives until the next row is read. */
static sinter_status
encode_key(data_reader *reader, sinter_bytes *out, sinter_error *err)
{
    const sinter__row_plan *plan = reader->plan;
    sinter_status st = SINTER_OK;

    if (plan->key_count == 1 &&
        sinter__key_codec_is_value(plan->key_codec, &reader->wanted[plan->keys[0]], out)) {
        return SINTER_OK;
    }
    sinter_text_reset(&reader->key);
    for (size_t i = 0; i < plan->key_count; i++) {
        reader->key_values[i] = reader->wanted[plan->keys[i]];
    }
    st = sinter_key_encode(plan->key_codec, reader->key_values, &reader->key, err);
    *out = sinter_text_bytes(&reader->key);
    if (st != SINTER_E_INVALID) {
        return st;
    }
    sinter__fail_context(err, "key");
    sinter__fail_file(err, reader->file->path);
    if (err != NULL) {
        err->status = SINTER_E_CORRUPT;
    }
    return SINTER_E_CORRUPT;
}

static sinter_status
encode_value(data_reader *reader, sinter_error *err)
{
    const sinter__shape shape = {.fields = reader->plan->fields, .count = reader->plan->count};
    size_t size = 0;

    sinter_text_reset(&reader->value);
    SINTER__CHECK(sinter__binary_size(&shape, reader->wanted, &size, err));
    SINTER__CHECK(sinter__text_fill(&reader->value, '\0', size, err));
    sinter__binary_put(&shape, reader->wanted, (uint8_t *)reader->value.data);
    return SINTER_OK;
}

/* Is the key before the range (-1), in it (0), or behind it (1)? */
static int
place_in_range(const data_reader *reader, sinter_bytes key)
{
    if (reader->has_begin_key &&
        sinter__key_compare(key, sinter_text_bytes(&reader->begin_key)) < 0) {
        return -1;
    }
    return reader->has_end_key && sinter__key_compare(key, sinter_text_bytes(&reader->end_key)) >= 0
               ? 1
               : 0;
}

/* Sequence and kind, which files without keys don't have. */
static sinter_status
read_system(const data_reader *reader, int64_t *sequence, uint8_t *kind, sinter_error *err)
{
    const sinter_datum *system = reader->read + reader->need_count;

    if (reader->plan->key_codec == NULL) {
        *sequence = (int64_t)reader->position;
        *kind = SINTER_KIND_INSERT;
        return SINTER_OK;
    }
    if (system[1].as.integer < 0 || system[1].as.integer > SINTER_KIND_DELETE) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->file->path, -1, "_VALUE_KIND is %lld",
                              (long long)system[1].as.integer);
    }
    *sequence = system[0].as.integer;
    *kind = (uint8_t)system[1].as.integer;
    return SINTER_OK;
}

/* Ids of rows that the file has none for are counted from its first row on. */
static sinter_status
set_defaults(const data_reader *reader, sinter_error *err)
{
    const sinter__row_defaults *defaults = &reader->file->defaults;
    sinter_datum *row_id = &reader->wanted[defaults->at];
    sinter_datum *sequence = row_id + 1;

    if (row_id->is_null && defaults->has_first_row_id) {
        row_id->is_null = false;
        if (__builtin_add_overflow(defaults->first_row_id, reader->position, &row_id->as.integer)) {
            return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->file->path, -1,
                                  "ids of rows from %lld on can't be counted",
                                  (long long)defaults->first_row_id);
        }
    }
    if (sequence->is_null) {
        sequence->is_null = false;
        sequence->as.integer = defaults->sequence;
    }
    return SINTER_OK;
}

/* Make what is wanted of the row that was read; with records that is what was read. */
static sinter_status
make_row(data_reader *reader, sinter_error *err)
{
    if (reader->records != NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__evolution_apply(reader->evolution, reader->read, reader->wanted, err));
    return reader->file->defaults.is_set ? set_defaults(reader, err) : SINTER_OK;
}

/* Is it a text, or has it one, that is no UTF-8? Printing tells of those in nested values. */
static sinter_status
has_bad_text(data_reader *reader, const sinter_type *type, const sinter_datum *value, bool *out,
             sinter_error *err)
{
    sinter_status st = SINTER_OK;

    *out = false;
    if (value->is_null) {
        return SINTER_OK;
    }
    if (sinter__type_is_string(type)) {
        *out = !sinter__utf8_is_valid(value->as.bytes);
    } else if (sinter_type_is_nested(type)) {
        sinter_text_reset(&reader->value);
        st = sinter_datum_print_json(type, value, 0, &reader->value, err);
        *out = st == SINTER_E_INVALID;
    }
    return *out ? SINTER_OK : st;
}

static sinter_status
check_texts(data_reader *reader, sinter_error *err)
{
    const sinter__row_plan *plan = reader->plan;

    for (size_t i = 0; i < plan->count; i++) {
        bool is_bad = false;

        SINTER__CHECK(
            has_bad_text(reader, &plan->fields[i].type, &reader->wanted[i], &is_bad, err));
        if (is_bad) {
            return SINTER__ERR_AT(err, SINTER_E_CORRUPT, reader->file->path, -1,
                                  "row %" PRIu64 ", column \"%.100s\": a text that is no UTF-8",
                                  reader->position, plan->fields[i].name);
        }
    }
    return SINTER_OK;
}

/* What becomes of the row that was read besides its key. */
static sinter_status
keep_value(data_reader *reader, uint32_t row, sinter_error *err)
{
    if (reader->records == NULL) {
        return encode_value(reader, err);
    }
    reader->records[row] = reader->source->record;
    return SINTER_OK;
}

/* Add the row that was read, as number `row` of the batch; false in `added_out`: it lies outside of
 * the range. */
static sinter_status
add_row(data_reader *reader, uint32_t row, bool *added_out, sinter_error *err)
{
    const sinter__data_input *file = reader->file;
    sinter_bytes key = {0};
    int64_t sequence = 0;
    uint8_t kind = 0;
    int place = 0;

    SINTER__CHECK(make_row(reader, err));
    if (file->checks_texts && reader->records == NULL) {
        SINTER__CHECK(check_texts(reader, err));
    }
    if (reader->plan->key_codec != NULL) {
        SINTER__CHECK(encode_key(reader, &key, err));
        place = place_in_range(reader, key);
    }
    reader->is_over = place > 0;
    *added_out = place == 0;
    if (place != 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(read_system(reader, &sequence, &kind, err));
    SINTER__CHECK(keep_value(reader, row, err));
    reader->dropped[row] = SINTER_DROP_KEEP;
    if (file->is_deleted != NULL && file->is_deleted(file->deleted_ctx, reader->position)) {
        reader->dropped[row] = SINTER_DROP_VECTOR;
        reader->has_dropped = true;
    }
    return sinter_batch_builder_add(reader->builder, key, sequence, kind,
                                    sinter_text_bytes(&reader->value), err);
}

/* ---- batches ---- */

/* Records point into their block, so that no batch goes beyond it. */
static bool
is_full(const data_reader *reader, uint32_t rows)
{
    return rows == BATCH_ROWS || sinter_batch_builder_bytes(reader->builder) >= BATCH_BYTES ||
           (reader->records != NULL && rows > 0 && reader->source->ends_block);
}

static sinter_status
fill(data_reader *reader, sinter_error *err)
{
    uint32_t rows = 0;

    reader->has_dropped = false;
    while (!is_full(reader, rows) && !reader->is_over) {
        const sinter_status st = reader->source->next(reader->source, reader->read, err);
        bool is_added = false;

        if (st == SINTER_END) {
            reader->is_over = true;
            break;
        }
        SINTER__CHECK(st);
        SINTER__CHECK(add_row(reader, rows, &is_added, err));
        rows += is_added ? 1 : 0;
        reader->position++;
    }
    return SINTER_OK;
}

static sinter_status
data_next(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    data_reader *reader = (data_reader *)base;
    const sinter_batch *rows = NULL;

    do {
        if (reader->is_over) {
            return SINTER_END;
        }
        sinter_batch_builder_reset(reader->builder);
        SINTER__CHECK(fill(reader, err));
        rows = sinter_batch_builder_batch(reader->builder);
    } while (rows->row_count == 0);
    reader->batch = *rows;
    reader->batch.origin = reader->origin;
    reader->batch.dropped = reader->has_dropped ? reader->dropped : NULL;
    if (reader->records != NULL) {
        reader->batch.payload = &reader->payload;
        reader->batch.payload_ops = &sinter__records_payload_ops;
    }
    if (reader->prefix_skip > 0) {
        const sinter__keys keys = {.data = rows->keys,
                                   .offsets = rows->key_offsets,
                                   .width = rows->key_width,
                                   .rows = rows->row_count};

        if (rows->row_count > reader->prefix_capacity) {
            SINTER__CHECK(sinter__resize(reader->env, (void **)&reader->prefixes, rows->row_count,
                                         sizeof *reader->prefixes, err));
            reader->prefix_capacity = rows->row_count;
        }
        sinter__keys_prefixes(&keys, reader->prefix_skip, reader->prefixes);
        reader->batch.prefixes = reader->prefixes;
    }
    *out = &reader->batch;
    return SINTER_OK;
}

static const sinter_reader_ops data_ops = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops), .next = data_next, .close = data_close};

/* ---- opening ---- */

static const char *
extension_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    const char *slash = strrchr(path, '/');

    return dot == NULL || (slash != NULL && dot < slash) ? "" : dot + 1;
}

static sinter_status
open_source(data_reader *reader, const sinter__row_request *request, sinter_error *err)
{
    const char *extension = extension_of(request->path);

    if (strcmp(extension, "avro") == 0) {
        return reader->measured != NULL
                   ? sinter__avro_source_measure(reader->env, request, reader->measured, err)
                   : sinter__avro_source_open(reader->env, request, &reader->source, err);
    }
    if (strcmp(extension, "parquet") == 0 || strcmp(extension, "orc") == 0) {
        return reader->measured != NULL
                   ? sinter__columnar_source_measure(reader->env, request, reader->measured, err)
                   : sinter__columnar_source_open(reader->env, request, &reader->source, err);
    }
    if (strcmp(extension, "sst") == 0) {
        return reader->measured != NULL
                   ? sinter__sst_source_measure(reader->env, request, reader->measured, err)
                   : sinter__sst_source_open(reader->env, request, &reader->source, err);
    }
    return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, request->path, -1,
                          "data files of format \"%.20s\" can't be read", extension);
}

/* The schema of files that the rows go to, if they may go as they are. */
static sinter_status
print_schema(data_reader *reader, sinter__row_request *request, sinter_error *err)
{
    const sinter__write_plan *plan = reader->file->written_as;

    if (plan == NULL || reader->measured != NULL) {
        return SINTER_OK;
    }
    sinter_text_reset(&reader->value);
    SINTER__CHECK(sinter__avro_row_schema(plan->fields, plan->field_count, &reader->value, err));
    request->record_schema = reader->value.data;
    return SINTER_OK;
}

static sinter_status
begin_records(data_reader *reader, sinter_error *err)
{
    assert(reader->need_count == reader->plan->count);
    SINTER__CHECK(sinter__arena_take(&reader->arena, BATCH_ROWS * sizeof *reader->records,
                                     (void **)&reader->records, err));
    reader->payload.rows = reader->records;
    sinter_text_reset(&reader->value); /* the schema: the builder gets no values */
    reader->wanted = reader->read;
    return SINTER_OK;
}

/* Of what is read nobody looks at more than keys, sequence and kind, if records are given. */
static sinter_status
choose_kept(data_reader *reader, sinter__row_request *request, sinter_error *err)
{
    const sinter__row_plan *plan = reader->plan;
    bool *kept = NULL;

    SINTER__CHECK(sinter__arena_take(&reader->arena, request->count + 1, (void **)&kept, err));
    for (size_t i = 0; i < request->count; i++) {
        kept[i] = i >= reader->need_count;
    }
    for (size_t i = 0; request->record_schema != NULL && i < plan->key_count; i++) {
        assert(plan->keys[i] < reader->need_count);
        kept[plan->keys[i]] = true;
    }
    request->kept = kept;
    return SINTER_OK;
}

/* The columns of the file that are read: those that are needed, then sequence and kind. */
static sinter_status
open_columns(data_reader *reader, const sinter_read_options *options, sinter_error *err)
{
    static const sinter_column system[SYSTEM_COLUMNS] = {
        {.name = "_SEQUENCE_NUMBER", .type = {.id = SINTER_TYPE_BIGINT}},
        {.name = "_VALUE_KIND", .type = {.id = SINTER_TYPE_TINYINT}}};
    const sinter_row_type *type = reader->file->row_type;
    const size_t *needs = sinter__evolution_needs(reader->evolution, &reader->need_count);
    const size_t extra = reader->plan->key_codec != NULL ? SYSTEM_COLUMNS : 0;
    sinter__row_request request = {
        .path = reader->file->path, .count = reader->need_count + extra, .options = options};
    sinter_column *columns = NULL;

    SINTER__CHECK(sinter__arena_take(&reader->arena, (request.count + 1) * sizeof *columns,
                                     (void **)&columns, err));
    for (size_t i = 0; i < reader->need_count; i++) {
        columns[i].name = sinter_row_type_column_name(type, needs[i]);
        columns[i].type = *sinter_row_type_column_type(type, needs[i]);
    }
    memcpy(columns + reader->need_count, system, extra * sizeof *system);
    SINTER__CHECK(sinter__arena_take(&reader->arena, (request.count + 1) * sizeof *reader->read,
                                     (void **)&reader->read, err));
    request.columns = columns;
    SINTER__CHECK(print_schema(reader, &request, err));
    SINTER__CHECK(choose_kept(reader, &request, err));
    SINTER__CHECK(open_source(reader, &request, err));
    return reader->source != NULL && reader->source->gives_records ? begin_records(reader, err)
                                                                   : SINTER_OK;
}

static sinter_status
open_parts(data_reader *reader, const sinter_read_options *options, sinter_error *err)
{
    const sinter__row_plan *plan = reader->plan;
    const sinter__data_input *file = reader->file;
    const sinter__columns has = {.row_type = file->row_type,
                                 .positions = file->columns,
                                 .count = file->columns != NULL
                                              ? file->column_count
                                              : sinter_row_type_count(file->row_type)};
    const sinter__columns wants = {
        .row_type = plan->row_type, .positions = plan->positions, .count = plan->count};

    SINTER__CHECK(sinter__evolution_create(reader->env, &has, &wants, &reader->evolution, err));
    SINTER__CHECK(sinter__arena_take(&reader->arena, (plan->count + 1) * sizeof *reader->wanted,
                                     (void **)&reader->wanted, err));
    SINTER__CHECK(sinter__arena_take(&reader->arena,
                                     (plan->key_count + 1) * sizeof *reader->key_values,
                                     (void **)&reader->key_values, err));
    SINTER__CHECK(sinter_batch_builder_create(reader->env, &reader->builder, err));
    reader->prefix_skip = options->key_prefix_skip;
    reader->origin = options->origin;
    reader->has_begin_key = options->has_begin_key;
    reader->has_end_key = options->has_end_key;
    if (reader->has_begin_key) {
        SINTER__CHECK(sinter_text_append(&reader->begin_key, options->begin_key.data,
                                         options->begin_key.size, err));
    }
    if (reader->has_end_key) {
        SINTER__CHECK(sinter_text_append(&reader->end_key, options->end_key.data,
                                         options->end_key.size, err));
    }
    return open_columns(reader, options, err);
}

static const sinter_read_options whole = {.struct_size = (uint32_t)sizeof whole};

static sinter_status
create_reader(const sinter_env *env, const sinter__row_plan *plan, const sinter__data_input *file,
              data_reader **out, sinter_error *err)
{
    data_reader *reader = NULL;

    SINTER__CHECK(SINTER__NEW(env, reader, 1, err));
    reader->base.ops = &data_ops;
    reader->env = env;
    reader->plan = plan;
    reader->file = file;
    reader->arena.env = env;
    sinter_text_init(env, &reader->key);
    sinter_text_init(env, &reader->value);
    sinter_text_init(env, &reader->begin_key);
    sinter_text_init(env, &reader->end_key);
    *out = reader;
    return SINTER_OK;
}

sinter_status
sinter__data_reader_open(const sinter_env *env, const sinter__row_plan *plan,
                         const sinter__data_input *file, const sinter_read_options *options,
                         sinter_reader **out, sinter_error *err)
{
    data_reader *reader = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(create_reader(env, plan, file, &reader, err));
    st = open_parts(reader, options != NULL ? options : &whole, err);
    if (st != SINTER_OK) {
        data_close(&reader->base);
        return st;
    }
    *out = &reader->base;
    return SINTER_OK;
}

sinter_status
sinter__data_reader_measure(const sinter_env *env, const sinter__row_plan *plan,
                            const sinter__data_input *file, const sinter_read_options *options,
                            sinter_footprint *out, sinter_error *err)
{
    data_reader *reader = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(create_reader(env, plan, file, &reader, err));
    reader->measured = out;
    st = open_parts(reader, options != NULL ? options : &whole, err);
    data_close(&reader->base);
    if (st == SINTER_OK) {
        /* Batches are made of rows, whatever the file's blocks are. */
        out->block_rows = BATCH_ROWS;
        out->key_part_bytes = 0;
        out->value_part_bytes = BATCH_BYTES; /* of keys and values together */
        out->reader_bytes += BUILDER_BYTES;
    }
    return st;
}
