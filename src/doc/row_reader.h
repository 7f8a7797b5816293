/*
 * Inside of the row reader: what its formats share. JSON lines are in row_json.c, CSV and TSV in
 * row_csv.c.
 */
#ifndef SINTER_DOC_ROW_READER_H
#define SINTER_DOC_ROW_READER_H

#include <jansson.h>

#include "base/arena.h"
#include "sinter/rows.h"

/** Where the search for the end of a CSV record stands. */
typedef enum sinter__csv_state {
    SINTER__CSV_FIELD = 0, /* at the first byte of a field */
    SINTER__CSV_PLAIN,     /* in a field without quotes */
    SINTER__CSV_QUOTED,    /* between quotes */
    SINTER__CSV_QUOTE      /* behind a quote that closes, or is the first of two */
} sinter__csv_state;

/** A CSV field: `is_null` means empty without quotes. */
typedef struct sinter__csv_field {
    sinter_bytes text;
    bool is_null;
} sinter__csv_field;

struct sinter_row_reader {
    const sinter_env *env;
    const sinter_row_type *row_type;
    int32_t format;
    uint32_t flags;
    char *source;
    sinter_text buffer;   /* text fed; bytes before `begin` were used */
    size_t begin;         /* first byte of the row at hand */
    size_t scanned;       /* bytes from `begin` on that hold no end of a row */
    uint64_t line;        /* number of the line at `begin` */
    bool ended;           /* no more text will come */
    sinter_datum *values; /* one per column */
    sinter_text scratch;  /* bytes of hex text */
    sinter__arena arena;  /* nested values of the row at hand */
    json_t *json;         /* the row at hand; strings of `values` lie in it */
    sinter_text quoted;   /* a JSON row whose numbers were put in quotes */
    sinter__csv_state csv_state;
    uint64_t csv_newlines; /* within quotes, of the record being searched */
    sinter__csv_field *fields;
    size_t field_capacity;
    size_t *header; /* per field: column position, KIND_FIELD or IGNORED_FIELD */
    size_t header_count;
    bool has_header;
};

/** What a CSV field that is no column stands for. */
#define SINTER__KIND_FIELD (SIZE_MAX - 1)
#define SINTER__IGNORED_FIELD (SIZE_MAX - 2)

/** Next row of JSON lines, CSV or TSV, as sinter_row_reader_next(). */
sinter_status
sinter__row_json_next(sinter_row_reader *reader, sinter_row_values *out, sinter_error *err);
sinter_status
sinter__row_csv_next(sinter_row_reader *reader, sinter_row_values *out, sinter_error *err);

/**
 * Take the next record's fields. Their text lies in the buffer, unescaped in place.
 * @param next_out  first byte behind the record; `lines_out` lines were used
 */
sinter_status
sinter__csv_record(sinter_row_reader *reader, size_t *count_out, size_t *next_out,
                   uint64_t *lines_out, sinter_error *err);

/** Which column does this name mean? SINTER_E_INVALID for an unknown one. */
sinter_status
sinter__row_find_column(const sinter_row_reader *reader, const char *name, size_t *out,
                        sinter_error *err);

/** Read "+I", "-U", "+U", "-D". */
sinter_status
sinter__row_parse_kind(const sinter_row_reader *reader, sinter_bytes text, uint8_t *out,
                       sinter_error *err);

/** Put source and line in front of a failure and return its status. */
sinter_status
sinter__row_locate(const sinter_row_reader *reader, sinter_status st, sinter_error *err);

/** The line at `begin`: its size without the end, and the byte behind it. SINTER_END: not there
 *  yet. */
sinter_status
sinter__row_line(sinter_row_reader *reader, size_t *size_out, size_t *next_out, sinter_error *err);

#endif
