/*
 * Rows as text: JSON lines, CSV, TSV in; those and an aligned table out (interchange.md 6).
 */
#ifndef SINTER_ROWS_H
#define SINTER_ROWS_H

#include "sinter/base.h"
#include "sinter/env.h"
#include "sinter/type.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sinter_row_format {
    SINTER_ROW_FORMAT_JSON = 0, /* one object a line */
    SINTER_ROW_FORMAT_CSV = 1,  /* header line, RFC 4180 quoting, unquoted empty field is null */
    SINTER_ROW_FORMAT_TSV = 2,  /* the same with tabs */
    SINTER_ROW_FORMAT_TABLE = 3 /* aligned columns for people; output only */
} sinter_row_format;

/** Longest text of one input row. */
#define SINTER_ROW_TEXT_BYTES_MAX ((uint64_t)64 << 20)

/** Kind as text, "+I", "-U", "+U", "-D"; "?" for other numbers. */
SINTER_API const char *
sinter_kind_name(uint8_t kind);

/** Options of reading and writing row text. Zeroed with struct_size set: JSON, all columns. */
typedef struct sinter_row_options {
    uint32_t struct_size;
    int32_t format;        /* sinter_row_format */
    uint32_t flags;        /* SINTER_PRINT_HEX_STRINGS */
    bool kinds;            /* output: show `_kind`. Input takes it whenever it is there */
    bool no_header;        /* output of CSV, TSV, TABLE: without the line of names */
    const char *source;    /* input: name for errors; NULL: none. Borrowed */
    const size_t *columns; /* output: positions to show, in this order; NULL: all. Borrowed */
    size_t column_count;
} sinter_row_options;

/** A row read. Lives until the next call of its reader. */
typedef struct sinter_row_values {
    uint32_t struct_size;
    uint8_t kind;
    const sinter_datum *values; /* one per column of the row type */
    uint64_t line;              /* where the row begins, from 1 */
} sinter_row_values;

/** Reads rows from text that comes in pieces. Confined. */
typedef struct sinter_row_reader sinter_row_reader;

/**
 * Make a reader.
 * @param row_type  borrowed until destroy
 * @param options   copied
 * @return          SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID, SINTER_E_UNSUPPORTED (a
 *                  column of VARIANT or BLOB, named)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_reader_create(const sinter_env *env, const sinter_row_type *row_type,
                         const sinter_row_options *options, sinter_row_reader **out,
                         sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_row_reader_destroy(sinter_row_reader *reader);

/**
 * Give the next piece of text; pieces may end anywhere. Copied. Call when next() said SINTER_END.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (after end)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_reader_feed(sinter_row_reader *reader, const void *data, size_t size, sinter_error *err);

/** No more text: the last line may lack its newline. */
SINTER_API void
sinter_row_reader_end(sinter_row_reader *reader);

/**
 * Next row of what was fed. Empty JSON lines are skipped.
 * @param out  struct_size must be set; no more than that is written
 * @return SINTER_OK; SINTER_END: feed more, or, after end(), no more rows; SINTER_E_NOMEM;
 *         SINTER_E_INVALID (source, line, column number or name, what is wrong);
 *         SINTER_E_TOO_LARGE (a row above SINTER_ROW_TEXT_BYTES_MAX). After a failure the reader
 *         can only be destroyed.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_reader_next(sinter_row_reader *reader, sinter_row_values *out, sinter_error *err);

/**
 * Names of the columns that a text has: the header of CSV or TSV, the members of the first JSON
 * object. `_kind` is left out.
 *
 * @param data  the text's beginning: at least the whole first line
 * @param each  called per name in order; a failure ends it and is returned
 * @return      SINTER_OK, SINTER_END (no whole line in `data`), SINTER_E_INVALID, SINTER_E_NOMEM
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_columns(const sinter_env *env, int32_t format, sinter_bytes data,
                   sinter_status (*each)(void *ctx, const char *name), void *ctx,
                   sinter_error *err);

/** Prints rows. Confined. */
typedef struct sinter_row_writer sinter_row_writer;

/**
 * Make a writer.
 * @param row_type  borrowed until destroy; NULL: rows are opaque keys and values, printed as hex
 *                  in columns `_key` and `_value`
 * @param options   copied; `columns` borrowed until destroy
 * @return          SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_writer_create(const sinter_env *env, const sinter_row_type *row_type,
                         const sinter_row_options *options, sinter_row_writer **out,
                         sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_row_writer_destroy(sinter_row_writer *writer);

/**
 * Append a row's text to `out`; a header comes before the first. A table is held back until its
 * widths are known (SINTER_ROW_TABLE_ROWS rows) or end() is called.
 *
 * @param values  one per column of the row type
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (invalid UTF-8, column named),
 *                SINTER_E_UNSUPPORTED (VARIANT, BLOB), SINTER_E_CORRUPT (a nested value)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_writer_append(sinter_row_writer *writer, uint8_t kind, const sinter_datum *values,
                         sinter_text *out, sinter_error *err);

/**
 * Append a row given as stored: key and value bytes. With a row type the value is decoded first
 * (SINTER_E_CORRUPT when it is no such row), else both are printed as hex.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_writer_append_stored(sinter_row_writer *writer, uint8_t kind, sinter_bytes key,
                                sinter_bytes value, sinter_text *out, sinter_error *err);

/** Append what was held back, and the header if there was no row.
 *  @return SINTER_OK, SINTER_E_NOMEM */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_writer_end(sinter_row_writer *writer, sinter_text *out, sinter_error *err);

/** Rows after which a table's widths are fixed. */
#define SINTER_ROW_TABLE_ROWS 1000

#ifdef __cplusplus
}
#endif
#endif
