/*
 * Batches: what readers yield, what the merge works on, what writers take (design 4.2).
 *
 * A batch is columns. Its payload (the values) is understood by its own format only; the merge
 * never looks inside. The merge yields ranges of rows of batches; a writer takes ranges.
 */
#ifndef SINTER_BATCH_H
#define SINTER_BATCH_H

#include "sinter/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinter_batch sinter_batch;
struct sinter_env;

/**
 * What a format lets others do with its payload. The address identifies the payload's kind: a
 * writer copies rows as bytes only from payloads whose ops it knows.
 */
typedef struct sinter_payload_ops {
    uint32_t struct_size;
    uint32_t reserved;
    const char *format; /* "sst", ... */
    /** Bytes of one row's value, valid as long as the batch. NULL: values are no plain bytes. */
    sinter_bytes (*value)(const sinter_batch *batch, uint32_t row);
    /**
     * Give the bytes from which thaw() rebuilds one row's values, by calling `put` once. For
     * spilling. NULL: `value` gives them, and a batch of plain values is a thawed one.
     */
    sinter_status (*freeze)(const sinter_batch *batch, uint32_t row,
                            sinter_status (*put)(void *put_ctx, const void *data, size_t size),
                            void *put_ctx, sinter_error *err);
    /**
     * Turn frozen rows back into a payload of this format.
     *
     * @param frozen       `row_count` frozen rows, live as long as the payload
     * @param state        NULL at first; holds the function's memory from call to call
     * @param payload_out  lives until the next call with the same state
     */
    sinter_status (*thaw)(const struct sinter_env *env, const sinter_bytes *frozen,
                          uint32_t row_count, void **state, const void **payload_out,
                          sinter_error *err);
    /** Release a state of thaw(); takes NULL. */
    void (*thaw_end)(const struct sinter_env *env, void *state);
} sinter_payload_ops;

enum {
    /** The batch is a whole stored block that was not decoded: it has row_count and payload only,
     *  and can only be handed to a writer that accepted it (design 4.4). */
    SINTER_BATCH_STORED = 1u << 0
};

/**
 * Rows sorted by key, strictly ascending. Lives until the next call of the reader it came from.
 *
 * Keys: if `key_offsets` is NULL, row i is `keys[i*key_width .. +key_width]`; else
 * `keys[key_offsets[i] .. key_offsets[i+1]]`.
 */
struct sinter_batch {
    uint32_t struct_size;
    uint32_t flags;
    uint32_t row_count;
    uint32_t key_width;          /* width of every key if key_offsets is NULL */
    const uint8_t *keys;         /* followed by at least 16 readable bytes */
    const uint32_t *key_offsets; /* row_count + 1, or NULL */
    const uint64_t *prefixes; /* the first 8 key bytes after the reader's prefix skip, big-endian,
                                 missing bytes 0 */
    const int64_t *sequences;
    const uint8_t *kinds;
    const uint8_t *dropped;        /* per row: 0 keep, else SINTER_DROP_*; NULL: keep all */
    const uint8_t *orders;         /* user sequence, order-preserving bytes; NULL: none */
    const uint32_t *order_offsets; /* row_count + 1, with `orders` */
    const uint32_t *origins;       /* per row: see `origin`; NULL: all rows have `origin` */
    uint32_t origin;               /* rank of the row's file by age, 0 = oldest (spec 1) */
    uint32_t retract_count;        /* rows whose kind retracts */
    const void *payload;
    const sinter_payload_ops *payload_ops;
};

/** Why a reader marks a row as dropped; counted apart in the result. */
enum {
    SINTER_DROP_KEEP = 0,
    SINTER_DROP_EXPIRED = 1,
    SINTER_DROP_FILTERED = 2,
    SINTER_DROP_VECTOR = 3
};

/** Key bytes of a row. */
static inline sinter_bytes
sinter_batch_key(const sinter_batch *batch, uint32_t row)
{
    sinter_bytes key;

    if (batch->key_offsets == NULL) {
        key.data = batch->keys + (size_t)row * batch->key_width;
        key.size = batch->key_width;
    } else {
        key.data = batch->keys + batch->key_offsets[row];
        key.size = batch->key_offsets[row + 1] - batch->key_offsets[row];
    }
    return key;
}

/** Some rows of a batch that lie side by side. */
typedef struct sinter_range {
    const sinter_batch *batch;
    uint32_t first;
    uint32_t count;
} sinter_range;

/** One row. */
typedef struct sinter_row {
    const sinter_batch *batch;
    uint32_t index;
} sinter_row;

/** What is known of a block before it is decoded. Lives until the next call of its reader. */
typedef struct sinter_block_info {
    uint32_t struct_size;
    uint32_t row_count;
    uint32_t retract_count;
    uint32_t format_tag; /* format's word: blocks with other tags can't share an output */
    bool is_whole;       /* not cut by a range or a seek */
    bool is_last;        /* last block of its file */
    sinter_bytes first_key;
    sinter_bytes last_key;
    uint64_t first_prefix; /* of first_key, as the batch's prefixes */
    int64_t sequence_min;
    int64_t sequence_max;
    uint64_t raw_bytes;    /* keys + values */
    uint64_t stored_bytes; /* in the file */
} sinter_block_info;

typedef struct sinter_reader sinter_reader;

/**
 * Functions of a reader. A reader is confined. Batches and infos it hands out live until its next
 * call (other than peek).
 */
typedef struct sinter_reader_ops {
    uint32_t struct_size;
    uint32_t reserved;
    /** Next batch with at least one row; SINTER_END after the last. */
    sinter_status (*next)(sinter_reader *reader, const sinter_batch **out, sinter_error *err);
    /** Info of the block that the next call of `next` would decode; SINTER_END after the last.
     *  NULL: the format has no such blocks; `take` is NULL too. */
    sinter_status (*peek)(sinter_reader *reader, const sinter_block_info **out, sinter_error *err);
    /** Instead of `next`: the peeked block as it is stored, verified by its checksum. */
    sinter_status (*take)(sinter_reader *reader, const sinter_batch **out, sinter_error *err);
    /** Go on with the first row whose key is >= `key` (in either direction). NULL: can't. */
    sinter_status (*seek)(sinter_reader *reader, sinter_bytes key, sinter_error *err);
    /** Release, in any state. */
    void (*close)(sinter_reader *reader);
    /** May the block that the next call of `next` would decode hold the key? Told from its bounds
     *  and its key filter, without reading the block; false: surely not. SINTER_END after the last
     *  block. NULL, or beyond struct_size: the format can't tell. */
    sinter_status (*may_hold)(sinter_reader *reader, sinter_bytes key, bool *maybe_out,
                              sinter_error *err);
    /** Were the reads of all rows that are left begun? Then a file that comes next may be begun
     *  beside this one. NULL, or beyond struct_size: never. */
    bool (*has_begun_all)(const sinter_reader *reader);
} sinter_reader_ops;

struct sinter_reader {
    const sinter_reader_ops *ops;
};

/** What a finished file holds. Computed from the records written, never inherited (rule 2). A
 *  writer fills no more than struct_size says; 0 counts as this version. */
typedef struct sinter_file_stats {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t file_size;
    uint64_t row_count;
    uint64_t retract_count;
    int64_t sequence_min;
    int64_t sequence_max;
    int64_t creation_time_ms;
    sinter_bytes min_key; /* live until the writer is closed */
    sinter_bytes max_key;
    uint64_t blocks_passed;
    const char *const *extra_files; /* names of files beside it, which belong to it; as the keys */
    size_t extra_file_count;
} sinter_file_stats;

typedef struct sinter_writer sinter_writer;

/** Functions of a writer of one file. A writer is confined. */
typedef struct sinter_writer_ops {
    uint32_t struct_size;
    uint32_t reserved;
    /**
     * Append rows in key order. Stops early, at a place where the file may end (a block border),
     * once `size` has reached `stop_bytes`.
     * @param taken_out  ranges taken whole; of the next one `taken_rows_out` rows were taken
     */
    sinter_status (*append)(sinter_writer *writer, const sinter_range *ranges, size_t count,
                            uint64_t stop_bytes, size_t *taken_out, uint32_t *taken_rows_out,
                            sinter_error *err);
    /** Would this block be taken as it is stored? NULL: never. Asked with nothing unflushed. */
    bool (*accepts)(sinter_writer *writer, const sinter_block_info *info);
    /** Bytes emitted plus the encoded pending block. */
    uint64_t (*size)(const sinter_writer *writer);
    /** Write what is left, sync, publish; the file is then complete under its name. */
    sinter_status (*finish)(sinter_writer *writer, sinter_file_stats *out, sinter_error *err);
    /** Release in any state; a file that was not finished vanishes. */
    void (*close)(sinter_writer *writer);
} sinter_writer_ops;

struct sinter_writer {
    const sinter_writer_ops *ops;
};

#ifdef __cplusplus
}
#endif
#endif
