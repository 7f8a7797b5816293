/*
 * The sorted write buffer: rows come in any order of their keys, leave sorted, as files of level 0
 * (spec/compaction.md 15.3).
 */
#ifndef SINTER_COMPACT_WRITE_BUFFER_H
#define SINTER_COMPACT_WRITE_BUFFER_H

#include "compact/result.h"
#include "compact/rolling_writer.h"

/** What a buffer is made of. Copied; what it points to is borrowed until destroy. */
typedef struct sinter__write_buffer_config {
    sinter_memory *memory;    /* what the buffer holds is reserved here too; may be shared by
                                 several buffers. NULL: limit_bytes alone counts */
    uint64_t limit_bytes;     /* write-buffer-size: of this buffer alone, keys, values and what
                                 sorting takes */
    const char *spill_dir;    /* NULL: not spillable */
    uint64_t spill_bytes_max; /* write-buffer-spill.max-disk-size; UINT64_MAX: no limit */
    int32_t spill_codec;      /* sinter_codec */
    int32_t spill_codec_level;
    bool keeps_newest; /* of a key nothing but the version with the largest sequence counts */
} sinter__write_buffer_config;

/** Rows on their way to level 0. Confined. An empty one holds no memory, unless it was full when it
 *  was flushed: then it is kept until the next flush, or until rows of other sizes need it. */
typedef struct sinter__write_buffer sinter__write_buffer;

/** `env`: allocator, io, memory for spilling and flushing; borrowed until destroy.
 *  @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__write_buffer_create(const sinter_env *env, const sinter__write_buffer_config *config,
                            sinter__write_buffer **out, sinter_error *err);

/** Release; takes NULL. What was not flushed is gone, spilled rows too. */
void
sinter__write_buffer_destroy(sinter__write_buffer *buffer);

/**
 * Copy a row in. Whatever this returns but SINTER_OK: the row is not in the buffer, and what was
 * put before is.
 *
 * @param sequence  above that of the row before
 * @return SINTER_OK; SINTER_END: it does not fit, flush and try again; of a buffer without rows:
 * the others that share the memory hold too much of it; SINTER_E_TOO_LARGE: it would not fit into
 * the memory if nothing else was there (names what would be enough), or the key or the value are
 * larger than allowed; SINTER_E_INVALID: sequence or kind; SINTER_E_NOMEM; failures of spilling,
 * after which it may be tried again
 */
sinter_status
sinter__write_buffer_put(sinter__write_buffer *buffer, sinter_bytes key, int64_t sequence,
                         uint8_t kind, sinter_bytes value, sinter_error *err);

/** Bytes that a buffer with only this row holds. */
uint64_t
sinter__write_buffer_least(size_t key_size, size_t value_size);

/**
 * Give the memory up for others that share it: what was kept for more rows, or by spilling.
 * @return SINTER_OK; SINTER_END: there is nothing to give, the buffer is not spillable or its file
 *         is large enough already: flush; failures of spilling
 */
sinter_status
sinter__write_buffer_spill(sinter__write_buffer *buffer, sinter_error *err);

/** Rows in it, spilled ones too. */
uint64_t
sinter__write_buffer_rows(const sinter__write_buffer *buffer);

/** Bytes held in memory. */
uint64_t
sinter__write_buffer_bytes(const sinter__write_buffer *buffer);

/** How often it spilled. */
uint64_t
sinter__write_buffer_spills(const sinter__write_buffer *buffer);

/** How a flush merges and writes. Borrowed for the call. */
typedef struct sinter__flush_config {
    const sinter__rolling_config *rolling; /* level 0, source APPEND, target size, rows of a file */
    sinter_merge_function *function;       /* versions of one key become one row, or none (14.4) */
    const sinter_order *order;             /* user sequence; NULL: none */
    int32_t sort_engine;
    uint64_t memory_bytes; /* for reading what was spilled, where the environment has no budget; 0:
                              no limit */
    bool reads_back;       /* the files are verified before they are handed over */
    bool (*is_cancelled)(void *ctx); /* asked now and then; NULL: never */
    void *cancel_ctx;
    /** The files are complete: take them over. A failure is that of the flush. NULL: nobody has to
     *  know of them. */
    sinter_status (*accept)(void *ctx, const sinter_compact_result *result, sinter_error *err);
    void *accept_ctx;
} sinter__flush_config;

/**
 * Write all rows into new files and append these to `result`, then empty the buffer. The files are
 * complete, synced and published, and their directory is synced. After a failure none of the
 * files exists, `result` is as before, and the buffer holds its rows still, so that the flush can
 * be tried again. No rows, or none left after reducing: no file.
 *
 * @param result  the merge's counters are added to its counters
 * @return        SINTER_OK, SINTER_E_CANCELLED, SINTER_E_RETRACT and other failures of the
 * function, SINTER_E_TOO_LARGE (budget), SINTER_E_NOMEM, SINTER_E_CONFLICT (a record was lost: a
 * fault), failures of writing and of reading what was spilled
 */
sinter_status
sinter__write_buffer_flush(sinter__write_buffer *buffer, const sinter__flush_config *config,
                           sinter_compact_result *result, sinter_error *err);

#endif
