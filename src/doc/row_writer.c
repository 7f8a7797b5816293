/*
 * Rows as text. A table is held back until its widths are known.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/load.h"
#include "doc/text.h"
#include "doc/type.h"
#include "sinter/rows.h"

/* A column to print: `position` in the row type, or one of the two below. */
typedef struct writer_column {
    size_t position;
    const char *name;
    size_t width; /* of a table, in characters */
} writer_column;

#define KIND_COLUMN (SIZE_MAX - 1)
#define KEY_COLUMN (SIZE_MAX - 2)
#define VALUE_COLUMN (SIZE_MAX - 3)

enum { TABLE_GAP = 2 };

/* A row to print: typed values, or bytes. */
typedef struct writer_row {
    uint8_t kind;
    const sinter_datum *values;
    sinter_bytes key;
    sinter_bytes value;
} writer_row;

struct sinter_row_writer {
    const sinter_env *env;
    const sinter_row_type *row_type;
    int32_t format;
    uint32_t flags;
    bool no_header;
    bool has_begun;    /* the header was printed */
    bool widths_fixed; /* of a table */
    writer_column *columns;
    size_t count;
    sinter_datum *values; /* a decoded row */
    sinter_text cell;
    sinter_text held; /* cells of a table, each followed by a zero byte */
    size_t held_rows;
};

static void
add_column(sinter_row_writer *writer, size_t position, const char *name)
{
    writer->columns[writer->count].position = position;
    writer->columns[writer->count].name = name;
    writer->count++;
}

static sinter_status
choose_columns(sinter_row_writer *writer, const sinter_row_options *options, sinter_error *err)
{
    const size_t all = writer->row_type == NULL ? 0 : sinter_row_type_count(writer->row_type);
    const size_t shown = options->columns == NULL ? all : options->column_count;

    SINTER__CHECK(SINTER__NEW(writer->env, writer->columns, shown + 3, err));
    if (options->kinds) {
        add_column(writer, KIND_COLUMN, "_kind");
    }
    if (writer->row_type == NULL) {
        add_column(writer, KEY_COLUMN, "_key");
        add_column(writer, VALUE_COLUMN, "_value");
        return SINTER_OK;
    }
    for (size_t i = 0; i < shown; i++) {
        const size_t position = options->columns == NULL ? i : options->columns[i];

        if (position >= all) {
            return SINTER__ERR(err, SINTER_E_INVALID, "column %zu of a row of %zu", position + 1,
                               all);
        }
        add_column(writer, position, sinter_row_type_column_name(writer->row_type, position));
    }
    return SINTER_OK;
}

sinter_status
sinter_row_writer_create(const sinter_env *env, const sinter_row_type *row_type,
                         const sinter_row_options *given, sinter_row_writer **out,
                         sinter_error *err)
{
    sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_row_writer *made = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, given != NULL);
    SINTER__CHECK(sinter__struct_load(&options, sizeof options, given, "sinter_row_options", err));
    SINTER__REQUIRE(err, options.format >= SINTER_ROW_FORMAT_JSON &&
                             options.format <= SINTER_ROW_FORMAT_TABLE);
    SINTER__REQUIRE(err, options.column_count < SIZE_MAX / 2);
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->env = env;
    made->row_type = row_type;
    made->format = options.format;
    made->flags = options.flags;
    made->no_header = options.no_header;
    sinter_text_init(env, &made->cell);
    sinter_text_init(env, &made->held);
    SINTER__TRY(choose_columns(made, &options, err));
    SINTER__TRY(SINTER__NEW(env, made->values,
                            row_type == NULL ? 1 : sinter_row_type_count(row_type), err));
    for (size_t i = 0; i < made->count; i++) {
        const sinter_bytes name = {.data = (const uint8_t *)made->columns[i].name,
                                   .size = strlen(made->columns[i].name)};

        made->columns[i].width = sinter__utf8_count(name);
    }
    *out = made;
    made = NULL;
out:
    sinter_row_writer_destroy(made);
    return st;
}

void
sinter_row_writer_destroy(sinter_row_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    sinter_text_fini(&writer->held);
    sinter_text_fini(&writer->cell);
    sinter__free(writer->env, writer->values);
    sinter__free(writer->env, writer->columns);
    sinter__free(writer->env, writer);
}

static const sinter_datum *
typed_value(const sinter_row_writer *writer, const writer_column *column, const writer_row *row)
{
    (void)writer; /* asserted only */
    if (column->position >= VALUE_COLUMN) {
        return NULL;
    }
    assert(writer->row_type != NULL);
    return &row->values[column->position];
}

static sinter_status
name_column(const writer_column *column, sinter_status st, sinter_error *err)
{
    if (st != SINTER_OK && st != SINTER_E_NOMEM) {
        sinter__fail_context(err, "column \"%.100s\"", column->name);
    }
    return st;
}

/* Append a column that has no type: kind, key bytes, value bytes. */
static sinter_status
print_untyped(const writer_column *column, const writer_row *row, sinter_text *out,
              sinter_error *err)
{
    if (column->position == KIND_COLUMN) {
        return sinter__text_puts(out, sinter_kind_name(row->kind), err);
    }
    return sinter_hex_print(column->position == KEY_COLUMN ? row->key : row->value, out, err);
}

static sinter_status
print_json_cell(const sinter_row_writer *writer, const writer_column *column, const writer_row *row,
                sinter_text *out, sinter_error *err)
{
    const sinter_datum *datum = typed_value(writer, column, row);

    if (datum != NULL) {
        return name_column(
            column,
            sinter_datum_print_json(sinter_row_type_column_type(writer->row_type, column->position),
                                    datum, writer->flags, out, err),
            err);
    }
    SINTER__CHECK(sinter__text_puts(out, "\"", err));
    SINTER__CHECK(print_untyped(column, row, out, err));
    return sinter__text_puts(out, "\"", err);
}

static sinter_status
append_json(sinter_row_writer *writer, const writer_row *row, sinter_text *out, sinter_error *err)
{
    for (size_t i = 0; i < writer->count; i++) {
        const writer_column *column = &writer->columns[i];
        const sinter_bytes name = {.data = (const uint8_t *)column->name,
                                   .size = strlen(column->name)};

        SINTER__CHECK(sinter__text_puts(out, i == 0 ? "{" : ",", err));
        SINTER__CHECK(sinter__json_string_print(name, out, err));
        SINTER__CHECK(sinter__text_puts(out, ":", err));
        SINTER__CHECK(print_json_cell(writer, column, row, out, err));
    }
    return sinter__text_puts(out, writer->count == 0 ? "{}\n" : "}\n", err);
}

/* Put the text of a column into `writer->cell`; `*null_out`: it is null. */
static sinter_status
fill_cell(sinter_row_writer *writer, const writer_column *column, const writer_row *row,
          bool *null_out, sinter_error *err)
{
    const sinter_datum *datum = typed_value(writer, column, row);
    const sinter_type *type = NULL;
    uint32_t flags = writer->flags;

    sinter_text_reset(&writer->cell);
    *null_out = datum != NULL && datum->is_null;
    if (datum == NULL) {
        return print_untyped(column, row, &writer->cell, err);
    }
    if (*null_out) {
        return sinter_text_append(&writer->cell, NULL, 0, err);
    }
    type = sinter_row_type_column_type(writer->row_type, column->position);
    if (writer->format == SINTER_ROW_FORMAT_TABLE && sinter__type_is_string(type) &&
        !sinter__utf8_is_valid(datum->as.bytes)) {
        flags |= SINTER_PRINT_HEX_STRINGS;
    }
    return name_column(column, sinter_datum_print_text(type, datum, flags, &writer->cell, err),
                       err);
}

static char
separator(const sinter_row_writer *writer)
{
    return writer->format == SINTER_ROW_FORMAT_TSV ? '\t' : ',';
}

/* Append a field, in quotes where it would be misread without. */
static sinter_status
print_field(const sinter_row_writer *writer, sinter_bytes text, sinter_text *out, sinter_error *err)
{
    bool quotes = text.size == 0;

    for (size_t i = 0; i < text.size && !quotes; i++) {
        const char c = (char)text.data[i];

        quotes = c == separator(writer) || c == '"' || c == '\n' || c == '\r';
    }
    if (!quotes) {
        return sinter_text_append(out, text.data, text.size, err);
    }
    SINTER__CHECK(sinter__text_reserve(out, text.size * 2 + 2, err));
    out->data[out->size++] = '"';
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"') {
            out->data[out->size++] = '"';
        }
        out->data[out->size++] = (char)text.data[i];
    }
    return sinter__text_puts(out, "\"", err);
}

/* Append what stands in front of field `index`: the separator, but for the first. */
static sinter_status
print_separator(const sinter_row_writer *writer, size_t index, sinter_text *out, sinter_error *err)
{
    const char between = separator(writer);

    return sinter_text_append(out, &between, index == 0 ? 0 : 1, err);
}

static sinter_status
append_csv_cell(sinter_row_writer *writer, size_t index, const writer_row *row, sinter_text *out,
                sinter_error *err)
{
    bool is_null = false;

    SINTER__CHECK(print_separator(writer, index, out, err));
    SINTER__CHECK(fill_cell(writer, &writer->columns[index], row, &is_null, err));
    return is_null ? SINTER_OK : print_field(writer, sinter_text_bytes(&writer->cell), out, err);
}

static sinter_status
append_csv(sinter_row_writer *writer, const writer_row *row, sinter_text *out, sinter_error *err)
{
    for (size_t i = 0; i < writer->count; i++) {
        SINTER__CHECK(append_csv_cell(writer, i, row, out, err));
    }
    return sinter__text_puts(out, "\n", err);
}

/* The line of names, once. */
static sinter_status
csv_header(sinter_row_writer *writer, sinter_text *out, sinter_error *err)
{
    if (writer->has_begun || writer->no_header) {
        return SINTER_OK;
    }
    for (size_t i = 0; i < writer->count; i++) {
        const sinter_bytes name = {.data = (const uint8_t *)writer->columns[i].name,
                                   .size = strlen(writer->columns[i].name)};

        SINTER__CHECK(print_separator(writer, i, out, err));
        SINTER__CHECK(print_field(writer, name, out, err));
    }
    writer->has_begun = true;
    return sinter__text_puts(out, "\n", err);
}

/* Append a cell of a table, padded but for the last column. */
static sinter_status
print_padded(const sinter_row_writer *writer, size_t index, const char *text, sinter_text *out,
             sinter_error *err)
{
    const sinter_bytes bytes = {.data = (const uint8_t *)text, .size = strlen(text)};
    const size_t width = sinter__utf8_count(bytes);
    const size_t wanted = writer->columns[index].width + TABLE_GAP;

    SINTER__CHECK(sinter__text_puts(out, text, err));
    if (index + 1 == writer->count) {
        return sinter__text_puts(out, "\n", err);
    }
    return sinter__text_fill(out, ' ', width < wanted ? wanted - width : TABLE_GAP, err);
}

/* Print one line of a table; `*cell` goes on to the next line's. */
static sinter_status
print_table_line(const sinter_row_writer *writer, const char **cell, sinter_text *out,
                 sinter_error *err)
{
    for (size_t i = 0; i < writer->count; i++) {
        SINTER__CHECK(print_padded(writer, i, *cell, out, err));
        *cell += strlen(*cell) + 1;
    }
    return SINTER_OK;
}

static sinter_status
flush_table(sinter_row_writer *writer, sinter_text *out, sinter_error *err)
{
    const char *cell = writer->held.data;

    writer->widths_fixed = true;
    for (size_t i = 0; i < writer->count && !writer->has_begun && !writer->no_header; i++) {
        SINTER__CHECK(print_padded(writer, i, writer->columns[i].name, out, err));
    }
    writer->has_begun = true;
    for (size_t row = 0; row < writer->held_rows; row++) {
        SINTER__CHECK(print_table_line(writer, &cell, out, err));
    }
    writer->held_rows = 0;
    sinter_text_reset(&writer->held);
    return SINTER_OK;
}

/* Hold the cell of column `index` back. A table has one line per row: what would break it is shown
 * as a blank. */
static sinter_status
hold_cell(sinter_row_writer *writer, size_t index, const writer_row *row, sinter_error *err)
{
    writer_column *column = &writer->columns[index];
    bool is_null = false;
    size_t width = 0;

    SINTER__CHECK(fill_cell(writer, column, row, &is_null, err));
    SINTER__CHECK(sinter__text_puts(&writer->cell, is_null ? "NULL" : "", err));
    for (size_t k = 0; k < writer->cell.size; k++) {
        if ((uint8_t)writer->cell.data[k] < 0x20 || writer->cell.data[k] == 0x7f) {
            writer->cell.data[k] = ' ';
        }
    }
    width = sinter__utf8_count(sinter_text_bytes(&writer->cell));
    if (!writer->widths_fixed && width > column->width) {
        column->width = width;
    }
    return sinter_text_append(&writer->held, writer->cell.data, writer->cell.size + 1, err);
}

static sinter_status
append_table(sinter_row_writer *writer, const writer_row *row, sinter_text *out, sinter_error *err)
{
    for (size_t i = 0; i < writer->count; i++) {
        SINTER__CHECK(hold_cell(writer, i, row, err));
    }
    writer->held_rows++;
    if (writer->widths_fixed || writer->held_rows >= SINTER_ROW_TABLE_ROWS) {
        return flush_table(writer, out, err);
    }
    return SINTER_OK;
}

static sinter_status
append_row(sinter_row_writer *writer, const writer_row *row, sinter_text *out, sinter_error *err)
{
    switch (writer->format) {
    case SINTER_ROW_FORMAT_JSON:
        return append_json(writer, row, out, err);
    case SINTER_ROW_FORMAT_TABLE:
        return append_table(writer, row, out, err);
    default:
        SINTER__CHECK(csv_header(writer, out, err));
        return append_csv(writer, row, out, err);
    }
}

sinter_status
sinter_row_writer_append(sinter_row_writer *writer, uint8_t kind, const sinter_datum *values,
                         sinter_text *out, sinter_error *err)
{
    const writer_row row = {.kind = kind, .values = values};

    SINTER__REQUIRE(err, writer != NULL && writer->row_type != NULL);
    SINTER__REQUIRE(err, values != NULL && out != NULL);
    return append_row(writer, &row, out, err);
}

sinter_status
sinter_row_writer_append_stored(sinter_row_writer *writer, uint8_t kind, sinter_bytes key,
                                sinter_bytes value, sinter_text *out, sinter_error *err)
{
    writer_row row = {.kind = kind, .key = key, .value = value};

    SINTER__REQUIRE(err, writer != NULL && out != NULL);
    if (writer->row_type != NULL) {
        SINTER__CHECK(sinter_row_decode(writer->row_type, value, writer->values, err));
        row.values = writer->values;
    }
    return append_row(writer, &row, out, err);
}

sinter_status
sinter_row_writer_end(sinter_row_writer *writer, sinter_text *out, sinter_error *err)
{
    SINTER__REQUIRE(err, writer != NULL && out != NULL);
    if (writer->format == SINTER_ROW_FORMAT_JSON) {
        return SINTER_OK;
    }
    if (writer->format == SINTER_ROW_FORMAT_TABLE) {
        return flush_table(writer, out, err);
    }
    return csv_header(writer, out, err);
}
