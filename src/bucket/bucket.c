#include "sinter/bucket.h"

#include <assert.h>

#include "base/bytes.h"

enum { SEED = 42 };

static uint32_t
rotate(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

int32_t
sinter_row_hash(sinter_bytes row)
{
    uint32_t hash = SEED;

    assert(row.size % 4 == 0);
    for (size_t at = 0; at < row.size; at += 4) {
        const uint32_t word = sinter__get_le32(row.data + at) * 0xcc9e2d51u;

        hash ^= rotate(word, 15) * 0x1b873593u;
        hash = rotate(hash, 13) * 5 + 0xe6546b64u;
    }
    hash ^= (uint32_t)row.size;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return (int32_t)(hash ^ hash >> 16);
}

int32_t
sinter_bucket_of_hash(int32_t hash, int32_t buckets)
{
    int32_t rest = 0;

    assert(buckets > 0);
    rest = hash % buckets;
    return rest < 0 ? -rest : rest;
}

int32_t
sinter_bucket_of_number(int64_t value, int32_t buckets)
{
    int64_t rest = 0;

    assert(buckets > 0);
    rest = value % buckets;
    return (int32_t)(rest < 0 ? rest + buckets : rest);
}
