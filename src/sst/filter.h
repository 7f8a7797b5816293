/*
 * The key filter of a block: a Bloom filter over XXH3 hashes of its keys.
 */
#ifndef SINTER_SST_FILTER_H
#define SINTER_SST_FILTER_H

#include "sst/keys.h"

enum {
    SINTER__FILTER_HEADER_BYTES = 8,
    SINTER__FILTER_KIND_BLOOM = 1,
    SINTER__FILTER_BITS_MAX = 64 /* per key */
};

/** Bytes of a filter over `rows` keys. */
size_t
sinter__filter_bytes(uint32_t rows, uint32_t bits_per_key);

/** Put the filter of these keys: sinter__filter_bytes() bytes. */
void
sinter__filter_put(uint8_t *out, const sinter__keys *keys, uint32_t bits_per_key);

/** Is this a filter that sinter__filter_may_hold() can be asked? */
bool
sinter__filter_ok(sinter_bytes filter);

/** False only if the key is surely not among the filter's keys. The filter is ok. */
bool
sinter__filter_may_hold(sinter_bytes filter, sinter_bytes key);

#endif
