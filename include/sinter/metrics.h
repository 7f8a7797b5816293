/*
 * Counters of buckets and of the scheduler, readable at any time (spec/compaction.md 17).
 */
#ifndef SINTER_METRICS_H
#define SINTER_METRICS_H

#include "sinter/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Counters of one bucket. Each number is exact; numbers of one copy may be of moments that lie a
 *  little apart. Totals count from the creation of the object. */
typedef struct sinter_bucket_metrics {
    uint32_t struct_size;
    uint32_t running; /* 1 while a compaction runs or waits to run */
    /* what is there */
    uint64_t runs; /* sorted runs: files that a point read may have to look into */
    uint64_t level0_files;
    uint64_t files;
    uint64_t bytes;        /* of all files */
    uint64_t bottom_bytes; /* of the files at the highest level that holds any */
    uint64_t buffer_bytes; /* in the write buffer */
    uint64_t buffer_limit_bytes;
    /* writes and flushes */
    uint64_t rows_written; /* given to the write buffer */
    uint64_t bytes_in;     /* keys and values of these */
    uint64_t flushes;
    uint64_t flushed_bytes; /* of the level-0 files */
    uint64_t spills;        /* of the write buffer */
    /* compactions */
    uint64_t compactions;           /* submitted */
    uint64_t compactions_completed; /* with a result */
    uint64_t compactions_failed;
    uint64_t compactions_cancelled;
    uint64_t compact_read_bytes;
    uint64_t compact_written_bytes;
    uint64_t compact_upgraded_bytes; /* changed their level only */
    uint64_t compact_ns;
    uint64_t records_superseded; /* older versions that went */
    uint64_t records_deleted;    /* deletes that went */
    uint64_t last_input_bytes;   /* of the last compaction, upgraded files included */
    uint64_t last_output_bytes;
    int64_t last_compaction_ms; /* wall clock when the last one ended; 0: none yet */
    /* writers */
    uint64_t stalls;
    uint64_t stall_ns;
    uint64_t slowdowns; /* times that a flush took longer, to let the compaction come up */
    uint64_t slowdown_ns;
    uint64_t reserved[6];
    /* Input files of completed compactions by sinter_reason, and submitted compactions by the
     * sinter_pick_rule that asked for them. Each counts to 2^32 and begins anew. */
    uint64_t files_by_reason[16];
    uint64_t picks_by_rule[16];
} sinter_bucket_metrics;

/** Bytes written to disk per byte flushed: 1 without compaction; 0 before the first flush. */
SINTER_API double
sinter_bucket_write_amplification(const sinter_bucket_metrics *metrics);

/** Bytes on disk per byte of the highest level, an estimate of what lives; 0 without files. */
SINTER_API double
sinter_bucket_space_amplification(const sinter_bucket_metrics *metrics);

/** Counters of a scheduler. */
typedef struct sinter_scheduler_metrics {
    uint32_t struct_size;
    uint32_t tasks_max;
    uint32_t running;
    uint32_t queued;
    uint32_t paused; /* 1: yes */
    uint32_t buckets;
    uint64_t submitted; /* tasks */
    uint64_t completed;
    uint64_t failed;
    uint64_t cancelled;
    uint64_t refused;    /* for want of room in the queue */
    uint64_t busy_ns;    /* of threads in tasks */
    uint64_t wait_ns;    /* of tasks in the queue */
    uint64_t slow_ios;   /* io calls above slow_io_ns */
    uint64_t read_bytes; /* that tasks read and wrote through the io */
    uint64_t written_bytes;
    uint64_t bytes_per_second; /* the rate of options.limit_mode; 0: unlimited */
    uint64_t memory_bytes;     /* budgets of running tasks */
    uint32_t open_files;       /* allowed to running tasks */
    uint32_t reserved32;
    uint64_t read_bytes_per_second; /* the rates of each side; 0: unlimited */
    uint64_t write_bytes_per_second;
    uint64_t reserved[6];
} sinter_scheduler_metrics;

#ifdef __cplusplus
}
#endif
#endif
