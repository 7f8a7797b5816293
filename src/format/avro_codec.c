#include "format/avro_codec.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sst/scratch.h"

enum {
    WANTS_MAX = 64, /* of a shape: a set of them is a word */
    ALIGN = 8,
    OP_SKIP = 16, /* beyond the forms */
    OP_SPARE = 17
};

typedef struct plan plan;

/** What to do with a field of the writer. */
typedef struct plan_step {
    uint8_t op;                    /* a form, OP_SKIP, OP_SPARE */
    int16_t branch;                /* of a union, where the value is; -1: there is no union */
    int16_t item_branch;           /* the same of a list's items */
    uint8_t branches;              /* of the union */
    uint32_t offset;               /* of the member; OP_SPARE: number of the spare */
    uint32_t has_bit;              /* 0: null is refused */
    uint32_t item_size;            /* of a list */
    const sinter__avro_node *type; /* OP_SKIP, OP_SPARE */
    const plan *inner;             /* of a record, or of a list's */
    const char *name;
} plan_step;

/** The steps of a record. */
struct plan {
    const plan_step *steps;
    uint32_t count;
    uint32_t has_offset;
};

struct sinter__avro_decoder {
    const sinter_env *env;
    sinter__arena arena; /* of plans and spares */
    const plan *root;
    size_t record_size;
    int16_t root_branch; /* -1: the file's records are no union */
    sinter__avro_spare *spares;
    sinter_bytes *spare_values;
    size_t spare_count;
    size_t spare_capacity;
    const char *lost;
    /* Memory of lists: what the scratch can't hold lies in the overflow until the next record,
     * before which the scratch grows by as much. */
    sinter__scratch scratch;
    size_t scratch_used;
    sinter__arena overflow;
    size_t overflow_bytes;
};

/** A plan that is being made. */
typedef struct planner {
    sinter__avro_decoder *decoder;
    const sinter__avro_node *record;
    const sinter__avro_shape *shape;
    const char *outer; /* field that holds the record; NULL: the root */
    uint32_t depth;
} planner;

static sinter_status
make_plan(const planner *self, const plan **out, sinter_error *err);

static sinter_status
unfit(sinter_error *err, const char *name, const sinter__avro_node *type)
{
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "field %s has type %s, which doesn't fit", name,
                       sinter__avro_type_name(type->type));
}

static bool
fits(sinter__avro_form form, sinter__avro_type type)
{
    switch (form) {
    case SINTER__AVRO_FORM_INT32:
    case SINTER__AVRO_FORM_INT64:
        return type == SINTER__AVRO_INT || type == SINTER__AVRO_LONG;
    case SINTER__AVRO_FORM_BYTES:
        return type == SINTER__AVRO_BYTES || type == SINTER__AVRO_STRING;
    case SINTER__AVRO_FORM_RECORD:
        return type == SINTER__AVRO_RECORD;
    case SINTER__AVRO_FORM_BYTES_LIST:
    case SINTER__AVRO_FORM_INT64_LIST:
    case SINTER__AVRO_FORM_RECORD_LIST:
    default:
        return type == SINTER__AVRO_ARRAY;
    }
}

static sinter_status
plan_items(const planner *self, const sinter__avro_want *want, const sinter__avro_node *array,
           plan_step *out, sinter_error *err)
{
    int32_t branch = -1;
    const sinter__avro_node *item = sinter__avro_node_unwrap(array->fields[0].type, &branch);
    sinter__avro_form form = SINTER__AVRO_FORM_BYTES;

    out->item_size = sizeof(sinter_bytes);
    if (want->form == SINTER__AVRO_FORM_INT64_LIST) {
        form = SINTER__AVRO_FORM_INT64;
        out->item_size = sizeof(int64_t);
    } else if (want->form == SINTER__AVRO_FORM_RECORD_LIST) {
        form = SINTER__AVRO_FORM_RECORD;
        out->item_size = want->shape->size;
    }
    if (item == NULL || !fits(form, item->type)) {
        return unfit(err, want->name, array->fields[0].type);
    }
    out->item_branch = (int16_t)branch;
    if (form == SINTER__AVRO_FORM_RECORD) {
        const planner inner = {self->decoder, item, want->shape, want->name, self->depth + 2};

        return make_plan(&inner, &out->inner, err);
    }
    return SINTER_OK;
}

/** The step of a field that is wanted. */
static sinter_status
plan_want(const planner *self, const sinter__avro_want *want, const sinter__avro_field *field,
          plan_step *out, sinter_error *err)
{
    int32_t branch = -1;
    const sinter__avro_node *value = sinter__avro_node_unwrap(field->type, &branch);

    if (value == NULL || !fits(want->form, value->type)) {
        return unfit(err, want->name, field->type);
    }
    *out = (plan_step){.op = (uint8_t)want->form,
                       .branch = (int16_t)branch,
                       .item_branch = -1,
                       .branches = (uint8_t)(branch < 0 ? 0 : field->type->field_count),
                       .offset = want->offset,
                       .has_bit = want->has_bit,
                       .name = want->name};
    if (want->form == SINTER__AVRO_FORM_RECORD) {
        const planner inner = {self->decoder, value, want->shape, want->name, self->depth + 1};

        return make_plan(&inner, &out->inner, err);
    }
    return want->form < SINTER__AVRO_FORM_RECORD ? SINTER_OK
                                                 : plan_items(self, want, value, out, err);
}

/** The step of a field that nobody wants: a spare, or one that is stepped over. */
static sinter_status
plan_other(const planner *self, const sinter__avro_field *field, plan_step *out, sinter_error *err)
{
    sinter__avro_decoder *decoder = self->decoder;

    *out = (plan_step){.op = OP_SKIP, .branch = -1, .type = field->type, .name = field->name};
    if (self->depth > 1) {
        decoder->lost = decoder->lost == NULL ? field->name : decoder->lost;
        return SINTER_OK;
    }
    if (decoder->spare_count == decoder->spare_capacity) {
        const size_t capacity = decoder->spare_capacity == 0 ? 4 : 2 * decoder->spare_capacity;

        SINTER__CHECK(sinter__resize(decoder->env, (void **)&decoder->spares, capacity,
                                     sizeof *decoder->spares, err));
        decoder->spare_capacity = capacity;
    }
    out->op = OP_SPARE;
    out->offset = (uint32_t)decoder->spare_count;
    decoder->spares[decoder->spare_count++] =
        (sinter__avro_spare){self->outer, field->name, field->type};
    return SINTER_OK;
}

/** Number of the want of this name; the count: there is none. */
static uint32_t
find_want(const sinter__avro_shape *shape, const char *name)
{
    uint32_t at = 0;

    while (at < shape->count && strcmp(shape->wants[at].name, name) != 0) {
        at++;
    }
    return at;
}

/* Shapes inside shapes: as deep as these are. */
static sinter_status
make_plan(const planner *self, const plan **out, sinter_error *err)
{
    const sinter__avro_node *record = self->record;
    const sinter__avro_shape *shape = self->shape;
    sinter__arena *arena = &self->decoder->arena;
    uint64_t seen = 0;
    plan *made = NULL;
    plan_step *steps = NULL;

    assert(shape->count <= WANTS_MAX && shape->size % ALIGN == 0);
    SINTER__CHECK(sinter__arena_take(arena, sizeof *made, (void **)&made, err));
    SINTER__CHECK(
        sinter__arena_take(arena, record->field_count * sizeof *steps, (void **)&steps, err));
    for (uint32_t i = 0; i < record->field_count; i++) {
        const uint32_t want = find_want(shape, record->fields[i].name);

        if (want == shape->count) {
            SINTER__CHECK(plan_other(self, &record->fields[i], &steps[i], err));
            continue;
        }
        if ((seen & (UINT64_C(1) << want)) != 0) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "schema: two fields are named %s",
                               record->fields[i].name);
        }
        seen |= UINT64_C(1) << want;
        SINTER__CHECK(plan_want(self, &shape->wants[want], &record->fields[i], &steps[i], err));
    }
    for (uint32_t i = 0; i < shape->count; i++) {
        if (shape->wants[i].has_bit == 0 && (seen & (UINT64_C(1) << i)) == 0) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "schema: there is no field %s",
                               shape->wants[i].name);
        }
    }
    *made = (plan){steps, record->field_count, shape->has_offset};
    *out = made;
    return SINTER_OK;
}

static sinter_status
make_root(sinter__avro_decoder *self, const sinter__avro_schema *schema,
          const sinter__avro_shape *shape, sinter_error *err)
{
    int32_t branch = -1;
    const sinter__avro_node *root =
        sinter__avro_node_unwrap(sinter__avro_schema_root(schema), &branch);
    const planner whole = {self, root, shape, NULL, 0};

    if (root == NULL || root->type != SINTER__AVRO_RECORD) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "schema: a file of %s, not of records",
                           sinter__avro_type_name(sinter__avro_schema_root(schema)->type));
    }
    self->root_branch = (int16_t)branch;
    self->record_size = shape->size;
    SINTER__CHECK(make_plan(&whole, &self->root, err));
    return SINTER__NEW(self->env, self->spare_values, self->spare_count, err);
}

sinter_status
sinter__avro_decoder_create(const sinter_env *env, const sinter__avro_schema *schema,
                            const sinter__avro_shape *shape, sinter__avro_decoder **out,
                            sinter_error *err)
{
    sinter__avro_decoder *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->arena.env = env;
    self->overflow.env = env;
    SINTER__TRY(make_root(self, schema, shape, err));
    *out = self;
    self = NULL;
out:
    sinter__avro_decoder_destroy(self);
    return st;
}

void
sinter__avro_decoder_destroy(sinter__avro_decoder *decoder)
{
    if (decoder == NULL) {
        return;
    }
    sinter_memory_release(decoder->env->memory, decoder->overflow_bytes);
    sinter__arena_fini(&decoder->overflow);
    sinter__scratch_fini(decoder->env, &decoder->scratch);
    sinter__arena_fini(&decoder->arena);
    sinter__free(decoder->env, decoder->spare_values);
    sinter__free(decoder->env, decoder->spares);
    sinter__free(decoder->env, decoder);
}

const sinter__avro_spare *
sinter__avro_decoder_spares(const sinter__avro_decoder *decoder, size_t *count_out)
{
    *count_out = decoder->spare_count;
    return decoder->spares;
}

const char *
sinter__avro_decoder_lost(const sinter__avro_decoder *decoder)
{
    return decoder->lost;
}

const sinter_bytes *
sinter__avro_decoder_spare_values(const sinter__avro_decoder *decoder)
{
    return decoder->spare_values;
}

/** Memory for the lists of this record. */
static sinter_status
take(sinter__avro_decoder *self, size_t size, void **out, sinter_error *err)
{
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size <= self->scratch.capacity - self->scratch_used) {
        *out = self->scratch.data + self->scratch_used;
        self->scratch_used += size;
        return SINTER_OK;
    }
    SINTER__CHECK(sinter_memory_reserve(self->env->memory, size, err));
    self->overflow_bytes += size;
    return sinter__arena_take(&self->overflow, size, out, err);
}

/** Forget the lists of the last record. */
static sinter_status
reset(sinter__avro_decoder *self, sinter_error *err)
{
    const size_t overflow = self->overflow_bytes;

    self->scratch_used = 0;
    if (overflow == 0) {
        return SINTER_OK;
    }
    sinter__arena_fini(&self->overflow);
    sinter_memory_release(self->env->memory, overflow);
    self->overflow_bytes = 0;
    return sinter__scratch_fit(self->env, &self->scratch, self->scratch.capacity + overflow, err);
}

static sinter_status
damaged(sinter_error *err, const char *name)
{
    return SINTER__ERR(err, SINTER_E_CORRUPT, "field %s is damaged or cut off", name);
}

static sinter_status
run_plan(sinter__avro_decoder *self, const plan *steps, sinter__avro_cursor *cursor,
         uint8_t *record, sinter_error *err);

/** Read which branch a union has. SINTER_END: the value is null. */
static sinter_status
read_branch(sinter__avro_cursor *cursor, const plan_step *step, sinter_error *err)
{
    int64_t branch = 0;

    if (!sinter__avro_get_long(cursor, &branch) || branch < 0 || branch >= step->branches) {
        return damaged(err, step->name);
    }
    if (branch == step->branch) {
        return SINTER_OK;
    }
    if (step->has_bit == 0) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "field %s is null, which it can't be",
                           step->name);
    }
    return SINTER_END;
}

static sinter_status
read_item(sinter__avro_decoder *self, const plan_step *step, sinter__avro_cursor *cursor,
          uint8_t *item, sinter_error *err)
{
    int64_t branch = (int64_t)step->item_branch;

    assert(item != NULL);
    if (step->item_branch >= 0 && !sinter__avro_get_long(cursor, &branch)) {
        return damaged(err, step->name);
    }
    if (branch != step->item_branch) {
        const int64_t null = INT64_MIN;

        if (branch != 1 - step->item_branch || step->op != SINTER__AVRO_FORM_INT64_LIST) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "field %s has a null in its list, or less",
                               step->name);
        }
        memcpy(item, &null, sizeof null);
        return SINTER_OK;
    }
    switch (step->op) {
    case SINTER__AVRO_FORM_INT64_LIST:
        return sinter__avro_get_long(cursor, (int64_t *)(void *)item) ? SINTER_OK
                                                                      : damaged(err, step->name);
    case SINTER__AVRO_FORM_BYTES_LIST:
        return sinter__avro_get_bytes(cursor, (sinter_bytes *)(void *)item)
                   ? SINTER_OK
                   : damaged(err, step->name);
    default:
        return run_plan(self, step->inner, cursor, item, err);
    }
}

/** Make room for `more` items behind those that are there. */
static sinter_status
grow_list(sinter__avro_decoder *self, const plan_step *step, sinter__avro_list *list, size_t more,
          uint8_t **out, sinter_error *err)
{
    size_t bytes = 0;
    void *items = NULL;

    if (__builtin_add_overflow(list->count, more, &bytes) ||
        __builtin_mul_overflow(bytes, step->item_size, &bytes) || bytes > SIZE_MAX / 2) {
        return damaged(err, step->name);
    }
    SINTER__CHECK(take(self, bytes, &items, err));
    if (list->count > 0) {
        memcpy(items, list->items, list->count * step->item_size);
    }
    if (step->inner != NULL) { /* what is absent in them is zero */
        memset((uint8_t *)items + list->count * step->item_size, 0, more * step->item_size);
    }
    list->items = items;
    *out = (uint8_t *)items + list->count * step->item_size;
    return SINTER_OK;
}

/* Usually one block and its end. Every item has a byte at least, so a count that the bytes can't
 * hold is refused before there is memory for it. */
static sinter_status
read_list(sinter__avro_decoder *self, const plan_step *step, sinter__avro_cursor *cursor,
          uint8_t *member, sinter_error *err)
{
    sinter__avro_list list = {0};
    uint8_t *item = NULL;
    int64_t count = 0;
    int64_t bytes = 0;

    for (;;) {
        if (!sinter__avro_get_long(cursor, &count) || count == INT64_MIN ||
            (count < 0 && !sinter__avro_get_long(cursor, &bytes))) {
            return damaged(err, step->name);
        }
        count = count < 0 ? -count : count;
        if (count > cursor->end - cursor->at) {
            return damaged(err, step->name);
        }
        if (count == 0) {
            memcpy(member, &list, sizeof list);
            return SINTER_OK;
        }
        SINTER__CHECK(grow_list(self, step, &list, (size_t)count, &item, err));
        for (int64_t i = 0; i < count; i++) {
            SINTER__CHECK(read_item(self, step, cursor, item, err));
            item += step->item_size;
        }
        list.count += (size_t)count;
    }
}

static sinter_status
read_int32(sinter__avro_cursor *cursor, const plan_step *step, uint8_t *member, sinter_error *err)
{
    int64_t value = 0;
    int32_t small = 0;

    if (!sinter__avro_get_long(cursor, &value)) {
        return damaged(err, step->name);
    }
    if (value < INT32_MIN || value > INT32_MAX) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "field %s has %" PRId64 ", which is no int",
                           step->name, value);
    }
    small = (int32_t)value;
    memcpy(member, &small, sizeof small);
    return SINTER_OK;
}

/** Read the value of a step that has one. */
static sinter_status
run_step(sinter__avro_decoder *self, const plan_step *step, sinter__avro_cursor *cursor,
         uint8_t *record, sinter_error *err)
{
    uint8_t *member = record + step->offset;
    const uint8_t *begin = cursor->at;

    switch (step->op) {
    case SINTER__AVRO_FORM_INT32:
        return read_int32(cursor, step, member, err);
    case SINTER__AVRO_FORM_INT64:
        return sinter__avro_get_long(cursor, (int64_t *)(void *)member) ? SINTER_OK
                                                                        : damaged(err, step->name);
    case SINTER__AVRO_FORM_BYTES:
        return sinter__avro_get_bytes(cursor, (sinter_bytes *)(void *)member)
                   ? SINTER_OK
                   : damaged(err, step->name);
    case SINTER__AVRO_FORM_RECORD:
        return run_plan(self, step->inner, cursor, member, err);
    case OP_SKIP:
    case OP_SPARE:
        if (!sinter__avro_skip(cursor, step->type)) {
            return damaged(err, step->name);
        }
        if (step->op == OP_SPARE) {
            self->spare_values[step->offset] = (sinter_bytes){begin, (size_t)(cursor->at - begin)};
        }
        return SINTER_OK;
    default:
        return read_list(self, step, cursor, member, err);
    }
}

/* Plans inside plans: as deep as the shapes are. */
static sinter_status
run_plan(sinter__avro_decoder *self, const plan *steps, sinter__avro_cursor *cursor,
         uint8_t *record, sinter_error *err)
{
    const plan_step *end = steps->steps + steps->count;
    uint32_t has = 0;

    for (const plan_step *at = steps->steps; at < end; at++) {
        if (at->branch >= 0) {
            const sinter_status st = read_branch(cursor, at, err);

            if (st == SINTER_END) {
                continue;
            }
            SINTER__CHECK(st);
        }
        SINTER__CHECK(run_step(self, at, cursor, record, err));
        has |= at->has_bit;
    }
    if (has != 0) {
        memcpy(record + steps->has_offset, &has, sizeof has);
    }
    return SINTER_OK;
}

sinter_status
sinter__avro_decoder_next(sinter__avro_decoder *decoder, sinter__avro_cursor *cursor, void *record,
                          sinter_error *err)
{
    int64_t branch = (int64_t)decoder->root_branch;

    SINTER__CHECK(reset(decoder, err));
    memset(record, 0, decoder->record_size);
    if (decoder->spare_count > 0) {
        memset(decoder->spare_values, 0, decoder->spare_count * sizeof *decoder->spare_values);
    }
    if (decoder->root_branch >= 0 &&
        (!sinter__avro_get_long(cursor, &branch) || branch != decoder->root_branch)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a record is null or damaged");
    }
    return run_plan(decoder, decoder->root, cursor, record, err);
}
