#include "bucket.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const rows_json =
    "{\"type\":\"ROW\",\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT NULL\"},{\"id\":1,"
    "\"name\":\"v\",\"type\":\"STRING\"}],\"primaryKeys\":[\"k\"]}";

void
bucket_init(bucket *b, const sinter_env *env)
{
    if (env == NULL) {
        sinter_env_init(&b->env);
    } else {
        b->env = *env;
    }
    b->memory = NULL;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &b->memory, NULL),
                 SINTER_OK);
    b->env.io = b->memory;
}

void
bucket_fini(bucket *b)
{
    sinter_io_destroy(b->memory);
}

sinter_status
bucket_create(const sinter_env *env, const sinter_option *options, size_t option_count,
              sinter_error *err)
{
    sinter_catalog_options catalog = {.struct_size = (uint32_t)sizeof catalog,
                                      .num_levels = 6,
                                      .options = options,
                                      .option_count = option_count};
    sinter_row_type *row_type = NULL;
    sinter_status st = sinter_row_type_parse(env, rows_json, strlen(rows_json), &row_type, err);

    if (st == SINTER_OK) {
        catalog.row_type = row_type;
        st = sinter_catalog_create(env, "db", &catalog, err);
    }
    sinter_row_type_destroy(row_type);
    return st;
}

static sinter_status
ingest_rows(sinter_ingest *ingest, sinter_row_reader *reader, const char *csv, sinter_error *err)
{
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_status st = sinter_row_reader_feed(reader, csv, strlen(csv), err);

    sinter_row_reader_end(reader);
    while (st == SINTER_OK) {
        st = sinter_row_reader_next(reader, &row, err);
        if (st == SINTER_OK) {
            st = sinter_ingest_add(ingest, row.kind, row.values, err);
        }
    }
    return st == SINTER_END ? SINTER_OK : st;
}

sinter_status
bucket_ingest(const sinter_env *env, const char *csv, uint64_t buffer_rows,
              sinter_ingest_counters *counters, sinter_error *err)
{
    const sinter_ingest_options options = {.struct_size = (uint32_t)sizeof options,
                                           .buffer_rows = buffer_rows};
    const sinter_row_options rows = {.struct_size = (uint32_t)sizeof rows,
                                     .format = SINTER_ROW_FORMAT_CSV};
    sinter_catalog *catalog = NULL;
    sinter_ingest *ingest = NULL;
    sinter_row_reader *reader = NULL;
    sinter_status st = sinter_catalog_open(env, "db", SINTER_CATALOG_WRITE, &catalog, err);

    if (st == SINTER_OK) {
        st = sinter_ingest_open(env, catalog, &options, &ingest, err);
    }
    if (st == SINTER_OK) {
        st = sinter_row_reader_create(env, sinter_files_doc_row_type(sinter_catalog_doc(catalog)),
                                      &rows, &reader, err);
    }
    if (st == SINTER_OK) {
        st = ingest_rows(ingest, reader, csv, err);
    }
    sinter_row_reader_destroy(reader);
    if (st == SINTER_OK) {
        st = sinter_ingest_finish(ingest, counters, err);
    }
    sinter_ingest_close(ingest);
    sinter_catalog_close(catalog);
    return st;
}

sinter_status
bucket_compact(const sinter_env *env, sinter_error *err)
{
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    sinter_catalog *catalog = NULL;
    sinter_status st = sinter_catalog_open(env, "db", SINTER_CATALOG_WRITE, &catalog, err);

    sinter_compact_options_init(&options);
    if (st == SINTER_OK) {
        const sinter_files *files = sinter_files_doc_get(sinter_catalog_doc(catalog));

        st = sinter_files_doc_options(sinter_catalog_doc(catalog), &options, err);
        sinter_compact_task_init(&task);
        task.files = files->files;
        task.count = files->file_count;
        task.output_level = 5;
        task.max_level = 5;
        task.drop_delete = true;
        task.base_dir = sinter_files_doc_base_dir(sinter_catalog_doc(catalog));
        task.key_types = files->key_types;
        task.row_type = files->row_type;
        task.options = &options;
    }
    if (st == SINTER_OK) {
        st = sinter_compact_task_run(env, &task, &result, err);
    }
    if (st == SINTER_OK) {
        st = sinter_catalog_apply(catalog, result, err);
    }
    if (st == SINTER_OK) {
        st = sinter_catalog_commit(catalog, err);
    }
    sinter_compact_result_destroy(result);
    sinter_catalog_close(catalog);
    return st;
}

static sinter_status
print_view(sinter_view *view, sinter_row_writer *writer, sinter_text *out, sinter_error *err)
{
    sinter_range ranges[16];
    size_t count = 0;
    sinter_status st = SINTER_OK;

    while (st == SINTER_OK) {
        st = sinter_view_next(view, ranges, 16, &count, err);
        for (size_t i = 0; st == SINTER_OK && i < count; i++) {
            for (uint32_t k = ranges[i].first;
                 st == SINTER_OK && k < ranges[i].first + ranges[i].count; k++) {
                const sinter_batch *batch = ranges[i].batch;

                st = sinter_row_writer_append_stored(writer, batch->kinds[k],
                                                     sinter_batch_key(batch, k),
                                                     batch->payload_ops->value(batch, k), out, err);
            }
        }
    }
    return st == SINTER_END ? SINTER_OK : st;
}

sinter_status
bucket_scan(const sinter_env *env, sinter_text *out, sinter_error *err)
{
    const sinter_row_options rows = {.struct_size = (uint32_t)sizeof rows};
    const sinter_view_options view_options = {.struct_size = (uint32_t)sizeof view_options};
    sinter_compact_options options;
    sinter_files_doc *doc = NULL;
    sinter_view *view = NULL;
    sinter_row_writer *writer = NULL;
    sinter_status st = sinter_files_doc_load(env, "db", NULL, &doc, err);

    sinter_compact_options_init(&options);
    if (st == SINTER_OK) {
        st = sinter_files_doc_options(doc, &options, err);
    }
    if (st == SINTER_OK) {
        st = sinter_row_writer_create(env, sinter_files_doc_row_type(doc), &rows, &writer, err);
    }
    if (st == SINTER_OK) {
        const sinter_files *files = sinter_files_doc_get(doc);

        const sinter_view_source source = {.struct_size = (uint32_t)sizeof source,
                                           .format = sinter_format_sst(),
                                           .base_dir = sinter_files_doc_base_dir(doc),
                                           .files = files->files,
                                           .count = files->file_count,
                                           .options = &options};

        st = sinter_view_open(env, &source, &view_options, &view, err);
    }
    if (st == SINTER_OK) {
        st = print_view(view, writer, out, err);
    }
    sinter_view_close(view);
    sinter_row_writer_destroy(writer);
    sinter_files_doc_destroy(doc);
    return st;
}

void
bucket_catalog_text(const sinter_env *env, sinter_text *out)
{
    sinter_io_file *file = NULL;
    sinter_io_range range = {0};
    uint64_t size = 0;

    sinter_text_reset(out);
    cr_assert_eq(env->io->ops->open(env->io, "db/" SINTER_CATALOG_FILE, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    for (uint64_t i = 0; i < size; i++) {
        cr_assert_eq(sinter_text_append(out, " ", 1, NULL), SINTER_OK);
    }
    range.data = out->data;
    range.size = (size_t)size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
}

static sinter_status
count_name(void *ctx, const char *name)
{
    size_t *count = ctx;
    const size_t size = strlen(name);

    *count += size > 4 && strcmp(name + size - 4, ".sst") == 0 ? 1u : 0u;
    return SINTER_OK;
}

size_t
bucket_file_count(const sinter_env *env)
{
    size_t count = 0;

    cr_assert_eq(env->io->ops->list(env->io, "db", count_name, &count, NULL), SINTER_OK);
    return count;
}

void
bucket_write(const sinter_env *env, const char *path, const char *text)
{
    cr_assert_eq(env->io->ops->replace(env->io, path, text, strlen(text), NULL), SINTER_OK);
}
