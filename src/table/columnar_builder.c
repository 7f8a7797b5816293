#include "table/columnar_builder.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/arena.h"
#include "doc/type.h"
#include "sinter/nested.h"

enum { VALIDITY, VALUES, STRINGS, BUFFERS }; /* of a column, in Arrow's order */

/** A column, or a part of a nested one. */
typedef struct built_column built_column;
struct built_column {
    sinter_type type;
    sinter__buffer
        buffers[BUFFERS]; /* VALUES of strings and lists: where each ends, after a zero */
    int64_t rows;
    int64_t null_count;
    built_column *parts; /* of a nested type: fields, element, or key and value */
    size_t part_count;
    uint8_t width; /* of a value; 0: a bit */
    bool is_string;
    bool pads; /* CHAR in ORC: blanks up to the type's length */
};

struct sinter__columnar_builder {
    const sinter_env *env;
    sinter__arena arena; /* of parts */
    size_t count;
    int64_t rows;
    built_column *columns;
};

static void
set_form(int32_t kind, built_column *out)
{
    const sinter_type *type = &out->type;

    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        out->width = 0;
        break;
    case SINTER_TYPE_TINYINT:
        out->width = 1;
        break;
    case SINTER_TYPE_SMALLINT:
        out->width = 2;
        break;
    case SINTER_TYPE_INT:
    case SINTER_TYPE_FLOAT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
        out->width = 4;
        break;
    case SINTER_TYPE_DECIMAL:
        out->width = 16;
        break;
    default:
        out->is_string = sinter__type_is_bytes(type);
        out->width = out->is_string ? 4 : 8;
        break;
    }
    out->pads = kind == SINTER__COLUMNAR_ORC && type->id == SINTER_TYPE_CHAR;
}

static bool
is_list(const built_column *column)
{
    return column->parts != NULL && column->type.id != SINTER_TYPE_ROW;
}

/** Strings and lists begin with the first one's place. */
static sinter_status
begin_column(const sinter_env *env, built_column *column, sinter_error *err)
{
    const int32_t zero = 0;

    column->rows = 0;
    column->null_count = 0;
    for (size_t i = 0; i < column->part_count; i++) {
        SINTER__CHECK(begin_column(env, &column->parts[i], err));
    }
    if (!column->is_string && !is_list(column)) {
        return SINTER_OK;
    }
    return sinter__buffer_append(env, &column->buffers[VALUES], &zero, sizeof zero, err);
}

static sinter_status
make_column(sinter__columnar_builder *builder, int32_t kind, const sinter_type *type,
            built_column *out, sinter_error *err)
{
    char text[SINTER__ARROW_FORMAT_MAX];
    built_column *parts = NULL;

    out->type = *type;
    if (!sinter_type_is_nested(type) || type->parts == NULL) {
        SINTER__CHECK(sinter__columnar_type_print(type, text, err));
        set_form(kind, out);
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(&builder->arena, (type->parts->count + 1) * sizeof *parts,
                                     (void **)&parts, err));
    memset(parts, 0, (type->parts->count + 1) * sizeof *parts);
    out->parts = parts;
    out->part_count = type->parts->count;
    for (size_t i = 0; i < out->part_count; i++) {
        SINTER__CHECK(make_column(builder, kind, &type->parts->fields[i].type, &parts[i], err));
    }
    return SINTER_OK;
}

sinter_status
sinter__columnar_builder_create(const sinter_env *env, int32_t kind,
                                const sinter__columnar_field *fields, size_t count,
                                sinter__columnar_builder **out, sinter_error *err)
{
    sinter__columnar_builder *builder = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, builder, 1, err));
    builder->env = env;
    builder->arena.env = env;
    SINTER__TRY(SINTER__NEW(env, builder->columns, count, err));
    builder->count = count;
    for (size_t i = 0; i < count; i++) {
        st = make_column(builder, kind, &fields[i].type, &builder->columns[i], err);
        if (st != SINTER_OK) {
            sinter__fail_context(err, "column %s", fields[i].name);
            goto out;
        }
        SINTER__TRY(begin_column(env, &builder->columns[i], err));
    }
    *out = builder;
    builder = NULL;
out:
    sinter__columnar_builder_destroy(builder);
    return st;
}

static void
release_column(const sinter_env *env, built_column *column)
{
    for (size_t i = 0; i < column->part_count; i++) {
        release_column(env, &column->parts[i]);
    }
    for (int b = 0; b < BUFFERS; b++) {
        sinter__buffer_fini(env, &column->buffers[b]);
    }
}

void
sinter__columnar_builder_destroy(sinter__columnar_builder *builder)
{
    if (builder == NULL) {
        return;
    }
    for (size_t i = 0; i < builder->count; i++) {
        release_column(builder->env, &builder->columns[i]);
    }
    sinter__free(builder->env, builder->columns);
    sinter__arena_fini(&builder->arena);
    sinter__free(builder->env, builder);
}

static sinter_status
append_bit(const sinter_env *env, sinter__buffer *bits, int64_t at, bool value, sinter_error *err)
{
    const uint8_t zero = 0;

    if (at % CHAR_BIT == 0) {
        SINTER__CHECK(sinter__buffer_append(env, bits, &zero, 1, err));
    }
    bits->data[at / CHAR_BIT] |= (uint8_t)((unsigned)value << (at % CHAR_BIT));
    return SINTER_OK;
}

static sinter_status
append_string(const sinter_env *env, built_column *column, sinter_bytes bytes, sinter_error *err)
{
    static const char blanks[] = "                                ";
    sinter__buffer *strings = &column->buffers[STRINGS];
    size_t missing = 0;
    int32_t end = 0;

    if (column->pads) {
        const size_t length = sinter__utf8_count(bytes);

        missing = length < column->type.precision ? column->type.precision - length : 0;
    }
    if (bytes.size > INT32_MAX || missing > INT32_MAX ||
        strings->size > INT32_MAX - bytes.size - missing) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "2 GiB of strings in the rows of one batch");
    }
    if (bytes.size > 0) {
        SINTER__CHECK(sinter__buffer_append(env, strings, bytes.data, bytes.size, err));
    }
    while (missing > 0) {
        const size_t piece = missing < sizeof blanks - 1 ? missing : sizeof blanks - 1;

        SINTER__CHECK(sinter__buffer_append(env, strings, blanks, piece, err));
        missing -= piece;
    }
    end = (int32_t)strings->size;
    return sinter__buffer_append(env, &column->buffers[VALUES], &end, sizeof end, err);
}

/** A timestamp in the unit that its column has (columnar_type.h). */
static sinter_status
timestamp_of(const sinter_type *type, const sinter_datum *value, int64_t *out, sinter_error *err)
{
    enum { MILLI_DIGITS = 3, MICRO_DIGITS = 6, THOUSAND = 1000, MILLION = 1000000 };
    int64_t units = 1; /* in a millisecond */

    units = type->precision > MILLI_DIGITS ? THOUSAND : units;
    units = type->precision > MICRO_DIGITS ? MILLION : units;
    if (__builtin_mul_overflow(value->as.integer, units, out) ||
        __builtin_add_overflow(*out, value->nanos / (MILLION / units), out)) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW,
                           "a timestamp that 64 bits don't reach: %lld ms since 1970",
                           (long long)value->as.integer);
    }
    return SINTER_OK;
}

static sinter_status
append_number(const sinter_env *env, built_column *column, const sinter_datum *value,
              sinter_error *err)
{
    sinter__buffer *values = &column->buffers[VALUES];
    int64_t number = value->as.integer;

    if (value->is_null) {
        number = 0;
    } else if (column->type.id == SINTER_TYPE_FLOAT) {
        number = value->as.float_bits;
    } else if (sinter__type_is_timestamp(&column->type)) {
        SINTER__CHECK(timestamp_of(&column->type, value, &number, err));
    }
    switch (column->width) {
    case 1: {
        const int8_t narrow = (int8_t)number;

        return sinter__buffer_append(env, values, &narrow, sizeof narrow, err);
    }
    case 2: {
        const int16_t narrow = (int16_t)number;

        return sinter__buffer_append(env, values, &narrow, sizeof narrow, err);
    }
    case 4: {
        const uint32_t narrow = (uint32_t)(uint64_t)number;

        return sinter__buffer_append(env, values, &narrow, sizeof narrow, err);
    }
    default: /* a double's bits are an integer's */
        return sinter__buffer_append(env, values, &number, sizeof number, err);
    }
}

static sinter_status
append_value(const sinter_env *env, built_column *column, const sinter_datum *value,
             sinter_error *err);

static sinter_status
append_elements(const sinter_env *env, built_column *part, const sinter_array *elements,
                sinter_error *err)
{
    sinter_datum element;

    if (elements->count > (size_t)(INT32_MAX - part->rows)) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "2^31 elements in the rows of one batch");
    }
    for (size_t i = 0; i < elements->count; i++) {
        SINTER__CHECK(sinter_array_get(elements, i, &element, err));
        SINTER__CHECK(append_value(env, part, &element, err));
    }
    return SINTER_OK;
}

/** Fields of a ROW stand side by side, of a null one as nulls. */
static sinter_status
append_fields(const sinter_env *env, built_column *column, const sinter_datum *value,
              sinter_error *err)
{
    for (size_t i = 0; i < column->part_count; i++) {
        sinter_datum field = {.is_null = true};

        if (!value->is_null) {
            SINTER__CHECK(sinter_nested_row_get(&column->type, value->as.bytes, i, &field, err));
        }
        SINTER__CHECK(append_value(env, &column->parts[i], &field, err));
    }
    return SINTER_OK;
}

static sinter_status
append_list(const sinter_env *env, built_column *column, const sinter_datum *value,
            sinter_error *err)
{
    sinter_array keys = {.count = 0};
    sinter_array values = {.count = 0};
    int32_t end = 0;

    if (!value->is_null && column->type.id == SINTER_TYPE_ARRAY) {
        SINTER__CHECK(sinter_array_open(&column->type, value->as.bytes, &keys, err));
    } else if (!value->is_null) {
        SINTER__CHECK(sinter_map_open(&column->type, value->as.bytes, &keys, &values, err));
        SINTER__CHECK(append_elements(env, &column->parts[1], &values, err));
    }
    SINTER__CHECK(append_elements(env, &column->parts[0], &keys, err));
    end = (int32_t)column->parts[0].rows;
    return sinter__buffer_append(env, &column->buffers[VALUES], &end, sizeof end, err);
}

static sinter_status
append_atomic(const sinter_env *env, built_column *column, const sinter_datum *value,
              sinter_error *err)
{
    const uint64_t zeros[2] = {0};

    if (column->is_string) {
        const int32_t end = (int32_t)column->buffers[STRINGS].size;

        return value->is_null
                   ? sinter__buffer_append(env, &column->buffers[VALUES], &end, sizeof end, err)
                   : append_string(env, column, value->as.bytes, err);
    }
    if (column->width == 0) {
        return append_bit(env, &column->buffers[VALUES], column->rows,
                          !value->is_null && value->as.integer != 0, err);
    }
    if (column->type.id == SINTER_TYPE_DECIMAL) { /* low half first, as the machine has them */
        const uint64_t halves[2] = {value->as.decimal.low, (uint64_t)value->as.decimal.high};

        return sinter__buffer_append(env, &column->buffers[VALUES], value->is_null ? zeros : halves,
                                     sizeof halves, err);
    }
    return append_number(env, column, value, err);
}

static sinter_status
append_value(const sinter_env *env, built_column *column, const sinter_datum *value,
             sinter_error *err)
{
    SINTER__CHECK(append_bit(env, &column->buffers[VALIDITY], column->rows, !value->is_null, err));
    column->null_count += value->is_null ? 1 : 0;
    if (column->parts == NULL) {
        SINTER__CHECK(append_atomic(env, column, value, err));
    } else if (column->type.id == SINTER_TYPE_ROW) {
        SINTER__CHECK(append_fields(env, column, value, err));
    } else {
        SINTER__CHECK(append_list(env, column, value, err));
    }
    column->rows++;
    return SINTER_OK;
}

sinter_status
sinter__columnar_builder_append(sinter__columnar_builder *builder, const sinter_datum *values,
                                sinter_error *err)
{
    for (size_t i = 0; i < builder->count; i++) {
        SINTER__CHECK(append_value(builder->env, &builder->columns[i], &values[i], err));
    }
    builder->rows++;
    return SINTER_OK;
}

uint64_t
sinter__columnar_builder_rows(const sinter__columnar_builder *builder)
{
    return (uint64_t)builder->rows;
}

static uint64_t
column_bytes(const built_column *column)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < column->part_count; i++) {
        sum += column_bytes(&column->parts[i]);
    }
    for (int b = 0; b < BUFFERS; b++) {
        sum += column->buffers[b].size;
    }
    return sum;
}

uint64_t
sinter__columnar_builder_bytes(const sinter__columnar_builder *builder)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < builder->count; i++) {
        sum += column_bytes(&builder->columns[i]);
    }
    return sum;
}

/* What was taken owns an arena of arrays, and the buffers that were the columns'. */

typedef struct array_node array_node;
struct array_node {
    struct ArrowArray array;
    const void *buffers[BUFFERS];
    array_node *next; /* of all in the arena */
};

typedef struct array_block {
    sinter__arena arena;
    array_node *nodes;
    const void *no_validity[1];
} array_block;

static void
release_block(array_block *block)
{
    sinter__arena arena = block->arena;

    for (const array_node *node = block->nodes; node != NULL; node = node->next) {
        for (int b = 0; b < BUFFERS; b++) {
            sinter__free(arena.env, node->buffers[b]);
        }
    }
    sinter__free(arena.env, block);
    sinter__arena_fini(&arena);
}

/** A child's memory is its root's. */
static void
release_child(struct ArrowArray *array)
{
    array->release = NULL;
}

static void
release_root(struct ArrowArray *array)
{
    release_block(array->private_data);
    array->release = NULL;
}

/** An array of `rows` without buffers, with room for children. */
static sinter_status
make_array(array_block *block, int64_t rows, size_t children, array_node **out, sinter_error *err)
{
    array_node *node = NULL;

    SINTER__CHECK(sinter__arena_take(&block->arena, sizeof *node, (void **)&node, err));
    memset(node, 0, sizeof *node);
    node->array = (struct ArrowArray){.length = rows,
                                      .n_buffers = 1,
                                      .n_children = (int64_t)children,
                                      .buffers = node->buffers,
                                      .release = release_child};
    if (children > 0) {
        SINTER__CHECK(sinter__arena_take(&block->arena, children * sizeof *node->array.children,
                                         (void **)&node->array.children, err));
    }
    node->next = block->nodes;
    block->nodes = node;
    *out = node;
    return SINTER_OK;
}

/** Move a column's buffers into an array. */
static sinter_status
move_column(array_block *block, built_column *column, struct ArrowArray **out, sinter_error *err)
{
    const bool is_map = is_list(column) && column->type.id != SINTER_TYPE_ARRAY;
    const int64_t pairs = is_map ? column->parts[0].rows : 0;
    array_node *node = NULL;
    array_node *parent = NULL;

    SINTER__CHECK(make_array(block, column->rows, is_map ? 1 : column->part_count, &node, err));
    parent = node;
    if (is_map) { /* Arrow has a struct between a map and its key */
        SINTER__CHECK(make_array(block, pairs, column->part_count, &parent, err));
        node->array.children[0] = &parent->array;
    }
    for (size_t i = 0; i < column->part_count; i++) {
        SINTER__CHECK(move_column(block, &column->parts[i], &parent->array.children[i], err));
    }
    for (int b = 0; b < BUFFERS; b++) {
        node->buffers[b] = column->buffers[b].data;
        column->buffers[b] = (sinter__buffer){0};
    }
    node->array.null_count = column->null_count;
    if (column->parts == NULL || is_list(column)) {
        node->array.n_buffers = column->is_string ? BUFFERS : BUFFERS - 1;
    }
    *out = &node->array;
    return SINTER_OK;
}

sinter_status
sinter__columnar_builder_take(sinter__columnar_builder *builder, struct ArrowArray *out,
                              sinter_error *err)
{
    const sinter_env *env = builder->env;
    struct ArrowArray **children = NULL;
    array_block *block = NULL;
    sinter_status st = SINTER_OK;

    memset(out, 0, sizeof *out);
    SINTER__TRY(SINTER__NEW(env, block, 1, err));
    block->arena.env = env;
    SINTER__TRY(sinter__arena_take(&block->arena, (builder->count + 1) * sizeof *children,
                                   (void **)&children, err));
    for (size_t i = 0; i < builder->count; i++) {
        SINTER__TRY(move_column(block, &builder->columns[i], &children[i], err));
        SINTER__TRY(begin_column(env, &builder->columns[i], err));
    }
    *out = (struct ArrowArray){
        .length = builder->rows,
        .n_buffers = 1,
        .n_children = (int64_t)builder->count,
        .buffers = block->no_validity,
        .children = children,
        .release = release_root,
        .private_data = block,
    };
    builder->rows = 0;
    block = NULL;
out:
    if (block != NULL) {
        release_block(block);
    }
    return st;
}
