#include "table/columnar_builder.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "doc/type.h"

enum { VALIDITY, VALUES, STRINGS, BUFFERS }; /* of a column, in Arrow's order */

typedef struct built_column {
    sinter_type type;
    sinter__buffer buffers[BUFFERS]; /* VALUES of strings: where each ends, after a zero */
    int64_t null_count;
    uint8_t width; /* of a value; 0: a bit */
    bool is_string;
    bool pads; /* CHAR in ORC: blanks up to the type's length */
} built_column;

struct sinter__columnar_builder {
    const sinter_env *env;
    size_t count;
    int64_t rows;
    built_column *columns;
};

static void
set_form(int32_t kind, const sinter_type *type, built_column *out)
{
    out->type = *type;
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

/** Strings begin with the first one's place. */
static sinter_status
begin_column(const sinter_env *env, built_column *column, sinter_error *err)
{
    const int32_t zero = 0;

    column->null_count = 0;
    if (!column->is_string) {
        return SINTER_OK;
    }
    return sinter__buffer_append(env, &column->buffers[VALUES], &zero, sizeof zero, err);
}

sinter_status
sinter__columnar_builder_create(const sinter_env *env, int32_t kind,
                                const sinter__columnar_field *fields, size_t count,
                                sinter__columnar_builder **out, sinter_error *err)
{
    sinter__columnar_builder *builder = NULL;
    char text[SINTER__ARROW_FORMAT_MAX];
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, builder, 1, err));
    builder->env = env;
    SINTER__TRY(SINTER__NEW(env, builder->columns, count, err));
    builder->count = count;
    for (size_t i = 0; i < count; i++) {
        st = sinter__columnar_type_print(&fields[i].type, text, err);
        if (st != SINTER_OK) {
            sinter__fail_context(err, "column %s", fields[i].name);
            goto out;
        }
        set_form(kind, &fields[i].type, &builder->columns[i]);
        SINTER__TRY(begin_column(env, &builder->columns[i], err));
    }
    *out = builder;
    builder = NULL;
out:
    sinter__columnar_builder_destroy(builder);
    return st;
}

void
sinter__columnar_builder_destroy(sinter__columnar_builder *builder)
{
    if (builder == NULL) {
        return;
    }
    for (size_t i = 0; i < builder->count; i++) {
        for (int b = 0; b < BUFFERS; b++) {
            sinter__buffer_fini(builder->env, &builder->columns[i].buffers[b]);
        }
    }
    sinter__free(builder->env, builder->columns);
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
append_value(const sinter__columnar_builder *builder, built_column *column,
             const sinter_datum *value, sinter_error *err)
{
    const sinter_env *env = builder->env;
    const uint64_t zeros[2] = {0};

    SINTER__CHECK(append_bit(env, &column->buffers[VALIDITY], builder->rows, !value->is_null, err));
    column->null_count += value->is_null ? 1 : 0;
    if (column->is_string) {
        const int32_t end = (int32_t)column->buffers[STRINGS].size;

        return value->is_null
                   ? sinter__buffer_append(env, &column->buffers[VALUES], &end, sizeof end, err)
                   : append_string(env, column, value->as.bytes, err);
    }
    if (column->width == 0) {
        return append_bit(env, &column->buffers[VALUES], builder->rows,
                          !value->is_null && value->as.integer != 0, err);
    }
    if (column->type.id == SINTER_TYPE_DECIMAL) { /* low half first, as the machine has them */
        const uint64_t halves[2] = {value->as.decimal.low, (uint64_t)value->as.decimal.high};

        return sinter__buffer_append(env, &column->buffers[VALUES], value->is_null ? zeros : halves,
                                     sizeof halves, err);
    }
    return append_number(env, column, value, err);
}

sinter_status
sinter__columnar_builder_append(sinter__columnar_builder *builder, const sinter_datum *values,
                                sinter_error *err)
{
    for (size_t i = 0; i < builder->count; i++) {
        SINTER__CHECK(append_value(builder, &builder->columns[i], &values[i], err));
    }
    builder->rows++;
    return SINTER_OK;
}

uint64_t
sinter__columnar_builder_rows(const sinter__columnar_builder *builder)
{
    return (uint64_t)builder->rows;
}

uint64_t
sinter__columnar_builder_bytes(const sinter__columnar_builder *builder)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < builder->count; i++) {
        for (int b = 0; b < BUFFERS; b++) {
            sum += builder->columns[i].buffers[b].size;
        }
    }
    return sum;
}

/* An array that was taken owns one block, and the buffers that were the columns'. */

typedef struct child_block {
    struct ArrowArray array;
    const void *buffers[BUFFERS];
} child_block;

typedef struct array_block {
    const sinter_env *env;
    size_t count;
    struct ArrowArray **children;
    child_block *blocks;
    const void *no_validity[1];
} array_block;

static void
release_block(array_block *block)
{
    const sinter_env *env = block->env;

    for (size_t i = 0; i < block->count; i++) {
        for (int b = 0; b < BUFFERS; b++) {
            sinter__free(env, block->blocks[i].buffers[b]);
        }
    }
    sinter__free(env, block->children);
    sinter__free(env, block->blocks);
    sinter__free(env, block);
}

/** A child's memory is its parent's. */
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

/** Move a column's buffers into an array. */
static void
move_column(built_column *column, int64_t rows, child_block *out)
{
    for (int b = 0; b < BUFFERS; b++) {
        out->buffers[b] = column->buffers[b].data;
        column->buffers[b] = (sinter__buffer){0};
    }
    out->array = (struct ArrowArray){
        .length = rows,
        .null_count = column->null_count,
        .n_buffers = column->is_string ? BUFFERS : BUFFERS - 1,
        .buffers = out->buffers,
        .release = release_child,
    };
}

sinter_status
sinter__columnar_builder_take(sinter__columnar_builder *builder, struct ArrowArray *out,
                              sinter_error *err)
{
    const sinter_env *env = builder->env;
    array_block *block = NULL;
    sinter_status st = SINTER_OK;

    memset(out, 0, sizeof *out);
    SINTER__TRY(SINTER__NEW(env, block, 1, err));
    block->env = env;
    SINTER__TRY(SINTER__NEW(env, block->children, builder->count, err));
    SINTER__TRY(SINTER__NEW(env, block->blocks, builder->count, err));
    block->count = builder->count;
    for (size_t i = 0; i < builder->count; i++) {
        move_column(&builder->columns[i], builder->rows, &block->blocks[i]);
        block->children[i] = &block->blocks[i].array;
        SINTER__TRY(begin_column(env, &builder->columns[i], err));
    }
    *out = (struct ArrowArray){
        .length = builder->rows,
        .n_buffers = 1,
        .n_children = (int64_t)builder->count,
        .buffers = block->no_validity,
        .children = block->children,
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
