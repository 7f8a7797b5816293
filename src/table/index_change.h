/*
 * The index manifest that a commit leaves: the old one, without what goes, with what comes.
 * Source: table-layout.md 10.
 *
 * A new file takes the place of the one with its key: (partition, bucket, type) for hash indexes
 * and the deletion vectors of buckets, its name for everything else. Entries of types that aren't
 * known are carried over.
 */
#ifndef SINTER_TABLE_INDEX_CHANGE_H
#define SINTER_TABLE_INDEX_CHANGE_H

#include "table/commit.h"
#include "table/index_manifest.h"

/** What is changed, and how the table is made. All borrowed. */
typedef struct sinter__index_change {
    const sinter__commit_request *request;
    bool has_buckets;                   /* the table has a primary key, or a number of buckets */
    const sinter__index_manifest *old;  /* of the snapshot that is committed on; may be empty */
    const sinter__index_manifest *read; /* of the one that was planned from; NULL: the same */
} sinter__index_change;

/**
 * Make the new list.
 *
 * @param arena  gets the array; the entries are borrowed
 * @return       SINTER_OK, SINTER_E_NOMEM;
 *               SINTER_E_CONFLICT  what the request changes, or the deletion vector of a file that
 *                                  it deletes, is not what it was when it was planned
 *               SINTER_E_INVALID   a vector would outlive the file that it belongs to
 */
sinter_status
sinter__index_change_apply(const sinter__index_change *self, sinter__arena *arena,
                           const sinter__index_entry *const **out, size_t *count_out,
                           sinter_error *err);

#endif
