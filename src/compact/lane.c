#include "compact/lane.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/listener.h"

enum {
    RANGES_MAX = 256,  /* taken from the merge at once */
    BESIDE_SHARE = 16, /* encoding beside the merge may take one part of the budget in so many */
    BLOCKS_BESIDE_MIN = 3, /* fewer don't keep two threads at work */
    PROGRESS_NS = 50 * 1000 * 1000
};

struct sinter__lane {
    const sinter_env *env;
    sinter__merge_config merge;
    sinter__rolling_config rolling;
    sinter__lane_group *group;
    const sinter_compact_options *options;
    sinter__rolling_writer *writer;
    sinter__read_counters read;
    sinter_compact_result *result; /* of the running rewrite */
    sinter_rewrite_run *runs;      /* room for those of a section that lie in the range */
    int64_t merge_ns;
    int64_t write_ns;
    uint64_t bytes_told; /* of `read`, what the group knows already */
    uint64_t rows_told;
    sinter_range ranges[RANGES_MAX];
};

/* May this stored block leave as it is (design 4.4)? The merge sees to its keys and deletes, a
 * filter hides blocks altogether; what is left is the writer's word on format and size. */
static bool
accepts_block(void *ctx, const sinter_block_info *info)
{
    sinter__lane *lane = ctx;

    assert(lane->merge.keep_record == NULL);
    assert(info->retract_count == 0 || !lane->merge.merge.drop_delete);
    return sinter__rolling_writer_accepts(lane->writer, info);
}

static bool
is_cancelled(void *ctx)
{
    const sinter__lane *lane = ctx;
    sinter__lane_group *group = lane->group;

    return atomic_load_explicit(&group->has_failed, memory_order_relaxed) ||
           (group->is_cancelled != NULL && group->is_cancelled(group->cancel_ctx));
}

static bool
wants_progress(const sinter__lane_group *group)
{
    return group->progress != NULL || SINTER__LISTENS(group->env->listener, progress);
}

static void
tell_progress(const sinter__lane_group *group, uint64_t bytes, uint64_t records)
{
    const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                .job_id = group->job_id,
                                .bucket = group->name,
                                .bytes = bytes,
                                .records = records};

    if (group->progress != NULL) {
        group->progress(group->progress_ctx, bytes, records);
    }
    SINTER__TELL(group->env->listener, progress, &event);
}

/* Add what this lane has read to the group's sums, and tell of these now and then. */
static void
report_progress(sinter__lane *lane, int64_t now_ns)
{
    sinter__lane_group *group = lane->group;

    if (!wants_progress(group)) {
        return;
    }
    (void)atomic_fetch_add(&group->bytes_done, lane->read.bytes_done - lane->bytes_told);
    (void)atomic_fetch_add(&group->rows_read, lane->read.rows_read - lane->rows_told);
    lane->bytes_told = lane->read.bytes_done;
    lane->rows_told = lane->read.rows_read;
    if (now_ns - atomic_load(&group->progress_ns) >= PROGRESS_NS &&
        !atomic_flag_test_and_set(&group->is_telling)) {
        atomic_store(&group->progress_ns, now_ns);
        tell_progress(group, atomic_load(&group->bytes_done), atomic_load(&group->rows_read));
        atomic_flag_clear(&group->is_telling);
    }
}

static int64_t
nested_ns(const sinter__lane *lane)
{
    return lane->read.read_ns + sinter__rolling_writer_finish_ns(lane->writer);
}

/* Take ranges from the merge and write them; SINTER_END when the section is done. The merge asks
 * with each call whether the task was cancelled. */
static sinter_status
copy_some(sinter__lane *lane, sinter_merge *merge, sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(lane->env);
    const int64_t begin_nested_ns = nested_ns(lane);
    int64_t merged_ns = 0;
    int64_t merged_nested_ns = 0;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    assert(lane->result != NULL);
    st = sinter_merge_next(merge, lane->ranges, RANGES_MAX, &count, err);
    merged_ns = sinter__now_ns(lane->env);
    merged_nested_ns = nested_ns(lane);
    lane->merge_ns += merged_ns - begin_ns - (merged_nested_ns - begin_nested_ns);
    SINTER__CHECK(st);
    assert(count > 0);
    assert(count <= RANGES_MAX);
    st = sinter__rolling_writer_append(lane->writer, lane->ranges, count, lane->result, err);
    lane->write_ns += sinter__now_ns(lane->env) - merged_ns - (nested_ns(lane) - merged_nested_ns);
    report_progress(lane, merged_ns);
    return st;
}

void
sinter__merge_counters_add(sinter_merge_counters *sum, const sinter_merge_counters *one)
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
merge_section(sinter__lane *lane, const sinter_rewrite_section *section, sinter_merge_counters *sum,
              sinter_error *err)
{
    sinter_merge_counters counters = {.struct_size = (uint32_t)sizeof counters};
    const int64_t begin_ns = sinter__now_ns(lane->env);
    const int64_t begin_nested_ns = nested_ns(lane);
    sinter__section_merge *merge = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__section_merge_open(lane->env, &lane->merge, section, &merge, err));
    lane->merge_ns += sinter__now_ns(lane->env) - begin_ns - (nested_ns(lane) - begin_nested_ns);
    do {
        st = copy_some(lane, sinter__section_merge_get(merge), err);
    } while (st == SINTER_OK);
    if (st == SINTER_END) {
        sinter_merge_counters_get(sinter__section_merge_get(merge), &counters);
        sinter__merge_counters_add(sum, &counters);
        st = SINTER_OK;
    }
out:
    sinter__section_merge_close(merge);
    return st;
}

/* What of the section lies in the lane's range. */
static sinter_rewrite_section
section_in_range(sinter__lane *lane, const sinter_rewrite_section *section)
{
    size_t used = 0;

    for (size_t r = 0; r < section->count; r++) {
        const sinter_rewrite_run run = sinter__run_in_range(&lane->merge.read, &section->runs[r]);

        if (run.count > 0) {
            lane->runs[used++] = run;
        }
    }
    return (sinter_rewrite_section){.runs = lane->runs, .count = used};
}

sinter_status
sinter__merge_counters_check(const sinter_merge_counters *counters, uint64_t rows_written,
                             sinter_error *err)
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

static sinter_status
make_room_for_runs(sinter__lane *lane, const sinter_rewrite_request *request, sinter_error *err)
{
    size_t most = 0;

    for (size_t s = 0; s < request->section_count; s++) {
        most = request->sections[s].count > most ? request->sections[s].count : most;
    }
    return sinter__resize(lane->env, (void **)&lane->runs, most, sizeof *lane->runs, err);
}

/* How many blocks may be encoded beside the merge follows from the budget only: what is kept back
 * for them decides on spilling, and so on the bytes of the files, which don't depend on threads. */
static uint32_t
blocks_beside(const sinter__lane *lane)
{
    const uint64_t most = sinter_memory_limit(lane->env->memory) / BESIDE_SHARE;
    uint32_t blocks = SINTER__BLOCKS_BESIDE;

    while (blocks >= BLOCKS_BESIDE_MIN &&
           sinter__merge_config_beside_bytes(&lane->merge, blocks) > most) {
        blocks--;
    }
    return blocks < BLOCKS_BESIDE_MIN ? 0 : blocks;
}

sinter_status
sinter__lane_run(sinter__lane *lane, const sinter_rewrite_request *request,
                 sinter_compact_result *result, sinter_error *err)
{
    const uint64_t rows_before = sinter__rolling_writer_rows(lane->writer);
    sinter_merge_counters sum = {0};

    assert(request->section_count > 0);
    assert(request->output_level >= 1);
    lane->result = result;
    lane->merge.merge.drop_delete = request->drop_delete;
    lane->rolling.write.level = request->output_level;
    lane->rolling.write.codec = sinter_compact_codec_of_level(lane->options, request->output_level);
    lane->rolling.write.blocks_beside = blocks_beside(lane);
    SINTER__CHECK(make_room_for_runs(lane, request, err));
    for (size_t s = 0; s < request->section_count; s++) {
        const sinter_rewrite_section section = section_in_range(lane, &request->sections[s]);

        if (section.count > 0) {
            SINTER__CHECK(merge_section(lane, &section, &sum, err));
        }
    }
    SINTER__CHECK(sinter__rolling_writer_finish(lane->writer, result, err));
    SINTER__CHECK(sinter__merge_counters_check(
        &sum, sinter__rolling_writer_rows(lane->writer) - rows_before, err));
    sinter__merge_counters_add(&result->counters.merge, &sum);
    return SINTER_OK;
}

sinter_status
sinter__lane_create(const sinter_env *env, const sinter__lane_config *config, sinter__lane **out,
                    sinter_error *err)
{
    sinter__lane *lane = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, lane, 1, err));
    lane->env = env;
    lane->merge = config->merge;
    lane->rolling = config->rolling;
    lane->group = config->group;
    lane->options = config->options;
    lane->merge.read.counters = &lane->read;
    lane->merge.read.is_cancelled = is_cancelled;
    lane->merge.read.cancel_ctx = lane;
    lane->merge.write = &lane->rolling.write;
    lane->merge.merge.is_cancelled = is_cancelled;
    lane->merge.merge.cancel_ctx = lane;
    SINTER__TRY(sinter__merge_function_create(env, config->merge_function, config->options,
                                              &lane->merge.merge.function, err));
    if (config->passes_blocks) {
        lane->merge.merge.accepts_block = accepts_block;
        lane->merge.merge.accepts_ctx = lane;
    }
    SINTER__TRY(sinter__rolling_writer_create(env, &lane->rolling, &lane->writer, err));
    *out = lane;
    lane = NULL;
out:
    sinter__lane_destroy(lane);
    return st;
}

void
sinter__lane_add_counters(const sinter__lane *lane, sinter_compact_counters *counters)
{
    counters->blocks_read += lane->read.blocks_read;
    counters->files_opened += lane->read.files_opened;
    counters->read_us += lane->read.read_ns / 1000;
    counters->merge_us += lane->merge_ns / 1000;
    counters->write_us += lane->write_ns / 1000;
    counters->sync_us += sinter__rolling_writer_finish_ns(lane->writer) / 1000;
}

sinter_status
sinter__lane_sync(sinter__lane *lane, sinter_error *err)
{
    return sinter__rolling_writer_sync(lane->writer, err);
}

void
sinter__lane_keep(sinter__lane *lane)
{
    sinter__rolling_writer_keep(lane->writer);
}

void
sinter__lane_destroy(sinter__lane *lane)
{
    if (lane != NULL) {
        sinter__rolling_writer_destroy(lane->writer);
        sinter__merge_function_destroy(lane->merge.merge.function);
        sinter__free(lane->env, lane->runs);
        sinter__free(lane->env, lane);
    }
}
