/*
 * Which files of a bucket of an append table are joined (append-compaction.md 8). Rows are read by
 * sequence number, so only neighbours are.
 */
#ifndef SINTER_APPEND_BUCKETED_H
#define SINTER_APPEND_BUCKETED_H

#include "append/coordinator.h"

/** A file of a bucket. `file` is borrowed. */
typedef struct sinter__bucketed_file {
    sinter__append_file file;
    int64_t min_sequence;
    bool has_vector;
} sinter__bucketed_file;

/** Neighbours to join: the files from `first` on. */
typedef struct sinter__bucketed_pick {
    size_t first;   /* files before it were left for good */
    size_t count;   /* 0: nothing to join */
    bool has_asked; /* a full pick: there was enough to look at */
} sinter__bucketed_pick;

/** Sort by smallest sequence, equal ones by name. */
void
sinter__bucketed_sort(sinter__bucketed_file *files, size_t count);

/** Pick from sorted files as a writer does after a flush. */
sinter__bucketed_pick
sinter__bucketed_pick_auto(const sinter__append_limits *limits, const sinter__bucketed_file *files,
                           size_t count);

/** Pick from all of the sorted files. `force`: whatever there is. */
sinter__bucketed_pick
sinter__bucketed_pick_full(const sinter__append_limits *limits, bool force,
                           const sinter__bucketed_file *files, size_t count);

#endif
