/*
 * Which bucket a row belongs to.
 */
#ifndef SINTER_BUCKET_H
#define SINTER_BUCKET_H

#include "sinter/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Hash of a BinaryRow: 32-bit Murmur3 with seed 42 over all of its bytes.
 *
 * @param row  for a bucket what sinter_bucket_key_encode() gives; its size is a multiple of 4
 * Thread-safe. Source: table-layout.md 5.2.
 */
SINTER_API int32_t
sinter_row_hash(sinter_bytes row);

/** Bucket of a hash among `buckets` (at least 1): `abs(hash % buckets)`. */
SINTER_API int32_t
sinter_bucket_of_hash(int32_t hash, int32_t buckets);

/** Bucket of an INT or BIGINT under `bucket-function.type=mod`: the remainder, never negative. */
SINTER_API int32_t
sinter_bucket_of_number(int64_t value, int32_t buckets);

#ifdef __cplusplus
}
#endif
#endif
