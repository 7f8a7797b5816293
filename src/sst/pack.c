/*
 * Values are packed in groups of eight, which end on a byte border whatever the width, so that
 * the groups don't wait for each other. Unpacking computes each value's place: one unaligned load,
 * a shift and a mask, no branch.
 */
#include "sst/pack.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/cpu.h"
#include "sst/unpack_avx2.h"

enum { GROUP = 8 };

uint32_t
sinter__pack_width(uint64_t spread)
{
    uint32_t width = 0;

    if (spread == 0) {
        return 0;
    }
    width = 64 - (uint32_t)__builtin_clzll(spread);
    return width > SINTER__PACK_WIDTH_MAX ? SINTER__PACK_WIDTH_RAW : width;
}

/** Pack eight values into `width` bytes; 8 bytes more are written over. */
static inline void
pack_group(uint8_t *out, const uint64_t values[GROUP], uint32_t width)
{
    uint64_t pending = 0;
    uint32_t shift = 0;

    for (int i = 0; i < GROUP; i++) {
        pending |= values[i] << shift;
        sinter__put_le64(out, pending);
        shift += width;
        out += shift / 8;
        pending >>= shift & ~7u;
        shift &= 7;
    }
}

size_t
sinter__pack_i64(uint8_t *out, const int64_t *values, size_t count, int64_t base, uint32_t width)
{
    size_t i = 0;
    uint64_t group[GROUP] = {0};

    assert(sinter__pack_width_ok(width));
    if (width == 0) {
        return 0;
    }
    if (width == SINTER__PACK_WIDTH_RAW) {
        for (; i < count; i++) {
            sinter__put_le64(out + i * 8, (uint64_t)values[i] - (uint64_t)base);
        }
        return count * 8;
    }
    for (; i + GROUP <= count; i += GROUP) {
        for (size_t k = 0; k < GROUP; k++) {
            group[k] = (uint64_t)values[i + k] - (uint64_t)base;
        }
        pack_group(out + i / GROUP * width, group, width);
    }
    if (i < count) {
        for (size_t k = 0; k < GROUP; k++) {
            group[k] = i + k < count ? (uint64_t)values[i + k] - (uint64_t)base : 0;
        }
        pack_group(out + i / GROUP * width, group, width);
    }
    return sinter__pack_bytes(count, width);
}

size_t
sinter__pack_u8(uint8_t *out, const uint8_t *values, size_t count, uint32_t width)
{
    uint64_t group[GROUP] = {0};

    assert(width <= 8);
    if (width == 0) {
        return 0;
    }
    for (size_t i = 0; i < count; i += GROUP) {
        for (size_t k = 0; k < GROUP; k++) {
            group[k] = i + k < count ? values[i + k] : 0;
        }
        pack_group(out + i / GROUP * width, group, width);
    }
    return sinter__pack_bytes(count, width);
}

size_t
sinter__pack_lengths(uint8_t *out, const uint32_t *offsets, size_t count, uint32_t base,
                     uint32_t width)
{
    uint64_t group[GROUP] = {0};

    assert(width <= 32);
    if (width == 0) {
        return 0;
    }
    for (size_t i = 0; i < count; i += GROUP) {
        for (size_t k = 0; k < GROUP; k++) {
            group[k] = i + k < count ? offsets[i + k + 1] - offsets[i + k] - base : 0;
        }
        pack_group(out + i / GROUP * width, group, width);
    }
    return sinter__pack_bytes(count, width);
}

#if SINTER__MAY_HAVE_AVX2
/** May a column of this width be unpacked by AVX2? */
static bool
is_for_avx2(uint32_t width)
{
    return width >= SINTER__UNPACK_AVX2_WIDTH_MIN && width <= SINTER__UNPACK_AVX2_WIDTH_MAX &&
           sinter__cpu_has_avx2();
}
#endif

/** Value `i` of a column of at most 56 bits. */
static inline uint64_t
unpack_one(const uint8_t *in, size_t i, uint32_t width, uint64_t mask)
{
    const size_t bit = i * width;

    return (sinter__get_le64(in + bit / 8) >> (bit & 7)) & mask;
}

void
sinter__unpack_i64(int64_t *out, const uint8_t *in, size_t count, int64_t base, uint32_t width)
{
    const uint64_t mask = ((uint64_t)1 << (width & 63)) - 1;
    size_t done = 0;

    assert(sinter__pack_width_ok(width));
    if (width == 0) {
        for (size_t i = 0; i < count; i++) {
            out[i] = base;
        }
    } else if (width == SINTER__PACK_WIDTH_RAW) {
        for (size_t i = 0; i < count; i++) {
            out[i] = (int64_t)(sinter__get_le64(in + i * 8) + (uint64_t)base);
        }
    } else {
#if SINTER__MAY_HAVE_AVX2
        done = is_for_avx2(width) ? sinter__unpack_i64_avx2(out, in, count, base, width) : 0;
#endif
        for (size_t i = done; i < count; i++) {
            out[i] = (int64_t)(unpack_one(in, i, width, mask) + (uint64_t)base);
        }
    }
}

void
sinter__unpack_u8(uint8_t *out, const uint8_t *in, size_t count, uint32_t width)
{
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    size_t done = 0;

    assert(width >= 1 && width <= 8);
#if SINTER__MAY_HAVE_AVX2
    done = is_for_avx2(width) ? sinter__unpack_u8_avx2(out, in, count, width) : 0;
#endif
    for (size_t i = done; i < count; i++) {
        out[i] = (uint8_t)unpack_one(in, i, width, mask);
    }
}

uint64_t
sinter__unpack_lengths(uint32_t *offsets, const uint8_t *in, size_t count, uint32_t base,
                       uint32_t width)
{
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    uint64_t sum = 0;
    size_t done = 0;

    assert(width <= 31);
    if (width == 0) {
        for (size_t i = 0; i <= count; i++) {
            offsets[i] = (uint32_t)(i * base);
        }
        return (uint64_t)count * base;
    }
    offsets[0] = 0;
#if SINTER__MAY_HAVE_AVX2
    if (is_for_avx2(width) && count <= UINT32_MAX / (base + mask)) {
        done = sinter__unpack_lengths_avx2(offsets, in, count, base, width);
        sum = offsets[done];
    }
#endif
    for (size_t i = done; i < count; i++) {
        sum += base + unpack_one(in, i, width, mask);
        offsets[i + 1] = (uint32_t)sum;
    }
    return sum;
}
