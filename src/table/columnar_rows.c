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

sinter_status
sinter__cells_bind(int32_t kind, const struct ArrowSchema *field, const sinter_type *type,
                   sinter__cells *out, sinter_error *err)
{
    char text[SINTER_TYPE_TEXT_MAX];

    memset(out, 0, sizeof *out);
    out->type = *type;
    sinter_type_print(type, text);
    if (sinter_type_is_nested(type)) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "column %s: %s in Parquet and ORC files",
                           field->name, text);
    }
    if (field->dictionary != NULL || !find_form(field->format, out)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "column %s is %s, and no %s as its schema says",
                           field->name, field->format, text);
    }
    out->is_padded = kind == SINTER__COLUMNAR_ORC && type->id == SINTER_TYPE_CHAR;
    return SINTER_OK;
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

void
sinter__cells_get(const sinter__cells *cells, const struct ArrowArray *array, int64_t row,
                  sinter_datum *out)
{
    const int64_t at = array->offset + row;
    const void *values = array->n_buffers > 1 ? array->buffers[1] : NULL;

    assert(row >= 0 && row < array->length);
    memset(out, 0, sizeof *out);
    if (array->null_count != 0 && array->buffers[0] != NULL && !get_bit(array->buffers[0], at)) {
        out->is_null = true;
        return;
    }
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
