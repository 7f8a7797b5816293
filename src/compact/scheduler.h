/*
 * Jobs of a scheduler, as managers see them.
 */
#ifndef SINTER_COMPACT_SCHEDULER_H
#define SINTER_COMPACT_SCHEDULER_H

#include <stdatomic.h>

#include "sinter/scheduler.h"

struct sinter__bucket_counters; /* compact/metrics.h */

typedef enum sinter__job_state {
    SINTER__JOB_IDLE,    /* never submitted, or its end was seen by its owner */
    SINTER__JOB_QUEUED,  /* waits for a place in the queue, a thread, memory or files */
    SINTER__JOB_RUNNING, /* in run() */
    SINTER__JOB_DONE     /* run() has returned, or will never be called (is_cancelled) */
} sinter__job_state;

/**
 * A piece of work of one bucket: embedded in its manager, submitted again and again. Everything
 * above the line is set by the owner while the job is IDLE.
 */
typedef struct sinter__job {
    /** Do the work. `env` is the scheduler's with a budget of memory_bytes, limited io, a listener
     * that names the bucket, and its executor; all of it lives for the call. The outcome goes to
     * the owner by way of `ctx`; what is returned is counted. Must not wait for another job. */
    sinter_status (*run)(void *ctx, const sinter_env *env);
    void *ctx;
    const struct sinter__bucket_counters *counters; /* of its bucket, for export */
    const char *name;                               /* of its bucket; NULL: "" */
    uint64_t memory_bytes; /* 0: no budget but the environment's, where there is no ceiling */
    uint32_t open_files;
    uint32_t need; /* sorted runs of the bucket; more is more urgent */
    /* ---- the scheduler's ---- */
    _Atomic int state; /* sinter__job_state */
    atomic_bool is_cancelled;
    uint64_t id; /* of the submission; events carry it */
    int64_t queued_ns;
    int64_t due_ns;             /* job_queue.h */
    struct sinter__job *before; /* in the queue: parent, or the sibling before */
    struct sinter__job *next;   /* sibling */
    struct sinter__job *child;
    struct sinter__job *next_bucket, *previous_bucket; /* in the list of all buckets */
} sinter__job;

/** Make the job's bucket known, for export and cancel_all. The job is zeroed but for the owner's
 *  part. */
void
sinter__scheduler_enter(sinter_scheduler *scheduler, sinter__job *job);

/** Could the job ever run? @return SINTER_OK; SINTER_E_TOO_LARGE: its memory or files are more than
 *  the scheduler has (names both numbers) */
sinter_status
sinter__scheduler_check(const sinter_scheduler *scheduler, const sinter__job *job,
                        sinter_error *err);

/** The bucket goes. The job is IDLE, or DONE. */
void
sinter__scheduler_leave(sinter_scheduler *scheduler, sinter__job *job);

/**
 * Queue a job that is IDLE, or do as options.when_full says. Where that is to wait, the caller runs
 * jobs meanwhile, so that waiting ends though no thread of the executor may be free. With an
 * executor that works in submit() the job may be DONE on return.
 *
 * @return SINTER_OK
 *         SINTER_E_BUSY       the queue is full, and to be refused, or the scheduler is paused
 *         SINTER_E_TOO_LARGE  memory or files are more than the scheduler has (names both numbers)
 *         After a failure the job is IDLE
 */
sinter_status
sinter__scheduler_submit(sinter_scheduler *scheduler, sinter__job *job, sinter_error *err);

/** The bucket has got more (or fewer) runs: counts from the next choice on. Any state. */
void
sinter__scheduler_set_need(sinter_scheduler *scheduler, sinter__job *job, uint32_t need);

/**
 * Wait until the job is DONE. While it is QUEUED it is run on this thread as soon as there is room
 * for it beside the neediest job, tasks_max or not; where there isn't, the neediest is. So waiting
 * ends though no thread of the executor may be free.
 *
 * Not from a job of the same scheduler.
 *
 * @return SINTER_OK; SINTER_E_BUSY: the scheduler is paused and the job was not cancelled
 */
sinter_status
sinter__scheduler_wait(sinter_scheduler *scheduler, sinter__job *job, sinter_error *err);

/** Cancel: a QUEUED job becomes DONE without being run; a RUNNING one learns of it by
 *  sinter__scheduler_should_stop(). Returns at once. Any state; any thread. */
void
sinter__scheduler_cancel(sinter_scheduler *scheduler, sinter__job *job);

/** Asked by the running job now and then: was it cancelled? Stands still while paused. Any thread
 *  that works for the job. */
bool
sinter__scheduler_should_stop(sinter_scheduler *scheduler, sinter__job *job);

/** The owner has seen the end: DONE becomes IDLE, is_cancelled false. */
void
sinter__scheduler_reset(sinter_scheduler *scheduler, sinter__job *job);

#endif
