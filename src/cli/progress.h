/*
 * A line on standard error that tells how far the work is, its rate, and when it will end.
 */
#ifndef SINTER_CLI_PROGRESS_H
#define SINTER_CLI_PROGRESS_H

#include "cli/cli.h"

/** State of the line. Confined. */
typedef struct cli_progress {
    bool is_on;
    bool is_shown;          /* the line has to be cleared */
    bool is_terminal;       /* else each state is a line of its own */
    const char *what;       /* "compacting" */
    uint64_t total_bytes;   /* 0: unknown */
    uint64_t total_records; /* 0: unknown; else bytes follow from the share of records */
    uint64_t bytes;
    uint64_t records;
    int64_t begin_ns;
    int64_t shown_ns;
    const sinter_clock *clock;
} cli_progress;

/** Begin. Nothing is shown unless `is_on`. Totals may be 0: unknown. `clock` is borrowed. */
void
cli_progress_begin(cli_progress *progress, const char *what, uint64_t total_bytes,
                   uint64_t total_records, const sinter_clock *clock);

/** Tell the state; shows it at most ten times a second. */
void
cli_progress_set(cli_progress *progress, uint64_t bytes, uint64_t records);

/** Clear the line. `is_done`: the work is complete. Does nothing unless one was begun. */
void
cli_progress_end(cli_progress *progress, bool is_done);

/** Text of a state after `elapsed_ns`: percent, bytes, rate, records, time left. */
void
cli_progress_text(const cli_progress *progress, int64_t elapsed_ns, char *out, size_t size);

#endif
