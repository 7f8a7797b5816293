/*
 * The bits that a key sets follow from one 64-bit hash: its low half, then steps of its high half
 * (made odd), each mapped onto the bits by a multiplication. The number of steps that fits best is
 * bits per key times ln 2.
 */
#include "sst/filter.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

enum { PROBES_MAX = 32 };

static uint32_t
probe_count(uint32_t bits_per_key)
{
    const uint32_t probes = (bits_per_key * 69 + 50) / 100;

    assert(bits_per_key <= SINTER__FILTER_BITS_MAX);
    if (probes < 1) {
        return 1;
    }
    return probes > PROBES_MAX ? PROBES_MAX : probes;
}

static size_t
bit_bytes(uint32_t rows, uint32_t bits_per_key)
{
    return ((size_t)rows * bits_per_key + 63) / 64 * 8;
}

size_t
sinter__filter_bytes(uint32_t rows, uint32_t bits_per_key)
{
    assert(rows > 0);
    assert(bits_per_key >= 1 && bits_per_key <= SINTER__FILTER_BITS_MAX);
    return SINTER__FILTER_HEADER_BYTES + bit_bytes(rows, bits_per_key);
}

/** Number of the bit for one step of a key's hash. */
static inline uint64_t
probe_bit(uint32_t step, uint64_t bit_count)
{
    return ((uint64_t)step * bit_count) >> 32;
}

void
sinter__filter_put(uint8_t *out, const sinter__keys *keys, uint32_t bits_per_key)
{
    const size_t bytes = bit_bytes(keys->rows, bits_per_key);
    const uint32_t probes = probe_count(bits_per_key);
    uint8_t *bits = out + SINTER__FILTER_HEADER_BYTES;

    assert(bytes * 8 <= UINT32_MAX);
    memset(out, 0, SINTER__FILTER_HEADER_BYTES + bytes);
    out[0] = SINTER__FILTER_KIND_BLOOM;
    out[1] = (uint8_t)probes;
    for (uint32_t i = 0; i < keys->rows; i++) {
        const sinter_bytes key = sinter__keys_at(keys, i);
        const uint64_t hash = sinter__hash(key.data, key.size);
        uint32_t step = (uint32_t)hash;

        for (uint32_t k = 0; k < probes; k++) {
            const uint64_t bit = probe_bit(step, bytes * 8);

            bits[bit / 8] |= (uint8_t)(1u << (bit & 7));
            step += (uint32_t)(hash >> 32) | 1u;
        }
    }
}

bool
sinter__filter_ok(sinter_bytes filter)
{
    return filter.size > SINTER__FILTER_HEADER_BYTES && filter.size % 8 == 0 &&
           filter.data[0] == SINTER__FILTER_KIND_BLOOM && filter.data[1] >= 1 &&
           filter.data[1] <= PROBES_MAX && sinter__get_le16(filter.data + 2) == 0 &&
           sinter__get_le32(filter.data + 4) == 0;
}

bool
sinter__filter_may_hold(sinter_bytes filter, sinter_bytes key)
{
    const uint64_t bit_count = (filter.size - SINTER__FILTER_HEADER_BYTES) * 8;
    const uint8_t *bits = filter.data + SINTER__FILTER_HEADER_BYTES;
    const uint64_t hash = sinter__hash(key.data, key.size);
    uint32_t step = (uint32_t)hash;

    assert(sinter__filter_ok(filter));
    for (uint32_t k = 0; k < filter.data[1]; k++) {
        const uint64_t bit = probe_bit(step, bit_count);

        if ((bits[bit / 8] & (1u << (bit & 7))) == 0) {
            return false;
        }
        step += (uint32_t)(hash >> 32) | 1u;
    }
    return true;
}
