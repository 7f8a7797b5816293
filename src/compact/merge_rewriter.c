#include "compact/merge_rewriter.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/env.h"
#include "compact/path.h"
#include "compact/rolling_writer.h"
#include "compact/section_merge.h"
#include "merge/budget.h"

enum {
    RANGES_MAX = 256, /* taken from the merge at once */
    PROGRESS_NS = 50 * 1000 * 1000
};

struct sinter__merge_rewriter {
    sinter_rewriter base;
    const sinter_env *env;
    const sinter_compact_task *task;
    sinter__merge_config merge;
    sinter__rolling_config rolling;
    sinter__rolling_writer *writer;
    sinter__read_counters read;
    char *output_path;
    sinter_compact_result *result; /* of the running rewrite */
    int64_t merge_ns;
    int64_t write_ns;
    int64_t progress_ns; /* when the listener was last told */
    sinter_range ranges[RANGES_MAX];
};

/* May this stored block leave as it is (design 4.4)? The merge sees to its keys and deletes, a
 * filter hides blocks altogether; what is left is the writer's word on format and size. */
static bool
accepts_block(void *ctx, const sinter_block_info *info)
{
    sinter__merge_rewriter *rewriter = ctx;

    assert(rewriter->task->keep_record == NULL);
    assert(info->retract_count == 0 || !rewriter->merge.merge.drop_delete);
    return sinter__rolling_writer_accepts(rewriter->writer, info);
}

static void
report_progress(sinter__merge_rewriter *rewriter, int64_t now_ns)
{
    const sinter_listener *listener = rewriter->env->listener;

    if (listener == NULL || listener->progress == NULL ||
        now_ns - rewriter->progress_ns < PROGRESS_NS) {
        return;
    }
    const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                .bytes = rewriter->read.bytes_done,
                                .records = rewriter->read.rows_read};

    rewriter->progress_ns = now_ns;
    listener->progress(listener->ctx, &event);
}

static int64_t
nested_ns(const sinter__merge_rewriter *rewriter)
{
    return rewriter->read.read_ns + sinter__rolling_writer_finish_ns(rewriter->writer);
}

/* Take ranges from the merge and write them; SINTER_END when the section is done. The merge asks
 * with each call whether the task was cancelled. */
static sinter_status
copy_some(sinter__merge_rewriter *rewriter, sinter_merge *merge, sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(rewriter->env);
    const int64_t begin_nested_ns = nested_ns(rewriter);
    int64_t merged_ns = 0;
    int64_t merged_nested_ns = 0;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    assert(rewriter->result != NULL);
    st = sinter_merge_next(merge, rewriter->ranges, RANGES_MAX, &count, err);
    merged_ns = sinter__now_ns(rewriter->env);
    merged_nested_ns = nested_ns(rewriter);
    rewriter->merge_ns += merged_ns - begin_ns - (merged_nested_ns - begin_nested_ns);
    SINTER__CHECK(st);
    assert(count > 0);
    assert(count <= RANGES_MAX);
    st = sinter__rolling_writer_append(rewriter->writer, rewriter->ranges, count, rewriter->result,
                                       err);
    st = sinter__merge_name_budget(merge, st, err);
    rewriter->write_ns +=
        sinter__now_ns(rewriter->env) - merged_ns - (nested_ns(rewriter) - merged_nested_ns);
    report_progress(rewriter, merged_ns);
    return st;
}

static void
add_counters(sinter_merge_counters *sum, const sinter_merge_counters *one)
{
    sum->records_in += one->records_in;
    sum->records_out += one->records_out;
    sum->superseded += one->superseded;
    sum->deleted += one->deleted;
    sum->expired += one->expired;
    sum->filtered += one->filtered;
    sum->vector += one->vector;
    sum->keys += one->keys;
    sum->blocks_passed += one->blocks_passed;
    sum->spill_runs += one->spill_runs;
    sum->spilled_bytes += one->spilled_bytes;
    sum->spill_passes += one->spill_passes;
}

static sinter_status
rewrite_section(sinter__merge_rewriter *rewriter, const sinter_rewrite_section *section,
                sinter_merge_counters *sum, sinter_error *err)
{
    sinter_merge_counters counters = {.struct_size = (uint32_t)sizeof counters};
    const int64_t begin_ns = sinter__now_ns(rewriter->env);
    const int64_t begin_nested_ns = nested_ns(rewriter);
    sinter__section_merge *merge = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__section_merge_open(rewriter->env, &rewriter->merge, section, &merge, err));
    rewriter->merge_ns +=
        sinter__now_ns(rewriter->env) - begin_ns - (nested_ns(rewriter) - begin_nested_ns);
    do {
        st = copy_some(rewriter, sinter__section_merge_get(merge), err);
    } while (st == SINTER_OK);
    if (st == SINTER_END) {
        sinter_merge_counters_get(sinter__section_merge_get(merge), &counters);
        add_counters(sum, &counters);
        st = SINTER_OK;
    }
out:
    sinter__section_merge_close(merge);
    return st;
}

/* Rule 3 of field-faults: no record is lost without a reason. */
static sinter_status
check_sums(const sinter_merge_counters *counters, uint64_t rows_written, sinter_error *err)
{
    const uint64_t dropped = counters->superseded + counters->deleted + counters->expired +
                             counters->filtered + counters->vector;

    if (counters->records_in != counters->records_out + dropped) {
        return SINTER__ERR(err, SINTER_E_CONFLICT,
                           "%llu records came in, %llu went out and %llu were dropped",
                           (unsigned long long)counters->records_in,
                           (unsigned long long)counters->records_out, (unsigned long long)dropped);
    }
    if (counters->records_out != rows_written) {
        return SINTER__ERR(
            err, SINTER_E_CONFLICT, "%llu records were merged, the new files hold %llu",
            (unsigned long long)counters->records_out, (unsigned long long)rows_written);
    }
    return SINTER_OK;
}

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

static sinter_status
rewrite(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
        sinter_error *err)
{
    sinter__merge_rewriter *rewriter = ctx;
    const uint64_t rows_before = sinter__rolling_writer_rows(rewriter->writer);
    sinter_merge_counters sum = {0};
    sinter_status st = SINTER_OK;

    assert(request->section_count > 0);
    assert(request->output_level >= 1);
    rewriter->result = result;
    rewriter->merge.merge.drop_delete = request->drop_delete;
    rewriter->rolling.write.level = request->output_level;
    for (size_t s = 0; s < request->section_count; s++) {
        SINTER__TRY(rewrite_section(rewriter, &request->sections[s], &sum, err));
    }
    SINTER__TRY(sinter__rolling_writer_finish(rewriter->writer, result, err));
    SINTER__TRY(check_sums(&sum, sinter__rolling_writer_rows(rewriter->writer) - rows_before, err));
    add_counters(&result->counters.merge, &sum);
out:
    if (st == SINTER_E_NO_SPACE) {
        sinter__fail_context(err, "rewriting up to %llu bytes into %s",
                             (unsigned long long)input_bytes(request), rewriter->output_path);
    }
    return st;
}

/* New files follow the newest schema of the unit. */
static int64_t
newest_schema(const sinter_compact_task *task)
{
    int64_t newest = 0;

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
    rewriter->rolling = (sinter__rolling_config){
        .format = rewriter->merge.read.format,
        .write = {.struct_size = (uint32_t)sizeof rewriter->rolling.write,
                  .block_bytes = options->block_bytes,
                  .codec = options->codec,
                  .codec_level = options->codec_level,
                  .filter_bits_per_key = options->filter_bits_per_key,
                  .direct = options->direct,
                  .no_pass = !options->block_passthrough,
                  .schema_id = (uint32_t)schema_id,
                  .key_types = task->key_types,
                  .row_type = task->row_type},
        .dir = rewriter->output_path,
        .meta_dir = task->output_dir,
        .prefix = task->file_prefix != NULL ? task->file_prefix : "data-",
        .target_bytes = options->target_file_bytes,
        .schema_id = schema_id,
    };
    return SINTER_OK;
}

static void
configure_merging(sinter__merge_rewriter *rewriter)
{
    const sinter_compact_task *task = rewriter->task;
    sinter__merge_config *config = &rewriter->merge;

    config->merge.spill_dir = rewriter->output_path;
    config->merge.is_cancelled = task->is_cancelled;
    config->merge.cancel_ctx = task->cancel_ctx;
    config->read.base_dir = task->base_dir;
    config->read.counters = &rewriter->read;
    config->write = &rewriter->rolling.write;
    config->order = task->order;
    config->keep_record = task->keep_record;
    config->keep_ctx = task->expire_ctx;
    if (task->options->block_passthrough) {
        config->merge.accepts_block = accepts_block;
        config->merge.accepts_ctx = rewriter;
    }
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
    sinter__merge_config_init(&rewriter->merge, task->options, NULL);
    rewriter->merge.read.format = task->format != NULL ? task->format : sinter_format_sst();
    SINTER__TRY(configure_writing(rewriter, err));
    configure_merging(rewriter);
    SINTER__TRY(sinter__rolling_writer_create(env, &rewriter->rolling, &rewriter->writer, err));
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

sinter_status
sinter__merge_rewriter_commit(sinter__merge_rewriter *rewriter, sinter_compact_result *result,
                              sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(rewriter->env);
    sinter_compact_counters *counters = &result->counters;

    SINTER__CHECK(sinter__rolling_writer_keep(rewriter->writer, err));
    counters->blocks_read = rewriter->read.blocks_read;
    counters->files_opened = rewriter->read.files_opened;
    counters->read_us = rewriter->read.read_ns / 1000;
    counters->merge_us = rewriter->merge_ns / 1000;
    counters->write_us = rewriter->write_ns / 1000;
    counters->sync_us = (sinter__rolling_writer_finish_ns(rewriter->writer) +
                         sinter__now_ns(rewriter->env) - begin_ns) /
                        1000;
    return SINTER_OK;
}

void
sinter__merge_rewriter_destroy(sinter__merge_rewriter *rewriter)
{
    if (rewriter != NULL) {
        sinter__rolling_writer_destroy(rewriter->writer);
        sinter__free(rewriter->env, rewriter->output_path);
        sinter__free(rewriter->env, rewriter);
    }
}
