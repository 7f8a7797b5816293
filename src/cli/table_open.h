/*
 * Tables in Paimon's layout, as verbs that look at them or clean them name them.
 */
#ifndef SINTER_CLI_TABLE_OPEN_H
#define SINTER_CLI_TABLE_OPEN_H

#include "cli/session.h"

/** Open a table or one of its branches (NULL: main). @return an exit code */
int
cli_table_open(cli *session, const char *path, const char *branch, sinter_table **out);

/** The snapshot that is meant by a number or a tag, of which one is given at most; NULL: neither
 * is.
 *  @return an exit code */
int
cli_table_snapshot(sinter_table *table, const cli_number *number, const char *tag,
                   sinter_snapshot **out);

/** Read an age such as 30s, 10m, 2h, 7d. @return an exit code */
int
cli_age_parse(const char *option, const char *text, int64_t *ms_out);

#endif
