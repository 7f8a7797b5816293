#include "format/avro_schema.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "format/avro_reader.h"

enum {
    /* What jansson takes for a text, at most: a number of two characters is 32 bytes and a slot of
     * an array that doubles. */
    JSON_BYTES_PER_CHAR = 40,
    NAME_SLOTS_MIN = 32
};

/** A named type. */
typedef struct name_slot {
    const char *name; /* NULL: free */
    const sinter__avro_node *node;
} name_slot;

struct sinter__avro_schema {
    sinter__arena arena;
    const sinter__avro_node *root;
};

/** A text that is being read. */
typedef struct parser {
    sinter__arena *arena;
    name_slot *names; /* a hash table, half full at most */
    size_t name_count;
    size_t name_slots; /* a power of 2 */
} parser;

static const char *const type_names[] = {"null",   "boolean", "int",    "long",  "float",
                                         "double", "bytes",   "string", "fixed", "enum",
                                         "array",  "map",     "union",  "record"};

static sinter_status
parse_type(parser *self, const json_t *json, const char *space, uint32_t depth,
           const sinter__avro_node **out, sinter_error *err);

const char *
sinter__avro_type_name(sinter__avro_type type)
{
    assert((size_t)type < sizeof type_names / sizeof type_names[0]);
    return type_names[type];
}

static sinter_status
corrupt(sinter_error *err, const char *what, const char *name)
{
    return SINTER__ERR(err, SINTER_E_CORRUPT, "schema: %s%s%.64s", what, name == NULL ? "" : " ",
                       name == NULL ? "" : name);
}

/** Where a name stands or would stand. */
static name_slot *
find_slot(const parser *self, const char *name)
{
    size_t at = (size_t)sinter__hash(name, strlen(name)) & (self->name_slots - 1);

    while (self->names[at].name != NULL && strcmp(self->names[at].name, name) != 0) {
        at = (at + 1) & (self->name_slots - 1);
    }
    return &self->names[at];
}

static sinter_status
grow_names(parser *self, sinter_error *err)
{
    const parser before = *self;
    const size_t slots = before.name_slots == 0 ? NAME_SLOTS_MIN : 2 * before.name_slots;
    name_slot *fresh = NULL;

    SINTER__CHECK(SINTER__NEW(self->arena->env, fresh, slots, err));
    self->names = fresh;
    self->name_slots = slots;
    for (size_t i = 0; i < before.name_slots; i++) {
        if (before.names[i].name != NULL) {
            *find_slot(self, before.names[i].name) = before.names[i];
        }
    }
    sinter__free(self->arena->env, before.names);
    return SINTER_OK;
}

/** Put a type under its full name, before its fields are read: they may refer to it. */
static sinter_status
define_name(parser *self, const sinter__avro_node *node, sinter_error *err)
{
    name_slot *slot = NULL;

    if (self->name_count == SINTER__AVRO_NAMES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "schema: more than %d named types",
                           SINTER__AVRO_NAMES_MAX);
    }
    if (2 * self->name_count >= self->name_slots) {
        SINTER__CHECK(grow_names(self, err));
    }
    slot = find_slot(self, node->name);
    if (slot->name != NULL) {
        return corrupt(err, "two types are named", node->name);
    }
    *slot = (name_slot){node->name, node};
    self->name_count++;
    return SINTER_OK;
}

/** Join namespace and name, unless the name has a namespace itself. */
static sinter_status
full_name(parser *self, const char *space, const char *name, const char **out, sinter_error *err)
{
    const size_t space_size = strchr(name, '.') != NULL || space == NULL ? 0 : strlen(space);
    const size_t size = strlen(name);
    char *text = NULL;

    *out = NULL;
    if (size == 0 || size > SINTER__AVRO_NAME_CHARS_MAX ||
        space_size > SINTER__AVRO_NAME_CHARS_MAX) {
        return corrupt(err, "a name is empty or too long", NULL);
    }
    SINTER__CHECK(sinter__arena_take(self->arena, space_size + size + 2, (void **)&text, err));
    (void)snprintf(text, space_size + size + 2, "%s%s%s", space_size > 0 ? space : "",
                   space_size > 0 ? "." : "", name);
    *out = text;
    return SINTER_OK;
}

/** The namespace of a full name, for what is defined inside; NULL: none. */
static sinter_status
space_of(parser *self, const char *name, const char **out, sinter_error *err)
{
    const char *dot = strrchr(name, '.');
    const size_t size = dot == NULL ? 0 : (size_t)(dot - name);
    char *text = NULL;

    *out = NULL;
    if (size == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(self->arena, size + 1, (void **)&text, err));
    memcpy(text, name, size);
    text[size] = '\0';
    *out = text;
    return SINTER_OK;
}

static sinter_status
new_node(parser *self, sinter__avro_type type, sinter__avro_node **out, sinter_error *err)
{
    SINTER__CHECK(sinter__arena_take(self->arena, sizeof **out, (void **)out, err));
    **out = (sinter__avro_node){.type = type, .is_empty = type == SINTER__AVRO_NULL};
    return SINTER_OK;
}

static sinter_status
new_fields(parser *self, sinter__avro_node *node, size_t count, sinter__avro_field **out,
           sinter_error *err)
{
    SINTER__CHECK(sinter__arena_take(self->arena, count * sizeof **out, (void **)out, err));
    memset(*out, 0, count * sizeof **out);
    node->fields = *out;
    node->field_count = (uint32_t)count;
    return SINTER_OK;
}

/** Text of a member; NULL: there is none, or it is no text. */
static const char *
text_of(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

/** Find a type by its word or by the name it was defined with. */
static sinter_status
parse_word(parser *self, const char *word, const char *space, const sinter__avro_node **out,
           sinter_error *err)
{
    sinter__avro_node *node = NULL;
    const char *name = NULL;

    for (size_t i = SINTER__AVRO_NULL; i <= SINTER__AVRO_STRING; i++) {
        if (strcmp(word, type_names[i]) == 0) {
            SINTER__CHECK(new_node(self, (sinter__avro_type)i, &node, err));
            *out = node;
            return SINTER_OK;
        }
    }
    SINTER__CHECK(full_name(self, space, word, &name, err));
    *out = self->name_slots == 0 ? NULL : find_slot(self, name)->node;
    if (*out == NULL && self->name_slots > 0) {
        *out = find_slot(self, word)->node;
    }
    return *out != NULL ? SINTER_OK : corrupt(err, "there is no type", word);
}

static sinter_status
parse_union(parser *self, const json_t *json, const char *space, uint32_t depth,
            const sinter__avro_node **out, sinter_error *err)
{
    sinter__avro_node *node = NULL;
    sinter__avro_field *branches = NULL;
    const size_t count = json_array_size(json);

    if (count == 0) {
        return corrupt(err, "a union without branches", NULL);
    }
    SINTER__CHECK(new_node(self, SINTER__AVRO_UNION, &node, err));
    SINTER__CHECK(new_fields(self, node, count, &branches, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(
            parse_type(self, json_array_get(json, i), space, depth, &branches[i].type, err));
        if (branches[i].type->type == SINTER__AVRO_UNION) {
            return corrupt(err, "a union in a union", NULL);
        }
    }
    *out = node;
    return SINTER_OK;
}

static sinter_status
parse_record(parser *self, const json_t *json, sinter__avro_node *node, uint32_t depth,
             sinter_error *err)
{
    const json_t *list = json_object_get(json, "fields");
    const size_t count = json_array_size(list);
    sinter__avro_field *fields = NULL;
    const char *space = NULL;
    bool is_empty = true;

    if (!json_is_array(list)) {
        return corrupt(err, "no fields in record", node->name);
    }
    SINTER__CHECK(space_of(self, node->name, &space, err));
    SINTER__CHECK(new_fields(self, node, count, &fields, err));
    for (size_t i = 0; i < count; i++) {
        const json_t *field = json_array_get(list, i);
        const char *name = text_of(field, "name");

        if (name == NULL || json_object_get(field, "type") == NULL) {
            return corrupt(err, "a field without name or type in", node->name);
        }
        SINTER__CHECK(sinter__arena_strdup(self->arena, name, &fields[i].name, err));
        SINTER__CHECK(
            parse_type(self, json_object_get(field, "type"), space, depth, &fields[i].type, err));
        is_empty = is_empty && fields[i].type->is_empty;
    }
    node->is_empty = is_empty; /* not while its fields are read, which may refer to it */
    return SINTER_OK;
}

/** Read a type that has a name: a record, an enum, a fixed. */
static sinter_status
parse_named(parser *self, const json_t *json, const char *space, uint32_t depth,
            sinter__avro_node *node, sinter_error *err)
{
    const char *name = text_of(json, "name");
    const char *own_space = text_of(json, "namespace");
    const json_t *size = json_object_get(json, "size");
    const json_t *symbols = json_object_get(json, "symbols");

    if (name == NULL) {
        return corrupt(err, "a type without a name:", sinter__avro_type_name(node->type));
    }
    own_space = own_space == NULL ? space : own_space;
    own_space = own_space == NULL || own_space[0] == '\0' ? NULL : own_space;
    SINTER__CHECK(full_name(self, own_space, name, &node->name, err));
    SINTER__CHECK(define_name(self, node, err));
    if (node->type == SINTER__AVRO_RECORD) {
        return parse_record(self, json, node, depth, err);
    }
    if (node->type == SINTER__AVRO_ENUM) {
        node->size = json_array_size(symbols);
        return node->size > 0 ? SINTER_OK : corrupt(err, "no symbols in enum", node->name);
    }
    if (!json_is_integer(size) || json_integer_value(size) < 0) {
        return corrupt(err, "no size in fixed", node->name);
    }
    node->size = (uint64_t)json_integer_value(size);
    node->is_empty = node->size == 0;
    return SINTER_OK;
}

/** Read a type that is written as an object. */
static sinter_status
parse_object(parser *self, const json_t *json, const char *space, uint32_t depth,
             const sinter__avro_node **out, sinter_error *err)
{
    const char *word = text_of(json, "type");
    sinter__avro_node *node = NULL;
    sinter__avro_field *inner = NULL;
    size_t type = SINTER__AVRO_FIXED;

    if (word == NULL) {
        return corrupt(err, "a type that is no text", NULL);
    }
    while (type <= SINTER__AVRO_RECORD && strcmp(word, type_names[type]) != 0) {
        type++;
    }
    if (type > SINTER__AVRO_RECORD || type == SINTER__AVRO_UNION) {
        const sinter__avro_node *plain = NULL;

        SINTER__CHECK(parse_word(self, word, space, &plain, err));
        *out = plain;
        if (text_of(json, "logicalType") == NULL || plain->type > SINTER__AVRO_STRING) {
            return SINTER_OK;
        }
        type = plain->type;
    }
    SINTER__CHECK(new_node(self, (sinter__avro_type)type, &node, err));
    SINTER__CHECK(
        sinter__arena_strdup(self->arena, text_of(json, "logicalType"), &node->logical_type, err));
    *out = node;
    if (type == SINTER__AVRO_ARRAY || type == SINTER__AVRO_MAP) {
        const char *key = type == SINTER__AVRO_ARRAY ? "items" : "values";

        SINTER__CHECK(new_fields(self, node, 1, &inner, err));
        return parse_type(self, json_object_get(json, key), space, depth, &inner->type, err);
    }
    return type <= SINTER__AVRO_STRING ? SINTER_OK
                                       : parse_named(self, json, space, depth, node, err);
}

/* Types inside types: as deep as SINTER__AVRO_DEPTH_MAX. */
static sinter_status
parse_type(parser *self, const json_t *json, const char *space, uint32_t depth,
           const sinter__avro_node **out, sinter_error *err)
{
    if (depth == SINTER__AVRO_DEPTH_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "schema: types in more than %d types",
                           SINTER__AVRO_DEPTH_MAX);
    }
    switch (json == NULL ? JSON_NULL : json_typeof(json)) {
    case JSON_STRING:
        return parse_word(self, json_string_value(json), space, out, err);
    case JSON_ARRAY:
        return parse_union(self, json, space, depth + 1, out, err);
    case JSON_OBJECT:
        return parse_object(self, json, space, depth + 1, out, err);
    case JSON_INTEGER:
    case JSON_REAL:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
    default:
        return corrupt(err, "a type that is neither text nor list nor object", NULL);
    }
}

/** Load JSON, with what it takes held in the budget by the caller. */
static sinter_status
load_json(sinter_bytes text, json_t **out, sinter_error *err)
{
    json_error_t fault = {0};

    *out = json_loadb((const char *)text.data, text.size, JSON_DECODE_ANY, &fault);
    if (*out != NULL) {
        return SINTER_OK;
    }
    if (json_error_code(&fault) == json_error_out_of_memory) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for a schema of %zu bytes", text.size);
    }
    return SINTER__ERR(err, SINTER_E_CORRUPT, "schema: no JSON at byte %d: %.100s", fault.position,
                       fault.text);
}

static sinter_status
parse_json(sinter__arena *arena, const json_t *json, const sinter__avro_node **out,
           sinter_error *err)
{
    parser self = {.arena = arena};
    const sinter_status st = parse_type(&self, json, NULL, 0, out, err);

    sinter__free(arena->env, self.names);
    return st;
}

sinter_status
sinter__avro_schema_parse(const sinter_env *env, sinter_bytes text, sinter__avro_schema **out,
                          sinter_error *err)
{
    const uint64_t json_bytes = (uint64_t)text.size * JSON_BYTES_PER_CHAR;
    sinter__avro_schema *self = NULL;
    json_t *json = NULL;
    sinter_status st = SINTER_OK;

    assert(text.size <= SINTER__AVRO_SCHEMA_BYTES_MAX);
    *out = NULL;
    SINTER__CHECK(sinter_memory_reserve(env->memory, json_bytes, err));
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->arena.env = env;
    SINTER__TRY(load_json(text, &json, err));
    SINTER__TRY(parse_json(&self->arena, json, &self->root, err));
    *out = self;
    self = NULL;
out:
    json_decref(json);
    sinter__avro_schema_destroy(self);
    sinter_memory_release(env->memory, json_bytes);
    return st;
}

void
sinter__avro_schema_destroy(sinter__avro_schema *schema)
{
    if (schema != NULL) {
        const sinter_env *env = schema->arena.env;

        sinter__arena_fini(&schema->arena);
        sinter__free(env, schema);
    }
}

const sinter__avro_node *
sinter__avro_schema_root(const sinter__avro_schema *schema)
{
    return schema->root;
}

const sinter__avro_node *
sinter__avro_node_unwrap(const sinter__avro_node *node, int32_t *branch_out)
{
    *branch_out = -1;
    if (node->type != SINTER__AVRO_UNION) {
        return node;
    }
    for (uint32_t i = 0; i < node->field_count; i++) {
        const sinter__avro_type other = node->fields[node->field_count - 1 - i].type->type;

        if (node->fields[i].type->type != SINTER__AVRO_NULL &&
            (node->field_count == 1 || (node->field_count == 2 && other == SINTER__AVRO_NULL))) {
            *branch_out = (int32_t)i;
            return node->fields[i].type;
        }
    }
    return NULL;
}

int32_t
sinter__avro_node_find(const sinter__avro_node *record, const char *name)
{
    assert(record->type == SINTER__AVRO_RECORD);
    for (uint32_t i = 0; i < record->field_count; i++) {
        if (strcmp(record->fields[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

/** The record in a type's JSON: the type itself, or a branch of a union. */
static const json_t *
json_record(const json_t *type)
{
    for (size_t i = 0; i < json_array_size(type); i++) {
        if (json_is_object(json_array_get(type, i))) {
            return json_array_get(type, i);
        }
    }
    return type;
}

/** A field of a record's JSON; NULL: there is none. */
static const json_t *
json_field(const json_t *record, const char *name)
{
    const json_t *fields = json_object_get(record, "fields");

    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i);

        if (text_of(field, "name") != NULL && strcmp(text_of(field, "name"), name) == 0) {
            return field;
        }
    }
    return NULL;
}

static sinter_status
print_json(sinter__arena *arena, const json_t *json, const char **out, sinter_error *err)
{
    const size_t size = json_dumpb(json, NULL, 0, JSON_COMPACT);
    char *text = NULL;

    SINTER__CHECK(sinter__arena_take(arena, size + 1, (void **)&text, err));
    if (size == 0 || json_dumpb(json, text, size, JSON_COMPACT) != size) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for printing a field of a schema");
    }
    text[size] = '\0';
    *out = text;
    return SINTER_OK;
}

sinter_status
sinter__avro_schema_print_field(sinter__arena *arena, sinter_bytes text, const char *outer,
                                const char *name, const char **out, sinter_error *err)
{
    const sinter_env *env = arena->env;
    const uint64_t json_bytes = (uint64_t)text.size * JSON_BYTES_PER_CHAR;
    sinter__arena scratch = {.env = env};
    const sinter__avro_node *node = NULL;
    const json_t *record = NULL;
    const json_t *field = NULL;
    json_t *json = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(sinter_memory_reserve(env->memory, json_bytes, err));
    SINTER__TRY(load_json(text, &json, err));
    record = json_record(json);
    if (outer != NULL) {
        record = json_record(json_object_get(json_field(record, outer), "type"));
    }
    field = json_field(record, name);
    assert(field != NULL); /* the schema was parsed, and has it */
    st = parse_json(&scratch, json_object_get(field, "type"), &node, NULL);
    if (st == SINTER_E_CORRUPT) {
        SINTER__FAIL(err, SINTER_E_UNSUPPORTED,
                     "field %s can't be carried over: its type is defined outside of it", name);
    }
    if (st != SINTER_OK) {
        SINTER__FAIL(err, st, "no memory for field %s of a schema", name);
    }
    SINTER__TRY(print_json(arena, field, out, err));
out:
    json_decref(json);
    sinter__arena_fini(&scratch);
    sinter_memory_release(env->memory, json_bytes);
    return st;
}
