/*
 * Floor loops: each returns the CPU seconds of what it times. Any failure ends the program.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "macro/program.h"

/** A codec with its level. */
typedef struct floor_codec {
    int codec; /* BENCH_CODEC_* */
    int level; /* zstd */
} floor_codec;

/** Say what went wrong and end. */
_Noreturn void
floor_fail(const char *what);

/** A decimal number that fills the text. */
uint64_t
floor_number(const char *text);

/** none, lz4, zstdN. */
floor_codec
floor_codec_parse(const char *text);

/** Read every file of `in` in calls of 256 KiB and hash it; write the first `out_bytes` of all that
 *  was read into one file in the new folder `out`, in calls of 1 MiB. */
double
floor_copy(const char *in, const char *out, uint64_t out_bytes);

/** Decode the values of every input block and encode those of every output block. Making the blocks
 *  and checking what comes out is outside the clock. */
double
floor_recode(const bench_workload *workload, floor_codec codec, uint32_t block_bytes);

/** Merge the files of the limit program in `in` into the new folder `out`. Keys have 8 bytes,
 * values 16; there are at most 8 runs. */
double
floor_merge(const char *in, const char *out, floor_codec codec, uint32_t block_bytes);

#endif
