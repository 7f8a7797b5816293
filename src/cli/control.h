/*
 * A file that changes rates and threads of a running compaction, or makes it stand still.
 */
#ifndef SINTER_CLI_CONTROL_H
#define SINTER_CLI_CONTROL_H

#include <stdatomic.h>

#include "cli/gate.h"

enum { CLI_CONTROL_BYTES_MAX = 4096, CLI_CONTROL_WHY_CHARS = 256 };

/** What the file may change; it begins with what the command line says. */
typedef struct cli_load {
    uint64_t rate;      /* bytes a second written; 0: unlimited */
    uint64_t read_rate; /* bytes a second read; 0: unlimited */
    uint32_t threads;
    bool is_paused;
} cli_load;

/**
 * Take one line over: "key = value", or nothing but blanks and a comment after '#'.
 * @param line  without its newline
 * @param why   what is wrong with it, when false is returned; `load` is as before then
 */
bool
cli_control_line(const char *line, cli_load *load, char why[CLI_CONTROL_WHY_CHARS]);

/** Read a rate, such as 64mb or 64mb/s; 0: unlimited. `err` may be NULL.
 *  @return SINTER_OK, SINTER_E_INVALID, SINTER_E_OVERFLOW */
sinter_status
cli_rate_parse(const char *text, uint64_t *out, sinter_error *err);

/** Shared; set up and released by the main thread while no other works. */
typedef struct cli_control {
    const char *path;
    const sinter_clock *clock;
    sinter_io *limited; /* whose rates are changed */
    sinter_executor under;
    bool is_verbose;
    cli_gate gate;
    atomic_bool is_over;
    _Atomic int64_t look_ns; /* when somebody looks again */
    pthread_mutex_t mutex;   /* guards what follows: held by who looks */
    cli_load load;
    int sys_errno; /* why it couldn't be read the last time */
    char text[CLI_CONTROL_BYTES_MAX + 1];
} cli_control;

/** Look at the file for the first time. Zeroed but for `is_verbose`, which says whether changes are
 *  told. All pointers are borrowed. */
void
cli_control_begin(cli_control *control, const char *path, const cli_load *load, sinter_io *limited,
                  const sinter_clock *clock);

/** From now on every thread works and nobody looks: let what stands still go to its end. */
void
cli_control_end(cli_control *control);

void
cli_control_fini(cli_control *control);

/**
 * Look at the file when half a second has passed, and stand still while this thread may not work.
 * Fits the library's is_cancelled, which every working thread asks often, also while it waits for a
 * rate; `ctx` is the control.
 * @return did a signal ask for an end?
 */
bool
cli_control_poll(void *ctx);

/** An executor that hands tasks to `under`, where they begin when the gate lets them. */
sinter_executor
cli_control_executor(cli_control *control, const sinter_executor *under);

#endif
