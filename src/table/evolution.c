#include "table/evolution.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "doc/type.h"
#include "sinter/nested.h"
#include "table/cast.h"
#include "table/nest.h"

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
    sinter__nest *nest; /* the parent's part, or the column's */
};

struct sinter__evolution {
    const sinter_env *env;
    sinter__arena arena;
    step *steps;
    sinter__nest *nests; /* one a step */
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
    out->nest->owns_bytes = true;
    out->part_count = to->count;
    SINTER__CHECK(sinter__arena_take(&self->arena, (to->count + 1) * sizeof *out->parts,
                                     (void **)&out->parts, err));
    memset(out->parts, 0, (to->count + 1) * sizeof *out->parts);
    for (size_t i = 0; i < to->count; i++) {
        const size_t source =
            out->to.id == SINTER_TYPE_ROW ? find_field(&out->from, to->fields[i].id) : i;

        out->parts[i].nest = &out->nest->parts[i];
        out->parts[i].nest->owns_bytes = false; /* so far the file doesn't have it */
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
    out->nest->owns_bytes = false; /* they are the source's */
    if (is_same_type(from, to)) {
        out->kind = STEP_SAME;
        return SINTER_OK;
    }
    if (from->id == to->id && from->parts != NULL && to->parts != NULL) {
        return make_nested(self, out, err);
    }
    if (sinter__cast_is_known(from, to)) {
        out->kind = STEP_CAST;
        out->nest->owns_bytes = sinter__type_is_bytes(to);
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
    SINTER__CHECK(sinter__nest_init(&self->arena, sinter_row_type_column_type(table, position),
                                    out->column, out->nest, err));
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
    SINTER__TRY(sinter__arena_take(&self->arena, (table->count + 1) * sizeof *self->nests,
                                   (void **)&self->nests, err));
    memset(self->nests, 0, (table->count + 1) * sizeof *self->nests);
    SINTER__TRY(sinter__arena_take(&self->arena, (table->count + 1) * sizeof *self->needs,
                                   (void **)&self->needs, err));
    self->step_count = table->count;
    for (size_t i = 0; i < table->count; i++) {
        self->steps[i].nest = &self->nests[i];
        SINTER__TRY(
            make_column(self, file, table->row_type, position_of(table, i), &self->steps[i], err));
    }
    *out = self;
    self = NULL;
out:
    sinter__evolution_destroy(self);
    return st;
}

void
sinter__evolution_destroy(sinter__evolution *self)
{
    if (self != NULL) {
        const sinter_env *env = self->env;

        for (size_t i = 0; i < self->step_count; i++) {
            sinter__nest_fini(&self->nests[i]);
        }
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

static sinter_status
evolve(step *s, const sinter_datum *value, sinter_datum *out, sinter_error *err);

static sinter_status
add_value(step *s, const sinter_datum *value, sinter_error *err)
{
    sinter_datum *made = NULL;

    SINTER__CHECK(sinter__nest_add(s->nest, &made, err));
    return evolve(s, value, made, err);
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
evolve_nested(step *s, sinter_bytes value, sinter_datum *out, sinter_error *err)
{
    sinter__nest_begin(s->nest);
    SINTER__CHECK(add_parts(s, value, err));
    return sinter__nest_end(s->nest, out, err);
}

/* A text or bytes that were made anew are copied where they weren't put into the nest's text. */
static sinter_status
evolve_cast(step *s, const sinter_datum *value, sinter_datum *out, sinter_error *err)
{
    sinter_text *text = &s->nest->text;
    const size_t begin = text->size;
    const sinter_status st = sinter__cast(&s->from, &s->to, value, text, out, err);

    if (st == SINTER_E_INVALID) {
        sinter__fail_context(err, "column %.100s", s->column);
    }
    if (st != SINTER_OK || out->is_null || !s->nest->owns_bytes) {
        return st;
    }
    if (text->size == begin) {
        SINTER__CHECK(sinter_text_append(text, out->as.bytes.data, out->as.bytes.size, err));
    }
    sinter__nest_note(begin, out);
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

        sinter_text_reset(&s->nest->text);
        SINTER__CHECK(evolve(s, s->kind == STEP_NULL ? &null : &values[s->source], &out[i], err));
        sinter__nest_settle(s->nest, &out[i]);
    }
    return SINTER_OK;
}
