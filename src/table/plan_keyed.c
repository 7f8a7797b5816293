/*
 * Planning a bucket of a table with primary key: its levels, and what the strategy picks.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/fail.h"
#include "sinter/strategy.h"
#include "table/bucket_source.h"
#include "table/plan_priv.h"

/* A bucket with its levels. */
typedef struct keyed_bucket {
    const sinter__bucket_files *files;
    sinter__bucket_source *source;
    sinter_levels *levels;
    const sinter_file_meta *metas; /* in the order of runs */
    size_t count;
    int32_t max_level;
    size_t *members; /* positions of what is picked */
    sinter__task_draft draft;
    char text[256];
} keyed_bucket;

static const char *
reason_of(int32_t rule)
{
    switch (rule) {
    case SINTER_PICK_OPTIMIZATION_INTERVAL:
        return "early-full";
    case SINTER_PICK_TOTAL_SIZE:
        return "total-size";
    case SINTER_PICK_INCREMENTAL_SIZE:
        return "incremental-size";
    case SINTER_PICK_SIZE_AMPLIFICATION:
        return "size-amp";
    case SINTER_PICK_SIZE_RATIO:
        return "size-ratio";
    case SINTER_PICK_FILE_NUM:
        return "file-num";
    case SINTER_PICK_FORCE_UP_LEVEL_0:
        return "level0-forced";
    default:
        return "full";
    }
}

static sinter_status
open_bucket(sinter__planner *self, keyed_bucket *bucket, sinter_error *err)
{
    const sinter__bucket_request request = {.table = self->table,
                                            .options = &self->compaction.table,
                                            .columns = &self->columns,
                                            .files = bucket->files};
    const sinter_levels_options options = {.struct_size = (uint32_t)sizeof options,
                                           .num_levels =
                                               sinter_compact_num_levels(&self->compaction.core)};
    const sinter_file_meta *metas = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__bucket_source_create(&request, &bucket->source, err));
    metas = sinter__bucket_source_files(bucket->source, &count);
    SINTER__CHECK(
        sinter_levels_create(self->table->env, &options, metas, count, &bucket->levels, err));
    bucket->metas = sinter_file_set_files(sinter_levels_current(bucket->levels), &bucket->count);
    bucket->max_level =
        (int32_t)sinter_file_set_num_levels(sinter_levels_current(bucket->levels)) - 1;
    return SINTER__NEW(self->table->env, bucket->members, bucket->count + 1, err);
}

static void
close_bucket(const sinter_env *env, keyed_bucket *bucket)
{
    sinter__free(env, bucket->members);
    sinter_levels_destroy(bucket->levels);
    sinter__bucket_source_destroy(bucket->source);
}

static sinter_bytes
name_of(const sinter_file_meta *meta)
{
    return ((const sinter__manifest_entry *)meta->carried)->file.file_name;
}

/* All files; where they are one run at the top already, those that a rewrite does something for
 * (spec/compaction.md 7.5). */
static void
pick_full(sinter__planner *self, keyed_bucket *bucket)
{
    const bool force = self->compaction.core.force_rewrite_all_files;
    bool is_top = true;

    for (size_t i = 0; i < bucket->count; i++) {
        is_top = is_top && bucket->metas[i].level == bucket->max_level;
    }
    bucket->draft.count = 0;
    for (size_t i = 0; i < bucket->count; i++) {
        if (!is_top || force || sinter__planner_vector(self, name_of(&bucket->metas[i])) != NULL ||
            sinter__record_expiry_of_file(&self->expiry, &bucket->metas[i])) {
            bucket->members[bucket->draft.count++] = i;
        }
    }
    bucket->draft.type = is_top ? SINTER__TASK_REWRITE_FILES : SINTER__TASK_COMPACT;
    bucket->draft.output_level = bucket->max_level;
}

/* More than the strategy picked is done. */
static void
tell_of_lookup(keyed_bucket *bucket)
{
    const size_t size = strlen(bucket->text);

    (void)snprintf(bucket->text + size, sizeof bucket->text - size,
                   "; the rest for what would be looked up in it");
}

static sinter_strategy_origin
find_origin(const sinter__planner *self, const keyed_bucket *bucket)
{
    const int32_t top = (int32_t)sinter_compact_num_levels(&self->compaction.core) - 1;
    sinter_strategy_origin origin = {.struct_size = (uint32_t)sizeof origin,
                                     .needs_lookup = self->compaction.needs_lookup};

    for (size_t i = 0; i < bucket->count; i++) {
        const sinter_file_meta *file = &bucket->metas[i];

        if (file->level == top &&
            (!origin.has_last_full || file->creation_time_ms > origin.last_full_ms)) {
            origin.has_last_full = true;
            origin.last_full_ms = file->creation_time_ms;
        }
    }
    return origin;
}

/* What the strategy says; `draft.count` 0: nothing. */
static sinter_status
pick_some(const sinter__planner *self, keyed_bucket *bucket, sinter_error *err)
{
    const sinter_env *env = self->table->env;
    const sinter_file_set *set = sinter_levels_current(bucket->levels);
    const sinter_strategy_origin origin = find_origin(self, bucket);
    sinter_pick_request request = {.struct_size = (uint32_t)sizeof request,
                                   .num_levels = sinter_file_set_num_levels(set),
                                   .file_count = bucket->count,
                                   .now_ms = sinter__now_ms(env),
                                   .local_hour = sinter__local_hour(env)};
    sinter_pick pick = {.struct_size = (uint32_t)sizeof pick, .members = bucket->members};
    sinter_strategy *strategy = NULL;
    sinter_status st = SINTER_OK;

    request.runs = sinter_file_set_runs(set, &request.run_count);
    SINTER__CHECK(sinter_strategy_create(env, &self->compaction.core, &origin, &strategy, err));
    st = sinter_strategy_pick(strategy, &request, &pick, err);
    sinter_strategy_destroy(strategy);
    if (st != SINTER_OK) {
        return st == SINTER_END ? SINTER_OK : st;
    }
    if (pick.member_count == 1 && bucket->metas[pick.members[0]].level == pick.output_level) {
        return SINTER_OK;
    }
    bucket->draft.count = pick.member_count;
    bucket->draft.output_level = pick.output_level;
    bucket->draft.reason = reason_of(pick.rule);
    memcpy(bucket->text, pick.text, sizeof pick.text);
    bucket->draft.reason_text = bucket->text;
    return SINTER_OK;
}

static sinter_status
add_task(sinter__planner *self, keyed_bucket *bucket, sinter_error *err)
{
    sinter__task_draft *draft = &bucket->draft;
    const sinter__manifest_entry **files = NULL;
    const sinter_file_meta **metas = NULL;
    sinter_status st = SINTER_OK;

    if (draft->count == 0) {
        return SINTER_OK;
    }
    SINTER__TRY(SINTER__NEW(self->table->env, files, draft->count, err));
    SINTER__TRY(SINTER__NEW(self->table->env, metas, draft->count, err));
    for (size_t i = 0; i < draft->count; i++) {
        metas[i] = &bucket->metas[bucket->members[i]];
        files[i] = metas[i]->carried;
    }
    draft->files = files;
    draft->bucket = bucket->files;
    draft->max_level = bucket->max_level;
    draft->drop_delete =
        sinter_unit_drops_deletes(bucket->metas, bucket->count, draft->output_level,
                                  self->compaction.table.deletion_vectors, false);
    st = sinter__planner_add_cut(self, draft, metas, err);
out:
    sinter__free(self->table->env, metas);
    sinter__free(self->table->env, files);
    return st;
}

sinter_status
sinter__planner_keyed(sinter__planner *self, const sinter__bucket_files *files, sinter_error *err)
{
    keyed_bucket bucket = {
        .files = files,
        .draft = {.reason = "full", .reason_text = "all files of the bucket are asked for"}};
    sinter_status st = SINTER_OK;

    SINTER__TRY(open_bucket(self, &bucket, err));
    if (!self->options.full) {
        SINTER__TRY(pick_some(self, &bucket, err));
    }
    /* Where older versions would have to be looked up in deeper levels there must be none. */
    if (self->options.full || (bucket.draft.count > 0 && self->compaction.needs_lookup)) {
        const size_t picked = bucket.draft.count;

        pick_full(self, &bucket);
        if (picked > 0 && picked < bucket.draft.count) {
            tell_of_lookup(&bucket);
        }
    }
    SINTER__TRY(add_task(self, &bucket, err));
out:
    close_bucket(self->table->env, &bucket);
    return st;
}
