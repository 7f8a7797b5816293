/*
 * XXH3 and XXH64 through the xxhash library: checksums of stored bytes and hashes of keys.
 */
#ifndef SINTER_BASE_HASH_H
#define SINTER_BASE_HASH_H

#include "sinter/base.h"

/** XXH3 64 of `size` bytes. */
uint64_t
sinter__hash(const void *data, size_t size);

/** The same with a seed. */
uint64_t
sinter__hash_seeded(const void *data, size_t size, uint64_t seed);

/** XXH64, which formats of others ask for. */
uint64_t
sinter__hash_xx64(const void *data, size_t size);

#endif
