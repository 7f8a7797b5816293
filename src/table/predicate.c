/*
 * A bound predicate is a tree of ANDs and ORs over comparisons: a NOT is pushed down to the
 * comparisons while binding, each of which has an opposite. In SQL's logic of three values that
 * changes nothing, and without NOT what is unknown is as good as what doesn't hold.
 */
#include "table/predicate.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/number.h"
#include "doc/type.h"

/** What a bound predicate does. Opposites stand side by side: the number of one is that of the
 *  other with its lowest bit changed. */
typedef enum test {
    TEST_AND,
    TEST_OR,
    TEST_EQUAL,
    TEST_NOT_EQUAL,
    TEST_LESS,
    TEST_GREATER_EQUAL,
    TEST_GREATER,
    TEST_LESS_EQUAL,
    TEST_BETWEEN,
    TEST_NOT_BETWEEN,
    TEST_IN,
    TEST_NOT_IN,
    TEST_NULL,
    TEST_NOT_NULL,
    TEST_STARTS,
    TEST_NOT_STARTS
} test;

struct sinter__predicate {
    test test;
    size_t column;
    sinter_type type;
    sinter_datum *values; /* of TEST_IN and TEST_NOT_IN ascending */
    size_t value_count;
    const sinter__predicate **parts;
    size_t part_count;
};

/* ---- order ---- */

/* Bits of a floating-point number as a number that is ordered: -0.0 before 0.0, NaN last. */
static int64_t
order_of_float(const sinter_type *type, const sinter_datum *value)
{
    if (type->id == SINTER_TYPE_FLOAT) {
        const uint32_t bits = value->as.float_bits;
        const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;

        return is_nan ? INT64_MAX : (int32_t)(bits ^ ((bits >> 31) * 0x7fffffffu));
    }
    const uint64_t bits = value->as.double_bits;
    const bool is_nan = (bits & INT64_MAX) > 0x7ff0000000000000u;

    return is_nan ? INT64_MAX : (int64_t)(bits ^ ((bits >> 63) * (uint64_t)INT64_MAX));
}

static bool
is_floating(const sinter_type *type)
{
    return type->id == SINTER_TYPE_FLOAT || type->id == SINTER_TYPE_DOUBLE;
}

static int
compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int
sinter__datum_compare(const sinter_type *type, const sinter_datum *a, const sinter_datum *b)
{
    assert(!a->is_null && !b->is_null);
    if (sinter__type_is_bytes(type)) {
        return sinter__key_compare(a->as.bytes, b->as.bytes);
    }
    if (is_floating(type)) {
        return compare_integers(order_of_float(type, a), order_of_float(type, b));
    }
    if (type->id == SINTER_TYPE_DECIMAL) {
        const sinter__int128 x = sinter__decimal_get(a);
        const sinter__int128 y = sinter__decimal_get(b);

        return (x > y) - (x < y);
    }
    if (a->as.integer == b->as.integer &&
        (type->id == SINTER_TYPE_TIMESTAMP || type->id == SINTER_TYPE_TIMESTAMP_LTZ)) {
        return compare_integers(a->nanos, b->nanos);
    }
    return compare_integers(a->as.integer, b->as.integer);
}

/* ---- binding ---- */

/* How an op of callers is bound. */
typedef struct op_info {
    test test;
    size_t values_min;
    size_t values_max;
} op_info;

static const op_info ops[] = {
    [SINTER_PREDICATE_AND] = {TEST_AND, 0, 0},
    [SINTER_PREDICATE_OR] = {TEST_OR, 0, 0},
    [SINTER_PREDICATE_NOT] = {TEST_AND, 0, 0},
    [SINTER_PREDICATE_EQUAL] = {TEST_EQUAL, 1, 1},
    [SINTER_PREDICATE_NOT_EQUAL] = {TEST_NOT_EQUAL, 1, 1},
    [SINTER_PREDICATE_LESS] = {TEST_LESS, 1, 1},
    [SINTER_PREDICATE_LESS_EQUAL] = {TEST_LESS_EQUAL, 1, 1},
    [SINTER_PREDICATE_GREATER] = {TEST_GREATER, 1, 1},
    [SINTER_PREDICATE_GREATER_EQUAL] = {TEST_GREATER_EQUAL, 1, 1},
    [SINTER_PREDICATE_BETWEEN] = {TEST_BETWEEN, 2, 2},
    [SINTER_PREDICATE_IN] = {TEST_IN, 0, SIZE_MAX},
    [SINTER_PREDICATE_IS_NULL] = {TEST_NULL, 0, 0},
    [SINTER_PREDICATE_IS_NOT_NULL] = {TEST_NOT_NULL, 0, 0},
    [SINTER_PREDICATE_STARTS_WITH] = {TEST_STARTS, 1, 1},
};

typedef struct binder {
    sinter__arena *arena;
    const sinter_row_type *row_type;
} binder;

static bool
is_text(const sinter_type *type)
{
    return type->id == SINTER_TYPE_CHAR || type->id == SINTER_TYPE_VARCHAR;
}

/* Texts and bytes of any length may be asked for. */
static sinter_type
type_of_values(const sinter_type *type)
{
    sinter_type any = *type;

    if (is_text(type)) {
        any.id = SINTER_TYPE_VARCHAR;
        any.precision = SINTER_TYPE_LENGTH_MAX;
    } else if (type->id == SINTER_TYPE_BINARY || type->id == SINTER_TYPE_VARBINARY) {
        any.id = SINTER_TYPE_VARBINARY;
        any.precision = SINTER_TYPE_LENGTH_MAX;
    }
    return any;
}

static sinter_status
bind_value(const binder *b, const sinter_column *column, sinter_bytes text, sinter_datum *out,
           sinter_error *err)
{
    sinter_text scratch;
    sinter_status st = SINTER_OK;

    sinter_text_init(b->arena->env, &scratch);
    SINTER__TRY(sinter_datum_parse(column, text, 0, &scratch, out, err));
    if (sinter__type_is_bytes(&column->type)) {
        SINTER__TRY(sinter__arena_copy(b->arena, out->as.bytes, &out->as.bytes, err));
    }
out:
    sinter_text_fini(&scratch);
    return st;
}

/* Shell's sort: lists are short and the order needs the type. */
static void
sort_values(const sinter_type *type, sinter_datum *values, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            const sinter_datum value = values[i];
            size_t at = i;

            while (at >= gap && sinter__datum_compare(type, &values[at - gap], &value) > 0) {
                values[at] = values[at - gap];
                at -= gap;
            }
            values[at] = value;
        }
    }
}

static sinter_status
check_type(const sinter_predicate *given, const sinter_type *type, sinter_error *err)
{
    const bool is_null_test =
        given->op == SINTER_PREDICATE_IS_NULL || given->op == SINTER_PREDICATE_IS_NOT_NULL;

    if (given->op == SINTER_PREDICATE_STARTS_WITH && !is_text(type)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "column %.100s: only texts start with something",
                           given->column);
    }
    if (!is_null_test && (sinter_type_is_nested(type) || type->id == SINTER_TYPE_VARIANT ||
                          type->id == SINTER_TYPE_BLOB)) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "column %.100s: values of %s have no order",
                           given->column, sinter_type_name(type->id));
    }
    return SINTER_OK;
}

static sinter_status
bind_comparison(const binder *b, const sinter_predicate *given, bool is_not, sinter__predicate *out,
                sinter_error *err)
{
    const op_info *info = &ops[given->op];
    sinter_column column = {.name = given->column};

    if (given->column == NULL || given->value_count < info->values_min ||
        given->value_count > info->values_max ||
        (given->value_count > 0 && given->values == NULL)) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "a comparison without a column, or with %zu values", given->value_count);
    }
    out->column = sinter_row_type_find(b->row_type, given->column);
    if (out->column == SIZE_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "the table has no column \"%.100s\"",
                           given->column);
    }
    out->test = (test)(info->test ^ (unsigned)is_not);
    out->type = *sinter_row_type_column_type(b->row_type, out->column);
    out->value_count = given->value_count;
    SINTER__CHECK(check_type(given, &out->type, err));
    SINTER__CHECK(sinter__arena_take(b->arena, (out->value_count + 1) * sizeof *out->values,
                                     (void **)&out->values, err));
    column.type = type_of_values(&out->type);
    for (size_t i = 0; i < out->value_count; i++) {
        SINTER__CHECK(bind_value(b, &column, given->values[i], &out->values[i], err));
    }
    if (info->test == TEST_IN) {
        sort_values(&out->type, out->values, out->value_count);
    }
    return SINTER_OK;
}

static sinter_status
bind(const binder *b, const sinter_predicate *any, uint32_t depth_and_not, sinter__predicate **out,
     sinter_error *err);

static sinter_status
bind_parts(const binder *b, const sinter_predicate *given, uint32_t depth_and_not,
           sinter__predicate *out, sinter_error *err)
{
    out->test = (test)(ops[given->op].test ^ (depth_and_not & 1));
    out->part_count = given->part_count;
    SINTER__CHECK(sinter__arena_take(b->arena, (out->part_count + 1) * sizeof *out->parts,
                                     (void **)&out->parts, err));
    for (size_t i = 0; i < given->part_count; i++) {
        sinter__predicate *part = NULL;

        SINTER__CHECK(bind(b, given->parts[i], depth_and_not + 2, &part, err));
        out->parts[i] = part;
    }
    return SINTER_OK;
}

/* A NOT gives its place to its part. `depth_and_not`: twice the depth, and 1 where the opposite is
 * wanted. */
static sinter_status
bind(const binder *b, const sinter_predicate *any, uint32_t depth_and_not, sinter__predicate **out,
     sinter_error *err)
{
    sinter_predicate given = {.struct_size = (uint32_t)sizeof given};

    SINTER__REQUIRE(err, any != NULL);
    SINTER__CHECK(sinter__struct_load(&given, sizeof given, any, "sinter_predicate", err));
    SINTER__REQUIRE(err, given.op >= 0 && (size_t)given.op < sizeof ops / sizeof ops[0]);
    SINTER__REQUIRE(err, given.parts != NULL || given.part_count == 0);
    if (depth_and_not / 2 >= SINTER_PREDICATE_DEPTH_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a predicate more than %d deep",
                           SINTER_PREDICATE_DEPTH_MAX);
    }
    if (given.op == SINTER_PREDICATE_NOT) {
        SINTER__REQUIRE(err, given.part_count == 1);
        return bind(b, given.parts[0], (depth_and_not + 2) ^ 1, out, err);
    }
    SINTER__CHECK(sinter__arena_take(b->arena, sizeof **out, (void **)out, err));
    **out = (sinter__predicate){.test = TEST_AND};
    return given.op <= SINTER_PREDICATE_OR
               ? bind_parts(b, &given, depth_and_not, *out, err)
               : bind_comparison(b, &given, (depth_and_not & 1) != 0, *out, err);
}

sinter_status
sinter__predicate_bind(sinter__arena *arena, const sinter_predicate *given,
                       const sinter_row_type *row_type, const sinter__predicate **out,
                       sinter_error *err)
{
    const binder b = {.arena = arena, .row_type = row_type};
    sinter__predicate *made = NULL;

    SINTER__CHECK(bind(&b, given, 0, &made, err));
    *out = made;
    return SINTER_OK;
}

sinter_status
sinter__predicate_both(sinter__arena *arena, const sinter__predicate *a, const sinter__predicate *b,
                       const sinter__predicate **out, sinter_error *err)
{
    sinter__predicate *made = NULL;

    if (a == NULL || b == NULL) {
        *out = a != NULL ? a : b;
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(arena, sizeof *made, (void **)&made, err));
    *made = (sinter__predicate){.test = TEST_AND, .part_count = 2};
    SINTER__CHECK(sinter__arena_take(arena, 2 * sizeof *made->parts, (void **)&made->parts, err));
    made->parts[0] = a;
    made->parts[1] = b;
    *out = made;
    return SINTER_OK;
}

void
sinter__predicate_mark(const sinter__predicate *self, bool *marks)
{
    if (self->test > TEST_OR) {
        marks[self->column] = true;
    }
    for (size_t i = 0; i < self->part_count; i++) {
        sinter__predicate_mark(self->parts[i], marks);
    }
}

/* ---- rows ---- */

/* Number of values in the list that are smaller. */
static size_t
count_below(const sinter__predicate *self, const sinter_datum *value)
{
    size_t low = 0;
    size_t high = self->value_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (sinter__datum_compare(&self->type, &self->values[middle], value) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool
is_in(const sinter__predicate *self, const sinter_datum *value)
{
    const size_t at = count_below(self, value);

    return at < self->value_count &&
           sinter__datum_compare(&self->type, &self->values[at], value) == 0;
}

static bool
starts_with(const sinter_datum *value, const sinter_datum *start)
{
    return value->as.bytes.size >= start->as.bytes.size &&
           (start->as.bytes.size == 0 ||
            memcmp(value->as.bytes.data, start->as.bytes.data, start->as.bytes.size) == 0);
}

static bool
is_between(const sinter__predicate *self, const sinter_datum *value)
{
    return sinter__datum_compare(&self->type, value, &self->values[0]) >= 0 &&
           sinter__datum_compare(&self->type, value, &self->values[1]) <= 0;
}

/* Does a test with an opposite hold for a value that isn't null? Of a pair the even one is asked.
 */
static bool
passes(const sinter__predicate *self, test even, const sinter_datum *value)
{
    switch (even) {
    case TEST_EQUAL:
        return sinter__datum_compare(&self->type, value, &self->values[0]) == 0;
    case TEST_LESS:
        return sinter__datum_compare(&self->type, value, &self->values[0]) < 0;
    case TEST_GREATER:
        return sinter__datum_compare(&self->type, value, &self->values[0]) > 0;
    case TEST_BETWEEN:
        return is_between(self, value);
    case TEST_IN:
        return is_in(self, value);
    default:
        assert(even == TEST_STARTS);
        return starts_with(value, &self->values[0]);
    }
}

static bool
holds_for(const sinter__predicate *self, const sinter_datum *value)
{
    if (self->test == TEST_NULL || self->test == TEST_NOT_NULL) {
        return value->is_null == (self->test == TEST_NULL);
    }
    return !value->is_null &&
           passes(self, (test)(self->test & ~1u), value) == ((self->test & 1u) == 0);
}

bool
sinter__predicate_holds(const sinter__predicate *self, const sinter_datum *values)
{
    if (self->test > TEST_OR) {
        return holds_for(self, &values[self->column]);
    }
    for (size_t i = 0; i < self->part_count; i++) {
        if (sinter__predicate_holds(self->parts[i], values) == (self->test == TEST_OR)) {
            return self->test == TEST_OR;
        }
    }
    return self->test == TEST_AND;
}

/* ---- bounds ---- */

/* Order of the greatest (least) value and another one; where it isn't known, it is as good as
 * above (below) it. */
static int
compare_max(const sinter__predicate *self, const sinter__column_bounds *b,
            const sinter_datum *value)
{
    return b->has_max ? sinter__datum_compare(&self->type, &b->max, value) : 1;
}

static int
compare_min(const sinter__predicate *self, const sinter__column_bounds *b,
            const sinter_datum *value)
{
    return b->has_min ? sinter__datum_compare(&self->type, &b->min, value) : -1;
}

/* Is NaN among the values that can't be ruled out, whatever the bounds say? */
static bool
may_be_nan(const sinter__predicate *self)
{
    return is_floating(&self->type);
}

static bool
may_be_in(const sinter__predicate *self, const sinter__column_bounds *b)
{
    const size_t at = b->has_min ? count_below(self, &b->min) : 0;

    return at < self->value_count &&
           (compare_max(self, b, &self->values[at]) >= 0 ||
            (may_be_nan(self) &&
             order_of_float(&self->type, &self->values[self->value_count - 1]) == INT64_MAX));
}

/* Is there but one value, and in the list? */
static bool
is_only_in(const sinter__predicate *self, const sinter__column_bounds *b)
{
    return b->has_min && compare_max(self, b, &b->min) == 0 && is_in(self, &b->min) &&
           !may_be_nan(self);
}

static bool
may_start(const sinter__predicate *self, const sinter__column_bounds *b)
{
    const sinter_datum *start = &self->values[0];

    return compare_max(self, b, start) >= 0 &&
           (compare_min(self, b, start) <= 0 || starts_with(&b->min, start));
}

static bool
may_not_start(const sinter__predicate *self, const sinter__column_bounds *b)
{
    return !b->has_min || !b->has_max || !starts_with(&b->min, &self->values[0]) ||
           !starts_with(&b->max, &self->values[0]);
}

static bool
may_be_outside(const sinter__predicate *self, const sinter__column_bounds *b)
{
    return may_be_nan(self) || compare_min(self, b, &self->values[0]) < 0 ||
           compare_max(self, b, &self->values[1]) > 0;
}

/* Values that aren't null. */
static bool
may_pass(const sinter__predicate *self, const sinter__column_bounds *b)
{
    const sinter_datum *value = self->values;
    const bool or_nan = may_be_nan(self);

    switch (self->test) {
    case TEST_EQUAL:
    case TEST_IN:
        return may_be_in(self, b);
    case TEST_NOT_EQUAL:
    case TEST_NOT_IN:
        return !is_only_in(self, b);
    case TEST_LESS:
        return compare_min(self, b, value) < 0;
    case TEST_LESS_EQUAL:
        return compare_min(self, b, value) <= 0 ||
               (or_nan && order_of_float(&self->type, value) == INT64_MAX);
    case TEST_GREATER:
        return or_nan || compare_max(self, b, value) > 0;
    case TEST_GREATER_EQUAL:
        return or_nan || compare_max(self, b, value) >= 0;
    case TEST_BETWEEN:
        return compare_min(self, b, &value[1]) <= 0 &&
               (compare_max(self, b, &value[0]) >= 0 ||
                (or_nan && order_of_float(&self->type, &value[1]) == INT64_MAX));
    case TEST_NOT_BETWEEN:
        return may_be_outside(self, b);
    case TEST_STARTS:
        return may_start(self, b);
    default:
        assert(self->test == TEST_NOT_STARTS);
        return may_not_start(self, b);
    }
}

static bool
may_hold_for(const sinter__predicate *self, const sinter__column_bounds *b)
{
    const bool has_nulls = !b->has_null_count || b->null_count > 0;
    const bool has_others = !b->has_null_count || b->null_count < b->row_count;

    if (self->test == TEST_NULL) {
        return has_nulls;
    }
    return has_others && (self->test == TEST_NOT_NULL || may_pass(self, b));
}

bool
sinter__predicate_may_hold(const sinter__predicate *self, const sinter__column_bounds *bounds)
{
    if (self->test > TEST_OR) {
        return may_hold_for(self, &bounds[self->column]);
    }
    for (size_t i = 0; i < self->part_count; i++) {
        if (sinter__predicate_may_hold(self->parts[i], bounds) == (self->test == TEST_OR)) {
            return self->test == TEST_OR;
        }
    }
    return self->test == TEST_AND;
}
