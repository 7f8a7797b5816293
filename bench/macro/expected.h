/*
 * What a workload holds and what must be left of it after a full compaction.
 */
#ifndef BENCH_EXPECTED_H
#define BENCH_EXPECTED_H

#include "macro/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Counts and hashes of a workload at one scale; bytes are key plus value bytes. */
typedef struct bench_expected {
    uint64_t records;
    uint64_t deletes;
    uint64_t bytes_in;
    uint64_t distinct;
    uint64_t live;
    uint64_t bytes_out;
    uint64_t in_fnv;  /* run by run: key, one byte kind (0 put, 1 delete), value */
    uint64_t out_fnv; /* survivors in key order: key, value */
} bench_expected;

/** The recorded numbers for a workload and scale; false: not recorded. */
bool
bench_expected_find(const char *name, uint64_t div, bench_expected *out);

/** Generate the whole workload and count. Costs about 4 ns per byte. */
void
bench_expected_compute(const bench_workload *workload, bench_expected *out);

#ifdef __cplusplus
}
#endif
#endif
