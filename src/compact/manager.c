/*
 * The compact manager: picks, submits, takes results (spec/compaction.md 8).
 *
 * All of it runs on the thread of the bucket's writer, but for run_task(). A task gets a file set
 * when it is submitted and keeps it to the end of its result; the levels change only when the
 * result is taken, so a result always fits: meanwhile level 0 can only have grown.
 */
#include "compact/manager.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/listener.h"
#include "compact/load.h"
#include "compact/result.h"
#include "compact/scheduler.h"

/* A compaction from its submission to the end of its result. */
typedef struct running_task {
    const sinter_env *env;
    const sinter_file_set *set;
    sinter_file_meta *picked; /* the task's files; NULL: they are the first ones of the set */
    sinter_compact_task task;
    void (*told_progress)(void *ctx, uint64_t bytes, uint64_t records); /* the template's */
    void *told_ctx;
    sinter_compact_result *result;
    sinter_status status;
    sinter_error err;
} running_task;

/* What of the options matters to a manager. */
typedef struct manager_limits {
    uint32_t trigger;
    uint32_t stop_trigger;
    uint32_t num_levels;
    uint32_t open_files_max;
    bool is_write_only;
    uint64_t memory_bytes;
} manager_limits;

struct sinter_manager {
    const sinter_env *env;
    const sinter_compact_task *task; /* the caller's template */
    sinter_scheduler *scheduler;     /* NULL: tasks run inside of trigger */
    sinter_strategy *strategy;
    sinter_levels *levels;
    char *name;
    running_task *running; /* NULL: none, and no result waits */
    sinter__job job;
    sinter__bucket_counters counters;
    _Atomic uint64_t progress_bytes;
    _Atomic uint64_t total_bytes;
    sinter_pick pick;
    manager_limits limits;
    uint64_t job_count; /* tasks so far, without a scheduler */
    bool owns_strategy;
    bool needs_lookup;
    bool keep_deletes;
};

static void
release_running(void *ctx)
{
    running_task *run = ctx;

    if (run != NULL) {
        sinter_file_set_release(run->set);
        sinter__free(run->env, run->picked);
        sinter__free(run->env, run);
    }
}

/* ---- the numbers ---- */

static void
note_levels(sinter_manager *manager)
{
    sinter__bucket_counters *counters = &manager->counters;
    const sinter_file_set *set = sinter_levels_current(manager->levels);
    const int32_t highest = sinter_file_set_highest_level(set);
    size_t run_count = 0;
    size_t file_count = 0;
    size_t level0 = 0;
    const sinter_level_run *runs = sinter_file_set_runs(set, &run_count);

    (void)sinter_file_set_files(set, &file_count);
    while (level0 < run_count && runs[level0].level == 0) {
        level0++;
    }
    sinter__gauge(&counters->runs, run_count);
    sinter__gauge(&counters->level0_files, level0);
    sinter__gauge(&counters->files, file_count);
    sinter__gauge(&counters->bytes, sinter_file_set_bytes(set));
    sinter__gauge(&counters->bottom_bytes,
                  run_count > 0 && highest > 0 ? runs[run_count - 1].bytes : 0);
    if (manager->scheduler != NULL) {
        sinter__scheduler_set_need(manager->scheduler, &manager->job,
                                   run_count > UINT32_MAX ? UINT32_MAX : (uint32_t)run_count);
    }
}

static uint64_t
list_bytes(const sinter_file_list *list)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < list->count; i++) {
        bytes += list->files[i].file_size;
    }
    return bytes;
}

static void
note_result(sinter_manager *manager, const sinter_compact_result *result)
{
    sinter__bucket_counters *counters = &manager->counters;
    const sinter_compact_counters *done = sinter_compact_result_counters(result);

    sinter__count(&counters->compactions_completed, 1);
    sinter__count(&counters->compact_read_bytes, done->bytes_read);
    sinter__count(&counters->compact_written_bytes, done->bytes_written);
    sinter__count(&counters->compact_upgraded_bytes, done->bytes_upgraded);
    sinter__count(&counters->records_superseded, done->merge.superseded);
    sinter__count(&counters->records_deleted, done->merge.deleted);
    sinter__gauge(&counters->last_input_bytes, list_bytes(sinter_compact_result_before(result)));
    sinter__gauge(&counters->last_output_bytes, list_bytes(sinter_compact_result_after(result)));
    sinter__gauge(&counters->last_compaction_ms, (uint64_t)sinter__now_ms(manager->env));
    for (size_t i = 0; i < SINTER_REASON_COUNT; i++) {
        (void)atomic_fetch_add_explicit(&counters->files_by_reason[i],
                                        (uint32_t)done->files_by_reason[i], memory_order_relaxed);
    }
}

/* A strategy of the user's may leave the rule out, or have one of its own. */
static void
note_pick(sinter_manager *manager)
{
    const int32_t rule = manager->pick.rule;
    const bool is_known = rule > SINTER_PICK_NONE && rule < SINTER_PICK_RULE_COUNT;

    sinter__count(&manager->counters.compactions, 1);
    (void)atomic_fetch_add_explicit(
        &manager->counters.picks_by_rule[is_known ? rule : SINTER_PICK_CUSTOM], 1,
        memory_order_relaxed);
}

/* ---- the task ---- */

static bool
should_stop(void *ctx)
{
    sinter_manager *manager = ctx;

    return manager->scheduler != NULL
               ? sinter__scheduler_should_stop(manager->scheduler, &manager->job)
               : atomic_load_explicit(&manager->job.is_cancelled, memory_order_relaxed);
}

static void
note_progress(void *ctx, uint64_t bytes, uint64_t records)
{
    sinter_manager *manager = ctx;

    atomic_store_explicit(&manager->progress_bytes, bytes, memory_order_relaxed);
    if (manager->running->told_progress != NULL) {
        manager->running->told_progress(manager->running->told_ctx, bytes, records);
    }
}

/* On a thread of the scheduler, or inside of trigger. */
static sinter_status
run_task(void *ctx, const sinter_env *env)
{
    sinter_manager *manager = ctx;
    running_task *run = manager->running;
    const int64_t begin_ns = sinter__now_ns(env);

    assert(run->result == NULL);
    run->status = sinter_compact_task_run(env, &run->task, &run->result, &run->err);
    if (run->status != SINTER_OK && run->status != SINTER_E_CANCELLED) {
        const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                    .bucket = manager->name,
                                    .job_id = run->task.job_id,
                                    .file = run->err.file,
                                    .text = run->err.text,
                                    .status = run->status};

        SINTER__TELL(env->listener, background_error, &event);
    }
    sinter__count(&manager->counters.compact_ns, (uint64_t)(sinter__now_ns(env) - begin_ns));
    return run->status;
}

static bool
is_done(const sinter_manager *manager)
{
    return manager->scheduler == NULL || atomic_load(&manager->job.state) == SINTER__JOB_DONE;
}

static sinter_status
submit(sinter_manager *manager, sinter_error *err)
{
    atomic_store(&manager->job.is_cancelled, false);
    if (manager->scheduler != NULL) {
        return sinter__scheduler_submit(manager->scheduler, &manager->job, err);
    }
    (void)run_task(manager, manager->env); /* what it returned is taken with the result */
    return SINTER_OK;
}

/* ---- picking ---- */

/* Do the positions name the first files, in order? */
static bool
is_prefix(const sinter_pick *pick)
{
    for (size_t i = 0; i < pick->member_count; i++) {
        if (pick->members[i] != i) {
            return false;
        }
    }
    return true;
}

/* A strategy of the user's may be wrong. */
static sinter_status
check_pick(const sinter_manager *manager, const running_task *run, const sinter_pick *pick,
           sinter_error *err)
{
    sinter_unit unit = {
        .struct_size = (uint32_t)sizeof unit,
        .output_level = pick->output_level,
        .max_level = run->task.max_level,
        .drop_delete = run->task.drop_delete,
        .members = pick->members,
        .member_count = pick->member_count,
    };

    if (manager->owns_strategy) {
        return SINTER_OK;
    }
    for (size_t i = 0; pick->file_rewrite && i < pick->member_count; i++) {
        if (run->task.files[pick->members[i]].level != pick->output_level) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID,
                                  run->task.files[pick->members[i]].file_name, -1,
                                  "files that are rewritten each by itself have to lie in the "
                                  "output level %d already",
                                  pick->output_level);
        }
    }
    unit.files = sinter_file_set_files(run->set, &unit.count);
    return sinter_unit_check(manager->env, &unit, err);
}

/* Make the pick the task's unit; SINTER_END if it would change nothing (spec 8). */
static sinter_status
use_pick(sinter_manager *manager, running_task *run, const sinter_pick *pick, sinter_error *err)
{
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(run->set, &count);

    if (pick->member_count == 0 ||
        (pick->member_count == 1 && files[pick->members[0]].level == pick->output_level)) {
        return SINTER_END;
    }
    run->task.output_level = pick->output_level;
    run->task.file_rewrite = pick->file_rewrite;
    run->task.drop_delete =
        sinter_unit_drops_deletes(files, count, pick->output_level, false, manager->keep_deletes);
    run->task.files = files;
    run->task.count = pick->member_count;
    SINTER__CHECK(check_pick(manager, run, pick, err));
    if (is_prefix(pick)) {
        return SINTER_OK;
    }
    SINTER__CHECK(SINTER__NEW(run->env, run->picked, pick->member_count, err));
    for (size_t i = 0; i < pick->member_count; i++) {
        run->picked[i] = files[pick->members[i]];
    }
    run->task.files = run->picked;
    return SINTER_OK;
}

/* All files to the highest level; SINTER_END if they lie there and none needs a rewrite. */
static sinter_status
pick_full(sinter_manager *manager, running_task *run, sinter_pick_rule rule, sinter_error *err)
{
    sinter_pick *pick = &manager->pick;
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(run->set, &count);

    SINTER__CHECK(SINTER__NEW(run->env, run->picked, count, err));
    run->task.output_level = run->task.max_level;
    SINTER__CHECK(sinter_compact_task_pick_full(&run->task, files, count, run->picked, err));
    run->task.drop_delete = run->task.drop_delete && !manager->keep_deletes;
    pick->output_level = run->task.output_level;
    pick->file_rewrite = run->task.file_rewrite;
    pick->member_count = run->task.count;
    pick->rule = run->task.file_rewrite ? SINTER_PICK_FULL_REWRITE : (int32_t)rule;
    (void)snprintf(pick->text, sizeof pick->text, "%s: %zu of %zu files to level %d",
                   rule == SINTER_PICK_STALL ? "writers wait and the strategy has nothing"
                                             : "all was asked for",
                   run->task.count, count, run->task.output_level);
    return run->task.count == 0 ? SINTER_END : SINTER_OK;
}

static sinter_status
ask_strategy(sinter_manager *manager, running_task *run, sinter_pick *pick, sinter_error *err)
{
    sinter_pick_request request = {
        .struct_size = (uint32_t)sizeof request,
        .num_levels = sinter_file_set_num_levels(run->set),
        .now_ms = sinter__now_ms(manager->env),
        .local_hour = sinter__local_hour(manager->env),
    };
    sinter_status st = SINTER_OK;

    request.runs = sinter_file_set_runs(run->set, &request.run_count);
    (void)sinter_file_set_files(run->set, &request.file_count);
    SINTER__CHECK(SINTER__NEW(manager->env, pick->members, request.file_count, err));
    st = sinter_strategy_pick(manager->strategy, &request, pick, err);
    if (st == SINTER_OK) {
        st = use_pick(manager, run, pick, err);
    }
    sinter__free(manager->env, pick->members);
    pick->members = NULL;
    return st;
}

static sinter_status
pick_normal(sinter_manager *manager, running_task *run, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    st = ask_strategy(manager, run, &manager->pick, err);
    if (st == SINTER_END && sinter_manager_should_wait_latest(manager)) {
        /* A writer that waits for room must not wait for a compaction that nobody starts. */
        st = pick_full(manager, run, SINTER_PICK_STALL, err);
    }
    return st;
}

/* What the task of the next pick starts from. */
static sinter_status
make_running(sinter_manager *manager, running_task **out, sinter_error *err)
{
    running_task *run = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(SINTER__NEW(manager->env, run, 1, err));
    run->env = manager->env;
    run->status = SINTER_E_CANCELLED; /* should it never run */
    run->err = (sinter_error)SINTER_ERROR_INIT;
    run->set = sinter_file_set_acquire(sinter_levels_current(manager->levels));
    sinter_compact_task_init(&run->task);
    SINTER__TRY(sinter__struct_load(&run->task, sizeof run->task, manager->task,
                                    "sinter_compact_task", err));
    run->task.max_level = (int32_t)(sinter_file_set_num_levels(run->set) - 1);
    run->task.is_cancelled = should_stop;
    run->task.cancel_ctx = manager;
    run->told_progress = run->task.progress;
    run->told_ctx = run->task.progress_ctx;
    run->task.progress = note_progress;
    run->task.progress_ctx = manager;
    run->task.name = manager->name;
    *out = run;
    run = NULL;
out:
    release_running(run);
    return st;
}

static uint64_t
task_bytes(const sinter_compact_task *task)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < task->count; i++) {
        bytes += task->files[i].file_size;
    }
    return bytes;
}

sinter_status
sinter_manager_trigger(sinter_manager *manager, bool full, sinter_error *err)
{
    running_task *run = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, manager != NULL);
    if (full && (manager->running != NULL || manager->limits.is_write_only)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "bucket \"%s\": a full compaction %s",
                           manager->name,
                           manager->running != NULL ? "can't begin while another one runs"
                                                    : "is not for write-only");
    }
    if (manager->running != NULL || manager->limits.is_write_only) {
        return SINTER_END;
    }
    SINTER__CHECK(make_running(manager, &run, err));
    manager->pick = (sinter_pick){.struct_size = (uint32_t)sizeof manager->pick};
    SINTER__TRY(full ? pick_full(manager, run, SINTER_PICK_FULL, err)
                     : pick_normal(manager, run, err));
    if (manager->scheduler == NULL) {
        run->task.job_id = ++manager->job_count; /* else the scheduler counts */
    }
    manager->running = run;
    atomic_store(&manager->progress_bytes, 0);
    atomic_store(&manager->total_bytes, task_bytes(&run->task));
    st = submit(manager, err);
    if (st != SINTER_OK) {
        manager->running = NULL;
        atomic_store(&manager->total_bytes, 0);
        goto out;
    }
    run = NULL;
    note_pick(manager);
    atomic_store(&manager->counters.running, 1);
out:
    release_running(run);
    return st;
}

const sinter_pick *
sinter_manager_last_pick(const sinter_manager *manager)
{
    return &manager->pick;
}

/* ---- results ---- */

/* Nobody is going to name what the task made. */
static void
discard(sinter_manager *manager, running_task *run)
{
    if (run->result != NULL) {
        const sinter_status st =
            sinter_compact_result_discard(manager->env, run->result, manager->task->base_dir, NULL);

        (void)st; /* what stays is an orphan, which cleaning removes */
        sinter_compact_result_destroy(run->result);
        run->result = NULL;
    }
}

static sinter_status
apply(sinter_manager *manager, running_task *run, sinter_error *err)
{
    const sinter_file_list *before = sinter_compact_result_before(run->result);
    const sinter_file_list *after = sinter_compact_result_after(run->result);

    SINTER__CHECK(sinter_levels_update(manager->levels, before->files, before->count, after->files,
                                       after->count, err));
    note_levels(manager);
    note_result(manager, run->result);
    return SINTER_OK;
}

/* The task has ended: give its result away, or tell its failure. Ends `run` in any case. */
static sinter_status
finish(sinter_manager *manager, running_task *run, sinter_compact_result **out, sinter_error *err)
{
    sinter_status st = run->status;

    if (st == SINTER_OK) {
        st = apply(manager, run, err);
    } else if (err != NULL && st != SINTER_E_CANCELLED) {
        *err = run->err;
    }
    if (st == SINTER_OK) {
        *out = run->result;
        run->result = NULL;
        sinter__result_hold(*out, release_running, run);
        return SINTER_OK;
    }
    sinter__count(st == SINTER_E_CANCELLED ? &manager->counters.compactions_cancelled
                                           : &manager->counters.compactions_failed,
                  1);
    discard(manager, run);
    release_running(run);
    return st == SINTER_E_CANCELLED ? SINTER_END : st;
}

sinter_status
sinter_manager_take_result(sinter_manager *manager, bool wait, sinter_compact_result **out,
                           sinter_error *err)
{
    running_task *run = NULL;

    SINTER__REQUIRE(err, manager != NULL && out != NULL);
    *out = NULL;
    if (manager->running == NULL || (!wait && !is_done(manager))) {
        return SINTER_END;
    }
    if (!is_done(manager)) {
        SINTER__CHECK(sinter__scheduler_wait(manager->scheduler, &manager->job, err));
    }
    if (manager->scheduler != NULL) {
        sinter__scheduler_reset(manager->scheduler, &manager->job);
    }
    run = manager->running;
    manager->running = NULL;
    atomic_store(&manager->counters.running, 0);
    atomic_store(&manager->total_bytes, 0);
    return finish(manager, run, out, err);
}

void
sinter_manager_cancel(sinter_manager *manager)
{
    if (manager->scheduler != NULL) {
        sinter__scheduler_cancel(manager->scheduler, &manager->job);
    } else {
        atomic_store(&manager->job.is_cancelled, true);
    }
}

/* ---- state ---- */

sinter_status
sinter_manager_add_file(sinter_manager *manager, const sinter_file_meta *file, sinter_error *err)
{
    SINTER__REQUIRE(err, manager != NULL && file != NULL);
    return sinter__manager_add_files(manager, file, 1, err);
}

sinter_status
sinter__manager_add_files(sinter_manager *manager, const sinter_file_meta *files, size_t count,
                          sinter_error *err)
{
    const uint32_t num_levels = sinter_file_set_num_levels(sinter_levels_current(manager->levels));

    for (size_t i = 0; i < count; i++) {
        if (files[i].level >= 0 && (uint32_t)files[i].level >= num_levels) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, files[i].file_name, -1,
                                  "the file %s lies in level %d of a bucket with %u levels",
                                  files[i].file_name, files[i].level, num_levels);
        }
    }
    SINTER__CHECK(sinter_levels_update(manager->levels, NULL, 0, files, count, err));
    note_levels(manager);
    return SINTER_OK;
}

bool
sinter_manager_is_busy(const sinter_manager *manager)
{
    size_t run_count = 0;
    const sinter_level_run *runs =
        sinter_file_set_runs(sinter_levels_current(manager->levels), &run_count);

    return manager->running != NULL ||
           (manager->needs_lookup && run_count > 0 && runs[0].level == 0);
}

bool
sinter_manager_should_wait_latest(const sinter_manager *manager)
{
    return !manager->limits.is_write_only &&
           sinter_levels_run_count(manager->levels) > manager->limits.stop_trigger;
}

bool
sinter_manager_should_wait_prepare(const sinter_manager *manager)
{
    return !manager->limits.is_write_only && (uint64_t)sinter_levels_run_count(manager->levels) >
                                                 (uint64_t)manager->limits.stop_trigger + 1;
}

bool
sinter__manager_has_task(const sinter_manager *manager)
{
    return manager->running != NULL;
}

bool
sinter__manager_has_failed(const sinter_manager *manager)
{
    return manager->running != NULL && is_done(manager) && manager->running->status != SINTER_OK;
}

double
sinter__manager_pressure(const sinter_manager *manager)
{
    const size_t runs = sinter_levels_run_count(manager->levels);
    const manager_limits *limits = &manager->limits;

    if (manager->scheduler == NULL || atomic_load(&manager->job.state) != SINTER__JOB_RUNNING ||
        runs <= limits->trigger || limits->is_write_only) {
        return 0;
    }
    return runs > limits->stop_trigger ? 1
                                       : (double)(runs - limits->trigger) /
                                             (double)(limits->stop_trigger - limits->trigger + 1);
}

const sinter_file_set *
sinter_manager_acquire(sinter_manager *manager)
{
    return sinter_levels_acquire(manager->levels);
}

void
sinter_manager_progress(const sinter_manager *manager, uint64_t *bytes_out, uint64_t *total_out)
{
    const uint64_t total = atomic_load(&manager->total_bytes);
    const uint64_t bytes = atomic_load(&manager->progress_bytes);

    *bytes_out = bytes < total ? bytes : total;
    *total_out = total;
}

void
sinter_manager_metrics_get(const sinter_manager *manager, sinter_bucket_metrics *out)
{
    sinter__bucket_counters_get(&manager->counters, out);
}

sinter_levels *
sinter__manager_levels(const sinter_manager *manager)
{
    return manager->levels;
}

const char *
sinter__manager_name(const sinter_manager *manager)
{
    return manager->name;
}

sinter__bucket_counters *
sinter__manager_counters(sinter_manager *manager)
{
    return &manager->counters;
}

/* ---- life ---- */

static sinter_status
load_limits(sinter_manager *manager, sinter_compact_options *options, sinter_error *err)
{
    SINTER__CHECK(sinter__compact_options_load(manager->task->options, options, err));
    manager->needs_lookup = manager->needs_lookup || sinter_compact_needs_lookup(options);
    manager->limits = (manager_limits){
        .trigger = options->num_sorted_run_trigger,
        .stop_trigger = sinter_compact_stop_trigger(options),
        .num_levels = sinter_compact_num_levels(options),
        .open_files_max = options->open_files_max,
        .is_write_only = options->write_only,
        .memory_bytes = options->memory_bytes,
    };
    return SINTER_OK;
}

/* Restored files at the highest configured level tell when the last full compaction was. */
static sinter_strategy_origin
find_origin(const sinter_manager_config *config, uint32_t num_levels)
{
    sinter_strategy_origin origin = {.struct_size = (uint32_t)sizeof origin};

    for (size_t i = 0; i < config->count; i++) {
        const sinter_file_meta *file = &config->files[i];

        if (file->level == (int32_t)num_levels - 1 &&
            (!origin.has_last_full || file->creation_time_ms > origin.last_full_ms)) {
            origin.has_last_full = true;
            origin.last_full_ms = file->creation_time_ms;
        }
    }
    return origin;
}

static sinter_status
make_parts(sinter_manager *manager, const sinter_manager_config *config, sinter_error *err)
{
    const sinter_env *env = manager->env;
    sinter_levels_options levels = {.struct_size = (uint32_t)sizeof levels};
    sinter_compact_options options;
    sinter_strategy_origin origin;

    SINTER__CHECK(load_limits(manager, &options, err));
    levels.num_levels = manager->limits.num_levels;
    levels.base_dir = manager->task->base_dir;
    SINTER__CHECK(
        sinter_levels_create(env, &levels, config->files, config->count, &manager->levels, err));
    manager->strategy = config->strategy;
    if (config->strategy == NULL) {
        origin = find_origin(config, manager->limits.num_levels);
        origin.needs_lookup = manager->needs_lookup;
        SINTER__CHECK(sinter_strategy_create(env, &options, &origin, &manager->strategy, err));
        manager->owns_strategy = true;
    }
    return sinter__strdup(env, config->name != NULL ? config->name : "", &manager->name, err);
}

static sinter_status
enter_scheduler(sinter_manager *manager, sinter_scheduler *scheduler, sinter_error *err)
{
    manager->job.run = run_task;
    manager->job.ctx = manager;
    manager->job.counters = &manager->counters;
    manager->job.name = manager->name;
    manager->job.memory_bytes = manager->limits.memory_bytes;
    manager->job.open_files = manager->limits.open_files_max;
    if (scheduler != NULL) {
        SINTER__CHECK(sinter__scheduler_check(scheduler, &manager->job, err));
        sinter__scheduler_enter(scheduler, &manager->job);
        manager->scheduler = scheduler;
    }
    return SINTER_OK;
}

sinter_status
sinter_manager_create(const sinter_env *env, const sinter_manager_config *given,
                      sinter_manager **out, sinter_error *err)
{
    sinter_manager_config config = {.struct_size = (uint32_t)sizeof config};
    sinter_manager *manager = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, given != NULL);
    SINTER__CHECK(sinter__struct_load(&config, sizeof config, given, "sinter_manager_config", err));
    SINTER__REQUIRE(err, config.task != NULL);
    SINTER__REQUIRE(err, config.files != NULL || config.count == 0);
    SINTER__TRY(SINTER__NEW(env, manager, 1, err));
    manager->env = env;
    manager->task = config.task;
    manager->needs_lookup = config.needs_lookup;
    manager->keep_deletes = config.keep_deletes;
    SINTER__TRY(make_parts(manager, &config, err));
    SINTER__TRY(enter_scheduler(manager, config.scheduler, err));
    note_levels(manager);
    *out = manager;
    manager = NULL;
out:
    sinter_manager_destroy(manager);
    return st;
}

/* Let a running task end; its files go. */
static void
end_running(sinter_manager *manager)
{
    running_task *run = manager->running;

    if (run == NULL) {
        return;
    }
    if (manager->scheduler != NULL) {
        sinter__scheduler_cancel(manager->scheduler, &manager->job);
        /* Waiting for a cancelled job can't fail. */
        (void)sinter__scheduler_wait(manager->scheduler, &manager->job, NULL);
        sinter__scheduler_reset(manager->scheduler, &manager->job);
    }
    discard(manager, run);
    release_running(run);
    manager->running = NULL;
}

void
sinter_manager_destroy(sinter_manager *manager)
{
    if (manager != NULL) {
        const sinter_env *env = manager->env;

        end_running(manager);
        if (manager->scheduler != NULL) {
            sinter__scheduler_leave(manager->scheduler, &manager->job);
        }
        if (manager->owns_strategy) {
            sinter_strategy_destroy(manager->strategy);
        }
        sinter_levels_destroy(manager->levels);
        sinter__free(env, manager->name);
        sinter__free(env, manager);
    }
}
