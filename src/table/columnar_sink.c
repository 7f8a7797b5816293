/*
 * Rows into Parquet and ORC data files: gathered into columns, and handed over when there are
 * enough.
 */
#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "sinter/io.h"
#include "table/columnar_builder.h"
#include "table/row_sink.h"

enum {
    BATCH_ROWS = 4096, /* as many are written without being copied once more */
    BATCH_BYTES = 4 << 20
};

typedef struct columnar_sink {
    sinter__row_sink base;
    const sinter_env *env;
    sinter__columnar library;
    sinter__columnar_output *output;
    sinter__columnar_builder *builder;
    sinter__columnar_field *fields;
    size_t count;
    uint64_t batch_bytes;    /* of the builder before it is handed over */
    uint64_t reserved_bytes; /* of the builder, in the memory budget */
} columnar_sink;

static sinter_status
flush(columnar_sink *sink, sinter_error *err)
{
    const sinter__columnar_api *api = sink->library.api;
    sinter__columnar_range range = {.count = sinter__columnar_builder_rows(sink->builder)};
    sinter__columnar_batch *batch = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray array = {0};
    sinter_status st = SINTER_OK;

    if (range.count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__columnar_builder_take(sink->builder, &array, err));
    st = sinter__columnar_schema_make(sink->env, sink->fields, sink->count, &schema, err);
    if (st != SINTER_OK) {
        array.release(&array);
        return st;
    }
    SINTER__CHECK(api->batch_import(&schema, &array, &batch, err));
    range.batch = batch;
    st = api->output_append(sink->output, &range, 1, err);
    api->batch_release(batch);
    return st;
}

/* Keep the budget told of what the builder holds. */
static sinter_status
settle_memory(columnar_sink *sink, sinter_error *err)
{
    const uint64_t bytes = sinter__columnar_builder_bytes(sink->builder);

    if (bytes > sink->reserved_bytes) {
        const uint64_t wanted = bytes < sink->batch_bytes ? sink->batch_bytes : 2 * bytes;

        SINTER__CHECK(sinter_memory_reserve(sink->env->memory, wanted - sink->reserved_bytes, err));
        sink->reserved_bytes = wanted;
    }
    return SINTER_OK;
}

static sinter_status
columnar_append(sinter__row_sink *base, const sinter_datum *values, sinter_error *err)
{
    columnar_sink *sink = (columnar_sink *)base;

    SINTER__CHECK(sinter__columnar_builder_append(sink->builder, values, err));
    SINTER__CHECK(settle_memory(sink, err));
    return sinter__columnar_builder_rows(sink->builder) < BATCH_ROWS &&
                   sinter__columnar_builder_bytes(sink->builder) < sink->batch_bytes
               ? SINTER_OK
               : flush(sink, err);
}

static sinter_status
columnar_append_columns(sinter__row_sink *base, const sinter__columnar_range *ranges, size_t count,
                        sinter_error *err)
{
    columnar_sink *sink = (columnar_sink *)base;

    SINTER__CHECK(flush(sink, err)); /* rows that came before */
    return sink->library.api->output_append(sink->output, ranges, count, err);
}

static uint64_t
columnar_bytes(const sinter__row_sink *base)
{
    const columnar_sink *sink = (const columnar_sink *)base;

    return sink->library.api->output_size(sink->output);
}

static sinter_status
columnar_finish(sinter__row_sink *base, uint64_t *bytes_out, sinter_error *err)
{
    columnar_sink *sink = (columnar_sink *)base;
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};

    *bytes_out = 0;
    SINTER__CHECK(flush(sink, err));
    SINTER__CHECK(sink->library.api->output_finish(sink->output, &written, err));
    *bytes_out = written.file_bytes;
    return SINTER_OK;
}

static void
columnar_close(sinter__row_sink *base)
{
    columnar_sink *sink = (columnar_sink *)base;

    if (sink->library.api != NULL) {
        sink->library.api->output_close(sink->output);
    }
    sinter__columnar_builder_destroy(sink->builder);
    sinter_memory_release(sink->env->memory, sink->reserved_bytes);
    sinter__free(sink->env, sink->fields);
    sinter__free(sink->env, sink);
}

/* Rows that wait take no more than a part of the budget, either. */
static uint64_t
batch_bytes(const columnar_sink *sink)
{
    enum { BUDGET_PARTS = 16, LEAST = 64 << 10 };
    const uint64_t limit = sinter_memory_limit(sink->env->memory);
    const uint64_t most = limit / BUDGET_PARTS;

    if (limit == 0 || most >= BATCH_BYTES) {
        return BATCH_BYTES;
    }
    return most < LEAST ? LEAST : most;
}

/* A row group or stripe lies in memory until it ends, so it takes no more than a part of the
 * budget, which readers and rows need, too. */
static uint64_t
group_bytes(const columnar_sink *sink, const sinter__file_form *form)
{
    enum { BUDGET_PARTS = 8 };
    static const uint64_t usual[] = {
        [SINTER__FILE_PARQUET] = (uint64_t)128 << 20, [SINTER__FILE_ORC] = (uint64_t)64 << 20};
    const uint64_t most = sinter_memory_limit(sink->env->memory) / BUDGET_PARTS;
    const uint64_t wanted = form->group_bytes == 0 ? usual[form->kind] : form->group_bytes;

    return wanted < most || most == 0 ? wanted : most;
}

/* While a page of Parquet is made, its column has it about five times: values, levels and values,
 * what the codec gives, a dictionary. All columns have a page in work, which together take no more
 * than a part of the budget. */
static uint32_t
page_bytes(const columnar_sink *sink, uint32_t wanted, size_t columns)
{
    enum { BUDGET_PARTS = 4, COPIES = 5, USUAL = 1 << 20, LEAST = 16 << 10 };
    const uint64_t limit = sinter_memory_limit(sink->env->memory);
    const uint64_t most = limit / ((uint64_t)BUDGET_PARTS * COPIES * columns);

    wanted = wanted == 0 ? USUAL : wanted;
    if (limit == 0 || wanted <= most || wanted <= LEAST) {
        return wanted;
    }
    return most < LEAST ? LEAST : (uint32_t)most;
}

static sinter_status
open_file(columnar_sink *sink, const sinter__row_output *output, sinter_error *err)
{
    const sinter__file_form *form = output->form;
    const sinter__columnar_write write = {
        .struct_size = (uint32_t)sizeof write,
        .kind = form->kind == SINTER__FILE_ORC ? SINTER__COLUMNAR_ORC : SINTER__COLUMNAR_PARQUET,
        .codec = form->codec,
        .codec_level = form->kind == SINTER__FILE_ORC ? 0 : form->codec_level,
        .group_bytes = group_bytes(sink, form),
        .page_bytes = page_bytes(sink, form->page_bytes, output->count),
        .dictionary_bytes = page_bytes(sink, 0, output->count),
        .io_flags = output->io_flags,
        .no_dictionary = form->no_dictionary};
    struct ArrowSchema schema = {0};
    sinter_status st = SINTER_OK;

    SINTER__CHECK(SINTER__NEW(sink->env, sink->fields, output->count, err));
    sink->count = output->count;
    for (size_t i = 0; i < output->count; i++) {
        sink->fields[i] = (sinter__columnar_field){.name = output->fields[i].name,
                                                   .type = output->fields[i].type,
                                                   .id = output->fields[i].id};
    }
    SINTER__CHECK(sinter__columnar_builder_create(sink->env, write.kind, sink->fields, sink->count,
                                                  &sink->builder, err));
    SINTER__CHECK(sinter__columnar_load(sink->env, &sink->library, err));
    SINTER__CHECK(sinter__columnar_schema_make(sink->env, sink->fields, sink->count, &schema, err));
    st = sink->library.api->output_open(&sink->library.host, output->path, &schema, &write,
                                        &sink->output, err);
    schema.release(&schema);
    return st;
}

sinter_status
sinter__columnar_sink_open(const sinter_env *env, const sinter__row_output *output,
                           sinter__row_sink **out, sinter_error *err)
{
    columnar_sink *sink = NULL;
    sinter_status st = SINTER_OK;

    assert(output->form->kind != SINTER__FILE_AVRO);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, sink, 1, err));
    sink->base = (sinter__row_sink){.append = columnar_append,
                                    .append_columns = columnar_append_columns,
                                    .bytes = columnar_bytes,
                                    .finish = columnar_finish,
                                    .close = columnar_close};
    sink->env = env;
    sink->batch_bytes = batch_bytes(sink);
    SINTER__TRY(open_file(sink, output, err));
    *out = &sink->base;
    sink = NULL;
out:
    if (sink != NULL) {
        columnar_close(&sink->base);
    }
    return st;
}
