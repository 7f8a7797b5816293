#include "compact/merge_rewriter.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/fan_out.h"
#include "compact/cut.h"
#include "compact/lane.h"
#include "compact/path.h"
#include "compact/read_back.h"

/* Less memory than this isn't worth a lane of its own. */
#define LANE_MEMORY_BYTES_MIN ((uint64_t)16 << 20)

enum {
    LANE_IO_SHARE = 4 /* one part in so many is left to the io, which the lanes have in common */
};

/* One part of a rewrite that was cut: a lane with surroundings of its own. */
typedef struct part {
    sinter_env env;        /* the rewriter's, with a share of its budget */
    sinter_memory *memory; /* NULL: the rewriter's own */
    sinter__lane *lane;
    sinter_compact_result *result; /* new files and counters of the part */
    const sinter_rewrite_request *request;
    sinter__lane_group *group;
    sinter_status status;
    sinter_error err;
} part;

struct sinter__merge_rewriter {
    sinter_rewriter base;
    const sinter_env *env;
    const sinter_compact_task *task;
    sinter__lane_group group;
    sinter__lane_config lane_config;
    sinter__lane *lane; /* of rewrites that are not cut */
    char *output_path;
    part **parts; /* of all rewrites that were cut */
    size_t part_count;
    size_t part_capacity;
};

/* ---- rewrites that are cut ---- */

static void
run_part(void *ctx, size_t index)
{
    part *const *parts = ctx;
    part *self = parts[index];

    self->status = sinter__lane_run(self->lane, self->request, self->result, &self->err);
    if (self->status != SINTER_OK) {
        atomic_store(&self->group->has_failed, true);
    }
}

static void
part_destroy(const sinter_env *env, part *self)
{
    if (self != NULL) {
        sinter__lane_destroy(self->lane);
        sinter_compact_result_destroy(self->result);
        sinter_memory_destroy(self->memory);
        sinter__free(env, self);
    }
}

/* Parts so many that each has enough memory; 1: not cut. */
static size_t
parts_max(const sinter__merge_rewriter *rewriter)
{
    const sinter_memory *memory = rewriter->env->memory;
    const uint64_t left = sinter_memory_limit(memory) - sinter_memory_used(memory);
    const uint64_t wanted = rewriter->task->options->sub_compactions;

    if (rewriter->task->has_begin_key || rewriter->task->has_end_key) {
        return 1; /* a part already */
    }
    return (size_t)(left / LANE_MEMORY_BYTES_MIN < wanted ? left / LANE_MEMORY_BYTES_MIN : wanted);
}

/* Make part `index` of the cuts and note it with the others. `memory_bytes` 0: the
 * rewriter's own budget serves. */
static sinter_status
add_part(sinter__merge_rewriter *rewriter, const sinter_rewrite_request *request,
         const sinter__cuts *cuts, size_t index, uint64_t memory_bytes, sinter_error *err)
{
    sinter__lane_config config = rewriter->lane_config;
    part *self = NULL;
    sinter_status st = SINTER_OK;

    assert(rewriter->part_count < rewriter->part_capacity);
    SINTER__TRY(SINTER__NEW(rewriter->env, self, 1, err));
    self->env = *rewriter->env;
    self->request = request;
    self->group = &rewriter->group;
    if (memory_bytes > 0) {
        SINTER__TRY(sinter_memory_create(rewriter->env, memory_bytes, &self->memory, err));
        self->env.memory = self->memory;
    }
    SINTER__TRY(sinter__result_create(rewriter->env, NULL, 0, &self->result, err));
    config.merge.read.has_begin_key = index > 0;
    config.merge.read.has_end_key = index < cuts->count;
    if (index > 0) {
        config.merge.read.begin_key = cuts->keys[index - 1];
    }
    if (index < cuts->count) {
        config.merge.read.end_key = cuts->keys[index];
    }
    config.rolling.name_salt = rewriter->part_count + 1;
    SINTER__TRY(sinter__lane_create(&self->env, &config, &self->lane, err));
    rewriter->parts[rewriter->part_count++] = self;
    self = NULL;
out:
    part_destroy(rewriter->env, self);
    return st;
}

static sinter_status
make_room_for_parts(sinter__merge_rewriter *rewriter, size_t count, sinter_error *err)
{
    const size_t wanted = rewriter->part_count + count;

    if (wanted > rewriter->part_capacity) {
        SINTER__CHECK(sinter__resize(rewriter->env, (void **)&rewriter->parts, wanted,
                                     sizeof *rewriter->parts, err));
        rewriter->part_capacity = wanted;
    }
    return SINTER_OK;
}

/* The failure to tell: the first one that isn't a stop because of another part's. */
static const part *
find_failed(part *const *parts, size_t count)
{
    const part *failed = NULL;

    for (size_t i = 0; i < count; i++) {
        if (parts[i]->status != SINTER_OK &&
            (failed == NULL ||
             (failed->status == SINTER_E_CANCELLED && parts[i]->status != SINTER_E_CANCELLED))) {
            failed = parts[i];
        }
    }
    return failed;
}

static sinter_status
collect(part *const *parts, size_t count, sinter_compact_result *result, sinter_error *err)
{
    const part *failed = find_failed(parts, count);

    if (failed != NULL) {
        if (err != NULL) {
            *err = failed->err;
        }
        return failed->status;
    }
    for (size_t i = 0; i < count; i++) {
        const sinter_file_list *after = &parts[i]->result->after.list;

        for (size_t f = 0; f < after->count; f++) {
            SINTER__CHECK(sinter_compact_result_add_after(result, &after->files[f], err));
        }
        sinter__merge_counters_add(&result->counters.merge, &parts[i]->result->counters.merge);
    }
    return SINTER_OK;
}

/* Do the parts side by side, each with its share of the memory that is left. */
static sinter_status
rewrite_parts(sinter__merge_rewriter *rewriter, const sinter_rewrite_request *request,
              const sinter__cuts *cuts, sinter_compact_result *result, sinter_error *err)
{
    sinter_memory *memory = rewriter->env->memory;
    const size_t count = cuts->count + 1;
    const size_t first = rewriter->part_count;
    const bool has_ceiling = sinter_memory_limit(memory) < UINT64_MAX;
    uint64_t share = 0;
    sinter_status st = SINTER_OK;

    if (has_ceiling) {
        share = (sinter_memory_limit(memory) - sinter_memory_used(memory)) / count;
        share -= share / LANE_IO_SHARE;
        SINTER__CHECK(sinter_memory_reserve(memory, share * count, err));
    }
    SINTER__TRY(make_room_for_parts(rewriter, count, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__TRY(add_part(rewriter, request, cuts, i, share, err));
    }
    sinter__fan_out(rewriter->env, count, run_part, rewriter->parts + first);
    st = collect(rewriter->parts + first, count, result, err);
out:
    sinter_memory_release(memory, share * count);
    return st;
}

/* ---- the rewriter ---- */

static uint64_t
input_bytes(const sinter_rewrite_request *request)
{
    uint64_t bytes = 0;

    for (size_t s = 0; s < request->section_count; s++) {
        for (size_t r = 0; r < request->sections[s].count; r++) {
            const sinter_rewrite_run *run = &request->sections[s].runs[r];

            for (size_t i = 0; i < run->count; i++) {
                bytes += run->files[i]->file_size;
            }
        }
    }
    return bytes;
}

/* A rewrite large enough is cut, and its parts are done side by side. */
static sinter_status
rewrite_cut_or_whole(sinter__merge_rewriter *rewriter, const sinter_rewrite_request *request,
                     sinter_compact_result *result, sinter_error *err)
{
    const sinter_compact_options *options = rewriter->task->options;
    const sinter__cut_limits limits = {.parts_max =
                                           options->sub_compactions > 1 ? parts_max(rewriter) : 1,
                                       .part_bytes_min = options->target_file_bytes};
    sinter__cuts cuts = {.keys = NULL};
    sinter_status st = SINTER_OK;

    if (limits.parts_max > 1) {
        SINTER__TRY(sinter__cuts_choose(rewriter->env, &rewriter->lane_config.merge.read, request,
                                        limits, &cuts, err));
    }
    st = cuts.count == 0 ? sinter__lane_run(rewriter->lane, request, result, err)
                         : rewrite_parts(rewriter, request, &cuts, result, err);
out:
    sinter__cuts_fini(rewriter->env, &cuts);
    return st;
}

static sinter_status
rewrite(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
        sinter_error *err)
{
    sinter__merge_rewriter *rewriter = ctx;
    const sinter_status st = rewrite_cut_or_whole(rewriter, request, result, err);

    if (st == SINTER_E_NO_SPACE) {
        sinter__fail_context(err, "rewriting up to %llu bytes into %s",
                             (unsigned long long)input_bytes(request), rewriter->output_path);
    }
    return st;
}

/* New files follow the newest schema of the unit, or a newer one that the caller names. */
static int64_t
newest_schema(const sinter_compact_task *task)
{
    int64_t newest = task->schema_id > 0 ? task->schema_id : 0;

    for (size_t i = 0; i < task->count; i++) {
        newest = task->files[i].schema_id > newest ? task->files[i].schema_id : newest;
    }
    return newest;
}

static sinter_status
configure_writing(sinter__merge_rewriter *rewriter, sinter_error *err)
{
    const sinter_compact_task *task = rewriter->task;
    const sinter_compact_options *options = task->options;
    const int64_t schema_id = newest_schema(task);

    if (schema_id > UINT32_MAX) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "the schema id %lld is above 2^32 - 1",
                           (long long)schema_id);
    }
    SINTER__CHECK(sinter__path_join(rewriter->env, task->base_dir, task->output_dir, NULL,
                                    &rewriter->output_path, err));
    rewriter->lane_config.rolling = (sinter__rolling_config){
        .format = rewriter->lane_config.merge.read.format,
        .write = {.struct_size = (uint32_t)sizeof rewriter->lane_config.rolling.write,
                  .block_bytes = options->block_bytes,
                  .codec_level = options->codec_level,
                  .filter_bits_per_key = options->filter_bits_per_key,
                  .direct = options->direct,
                  .no_pass = !options->block_passthrough,
                  .schema_id = (uint32_t)schema_id,
                  .key_types = task->key_types,
                  .row_type = task->row_type},
        .dir = rewriter->output_path,
        .meta_dir = task->output_dir,
        .external_dirs = task->external_dirs,
        .external_dir_count = task->external_dir_count,
        .prefix = task->file_prefix != NULL ? task->file_prefix : "data-",
        .target_bytes = options->target_file_bytes,
        .schema_id = schema_id,
        .file_source = SINTER_FILE_SOURCE_COMPACT,
    };
    return SINTER_OK;
}

static void
configure_merging(sinter__merge_rewriter *rewriter)
{
    const sinter_compact_task *task = rewriter->task;
    sinter__merge_config *config = &rewriter->lane_config.merge;

    config->merge.spill_dir = task->spill_dir != NULL        ? task->spill_dir
                              : task->external_dir_count > 0 ? task->external_dirs[0]
                                                             : rewriter->output_path;
    config->merge.spill_space = task->spill_space;
    config->read.base_dir = task->base_dir;
    config->read.has_begin_key = task->has_begin_key;
    config->read.has_end_key = task->has_end_key;
    config->read.begin_key = task->begin_key;
    config->read.end_key = task->end_key;
    config->order = task->order;
    config->keep_record = task->keep_record;
    config->keep_ctx = task->expire_ctx;
    rewriter->lane_config.passes_blocks = task->options->block_passthrough;
    rewriter->lane_config.group = &rewriter->group;
    rewriter->lane_config.options = task->options;
    rewriter->lane_config.merge_function = task->merge_function;
    rewriter->group.env = rewriter->env;
    rewriter->group.is_cancelled = task->is_cancelled;
    rewriter->group.cancel_ctx = task->cancel_ctx;
    rewriter->group.progress = task->progress;
    rewriter->group.progress_ctx = task->progress_ctx;
    rewriter->group.name = task->name;
    rewriter->group.job_id = task->job_id;
    atomic_flag_clear(&rewriter->group.is_telling);
}

sinter_status
sinter__merge_rewriter_create(const sinter_env *env, const sinter_compact_task *task,
                              sinter__merge_rewriter **out, sinter_error *err)
{
    sinter__merge_rewriter *rewriter = NULL;
    sinter_status st = SINTER_OK;

    assert(task->options != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, task->base_dir != NULL);
    SINTER__REQUIRE(err, env->io != NULL);
    SINTER__TRY(SINTER__NEW(env, rewriter, 1, err));
    rewriter->env = env;
    rewriter->task = task;
    sinter__merge_config_init(&rewriter->lane_config.merge, task->options, NULL);
    rewriter->lane_config.merge.read.format =
        task->format != NULL ? task->format : sinter_format_sst();
    if (task->options->verify_output) {
        SINTER__TRY(sinter__read_back_check(rewriter->lane_config.merge.read.format, err));
    }
    SINTER__TRY(configure_writing(rewriter, err));
    configure_merging(rewriter);
    SINTER__TRY(sinter__lane_create(env, &rewriter->lane_config, &rewriter->lane, err));
    rewriter->base = (sinter_rewriter){
        .struct_size = (uint32_t)sizeof rewriter->base, .ctx = rewriter, .rewrite = rewrite};
    *out = rewriter;
    rewriter = NULL;
out:
    sinter__merge_rewriter_destroy(rewriter);
    return st;
}

const sinter_rewriter *
sinter__merge_rewriter_get(const sinter__merge_rewriter *rewriter)
{
    return &rewriter->base;
}

/* The new files, as they come back from where they were written to. */
static sinter_status
read_back(const sinter__merge_rewriter *rewriter, sinter_compact_result *result, sinter_error *err)
{
    const sinter_compact_task *task = rewriter->task;
    const sinter__read_back how = {.format = rewriter->lane_config.rolling.format,
                                   .dir = rewriter->output_path,
                                   .direct = task->options->direct,
                                   .is_cancelled = task->is_cancelled,
                                   .cancel_ctx = task->cancel_ctx};

    return task->options->verify_output
               ? sinter__read_back_files(rewriter->env, &how, result->after.list,
                                         &result->counters.bytes_verified, err)
               : SINTER_OK;
}

sinter_status
sinter__merge_rewriter_commit(sinter__merge_rewriter *rewriter, sinter_compact_result *result,
                              sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(rewriter->env);
    sinter_compact_counters *counters = &result->counters;

    SINTER__CHECK(sinter__lane_sync(rewriter->lane, err));
    for (size_t i = 0; i < rewriter->part_count; i++) {
        SINTER__CHECK(sinter__lane_sync(rewriter->parts[i]->lane, err));
    }
    SINTER__CHECK(read_back(rewriter, result, err));
    sinter__lane_keep(rewriter->lane);
    sinter__lane_add_counters(rewriter->lane, counters);
    for (size_t i = 0; i < rewriter->part_count; i++) {
        sinter__lane_keep(rewriter->parts[i]->lane);
        sinter__lane_add_counters(rewriter->parts[i]->lane, counters);
    }
    counters->sync_us += (sinter__now_ns(rewriter->env) - begin_ns) / 1000;
    return SINTER_OK;
}

void
sinter__merge_rewriter_destroy(sinter__merge_rewriter *rewriter)
{
    if (rewriter != NULL) {
        for (size_t i = 0; i < rewriter->part_count; i++) {
            part_destroy(rewriter->env, rewriter->parts[i]);
        }
        sinter__free(rewriter->env, rewriter->parts);
        sinter__lane_destroy(rewriter->lane);
        sinter__free(rewriter->env, rewriter->output_path);
        sinter__free(rewriter->env, rewriter);
    }
}
