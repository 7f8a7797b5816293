/*
 * Parts of nested types. Functions here call themselves for the parts of a type; types are at most
 * SINTER_TYPE_DEPTH_MAX deep, which is checked where they are made.
 */
#include "doc/type_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "doc/text.h"

/* A type that owns its parts. */
typedef struct owned_type {
    sinter_type type; /* first: callers see this */
    sinter__arena arena;
} owned_type;

sinter_field
sinter__type_count_part(void)
{
    return (sinter_field){.name = "count", .id = -1, .type = {.id = SINTER_TYPE_INT}};
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of a ROW's fields: none empty, none twice. */
static sinter_status
check_names(const sinter_env *env, const sinter_field *fields, size_t count, sinter_error *err)
{
    const char **names = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(env, names, count, err));
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i].name;
        if (names[i] == NULL || names[i][0] == '\0') {
            SINTER__FAIL(err, SINTER_E_INVALID, "field %zu of a ROW has no name", i + 1);
        }
    }
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) {
            SINTER__FAIL(err, SINTER_E_INVALID, "two fields of a ROW are named \"%.100s\"",
                         names[i]);
        }
    }
out:
    sinter__free(env, names);
    return st;
}

static sinter_status
put_parts(sinter__arena *arena, sinter_field *fields, size_t count, sinter_type *type,
          sinter_error *err)
{
    sinter_type_parts *parts = NULL;

    SINTER__CHECK(sinter__doc_room(arena, 1, sizeof *parts, (void **)&parts, err));
    parts->fields = fields;
    parts->count = count;
    type->parts = parts;
    return SINTER_OK;
}

sinter_status
sinter__type_keep_parts(sinter__arena *arena, const sinter_field *fields, size_t count,
                        sinter_type *type, sinter_error *err)
{
    sinter_field *kept = NULL;

    assert(sinter_type_is_nested(type));
    if (type->id == SINTER_TYPE_ROW) {
        SINTER__CHECK(check_names(arena->env, fields, count, err));
    }
    SINTER__CHECK(sinter__doc_room(arena, count, sizeof *kept, (void **)&kept, err));
    if (count > 0) {
        memcpy(kept, fields, count * sizeof *kept);
    }
    return put_parts(arena, kept, count, type, err);
}

/* How many parts a type of this kind has; SIZE_MAX: any number. */
static size_t
part_count(int32_t id)
{
    switch (id) {
    case SINTER_TYPE_ARRAY:
        return 1;
    case SINTER_TYPE_MAP:
    case SINTER_TYPE_MULTISET:
        return 2;
    default:
        return SIZE_MAX;
    }
}

/* What part `index` is called; `given` where parts have names of their own. */
static const char *
part_name(int32_t id, size_t index, const char *given)
{
    switch (id) {
    case SINTER_TYPE_ARRAY:
        return "element";
    case SINTER_TYPE_MAP:
        return index == 0 ? "key" : "value";
    case SINTER_TYPE_MULTISET:
        return index == 0 ? "element" : "count";
    default:
        return given;
    }
}

static sinter_status
copy_field(sinter__arena *arena, const sinter_field *from, size_t depth, sinter_field *out,
           sinter_error *err)
{
    const sinter_type_parts *parts = from->type.parts;
    sinter_field *fields = NULL;

    *out = *from;
    out->type.parts = NULL;
    SINTER__CHECK(sinter__arena_strdup(arena, from->name, &out->name, err));
    SINTER__CHECK(sinter__arena_strdup(arena, from->description, &out->description, err));
    SINTER__CHECK(sinter__arena_strdup(arena, from->default_value, &out->default_value, err));
    if (!sinter_type_is_nested(&from->type)) {
        return SINTER_OK;
    }
    if (parts == NULL ||
        (part_count(from->type.id) != SIZE_MAX && part_count(from->type.id) != parts->count)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "type %s lacks its parts",
                           sinter_type_name(from->type.id));
    }
    if (depth == SINTER_TYPE_DEPTH_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a type nested deeper than %d",
                           SINTER_TYPE_DEPTH_MAX);
    }
    if (from->type.id == SINTER_TYPE_ROW) {
        SINTER__CHECK(check_names(arena->env, parts->fields, parts->count, err));
    }
    SINTER__CHECK(sinter__doc_room(arena, parts->count, sizeof *fields, (void **)&fields, err));
    for (size_t i = 0; i < parts->count; i++) {
        SINTER__CHECK(copy_field(arena, &parts->fields[i], depth + 1, &fields[i], err));
        fields[i].name = part_name(from->type.id, i, fields[i].name);
    }
    return put_parts(arena, fields, parts->count, &out->type, err);
}

sinter_status
sinter__field_copy(sinter__arena *arena, const sinter_field *from, sinter_field *out,
                   sinter_error *err)
{
    return copy_field(arena, from, 0, out, err);
}

int64_t
sinter__fields_highest_id(const sinter_field *fields, size_t count)
{
    int64_t highest = -1;

    for (size_t i = 0; i < count; i++) {
        const sinter_type_parts *parts = fields[i].type.parts;
        const int64_t inner =
            parts == NULL ? -1 : sinter__fields_highest_id(parts->fields, parts->count);

        highest = fields[i].id > highest ? fields[i].id : highest;
        highest = inner > highest ? inner : highest;
    }
    return highest;
}

/* Number the fields in a type, innermost first. The parts are made anew: types are immutable. */
static sinter_status
assign_type_ids(sinter__arena *arena, sinter_type *type, int64_t *next, sinter_error *err)
{
    const sinter_type_parts *parts = type->parts;
    sinter_field *fields = NULL;

    if (parts == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__doc_room(arena, parts->count, sizeof *fields, (void **)&fields, err));
    for (size_t i = 0; i < parts->count; i++) {
        fields[i] = parts->fields[i];
        SINTER__CHECK(assign_type_ids(arena, &fields[i].type, next, err));
        if (type->id == SINTER_TYPE_ROW && fields[i].id < 0) {
            fields[i].id = (*next)++;
        }
    }
    return put_parts(arena, fields, parts->count, type, err);
}

sinter_status
sinter__fields_assign_ids(sinter__arena *arena, sinter_field *columns, size_t count, int64_t next,
                          sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i].id < 0) {
            columns[i].id = next++;
        }
        SINTER__CHECK(assign_type_ids(arena, &columns[i].type, &next, err));
    }
    return SINTER_OK;
}

sinter_status
sinter_type_create(const sinter_env *env, const char *text, sinter_type **out, sinter_error *err)
{
    owned_type *made = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, text != NULL);
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->arena.env = env;
    SINTER__TRY(sinter__type_from_text(&made->arena, text, 0, &made->type, err));
    *out = &made->type;
    made = NULL;
out:
    sinter_type_destroy(made == NULL ? NULL : &made->type);
    return st;
}

void
sinter_type_destroy(sinter_type *type)
{
    owned_type *owned = (owned_type *)type;

    if (owned == NULL) {
        return;
    }
    const sinter_env *env = owned->arena.env;

    sinter__arena_fini(&owned->arena);
    sinter__free(env, owned);
}

static bool
types_equal(const sinter_type *a, const sinter_type *b, size_t depth)
{
    if (a->id != b->id || a->nullable != b->nullable || a->precision != b->precision ||
        a->scale != b->scale || (a->parts == NULL) != (b->parts == NULL)) {
        return false;
    }
    if (a->parts == NULL || depth == SINTER_TYPE_DEPTH_MAX) {
        return true;
    }
    if (a->parts->count != b->parts->count) {
        return false;
    }
    for (size_t i = 0; i < a->parts->count; i++) {
        const sinter_field *x = &a->parts->fields[i];
        const sinter_field *y = &b->parts->fields[i];

        if ((a->id == SINTER_TYPE_ROW && strcmp(x->name, y->name) != 0) ||
            !types_equal(&x->type, &y->type, depth + 1)) {
            return false;
        }
    }
    return true;
}

bool
sinter_type_equal(const sinter_type *a, const sinter_type *b)
{
    assert(a != NULL && b != NULL);
    return types_equal(a, b, 0);
}

/* May a name stand without quotes? */
static bool
is_plain_name(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '_' || *c == '$' || ((unsigned char)*c & 0x80u) != 0)) {
            return false;
        }
    }
    return name[0] != '\0';
}

/* Append a text in quotes; a quote in it is doubled. */
static sinter_status
print_quoted(const char *text, char quote, sinter_text *out, sinter_error *err)
{
    SINTER__CHECK(sinter_text_append(out, &quote, 1, err));
    for (const char *c = text; *c != '\0'; c++) {
        SINTER__CHECK(sinter_text_append(out, c, 1, err));
        if (*c == quote) {
            SINTER__CHECK(sinter_text_append(out, c, 1, err));
        }
    }
    return sinter_text_append(out, &quote, 1, err);
}

static sinter_status
print_type(const sinter_type *type, size_t depth, sinter_text *out, sinter_error *err);

static sinter_status
print_field(const sinter_field *field, size_t depth, sinter_text *out, sinter_error *err)
{
    SINTER__CHECK(is_plain_name(field->name) ? sinter__text_puts(out, field->name, err)
                                             : print_quoted(field->name, '`', out, err));
    SINTER__CHECK(sinter__text_puts(out, " ", err));
    SINTER__CHECK(print_type(&field->type, depth, out, err));
    if (field->description == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__text_puts(out, " COMMENT ", err));
    return print_quoted(field->description, '\'', out, err);
}

static sinter_status
print_type(const sinter_type *type, size_t depth, sinter_text *out, sinter_error *err)
{
    const sinter_type_parts *parts = type->parts;
    char text[SINTER_TYPE_TEXT_MAX];
    /* The count of a MULTISET is not written. */
    const size_t count = parts == NULL ? 0 : type->id == SINTER_TYPE_MULTISET ? 1 : parts->count;

    if (parts == NULL) {
        sinter_type_print(type, text);
        return sinter__text_puts(out, text, err);
    }
    if (depth == SINTER_TYPE_DEPTH_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a type nested deeper than %d",
                           SINTER_TYPE_DEPTH_MAX);
    }
    SINTER__CHECK(sinter__text_puts(out, sinter_type_name(type->id), err));
    SINTER__CHECK(sinter__text_puts(out, "<", err));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(sinter__text_puts(out, i == 0 ? "" : ", ", err));
        SINTER__CHECK(type->id == SINTER_TYPE_ROW
                          ? print_field(&parts->fields[i], depth + 1, out, err)
                          : print_type(&parts->fields[i].type, depth + 1, out, err));
    }
    return sinter__text_puts(out, type->nullable ? ">" : "> NOT NULL", err);
}

sinter_status
sinter_type_print_full(const sinter_type *type, sinter_text *out, sinter_error *err)
{
    SINTER__REQUIRE(err, type != NULL);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    return print_type(type, 0, out, err);
}
