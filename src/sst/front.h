/*
 * Front coding: a key as the number of bytes that it shares with the key before it, and the rest
 * (docs/sst-format.md, "Front-coded keys").
 */
#ifndef SINTER_SST_FRONT_H
#define SINTER_SST_FRONT_H

#include "sinter/base.h"

/** What front coding would make of keys. */
typedef struct sinter__front {
    uint32_t sum; /* bytes that are left out */
    uint32_t max; /* most bytes that one key shares with the one before it */
} sinter__front;

/**
 * How much each key shares with the key before it.
 *
 * @param keys    keys[offsets[i] .. offsets[i + 1]]; 16 bytes behind the last one are readable
 * @param rows    at least 1
 * @param shared  rows + 1 offsets from 0, whose differences are the shared lengths; the first is 0
 */
sinter__front
sinter__front_measure(const uint8_t *keys, const uint32_t *offsets, uint32_t rows,
                      uint32_t *shared);

/**
 * Do keys ascend strictly that share `shared` with the key before them? One byte of each is looked
 * at, so it is taken for wrong if they share more than that. The first row that is not above
 * the one before it is put into `row_out`.
 */
bool
sinter__front_ascends(const uint8_t *keys, const uint32_t *offsets, const uint32_t *shared,
                      uint32_t rows, uint32_t *row_out);

/**
 * Put what the keys don't share, back to back, and return its size.
 *
 * @param out  has room for that and 16 bytes more
 */
size_t
sinter__front_put(uint8_t *out, const uint8_t *keys, const uint32_t *offsets,
                  const uint32_t *shared, uint32_t rows);

/**
 * Put the keys together again.
 *
 * @param out      has room for offsets[rows] + 64 bytes
 * @param in       offsets[rows] - shared[rows] bytes, and 16 readable ones behind them
 * @param offsets  where the keys will stand in `out`
 * @param shared   as above, from a file
 * @return         false if a key shares more than there is of it or of the key before it
 */
bool
sinter__front_get(uint8_t *out, const uint8_t *in, const uint32_t *offsets, const uint32_t *shared,
                  uint32_t rows);

#endif
