#include "table/avro_rows.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "doc/number.h"
#include "doc/type.h"
#include "table/nest.h"

enum {
    MICROS_PER_MS = 1000,
    NANOS_PER_MICRO = 1000,
    DECIMAL_BYTES_MAX = 16,
    MILLI_DIGITS = 3,
    NO_BYTE = 256 /* none that a byte equals */
};

/** What the bytes of a value are. */
typedef enum value_form {
    FORM_BOOLEAN = 0,
    FORM_INTEGER = 1, /* from `least` to `greatest` */
    FORM_MILLIS = 2,
    FORM_MICROS = 3,
    FORM_FLOAT = 4,
    FORM_DOUBLE = 5,
    FORM_BYTES = 6,
    FORM_DECIMAL = 7,
    FORM_ROW = 8,
    FORM_ITEMS = 9 /* ARRAY, MAP, MULTISET */
} value_form;

typedef struct node node;

/** How the values of a type stand in the file. */
struct node {
    value_form form;
    int32_t null_branch; /* -1: there is no union */
    int64_t least;
    int64_t greatest;
    sinter_type type;
    sinter__nest *nest;            /* the parent's part, or the column's */
    const sinter__avro_node *avro; /* behind the union with null */
    const char *column;            /* for errors */
    node *parts;                   /* of a nested type */
    size_t part_count;
};

/** What is done with a field at once, where its bytes are as usual. */
typedef enum quick_op {
    QUICK_NONE = 0, /* nothing: it is decoded in general */
    QUICK_PASS_FIXED = 1,
    QUICK_TAKE_FLOAT = 2,
    QUICK_TAKE_DOUBLE = 3,
    QUICK_PASS_NUMBER = 4,
    QUICK_TAKE_NUMBER = 5,
    QUICK_PASS_BYTES = 6,
    QUICK_TAKE_BYTES = 7
} quick_op;

/** What becomes of a field of the file's records. */
typedef struct field_step {
    quick_op op;
    bool gives;         /* a value */
    uint16_t null_byte; /* how the branches of its union begin; NO_BYTE: there is no union */
    uint16_t value_byte;
    size_t size;   /* of QUICK_PASS_FIXED */
    size_t column; /* of values that are given */
    int64_t least; /* of numbers */
    int64_t greatest;
    const sinter__avro_node *avro;
    size_t first; /* in `uses`: columns that want it */
    size_t count;
} field_step;

struct sinter__avro_rows {
    const sinter_env *env;
    sinter__arena arena;
    int32_t record_branch; /* the whole record is in a union; -1: it isn't */
    field_step *steps;
    size_t step_count;
    size_t *uses;
    node *columns;
    sinter__nest *nests; /* one a column */
    size_t column_count;
    bool checks_nested;
};

/* ---- compiling ---- */

static sinter_status
mismatch(const node *n, const sinter__avro_node *avro, sinter_error *err)
{
    char name[SINTER_TYPE_TEXT_MAX];

    sinter_type_print(&n->type, name);
    return SINTER__ERR(err, SINTER_E_CORRUPT, "column %.100s is %s, the file has Avro type %s",
                       n->column, name, sinter__avro_type_name(avro->type));
}

static sinter__avro_type
avro_type_of(const sinter_type *type)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        return SINTER__AVRO_BOOLEAN;
    case SINTER_TYPE_TINYINT:
    case SINTER_TYPE_SMALLINT:
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
        return SINTER__AVRO_INT;
    case SINTER_TYPE_FLOAT:
        return SINTER__AVRO_FLOAT;
    case SINTER_TYPE_DOUBLE:
        return SINTER__AVRO_DOUBLE;
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
        return SINTER__AVRO_STRING;
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
    case SINTER_TYPE_DECIMAL:
        return SINTER__AVRO_BYTES;
    case SINTER_TYPE_ARRAY:
        return SINTER__AVRO_ARRAY;
    case SINTER_TYPE_ROW:
        return SINTER__AVRO_RECORD;
    default:
        return SINTER__AVRO_LONG;
    }
}

/* Of an atomic type that the file's type fits. */
static value_form
form_of(const sinter_type *type, const sinter__avro_node *avro)
{
    switch (avro->type) {
    case SINTER__AVRO_BOOLEAN:
        return FORM_BOOLEAN;
    case SINTER__AVRO_FLOAT:
        return FORM_FLOAT;
    case SINTER__AVRO_DOUBLE:
        return FORM_DOUBLE;
    case SINTER__AVRO_STRING:
        return FORM_BYTES;
    case SINTER__AVRO_BYTES:
        return type->id == SINTER_TYPE_DECIMAL ? FORM_DECIMAL : FORM_BYTES;
    default:
        if (!sinter__type_is_timestamp(type)) {
            return FORM_INTEGER;
        }
        if (avro->logical_type == NULL) {
            return type->precision > MILLI_DIGITS ? FORM_MICROS : FORM_MILLIS;
        }
        return strstr(avro->logical_type, "micros") != NULL ? FORM_MICROS : FORM_MILLIS;
    }
}

static void
set_range(node *n)
{
    switch (n->type.id) {
    case SINTER_TYPE_TINYINT:
        n->least = INT8_MIN;
        n->greatest = INT8_MAX;
        break;
    case SINTER_TYPE_SMALLINT:
        n->least = INT16_MIN;
        n->greatest = INT16_MAX;
        break;
    case SINTER_TYPE_BIGINT:
        n->least = INT64_MIN;
        n->greatest = INT64_MAX;
        break;
    default:
        n->least = INT32_MIN;
        n->greatest = INT32_MAX;
        break;
    }
}

static sinter_status
compile(sinter__avro_rows *rows, node *n, const sinter__avro_node *avro, sinter_error *err);

static sinter_status
compile_part(sinter__avro_rows *rows, node *n, size_t index, const sinter__avro_node *avro,
             sinter_error *err)
{
    node *part = &n->parts[index];

    part->type = n->type.parts->fields[index].type;
    part->nest = &n->nest->parts[index];
    part->column = n->column;
    return compile(rows, part, avro, err);
}

/* An Avro map has strings as keys; other keys stand in an array of records with key and value. */
static sinter_status
compile_map(sinter__avro_rows *rows, node *n, sinter_error *err)
{
    static const sinter__avro_node string = {.type = SINTER__AVRO_STRING};
    const sinter__avro_node *avro = n->avro;

    if (avro->type == SINTER__AVRO_ARRAY) {
        const sinter__avro_node *entry = avro->fields[0].type;

        if (entry->type != SINTER__AVRO_RECORD || entry->field_count != 2) {
            return mismatch(n, avro, err);
        }
        SINTER__CHECK(compile_part(rows, n, 0, entry->fields[0].type, err));
        return compile_part(rows, n, 1, entry->fields[1].type, err);
    }
    if (avro->type != SINTER__AVRO_MAP) {
        return mismatch(n, avro, err);
    }
    SINTER__CHECK(compile_part(rows, n, 0, &string, err));
    return compile_part(rows, n, 1, avro->fields[0].type, err);
}

static sinter_status
compile_nested(sinter__avro_rows *rows, node *n, sinter_error *err)
{
    n->form = n->type.id == SINTER_TYPE_ROW ? FORM_ROW : FORM_ITEMS;
    n->part_count = n->type.parts->count;
    SINTER__CHECK(sinter__arena_take(&rows->arena, (n->part_count + 1) * sizeof *n->parts,
                                     (void **)&n->parts, err));
    memset(n->parts, 0, (n->part_count + 1) * sizeof *n->parts);
    if (n->type.id == SINTER_TYPE_MAP || n->type.id == SINTER_TYPE_MULTISET) {
        return compile_map(rows, n, err);
    }
    if (n->avro->type != avro_type_of(&n->type) ||
        (n->type.id == SINTER_TYPE_ROW && n->avro->field_count != n->part_count)) {
        return mismatch(n, n->avro, err);
    }
    for (size_t i = 0; i < n->part_count; i++) {
        SINTER__CHECK(compile_part(rows, n, i, n->avro->fields[i].type, err));
    }
    return SINTER_OK;
}

static sinter_status
compile(sinter__avro_rows *rows, node *n, const sinter__avro_node *avro, sinter_error *err)
{
    int32_t branch = -1;

    n->avro = sinter__avro_node_unwrap(avro, &branch);
    n->null_branch = branch < 0 ? -1 : 1 - branch;
    if (n->type.id == SINTER_TYPE_VARIANT || n->type.id == SINTER_TYPE_BLOB) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "column %.100s: %s can't be read from Avro",
                           n->column, sinter_type_name(n->type.id));
    }
    if (n->avro == NULL || (branch >= 0 && avro->field_count != 2)) {
        return mismatch(n, avro, err);
    }
    if (sinter_type_is_nested(&n->type)) {
        return compile_nested(rows, n, err);
    }
    if (n->avro->type != avro_type_of(&n->type)) {
        return mismatch(n, n->avro, err);
    }
    n->form = form_of(&n->type, n->avro);
    set_range(n);
    return SINTER_OK;
}

/* Note which columns want a field. */
static sinter_status
compile_field(sinter__avro_rows *rows, const sinter__avro_field *field,
              const sinter_column *columns, field_step *step, sinter_error *err)
{
    step->avro = field->type;
    for (size_t c = 0; c < rows->column_count; c++) {
        if (strcmp(columns[c].name, field->name) == 0) {
            rows->uses[step->first + step->count++] = c;
            SINTER__CHECK(compile(rows, &rows->columns[c], field->type, err));
        }
    }
    return SINTER_OK;
}

/* ---- what is done at once ---- */

/* A field that nobody wants. */
static void
pass_type(const sinter__avro_node *avro, field_step *step)
{
    switch (avro->type) {
    case SINTER__AVRO_BOOLEAN:
        step->op = QUICK_PASS_FIXED;
        step->size = 1;
        break;
    case SINTER__AVRO_FLOAT:
        step->op = QUICK_PASS_FIXED;
        step->size = 4;
        break;
    case SINTER__AVRO_DOUBLE:
        step->op = QUICK_PASS_FIXED;
        step->size = 8;
        break;
    case SINTER__AVRO_INT:
    case SINTER__AVRO_LONG:
        step->op = QUICK_PASS_NUMBER;
        break;
    case SINTER__AVRO_BYTES:
    case SINTER__AVRO_STRING:
        step->op = QUICK_PASS_BYTES;
        break;
    default:
        break;
    }
}

/* A column whose values are checked, and given where it is kept. */
static void
take_column(const node *column, bool is_kept, field_step *step)
{
    switch (column->form) {
    case FORM_INTEGER:
        step->op = is_kept ? QUICK_TAKE_NUMBER : QUICK_PASS_NUMBER;
        step->least = column->least;
        step->greatest = column->greatest;
        break;
    case FORM_MILLIS:
        step->op = is_kept ? QUICK_TAKE_NUMBER : QUICK_PASS_NUMBER;
        break;
    case FORM_MICROS:
        step->op = is_kept ? QUICK_NONE : QUICK_PASS_NUMBER;
        break;
    case FORM_BYTES:
        step->op = is_kept ? QUICK_TAKE_BYTES : QUICK_PASS_BYTES;
        break;
    case FORM_FLOAT:
        step->op = is_kept ? QUICK_TAKE_FLOAT : QUICK_PASS_FIXED;
        step->size = 4;
        break;
    case FORM_DOUBLE:
        step->op = is_kept ? QUICK_TAKE_DOUBLE : QUICK_PASS_FIXED;
        step->size = 8;
        break;
    default:
        break;
    }
}

/* `kept`: one a column; NULL: all are. */
static void
plan_quick(const sinter__avro_rows *rows, const bool *kept, field_step *step)
{
    const node *column = step->count == 1 ? &rows->columns[rows->uses[step->first]] : NULL;
    int32_t branch = -1;
    const sinter__avro_node *avro = sinter__avro_node_unwrap(step->avro, &branch);

    step->op = QUICK_NONE;
    step->gives = false;
    step->null_byte = NO_BYTE;
    step->value_byte = NO_BYTE;
    step->least = INT64_MIN;
    step->greatest = INT64_MAX;
    if (avro == NULL || step->count > 1 || (branch >= 0 && step->avro->field_count != 2)) {
        return;
    }
    if (branch >= 0) {
        step->null_byte = (uint16_t)(2 * (1 - branch));
        step->value_byte = (uint16_t)(2 * branch);
    }
    if (column == NULL) {
        pass_type(avro, step);
        return;
    }
    step->column = rows->uses[step->first];
    step->gives = kept == NULL || kept[step->column];
    take_column(column, step->gives, step);
}

static sinter_status
compile_record(sinter__avro_rows *rows, const sinter__avro_node *record,
               const sinter_column *columns, sinter_error *err)
{
    size_t used = 0;

    rows->step_count = record->field_count;
    SINTER__CHECK(sinter__arena_take(&rows->arena, (rows->step_count + 1) * sizeof *rows->steps,
                                     (void **)&rows->steps, err));
    SINTER__CHECK(sinter__arena_take(&rows->arena, (rows->column_count + 1) * sizeof *rows->uses,
                                     (void **)&rows->uses, err));
    for (size_t i = 0; i < rows->step_count; i++) {
        rows->steps[i] = (field_step){.first = used};
        SINTER__CHECK(compile_field(rows, &record->fields[i], columns, &rows->steps[i], err));
        used += rows->steps[i].count;
        plan_quick(rows, NULL, &rows->steps[i]);
    }
    for (size_t c = 0; c < rows->column_count; c++) {
        if (rows->columns[c].avro == NULL) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "the file has no column %.100s",
                               columns[c].name);
        }
    }
    return SINTER_OK;
}

sinter_status
sinter__avro_rows_create(const sinter_env *env, const sinter__avro_schema *schema,
                         const sinter_column *columns, size_t count, sinter__avro_rows **out,
                         sinter_error *err)
{
    const sinter__avro_node *root = sinter__avro_schema_root(schema);
    sinter__avro_rows *rows = NULL;
    const sinter__avro_node *record = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, rows, 1, err));
    rows->env = env;
    rows->arena.env = env;
    record = sinter__avro_node_unwrap(root, &rows->record_branch);
    if (record == NULL || record->type != SINTER__AVRO_RECORD) {
        SINTER__FAIL(err, SINTER_E_CORRUPT, "the file holds no records");
    }
    SINTER__TRY(sinter__arena_take(&rows->arena, (count + 1) * sizeof *rows->columns,
                                   (void **)&rows->columns, err));
    memset(rows->columns, 0, (count + 1) * sizeof *rows->columns);
    SINTER__TRY(sinter__arena_take(&rows->arena, (count + 1) * sizeof *rows->nests,
                                   (void **)&rows->nests, err));
    memset(rows->nests, 0, (count + 1) * sizeof *rows->nests);
    rows->column_count = count;
    for (size_t i = 0; i < count; i++) {
        rows->columns[i].type = columns[i].type;
        rows->columns[i].nest = &rows->nests[i];
        rows->columns[i].column = columns[i].name;
        SINTER__TRY(sinter__nest_init(&rows->arena, &columns[i].type, columns[i].name,
                                      &rows->nests[i], err));
    }
    SINTER__TRY(compile_record(rows, record, columns, err));
    *out = rows;
    rows = NULL;
out:
    sinter__avro_rows_destroy(rows);
    return st;
}

void
sinter__avro_rows_destroy(sinter__avro_rows *rows)
{
    if (rows != NULL) {
        const sinter_env *env = rows->env;

        for (size_t i = 0; i < rows->column_count; i++) {
            sinter__nest_fini(&rows->nests[i]);
        }
        sinter__arena_fini(&rows->arena);
        sinter__free(env, rows);
    }
}

/* ---- atomic values ---- */

/* Big-endian two's complement of any length. */
static bool
read_decimal(sinter__avro_cursor *cursor, sinter_datum *out)
{
    sinter_bytes bytes;
    sinter__uint128 value = 0;

    if (!sinter__avro_get_bytes(cursor, &bytes) || bytes.size == 0 ||
        bytes.size > DECIMAL_BYTES_MAX) {
        return false;
    }
    value = (bytes.data[0] & 0x80u) != 0 ? ~value : value;
    for (size_t i = 0; i < bytes.size; i++) {
        value = value << 8 | bytes.data[i];
    }
    sinter__decimal_set(out, (sinter__int128)value);
    return true;
}

static bool
read_micros(sinter__avro_cursor *cursor, sinter_datum *out)
{
    int64_t value = 0;
    int32_t micros = 0;

    if (!sinter__avro_get_long(cursor, &value)) {
        return false;
    }
    micros = (int32_t)(value % MICROS_PER_MS);
    out->as.integer = value / MICROS_PER_MS - (micros < 0 ? 1 : 0);
    out->nanos = (micros < 0 ? micros + MICROS_PER_MS : micros) * NANOS_PER_MICRO;
    return true;
}

static bool
read_fixed(sinter__avro_cursor *cursor, void *out, size_t size)
{
    if ((size_t)(cursor->end - cursor->at) < size) {
        return false;
    }
    memcpy(out, cursor->at, size);
    cursor->at += size;
    return true;
}

static inline bool
read_atomic(const node *n, sinter__avro_cursor *cursor, sinter_datum *out)
{
    uint8_t fixed[8];

    switch (n->form) {
    case FORM_BOOLEAN:
        if (!read_fixed(cursor, fixed, 1) || fixed[0] > 1) {
            return false;
        }
        out->as.integer = fixed[0];
        return true;
    case FORM_FLOAT:
        if (!read_fixed(cursor, fixed, 4)) {
            return false;
        }
        out->as.float_bits = sinter__get_le32(fixed);
        return true;
    case FORM_DOUBLE:
        if (!read_fixed(cursor, fixed, 8)) {
            return false;
        }
        out->as.double_bits = sinter__get_le64(fixed);
        return true;
    case FORM_BYTES:
        return sinter__avro_get_bytes(cursor, &out->as.bytes);
    case FORM_DECIMAL:
        return read_decimal(cursor, out);
    case FORM_MILLIS:
        return sinter__avro_get_long(cursor, &out->as.integer);
    case FORM_MICROS:
        return read_micros(cursor, out);
    default:
        return sinter__avro_get_long(cursor, &out->as.integer) && out->as.integer >= n->least &&
               out->as.integer <= n->greatest;
    }
}

/* ---- values ---- */

static sinter_status
damaged(const node *n, sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_CORRUPT, "column %.100s: the value is damaged", n->column);
}

/* Is there a value? */
static inline bool
read_branch(const node *n, sinter__avro_cursor *cursor, bool *is_null)
{
    int64_t branch = -1;

    *is_null = false;
    if (n->null_branch < 0) {
        return true;
    }
    if (!sinter__avro_get_long(cursor, &branch) || branch < 0 || branch > 1) {
        return false;
    }
    *is_null = branch == n->null_branch;
    return true;
}

/* How many items of an array or map follow in one piece: blocks of a count, which is negative when
 * a size follows, until an empty one. */
static bool
read_count(sinter__avro_cursor *cursor, int64_t *out)
{
    int64_t size = 0;

    if (!sinter__avro_get_long(cursor, out) || *out == INT64_MIN ||
        (*out < 0 && !sinter__avro_get_long(cursor, &size))) {
        return false;
    }
    *out = *out < 0 ? -*out : *out;
    /* An item takes a byte at least, so a count can't promise more than there is. */
    return *out <= cursor->end - cursor->at;
}

/* ---- nested values, which are made ---- */

static sinter_status
decode(node *n, sinter__avro_cursor *cursor, sinter_datum *out, sinter_error *err);

static sinter_status
add_value(node *n, sinter__avro_cursor *cursor, sinter_error *err)
{
    sinter_datum *value = NULL;

    SINTER__CHECK(sinter__nest_add(n->nest, &value, err));
    return decode(n, cursor, value, err);
}

static sinter_status
add_parts(node *n, sinter__avro_cursor *cursor, sinter_error *err)
{
    for (size_t p = 0; p < n->part_count; p++) {
        SINTER__CHECK(add_value(&n->parts[p], cursor, err));
    }
    return SINTER_OK;
}

static sinter_status
add_items(node *n, sinter__avro_cursor *cursor, sinter_error *err)
{
    int64_t count = 0;

    do {
        if (!read_count(cursor, &count)) {
            return damaged(n, err);
        }
        for (int64_t i = 0; i < count; i++) {
            SINTER__CHECK(add_parts(n, cursor, err));
        }
    } while (count > 0);
    return SINTER_OK;
}

/* The value is noted in the nest until its parent is made. */
static sinter_status
decode_nested(node *n, sinter__avro_cursor *cursor, sinter_datum *out, sinter_error *err)
{
    sinter__nest_begin(n->nest);
    SINTER__CHECK(n->form == FORM_ROW ? add_parts(n, cursor, err) : add_items(n, cursor, err));
    return sinter__nest_end(n->nest, out, err);
}

static sinter_status
decode(node *n, sinter__avro_cursor *cursor, sinter_datum *out, sinter_error *err)
{
    *out = (sinter_datum){.is_null = false};
    if (!read_branch(n, cursor, &out->is_null)) {
        return damaged(n, err);
    }
    if (out->is_null) {
        return SINTER_OK;
    }
    if (n->form >= FORM_ROW) {
        return decode_nested(n, cursor, out, err);
    }
    return read_atomic(n, cursor, out) ? SINTER_OK : damaged(n, err);
}

/* ---- nested values, which are checked ---- */

static bool
check(const node *n, sinter__avro_cursor *cursor);

static bool
check_parts(const node *n, sinter__avro_cursor *cursor)
{
    for (size_t p = 0; p < n->part_count; p++) {
        if (!check(&n->parts[p], cursor)) {
            return false;
        }
    }
    return true;
}

static bool
check_items(const node *n, sinter__avro_cursor *cursor)
{
    int64_t count = 0;

    do {
        if (!read_count(cursor, &count)) {
            return false;
        }
        for (int64_t i = 0; i < count; i++) {
            if (!check_parts(n, cursor)) {
                return false;
            }
        }
    } while (count > 0);
    return true;
}

static bool
check(const node *n, sinter__avro_cursor *cursor)
{
    sinter_datum value;
    bool is_null = false;

    if (!read_branch(n, cursor, &is_null)) {
        return false;
    }
    if (is_null) {
        return true;
    }
    switch (n->form) {
    case FORM_ROW:
        return check_parts(n, cursor);
    case FORM_ITEMS:
        return check_items(n, cursor);
    default:
        return read_atomic(n, cursor, &value);
    }
}

/* ---- records ---- */

static sinter_status
decode_column(const sinter__avro_rows *rows, node *column, sinter__avro_cursor *cursor,
              sinter_datum *value, sinter_error *err)
{
    if (column->form < FORM_ROW) {
        return decode(column, cursor, value, err);
    }
    if (rows->checks_nested) {
        sinter__avro_cursor ahead = *cursor;

        *value = (sinter_datum){.is_null = false};
        return read_branch(column, &ahead, &value->is_null) && check(column, cursor)
                   ? SINTER_OK
                   : damaged(column, err);
    }
    sinter_text_reset(&column->nest->text);
    SINTER__CHECK(decode(column, cursor, value, err));
    sinter__nest_settle(column->nest, value);
    return SINTER_OK;
}

static sinter_status
decode_field(sinter__avro_rows *rows, const field_step *step, sinter__avro_cursor *cursor,
             sinter_datum *values, sinter_error *err)
{
    const sinter__avro_cursor begin = *cursor;

    if (step->count == 0) {
        return sinter__avro_skip(cursor, step->avro)
                   ? SINTER_OK
                   : SINTER__ERR(err, SINTER_E_CORRUPT, "a record is damaged");
    }
    for (size_t i = 0; i < step->count; i++) {
        const size_t column = rows->uses[step->first + i];

        *cursor = begin;
        SINTER__CHECK(decode_column(rows, &rows->columns[column], cursor, &values[column], err));
    }
    return SINTER_OK;
}

void
sinter__avro_rows_keep(sinter__avro_rows *rows, const bool *kept)
{
    rows->checks_nested = true;
    for (size_t i = 0; i < rows->step_count; i++) {
        plan_quick(rows, kept, &rows->steps[i]);
    }
}

/* A value of some bytes, always as many. */
static inline const uint8_t *
run_fixed(const field_step *step, const uint8_t *at, const uint8_t *end, sinter_datum *values)
{
    if ((size_t)(end - at) < step->size) {
        return NULL;
    }
    if (step->op == QUICK_TAKE_FLOAT) {
        values[step->column] = (sinter_datum){.as.float_bits = sinter__get_le32(at)};
    } else if (step->op == QUICK_TAKE_DOUBLE) {
        values[step->column] = (sinter_datum){.as.double_bits = sinter__get_le64(at)};
    }
    return at + step->size;
}

/* The value of a field whose bytes are as usual. NULL: they aren't, or there is nothing that could
 * be done at once. No switch: a jump through a table costs more than these branches. */
static inline const uint8_t *
run_quick(const field_step *step, const uint8_t *at, const uint8_t *end, sinter_datum *values)
{
    int64_t number = 0;

    if (step->op < QUICK_PASS_NUMBER) {
        return step->op == QUICK_NONE ? NULL : run_fixed(step, at, end, values);
    }
    at = sinter__avro_take_long(at, end, &number);
    if (at == NULL) {
        return NULL;
    }
    if (step->op < QUICK_PASS_BYTES) {
        if (number < step->least || number > step->greatest) {
            return NULL;
        }
        if (step->op == QUICK_TAKE_NUMBER) {
            values[step->column] = (sinter_datum){.as.integer = number};
        }
        return at;
    }
    if ((uint64_t)number > (uint64_t)(end - at)) {
        return NULL;
    }
    if (step->op == QUICK_TAKE_BYTES) {
        values[step->column] = (sinter_datum){.as.bytes = {at, (size_t)number}};
    }
    return at + number;
}

/* The same with the branch of a union before it. */
static inline const uint8_t *
run_branch(const field_step *step, const uint8_t *at, const uint8_t *end, sinter_datum *values)
{
    if (step->null_byte == NO_BYTE) {
        return run_quick(step, at, end, values);
    }
    if (at < end && *at == step->null_byte && step->op != QUICK_NONE) {
        if (step->gives) {
            values[step->column] = (sinter_datum){.is_null = true};
        }
        return at + 1;
    }
    return at < end && *at == step->value_byte ? run_quick(step, at + 1, end, values) : NULL;
}

sinter_status
sinter__avro_rows_head(sinter__avro_rows *rows, sinter__avro_cursor *cursor, size_t field_count,
                       sinter_datum *values, sinter_error *err)
{
    const uint8_t *const end = cursor->end;
    const uint8_t *at = NULL;
    int64_t branch = -1;

    if (rows->record_branch >= 0 &&
        (!sinter__avro_get_long(cursor, &branch) || branch != rows->record_branch)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a record is damaged");
    }
    assert(field_count <= rows->step_count);
    at = cursor->at;
    assert(at != NULL || end == NULL);
    for (size_t i = 0; i < field_count; i++) {
        const field_step *step = &rows->steps[i];
        const uint8_t *behind = run_branch(step, at, end, values);

        if (behind == NULL) {
            sinter__avro_cursor field = {at, end};

            SINTER__CHECK(decode_field(rows, step, &field, values, err));
            behind = field.at;
        }
        at = behind;
    }
    cursor->at = at;
    return SINTER_OK;
}

sinter_status
sinter__avro_rows_next(sinter__avro_rows *rows, sinter__avro_cursor *cursor, sinter_datum *values,
                       sinter_error *err)
{
    return sinter__avro_rows_head(rows, cursor, rows->step_count, values, err);
}
