#include "doc/row_reader.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/load.h"
#include "doc/json.h"
#include "doc/row_type.h"
#include "doc/text.h"
#include "doc/type.h"

const char *
sinter_kind_name(uint8_t kind)
{
    static const char *const names[] = {"+I", "-U", "+U", "-D"};

    return kind < 4 ? names[kind] : "?";
}

sinter_status
sinter_row_reader_create(const sinter_env *env, const sinter_row_type *row_type,
                         const sinter_row_options *given, sinter_row_reader **out,
                         sinter_error *err)
{
    sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_row_reader *made = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, row_type != NULL && given != NULL);
    SINTER__CHECK(sinter__struct_load(&options, sizeof options, given, "sinter_row_options", err));
    SINTER__REQUIRE(err, options.format >= SINTER_ROW_FORMAT_JSON &&
                             options.format <= SINTER_ROW_FORMAT_TSV);
    SINTER__CHECK(sinter__row_type_check_values(row_type, err));
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->env = env;
    made->row_type = row_type;
    made->format = options.format;
    made->flags = options.flags;
    made->line = 1;
    made->arena.env = env;
    sinter_text_init(env, &made->buffer);
    sinter_text_init(env, &made->scratch);
    sinter_text_init(env, &made->quoted);
    SINTER__TRY(sinter__strdup(env, options.source, &made->source, err));
    SINTER__TRY(SINTER__NEW(env, made->values, sinter_row_type_count(row_type), err));
    *out = made;
    made = NULL;
out:
    sinter_row_reader_destroy(made);
    return st;
}

void
sinter_row_reader_destroy(sinter_row_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    json_decref(reader->json);
    sinter__free(reader->env, reader->header);
    sinter__free(reader->env, reader->fields);
    sinter__free(reader->env, reader->values);
    sinter_text_fini(&reader->quoted);
    sinter__arena_fini(&reader->arena);
    sinter_text_fini(&reader->scratch);
    sinter_text_fini(&reader->buffer);
    sinter__free(reader->env, reader->source);
    sinter__free(reader->env, reader);
}

sinter_status
sinter_row_reader_feed(sinter_row_reader *reader, const void *data, size_t size, sinter_error *err)
{
    SINTER__REQUIRE(err, reader != NULL && (data != NULL || size == 0));
    SINTER__REQUIRE(err, !reader->ended);
    assert(reader->begin <= reader->buffer.size);
    if (reader->begin > 0) {
        reader->buffer.size -= reader->begin;
        memmove(reader->buffer.data, reader->buffer.data + reader->begin, reader->buffer.size);
        reader->begin = 0;
    }
    return sinter_text_append(&reader->buffer, data, size, err);
}

void
sinter_row_reader_end(sinter_row_reader *reader)
{
    reader->ended = true;
}

sinter_status
sinter__row_locate(const sinter_row_reader *reader, sinter_status st, sinter_error *err)
{
    if (st != SINTER_OK && st != SINTER_END && st != SINTER_E_NOMEM) {
        sinter__fail_context(err, "line %llu", (unsigned long long)reader->line);
        sinter__fail_file(err, reader->source);
    }
    return st;
}

sinter_status
sinter_row_reader_next(sinter_row_reader *reader, sinter_row_values *out, sinter_error *err)
{
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};

    SINTER__REQUIRE(err, reader != NULL && out != NULL);
    SINTER__REQUIRE(err, out->struct_size >= sizeof out->struct_size);
    json_decref(reader->json);
    reader->json = NULL;
    sinter_text_reset(&reader->scratch);
    sinter__arena_fini(&reader->arena);
    SINTER__CHECK(reader->format == SINTER_ROW_FORMAT_JSON
                      ? sinter__row_json_next(reader, &row, err)
                      : sinter__row_csv_next(reader, &row, err));
    sinter__struct_store(out, &row, sizeof row);
    return SINTER_OK;
}

sinter_status
sinter__row_line(sinter_row_reader *reader, size_t *size_out, size_t *next_out, sinter_error *err)
{
    const char *begin = reader->buffer.data + reader->begin;
    const size_t left = reader->buffer.size - reader->begin;
    const char *end = NULL;

    if (left > reader->scanned) {
        end = memchr(begin + reader->scanned, '\n', left - reader->scanned);
    }
    *size_out = end == NULL ? left : (size_t)(end - begin);
    if (*size_out > SINTER_ROW_TEXT_BYTES_MAX) {
        return sinter__row_locate(reader,
                                  SINTER__ERR(err, SINTER_E_TOO_LARGE, "a row above %llu bytes",
                                              (unsigned long long)SINTER_ROW_TEXT_BYTES_MAX),
                                  err);
    }
    if (end == NULL && (!reader->ended || left == 0)) {
        reader->scanned = left;
        return SINTER_END;
    }
    *next_out = reader->begin + *size_out + (end == NULL ? 0 : 1);
    return SINTER_OK;
}

sinter_status
sinter__row_find_column(const sinter_row_reader *reader, const char *name, size_t *out,
                        sinter_error *err)
{
    *out = sinter_row_type_find(reader->row_type, name);
    if (*out != SIZE_MAX) {
        return SINTER_OK;
    }
    if (strcmp(name, "_kind") == 0) {
        *out = SINTER__KIND_FIELD;
        return SINTER_OK;
    }
    if (name[0] == '_') {
        *out = SINTER__IGNORED_FIELD;
        return SINTER_OK;
    }
    return SINTER__ERR(err, SINTER_E_INVALID, "unknown column \"%.100s\"", name);
}

sinter_status
sinter__row_parse_kind(const sinter_row_reader *reader, sinter_bytes text, uint8_t *out,
                       sinter_error *err)
{
    (void)reader;
    for (uint8_t kind = 0; kind < 4; kind++) {
        if (text.size == 2 && memcmp(text.data, sinter_kind_name(kind), 2) == 0) {
            *out = kind;
            return SINTER_OK;
        }
    }
    return SINTER__ERR(err, SINTER_E_INVALID, "column \"_kind\": one of +I, -U, +U, -D expected");
}

/* Give a name out unless it is one of those that describe the row. */
static sinter_status
give_name(sinter_status (*each)(void *ctx, const char *name), void *ctx, const char *name)
{
    return name[0] == '_' ? SINTER_OK : each(ctx, name);
}

/* The names of one JSON object. */
static sinter_status
json_columns(sinter_bytes line, sinter_status (*each)(void *ctx, const char *name), void *ctx,
             sinter_error *err)
{
    const sinter__json_source source = {.text = line};
    json_t *row = NULL;
    void *member = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__json_load(&source, SINTER__JSON_ROW, &row, err));
    if (!json_is_object(row)) {
        SINTER__FAIL(err, SINTER_E_INVALID, "line 1: an object expected");
    }
    for (member = json_object_iter(row); member != NULL;
         member = json_object_iter_next(row, member)) {
        SINTER__TRY(give_name(each, ctx, json_object_iter_key(member)));
    }
out:
    json_decref(row);
    return st;
}

static sinter_status
csv_columns(sinter_row_reader *reader, sinter_status (*each)(void *ctx, const char *name),
            void *ctx, sinter_error *err)
{
    size_t count = 0;
    size_t next = 0;
    uint64_t lines = 0;

    SINTER__CHECK(sinter__csv_record(reader, &count, &next, &lines, err));
    for (size_t i = 0; i < count; i++) {
        char *name = NULL;
        sinter_status st = SINTER_OK;

        SINTER__CHECK(
            sinter__alloc(reader->env, reader->fields[i].text.size + 1, 1, (void **)&name, err));
        memcpy(name, reader->fields[i].text.data, reader->fields[i].text.size);
        st = give_name(each, ctx, name);
        sinter__free(reader->env, name);
        SINTER__CHECK(st);
    }
    return SINTER_OK;
}

sinter_status
sinter_row_columns(const sinter_env *env, int32_t format, sinter_bytes data,
                   sinter_status (*each)(void *ctx, const char *name), void *ctx, sinter_error *err)
{
    sinter_row_reader reader = {.env = env, .format = format, .line = 1};
    size_t size = 0;
    size_t next = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && each != NULL);
    SINTER__REQUIRE(err, format >= SINTER_ROW_FORMAT_JSON && format <= SINTER_ROW_FORMAT_TSV);
    SINTER__REQUIRE(err, data.data != NULL || data.size == 0);
    sinter_text_init(env, &reader.buffer);
    SINTER__TRY(sinter_text_append(&reader.buffer, data.data, data.size, err));
    if (format == SINTER_ROW_FORMAT_JSON) {
        SINTER__TRY(sinter__row_line(&reader, &size, &next, err));
        SINTER__TRY(
            json_columns((sinter_bytes){.data = (const uint8_t *)reader.buffer.data, .size = size},
                         each, ctx, err));
    } else {
        SINTER__TRY(csv_columns(&reader, each, ctx, err));
    }
out:
    sinter__free(env, reader.fields);
    sinter_text_fini(&reader.buffer);
    return st;
}
