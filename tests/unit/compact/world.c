#include "world.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "compact/age.h"
#include "support/run_reader.h"

const char *const world_dir = "bucket";

static int64_t
tick_ms(void *ctx)
{
    world *w = ctx;

    return ++w->now_ms;
}

void
world_init(world *w, bool is_columnar, const sinter_allocator *allocator)
{
    *w = (world){.is_columnar = is_columnar, .now_ms = 1000};
    w->written.key_width = UINT32_MAX;
    w->env = *sinter_env_default();
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &w->io, NULL),
                 SINTER_OK);
    w->env.io = w->io;
    w->env.clock.ctx = w;
    w->env.clock.wall_ms = tick_ms;
    if (allocator != NULL) {
        w->env.allocator = *allocator;
    }
    cr_assert_eq(w->io->ops->mkdir(w->io, world_dir, NULL), SINTER_OK);
    w->columnar.block_rows = 7;
    if (is_columnar) {
        columnar_format_init(&w->format, &w->columnar);
    } else {
        w->format = *sinter_format_sst();
    }
    w->write.struct_size = sizeof w->write;
    sinter_compact_options_init(&w->options);
}

void
world_fini(world *w)
{
    sinter_io_destroy(w->io);
    test_runs_fini(&w->written);
    test_pool_fini(&w->pool);
    free(w->files);
}

static const char *
pool_text(test_pool *pool, const char *text)
{
    char *copy = NULL;

    if (text == NULL) {
        return NULL;
    }
    copy = test_pool_take(pool, strlen(text) + 1);
    memcpy(copy, text, strlen(text) + 1);
    return copy;
}

static void
add_meta(world *w, const sinter_file_meta *file)
{
    sinter_file_meta *copy = NULL;

    if (w->count == w->capacity) {
        w->capacity = 2 * w->capacity + 16;
        w->files = realloc(w->files, w->capacity * sizeof *w->files);
        cr_assert_not_null(w->files);
    }
    copy = &w->files[w->count++];
    *copy = *file;
    copy->file_name = pool_text(&w->pool, file->file_name);
    copy->dir = pool_text(&w->pool, file->dir);
    copy->min_key = test_pool_copy(&w->pool, file->min_key);
    copy->max_key = test_pool_copy(&w->pool, file->max_key);
    copy->upgraded_from = -1;
}

/* Feed a run to the format's writer through a reader over memory. */
static void
write_file(world *w, const test_run *run, const char *path, sinter_file_stats *stats,
           sinter_writer **writer_out)
{
    run_world source = {.payload = w->is_columnar ? RUN_PAYLOAD_COLUMNAR : RUN_PAYLOAD_BYTES,
                        .key_width = UINT32_MAX};
    sinter_reader *reader = NULL;
    sinter_writer *writer = NULL;
    const sinter_batch *batch = NULL;

    cr_assert_eq(run_reader_open(&source, run, 0, &reader, NULL), SINTER_OK);
    cr_assert_eq(w->format.open_writer(w->format.self, &w->env, path, &w->write, &writer, NULL),
                 SINTER_OK);
    while (reader->ops->next(reader, &batch, NULL) == SINTER_OK) {
        const sinter_range range = {.batch = batch, .first = 0, .count = batch->row_count};
        size_t taken = 0;
        uint32_t rows = 0;

        cr_assert_eq(writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &rows, NULL),
                     SINTER_OK);
        cr_assert_eq(taken, 1);
    }
    cr_assert_eq(writer->ops->finish(writer, stats, NULL), SINTER_OK);
    reader->ops->close(reader);
    *writer_out = writer;
}

size_t
world_add(world *w, int32_t level, const test_record *records, size_t count)
{
    char name[32];
    char path[64];
    sinter_file_stats stats = {.struct_size = sizeof stats};
    sinter_writer *writer = NULL;
    sinter_file_meta file = {.struct_size = sizeof file, .level = level, .upgraded_from = -1};

    (void)snprintf(name, sizeof name, "in-%03u%s", w->names, w->format.extension);
    (void)snprintf(path, sizeof path, "%s/%s", world_dir, name);
    test_runs_add(&w->written, records, count);
    for (size_t i = 0; i < count; i++) {
        w->written.items[w->written.count - 1].records[i].origin = w->names;
    }
    w->names++;
    write_file(w, &w->written.items[w->written.count - 1], path, &stats, &writer);
    file.file_name = name;
    file.file_size = stats.file_size;
    file.row_count = stats.row_count;
    file.delete_row_count = (int64_t)stats.retract_count;
    file.min_sequence_number = stats.sequence_min;
    file.max_sequence_number = stats.sequence_max;
    file.creation_time_ms = stats.creation_time_ms != 0 ? stats.creation_time_ms : ++w->now_ms;
    file.min_key = stats.min_key;
    file.max_key = stats.max_key;
    add_meta(w, &file);
    writer->ops->close(writer);
    return w->count - 1;
}

size_t
world_add_rows(world *w, int32_t level, unsigned first, unsigned step, unsigned count,
               int64_t sequence, size_t bytes)
{
    test_record *records = calloc(count, sizeof *records);
    size_t place = 0;

    cr_assert_not_null(records);
    for (unsigned i = 0; i < count; i++) {
        char key[16];
        uint8_t *value = test_pool_take(&w->pool, bytes);
        test_rng rng = {(uint64_t)sequence * 1000003 + i};

        (void)snprintf(key, sizeof key, "%08u", first + i * step);
        for (size_t b = 0; b < bytes; b++) {
            value[b] = (uint8_t)test_rng_next(&rng);
        }
        records[i] = (test_record){.key = test_pool_copy(&w->pool, test_text(key)),
                                   .value = {value, bytes},
                                   .sequence = sequence + i,
                                   .kind = SINTER_KIND_INSERT};
    }
    place = world_add(w, level, records, count);
    free(records);
    return place;
}

test_record
world_record(const char *key, int64_t sequence, const char *value)
{
    return (test_record){.key = test_text(key),
                         .value = test_text(value),
                         .sequence = sequence,
                         .kind = SINTER_KIND_INSERT};
}

test_record
world_delete(const char *key, int64_t sequence)
{
    return (test_record){.key = test_text(key), .sequence = sequence, .kind = SINTER_KIND_DELETE};
}

void
world_task(world *w, const size_t *unit, size_t unit_count, sinter_file_meta *unit_out,
           sinter_compact_task *task)
{
    const size_t count = unit == NULL ? w->count : unit_count;

    for (size_t i = 0; i < count; i++) {
        unit_out[i] = w->files[unit == NULL ? i : unit[i]];
    }
    sinter_compact_task_init(task);
    task->files = unit_out;
    task->count = count;
    task->base_dir = world_dir;
    task->format = &w->format;
    task->options = &w->options;
}

void
world_apply(world *w, const sinter_compact_result *result)
{
    const sinter_file_list *before = sinter_compact_result_before(result);
    const sinter_file_list *after = sinter_compact_result_after(result);

    for (size_t i = 0; i < before->count; i++) {
        size_t kept = 0;
        const size_t count = w->count;

        for (size_t j = 0; j < count; j++) {
            if (strcmp(w->files[j].file_name, before->files[i].file_name) != 0) {
                w->files[kept++] = w->files[j];
            }
        }
        cr_assert_eq(kept, count - 1, "%s was retired and isn't there", before->files[i].file_name);
        w->count = kept;
    }
    for (size_t i = 0; i < after->count; i++) {
        add_meta(w, &after->files[i]);
    }
}

sinter_status
world_run(world *w, const sinter_compact_task *task, sinter_compact_result **out, sinter_error *err)
{
    return sinter_compact_task_run(&w->env, task, out, err);
}

/* Retired files, but for upgraded ones, leave the disk. */
static void
remove_retired(world *w, const sinter_compact_result *result)
{
    size_t count = 0;
    const sinter_file_decision *decisions = sinter_compact_result_decisions(result, &count);

    for (size_t i = 0; i < count; i++) {
        char path[128];

        if (decisions[i].action == SINTER_ACTION_REWRITTEN && decisions[i].file->row_count > 0) {
            (void)snprintf(path, sizeof path, "%s/%s", world_dir, decisions[i].file->file_name);
            cr_assert_eq(w->io->ops->unlink(w->io, path, NULL), SINTER_OK, "%s", path);
        }
    }
}

sinter_status
world_compact(world *w, const sinter_compact_task *task, sinter_error *err)
{
    sinter_compact_result *result = NULL;
    const sinter_status st = world_run(w, task, &result, err);

    if (st == SINTER_OK) {
        world_apply(w, result);
        remove_retired(w, result);
    }
    sinter_compact_result_destroy(result);
    return st;
}

static void
add_row(world_rows *out, const sinter_batch *batch, uint32_t row)
{
    const sinter_env *env = sinter_env_default();
    sinter__buffer buffer = {0};
    sinter_bytes value = {NULL, 0};

    if (out->count == out->capacity) {
        out->capacity = 2 * out->capacity + 64;
        out->records = realloc(out->records, out->capacity * sizeof *out->records);
        cr_assert_not_null(out->records);
    }
    if (batch->payload_ops == &columnar_payload_ops) {
        cr_assert_eq(columnar_value(env, batch->payload, row, &buffer, NULL), SINTER_OK);
        value = (sinter_bytes){buffer.data, buffer.size};
    } else {
        value = batch->payload_ops->value(batch, row);
    }
    out->records[out->count++] =
        (test_record){.key = test_pool_copy(&out->pool, sinter_batch_key(batch, row)),
                      .value = test_pool_copy(&out->pool, value),
                      .sequence = batch->sequences[row],
                      .kind = batch->kinds[row]};
    sinter__buffer_fini(env, &buffer);
}

void
world_read(world *w, const sinter_view_options *options, world_rows *out)
{
    const sinter_view_source source = {.struct_size = sizeof source,
                                       .format = &w->format,
                                       .base_dir = world_dir,
                                       .files = w->files,
                                       .count = w->count,
                                       .options = &w->options};
    sinter_view *view = NULL;
    sinter_range ranges[8];
    size_t count = 0;

    *out = (world_rows){.err = SINTER_ERROR_INIT};
    out->status = sinter_view_open(&w->env, &source, options, &view, &out->err);
    while (out->status == SINTER_OK) {
        out->status = sinter_view_next(view, ranges, 8, &count, &out->err);
        for (size_t i = 0; out->status == SINTER_OK && i < count; i++) {
            for (uint32_t row = 0; row < ranges[i].count; row++) {
                add_row(out, ranges[i].batch, ranges[i].first + row);
            }
        }
    }
    if (out->status == SINTER_END) {
        cr_assert_eq(sinter_view_next(view, ranges, 8, &count, NULL), SINTER_END);
        out->status = SINTER_OK;
    }
    sinter_view_close(view);
}

void
world_rows_fini(world_rows *rows)
{
    free(rows->records);
    test_pool_fini(&rows->pool);
}

void
world_expect_model(world *w, const model_rules *rules, const char *when)
{
    model_result model;
    world_rows rows;

    model_merge(&w->written, rules, &model);
    world_read(w, NULL, &rows);
    cr_assert_eq(rows.status, model.status, "%s: %s: %s", when, sinter_status_name(rows.status),
                 rows.err.text);
    if (model.status == SINTER_OK) {
        cr_assert_eq(rows.count, model.count, "%s: %zu rows instead of %zu", when, rows.count,
                     model.count);
        for (size_t i = 0; i < rows.count; i++) {
            const test_record *got = &rows.records[i];
            const test_record *want = model.records[i];

            cr_assert(test_bytes_equal(got->key, want->key) &&
                          test_bytes_equal(got->value, want->value) &&
                          got->sequence == want->sequence && got->kind == want->kind,
                      "%s: row %zu differs", when, i);
        }
    }
    world_rows_fini(&rows);
    model_result_fini(&model);
}

const char *
world_text(world *w)
{
    static char text[4096];
    world_rows rows;

    world_read(w, NULL, &rows);
    cr_assert_eq(rows.status, SINTER_OK, "%s", rows.err.text);
    text[0] = '\0';
    for (size_t i = 0; i < rows.count; i++) {
        const test_record *r = &rows.records[i];

        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s=%.*s ",
                       (int)r->key.size, (const char *)r->key.data, (int)r->value.size,
                       (const char *)r->value.data);
    }
    world_rows_fini(&rows);
    return text;
}

static sinter_status
count_name(void *ctx, const char *name)
{
    (void)name;
    (*(size_t *)ctx)++;
    return SINTER_OK;
}

size_t
world_name_count(world *w)
{
    size_t count = 0;

    cr_assert_eq(w->io->ops->list(w->io, world_dir, count_name, &count, NULL), SINTER_OK);
    return count;
}

sinter_bytes
world_content(world *w, const char *name)
{
    char path[128];
    sinter_io_file *file = NULL;
    uint64_t size = 0;
    sinter_io_range range = {.offset = 0};

    (void)snprintf(path, sizeof path, "%s/%s", world_dir, name);
    cr_assert_eq(w->io->ops->open(w->io, path, 0, &file, NULL), SINTER_OK, "%s", path);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    range.size = (size_t)size;
    range.data = test_pool_take(&w->pool, range.size);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    return (sinter_bytes){range.data, range.size};
}
