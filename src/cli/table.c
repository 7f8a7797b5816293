#include "cli/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/text.h"

void
cli_table_init(cli_table *table, const char *const *titles, size_t columns)
{
    assert(columns > 0);
    *table = (cli_table){.titles = titles, .columns = columns};
}

void
cli_table_cell(cli_table *table, const char *format, ...)
{
    va_list args;
    char *cell;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    cell = cli_alloc((size_t)(length < 0 ? 0 : length) + 1, 1);
    va_start(args, format);
    (void)vsnprintf(cell, (size_t)(length < 0 ? 0 : length) + 1, format, args);
    va_end(args);
    for (char *c = cell; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = '?'; /* a name can't move the cursor */
        }
    }
    table->cells = cli_grow(table->cells, table->cell_count, sizeof *table->cells);
    table->cells[table->cell_count++] = cell;
}

static void
put_cell(const char *text, size_t width, bool to_right, bool is_last)
{
    const size_t blanks = width - cli_width(text);

    if (to_right) {
        printf("%*s%s", (int)blanks, "", text);
    } else {
        printf("%s%*s", text, is_last ? 0 : (int)blanks, "");
    }
    if (!is_last) {
        fputs("  ", stdout);
    }
}

static void
put_row(const cli_table *table, const char *const *cells, const size_t *widths, bool is_title)
{
    printf("%*s%s", (int)table->indent, "", is_title ? cli_style(CLI_STYLE_TITLE) : "");
    for (size_t c = 0; c < table->columns; c++) {
        const bool to_right = table->titles[c][0] == '>';

        put_cell(is_title && to_right ? cells[c] + 1 : cells[c], widths[c], to_right,
                 c + 1 == table->columns);
    }
    printf("%s\n", is_title ? cli_style(CLI_STYLE_PLAIN) : "");
}

void
cli_table_print(cli_table *table)
{
    size_t *widths = cli_alloc(table->columns, sizeof *widths);

    assert(table->cell_count % table->columns == 0);
    for (size_t c = 0; c < table->columns; c++) {
        widths[c] = cli_width(table->titles[c]) - (table->titles[c][0] == '>');
    }
    for (size_t row = 0; row < table->cell_count; row += table->columns) {
        for (size_t c = 0; c < table->columns; c++) {
            const size_t width = cli_width(table->cells[row + c]);

            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    if (table->cell_count > 0) {
        put_row(table, table->titles, widths, true);
    }
    for (size_t i = 0; i + table->columns <= table->cell_count; i += table->columns) {
        put_row(table, (const char *const *)&table->cells[i], widths, false);
        (void)cli_output_failed(); /* notes why, while errno still tells */
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        free(table->cells[i]);
    }
    free(table->cells);
    free(widths);
    *table = (cli_table){.titles = table->titles, .columns = table->columns};
}
