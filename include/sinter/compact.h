/*
 * Compaction: sections of minimal sorted runs, the compact task, its result
 * (spec/compaction.md 2 to 4, 6, 9 to 13.1, 15).
 */
#ifndef SINTER_COMPACT_H
#define SINTER_COMPACT_H

#include "sinter/batch.h"
#include "sinter/env.h"
#include "sinter/format.h"
#include "sinter/merge.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SINTER_FILE_SOURCE_UNKNOWN = -1,
    SINTER_FILE_SOURCE_APPEND = 0,
    SINTER_FILE_SOURCE_COMPACT = 1
};

/** Metadata of a data file (spec 2). Bytes and strings are borrowed. */
typedef struct sinter_file_meta {
    uint32_t struct_size;
    int32_t level;
    const char *file_name;     /* no '/' */
    const char *dir;           /* relative to the base directory; NULL or "": the base itself */
    const char *external_path; /* full path instead of base, dir and name; NULL: none */
    uint64_t file_size;
    uint64_t row_count;
    int64_t delete_row_count; /* -1: unknown, counts as "has deletes" */
    int64_t min_sequence_number;
    int64_t max_sequence_number;
    int64_t creation_time_ms;
    sinter_bytes min_key; /* inclusive; only with row_count > 0 */
    sinter_bytes max_key;
    int64_t schema_id;
    int32_t file_source;            /* SINTER_FILE_SOURCE_* */
    int32_t upgraded_from;          /* in results: the level before an upgrade; -1: none */
    const char *const *extra_files; /* deleted together with the file */
    size_t extra_file_count;
    const void *carried; /* caller's pointer, copied along by an upgrade */
    uint64_t reserved[4];
} sinter_file_meta;

/** Sections and runs of a set of files. Immutable: any number of threads may read it. */
typedef struct sinter_partition sinter_partition;

/**
 * Cut files into sections, and each section into the fewest sorted runs.
 *
 * Files without rows belong to no section.
 *
 * @param env    allocator; borrowed, must outlive the result
 * @param files  `count` files in any order; borrowed until destroy
 * @param count  number of files; 0 gives an empty partition
 * @param out    the new partition, NULL after a failure; release with sinter_partition_destroy()
 * @param err    detail of a failure, untouched on success; may be NULL
 * @return       SINTER_OK
 *               SINTER_E_INVALID  a file has min_key > max_key (err->file names it)
 *               SINTER_E_NOMEM
 *
 * Time O(n log n). Thread-safe. Source: spec/compaction.md 4; runs of a section stand in the order
 * of the heap's array.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_partition_create(const sinter_env *env, const sinter_file_meta *files, size_t count,
                        sinter_partition **out, sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_partition_destroy(sinter_partition *partition);

/** Number of sections. */
SINTER_API size_t
sinter_partition_section_count(const sinter_partition *partition);

/** Number of runs of a section. `section` < section count. */
SINTER_API size_t
sinter_partition_run_count(const sinter_partition *partition, size_t section);

/** Files of a run in key order: `*count_out` pointers into the given files. */
SINTER_API const sinter_file_meta *const *
sinter_partition_run(const sinter_partition *partition, size_t section, size_t run,
                     size_t *count_out);

enum { SINTER_LEVELS_WITH_CODEC = 32 /* levels that may have a codec of their own */ };

/** Options of a compaction. Set up with sinter_compact_options_init(), then change fields. */
typedef struct sinter_compact_options {
    uint32_t struct_size;
    int32_t sort_engine;             /* sort-engine */
    uint64_t target_file_bytes;      /* target-file-size; at least 1 */
    double small_file_ratio;         /* compaction.small-file-ratio, 0..1 */
    bool force_rewrite_all_files;    /* compaction.force-rewrite-all-files */
    bool ignore_delete;              /* ignore-delete */
    bool direct;                     /* sinter.io.direct: O_DIRECT for reads and writes */
    bool block_passthrough;          /* sinter.block-passthrough; default true */
    int32_t merge_engine;            /* SINTER_MERGE_ENGINE_*; merge-engine */
    uint32_t num_sorted_run_trigger; /* num-sorted-run.compaction-trigger */
    uint32_t num_sorted_run_stop;    /* num-sorted-run.stop-trigger; 0: derived */
    uint32_t num_levels;             /* num-levels; 0: derived */
    uint32_t sort_spill_threshold;   /* sort-spill-threshold; 0: unset (spec 14.1); 1 is refused */
    int32_t spill_codec;             /* spill-compression */
    int32_t spill_codec_level;       /* spill-compression.zstd-level */
    int32_t codec;                   /* file.compression */
    int32_t codec_level;             /* file.compression.zstd-level */
    uint32_t block_bytes;            /* file.block-size */
    uint32_t filter_bits_per_key;    /* sinter.filter.bits-per-key; 0: no filter */
    uint32_t open_files_max;         /* local-sort.max-num-file-handles */
    uint64_t memory_bytes;           /* sinter.memory-budget; default 64 MiB */
    uint32_t sub_compactions;        /* sinter.sub-compactions; default 1 */
    /* file.compression.per.level: codec + 1 of the files of a level; 0: as `codec` says */
    uint8_t codec_of_level[SINTER_LEVELS_WITH_CODEC];
    uint64_t optimization_interval_ms;       /* compaction.optimization-interval; 0: unset */
    uint64_t total_size_threshold;           /* compaction.total-size-threshold; bytes, 0: unset */
    uint64_t incremental_size_threshold;     /* compaction.incremental-size-threshold; 0: unset */
    uint64_t target_file_rows;               /* target-file-row-num, for flushes; 0: unlimited */
    uint32_t max_size_amplification_percent; /* compaction.max-size-amplification-percent */
    uint32_t size_ratio;                     /* compaction.size-ratio; percent */
    int32_t offpeak_start_hour;              /* compaction.offpeak.start.hour, 0..23; -1: off */
    int32_t offpeak_end_hour;                /* compaction.offpeak.end.hour */
    uint32_t offpeak_ratio;                  /* compaction.offpeak-ratio; percent */
    int32_t lookup_compact;                  /* SINTER_LOOKUP_COMPACT_*; lookup-compact */
    uint32_t lookup_max_interval;            /* lookup-compact.max-interval; 0: derived */
    uint32_t full_delta_commits;             /* full-compaction.delta-commits; 0: unset */
    bool force_up_level_0;                   /* compaction.force-up-level-0 */
    bool force_lookup;                       /* force-lookup */
    bool lookup_wait;                        /* lookup-wait; default true */
    bool write_only;                         /* write-only */
    bool commit_force_compact;               /* commit.force-compact */
    bool write_buffer_spillable;             /* write-buffer-spillable; default true */
    bool verify_output;                      /* sinter.verify-output */
    uint8_t reserved8;
    uint64_t write_buffer_bytes;    /* write-buffer-size; default 256 MiB */
    uint64_t write_buffer_disk_max; /* write-buffer-spill.max-disk-size; 0: unlimited */
    uint64_t spill_limit_bytes;     /* sinter.spill-limit; 0: unlimited */
    uint64_t append_open_file_cost; /* source.split.open-file-cost; default 4 MiB */
    double append_delete_ratio;     /* compaction.delete-ratio-threshold; default 0.2 */
    uint32_t append_file_num_min;   /* compaction.min.file-num; default 5 */
    uint32_t append_file_num_max;   /* compaction.file-num-limit; default 100,000 */
} sinter_compact_options;

enum { SINTER_MERGE_ENGINE_DEDUPLICATE = 0, SINTER_MERGE_ENGINE_FIRST_ROW = 1 };
enum { SINTER_LOOKUP_COMPACT_RADICAL = 0, SINTER_LOOKUP_COMPACT_GENTLE = 1 };

/** Fill with the defaults of spec 18. */
SINTER_API void
sinter_compact_options_init(sinter_compact_options *options);

/**
 * Set an option by its key.
 * @param key    "target-file-size", ...; an unknown key is SINTER_E_INVALID and the text names the
 *               nearest known one
 * @param value  as in a table: "128 mb", "true", "min-heap"
 * @return       SINTER_OK, SINTER_E_INVALID (key, value or range), SINTER_E_UNSUPPORTED (a key
 *               Paimon knows whose meaning this version doesn't implement)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_compact_options_set(sinter_compact_options *options, const char *key, const char *value,
                           sinter_error *err);

/** Codec of the files that are written for a level (0 and up): file.compression.per.level, else
 *  file.compression. */
SINTER_API int32_t
sinter_compact_codec_of_level(const sinter_compact_options *options, int32_t level);

/** What the table of options says of one. Strings are static. */
typedef struct sinter_option_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *key;
    const char *type; /* "bytes", "int", "bool", "double", "duration", "enum", "map" */
    const char *default_text;
    const char *range_text;
    const char *text;
} sinter_option_info;

/** Describe option number `index`; false past the last. `out->struct_size` must be set; no more
 * than that is written. Thread-safe. */
SINTER_API bool
sinter_compact_option_info(size_t index, sinter_option_info *out);

/** Check that the values fit together. @return SINTER_OK, SINTER_E_INVALID: a value out of range,
 * or two that contradict each other (err->text names both) */
SINTER_API SINTER_NODISCARD sinter_status
sinter_compact_options_check(const sinter_compact_options *options, sinter_error *err);

/** Derived values (spec 8). */
SINTER_API uint64_t
sinter_compact_small_file_bytes(const sinter_compact_options *options);
SINTER_API uint32_t
sinter_compact_stop_trigger(const sinter_compact_options *options);
SINTER_API uint32_t
sinter_compact_num_levels(const sinter_compact_options *options);
SINTER_API uint32_t
sinter_compact_spill_threshold(const sinter_compact_options *options);

/** lookup-compact.max-interval: unset, twice the trigger; never below the trigger (spec 7.4). */
SINTER_API uint32_t
sinter_compact_lookup_max_interval(const sinter_compact_options *options);

/** Do the options say that the table needs lookup (spec 13)? force-lookup, or merge-engine
 *  first-row. */
SINTER_API bool
sinter_compact_needs_lookup(const sinter_compact_options *options);

/** Parse "128 mb" and the like into bytes (spec 18). @return SINTER_OK, E_INVALID, E_OVERFLOW */
SINTER_API SINTER_NODISCARD sinter_status
sinter_parse_bytes(const char *text, uint64_t *out, sinter_error *err);

/** A unit that a caller built: files of a bucket that are to be compacted together. */
typedef struct sinter_unit {
    uint32_t struct_size;
    int32_t output_level;
    int32_t max_level;             /* highest level */
    bool drop_delete;              /* whether the task would drop deletes */
    const sinter_file_meta *files; /* everything the bucket holds */
    size_t count;
    const size_t *members; /* `member_count` positions in `files` */
    size_t member_count;
} sinter_unit;

/**
 * Check a unit against all files of the bucket (spec 6).
 *
 * Beyond the specification a unit is refused that would turn round a tie: a file of level 0 that
 * stands before a member, may hold the same sequence, and is the older file of the two.
 *
 * @param env   allocator; borrowed for the call
 * @param unit  borrowed for the call
 * @return      SINTER_OK; SINTER_E_INVALID, err->file names the file in the way; SINTER_E_NOMEM
 *
 * Thread-safe. Time O(files * members).
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_unit_check(const sinter_env *env, const sinter_unit *unit, sinter_error *err);

/** May deletes be dropped at this output level (spec 8)? */
SINTER_API bool
sinter_unit_drops_deletes(const sinter_file_meta *files, size_t count, int32_t output_level,
                          bool uses_vectors, bool keep_deletes);

/** Files of one level >= 1 must not overlap, names must differ. @return OK, E_INVALID (both named)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_files_check(const sinter_env *env, const sinter_file_meta *files, size_t count,
                   sinter_error *err);

/** Reasons per file (interchange.md 5.1). */
#define SINTER_REASON_MAP(X)                      \
    X(OVERLAP, "overlap")                         \
    X(SMALL_NEIGHBOURS, "small-neighbours")       \
    X(TOP_DELETES, "top-deletes")                 \
    X(TOP_DELETES_UNKNOWN, "top-deletes-unknown") \
    X(FORCED, "forced")                           \
    X(EXPIRED, "expired")                         \
    X(LARGE_ALONE, "large-alone")                 \
    X(SMALL_ALONE, "small-alone")                 \
    X(AT_LEVEL, "at-level")                       \
    X(EMPTY, "empty")

typedef enum sinter_reason {
#define SINTER_REASON_CONSTANT(name, text) SINTER_REASON_##name,
    SINTER_REASON_MAP(SINTER_REASON_CONSTANT)
#undef SINTER_REASON_CONSTANT
        SINTER_REASON_COUNT
} sinter_reason;

typedef enum sinter_file_action {
    SINTER_ACTION_KEPT = 0,
    SINTER_ACTION_UPGRADED = 1,
    SINTER_ACTION_REWRITTEN = 2
} sinter_file_action;

/** "overlap", "large-alone", ... Static. */
SINTER_API const char *
sinter_reason_code(sinter_reason reason);
/** One sentence for people. Static. */
SINTER_API const char *
sinter_reason_text(sinter_reason reason);
/** What is done with a file for this reason: each reason goes with one action. */
SINTER_API sinter_file_action
sinter_reason_action(sinter_reason reason);
/** "kept", "upgraded", "rewritten". Static. */
SINTER_API const char *
sinter_file_action_name(sinter_file_action action);

/** What the task decided for an input file. */
typedef struct sinter_file_decision {
    const sinter_file_meta *file;
    sinter_file_action action;
    sinter_reason reason;
} sinter_file_decision;

enum { SINTER_REASONS_MAX = 16 /* places for counters by reason */ };

/** Counters of a task (interchange.md 5.2). */
typedef struct sinter_compact_counters {
    uint32_t struct_size;
    uint32_t reserved;
    sinter_merge_counters merge;
    uint64_t bytes_read;     /* of the files that were rewritten */
    uint64_t bytes_written;  /* of the new files */
    uint64_t bytes_upgraded; /* of the upgraded files */
    uint64_t blocks_read;
    uint64_t files_opened;
    uint64_t files_rewritten;
    uint64_t files_upgraded;
    uint64_t memory_peak_bytes;
    int64_t wall_us, cpu_us;
    int64_t plan_us, read_us, merge_us, write_us, sync_us; /* phases */
    uint64_t files_by_reason[SINTER_REASONS_MAX];          /* input files, by sinter_reason */
    uint64_t bytes_verified; /* of new files that were read back (sinter.verify-output) */
} sinter_compact_counters;

/** A list of file metadata owned by a result. */
typedef struct sinter_file_list {
    sinter_file_meta *files;
    size_t count;
} sinter_file_list;

/** Result of a task (spec 11). Owns its metadata but for what inputs lent; release with
 *  sinter_compact_result_destroy(). Inputs must outlive it. */
typedef struct sinter_compact_result sinter_compact_result;

/** Retired files, in the order of spec 13. */
SINTER_API const sinter_file_list *
sinter_compact_result_before(const sinter_compact_result *result);
/** New and upgraded files. */
SINTER_API const sinter_file_list *
sinter_compact_result_after(const sinter_compact_result *result);
/** One decision per input file, in the order of the task's files. */
SINTER_API const sinter_file_decision *
sinter_compact_result_decisions(const sinter_compact_result *result, size_t *count_out);
/** Counters. */
SINTER_API const sinter_compact_counters *
sinter_compact_result_counters(const sinter_compact_result *result);
/**
 * Remove the new files of a result that nobody is going to name: what to do when the commit of a
 * caller's own catalog failed for sure. Upgraded files are inputs and stay. For a directory with a
 * catalog of this library there is sinter_catalog_discard().
 *
 * @param env       allocator and io; told to its listener as deleted files; borrowed for the call
 * @param base_dir  that of the task
 * @param err       of the first file that could not be removed; the others are removed all the same
 * @return          SINTER_OK, also when files are gone already; SINTER_E_INVALID, SINTER_E_NOMEM,
 *                  SINTER_E_IO and what else the io's unlink gives
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_compact_result_discard(const sinter_env *env, const sinter_compact_result *result,
                              const char *base_dir, sinter_error *err);

/** Release; takes NULL. Files on disk stay. */
SINTER_API void
sinter_compact_result_destroy(sinter_compact_result *result);

/** What stays when a directory is cleaned. Zeroed with struct_size set: nothing, prefix "data-". */
typedef struct sinter_clean_options {
    uint32_t struct_size;
    uint32_t reserved;
    const char *file_prefix;       /* as the writing task's; NULL: "data-" */
    const sinter_file_meta *files; /* what the catalog names: they stay, as do those that go with
                                      them. Names count, not paths */
    size_t count;
} sinter_clean_options;

/** What cleaning removed. */
typedef struct sinter_clean_result {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t files;           /* data files that the list doesn't name */
    uint64_t bytes;           /* of these */
    uint64_t temporary_files; /* left by dead processes */
} sinter_clean_result;

/**
 * Remove what a killed process left in a directory: data files that a catalog doesn't name, and
 * temporaries of dead processes. Only names that this library gives to data files are looked at:
 * the prefix, a UUID, a number and the extension of a format. For a directory with one writer,
 * before that begins to write; for a directory with a catalog of this library there is
 * sinter_catalog_gc().
 *
 * @param env      allocator, io, listener (told of each removed file); borrowed for the call
 * @param dir      full path of the directory
 * @param options  borrowed for the call
 * @param out      counts, also after a failure; may be NULL; no more than its struct_size is
 *                 written
 * @return         SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM, failures of listing and removing
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_clean_dir(const sinter_env *env, const char *dir, const sinter_clean_options *options,
                 sinter_clean_result *out, sinter_error *err);

/** One run of a section to rewrite. */
typedef struct sinter_rewrite_run {
    const sinter_file_meta *const *files;
    size_t count;
} sinter_rewrite_run;

/** One section to rewrite. */
typedef struct sinter_rewrite_section {
    const sinter_rewrite_run *runs;
    size_t count;
} sinter_rewrite_section;

/** What a rewriter is asked for. */
typedef struct sinter_rewrite_request {
    uint32_t struct_size;
    int32_t output_level;
    bool drop_delete;
    const sinter_rewrite_section *sections;
    size_t section_count;
} sinter_rewrite_request;

/**
 * Does the rewriting for a task. The built-in one merges files (13.1); tests and dry runs give
 * their own.
 */
typedef struct sinter_rewriter {
    uint32_t struct_size;
    uint32_t reserved;
    void *ctx;
    /** Merge the request's sections into new files and append these to `result` with
     *  sinter_compact_result_add_after(). After a failure none of the new files exists. */
    sinter_status (*rewrite)(void *ctx, const sinter_rewrite_request *request,
                             sinter_compact_result *result, sinter_error *err);
} sinter_rewriter;

/** Append a new file to the result's `after`; copies the metadata. For rewriters.
 *  @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (the metadata) */
SINTER_API SINTER_NODISCARD sinter_status
sinter_compact_result_add_after(sinter_compact_result *result, const sinter_file_meta *file,
                                sinter_error *err);

/** Computes order-preserving bytes of the user-defined sequence fields. */
typedef struct sinter_order {
    uint32_t struct_size;
    uint32_t reserved;
    void *ctx;
    /** Append the bytes for `row` by calling `put(put_ctx, data, size)` once. */
    sinter_status (*row)(void *ctx, const sinter_batch *batch, uint32_t row,
                         sinter_status (*put)(void *put_ctx, const void *data, size_t size),
                         void *put_ctx, sinter_error *err);
} sinter_order;

/** A compact task (spec 9). Callbacks run on the calling thread; with options->sub_compactions
 * above 1 and an executor, also on its threads, several at a time. */
typedef struct sinter_compact_task {
    uint32_t struct_size;
    int32_t output_level;
    int32_t max_level;
    bool drop_delete;
    bool file_rewrite; /* spec 10: each file by itself */
    const sinter_file_meta *files;
    size_t count;
    const char *base_dir;                  /* where files lie and new ones go; borrowed */
    const char *output_dir;                /* relative to base_dir; NULL: base_dir itself */
    const char *file_prefix;               /* NULL: "data-" */
    const sinter_format *format;           /* NULL: sst */
    const sinter_compact_options *options; /* NULL: defaults */
    const char *key_types;                 /* for new files, as in sinter_write_options */
    const char *row_type;
    /** Is the file expired (spec 12)? NULL: no file is. */
    bool (*is_expired)(void *ctx, const sinter_file_meta *file);
    /** Keep this record? Called for every record of rewritten files before merging, if set. */
    bool (*keep_record)(void *ctx, const sinter_batch *batch, uint32_t row);
    void *expire_ctx;
    /** Asked now and then on the working thread; true: stop with SINTER_E_CANCELLED. */
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
    const sinter_rewriter *rewriter; /* NULL: the built-in merge */
    /** Computes user sequence bytes of a batch's rows (spec 1); NULL: none. */
    const sinter_order *order;
    uint64_t small_file_bytes; /* 0: derived from options */
    /** Makes the merge function instead of options->merge_engine; NULL: that decides. */
    const sinter_merge_function_factory *merge_function;
    /** Told now and then on a working thread, one at a time, what was read so far; NULL: nobody. */
    void (*progress)(void *ctx, uint64_t bytes, uint64_t records);
    void *progress_ctx;
    const char *name; /* the bucket in events of this task; NULL: none */
    uint64_t job_id;  /* the id in these events */
    /** Schema id of new files, at most 2^32 - 1. They get the newest of their inputs if that is
     *  newer. Files that change their level only keep theirs. */
    int64_t schema_id;
    const char *spill_dir; /* where runs are spilled; NULL: where new files go. Borrowed */
    /** Bytes that spill files may take at a time, shared by all tasks that are given it; borrowed.
     *  NULL: a limit of the task's own, options->spill_limit_bytes. */
    sinter_memory *spill_space;
    /** Full paths of directories that new files are put into in turn, instead of output_dir; their
     *  metadata has external_path. They must be there; borrowed. Count 0: none. */
    const char *const *external_dirs;
    size_t external_dir_count;
    /** Only keys of this range: a file that reaches beyond it is rewritten, its rows in the range
     * alone, so whoever has the other ranges has to have it as well. Not with file_rewrite. */
    bool has_begin_key;
    bool has_end_key;
    /** Files of level 0 are rewritten, not moved to another level (spec 13: tables that need a
     *  lookup, where the output level has another format). */
    bool rewrites_level_0;
    uint8_t reserved[5];
    sinter_bytes begin_key; /* inclusive; borrowed */
    sinter_bytes end_key;   /* exclusive; borrowed */
} sinter_compact_task;

/** Set struct_size, output_level 1, max_level 5, everything else empty. */
SINTER_API void
sinter_compact_task_init(sinter_compact_task *task);

/**
 * Make a task the full pick of a bucket: all files, to the task's output level.
 *
 * Files that are one sorted run at the highest level already gain nothing: of these only those are
 * picked that are expired, or all with force_rewrite_all_files, each to be rewritten by itself.
 * Without files there is nothing to pick. A task of no files does nothing and succeeds.
 *
 * @param task    max_level, output_level, options, is_expired are read; files, count, file_rewrite
 *                and drop_delete (as sinter_unit_drops_deletes() says) are set
 * @param files   everything the bucket holds; what it points to is borrowed by the picked files
 * @param picked  room for `count` files, which the task borrows
 * @return        SINTER_OK; SINTER_E_INVALID: options or a file (err->file names it). The task is
 *                unchanged then
 *
 * Time O(count). Source: spec/compaction.md 7.5, 8.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_compact_task_pick_full(sinter_compact_task *task, const sinter_file_meta *files,
                              size_t count, sinter_file_meta *picked, sinter_error *err);

/**
 * Run a task on the calling thread.
 *
 * New files get unique names and are complete, synced and published, and their directory synced,
 * before this returns SINTER_OK; after a failure or cancellation none of them exists. Inputs are
 * never changed.
 *
 * @param env   borrowed for the call
 * @param task  borrowed for the call; its files must outlive the result
 * @param out   the result, NULL after a failure
 * @return      SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM, SINTER_E_IO, SINTER_E_NO_SPACE,
 *              SINTER_E_CORRUPT, SINTER_E_NOT_FOUND, SINTER_E_TOO_LARGE, SINTER_E_CANCELLED,
 *              SINTER_E_RETRACT, SINTER_E_UNSUPPORTED, SINTER_E_CONFLICT (records lost: a fault)
 * Source: spec/compaction.md 9, 10, 13.1.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_compact_task_run(const sinter_env *env, const sinter_compact_task *task,
                        sinter_compact_result **out, sinter_error *err);

/** The decisions of a task without doing the work: a result whose new files are not made.
 *  @return SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, SINTER_E_CANCELLED */
SINTER_API SINTER_NODISCARD sinter_status
sinter_compact_task_plan(const sinter_env *env, const sinter_compact_task *task,
                         sinter_compact_result **out, sinter_error *err);

/** What a view reads. Borrowed until the view is closed, but for this struct itself. */
typedef struct sinter_view_source {
    uint32_t struct_size;
    uint32_t reserved;
    const sinter_format *format; /* NULL: sst */
    const char *base_dir;        /* where the files lie */
    const sinter_file_meta *files;
    size_t count;
    const sinter_compact_options *options; /* NULL: defaults */
    const sinter_order *order;             /* user sequence (spec 1); NULL: none */
    /** Makes the merge function instead of options->merge_engine; NULL: that decides. */
    const sinter_merge_function_factory *merge_function;
} sinter_view_source;

/** Options of a merged view over files. Zeroed with struct_size set: everything. */
typedef struct sinter_view_options {
    uint32_t struct_size;
    bool has_begin_key;
    bool has_end_key;
    bool keep_deletes; /* show retracts that won */
    bool keys_only;
    sinter_bytes begin_key; /* inclusive */
    sinter_bytes end_key;   /* exclusive */
    const char *spill_dir;  /* NULL: the base directory */
} sinter_view_options;

/** The merged view of a set of files: what a read returns. Confined. */
typedef struct sinter_view sinter_view;

/**
 * Open a view.
 *
 * Files outside of the range are not opened. A range that can hold one key only (its end is its
 * begin and a zero byte) is a look-up: key filters are asked before a block is read.
 *
 * @param env      allocator, io, memory, clock; borrowed until close
 * @param options  copied; what it points to is borrowed until close. NULL: everything
 * @param out      the new view, NULL after a failure; release with sinter_view_close()
 * @return         SINTER_OK, SINTER_E_INVALID, SINTER_E_NOMEM, SINTER_E_TOO_LARGE
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_view_open(const sinter_env *env, const sinter_view_source *source,
                 const sinter_view_options *options, sinter_view **out, sinter_error *err);

/** Next rows in key order, as sinter_merge_next(). */
SINTER_API SINTER_NODISCARD sinter_status
sinter_view_next(sinter_view *view, sinter_range *ranges, size_t capacity, size_t *count_out,
                 sinter_error *err);

/** What reading a view cost so far. */
typedef struct sinter_view_counters {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t files_outside;  /* not opened: their keys lie outside of the range */
    uint64_t files_opened;   /* each time a file was opened */
    uint64_t files_filtered; /* of these, left before a block was read: index or key filter say that
                                the one key asked for isn't there */
    uint64_t blocks_read;
    uint64_t rows_read;
} sinter_view_counters;

/** Copy the counters. `out->struct_size` must be set; no more than that is written. */
SINTER_API void
sinter_view_counters_get(const sinter_view *view, sinter_view_counters *out);

/** Release; takes NULL. */
SINTER_API void
sinter_view_close(sinter_view *view);

#ifdef __cplusplus
}
#endif
#endif
