/*
 * CSV (RFC 4180) and TSV: a header line, then records. The end of a record is searched first, byte
 * by byte and across pieces of text; its fields are then unescaped in place.
 *
 *     FIELD --"--> QUOTED --"--> QUOTE --"--> QUOTED        end of record: newline in any state
 *       |            ^  any        |  separator --> FIELD   but QUOTED
 *       +--other--> PLAIN ---------+
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "doc/json_value.h"
#include "doc/row_reader.h"
#include "doc/text.h"
#include "doc/type.h"

static uint8_t
separator(const sinter_row_reader *reader)
{
    return reader->format == SINTER_ROW_FORMAT_TSV ? '\t' : ',';
}

static sinter_status
csv_fail(sinter_row_reader *reader, const char *what, sinter_error *err)
{
    reader->line += reader->csv_newlines;
    return sinter__row_locate(reader, SINTER__ERR(err, SINTER_E_INVALID, "%s", what), err);
}

/* One byte of the search; `*end_out` when it ends the record. */
static const char *
step(sinter_row_reader *reader, uint8_t byte, bool *end_out)
{
    const bool ends_field = byte == separator(reader) || byte == '\n';

    *end_out = false;
    switch (reader->csv_state) {
    case SINTER__CSV_QUOTED:
        if (byte == '"') {
            reader->csv_state = SINTER__CSV_QUOTE;
        }
        reader->csv_newlines += byte == '\n' ? 1u : 0u;
        return NULL;
    case SINTER__CSV_QUOTE:
        if (byte == '"') {
            reader->csv_state = SINTER__CSV_QUOTED;
            return NULL;
        }
        if (!ends_field && byte != '\r') {
            return "text follows a closing quote";
        }
        break;
    case SINTER__CSV_FIELD:
        if (byte == '"') {
            reader->csv_state = SINTER__CSV_QUOTED;
            return NULL;
        }
        break;
    default:
        if (byte == '"') {
            return "a quote stands in a field that didn't begin with one";
        }
        break;
    }
    if (ends_field) {
        reader->csv_state = SINTER__CSV_FIELD;
        *end_out = byte == '\n';
    } else if (reader->csv_state == SINTER__CSV_FIELD) {
        reader->csv_state = SINTER__CSV_PLAIN;
    }
    return NULL;
}

/* Find the end of the record at `begin`: `*size_out` bytes without its newline. */
static sinter_status
find_end(sinter_row_reader *reader, size_t *size_out, size_t *next_out, sinter_error *err)
{
    const size_t left = reader->buffer.size - reader->begin;
    bool end = false;
    size_t at = reader->scanned;

    for (; at < left && !end; at++) {
        const char *fault = step(reader, (uint8_t)reader->buffer.data[reader->begin + at], &end);

        if (fault != NULL) {
            return csv_fail(reader, fault, err);
        }
        if (at > SINTER_ROW_TEXT_BYTES_MAX) {
            return sinter__row_locate(reader,
                                      SINTER__ERR(err, SINTER_E_TOO_LARGE, "a row above %llu bytes",
                                                  (unsigned long long)SINTER_ROW_TEXT_BYTES_MAX),
                                      err);
        }
    }
    reader->scanned = at;
    if (!end && (!reader->ended || left == 0)) {
        return SINTER_END;
    }
    if (!end && reader->csv_state == SINTER__CSV_QUOTED) {
        return csv_fail(reader, "the text ends between quotes", err);
    }
    *size_out = end ? at - 1 : at;
    *next_out = reader->begin + at;
    return SINTER_OK;
}

static sinter_status
add_field(sinter_row_reader *reader, size_t index, sinter__csv_field field, sinter_error *err)
{
    if (index == reader->field_capacity) {
        const size_t wanted = index < 16 ? 16 : index * 2;

        SINTER__CHECK(sinter__resize(reader->env, (void **)&reader->fields, wanted,
                                     sizeof *reader->fields, err));
        reader->field_capacity = wanted;
    }
    reader->fields[index] = field;
    return SINTER_OK;
}

/* Take the field in quotes at `*at`, in place; doubled quotes become one. What follows the closing
 * quote is the separator, or a carriage return. */
static sinter_bytes
take_quoted(char *record, size_t size, size_t *at)
{
    char *text = record + *at + 1;
    size_t from = *at + 1;
    size_t to = 0;
    bool open = true;

    while (from < size && open) {
        if (record[from] == '"') {
            open = from + 1 < size && record[from + 1] == '"';
            from++;
        }
        if (open) {
            text[to++] = record[from++];
        }
    }
    *at = from;
    return (sinter_bytes){.data = (const uint8_t *)text, .size = to};
}

/* Take the field at `*at`. */
static sinter__csv_field
take_field(char *record, size_t size, size_t *at, uint8_t separator_byte)
{
    sinter__csv_field field = {.is_null = false};
    const size_t begin = *at;
    size_t end = begin;

    if (begin < size && record[begin] == '"') {
        field.text = take_quoted(record, size, at);
        return field;
    }
    while (end < size && (uint8_t)record[end] != separator_byte) {
        end++;
    }
    field.text = (sinter_bytes){.data = (const uint8_t *)record + begin, .size = end - begin};
    field.is_null = end == begin;
    *at = end;
    return field;
}

sinter_status
sinter__csv_record(sinter_row_reader *reader, size_t *count_out, size_t *next_out,
                   uint64_t *lines_out, sinter_error *err)
{
    const uint8_t separator_byte = separator(reader);
    char *record = NULL;
    size_t size = 0;
    size_t at = 0;
    size_t count = 0;

    if (reader->buffer.data == NULL) {
        return SINTER_END;
    }
    SINTER__CHECK(find_end(reader, &size, next_out, err));
    record = reader->buffer.data + reader->begin;
    if (size > 0 && record[size - 1] == '\r') {
        size--;
    }
    for (;;) {
        const sinter__csv_field field = take_field(record, size, &at, separator_byte);

        SINTER__CHECK(add_field(reader, count++, field, err));
        if (at >= size) {
            break;
        }
        if ((uint8_t)record[at] != separator_byte) {
            return csv_fail(reader, "text follows a closing quote", err);
        }
        at++;
    }
    *count_out = count;
    *lines_out = reader->csv_newlines + 1;
    reader->csv_state = SINTER__CSV_FIELD;
    reader->csv_newlines = 0;
    reader->scanned = 0;
    return SINTER_OK;
}

/* The name in a header field, which may be too long for any column. */
static sinter_status
header_column(sinter_row_reader *reader, sinter_bytes text, size_t *out, sinter_error *err)
{
    char *name = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__alloc(reader->env, text.size + 1, 1, (void **)&name, err));
    memcpy(name, text.data, text.size);
    st = sinter__row_find_column(reader, name, out, err);
    sinter__free(reader->env, name);
    return st;
}

static sinter_status
take_header(sinter_row_reader *reader, size_t count, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(reader->env, reader->header, count, err));
    reader->header_count = count;
    for (size_t i = 0; i < count; i++) {
        sinter_bytes text = reader->fields[i].text;

        if (i == 0 && text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
            text.data += 3; /* a byte order mark */
            text.size -= 3;
        }
        SINTER__CHECK(
            sinter__row_locate(reader, header_column(reader, text, &reader->header[i], err), err));
        for (size_t k = 0; k < i; k++) {
            if (reader->header[k] == reader->header[i] &&
                reader->header[i] != SINTER__IGNORED_FIELD) {
                return sinter__row_locate(reader,
                                          SINTER__ERR(err, SINTER_E_INVALID,
                                                      "columns %zu and %zu have one name", k + 1,
                                                      i + 1),
                                          err);
            }
        }
    }
    reader->has_header = true;
    return SINTER_OK;
}

static sinter_status
take_cell(sinter_row_reader *reader, size_t position, const sinter__csv_field *field,
          sinter_error *err)
{
    const sinter_column column = {.name = sinter_row_type_column_name(reader->row_type, position),
                                  .type = *sinter_row_type_column_type(reader->row_type, position)};

    if (field->is_null) {
        return SINTER_OK;
    }
    if (sinter__type_is_string(&column.type) && (reader->flags & SINTER_PRINT_HEX_STRINGS) == 0 &&
        !sinter__utf8_is_valid(field->text)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "column \"%.100s\": not valid UTF-8",
                           column.name);
    }
    if (sinter_type_is_nested(&column.type)) {
        return sinter__json_nested_parse(&reader->arena, &column, field->text, reader->flags,
                                         &reader->values[position], err);
    }
    return sinter_datum_parse(&column, field->text, reader->flags, &reader->scratch,
                              &reader->values[position], err);
}

/* What the header says of a field decides what becomes of it. */
static sinter_status
take_value(sinter_row_reader *reader, size_t meaning, const sinter__csv_field *field,
           uint8_t *kind_out, sinter_error *err)
{
    if (meaning == SINTER__IGNORED_FIELD) {
        return SINTER_OK;
    }
    if (meaning == SINTER__KIND_FIELD) {
        return field->is_null ? SINTER_OK
                              : sinter__row_parse_kind(reader, field->text, kind_out, err);
    }
    return take_cell(reader, meaning, field, err);
}

static sinter_status
take_record(sinter_row_reader *reader, size_t count, uint8_t *kind_out, sinter_error *err)
{
    size_t total = 0;

    if (count != reader->header_count) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%zu fields, the header has %zu", count,
                           reader->header_count);
    }
    for (size_t i = 0; i < sinter_row_type_count(reader->row_type); i++) {
        reader->values[i] = (sinter_datum){.is_null = true};
    }
    for (size_t i = 0; i < count; i++) {
        total += reader->fields[i].text.size;
    }
    SINTER__CHECK(sinter__text_reserve(&reader->scratch, total, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(take_value(reader, reader->header[i], &reader->fields[i], kind_out, err));
    }
    return SINTER_OK;
}

/* Take one record; `*skipped_out`: it was the header or an empty line, and no row. */
static sinter_status
next_record(sinter_row_reader *reader, sinter_row_values *out, bool *skipped_out, sinter_error *err)
{
    size_t count = 0;
    size_t next = 0;
    uint64_t lines = 0;

    SINTER__CHECK(sinter__csv_record(reader, &count, &next, &lines, err));
    *out = (sinter_row_values){.struct_size = (uint32_t)sizeof *out,
                               .kind = SINTER_KIND_INSERT,
                               .values = reader->values,
                               .line = reader->line};
    if (!reader->has_header) {
        *skipped_out = true;
        SINTER__CHECK(take_header(reader, count, err));
    } else {
        /* An empty line is a null where there is one column, and nothing where there are more. */
        *skipped_out = count == 1 && reader->fields[0].is_null && reader->header_count > 1;
    }
    if (!*skipped_out) {
        SINTER__CHECK(sinter__row_locate(reader, take_record(reader, count, &out->kind, err), err));
    }
    reader->begin = next;
    reader->line += lines;
    return SINTER_OK;
}

sinter_status
sinter__row_csv_next(sinter_row_reader *reader, sinter_row_values *out, sinter_error *err)
{
    bool skipped = true;
    sinter_status st = SINTER_OK;

    while (st == SINTER_OK && skipped) {
        st = next_record(reader, out, &skipped, err);
    }
    return st;
}
