/*
 * Does a commit collide with what others have committed? Source: table-layout.md 12.3.
 *
 * The live files of the partitions that it touches are kept from one attempt to the next: what came
 * since is in the deltas of the snapshots between.
 */
#ifndef SINTER_TABLE_CONFLICTS_H
#define SINTER_TABLE_CONFLICTS_H

#include "table/commit.h"
#include "table/manifest_merge.h"
#include "table/partitions.h"

/** A partition that a commit touches. */
typedef struct sinter__touched {
    sinter_bytes partition;
    int32_t total_buckets; /* that its files agree on so far; 0: none has told */
} sinter__touched;

/** A check over the attempts of a commit. Zeroed with the first four set is new. Confined. */
typedef struct sinter__conflicts {
    sinter_table *table;
    const sinter__commit_request *request;
    sinter__partitions *partitions; /* of the newest schema, borrowed; may change from one attempt
                                       to the next */
    const sinter_schema *schema;    /* the same */
    sinter__arena arena;
    sinter__touched *touched; /* sorted */
    size_t touched_count;
    sinter__manifest_merge *live; /* NULL: nothing was read so far */
    int64_t live_id;
} sinter__conflicts;

/**
 * Check the request against a snapshot.
 *
 * @param snapshot  NULL: the table has none
 * @return          SINTER_OK; SINTER_E_CONFLICT: partition, file and reason are told;
 *                  SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of reading
 */
sinter_status
sinter__conflicts_check(sinter__conflicts *self, const sinter_snapshot *snapshot,
                        sinter_error *err);

void
sinter__conflicts_fini(sinter__conflicts *self);

#endif
