/*
 * The scheduler: lets the compactions of any number of buckets share threads, memory, open files
 * and a rate (spec/compaction.md 8).
 */
#ifndef SINTER_SCHEDULER_H
#define SINTER_SCHEDULER_H

#include "sinter/env.h"
#include "sinter/io.h"
#include "sinter/metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What becomes of a task that the queue has no room for. */
typedef enum sinter_queue_full {
    SINTER_QUEUE_REFUSE = 0,       /* the trigger returns SINTER_E_BUSY; a later one tries again */
    SINTER_QUEUE_WAIT = 1,         /* the trigger waits for room */
    SINTER_QUEUE_RUN_IN_CALLER = 2 /* the trigger runs it */
} sinter_queue_full;

/** Options of a scheduler. Zeroed with struct_size set: the defaults. */
typedef struct sinter_scheduler_options {
    uint32_t struct_size;
    int32_t when_full;  /* sinter_queue_full */
    uint32_t tasks_max; /* tasks at a time; 0: 1; at most 1024 */
    uint32_t queue_max; /* tasks that may wait; 0: no limit */
    /* Budgets of all running tasks together, which env->memory, if there is one, is charged with as
     * well; 0: no ceiling. */
    uint64_t memory_bytes;
    uint32_t open_files_max;   /* files that all running tasks may hold open; 0: no ceiling */
    int32_t limit_mode;        /* sinter_io_limit_mode: which bytes the rate counts */
    uint64_t bytes_per_second; /* of all tasks together, not of flushes; 0: unlimited */
    uint64_t slow_io_ns; /* tell the listener of io calls of a task that take as long; 0: no */
    /* A waiting task overtakes one with so many sorted runs more for each second that it has waited
     * longer: nobody waits for ever. 0: 1 */
    uint32_t age_runs_per_second;
    uint32_t reserved;
    /* Rates of each side on its own, beside bytes_per_second; 0: unlimited. */
    uint64_t read_bytes_per_second;
    uint64_t write_bytes_per_second;
} sinter_scheduler_options;

/**
 * Runs tasks of buckets on the environment's executor, those with most sorted runs first. Shared:
 * any thread. Costs nothing while no task waits or runs; an idle bucket is an entry in a list.
 *
 * A call that waits, for a task's end or for a place in the queue, runs tasks meanwhile: it never
 * depends on the executor having a thread left.
 */
typedef struct sinter_scheduler sinter_scheduler;

/**
 * Make a scheduler.
 *
 * @param env      allocator, io, memory, clock, listener, executor: its threads run the tasks, so
 *                 it should have as many as tasks_max. Without an executor tasks run in the call
 *                 that waits for them, or in sinter_scheduler_run_one(). With a rate,
 *                 clock.sleep_ns must be there. Copied; its parts are borrowed, and the allocator
 *                 must outlive what the executor was given
 * @param options  NULL: defaults
 * @param out      the new scheduler, NULL after a failure; release with sinter_scheduler_destroy()
 * @return         SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_scheduler_create(const sinter_env *env, const sinter_scheduler_options *options,
                        sinter_scheduler **out, sinter_error *err);

/** Wait until running tasks have ended, release; takes NULL. All managers that use it must have
 *  been destroyed, so no task waits. Not from a task. What the executor still has of it finds
 *  nothing to do when it is run, and releases a few bytes. */
SINTER_API void
sinter_scheduler_destroy(sinter_scheduler *scheduler);

/** Start no task from now on, and let running ones stand still at their next look (within a tenth
 *  of a second); they keep at most their budget of memory and their thread, and no lock. Calls that
 *  wait for tasks return SINTER_E_BUSY, but for those whose own thread runs one. */
SINTER_API void
sinter_scheduler_pause(sinter_scheduler *scheduler);

/** Go on. */
SINTER_API void
sinter_scheduler_resume(sinter_scheduler *scheduler);

/** Cancel all tasks that run or wait, also while paused. Returns at once; they end within a tenth
 * of a second, but for a system call under way. Buckets can be triggered again when their managers
 *  have taken note of it. */
SINTER_API void
sinter_scheduler_cancel_all(sinter_scheduler *scheduler);

/**
 * Wait until no task waits or runs, running tasks meanwhile. What is queued meanwhile is waited for
 * too.
 * @return SINTER_OK; SINTER_E_BUSY: it is paused, so the end might never come
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_scheduler_drain(sinter_scheduler *scheduler, sinter_error *err);

/** Run the neediest task that waits, on the calling thread.
 *  @return SINTER_OK; SINTER_END: none may run now. What the task returned is its manager's to tell
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_scheduler_run_one(sinter_scheduler *scheduler);

/** Change the rate of options.limit_mode while tasks run, within a second; 0: unlimited.
 *  @return SINTER_OK, SINTER_E_INVALID: the environment's clock can't sleep */
SINTER_API SINTER_NODISCARD sinter_status
sinter_scheduler_set_rate(sinter_scheduler *scheduler, uint64_t bytes_per_second,
                          sinter_error *err);

/** The same for the rate of reads, of writes, or of both together: each is there beside the others.
 *  @return SINTER_OK, SINTER_E_INVALID: no such side, or the environment's clock can't sleep */
SINTER_API SINTER_NODISCARD sinter_status
sinter_scheduler_set_side_rate(sinter_scheduler *scheduler, sinter_io_limit_mode side,
                               uint64_t bytes_per_second, sinter_error *err);

/** Change how many tasks run at a time, 1..1024; running ones are left alone.
 *  @return SINTER_OK, SINTER_E_INVALID */
SINTER_API SINTER_NODISCARD sinter_status
sinter_scheduler_set_tasks_max(sinter_scheduler *scheduler, uint32_t tasks_max, sinter_error *err);

/** Copy the counters, without a lock. `out->struct_size` must be set; no more is written. A task is
 *  in busy_ns, completed, failed or cancelled once it has ended. */
SINTER_API void
sinter_scheduler_metrics_get(const sinter_scheduler *scheduler, sinter_scheduler_metrics *out);

/**
 * Write counters of the scheduler and of each of its buckets as Prometheus text (version 0.0.4).
 * The label `bucket` holds the names that managers were given, which should differ.
 *
 * @param put  called with pieces of the text, with no lock held; a failure ends it and is returned
 * @return     SINTER_OK, SINTER_E_NOMEM, what `put` returned
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_scheduler_export(sinter_scheduler *scheduler,
                        sinter_status (*put)(void *ctx, const char *text, size_t size), void *ctx,
                        sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
