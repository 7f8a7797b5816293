/*
 * The age of files: sinter's last tie-break between versions of a key (spec/compaction.md 1).
 */
#ifndef SINTER_COMPACT_AGE_H
#define SINTER_COMPACT_AGE_H

#include "sinter/compact.h"

/**
 * Compare two files by age. Total over files with different names.
 *
 * Pure. Source: spec/compaction.md 1, "age of files": a higher level is older; then the smaller
 * creation time, the smaller largest sequence, the smaller smallest sequence, the smaller name.
 *
 * @return below 0: `a` is older; above 0: `b` is older
 */
int
sinter__age_compare(const sinter_file_meta *a, const sinter_file_meta *b);

/** Sort pointers to files, oldest first. */
void
sinter__age_sort(const sinter_file_meta **files, size_t count);

/** Rank of `file` among files sorted by age; 0 is the oldest. It must be one of them. */
uint32_t
sinter__age_rank(const sinter_file_meta *const *sorted, size_t count, const sinter_file_meta *file);

/**
 * Compare two files by their place in the list of level-sorted runs, newest data first.
 *
 * Pure. Source: spec/compaction.md 5: levels ascending; within level 0 the largest sequence
 * descending, then the smallest sequence, creation time and name ascending.
 *
 * @return below 0: `a` is younger; above 0: `b` is younger; 0: the order says nothing (two files
 *         of one level >= 1, or equal in all four)
 */
int
sinter__run_order_compare(const sinter_file_meta *a, const sinter_file_meta *b);

/**
 * Compare two files by their place in the list of all files of a bucket: as
 * sinter__run_order_compare(), and within a level above 0 those without rows first, then by
 * smallest key and name. Total over files of different names.
 */
int
sinter__place_compare(const sinter_file_meta *a, const sinter_file_meta *b);

#endif
