/*
 * JSON files of a table: loaded whole, and faults told as faults of the file.
 */
#ifndef SINTER_TABLE_JSON_FILE_H
#define SINTER_TABLE_JSON_FILE_H

#include "doc/doc_read.h"

/** A file's text and what was read of it. Zeroed with `source.name` and `source.text` set. */
typedef struct sinter__json_file {
    sinter__json_source source;
    json_t *json;
    sinter__doc_object root; /* its arena is the caller's */
} sinter__json_file;

/**
 * Load a text whose root is an object.
 *
 * @param path   name for errors, borrowed
 * @param text   borrowed until close
 * @param arena  gets the strings that are read
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT (line, column, member)
 */
sinter_status
sinter__json_file_open(const char *path, sinter_bytes text, sinter__arena *arena,
                       sinter__json_file *out, sinter_error *err);

/** Release; takes one that wasn't opened if zeroed. */
void
sinter__json_file_close(sinter__json_file *file);

/** What a file holds isn't what it should: an invalid document is SINTER_E_CORRUPT. Passes other
 *  statuses on, and names the file if nobody has. */
sinter_status
sinter__json_file_status(sinter_status st, const char *path, sinter_error *err);

#endif
