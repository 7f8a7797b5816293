/*
 * Rows of a scan as a stream of Arrow: gathered into columns, which libsinter_columnar writes.
 */
#include "base/alloc.h"
#include "base/fail.h"
#include "sinter/table_scan.h"
#include "table/columnar_builder.h"
#include "table/scan.h"

enum { BATCH_ROWS = 4096, BATCH_BYTES = 4 << 20 };

typedef struct arrow_job {
    const sinter_env *env;
    sinter__columnar columnar;
    sinter__columnar_field *fields;
    size_t count;
    sinter__columnar_builder *builder;
    sinter__columnar_stream *stream;
} arrow_job;

static sinter_status
begin(arrow_job *job, const sinter_row_type *type, const sinter__columnar_put *put,
      sinter_error *err)
{
    struct ArrowSchema schema = {0};
    sinter_status st = SINTER_OK;

    job->count = sinter_row_type_count(type);
    SINTER__CHECK(sinter__columnar_load(job->env, &job->columnar, err));
    SINTER__CHECK(SINTER__NEW(job->env, job->fields, job->count, err));
    for (size_t i = 0; i < job->count; i++) {
        job->fields[i] = (sinter__columnar_field){.name = sinter_row_type_column_name(type, i),
                                                  .type = *sinter_row_type_column_type(type, i),
                                                  .id = -1};
    }
    SINTER__CHECK(sinter__columnar_builder_create(job->env, SINTER__COLUMNAR_PARQUET, job->fields,
                                                  job->count, &job->builder, err));
    SINTER__CHECK(sinter__columnar_schema_make(job->env, job->fields, job->count, &schema, err));
    st = job->columnar.api->stream_open(&job->columnar.host, &schema, put, &job->stream, err);
    schema.release(&schema);
    return st;
}

/* Hand on what was gathered. */
static sinter_status
flush(arrow_job *job, sinter_error *err)
{
    const sinter__columnar_api *api = job->columnar.api;
    sinter__columnar_batch *batch = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray array = {0};
    sinter_status st = SINTER_OK;

    if (sinter__columnar_builder_rows(job->builder) == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__columnar_builder_take(job->builder, &array, err));
    st = sinter__columnar_schema_make(job->env, job->fields, job->count, &schema, err);
    if (st != SINTER_OK) {
        array.release(&array);
        return st;
    }
    SINTER__CHECK(api->batch_import(&schema, &array, &batch, err));
    st = api->stream_append(job->stream, batch, err);
    api->batch_release(batch);
    return st;
}

static sinter_status
write_rows(arrow_job *job, sinter_table_scan *scan, sinter_error *err)
{
    const sinter_datum *values = NULL;
    sinter_status st = SINTER_OK;

    while ((st = sinter_table_scan_next(scan, &values, err)) == SINTER_OK) {
        SINTER__CHECK(sinter__columnar_builder_append(job->builder, values, err));
        if (sinter__columnar_builder_rows(job->builder) >= BATCH_ROWS ||
            sinter__columnar_builder_bytes(job->builder) >= BATCH_BYTES) {
            SINTER__CHECK(flush(job, err));
        }
    }
    if (st != SINTER_END) {
        return st;
    }
    SINTER__CHECK(flush(job, err));
    return job->columnar.api->stream_finish(job->stream, err);
}

sinter_status
sinter_table_scan_arrow(sinter_table_scan *scan,
                        sinter_status (*put)(void *ctx, const void *data, size_t size,
                                             sinter_error *err),
                        void *ctx, sinter_error *err)
{
    const sinter__columnar_put to = {.put = put, .ctx = ctx};
    arrow_job job = {.count = 0};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, scan != NULL && put != NULL);
    job.env = sinter__scan_env(scan);
    st = begin(&job, sinter_table_scan_row_type(scan), &to, err);
    if (st == SINTER_OK) {
        st = write_rows(&job, scan, err);
    }
    if (job.stream != NULL) {
        job.columnar.api->stream_close(job.stream);
    }
    sinter__columnar_builder_destroy(job.builder);
    sinter__free(job.env, job.fields);
    return st;
}
