/*
 * The rows of an input, one after another, to its end.
 */
#ifndef SINTER_CLI_FEED_H
#define SINTER_CLI_FEED_H

#include "cli/input.h"
#include "cli/session.h"

/** What is read and who gets the rows. All borrowed. */
typedef struct cli_feed {
    cli *session; /* its progress is told */
    cli_input *input;
    const sinter_row_type *row_type;
    int32_t format; /* sinter_row_format */
    uint32_t flags; /* SINTER_PRINT_HEX_STRINGS */
    int (*each)(void *ctx, const sinter_row_values *row);
    void *ctx;
    uint64_t done_bytes;  /* of inputs that are through */
    const uint64_t *rows; /* that were taken so far, for the progress */
} cli_feed;

/** Read the open input to its end. @return an exit code, that of `each` too */
int
cli_feed_run(cli_feed *feed);

/** Tell a failure of a row, with input and line where it doesn't say them itself. */
int
cli_feed_fail(const cli_input *input, uint64_t line, sinter_status st, sinter_error *err);

#endif
