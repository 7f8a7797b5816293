#include "base/hash.h"

#ifdef SINTER_XXHASH_DISPATCHES
#include <xxh_x86dispatch.h> /* its XXH3_64bits is the widest that the processor has */
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

uint64_t
sinter__hash(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

uint64_t
sinter__hash_seeded(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size, seed);
}

uint64_t
sinter__hash_xx64(const void *data, size_t size)
{
    return XXH64(data, size, 0);
}
