/*
 * What the soak and the crash test share: random numbers from a seed, the clock, and how to stop at
 * a wrong answer.
 */
#ifndef SOAK_COMMON_H
#define SOAK_COMMON_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sinter/sinter.h>

/** A sequence of numbers that a seed decides. Confined. */
typedef struct soak_random {
    uint64_t state;
} soak_random;

/** A number of two: mixed so well that neighbours have nothing in common. */
uint64_t
soak_mix(uint64_t a, uint64_t b);

uint64_t
soak_random_next(soak_random *random);

/** 0 .. limit - 1; limit at least 1. */
uint32_t
soak_random_below(soak_random *random, uint32_t limit);

/** True once in `n` times. */
bool
soak_random_one_in(soak_random *random, uint32_t n);

/** Say before anything else how this run is repeated; the text is borrowed for good. */
void
soak_command_set(const char *command);

/** A wrong answer: print it with the command that repeats the run, and end the process with 1. */
_Noreturn void
soak_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Wrong unless SINTER_OK; for calls that nothing is in the way of. */
void
soak_require(sinter_status st, const char *what, const sinter_error *err);

/** Memory of the program itself; the process ends where there is none. */
void *
soak_allocate(size_t size);
void *
soak_resize(void *block, size_t count, size_t size);

/** Since some moment. */
double
soak_seconds(void);

void
soak_sleep_us(uint32_t us);

/** Remove a directory and all in it; false: something is left. */
bool
soak_remove_tree(const char *path);

/** Read a number of an argument; false: it is none, or above `max`. */
bool
soak_parse_number(const char *text, uint64_t max, uint64_t *out);

#endif
