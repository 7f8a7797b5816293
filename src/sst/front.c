/*
 * Keys are short, so bytes move in pieces of 16 that may run over the end: the next key is put
 * over what was too much.
 */
#include "sst/front.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

enum { PIECE_BYTES = 16, PIECES_BYTES_MAX = 256 /* memcpy is better at what is longer */ };

/** Copy `size` bytes; up to 15 more are read and written. The places don't overlap, but for what
 *  is too much. */
static inline void
copy_pieces(uint8_t *to, const uint8_t *from, size_t size)
{
    if (size > PIECES_BYTES_MAX) {
        memcpy(to, from, size);
        return;
    }
    for (size_t i = 0; i == 0 || i < size; i += PIECE_BYTES) { /* one at least: no branch to miss */
        uint8_t piece[PIECE_BYTES];

        memcpy(piece, from + i, sizeof piece);
        memcpy(to + i, piece, sizeof piece);
    }
}

/** Leading bytes that are equal, at most `most`; 7 bytes behind that are readable. */
static inline uint32_t
equal_bytes(const uint8_t *a, const uint8_t *b, uint32_t most)
{
    for (uint32_t at = 0; at < most; at += 8) {
        const uint64_t differing = sinter__get_le64(a + at) ^ sinter__get_le64(b + at);

        if (differing != 0) {
            const uint32_t equal = at + (uint32_t)__builtin_ctzll(differing) / 8;

            return equal < most ? equal : most;
        }
    }
    return most;
}

sinter__front
sinter__front_measure(const uint8_t *keys, const uint32_t *offsets, uint32_t rows, uint32_t *shared)
{
    sinter__front found = {0, 0};

    assert(rows > 0);
    shared[0] = 0;
    shared[1] = 0;
    for (uint32_t i = 1; i < rows; i++) {
        const uint32_t before = offsets[i] - offsets[i - 1];
        const uint32_t size = offsets[i + 1] - offsets[i];
        const uint32_t equal =
            equal_bytes(keys + offsets[i - 1], keys + offsets[i], before < size ? before : size);

        found.max = equal > found.max ? equal : found.max;
        found.sum += equal;
        shared[i + 1] = found.sum;
    }
    assert(found.sum <= offsets[rows] - offsets[0]);
    return found;
}

bool
sinter__front_ascends(const uint8_t *keys, const uint32_t *offsets, const uint32_t *shared,
                      uint32_t rows, uint32_t *row_out)
{
    assert(rows > 0);
    for (uint32_t i = 1; i < rows; i++) {
        const uint32_t before = offsets[i] - offsets[i - 1];
        const uint32_t size = offsets[i + 1] - offsets[i];
        const uint32_t equal = shared[i + 1] - shared[i];
        const bool is_above = equal < size && (equal == before || keys[offsets[i] + equal] >
                                                                      keys[offsets[i - 1] + equal]);

        assert(equal <= before && equal <= size);
        if (!is_above) {
            *row_out = i;
            return false;
        }
    }
    return true;
}

size_t
sinter__front_put(uint8_t *out, const uint8_t *keys, const uint32_t *offsets,
                  const uint32_t *shared, uint32_t rows)
{
    size_t at = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t equal = shared[i + 1] - shared[i];
        const uint32_t rest = offsets[i + 1] - offsets[i] - equal;

        copy_pieces(out + at, keys + offsets[i] + equal, rest);
        at += rest;
    }
    return at;
}

/** Is each shared length within its key and within the key before it? */
static bool
lengths_ok(const uint32_t *offsets, const uint32_t *shared, uint32_t rows)
{
    uint32_t before = 0;
    bool is_wrong = false;

    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t size = offsets[i + 1] - offsets[i];
        const uint32_t equal = shared[i + 1] - shared[i];

        is_wrong |= equal > size || equal > before;
        before = size;
    }
    return !is_wrong;
}

bool
sinter__front_get(uint8_t *out, const uint8_t *in, const uint32_t *offsets, const uint32_t *shared,
                  uint32_t rows)
{
    uint32_t before = 0;

    assert(rows > 0 && offsets[0] == 0 && shared[0] == 0);
    if (!lengths_ok(offsets, shared, rows)) {
        return false;
    }
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t size = offsets[i + 1] - offsets[i];
        const uint32_t equal = shared[i + 1] - shared[i];
        uint8_t *key = out + offsets[i];

        copy_pieces(key, key - before, equal);
        copy_pieces(key + equal, in, size - equal);
        in += size - equal;
        before = size;
    }
    return true;
}
