/*
 * Running a task: the document's files as a bucket, merged by the core or copied one behind the
 * other, into new files of the same bucket.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/fail.h"
#include "base/load.h"
#include "compact/path.h"
#include "compact/result.h"
#include "compact/rolling_writer.h"
#include "doc/text.h"
#include "table/bucket_source.h"
#include "table/make_dirs.h"
#include "table/record_expiry.h"
#include "table/result_doc.h"
#include "table/row_tracking.h"

/* A task while it runs. */
typedef struct task_run {
    const sinter_env *env;
    sinter_table_run_options options;
    sinter__task_doc doc;
    sinter__write_plan write;
    sinter__index_manifest index; /* the vectors of the task's files */
    sinter__record_expiry expiry;
    sinter__tracked_schema tracked; /* in tables that track rows, and its columns */
    sinter__scan_columns tracked_columns;
    sinter__bucket_files bucket;
    sinter__bucket_source *source;
    const sinter_file_meta *metas;
    size_t count;
    sinter_compact_options core;
    sinter_compact_result *result;
    sinter__manifest_entry *made;
    size_t made_count;
} task_run;

/* ---- the bucket ---- */

static sinter_status
index_path(task_run *run, const char *index_file, const char **out, sinter_error *err)
{
    sinter_text path;
    const char *local = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__local_path(index_file, &local, err));
    sinter_text_init(run->env, &path);
    if (local[0] != '/') {
        SINTER__TRY(sinter__text_puts(&path, run->doc.table->root, err));
        SINTER__TRY(sinter__text_puts(&path, "/", err));
    }
    SINTER__TRY(sinter__text_puts(&path, local, err));
    SINTER__TRY(sinter__arena_strdup(&run->index.arena, path.data, out, err));
out:
    sinter_text_fini(&path);
    return st;
}

/* One entry a vector, as an index manifest would have it. */
static sinter_status
fill_index(task_run *run, sinter_error *err)
{
    static const char type[] = "DELETION_VECTORS";
    const sinter__table_task *task = &run->doc.task;

    SINTER__CHECK(SINTER__NEW(run->env, run->index.items, task->count + 1, err));
    for (size_t i = 0; i < task->count; i++) {
        const sinter__file_vector *vector = &task->vectors[i];
        const char *path = NULL;

        if (vector->index_file == NULL) {
            continue;
        }
        SINTER__CHECK(index_path(run, vector->index_file, &path, err));
        run->index.items[run->index.count++] = (sinter__index_entry){
            .version = SINTER__INDEX_MANIFEST_VERSION,
            .partition = task->place.partition,
            .bucket = task->place.bucket,
            .has = SINTER__INDEX_HAS_VECTORS | SINTER__INDEX_HAS_EXTERNAL_PATH,
            .index_type = {(const uint8_t *)type, sizeof type - 1},
            .file_name = {(const uint8_t *)"vector", 6},
            .row_count = 1,
            .vectors = {&vector->range, 1},
            .external_path = {(const uint8_t *)path, strlen(path)}};
    }
    return SINTER_OK;
}

/* How rows are read and written: with ids in tables that track them. */
static sinter_status
prepare_columns(task_run *run, const sinter__scan_columns **out, sinter_error *err)
{
    const sinter__table_options *options = &run->doc.options.table;
    const sinter_schema *schema = run->doc.table->latest;

    *out = &run->doc.columns;
    if (options->row_tracking) {
        SINTER__CHECK(sinter__tracked_schema_init(run->env, schema, &run->tracked, err));
        schema = &run->tracked.schema;
        run->tracked_columns.arena.env = run->env;
        SINTER__CHECK(
            sinter__scan_columns_init(&run->tracked_columns, schema, options, NULL, 0, err));
        *out = &run->tracked_columns;
    }
    return sinter__write_plan_init(&run->write, schema, options, err);
}

static sinter_status
open_bucket(task_run *run, sinter_error *err)
{
    const sinter__table_task *task = &run->doc.task;
    sinter__bucket_request request = {.table = run->doc.table,
                                      .options = &run->doc.options.table,
                                      .tracks_rows = run->doc.options.table.row_tracking,
                                      .files = &run->bucket,
                                      .index = &run->index,
                                      .write = &run->write,
                                      .write_level = task->output_level};

    if (task->count > 0) {
        request.first_sequence = task->files[0]->file.min_sequence;
    }
    run->bucket = (sinter__bucket_files){.partition = task->place.partition,
                                         .bucket = task->place.bucket,
                                         .total_buckets = task->place.total_buckets,
                                         .entries = task->files,
                                         .count = task->count};
    SINTER__CHECK(fill_index(run, err));
    SINTER__CHECK(prepare_columns(run, &request.columns, err));
    if (task->has_now) {
        SINTER__CHECK(sinter__record_expiry_load(run->doc.table, request.columns, task->now_ms,
                                                 &run->expiry, err));
    }
    request.wants_values = run->expiry.is_on;
    if (strcmp(task->format, sinter__write_plan_form(&run->write, task->output_level)->name) != 0) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "the task asks for files of format %.20s, which isn't the table's",
                           task->format);
    }
    SINTER__CHECK(sinter__bucket_source_create(&request, &run->source, err));
    run->metas = sinter__bucket_source_files(run->source, &run->count);
    return SINTER_OK;
}

/* The directories that new files go into; outside of the table they may be missing. What runs that
 * were killed left there goes. */
static sinter_status
prepare_dirs(const task_run *run, sinter_error *err)
{
    const sinter__external_paths *external = sinter__bucket_source_external(run->source);
    const sinter_io_ops *ops = run->env->io->ops;
    const char *own = sinter__bucket_source_dir(run->source);
    const size_t count = external->count == 0 ? 1 : external->count;
    uint64_t removed = 0;

    for (size_t i = 0; i < count; i++) {
        const char *dir = external->count == 0 ? own : external->dirs[i];

        if (external->count > 0) {
            SINTER__CHECK(sinter__dirs_make(run->env, dir, NULL, err));
        }
        if (ops->clean != NULL) {
            SINTER__CHECK(ops->clean(run->env->io, dir, &removed, err));
        }
    }
    return SINTER_OK;
}

/* ---- tables with primary key ---- */

static sinter_status
run_keyed(task_run *run, sinter_error *err)
{
    const sinter__table_task *given = &run->doc.task;
    const sinter__external_paths *external = sinter__bucket_source_external(run->source);
    sinter_compact_task task;

    sinter_compact_task_init(&task);
    task.output_level = given->output_level;
    task.max_level = given->max_level;
    task.drop_delete = given->drop_delete;
    task.file_rewrite = given->type == SINTER__TASK_REWRITE_FILES;
    task.files = run->metas;
    task.count = run->count;
    task.base_dir = run->doc.table->root;
    task.output_dir = given->output_dir;
    task.file_prefix = given->file_prefix;
    task.format = sinter__bucket_source_format(run->source);
    task.options = &run->core;
    task.small_file_bytes = given->small_file_bytes;
    task.order =
        run->doc.columns.order == NULL ? NULL : sinter__sequence_order_get(run->doc.columns.order);
    task.is_cancelled = run->options.is_cancelled;
    task.cancel_ctx = run->options.cancel_ctx;
    task.progress = run->options.progress;
    task.progress_ctx = run->options.progress_ctx;
    task.name = given->output_dir;
    task.schema_id = given->place.schema_id;
    task.spill_dir = run->options.spill_dir;
    task.spill_space = run->options.spill_space;
    if (run->expiry.is_on) {
        task.is_expired = sinter__record_expiry_of_file;
        task.keep_record = sinter__record_expiry_keeps;
        task.expire_ctx = &run->expiry;
    }
    task.rewrites_level_0 = run->doc.options.needs_lookup &&
                            sinter__write_plan_form(&run->write, 0)->kind !=
                                sinter__write_plan_form(&run->write, given->output_level)->kind;
    task.external_dirs = external->dirs;
    task.external_dir_count = external->count;
    task.has_begin_key = given->place.range.has_begin;
    task.has_end_key = given->place.range.has_end;
    task.begin_key = given->place.range.begin;
    task.end_key = given->place.range.end;
    return sinter_compact_task_run(run->env, &task, &run->result, err);
}

/* ---- append tables ---- */

/* Copying. */
typedef struct append_run {
    task_run *run;
    sinter__rolling_writer *writer;
    sinter_merge_counters counters;
    uint64_t bytes_read;
} append_run;

/* Rows that no vector marks, as ranges. */
static sinter_status
copy_batch(append_run *append, const sinter_batch *batch, sinter_error *err)
{
    uint32_t at = 0;

    append->counters.records_in += batch->row_count;
    while (at < batch->row_count) {
        sinter_range range = {.batch = batch, .first = at};

        while (at < batch->row_count &&
               (batch->dropped == NULL || batch->dropped[at] == SINTER_DROP_KEEP)) {
            at++;
        }
        range.count = at - range.first;
        if (range.count > 0) {
            append->counters.records_out += range.count;
            SINTER__CHECK(
                sinter__rolling_writer_append(append->writer, &range, 1, append->run->result, err));
        }
        while (at < batch->row_count && batch->dropped != NULL &&
               batch->dropped[at] != SINTER_DROP_KEEP) {
            append->counters.vector++;
            at++;
        }
    }
    return SINTER_OK;
}

static sinter_status
check_cancelled(const task_run *run, sinter_error *err)
{
    return run->options.is_cancelled != NULL && run->options.is_cancelled(run->options.cancel_ctx)
               ? SINTER__ERR(err, SINTER_E_CANCELLED, "the task was cancelled")
               : SINTER_OK;
}

static sinter_status
copy_file(append_run *append, const sinter_file_meta *meta, sinter_error *err)
{
    const task_run *run = append->run;
    const sinter_format *format = sinter__bucket_source_format(run->source);
    const sinter_read_options options = {.struct_size = (uint32_t)sizeof options,
                                         .direct = run->core.direct,
                                         .expected_file_bytes = meta->file_size};
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(
        format->open_reader(format->self, run->env, meta->external_path, &options, &reader, err));
    while ((st = reader->ops->next(reader, &batch, err)) == SINTER_OK) {
        SINTER__TRY(check_cancelled(run, err));
        SINTER__TRY(copy_batch(append, batch, err));
        if (run->options.progress != NULL) {
            run->options.progress(run->options.progress_ctx, append->bytes_read,
                                  append->counters.records_in);
        }
    }
    append->bytes_read += meta->file_size;
    st = st == SINTER_END ? SINTER_OK : st;
out:
    reader->ops->close(reader);
    return st;
}

static sinter_status
copy_files(append_run *append, sinter_error *err)
{
    task_run *run = append->run;

    for (size_t i = 0; i < run->count; i++) {
        SINTER__CHECK(check_cancelled(run, err));
        SINTER__CHECK(copy_file(append, &run->metas[i], err));
        SINTER__CHECK(sinter__result_add_before(run->result, &run->metas[i], err));
        run->result->decisions[i].action = SINTER_ACTION_REWRITTEN;
        run->result->decisions[i].reason = SINTER_REASON_SMALL_NEIGHBOURS;
    }
    SINTER__CHECK(sinter__rolling_writer_finish(append->writer, run->result, err));
    return sinter__rolling_writer_sync(append->writer, err);
}

static void
count_copy(append_run *append)
{
    sinter_compact_counters *counters = &append->run->result->counters;

    counters->merge = append->counters;
    counters->bytes_read = append->bytes_read;
    counters->files_rewritten = counters->files_opened = append->run->count;
    counters->files_by_reason[SINTER_REASON_SMALL_NEIGHBOURS] = append->run->count;
    for (size_t i = 0; i < append->run->result->after.list.count; i++) {
        counters->bytes_written += append->run->result->after.list.files[i].file_size;
    }
    counters->memory_peak_bytes = sinter_memory_peak(append->run->env->memory);
}

static sinter_status
run_append(task_run *run, sinter_error *err)
{
    const sinter__table_task *task = &run->doc.task;
    const sinter__external_paths *external = sinter__bucket_source_external(run->source);
    const sinter__rolling_config config = {.format = sinter__bucket_source_format(run->source),
                                           .write = {.struct_size = (uint32_t)sizeof config.write,
                                                     .direct = run->core.direct,
                                                     .schema_id = (uint32_t)task->place.schema_id},
                                           .dir = sinter__bucket_source_dir(run->source),
                                           .meta_dir = task->output_dir,
                                           .external_dirs = external->dirs,
                                           .external_dir_count = external->count,
                                           .prefix = task->file_prefix,
                                           .target_bytes = task->target_file_bytes,
                                           .schema_id = task->place.schema_id,
                                           .file_source = SINTER_FILE_SOURCE_COMPACT};
    append_run append = {.run = run};
    const int64_t begin_ns = sinter__now_ns(run->env);
    const int64_t begin_cpu_ns = sinter__cpu_ns(run->env);
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__result_create(run->env, run->metas, run->count, &run->result, err));
    SINTER__TRY(sinter__rolling_writer_create(run->env, &config, &append.writer, err));
    SINTER__TRY(copy_files(&append, err));
    count_copy(&append);
    run->result->counters.wall_us = (sinter__now_ns(run->env) - begin_ns) / 1000;
    run->result->counters.cpu_us = (sinter__cpu_ns(run->env) - begin_cpu_ns) / 1000;
    sinter__rolling_writer_keep(append.writer);
out:
    sinter__rolling_writer_destroy(append.writer);
    if (st != SINTER_OK) {
        sinter_compact_result_destroy(run->result);
        run->result = NULL;
    }
    return st;
}

/* ---- the result ---- */

static sinter_status
collect_made(task_run *run, sinter_error *err)
{
    const sinter_file_list *after = sinter_compact_result_after(run->result);

    SINTER__CHECK(sinter__doc_room(&run->doc.arena, after->count, sizeof *run->made,
                                   (void **)&run->made, err));
    for (size_t i = 0; i < after->count; i++) {
        if (after->files[i].upgraded_from < 0) {
            SINTER__CHECK(sinter__bucket_source_new_file(run->source, &after->files[i],
                                                         &run->made[run->made_count], err));
            run->made_count++;
        }
    }
    return SINTER_OK;
}

static sinter_status
run_task(task_run *run, sinter_text *result, sinter_error *err)
{
    sinter__run_outcome outcome = {.result = NULL};
    sinter_status st = SINTER_OK;

    run->core = run->doc.options.core;
    run->core.target_file_bytes = run->doc.task.target_file_bytes;
    run->core.force_rewrite_all_files = run->doc.task.force_rewrite_all_files;
    SINTER__CHECK(open_bucket(run, err));
    SINTER__CHECK(prepare_dirs(run, err));
    SINTER__CHECK(run->doc.task.type == SINTER__TASK_APPEND ? run_append(run, err)
                                                            : run_keyed(run, err));
    st = collect_made(run, err);
    if (st == SINTER_OK) {
        outcome = (sinter__run_outcome){
            .result = run->result, .made = run->made, .made_count = run->made_count};
        st = sinter__result_doc_print(&run->doc, &outcome, result, err);
    }
    if (st != SINTER_OK) {
        /* Nobody is going to name the new files; the failure that led here is the one told. */
        const sinter_status ignored =
            sinter_compact_result_discard(run->env, run->result, run->doc.table->root, NULL);

        (void)ignored;
    }
    return st;
}

static sinter_status
check_type(const task_run *run, sinter_error *err)
{
    const bool is_append = run->doc.task.type == SINTER__TASK_APPEND;

    if (is_append == run->doc.options.has_key) {
        return SINTER__ERR(err, SINTER_E_INVALID, "the task's type doesn't go with its schema");
    }
    return SINTER_OK;
}

static void
fini(task_run *run)
{
    sinter_compact_result_destroy(run->result);
    sinter__bucket_source_destroy(run->source);
    sinter__write_plan_fini(&run->write);
    sinter__scan_columns_fini(&run->tracked_columns);
    sinter__tracked_schema_fini(&run->tracked);
    sinter__index_manifest_fini(&run->index);
    sinter__task_doc_fini(&run->doc);
}

sinter_status
sinter_table_task_run(const sinter_env *env, sinter_bytes document,
                      const sinter_table_run_options *options, sinter_text *result,
                      sinter_error *err)
{
    task_run run = {.env = env};
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && env->io != NULL);
    SINTER__REQUIRE(err, result != NULL && result->env != NULL);
    run.options = (sinter_table_run_options){.struct_size = (uint32_t)sizeof run.options};
    if (options != NULL) {
        SINTER__CHECK(sinter__struct_load(&run.options, sizeof run.options, options,
                                          "sinter_table_run_options", err));
    }
    run.write.arena.env = run.index.arena.env = env;
    st = sinter__task_doc_load(
        env, &(sinter__json_source){.name = run.options.source, .text = document},
        run.options.base_dir, &(sinter__settings){run.options.settings, run.options.setting_count},
        &run.doc, &detail);
    if (st == SINTER_OK) {
        st = check_type(&run, &detail);
    }
    if (st == SINTER_OK) {
        st = run_task(&run, result, &detail);
        if (st != SINTER_OK) {
            const sinter__run_outcome outcome = {.error = &detail};
            const sinter_status ignored =
                sinter__result_doc_print(&run.doc, &outcome, result, NULL);

            (void)ignored;
        }
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    fini(&run);
    return st;
}
