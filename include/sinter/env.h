/*
 * The library's only door to the system: memory, files, clock, threads, events.
 *
 * A sinter_env is borrowed by every object made with it and must outlive them. The library calls
 * no allocator, clock, file or thread function but through it.
 */
#ifndef SINTER_ENV_H
#define SINTER_ENV_H

#include "sinter/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory functions. Called from any thread that works for the library. */
typedef struct sinter_allocator {
    uint32_t struct_size;
    void *ctx;
    void *(*allocate)(void *ctx, size_t size); /* NULL when refused; size > 0; aligned to 16 */
    void *(*resize)(void *ctx, void *ptr, size_t size); /* as realloc; NULL keeps the old block */
    void (*release)(void *ctx, void *ptr);              /* takes NULL */
} sinter_allocator;

/** Clocks, and waiting by them. Thread-safe functions. */
typedef struct sinter_clock {
    uint32_t struct_size;
    void *ctx;
    int64_t (*wall_ms)(void *ctx);      /* since the Unix epoch, UTC */
    int64_t (*monotonic_ns)(void *ctx); /* never goes back */
    int64_t (*cpu_ns)(void *ctx);       /* user + system time of the calling thread */
    /** Return when monotonic_ns() has gone on by `ns` or more; sooner is no harm, callers ask. NULL
     *  where nothing waits: sinter_io_limit_create() refuses it. */
    void (*sleep_ns)(void *ctx, int64_t ns);
    /** Hour of the day where the system stands, 0..23: for off-peak hours. NULL: that of UTC. */
    int32_t (*local_hour)(void *ctx);
} sinter_clock;

/** Runs work beside the caller. Without one everything runs on the calling thread. */
typedef struct sinter_executor {
    uint32_t struct_size;
    void *ctx;
    /** Run `work(arg)` exactly once, now or later, on any thread. SINTER_E_BUSY: not taken. */
    sinter_status (*submit)(void *ctx, void (*work)(void *arg), void *arg);
} sinter_executor;

/** What a listener is told. Strings live for the call. */
typedef struct sinter_event {
    uint32_t struct_size;
    uint64_t job_id;
    const char *file; /* file concerned, or NULL */
    const char *text; /* one sentence, or NULL */
    uint64_t bytes;
    uint64_t records;
    int64_t duration_ns;
    sinter_status status;
    const char *bucket; /* name of the bucket, or NULL */
} sinter_event;

/**
 * Callbacks for events; each may be NULL. Called with no lock held, on the thread that works: on
 * several at a time, but for progress, when a task is done by several.
 *
 * A callback can't fail what it is told of. One that is slow makes the thread that tells it wait,
 * and nobody else. It may call functions that say they are thread-safe, such as those that cancel
 * the very task that tells it; it must not wait for that task, call other functions of the object
 * that tells it, or leave but by returning.
 */
typedef struct sinter_listener {
    uint32_t struct_size;
    void *ctx;
    void (*task_begin)(void *ctx, const sinter_event *event);
    void (*task_end)(void *ctx, const sinter_event *event);
    void (*file_created)(void *ctx, const sinter_event *event);
    void (*file_deleted)(void *ctx, const sinter_event *event);
    void (*spill_begin)(void *ctx, const sinter_event *event); /* of a run; `file`: the directory */
    void (*spill_end)(void *ctx, const sinter_event *event);   /* its bytes, records and time */
    void (*progress)(void *ctx, const sinter_event *event);    /* bytes and records read so far */
    void (*log)(void *ctx, const sinter_event *event);
    void (*stall_begin)(void *ctx, const sinter_event *event); /* a writer waits; `text` says why */
    void (*stall_end)(void *ctx, const sinter_event *event);   /* after duration_ns */
    void (*slow_io)(void *ctx, const sinter_event *event);     /* `text`: the call, as "append" */
    /** A compaction failed or could not be started before a commit, or a retired file could not be
     *  removed: `status`, `text`, `file`. Taking a compaction's result tells its failure, too. */
    void (*background_error)(void *ctx, const sinter_event *event);
} sinter_listener;

/** A budget in bytes that components reserve from. Shared: any thread. */
typedef struct sinter_memory sinter_memory;

struct sinter_io;

/** Environment. Start from sinter_env_init(), then replace parts. Immutable while in use. */
typedef struct sinter_env {
    uint32_t struct_size;
    uint32_t reserved;
    sinter_allocator allocator;
    sinter_clock clock;
    sinter_executor executor;        /* submit NULL: everything on the calling thread */
    struct sinter_io *io;            /* borrowed */
    sinter_memory *memory;           /* borrowed; NULL: no ceiling */
    const sinter_listener *listener; /* borrowed; NULL: nobody listens */
    uint64_t random_seed;            /* names of files; 0: from the system */
    /** Path of libsinter_columnar, which reads and writes Parquet and ORC and is loaded when the
     *  first such file comes; NULL: looked for beside this library, and where the system's loader
     *  looks. Borrowed. */
    const char *columnar_library;
} sinter_env;

/** Fill `env` with malloc, the posix io, the system's clocks and nothing else. Thread-safe. */
SINTER_API void
sinter_env_init(sinter_env *env);

/** A static environment as sinter_env_init() makes it. Thread-safe. */
SINTER_API const sinter_env *
sinter_env_default(void);

/**
 * Make a budget.
 *
 * @param env          allocator; borrowed, must outlive the budget
 * @param limit_bytes  the ceiling; 0: none, only counted
 * @param out          the new budget; release with sinter_memory_destroy()
 * @return             SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM
 * Source: design 4.8.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_memory_create(const sinter_env *env, uint64_t limit_bytes, sinter_memory **out,
                     sinter_error *err);

/** Release a budget; takes NULL. Everything reserved must have been given back. */
SINTER_API void
sinter_memory_destroy(sinter_memory *memory);

/**
 * Take `bytes` from the budget.
 * @return SINTER_OK; SINTER_E_TOO_LARGE when the ceiling would be passed (nothing is taken).
 * `memory` NULL always succeeds. Thread-safe.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_memory_reserve(sinter_memory *memory, uint64_t bytes, sinter_error *err);

/** Give `bytes` back. Thread-safe. */
SINTER_API void
sinter_memory_release(sinter_memory *memory, uint64_t bytes);

/** Bytes reserved now, highest ever, and the ceiling (UINT64_MAX: none). NULL: 0, 0, UINT64_MAX. */
SINTER_API uint64_t
sinter_memory_used(const sinter_memory *memory);
SINTER_API uint64_t
sinter_memory_peak(const sinter_memory *memory);
SINTER_API uint64_t
sinter_memory_limit(const sinter_memory *memory);

/** A pool of threads that can serve as an executor. Shared: any thread. */
typedef struct sinter_pool sinter_pool;

/**
 * Start a pool.
 *
 * @param env           allocator; borrowed, must outlive the pool
 * @param thread_count  1..1024
 * @param queue_max     tasks that may wait, 1..2^24; more are refused with SINTER_E_BUSY
 * @param out           the pool; sinter_pool_destroy() waits for all tasks
 * @return              SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM, SINTER_E_IO (no thread)
 * Threads block all signals and have no other effect on the process.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_pool_create(const sinter_env *env, uint32_t thread_count, uint32_t queue_max,
                   sinter_pool **out, sinter_error *err);

/** Run what is queued, stop the threads, release. Takes NULL. Not from a pool thread. */
SINTER_API void
sinter_pool_destroy(sinter_pool *pool);

/** The pool as an executor, valid as long as the pool. */
SINTER_API sinter_executor
sinter_pool_executor(sinter_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
