/*
 * Column lists on the command line: "id:BIGINT,name,price:DECIMAL(10, 2)".
 */
#ifndef SINTER_CLI_COLUMNS_H
#define SINTER_CLI_COLUMNS_H

#include "cli/cli.h"

/** One entry; texts are allocated. */
typedef struct cli_column {
    char *name;
    char *type; /* NULL: not given */
} cli_column;

/** A list of entries. */
typedef struct cli_columns {
    cli_column *items;
    size_t count;
} cli_columns;

/**
 * Parse a list; commas inside parentheses belong to a type, and a column's name may hold anything
 * but comma and colon.
 * @param option  name for messages
 */
int
cli_columns_parse(const char *option, const char *text, cli_columns *out);

/** Append a column; `type` may be NULL. */
void
cli_columns_add(cli_columns *columns, const char *name, const char *type);

/** The entry of a name, or NULL. */
const cli_column *
cli_columns_find(const cli_columns *columns, const char *name);

void
cli_columns_fini(cli_columns *columns);

#endif
