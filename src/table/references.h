/*
 * What snapshots refer to: names of lists, manifests, index files, statistics, and data files.
 *
 * Names are unique in a table, so they stand for the files wherever these lie.
 */
#ifndef SINTER_TABLE_REFERENCES_H
#define SINTER_TABLE_REFERENCES_H

#include "table/name_set.h"
#include "table/table.h"

/** Names that are in use. */
typedef struct sinter__references {
    sinter__name_set names;
    bool with_data;  /* data files, too: every one that a manifest names, deleted or not */
    bool is_lenient; /* metadata that is gone is passed over: changelogs outlive part of theirs */
} sinter__references;

/**
 * Add what a snapshot refers to, but for its changelog. Manifests that were seen are not read
 * again.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_NOT_FOUND (a file of metadata is gone), failures of
 *         reading
 */
sinter_status
sinter__references_add(sinter__references *self, const sinter_table *table,
                       const sinter_snapshot *snapshot, sinter_error *err);

/** Add its changelog. That of a tag may be gone: it expires with the snapshot. @return as above */
sinter_status
sinter__references_add_changelog(sinter__references *self, const sinter_table *table,
                                 const sinter_snapshot *snapshot, sinter_error *err);

/** Which of a branch's snapshots to add. */
enum {
    SINTER__REFERENCES_SNAPSHOTS = 1u << 0,
    SINTER__REFERENCES_TAGS = 1u << 1,
    SINTER__REFERENCES_CHANGELOGS = 1u << 2 /* those that outlived their snapshots */
};

/**
 * Add what a table, or a branch, refers to. A snapshot that vanishes while it is read is passed
 * over; one that is there and whose metadata isn't is damage.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT, failures of reading
 */
sinter_status
sinter__references_add_table(sinter__references *self, sinter_table *table, uint32_t which,
                             sinter_error *err);

#endif
