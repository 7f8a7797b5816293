/*
 * Copying rows into columns. On inputs that interleave nearly every range is one row, so the loop
 * over ranges does no more per row than load, compare once, copy, store: whether there is room is
 * one comparison (raw_limit), and short copies run over their end into slack instead of branching
 * on their size.
 */
#include "sst/open_block.h"

#include <assert.h>
#include <string.h>

enum { CHUNK_BYTES = 32, CHUNKED_BYTES_MAX = 384, ROWS_ONE_BY_ONE_MAX = 3, ROWS_FIRST = 1024 };

/** Where the columns of a block with room for so many rows stand in one piece of memory. */
typedef struct row_columns {
    size_t key_offsets;
    size_t value_offsets;
    size_t kinds;
    size_t size;
} row_columns;

static row_columns
place_columns(size_t capacity)
{
    const size_t offsets_bytes = (capacity + 2) * sizeof(uint32_t); /* even: stays aligned */
    row_columns place = {.key_offsets = capacity * sizeof(int64_t)};

    place.value_offsets = place.key_offsets + offsets_bytes;
    place.kinds = place.value_offsets + offsets_bytes;
    place.size = place.kinds + capacity;
    return place;
}

sinter_status
sinter__open_block_fit_rows(sinter__open_block *block, uint32_t rows, sinter_error *err)
{
    uint32_t capacity = block->row_capacity < ROWS_FIRST ? ROWS_FIRST : block->row_capacity;
    sinter__scratch grown = {0};
    row_columns place;

    assert(rows <= UINT32_MAX / 2);
    assert(block->rows <= block->row_capacity);
    if (rows <= block->row_capacity) {
        return SINTER_OK;
    }
    while (capacity < rows) {
        capacity *= 2;
    }
    place = place_columns(capacity);
    SINTER__CHECK(sinter__scratch_fit(block->env, &grown, place.size, err));
    if (block->rows > 0) {
        const size_t offsets_bytes = ((size_t)block->rows + 1) * sizeof(uint32_t);

        memcpy(grown.data, block->sequences, block->rows * sizeof(int64_t));
        memcpy(grown.data + place.key_offsets, block->key_offsets, offsets_bytes);
        memcpy(grown.data + place.value_offsets, block->value_offsets, offsets_bytes);
        memcpy(grown.data + place.kinds, block->kinds, block->rows);
    }
    sinter__scratch_fini(block->env, &block->row_memory);
    block->row_memory = grown;
    block->row_capacity = capacity;
    block->sequences = (int64_t *)(void *)grown.data;
    block->key_offsets = (uint32_t *)(void *)(grown.data + place.key_offsets);
    block->value_offsets = (uint32_t *)(void *)(grown.data + place.value_offsets);
    block->kinds = grown.data + place.kinds;
    block->key_offsets[0] = 0;
    block->value_offsets[0] = 0;
    return SINTER_OK;
}

sinter_status
sinter__open_block_fit_keys(sinter__open_block *block, size_t bytes, sinter_error *err)
{
    assert(bytes >= block->key_bytes);
    SINTER__CHECK(sinter__scratch_grow(block->env, &block->key_memory, bytes, err));
    block->keys = block->key_memory.data;
    return SINTER_OK;
}

sinter_status
sinter__open_block_fit_values(sinter__open_block *block, size_t bytes, sinter_error *err)
{
    assert(bytes >= block->value_bytes);
    SINTER__CHECK(sinter__scratch_grow(block->env, &block->value_memory, bytes, err));
    block->values = block->value_memory.data;
    return SINTER_OK;
}

/** Copy a key; up to 16 bytes are read behind it and written behind its place. */
static inline void
copy_key(uint8_t *to, const uint8_t *from, size_t size)
{
    memcpy(to, from, 16);
    if (size > 16) {
        memcpy(to + 16, from + 16, size - 16);
    }
}

/** Copy a value; less than 32 bytes are read behind it and written behind its place. */
static inline void
copy_value(uint8_t *to, const uint8_t *from, size_t size)
{
    if (size > CHUNKED_BYTES_MAX) {
        memcpy(to, from, size);
        return;
    }
    for (size_t i = 0; i < size; i += CHUNK_BYTES) {
        memcpy(to + i, from + i, CHUNK_BYTES);
    }
}

/** Append one row if it fits. */
static inline bool
take_row(sinter__open_block *block, const sinter_batch *batch, uint32_t row)
{
    const sinter__sst_payload *payload = batch->payload;
    const uint32_t at = block->rows;
    const uint32_t value_begin = payload->value_offsets[row];
    const uint32_t value_size = payload->value_offsets[row + 1] - value_begin;
    const sinter_bytes key = sinter_batch_key(batch, row);
    const uint32_t key_size = (uint32_t)key.size;

    if ((uint64_t)block->raw + key_size + value_size >= block->raw_limit ||
        at >= block->row_capacity) {
        return false;
    }
    copy_key(block->keys + block->key_bytes, key.data, key_size);
    copy_value(block->values + block->value_bytes, payload->values + value_begin, value_size);
    block->sequences[at] = batch->sequences[row];
    block->kinds[at] = batch->kinds[row];
    block->key_bytes += key_size;
    block->value_bytes += value_size;
    block->key_offsets[at + 1] = block->key_bytes;
    block->value_offsets[at + 1] = block->value_bytes;
    block->raw += key_size + value_size;
    block->rows = at + 1;
    return true;
}

/** Bytes of keys and values of rows first..first + count. */
static uint64_t
rows_bytes(const sinter_batch *batch, uint32_t first, uint32_t count)
{
    const uint32_t *values = ((const sinter__sst_payload *)batch->payload)->value_offsets;
    const uint64_t keys = batch->key_offsets == NULL
                              ? (uint64_t)count * batch->key_width
                              : batch->key_offsets[first + count] - batch->key_offsets[first];

    return keys + (values[first + count] - values[first]);
}

/** Append offsets of `count` items that begin at offset `end` of the column. */
static void
copy_offsets(uint32_t *to, const uint32_t *from, uint32_t count, uint32_t end)
{
    const uint32_t delta = end - from[0];

    for (uint32_t i = 1; i <= count; i++) {
        to[i] = from[i] + delta;
    }
}

/** Append rows that fit, column by column. */
static void
copy_rows(sinter__open_block *block, const sinter_batch *batch, uint32_t first, uint32_t count)
{
    const sinter__sst_payload *payload = batch->payload;
    const uint32_t at = block->rows;
    const uint32_t value_begin = payload->value_offsets[first];
    const uint32_t value_size = payload->value_offsets[first + count] - value_begin;
    const uint8_t *keys = batch->keys + (size_t)first * batch->key_width;
    uint32_t key_size = count * batch->key_width;

    assert(count > 0);
    assert(count <= block->row_capacity - at);
    if (batch->key_offsets != NULL) {
        keys = batch->keys + batch->key_offsets[first];
        key_size = batch->key_offsets[first + count] - batch->key_offsets[first];
        copy_offsets(block->key_offsets + at, batch->key_offsets + first, count, block->key_bytes);
    } else {
        for (uint32_t i = 1; i <= count; i++) {
            block->key_offsets[at + i] = block->key_bytes + i * batch->key_width;
        }
    }
    copy_offsets(block->value_offsets + at, payload->value_offsets + first, count,
                 block->value_bytes);
    memcpy(block->keys + block->key_bytes, keys, key_size);
    if (value_size > 0) {
        memcpy(block->values + block->value_bytes, payload->values + value_begin, value_size);
    }
    memcpy(block->sequences + at, batch->sequences + first, count * sizeof(int64_t));
    memcpy(block->kinds + at, batch->kinds + first, count);
    block->rows = at + count;
    block->key_bytes += key_size;
    block->value_bytes += value_size;
    block->raw += key_size + value_size;
}

static bool
rows_fit(const sinter__open_block *block, const sinter_batch *batch, uint32_t first, uint32_t count)
{
    return count <= block->row_capacity - block->rows &&
           block->raw + rows_bytes(batch, first, count) < block->raw_limit;
}

uint32_t
sinter__open_block_take_rows(sinter__open_block *block, const sinter_batch *batch, uint32_t first,
                             uint32_t count)
{
    uint32_t fitting = 0;

    assert(block->raw == block->key_bytes + block->value_bytes);
    if (count <= ROWS_ONE_BY_ONE_MAX) {
        while (fitting < count && take_row(block, batch, first + fitting)) {
            fitting++;
        }
        return fitting;
    }
    if (rows_fit(block, batch, first, count)) {
        fitting = count;
    } else {
        uint32_t not_fitting = count;

        while (not_fitting - fitting > 1) {
            const uint32_t middle = fitting + (not_fitting - fitting) / 2;

            if (rows_fit(block, batch, first, middle)) {
                fitting = middle;
            } else {
                not_fitting = middle;
            }
        }
    }
    if (fitting > 0) {
        copy_rows(block, batch, first, fitting);
    }
    return fitting;
}

size_t
sinter__open_block_take(sinter__open_block *block, const sinter_range *ranges, size_t count)
{
    size_t taken = 0;

    for (; taken < count; taken++) {
        const sinter_range *range = &ranges[taken];

        if (!sinter__has_plain_rows(range->batch)) {
            break;
        }
        if (range->count == 1) {
            if (!take_row(block, range->batch, range->first)) {
                break;
            }
        } else {
            if (!rows_fit(block, range->batch, range->first, range->count)) {
                break;
            }
            sinter__open_block_take_rows(block, range->batch, range->first, range->count);
        }
    }
    return taken;
}

void
sinter__open_block_fini(sinter__open_block *block)
{
    if (block->env == NULL) {
        return;
    }
    sinter__scratch_fini(block->env, &block->key_memory);
    sinter__scratch_fini(block->env, &block->value_memory);
    sinter__scratch_fini(block->env, &block->row_memory);
}
