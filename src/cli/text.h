/*
 * Numbers and names as people read them.
 */
#ifndef SINTER_CLI_TEXT_H
#define SINTER_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sinter/base.h"

enum { CLI_NUMBER_CHARS = 32 };

/** "128MB", "1.5GB", "17B": binary multiples, at most one decimal. Gives `out`. */
char *
cli_bytes_text(uint64_t bytes, char out[CLI_NUMBER_CHARS]);

/** "12345" as "12,345". Gives `out`. */
char *
cli_count_text(uint64_t count, char out[CLI_NUMBER_CHARS]);

/** "440ms", "1.5s", "12s", "3m05s", "2h11m". Gives `out`. */
char *
cli_seconds_text(double seconds, char out[CLI_NUMBER_CHARS]);

/** UTC time of milliseconds since the epoch, "2024-10-10 07:08:09". Gives `out`. */
char *
cli_time_text(int64_t ms, char out[CLI_NUMBER_CHARS]);

/** How many single changes (insert, delete, replace, swap of neighbours) part two words. */
size_t
cli_distance(const char *a, const char *b);

/** Is `distance` near enough to `word` to be a slip of the fingers? */
bool
cli_is_near(const char *word, size_t distance);

/** Bytes as lower-case hex; allocated, for free(). */
char *
cli_hex(sinter_bytes bytes);

/** Bytes as text if they are printable ASCII or UTF-8, else "0x" and hex; at most `limit` columns.
 *  Allocated, for free(). */
char *
cli_printable(sinter_bytes bytes, size_t limit);

/** Columns that a text takes on a terminal: UTF-8 code points. */
size_t
cli_width(const char *text);

#endif
