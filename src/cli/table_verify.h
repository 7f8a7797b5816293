/*
 * A table in Paimon's layout, checked.
 */
#ifndef SINTER_CLI_TABLE_VERIFY_H
#define SINTER_CLI_TABLE_VERIFY_H

#include "cli/session.h"

/** What to check, and what was found. */
typedef struct cli_table_verify {
    const char *path;
    const char *snapshot; /* a number; NULL: not said */
    const char *tag;
    const char *branch; /* NULL: main */
    bool all;
    bool metadata_only;
    bool json;
    bool quiet;
    uint64_t files;    /* out, and added to */
    uint64_t faults;   /* out, and added to */
    int first_failure; /* out: the exit code of the first fault */
} cli_table_verify;

/** Check it and print what was found. The session must be started. */
void
cli_table_verify_run(cli *session, cli_table_verify *wanted);

#endif
