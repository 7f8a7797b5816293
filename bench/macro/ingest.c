#include "macro/ingest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024 /* at once */ };

/* In front of each record's key and value. */
typedef struct record_head {
    uint32_t key_bytes;
    uint32_t value_bytes;
    uint32_t is_delete;
} record_head;

enum { RECORD_BYTES_MAX = sizeof(record_head) + BENCH_KEY_BYTES_MAX + BENCH_VALUE_BYTES_MAX };

static _Noreturn void
fail(const char *what)
{
    perror(what);
    exit(1);
}

static void
open_stream(ingest_stream *stream, const char *path, const char *mode)
{
    memset(stream, 0, sizeof *stream);
    stream->file = fopen(path, mode);
    stream->bytes = malloc(RECORD_BYTES_MAX + READ_BYTES);
    stream->at = stream->bytes;
    stream->end = stream->bytes;
    if (stream->file == NULL || stream->bytes == NULL) {
        fail(path);
    }
}

void
ingest_stream_create(ingest_stream *stream, const char *path)
{
    open_stream(stream, path, "wb");
}

void
ingest_stream_open(ingest_stream *stream, const char *path)
{
    open_stream(stream, path, "rb");
}

void
ingest_stream_put(ingest_stream *stream, const bench_record *record)
{
    const record_head head = {record->key_bytes, record->value_bytes, record->is_delete ? 1u : 0u};

    if (fwrite(&head, sizeof head, 1, stream->file) != 1 ||
        fwrite(record->key, 1, record->key_bytes, stream->file) != record->key_bytes ||
        fwrite(record->value, 1, record->value_bytes, stream->file) != record->value_bytes) {
        fail("records");
    }
    stream->records++;
}

/* Read on until so many bytes are there; false at the end of the file. */
static bool
fill(ingest_stream *stream, size_t wanted)
{
    size_t size = (size_t)(stream->end - stream->at);

    memmove(stream->bytes, stream->at, size);
    stream->at = stream->bytes;
    while (size < wanted) {
        const ssize_t got = read(fileno(stream->file), stream->bytes + size, READ_BYTES);

        if (got < 0) {
            fail("records");
        }
        size += (size_t)got;
        stream->end = stream->bytes + size;
        if (got == 0) {
            return false;
        }
    }
    return true;
}

static bool
has(ingest_stream *stream, size_t wanted)
{
    return (size_t)(stream->end - stream->at) >= wanted || fill(stream, wanted);
}

static _Noreturn void
refuse_file(void)
{
    fprintf(stderr, "records: the file is not one of records, or ends in the middle of one\n");
    exit(1);
}

bool
ingest_stream_next(ingest_stream *stream, bench_record *out)
{
    record_head head;

    if (!has(stream, sizeof head)) {
        if (stream->at != stream->end) {
            refuse_file();
        }
        return false;
    }
    memcpy(&head, stream->at, sizeof head);
    if (head.key_bytes > BENCH_KEY_BYTES_MAX || head.value_bytes > BENCH_VALUE_BYTES_MAX ||
        !has(stream, sizeof head + head.key_bytes + head.value_bytes)) {
        refuse_file();
    }
    out->key = stream->at + sizeof head;
    out->key_bytes = head.key_bytes;
    out->value = out->key + head.key_bytes;
    out->value_bytes = head.value_bytes;
    out->is_delete = head.is_delete != 0;
    stream->at += sizeof head + head.key_bytes + head.value_bytes;
    stream->records++;
    return true;
}

void
ingest_stream_close(ingest_stream *stream)
{
    if (fclose(stream->file) != 0) {
        fail("records");
    }
    free(stream->bytes);
}

void
ingest_report_times(ingest_report *report, const bench_clock *idle, const bench_clock *before,
                    const bench_clock *written, const bench_clock *after)
{
    report->wall_s = after->wall_s - before->wall_s;
    report->written_s = written->wall_s - before->wall_s;
    report->user_s = after->user_s - before->user_s;
    report->cpu_s = report->user_s + after->system_s - before->system_s;
    report->rss_mib = after->rss_peak_mib - idle->rss_peak_mib;
}

void
ingest_report_print(const ingest_report *report)
{
    printf("{\"records\":%" PRIu64 ",\"wall_s\":%.6f,\"written_s\":%.6f,\"cpu_s\":%.6f"
           ",\"user_s\":%.6f,\"stall_s\":%.6f,\"stalls\":%" PRIu64 ",\"rss_mib\":%.2f"
           ",\"write_amplification\":%.3f,\"flushes\":%" PRIu64 ",\"compactions\":%" PRIu64
           ",\"commits\":%" PRIu64 ",\"files\":%" PRIu64 ",\"file_bytes\":%" PRIu64
           ",\"library\":\"%s\"}\n",
           report->records, report->wall_s, report->written_s, report->cpu_s, report->user_s,
           report->stall_s, report->stalls, report->rss_mib, report->write_amplification,
           report->flushes, report->compactions, report->commits, report->files, report->file_bytes,
           report->library);
}
