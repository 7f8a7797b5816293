/*
 * Integer columns in bits: each value less the column's smallest, in `width` bits, the lowest
 * bits first, values back to back. Width 0 needs no byte: all values are the base.
 */
#ifndef SINTER_SST_PACK_H
#define SINTER_SST_PACK_H

#include "sinter/base.h"

enum {
    SINTER__PACK_WIDTH_MAX = 56, /* so that a value and 7 bits before it fit in one load */
    SINTER__PACK_WIDTH_RAW = 64  /* what is wider stands in whole words */
};

/** Bits that values 0..spread need: 0..56, or 64. */
uint32_t
sinter__pack_width(uint64_t spread);

/** Is this a width that a column may have? */
static inline bool
sinter__pack_width_ok(uint32_t width)
{
    return width <= SINTER__PACK_WIDTH_MAX || width == SINTER__PACK_WIDTH_RAW;
}

/** Bytes of a column. */
static inline size_t
sinter__pack_bytes(size_t count, uint32_t width)
{
    return (count * width + 7) / 8;
}

/**
 * Pack a column and return its bytes. Up to 64 bytes behind them are written over. Differences to
 * `base` must fit in `width` bits.
 */
size_t
sinter__pack_i64(uint8_t *out, const int64_t *values, size_t count, int64_t base, uint32_t width);
size_t
sinter__pack_u8(uint8_t *out, const uint8_t *values, size_t count, uint32_t width);
/** The same for lengths, given as count + 1 offsets. */
size_t
sinter__pack_lengths(uint8_t *out, const uint32_t *offsets, size_t count, uint32_t base,
                     uint32_t width);

/** Unpack a column. 8 bytes behind it must be readable. */
void
sinter__unpack_i64(int64_t *out, const uint8_t *in, size_t count, int64_t base, uint32_t width);
/** The same for a column of base 0 whose width is at most 8. */
void
sinter__unpack_u8(uint8_t *out, const uint8_t *in, size_t count, uint32_t width);
/**
 * Unpack lengths (width at most 31) into count + 1 offsets from 0. Returns the sum; offsets are
 * right only if it fits in 32 bits.
 */
uint64_t
sinter__unpack_lengths(uint32_t *offsets, const uint8_t *in, size_t count, uint32_t base,
                       uint32_t width);

#endif
