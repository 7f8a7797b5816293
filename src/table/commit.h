/*
 * Commits: a new snapshot of a table, or none. Source: table-layout.md 11 to 13.
 *
 * Data files, and index files, are complete and synced together with their directories before a
 * commit names them. An attempt then goes
 *
 *   latest snapshot -> conflicts? -> manifests merged, delta and lists written, synced ->
 *   snapshot-N published, which fails if that name is taken -> its directory synced -> LATEST
 *
 * A race that is lost is another attempt, after a wait. Conflicts are final. A failure while the
 * snapshot is published leaves its outcome open: nothing is deleted then, and the next attempt
 * looks for a snapshot of the same user, identifier and kind first.
 */
#ifndef SINTER_TABLE_COMMIT_H
#define SINTER_TABLE_COMMIT_H

#include "table/index_manifest.h"
#include "table/manifest_entry.h"
#include "table/table.h"

/** What to commit. All borrowed for the call. Zeroed is an empty APPEND of nobody. */
typedef struct sinter__commit_request {
    const char *user;   /* groups the commits of a job; not NULL */
    int64_t identifier; /* grows per user; INT64_MAX: a single commit */
    int32_t kind;       /* sinter_commit_kind; APPEND has no DELETE and no deletion vectors */
    bool is_replay;     /* look for it in the whole history before the first attempt */
    /* The snapshot that the entries were planned from; 0: not told. With it a commit that changes
     * index files, or deletes files of a table that has deletion vectors, fails when these were
     * changed since. */
    int64_t read_id;
    /* The delta, with all fields of what was read in DELETEs. Written DELETEs first, else in this
     * order. */
    const sinter__manifest_entry *const *entries;
    size_t count;
    const sinter__manifest_entry *const *changelog; /* changelog files, ADD all of them */
    size_t changelog_count;
    /* New index files. Each takes the place of the one with its key (table-layout.md 10). */
    const sinter__index_entry *const *index_added;
    size_t index_added_count;
    const sinter__index_entry *const *index_removed;
    size_t index_removed_count;
    const sinter_option *properties;
    size_t property_count;
    int64_t watermark; /* counts with has_watermark only; never decreases */
    bool has_watermark;
} sinter__commit_request;

/** What came of it. */
typedef struct sinter__commit_outcome {
    int64_t snapshot_id; /* that has the commit */
    bool was_done;       /* it was in the history already */
    /* Set by a failure that leaves open whether the snapshot is there, or will be: files that the
     * request names must not be deleted. */
    bool is_unknown;
    uint32_t attempts;
} sinter__commit_outcome;

/**
 * Commit. Reads the newest schema first. A commit without changes makes a snapshot as well.
 *
 * Options of the newest schema: `manifest.format` (avro, orc, parquet), `manifest.compression`,
 * `manifest.target-file-size`, `manifest.full-compaction-threshold-size`,
 * `manifest.merge-min-count`, `commit.max-retries`, `commit.min-retry-wait`,
 * `commit.max-retry-wait`, `commit.timeout`, `commit.strict-mode.last-safe-snapshot`,
 * `row-tracking.enabled`.
 *
 * @param out  set after failures too
 * @return     SINTER_OK;
 *             SINTER_E_CONFLICT     final: what the request deletes is not there any more, or
 *                                   collides with what is (partition, file and reason told); or
 *                                   all retries were lost to others. No snapshot, nothing left
 *             SINTER_E_INVALID      the request, an option, or a deletion vector that would outlive
 *                                   its file
 *             SINTER_E_UNSUPPORTED  a format of manifests, or fields that can't be carried over
 *             SINTER_E_CORRUPT      metadata of the table
 *             SINTER_E_NOMEM, SINTER_E_TOO_LARGE, SINTER_E_NO_SPACE, SINTER_E_IO
 * After any failure without `is_unknown` the table is as it was, and no file is left behind.
 */
sinter_status
sinter__commit(sinter_table *table, const sinter__commit_request *request,
               sinter__commit_outcome *out, sinter_error *err);

/**
 * The largest identifier that a user has committed: that of the newest snapshot of this user.
 * Pending commits up to it are done.
 * @return SINTER_OK, SINTER_END (no snapshot of this user), failures of reading snapshots
 */
sinter_status
sinter__commit_last_identifier(sinter_table *table, const char *user, int64_t *out,
                               sinter_error *err);

#endif
