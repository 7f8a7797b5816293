/*
 * Workloads of the compaction benchmark: records that any program can generate again byte for
 * byte from a few numbers. docs/benchmarks.md defines them.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_KEY_BYTES_MAX = 200, BENCH_VALUE_BYTES_MAX = 1 << 20 };

/** How ids are spread over runs. */
typedef enum bench_placement {
    BENCH_PLACEMENT_OVERLAP = 0,
    BENCH_PLACEMENT_DISJOINT = 1,
    BENCH_PLACEMENT_ZIPF = 2,
    BENCH_PLACEMENT_SHARED = 3 /* by `dup` and `overlap` */
} bench_placement;

/** What keys look like. */
typedef enum bench_key_shape {
    BENCH_KEYS_SPREAD = 0,
    BENCH_KEYS_TIED = 1, /* 64 neighbours share their first 8 bytes */
    BENCH_KEYS_MIXED = 2 /* three columns: string, int, string; values of any size as well */
} bench_key_shape;

/** One workload at one scale. Immutable. */
typedef struct bench_workload {
    const char *name;
    uint64_t seed;
    uint64_t id_count;
    uint64_t key_stride;  /* (2^64 - 1) / id_count */
    uint32_t run_count;   /* run 0 is the oldest */
    uint32_t key_bytes;   /* of every key; the largest where the shape is mixed */
    uint32_t value_bytes; /* the same of values */
    bench_placement placement;
    bool has_deletes; /* one record in fifty */
    bench_key_shape shape;
    uint32_t dup;     /* percent of the shared records that are second, third, ... versions */
    uint32_t overlap; /* percent of the ids that may lie in any run; the placement is "shared" */
    uint32_t more_versions; /* of a shared id on average, in parts of 2^16 */
} bench_workload;

/** One record. The pointers live until the next call of the cursor it came from. */
typedef struct bench_record {
    const uint8_t *key;
    const uint8_t *value;
    uint32_t key_bytes;
    uint32_t value_bytes; /* 0 for a delete */
    bool is_delete;
} bench_record;

/** Walks the records of one run, or those that survive a full compaction, in key order. */
typedef struct bench_cursor {
    const bench_workload *workload;
    uint64_t next_id;
    uint32_t run; /* BENCH_LIVE: the survivors */
    uint8_t key[BENCH_KEY_BYTES_MAX];
    uint8_t value[BENCH_VALUE_BYTES_MAX];
} bench_cursor;

#define BENCH_LIVE UINT32_MAX

/** Number of workloads, and the name of one of them; NULL past the last. */
size_t
bench_workload_count(void);
const char *
bench_workload_name(size_t index);

/**
 * Set up a workload with its ids divided by `div`. `name` is that of a workload, or one with other
 * numbers: "W1:runs=64,value=1024,dup=50,overlap=10,u=100000". It is borrowed.
 *
 * @return false: no such name, a number that doesn't fit, or fewer ids than runs
 */
bool
bench_workload_init(bench_workload *out, const char *name, uint64_t div);

/** Start at the first record of `run`, or of the survivors with BENCH_LIVE. */
void
bench_cursor_init(bench_cursor *cursor, const bench_workload *workload, uint32_t run);

/** Next record; false after the last. */
bool
bench_cursor_next(bench_cursor *cursor, bench_record *out);

/** FNV-1a, 64 bits: start with BENCH_FNV_INIT, feed bytes. */
#define BENCH_FNV_INIT UINT64_C(0xCBF29CE484222325)
uint64_t
bench_fnv(uint64_t hash, const uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
