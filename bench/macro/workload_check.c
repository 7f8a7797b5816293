/*
 * Says what a workload holds.
 *
 *   workload_check --div N             generate every workload, compare with the recorded numbers
 *   workload_check --div N WORKLOAD    print its numbers as JSON (recorded ones if there are any)
 */
#include "macro/expected.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
print_expected(FILE *out, const char *name, uint64_t div, const bench_expected *expected)
{
    fprintf(out,
            "{\"workload\":\"%s\",\"div\":%" PRIu64 ",\"records\":%" PRIu64 ",\"deletes\":%" PRIu64
            ",\"bytes_in\":%" PRIu64 ",\"distinct\":%" PRIu64 ",\"live\":%" PRIu64
            ",\"bytes_out\":%" PRIu64 ",\"in_fnv\":\"%016" PRIx64 "\",\"out_fnv\":\"%016" PRIx64
            "\"}\n",
            name, div, expected->records, expected->deletes, expected->bytes_in, expected->distinct,
            expected->live, expected->bytes_out, expected->in_fnv, expected->out_fnv);
}

/* 0: as recorded; 1: different; 2: nothing recorded to compare with. */
static int
check_one(const char *name, uint64_t div)
{
    bench_workload workload;
    bench_expected known;
    bench_expected actual;

    if (!bench_workload_init(&workload, name, div) || !bench_expected_find(name, div, &known)) {
        fprintf(stderr, "%s at div %" PRIu64 ": no recorded numbers\n", name, div);
        return 2;
    }
    bench_expected_compute(&workload, &actual);
    print_expected(stdout, name, div, &actual);
    if (memcmp(&known, &actual, sizeof known) != 0) {
        fprintf(stderr, "%s at div %" PRIu64 " differs from the recorded numbers:\n", name, div);
        print_expected(stderr, name, div, &known);
        return 1;
    }
    return 0;
}

static int
print_one(const char *name, uint64_t div)
{
    bench_workload workload;
    bench_expected expected;

    if (!bench_workload_init(&workload, name, div)) {
        fprintf(stderr, "no workload %s at div %" PRIu64 "\n", name, div);
        return 2;
    }
    if (!bench_expected_find(name, div, &expected)) {
        bench_expected_compute(&workload, &expected);
    }
    print_expected(stdout, name, div, &expected);
    return 0;
}

int
main(int argc, char **argv)
{
    uint64_t div = 0;
    int worst = 0;

    if (argc < 3 || argc > 4 || strcmp(argv[1], "--div") != 0) {
        fprintf(stderr, "usage: workload_check --div N [WORKLOAD]\n");
        return 2;
    }
    div = strtoull(argv[2], NULL, 10);
    if (argc == 4) {
        return print_one(argv[3], div);
    }
    for (size_t i = 0; i < bench_workload_count(); i++) {
        const int result = check_one(bench_workload_name(i), div);

        worst = result > worst ? result : worst;
    }
    return worst;
}
