/*
 * Parquet and ORC data files as rows.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "table/columnar_rows.h"
#include "table/columnar_type.h"
#include "table/row_source.h"

typedef struct columnar_source {
    sinter__row_source base;
    sinter__arena arena;
    sinter__columnar library;
    sinter__columnar_file *file;
    sinter__columnar_batch *batch;
    struct ArrowArray array; /* of the batch */
    int64_t row;             /* the next one of the batch */
    int64_t rows;            /* of the batch */
    uint64_t left;           /* rows of the file, where no column is read */
    sinter__cells *cells;    /* one per column that was asked for */
    uint32_t *places;        /* of them among the columns that are read */
    size_t count;
    uint32_t *read; /* positions in the file, ascending, each once */
    uint32_t read_count;
} columnar_source;

static void
release_batch(columnar_source *source)
{
    if (source->array.release != NULL) {
        source->array.release(&source->array);
    }
    source->library.api->batch_release(source->batch);
    source->batch = NULL;
}

static void
columnar_close(sinter__row_source *base)
{
    columnar_source *source = (columnar_source *)base;
    const sinter_env *env = source->arena.env;

    for (size_t i = 0; source->cells != NULL && i < source->count; i++) {
        sinter__cells_fini(&source->cells[i]);
    }
    if (source->library.api != NULL) {
        release_batch(source);
        source->library.api->file_close(source->file);
    }
    sinter__arena_fini(&source->arena);
    sinter__free(env, source);
}

static sinter_status
next_batch(columnar_source *source, sinter_error *err)
{
    release_batch(source);
    SINTER__CHECK(source->library.api->file_next(source->file, &source->batch, err));
    SINTER__CHECK(source->library.api->batch_export(source->batch, &source->array, err));
    source->rows = (int64_t)source->library.api->batch_rows(source->batch);
    source->row = 0;
    return SINTER_OK;
}

static sinter_status
columnar_next(sinter__row_source *base, sinter_datum *values, sinter_error *err)
{
    columnar_source *source = (columnar_source *)base;

    if (source->read_count == 0) {
        if (source->left == 0) {
            return SINTER_END;
        }
        source->left--;
        return SINTER_OK;
    }
    while (source->row == source->rows) {
        SINTER__CHECK(next_batch(source, err));
    }
    for (size_t i = 0; i < source->count; i++) {
        SINTER__CHECK(sinter__cells_get(&source->cells[i],
                                        source->array.children[source->places[i]], source->row,
                                        &values[i], err));
    }
    source->row++;
    return SINTER_OK;
}

/* ---- opening ---- */

static int
compare_positions(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Position of a column of the file by its name. */
static sinter_status
find_column(const struct ArrowSchema *schema, const char *name, uint32_t *out, sinter_error *err)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->name != NULL && strcmp(schema->children[i]->name, name) == 0) {
            *out = (uint32_t)i;
            return SINTER_OK;
        }
    }
    return SINTER__ERR(err, SINTER_E_CORRUPT, "the file has no column %.100s", name);
}

/* Which columns are read, and where each that was asked for is among them. */
static sinter_status
find_columns(columnar_source *source, const struct ArrowSchema *schema,
             const sinter__row_request *request, sinter_error *err)
{
    for (size_t i = 0; i < request->count; i++) {
        SINTER__CHECK(find_column(schema, request->columns[i].name, &source->places[i], err));
        SINTER__CHECK(sinter__columnar_check_fields(schema->children[source->places[i]],
                                                    &request->columns[i].type, err));
        source->read[i] = source->places[i];
    }
    if (request->count > 1) {
        qsort(source->read, request->count, sizeof *source->read, compare_positions);
    }
    for (size_t i = 0; i < request->count; i++) {
        if (source->read_count == 0 || source->read[source->read_count - 1] != source->read[i]) {
            source->read[source->read_count++] = source->read[i];
        }
    }
    for (size_t i = 0; i < request->count; i++) {
        const uint32_t *at = bsearch(&source->places[i], source->read, source->read_count,
                                     sizeof *source->read, compare_positions);

        assert(at != NULL);
        source->places[i] = (uint32_t)(at - source->read);
    }
    return SINTER_OK;
}

/* Begin to read the columns as the types they are wanted as. */
static sinter_status
begin_read(columnar_source *source, const sinter__columnar_info *info,
           const sinter__row_request *request, sinter_error *err)
{
    sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read,
                                  .columns = source->read,
                                  .column_count = source->read_count};
    sinter__columnar_field *fields = NULL;
    struct ArrowSchema as = {0};
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__arena_take(&source->arena, (source->read_count + 1) * sizeof *fields,
                                     (void **)&fields, err));
    for (size_t i = 0; i < request->count; i++) {
        fields[source->places[i]] = (sinter__columnar_field){
            .name = request->columns[i].name, .type = request->columns[i].type, .id = -1};
    }
    SINTER__CHECK(
        sinter__columnar_schema_make(source->arena.env, fields, source->read_count, &as, err));
    for (size_t i = 0; i < request->count && st == SINTER_OK; i++) {
        st = sinter__cells_bind(&source->arena, info->kind, as.children[source->places[i]],
                                &request->columns[i].type, &source->cells[i], err);
    }
    read.as = &as;
    if (st == SINTER_OK) {
        st = source->library.api->file_read(source->file, &read, err);
    }
    as.release(&as);
    return st;
}

static sinter_status
open_file(columnar_source *source, const sinter__row_request *request, sinter__columnar_info *info,
          sinter_error *err)
{
    const uint64_t expected = request->options == NULL ? 0 : request->options->expected_file_bytes;
    struct ArrowSchema schema = {0};
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__columnar_load(source->arena.env, &source->library, err));
    SINTER__CHECK(source->library.api->file_open(
        &source->library.host, request->path, SINTER_IO_SEQUENTIAL, expected, &source->file, err));
    SINTER__CHECK(source->library.api->file_info(source->file, info, err));
    source->left = info->row_count;
    if (request->count > 0) {
        SINTER__CHECK(source->library.api->file_schema(source->file, &schema, err));
        st = find_columns(source, &schema, request, err);
        schema.release(&schema);
    }
    return st;
}

/* A file whose columns are found, and nothing read yet. */
static sinter_status
create_source(const sinter_env *env, const sinter__row_request *request,
              sinter__columnar_info *info, columnar_source **out, sinter_error *err)
{
    const size_t room = request->count + 1;
    columnar_source *source = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, source, 1, err));
    source->base = (sinter__row_source){.next = columnar_next, .close = columnar_close};
    source->arena.env = env;
    source->count = request->count;
    SINTER__TRY(sinter__arena_take(&source->arena, room * sizeof *source->cells,
                                   (void **)&source->cells, err));
    memset(source->cells, 0, room * sizeof *source->cells);
    SINTER__TRY(sinter__arena_take(&source->arena, room * sizeof *source->places,
                                   (void **)&source->places, err));
    SINTER__TRY(sinter__arena_take(&source->arena, room * sizeof *source->read,
                                   (void **)&source->read, err));
    SINTER__TRY(open_file(source, request, info, err));
    *out = source;
    source = NULL;
out:
    if (source != NULL) {
        sinter__fail_file(err, request->path);
        columnar_close(&source->base);
    }
    return st;
}

sinter_status
sinter__columnar_source_open(const sinter_env *env, const sinter__row_request *request,
                             sinter__row_source **out, sinter_error *err)
{
    sinter__columnar_info info = {.struct_size = (uint32_t)sizeof info};
    columnar_source *source = NULL;
    sinter_status st = create_source(env, request, &info, &source, err);

    *out = NULL;
    if (st == SINTER_OK && request->count > 0) {
        st = begin_read(source, &info, request, err);
    }
    if (st == SINTER_OK) {
        *out = &source->base;
    } else if (source != NULL) {
        sinter__fail_file(err, request->path);
        columnar_close(&source->base);
    }
    return st;
}

sinter_status
sinter__columnar_source_measure(const sinter_env *env, const sinter__row_request *request,
                                sinter_footprint *out, sinter_error *err)
{
    sinter__columnar_info info = {.struct_size = (uint32_t)sizeof info};
    sinter__columnar_footprint found = {.struct_size = (uint32_t)sizeof found};
    sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read};
    columnar_source *source = NULL;

    SINTER__CHECK(create_source(env, request, &info, &source, err));
    read.columns = source->read;
    read.column_count = source->read_count;
    if (source->read_count > 0) {
        const sinter_status st =
            source->library.api->file_footprint(source->file, &read, &found, err);

        if (st != SINTER_OK) {
            sinter__fail_file(err, request->path);
            columnar_close(&source->base);
            return st;
        }
    }
    *out = (sinter_footprint){.struct_size = (uint32_t)sizeof *out,
                              .block_rows = found.batch_rows,
                              .value_part_bytes = found.batch_bytes,
                              .reader_bytes = found.reader_bytes,
                              .rows_bytes = found.rows_bytes};
    columnar_close(&source->base);
    return SINTER_OK;
}
