/*
 * Readers: threads that acquire the files of buckets, read points and ranges of them while they go
 * on, and compare with the model.
 */
#ifndef SOAK_READER_H
#define SOAK_READER_H

#include "soak/bucket.h"

enum { SOAK_SETS = 3 /* that a reader holds at a time */ };

/** A set that is held, and what it stands for. */
typedef struct soak_held {
    soak_bucket *bucket; /* NULL: none */
    const sinter_file_set *set;
    soak_candidates candidates;
    unsigned tree_number;
} soak_held;

/** A reader. Confined to its thread. */
typedef struct soak_reader {
    uint32_t number;
    soak_random random;
    soak_bucket *buckets;
    uint32_t bucket_count;
    const sinter_env *env; /* with bad weather and a small budget */
    soak_held held[SOAK_SETS];
    soak_rows rows;
} soak_reader;

/** Acquire the files of a random bucket, or go on with those that are held; read of them. */
void
soak_reader_step(soak_reader *reader);

/** Let go of all. */
void
soak_reader_end(soak_reader *reader);

#endif
