#include "macro/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static bool
parse_codec(const char *text, bench_options *out)
{
    out->codec_level = 0;
    if (strcmp(text, "none") == 0) {
        out->codec = BENCH_CODEC_NONE;
    } else if (strcmp(text, "lz4") == 0) {
        out->codec = BENCH_CODEC_LZ4;
    } else if (strncmp(text, "zstd", 4) == 0) {
        char *end = NULL;

        out->codec = BENCH_CODEC_ZSTD;
        out->codec_level = (int)strtol(text + 4, &end, 10);
        return *end == '\0' && out->codec_level > 0 && out->codec_level <= 22;
    } else {
        return false;
    }
    return true;
}

static bool
parse_count(const char *text, uint64_t max, uint64_t *out)
{
    char *end = NULL;
    const unsigned long long value = strtoull(text, &end, 10);

    *out = value;
    return end != text && *end == '\0' && value > 0 && value <= max;
}

static bool
parse_one(const char *name, const char *value, bench_options *out)
{
    uint64_t number = 0;

    if (strcmp(name, "--workload") == 0) {
        out->workload = value;
    } else if (strcmp(name, "--dir") == 0) {
        out->dir = value;
    } else if (strcmp(name, "--out") == 0) {
        out->out = value;
    } else if (strcmp(name, "--io") == 0) {
        out->io = value;
    } else if (strcmp(name, "--direct") == 0) {
        out->direct = strcmp(value, "yes") == 0;
    } else if (strcmp(name, "--beside") == 0) {
        out->beside = strcmp(value, "yes") == 0;
    } else if (strcmp(name, "--codec") == 0) {
        return parse_codec(value, out);
    } else if (strcmp(name, "--div") == 0) {
        return parse_count(value, UINT32_MAX, &out->div);
    } else if (strcmp(name, "--block-kib") == 0) {
        const bool ok = parse_count(value, 1u << 20, &number);

        out->block_bytes = (uint32_t)(number * 1024);
        return ok;
    } else if (strcmp(name, "--threads") == 0) {
        const bool ok = parse_count(value, 1024, &number);

        out->threads = (uint32_t)number;
        return ok;
    } else if (strcmp(name, "--memory-mib") == 0) {
        const bool ok = parse_count(value, 1u << 20, &number);

        out->memory_mib = (uint32_t)number;
        return ok;
    } else {
        return false;
    }
    return true;
}

static bool
has_what_it_needs(const bench_options *options)
{
    if (options->dir == NULL) {
        return false;
    }
    if (strcmp(options->command, "build") == 0) {
        return options->workload != NULL;
    }
    if (strcmp(options->command, "compact") == 0) {
        return options->out != NULL;
    }
    return strcmp(options->command, "verify") == 0;
}

bool
bench_options_parse(int argc, char **argv, bench_options *out)
{
    const bench_options defaults = {
        .io = "auto", .div = 1, .block_bytes = 64 * 1024, .threads = 1, .codec = BENCH_CODEC_NONE};

    *out = defaults;
    out->command = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc; i += 2) {
        if (i + 1 >= argc || !parse_one(argv[i], argv[i + 1], out)) {
            fprintf(stderr, "%s: bad argument %s\n", argv[0], argv[i]);
            return false;
        }
    }
    if (!has_what_it_needs(out)) {
        fprintf(stderr, "usage: %s build|compact|verify --dir DIR ...\n", argv[0]);
        return false;
    }
    return true;
}

static double
peak_rss_mib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kib = strtol(line + 6, NULL, 10);
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return (double)kib / 1024.0;
}

static double
seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

void
bench_clock_read(bench_clock *out)
{
    struct rusage usage;
    struct timespec now;

    getrusage(RUSAGE_SELF, &usage);
    clock_gettime(CLOCK_MONOTONIC, &now);
    out->user_s = seconds_of(usage.ru_utime);
    out->system_s = seconds_of(usage.ru_stime);
    out->wall_s = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    out->rss_peak_mib = peak_rss_mib();
}

void
bench_report_name(bench_report *report, const char *name)
{
    report->library = name;
}

void
bench_report_times(bench_report *report, const bench_clock *idle, const bench_clock *before,
                   const bench_clock *after)
{
    report->user_s = after->user_s - before->user_s;
    report->cpu_s = report->user_s + after->system_s - before->system_s;
    report->wall_s = after->wall_s - before->wall_s;
    report->rss_peak_mib = after->rss_peak_mib;
    report->rss_mib = after->rss_peak_mib - idle->rss_peak_mib;
}

void
bench_report_print(const bench_report *report)
{
    printf("{\"cpu_s\":%.6f,\"user_s\":%.6f,\"wall_s\":%.6f,\"rss_mib\":%.2f,"
           "\"rss_peak_mib\":%.2f,\"file_bytes_in\":%" PRIu64 ",\"file_bytes_out\":%" PRIu64
           ",\"blocks_in\":%" PRIu64 ",\"blocks_passed\":%" PRIu64 ",\"io\":\"%s\""
           ",\"io_reads\":%" PRIu64 ",\"io_read_bytes\":%" PRIu64 ",\"io_writes\":%" PRIu64
           ",\"io_ring_calls\":%" PRIu64 ",\"library\":\"%s\"}\n",
           report->cpu_s, report->user_s, report->wall_s, report->rss_mib, report->rss_peak_mib,
           report->file_bytes_in, report->file_bytes_out, report->blocks_in, report->blocks_passed,
           report->io, report->io_reads, report->io_read_bytes, report->io_writes,
           report->io_ring_calls, report->library);
}

void
bench_digest_add(bench_digest *digest, const uint8_t *key, size_t key_bytes, const uint8_t *value,
                 size_t value_bytes)
{
    digest->records++;
    digest->bytes += key_bytes + value_bytes;
    digest->fnv = bench_fnv(bench_fnv(digest->fnv, key, key_bytes), value, value_bytes);
}

void
bench_digest_print(const bench_digest *digest)
{
    printf("{\"live\":%" PRIu64 ",\"bytes_out\":%" PRIu64 ",\"out_fnv\":\"%016" PRIx64 "\"}\n",
           digest->records, digest->bytes, digest->fnv);
}
