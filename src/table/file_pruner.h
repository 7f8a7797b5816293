/*
 * Files of a bucket that can't have a row for which a predicate holds, by their key ranges and
 * statistics (table-layout.md 6.4).
 *
 * A file may be left out when none of its rows is wanted, and none hides an older version of its
 * key in a file that is read. What a predicate says of keys and partitions is true of all versions
 * of a key alike. What it says of other columns counts only where no other file has the same keys.
 */
#ifndef SINTER_TABLE_FILE_PRUNER_H
#define SINTER_TABLE_FILE_PRUNER_H

#include "table/live_files.h"
#include "table/scan_columns.h"

/** Confined. */
typedef struct sinter__file_pruner sinter__file_pruner;

/** What it goes by. Borrowed as long as the pruner. */
typedef struct sinter__prune_plan {
    sinter_table *table;
    const sinter__scan_columns *columns;
    const sinter__predicate *predicate; /* of the schema's columns */
    /* Does every key stand in one file only, but for rows that vectors delete? */
    bool has_unique_keys;
} sinter__prune_plan;

/** Make one. @param out release with sinter__file_pruner_destroy(). @return SINTER_OK,
 *  SINTER_E_NOMEM */
sinter_status
sinter__file_pruner_create(const sinter__prune_plan *plan, sinter__file_pruner **out,
                           sinter_error *err);

/** Release; takes NULL. */
void
sinter__file_pruner_destroy(sinter__file_pruner *self);

/**
 * Leave out files.
 * @param out  those that are left, in their order, until the next call
 * @return     SINTER_OK, SINTER_E_NOMEM, failures of reading schemas
 */
sinter_status
sinter__file_pruner_apply(sinter__file_pruner *self, const sinter__bucket_files *files,
                          sinter__bucket_files *out, sinter_error *err);

#endif
