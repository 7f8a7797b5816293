/*
 * Tables for people: columns as wide as their widest cell.
 */
#ifndef SINTER_CLI_TABLE_H
#define SINTER_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/** A column. A title that begins with '>' (not shown) puts its cells to the right. */
typedef struct cli_table {
    const char *const *titles;
    size_t columns;
    char **cells;
    size_t cell_count;
    size_t indent;
} cli_table;

/** Begin a table; `titles` are static. */
void
cli_table_init(cli_table *table, const char *const *titles, size_t columns);

/** Add the next cell, row by row. */
void
cli_table_cell(cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print with a line of titles to standard output, and release. Without rows nothing is printed. */
void
cli_table_print(cli_table *table);

#endif
