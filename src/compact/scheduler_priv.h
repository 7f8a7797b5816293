/*
 * Inside of a scheduler, for its own files: scheduler.c (what callers see), dispatch.c (who runs
 * what, and when), scheduler_export.c.
 */
#ifndef SINTER_COMPACT_SCHEDULER_PRIV_H
#define SINTER_COMPACT_SCHEDULER_PRIV_H

#include "base/sync.h"
#include "compact/scheduler.h"
#include "sinter/io.h"

enum { SINTER__SCHEDULER_LAST_TASKS = 100 /* whose times are kept */ };

/** Kept by its owner and by each runner that was handed to the executor; the last to go releases
 *  it. Numbers that are atomic change with the monitor held and are read by anyone. */
struct sinter_scheduler {
    sinter_env env;   /* a copy: a runner may come when the owner's is gone */
    sinter_io *watch; /* over the environment's io */
    sinter_io *limit; /* over the watch; NULL: nobody can wait, the clock doesn't sleep */
    sinter_io_limit_mode limit_mode;
    int32_t when_full;
    uint32_t queue_max;
    uint64_t memory_max; /* UINT64_MAX: no ceiling */
    uint32_t open_files_max;
    uint32_t age_runs_per_second;
    /* Guards what follows, and the jobs. News: a job came to an end or left the queue, somebody was
     * cancelled, pause, resume. */
    sinter__monitor monitor;
    sinter__job *queue; /* the neediest; job_queue.h */
    sinter__job *buckets;
    uint64_t next_id;
    uint32_t users;
    uint32_t coming; /* runners that the executor has taken and not begun */
    bool is_calling; /* somebody hands runners to the executor */
    bool is_closed;
    int64_t last_ns[SINTER__SCHEDULER_LAST_TASKS]; /* times of the last tasks, a ring */
    uint64_t ended;
    atomic_bool is_paused;
    _Atomic uint32_t tasks_max;
    _Atomic uint32_t running;
    _Atomic uint32_t queued;
    _Atomic uint32_t bucket_count;
    _Atomic uint64_t memory_used;
    _Atomic uint32_t open_files_used;
    _Atomic uint64_t rates[SINTER_IO_LIMIT_ALL + 1]; /* bytes a second, by mode; 0: unlimited */
    _Atomic uint64_t submitted;
    _Atomic uint64_t completed;
    _Atomic uint64_t failed;
    _Atomic uint64_t cancelled;
    _Atomic uint64_t refused;
    _Atomic uint64_t busy_ns;
    _Atomic uint64_t wait_ns;
};

/** Let go of the scheduler with the monitor held; it is not held, and may be gone, on return. */
void
sinter__scheduler_release(sinter_scheduler *scheduler);

/** Hand runners to the executor, as many as could begin something now. The monitor is held, but
 *  not while the executor is called. */
void
sinter__scheduler_call_runners(sinter_scheduler *scheduler);

/** Run the neediest job on this thread, if it may run now. The monitor is held, but for the job. */
bool
sinter__scheduler_run_next(sinter_scheduler *scheduler);

/** Cancel with the monitor held. */
void
sinter__scheduler_cancel_held(sinter_scheduler *scheduler, sinter__job *job);

#endif
