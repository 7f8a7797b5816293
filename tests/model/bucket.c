#include "model/bucket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "support/run_reader.h"

enum { RANGES = 16, PATH_BYTES = 512 };

static void
must(sinter_status st, const sinter_error *err, const char *what)
{
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s (%s, file %s)\n", what, sinter_status_name(st), err->text,
                err->file);
        abort();
    }
}

void
bucket_init(bucket *b, sinter_io *backend, const char *dir, bool is_columnar)
{
    *b = (bucket){.base = backend, .dir = dir, .is_columnar = is_columnar, .clock_ms = 1000};
    sinter_env_init(&b->env);
    count_io_init(&b->io, backend);
    b->env.io = &b->io.base;
    if (is_columnar) {
        columnar_format_init(&b->format, &b->columnar);
    } else {
        b->format = *sinter_format_sst();
    }
    b->write = (sinter_write_options){.struct_size = sizeof b->write, .codec = SINTER_CODEC_NONE};
}

/* Room for one more file. */
static bucket_file *
next_file(bucket *b)
{
    if (b->count == b->capacity) {
        b->capacity = 2 * b->capacity + 64;
        b->files = realloc(b->files, b->capacity * sizeof *b->files);
        if (b->files == NULL) {
            abort();
        }
    }
    b->files[b->count] = (bucket_file){0};
    return &b->files[b->count];
}

void
bucket_fini(bucket *b)
{
    free(b->files);
    test_pool_fini(&b->pool);
    *b = (bucket){0};
}

static const char *
bucket_path(const bucket *b, const char *name, char *out)
{
    snprintf(out, PATH_BYTES, "%s/%s", b->dir, name);
    return out;
}

/* ---- user sequences ---- */

static sinter_status
order_row(void *ctx, const sinter_batch *batch, uint32_t row,
          sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
          sinter_error *err)
{
    sinter_bytes order = {NULL, 0};
    sinter__buffer buffer = {0};
    sinter_status st = SINTER_OK;

    (void)ctx;
    if (batch->payload_ops == &columnar_payload_ops) {
        st = columnar_value(sinter_env_default(), batch->payload, row, &buffer, err);
        order = bucket_order_of((sinter_bytes){buffer.data, buffer.size});
    } else {
        order = bucket_order_of(batch->payload_ops->value(batch, row));
    }
    if (st == SINTER_OK) {
        st = put(put_ctx, order.data, order.size);
    }
    sinter__buffer_fini(sinter_env_default(), &buffer);
    return st;
}

const sinter_order bucket_order = {.struct_size = sizeof(sinter_order), .row = order_row};

/* ---- writing ---- */

static void
append_batch(sinter_writer *writer, const sinter_batch *batch)
{
    const sinter_range range = {batch, 0, batch->row_count};
    size_t taken = 0;
    uint32_t rows = 0;
    sinter_error err = SINTER_ERROR_INIT;

    must(writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &rows, &err), &err, "append");
    if (taken != 1 || rows != 0) {
        fputs("a writer stopped early\n", stderr);
        abort();
    }
}

static void
write_sst(sinter_writer *writer, const test_record *records, size_t count)
{
    sinter_batch_builder *builder = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    must(sinter_batch_builder_create(sinter_env_default(), &builder, &err), &err, "builder");
    for (size_t i = 0; i < count; i++) {
        must(sinter_batch_builder_add(builder, records[i].key, records[i].sequence, records[i].kind,
                                      records[i].value, &err),
             &err, "add");
        if (i + 1 == count || sinter_batch_builder_bytes(builder) > 1 << 16) {
            append_batch(writer, sinter_batch_builder_batch(builder));
            sinter_batch_builder_reset(builder);
        }
    }
    sinter_batch_builder_destroy(builder);
}

static void
write_columnar(const bucket *b, sinter_writer *writer, const test_record *records, size_t count)
{
    test_record *copy = calloc(count + 1, sizeof *copy);
    run_world world = {.payload = RUN_PAYLOAD_COLUMNAR,
                       .batch_rows = 50,
                       .key_width = UINT32_MAX,
                       .has_orders = !b->has_order_callback};
    test_run run = {copy, count};
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    if (copy == NULL) {
        abort();
    }
    memcpy(copy, records, count * sizeof *copy);
    must(run_reader_open(&world, &run, (uint32_t)b->names, &reader, &err), &err, "run");
    while (reader->ops->next(reader, &batch, &err) == SINTER_OK) {
        append_batch(writer, batch);
    }
    reader->ops->close(reader);
    free(copy);
}

static uint64_t
file_hash(bucket *b, const char *path, uint64_t *size_out)
{
    sinter_io_file *file = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t size = 0;
    uint64_t hash = 0;
    uint8_t *data = NULL;

    must(b->base->ops->open(b->base, path, 0, &file, &err), &err, "open");
    must(file->ops->size(file, &size, &err), &err, "size");
    data = malloc((size_t)size + 1);
    if (data == NULL) {
        abort();
    }
    if (size > 0) {
        const sinter_io_range range = {0, data, (size_t)size};

        must(file->ops->read(file, &range, 1, &err), &err, "read");
    }
    hash = sinter__hash(data, (size_t)size);
    free(data);
    file->ops->close(file);
    *size_out = size;
    return hash;
}

static void
meta_copy(bucket *b, const sinter_file_meta *from, sinter_file_meta *to)
{
    const size_t name_size = strlen(from->file_name) + 1;
    char *name = test_pool_take(&b->pool, name_size);

    memcpy(name, from->file_name, name_size);
    *to = *from;
    to->file_name = name;
    to->dir = NULL;
    to->min_key = test_pool_copy(&b->pool, from->min_key);
    to->max_key = test_pool_copy(&b->pool, from->max_key);
}

static void
records_copy(bucket *b, const test_record *records, size_t count, test_run *out)
{
    out->records = test_pool_take(&b->pool, (count + 1) * sizeof *out->records);
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        test_record *record = &out->records[i];

        *record = records[i];
        record->key = test_pool_copy(&b->pool, record->key);
        record->value = test_pool_copy(&b->pool, record->value);
        record->order = test_pool_copy(&b->pool, record->order);
        record->dropped = 0;
    }
}

void
bucket_add(bucket *b, const test_record *records, size_t count, int32_t level)
{
    bucket_file *file = next_file(b);
    sinter_file_stats stats = {.struct_size = sizeof stats};
    sinter_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    char path[PATH_BYTES];
    char name[64];

    b->count++;
    snprintf(name, sizeof name, "in-%llu%s", (unsigned long long)b->names++, b->format.extension);
    bucket_path(b, name, path);
    b->write.level = level;
    must(b->format.open_writer(b->format.self, &b->env, path, &b->write, &writer, &err), &err,
         "writer");
    if (b->is_columnar) {
        write_columnar(b, writer, records, count);
    } else {
        write_sst(writer, records, count);
    }
    must(writer->ops->finish(writer, &stats, &err), &err, "finish");
    must(b->base->ops->sync_dir(b->base, b->dir, &err), &err, "sync_dir");
    meta_copy(b,
              &(sinter_file_meta){.struct_size = sizeof(sinter_file_meta),
                                  .level = level,
                                  .file_name = name,
                                  .file_size = stats.file_size,
                                  .row_count = stats.row_count,
                                  .delete_row_count = (int64_t)stats.retract_count,
                                  .min_sequence_number = stats.sequence_min,
                                  .max_sequence_number = stats.sequence_max,
                                  .creation_time_ms = b->clock_ms,
                                  .min_key = stats.min_key,
                                  .max_key = stats.max_key,
                                  .upgraded_from = -1},
              &file->meta);
    writer->ops->close(writer);
    records_copy(b, records, count, &file->run);
    file->hash = file_hash(b, path, &stats.file_size);
}

/* ---- reading back ---- */

/* Records that grow. */
typedef struct collected {
    test_record *records;
    size_t count;
    size_t capacity;
    test_pool *pool;
    bool has_order_callback;
    bool no_values;
} collected;

static void
collect_row(collected *c, const sinter_batch *batch, uint32_t row)
{
    test_record record = {.key = sinter_batch_key(batch, row),
                          .sequence = batch->sequences[row],
                          .kind = batch->kinds[row]};
    sinter__buffer buffer = {0};

    if (c->count == c->capacity) {
        c->capacity = 2 * c->capacity + 64;
        c->records = realloc(c->records, c->capacity * sizeof *c->records);
        if (c->records == NULL) {
            abort();
        }
    }
    if (c->no_values) {
        record.value = (sinter_bytes){NULL, 0};
    } else if (batch->payload_ops == &columnar_payload_ops) {
        if (columnar_value(sinter_env_default(), batch->payload, row, &buffer, NULL) != SINTER_OK) {
            abort();
        }
        record.value = (sinter_bytes){buffer.data, buffer.size};
    } else {
        record.value = batch->payload_ops->value(batch, row);
    }
    record.key = test_pool_copy(c->pool, record.key);
    record.value = test_pool_copy(c->pool, record.value);
    if (c->has_order_callback) {
        record.order = bucket_order_of(record.value);
    } else if (batch->orders != NULL) {
        record.order = test_pool_copy(
            c->pool, (sinter_bytes){batch->orders + batch->order_offsets[row],
                                    batch->order_offsets[row + 1] - batch->order_offsets[row]});
    }
    c->records[c->count++] = record;
    sinter__buffer_fini(sinter_env_default(), &buffer);
}

static sinter_status
read_file(bucket *b, const char *path, collected *out, sinter_error *err)
{
    const sinter_read_options options = {.struct_size = sizeof options};
    sinter_reader *reader = NULL;
    sinter_status st = b->format.open_reader(b->format.self, &b->env, path, &options, &reader, err);

    while (st == SINTER_OK) {
        const sinter_batch *batch = NULL;

        st = reader->ops->next(reader, &batch, err);
        for (uint32_t row = 0; st == SINTER_OK && row < batch->row_count; row++) {
            collect_row(out, batch, row);
        }
    }
    if (reader != NULL) {
        reader->ops->close(reader);
    }
    return st == SINTER_END ? SINTER_OK : st;
}

sinter_status
bucket_read(bucket *b, const char *name, test_run *out, sinter_error *err)
{
    collected rows = {.pool = &b->pool, .has_order_callback = b->has_order_callback};
    char path[PATH_BYTES];
    const sinter_status st = read_file(b, bucket_path(b, name, path), &rows, err);

    records_copy(b, rows.records, rows.count, out);
    free(rows.records);
    return st;
}

/* What the records say a file's metadata has to be. */
static bool
meta_fits(const sinter_file_meta *meta, const test_run *run, uint64_t size, char *text)
{
    int64_t retracts = 0;
    int64_t low = INT64_MAX;
    int64_t high = INT64_MIN;
    const char *wrong = NULL;

    for (size_t i = 0; i < run->count; i++) {
        const test_record *record = &run->records[i];

        retracts += sinter_kind_is_retract(record->kind) ? 1 : 0;
        low = record->sequence < low ? record->sequence : low;
        high = record->sequence > high ? record->sequence : high;
        if (i > 0 && test_bytes_compare(run->records[i - 1].key, record->key) >= 0) {
            wrong = "keys that don't ascend";
        }
    }
    if (run->count == 0) {
        wrong = "no rows";
    } else if (meta->row_count != run->count) {
        wrong = "another row count";
    } else if (meta->delete_row_count != retracts) {
        wrong = "another delete count";
    } else if (meta->min_sequence_number != low || meta->max_sequence_number != high) {
        wrong = "other sequences";
    } else if (!test_bytes_equal(meta->min_key, run->records[0].key) ||
               !test_bytes_equal(meta->max_key, run->records[run->count - 1].key)) {
        wrong = "other bounds";
    } else if (meta->file_size != size) {
        wrong = "another size";
    }
    if (wrong != NULL) {
        snprintf(text, BUCKET_TEXT_BYTES, "file %s has %s", meta->file_name, wrong);
    }
    return wrong == NULL;
}

static size_t
find_file(const bucket *b, const char *name)
{
    size_t at = 0;

    while (at < b->count && strcmp(b->files[at].meta.file_name, name) != 0) {
        at++;
    }
    return at;
}

static bool
add_after(bucket *b, const sinter_file_meta *meta, char *text)
{
    bucket_file *file = next_file(b);
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t size = 0;
    char path[PATH_BYTES];

    meta_copy(b, meta, &file->meta);
    file->meta.upgraded_from = -1;
    if (bucket_read(b, meta->file_name, &file->run, &err) != SINTER_OK) {
        snprintf(text, BUCKET_TEXT_BYTES, "new file %.100s can't be read: %.300s", meta->file_name,
                 err.text);
        return false;
    }
    file->hash = file_hash(b, bucket_path(b, meta->file_name, path), &size);
    b->count++;
    return meta_fits(&file->meta, &file->run, size, text);
}

bool
bucket_apply(bucket *b, const sinter_compact_result *result, char *text_out)
{
    const sinter_file_list *before = sinter_compact_result_before(result);
    const sinter_file_list *after = sinter_compact_result_after(result);
    char path[PATH_BYTES];

    for (size_t i = 0; i < before->count; i++) {
        const size_t at = find_file(b, before->files[i].file_name);

        if (at == b->count || b->files[at].meta.level != before->files[i].level) {
            snprintf(text_out, BUCKET_TEXT_BYTES, "before names %s, which isn't there",
                     before->files[i].file_name);
            return false;
        }
        b->files[at] = b->files[--b->count];
    }
    for (size_t i = 0; i < after->count; i++) {
        if (find_file(b, after->files[i].file_name) != b->count) {
            snprintf(text_out, BUCKET_TEXT_BYTES, "after names %s, which is there",
                     after->files[i].file_name);
            return false;
        }
        if (!add_after(b, &after->files[i], text_out)) {
            return false;
        }
    }
    for (size_t i = 0; i < before->count; i++) {
        sinter_error err = SINTER_ERROR_INIT;

        if (find_file(b, before->files[i].file_name) == b->count) {
            bucket_path(b, before->files[i].file_name, path);
            must(b->base->ops->unlink(b->base, path, &err), &err, "unlink");
        }
    }
    return true;
}

static sinter_status
count_name(void *ctx, const char *name)
{
    const size_t size = strlen(name);

    *(size_t *)ctx += size > 5 && strcmp(name + size - 5, ".lock") == 0 ? 0 : 1;
    return SINTER_OK;
}

size_t
bucket_count_names(sinter_io *io, const char *dir)
{
    sinter_error err = SINTER_ERROR_INIT;
    size_t names = 0;

    must(io->ops->list(io, dir, count_name, &names, &err), &err, "list");
    return names;
}

bool
bucket_is_intact(bucket *b, char *text_out)
{
    const size_t names = bucket_count_names(b->base, b->dir);
    char path[PATH_BYTES];

    for (size_t i = 0; i < b->count; i++) {
        uint64_t size = 0;

        bucket_path(b, b->files[i].meta.file_name, path);
        if (file_hash(b, path, &size) != b->files[i].hash) {
            snprintf(text_out, BUCKET_TEXT_BYTES, "file %s was changed",
                     b->files[i].meta.file_name);
            return false;
        }
    }
    if (names != b->count) {
        snprintf(text_out, BUCKET_TEXT_BYTES, "%zu names in the directory instead of %zu", names,
                 b->count);
        return false;
    }
    return true;
}

/* Names of a directory, one behind the other, each with its zero. */
static sinter_status
note_name(void *ctx, const char *name)
{
    sinter__buffer *names = ctx;

    return sinter__buffer_append(sinter_env_default(), names, name, strlen(name) + 1, NULL);
}

void
bucket_remove_files(bucket *b)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter__buffer names = {0};
    char path[PATH_BYTES];

    must(b->base->ops->list(b->base, b->dir, note_name, &names, &err), &err, "list");
    for (size_t at = 0; at < names.size;) {
        const char *name = (const char *)names.data + at;

        b->base->ops->unlink(b->base, bucket_path(b, name, path), NULL);
        at += strlen(name) + 1;
    }
    sinter__buffer_fini(sinter_env_default(), &names);
}

/* ---- ages and views ---- */

/* Source: spec/compaction.md 1, "age of files": is `a` older than `b`? */
static bool
is_older(const sinter_file_meta *a, const sinter_file_meta *b)
{
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->creation_time_ms != b->creation_time_ms) {
        return a->creation_time_ms < b->creation_time_ms;
    }
    if (a->max_sequence_number != b->max_sequence_number) {
        return a->max_sequence_number < b->max_sequence_number;
    }
    if (a->min_sequence_number != b->min_sequence_number) {
        return a->min_sequence_number < b->min_sequence_number;
    }
    return strcmp(a->file_name, b->file_name) < 0;
}

uint32_t
bucket_age(const bucket *b, size_t position)
{
    uint32_t age = 0;

    for (size_t i = 0; i < b->count; i++) {
        age += is_older(&b->files[i].meta, &b->files[position].meta) ? 1 : 0;
    }
    return age;
}

void
bucket_runs(const bucket *b, const size_t *positions, size_t count, test_runs *out)
{
    const size_t run_count = positions == NULL ? b->count : count;

    *out = (test_runs){.count = run_count, .key_width = UINT32_MAX};
    out->has_orders = b->has_order_callback || b->is_columnar;
    out->items = test_pool_take(&out->pool, (run_count + 1) * sizeof *out->items);
    for (size_t i = 0; i < run_count; i++) {
        const bucket_file *file = &b->files[positions == NULL ? i : positions[i]];
        const uint32_t origin = bucket_age(b, positions == NULL ? i : positions[i]);

        out->items[i].count = file->run.count;
        out->items[i].records =
            test_pool_take(&out->pool, (file->run.count + 1) * sizeof(test_record));
        for (size_t r = 0; r < file->run.count; r++) {
            out->items[i].records[r] = file->run.records[r];
            out->items[i].records[r].origin = origin;
        }
    }
}

/* Is the record inside the view's range? */
static bool
is_in_range(const sinter_view_options *options, sinter_bytes key)
{
    return (!options->has_begin_key || test_bytes_compare(key, options->begin_key) >= 0) &&
           (!options->has_end_key || test_bytes_compare(key, options->end_key) < 0);
}

static bool
rows_match(const collected *rows, const model_result *model, const sinter_view_options *options,
           char *text)
{
    size_t at = 0;

    for (size_t i = 0; i < model->count; i++) {
        const test_record *wanted = model->records[i];

        if (!is_in_range(options, wanted->key)) {
            continue;
        }
        if (at == rows->count || !test_bytes_equal(rows->records[at].key, wanted->key) ||
            rows->records[at].sequence != wanted->sequence ||
            rows->records[at].kind != wanted->kind ||
            (!options->keys_only && !test_bytes_equal(rows->records[at].value, wanted->value))) {
            snprintf(text, BUCKET_TEXT_BYTES, "row %zu of %zu differs from row %zu of the model's",
                     at, rows->count, i);
            return false;
        }
        at++;
    }
    if (at != rows->count) {
        snprintf(text, BUCKET_TEXT_BYTES, "%zu rows instead of %zu", rows->count, at);
        return false;
    }
    return true;
}

static sinter_status
read_view(bucket *b, const sinter_compact_options *options, const sinter_view_options *view_options,
          collected *rows, sinter_error *err)
{
    sinter_file_meta *metas = calloc(b->count + 1, sizeof *metas);
    const sinter_view_source source = {.struct_size = sizeof source,
                                       .format = &b->format,
                                       .base_dir = b->dir,
                                       .files = metas,
                                       .count = b->count,
                                       .options = options,
                                       .order = b->has_order_callback ? &bucket_order : NULL};
    sinter_view *view = NULL;
    sinter_status st = SINTER_OK;

    for (size_t i = 0; metas != NULL && i < b->count; i++) {
        metas[i] = b->files[i].meta;
    }
    st = sinter_view_open(&b->env, &source, view_options, &view, err);
    while (st == SINTER_OK) {
        sinter_range ranges[RANGES];
        size_t count = 0;

        st = sinter_view_next(view, ranges, RANGES, &count, err);
        for (size_t i = 0; st == SINTER_OK && i < count; i++) {
            for (uint32_t row = 0; row < ranges[i].count; row++) {
                collect_row(rows, ranges[i].batch, ranges[i].first + row);
            }
        }
    }
    sinter_view_close(view);
    free(metas);
    return st == SINTER_END ? SINTER_OK : st;
}

bool
bucket_view_matches(bucket *b, const sinter_compact_options *options, const model_result *model,
                    const sinter_view_options *view_options, char *text_out)
{
    static const sinter_view_options everything = {.struct_size = sizeof everything};
    test_pool pool = {0};
    collected rows = {.pool = &pool, .has_order_callback = b->has_order_callback};
    sinter_error err = SINTER_ERROR_INIT;
    bool is_good = true;
    sinter_status st = SINTER_OK;

    view_options = view_options == NULL ? &everything : view_options;
    rows.no_values = view_options->keys_only;
    st = read_view(b, options, view_options, &rows, &err);
    if (st != model->status) {
        snprintf(text_out, BUCKET_TEXT_BYTES, "view: %s (%.300s) instead of %s",
                 sinter_status_name(st), err.text, sinter_status_name(model->status));
        is_good = false;
    } else if (st == SINTER_OK) {
        is_good = rows_match(&rows, model, view_options, text_out);
    }
    free(rows.records);
    test_pool_fini(&pool);
    return is_good;
}
