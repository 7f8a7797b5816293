/*
 * Rows of a table in Paimon's layout on standard output.
 */
#ifndef SINTER_CLI_TABLE_SCAN_H
#define SINTER_CLI_TABLE_SCAN_H

#include "cli/session.h"

/** What of a table is shown, as the command line says. NULL: not said. */
typedef struct cli_table_scan {
    const char *path;
    const char *snapshot; /* a number */
    const char *tag;
    const char *timestamp;
    const char *branch;
    const char *columns;
    const char *where;
    const char *spill_dir;
    const cli_list *partitions; /* each "dt=2024-01-01,hr=5"; one of them holds */
    cli_number bucket;
    cli_number limit;
    bool count_only;
    bool no_header;
    bool hex_strings;
    bool is_arrow;  /* a stream of Arrow's IPC format */
    int32_t format; /* sinter_row_format, else */
    uint64_t rows;  /* out */
} cli_table_scan;

/** Is it a table: a directory with a directory "schema" in it? */
bool
cli_is_table(const cli *session, const char *path);

/** Print its rows. The session must be started. @return an exit code */
int
cli_table_scan_print(cli *session, cli_table_scan *wanted);

#endif
