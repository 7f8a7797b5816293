/*
 * Floor loops: what no engine with these parts can leave out, and nothing else. bench/floor runs
 * them in turn with a peer and divides.
 *
 *   floor_bench copy IN OUT BYTES              files of IN: pread, checksum; the first BYTES: write
 *   floor_bench codec WORKLOAD DIV CODEC KIB   decode each input block, encode each output block
 *   floor_bench merge IN OUT CODEC KIB         the limit's files with 8-byte keys: merge columns
 *
 * Each prints one line of JSON with the CPU seconds of the loop.
 */
#include "micro/floor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void
floor_fail(const char *what)
{
    fprintf(stderr, "floor_bench: %s\n", what);
    exit(1);
}

uint64_t
floor_number(const char *text)
{
    char *end = NULL;
    const unsigned long long value = strtoull(text, &end, 10);

    if (end == text || *end != '\0') {
        floor_fail("not a number");
    }
    return value;
}

floor_codec
floor_codec_parse(const char *text)
{
    floor_codec out = {BENCH_CODEC_NONE, 0};

    if (strcmp(text, "lz4") == 0) {
        out.codec = BENCH_CODEC_LZ4;
    } else if (strncmp(text, "zstd", 4) == 0) {
        out.codec = BENCH_CODEC_ZSTD;
        out.level = (int)floor_number(text + 4);
    } else if (strcmp(text, "none") != 0) {
        floor_fail("unknown codec");
    }
    return out;
}

int
main(int argc, char **argv)
{
    const char *loop = argc > 1 ? argv[1] : "";
    double cpu_s = 0;

    if (strcmp(loop, "copy") == 0 && argc == 5) {
        cpu_s = floor_copy(argv[2], argv[3], floor_number(argv[4]));
    } else if (strcmp(loop, "codec") == 0 && argc == 6) {
        bench_workload workload;

        if (!bench_workload_init(&workload, argv[2], floor_number(argv[3]))) {
            floor_fail("no such workload");
        }
        cpu_s = floor_recode(&workload, floor_codec_parse(argv[4]),
                             (uint32_t)floor_number(argv[5]) * 1024);
    } else if (strcmp(loop, "merge") == 0 && argc == 6) {
        cpu_s = floor_merge(argv[2], argv[3], floor_codec_parse(argv[4]),
                            (uint32_t)floor_number(argv[5]) * 1024);
    } else {
        floor_fail("usage: floor_bench copy|codec|merge ...");
    }
    printf("{\"loop\":\"%s\",\"cpu_s\":%.6f}\n", loop, cpu_s);
    return 0;
}
