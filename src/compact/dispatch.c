/*
 * Who runs what, and when.
 *
 * Jobs wait in a queue (job_queue.h). They are run by *runners*, calls that the executor takes, of
 * which there are as many as could begin something; a runner goes on until it finds nothing to
 * begin. And they are run by callers that wait: for their own job, for a place in the queue, for
 * the end of all. A caller never only waits for a job that nobody has begun, so nothing depends on
 * the executor having a thread left, or on its taking anything.
 *
 * The neediest job begins when there is a slot (tasks_max), memory and files for it. While it waits
 * for room nothing else is begun out of the queue, so that it gets its room however small the
 * others are. The one exception: a caller begins its own job without a slot, if there is room for
 * it beside what the neediest takes.
 *
 * Who waits for news waits while something runs: either the slots are taken, or room is.
 */
#include <assert.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/listener.h"
#include "base/memory.h"
#include "compact/job_queue.h"
#include "compact/scheduler_priv.h"
#include "io/limit.h"
#include "io/watch.h"

/* ---- admission; everything here is called with the monitor held ---- */

static sinter__job_state
state_of(const sinter__job *job)
{
    return (sinter__job_state)atomic_load(&job->state);
}

/* Was it put into the queue? One that waits for a place there was not. */
static bool
is_in_queue(const sinter_scheduler *scheduler, const sinter__job *job)
{
    return job == scheduler->queue || job->before != NULL;
}

/* Is there room for a job, and for another beside it (NULL: none)? */
static bool
has_room(const sinter_scheduler *scheduler, const sinter__job *job, const sinter__job *beside)
{
    uint64_t memory = scheduler->memory_max - atomic_load(&scheduler->memory_used);
    uint32_t files = scheduler->open_files_max - atomic_load(&scheduler->open_files_used);

    if (beside != NULL && beside != job) {
        if (beside->memory_bytes > memory || beside->open_files > files) {
            return false;
        }
        memory -= beside->memory_bytes;
        files -= beside->open_files;
    }
    return job->memory_bytes <= memory && job->open_files <= files;
}

/* May the neediest job begin? */
static bool
can_begin_next(const sinter_scheduler *scheduler)
{
    return scheduler->queue != NULL && !scheduler->is_closed &&
           !atomic_load(&scheduler->is_paused) &&
           atomic_load(&scheduler->running) < atomic_load(&scheduler->tasks_max) &&
           has_room(scheduler, scheduler->queue, NULL);
}

static void
enqueue(sinter_scheduler *scheduler, sinter__job *job)
{
    job->due_ns = sinter__job_due_ns(job, scheduler->age_runs_per_second);
    scheduler->queue = sinter__job_queue_add(scheduler->queue, job);
    (void)atomic_fetch_add(&scheduler->queued, 1);
}

static void
dequeue(sinter_scheduler *scheduler, sinter__job *job)
{
    assert(is_in_queue(scheduler, job));
    scheduler->queue = sinter__job_queue_remove(scheduler->queue, job);
    (void)atomic_fetch_sub(&scheduler->queued, 1);
    sinter__monitor_tell_all(&scheduler->monitor); /* there is a place */
}

static void
begin(sinter_scheduler *scheduler, sinter__job *job)
{
    assert(state_of(job) == SINTER__JOB_QUEUED);
    dequeue(scheduler, job);
    atomic_store(&job->state, SINTER__JOB_RUNNING);
    (void)atomic_fetch_add(&scheduler->running, 1);
    (void)atomic_fetch_add(&scheduler->memory_used, job->memory_bytes);
    (void)atomic_fetch_add(&scheduler->open_files_used, job->open_files);
}

/* The job belongs to its owner from its last line on. */
static void
end(sinter_scheduler *scheduler, sinter__job *job, sinter_status st, int64_t took_ns)
{
    const bool is_cancelled =
        st == SINTER_E_CANCELLED || (st != SINTER_OK && atomic_load(&job->is_cancelled));

    assert(took_ns >= 0);
    if (is_cancelled) {
        (void)atomic_fetch_add(&scheduler->cancelled, 1);
    } else if (st == SINTER_OK) {
        (void)atomic_fetch_add(&scheduler->completed, 1);
    } else {
        (void)atomic_fetch_add(&scheduler->failed, 1);
    }
    (void)atomic_fetch_add(&scheduler->busy_ns, (uint64_t)took_ns);
    scheduler->last_ns[scheduler->ended++ % SINTER__SCHEDULER_LAST_TASKS] = took_ns;
    (void)atomic_fetch_sub(&scheduler->running, 1);
    (void)atomic_fetch_sub(&scheduler->memory_used, job->memory_bytes);
    (void)atomic_fetch_sub(&scheduler->open_files_used, job->open_files);
    sinter__monitor_tell_all(&scheduler->monitor);
    atomic_store(&job->state, SINTER__JOB_DONE);
}

/* ---- running ---- */

/* What the wrappers of a running job know it by. */
typedef struct running_job {
    sinter_scheduler *scheduler;
    sinter__job *job;
} running_job;

static bool
should_stop(void *ctx)
{
    const running_job *running = ctx;

    return sinter__scheduler_should_stop(running->scheduler, running->job);
}

/* Run a job that was begun. The monitor is held, but for the run. */
static void
run(sinter_scheduler *scheduler, sinter__job *job)
{
    running_job running = {.scheduler = scheduler, .job = job};
    sinter_env env = scheduler->env;
    sinter_memory budget;
    sinter__watch_io watch;
    sinter__limit_io limit;
    sinter__named_listener listener;
    sinter_status st = SINTER_OK;
    int64_t begin_ns = 0;
    int64_t end_ns = 0;

    sinter__monitor_unlock(&scheduler->monitor);
    if (job->memory_bytes > 0) {
        sinter__memory_init(&budget, scheduler->env.memory, job->memory_bytes);
        env.memory = &budget;
    }
    env.listener = sinter__named_listener_init(&listener, scheduler->env.listener,
                                               job->name == NULL ? "" : job->name, job->id);
    env.io = sinter__watch_share(scheduler->watch, &env, &watch);
    if (scheduler->limit != NULL) {
        env.io = sinter__limit_share(scheduler->limit, env.io, &limit, should_stop, &running);
    }
    begin_ns = sinter__now_ns(&env);
    st = job->run(job->ctx, &env);
    end_ns = sinter__now_ns(&env);
    assert(job->memory_bytes == 0 || sinter_memory_used(&budget) == 0);
    sinter__monitor_lock(&scheduler->monitor);
    if (begin_ns > job->queued_ns) {
        (void)atomic_fetch_add(&scheduler->wait_ns, (uint64_t)(begin_ns - job->queued_ns));
    }
    end(scheduler, job, st, end_ns - begin_ns);
}

bool
sinter__scheduler_run_next(sinter_scheduler *scheduler)
{
    sinter__job *job = scheduler->queue;

    if (!can_begin_next(scheduler)) {
        return false;
    }
    begin(scheduler, job);
    run(scheduler, job);
    return true;
}

/* ---- runners ---- */

void
sinter__scheduler_release(sinter_scheduler *scheduler)
{
    const bool is_last = --scheduler->users == 0;

    sinter__monitor_unlock(&scheduler->monitor);
    if (is_last) {
        const sinter_env env = scheduler->env;

        sinter__monitor_fini(&scheduler->monitor);
        sinter__free(&env, scheduler);
    }
}

/* What the executor is given. It may come late, or when the scheduler is gone for everybody else.
 */
static void
runner(void *arg)
{
    sinter_scheduler *scheduler = arg;

    sinter__monitor_lock(&scheduler->monitor);
    scheduler->coming--;
    while (can_begin_next(scheduler)) {
        sinter__job *job = scheduler->queue;

        begin(scheduler, job);
        sinter__scheduler_call_runners(scheduler); /* an end may have made room for several */
        run(scheduler, job);
    }
    sinter__scheduler_release(scheduler);
}

/* Is there more to begin than runners that will come? */
static bool
needs_runner(const sinter_scheduler *scheduler)
{
    const uint32_t queued = atomic_load(&scheduler->queued);
    uint32_t slots = 0;

    if (!can_begin_next(scheduler)) {
        return false;
    }
    slots = atomic_load(&scheduler->tasks_max) - atomic_load(&scheduler->running);
    return (queued < slots ? queued : slots) > scheduler->coming;
}

void
sinter__scheduler_call_runners(sinter_scheduler *scheduler)
{
    const sinter_executor *executor = &scheduler->env.executor;
    sinter_status st = SINTER_OK;

    /* One thread at a time: an executor that runs what it is given at once would go deeper with
     * every job. */
    if (executor->submit == NULL || scheduler->is_calling) {
        return;
    }
    scheduler->is_calling = true;
    while (st == SINTER_OK && needs_runner(scheduler)) {
        scheduler->coming++;
        scheduler->users++;
        sinter__monitor_unlock(&scheduler->monitor);
        st = executor->submit(executor->ctx, runner, scheduler);
        sinter__monitor_lock(&scheduler->monitor);
        if (st != SINTER_OK) { /* the next event tries again */
            scheduler->coming--;
            scheduler->users--;
        }
    }
    scheduler->is_calling = false;
}

/* ---- jobs ---- */

/* Wait until the queue has a place. The monitor is held; the job is QUEUED and not in the queue.
 * SINTER_END: it was cancelled. */
static sinter_status
wait_for_place(sinter_scheduler *scheduler, const sinter__job *job, sinter_error *err)
{
    while (state_of(job) == SINTER__JOB_QUEUED &&
           atomic_load(&scheduler->queued) >= scheduler->queue_max) {
        if (atomic_load(&scheduler->is_paused)) {
            return SINTER__ERR(err, SINTER_E_BUSY,
                               "%u tasks wait, which is all there is room for, and the scheduler "
                               "is paused: resume it or raise queue_max",
                               scheduler->queue_max);
        }
        if (!sinter__scheduler_run_next(scheduler)) {
            sinter__monitor_wait(&scheduler->monitor);
        }
    }
    return state_of(job) == SINTER__JOB_QUEUED ? SINTER_OK : SINTER_END;
}

/* Run jobs until this one, which is in the queue, was begun by somebody. The monitor is held.
 * SINTER_E_BUSY: paused. */
static sinter_status
run_until_begun(sinter_scheduler *scheduler, sinter__job *job)
{
    while (state_of(job) == SINTER__JOB_QUEUED) {
        if (atomic_load(&scheduler->is_paused)) {
            return SINTER_E_BUSY;
        }
        if (has_room(scheduler, job, scheduler->queue)) {
            begin(scheduler, job);
            run(scheduler, job);
        } else if (!sinter__scheduler_run_next(scheduler)) {
            sinter__monitor_wait(&scheduler->monitor);
        }
    }
    return SINTER_OK;
}

static sinter_status
run_in_caller(sinter_scheduler *scheduler, sinter__job *job, sinter_error *err)
{
    enqueue(scheduler, job);
    if (run_until_begun(scheduler, job) == SINTER_OK) {
        return SINTER_OK;
    }
    dequeue(scheduler, job);
    return SINTER__ERR(err, SINTER_E_BUSY,
                       "%u tasks wait, which is all there is room for, and the scheduler is "
                       "paused: resume it or raise queue_max",
                       scheduler->queue_max);
}

static sinter_status
submit_held(sinter_scheduler *scheduler, sinter__job *job, sinter_error *err)
{
    const bool is_full =
        scheduler->queue_max > 0 && atomic_load(&scheduler->queued) >= scheduler->queue_max;

    if (is_full && scheduler->when_full == SINTER_QUEUE_REFUSE) {
        (void)atomic_fetch_add(&scheduler->refused, 1);
        return SINTER__ERR(err, SINTER_E_BUSY,
                           "%u tasks wait, which is all there is room for: try again later or "
                           "raise queue_max",
                           scheduler->queue_max);
    }
    if (is_full && scheduler->when_full == SINTER_QUEUE_RUN_IN_CALLER) {
        return run_in_caller(scheduler, job, err);
    }
    if (is_full) {
        const sinter_status st = wait_for_place(scheduler, job, err);

        if (st != SINTER_OK) {
            return st == SINTER_END ? SINTER_OK : st;
        }
    }
    enqueue(scheduler, job);
    return SINTER_OK;
}

sinter_status
sinter__scheduler_check(const sinter_scheduler *scheduler, const sinter__job *job,
                        sinter_error *err)
{
    if (job->memory_bytes > scheduler->memory_max ||
        (job->memory_bytes == 0 && scheduler->memory_max != UINT64_MAX)) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a task with a memory budget of %llu bytes (0: unlimited) doesn't fit "
                           "the %llu of the scheduler: raise its memory_bytes or lower "
                           "sinter.memory-budget",
                           (unsigned long long)job->memory_bytes,
                           (unsigned long long)scheduler->memory_max);
    }
    if (job->open_files > scheduler->open_files_max) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a task that may open %u files doesn't fit the %u of the scheduler: "
                           "raise its open_files_max or lower local-sort.max-num-file-handles",
                           job->open_files, scheduler->open_files_max);
    }
    return SINTER_OK;
}

sinter_status
sinter__scheduler_submit(sinter_scheduler *scheduler, sinter__job *job, sinter_error *err)
{
    const int64_t now_ns = sinter__now_ns(&scheduler->env);
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__scheduler_check(scheduler, job, err));
    sinter__monitor_lock(&scheduler->monitor);
    assert(state_of(job) == SINTER__JOB_IDLE);
    assert(!scheduler->is_closed);
    job->id = ++scheduler->next_id;
    job->queued_ns = now_ns;
    atomic_store(&job->is_cancelled, false);
    atomic_store(&job->state, SINTER__JOB_QUEUED);
    st = submit_held(scheduler, job, err);
    if (st == SINTER_OK) {
        (void)atomic_fetch_add(&scheduler->submitted, 1);
    } else {
        atomic_store(&job->state, SINTER__JOB_IDLE);
    }
    sinter__scheduler_call_runners(scheduler);
    sinter__monitor_unlock(&scheduler->monitor);
    return st;
}

void
sinter__scheduler_set_need(sinter_scheduler *scheduler, sinter__job *job, uint32_t need)
{
    sinter__monitor_lock(&scheduler->monitor);
    if (need != job->need && is_in_queue(scheduler, job)) {
        scheduler->queue = sinter__job_queue_remove(scheduler->queue, job);
        job->need = need;
        job->due_ns = sinter__job_due_ns(job, scheduler->age_runs_per_second);
        scheduler->queue = sinter__job_queue_add(scheduler->queue, job);
        sinter__monitor_tell_all(&scheduler->monitor); /* another may be the neediest */
        sinter__scheduler_call_runners(scheduler);
    }
    job->need = need;
    sinter__monitor_unlock(&scheduler->monitor);
}

sinter_status
sinter__scheduler_wait(sinter_scheduler *scheduler, sinter__job *job, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    sinter__monitor_lock(&scheduler->monitor);
    assert(state_of(job) != SINTER__JOB_IDLE);
    st = run_until_begun(scheduler, job);
    while (st == SINTER_OK && state_of(job) == SINTER__JOB_RUNNING) {
        if (atomic_load(&scheduler->is_paused) && !atomic_load(&job->is_cancelled)) {
            st = SINTER_E_BUSY;
        } else {
            sinter__monitor_wait(&scheduler->monitor);
        }
    }
    sinter__scheduler_call_runners(scheduler);
    sinter__monitor_unlock(&scheduler->monitor);
    return st == SINTER_OK ? st
                           : SINTER__ERR(err, st,
                                         "the scheduler is paused: the task of the bucket %s ends "
                                         "only after sinter_scheduler_resume()",
                                         job->name == NULL ? "" : job->name);
}

void
sinter__scheduler_cancel_held(sinter_scheduler *scheduler, sinter__job *job)
{
    switch (state_of(job)) {
    case SINTER__JOB_QUEUED:
        if (is_in_queue(scheduler, job)) {
            dequeue(scheduler, job);
        }
        (void)atomic_fetch_add(&scheduler->cancelled, 1);
        atomic_store(&job->is_cancelled, true);
        atomic_store(&job->state, SINTER__JOB_DONE);
        sinter__monitor_tell_all(&scheduler->monitor);
        break;
    case SINTER__JOB_RUNNING:
        atomic_store(&job->is_cancelled, true);
        sinter__monitor_tell_all(&scheduler->monitor); /* it may stand still */
        break;
    default: /* nothing runs: the next submission is another matter */
        break;
    }
}

void
sinter__scheduler_cancel(sinter_scheduler *scheduler, sinter__job *job)
{
    sinter__monitor_lock(&scheduler->monitor);
    sinter__scheduler_cancel_held(scheduler, job);
    sinter__scheduler_call_runners(scheduler); /* it may have been in the way */
    sinter__monitor_unlock(&scheduler->monitor);
}

bool
sinter__scheduler_should_stop(sinter_scheduler *scheduler, sinter__job *job)
{
    if (!atomic_load(&scheduler->is_paused) || atomic_load(&job->is_cancelled)) {
        return atomic_load(&job->is_cancelled);
    }
    sinter__monitor_lock(&scheduler->monitor);
    while (atomic_load(&scheduler->is_paused) && !atomic_load(&job->is_cancelled)) {
        sinter__monitor_wait(&scheduler->monitor);
    }
    sinter__monitor_unlock(&scheduler->monitor);
    return atomic_load(&job->is_cancelled);
}

void
sinter__scheduler_reset(sinter_scheduler *scheduler, sinter__job *job)
{
    sinter__monitor_lock(&scheduler->monitor);
    assert(state_of(job) == SINTER__JOB_DONE);
    atomic_store(&job->is_cancelled, false);
    atomic_store(&job->state, SINTER__JOB_IDLE);
    sinter__monitor_unlock(&scheduler->monitor);
}
