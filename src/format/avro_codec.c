#include "format/avro_codec.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sst/scratch.h"

enum {
    WANTS_MAX = 64, /* of a shape: a set of them is a word */
    ALIGN = 8,
    OP_SKIP = 16, /* beyond the forms */
    OP_SPARE = 17,
    NO_BYTE = 256 /* none that a byte equals */
};

typedef struct plan plan;

/** What to do with a field of the writer. */
typedef struct plan_step {
    uint8_t op;                    /* a form, OP_SKIP, OP_SPARE */
    uint8_t branches;              /* of the union */
    int16_t branch;                /* of a union, where the value is; -1: there is no union */
    uint16_t value_byte;           /* how that branch begins, and the one of null */
    uint16_t null_byte;            /* NO_BYTE: there is none */
    uint32_t offset;               /* of the member; OP_SPARE: number of the spare */
    uint32_t has_bit;              /* 0: null is refused */
    uint32_t has_offset;           /* of the word that the bit is set in */
    uint32_t inside;               /* of a record: how many steps, which follow, are its fields */
    uint32_t item_size;            /* of a list */
    int16_t item_branch;           /* as `branch`, of a list's items */
    const sinter__avro_node *type; /* OP_SKIP, OP_SPARE */
    const plan *inner;             /* of a list's records */
    const char *name;
} plan_step;

/** The steps of a record, and of those that it holds as such. */
struct plan {
    plan_step *steps;
    uint32_t count;
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
    uint32_t offset; /* of the struct, in the one of `plan` */
    plan *plan;
} planner;

static sinter_status
make_plan(const planner *self, const plan **out, sinter_error *err);

static sinter_status
plan_fields(const planner *self, sinter_error *err);

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
        const planner inner = {.decoder = self->decoder,
                               .record = item,
                               .shape = want->shape,
                               .outer = want->name,
                               .depth = self->depth + 2};

        return make_plan(&inner, &out->inner, err);
    }
    return SINTER_OK;
}

/** The steps of a record that is wanted: its own, which `out` is, and those of its fields. */
static sinter_status
plan_record(const planner *self, const sinter__avro_want *want, const sinter__avro_node *record,
            plan_step *out, sinter_error *err)
{
    const uint32_t first = self->plan->count;
    const planner inner = {.decoder = self->decoder,
                           .record = record,
                           .shape = want->shape,
                           .outer = want->name,
                           .depth = self->depth + 1,
                           .offset = self->offset + want->offset,
                           .plan = self->plan};

    SINTER__CHECK(plan_fields(&inner, err));
    out->inside = self->plan->count - first;
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
                       .value_byte = (uint16_t)(branch == 1 ? 2 : 0),
                       .offset = self->offset + want->offset,
                       .has_bit = want->has_bit,
                       .has_offset = self->offset + self->shape->has_offset,
                       .name = want->name};
    out->null_byte = (uint16_t)(out->branches == 2 ? 2 - out->value_byte : NO_BYTE);
    if (want->form == SINTER__AVRO_FORM_RECORD) {
        return plan_record(self, want, value, out, err);
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

/** How many steps a record takes at most. Shapes inside shapes: as deep as these are. */
static uint32_t
count_steps(const sinter__avro_node *record, const sinter__avro_shape *shape)
{
    uint32_t count = record->field_count;

    for (uint32_t i = 0; i < record->field_count; i++) {
        const uint32_t want = find_want(shape, record->fields[i].name);
        int32_t branch = -1;
        const sinter__avro_node *value = sinter__avro_node_unwrap(record->fields[i].type, &branch);

        if (want < shape->count && shape->wants[want].form == SINTER__AVRO_FORM_RECORD &&
            value != NULL && value->type == SINTER__AVRO_RECORD) {
            count += count_steps(value, shape->wants[want].shape);
        }
    }
    return count;
}

/* Put the steps of a record's fields behind those of the plan. Shapes inside shapes, too. */
static sinter_status
plan_fields(const planner *self, sinter_error *err)
{
    const sinter__avro_node *record = self->record;
    const sinter__avro_shape *shape = self->shape;
    uint64_t seen = 0;

    assert(shape->count <= WANTS_MAX && shape->size % ALIGN == 0);
    for (uint32_t i = 0; i < record->field_count; i++) {
        const uint32_t want = find_want(shape, record->fields[i].name);
        plan_step *step = &self->plan->steps[self->plan->count++];

        if (want == shape->count) {
            SINTER__CHECK(plan_other(self, &record->fields[i], step, err));
            continue;
        }
        if ((seen & (UINT64_C(1) << want)) != 0) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "schema: two fields are named %s",
                               record->fields[i].name);
        }
        seen |= UINT64_C(1) << want;
        SINTER__CHECK(plan_want(self, &shape->wants[want], &record->fields[i], step, err));
    }
    for (uint32_t i = 0; i < shape->count; i++) {
        if (shape->wants[i].has_bit == 0 && (seen & (UINT64_C(1) << i)) == 0) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "schema: there is no field %s",
                               shape->wants[i].name);
        }
    }
    return SINTER_OK;
}

static sinter_status
make_plan(const planner *self, const plan **out, sinter_error *err)
{
    sinter__arena *arena = &self->decoder->arena;
    planner whole = *self;
    plan *made = NULL;

    SINTER__CHECK(sinter__arena_take(arena, sizeof *made, (void **)&made, err));
    *made = (plan){0};
    SINTER__CHECK(sinter__arena_take(arena,
                                     count_steps(self->record, self->shape) * sizeof *made->steps,
                                     (void **)&made->steps, err));
    whole.plan = made;
    SINTER__CHECK(plan_fields(&whole, err));
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
    const planner whole = {.decoder = self, .record = root, .shape = shape};

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

/** Read which branch a union has, however it is written. SINTER_END: the value is null. */
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

/* A list of numbers that may be null as most are: one block of less than 64, none of them null,
 * each of a byte, and memory is there for them. @return false: it is another one, and nothing was
 * read */
static bool
read_short_numbers(sinter__avro_decoder *self, const plan_step *step, sinter__avro_cursor *cursor,
                   uint8_t *member)
{
    const uint8_t value_byte = (uint8_t)(2 * step->item_branch);
    const uint8_t *at = cursor->at;
    const size_t there = (size_t)(cursor->end - at);
    const size_t count = there == 0 ? 0 : (size_t)at[0] / 2;
    const size_t room = (self->scratch.capacity - self->scratch_used) / sizeof(int64_t);
    int64_t *items = NULL;
    sinter__avro_list list = {0};

    if (step->item_branch < 0 || count == 0 || there < 2 * count + 2 || (at[0] & 0x81) != 0 ||
        count > room) {
        return false;
    }
    items = (int64_t *)(void *)(self->scratch.data + self->scratch_used);
    at++;
    for (size_t i = 0; i < count; i++, at += 2) {
        if (at[0] != value_byte || at[1] >= 0x80) {
            return false;
        }
        items[i] = (int64_t)(at[1] >> 1) ^ -(int64_t)(at[1] & 1);
    }
    if (*at != 0) {
        return false;
    }
    self->scratch_used += count * sizeof *items;
    list = (sinter__avro_list){items, count};
    memcpy(member, &list, sizeof list);
    cursor->at = at + 1;
    return true;
}

static sinter_status
read_items(sinter__avro_decoder *self, const plan_step *step, sinter__avro_cursor *cursor,
           size_t count, uint8_t *items, sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(read_item(self, step, cursor, items + i * step->item_size, err));
    }
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
        SINTER__CHECK(read_items(self, step, cursor, (size_t)count, item, err));
        list.count += (size_t)count;
    }
}

static sinter_status
no_int(sinter_error *err, const char *name, int64_t value)
{
    return SINTER__ERR(err, SINTER_E_CORRUPT, "field %s has %" PRId64 ", which is no int", name,
                       value);
}

/** The values of steps that are not read in place: lists, and what is stepped over. */
static sinter_status
run_other(sinter__avro_decoder *self, const plan_step *step, sinter__avro_cursor *cursor,
          uint8_t *record, sinter_error *err)
{
    const uint8_t *begin = cursor->at;

    if (step->op == SINTER__AVRO_FORM_INT64_LIST &&
        read_short_numbers(self, step, cursor, record + step->offset)) {
        return SINTER_OK;
    }
    if (step->op < OP_SKIP) {
        if (begin < cursor->end && *begin == 0) { /* empty, as it is in the record already */
            cursor->at++;
            return SINTER_OK;
        }
        return read_list(self, step, cursor, record + step->offset, err);
    }
    if (!sinter__avro_skip(cursor, step->type)) {
        return damaged(err, step->name);
    }
    if (step->op == OP_SPARE) {
        self->spare_values[step->offset] = (sinter_bytes){begin, (size_t)(cursor->at - begin)};
    }
    return SINTER_OK;
}

/** As sinter__avro_take_long() of an int; NULL also: the number is none, and `out` has it. */
static inline const uint8_t *
take_int(const uint8_t *at, const uint8_t *end, int64_t *out)
{
    at = sinter__avro_take_long(at, end, out);
    return at == NULL || *out < INT32_MIN || *out > INT32_MAX ? NULL : at;
}

static inline const uint8_t *
take_bytes(const uint8_t *at, const uint8_t *end, uint8_t *member)
{
    int64_t size = 0;
    sinter_bytes bytes = {0};

    at = sinter__avro_take_long(at, end, &size);
    if (at == NULL || (uint64_t)size > (uint64_t)(end - at)) {
        return NULL;
    }
    bytes = (sinter_bytes){at, (size_t)size};
    memcpy(member, &bytes, sizeof bytes);
    return at + size;
}

/** A number where it is damaged, or none that fits. */
static sinter_status
bad_number(const plan_step *step, int64_t value, sinter_error *err)
{
    return step->op == SINTER__AVRO_FORM_INT32 && (value < INT32_MIN || value > INT32_MAX)
               ? no_int(err, step->name, value)
               : damaged(err, step->name);
}

/** See whether a union has a value; `*at` moves behind the branch. SINTER_END: it is null. */
static inline sinter_status
take_branch(const plan_step *step, const uint8_t **at, const uint8_t *end, sinter_error *err)
{
    sinter__avro_cursor cursor = {*at, end};
    sinter_status st = SINTER_OK;

    if (*at < end && **at == step->value_byte) {
        (*at)++;
        return SINTER_OK;
    }
    if (*at < end && **at == step->null_byte && step->has_bit != 0) {
        (*at)++;
        return SINTER_END;
    }
    st = read_branch(&cursor, step, err);
    *at = cursor.at;
    return st;
}

/** Read the value of a step that has one; `*at` moves behind it. */
static inline sinter_status
run_step(sinter__avro_decoder *self, const plan_step *step, const uint8_t **at, const uint8_t *end,
         uint8_t *record, sinter_error *err)
{
    uint8_t *member = record + step->offset;
    const uint8_t *behind = NULL;
    int64_t value = 0;
    int32_t small = 0;

    assert(*at != NULL);
    if (step->op == SINTER__AVRO_FORM_BYTES) {
        behind = take_bytes(*at, end, member);
    } else if (step->op == SINTER__AVRO_FORM_INT64) {
        behind = sinter__avro_take_long(*at, end, &value);
        memcpy(member, &value, sizeof value);
    } else if (step->op == SINTER__AVRO_FORM_INT32) {
        behind = take_int(*at, end, &value);
        small = (int32_t)value;
        memcpy(member, &small, sizeof small);
    } else if (step->op != SINTER__AVRO_FORM_RECORD) { /* a record's steps follow */
        sinter__avro_cursor cursor = {*at, end};

        SINTER__CHECK(run_other(self, step, &cursor, record, err));
        behind = cursor.at;
    } else {
        return SINTER_OK;
    }
    if (behind == NULL) {
        return bad_number(step, value, err);
    }
    *at = behind;
    return SINTER_OK;
}

/* Plans inside plans: as deep as the shapes are. */
static sinter_status
run_plan(sinter__avro_decoder *self, const plan *steps, sinter__avro_cursor *cursor,
         uint8_t *record, sinter_error *err)
{
    const plan_step *const last = steps->steps + steps->count;
    const uint8_t *const end = cursor->end;
    const uint8_t *at = cursor->at;

    for (const plan_step *step = steps->steps; step < last; step++) {
        if (step->branch >= 0) {
            const sinter_status st = take_branch(step, &at, end, err);

            if (st == SINTER_END) {
                step += step->inside;
                continue;
            }
            SINTER__CHECK(st);
        }
        SINTER__CHECK(run_step(self, step, &at, end, record, err));
        if (step->has_bit != 0) {
            uint32_t has = 0;

            memcpy(&has, record + step->has_offset, sizeof has);
            has |= step->has_bit;
            memcpy(record + step->has_offset, &has, sizeof has);
        }
    }
    cursor->at = at;
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
