#include "doc/row_type.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/load.h"
#include "doc/doc_read.h"
#include "doc/doc_write.h"
#include "doc/type.h"

enum { COLUMNS_MAX = 65536 };

/* A column; `nested` is the JSON of a type that is more than a text. */
typedef struct column {
    const char *name;
    int64_t id;
    sinter_type type;
    json_t *nested;
} column;

struct sinter_row_type {
    const sinter_env *env;
    sinter__arena arena;
    column *columns;
    size_t count;
    size_t *by_name; /* positions sorted by name */
    size_t *keys;
    size_t key_count;
    sinter_text json;
};

static sinter_status
row_type_alloc(const sinter_env *env, size_t count, size_t key_count, sinter_row_type **out,
               sinter_error *err)
{
    sinter_row_type *made = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->env = env;
    made->arena.env = env;
    sinter_text_init(env, &made->json);
    SINTER__TRY(SINTER__NEW(env, made->columns, count, err));
    SINTER__TRY(SINTER__NEW(env, made->by_name, count, err));
    SINTER__TRY(SINTER__NEW(env, made->keys, key_count, err));
    made->count = count;
    made->key_count = key_count;
    *out = made;
    made = NULL;
out:
    sinter_row_type_destroy(made);
    return st;
}

void
sinter_row_type_destroy(sinter_row_type *row_type)
{
    if (row_type == NULL) {
        return;
    }
    for (size_t i = 0; row_type->columns != NULL && i < row_type->count; i++) {
        json_decref(row_type->columns[i].nested);
    }
    sinter_text_fini(&row_type->json);
    sinter__free(row_type->env, row_type->keys);
    sinter__free(row_type->env, row_type->by_name);
    sinter__free(row_type->env, row_type->columns);
    sinter__arena_fini(&row_type->arena);
    sinter__free(row_type->env, row_type);
}

/* Put position `i` into the sorted names; false when the name is there already. */
static bool
insert_name(sinter_row_type *row_type, size_t i)
{
    size_t low = 0;
    size_t high = i;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order =
            strcmp(row_type->columns[row_type->by_name[middle]].name, row_type->columns[i].name);

        if (order == 0) {
            return false;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memmove(row_type->by_name + low + 1, row_type->by_name + low,
            (i - low) * sizeof *row_type->by_name);
    row_type->by_name[low] = i;
    return true;
}

size_t
sinter_row_type_find(const sinter_row_type *row_type, const char *name)
{
    size_t low = 0;
    size_t high = row_type->count;

    assert(name != NULL);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const size_t position = row_type->by_name[middle];
        const int order = strcmp(row_type->columns[position].name, name);

        if (order == 0) {
            return position;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return SIZE_MAX;
}

/* Find key column number `index`. */
static sinter_status
find_key(sinter_row_type *row_type, size_t index, const char *name, sinter_error *err)
{
    const size_t position = sinter_row_type_find(row_type, name);

    if (position == SIZE_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "key column \"%.100s\" is no column of the row",
                           name);
    }
    for (size_t k = 0; k < index; k++) {
        if (row_type->keys[k] == position) {
            return SINTER__ERR(err, SINTER_E_INVALID, "key column \"%.100s\" is named twice", name);
        }
    }
    row_type->keys[index] = position;
    return SINTER_OK;
}

/* Names are there: sort them, find the keys, print the canonical JSON. */
static sinter_status
complete(sinter_row_type *row_type, const char *const *keys, sinter_error *err)
{
    for (size_t i = 0; i < row_type->count; i++) {
        const char *name = row_type->columns[i].name;

        if (name[0] == '\0') {
            return SINTER__ERR(err, SINTER_E_INVALID, "column %zu has an empty name", i + 1);
        }
        if (!insert_name(row_type, i)) {
            return SINTER__ERR(err, SINTER_E_INVALID, "two columns are named \"%.100s\"", name);
        }
    }
    for (size_t i = 0; keys != NULL && i < row_type->key_count; i++) {
        SINTER__CHECK(find_key(row_type, i, keys[i], err));
    }
    return SINTER_OK;
}

static sinter_status
print_json(sinter_row_type *row_type, sinter_error *err)
{
    sinter__doc_writer writer;
    json_t *root = NULL;
    json_t *fields = NULL;
    char text[SINTER_TYPE_TEXT_MAX];

    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_string(&writer, root, "type", "ROW");
    fields = sinter__doc_put_array(&writer, root, "fields");
    for (size_t i = 0; i < row_type->count; i++) {
        const column *c = &row_type->columns[i];
        json_t *field = sinter__doc_append_object(&writer, fields);

        sinter__doc_put_integer(&writer, field, "id", c->id);
        sinter__doc_put_string(&writer, field, "name", c->name);
        if (c->nested != NULL) {
            sinter__doc_put(&writer, field, "type", json_incref(c->nested));
        } else {
            sinter_type_print(&c->type, text);
            sinter__doc_put_string(&writer, field, "type", text);
        }
    }
    if (row_type->key_count > 0) {
        json_t *keys = sinter__doc_put_array(&writer, root, "primaryKeys");

        for (size_t i = 0; i < row_type->key_count; i++) {
            sinter__doc_append_string(&writer, keys, row_type->columns[row_type->keys[i]].name);
        }
    }
    return sinter__doc_writer_end(&writer, root, 0, &row_type->json, err);
}

static sinter_status
copy_column(sinter_row_type *row_type, size_t index, const sinter_column *given, sinter_error *err)
{
    column *to = &row_type->columns[index];

    if (given->name == NULL || given->type.id < 0 || sinter_type_is_nested(&given->type)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "column %zu has no name or no atomic type",
                           index + 1);
    }
    to->type = given->type;
    to->id = (int64_t)index;
    return sinter__arena_strdup(&row_type->arena, given->name, &to->name, err);
}

sinter_status
sinter_row_type_create(const sinter_env *env, const sinter_row_layout *given, sinter_row_type **out,
                       sinter_error *err)
{
    sinter_row_layout layout = {.struct_size = (uint32_t)sizeof layout};
    sinter_row_type *made = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, given != NULL);
    SINTER__CHECK(sinter__struct_load(&layout, sizeof layout, given, "sinter_row_layout", err));
    SINTER__REQUIRE(err, layout.columns != NULL && layout.count > 0);
    SINTER__REQUIRE(err, layout.count <= COLUMNS_MAX && layout.key_count <= layout.count);
    SINTER__REQUIRE(err, layout.keys != NULL || layout.key_count == 0);
    SINTER__TRY(row_type_alloc(env, layout.count, layout.key_count, &made, err));
    for (size_t i = 0; i < layout.count; i++) {
        SINTER__TRY(copy_column(made, i, &layout.columns[i], err));
    }
    SINTER__TRY(complete(made, layout.keys, err));
    SINTER__TRY(print_json(made, err));
    *out = made;
    made = NULL;
out:
    sinter_row_type_destroy(made);
    return st;
}

/* A type that is an object: its "type" names the kind, the rest is kept as it is. */
static sinter_status
parse_nested(const sinter__doc_object *field, const json_t *value, column *out, sinter_error *err)
{
    const json_t *kind = json_object_get(value, "type");
    sinter_status st = SINTER_E_INVALID;

    if (json_is_string(kind)) {
        st = sinter_type_parse(json_string_value(kind), &out->type, NULL);
    }
    if (st != SINTER_OK || !sinter_type_is_nested(&out->type)) {
        return sinter__doc_fail(field, SINTER_E_INVALID, "type", "no nested type", err);
    }
    out->nested = json_deep_copy(value);
    return out->nested != NULL ? SINTER_OK
                               : SINTER__ERR(err, SINTER_E_NOMEM, "no memory for a nested type");
}

static sinter_status
parse_field(const sinter__doc_object *field, size_t index, column *out, sinter_error *err)
{
    const json_t *type = NULL;
    bool has_id = false;

    SINTER__CHECK(sinter__doc_string(field, "name", SINTER__DOC_NEEDED, &out->name, err));
    out->id = (int64_t)index;
    SINTER__CHECK(sinter__doc_integer(field, "id", (sinter__doc_range){0, INT32_MAX}, &has_id,
                                      &out->id, err));
    SINTER__CHECK(sinter__doc_member(field, "type", SINTER__DOC_NEEDED, &type, err));
    if (json_is_object(type)) {
        return parse_nested(field, type, out, err);
    }
    if (!json_is_string(type)) {
        return sinter__doc_fail(field, SINTER_E_INVALID, "type", "a type text expected", err);
    }
    sinter_error detail = SINTER_ERROR_INIT;

    if (sinter_type_parse(json_string_value(type), &out->type, &detail) != SINTER_OK) {
        return sinter__doc_fail(field, SINTER_E_INVALID, "type", detail.text, err);
    }
    return SINTER_OK;
}

sinter_status
sinter__row_type_from_json(const sinter_env *env, const sinter__doc_object *object,
                           sinter_row_type **out, sinter_error *err)
{
    sinter_row_type *made = NULL;
    sinter__arena arena = {.env = env};
    sinter__doc_object root = *object;
    const json_t *fields = object->json;
    const char *const *keys = NULL;
    const char *name = NULL;
    size_t key_count = 0;
    sinter_status st = SINTER_OK;

    *out = NULL;
    root.arena = &arena;
    if (json_is_object(root.json)) {
        name = "fields";
        SINTER__TRY(sinter__doc_array(&root, name, SINTER__DOC_NEEDED, &fields, err));
        SINTER__TRY(sinter__doc_strings(&root, "primaryKeys", &keys, &key_count, err));
    }
    if (!json_is_array(fields) || json_array_size(fields) == 0 ||
        json_array_size(fields) > COLUMNS_MAX || key_count > json_array_size(fields)) {
        st = sinter__doc_fail(&root, SINTER_E_INVALID, name, "a list of fields expected", err);
        goto out;
    }
    SINTER__TRY(row_type_alloc(env, json_array_size(fields), key_count, &made, err));
    for (size_t i = 0; i < made->count; i++) {
        sinter__doc_object field;

        SINTER__TRY(sinter__doc_element(&root, name, fields, i, &field, err));
        field.arena = &made->arena;
        SINTER__TRY(parse_field(&field, i, &made->columns[i], err));
    }
    SINTER__TRY(complete(made, keys, err));
    SINTER__TRY(print_json(made, err));
    *out = made;
    made = NULL;
out:
    sinter_row_type_destroy(made);
    sinter__arena_fini(&arena);
    return st;
}

sinter_status
sinter_row_type_parse(const sinter_env *env, const char *json, size_t size, sinter_row_type **out,
                      sinter_error *err)
{
    const sinter__json_source source = {.text = {.data = (const uint8_t *)json, .size = size}};
    sinter__doc_object root = {.source = &source};
    json_t *value = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, json != NULL || size == 0);
    SINTER__TRY(sinter__json_load(&source, 0, &value, err));
    root.json = value;
    SINTER__TRY(sinter__row_type_from_json(env, &root, out, err));
out:
    json_decref(value);
    if (st != SINTER_OK) {
        sinter__fail_context(err, "row type");
    }
    return st;
}

const char *
sinter_row_type_json(const sinter_row_type *row_type)
{
    return row_type->json.data;
}

size_t
sinter_row_type_count(const sinter_row_type *row_type)
{
    return row_type->count;
}

const char *
sinter_row_type_column_name(const sinter_row_type *row_type, size_t index)
{
    assert(index < row_type->count);
    return row_type->columns[index].name;
}

const sinter_type *
sinter_row_type_column_type(const sinter_row_type *row_type, size_t index)
{
    assert(index < row_type->count);
    return &row_type->columns[index].type;
}

int64_t
sinter_row_type_column_id(const sinter_row_type *row_type, size_t index)
{
    assert(index < row_type->count);
    return row_type->columns[index].id;
}

const size_t *
sinter_row_type_keys(const sinter_row_type *row_type, size_t *count_out)
{
    *count_out = row_type->key_count;
    return row_type->keys;
}

bool
sinter__row_type_is_key(const sinter_row_type *row_type, size_t index)
{
    for (size_t i = 0; i < row_type->key_count; i++) {
        if (row_type->keys[i] == index) {
            return true;
        }
    }
    return false;
}

sinter_status
sinter__row_type_check_atomic(const sinter_row_type *row_type, sinter_error *err)
{
    for (size_t i = 0; i < row_type->count; i++) {
        if (sinter_type_is_nested(&row_type->columns[i].type)) {
            return SINTER__ERR(
                err, SINTER_E_UNSUPPORTED, "column \"%.100s\": values of type %s are not supported",
                row_type->columns[i].name, sinter_type_name(row_type->columns[i].type.id));
        }
    }
    return SINTER_OK;
}
