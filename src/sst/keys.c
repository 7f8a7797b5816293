#include "sst/keys.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cpu.h"

/** The first `size` (0..8) bytes of a big-endian word. */
static inline uint64_t
leading_bytes(uint64_t word, uint32_t size)
{
    return size >= 8 ? word : word & ~(UINT64_MAX >> (size * 8));
}

void
sinter__keys_prefixes(const sinter__keys *keys, uint32_t skip, uint64_t *out)
{
    const uint8_t *data = keys->data;

    assert(skip <= SINTER_KEY_BYTES_MAX);
    if (keys->offsets == NULL && keys->width >= skip + 8) {
        data += skip;
        for (uint32_t i = 0; i < keys->rows; i++) {
            out[i] = sinter__get_be64(data + (size_t)i * keys->width);
        }
    } else if (keys->offsets == NULL) {
        const uint32_t begin = keys->width < skip ? keys->width : skip;

        for (uint32_t i = 0; i < keys->rows; i++) {
            out[i] = leading_bytes(sinter__get_be64(data + (size_t)i * keys->width + begin),
                                   keys->width - begin);
        }
    } else {
        for (uint32_t i = 0; i < keys->rows; i++) {
            const uint32_t size = keys->offsets[i + 1] - keys->offsets[i];
            const uint32_t begin = size < skip ? size : skip;

            out[i] = leading_bytes(sinter__get_be64(data + keys->offsets[i] + begin), size - begin);
        }
    }
}

/** Compare neighbours whose prefixes may be equal. */
static bool
ascend_with_ties(const sinter__keys *keys, const uint64_t *prefixes, uint32_t *row_out)
{
    for (uint32_t i = 1; i < keys->rows; i++) {
        if (prefixes[i] > prefixes[i - 1]) {
            continue;
        }
        if (prefixes[i] < prefixes[i - 1] ||
            sinter__key_compare(sinter__keys_at(keys, i - 1), sinter__keys_at(keys, i)) >= 0) {
            *row_out = i;
            return false;
        }
    }
    return true;
}

SINTER__INLINE bool
each_above(const uint64_t *prefixes, uint32_t rows)
{
    uint64_t not_above = 0;

    for (uint32_t i = 1; i < rows; i++) {
        not_above |= (uint64_t)(prefixes[i] <= prefixes[i - 1]);
    }
    return not_above == 0;
}

SINTER__TARGET_AVX2 static bool
each_above_avx2(const uint64_t *prefixes, uint32_t rows)
{
    return each_above(prefixes, rows);
}

bool
sinter__keys_ascend(const sinter__keys *keys, const uint64_t *prefixes, uint32_t *row_out)
{
    const bool is_plain = sinter__cpu_has_avx2() ? each_above_avx2(prefixes, keys->rows)
                                                 : each_above(prefixes, keys->rows);

    assert(keys->rows > 0);
    return is_plain || ascend_with_ties(keys, prefixes, row_out);
}

bool
sinter__keys_begin_with(const sinter__keys *keys, sinter_bytes prefix, uint32_t *row_out)
{
    assert(prefix.size > 0 && prefix.data != NULL);
    for (uint32_t i = 0; i < keys->rows; i++) {
        const sinter_bytes key = sinter__keys_at(keys, i);

        if (key.size < prefix.size || memcmp(key.data, prefix.data, prefix.size) != 0) {
            *row_out = i;
            return false;
        }
    }
    return true;
}

uint32_t
sinter__keys_lower_bound(const sinter__keys *keys, sinter_bytes key)
{
    uint32_t begin = 0;
    uint32_t end = keys->rows;

    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;

        if (sinter__key_compare(sinter__keys_at(keys, middle), key) < 0) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    assert(begin <= keys->rows);
    return begin;
}
