#include "table/evolution.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "doc/nested.h"
#include "doc/text.h"
#include "doc/type.h"
#include "table/cast.h"

typedef enum step_kind {
    STEP_NULL, /* the file doesn't have it */
    STEP_SAME,
    STEP_CAST,
    STEP_NESTED
} step_kind;

typedef struct step step;

/** How a value becomes one of another type. */
struct step {
    step_kind kind;
    size_t source; /* columns: number among those that are needed; fields of a ROW: theirs */
    sinter_type from;
    sinter_type to;
    const char *column; /* for errors */
    step *parts;        /* STEP_NESTED: one per part of `to` */
    size_t part_count;
    /* Made values of the parts, of which a nested one is told by its offset in the part's text. */
    sinter_datum *values;
    size_t value_count;
    size_t value_capacity;
    sinter_datum *fields; /* of a ROW, side by side */
    sinter_text text;
};

struct sinter__evolution {
    const sinter_env *env;
    sinter__arena arena;
    step *steps;
    size_t step_count;
    size_t *needs;
    size_t need_count;
};

/* ---- making ---- */

static bool
is_same_type(const sinter_type *a, const sinter_type *b)
{
    if (a->id != b->id || a->precision != b->precision || a->scale != b->scale) {
        return false;
    }
    if (a->parts == NULL || b->parts == NULL) {
        return a->parts == b->parts;
    }
    if (a->parts->count != b->parts->count) {
        return false;
    }
    for (size_t i = 0; i < a->parts->count; i++) {
        if (a->parts->fields[i].id != b->parts->fields[i].id ||
            !is_same_type(&a->parts->fields[i].type, &b->parts->fields[i].type)) {
            return false;
        }
    }
    return true;
}

static sinter_status
make_step(sinter__evolution *self, const sinter_type *from, const sinter_type *to, step *out,
          sinter_error *err);

/* Where the file's ROW has the field; its count: nowhere. */
static size_t
find_field(const sinter_type *row, int64_t id)
{
    size_t i = 0;

    while (i < row->parts->count && row->parts->fields[i].id != id) {
        i++;
    }
    return i;
}

static sinter_status
make_nested(sinter__evolution *self, step *out, sinter_error *err)
{
    const sinter_type_parts *from = out->from.parts;
    const sinter_type_parts *to = out->to.parts;

    out->kind = STEP_NESTED;
    out->part_count = to->count;
    SINTER__CHECK(sinter__arena_take(&self->arena, (to->count + 1) * sizeof *out->parts,
                                     (void **)&out->parts, err));
    memset(out->parts, 0, (to->count + 1) * sizeof *out->parts);
    SINTER__CHECK(sinter__arena_take(&self->arena, (to->count + 1) * sizeof *out->fields,
                                     (void **)&out->fields, err));
    for (size_t i = 0; i < to->count; i++) {
        sinter_text_init(self->env, &out->parts[i].text);
    }
    for (size_t i = 0; i < to->count; i++) {
        const size_t source =
            out->to.id == SINTER_TYPE_ROW ? find_field(&out->from, to->fields[i].id) : i;

        out->parts[i].column = out->column;
        out->parts[i].source = source;
        if (source < from->count) {
            SINTER__CHECK(make_step(self, &from->fields[source].type, &to->fields[i].type,
                                    &out->parts[i], err));
        }
    }
    return SINTER_OK;
}

static sinter_status
make_step(sinter__evolution *self, const sinter_type *from, const sinter_type *to, step *out,
          sinter_error *err)
{
    char from_text[SINTER_TYPE_TEXT_MAX];
    char to_text[SINTER_TYPE_TEXT_MAX];

    out->from = *from;
    out->to = *to;
    if (is_same_type(from, to)) {
        out->kind = STEP_SAME;
        return SINTER_OK;
    }
    if (from->id == to->id && from->parts != NULL && to->parts != NULL) {
        return make_nested(self, out, err);
    }
    if (sinter__cast_is_known(from, to)) {
        out->kind = STEP_CAST;
        return SINTER_OK;
    }
    sinter_type_print(from, from_text);
    sinter_type_print(to, to_text);
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                       "column %.100s: values of %s in older files can't be cast to %s",
                       out->column, from_text, to_text);
}

static size_t
position_of(const sinter__columns *columns, size_t index)
{
    return columns->positions == NULL ? index : columns->positions[index];
}

/* Number of a needed column of the file, which is added if it is new. */
static size_t
need(sinter__evolution *self, size_t position)
{
    size_t i = 0;

    while (i < self->need_count && self->needs[i] != position) {
        i++;
    }
    if (i == self->need_count) {
        self->needs[self->need_count++] = position;
    }
    return i;
}

static sinter_status
make_column(sinter__evolution *self, const sinter__columns *file, const sinter_row_type *table,
            size_t position, step *out, sinter_error *err)
{
    const int64_t id = sinter_row_type_column_id(table, position);

    out->column = sinter_row_type_column_name(table, position);
    for (size_t i = 0; i < file->count; i++) {
        const size_t at = position_of(file, i);

        if (sinter_row_type_column_id(file->row_type, at) == id) {
            out->source = need(self, at);
            return make_step(self, sinter_row_type_column_type(file->row_type, at),
                             sinter_row_type_column_type(table, position), out, err);
        }
    }
    out->kind = STEP_NULL;
    return SINTER_OK;
}

sinter_status
sinter__evolution_create(const sinter_env *env, const sinter__columns *file,
                         const sinter__columns *table, sinter__evolution **out, sinter_error *err)
{
    sinter__evolution *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->arena.env = env;
    SINTER__TRY(sinter__arena_take(&self->arena, (table->count + 1) * sizeof *self->steps,
                                   (void **)&self->steps, err));
    memset(self->steps, 0, (table->count + 1) * sizeof *self->steps);
    SINTER__TRY(sinter__arena_take(&self->arena, (table->count + 1) * sizeof *self->needs,
                                   (void **)&self->needs, err));
    self->step_count = table->count;
    for (size_t i = 0; i < table->count; i++) {
        sinter_text_init(env, &self->steps[i].text);
    }
    for (size_t i = 0; i < table->count; i++) {
        SINTER__TRY(
            make_column(self, file, table->row_type, position_of(table, i), &self->steps[i], err));
    }
    *out = self;
    self = NULL;
out:
    sinter__evolution_destroy(self);
    return st;
}

static void
release_steps(const sinter_env *env, step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        release_steps(env, steps[i].parts, steps[i].parts == NULL ? 0 : steps[i].part_count);
        sinter__free(env, steps[i].values);
        sinter_text_fini(&steps[i].text);
    }
}

void
sinter__evolution_destroy(sinter__evolution *self)
{
    if (self != NULL) {
        const sinter_env *env = self->env;

        release_steps(env, self->steps, self->step_count);
        sinter__arena_fini(&self->arena);
        sinter__free(env, self);
    }
}

const size_t *
sinter__evolution_needs(const sinter__evolution *self, size_t *count_out)
{
    *count_out = self->need_count;
    return self->needs;
}

/* ---- applying ---- */

/* Values that were made stand in a text, which moves while it grows: they are told by offsets. */
static bool
is_in_text(const step *s, const sinter_datum *value)
{
    return !value->is_null &&
           (s->kind == STEP_NESTED || (s->kind == STEP_CAST && sinter__type_is_bytes(&s->to)));
}

static void
settle(const step *s, sinter_datum *value)
{
    if (is_in_text(s, value)) {
        value->as.bytes.data = (const uint8_t *)s->text.data + value->as.integer;
    }
}

static sinter_status
evolve(step *s, const sinter_datum *value, sinter_datum *out, sinter_error *err);

static sinter_status
add_value(step *s, const sinter_datum *value, sinter_error *err)
{
    if (s->value_count == s->value_capacity) {
        const size_t wanted = s->value_capacity == 0 ? 16 : s->value_capacity * 2;

        SINTER__CHECK(
            sinter__resize(s->text.env, (void **)&s->values, wanted, sizeof *s->values, err));
        s->value_capacity = wanted;
    }
    SINTER__CHECK(evolve(s, value, &s->values[s->value_count], err));
    s->value_count++;
    return SINTER_OK;
}

static sinter_status
add_elements(step *part, const sinter_array *elements, sinter_error *err)
{
    for (size_t i = 0; i < elements->count; i++) {
        sinter_datum element;

        SINTER__CHECK(sinter_array_get(elements, i, &element, err));
        SINTER__CHECK(add_value(part, &element, err));
    }
    return SINTER_OK;
}

static sinter_status
add_parts(step *s, sinter_bytes value, sinter_error *err)
{
    static const sinter_datum null = {.is_null = true};
    sinter_array keys;
    sinter_array values;

    if (s->to.id == SINTER_TYPE_ARRAY) {
        SINTER__CHECK(sinter_array_open(&s->from, value, &keys, err));
        return add_elements(&s->parts[0], &keys, err);
    }
    if (s->to.id != SINTER_TYPE_ROW) {
        SINTER__CHECK(sinter_map_open(&s->from, value, &keys, &values, err));
        SINTER__CHECK(add_elements(&s->parts[0], &keys, err));
        return add_elements(&s->parts[1], &values, err);
    }
    for (size_t i = 0; i < s->part_count; i++) {
        sinter_datum field = null;

        if (s->parts[i].kind != STEP_NULL) {
            SINTER__CHECK(sinter_nested_row_get(&s->from, value, s->parts[i].source, &field, err));
        }
        SINTER__CHECK(add_value(&s->parts[i], &field, err));
    }
    return SINTER_OK;
}

static sinter_status
append_form(step *s, sinter_error *err)
{
    sinter__nested_value made = {.type = &s->to, .first = s->fields, .count = s->part_count};
    const size_t begin = s->text.size;
    size_t size = 0;

    for (size_t p = 0; p < s->part_count; p++) {
        for (size_t i = 0; i < s->parts[p].value_count; i++) {
            settle(&s->parts[p], &s->parts[p].values[i]);
        }
    }
    if (s->to.id == SINTER_TYPE_ROW) {
        for (size_t p = 0; p < s->part_count; p++) {
            s->fields[p] = s->parts[p].values[0];
        }
    } else {
        made.first = s->parts[0].values;
        made.second = s->part_count > 1 ? s->parts[1].values : NULL;
        made.count = s->parts[0].value_count;
    }
    SINTER__CHECK(sinter__nested_size(&made, &size, err));
    SINTER__CHECK(sinter__text_fill(&s->text, '\0', size, err));
    sinter__nested_put(&made, (uint8_t *)s->text.data + begin);
    return SINTER_OK;
}

static sinter_status
evolve_nested(step *s, sinter_bytes value, sinter_datum *out, sinter_error *err)
{
    const size_t begin = s->text.size;

    for (size_t p = 0; p < s->part_count; p++) {
        s->parts[p].value_count = 0;
        sinter_text_reset(&s->parts[p].text);
    }
    SINTER__CHECK(add_parts(s, value, err));
    SINTER__CHECK(append_form(s, err));
    out->as.bytes.size = s->text.size - begin;
    out->as.integer = (int64_t)begin; /* where `data` will be */
    return SINTER_OK;
}

/* A text or bytes that were made anew are copied where they weren't put into the step's text. */
static sinter_status
evolve_cast(step *s, const sinter_datum *value, sinter_datum *out, sinter_error *err)
{
    const size_t begin = s->text.size;
    const sinter_status st = sinter__cast(&s->from, &s->to, value, &s->text, out, err);

    if (st == SINTER_E_INVALID) {
        sinter__fail_context(err, "column %.100s", s->column);
    }
    if (st != SINTER_OK || !is_in_text(s, out)) {
        return st;
    }
    if (s->text.size == begin) {
        SINTER__CHECK(sinter_text_append(&s->text, out->as.bytes.data, out->as.bytes.size, err));
    }
    out->as.integer = (int64_t)begin; /* where `data` will be */
    return SINTER_OK;
}

static sinter_status
evolve(step *s, const sinter_datum *value, sinter_datum *out, sinter_error *err)
{
    *out = *value;
    if (s->kind == STEP_NULL || value->is_null) {
        *out = (sinter_datum){.is_null = true};
        return SINTER_OK;
    }
    if (s->kind == STEP_CAST) {
        return evolve_cast(s, value, out, err);
    }
    return s->kind == STEP_NESTED ? evolve_nested(s, value->as.bytes, out, err) : SINTER_OK;
}

sinter_status
sinter__evolution_apply(sinter__evolution *self, const sinter_datum *values, sinter_datum *out,
                        sinter_error *err)
{
    static const sinter_datum null = {.is_null = true};

    for (size_t i = 0; i < self->step_count; i++) {
        step *s = &self->steps[i];

        sinter_text_reset(&s->text);
        SINTER__CHECK(evolve(s, s->kind == STEP_NULL ? &null : &values[s->source], &out[i], err));
        settle(s, &out[i]);
    }
    return SINTER_OK;
}
