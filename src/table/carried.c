#include "table/carried.h"

#include <assert.h>
#include <string.h>

enum { KEPT_MAX = 64 }; /* the schema is read again for each */

static const sinter__carried_field not_kept = {
    .name = "?", .null_branch = -1, .obstacle = "it was not kept when its file was read"};

const sinter__carried sinter__carried_nothing_kept = {&not_kept, 1, 0};

/** Branch of null in a field's union; -1: none. */
static int32_t
null_branch(const sinter__avro_node *type)
{
    for (uint32_t i = 0; type->type == SINTER__AVRO_UNION && i < type->field_count; i++) {
        if (type->fields[i].type->type == SINTER__AVRO_NULL) {
            return (int32_t)i;
        }
    }
    return -1;
}

static sinter_status
describe(sinter__arena *arena, const sinter__avro_spare *spare, sinter_bytes schema,
         bool may_be_kept, sinter__carried_field *out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    *out = (sinter__carried_field){.null_branch = null_branch(spare->type)};
    SINTER__CHECK(sinter__arena_strdup(arena, spare->outer, &out->outer, err));
    SINTER__CHECK(sinter__arena_strdup(arena, spare->name, &out->name, err));
    if (!may_be_kept) {
        out->obstacle = "there are too many of them";
        return SINTER_OK;
    }
    if (spare->outer != NULL && strcmp(spare->outer, "_FILE") != 0) {
        out->obstacle = "it lies too deep inside";
        return SINTER_OK;
    }
    st = sinter__avro_schema_print_field(arena, schema, spare->outer, spare->name, &out->json, err);
    if (st == SINTER_E_UNSUPPORTED) {
        out->obstacle = "its type is defined outside of it";
        return SINTER_OK;
    }
    return st;
}

sinter_status
sinter__carried_create(sinter__arena *arena, const sinter__avro_decoder *decoder,
                       sinter_bytes schema, const sinter__carried **out, sinter_error *err)
{
    size_t count = 0;
    const sinter__avro_spare *spares = sinter__avro_decoder_spares(decoder, &count);
    const char *lost = sinter__avro_decoder_lost(decoder);
    const size_t total = count + (lost == NULL ? 0 : 1);
    sinter__carried_field *fields = NULL;
    sinter__carried *carried = NULL;

    *out = NULL;
    if (total == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(arena, total * sizeof *fields, (void **)&fields, err));
    SINTER__CHECK(sinter__arena_take(arena, sizeof *carried, (void **)&carried, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(describe(arena, &spares[i], schema, i < KEPT_MAX, &fields[i], err));
    }
    if (lost != NULL) {
        fields[count] =
            (sinter__carried_field){.null_branch = -1, .obstacle = "it lies too deep inside"};
        SINTER__CHECK(sinter__arena_strdup(arena, lost, &fields[count].name, err));
    }
    *carried = (sinter__carried){fields, total, count};
    *out = carried;
    return SINTER_OK;
}

static bool
is_same_place(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/** Number of the field of this place and name; the count: there is none. */
static size_t
find_field(const sinter__carried *carried, const sinter__carried_field *field)
{
    size_t at = 0;

    while (at < carried->count && (strcmp(carried->fields[at].name, field->name) != 0 ||
                                   !is_same_place(carried->fields[at].outer, field->outer))) {
        at++;
    }
    return at;
}

static sinter_status
refuse(sinter_error *err, const char *name, const char *why)
{
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "the unknown field %s can't be carried over: %s",
                       name, why);
}

/** Do all records have a value for this field, or may they have null? */
static sinter_status
check_null(const sinter__carried_field *field, bool is_missing, sinter_error *err)
{
    if (is_missing && field->null_branch < 0) {
        return refuse(err, field->name, "not all records have it, and it can't be null");
    }
    return SINTER_OK;
}

static sinter_status
note_field(sinter__carried_union *self, const sinter__carried_field *field, bool is_first,
           sinter_error *err)
{
    if (field->obstacle != NULL) {
        return refuse(err, field->name, field->obstacle);
    }
    for (size_t i = 0; i < self->count; i++) {
        const sinter__carried_field *other = self->fields[i];

        if (strcmp(other->name, field->name) == 0 && is_same_place(other->outer, field->outer)) {
            return strcmp(other->json, field->json) == 0
                       ? SINTER_OK
                       : refuse(err, field->name, "two files define it differently");
        }
    }
    SINTER__CHECK(check_null(field, !is_first, err));
    if (self->count == self->capacity) {
        const size_t capacity = self->capacity == 0 ? 4 : 2 * self->capacity;

        SINTER__CHECK(
            sinter__resize(self->env, (void **)&self->fields, capacity, sizeof *self->fields, err));
        self->capacity = capacity;
    }
    self->fields[self->count++] = field;
    return SINTER_OK;
}

sinter_status
sinter__carried_union_note(sinter__carried_union *self, const sinter__carried *carried,
                           sinter_error *err)
{
    static const sinter__carried nothing = {NULL, 0, 0};
    const bool is_first = self->last == NULL;

    carried = carried == NULL ? &nothing : carried;
    if (carried == self->last) {
        return SINTER_OK;
    }
    for (size_t i = 0; i < carried->count; i++) {
        SINTER__CHECK(note_field(self, &carried->fields[i], is_first, err));
    }
    for (size_t i = 0; i < self->count; i++) {
        SINTER__CHECK(check_null(self->fields[i],
                                 find_field(carried, self->fields[i]) == carried->count, err));
    }
    self->last = carried;
    return SINTER_OK;
}

void
sinter__carried_union_fini(sinter__carried_union *self)
{
    if (self->env != NULL) {
        sinter__free(self->env, self->fields);
        memset(self, 0, sizeof *self);
    }
}

size_t
sinter__carried_union_json_size(const sinter__carried_union *self, const char *outer)
{
    size_t size = 0;

    for (size_t i = 0; i < self->count; i++) {
        size +=
            is_same_place(self->fields[i]->outer, outer) ? strlen(self->fields[i]->json) + 1 : 0;
    }
    return size;
}

char *
sinter__carried_union_json_put(const sinter__carried_union *self, const char *outer, char *to)
{
    for (size_t i = 0; i < self->count; i++) {
        if (is_same_place(self->fields[i]->outer, outer)) {
            const size_t size = strlen(self->fields[i]->json);

            *to = ',';
            memcpy(to + 1, self->fields[i]->json, size);
            to += size + 1;
        }
    }
    return to;
}

/** The bytes of a field of a record; of size 0: it has none. */
static sinter_bytes
value_of(const sinter__cargo *cargo, const sinter__carried_field *field)
{
    const size_t at = cargo->carried == NULL ? 0 : find_field(cargo->carried, field);

    if (cargo->carried == NULL || at >= cargo->carried->value_count) {
        return (sinter_bytes){0};
    }
    return cargo->values[at];
}

size_t
sinter__carried_union_room(const sinter__carried_union *self, const sinter__cargo *cargo)
{
    size_t room = 0;

    for (size_t i = 0; i < self->count; i++) {
        room += value_of(cargo, self->fields[i]).size + SINTER__AVRO_LONG_BYTES_MAX;
    }
    return room;
}

uint8_t *
sinter__carried_union_put(const sinter__carried_union *self, const sinter__cargo *cargo,
                          const char *outer, uint8_t *to)
{
    for (size_t i = 0; i < self->count; i++) {
        const sinter_bytes value = value_of(cargo, self->fields[i]);

        if (!is_same_place(self->fields[i]->outer, outer)) {
            continue;
        }
        if (value.size > 0) {
            memcpy(to, value.data, value.size);
            to += value.size;
        } else if (self->fields[i]->null_branch >= 0) {
            to = sinter__avro_put_long(to, self->fields[i]->null_branch);
        }
    }
    return to;
}
