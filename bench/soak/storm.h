/*
 * Bad weather: an allocator and an io whose calls fail at random, each kind of fault with a rate of
 * its own, and a count of what was hit.
 *
 * A thread that has asked for calm is spared; threads of pools never ask.
 */
#ifndef SOAK_STORM_H
#define SOAK_STORM_H

#include "soak/hook_io.h"

#define SOAK_FAULT_MAP(X)                   \
    X(ALLOCATION, "allocations refused")    \
    X(EIO, "EIO")                           \
    X(NO_SPACE, "ENOSPC")                   \
    X(TORN_WRITE, "torn writes")            \
    X(DISK_FULL, "times the disk was full") \
    X(POWER_LOSS, "losses of power")        \
    X(MEMORY_BUDGET, "refused for want of memory")

typedef enum soak_fault {
#define SOAK_FAULT_CONSTANT(name, text) SOAK_FAULT_##name,
    SOAK_FAULT_MAP(SOAK_FAULT_CONSTANT)
#undef SOAK_FAULT_CONSTANT
        SOAK_FAULT_COUNT
} soak_fault;

/** Begin the weather of a process: numbers come from the seed. Before other threads are there. */
void
soak_storm_begin(uint64_t seed);

/** Calls of this thread don't fail between these two; may be nested. */
void
soak_calm_begin(void);
void
soak_calm_end(void);

/** What an environment needs: an allocator that refuses now and then. */
sinter_allocator
soak_storm_allocator(void);

/** And an io that fails now and then. `base` must outlive it. */
sinter_io *
soak_storm_io_create(sinter_io *base);

/** From here until `false` every write but the catalog's finds the disk full. Any thread. */
void
soak_storm_disk_full(bool is_full);

/** The machine goes off: from here until soak_storm_power_on() any call of any thread may fail,
 * calm or not. `fails_all`: every call does; else an io beneath sees to it. */
void
soak_storm_power_off(bool fails_all);
void
soak_storm_power_on(void);
bool
soak_storm_is_off(void);

/** Did a call of a calm thread succeed? False: the power is off; every other failure is a wrong
 *  answer. */
bool
soak_calm_ok(sinter_status st, const char *what, const sinter_error *err);

/** Count a hit that the program itself has seen. Any thread. */
void
soak_storm_count(soak_fault fault);

uint64_t
soak_storm_hits(soak_fault fault);

const char *
soak_fault_text(soak_fault fault);

#endif
