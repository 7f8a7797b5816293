/*
 * JSON lines. jansson holds a row's values; where it would lose something of a number (the digits
 * of a DECIMAL, the last bit of a FLOAT, the sign of -0), the number's own text is used.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/json.h"
#include "doc/row_reader.h"
#include "doc/text.h"
#include "doc/type.h"

/* A row's line and one of its members. */
typedef struct json_cell {
    sinter_row_reader *reader;
    sinter_bytes line;
    bool numbers_quoted; /* numbers came as strings, because one was out of range */
    const char *name;
    size_t index; /* of the member in its object */
    size_t column;
    const json_t *value;
} json_cell;

static sinter_status
refuse_json_type(const json_cell *cell, const sinter_type *type, sinter_error *err)
{
    char text[SINTER_TYPE_TEXT_MAX];

    sinter_type_print(type, text);
    return SINTER__ERR(err, SINTER_E_INVALID, "column \"%.100s\": %s is no %s", cell->name,
                       sinter__json_type_name(cell->value), text);
}

/* The number as it was written. */
static sinter_bytes
number_token(const json_cell *cell)
{
    const size_t at = sinter__json_member_value(cell->line, cell->index);

    assert(at < cell->line.size);
    return (sinter_bytes){.data = cell->line.data + at,
                          .size = sinter__json_token_size(cell->line, at)};
}

static sinter_status
parse_text(const json_cell *cell, sinter_bytes text, sinter_error *err)
{
    sinter_row_reader *reader = cell->reader;
    const sinter_column column = {
        .name = cell->name, .type = *sinter_row_type_column_type(reader->row_type, cell->column)};

    return sinter_datum_parse(&column, text, reader->flags, &reader->scratch,
                              &reader->values[cell->column], err);
}

static sinter_status
take_number(const json_cell *cell, const sinter_type *type, sinter_error *err)
{
    sinter_datum *out = &cell->reader->values[cell->column];
    const double number = json_number_value(cell->value);

    if (type->id >= SINTER_TYPE_TINYINT && type->id <= SINTER_TYPE_BIGINT &&
        json_is_integer(cell->value)) {
        out->as.integer = json_integer_value(cell->value);
        return sinter__datum_check_range(type, cell->name, out, err);
    }
    if (type->id != SINTER_TYPE_FLOAT && type->id != SINTER_TYPE_DOUBLE &&
        type->id != SINTER_TYPE_DECIMAL) {
        return refuse_json_type(cell, type, err);
    }
    if (type->id == SINTER_TYPE_DOUBLE && number != 0) {
        memcpy(&out->as.double_bits, &number, sizeof number);
        return SINTER_OK;
    }
    return parse_text(cell, number_token(cell), err);
}

static sinter_status
take_string(const json_cell *cell, const sinter_type *type, sinter_error *err)
{
    const sinter_bytes text = {.data = (const uint8_t *)json_string_value(cell->value),
                               .size = json_string_length(cell->value)};

    if (cell->numbers_quoted && sinter__type_is_bytes(type)) {
        const sinter_bytes token = number_token(cell);

        if (token.data[0] != '"') {
            return SINTER__ERR(err, SINTER_E_INVALID, "column \"%.100s\": a number is no text",
                               cell->name);
        }
    }
    return parse_text(cell, text, err);
}

static sinter_status
take_value(const json_cell *cell, sinter_error *err)
{
    const sinter_type *type = sinter_row_type_column_type(cell->reader->row_type, cell->column);
    sinter_datum *out = &cell->reader->values[cell->column];

    if (json_is_null(cell->value)) {
        return SINTER_OK;
    }
    out->is_null = false;
    if (json_is_string(cell->value)) {
        return take_string(cell, type, err);
    }
    if (json_is_number(cell->value)) {
        return take_number(cell, type, err);
    }
    if (json_is_boolean(cell->value) && type->id == SINTER_TYPE_BOOLEAN) {
        out->as.integer = json_is_true(cell->value) ? 1 : 0;
        return SINTER_OK;
    }
    return refuse_json_type(cell, type, err);
}

static sinter_status
take_member(json_cell *cell, uint8_t *kind_out, sinter_error *err)
{
    SINTER__CHECK(sinter__row_find_column(cell->reader, cell->name, &cell->column, err));
    if (cell->column == SINTER__IGNORED_FIELD) {
        return SINTER_OK;
    }
    if (cell->column == SINTER__KIND_FIELD) {
        const sinter_bytes text = {.data = (const uint8_t *)json_string_value(cell->value),
                                   .size = json_string_length(cell->value)};

        return sinter__row_parse_kind(cell->reader, text, kind_out, err);
    }
    return take_value(cell, err);
}

static sinter_status
load_row(sinter_row_reader *reader, sinter_bytes line, bool *quoted_out, sinter_error *err)
{
    const uint32_t flags = SINTER__JSON_ALLOW_NUL | SINTER__JSON_LIMIT_64M;
    sinter__json_source source = {.name = reader->source, .text = line, .first_line = reader->line};
    sinter_status st = sinter__json_load(&source, flags, &reader->json, err);

    *quoted_out = false;
    if (st == SINTER_E_OVERFLOW) {
        /* A number that 64 bits can't hold may still be a DECIMAL or a DOUBLE. */
        *quoted_out = true;
        sinter_text_reset(&reader->quoted);
        SINTER__CHECK(sinter__json_quote_numbers(line, &reader->quoted, err));
        source.text = sinter_text_bytes(&reader->quoted);
        st = sinter__json_load(&source, flags, &reader->json, err);
    }
    SINTER__CHECK(st);
    if (!json_is_object(reader->json)) {
        return sinter__row_locate(reader,
                                  SINTER__ERR(err, SINTER_E_INVALID, "an object expected, %s found",
                                              sinter__json_type_name(reader->json)),
                                  err);
    }
    return SINTER_OK;
}

static sinter_status
parse_row(sinter_row_reader *reader, sinter_bytes line, uint8_t *kind_out, sinter_error *err)
{
    const size_t count = sinter_row_type_count(reader->row_type);
    json_cell cell = {.reader = reader, .line = line};
    void *member = NULL;

    SINTER__CHECK(load_row(reader, line, &cell.numbers_quoted, err));
    for (size_t i = 0; i < count; i++) {
        reader->values[i] = (sinter_datum){.is_null = true};
    }
    /* With this room the bytes of hex values stay where they are put. */
    SINTER__CHECK(sinter__text_reserve(&reader->scratch, line.size, err));
    for (member = json_object_iter(reader->json); member != NULL;
         member = json_object_iter_next(reader->json, member)) {
        cell.name = json_object_iter_key(member);
        cell.value = json_object_iter_value(member);
        SINTER__CHECK(sinter__row_locate(reader, take_member(&cell, kind_out, err), err));
        cell.index++;
    }
    return SINTER_OK;
}

static bool
is_blank_line(sinter_bytes line)
{
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r') {
            return false;
        }
    }
    return true;
}

sinter_status
sinter__row_json_next(sinter_row_reader *reader, sinter_row_values *out, sinter_error *err)
{
    sinter_bytes line = {0};
    size_t next = 0;

    for (;;) {
        if (reader->buffer.data == NULL) {
            return SINTER_END;
        }
        SINTER__CHECK(sinter__row_line(reader, &line.size, &next, err));
        line.data = (const uint8_t *)reader->buffer.data + reader->begin;
        if (!is_blank_line(line)) {
            break;
        }
        reader->begin = next;
        reader->scanned = 0;
        reader->line++;
    }
    out->struct_size = (uint32_t)sizeof *out;
    out->kind = SINTER_KIND_INSERT;
    out->line = reader->line;
    out->values = reader->values;
    SINTER__CHECK(parse_row(reader, line, &out->kind, err));
    reader->begin = next;
    reader->scanned = 0;
    reader->line++;
    return SINTER_OK;
}
