/*
 * A column of keys: prefixes, the check that keys ascend, and the search for a key.
 */
#ifndef SINTER_SST_KEYS_H
#define SINTER_SST_KEYS_H

#include "sinter/base.h"

/**
 * Keys back to back. With `offsets` (rows + 1): keys[offsets[i] .. offsets[i + 1]]; without: each
 * `width` bytes. 16 bytes behind the last key are readable.
 */
typedef struct sinter__keys {
    const uint8_t *data;
    const uint32_t *offsets;
    uint32_t width;
    uint32_t rows;
} sinter__keys;

/** Key of a row. */
static inline sinter_bytes
sinter__keys_at(const sinter__keys *keys, uint32_t row)
{
    if (keys->offsets == NULL) {
        return (sinter_bytes){keys->data + (size_t)row * keys->width, keys->width};
    }
    return (sinter_bytes){keys->data + keys->offsets[row],
                          keys->offsets[row + 1] - keys->offsets[row]};
}

/** The 8 bytes of each key that follow the first `skip`, big-endian, missing bytes 0. */
void
sinter__keys_prefixes(const sinter__keys *keys, uint32_t skip, uint64_t *out);

/**
 * Do the keys ascend strictly? `prefixes` were made with `skip`, and all keys share their first
 * `skip` bytes. The first row that is not above the one before it is put into `row_out`.
 */
bool
sinter__keys_ascend(const sinter__keys *keys, const uint64_t *prefixes, uint32_t *row_out);

/** Do all keys begin with these bytes? The first row that doesn't is put into `row_out`. */
bool
sinter__keys_begin_with(const sinter__keys *keys, sinter_bytes prefix, uint32_t *row_out);

/** The first row whose key is >= `key`; `rows` if there is none. */
uint32_t
sinter__keys_lower_bound(const sinter__keys *keys, sinter_bytes key);

#endif
