/*
 * The k-way merge of sorted runs: readers in, ranges out (design 4.2 to 4.4).
 */
#ifndef SINTER_MERGE_H
#define SINTER_MERGE_H

#include "sinter/batch.h"
#include "sinter/env.h"
#include "sinter/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the runs are merged; both give the same records. Option `sort-engine`. */
typedef enum sinter_sort_engine {
    SINTER_SORT_LOSER_TREE = 0,
    SINTER_SORT_MIN_HEAP = 1
} sinter_sort_engine;

typedef struct sinter_merge_function sinter_merge_function;

/**
 * Makes one record of several versions of a key. Never called for a single version. Confined.
 * Source: spec/compaction.md 14.4, 14.5.
 */
typedef struct sinter_merge_function_ops {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name; /* "deduplicate", ... */
    /**
     * @param rows     at least two versions, oldest first
     * @param out      the result: one of `rows`, or a row of the function's own batch that lives
     *                 until recycle()
     * @return         SINTER_OK; SINTER_END: the key vanishes; SINTER_E_RETRACT; other failures
     */
    sinter_status (*reduce)(sinter_merge_function *function, const sinter_row *rows, size_t count,
                            sinter_row *out, sinter_error *err);
    /** All results given so far were consumed. May be NULL. */
    void (*recycle)(sinter_merge_function *function);
    /** Release. May be NULL for static functions. */
    void (*destroy)(sinter_merge_function *function);
} sinter_merge_function_ops;

struct sinter_merge_function {
    const sinter_merge_function_ops *ops;
};

/** Makes merge functions, one for each merge that runs: a function is confined. Shared: `create`
 * may be called from any thread. */
typedef struct sinter_merge_function_factory {
    uint32_t struct_size;
    uint32_t reserved;
    void *ctx;
    /** Make a function, which its own `destroy` releases. `env` is borrowed as long as it lives. */
    sinter_status (*create)(void *ctx, const sinter_env *env, sinter_merge_function **out,
                            sinter_error *err);
} sinter_merge_function_factory;

/** Keeps the last version; with `ignore_delete` retracts are skipped. Static. */
SINTER_API sinter_merge_function *
sinter_merge_deduplicate(bool ignore_delete);

/** Keeps the first version; a retract is skipped with `ignore_delete`, else SINTER_E_RETRACT. */
SINTER_API sinter_merge_function *
sinter_merge_first_row(bool ignore_delete);

/** Records by fate. records_in = records_out + all dropped. Source: interchange.md 5.2. */
typedef struct sinter_merge_counters {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t records_in;
    uint64_t records_out;
    uint64_t superseded;
    uint64_t deleted;
    uint64_t expired;
    uint64_t filtered;
    uint64_t vector;
    uint64_t keys;
    uint64_t blocks_passed;
    uint64_t spill_runs;
    uint64_t spilled_bytes;
    uint64_t spill_passes;
} sinter_merge_counters;

/** Options of a merge. Set up with sinter_merge_options_init(). */
typedef struct sinter_merge_options {
    uint32_t struct_size;
    int32_t sort_engine;             /* sinter_sort_engine */
    sinter_merge_function *function; /* borrowed; NULL: deduplicate */
    bool drop_delete;                /* leave out records whose kind retracts, after merging */
    bool has_ages;                   /* origins of the inputs are ages of files (spec 1); else
                                        ties of sequence fall as in spec 14.2 */
    uint32_t spill_threshold;        /* runs; 0: only when memory or open files ask for it */
    uint32_t open_files_max;         /* 0: 512 */
    const char *spill_dir;           /* NULL: never spill. Borrowed */
    int32_t spill_codec;             /* sinter_codec */
    int32_t spill_codec_level;
    /** May this stored block leave as it is? NULL: blocks are always decoded. */
    bool (*accepts_block)(void *ctx, const sinter_block_info *info);
    void *accepts_ctx;
    /** Asked now and then; true ends the merge with SINTER_E_CANCELLED. NULL: never. */
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
    /* Of the memory budget: left to whoever takes the merge's rows, to be reserved later. */
    uint64_t kept_back_bytes;
    /* What would be kept back besides of a larger budget: a refusal names so much more. */
    uint64_t kept_back_later_bytes;
    /* Bytes that spill files may take at a time, shared by all merges that are given it. Borrowed.
     * NULL: no limit. */
    sinter_memory *spill_space;
} sinter_merge_options;

/** Defaults: loser tree, deduplicate, keep deletes, no spill, zstd 1 for spill files. */
SINTER_API void
sinter_merge_options_init(sinter_merge_options *options);

/** One run to merge: opened when it is needed. */
typedef struct sinter_merge_input {
    uint32_t struct_size;
    uint32_t block_rows;      /* at most in one of its batches; counts with block_bytes */
    uint64_t estimated_bytes; /* size of the run, for choosing what to spill (spec 14.1) */
    uint64_t memory_bytes;    /* what the open reader will need; 0: 1 MiB */
    uint64_t block_bytes;     /* of keys and values in one of its batches, at most; 0: not known */
    /** Open the run's reader. Called at most once, on the merging thread. */
    sinter_status (*open)(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err);
    void *ctx;
    bool has_versions; /* a key may come several times: side by side, in one batch, in any order */
    uint8_t reserved[7];
} sinter_merge_input;

/** A running merge. Confined. */
typedef struct sinter_merge sinter_merge;

/**
 * Open a merge.
 *
 * @param env      allocator, io, memory, clock; borrowed until close
 * @param inputs   `count` runs, copied; contexts borrowed until close. In the order of the reader
 *                 (spec 14.1). 0 gives an empty merge
 * @param options  copied; what it points to is borrowed until close
 * @param out      release with sinter_merge_close()
 * @return         SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM,
 *                 SINTER_E_TOO_LARGE  the budget can't hold the merge. If block_bytes of all inputs
 *                 are known, the text names a budget that is enough for all of it, else the least
 *                 for the step that failed. Failures of readers, and of the spill file
 *                 SINTER_E_NO_SPACE   spill files reach spill_space, or the directory has less free
 *                 than the runs to be spilled take, where the io can tell
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_open(const sinter_env *env, const sinter_merge_input *inputs, size_t count,
                  const sinter_merge_options *options, sinter_merge **out, sinter_error *err);

/**
 * Give the next rows, in key order.
 *
 * @param ranges     room for `capacity` ranges, at least 1; batches live until the next call
 * @param count_out  ranges given, at least 1 with SINTER_OK
 * @return           SINTER_OK, SINTER_END, SINTER_E_CANCELLED, SINTER_E_RETRACT, failures of
 * readers
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_merge_next(sinter_merge *merge, sinter_range *ranges, size_t capacity, size_t *count_out,
                  sinter_error *err);

/** Copy the counters so far. `out->struct_size` must be set; no more than that is written. */
SINTER_API void
sinter_merge_counters_get(const sinter_merge *merge, sinter_merge_counters *out);

/** Close all readers, remove the spill file, release. Takes NULL. */
SINTER_API void
sinter_merge_close(sinter_merge *merge);

/**
 * Which runs are spilled (spec 14.1). Pure.
 *
 * @param sizes      estimates of `count` runs
 * @param threshold  runs that stay on data files
 * @param order_out  room for `count` positions: first the direct runs in the order they are opened,
 *                   then the spilled ones in the order they are written
 * @return           number of direct runs
 */
SINTER_API size_t
sinter_merge_spill_plan(const uint64_t *sizes, size_t count, uint32_t threshold, size_t *order_out);

#ifdef __cplusplus
}
#endif
#endif
