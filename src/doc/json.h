/*
 * JSON through jansson, with what jansson doesn't tell: limits checked before anything is stored,
 * member paths of faults, and the place of a member in the text.
 */
#ifndef SINTER_DOC_JSON_H
#define SINTER_DOC_JSON_H

#include <jansson.h>

#include "sinter/type.h"

enum { SINTER__JSON_PATH_MAX = 160 };

/** A text being read, for errors. */
typedef struct sinter__json_source {
    const char *name; /* file or other name; NULL: none */
    sinter_bytes text;
    uint64_t first_line; /* number of the text's first line, 0 counts as 1 */
} sinter__json_source;

/** Which texts are taken. */
enum {
    SINTER__JSON_ROW = 1u << 0,  /* a row: strings up to the size of the text, as deep as its values
                                    may be */
    SINTER__JSON_TYPES = 1u << 1 /* a row type or schema: as deep as its types may be */
};

/**
 * Load a text. Duplicate members, sizes above the limits of interchange.md 1, invalid UTF-8 and
 * numbers out of range are refused with line, column and member path. Strings may have "\u0000".
 *
 * @param out  the value, a new reference
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID, SINTER_E_TOO_LARGE, SINTER_E_OVERFLOW (a
 *             number)
 */
sinter_status
sinter__json_load(const sinter__json_source *source, uint32_t flags, json_t **out,
                  sinter_error *err);

/** Offset of the value at `path` ("files[3].level") in a text that was loaded; the text's size if
 *  there is none. */
size_t
sinter__json_locate(sinter_bytes text, const char *path);

/** Length of the scalar token at `offset`: a number, a word, a string with its quotes. */
size_t
sinter__json_token_size(sinter_bytes text, size_t offset);

/** Path of the value that `offset` lies in, as far as it fits `path`. */
void
sinter__json_path_at(sinter_bytes text, size_t offset, char path[SINTER__JSON_PATH_MAX]);

/** Fail at `path`: "NAME: line 3, column 7: member files[3].level: WHAT". */
sinter_status
sinter__json_fail(const sinter__json_source *source, sinter_status status, const char *path,
                  const char *what, sinter_error *err);

/** Name of a JSON type with its article, "a string". */
const char *
sinter__json_type_name(const json_t *value);

/** Put numbers that jansson can't hold into quotes: copies the text to `out`. For a row whose
 *  loading failed because a number is out of range. */
sinter_status
sinter__json_quote_numbers(sinter_bytes text, sinter_text *out, sinter_error *err);

#endif
