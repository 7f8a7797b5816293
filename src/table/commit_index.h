/*
 * What a compaction changes among index files: vectors of files that are no more leave them.
 * Source: deletion-vectors.md 5, 7; table-layout.md 10.
 */
#ifndef SINTER_TABLE_COMMIT_INDEX_H
#define SINTER_TABLE_COMMIT_INDEX_H

#include "table/task.h"

/** Read the index manifest of a snapshot; without one nothing is read.
 *  @param out  `arena.env` set; release with sinter__index_manifest_fini()
 *  @return     as sinter__index_manifest_read() */
sinter_status
sinter__index_read(const sinter_table *table, const sinter_snapshot *snapshot,
                   sinter__index_manifest *out, sinter_error *err);

/**
 * Has a file the vector that was read? Positions only ever join a vector, so the same number of
 * them is the same vector.
 * @param read  NULL: none was
 * @return      SINTER_OK, SINTER_E_CONFLICT
 */
sinter_status
sinter__index_check_vector(const sinter__index_manifest *index, sinter_bytes data_file,
                           const sinter__file_vector *read, sinter_error *err);

/** Files that are no more. Borrowed. */
typedef struct sinter__index_retire {
    const sinter__table_options *options;
    const sinter__scan_columns *columns;
    const sinter__index_manifest *index;
    const sinter_bytes *retired;
    size_t retired_count;
} sinter__index_retire;

/** Entries that change, and the files that were made for it. */
typedef struct sinter__index_change {
    const sinter__index_entry **added;
    const sinter__index_entry **removed;
    const char **paths; /* of the files of `added` */
    size_t added_count;
    size_t removed_count;
    size_t path_count;
} sinter__index_change;

/**
 * Write what stays of each index file that has a vector of a retired file. After a failure none of
 * the new files exists.
 * @return SINTER_OK, SINTER_E_NOMEM, failures of reading and writing index files
 */
sinter_status
sinter__index_change_make(const sinter_table *table, const sinter__index_retire *retire,
                          sinter__arena *arena, sinter__index_change *out, sinter_error *err);

/** Remove the new files: nothing refers to them. */
void
sinter__index_change_undo(const sinter_table *table, sinter__index_change *change);

#endif
