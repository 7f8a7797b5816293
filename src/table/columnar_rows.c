#include "table/columnar_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

enum { MS_PER_SECOND = 1000, NANOS_PER_MS = 1000000, NANOS_PER_SECOND = 1000000000 };

/** Words that say everything by themselves, and the types that they may stand for. */
static const struct {
    const char *format;
    int32_t type;
    int32_t form;
} plain_forms[] = {
    {"b", SINTER_TYPE_BOOLEAN, SINTER__CELL_BITS},
    {"c", SINTER_TYPE_TINYINT, SINTER__CELL_INT8},
    {"s", SINTER_TYPE_SMALLINT, SINTER__CELL_INT16},
    {"i", SINTER_TYPE_INT, SINTER__CELL_INT32},
    {"l", SINTER_TYPE_BIGINT, SINTER__CELL_INT64},
    {"f", SINTER_TYPE_FLOAT, SINTER__CELL_UINT32},
    {"g", SINTER_TYPE_DOUBLE, SINTER__CELL_UINT64},
    {"tdD", SINTER_TYPE_DATE, SINTER__CELL_INT32},
    {"ttm", SINTER_TYPE_TIME, SINTER__CELL_INT32},
    {"i", SINTER_TYPE_TIME, SINTER__CELL_INT32}, /* ORC has no times */
    {"u", SINTER_TYPE_CHAR, SINTER__CELL_BYTES},
    {"u", SINTER_TYPE_VARCHAR, SINTER__CELL_BYTES},
    {"z", SINTER_TYPE_CHAR, SINTER__CELL_BYTES}, /* Parquet without the annotation */
    {"z", SINTER_TYPE_VARCHAR, SINTER__CELL_BYTES},
    {"z", SINTER_TYPE_BINARY, SINTER__CELL_BYTES},
    {"z", SINTER_TYPE_VARBINARY, SINTER__CELL_BYTES},
};

static bool
is_timestamp(const sinter_type *type)
{
    return type->id == SINTER_TYPE_TIMESTAMP || type->id == SINTER_TYPE_TIMESTAMP_LTZ;
}

/** "d:10,2", of the type's own digits. */
static bool
is_decimal_of(const char *format, const sinter_type *type)
{
    char *end = NULL;
    unsigned long precision = 0;
    unsigned long scale = 0;

    if (type->id != SINTER_TYPE_DECIMAL || strncmp(format, "d:", 2) != 0) {
        return false;
    }
    precision = strtoul(format + 2, &end, 10);
    if (*end != ',') {
        return false;
    }
    scale = strtoul(end + 1, &end, 10);
    return precision == type->precision && scale == type->scale &&
           (*end == '\0' || strcmp(end, ",128") == 0);
}

static int64_t
units_per_second(const char *format)
{
    static const struct {
        char letter;
        int64_t units;
    } units[] = {{'m', 1000}, {'u', 1000000}, {'n', NANOS_PER_SECOND}};

    if (strncmp(format, "ts", 2) == 0) {
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            if (format[2] == units[i].letter && format[3] == ':') {
                return units[i].units;
            }
        }
    }
    return 0;
}

static bool
find_form(const char *format, sinter__cells *out)
{
    const sinter_type *type = &out->type;

    for (size_t i = 0; i < sizeof plain_forms / sizeof plain_forms[0]; i++) {
        if (plain_forms[i].type == type->id && strcmp(plain_forms[i].format, format) == 0) {
            out->form = plain_forms[i].form;
            return true;
        }
    }
    if (is_decimal_of(format, type)) {
        out->form = SINTER__CELL_DECIMAL;
        return true;
    }
    if (strncmp(format, "w:", 2) == 0 &&
        (type->id == SINTER_TYPE_BINARY || type->id == SINTER_TYPE_VARBINARY)) {
        out->form = SINTER__CELL_FIXED_BYTES;
        out->width = (int32_t)strtol(format + 2, NULL, 10);
        return out->width > 0;
    }
    out->form = SINTER__CELL_TIME;
    out->per_second = units_per_second(format);
    return is_timestamp(type) && out->per_second > 0;
}

/* The form that a nested type has, by Arrow's word for it. */
static bool
find_nested_form(const struct ArrowSchema *field, sinter__cells *out)
{
    const int64_t parts = (int64_t)out->type.parts->count;

    switch (out->type.id) {
    case SINTER_TYPE_ROW:
        out->form = SINTER__CELL_FIELDS;
        return strcmp(field->format, "+s") == 0 && field->n_children == parts;
    case SINTER_TYPE_ARRAY:
        out->form = SINTER__CELL_LIST;
        return strcmp(field->format, "+l") == 0 && field->n_children == 1;
    default:
        out->form = SINTER__CELL_PAIRS;
        return strcmp(field->format, "+m") == 0 && field->n_children == 1 &&
               field->children[0]->n_children == 2;
    }
}

static sinter_status
bind(sinter__arena *arena, int32_t kind, const struct ArrowSchema *field, sinter__nest *nest,
     sinter__cells *out, sinter_error *err)
{
    const bool is_nested = sinter_type_is_nested(&nest->type);
    struct ArrowSchema *const *parts = field->children;
    char text[SINTER_TYPE_TEXT_MAX];

    memset(out, 0, sizeof *out);
    out->type = nest->type;
    out->nest = nest;
    if (field->dictionary != NULL ||
        !(is_nested ? find_nested_form(field, out) : find_form(field->format, out))) {
        sinter_type_print(&nest->type, text);
        return SINTER__ERR(err, SINTER_E_CORRUPT, "the file has %s, its schema says %s",
                           field->format, text);
    }
    out->is_padded = kind == SINTER__COLUMNAR_ORC && nest->type.id == SINTER_TYPE_CHAR;
    if (!is_nested) {
        return SINTER_OK;
    }
    parts = out->form == SINTER__CELL_PAIRS ? field->children[0]->children : parts;
    SINTER__CHECK(sinter__arena_take(arena, (nest->part_count + 1) * sizeof *out->parts,
                                     (void **)&out->parts, err));
    for (size_t i = 0; i < nest->part_count; i++) {
        SINTER__CHECK(bind(arena, kind, parts[i], &nest->parts[i], &out->parts[i], err));
    }
    return SINTER_OK;
}

sinter_status
sinter__cells_bind(sinter__arena *arena, int32_t kind, const struct ArrowSchema *field,
                   const sinter_type *type, sinter__cells *out, sinter_error *err)
{
    sinter__nest *nest = NULL;
    sinter_status st = SINTER_OK;

    memset(out, 0, sizeof *out);
    SINTER__CHECK(sinter__arena_take(arena, sizeof *nest, (void **)&nest, err));
    out->nest = nest;
    SINTER__CHECK(sinter__nest_init(arena, type, field->name, nest, err));
    st = bind(arena, kind, field, nest, out, err);
    if (st == SINTER_E_CORRUPT) {
        sinter__fail_context(err, "column %.100s", field->name);
    }
    return st;
}

void
sinter__cells_fini(sinter__cells *cells)
{
    if (cells->nest != NULL) {
        sinter__nest_fini(cells->nest);
        memset(cells, 0, sizeof *cells);
    }
}

static bool
get_bit(const void *bits, int64_t at)
{
    return (((const uint8_t *)bits)[at / 8] >> (at % 8) & 1) != 0;
}

static sinter_bytes
get_bytes(const struct ArrowArray *array, int64_t at)
{
    const int32_t *offsets = array->buffers[1];
    sinter_bytes bytes = {array->buffers[2], 0};

    bytes.size = (size_t)(offsets[at + 1] - offsets[at]);
    if (bytes.data != NULL) {
        bytes.data += offsets[at];
    }
    return bytes;
}

/** A timestamp as milliseconds, and nanoseconds of them. */
static void
get_time(int64_t value, int64_t per_second, sinter_datum *out)
{
    int64_t rest = 0; /* of the millisecond */

    if (per_second <= MS_PER_SECOND) {
        out->as.integer = value * (MS_PER_SECOND / per_second);
        return;
    }
    per_second /= MS_PER_SECOND; /* units in a millisecond */
    rest = value % per_second;
    rest += rest < 0 ? per_second : 0;
    out->as.integer = (value - rest) / per_second;
    out->nanos = (int32_t)(rest * (NANOS_PER_MS / per_second));
}

static sinter_bytes
without_padding(sinter_bytes text)
{
    while (text.size > 0 && text.data[text.size - 1] == ' ') {
        text.size--;
    }
    return text;
}

static void
get_atomic(const sinter__cells *cells, const struct ArrowArray *array, int64_t at,
           sinter_datum *out)
{
    const void *values = array->buffers[1];

    assert(values != NULL); /* no row is without a value here */
    switch (cells->form) {
    case SINTER__CELL_BITS:
        out->as.integer = get_bit(values, at);
        break;
    case SINTER__CELL_INT8:
        out->as.integer = (int64_t)((const int8_t *)values)[at];
        break;
    case SINTER__CELL_INT16:
        out->as.integer = ((const int16_t *)values)[at];
        break;
    case SINTER__CELL_INT32:
        out->as.integer = ((const int32_t *)values)[at];
        break;
    case SINTER__CELL_INT64:
        out->as.integer = ((const int64_t *)values)[at];
        break;
    case SINTER__CELL_UINT32:
        out->as.float_bits = ((const uint32_t *)values)[at];
        break;
    case SINTER__CELL_UINT64:
        out->as.double_bits = ((const uint64_t *)values)[at];
        break;
    case SINTER__CELL_DECIMAL: /* in the byte order of the machine, low half first */
        out->as.decimal.low = ((const uint64_t *)values)[2 * at];
        out->as.decimal.high = ((const int64_t *)values)[2 * at + 1];
        break;
    case SINTER__CELL_FIXED_BYTES:
        out->as.bytes.data = (const uint8_t *)values + at * cells->width;
        out->as.bytes.size = (size_t)cells->width;
        break;
    case SINTER__CELL_TIME:
        get_time(((const int64_t *)values)[at], cells->per_second, out);
        break;
    default:
        out->as.bytes = get_bytes(array, at);
        out->as.bytes = cells->is_padded ? without_padding(out->as.bytes) : out->as.bytes;
        break;
    }
}

static sinter_status
get(const sinter__cells *cells, const struct ArrowArray *array, int64_t row, sinter_datum *out,
    sinter_error *err);

static sinter_status
add(const sinter__cells *part, const struct ArrowArray *array, int64_t row, sinter_error *err)
{
    sinter_datum *value = NULL;

    SINTER__CHECK(sinter__nest_add(part->nest, &value, err));
    return get(part, array, row, value, err);
}

static sinter_status
get_nested(const sinter__cells *cells, const struct ArrowArray *array, int64_t at,
           sinter_datum *out, sinter_error *err)
{
    sinter__nest *nest = cells->nest;
    struct ArrowArray *const *parts = array->children;
    int64_t first = at;
    int64_t end = at + 1;

    sinter__nest_begin(nest);
    if (cells->form != SINTER__CELL_FIELDS) {
        const int32_t *offsets = array->buffers[1];

        first = offsets[at];
        end = offsets[at + 1];
    }
    if (cells->form == SINTER__CELL_PAIRS) { /* Arrow has a struct between a map and its key */
        first += array->children[0]->offset;
        end += array->children[0]->offset;
        parts = array->children[0]->children;
    }
    for (size_t p = 0; p < nest->part_count; p++) {
        for (int64_t i = first; i < end; i++) {
            SINTER__CHECK(add(&cells->parts[p], parts[p], i, err));
        }
    }
    return sinter__nest_end(nest, out, err);
}

static sinter_status
get(const sinter__cells *cells, const struct ArrowArray *array, int64_t row, sinter_datum *out,
    sinter_error *err)
{
    const int64_t at = array->offset + row;

    assert(row >= 0 && row < array->length);
    memset(out, 0, sizeof *out);
    if (array->null_count != 0 && array->buffers[0] != NULL && !get_bit(array->buffers[0], at)) {
        out->is_null = true;
        return SINTER_OK;
    }
    if (cells->parts != NULL) {
        return get_nested(cells, array, at, out, err);
    }
    get_atomic(cells, array, at, out);
    return SINTER_OK;
}

sinter_status
sinter__cells_get(const sinter__cells *cells, const struct ArrowArray *array, int64_t row,
                  sinter_datum *out, sinter_error *err)
{
    sinter_text_reset(&cells->nest->text);
    SINTER__CHECK(get(cells, array, row, out, err));
    sinter__nest_settle(cells->nest, out);
    return SINTER_OK;
}
