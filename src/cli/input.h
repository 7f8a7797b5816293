/*
 * Row text from files and standard input, and the first look at it.
 */
#ifndef SINTER_CLI_INPUT_H
#define SINTER_CLI_INPUT_H

#include "cli/columns.h"
#include "cli/session.h"

/** An open input. */
typedef struct cli_input {
    const char *name; /* for messages */
    int fd;           /* -1: closed */
    bool is_stdin;
    bool is_ended;
    char *data; /* read and not yet consumed */
    size_t size;
    size_t capacity;
    uint64_t consumed_bytes;
} cli_input;

/** Open a file, or standard input for NULL or "-". */
int
cli_input_open(const char *path, cli_input *out);

/** An input that is not open. */
#define CLI_INPUT_CLOSED \
    {                    \
        .fd = -1         \
    }

/** Read more behind what is there; at the end `is_ended` is set. INT and TERM end it too. */
int
cli_input_more(cli_input *input);

/** What is there was used. */
void
cli_input_consume(cli_input *input);

/** Format by name, else by the first line: sinter_row_format. Reads as much as that needs. */
int
cli_input_format(cli_input *input, int32_t *format_out);

/** Names of the columns, from header or first object. */
int
cli_input_columns(cli_input *input, int32_t format, cli_columns *out);

void
cli_input_close(cli_input *input);

#endif
