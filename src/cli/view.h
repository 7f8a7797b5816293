/*
 * Rows of a merged view on standard output: what `scan` and `get` share.
 */
#ifndef SINTER_CLI_VIEW_H
#define SINTER_CLI_VIEW_H

#include "cli/source.h"

/** How rows are shown; order of the option's values. */
enum {
    CLI_ROWS_AUTO = 0, /* a table on a terminal, else JSON lines */
    CLI_ROWS_JSON = 1,
    CLI_ROWS_CSV = 2,
    CLI_ROWS_TSV = 3,
    CLI_ROWS_TABLE = 4,
    CLI_ROWS_HEX = 5 /* keys and values as they are stored */
};

#define CLI_ROWS_VALUES "auto|json|csv|tsv|table|hex"

/** What to show. */
typedef struct cli_view {
    int32_t format; /* CLI_ROWS_* */
    bool kinds;
    bool no_header;
    bool hex_strings;
    bool count_only;
    cli_number limit;
    const char *columns; /* names parted by commas; NULL: all */
    sinter_view_options options;
    uint64_t rows; /* out: rows seen */
} cli_view;

/** Print the view of a source. @return an exit code */
int
cli_view_print(cli *session, const cli_source *source, cli_view *view);

/**
 * Encode a key given on the command line, appended to `out`: one word per key column, or one word
 * "hex:..." with the encoded bytes.
 */
int
cli_key_encode(const cli_source *source, const char *const *words, size_t count, sinter_text *out);

/** The same from one text that may hold several columns, parted by commas. `option` NULL: an
 *  operand. */
int
cli_key_encode_text(const cli_source *source, const char *option, const char *text,
                    sinter_text *out);

#endif
