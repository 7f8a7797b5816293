/*
 * Fixed-order integers in memory and on disk, and keys compared as bytes.
 */
#ifndef SINTER_BASE_BYTES_H
#define SINTER_BASE_BYTES_H

#include <string.h>

#include "sinter/base.h"

static inline uint16_t
sinter__get_le16(const void *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap16(v);
#endif
    return v;
}

static inline uint32_t
sinter__get_le32(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

static inline uint64_t
sinter__get_le64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline uint32_t
sinter__get_be32(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

static inline uint64_t
sinter__get_be64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline void
sinter__put_le16(void *p, uint16_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap16(v);
#endif
    memcpy(p, &v, sizeof v);
}

static inline void
sinter__put_le32(void *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    memcpy(p, &v, sizeof v);
}

static inline void
sinter__put_le64(void *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof v);
}

static inline void
sinter__put_be32(void *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    memcpy(p, &v, sizeof v);
}

static inline void
sinter__put_be64(void *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof v);
}

/** The first 8 bytes as a big-endian number; missing bytes count as 0. */
static inline uint64_t
sinter__key_prefix(const uint8_t *key, size_t size)
{
    uint8_t padded[8] = {0};

    if (size >= 8) {
        return sinter__get_be64(key);
    }
    if (size > 0) {
        memcpy(padded, key, size);
    }
    return sinter__get_be64(padded);
}

/** Order of `size` bytes as memcmp, by words: keys are short and a call would cost more. */
static inline int
sinter__bytes_compare(const uint8_t *a, const uint8_t *b, size_t size)
{
    const size_t last = size - 8; /* of the last word, which may overlap the one before it */
    size_t at = 0;
    uint64_t word_a = 0;
    uint64_t word_b = 0;

    if (size < 8) {
        return size == 0 ? 0 : memcmp(a, b, size);
    }
    while (at < last && sinter__get_le64(a + at) == sinter__get_le64(b + at)) {
        at += 8; /* equal in one byte order is equal in any */
    }
    at = at < last ? at : last;
    word_a = sinter__get_be64(a + at);
    word_b = sinter__get_be64(b + at);
    return (word_a > word_b) - (word_a < word_b);
}

/** Order of two keys as bytes: <0, 0, >0; on a common start the shorter one is first. */
static inline int
sinter__key_compare(sinter_bytes a, sinter_bytes b)
{
    const size_t shorter = a.size < b.size ? a.size : b.size;
    const int order = sinter__bytes_compare(a.data, b.data, shorter);

    if (order != 0) {
        return order;
    }
    return (a.size > b.size) - (a.size < b.size);
}

/** Are two keys the same? */
static inline bool
sinter__key_equal(sinter_bytes a, sinter_bytes b)
{
    return a.size == b.size && sinter__bytes_compare(a.data, b.data, a.size) == 0;
}

#endif
