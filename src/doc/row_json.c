/*
 * JSON lines.
 */
#include "base/fail.h"
#include "doc/json_value.h"
#include "doc/row_reader.h"
#include "doc/text.h"

/* One of a row's members. */
typedef struct json_cell {
    sinter_row_reader *reader;
    sinter__json_values *values;
    const char *name;
    json_t *value;
} json_cell;

static sinter_status
take_member(const json_cell *cell, uint8_t *kind_out, sinter_error *err)
{
    const sinter_row_reader *reader = cell->reader;
    sinter_column column = {.name = cell->name};
    size_t position = 0;

    SINTER__CHECK(sinter__row_find_column(reader, cell->name, &position, err));
    if (position == SINTER__IGNORED_FIELD) {
        return SINTER_OK;
    }
    if (position == SINTER__KIND_FIELD) {
        const sinter_bytes text = {.data = (const uint8_t *)json_string_value(cell->value),
                                   .size = json_string_length(cell->value)};

        return sinter__row_parse_kind(reader, text, kind_out, err);
    }
    column.type = *sinter_row_type_column_type(reader->row_type, position);
    return sinter__json_value_take(cell->values, &column, cell->value, &reader->values[position],
                                   err);
}

static sinter_status
parse_row(sinter_row_reader *reader, sinter_bytes line, uint8_t *kind_out, sinter_error *err)
{
    const size_t count = sinter_row_type_count(reader->row_type);
    const sinter__json_source source = {
        .name = reader->source, .text = line, .first_line = reader->line};
    sinter__json_values values;
    json_cell cell = {.reader = reader, .values = &values};
    void *member = NULL;

    sinter__json_values_init(&values, line);
    values.flags = reader->flags;
    values.arena = &reader->arena;
    values.scratch = &reader->scratch;
    SINTER__CHECK(sinter__json_load_values(&source, &reader->quoted, &reader->json,
                                           &values.numbers_quoted, err));
    if (!json_is_object(reader->json)) {
        return sinter__row_locate(reader,
                                  SINTER__ERR(err, SINTER_E_INVALID, "an object expected, %s found",
                                              sinter__json_type_name(reader->json)),
                                  err);
    }
    for (size_t i = 0; i < count; i++) {
        reader->values[i] = (sinter_datum){.is_null = true};
    }
    /* With this room the bytes of hex values stay where they are put. */
    SINTER__CHECK(sinter__text_reserve(&reader->scratch, line.size, err));
    for (member = json_object_iter(reader->json); member != NULL;
         member = json_object_iter_next(reader->json, member)) {
        cell.name = json_object_iter_key(member);
        cell.value = json_object_iter_value(member);
        values.is_found = false;
        SINTER__CHECK(sinter__row_locate(reader, take_member(&cell, kind_out, err), err));
        values.member++;
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
