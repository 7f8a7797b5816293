/*
 * Sets of 32-bit numbers in the portable Roaring format, as deletion vectors hold them.
 *
 * Numbers are kept in chunks of those with the same upper half, each as an array of values, as runs
 * or as bits. What is written follows from the numbers alone, but for chunks that are as large in
 * two forms: those stay what they were when they were read or written before, as the reference does
 * it.
 *
 * This isn't CRoaring, with which tests compare: as Debian has it, it ends the process when memory
 * is refused (at 126 of the 128 allocations of adding, uniting and writing), prints of damaged
 * input, believes its counts and runs, and chooses runs where the reference writes an array that is
 * as large.
 */
#ifndef SINTER_BASE_BITMAP_H
#define SINTER_BASE_BITMAP_H

#include "base/alloc.h"

/** Zeroed with `env` set is empty. What it holds is charged to env->memory. Confined; any number of
 *  threads may read one that nobody changes. */
typedef struct sinter__bitmap {
    const sinter_env *env;
    struct sinter__bitmap_chunk *chunks; /* ascending, none empty */
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    uint64_t count; /* of numbers */
} sinter__bitmap;

/** Numbers that follow each other, both ends included. */
typedef struct sinter__bitmap_run {
    uint32_t first;
    uint32_t last;
} sinter__bitmap_run;

/** Release; empty again. */
void
sinter__bitmap_fini(sinter__bitmap *bitmap);

/** Is this number in it? */
bool
sinter__bitmap_contains(const sinter__bitmap *bitmap, uint32_t number);

/**
 * Find the first run of numbers from `from` on; it begins there when `from` is inside of one. A run
 * ends at multiples of 65536 even if the next one goes on.
 * @return false: there are no more
 */
bool
sinter__bitmap_next(const sinter__bitmap *bitmap, uint32_t from, sinter__bitmap_run *out);

/** The largest number; the bitmap isn't empty. */
uint32_t
sinter__bitmap_last(const sinter__bitmap *bitmap);

/**
 * Add a number.
 * @param added_out  false: it was there
 * @return           SINTER_OK; SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget): nothing has changed
 */
sinter_status
sinter__bitmap_add(sinter__bitmap *bitmap, uint32_t number, bool *added_out, sinter_error *err);

/**
 * Add all numbers of another one, which may have another environment.
 * @return SINTER_OK; SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget): some have been added
 */
sinter_status
sinter__bitmap_merge(sinter__bitmap *bitmap, const sinter__bitmap *other, sinter_error *err);

/** Bytes that encode() writes. */
uint64_t
sinter__bitmap_encoded_bytes(const sinter__bitmap *bitmap);

/** Write it, each chunk in the smallest form, and note which; returns the byte behind it. */
uint8_t *
sinter__bitmap_encode(sinter__bitmap *bitmap, uint8_t *to);

/**
 * Read one that stands at the beginning of `bytes`. Any valid mixture of forms is read; counts,
 * orders and offsets must be right.
 *
 * @param bitmap    empty before, and after a failure
 * @param used_out  its bytes
 * @return          SINTER_OK; SINTER_E_CORRUPT, err->offset counts from the beginning of `bytes`;
 *                  SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget)
 * Source: spec/deletion-vectors.md 3.
 */
sinter_status
sinter__bitmap_decode(sinter__bitmap *bitmap, sinter_bytes bytes, size_t *used_out,
                      sinter_error *err);

#endif
