/*
 * Inside of planning: what is known of the table, and where tasks go.
 */
#ifndef SINTER_TABLE_PLAN_PRIV_H
#define SINTER_TABLE_PLAN_PRIV_H

#include "table/live_files.h"
#include "table/plan_filter.h"
#include "table/record_expiry.h"
#include "table/task.h"
#include "table/write_plan.h"

/** The deletion vector of a data file. */
typedef struct sinter__found_vector {
    sinter_bytes data_file;
    const sinter__vector_range *range;
    const sinter__index_entry *entry;
} sinter__found_vector;

/** A planner. Zeroed, with the environment in its arenas. */
typedef struct sinter__planner {
    sinter_table *table;
    sinter_table_plan_options options;
    sinter__compaction compaction;
    sinter__scan_columns columns;
    sinter__write_plan write;
    sinter__index_manifest index;
    sinter__live_files *files;
    sinter__found_vector *vectors; /* sorted by data file */
    size_t vector_count;
    sinter__partition_filter filter;
    int64_t now_ms; /* where rows expire: when they do */
    sinter__record_expiry expiry;
    sinter__arena arena; /* of the planner's own */
    int64_t snapshot_id;
    const char *user;
    int64_t identifier; /* of the next task */
    sinter_table_plan *plan;
} sinter__planner;

/** A task in the making: which bucket, which files, and how. */
typedef struct sinter__task_draft {
    sinter__task_type type;
    bool drop_delete;
    int32_t output_level;
    int32_t max_level;
    const sinter__bucket_files *bucket;
    const sinter__manifest_entry *const *files;
    size_t count;
    const char *reason;
    const char *reason_text;
    const char *unit_id; /* of the unit that this is a part of; NULL: a unit of its own */
    int64_t identifier;  /* with `unit_id` */
    sinter__key_range range;
} sinter__task_draft;

/** Are there as many tasks as were asked for? */
bool
sinter__planner_is_full(const sinter__planner *self);

/** Make a task of a draft. @return SINTER_OK; SINTER_END: these are enough, which is not said
 *  within the parts of a unit; failures */
sinter_status
sinter__planner_add(sinter__planner *self, const sinter__task_draft *draft, sinter_error *err);

/** Make tasks of a draft, several where it is larger than was asked for. `metas` are of its files,
 *  with encoded keys. @return as sinter__planner_add() */
sinter_status
sinter__planner_add_cut(sinter__planner *self, const sinter__task_draft *draft,
                        const sinter_file_meta *const *metas, sinter_error *err);

/** The vector of a data file; NULL: it has none. */
const sinter__found_vector *
sinter__planner_vector(const sinter__planner *self, sinter_bytes data_file);

/** Plan a bucket of a table with primary key. */
sinter_status
sinter__planner_keyed(sinter__planner *self, const sinter__bucket_files *files, sinter_error *err);

/** Plan a bucket of an append table with buckets. */
sinter_status
sinter__planner_bucketed(sinter__planner *self, const sinter__bucket_files *bucket,
                         sinter_error *err);

/** Plan an append table without buckets. */
sinter_status
sinter__planner_unaware(sinter__planner *self, sinter_error *err);

/** Is this bucket asked for? */
sinter_status
sinter__planner_wants(const sinter__planner *self, const sinter__bucket_files *bucket, bool *out,
                      sinter_error *err);

#endif
