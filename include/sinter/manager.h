/*
 * The compact manager: levels, a strategy and at most one running compaction of one bucket
 * (spec/compaction.md 8). Writers that only need sorted files managed use it by itself; a whole
 * write path is in merge_tree.h.
 */
#ifndef SINTER_MANAGER_H
#define SINTER_MANAGER_H

#include "sinter/levels.h"
#include "sinter/metrics.h"
#include "sinter/scheduler.h"
#include "sinter/strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a manager is made of. Zeroed with struct_size and task set: an empty bucket that compacts
 *  on the calling thread. */
typedef struct sinter_manager_config {
    uint32_t struct_size;
    bool needs_lookup; /* the table needs lookup (spec 13), whatever the options say */
    bool keep_deletes; /* never drop deletes (spec 8) */
    const char *name;  /* of the bucket, for events and metrics; NULL: "". Copied */
    /* How files are read, merged and written, and which have expired. Output level, files and
     * cancellation are the manager's business and not read. Borrowed until destroy. */
    const sinter_compact_task *task;
    sinter_strategy *strategy;   /* NULL: what the task's options ask for. Borrowed until destroy */
    sinter_scheduler *scheduler; /* NULL: a trigger runs its task before it returns. Borrowed */
    const sinter_file_meta *files; /* the bucket's files; copied */
    size_t count;
} sinter_manager_config;

/**
 * Compaction of one bucket. Confined to the thread of its writer, but for the calls that say
 * otherwise; only the task runs elsewhere, and it never touches the levels.
 */
typedef struct sinter_manager sinter_manager;

/**
 * Make a manager.
 *
 * @param env  allocator, clock, listener; with no scheduler also io, memory and executor for the
 *             tasks. Borrowed until destroy, and until all sets and results are released
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID: options, files (err->file), names twice;
 *             SINTER_E_TOO_LARGE: a task needs more memory or files than the scheduler has
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_manager_create(const sinter_env *env, const sinter_manager_config *config,
                      sinter_manager **out, sinter_error *err);

/** Cancel what runs, wait for it, release; takes NULL. A result that nobody took is lost: its new
 *  files are removed. */
SINTER_API void
sinter_manager_destroy(sinter_manager *manager);

/** A new file, flushed by the writer; copied. @return as sinter_levels_update(); SINTER_E_INVALID:
 * its level doesn't exist */
SINTER_API SINTER_NODISCARD sinter_status
sinter_manager_add_file(sinter_manager *manager, const sinter_file_meta *file, sinter_error *err);

/**
 * Start a compaction if one is due.
 *
 * Normal: nothing happens while a task runs or its result waits to be taken. Full: all files to the
 * highest level (spec 7.5).
 *
 * @return SINTER_OK: a task was submitted
 *         SINTER_END: nothing to do (sinter_manager_last_pick() says why); also with `write-only`
 *         SINTER_E_INVALID: full while a task runs, or with `write-only`; a pick of a user's
 *         strategy that isn't safe
 *         SINTER_E_BUSY: the scheduler's queue is full
 *         SINTER_E_NOMEM. What the task itself returns comes out of take_result
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_manager_trigger(sinter_manager *manager, bool full, sinter_error *err);

/** The last answer of the strategy, with its rule and numbers; its members are NULL. Lives until
 *  the next trigger. */
SINTER_API const sinter_pick *
sinter_manager_last_pick(const sinter_manager *manager);

/**
 * Take what the task has done, and change the levels by it.
 *
 * @param wait  true: until the task has ended; it is done on this thread if nobody has begun it
 * @param out   the result; release with sinter_compact_result_destroy(), before the manager
 * @return      SINTER_OK
 *              SINTER_END: no task, or it runs on (only without `wait`), or it was cancelled
 *              SINTER_E_BUSY: the scheduler is paused, so that waiting might never end
 *              what the task failed with; the manager can be triggered again
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_manager_take_result(sinter_manager *manager, bool wait, sinter_compact_result **out,
                           sinter_error *err);

/** Ask the running task to stop; it leaves nothing behind. Returns at once. Thread-safe. */
SINTER_API void
sinter_manager_cancel(sinter_manager *manager);

/** Does a task exist whose result was not taken, or (with lookup) is level 0 not empty? */
SINTER_API bool
sinter_manager_is_busy(const sinter_manager *manager);

/** Should a flush wait for the running compaction? More runs than num-sorted-run.stop-trigger. */
SINTER_API bool
sinter_manager_should_wait_latest(const sinter_manager *manager);

/** Should a commit wait? More runs than num-sorted-run.stop-trigger + 1. */
SINTER_API bool
sinter_manager_should_wait_prepare(const sinter_manager *manager);

/** The files as they are now; release with sinter_file_set_release(). Thread-safe. */
SINTER_API const sinter_file_set *
sinter_manager_acquire(sinter_manager *manager);

/** Progress of the running task: bytes and records read so far; zeros when none runs. Thread-safe
 */
SINTER_API void
sinter_manager_progress(const sinter_manager *manager, uint64_t *bytes_out, uint64_t *total_out);

/** Copy the counters, without a lock. Thread-safe. */
SINTER_API void
sinter_manager_metrics_get(const sinter_manager *manager, sinter_bucket_metrics *out);

#ifdef __cplusplus
}
#endif
#endif
