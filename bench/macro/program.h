/*
 * What all benchmark programs share: their command line, the clock, and the line they print.
 *
 *   PROGRAM build   --workload W1 --div 4 --codec lz4 --block-kib 64 --dir IN
 *   PROGRAM compact --codec lz4 --block-kib 64 --dir IN --out OUT [--io auto] [--threads 1]
 *                   [--beside yes]
 *   PROGRAM verify  --codec lz4 --block-kib 64 --dir OUT
 *   PROGRAM write   --codec lz4 --block-kib 64 --input FILE --dir OUT [...]
 *
 * build makes one sorted file per run; compact merges them into OUT and prints what it cost;
 * verify reads OUT and prints the number and the hash of its records; write is for programs that
 * take records in any order (macro/ingest.h). One JSON object a line.
 */
#ifndef BENCH_PROGRAM_H
#define BENCH_PROGRAM_H

#include "macro/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_CODEC_NONE = 0, BENCH_CODEC_LZ4 = 1, BENCH_CODEC_ZSTD = 2 };

/** Output files roll at this size, in all programs. */
#define BENCH_TARGET_FILE_BYTES (UINT64_C(128) << 20)

/** The command line. Strings are those of argv. */
typedef struct bench_options {
    const char *command;
    const char *workload;
    const char *dir;
    const char *out;
    const char *io;
    bool direct; /* past the page cache; sinter only */
    uint64_t div;
    uint32_t block_bytes;
    uint32_t threads;
    bool beside; /* threads encode beside one merge, which isn't cut into parts */
    uint32_t
        memory_mib;  /* sinter's budget, and then no run is spilled for open files; 0: defaults */
    int codec;       /* BENCH_CODEC_* */
    int codec_level; /* zstd */
    /* of write, and of idle */
    const char *input;    /* file of records */
    const char *memtable; /* of RocksDB: "skiplist" or "vector" */
    uint32_t buffer_kib;  /* write buffer */
    uint32_t trigger;     /* sorted runs from which on there is something to compact */
    uint32_t stop;        /* sorted runs above which the writer waits */
    uint32_t batch;       /* of RocksDB: records a call */
    uint32_t
        commit_every; /* records a commit; 0: one commit at the end. RocksDB does as it likes */
    uint32_t buckets; /* of idle */
} bench_options;

/** What one compaction cost. */
typedef struct bench_report {
    double cpu_s; /* user + system, all threads */
    double user_s;
    double wall_s;
    double rss_mib;      /* peak less that of the program at its start */
    double rss_peak_mib; /* peak */
    uint64_t file_bytes_in;
    uint64_t file_bytes_out;
    uint64_t blocks_in; /* stored blocks of the inputs; 0: not known */
    uint64_t blocks_passed;
    uint64_t io_reads;
    uint64_t io_ring_calls; /* of sinter: reads and writes through io_uring */
    uint64_t io_read_bytes;
    uint64_t io_writes;
    const char *io;      /* backend that served the reads */
    const char *library; /* what was measured, with its version */
} bench_report;

/** Time and memory at some moment. */
typedef struct bench_clock {
    double user_s;
    double system_s;
    double wall_s;
    double rss_peak_mib;
} bench_clock;

/** Running hash of records read back. Starts with BENCH_DIGEST_INIT. */
typedef struct bench_digest {
    uint64_t records;
    uint64_t bytes;
    uint64_t fnv;
} bench_digest;

#define BENCH_DIGEST_INIT    \
    {                        \
        0, 0, BENCH_FNV_INIT \
    }

/** Parse the command line, for a program with these commands ("build|compact|verify"); false after
 *  a message on stderr. */
bool
bench_options_parse(int argc, char **argv, const char *commands, bench_options *out);

/** Read clock and peak memory. Call once at the start of main for the idle program's memory. */
void
bench_clock_read(bench_clock *out);

/** Say what was measured, with its version; borrowed until the report is printed. */
void
bench_report_name(bench_report *report, const char *name);

/** Fill time and memory of `report` from three readings. */
void
bench_report_times(bench_report *report, const bench_clock *idle, const bench_clock *before,
                   const bench_clock *after);

/** Print as one line of JSON. */
void
bench_report_print(const bench_report *report);

/** Add one record that was read back. */
void
bench_digest_add(bench_digest *digest, const uint8_t *key, size_t key_bytes, const uint8_t *value,
                 size_t value_bytes);

/** Print as one line of JSON. */
void
bench_digest_print(const bench_digest *digest);

#ifdef __cplusplus
}
#endif
#endif
