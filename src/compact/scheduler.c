/*
 * A scheduler as its callers see it; who runs what is in dispatch.c.
 */
#include "compact/scheduler.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/load.h"
#include "compact/scheduler_priv.h"

enum { TASKS_MAX = 1024 };

static sinter_status
check_options(const sinter_env *env, const sinter_scheduler_options *options, sinter_error *err)
{
    SINTER__REQUIRE(err, options->tasks_max <= TASKS_MAX);
    SINTER__REQUIRE(err, options->when_full >= SINTER_QUEUE_REFUSE);
    SINTER__REQUIRE(err, options->when_full <= SINTER_QUEUE_RUN_IN_CALLER);
    SINTER__REQUIRE(err, options->limit_mode >= SINTER_IO_LIMIT_WRITES);
    SINTER__REQUIRE(err, options->limit_mode <= SINTER_IO_LIMIT_ALL);
    SINTER__REQUIRE(err, env->clock.sleep_ns != NULL ||
                             (options->bytes_per_second | options->read_bytes_per_second |
                              options->write_bytes_per_second) == 0);
    return SINTER_OK;
}

/* What the tasks read and write through. */
static sinter_status
create_io(sinter_scheduler *scheduler, const sinter_scheduler_options *options, sinter_error *err)
{
    const sinter_io_watch_options watch = {.struct_size = (uint32_t)sizeof watch,
                                           .slow_ns = options->slow_io_ns};
    const sinter_io_limit_options limit = {.struct_size = (uint32_t)sizeof limit,
                                           .mode = (sinter_io_limit_mode)options->limit_mode,
                                           .bytes_per_second = options->bytes_per_second,
                                           .read_bytes_per_second = options->read_bytes_per_second,
                                           .write_bytes_per_second =
                                               options->write_bytes_per_second};
    const sinter_env *env = &scheduler->env;

    SINTER__CHECK(sinter_io_watch_create(env, env->io, &watch, &scheduler->watch, err));
    if (env->clock.sleep_ns != NULL) {
        SINTER__CHECK(
            sinter_io_limit_create(env, scheduler->watch, &limit, &scheduler->limit, err));
    }
    return SINTER_OK;
}

static void
destroy_io(sinter_scheduler *scheduler)
{
    sinter_io_destroy(scheduler->limit);
    sinter_io_destroy(scheduler->watch);
}

sinter_status
sinter_scheduler_create(const sinter_env *env, const sinter_scheduler_options *options,
                        sinter_scheduler **out, sinter_error *err)
{
    sinter_scheduler_options known = {.struct_size = (uint32_t)sizeof known};
    sinter_scheduler *scheduler = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && env->io != NULL && out != NULL);
    *out = NULL;
    if (options != NULL) {
        SINTER__CHECK(
            sinter__struct_load(&known, sizeof known, options, "sinter_scheduler_options", err));
    }
    SINTER__CHECK(check_options(env, &known, err));
    SINTER__CHECK(SINTER__NEW(env, scheduler, 1, err));
    scheduler->env = *env;
    scheduler->when_full = known.when_full;
    scheduler->queue_max = known.queue_max;
    scheduler->memory_max = known.memory_bytes == 0 ? UINT64_MAX : known.memory_bytes;
    scheduler->open_files_max = known.open_files_max == 0 ? UINT32_MAX : known.open_files_max;
    scheduler->age_runs_per_second = known.age_runs_per_second == 0 ? 1 : known.age_runs_per_second;
    scheduler->users = 1;
    atomic_init(&scheduler->tasks_max, known.tasks_max == 0 ? 1 : known.tasks_max);
    scheduler->limit_mode = (sinter_io_limit_mode)known.limit_mode;
    atomic_init(&scheduler->rates[SINTER_IO_LIMIT_READS], known.read_bytes_per_second);
    atomic_init(&scheduler->rates[SINTER_IO_LIMIT_WRITES], known.write_bytes_per_second);
    if (known.bytes_per_second > 0) {
        atomic_init(&scheduler->rates[known.limit_mode], known.bytes_per_second);
    }
    SINTER__TRY(create_io(scheduler, &known, err));
    SINTER__TRY(sinter__monitor_init(&scheduler->monitor, err));
    *out = scheduler;
    scheduler = NULL;
out:
    if (scheduler != NULL) {
        destroy_io(scheduler);
        sinter__free(env, scheduler);
    }
    return st;
}

void
sinter_scheduler_destroy(sinter_scheduler *scheduler)
{
    if (scheduler == NULL) {
        return;
    }
    sinter__monitor_lock(&scheduler->monitor);
    assert(scheduler->buckets == NULL);
    assert(scheduler->queue == NULL);
    scheduler->is_closed = true;
    while (atomic_load(&scheduler->running) > 0) {
        sinter__monitor_wait(&scheduler->monitor);
    }
    destroy_io(scheduler); /* only jobs used it */
    sinter__scheduler_release(scheduler);
}

void
sinter_scheduler_pause(sinter_scheduler *scheduler)
{
    sinter__monitor_lock(&scheduler->monitor);
    atomic_store(&scheduler->is_paused, true);
    sinter__monitor_tell_all(&scheduler->monitor); /* who waits for tasks gives up */
    sinter__monitor_unlock(&scheduler->monitor);
}

void
sinter_scheduler_resume(sinter_scheduler *scheduler)
{
    sinter__monitor_lock(&scheduler->monitor);
    atomic_store(&scheduler->is_paused, false);
    sinter__monitor_tell_all(&scheduler->monitor);
    sinter__scheduler_call_runners(scheduler);
    sinter__monitor_unlock(&scheduler->monitor);
}

void
sinter_scheduler_cancel_all(sinter_scheduler *scheduler)
{
    sinter__monitor_lock(&scheduler->monitor);
    for (sinter__job *job = scheduler->buckets; job != NULL; job = job->next_bucket) {
        sinter__scheduler_cancel_held(scheduler, job);
    }
    sinter__monitor_unlock(&scheduler->monitor);
}

sinter_status
sinter_scheduler_drain(sinter_scheduler *scheduler, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, scheduler != NULL);
    sinter__monitor_lock(&scheduler->monitor);
    while (atomic_load(&scheduler->queued) > 0 || atomic_load(&scheduler->running) > 0) {
        if (atomic_load(&scheduler->is_paused)) {
            st = SINTER_E_BUSY;
            break;
        }
        if (!sinter__scheduler_run_next(scheduler)) {
            sinter__monitor_wait(&scheduler->monitor);
        }
    }
    sinter__monitor_unlock(&scheduler->monitor);
    return st == SINTER_OK ? st
                           : SINTER__ERR(err, st,
                                         "the scheduler is paused: its tasks end only after "
                                         "sinter_scheduler_resume()");
}

sinter_status
sinter_scheduler_run_one(sinter_scheduler *scheduler)
{
    bool has_run = false;

    sinter__monitor_lock(&scheduler->monitor);
    has_run = sinter__scheduler_run_next(scheduler);
    sinter__scheduler_call_runners(scheduler);
    sinter__monitor_unlock(&scheduler->monitor);
    return has_run ? SINTER_OK : SINTER_END;
}

sinter_status
sinter_scheduler_set_side_rate(sinter_scheduler *scheduler, sinter_io_limit_mode side,
                               uint64_t bytes_per_second, sinter_error *err)
{
    SINTER__REQUIRE(err, scheduler != NULL);
    if (scheduler->limit == NULL) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "a rate needs a clock that sleeps: set clock.sleep_ns of the "
                           "environment before the scheduler is made");
    }
    SINTER__CHECK(sinter_io_limit_set_side(scheduler->limit, side, bytes_per_second, err));
    atomic_store(&scheduler->rates[side], bytes_per_second);
    return SINTER_OK;
}

sinter_status
sinter_scheduler_set_rate(sinter_scheduler *scheduler, uint64_t bytes_per_second, sinter_error *err)
{
    SINTER__REQUIRE(err, scheduler != NULL);
    return sinter_scheduler_set_side_rate(scheduler, scheduler->limit_mode, bytes_per_second, err);
}

sinter_status
sinter_scheduler_set_tasks_max(sinter_scheduler *scheduler, uint32_t tasks_max, sinter_error *err)
{
    SINTER__REQUIRE(err, scheduler != NULL);
    SINTER__REQUIRE(err, tasks_max >= 1 && tasks_max <= TASKS_MAX);
    sinter__monitor_lock(&scheduler->monitor);
    atomic_store(&scheduler->tasks_max, tasks_max);
    sinter__monitor_tell_all(&scheduler->monitor); /* who waits may begin the neediest */
    sinter__scheduler_call_runners(scheduler);
    sinter__monitor_unlock(&scheduler->monitor);
    return SINTER_OK;
}

void
sinter_scheduler_metrics_get(const sinter_scheduler *scheduler, sinter_scheduler_metrics *out)
{
    sinter_io_watch_counters io = {.struct_size = (uint32_t)sizeof io};
    sinter_scheduler_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};

    sinter_io_watch_counters_get(scheduler->watch, &io);
    metrics.tasks_max = atomic_load(&scheduler->tasks_max);
    metrics.running = atomic_load(&scheduler->running);
    metrics.queued = atomic_load(&scheduler->queued);
    metrics.paused = atomic_load(&scheduler->is_paused) ? 1 : 0;
    metrics.buckets = atomic_load(&scheduler->bucket_count);
    metrics.submitted = atomic_load(&scheduler->submitted);
    metrics.completed = atomic_load(&scheduler->completed);
    metrics.failed = atomic_load(&scheduler->failed);
    metrics.cancelled = atomic_load(&scheduler->cancelled);
    metrics.refused = atomic_load(&scheduler->refused);
    metrics.busy_ns = atomic_load(&scheduler->busy_ns);
    metrics.wait_ns = atomic_load(&scheduler->wait_ns);
    metrics.slow_ios = io.slow_calls;
    metrics.read_bytes = io.read_bytes;
    metrics.written_bytes = io.written_bytes;
    metrics.bytes_per_second = atomic_load(&scheduler->rates[scheduler->limit_mode]);
    metrics.read_bytes_per_second = atomic_load(&scheduler->rates[SINTER_IO_LIMIT_READS]);
    metrics.write_bytes_per_second = atomic_load(&scheduler->rates[SINTER_IO_LIMIT_WRITES]);
    metrics.memory_bytes = atomic_load(&scheduler->memory_used);
    metrics.open_files = atomic_load(&scheduler->open_files_used);
    sinter__struct_store(out, &metrics, sizeof metrics);
}

/* ---- buckets ---- */

void
sinter__scheduler_enter(sinter_scheduler *scheduler, sinter__job *job)
{
    sinter__monitor_lock(&scheduler->monitor);
    assert(!scheduler->is_closed);
    job->previous_bucket = NULL;
    job->next_bucket = scheduler->buckets;
    if (scheduler->buckets != NULL) {
        scheduler->buckets->previous_bucket = job;
    }
    scheduler->buckets = job;
    (void)atomic_fetch_add(&scheduler->bucket_count, 1);
    sinter__monitor_unlock(&scheduler->monitor);
}

void
sinter__scheduler_leave(sinter_scheduler *scheduler, sinter__job *job)
{
    sinter__monitor_lock(&scheduler->monitor);
    assert(atomic_load(&job->state) != SINTER__JOB_QUEUED);
    assert(atomic_load(&job->state) != SINTER__JOB_RUNNING);
    if (job->previous_bucket != NULL) {
        job->previous_bucket->next_bucket = job->next_bucket;
    } else {
        assert(scheduler->buckets == job);
        scheduler->buckets = job->next_bucket;
    }
    if (job->next_bucket != NULL) {
        job->next_bucket->previous_bucket = job->previous_bucket;
    }
    (void)atomic_fetch_sub(&scheduler->bucket_count, 1);
    sinter__monitor_unlock(&scheduler->monitor);
}
