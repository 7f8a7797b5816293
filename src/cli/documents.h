/*
 * Documents of JSON from files and standard input: one in a file, or one a line.
 */
#ifndef SINTER_CLI_DOCUMENTS_H
#define SINTER_CLI_DOCUMENTS_H

#include "cli/input.h"

/** Documents in the order in which they were read. Zeroed is empty. */
typedef struct cli_documents {
    cli_input *inputs; /* what the texts lie in */
    int input_count;
    sinter_table_result *items; /* source and text */
    size_t count;
} cli_documents;

/** Read the documents of `count` files; "-": standard input. @return an exit code */
int
cli_documents_read(char *const *paths, int count, cli_documents *out);

void
cli_documents_fini(cli_documents *documents);

#endif
