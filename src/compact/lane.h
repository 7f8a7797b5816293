/*
 * One lane of a rewrite: merges sections, or what of them lies in a key range, into a row of new
 * files. A rewrite has one lane, or several side by side, one for each part of its key range.
 */
#ifndef SINTER_COMPACT_LANE_H
#define SINTER_COMPACT_LANE_H

#include <stdatomic.h>

#include "compact/result.h"
#include "compact/rolling_writer.h"
#include "compact/section_merge.h"

/** What the lanes of a task have in common. Shared: any lane's thread. */
typedef struct sinter__lane_group {
    const sinter_env *env; /* whose listener is told of the progress */
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
    atomic_bool has_failed; /* a lane did: the others stop */
    _Atomic uint64_t bytes_done;
    _Atomic uint64_t rows_read;
    void (*progress)(void *ctx, uint64_t bytes, uint64_t records); /* NULL: nobody */
    void *progress_ctx;
    const char *name; /* of the task, for events */
    uint64_t job_id;
    _Atomic int64_t progress_ns; /* when the progress was last told */
    atomic_flag is_telling;      /* one lane at a time tells it */
} sinter__lane_group;

/** How a lane reads, merges and writes. Copied; what it points to is borrowed until destroy. */
typedef struct sinter__lane_config {
    sinter__merge_config merge;                          /* its range is the lane's */
    sinter__rolling_config rolling;                      /* codec and level are the request's */
    const sinter_compact_options *options;               /* say which codec a level has */
    const sinter_merge_function_factory *merge_function; /* NULL: the options' */
    bool passes_blocks;
    sinter__lane_group *group;
} sinter__lane_config;

/** A lane. Confined; its files are its own until they are kept. */
typedef struct sinter__lane sinter__lane;

/** Make a lane that has done nothing yet. @return SINTER_OK, SINTER_E_NOMEM, failures of the io */
sinter_status
sinter__lane_create(const sinter_env *env, const sinter__lane_config *config, sinter__lane **out,
                    sinter_error *err);

/**
 * Merge the sections, as far as they lie in the lane's range, into new files; these are added to
 * `result`, and the counters of the merge to its counters.
 * @return SINTER_OK, SINTER_E_CANCELLED, SINTER_E_CONFLICT (a record was lost), failures of
 * reading, merging and writing
 */
sinter_status
sinter__lane_run(sinter__lane *lane, const sinter_rewrite_request *request,
                 sinter_compact_result *result, sinter_error *err);

/** Add what reading cost, and the time of each phase, to the counters. */
void
sinter__lane_add_counters(const sinter__lane *lane, sinter_compact_counters *counters);

/** Make the names of the new files durable. */
sinter_status
sinter__lane_sync(sinter__lane *lane, sinter_error *err);

/** From now on destroy leaves the new files. */
void
sinter__lane_keep(sinter__lane *lane);

/** Release; takes NULL. Files that are not kept vanish. */
void
sinter__lane_destroy(sinter__lane *lane);

/** Rule 3 of field-faults: no record is lost without a reason. @return SINTER_OK, SINTER_E_CONFLICT
 */
sinter_status
sinter__merge_counters_check(const sinter_merge_counters *counters, uint64_t rows_written,
                             sinter_error *err);

/** Add one set of merge counters to another. */
void
sinter__merge_counters_add(sinter_merge_counters *sum, const sinter_merge_counters *one);

#endif
