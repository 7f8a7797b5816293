/*
 * The two sides of the crash test: the board on which the child says what it is doing, and what it
 * tells the parent through a pipe.
 */
#ifndef SOAK_CRASH_H
#define SOAK_CRASH_H

#include <stdatomic.h>

#include "soak/common.h"

enum { CRASH_BUCKETS = 4 };

#define CRASH_PHASE_MAP(X)  \
    X(FLUSH, "flush")       \
    X(MERGE, "merge")       \
    X(PUBLISH, "publish")   \
    X(SWAP, "catalog swap") \
    X(RECOVERY, "recovery") \
    X(BETWEEN, "between calls of the io")

typedef enum crash_phase {
#define CRASH_PHASE_CONSTANT(name, text) CRASH_##name,
    CRASH_PHASE_MAP(CRASH_PHASE_CONSTANT)
#undef CRASH_PHASE_CONSTANT
        CRASH_PHASE_COUNT
} crash_phase;

/** In memory that both share. What stands there after a kill is what the child was doing. */
typedef struct crash_board {
    atomic_uint active[CRASH_PHASE_COUNT];  /* calls of the io under way */
    atomic_uint entered[CRASH_PHASE_COUNT]; /* in this round */
    atomic_int target; /* the phase that calls linger in; CRASH_BETWEEN: none */
} crash_board;

typedef enum crash_word {
    CRASH_OPENED,    /* a bucket was found whole; number: its moment */
    CRASH_GARBAGE,   /* number: files that cleaning removed */
    CRASH_READY,     /* everything was found whole; writing begins */
    CRASH_COMMITTED, /* the catalog of a bucket was swapped; number: its moment */
    CRASH_COMPACTED  /* number: compactions in what was committed */
} crash_word;

typedef struct crash_message {
    uint32_t word;
    uint32_t bucket;
    uint64_t number;
} crash_message;

/** What the child is called with. */
typedef struct crash_call {
    const char *dir;
    uint64_t seed;
    uint64_t round;
    int pipe;
    crash_board *board;
    bool only_checks;
} crash_call;

/** Open, clean, check, then write and commit until killed. */
int
crash_child_run(const crash_call *call);

#endif
