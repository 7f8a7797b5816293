/*
 * Runs that are written out before the merge, to be read again as its inputs
 * (spec/compaction.md 14.1).
 *
 * All spilled runs of a merge lie in one temporary file that is never published, so it vanishes
 * with its handle. Rows keep key, sequence, kind, value, user sequence and the age of their file.
 */
#ifndef SINTER_MERGE_SPILL_H
#define SINTER_MERGE_SPILL_H

#include "sinter/merge.h"

/** Spilled runs of one merge. Confined. */
typedef struct sinter__spill sinter__spill;

/** Where and how to spill. Strings are borrowed until destroy. */
typedef struct sinter__spill_options {
    const char *dir;
    int32_t codec;
    int32_t codec_level;
    bool (*is_cancelled)(void *ctx); /* may be NULL */
    void *cancel_ctx;
    sinter_memory *space; /* bytes that spill files may take; NULL: no limit. Borrowed */
} sinter__spill_options;

sinter_status
sinter__spill_create(const sinter_env *env, const sinter__spill_options *options,
                     sinter__spill **out, sinter_error *err);

/**
 * Write a whole run, as the next one. The reader is the caller's and is read to its end.
 * @param has_versions  it may hold several versions of a key, side by side in one batch
 * After a failure no further run can be written; those before can be read.
 */
sinter_status
sinter__spill_run(sinter__spill *spill, sinter_reader *reader, bool has_versions,
                  sinter_merge_counters *counters, sinter_error *err);

/**
 * Make sure of the last run: what is written later, and may fail, can't take it back any more. Then
 * the memory that writing takes is given back.
 * @return SINTER_OK; or the run is not there, as after a failure of sinter__spill_run()
 */
sinter_status
sinter__spill_settle(sinter__spill *spill, sinter_error *err);

/** What spilling a run takes of the memory budget, as far as it can be told from its batches. */
typedef struct sinter__spill_footprint {
    uint64_t writer_bytes; /* while it is written */
    uint64_t block_bytes;  /* while it is read back */
    uint64_t shared_bytes; /* the same, for all spilled runs together */
} sinter__spill_footprint;

/** Batches have up to `batch_rows` rows in `batch_bytes` bytes of keys and values; 0: not known,
 *  taken as small. */
void
sinter__spill_measure(int codec, int codec_level, uint64_t batch_bytes, uint32_t batch_rows,
                      sinter__spill_footprint *out);

/**
 * Merge neighbouring runs, keeping every version, until one block of each fits into `memory_bytes`.
 * While that goes on, `free_bytes` may be used. Afterwards a run may hold several versions of a key
 * side by side, never parted by a batch border.
 * @return SINTER_OK, SINTER_E_TOO_LARGE when not even two runs fit (names the least that works),
 *         failures of io and memory
 */
sinter_status
sinter__spill_fit(sinter__spill *spill, uint64_t memory_bytes, uint64_t free_bytes,
                  sinter_error *err);

size_t
sinter__spill_run_count(const sinter__spill *spill);

/** Can run `index` hold several versions of a key? */
bool
sinter__spill_run_is_multi(const sinter__spill *spill, size_t index);

/** Open run `index`; the reader must be closed before the spill is destroyed. */
sinter_status
sinter__spill_open(sinter__spill *spill, size_t index, sinter_reader **out, sinter_error *err);

/** Bytes written to the file so far, and how often runs were merged beforehand. */
uint64_t
sinter__spill_bytes(const sinter__spill *spill);
uint64_t
sinter__spill_passes(const sinter__spill *spill);

/** Close the file, which removes it; release. Takes NULL. */
void
sinter__spill_destroy(sinter__spill *spill);

#endif
