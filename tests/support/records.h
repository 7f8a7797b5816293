/*
 * Records and runs as plain arrays: what merges are tested with. All randomness follows from one
 * seed, which a failing test prints.
 */
#ifndef SINTER_TESTS_RECORDS_H
#define SINTER_TESTS_RECORDS_H

#include "sinter/batch.h"

/** A sequence of pseudo-random numbers (splitmix64). */
typedef struct test_rng {
    uint64_t state;
} test_rng;

uint64_t
test_rng_next(test_rng *rng);

/** 0 .. limit - 1; 0 when limit is 0. */
uint64_t
test_rng_below(test_rng *rng, uint64_t limit);

/** True in `percent` of 100 calls. */
bool
test_rng_chance(test_rng *rng, uint32_t percent);

/** Stretches of memory, released together. Zeroed is empty. Ends the process without memory. */
typedef struct test_pool {
    struct test_pool_chunk *chunks;
} test_pool;

void *
test_pool_take(test_pool *pool, size_t size);

sinter_bytes
test_pool_copy(test_pool *pool, sinter_bytes bytes);

void
test_pool_fini(test_pool *pool);

/** One record as a test thinks of it. Bytes belong to a pool. */
typedef struct test_record {
    sinter_bytes key;
    sinter_bytes value;
    sinter_bytes order; /* user sequence; only where the runs have orders */
    int64_t sequence;
    uint32_t origin; /* age of its file, 0 = oldest */
    uint8_t kind;
    uint8_t dropped;
} test_record;

/** Records with strictly ascending keys. */
typedef struct test_run {
    test_record *records;
    size_t count;
} test_run;

/** Inputs of one merge. */
typedef struct test_runs {
    test_run *items;
    size_t count;
    bool has_orders;
    uint32_t key_width;   /* of every key; UINT32_MAX: keys differ in width */
    uint32_t prefix_skip; /* bytes that all keys share and prefixes leave out */
    test_pool pool;
} test_runs;

/** Order of bytes as memcmp has it; on a common start the shorter one is first. */
int
test_bytes_compare(sinter_bytes a, sinter_bytes b);

bool
test_bytes_equal(sinter_bytes a, sinter_bytes b);

static inline sinter_bytes
test_text(const char *text)
{
    size_t size = 0;

    while (text[size] != '\0') {
        size++;
    }
    return (sinter_bytes){(const uint8_t *)text, size};
}

/** Shapes of keys. */
typedef enum test_keys {
    TEST_KEYS_FIXED,        /* `key_width` bytes */
    TEST_KEYS_VARIABLE,     /* 0 to 24 bytes of a small alphabet: many are prefixes of others */
    TEST_KEYS_PREFIX_TIES,  /* the first 8 bytes are the same, then as above */
    TEST_KEYS_ZEROS,        /* only zero bytes: "", "\0", "\0\0" look alike as prefixes */
    TEST_KEYS_SHARED_START, /* a long common start, left out of prefixes by prefix_skip */
    TEST_KEYS_LONG,         /* up to 1 MiB */
    TEST_KEYS_COUNT
} test_keys;

/** What test_runs_random() makes. */
typedef struct test_shape {
    size_t run_count;
    size_t rows_max;      /* of one run */
    size_t files_per_run; /* at most; each has its own age */
    uint64_t key_space;   /* keys are drawn from so many */
    uint64_t sequence_space;
    uint64_t value_max;
    test_keys keys;
    uint32_t key_width; /* with TEST_KEYS_FIXED */
    uint32_t retract_percent;
    uint32_t dropped_percent;
    bool orders;
    bool stretches; /* rows stand side by side in the key space: long ranges without company */
} test_shape;

/** A shape drawn at random, small enough for thousands of cases. */
void
test_shape_random(test_rng *rng, test_shape *out);

/** Make runs of a shape; release with test_runs_fini(). */
void
test_runs_random(test_rng *rng, const test_shape *shape, test_runs *out);

void
test_runs_fini(test_runs *runs);

/** Rows of all runs. */
size_t
test_runs_rows(const test_runs *runs);

/** Make a run of records given by hand; their keys must ascend. */
void
test_runs_add(test_runs *runs, const test_record *records, size_t count);

/** Sort by key and keep the first of equal keys: a legal run. Gives the new count. */
size_t
test_records_sort_unique(test_record *records, size_t count);

#endif
