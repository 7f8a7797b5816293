#include "doc/row_type.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/load.h"
#include "doc/type_parts.h"

enum { COLUMNS_MAX = 65536 };

struct sinter_row_type {
    const sinter_env *env;
    sinter__arena arena;
    sinter_field *columns;
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

/* Names are there: sort them, find the keys, give ids to columns and fields without one. */
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
    return sinter__fields_assign_ids(
        &row_type->arena, row_type->columns, row_type->count,
        sinter__fields_highest_id(row_type->columns, row_type->count) + 1, err);
}

/* `fields`: the columns as they were read, NULL: they were not. */
static sinter_status
print_json(sinter_row_type *row_type, const json_t *fields, sinter_error *err)
{
    sinter__doc_writer writer;
    json_t *root = NULL;
    json_t *array = NULL;

    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_string(&writer, root, "type", "ROW");
    array = sinter__doc_put_array(&writer, root, "fields");
    for (size_t i = 0; i < row_type->count; i++) {
        sinter__field_put_json(&writer, sinter__doc_append_object(&writer, array),
                               &row_type->columns[i], json_array_get(fields, i));
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
copy_column(sinter_row_type *row_type, size_t index, const sinter_field *given, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (given->name == NULL || given->type.id < 0 || given->type.id > SINTER_TYPE_BLOB) {
        return SINTER__ERR(err, SINTER_E_INVALID, "column %zu has no name or no type", index + 1);
    }
    st = sinter__field_copy(&row_type->arena, given, &row_type->columns[index], err);
    if (st == SINTER_E_INVALID) {
        sinter__fail_context(err, "column \"%.100s\"", given->name);
    }
    return st;
}

/* Make a row type of `columns`, or of what a layout names. */
static sinter_status
create(const sinter_env *env, const sinter_row_layout *layout, const sinter_field *columns,
       sinter_row_type **out, sinter_error *err)
{
    sinter_row_type *made = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, layout->count <= COLUMNS_MAX && layout->key_count <= layout->count);
    SINTER__REQUIRE(err, layout->keys != NULL || layout->key_count == 0);
    SINTER__TRY(row_type_alloc(env, layout->count, layout->key_count, &made, err));
    assert(columns != NULL || layout->columns != NULL);
    for (size_t i = 0; i < layout->count; i++) {
        sinter_field column = {.id = -1};

        if (columns != NULL) {
            column = columns[i];
        } else {
            column.name = layout->columns[i].name;
            column.type = layout->columns[i].type;
        }
        SINTER__TRY(copy_column(made, i, &column, err));
    }
    SINTER__TRY(complete(made, layout->keys, err));
    SINTER__TRY(print_json(made, NULL, err));
    *out = made;
    made = NULL;
out:
    sinter_row_type_destroy(made);
    return st;
}

sinter_status
sinter_row_type_create(const sinter_env *env, const sinter_row_layout *given, sinter_row_type **out,
                       sinter_error *err)
{
    sinter_row_layout layout = {.struct_size = (uint32_t)sizeof layout};

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, given != NULL);
    SINTER__CHECK(sinter__struct_load(&layout, sizeof layout, given, "sinter_row_layout", err));
    SINTER__REQUIRE(err, layout.columns != NULL && layout.count > 0);
    return create(env, &layout, NULL, out, err);
}

sinter_status
sinter_row_type_of_type(const sinter_env *env, const sinter_type *type, const char *const *keys,
                        size_t key_count, sinter_row_type **out, sinter_error *err)
{
    sinter_row_layout layout = {.keys = keys, .key_count = key_count};

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, type != NULL && type->id == SINTER_TYPE_ROW);
    SINTER__REQUIRE(err, type->parts != NULL && type->parts->count > 0);
    layout.count = type->parts->count;
    return create(env, &layout, type->parts->fields, out, err);
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
        SINTER__TRY(sinter__field_from_json(&field, &made->columns[i], err));
    }
    SINTER__TRY(complete(made, keys, err));
    SINTER__TRY(print_json(made, fields, err));
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
    SINTER__TRY(sinter__json_load(&source, SINTER__JSON_TYPES, &value, err));
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

const sinter_field *
sinter_row_type_fields(const sinter_row_type *row_type)
{
    return row_type->columns;
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
sinter__row_type_check_values(const sinter_row_type *row_type, sinter_error *err)
{
    for (size_t i = 0; i < row_type->count; i++) {
        const sinter_type *refused = sinter__type_without_values(&row_type->columns[i].type);

        if (refused != NULL) {
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                               "column \"%.100s\": values of type %s are not supported",
                               row_type->columns[i].name, sinter_type_name(refused->id));
        }
    }
    return SINTER_OK;
}
