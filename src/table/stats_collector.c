/*
 * Of a text that may become a bound no more is kept than its bound, and the rules of the formats,
 * depend on; it is cut, and the greatest one raised, in the end.
 */
#include "table/stats_collector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "compact/parse.h"
#include "doc/binary.h"
#include "doc/type.h"

enum {
    ARITY_BYTES = 4,
    TEXT_CHARS = 16,
    MICRO_DIGITS = 6,
    CHAR_BYTES_MAX = 4,
    CODE_MAX = 0x10ffff,
    PARQUET_BOUNDS_BYTES = 4096, /* of both bounds of a column: then a footer has no statistics */
    NULLS_UNTOLD = -1,           /* what is noted then for their number */
    ORC_BOUND_BYTES = 1024       /* of a text, above which it is no bound in a footer */
};

/** A bound; the bytes of a text lie in `bytes`, or as many as matter. */
typedef struct bound {
    sinter_datum value;
    sinter__buffer bytes;
    size_t text_bytes; /* of the whole text */
} bound;

typedef struct tally {
    sinter__stats_column column;
    bool counts_nulls;
    bool has_bounds;   /* bounds are kept; false once there can't be any */
    bool is_begun;     /* there was a value */
    bool pads;         /* blanks up to the type's length */
    size_t kept_bytes; /* of a text, at most */
    int64_t nulls;
    bound min;
    bound max;
} tally;

struct sinter__stats_collector {
    const sinter_env *env;
    sinter__stats_source source;
    tally *tallies;
    size_t count;
    sinter__buffer padded;
};

/* ---- modes ---- */

static bool
is_word(const char *text, const char *word, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];

        if ((c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c) != word[i]) {
            return false;
        }
    }
    return true;
}

static bool
parse_length(const char *text, uint32_t *out)
{
    const char *end = strchr(text, ')');
    char digits[TEXT_CHARS];
    int64_t length = 0;

    if (end == NULL || end[1] != '\0' || (size_t)(end - text) >= sizeof digits) {
        return false;
    }
    memcpy(digits, text, (size_t)(end - text));
    digits[end - text] = '\0';
    if (sinter__parse_int(digits, &length, NULL) != SINTER_OK || length <= 0 ||
        length > INT32_MAX) {
        return false;
    }
    *out = (uint32_t)length;
    return true;
}

sinter_status
sinter__stats_mode_parse(const char *text, sinter__stats_mode *out, sinter_error *err)
{
    static const char truncate[] = "truncate(";
    static const struct {
        const char *word;
        sinter__stats_kind kind;
    } words[] = {{"none", SINTER__STATS_NONE},
                 {"counts", SINTER__STATS_COUNTS},
                 {"full", SINTER__STATS_FULL}};

    *out = (sinter__stats_mode){.kind = SINTER__STATS_NONE};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t size = strlen(words[i].word);

        if (strlen(text) == size && is_word(text, words[i].word, size)) {
            out->kind = words[i].kind;
            return SINTER_OK;
        }
    }
    if (strlen(text) > sizeof truncate - 1 && is_word(text, truncate, sizeof truncate - 1) &&
        parse_length(text + sizeof truncate - 1, &out->length)) {
        out->kind = SINTER__STATS_TRUNCATE;
        return SINTER_OK;
    }
    return SINTER__ERR(err, SINTER_E_INVALID,
                       "\"%.60s\" is none of none, counts, truncate(LENGTH), full", text);
}

/* ---- making ---- */

/* Types whose values have an order that bounds are told in. */
static bool
is_ordered(const sinter_type *type)
{
    return !sinter_type_is_nested(type) && type->id != SINTER_TYPE_BINARY &&
           type->id != SINTER_TYPE_VARBINARY && type->id != SINTER_TYPE_VARIANT &&
           type->id != SINTER_TYPE_BLOB;
}

/* Bytes of a text that its bound depends on. */
static size_t
kept_bytes(const sinter__stats_mode *mode, sinter__stats_source source)
{
    switch (source) {
    case SINTER__STATS_OF_PARQUET:
        return PARQUET_BOUNDS_BYTES;
    case SINTER__STATS_OF_ORC:
        return ORC_BOUND_BYTES;
    default: /* one character more than the bound has tells that it is cut */
        return mode->kind == SINTER__STATS_TRUNCATE ? ((size_t)mode->length + 1) * CHAR_BYTES_MAX
                                                    : SIZE_MAX;
    }
}

/* Is it to be known what the bounds of a column are? In Parquet also for its nulls, which are not
 * known where the bounds are too long. */
static bool
needs_bounds(const sinter__stats_column *column, sinter__stats_source source)
{
    const sinter_type *type = &column->type;
    const bool is_parquet = source == SINTER__STATS_OF_PARQUET;

    if (is_parquet && sinter__type_is_bytes(type)) {
        return true;
    }
    return column->mode.kind != SINTER__STATS_COUNTS && is_ordered(type) &&
           !(is_parquet && sinter__type_is_timestamp(type) && type->precision > MICRO_DIGITS);
}

static void
begin(tally *self, const sinter__stats_column *column, sinter__stats_source source)
{
    self->column = *column;
    self->counts_nulls =
        column->mode.kind != SINTER__STATS_NONE &&
        !(source == SINTER__STATS_OF_PARQUET && sinter_type_is_nested(&column->type));
    self->has_bounds = self->counts_nulls && needs_bounds(column, source);
    self->pads = source == SINTER__STATS_OF_ORC && column->type.id == SINTER_TYPE_CHAR;
    self->kept_bytes = kept_bytes(&column->mode, source);
}

sinter_status
sinter__stats_collector_create(const sinter_env *env, const sinter__stats_column *columns,
                               size_t count, sinter__stats_source source,
                               sinter__stats_collector **out, sinter_error *err)
{
    sinter__stats_collector *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->source = source;
    SINTER__TRY(SINTER__NEW(env, self->tallies, count + 1, err));
    self->count = count;
    for (size_t i = 0; i < count; i++) {
        begin(&self->tallies[i], &columns[i], source);
    }
    *out = self;
    self = NULL;
out:
    sinter__stats_collector_destroy(self);
    return st;
}

void
sinter__stats_collector_destroy(sinter__stats_collector *self)
{
    if (self == NULL) {
        return;
    }
    for (size_t i = 0; i < self->count; i++) {
        sinter__buffer_fini(self->env, &self->tallies[i].min.bytes);
        sinter__buffer_fini(self->env, &self->tallies[i].max.bytes);
    }
    sinter__buffer_fini(self->env, &self->padded);
    sinter__free(self->env, self->tallies);
    sinter__free(self->env, self);
}

/* ---- order ---- */

static int
compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Java's order of floating point numbers: -0.0 before 0.0, every NaN last. Flipping the other bits
 * of negative ones makes integers of the same order. */
static int64_t
float_rank(uint32_t bits)
{
    const int32_t canonical = (int32_t)sinter__float_canonical(bits);

    return canonical < 0 ? canonical ^ INT32_MAX : canonical;
}

static int64_t
double_rank(uint64_t bits)
{
    const int64_t canonical = (int64_t)sinter__double_canonical(bits);

    return canonical < 0 ? canonical ^ INT64_MAX : canonical;
}

static int
compare_bytes(sinter_bytes a, sinter_bytes b)
{
    const size_t least = a.size < b.size ? a.size : b.size;
    const int order = least == 0 ? 0 : memcmp(a.data, b.data, least);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int
compare_decimals(const sinter_datum *a, const sinter_datum *b)
{
    const int order = compare_integers(a->as.decimal.high, b->as.decimal.high);

    return order != 0
               ? order
               : (a->as.decimal.low > b->as.decimal.low) - (a->as.decimal.low < b->as.decimal.low);
}

static int
compare_times(const sinter_datum *a, const sinter_datum *b)
{
    const int order = compare_integers(a->as.integer, b->as.integer);

    return order != 0 ? order : compare_integers(a->nanos, b->nanos);
}

static int
compare(const sinter_type *type, const sinter_datum *a, const sinter_datum *b)
{
    switch (type->id) {
    case SINTER_TYPE_FLOAT:
        return compare_integers(float_rank(a->as.float_bits), float_rank(b->as.float_bits));
    case SINTER_TYPE_DOUBLE:
        return compare_integers(double_rank(a->as.double_bits), double_rank(b->as.double_bits));
    case SINTER_TYPE_DECIMAL:
        return compare_decimals(a, b);
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return compare_times(a, b);
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
        return compare_bytes(a->as.bytes, b->as.bytes);
    default:
        return compare_integers(a->as.integer, b->as.integer);
    }
}

static bool
is_nan(const sinter_type *type, const sinter_datum *value)
{
    return (type->id == SINTER_TYPE_FLOAT && float_rank(value->as.float_bits) > 0x7f800000) ||
           (type->id == SINTER_TYPE_DOUBLE &&
            double_rank(value->as.double_bits) > 0x7ff0000000000000);
}

/* ---- cutting ---- */

static bool
continues(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The first `length` characters. */
static sinter_bytes
cut(sinter_bytes text, uint32_t length)
{
    size_t at = 0;

    if (text.size <= length) {
        return text; /* a character takes a byte at least */
    }
    for (uint32_t chars = 0; at < text.size && chars < length; chars++) {
        at++;
        while (at < text.size && continues(text.data[at])) {
            at++;
        }
    }
    return (sinter_bytes){text.data, at};
}

/* The code point of `size` bytes, which come from a string column and may be no UTF-8: then it is
 * some number. */
static uint32_t
decode_char(const uint8_t *bytes, size_t size)
{
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = size < sizeof masks ? bytes[0] & masks[size] : UINT32_MAX;

    for (size_t i = 1; i < size && size < sizeof masks; i++) {
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    return code;
}

static size_t
encode_char(uint32_t code, uint8_t out[4])
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xc0 | code >> 6);
        out[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (uint8_t)(0xe0 | code >> 12);
        out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | code >> 18);
    out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (code & 0x3f));
    return 4;
}

/* Make of a text the least one that is greater than all that begin with it, in place: its last
 * character that can be raised is, and nothing follows. Room for a byte more. */
static bool
raise_text(uint8_t *text, size_t *size)
{
    enum { SURROGATES = 0xd800, BEHIND_SURROGATES = 0xe000 };
    size_t end = *size;

    while (end > 0) {
        size_t at = end - 1;
        uint32_t code = 0;

        while (at > 0 && continues(text[at])) {
            at--;
        }
        code = decode_char(text + at, end - at);
        if (code < CODE_MAX) {
            code = code + 1 == SURROGATES ? BEHIND_SURROGATES : code + 1;
            *size = at + encode_char(code, text + at);
            return true;
        }
        end = at;
    }
    return false;
}

static bool
can_be_raised(sinter_bytes text)
{
    for (size_t end = text.size; end > 0;) {
        size_t at = end - 1;

        while (at > 0 && continues(text.data[at])) {
            at--;
        }
        if (decode_char(text.data + at, end - at) < CODE_MAX) {
            return true;
        }
        end = at;
    }
    return false;
}

/* ---- collecting ---- */

/* The first characters, as many as fit into so many bytes. */
static sinter_bytes
whole_chars(sinter_bytes text, size_t size)
{
    while (size > 0 && continues(text.data[size])) {
        size--;
    }
    return (sinter_bytes){text.data, size};
}

/* Keep a value as a bound. */
static sinter_status
keep(const sinter__stats_collector *self, const tally *column, bound *kept,
     const sinter_datum *value, sinter_error *err)
{
    sinter_bytes text = value->as.bytes;

    kept->value = *value;
    if (!sinter__type_is_bytes(&column->column.type)) {
        return SINTER_OK;
    }
    kept->text_bytes = text.size;
    if (text.size > column->kept_bytes) {
        text.size = column->kept_bytes;
        text =
            self->source == SINTER__STATS_OF_ORC ? whole_chars(value->as.bytes, text.size) : text;
    }
    SINTER__CHECK(sinter__buffer_reserve(self->env, &kept->bytes, text.size + 1, err));
    if (text.size > 0) {
        memcpy(kept->bytes.data, text.data, text.size);
    }
    if (self->source == SINTER__STATS_OF_ORC && kept == &column->max &&
        text.size < kept->text_bytes) { /* as its writers compare with it from then on */
        (void)raise_text(kept->bytes.data, &text.size);
    }
    kept->value.as.bytes = (sinter_bytes){kept->bytes.data, text.size};
    return SINTER_OK;
}

/* The value as the file has it: CHAR with its blanks. */
static sinter_status
pad(sinter__stats_collector *self, const tally *column, sinter_datum *value, sinter_error *err)
{
    const uint8_t blank = ' ';
    size_t chars = 0;

    if (!column->pads) {
        return SINTER_OK;
    }
    chars = sinter__utf8_count(value->as.bytes);
    if (chars >= column->column.type.precision) {
        return SINTER_OK;
    }
    self->padded.size = 0;
    if (value->as.bytes.size > 0) {
        SINTER__CHECK(sinter__buffer_append(self->env, &self->padded, value->as.bytes.data,
                                            value->as.bytes.size, err));
    }
    for (size_t i = chars; i < column->column.type.precision; i++) {
        SINTER__CHECK(sinter__buffer_append(self->env, &self->padded, &blank, 1, err));
    }
    value->as.bytes = (sinter_bytes){self->padded.data, self->padded.size};
    return SINTER_OK;
}

static sinter_status
add_bounds(sinter__stats_collector *self, tally *column, sinter_datum value, sinter_error *err)
{
    const sinter_type *type = &column->column.type;

    /* What readers of these formats take for the bounds of other values leaves NaN out, which is
     * greater than all of them. */
    if (self->source != SINTER__STATS_OF_AVRO && is_nan(type, &value)) {
        column->has_bounds = false;
        return SINTER_OK;
    }
    SINTER__CHECK(pad(self, column, &value, err));
    if (!column->is_begun || compare(type, &value, &column->min.value) < 0) {
        SINTER__CHECK(keep(self, column, &column->min, &value, err));
    }
    if (!column->is_begun || compare(type, &value, &column->max.value) > 0) {
        SINTER__CHECK(keep(self, column, &column->max, &value, err));
    }
    column->is_begun = true;
    return SINTER_OK;
}

bool
sinter__stats_collector_wants(const sinter__stats_collector *self, size_t column)
{
    const tally *of = &self->tallies[column];

    return of->has_bounds || (of->counts_nulls && of->column.type.nullable);
}

sinter_status
sinter__stats_collector_add(sinter__stats_collector *self, const sinter_datum *values,
                            sinter_error *err)
{
    for (size_t i = 0; i < self->count; i++) {
        tally *column = &self->tallies[i];

        if (values[i].is_null) {
            column->nulls++;
        } else if (column->has_bounds) {
            SINTER__CHECK(add_bounds(self, column, values[i], err));
        }
    }
    return SINTER_OK;
}

/* ---- columns ---- */

sinter_status
sinter__stats_collector_add_rows(sinter__stats_collector *self, const sinter__stats_rows *rows,
                                 sinter_error *err)
{
    for (size_t i = 0; i < self->count; i++) {
        tally *column = &self->tallies[i];
        sinter__extremes found;
        sinter_datum value;

        if (!column->counts_nulls) {
            continue;
        }
        if (!column->has_bounds) {
            column->nulls += sinter__extremes_nulls(rows->arrays[i], rows->spans, rows->span_count);
            continue;
        }
        sinter__extremes_find(&rows->cells[i], rows->arrays[i], rows->spans, rows->span_count,
                              &found);
        column->nulls += found.nulls;
        if (found.least >= 0) {
            SINTER__CHECK(
                sinter__cells_get(&rows->cells[i], rows->arrays[i], found.least, &value, err));
            SINTER__CHECK(add_bounds(self, column, value, err));
        }
        if (found.greatest != found.least && column->has_bounds) {
            SINTER__CHECK(
                sinter__cells_get(&rows->cells[i], rows->arrays[i], found.greatest, &value, err));
            SINTER__CHECK(add_bounds(self, column, value, err));
        }
    }
    return SINTER_OK;
}

/* ---- results ---- */

/* Parquet's readers take a zero bound for both zeros. */
static void
widen_zero(const sinter_type *type, bool is_min, sinter_datum *value)
{
    if (type->id == SINTER_TYPE_FLOAT && (value->as.float_bits & INT32_MAX) == 0) {
        value->as.float_bits = is_min ? (uint32_t)1 << 31 : 0;
    }
    if (type->id == SINTER_TYPE_DOUBLE && (value->as.double_bits & INT64_MAX) == 0) {
        value->as.double_bits = is_min ? (uint64_t)1 << 63 : 0;
    }
}

/* Does a footer of Parquet tell nothing of the column, its texts being too long? */
static bool
is_untold(const sinter__stats_collector *self, const tally *column)
{
    return self->source == SINTER__STATS_OF_PARQUET &&
           sinter__type_is_bytes(&column->column.type) && column->has_bounds && column->is_begun &&
           column->min.text_bytes + column->max.text_bytes >= PARQUET_BOUNDS_BYTES;
}

/* A text as a bound. Where there is no greater one of so many characters, there are no bounds. */
static sinter_status
text_bound(const tally *column, bool is_orc, bool is_min, sinter__arena *arena, sinter_datum *out,
           sinter_error *err)
{
    const sinter__stats_mode *mode = &column->column.mode;
    const bool cuts = mode->kind == SINTER__STATS_TRUNCATE;
    const bound *kept = is_min ? &column->min : &column->max;
    const sinter_bytes greatest =
        cuts ? cut(column->max.value.as.bytes, mode->length) : column->max.value.as.bytes;
    const bool is_cut = greatest.size < column->max.value.as.bytes.size;
    const bool lacks_max = (is_orc && column->max.text_bytes > ORC_BOUND_BYTES) ||
                           (is_cut && !can_be_raised(greatest));
    void *raised = NULL;

    *out = (sinter_datum){.is_null = true};
    if ((lacks_max && (cuts || !is_min)) || (is_orc && kept->text_bytes > ORC_BOUND_BYTES)) {
        return SINTER_OK;
    }
    *out = kept->value;
    if (is_min) {
        out->as.bytes = cuts ? cut(kept->value.as.bytes, mode->length) : kept->value.as.bytes;
    } else if (is_cut) {
        SINTER__CHECK(sinter__arena_take(arena, greatest.size + 1, &raised, err));
        memcpy(raised, greatest.data, greatest.size);
        out->as.bytes = (sinter_bytes){raised, greatest.size};
        (void)raise_text(raised, &out->as.bytes.size);
    }
    return SINTER_OK;
}

static sinter_status
bound_of(const sinter__stats_collector *self, const tally *column, bool is_min,
         sinter__arena *arena, sinter_datum *out, sinter_error *err)
{
    const sinter_type *type = &column->column.type;

    *out = (sinter_datum){.is_null = true};
    if (!column->has_bounds || !column->is_begun || is_untold(self, column) ||
        column->column.mode.kind == SINTER__STATS_COUNTS || !is_ordered(type)) {
        return SINTER_OK;
    }
    if (sinter__type_is_string(type)) {
        return text_bound(column, self->source == SINTER__STATS_OF_ORC, is_min, arena, out, err);
    }
    *out = is_min ? column->min.value : column->max.value;
    if (self->source == SINTER__STATS_OF_PARQUET) {
        widen_zero(type, is_min, out);
    }
    return SINTER_OK;
}

/** Arrays of a result while it is made. */
typedef struct result_room {
    sinter_field *fields;
    sinter_datum *values;
    int64_t *nulls;
    sinter_bytes *names;
    size_t count;
    sinter__arena *arena;
} result_room;

static sinter_status
take_room(size_t count, result_room *out, sinter_error *err)
{
    sinter__arena *arena = out->arena;

    SINTER__CHECK(
        sinter__arena_take(arena, (count + 1) * sizeof *out->fields, (void **)&out->fields, err));
    SINTER__CHECK(
        sinter__arena_take(arena, (count + 1) * sizeof *out->values, (void **)&out->values, err));
    SINTER__CHECK(
        sinter__arena_take(arena, (count + 1) * sizeof *out->nulls, (void **)&out->nulls, err));
    return sinter__arena_take(arena, (count + 1) * sizeof *out->names, (void **)&out->names, err);
}

static sinter_status
put_row(const result_room *room, sinter_bytes *out, sinter_error *err)
{
    const sinter__shape shape = {.fields = room->fields, .count = room->count};
    uint8_t *row = NULL;
    size_t size = 0;

    SINTER__CHECK(sinter__binary_size(&shape, room->values, &size, err));
    SINTER__CHECK(sinter__arena_take(room->arena, ARITY_BYTES + size, (void **)&row, err));
    memset(row, 0, ARITY_BYTES + size);
    sinter__put_be32(row, (uint32_t)room->count);
    sinter__binary_put(&shape, room->values, row + ARITY_BYTES);
    *out = (sinter_bytes){row, ARITY_BYTES + size};
    return SINTER_OK;
}

static sinter_status
put_bounds(const sinter__stats_collector *self, const sinter__stats_choice *choice,
           const result_room *room, bool is_min, sinter_bytes *out, sinter_error *err)
{
    size_t at = 0;

    for (size_t i = 0; i < choice->count; i++) {
        const tally *column = &self->tallies[choice->positions[i]];

        if (column->counts_nulls || !choice->is_dense) {
            SINTER__CHECK(bound_of(self, column, is_min, room->arena, &room->values[at++], err));
        }
    }
    return put_row(room, out, err);
}

sinter_status
sinter__stats_collector_finish(const sinter__stats_collector *self,
                               const sinter__stats_choice *choice, sinter__arena *arena,
                               sinter__stats_result *out, sinter_error *err)
{
    result_room room = {.arena = arena};

    *out = (sinter__stats_result){.has_columns = false};
    SINTER__CHECK(take_room(choice->count, &room, err));
    for (size_t i = 0; i < choice->count; i++) {
        const tally *column = &self->tallies[choice->positions[i]];
        const char *name = column->column.name;

        if (!column->counts_nulls && choice->is_dense) {
            out->has_columns = true;
            continue;
        }
        room.fields[room.count] = (sinter_field){.name = name, .type = column->column.type};
        room.names[room.count] = (sinter_bytes){(const uint8_t *)name, strlen(name)};
        room.nulls[room.count] = !column->counts_nulls     ? SINTER__NULL_COUNT_UNKNOWN
                                 : is_untold(self, column) ? NULLS_UNTOLD
                                                           : column->nulls;
        room.count++;
    }
    SINTER__CHECK(put_bounds(self, choice, &room, true, &out->stats.min_values, err));
    SINTER__CHECK(put_bounds(self, choice, &room, false, &out->stats.max_values, err));
    out->stats.null_counts = (sinter__int64_list){room.nulls, room.count};
    out->stats.has = SINTER__STATS_HAS_NULL_COUNTS;
    out->columns = (sinter__bytes_list){room.names, out->has_columns ? room.count : 0};
    return SINTER_OK;
}
