/*
 * Plans of a table: what each bucket of the newest snapshot needs, as tasks.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/env.h"
#include "base/fail.h"
#include "base/load.h"
#include "base/uuid.h"
#include "doc/files_doc.h"
#include "doc/text.h"
#include "table/commit_index.h"
#include "table/numbered.h"
#include "table/plan_priv.h"

struct sinter_table_plan {
    sinter__arena arena; /* of what the tasks have */
    sinter_table_task_info *tasks;
    size_t count;
    sinter_text *schemas; /* contents of schema files, by the position in `schema_ids` */
    int64_t *schema_ids;
    size_t schema_count;
};

/* ---- schemas ---- */

/* Position of a schema's content, which is read when it is asked for first. */
static sinter_status
find_schema(const sinter__planner *self, int64_t id, size_t *out, sinter_error *err)
{
    sinter_table_plan *plan = self->plan;
    const sinter_env *env = self->table->env;
    sinter_text dir;
    sinter_text path;
    sinter_status st = SINTER_OK;

    for (*out = 0; *out < plan->schema_count; (*out)++) {
        if (plan->schema_ids[*out] == id) {
            return SINTER_OK;
        }
    }
    sinter_text_init(env, &dir);
    sinter_text_init(env, &path);
    SINTER__TRY(sinter__resize(env, (void **)&plan->schemas, *out + 1, sizeof *plan->schemas, err));
    SINTER__TRY(
        sinter__resize(env, (void **)&plan->schema_ids, *out + 1, sizeof *plan->schema_ids, err));
    SINTER__TRY(sinter__table_dir(self->table, "schema", &dir, err));
    SINTER__TRY(sinter__number_path(&(sinter__numbered){env, dir.data, "schema-"}, id, &path, err));
    sinter_text_init(env, &plan->schemas[*out]);
    plan->schema_ids[*out] = id;
    plan->schema_count++;
    SINTER__TRY(sinter__doc_read_file(env, path.data, &plan->schemas[*out], err));
out:
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

/* Contents of the newest schema and of those that the files have, the newest first. */
static sinter_status
collect_schemas(const sinter__planner *self, const sinter__task_draft *draft, sinter__arena *arena,
                sinter_bytes **out, size_t *count_out, sinter_error *err)
{
    const int64_t newest = self->columns.schema->id;
    size_t *positions = NULL;
    size_t count = 0;

    SINTER__CHECK(
        sinter__doc_room(arena, draft->count + 1, sizeof *positions, (void **)&positions, err));
    for (size_t i = 0; i <= draft->count; i++) {
        const int64_t id = i == 0 ? newest : draft->files[i - 1]->file.schema_id;
        size_t position = 0;
        size_t k = 0;

        SINTER__CHECK(find_schema(self, id, &position, err));
        while (k < count && positions[k] != position) {
            k++;
        }
        positions[count] = position;
        count += k == count ? 1 : 0;
    }
    SINTER__CHECK(sinter__doc_room(arena, count, sizeof **out, (void **)out, err));
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = sinter_text_bytes(&self->plan->schemas[positions[i]]);
    }
    *count_out = count;
    return SINTER_OK;
}

/* ---- vectors ---- */

static int
compare_vectors(const void *a, const void *b)
{
    return sinter__key_compare(((const sinter__found_vector *)a)->data_file,
                               ((const sinter__found_vector *)b)->data_file);
}

static sinter_status
collect_vectors(sinter__planner *self, sinter_error *err)
{
    const sinter__index_manifest *index = &self->index;
    size_t count = 0;

    for (size_t i = 0; i < index->count; i++) {
        count += index->items[i].vectors.count;
    }
    SINTER__CHECK(
        sinter__doc_room(&self->arena, count, sizeof *self->vectors, (void **)&self->vectors, err));
    for (size_t i = 0; i < index->count; i++) {
        const sinter__index_entry *entry = &index->items[i];

        for (size_t k = 0; k < entry->vectors.count; k++) {
            const sinter__vector_range *range = &entry->vectors.items[k];

            self->vectors[self->vector_count++] =
                (sinter__found_vector){range->data_file, range, entry};
        }
    }
    if (self->vector_count > 1) {
        qsort(self->vectors, self->vector_count, sizeof *self->vectors, compare_vectors);
    }
    return SINTER_OK;
}

const sinter__found_vector *
sinter__planner_vector(const sinter__planner *self, sinter_bytes data_file)
{
    const sinter__found_vector key = {.data_file = data_file};

    return self->vector_count == 0 ? NULL
                                   : bsearch(&key, self->vectors, self->vector_count,
                                             sizeof *self->vectors, compare_vectors);
}

static sinter_status
put_index_path(const sinter__planner *self, const sinter__index_entry *entry, const char *dir,
               sinter_text *out, sinter_error *err)
{
    if ((entry->has & SINTER__INDEX_HAS_EXTERNAL_PATH) != 0) {
        return sinter_text_append(out, entry->external_path.data, entry->external_path.size, err);
    }
    SINTER__CHECK(
        sinter__text_puts(out, self->compaction.table.index_in_data_dir ? dir : "index", err));
    SINTER__CHECK(sinter__text_puts(out, "/", err));
    return sinter_text_append(out, entry->file_name.data, entry->file_name.size, err);
}

static sinter_status
fill_vectors(const sinter__planner *self, const sinter__task_draft *draft, const char *dir,
             sinter__arena *arena, sinter__file_vector *vectors, sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->table->env, &path);
    for (size_t i = 0; i < draft->count; i++) {
        const sinter__found_vector *found =
            sinter__planner_vector(self, draft->files[i]->file.file_name);

        if (found != NULL) {
            sinter_text_reset(&path);
            SINTER__TRY(put_index_path(self, found->entry, dir, &path, err));
            SINTER__TRY(sinter__arena_strdup(arena, path.data, &vectors[i].index_file, err));
            vectors[i].range = *found->range;
        }
    }
out:
    sinter_text_fini(&path);
    return st;
}

/* ---- tasks ---- */

/* The bucket's directory below the table's, and the partition's text. */
static sinter_status
name_places(const sinter__planner *self, const sinter__task_draft *draft, const char **dir_out,
            const char **partition_out, sinter_error *err)
{
    const sinter__table_options *options = &self->compaction.table;
    sinter__arena *arena = &self->plan->arena;
    sinter_text text;
    sinter_text partition;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->table->env, &text);
    sinter_text_init(self->table->env, &partition);
    SINTER__TRY(sinter__text_puts(&partition, "", err));
    SINTER__TRY(sinter__partition_text(&self->columns, &options->partition_names,
                                       draft->bucket->partition, &partition, err));
    SINTER__TRY(sinter__arena_strdup(arena, partition.data, partition_out, err));
    SINTER__TRY(sinter__bucket_dir(&self->columns, options, draft->bucket->partition,
                                   draft->bucket->bucket, &text, err));
    SINTER__TRY(sinter__arena_strdup(arena, text.data, dir_out, err));
out:
    sinter_text_fini(&partition);
    sinter_text_fini(&text);
    return st;
}

static sinter_status
fill_info(sinter__planner *self, const sinter__table_task *task, const char *partition,
          sinter_bytes document, sinter_error *err)
{
    sinter_table_plan *plan = self->plan;
    sinter_table_task_info info = {.struct_size = (uint32_t)sizeof info,
                                   .bucket = task->place.bucket,
                                   .output_level = task->output_level,
                                   .partition = partition,
                                   .file_count = task->count};
    const char *text = NULL;

    for (size_t i = 0; i < task->count; i++) {
        info.bytes += (uint64_t)task->files[i]->file.file_size;
        info.records += (uint64_t)task->files[i]->file.row_count;
    }
    SINTER__CHECK(sinter__arena_strdup(&plan->arena, task->reason, &info.reason, err));
    SINTER__CHECK(sinter__arena_strdup(&plan->arena, task->reason_text, &info.reason_text, err));
    SINTER__CHECK(sinter__arena_strdup(&plan->arena, (const char *)document.data, &text, err));
    info.document = (sinter_bytes){(const uint8_t *)text, document.size};
    SINTER__CHECK(sinter__resize(plan->arena.env, (void **)&plan->tasks, plan->count + 1,
                                 sizeof *plan->tasks, err));
    plan->tasks[plan->count++] = info;
    return SINTER_OK;
}

static void
fill_task(sinter__planner *self, const sinter__task_draft *draft, sinter__table_task *task)
{
    const sinter_compact_options *core = &self->compaction.core;

    task->place.base_dir = self->table->root;
    task->place.branch = self->table->branch;
    task->place.schema_id = self->columns.schema->id;
    task->place.snapshot_id = self->snapshot_id;
    task->place.partition = draft->bucket->partition;
    task->place.bucket = draft->bucket->bucket;
    task->place.total_buckets = draft->bucket->total_buckets;
    task->place.user = self->user;
    task->place.identifier = draft->unit_id != NULL ? draft->identifier : self->identifier++;
    task->place.range = draft->range;
    task->has_now = self->expiry.is_on;
    task->now_ms = self->now_ms;
    task->type = draft->type;
    task->drop_delete = draft->drop_delete;
    task->force_rewrite_all_files = core->force_rewrite_all_files;
    task->output_level = draft->output_level;
    task->max_level = draft->max_level;
    task->small_file_bytes = sinter_compact_small_file_bytes(core);
    task->target_file_bytes = core->target_file_bytes;
    task->file_prefix = self->compaction.file_prefix;
    task->format = sinter__write_plan_form(&self->write, draft->output_level)->name;
    task->engine = sinter__merge_engine_name(self->compaction.table.merge_engine);
    task->settings = self->options.settings;
    task->setting_count = self->options.setting_count;
    task->files = draft->files;
    task->count = draft->count;
    task->reason = draft->reason;
    task->reason_text = draft->reason_text;
}

bool
sinter__planner_is_full(const sinter__planner *self)
{
    return self->options.task_max > 0 && self->plan->count >= self->options.task_max;
}

sinter_status
sinter__planner_add(sinter__planner *self, const sinter__task_draft *draft, sinter_error *err)
{
    const sinter_env *env = self->table->env;
    const sinter__doc_table table = {env, self->columns.schema, &self->columns};
    sinter__arena arena = {.env = env};
    sinter__table_task task = {.count = 0};
    sinter__file_vector *vectors = NULL;
    sinter_bytes *schemas = NULL;
    size_t schema_count = 0;
    const char *partition = NULL;
    char id[SINTER__UUID_CHARS + 1];
    sinter_text text;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &text);
    if (draft->unit_id == NULL) {
        SINTER__TRY(sinter__uuid(env, (uint64_t)sinter__now_ns(env) + self->plan->count, id, err));
    }
    fill_task(self, draft, &task);
    task.place.task_id = draft->unit_id != NULL ? draft->unit_id : id;
    SINTER__TRY(name_places(self, draft, &task.output_dir, &partition, err));
    SINTER__TRY(sinter__doc_room(&arena, draft->count, sizeof *vectors, (void **)&vectors, err));
    SINTER__TRY(fill_vectors(self, draft, task.output_dir, &arena, vectors, err));
    task.vectors = vectors;
    SINTER__TRY(collect_schemas(self, draft, &arena, &schemas, &schema_count, err));
    SINTER__TRY(sinter__task_doc_print(&table, &task, schemas, schema_count, &text, err));
    SINTER__TRY(fill_info(self, &task, partition, sinter_text_bytes(&text), err));
    st = sinter__planner_is_full(self) && draft->unit_id == NULL ? SINTER_END : SINTER_OK;
out:
    sinter_text_fini(&text);
    sinter__arena_fini(&arena);
    return st;
}

/* ---- the table ---- */

sinter_status
sinter__planner_wants(const sinter__planner *self, const sinter__bucket_files *bucket, bool *out,
                      sinter_error *err)
{
    *out =
        bucket->bucket >= 0 && (self->options.bucket < 0 || bucket->bucket == self->options.bucket);
    return *out ? sinter__partition_filter_fits(&self->filter, &self->columns, bucket->partition,
                                                out, err)
                : SINTER_OK;
}

static sinter_status
plan_buckets(sinter__planner *self, sinter_error *err)
{
    const bool has_key = self->compaction.has_key;
    size_t count = 0;
    const sinter__bucket_files *buckets = sinter__live_files_buckets(self->files, &count);

    if (!has_key && self->compaction.table.bucket < 0) {
        return sinter__planner_unaware(self, err);
    }
    for (size_t i = 0; i < count; i++) {
        bool is_wanted = false;

        SINTER__CHECK(sinter__planner_wants(self, &buckets[i], &is_wanted, err));
        if (is_wanted) {
            SINTER__CHECK(has_key ? sinter__planner_keyed(self, &buckets[i], err)
                                  : sinter__planner_bucketed(self, &buckets[i], err));
        }
    }
    return SINTER_OK;
}

static sinter_status
draw_user(sinter__planner *self, sinter_error *err)
{
    const sinter_env *env = self->table->env;
    char uuid[SINTER__UUID_CHARS + 1];

    self->identifier = sinter__now_ms(env);
    self->user = self->options.user;
    if (self->user != NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__uuid(env, (uint64_t)sinter__now_ns(env) ^ 1u, uuid, err));
    return sinter__arena_strdup(&self->arena, uuid, &self->user, err);
}

static sinter_status
plan_table(sinter__planner *self, sinter_error *err)
{
    const sinter__settings settings = {self->options.settings, self->options.setting_count};
    const sinter_schema *schema = NULL;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter_table_refresh(self->table, err));
    schema = sinter_table_schema(self->table);
    SINTER__CHECK(sinter__compaction_load(schema, &settings, &self->compaction, err));
    SINTER__CHECK(
        sinter__scan_columns_init(&self->columns, schema, &self->compaction.table, NULL, 0, err));
    SINTER__CHECK(sinter__write_plan_init(&self->write, schema, &self->compaction.table, err));
    self->now_ms = sinter__now_ms(self->table->env);
    SINTER__CHECK(
        sinter__record_expiry_load(self->table, &self->columns, self->now_ms, &self->expiry, err));
    SINTER__CHECK(sinter__partition_filter_parse(
        &self->columns,
        &(sinter__partition_texts){self->options.partitions, self->options.partition_count,
                                   &self->compaction.table.partition_names},
        &self->arena, &self->filter, err));
    SINTER__CHECK(draw_user(self, err));
    st = sinter_table_latest_id(self->table, &self->snapshot_id, err);
    if (st != SINTER_OK) {
        return st == SINTER_END ? SINTER_OK : st;
    }
    SINTER__CHECK(sinter_table_snapshot_get(self->table, self->snapshot_id, &snapshot, err));
    SINTER__TRY(sinter__index_read(self->table, snapshot, &self->index, err));
    SINTER__TRY(collect_vectors(self, err));
    SINTER__TRY(sinter__live_files_read(self->table, snapshot, &self->files, err));
    st = plan_buckets(self, err);
    st = st == SINTER_END ? SINTER_OK : st;
out:
    sinter_snapshot_destroy(snapshot);
    return st;
}

sinter_status
sinter_table_plan_create(sinter_table *table, const sinter_table_plan_options *options,
                         sinter_table_plan **out, sinter_error *err)
{
    sinter__planner planner = {.table = table};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    *out = NULL;
    planner.options =
        (sinter_table_plan_options){.struct_size = (uint32_t)sizeof planner.options, .bucket = -1};
    if (options != NULL) {
        SINTER__CHECK(sinter__struct_load(&planner.options, sizeof planner.options, options,
                                          "sinter_table_plan_options", err));
    }
    planner.arena.env = planner.columns.arena.env = planner.write.arena.env =
        planner.index.arena.env = table->env;
    SINTER__CHECK(SINTER__NEW(table->env, planner.plan, 1, err));
    planner.plan->arena.env = table->env;
    SINTER__TRY(plan_table(&planner, err));
    *out = planner.plan;
    planner.plan = NULL;
out:
    sinter_table_plan_destroy(planner.plan);
    sinter__live_files_destroy(planner.files);
    sinter__index_manifest_fini(&planner.index);
    sinter__write_plan_fini(&planner.write);
    sinter__scan_columns_fini(&planner.columns);
    sinter__arena_fini(&planner.arena);
    return st;
}

void
sinter_table_plan_destroy(sinter_table_plan *plan)
{
    if (plan != NULL) {
        const sinter_env *env = plan->arena.env;

        for (size_t i = 0; i < plan->schema_count; i++) {
            sinter_text_fini(&plan->schemas[i]);
        }
        sinter__free(env, plan->schemas);
        sinter__free(env, plan->schema_ids);
        sinter__free(env, plan->tasks);
        sinter__arena_fini(&plan->arena);
        sinter__free(env, plan);
    }
}

size_t
sinter_table_plan_count(const sinter_table_plan *plan)
{
    return plan->count;
}

void
sinter_table_plan_get(const sinter_table_plan *plan, size_t index, sinter_table_task_info *out)
{
    assert(index < plan->count);
    sinter__struct_store(out, &plan->tasks[index], sizeof plan->tasks[index]);
}

/* ---- the lock ---- */

sinter_status
sinter_table_lock(sinter_table *table, sinter_io_file **out, sinter_error *err)
{
    sinter__numbers ids = {0};
    sinter_text dir;
    sinter_text path;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    *out = NULL;
    if (table->env->io->ops->lock == NULL) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "this io has no locks");
    }
    sinter_text_init(table->env, &dir);
    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__table_dir(table, "schema", &dir, err));
    SINTER__TRY(
        sinter__numbers_list(&(sinter__numbered){table->env, dir.data, "schema-"}, &ids, err));
    if (ids.count == 0) {
        SINTER__FAIL_AT(err, SINTER_E_NOT_FOUND, dir.data, -1, "the table has no schema any more");
    }
    SINTER__TRY(sinter__number_path(&(sinter__numbered){table->env, dir.data, "schema-"},
                                    ids.items[0], &path, err));
    SINTER__TRY(table->env->io->ops->lock(table->env->io, path.data, out, err));
out:
    sinter__numbers_fini(table->env, &ids);
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

sinter_status
sinter_table_compact_options(const sinter_table *table, const sinter_option *settings, size_t count,
                             sinter_compact_options *out, sinter_error *err)
{
    sinter__compaction compaction;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    SINTER__REQUIRE(err, settings != NULL || count == 0);
    SINTER__CHECK(sinter__compaction_load(sinter_table_schema(table),
                                          &(sinter__settings){settings, count}, &compaction, err));
    *out = compaction.core;
    return SINTER_OK;
}
