/*
 * Numbers and bytes as Avro's binary form has them: zig-zag integers of 7 bits a byte, and bytes
 * behind their size. Inline, because every field of every record passes here.
 */
#ifndef SINTER_FORMAT_AVRO_BINARY_H
#define SINTER_FORMAT_AVRO_BINARY_H

#include <string.h>

#include "base/bytes.h"

enum { SINTER__AVRO_LONG_BYTES_MAX = 10 };

/** A stretch that is being read. */
typedef struct sinter__avro_cursor {
    const uint8_t *at;
    const uint8_t *end;
} sinter__avro_cursor;

/* A number whose end lies in the next 8 bytes, which are there: the low 7 bits of each byte are
 * moved together, by pairs of bytes, of two bytes, of four. Few numbers have more. */
static inline bool
sinter__avro_get_long_whole(sinter__avro_cursor *cursor, int64_t *out)
{
    uint64_t bits = sinter__get_le64(cursor->at);
    const uint64_t ends = ~bits & UINT64_C(0x8080808080808080);

    if (ends == 0) {
        return false;
    }
    bits &= ends ^ (ends - 1); /* up to the first end */
    bits = (bits & UINT64_C(0x007f007f007f007f)) | (bits & UINT64_C(0x7f007f007f007f00)) >> 1;
    bits = (bits & UINT64_C(0x00003fff00003fff)) | (bits & UINT64_C(0x3fff00003fff0000)) >> 2;
    bits = (bits & UINT64_C(0x000000000fffffff)) | (bits & UINT64_C(0x0fffffff00000000)) >> 4;
    cursor->at += __builtin_ctzll(ends) / 8 + 1;
    *out = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
    return true;
}

/** The longer forms of sinter__avro_get_long(). */
static inline bool
sinter__avro_get_long_slow(sinter__avro_cursor *cursor, int64_t *out)
{
    uint64_t bits = 0;

    if (cursor->end - cursor->at >= 8 && sinter__avro_get_long_whole(cursor, out)) {
        return true;
    }
    for (uint32_t shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
        const uint8_t byte = *cursor->at++;

        if (shift == 63 && byte > 1) {
            return false; /* more than 64 bits */
        }
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            *out = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
            return true;
        }
    }
    return false;
}

/** Read an int or a long. @return false: the bytes end within it, or it has more than 64 bits */
static inline bool
sinter__avro_get_long(sinter__avro_cursor *cursor, int64_t *out)
{
    if (cursor->at < cursor->end && *cursor->at < 0x80) {
        const uint32_t bits = *cursor->at++;

        *out = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
        return true;
    }
    return sinter__avro_get_long_slow(cursor, out);
}

/** As sinter__avro_get_long(), by value, so that where it is read stays in a register: what is
 *  written to a record could be the cursor, for all that the compiler knows. @return NULL: damaged
 */
static inline const uint8_t *
sinter__avro_take_long(const uint8_t *at, const uint8_t *end, int64_t *out)
{
    sinter__avro_cursor cursor = {at, end};

    return sinter__avro_get_long(&cursor, out) ? cursor.at : NULL;
}

/** Read bytes or a string; they stay where they are. @return false: as of a long, or too few */
static inline bool
sinter__avro_get_bytes(sinter__avro_cursor *cursor, sinter_bytes *out)
{
    int64_t size = 0;

    if (!sinter__avro_get_long(cursor, &size) || size < 0 || size > cursor->end - cursor->at) {
        return false;
    }
    *out = (sinter_bytes){cursor->at, (size_t)size};
    cursor->at += size;
    return true;
}

/** Write an int or a long to a place with room for SINTER__AVRO_LONG_BYTES_MAX. @return its end */
static inline uint8_t *
sinter__avro_put_long(uint8_t *to, int64_t value)
{
    uint64_t bits = ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);

    while (bits >= 0x80) {
        *to++ = (uint8_t)(bits | 0x80);
        bits >>= 7;
    }
    *to++ = (uint8_t)bits;
    return to;
}

/** Write bytes or a string: size and SINTER__AVRO_LONG_BYTES_MAX bytes of room. @return its end */
static inline uint8_t *
sinter__avro_put_bytes(uint8_t *to, sinter_bytes bytes)
{
    to = sinter__avro_put_long(to, (int64_t)bytes.size);
    if (bytes.size > 0) {
        memcpy(to, bytes.data, bytes.size);
    }
    return to + bytes.size;
}

#endif
