/*
 * Eight values take `width` bytes. Two loads of 16 bytes hold the first and the last four of
 * them; a shuffle puts the bytes of each value into a word of its own, a shift and a mask leave the
 * value.
 */
#include "sst/unpack_avx2.h"

#if SINTER__MAY_HAVE_AVX2

#include <assert.h>
#include <immintrin.h>
#include <string.h>

enum { GROUP = 8, HALF = GROUP / 2, LOAD_BYTES = 16, READABLE_BYTES = 8 };

/** How a group of one width is taken apart. */
typedef struct recipe {
    __m256i shuffle; /* of bytes, within each half */
    __m256i shift;
    __m256i mask;
    size_t second; /* offset of the second load */
} recipe;

SINTER__TARGET_AVX2 static recipe
make_recipe(uint32_t width)
{
    uint8_t shuffle[GROUP][4];
    uint32_t shift[GROUP];
    recipe out = {.second = (size_t)HALF * width / 8};

    assert(width >= SINTER__UNPACK_AVX2_WIDTH_MIN && width <= SINTER__UNPACK_AVX2_WIDTH_MAX);
    for (uint32_t i = 0; i < GROUP; i++) {
        const uint32_t bit = i < HALF ? i * width : i * width - (uint32_t)out.second * 8;

        for (uint32_t k = 0; k < 4; k++) {
            shuffle[i][k] = (uint8_t)(bit / 8 + k);
        }
        shift[i] = bit % 8;
    }
    out.shuffle = _mm256_loadu_si256((const __m256i *)(const void *)shuffle);
    out.shift = _mm256_loadu_si256((const __m256i *)(const void *)shift);
    out.mask = _mm256_set1_epi32((int)(((uint32_t)1 << width) - 1));
    return out;
}

/** The eight values of the group at `in`. */
SINTER__TARGET_AVX2 static inline __m256i
take_group(const uint8_t *in, const recipe *how)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)in);
    const __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(in + how->second));
    const __m256i bytes = _mm256_set_m128i(high, low);
    const __m256i words = _mm256_shuffle_epi8(bytes, how->shuffle);

    return _mm256_and_si256(_mm256_srlv_epi32(words, how->shift), how->mask);
}

/** Groups whose loads end within the column and what is readable behind it. */
static size_t
whole_groups(size_t count, uint32_t width)
{
    const size_t readable = (count * width + 7) / 8 + READABLE_BYTES;
    const size_t last = (size_t)HALF * width / 8 + LOAD_BYTES; /* end of a group's loads */
    size_t groups = count / GROUP;

    if (readable < last) {
        return 0;
    }
    return groups < (readable - last) / width + 1 ? groups : (readable - last) / width + 1;
}

SINTER__TARGET_AVX2 size_t
sinter__unpack_i64_avx2(int64_t *out, const uint8_t *in, size_t count, int64_t base, uint32_t width)
{
    const recipe how = make_recipe(width);
    const __m256i bases = _mm256_set1_epi64x(base);
    const size_t groups = whole_groups(count, width);

    for (size_t i = 0; i < groups; i++) {
        const __m256i values = take_group(in + i * width, &how);
        const __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(values));
        const __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(values, 1));
        int64_t *to = out + i * GROUP;

        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_add_epi64(low, bases));
        _mm256_storeu_si256((__m256i *)(void *)(to + HALF), _mm256_add_epi64(high, bases));
    }
    return groups * GROUP;
}

SINTER__TARGET_AVX2 size_t
sinter__unpack_u8_avx2(uint8_t *out, const uint8_t *in, size_t count, uint32_t width)
{
    const recipe how = make_recipe(width);
    const size_t groups = whole_groups(count, width);

    for (size_t i = 0; i < groups; i++) {
        const __m256i values = take_group(in + i * width, &how);
        const __m128i words =
            _mm_packus_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
        const __m128i bytes = _mm_packus_epi16(words, words);

        _mm_storel_epi64((__m128i *)(void *)(out + i * GROUP), bytes);
    }
    return groups * GROUP;
}

SINTER__TARGET_AVX2 size_t
sinter__unpack_lengths_avx2(uint32_t *offsets, const uint8_t *in, size_t count, uint32_t base,
                            uint32_t width)
{
    const recipe how = make_recipe(width);
    const __m256i bases = _mm256_set1_epi32((int)base);
    const __m256i last_of_low = _mm256_set1_epi32(HALF - 1);
    const __m256i last = _mm256_set1_epi32(GROUP - 1);
    const size_t groups = whole_groups(count, width);
    __m256i before = _mm256_setzero_si256();

    offsets[0] = 0;
    for (size_t i = 0; i < groups; i++) {
        __m256i sums = _mm256_add_epi32(take_group(in + i * width, &how), bases);
        __m256i carry;

        /* Sums within each half, then the sum of the low half on top of the high one. */
        sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 4));
        sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 8));
        carry = _mm256_permutevar8x32_epi32(sums, last_of_low);
        carry = _mm256_blend_epi32(_mm256_setzero_si256(), carry, 0xf0);
        sums = _mm256_add_epi32(_mm256_add_epi32(sums, carry), before);
        _mm256_storeu_si256((__m256i *)(void *)(offsets + 1 + i * GROUP), sums);
        before = _mm256_permutevar8x32_epi32(sums, last);
    }
    return groups * GROUP;
}

#endif
