/*
 * Planning append tables: the coordinator over the newest snapshot's files, or bucket by bucket.
 */
#include "append/bucketed.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "table/plan_priv.h"

static sinter__append_limits
limits_of(const sinter__planner *self)
{
    const sinter_compact_options *core = &self->compaction.core;

    return (sinter__append_limits){.target_bytes = core->target_file_bytes,
                                   .small_bytes = sinter_compact_small_file_bytes(core),
                                   .open_file_cost = core->append_open_file_cost,
                                   .file_num_min = core->append_file_num_min,
                                   .file_num_limit = core->append_file_num_max,
                                   .delete_ratio = core->append_delete_ratio,
                                   /* The option may be off while there still are some. */
                                   .has_vectors = self->compaction.table.deletion_vectors ||
                                                  self->vector_count > 0};
}

static sinter__append_file
file_of(const sinter__manifest_entry *entry)
{
    return (sinter__append_file){.name = entry->file.file_name,
                                 .bytes = (uint64_t)entry->file.file_size,
                                 .rows = (uint64_t)entry->file.row_count,
                                 .carried = entry};
}

/* ---- without buckets ---- */

/* The newest snapshot as the only one. */
typedef struct snapshot_walk {
    sinter__planner *planner;
    const sinter__bucket_files *buckets;
    size_t bucket_count;
    size_t bucket;
    size_t file;
    sinter_error *err;
} snapshot_walk;

static sinter_status
walk_newest(void *ctx, int64_t *out, sinter_error *err)
{
    const snapshot_walk *walk = ctx;

    (void)err;
    *out = walk->planner->snapshot_id;
    return SINTER_OK;
}

static sinter_status
walk_open(void *ctx, int64_t id, bool is_delta, sinter_error *err)
{
    snapshot_walk *walk = ctx;

    (void)err;
    (void)is_delta;
    walk->bucket = walk->file = 0;
    return id == walk->planner->snapshot_id ? SINTER_OK : SINTER_END;
}

static sinter_status
walk_next(void *ctx, sinter_bytes *partition, sinter__append_file *file, sinter_error *err)
{
    snapshot_walk *walk = ctx;

    while (walk->bucket < walk->bucket_count) {
        const sinter__bucket_files *bucket = &walk->buckets[walk->bucket];
        bool is_wanted = walk->file > 0;

        if (!is_wanted) {
            SINTER__CHECK(sinter__planner_wants(walk->planner, bucket, &is_wanted, err));
        }
        if (is_wanted && walk->file < bucket->count) {
            *partition = bucket->partition;
            *file = file_of(bucket->entries[walk->file++]);
            return SINTER_OK;
        }
        walk->bucket++;
        walk->file = 0;
    }
    return SINTER_END;
}

static sinter_status
walk_vector(void *ctx, sinter_bytes partition, const sinter__append_file *file,
            sinter__append_vector *out, sinter_error *err)
{
    const snapshot_walk *walk = ctx;
    const sinter__found_vector *found = sinter__planner_vector(walk->planner, file->name);

    (void)partition;
    (void)err;
    if (found != NULL) {
        const bool is_known = (found->range->has & SINTER__VECTOR_HAS_CARDINALITY) != 0;

        *out = (sinter__append_vector){.has = true,
                                       .cardinality = is_known ? found->range->cardinality : -1,
                                       .index_file = found->entry->file_name};
    }
    return SINTER_OK;
}

static const sinter__bucket_files *
bucket_of(const snapshot_walk *walk, sinter_bytes partition)
{
    size_t i = 0;

    while (!sinter__key_equal(walk->buckets[i].partition, partition)) {
        i++; /* tasks are of partitions that were walked */
    }
    return &walk->buckets[i];
}

static sinter_status
add_append(sinter__planner *self, const sinter__bucket_files *bucket,
           const sinter__append_file *files, size_t count, sinter__task_draft *draft,
           sinter_error *err)
{
    const sinter__manifest_entry **entries = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(SINTER__NEW(self->table->env, entries, count, err));
    for (size_t i = 0; i < count; i++) {
        entries[i] = files[i].carried;
    }
    draft->type = SINTER__TASK_APPEND;
    draft->bucket = bucket;
    draft->files = entries;
    draft->count = count;
    st = sinter__planner_add(self, draft, err);
    sinter__free(self->table->env, entries);
    return st;
}

static sinter_status
walk_task(void *ctx, const sinter__append_task *task)
{
    const snapshot_walk *walk = ctx;
    sinter__task_draft draft = {.reason = "append-bin",
                                .reason_text = "small files of a partition are joined"};

    if (task->has_vectors) {
        draft.reason = "append-vector";
        draft.reason_text = "files with deleted rows, and those that share their index file";
    } else if (task->is_aged) {
        draft.reason = "append-age";
        draft.reason_text = "small files have waited long enough";
    }
    return add_append(walk->planner, bucket_of(walk, task->partition), task->files, task->count,
                      &draft, walk->err);
}

sinter_status
sinter__planner_unaware(sinter__planner *self, sinter_error *err)
{
    const sinter__append_limits limits = limits_of(self);
    snapshot_walk walk = {.planner = self, .err = err};
    const sinter__append_source source = {.ctx = &walk,
                                          .latest = walk_newest,
                                          .earliest = walk_newest,
                                          .open = walk_open,
                                          .next = walk_next,
                                          .vector = walk_vector};
    sinter__append_coordinator *coordinator = NULL;
    sinter_status st = SINTER_OK;

    walk.buckets = sinter__live_files_buckets(self->files, &walk.bucket_count);
    SINTER__CHECK(sinter__append_coordinator_create(self->table->env, &limits, &source, false,
                                                    &coordinator, err));
    while (st == SINTER_OK) {
        st = sinter__append_coordinator_run(coordinator, walk_task, &walk, err);
    }
    sinter__append_coordinator_destroy(coordinator);
    return st;
}

/* ---- with buckets ---- */

sinter_status
sinter__planner_bucketed(sinter__planner *self, const sinter__bucket_files *bucket,
                         sinter_error *err)
{
    const sinter__append_limits limits = limits_of(self);
    sinter__task_draft draft = {.reason = "append-bin",
                                .reason_text = "neighbouring files of a bucket are joined"};
    sinter__bucketed_file *files = NULL;
    sinter__append_file *picked = NULL;
    sinter__bucketed_pick pick;
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(self->table->env, files, bucket->count, err));
    SINTER__TRY(SINTER__NEW(self->table->env, picked, bucket->count, err));
    for (size_t i = 0; i < bucket->count; i++) {
        const sinter__data_file *file = &bucket->entries[i]->file;

        files[i] = (sinter__bucketed_file){
            .file = file_of(bucket->entries[i]),
            .min_sequence = file->min_sequence,
            .has_vector = sinter__planner_vector(self, file->file_name) != NULL};
    }
    sinter__bucketed_sort(files, bucket->count);
    pick = self->options.full
               ? sinter__bucketed_pick_full(&limits, self->compaction.core.force_rewrite_all_files,
                                            files, bucket->count)
               : sinter__bucketed_pick_auto(&limits, files, bucket->count);
    for (size_t i = 0; i < pick.count; i++) {
        picked[i] = files[pick.first + i].file;
    }
    if (pick.count > 0) {
        SINTER__TRY(add_append(self, bucket, picked, pick.count, &draft, err));
    }
out:
    sinter__free(self->table->env, picked);
    sinter__free(self->table->env, files);
    return st;
}
