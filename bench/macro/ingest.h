/*
 * What the programs of the ingest benchmark share: a file of records in the order of their writing,
 * and the line that tells what writing them cost.
 *
 *   ingest_input    build --workload W1 --div 1 --dir FOLDER            makes FOLDER/records
 *   sinter_ingest   write --input FOLDER/records --dir OUT --codec lz4 [--buffer-kib 16384]
 *                         [--trigger 5] [--stop 8] [--commit-every N] [--io auto] [--threads 1]
 *   rocksdb_ingest  write ... [--batch 1] [--memtable skiplist]
 *   either          verify --dir OUT
 *
 * The clock runs from the first record, in an open and empty store, until everything is flushed and
 * no compaction runs or is due.
 */
#ifndef BENCH_INGEST_H
#define BENCH_INGEST_H

#include <stdio.h>

#include "macro/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Records of a file, in the order in which they are to be written. */
typedef struct ingest_stream {
    FILE *file;
    uint64_t records; /* written or read so far */
    uint8_t *bytes;   /* what is read and not yet taken lies between `at` and `end` */
    uint8_t *at;
    uint8_t *end;
} ingest_stream;

/** Begin to write such a file, or to read one; ends the program with a message when it can't. */
void
ingest_stream_create(ingest_stream *stream, const char *path);
void
ingest_stream_open(ingest_stream *stream, const char *path);

/** Append a record. */
void
ingest_stream_put(ingest_stream *stream, const bench_record *record);

/** Next record; false after the last. Its pointers live until the next call. */
bool
ingest_stream_next(ingest_stream *stream, bench_record *out);

/** Close. What was written is in the file, or the program ends with a message. */
void
ingest_stream_close(ingest_stream *stream);

/** What an ingest cost. */
typedef struct ingest_report {
    double wall_s;    /* until flushed and idle */
    double written_s; /* until the last record was taken */
    double cpu_s;     /* user + system, all threads, until flushed and idle */
    double user_s;
    double stall_s; /* the writer was slowed down, or waited for compaction */
    double rss_mib; /* peak less that of the program at its start */
    double write_amplification;
    uint64_t records;
    uint64_t flushes;
    uint64_t compactions;
    uint64_t stalls;
    uint64_t commits;
    uint64_t files; /* at the end, and their bytes */
    uint64_t file_bytes;
    const char *library;
} ingest_report;

/** Fill time and memory from four readings. */
void
ingest_report_times(ingest_report *report, const bench_clock *idle, const bench_clock *before,
                    const bench_clock *written, const bench_clock *after);

/** Print as one line of JSON. */
void
ingest_report_print(const ingest_report *report);

#ifdef __cplusplus
}
#endif
#endif
