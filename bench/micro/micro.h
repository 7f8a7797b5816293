/*
 * Micro benchmarks: one hot loop each, fixed seeds, two warm-up runs, ten measured ones. Each
 * prints a line of CSV with the CPU time per unit of work: median, least, most. Of cases that wait
 * it is the time that passed.
 */
#ifndef BENCH_MICRO_H
#define BENCH_MICRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sinter/sinter.h>

/** One benchmark. `parameter` tells cases apart that share functions. */
typedef struct micro_case {
    const char *name;
    const char *unit;
    /** Make the input; NULL: this machine can't run the case. */
    void *(*setup)(const struct micro_case *self);
    /** The hot loop; returns the units of work it did. */
    uint64_t (*run)(const struct micro_case *self, void *state);
    void (*teardown)(void *state);
    const char *text;
    int parameter;
} micro_case;

/** The cases of one file; the last has no name. */
extern const micro_case MICRO_MERGE_CASES[];
extern const micro_case MICRO_SST_CASES[];
extern const micro_case MICRO_KEY_CASES[];
extern const micro_case MICRO_IO_CASES[];
extern const micro_case MICRO_IO_DEPTH_CASES[]; /* they wait */

/** End the program with a message unless `st` is SINTER_OK. */
void
micro_require(sinter_status st, const char *what, const sinter_error *err);

/** malloc or the end of the program. */
void *
micro_allocate(size_t size);

#endif
