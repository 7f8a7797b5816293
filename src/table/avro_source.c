/*
 * Avro data files as rows.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "format/avro_reader.h"
#include "sinter/io.h"
#include "table/avro_rows.h"
#include "table/row_source.h"

typedef struct avro_source {
    sinter__row_source base;
    const sinter_env *env;
    sinter__avro_reader *reader;
    sinter__avro_schema *schema;
    sinter__avro_rows *rows;
    sinter__avro_cursor cursor;
    uint64_t left;   /* records of the block */
    uint64_t offset; /* of the block */
} avro_source;

static void
avro_close(sinter__row_source *base)
{
    avro_source *source = (avro_source *)base;

    sinter__avro_rows_destroy(source->rows);
    sinter__avro_schema_destroy(source->schema);
    sinter__avro_reader_close(source->reader);
    sinter__free(source->env, source);
}

static sinter_status
next_block(avro_source *source, sinter_error *err)
{
    sinter__avro_block block;

    if (source->cursor.at != source->cursor.end) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, sinter__avro_reader_path(source->reader),
                              source->offset, "a block holds more bytes than its records");
    }
    SINTER__CHECK(sinter__avro_reader_next(source->reader, &block, err));
    source->cursor = (sinter__avro_cursor){block.bytes.data, block.bytes.data + block.bytes.size};
    source->left = block.count;
    source->offset = block.offset;
    return SINTER_OK;
}

/* Say where a damaged record is. */
static sinter_status
locate(const avro_source *source, sinter_status st, sinter_error *err)
{
    if (st == SINTER_E_CORRUPT && err != NULL) {
        sinter__fail_context(err, "in the block there");
        sinter__fail_file(err, sinter__avro_reader_path(source->reader));
        err->offset = (int64_t)source->offset;
    }
    return st;
}

static sinter_status
avro_next(sinter__row_source *base, sinter_datum *values, sinter_error *err)
{
    avro_source *source = (avro_source *)base;
    const uint8_t *begin = NULL;
    sinter_status st = SINTER_OK;

    while (source->left == 0) {
        SINTER__CHECK(next_block(source, err));
    }
    begin = source->cursor.at;
    st = sinter__avro_rows_next(source->rows, &source->cursor, values, err);
    if (st != SINTER_OK) {
        return locate(source, st, err);
    }
    source->left--;
    base->record = (sinter_bytes){begin, (size_t)(source->cursor.at - begin)};
    base->ends_block = source->left == 0;
    return SINTER_OK;
}

static sinter_status
open_schema(avro_source *source, const sinter__row_request *request, sinter_error *err)
{
    sinter_bytes text;
    sinter_status st = SINTER_OK;

    if (!sinter__avro_reader_meta(source->reader, "avro.schema", &text)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, request->path, 0, "the file has no schema");
    }
    st = sinter__avro_schema_parse(source->env, text, &source->schema, err);
    if (st == SINTER_OK) {
        st = sinter__avro_rows_create(source->env, source->schema, request->columns, request->count,
                                      &source->rows, err);
    }
    if (st != SINTER_OK) {
        sinter__fail_file(err, request->path);
        return st;
    }
    if (request->record_schema != NULL && text.size == strlen(request->record_schema) &&
        memcmp(text.data, request->record_schema, text.size) == 0) {
        source->base.gives_records = true;
        sinter__avro_rows_keep(source->rows, request->kept);
    }
    return SINTER_OK;
}

static sinter__avro_reader_options
options_of(const sinter__row_request *request)
{
    sinter__avro_reader_options options = {.flags = SINTER_IO_SEQUENTIAL};

    if (request->options != NULL) {
        options.expected_bytes = request->options->expected_file_bytes;
        options.read_bytes = request->options->read_bytes;
        options.flags |= request->options->direct ? SINTER_IO_DIRECT : 0;
    }
    return options;
}

sinter_status
sinter__avro_source_open(const sinter_env *env, const sinter__row_request *request,
                         sinter__row_source **out, sinter_error *err)
{
    const sinter__avro_reader_options options = options_of(request);
    avro_source *source = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, source, 1, err));
    source->base = (sinter__row_source){.next = avro_next, .close = avro_close};
    source->env = env;
    SINTER__TRY(sinter__avro_reader_open(env, request->path, &options, &source->reader, err));
    SINTER__TRY(open_schema(source, request, err));
    *out = &source->base;
    source = NULL;
out:
    if (source != NULL) {
        avro_close(&source->base);
    }
    return st;
}

sinter_status
sinter__avro_source_measure(const sinter_env *env, const sinter__row_request *request,
                            sinter_footprint *out, sinter_error *err)
{
    const sinter__avro_reader_options options = options_of(request);
    sinter__avro_reader *reader = NULL;
    sinter_status st = SINTER_OK;

    *out = (sinter_footprint){.struct_size = (uint32_t)sizeof *out};
    SINTER__CHECK(sinter__avro_reader_open(env, request->path, &options, &reader, err));
    st = sinter__avro_reader_measure(reader, &out->value_part_bytes, &out->reader_bytes, err);
    sinter__avro_reader_close(reader);
    return st == SINTER_END ? SINTER_OK : st;
}
