/*
 * How a table lies on disk: sizes of files, sorted runs, and what compaction would gain. Told from
 * metadata alone.
 */
#ifndef SINTER_TABLE_STATS_H
#define SINTER_TABLE_STATS_H

#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Classes of file sizes; the last one has no limit. */
enum { SINTER_FILE_SIZE_CLASSES = 9 };

/** Files of class i are smaller than this: 64 KiB, 1, 4, 16, 64, 128, 256 MiB, 1 GiB; UINT64_MAX
 *  for the last class and above. */
SINTER_API uint64_t
sinter_file_size_class_limit(size_t index);

/** A bucket. Strings live for the call that it is given to. */
typedef struct sinter_bucket_stats {
    uint32_t struct_size;
    int32_t bucket;
    const char *partition; /* its directory; "" without partition columns */
    uint64_t files;
    uint64_t rows; /* stored ones: older versions and deletes too */
    uint64_t bytes;
    uint64_t level0_files;
    /** With a primary key: files of level 0 are one each, all files of a higher level are one.
     *  Without: 0. What a read of all keys merges, its read amplification */
    uint64_t sorted_runs;
    uint64_t top_bytes; /* of the highest level above 0 that has files; 0: none has */
    /** What compaction would read, and how many files there would be instead of `files`. With a
     *  primary key: all, to the highest level, unless they are one run there already. Without: the
     *  small files. */
    uint64_t gain_bytes;
    uint64_t files_after;
    uint64_t deleted_rows; /* that are deletes, or that deletion vectors mark */
    uint64_t reserved[4];
} sinter_bucket_stats;

/** A table. */
typedef struct sinter_table_stats {
    uint32_t struct_size;
    bool has_key;
    uint64_t buckets;
    sinter_bucket_stats sum; /* of all buckets; `sorted_runs` too */
    uint64_t max_sorted_runs;
    uint64_t target_file_bytes; /* of the table's options */
    uint64_t class_files[SINTER_FILE_SIZE_CLASSES];
    uint64_t class_bytes[SINTER_FILE_SIZE_CLASSES];
    uint64_t reserved[4];
} sinter_table_stats;

/**
 * Tell how the files of a snapshot lie.
 *
 * @param snapshot  NULL: the newest; a table without any has no files
 * @param each      called for each bucket, by partition and number; NULL: nobody asks. A failure of
 *                  it ends the walk and is returned
 * @param out       its struct_size must be set
 * @return          as sinter_table_each_file(); SINTER_E_INVALID (an option of the table)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_stats_get(sinter_table *table, const sinter_snapshot *snapshot,
                       sinter_status (*each)(void *ctx, const sinter_bucket_stats *bucket),
                       void *ctx, sinter_table_stats *out, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
