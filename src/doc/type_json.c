/*
 * Types and fields as JSON of Paimon's schema files. Functions here call themselves for the parts
 * of a type; how deep is counted and limited.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "doc/type_parts.h"

enum { FIELDS_MAX = 65536 };

static sinter_status
type_from_json(const sinter__doc_object *object, const char *name, size_t depth, sinter_type *out,
               sinter_error *err);

static sinter_status
field_from_json(const sinter__doc_object *object, size_t depth, sinter_field *out,
                sinter_error *err)
{
    bool has_id = false;

    *out = (sinter_field){.id = -1};
    SINTER__CHECK(sinter__doc_string(object, "name", SINTER__DOC_NEEDED, &out->name, err));
    SINTER__CHECK(sinter__doc_integer(object, "id", (sinter__doc_range){0, INT32_MAX}, &has_id,
                                      &out->id, err));
    SINTER__CHECK(type_from_json(object, "type", depth, &out->type, err));
    SINTER__CHECK(
        sinter__doc_string(object, "description", SINTER__DOC_OPTIONAL, &out->description, err));
    return sinter__doc_string(object, "defaultValue", SINTER__DOC_OPTIONAL, &out->default_value,
                              err);
}

/* The fields of a ROW. */
static sinter_status
fields_from_json(const sinter__doc_object *object, size_t depth, sinter_type *out,
                 sinter_error *err)
{
    const json_t *array = NULL;
    sinter_field *fields = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__doc_array(object, "fields", SINTER__DOC_NEEDED, &array, err));
    count = json_array_size(array);
    if (count > FIELDS_MAX) {
        return sinter__doc_fail(object, SINTER_E_TOO_LARGE, "fields", "more than 65536 fields",
                                err);
    }
    SINTER__CHECK(sinter__doc_room(object->arena, count, sizeof *fields, (void **)&fields, err));
    for (size_t i = 0; i < count; i++) {
        sinter__doc_object field;

        SINTER__CHECK(sinter__doc_element(object, "fields", array, i, &field, err));
        SINTER__CHECK(field_from_json(&field, depth, &fields[i], err));
    }
    return sinter__type_keep_parts(object->arena, fields, count, out, err);
}

/* The parts of ARRAY, MAP and MULTISET. */
static sinter_status
elements_from_json(const sinter__doc_object *object, size_t depth, sinter_type *out,
                   sinter_error *err)
{
    sinter_field fields[2] = {{.name = "element", .id = -1}, sinter__type_count_part()};
    const size_t count = out->id == SINTER_TYPE_ARRAY ? 1 : 2;

    if (out->id == SINTER_TYPE_MAP) {
        fields[0].name = "key";
        fields[1].name = "value";
        SINTER__CHECK(type_from_json(object, "value", depth, &fields[1].type, err));
    }
    SINTER__CHECK(type_from_json(object, fields[0].name, depth, &fields[0].type, err));
    return sinter__type_keep_parts(object->arena, fields, count, out, err);
}

/* A type that is an object: its `type` names the kind, other members are the parts. */
static sinter_status
nested_from_json(const sinter__doc_object *object, const char *name, size_t depth,
                 const json_t *value, sinter_type *out, sinter_error *err)
{
    const json_t *kind = json_object_get(value, "type");
    sinter__doc_object nested = *object;
    sinter_status st = SINTER_E_INVALID;

    if (json_is_string(kind) && strlen(json_string_value(kind)) == json_string_length(kind)) {
        st = sinter_type_parse(json_string_value(kind), out, NULL);
    }
    if (st != SINTER_OK || !sinter_type_is_nested(out)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, name, "no nested type", err);
    }
    if (depth == SINTER_TYPE_DEPTH_MAX) {
        return sinter__doc_fail(object, SINTER_E_INVALID, name, "a type nested deeper than 32",
                                err);
    }
    nested.json = value;
    if (snprintf(nested.path, sizeof nested.path, "%.120s%s%.30s", object->path,
                 object->path[0] == '\0' ? "" : ".", name) < 0) {
        nested.path[0] = '\0';
    }
    return out->id == SINTER_TYPE_ROW ? fields_from_json(&nested, depth + 1, out, err)
                                      : elements_from_json(&nested, depth + 1, out, err);
}

static sinter_status
type_from_json(const sinter__doc_object *object, const char *name, size_t depth, sinter_type *out,
               sinter_error *err)
{
    const json_t *value = NULL;
    const char *text = NULL;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__doc_member(object, name, SINTER__DOC_NEEDED, &value, err));
    if (json_is_object(value)) {
        return nested_from_json(object, name, depth, value, out, err);
    }
    if (!json_is_string(value)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, name, "a type text expected", err);
    }
    SINTER__CHECK(sinter__doc_text(object, name, value, &text, err));
    st = sinter__type_from_text(object->arena, text, depth, out, &detail);
    if (st == SINTER_OK && sinter_type_is_nested(out) && out->parts == NULL) {
        (void)snprintf(detail.text, sizeof detail.text, "type %s lacks its parts",
                       sinter_type_name(out->id));
        st = SINTER_E_INVALID;
    }
    return st == SINTER_OK ? SINTER_OK : sinter__doc_fail(object, st, name, detail.text, err);
}

sinter_status
sinter__field_from_json(const sinter__doc_object *object, sinter_field *out, sinter_error *err)
{
    return field_from_json(object, 0, out, err);
}

/* Put what an object as it was read has besides the members that are known. */
static void
put_others(sinter__doc_writer *writer, json_t *object, const char *const *known, json_t *source)
{
    void *member = NULL;

    if (!json_is_object(source)) {
        return;
    }
    for (member = json_object_iter(source); member != NULL;
         member = json_object_iter_next(source, member)) {
        const char *name = json_object_iter_key(member);
        size_t i = 0;

        while (known[i] != NULL && strcmp(known[i], name) != 0) {
            i++;
        }
        if (known[i] == NULL) {
            sinter__doc_put(writer, object, name, json_incref(json_object_iter_value(member)));
        }
    }
}

static void
put_type(sinter__doc_writer *writer, json_t *object, const char *name, const sinter_type *type,
         json_t *source);

static void
put_fields(sinter__doc_writer *writer, json_t *object, const sinter_type_parts *parts,
           json_t *source)
{
    json_t *array = sinter__doc_put_array(writer, object, "fields");
    const json_t *read = json_object_get(source, "fields");

    for (size_t i = 0; i < parts->count; i++) {
        sinter__field_put_json(writer, sinter__doc_append_object(writer, array), &parts->fields[i],
                               json_array_get(read, i));
    }
}

/* Put a type: a text, or an object with the parts. */
static void
put_type(sinter__doc_writer *writer, json_t *object, const char *name, const sinter_type *type,
         json_t *source)
{
    static const char *const of_array[] = {"type", "element", NULL};
    static const char *const of_map[] = {"type", "key", "value", NULL};
    static const char *const of_row[] = {"type", "fields", NULL};
    char text[SINTER_TYPE_TEXT_MAX];
    json_t *nested = NULL;

    sinter_type_print(type, text);
    if (type->parts == NULL) {
        sinter__doc_put_string(writer, object, name, text);
        return;
    }
    nested = sinter__doc_put_object(writer, object, name);
    sinter__doc_put_string(writer, nested, "type", text);
    if (type->id == SINTER_TYPE_ROW) {
        put_fields(writer, nested, type->parts, source);
        put_others(writer, nested, of_row, source);
        return;
    }
    for (size_t i = 0; i < (type->id == SINTER_TYPE_MAP ? 2u : 1u); i++) {
        const sinter_field *part = &type->parts->fields[i];

        put_type(writer, nested, part->name, &part->type, json_object_get(source, part->name));
    }
    put_others(writer, nested, type->id == SINTER_TYPE_MAP ? of_map : of_array, source);
}

void
sinter__field_put_json(sinter__doc_writer *writer, json_t *object, const sinter_field *field,
                       json_t *source)
{
    static const char *const known[] = {"id", "name", "type", "description", "defaultValue", NULL};

    sinter__doc_put_integer(writer, object, "id", field->id);
    sinter__doc_put_string(writer, object, "name", field->name);
    put_type(writer, object, "type", &field->type, json_object_get(source, "type"));
    if (field->description != NULL) {
        sinter__doc_put_string(writer, object, "description", field->description);
    }
    if (field->default_value != NULL) {
        sinter__doc_put_string(writer, object, "defaultValue", field->default_value);
    }
    put_others(writer, object, known, source);
}
