/*
 * Values of columns from JSON. Taking a nested value calls itself for its parts: as deep as the
 * text is nested, which was limited when it was loaded.
 */
#include "doc/json_value.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "doc/nested.h"
#include "doc/text.h"
#include "doc/type.h"

void
sinter__json_values_init(sinter__json_values *values, sinter_bytes text)
{
    *values = (sinter__json_values){.flags = 0};
    sinter__json_walk_init(&values->walk, text, UINT64_MAX);
}

/* Lead the walk to the value. */
static void
find_value(sinter__json_values *values)
{
    sinter__json_walk *w = &values->walk;

    while (!values->is_found) {
        const sinter__json_event event = sinter__json_walk_next(w);

        assert(event == SINTER__JSON_VALUE);
        (void)event;
        values->is_found = w->depth == 1 && w->frames[0].index == values->member;
        if (!values->is_found) {
            sinter__json_walk_enter(w);
        }
    }
}

/* The value as it was written. */
static sinter_bytes
written(sinter__json_values *values)
{
    const sinter__json_walk *w = &values->walk;

    find_value(values);
    return (sinter_bytes){.data = w->text.data + w->at,
                          .size = sinter__json_token_size(w->text, w->at)};
}

/* "column \"x\": " or nothing, in front of a failure; returns its status. */
static sinter_status
name_column(const sinter_column *column, sinter_status st, sinter_error *err)
{
    if (st != SINTER_OK && column->name != NULL) {
        sinter__fail_context(err, "column \"%.100s\"", column->name);
    }
    return st;
}

static sinter_status
refuse_json_type(const sinter_column *column, const json_t *value, sinter_error *err)
{
    char text[SINTER_TYPE_TEXT_MAX];

    sinter_type_print(&column->type, text);
    return name_column(
        column,
        SINTER__ERR(err, SINTER_E_INVALID, "%s is no %s", sinter__json_type_name(value), text),
        err);
}

static sinter_status
parse_text(const sinter__json_values *values, const sinter_column *column, sinter_bytes text,
           sinter_datum *out, sinter_error *err)
{
    return sinter_datum_parse(column, text, values->flags, values->scratch, out, err);
}

static sinter_status
take_number(sinter__json_values *values, const sinter_column *column, const json_t *value,
            sinter_datum *out, sinter_error *err)
{
    const int32_t id = column->type.id;
    const double number = json_number_value(value);

    if (id >= SINTER_TYPE_TINYINT && id <= SINTER_TYPE_BIGINT && json_is_integer(value)) {
        out->as.integer = json_integer_value(value);
        return sinter__datum_check_range(&column->type, column->name, out, err);
    }
    if (id != SINTER_TYPE_FLOAT && id != SINTER_TYPE_DOUBLE && id != SINTER_TYPE_DECIMAL) {
        return refuse_json_type(column, value, err);
    }
    if (id == SINTER_TYPE_DOUBLE && number != 0) {
        memcpy(&out->as.double_bits, &number, sizeof number);
        return SINTER_OK;
    }
    return parse_text(values, column, written(values), out, err);
}

static sinter_status
take_string(sinter__json_values *values, const sinter_column *column, const json_t *value,
            sinter_datum *out, sinter_error *err)
{
    const sinter_bytes text = {.data = (const uint8_t *)json_string_value(value),
                               .size = json_string_length(value)};

    if (sinter_type_is_nested(&column->type)) {
        return refuse_json_type(column, value, err);
    }
    if (values->numbers_quoted && sinter__type_is_bytes(&column->type) &&
        written(values).data[0] != '"') {
        return name_column(column, SINTER__ERR(err, SINTER_E_INVALID, "a number is no text"), err);
    }
    return parse_text(values, column, text, out, err);
}

/* Parts of a nested value and where they come from. */
typedef struct nested_take {
    sinter__json_values *values;
    const sinter_type *type;
    sinter_error *err;
} nested_take;

/* Take the next part of the text, a value of `type`. */
static sinter_status
take_part(const nested_take *take, const sinter_type *type, json_t *value, sinter_datum *out)
{
    const sinter_column part = {.type = *type};
    sinter__json_values *values = take->values;
    const sinter__json_event event = sinter__json_walk_next(&values->walk);

    assert(event == SINTER__JSON_VALUE);
    (void)event;
    values->is_found = true;
    SINTER__CHECK(sinter__json_value_take(values, &part, value, out, take->err));
    if (!json_is_array(value) && !json_is_object(value)) {
        sinter__json_walk_enter(&values->walk);
    }
    if (out->is_null && !type->nullable) {
        return SINTER__ERR(take->err, SINTER_E_INVALID, "null, but declared NOT NULL");
    }
    return SINTER_OK;
}

/* Take item `index` of the elements, keys or values that `part` tells of. */
static sinter_status
take_item(const nested_take *take, const sinter_field *part, json_t *value, size_t index,
          sinter_datum *items)
{
    const sinter_status st = take_part(take, &part->type, value, &items[index]);

    if (st != SINTER_OK) {
        sinter__fail_context(take->err, "%s %zu", part->name, index);
    }
    return st;
}

static sinter_status
datum_room(const nested_take *take, size_t count, sinter_datum **out)
{
    size_t bytes = 0;

    if (__builtin_mul_overflow(count, sizeof **out, &bytes)) {
        return SINTER__ERR(take->err, SINTER_E_NOMEM, "%zu values don't fit in memory", count);
    }
    return sinter__arena_take(take->values->arena, bytes == 0 ? 1 : bytes, (void **)out, take->err);
}

static sinter_status
take_elements(const nested_take *take, const json_t *array, sinter_datum **out)
{
    const size_t count = json_array_size(array);

    SINTER__CHECK(datum_room(take, count, out));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(
            take_item(take, take->type->parts->fields, json_array_get(array, i), i, *out));
    }
    return SINTER_OK;
}

static sinter_status
take_pair(const nested_take *take, const json_t *pair, size_t index, sinter_datum *keys,
          sinter_datum *mapped)
{
    const sinter_field *fields = take->type->parts->fields;
    const sinter__json_event event = sinter__json_walk_next(&take->values->walk);

    assert(event == SINTER__JSON_VALUE);
    (void)event;
    if (!json_is_array(pair) || json_array_size(pair) != 2) {
        return SINTER__ERR(take->err, SINTER_E_INVALID, "pair %zu: [%s, %s] expected", index,
                           fields[0].name, fields[1].name);
    }
    sinter__json_walk_enter(&take->values->walk);
    SINTER__CHECK(take_item(take, &fields[0], json_array_get(pair, 0), index, keys));
    return take_item(take, &fields[1], json_array_get(pair, 1), index, mapped);
}

static sinter_status
take_pairs(const nested_take *take, const json_t *array, sinter_datum **keys, sinter_datum **mapped)
{
    const size_t count = json_array_size(array);

    SINTER__CHECK(datum_room(take, count, keys));
    SINTER__CHECK(datum_room(take, count, mapped));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(take_pair(take, json_array_get(array, i), i, *keys, *mapped));
    }
    return sinter__keys_check_unique(take->values->arena->env, &take->type->parts->fields[0].type,
                                     *keys, count, take->err);
}

/* Position of a field by name; `hint` is tried first. SIZE_MAX: there is none. */
static size_t
find_field(const sinter_type_parts *parts, const char *name, size_t hint)
{
    if (hint < parts->count && strcmp(parts->fields[hint].name, name) == 0) {
        return hint;
    }
    for (size_t i = 0; i < parts->count; i++) {
        if (strcmp(parts->fields[i].name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static sinter_status
take_field(const nested_take *take, const char *name, json_t *value, size_t hint, sinter_datum *out)
{
    const sinter_type_parts *parts = take->type->parts;
    const size_t index = find_field(parts, name, hint);
    sinter_status st = SINTER_OK;

    if (index == SIZE_MAX) {
        return SINTER__ERR(take->err, SINTER_E_INVALID, "unknown field \"%.100s\"", name);
    }
    st = take_part(take, &parts->fields[index].type, value, &out[index]);
    if (st != SINTER_OK) {
        sinter__fail_context(take->err, "field \"%.100s\"", name);
    }
    return st;
}

/* Take a ROW from an object; fields that are not in it are null. */
static sinter_status
take_fields(const nested_take *take, json_t *object, sinter_datum **out)
{
    const sinter_type_parts *parts = take->type->parts;
    void *member = NULL;
    size_t at = 0;

    SINTER__CHECK(datum_room(take, parts->count, out));
    assert(*out != NULL);
    for (size_t i = 0; i < parts->count; i++) {
        (*out)[i] = (sinter_datum){.is_null = true};
    }
    for (member = json_object_iter(object); member != NULL;
         member = json_object_iter_next(object, member)) {
        SINTER__CHECK(take_field(take, json_object_iter_key(member), json_object_iter_value(member),
                                 at++, *out));
    }
    for (size_t i = 0; i < parts->count; i++) {
        if ((*out)[i].is_null && !parts->fields[i].type.nullable) {
            return SINTER__ERR(take->err, SINTER_E_INVALID,
                               "field \"%.100s\": null, but declared NOT NULL",
                               parts->fields[i].name);
        }
    }
    return SINTER_OK;
}

/* Write the parts that were taken. */
static sinter_status
put_nested(const nested_take *take, const sinter__nested_value *parts, sinter_datum *out)
{
    void *bytes = NULL;
    size_t size = 0;

    SINTER__CHECK(sinter__nested_size(parts, &size, take->err));
    SINTER__CHECK(sinter__arena_take(take->values->arena, size, &bytes, take->err));
    memset(bytes, 0, size);
    sinter__nested_put(parts, bytes);
    out->as.bytes = (sinter_bytes){.data = bytes, .size = size};
    return SINTER_OK;
}

static sinter_status
take_nested(sinter__json_values *values, const sinter_type *type, json_t *value, sinter_datum *out,
            sinter_error *err)
{
    const nested_take take = {.values = values, .type = type, .err = err};
    sinter__nested_value parts = {.type = type};
    sinter_datum *first = NULL;
    sinter_datum *second = NULL;

    if (sinter__type_without_values(type) != NULL) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "values of type %s are not supported",
                           sinter_type_name(sinter__type_without_values(type)->id));
    }
    find_value(values);
    sinter__json_walk_enter(&values->walk);
    if (type->id == SINTER_TYPE_ROW) {
        SINTER__CHECK(take_fields(&take, value, &first));
        parts.count = type->parts->count;
    } else {
        SINTER__CHECK(type->id == SINTER_TYPE_ARRAY ? take_elements(&take, value, &first)
                                                    : take_pairs(&take, value, &first, &second));
        parts.count = json_array_size(value);
    }
    parts.first = first;
    parts.second = second;
    return put_nested(&take, &parts, out);
}

sinter_status
sinter__json_value_take(sinter__json_values *values, const sinter_column *column, json_t *value,
                        sinter_datum *out, sinter_error *err)
{
    const sinter_type *type = &column->type;

    assert(out != NULL);
    *out = (sinter_datum){.is_null = json_is_null(value)};
    if (out->is_null) {
        return SINTER_OK;
    }
    if (type->id == SINTER_TYPE_ROW ? json_is_object(value)
                                    : sinter_type_is_nested(type) && json_is_array(value)) {
        return name_column(column, take_nested(values, type, value, out, err), err);
    }
    if (json_is_string(value)) {
        return take_string(values, column, value, out, err);
    }
    if (json_is_number(value)) {
        return take_number(values, column, value, out, err);
    }
    if (json_is_boolean(value) && type->id == SINTER_TYPE_BOOLEAN) {
        out->as.integer = json_is_true(value) ? 1 : 0;
        return SINTER_OK;
    }
    return refuse_json_type(column, value, err);
}

sinter_status
sinter__json_load_values(const sinter__json_source *source, sinter_text *quoted, json_t **out,
                         bool *quoted_out, sinter_error *err)
{
    const uint32_t flags = SINTER__JSON_ROW;
    sinter__json_source again = *source;
    const sinter_status st = sinter__json_load(source, flags, out, err);

    *quoted_out = st == SINTER_E_OVERFLOW;
    if (st != SINTER_E_OVERFLOW) {
        return st;
    }
    /* A number that 64 bits can't hold may still be a DECIMAL or a DOUBLE. */
    sinter_text_reset(quoted);
    SINTER__CHECK(sinter__json_quote_numbers(source->text, quoted, err));
    again.text = sinter_text_bytes(quoted);
    return sinter__json_load(&again, flags, out, err);
}

sinter_status
sinter__json_nested_parse(sinter__arena *arena, const sinter_column *column, sinter_bytes text,
                          uint32_t flags, sinter_datum *out, sinter_error *err)
{
    const sinter__json_source source = {.text = text};
    sinter__json_values values;
    sinter_text quoted;
    sinter_text scratch;
    json_t *value = NULL;
    sinter_status st = SINTER_OK;

    sinter_text_init(arena->env, &quoted);
    sinter_text_init(arena->env, &scratch);
    sinter__json_values_init(&values, text);
    values.flags = flags;
    values.arena = arena;
    values.scratch = &scratch;
    values.is_found = true;
    SINTER__TRY(name_column(
        column, sinter__json_load_values(&source, &quoted, &value, &values.numbers_quoted, err),
        err));
    SINTER__TRY(sinter__text_reserve(&scratch, text.size, err));
    (void)sinter__json_walk_next(&values.walk);
    SINTER__TRY(sinter__json_value_take(&values, column, value, out, err));
out:
    json_decref(value);
    sinter_text_fini(&scratch);
    sinter_text_fini(&quoted);
    return st;
}
