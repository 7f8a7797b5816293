/*
 * The block that a writer is filling: columns that rows are copied into.
 */
#ifndef SINTER_SST_OPEN_BLOCK_H
#define SINTER_SST_OPEN_BLOCK_H

#include <assert.h>
#include <string.h>

#include "sinter/batch.h"
#include "sst/block.h"
#include "sst/payload.h"
#include "sst/scratch.h"

/**
 * Rows of a block, in columns. The values may stand in foreign memory (`values` then points into
 * the output buffer), else in `value_memory`. Zeroed with `env` set is empty. Confined.
 */
typedef struct sinter__open_block {
    const sinter_env *env;
    uint32_t rows;
    uint32_t row_capacity;
    uint32_t raw;       /* bytes of keys and values so far */
    uint32_t raw_limit; /* rows that leave `raw` below this need no check */
    uint32_t key_bytes;
    uint32_t value_bytes;
    uint8_t *keys;
    uint8_t *values;
    uint32_t *key_offsets; /* row_capacity + 1 */
    uint32_t *value_offsets;
    int64_t *sequences;
    uint8_t *kinds;
    sinter__scratch key_memory;
    sinter__scratch value_memory;
    sinter__scratch row_memory;
} sinter__open_block;

/** Forget the rows. */
static inline void
sinter__open_block_reset(sinter__open_block *block)
{
    block->rows = 0;
    block->raw = 0;
    block->key_bytes = 0;
    block->value_bytes = 0;
}

/** Have room for `rows` rows in all. Content is kept. */
sinter_status
sinter__open_block_fit_rows(sinter__open_block *block, uint32_t rows, sinter_error *err);

/** Have room for `bytes` bytes of keys in all. Content is kept. */
sinter_status
sinter__open_block_fit_keys(sinter__open_block *block, size_t bytes, sinter_error *err);

/** Have room for `bytes` bytes of values in `value_memory`, and let `values` point there. */
sinter_status
sinter__open_block_fit_values(sinter__open_block *block, size_t bytes, sinter_error *err);

/** Can rows of the batch be copied as bytes? Its payload is sst's, decoded, and has values. */
static inline bool
sinter__has_plain_rows(const sinter_batch *batch)
{
    return batch->payload_ops == &sinter__sst_payload_ops &&
           ((const sinter__sst_payload *)batch->payload)->value_offsets != NULL;
}

/**
 * Append leading ranges as long as they fit below `raw_limit` and their values can be copied as
 * bytes. Returns how many ranges were taken, each of them whole.
 */
size_t
sinter__open_block_take(sinter__open_block *block, const sinter_range *ranges, size_t count);

/** Append as many leading rows of one range, whose rows are plain, as fit likewise; returns how
 *  many. */
uint32_t
sinter__open_block_take_rows(sinter__open_block *block, const sinter_batch *batch, uint32_t first,
                             uint32_t count);

/** One row by itself. */
typedef struct sinter__single_row {
    sinter_bytes key;
    sinter_bytes value;
    int64_t sequence;
    uint8_t kind;
} sinter__single_row;

/** Append one row for which there is room; nothing is read behind its bytes. */
static inline void
sinter__open_block_add(sinter__open_block *block, const sinter__single_row *row)
{
    const uint32_t at = block->rows;

    assert(at < block->row_capacity);
    assert(row->key.size <= SINTER_KEY_BYTES_MAX && row->value.size <= SINTER_VALUE_BYTES_MAX);
    if (row->key.size > 0) {
        memcpy(block->keys + block->key_bytes, row->key.data, row->key.size);
    }
    if (row->value.size > 0) {
        memcpy(block->values + block->value_bytes, row->value.data, row->value.size);
    }
    block->sequences[at] = row->sequence;
    block->kinds[at] = row->kind;
    block->key_bytes += (uint32_t)row->key.size;
    block->value_bytes += (uint32_t)row->value.size;
    block->key_offsets[at + 1] = block->key_bytes;
    block->value_offsets[at + 1] = block->value_bytes;
    block->raw += (uint32_t)(row->key.size + row->value.size);
    block->rows = at + 1;
}

void
sinter__open_block_fini(sinter__open_block *block);

#endif
