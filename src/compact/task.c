/*
 * The compact task (spec/compaction.md 9, 10): which files of a unit are rewritten together, which
 * only change their level.
 *
 *     sections in key order:   {A|B}   {C}    {D large}   {E}
 *     candidate:               A|B     A|B C  -           E
 *     what happens:                           rewrite(A|B, C), upgrade(D)    upgrade(E)
 *
 * Sections that need a merge, and small files beside them, are collected as the candidate. A large
 * file flushes the candidate first: an output that spanned the large file's range would overlap it
 * in the output level. Invariant: the candidate's sections ascend and nothing lies between them.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/env.h"
#include "base/listener.h"
#include "compact/load.h"
#include "compact/merge_rewriter.h"
#include "compact/result.h"

/** A task while it runs. */
typedef struct task_walk {
    const sinter_compact_task *task;
    const sinter_rewriter *rewriter; /* NULL: plan only */
    sinter_compact_result *result;
    uint64_t small_file_bytes;
    /* the candidate; room for every file of the task */
    sinter_rewrite_section *sections;
    sinter_rewrite_run *runs;
    size_t section_count;
    size_t run_count;
} task_walk;

static sinter_file_decision *
decision_of(task_walk *walk, const sinter_file_meta *file)
{
    const size_t position = (size_t)(file - walk->task->files);

    assert(position < walk->task->count);
    return &walk->result->decisions[position];
}

static sinter_status
check_cancelled(const sinter_compact_task *task, sinter_error *err)
{
    if (task->is_cancelled != NULL && task->is_cancelled(task->cancel_ctx)) {
        return SINTER__ERR(err, SINTER_E_CANCELLED, "the task was cancelled");
    }
    return SINTER_OK;
}

/* The file is retired by a rewrite: into `before`, with its decision and counters. */
static sinter_status
retire(task_walk *walk, const sinter_file_meta *file, sinter_reason reason, sinter_error *err)
{
    sinter_file_decision *decision = decision_of(walk, file);

    assert(decision->file == file);
    assert(decision->action == SINTER_ACTION_KEPT);
    SINTER__CHECK(sinter__result_add_before(walk->result, file, err));
    decision->action = SINTER_ACTION_REWRITTEN;
    decision->reason = reason;
    walk->result->counters.files_rewritten++;
    walk->result->counters.bytes_read += file->row_count > 0 ? file->file_size : 0;
    return SINTER_OK;
}

static sinter_status
retire_run(task_walk *walk, const sinter_rewrite_run *run, sinter_reason reason, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < run->count && st == SINTER_OK; i++) {
        st = retire(walk, run->files[i], reason, err);
    }
    return st;
}

static sinter_status
retire_section(task_walk *walk, const sinter_rewrite_section *section, sinter_error *err)
{
    const sinter_reason reason =
        section->count > 1 ? SINTER_REASON_OVERLAP : SINTER_REASON_SMALL_NEIGHBOURS;
    sinter_status st = SINTER_OK;

    for (size_t r = 0; r < section->count && st == SINTER_OK; r++) {
        st = retire_run(walk, &section->runs[r], reason, err);
    }
    return st;
}

/* Rewrite sections in one call; the caller retires the inputs. */
static sinter_status
rewrite(task_walk *walk, const sinter_rewrite_section *sections, size_t count, sinter_error *err)
{
    const sinter_rewrite_request request = {
        .struct_size = (uint32_t)sizeof request,
        .output_level = walk->task->output_level,
        .drop_delete = walk->task->drop_delete,
        .sections = sections,
        .section_count = count,
    };
    const size_t first_new = walk->result->after.list.count;

    assert(count > 0);
    assert(sections[0].count > 0);
    SINTER__CHECK(check_cancelled(walk->task, err));
    if (walk->rewriter == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(walk->rewriter->rewrite(walk->rewriter->ctx, &request, walk->result, err));
    for (size_t i = first_new; i < walk->result->after.list.count; i++) {
        walk->result->counters.bytes_written += walk->result->after.list.files[i].file_size;
    }
    return SINTER_OK;
}

static sinter_status
rewrite_alone(task_walk *walk, const sinter_file_meta *file, sinter_reason reason,
              sinter_error *err)
{
    const sinter_rewrite_run run = {.files = &file, .count = 1};
    const sinter_rewrite_section section = {.runs = &run, .count = 1};

    SINTER__CHECK(rewrite(walk, &section, 1, err));
    return retire(walk, file, reason, err);
}

/* Does the file hold keys outside of the task's range, or may it? */
static bool
is_cut(const sinter_compact_task *task, const sinter_file_meta *file)
{
    return (task->has_begin_key && sinter__key_compare(file->min_key, task->begin_key) < 0) ||
           (task->has_end_key && sinter__key_compare(file->max_key, task->end_key) >= 0);
}

/* Does the file need a rewrite although it could be upgraded? */
static bool
is_rewrite_forced(const task_walk *walk, const sinter_file_meta *file, sinter_reason *reason_out)
{
    const sinter_compact_task *task = walk->task;

    if (task->output_level == task->max_level && file->delete_row_count != 0) {
        *reason_out = file->delete_row_count > 0 ? SINTER_REASON_TOP_DELETES
                                                 : SINTER_REASON_TOP_DELETES_UNKNOWN;
        return true;
    }
    if (task->options->force_rewrite_all_files || (task->rewrites_level_0 && file->level == 0)) {
        *reason_out = SINTER_REASON_FORCED;
        return true;
    }
    if (task->is_expired != NULL && task->is_expired(task->expire_ctx, file)) {
        *reason_out = SINTER_REASON_EXPIRED;
        return true;
    }
    if (is_cut(task, file)) {
        *reason_out = SINTER_REASON_FORCED;
        return true;
    }
    return false;
}

static sinter_status
upgrade(task_walk *walk, const sinter_file_meta *file, sinter_error *err)
{
    sinter_file_decision *decision = decision_of(walk, file);
    sinter_reason reason = SINTER_REASON_AT_LEVEL;

    assert(decision->action == SINTER_ACTION_KEPT);
    assert(file->level <= walk->task->output_level);
    if (is_rewrite_forced(walk, file, &reason)) {
        return rewrite_alone(walk, file, reason, err);
    }
    if (file->level == walk->task->output_level) {
        return SINTER_OK; /* stays "kept, at-level" */
    }
    SINTER__CHECK(sinter__result_add_before(walk->result, file, err));
    SINTER__CHECK(sinter__result_add_upgraded(walk->result, file, walk->task->output_level, err));
    decision->action = SINTER_ACTION_UPGRADED;
    decision->reason = file->file_size < walk->small_file_bytes ? SINTER_REASON_SMALL_ALONE
                                                                : SINTER_REASON_LARGE_ALONE;
    walk->result->counters.files_upgraded++;
    walk->result->counters.bytes_upgraded += file->file_size;
    return SINTER_OK;
}

static sinter_status
upgrade_run(task_walk *walk, const sinter_rewrite_run *run, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < run->count && st == SINTER_OK; i++) {
        st = upgrade(walk, run->files[i], err);
    }
    return st;
}

static sinter_status
flush_candidate(task_walk *walk, sinter_error *err)
{
    const size_t count = walk->section_count;
    sinter_status st = SINTER_OK;

    assert(walk->run_count >= count);
    walk->section_count = 0;
    walk->run_count = 0;
    if (count == 0) {
        return SINTER_OK;
    }
    if (count == 1 && walk->sections[0].count == 1) {
        return upgrade_run(walk, &walk->sections[0].runs[0], err);
    }
    st = rewrite(walk, walk->sections, count, err);
    for (size_t s = 0; s < count && st == SINTER_OK; s++) {
        st = retire_section(walk, &walk->sections[s], err);
    }
    return st;
}

static void
candidate_begin_section(task_walk *walk)
{
    assert(walk->section_count < walk->task->count);
    walk->sections[walk->section_count++] =
        (sinter_rewrite_section){.runs = &walk->runs[walk->run_count], .count = 0};
}

static void
candidate_add_run(task_walk *walk, const sinter_file_meta *const *files, size_t count)
{
    assert(count > 0);
    assert(walk->section_count > 0);
    assert(walk->run_count < walk->task->count);
    walk->runs[walk->run_count++] = (sinter_rewrite_run){.files = files, .count = count};
    walk->sections[walk->section_count - 1].count++;
}

static void
collect_section(task_walk *walk, const sinter_partition *partition, size_t section)
{
    candidate_begin_section(walk);
    for (size_t r = 0; r < sinter_partition_run_count(partition, section); r++) {
        size_t count = 0;
        const sinter_file_meta *const *files = sinter_partition_run(partition, section, r, &count);

        candidate_add_run(walk, files, count);
    }
}

/* A file that overlaps nothing. */
static sinter_status
walk_lonely_file(task_walk *walk, const sinter_file_meta *const *file, sinter_error *err)
{
    if ((*file)->file_size < walk->small_file_bytes) {
        candidate_begin_section(walk);
        candidate_add_run(walk, file, 1);
        return SINTER_OK;
    }
    SINTER__CHECK(flush_candidate(walk, err));
    return upgrade(walk, *file, err);
}

static sinter_status
walk_section(task_walk *walk, const sinter_partition *partition, size_t section, sinter_error *err)
{
    const sinter_file_meta *const *files = NULL;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    if (sinter_partition_run_count(partition, section) > 1) {
        collect_section(walk, partition, section);
        return SINTER_OK;
    }
    files = sinter_partition_run(partition, section, 0, &count);
    for (size_t i = 0; i < count && st == SINTER_OK; i++) {
        st = walk_lonely_file(walk, &files[i], err);
    }
    return st;
}

/* Files without rows belong to no section; they are retired and nothing is written for them. */
static sinter_status
retire_empty_files(task_walk *walk, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < walk->task->count && st == SINTER_OK; i++) {
        const sinter_file_meta *file = &walk->task->files[i];

        st = file->row_count == 0 ? retire(walk, file, SINTER_REASON_EMPTY, err) : SINTER_OK;
    }
    return st;
}

static sinter_status
walk_sections(const sinter_env *env, task_walk *walk, sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(env);
    sinter_partition *partition = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(
        sinter_partition_create(env, walk->task->files, walk->task->count, &partition, err));
    walk->result->counters.plan_us += (sinter__now_ns(env) - begin_ns) / 1000;
    for (size_t s = 0; s < sinter_partition_section_count(partition); s++) {
        SINTER__TRY(walk_section(walk, partition, s, err));
    }
    SINTER__TRY(flush_candidate(walk, err));
    SINTER__TRY(retire_empty_files(walk, err));
out:
    sinter_partition_destroy(partition);
    return st;
}

static sinter_status
walk_file(task_walk *walk, const sinter_file_meta *file, sinter_error *err)
{
    sinter_reason reason = SINTER_REASON_FORCED;

    if (file->row_count == 0) {
        return retire(walk, file, SINTER_REASON_EMPTY, err);
    }
    (void)is_rewrite_forced(walk, file, &reason);
    return rewrite_alone(walk, file, reason, err);
}

/* The file-rewrite task (spec 10): each file by itself, in the given order. */
static sinter_status
walk_files(task_walk *walk, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < walk->task->count && st == SINTER_OK; i++) {
        st = walk_file(walk, &walk->task->files[i], err);
    }
    return st;
}

void
sinter_compact_task_init(sinter_compact_task *task)
{
    memset(task, 0, sizeof *task);
    task->struct_size = (uint32_t)sizeof *task;
    task->output_level = 1;
    task->max_level = 5;
}

static sinter_status
check_task(const sinter_compact_task *task, sinter_error *err)
{
    SINTER__REQUIRE(err, task->files != NULL || task->count == 0);
    if (task->output_level < 1 || task->output_level > task->max_level) {
        return SINTER__ERR(err, SINTER_E_INVALID, "the output level %d is outside of 1..%d",
                           task->output_level, task->max_level);
    }
    SINTER__REQUIRE(err, !task->file_rewrite || !(task->has_begin_key || task->has_end_key));
    SINTER__REQUIRE(err, !task->has_begin_key || !task->has_end_key ||
                             sinter__key_compare(task->begin_key, task->end_key) < 0);
    if (task->count > UINT32_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "%zu files are more than 2^32 - 1",
                           task->count);
    }
    for (size_t i = 0; i < task->count; i++) {
        const sinter_file_meta *file = &task->files[i];

        SINTER__CHECK(sinter__file_meta_check(file, err));
        if (file->level > task->output_level) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, file->file_name, -1,
                                  "the file %s lies in level %d, below the output level %d",
                                  file->file_name, file->level, task->output_level);
        }
    }
    return SINTER_OK;
}

static sinter_status
run_walk(const sinter_env *env, task_walk *walk, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(env, walk->sections, walk->task->count, err));
    SINTER__TRY(SINTER__NEW(env, walk->runs, walk->task->count, err));
    if (walk->task->file_rewrite) {
        SINTER__TRY(walk_files(walk, err));
    } else {
        SINTER__TRY(walk_sections(env, walk, err));
    }
out:
    sinter__free(env, walk->runs);
    sinter__free(env, walk->sections);
    return st;
}

/* Why what was done, in numbers. */
static void
count_reasons(sinter_compact_result *result)
{
    static_assert((int)SINTER_REASON_COUNT <= (int)SINTER_REASONS_MAX, "a counter for each reason");
    for (size_t i = 0; i < result->decision_count; i++) {
        const sinter_file_decision *decision = &result->decisions[i];

        assert(sinter_reason_action(decision->reason) == decision->action);
        result->counters.files_by_reason[decision->reason]++;
    }
}

static void
report(const sinter_env *env, const sinter_compact_task *task, const sinter_compact_result *result,
       bool is_end, sinter_status st)
{
    const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                .job_id = task->job_id,
                                .bucket = task->name,
                                .bytes = result->counters.bytes_written,
                                .records = result->counters.merge.records_out,
                                .duration_ns = result->counters.wall_us * 1000,
                                .status = st};

    if (is_end) {
        SINTER__TELL(env->listener, task_end, &event);
    } else {
        SINTER__TELL(env->listener, task_begin, &event);
    }
}

/* Walk with the built-in rewriter, whose files stay only if all went well. */
static sinter_status
run_merging(const sinter_env *env, task_walk *walk, sinter_error *err)
{
    sinter__merge_rewriter *merging = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__merge_rewriter_create(env, walk->task, &merging, err));
    walk->rewriter = sinter__merge_rewriter_get(merging);
    SINTER__TRY(run_walk(env, walk, err));
    SINTER__TRY(sinter__merge_rewriter_commit(merging, walk->result, err));
out:
    sinter__merge_rewriter_destroy(merging);
    return st;
}

/* Where the files of a caller's rewriter lie, and what they are, only it knows. */
static sinter_status
refuse_read_back(sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                       "sinter.verify-output: files of a rewriter of the caller's can't be read "
                       "back; let it verify them itself");
}

/* Run with everything loaded and checked. `env` has a memory budget. */
static sinter_status
run_loaded(const sinter_env *env, const sinter_compact_task *task, bool is_plan,
           sinter_compact_result **out, sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(env);
    const int64_t begin_cpu_ns = sinter__cpu_ns(env);
    task_walk walk = {.task = task, .rewriter = task->rewriter};
    sinter_compact_counters *counters = NULL;
    sinter_status st = SINTER_OK;

    walk.small_file_bytes = task->small_file_bytes != 0
                                ? task->small_file_bytes
                                : sinter_compact_small_file_bytes(task->options);
    SINTER__CHECK(sinter__result_create(env, task->files, task->count, &walk.result, err));
    counters = &walk.result->counters;
    report(env, task, walk.result, false, SINTER_OK);
    if (is_plan) {
        walk.rewriter = NULL;
        st = run_walk(env, &walk, err);
    } else if (task->rewriter != NULL) {
        st = task->options->verify_output ? refuse_read_back(err) : run_walk(env, &walk, err);
    } else {
        st = run_merging(env, &walk, err);
    }
    count_reasons(walk.result);
    counters->wall_us = (sinter__now_ns(env) - begin_ns) / 1000;
    counters->cpu_us = (sinter__cpu_ns(env) - begin_cpu_ns) / 1000;
    counters->memory_peak_bytes = sinter_memory_peak(env->memory);
    report(env, task, walk.result, true, st);
    if (st == SINTER_OK) {
        *out = walk.result;
        walk.result = NULL;
    }
    sinter_compact_result_destroy(walk.result);
    return st;
}

/* Run with what is given or, where nothing is, a memory budget and a limit of spill files of the
 * task's own. */
static sinter_status
run_budgeted(const sinter_env *env, sinter_compact_task *task, bool is_plan,
             sinter_compact_result **out, sinter_error *err)
{
    const sinter_compact_options *options = task->options;
    sinter_env own_env = *env;
    sinter_memory *own_memory = NULL;
    sinter_memory *own_space = NULL;
    sinter_status st = SINTER_OK;

    if (env->memory == NULL) {
        SINTER__TRY(sinter_memory_create(env, options->memory_bytes, &own_memory, err));
        own_env.memory = own_memory;
    }
    if (task->spill_space == NULL && options->spill_limit_bytes > 0) {
        SINTER__TRY(sinter_memory_create(env, options->spill_limit_bytes, &own_space, err));
        task->spill_space = own_space;
    }
    st = run_loaded(&own_env, task, is_plan, out, err);
out:
    sinter_memory_destroy(own_space);
    sinter_memory_destroy(own_memory);
    return st;
}

static sinter_status
run_task(const sinter_env *env, const sinter_compact_task *given, bool is_plan,
         sinter_compact_result **out, sinter_error *err)
{
    sinter_compact_options options;
    sinter_compact_task task;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, given != NULL);
    sinter_compact_task_init(&task);
    SINTER__CHECK(sinter__struct_load(&task, sizeof task, given, "sinter_compact_task", err));
    SINTER__CHECK(sinter__compact_options_load(task.options, &options, err));
    task.options = &options;
    SINTER__CHECK(check_task(&task, err));
    SINTER__CHECK(sinter__file_names_check(env, task.files, task.count, err));
    return run_budgeted(env, &task, is_plan, out, err);
}

sinter_status
sinter_compact_task_run(const sinter_env *env, const sinter_compact_task *task,
                        sinter_compact_result **out, sinter_error *err)
{
    return run_task(env, task, false, out, err);
}

sinter_status
sinter_compact_task_plan(const sinter_env *env, const sinter_compact_task *task,
                         sinter_compact_result **out, sinter_error *err)
{
    return run_task(env, task, true, out, err);
}
