/*
 * Data files of sinter's own format (docs/sst-format.md) as rows of a table: keys as they are
 * encoded, or the row's number where there are none; values are BinaryRows of the table's columns,
 * whose row type is in the file's properties.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "doc/binary.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "sinter/sst.h"
#include "table/row_sink.h"
#include "table/row_source.h"

enum { NUMBER_BYTES = 8, BATCH_ROWS = 1024, BATCH_BYTES = 256 << 10 };

/* ---- writing ---- */

typedef struct sst_sink {
    sinter__row_sink base;
    const sinter_env *env;
    sinter__arena arena;
    const sinter__write_plan *plan;
    sinter_key_codec *codec; /* NULL: no key */
    sinter_datum *key_values;
    sinter_writer *writer;
    sinter_batch_builder *held;
    uint32_t held_rows;
    uint64_t rows;
    sinter_text key;
    sinter_text value;
} sst_sink;

static sinter_status
write_held(sst_sink *sink, sinter_error *err)
{
    sinter_range range = {.count = sink->held_rows};
    size_t taken = 0;
    uint32_t taken_rows = 0;

    if (sink->held_rows == 0) {
        return SINTER_OK;
    }
    range.batch = sinter_batch_builder_batch(sink->held);
    SINTER__CHECK(
        sink->writer->ops->append(sink->writer, &range, 1, UINT64_MAX, &taken, &taken_rows, err));
    assert(taken == 1);
    sinter_batch_builder_reset(sink->held);
    sink->held_rows = 0;
    return SINTER_OK;
}

/* The key of a row of values, or its number. */
static sinter_status
encode_key(sst_sink *sink, const sinter_datum *columns, sinter_error *err)
{
    const sinter__write_plan *plan = sink->plan;
    uint8_t number[NUMBER_BYTES];

    sinter_text_reset(&sink->key);
    if (sink->codec == NULL) {
        sinter__put_be64(number, sink->rows);
        return sinter_text_append(&sink->key, number, sizeof number, err);
    }
    for (size_t i = 0; i < plan->key_count; i++) {
        sink->key_values[i] = columns[plan->keys[i]];
    }
    return sinter_key_encode(sink->codec, sink->key_values, &sink->key, err);
}

static sinter_status
sst_append(sinter__row_sink *base, const sinter_datum *values, sinter_error *err)
{
    sst_sink *sink = (sst_sink *)base;
    const sinter__write_plan *plan = sink->plan;
    const sinter_datum *columns = values + plan->system_count;
    const sinter__shape shape = {.fields = plan->fields + plan->system_count,
                                 .count = plan->field_count - plan->system_count};
    const size_t system = plan->has_key_fields ? plan->key_count : 0;
    int64_t sequence = (int64_t)sink->rows;
    uint8_t kind = SINTER_KIND_INSERT;
    size_t size = 0;

    SINTER__CHECK(encode_key(sink, columns, err));
    if (sink->codec != NULL) {
        sequence = values[system].as.integer;
        kind = (uint8_t)values[system + 1].as.integer;
    }
    sinter_text_reset(&sink->value);
    SINTER__CHECK(sinter__binary_size(&shape, columns, &size, err));
    SINTER__CHECK(sinter__text_fill(&sink->value, '\0', size, err));
    sinter__binary_put(&shape, columns, (uint8_t *)sink->value.data);
    SINTER__CHECK(sinter_batch_builder_add(sink->held, sinter_text_bytes(&sink->key), sequence,
                                           kind, sinter_text_bytes(&sink->value), err));
    sink->rows++;
    sink->held_rows++;
    return sink->held_rows == BATCH_ROWS || sinter_batch_builder_bytes(sink->held) >= BATCH_BYTES
               ? write_held(sink, err)
               : SINTER_OK;
}

static uint64_t
sst_bytes(const sinter__row_sink *base)
{
    const sst_sink *sink = (const sst_sink *)base;

    return sink->writer->ops->size(sink->writer);
}

static sinter_status
sst_finish(sinter__row_sink *base, uint64_t *bytes_out, sinter_error *err)
{
    sst_sink *sink = (sst_sink *)base;
    sinter_file_stats stats = {.struct_size = (uint32_t)sizeof stats};

    SINTER__CHECK(write_held(sink, err));
    SINTER__CHECK(sink->writer->ops->finish(sink->writer, &stats, err));
    *bytes_out = stats.file_size;
    return SINTER_OK;
}

static void
sst_sink_close(sinter__row_sink *base)
{
    sst_sink *sink = (sst_sink *)base;

    if (sink->writer != NULL) {
        sink->writer->ops->close(sink->writer);
    }
    sinter_batch_builder_destroy(sink->held);
    sinter_key_codec_destroy(sink->codec);
    sinter_text_fini(&sink->key);
    sinter_text_fini(&sink->value);
    sinter__arena_fini(&sink->arena);
    sinter__free(sink->env, sink);
}

static sinter_status
open_writer(sst_sink *sink, const sinter__row_output *output, sinter_error *err)
{
    const sinter__write_plan *plan = sink->plan;
    const sinter_format *format = sinter_format_sst();
    sinter_write_options options = {.struct_size = (uint32_t)sizeof options,
                                    .codec = output->form->codec,
                                    .codec_level = output->form->codec_level,
                                    .direct = (output->io_flags & SINTER_IO_DIRECT) != 0,
                                    .level = output->level,
                                    .schema_id = (uint32_t)plan->schema->id,
                                    .row_type = sinter_row_type_json(plan->schema->row_type)};
    sinter_type *types = NULL;

    if (plan->key_count > 0) {
        SINTER__CHECK(sinter__arena_take(&sink->arena, plan->key_count * sizeof *types,
                                         (void **)&types, err));
        SINTER__CHECK(sinter__arena_take(&sink->arena, plan->key_count * sizeof *sink->key_values,
                                         (void **)&sink->key_values, err));
        for (size_t i = 0; i < plan->key_count; i++) {
            types[i] = plan->fields[plan->system_count + plan->keys[i]].type;
        }
        SINTER__CHECK(
            sinter_key_codec_create(sink->env, types, plan->key_count, &sink->codec, err));
        options.key_types = sinter_key_codec_types(sink->codec);
    }
    SINTER__CHECK(sinter_batch_builder_create(sink->env, &sink->held, err));
    return format->open_writer(format->self, sink->env, output->path, &options, &sink->writer, err);
}

sinter_status
sinter__sst_sink_open(const sinter_env *env, const sinter__row_output *output,
                      sinter__row_sink **out, sinter_error *err)
{
    sst_sink *sink = NULL;
    sinter_status st = SINTER_OK;

    assert(output->form->kind == SINTER__FILE_SST);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, sink, 1, err));
    sink->base = (sinter__row_sink){
        .append = sst_append, .bytes = sst_bytes, .finish = sst_finish, .close = sst_sink_close};
    sink->env = env;
    sink->arena.env = env;
    sink->plan = output->plan;
    sinter_text_init(env, &sink->key);
    sinter_text_init(env, &sink->value);
    st = open_writer(sink, output, err);
    if (st != SINTER_OK) {
        sst_sink_close(&sink->base);
        return st;
    }
    *out = &sink->base;
    return SINTER_OK;
}

/* ---- reading ---- */

/** Columns that are no part of a value. */
enum { OF_SEQUENCE = -1, OF_KIND = -2 };

typedef struct sst_source {
    sinter__row_source base;
    const sinter_env *env;
    sinter__arena arena;
    const char *path;
    sinter_reader *reader;
    sinter_row_type *row_type;
    ptrdiff_t *positions; /* in the row type, one per column that is asked for; or OF_* */
    sinter_type *types;
    size_t count;
    const sinter_batch *batch;
    uint32_t row; /* the next of the batch */
} sst_source;

static sinter_status
get_values(const sst_source *source, sinter_datum *values, sinter_error *err)
{
    const sinter_batch *batch = source->batch;
    const uint32_t row = source->row;
    sinter__slots slots;

    SINTER__CHECK(sinter__slots_of_row(sinter_row_type_count(source->row_type),
                                       batch->payload_ops->value(batch, row), &slots, err));
    for (size_t i = 0; i < source->count; i++) {
        const ptrdiff_t at = source->positions[i];

        values[i] = (sinter_datum){.as.integer = at == OF_SEQUENCE ? batch->sequences[row]
                                                                   : batch->kinds[row]};
        if (at >= 0) {
            SINTER__CHECK(
                sinter__slots_get(&slots, &source->types[i], (size_t)at, &values[i], err));
        }
    }
    return SINTER_OK;
}

static sinter_status
sst_next(sinter__row_source *base, sinter_datum *values, sinter_error *err)
{
    sst_source *source = (sst_source *)base;
    sinter_status st = SINTER_OK;

    if (source->batch == NULL || source->row == source->batch->row_count) {
        source->batch = NULL;
        source->row = 0;
        SINTER__CHECK(source->reader->ops->next(source->reader, &source->batch, err));
    }
    st = get_values(source, values, err);
    if (st != SINTER_OK) {
        sinter__fail_file(err, source->path);
        return st;
    }
    source->row++;
    return SINTER_OK;
}

static void
sst_source_close(sinter__row_source *base)
{
    sst_source *source = (sst_source *)base;

    if (source->reader != NULL) {
        source->reader->ops->close(source->reader);
    }
    sinter_row_type_destroy(source->row_type);
    sinter__arena_fini(&source->arena);
    sinter__free(source->env, source);
}

/* But for NOT NULL: the key's columns may have got it later. */
static bool
is_same_type(sinter_type a, sinter_type b)
{
    a.nullable = b.nullable = true;
    return sinter_type_equal(&a, &b);
}

static sinter_status
find_columns(sst_source *source, const sinter__row_request *request, sinter_error *err)
{
    SINTER__CHECK(sinter__arena_take(&source->arena,
                                     (request->count + 1) * sizeof *source->positions,
                                     (void **)&source->positions, err));
    SINTER__CHECK(sinter__arena_take(&source->arena, (request->count + 1) * sizeof *source->types,
                                     (void **)&source->types, err));
    source->count = request->count;
    for (size_t i = 0; i < request->count; i++) {
        const char *name = request->columns[i].name;
        const size_t at = sinter_row_type_find(source->row_type, name);

        source->positions[i] = (ptrdiff_t)at;
        source->types[i] = request->columns[i].type;
        if (at == SIZE_MAX && strcmp(name, "_SEQUENCE_NUMBER") == 0) {
            source->positions[i] = OF_SEQUENCE;
        } else if (at == SIZE_MAX && strcmp(name, "_VALUE_KIND") == 0) {
            source->positions[i] = OF_KIND;
        } else if (at == SIZE_MAX ||
                   !is_same_type(*sinter_row_type_column_type(source->row_type, at),
                                 source->types[i])) {
            char type[SINTER_TYPE_TEXT_MAX];

            sinter_type_print(&source->types[i], type);
            return SINTER__ERR_AT(err, SINTER_E_CORRUPT, request->path, -1,
                                  "the file has no column \"%.100s\" of type %s", name, type);
        }
    }
    return SINTER_OK;
}

static sinter_status
read_row_type(sst_source *source, const sinter__row_request *request, sinter_error *err)
{
    sinter_sst_properties properties = {.struct_size = (uint32_t)sizeof properties};
    sinter_sst *sst = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter_sst_open(source->env, request->path, &sst, err));
    sinter_sst_properties_get(sst, &properties);
    st = sinter_row_type_parse(source->env, properties.row_type, strlen(properties.row_type),
                               &source->row_type, err);
    if (st != SINTER_OK && st != SINTER_E_NOMEM) {
        st = SINTER__ERR_AT(err, SINTER_E_CORRUPT, request->path, -1,
                            "the file doesn't say which columns it has");
    }
    sinter_sst_close(sst);
    return st;
}

/* All rows: positions count from the file's first. */
static sinter_read_options
options_of(const sinter__row_request *request)
{
    sinter_read_options options = {.struct_size = (uint32_t)sizeof options};

    if (request->options != NULL) {
        options.read_bytes = request->options->read_bytes;
        options.direct = request->options->direct;
        options.expected_file_bytes = request->options->expected_file_bytes;
        options.begins_reading = request->options->begins_reading;
    }
    return options;
}

sinter_status
sinter__sst_source_open(const sinter_env *env, const sinter__row_request *request,
                        sinter__row_source **out, sinter_error *err)
{
    const sinter_read_options options = options_of(request);
    const sinter_format *format = sinter_format_sst();
    sst_source *source = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, source, 1, err));
    source->base = (sinter__row_source){.next = sst_next, .close = sst_source_close};
    source->env = env;
    source->arena.env = env;
    SINTER__TRY(sinter__arena_strdup(&source->arena, request->path, &source->path, err));
    SINTER__TRY(read_row_type(source, request, err));
    SINTER__TRY(find_columns(source, request, err));
    SINTER__TRY(
        format->open_reader(format->self, env, request->path, &options, &source->reader, err));
    *out = &source->base;
    source = NULL;
out:
    if (source != NULL) {
        sst_source_close(&source->base);
    }
    return st;
}

sinter_status
sinter__sst_source_measure(const sinter_env *env, const sinter__row_request *request,
                           sinter_footprint *out, sinter_error *err)
{
    const sinter_read_options options = options_of(request);
    const sinter_format *format = sinter_format_sst();

    return format->measure(format->self, env, request->path, &options, out, err);
}
