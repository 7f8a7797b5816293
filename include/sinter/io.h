/*
 * Files and bytes behind one vtable (design 4.7).
 *
 * A custom backend fills sinter_io_ops; the library comes with posix, io_uring, memory, and
 * wrappers that inject faults, limit the rate and watch. Callers publish under a new name and never
 * rename over one, so that an object store with conditional put fits behind the same vtable.
 */
#ifndef SINTER_IO_H
#define SINTER_IO_H

#include "sinter/base.h"
#include "sinter/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinter_io sinter_io;
typedef struct sinter_io_file sinter_io_file;

/** What stat tells. */
typedef struct sinter_io_stat {
    uint64_t size_bytes;
    int64_t mtime_ms;
    bool is_directory;
} sinter_io_stat;

/** One stretch of a vectored read; `data` has room for `size` bytes. */
typedef struct sinter_io_range {
    uint64_t offset;
    void *data;
    size_t size;
} sinter_io_range;

/** A read that was begun and not yet waited for. Plain memory of the caller, zeroed by begin. */
typedef struct sinter_io_ticket {
    uint64_t words[8];
} sinter_io_ticket;

enum {
    SINTER_IO_DIRECT = 1u << 0,     /* bypass the page cache where the backend can */
    SINTER_IO_SEQUENTIAL = 1u << 1, /* advice: will be read from front to back */
    SINTER_IO_SCRATCH = 1u << 2 /* advice: a created file that is neither synced nor published */
};

/**
 * Functions of a backend. All return SINTER_OK or a failure whose detail names the path, the
 * offset and errno. Short counts, EINTR and EAGAIN are the backend's business: `read` fills every
 * range or fails; a read that meets the end of the file early is SINTER_E_CORRUPT with the offset
 * where bytes are missing. Errno ENOSPC and EDQUOT become SINTER_E_NO_SPACE, ENOENT
 * SINTER_E_NOT_FOUND, EEXIST SINTER_E_EXISTS.
 * Thread rules: the io itself is shared; a file is used by one thread at
 * a time, not always the same, different files are independent.
 */
typedef struct sinter_io_ops {
    uint32_t struct_size;
    const char *name; /* "posix", "io_uring", "memory" */

    sinter_status (*open)(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out,
                          sinter_error *err);
    /** A nameless or temporary file in directory `dir`, visible to nobody until published. */
    sinter_status (*create)(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                            sinter_error *err);
    /** Bytes of the file; of a created file all that was appended so far. */
    sinter_status (*size)(sinter_io_file *file, uint64_t *size_out, sinter_error *err);
    /** Fill every range. A created file can be read too: appended bytes are flushed (not synced)
     *  first. That is how a spill file works: never published, so gone when closed. */
    sinter_status (*read)(sinter_io_file *file, const sinter_io_range *ranges, size_t count,
                          sinter_error *err);
    /** Begin a read whose bytes stay untouched by the caller until read_end; the struct `range` is
     *  the caller's again on return. May block. */
    sinter_status (*read_begin)(sinter_io_file *file, const sinter_io_range *range,
                                sinter_io_ticket *ticket, sinter_error *err);
    /** Wait for a read begun before. Every begin is ended exactly once, before close. */
    sinter_status (*read_end)(sinter_io_file *file, sinter_io_ticket *ticket, sinter_error *err);
    /** Append all bytes to a created file that has no name yet, else SINTER_E_INVALID. May return
     *  before they are written; errors then come from a later append, sync or publish, and the
     *  file stays failed. The bytes are the caller's again on return. */
    sinter_status (*append)(sinter_io_file *file, const void *data, size_t size, sinter_error *err);
    /** Everything appended is on stable storage on return. */
    sinter_status (*sync)(sinter_io_file *file, sinter_error *err);
    /** Give a created file its name, atomically; SINTER_E_EXISTS if the name is taken: another may
     *  be tried. Appended bytes are flushed, not synced: sync before, sync_dir after. */
    sinter_status (*publish)(sinter_io_file *file, const char *path, sinter_error *err);
    /** Close and free, in any state; a created file that was not published vanishes. */
    void (*close)(sinter_io_file *file);

    sinter_status (*stat)(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err);
    /** The names of a directory, given and taken, are on stable storage on return. */
    sinter_status (*sync_dir)(sinter_io *io, const char *path, sinter_error *err);
    /** Make one directory; SINTER_E_EXISTS if the name is taken. */
    sinter_status (*mkdir)(sinter_io *io, const char *path, sinter_error *err);
    /** Remove a file or an empty directory. */
    sinter_status (*unlink)(sinter_io *io, const char *path, sinter_error *err);
    /** Call `each` for every name in the directory but "." and ".."; any order; a failure of
     *  `each` ends the walk and is returned. */
    sinter_status (*list)(sinter_io *io, const char *path,
                          sinter_status (*each)(void *ctx, const char *name), void *ctx,
                          sinter_error *err);
    /** Remove temporary files in `dir` that a dead process left; never one that a live process
     *  holds. NULL: the backend leaves none. */
    sinter_status (*clean)(sinter_io *io, const char *dir, uint64_t *removed_out,
                           sinter_error *err);
    /** Replace a small file atomically by `size` bytes and sync it; the one place where a name is
     *  written over (the catalog). Holds no lock. */
    sinter_status (*replace)(sinter_io *io, const char *path, const void *data, size_t size,
                             sinter_error *err);
    /** Take the exclusive lock named by `path` (made if missing), not waiting: SINTER_E_BUSY when
     *  held. Released by close of the file. NULL: no locks. */
    sinter_status (*lock)(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err);
    void (*destroy)(sinter_io *io);
    /** Lend memory that this file can be read into more cheaply than into any other: `size` bytes
     *  or more, aligned to 4096, until give_back, which comes before close. NULL, the function or
     *  what it returns: there is none, bring your own. */
    void *(*borrow)(sinter_io_file *file, size_t size);
    void (*give_back)(sinter_io_file *file, void *data);
    /** Bytes that files in directory `dir` may still take. SINTER_END: that can't be told. NULL, or
     *  beyond struct_size: it never can. */
    sinter_status (*free_bytes)(sinter_io *io, const char *dir, uint64_t *out, sinter_error *err);
} sinter_io_ops;

/** Base of every backend: a backend's own struct begins with it. */
struct sinter_io {
    const sinter_io_ops *ops;
};

/** Base of every open file. */
struct sinter_io_file {
    const sinter_io_ops *ops;
};

/** Counters of a backend since it was made. */
typedef struct sinter_io_counters {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t reads;
    uint64_t read_bytes;
    uint64_t writes;
    uint64_t written_bytes;
    uint64_t syncs;
    uint64_t registered_buffers; /* io_uring: buffers that the kernel accepted */
    uint64_t ring_calls;         /* io_uring: reads and writes that went through the ring */
} sinter_io_counters;

/** Which backend sinter_io_create() makes. */
typedef enum sinter_io_kind {
    /** io_uring, or posix where the kernel refuses it (one log event). Files of a file system in
     *  memory are read and written by plain calls, which are faster there. */
    SINTER_IO_AUTO = 0,
    SINTER_IO_POSIX = 1,
    SINTER_IO_URING = 2, /* for every file; fails where the kernel refuses it */
    SINTER_IO_MEMORY = 3
} sinter_io_kind;

/** Options of sinter_io_create(). Zeroed with struct_size set: all defaults. */
typedef struct sinter_io_options {
    uint32_t struct_size;
    uint32_t queue_depth;  /* io_uring entries; 0: 64; 1..4096 */
    uint32_t buffer_count; /* registered buffers; 0: 16 */
    uint32_t buffer_bytes; /* size of each; 0: 256 KiB; a multiple of 4096 */
} sinter_io_options;

/** The static posix backend. Never destroyed. Thread-safe. */
SINTER_API sinter_io *
sinter_io_posix(void);

/**
 * Make a backend.
 *
 * @param env      allocator, listener; borrowed, must outlive the backend
 * @param options  NULL: defaults
 * @param out      release with sinter_io_destroy() after all its files are closed
 * @return         SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM,
 *                 SINTER_E_UNSUPPORTED  the kernel refuses io_uring (err has its errno) or the
 *                                       build has none, and `kind` demanded it
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_io_create(const sinter_env *env, sinter_io_kind kind, const sinter_io_options *options,
                 sinter_io **out, sinter_error *err);

/** Release a backend; takes NULL; the static posix backend is left alone. */
SINTER_API void
sinter_io_destroy(sinter_io *io);

/** Name of the backend that really serves: "posix", "io_uring", "memory", or a user's. */
SINTER_API const char *
sinter_io_name(const sinter_io *io);

/** Copy the counters of a built-in backend; zeros for a user's. Thread-safe. */
SINTER_API void
sinter_io_counters_get(const sinter_io *io, sinter_io_counters *out);

/** Can io_uring be used here? SINTER_OK, or SINTER_E_UNSUPPORTED with the reason. */
SINTER_API SINTER_NODISCARD sinter_status
sinter_io_probe_uring(sinter_error *err);

/** What the fault wrapper does at one call. */
typedef enum sinter_fault_kind {
    SINTER_FAULT_NONE = 0,
    SINTER_FAULT_EIO = 1,
    SINTER_FAULT_ENOSPC = 2,
    SINTER_FAULT_TORN_WRITE = 3, /* half of the bytes arrive, then EIO */
    SINTER_FAULT_CRASH = 4       /* this and every later call fails; unsynced data will be lost */
} sinter_fault_kind;

/** A rule of the fault wrapper. Calls are counted from 0 over all operations. */
typedef struct sinter_fault_options {
    uint32_t struct_size;
    sinter_fault_kind kind;
    uint64_t at_call;    /* the call that fails; UINT64_MAX: none */
    const char *only_op; /* count and fail only this operation ("append"); NULL: all. Borrowed */
} sinter_fault_options;

/**
 * Wrap a backend so that the n-th call fails. For tests of programs that embed the library.
 * Over the memory backend a crash can be followed by sinter_io_fault_restart(), which drops what
 * was not synced; over others unsynced data is left to the system.
 *
 * @param base  borrowed, must outlive the wrapper
 * @return      SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_io_fault_create(const sinter_env *env, sinter_io *base, const sinter_fault_options *options,
                       sinter_io **out, sinter_error *err);

/** Calls seen so far, failed ones included. */
SINTER_API uint64_t
sinter_io_fault_calls(const sinter_io *io);

/** Change the rule and count from 0 again. */
SINTER_API void
sinter_io_fault_set(sinter_io *io, const sinter_fault_options *options);

/** Power is back: data and names that were not synced are gone (memory backend beneath).
 *  @return SINTER_OK, SINTER_E_INVALID (`io` is no such wrapper), SINTER_E_NOMEM */
SINTER_API SINTER_NODISCARD sinter_status
sinter_io_fault_restart(sinter_io *io, sinter_error *err);

/** Which bytes a rate of the limiting wrapper counts. */
typedef enum sinter_io_limit_mode {
    SINTER_IO_LIMIT_WRITES = 0, /* appended ones; reads pass */
    SINTER_IO_LIMIT_READS = 1,
    SINTER_IO_LIMIT_ALL = 2 /* read and appended ones together */
} sinter_io_limit_mode;

/** Options of sinter_io_limit_create(). */
typedef struct sinter_io_limit_options {
    uint32_t struct_size;
    sinter_io_limit_mode mode;
    uint64_t bytes_per_second; /* of `mode`; 0: unlimited; 2^38 and more count as 2^38 */
    /* Asked twenty times a second by a thread that waits; true ends its request with
     * SINTER_E_CANCELLED. Any thread. NULL: never. */
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
    /* Each side on its own, beside bytes_per_second of SINTER_IO_LIMIT_ALL or of the other side;
     * 0: unlimited. */
    uint64_t read_bytes_per_second;
    uint64_t write_bytes_per_second;
} sinter_io_limit_options;

/**
 * Wrap a backend so that in any second at most 1.1 times `bytes_per_second` are moved through it,
 * and at least 0.9 times as many while there is work; the same for each side that has a rate of its
 * own. What counts for two rates goes by the one that is slower at the moment: large requests go in
 * slices, a start or an idle time is followed by no burst of more than a tenth of a second's bytes,
 * and threads that share the wrapper take turns. It waits on the clock of `env`. What is counted is
 * what passes the wrapper: a backend that gathers appends writes them a little later. Small files
 * that are replaced as a whole (the catalog) are not counted.
 *
 * @param env      allocator, clock, of which `sleep_ns` must be there; borrowed, must outlive the
 *                 wrapper
 * @param base     borrowed, must outlive the wrapper
 * @param options  NULL: writes, unlimited
 * @param out      release with sinter_io_destroy() after all its files are closed. Shared
 * @return         SINTER_OK, SINTER_E_INVALID (also: one rate given twice), SINTER_E_NOMEM
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_io_limit_create(const sinter_env *env, sinter_io *base,
                       const sinter_io_limit_options *options, sinter_io **out, sinter_error *err);

/**
 * Change the rate of the wrapper's mode while work runs; who waits goes by the new one within a
 * tenth of a second. Thread-safe.
 * @return SINTER_OK, SINTER_E_INVALID (`io` is no such wrapper)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_io_limit_set(sinter_io *io, uint64_t bytes_per_second, sinter_error *err);

/**
 * The same for the rate of reads, of writes, or of both together, whatever the mode is: each is
 * there beside the others.
 * @return SINTER_OK, SINTER_E_INVALID (`io` is no such wrapper; no such side)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_io_limit_set_side(sinter_io *io, sinter_io_limit_mode side, uint64_t bytes_per_second,
                         sinter_error *err);

/** Options of sinter_io_watch_create(). Zeroed with struct_size set: counts only. */
typedef struct sinter_io_watch_options {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t slow_ns; /* tell the listener's slow_io of calls that take as long; 0: never */
} sinter_io_watch_options;

/** What passed a watching wrapper since it was made. Calls that failed count for time only. */
typedef struct sinter_io_watch_counters {
    uint32_t struct_size;
    uint32_t reserved32;
    uint64_t reads; /* a read that was begun counts at once */
    uint64_t read_bytes;
    uint64_t writes; /* appends, and small files replaced as a whole */
    uint64_t written_bytes;
    uint64_t syncs;      /* of files and directories */
    uint64_t call_ns;    /* of threads in calls */
    uint64_t slow_calls; /* that took slow_ns or more */
    uint64_t reserved[4];
} sinter_io_watch_counters;

/**
 * Wrap a backend so that calls are counted and timed, and slow ones told to the listener of `env`:
 * the file (of one that has no name yet, its directory), the name of the call ("append"), its bytes
 * and its time. Bytes are those that callers asked to move; a backend may read more to have them,
 * and writes appended ones a little later.
 *
 * @param env      allocator, clock, listener; borrowed, must outlive the wrapper
 * @param base     borrowed, must outlive the wrapper
 * @param options  NULL: counts only
 * @param out      release with sinter_io_destroy() after all its files are closed. Shared
 * @return         SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_io_watch_create(const sinter_env *env, sinter_io *base,
                       const sinter_io_watch_options *options, sinter_io **out, sinter_error *err);

/** Copy the counters, without a lock; `out->struct_size` must be set, no more is written. Zeros
 *  when `io` is no such wrapper. Thread-safe. */
SINTER_API void
sinter_io_watch_counters_get(const sinter_io *io, sinter_io_watch_counters *out);

#ifdef __cplusplus
}
#endif
#endif
