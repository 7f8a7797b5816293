/*
 * Files drawn for people: levels as a table, sections and runs as a picture.
 */
#ifndef SINTER_CLI_LEVELS_H
#define SINTER_CLI_LEVELS_H

#include "cli/session.h"

/** Sums of one level. */
typedef struct cli_level {
    uint64_t files;
    uint64_t bytes;
    uint64_t rows;
    int64_t deletes; /* -1: unknown */
} cli_level;

/** Sum up level `level` of `count` files. */
cli_level
cli_level_of(const sinter_file_meta *files, size_t count, int32_t level);

/** A table of all levels that hold files. */
void
cli_levels_print(const sinter_file_meta *files, size_t count);

/** A table of files: name, level, size, records, deletes, sequences, keys. */
void
cli_files_print(const sinter_file_meta *files, size_t count, const sinter_key_codec *codec);

/** Text of a key for people, at most `limit` columns; allocated, for free(). */
char *
cli_key_text(const sinter_key_codec *codec, sinter_bytes key, size_t limit);

/**
 * Draw sections and their runs; a bar spans the ranks of a file's keys among all bounds.
 * @param section_max  sections drawn; the rest is summed up in a line
 */
void
cli_sections_draw(const sinter_partition *partition, size_t section_max);

#endif
