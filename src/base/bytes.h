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

/** Order of two keys as bytes: <0, 0, >0; on a common start the shorter one is first. */
static inline int
sinter__key_compare(sinter_bytes a, sinter_bytes b)
{
    const size_t shorter = a.size < b.size ? a.size : b.size;
    const int order = shorter == 0 ? 0 : memcmp(a.data, b.data, shorter);

    if (order != 0) {
        return order;
    }
    return (a.size > b.size) - (a.size < b.size);
}

#endif
