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
parse_text(const char *name, const char *value, bench_options *out)
{
    const struct {
        const char *name;
        const char **field;
    } texts[] = {{"--workload", &out->workload}, {"--dir", &out->dir},
                 {"--out", &out->out},           {"--io", &out->io},
                 {"--input", &out->input},       {"--memtable", &out->memtable}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].field = value;
            return true;
        }
    }
    return false;
}

static bool
parse_number(const char *name, const char *value, bench_options *out)
{
    uint32_t block_kib = 0;
    const struct {
        const char *name;
        uint32_t *field;
        uint32_t max;
    } numbers[] = {{"--block-kib", &block_kib, 1u << 20},
                   {"--threads", &out->threads, 1024},
                   {"--memory-mib", &out->memory_mib, 1u << 20},
                   {"--buffer-kib", &out->buffer_kib, 1u << 21},
                   {"--trigger", &out->trigger, 1u << 10},
                   {"--stop", &out->stop, 1u << 10},
                   {"--batch", &out->batch, 1u << 20},
                   {"--commit-every", &out->commit_every, 1u << 30},
                   {"--buckets", &out->buckets, 1u << 20}};
    uint64_t number = 0;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            const bool ok = parse_count(value, numbers[i].max, &number);

            *numbers[i].field = (uint32_t)number;
            out->block_bytes = block_kib > 0 ? block_kib * 1024 : out->block_bytes;
            return ok;
        }
    }
    return false;
}

static bool
parse_one(const char *name, const char *value, bench_options *out)
{
    if (strcmp(name, "--direct") == 0) {
        out->direct = strcmp(value, "yes") == 0;
        return true;
    }
    if (strcmp(name, "--beside") == 0) {
        out->beside = strcmp(value, "yes") == 0;
        return true;
    }
    if (strcmp(name, "--codec") == 0) {
        return parse_codec(value, out);
    }
    if (strcmp(name, "--div") == 0) {
        return parse_count(value, UINT32_MAX, &out->div);
    }
    return parse_text(name, value, out) || parse_number(name, value, out);
}

/* Is `word` one of the words in `list`, which have "|" between them? */
static bool
is_listed(const char *word, const char *list)
{
    const size_t size = strlen(word);

    while (strncmp(list, word, size) != 0 || (list[size] != '|' && list[size] != '\0')) {
        list += strcspn(list, "|");
        if (*list++ == '\0') {
            return false;
        }
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
    return strcmp(options->command, "write") != 0 || options->input != NULL;
}

bool
bench_options_parse(int argc, char **argv, const char *commands, bench_options *out)
{
    const bench_options defaults = {.io = "auto",
                                    .div = 1,
                                    .block_bytes = 64 * 1024,
                                    .threads = 1,
                                    .codec = BENCH_CODEC_NONE,
                                    .memtable = "skiplist",
                                    .buffer_kib = 16 * 1024,
                                    .trigger = 5,
                                    .stop = 8,
                                    .batch = 1,
                                    .buckets = 10000};

    *out = defaults;
    out->command = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc; i += 2) {
        if (i + 1 >= argc || !parse_one(argv[i], argv[i + 1], out)) {
            fprintf(stderr, "%s: bad argument %s\n", argv[0], argv[i]);
            return false;
        }
    }
    if (!is_listed(out->command, commands) || !has_what_it_needs(out)) {
        fprintf(stderr, "usage: %s %s --dir DIR ...\n", argv[0], commands);
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
