/*
 * How many threads of the program work at a time: the number changes while they do.
 */
#ifndef SINTER_CLI_GATE_H
#define SINTER_CLI_GATE_H

#include <pthread.h>

#include "cli/cli.h"

/**
 * Counts the main thread and the threads of a pool that are in a task. One that is too many stands
 * still where it asks, between two batches, holding its memory and files and no lock. The main
 * thread may wait for the others without asking: it counts no more when it has not asked for a
 * second. Shared.
 */
typedef struct cli_gate {
    pthread_mutex_t mutex; /* guards what follows, but `clock` */
    uint32_t allowed;
    uint32_t working; /* threads of the pool that are in a task and don't stand still */
    bool is_main_working;
    int64_t main_asked_ns;
    const sinter_clock *clock;
} cli_gate;

/** `allowed`: threads that may work; 0: none. `clock` is borrowed. */
void
cli_gate_init(cli_gate *gate, uint32_t allowed, const sinter_clock *clock);

void
cli_gate_fini(cli_gate *gate);

void
cli_gate_set(cli_gate *gate, uint32_t allowed);

/** May the calling thread work now? Else it has to stand still, and to ask again. */
bool
cli_gate_may_work(cli_gate *gate);

/** The calling thread, one of a pool, begins a task, and hasn't asked yet. */
void
cli_gate_enter(cli_gate *gate);

/** Its task has ended. */
void
cli_gate_leave(cli_gate *gate);

#endif
