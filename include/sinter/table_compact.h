/*
 * Compaction of a table: plan makes tasks, any process runs them, commit makes their results a
 * snapshot (interchange.md 4, 5). Tasks and results are documents of JSON, and all that passes
 * between the three.
 */
#ifndef SINTER_TABLE_COMPACT_H
#define SINTER_TABLE_COMPACT_H

#include "sinter/compact.h"
#include "sinter/io.h"
#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Keep other compactions of the library away from a table, on this machine and on others whose file
 * system passes locks on. The lock is on the table's oldest schema file, which nobody writes: it
 * leaves nothing behind and ends with the process. Paimon doesn't look at it.
 *
 * @param out  release with its `close`
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_IO,
 *             SINTER_E_BUSY         another one has it
 *             SINTER_E_NOT_FOUND    the table was dropped
 *             SINTER_E_UNSUPPORTED  an io without locks
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_lock(sinter_table *table, sinter_io_file **out, sinter_error *err);

/**
 * Options of a compaction as the table's newest schema has them, with Paimon's defaults.
 *
 * @param settings  `count` keys over those of the schema; an unknown one is refused. The schema may
 *                  have keys of other programs, which are left out
 * @param out       filled; struct_size is set
 * @return          SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (key and value),
 *                  SINTER_E_UNSUPPORTED (a key of the schema that changes what must be read or
 *                  written in a way that this version doesn't know; it is named)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_compact_options(const sinter_table *table, const sinter_option *settings, size_t count,
                             sinter_compact_options *out, sinter_error *err);

/** What to plan. Zeroed with struct_size set and bucket -1: what the table's options ask for. */
typedef struct sinter_table_plan_options {
    uint32_t struct_size;
    bool full; /* every bucket to its highest level; append tables: all files of a bucket */
    uint8_t reserved8[3];
    int32_t bucket; /* -1: all */
    uint32_t reserved;
    /* Partitions: "a=1,b=x", values as text, `__DEFAULT_PARTITION__` for null; columns that a text
     * doesn't name may have any value. One of the texts has to fit. NULL with 0: all. */
    const char *const *partitions;
    size_t partition_count;
    uint64_t task_max; /* 0: no limit; a unit that is cut is planned with all its parts */
    const sinter_option *settings;
    size_t setting_count; /* over the schema's, as sinter_table_compact_options() takes them */
    const char *user;     /* of the commits; NULL: a UUID */
    /* Units of buckets with a key whose files have more bytes are cut by key range into about as
     * many tasks as hold it, where files begin and end. 0: never. All parts are committed together,
     * or none. */
    uint64_t task_bytes_max;
} sinter_table_plan_options;

/** A task that was planned. Lives as long as its plan. */
typedef struct sinter_table_task_info {
    uint32_t struct_size;
    int32_t bucket;
    int32_t output_level;
    uint32_t reserved;
    const char *partition; /* "a=1/b=x"; "" without partitions */
    size_t file_count;
    uint64_t bytes; /* of its files */
    uint64_t records;
    const char *reason;      /* code (interchange.md 5.1) */
    const char *reason_text; /* one sentence */
    sinter_bytes document;   /* `sinter.task`, one line without its end, and a zero behind */
} sinter_table_task_info;

/** Tasks of a table. Immutable. */
typedef struct sinter_table_plan sinter_table_plan;

/**
 * Decide what is to be compacted in the newest snapshot.
 *
 * Tables with primary key: bucket by bucket what the strategy picks, or all with `full`. Tables
 * that need a lookup (deletion vectors, first-row, force-lookup) are compacted to the highest level
 * as a whole, whatever the strategy picks, since nothing may lie deeper then. Append tables without
 * buckets: small files, and those with many deleted rows, are packed by partition. Append tables
 * with buckets: neighbours are joined.
 *
 * @param table    borrowed for the call
 * @param options  borrowed for the call; NULL: defaults
 * @param out      release with sinter_table_plan_destroy(); without tasks when there is nothing to
 *                 do
 * @return         as sinter_table_compact_options(), and what reading metadata gives
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_plan_create(sinter_table *table, const sinter_table_plan_options *options,
                         sinter_table_plan **out, sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_table_plan_destroy(sinter_table_plan *plan);

/** Number of tasks. */
SINTER_API size_t
sinter_table_plan_count(const sinter_table_plan *plan);

/** Task number `index` < count. `out->struct_size` must be set; no more than that is written. */
SINTER_API void
sinter_table_plan_get(const sinter_table_plan *plan, size_t index, sinter_table_task_info *out);

/** How a task is run. Zeroed with struct_size set: as it says. */
typedef struct sinter_table_run_options {
    uint32_t struct_size;
    uint32_t reserved;
    const char *source;    /* name of the document for errors; NULL: none */
    const char *base_dir;  /* where the table is on this machine; NULL: as the task says */
    const char *spill_dir; /* NULL: where new files go */
    const sinter_option *settings;
    size_t setting_count; /* over the task's: how it is run, such as sinter.memory-budget */
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
    void (*progress)(void *ctx, uint64_t bytes, uint64_t records);
    void *progress_ctx;
    sinter_memory *spill_space; /* as in sinter_compact_task */
} sinter_table_run_options;

/**
 * Run a task. Needs its document and the files that it names, and nothing else. New files are
 * complete, synced and published when this returns SINTER_OK; after a failure none of them exists.
 * What killed runs left behind are files that nobody refers to: temporary ones are removed by the
 * next run in the same bucket.
 *
 * @param env       allocator, io, memory, clock, executor, listener; borrowed for the call
 * @param document  `sinter.task`
 * @param options   borrowed for the call; NULL: defaults
 * @param result    gets the `sinter.result` document, one line with its end, also after a failure
 *                  of the run itself
 * @return          as sinter_compact_task_run();
 *                  SINTER_E_INVALID      the document (source, line, column, member)
 *                  SINTER_E_UNSUPPORTED  a version, a member that must be understood
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_task_run(const sinter_env *env, sinter_bytes document,
                      const sinter_table_run_options *options, sinter_text *result,
                      sinter_error *err);

/** A result to commit. */
typedef struct sinter_table_result {
    const char *source; /* name for errors; NULL: none */
    sinter_bytes document;
} sinter_table_result;

/** How results are committed. Zeroed with struct_size set: duplicates lose their files. */
typedef struct sinter_table_commit_options {
    uint32_t struct_size;
    bool keep; /* leave the files of duplicates */
    uint8_t reserved[3];
} sinter_table_commit_options;

/** What a commit did. */
typedef struct sinter_table_commit_info {
    uint32_t struct_size;
    bool was_done;   /* everything was in the table already */
    bool is_unknown; /* after a failure: the snapshot may be there, files must stay */
    uint8_t reserved[2];
    int64_t snapshot_id;      /* that has the results; 0: none was needed */
    uint64_t results;         /* used */
    uint64_t duplicates;      /* of the same task and range: not used */
    uint64_t done;            /* of those used: in the table already */
    uint64_t files_before;    /* retired */
    uint64_t files_after;     /* new and upgraded */
    uint64_t files_discarded; /* new files of duplicates, removed */
} sinter_table_commit_info;

/**
 * Make results one COMPACT snapshot.
 *
 * Each retired file is looked for in the newest snapshot, by partition, bucket, level and name, and
 * its whole entry is carried; an upgraded file is that entry with its new level. Deletion vectors
 * of retired files go, those of others stay.
 *
 * @param table    borrowed for the call
 * @param results  `count` documents, all of this table and with status `ok`
 * @param out      set also after a failure; no more than its struct_size is written. May be NULL
 * @return         SINTER_OK;
 *                 SINTER_E_CONFLICT     a retired file isn't there any more, or its rows were
 *                                       deleted meanwhile (file and reason told): plan anew
 *                 SINTER_E_INVALID      a document (source, line, column, member), a result that
 *                                       failed or of another table, ranges with a gap or overlap
 *                 SINTER_E_UNSUPPORTED  a version, a member that must be understood
 *                 what reading and writing metadata gives
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_commit_results(sinter_table *table, const sinter_table_result *results, size_t count,
                            const sinter_table_commit_options *options,
                            sinter_table_commit_info *out, sinter_error *err);

/**
 * Remove the new files of a result that nobody is going to commit. Upgraded files stay.
 * @return SINTER_OK, also when files are gone already; as sinter_table_commit_results() of the
 *         document; failures of unlink
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_result_discard(sinter_table *table, const sinter_table_result *result,
                            sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
