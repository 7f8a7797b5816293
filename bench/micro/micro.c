/*
 * micro_bench [NAME_PART]    run the cases whose name holds NAME_PART, CSV on stdout
 */
#include "micro/micro.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UPS = 2, RUNS = 10 };

void
micro_require(sinter_status st, const char *what, const sinter_error *err)
{
    if (st != SINTER_OK) {
        fprintf(stderr, "micro_bench: %s: %s: %s\n", what, sinter_status_name(st), err->text);
        exit(1);
    }
}

void *
micro_allocate(size_t size)
{
    void *memory = malloc(size);

    if (memory == NULL) {
        perror("micro_bench");
        exit(1);
    }
    return memory;
}

static double
time_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void
run_case(const micro_case *self, clockid_t clock)
{
    double ns[RUNS];
    uint64_t units = 0;
    void *state = self->setup(self);

    if (state == NULL) {
        fprintf(stderr, "%s: not on this machine\n", self->name);
        return;
    }
    for (int i = -WARM_UPS; i < RUNS; i++) {
        const double begin = time_ns(clock);

        units = self->run(self, state);
        if (i >= 0) {
            ns[i] = (time_ns(clock) - begin) / (double)units;
        }
    }
    self->teardown(state);
    qsort(ns, RUNS, sizeof ns[0], compare_doubles);
    printf("%s,%s,%" PRIu64 ",%.3f,%.3f,%.3f\n", self->name, self->unit, units,
           (ns[RUNS / 2 - 1] + ns[RUNS / 2]) / 2, ns[0], ns[RUNS - 1]);
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    const micro_case *const groups[] = {MICRO_MERGE_CASES, MICRO_SST_CASES, MICRO_KEY_CASES,
                                        MICRO_IO_CASES, MICRO_IO_DEPTH_CASES};
    const char *part = argc > 1 ? argv[1] : "";

    printf("name,unit,units,median_ns,min_ns,max_ns\n");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        for (const micro_case *self = groups[i]; self->name != NULL; self++) {
            if (strstr(self->name, part) != NULL) {
                run_case(self, groups[i] == MICRO_IO_DEPTH_CASES ? CLOCK_MONOTONIC
                                                                 : CLOCK_PROCESS_CPUTIME_ID);
            }
        }
    }
    return 0;
}
