/*
 * Unpacking eight values at a time with AVX2. For processors that have it.
 */
#ifndef SINTER_SST_UNPACK_AVX2_H
#define SINTER_SST_UNPACK_AVX2_H

#include "base/cpu.h"
#include "sinter/base.h"

/** Widths that these take: a value and the bits before it in a byte fit in 32. */
enum { SINTER__UNPACK_AVX2_WIDTH_MIN = 1, SINTER__UNPACK_AVX2_WIDTH_MAX = 25 };

#if SINTER__MAY_HAVE_AVX2
/**
 * Unpack leading values as sinter__unpack_i64() and its like do, in groups of eight, as far as
 * loads stay within the column and 8 bytes behind it. Returns how many values were unpacked.
 */
size_t
sinter__unpack_i64_avx2(int64_t *out, const uint8_t *in, size_t count, int64_t base,
                        uint32_t width);
size_t
sinter__unpack_u8_avx2(uint8_t *out, const uint8_t *in, size_t count, uint32_t width);
/** The same for lengths, whose sum fits in 32 bits; offsets[0] is set. */
size_t
sinter__unpack_lengths_avx2(uint32_t *offsets, const uint8_t *in, size_t count, uint32_t base,
                            uint32_t width);
#endif

#endif
