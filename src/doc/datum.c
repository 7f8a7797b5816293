#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/json_value.h"
#include "doc/nested.h"
#include "doc/number.h"
#include "doc/text.h"

enum { MS_PER_DAY = 86400000, NANOS_MAX = 999999, TIME_DECIMALS = 3, SHOWN_BYTES = 60 };

/* "column \"x\": " or nothing: what every refusal of a value begins with. */
static sinter_status
refuse(sinter_error *err, sinter_status status, const char *column, const char *what)
{
    if (column == NULL) {
        return SINTER__ERR(err, status, "%s", what);
    }
    return SINTER__ERR(err, status, "column \"%.100s\": %s", column, what);
}

/* A type that has no values here: VARIANT, BLOB, or a nested one whose parts aren't known. */
static sinter_status
refuse_values(sinter_error *err, const char *column, const sinter_type *type)
{
    char what[96];

    (void)snprintf(what, sizeof what, "values of type %s are not supported",
                   sinter_type_name(type->id));
    return refuse(err, SINTER_E_UNSUPPORTED, column, what);
}

static sinter_status
refuse_text(sinter_error *err, const char *column, const sinter_type *type, sinter_bytes text)
{
    char what[256];
    char name[SINTER_TYPE_TEXT_MAX];
    size_t shown = text.size < SHOWN_BYTES ? text.size : SHOWN_BYTES;

    sinter_type_print(type, name);
    while (shown > 0 && shown < text.size && (text.data[shown] & 0xc0u) == 0x80u) {
        shown--; /* no half of a character */
    }
    if (sinter__utf8_is_valid((sinter_bytes){.data = text.data, .size = shown})) {
        (void)snprintf(what, sizeof what, "\"%.*s%s\" is no %s", (int)shown,
                       text.size == 0 ? "" : (const char *)text.data,
                       text.size > shown ? "..." : "", name);
    } else {
        (void)snprintf(what, sizeof what, "a text of %zu bytes is no %s", text.size, name);
    }
    return refuse(err, SINTER_E_INVALID, column, what);
}

static bool
integer_range(int32_t id, int64_t *low, int64_t *high)
{
    switch (id) {
    case SINTER_TYPE_BOOLEAN:
        *low = 0;
        *high = 1;
        return true;
    case SINTER_TYPE_TINYINT:
        *low = INT8_MIN;
        *high = INT8_MAX;
        return true;
    case SINTER_TYPE_SMALLINT:
        *low = INT16_MIN;
        *high = INT16_MAX;
        return true;
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
        *low = INT32_MIN;
        *high = INT32_MAX;
        return true;
    case SINTER_TYPE_TIME:
        *low = 0;
        *high = MS_PER_DAY - 1;
        return true;
    default:
        return false;
    }
}

static sinter_status
check_length(const sinter_type *type, const char *column, const sinter_datum *datum,
             sinter_error *err)
{
    const bool string = sinter__type_is_string(type);
    char what[160];
    char name[SINTER_TYPE_TEXT_MAX];
    size_t length = datum->as.bytes.size;

    if (length <= type->precision) {
        return SINTER_OK;
    }
    length = string ? sinter__utf8_count(datum->as.bytes) : length;
    if (length <= type->precision) {
        return SINTER_OK;
    }
    sinter_type_print(type, name);
    (void)snprintf(what, sizeof what, "%zu %s don't fit %s", length,
                   string ? "characters" : "bytes", name);
    return refuse(err, SINTER_E_INVALID, column, what);
}

/* What is damage in a file is a bad argument here. */
static sinter_status
check_nested(const sinter_type *type, const char *column, const sinter_datum *datum,
             sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if (!sinter_type_is_nested(type)) {
        return refuse_values(err, column, type);
    }
    if (datum->as.bytes.data == NULL) {
        return refuse(err, SINTER_E_INVALID, column, "a nested value without bytes");
    }
    st = sinter__nested_check(type, datum->as.bytes, &detail);
    if (st == SINTER_OK) {
        return SINTER_OK;
    }
    return refuse(err, st == SINTER_E_CORRUPT ? SINTER_E_INVALID : st, column, detail.text);
}

sinter_status
sinter__datum_check_range(const sinter_type *type, const char *column, const sinter_datum *datum,
                          sinter_error *err)
{
    int64_t low = 0;
    int64_t high = 0;
    char what[160];
    char name[SINTER_TYPE_TEXT_MAX];

    if (type->id >= SINTER_TYPE_ARRAY) {
        return check_nested(type, column, datum, err);
    }
    if (sinter__type_is_bytes(type)) {
        return check_length(type, column, datum, err);
    }
    if (integer_range(type->id, &low, &high) &&
        (datum->as.integer < low || datum->as.integer > high)) {
        sinter_type_print(type, name);
        (void)snprintf(what, sizeof what, "%" PRId64 " is out of the range of %s",
                       datum->as.integer, name);
        return refuse(err, SINTER_E_INVALID, column, what);
    }
    if (type->id == SINTER_TYPE_DECIMAL &&
        !sinter__decimal_fits(sinter__decimal_get(datum), type->precision)) {
        (void)snprintf(what, sizeof what, "more than the %u digits of DECIMAL(%u, %u)",
                       type->precision, type->precision, type->scale);
        return refuse(err, SINTER_E_INVALID, column, what);
    }
    if (sinter__type_is_timestamp(type) && (datum->nanos < 0 || datum->nanos > NANOS_MAX ||
                                            (type->precision <= 3 && datum->nanos != 0))) {
        (void)snprintf(what, sizeof what, "%d nanoseconds of a millisecond don't fit TIMESTAMP(%u)",
                       datum->nanos, type->precision);
        return refuse(err, SINTER_E_INVALID, column, what);
    }
    return SINTER_OK;
}

sinter_status
sinter_datum_check(const sinter_type *type, const char *column, const sinter_datum *datum,
                   sinter_error *err)
{
    SINTER__REQUIRE(err, type != NULL);
    SINTER__REQUIRE(err, datum != NULL);
    if (sinter__type_without_values(type) != NULL) {
        return refuse_values(err, column, sinter__type_without_values(type));
    }
    if (!datum->is_null) {
        return sinter__datum_check_range(type, column, datum, err);
    }
    if (!type->nullable) {
        return refuse(err, SINTER_E_INVALID, column, "null, but declared NOT NULL");
    }
    return SINTER_OK;
}

static bool
text_is(sinter_bytes text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static bool
parse_boolean(sinter_bytes text, int64_t *out)
{
    *out = text_is(text, "true") ? 1 : 0;
    return *out == 1 || text_is(text, "false");
}

static bool
parse_integer(const sinter_type *type, sinter_bytes text, int64_t *out, bool *range_out)
{
    int64_t low = INT64_MIN;
    int64_t high = INT64_MAX;

    if (!sinter__integer_parse(text, out, range_out)) {
        return false;
    }
    (void)integer_range(type->id, &low, &high);
    *range_out = *out < low || *out > high;
    return !*range_out;
}

static bool
parse_date(sinter_bytes text, int64_t *out)
{
    return sinter__date_parse(text, out) == text.size && text.size > 0 && *out >= INT32_MIN &&
           *out <= INT32_MAX;
}

static bool
parse_time(sinter_bytes text, sinter_datum *out)
{
    sinter__clock_time time;

    if (text.size == 0 || sinter__time_parse(text, TIME_DECIMALS, &time) != text.size) {
        return false;
    }
    out->as.integer = time.ms;
    return true;
}

static bool
parse_timestamp(const sinter_type *type, sinter_bytes text, sinter_datum *out)
{
    sinter__clock_time time;
    sinter_bytes rest = text;
    int64_t days = 0;
    const size_t date_size = text.size == 0 ? 0 : sinter__date_parse(text, &days);
    size_t time_size;

    if (date_size == 0 || date_size == text.size ||
        (text.data[date_size] != ' ' && text.data[date_size] != 'T')) {
        return false;
    }
    rest.data += date_size + 1;
    rest.size -= date_size + 1;
    time_size = sinter__time_parse(rest, type->precision, &time);
    if (time_size == 0) {
        return false;
    }
    rest.data += time_size;
    rest.size -= time_size;
    out->nanos = time.nanos;
    return (type->id == SINTER_TYPE_TIMESTAMP_LTZ ? text_is(rest, "Z") : rest.size == 0) &&
           !__builtin_mul_overflow(days, (int64_t)MS_PER_DAY, &out->as.integer) &&
           !__builtin_add_overflow(out->as.integer, time.ms, &out->as.integer);
}

static bool
parse_decimal(const sinter_type *type, sinter_bytes text, sinter_datum *out)
{
    sinter__int128 value = 0;

    if (!sinter__decimal_parse(text, type->precision, type->scale, &value)) {
        return false;
    }
    sinter__decimal_set(out, value);
    return true;
}

static sinter_status
parse_bytes(const sinter_column *column, sinter_bytes text, bool hex, sinter_text *scratch,
            sinter_datum *out, sinter_error *err)
{
    size_t begin = 0;
    sinter_status st = SINTER_OK;

    if (!hex) {
        out->as.bytes = text;
        return check_length(&column->type, column->name, out, err);
    }
    SINTER__REQUIRE(err, scratch != NULL);
    begin = scratch->size;
    st = sinter_hex_parse(text, scratch, err);
    if (st == SINTER_E_INVALID) {
        return refuse_text(err, column->name, &column->type, text);
    }
    SINTER__CHECK(st);
    out->as.bytes.data = (const uint8_t *)scratch->data + begin;
    out->as.bytes.size = scratch->size - begin;
    return check_length(&column->type, column->name, out, err);
}

/* A nested value from its JSON, put behind what `scratch` holds. */
static sinter_status
parse_nested(const sinter_column *column, sinter_bytes text, uint32_t flags, sinter_text *scratch,
             sinter_datum *out, sinter_error *err)
{
    sinter__arena arena = {.env = NULL};
    size_t begin = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, scratch != NULL && scratch->env != NULL);
    arena.env = scratch->env;
    begin = scratch->size;
    SINTER__TRY(sinter__json_nested_parse(&arena, column, text, flags, out, err));
    if (out->is_null) {
        SINTER__TRY(refuse(err, SINTER_E_INVALID, column->name, "null is no value"));
    }
    SINTER__TRY(sinter_text_append(scratch, out->as.bytes.data, out->as.bytes.size, err));
    out->as.bytes.data = (const uint8_t *)scratch->data + begin;
out:
    sinter__arena_fini(&arena);
    return st;
}

/* Everything that is no string. False: no such value; `range` says it is one, but too large. */
static bool
parse_scalar(const sinter_type *type, sinter_bytes text, sinter_datum *out, bool *range_out)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        return parse_boolean(text, &out->as.integer);
    case SINTER_TYPE_TINYINT:
    case SINTER_TYPE_SMALLINT:
    case SINTER_TYPE_INT:
    case SINTER_TYPE_BIGINT:
        return parse_integer(type, text, &out->as.integer, range_out);
    case SINTER_TYPE_FLOAT:
        return sinter__float_parse(text, &out->as.float_bits);
    case SINTER_TYPE_DOUBLE:
        return sinter__double_parse(text, &out->as.double_bits);
    case SINTER_TYPE_DECIMAL:
        return parse_decimal(type, text, out);
    case SINTER_TYPE_DATE:
        return parse_date(text, &out->as.integer);
    case SINTER_TYPE_TIME:
        return parse_time(text, out);
    default:
        assert(sinter__type_is_timestamp(type));
        return parse_timestamp(type, text, out);
    }
}

static sinter_status
refuse_range(sinter_error *err, const char *column, const sinter_type *type, sinter_bytes text)
{
    char what[160];
    char name[SINTER_TYPE_TEXT_MAX];

    sinter_type_print(type, name);
    (void)snprintf(what, sizeof what, "%.*s is out of the range of %s",
                   (int)(text.size < SHOWN_BYTES ? text.size : SHOWN_BYTES),
                   (const char *)text.data, name);
    return refuse(err, SINTER_E_INVALID, column, what);
}

sinter_status
sinter_datum_parse(const sinter_column *column, sinter_bytes text, uint32_t flags,
                   sinter_text *scratch, sinter_datum *out, sinter_error *err)
{
    const sinter_type *type = NULL;
    bool out_of_range = false;

    SINTER__REQUIRE(err, column != NULL && out != NULL);
    SINTER__REQUIRE(err, text.data != NULL || text.size == 0);
    type = &column->type;
    memset(out, 0, sizeof *out);
    if (sinter__type_without_values(type) != NULL) {
        return refuse_values(err, column->name, sinter__type_without_values(type));
    }
    if (sinter_type_is_nested(type)) {
        return parse_nested(column, text, flags, scratch, out, err);
    }
    if (sinter__type_is_bytes(type)) {
        const bool hex = !sinter__type_is_string(type) || (flags & SINTER_PRINT_HEX_STRINGS) != 0;

        return parse_bytes(column, text, hex, scratch, out, err);
    }
    if (parse_scalar(type, text, out, &out_of_range)) {
        return SINTER_OK;
    }
    return out_of_range ? refuse_range(err, column->name, type, text)
                        : refuse_text(err, column->name, type, text);
}

static void
print_timestamp(const sinter_type *type, const sinter_datum *datum, char *out)
{
    int64_t days = datum->as.integer / MS_PER_DAY;
    sinter__clock_time time = {.ms = datum->as.integer % MS_PER_DAY, .nanos = datum->nanos};
    size_t length = 0;

    if (time.ms < 0) {
        time.ms += MS_PER_DAY;
        days -= 1;
    }
    length = sinter__date_print(days, out);
    out[length++] = ' ';
    {
        char clock[SINTER__NUMBER_TEXT_MAX];
        const size_t clock_length = sinter__time_print(time, type->precision, clock);

        memcpy(out + length, clock, clock_length + 1);
        length += clock_length;
    }
    if (type->id == SINTER_TYPE_TIMESTAMP_LTZ) {
        out[length++] = 'Z';
        out[length] = '\0';
    }
}

/* Room for a date far away, a time with nine decimals, and more. */
enum { SCALAR_TEXT_MAX = 2 * SINTER__NUMBER_TEXT_MAX };

static void
print_scalar(const sinter_type *type, const sinter_datum *datum, char out[SCALAR_TEXT_MAX])
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        (void)snprintf(out, SCALAR_TEXT_MAX, "%s", datum->as.integer != 0 ? "true" : "false");
        break;
    case SINTER_TYPE_FLOAT:
        sinter__float_print(datum->as.float_bits, out);
        break;
    case SINTER_TYPE_DOUBLE:
        sinter__double_print(datum->as.double_bits, out);
        break;
    case SINTER_TYPE_DECIMAL:
        sinter__decimal_print(sinter__decimal_get(datum), type->scale, out);
        break;
    case SINTER_TYPE_DATE:
        (void)sinter__date_print(datum->as.integer, out);
        break;
    case SINTER_TYPE_TIME:
        (void)sinter__time_print((sinter__clock_time){.ms = datum->as.integer}, TIME_DECIMALS, out);
        break;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        print_timestamp(type, datum, out);
        break;
    default:
        (void)snprintf(out, SCALAR_TEXT_MAX, "%" PRId64, datum->as.integer);
        break;
    }
}

sinter_status
sinter_datum_print_text(const sinter_type *type, const sinter_datum *datum, uint32_t flags,
                        sinter_text *out, sinter_error *err)
{
    char scalar[SCALAR_TEXT_MAX];

    SINTER__REQUIRE(err, type != NULL && datum != NULL && out != NULL);
    if (sinter__type_without_values(type) != NULL) {
        return refuse_values(err, NULL, sinter__type_without_values(type));
    }
    if (datum->is_null) {
        return sinter__text_puts(out, "null", err);
    }
    if (sinter_type_is_nested(type)) {
        return sinter__nested_print(type, datum->as.bytes, flags, out, err);
    }
    /* Aggregation may leave a DECIMAL with more digits than declared: it prints all the same. */
    if (!sinter__type_is_bytes(type) && type->id != SINTER_TYPE_DECIMAL) {
        SINTER__CHECK(sinter__datum_check_range(type, NULL, datum, err));
    }
    if (sinter__type_is_string(type) && (flags & SINTER_PRINT_HEX_STRINGS) == 0) {
        if (!sinter__utf8_is_valid(datum->as.bytes)) {
            return SINTER__ERR(err, SINTER_E_INVALID, "a string is not valid UTF-8");
        }
        return sinter_text_append(out, datum->as.bytes.data, datum->as.bytes.size, err);
    }
    if (sinter__type_is_bytes(type)) {
        return sinter_hex_print(datum->as.bytes, out, err);
    }
    print_scalar(type, datum, scalar);
    return sinter__text_puts(out, scalar, err);
}

/* Does the canonical JSON of this value stand in quotes? */
static bool
is_quoted(const sinter_type *type, const sinter_datum *datum)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
    case SINTER_TYPE_TINYINT:
    case SINTER_TYPE_SMALLINT:
    case SINTER_TYPE_INT:
    case SINTER_TYPE_BIGINT:
        return false;
    case SINTER_TYPE_FLOAT:
        return (datum->as.float_bits & 0x7f800000u) == 0x7f800000u;
    case SINTER_TYPE_DOUBLE:
        return (datum->as.double_bits & 0x7ff0000000000000u) == 0x7ff0000000000000u;
    default:
        return true;
    }
}

sinter_status
sinter_datum_print_json(const sinter_type *type, const sinter_datum *datum, uint32_t flags,
                        sinter_text *out, sinter_error *err)
{
    SINTER__REQUIRE(err, type != NULL && datum != NULL && out != NULL);
    if (datum->is_null || sinter_type_is_nested(type) || !is_quoted(type, datum)) {
        return sinter_datum_print_text(type, datum, flags, out, err);
    }
    if (sinter__type_is_string(type) && (flags & SINTER_PRINT_HEX_STRINGS) == 0) {
        if (!sinter__utf8_is_valid(datum->as.bytes)) {
            return SINTER__ERR(err, SINTER_E_INVALID, "a string is not valid UTF-8");
        }
        return sinter__json_string_print(datum->as.bytes, out, err);
    }
    SINTER__CHECK(sinter_text_append(out, "\"", 1, err));
    SINTER__CHECK(sinter_datum_print_text(type, datum, flags, out, err));
    return sinter_text_append(out, "\"", 1, err);
}
