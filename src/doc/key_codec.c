/*
 * Typed keys as bytes that sort with memcmp (docs/key-encoding.md, version 1).
 *
 *     key    = column column ... column
 *     column = [00 null | 01] value           the marker only in nullable columns
 *     value  = fixed width, most significant byte first, sign bit flipped so that it sorts
 *            | raw bytes                      a string that is the last column
 *            | bytes with 00 as 00 ff, 00 01  a string that others follow
 */
#include "doc/key_codec.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "doc/number.h"
#include "doc/text.h"
#include "doc/type.h"

enum { KEY_COLUMNS_MAX = 1024, FIXED_MAX = 16, MS_PER_DAY = 86400000, NANOS_MAX = 999999 };

/** How values of a column are encoded at once, as most are. */
typedef struct usual_form {
    uint8_t width;     /* of numbers; 0: they are no numbers */
    bool is_last_text; /* bytes that stay as they are */
    bool has_marker;
    uint32_t size_max; /* of texts */
    int64_t least;     /* of numbers */
    int64_t greatest;
} usual_form;

struct sinter_key_codec {
    const sinter_env *env;
    sinter_type *types;
    usual_form *usual; /* one a column */
    size_t count;
    sinter_text texts;
};

static sinter_status
check_key_type(const sinter_type *type, size_t index, sinter_error *err)
{
    if (type->id >= SINTER_TYPE_ARRAY) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "key column %zu: type %s can't be a key",
                           index + 1, sinter_type_name(type->id));
    }
    if (type->id < 0) {
        return SINTER__ERR(err, SINTER_E_INVALID, "key column %zu: no such type", index + 1);
    }
    return SINTER_OK;
}

static usual_form
usual_form_of(const sinter_type *type, bool is_last)
{
    usual_form form = {.has_marker = type->nullable};

    if (sinter__type_is_bytes(type)) {
        form.is_last_text = is_last;
        form.size_max = type->precision < SINTER_KEY_BYTES_MAX ? type->precision
                                                               : (uint32_t)SINTER_KEY_BYTES_MAX;
        return form;
    }
    if (type->id == SINTER_TYPE_BIGINT) {
        form.width = 8;
        form.least = INT64_MIN;
        form.greatest = INT64_MAX;
    } else if (type->id == SINTER_TYPE_INT || type->id == SINTER_TYPE_DATE) {
        form.width = 4;
        form.least = INT32_MIN;
        form.greatest = INT32_MAX;
    }
    return form;
}

sinter_status
sinter_key_codec_create(const sinter_env *env, const sinter_type *types, size_t count,
                        sinter_key_codec **out, sinter_error *err)
{
    sinter_key_codec *made = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, types != NULL && count > 0 && count <= KEY_COLUMNS_MAX);
    SINTER__TRY(SINTER__NEW(env, made, 1, err));
    made->env = env;
    sinter_text_init(env, &made->texts);
    SINTER__TRY(SINTER__NEW(env, made->types, count, err));
    SINTER__TRY(SINTER__NEW(env, made->usual, count, err));
    for (size_t i = 0; i < count; i++) {
        char text[SINTER_TYPE_TEXT_MAX];

        SINTER__TRY(check_key_type(&types[i], i, err));
        made->types[i] = types[i];
        made->usual[i] = usual_form_of(&types[i], i + 1 == count);
        sinter_type_print(&types[i], text);
        SINTER__TRY(sinter__text_puts(&made->texts, i == 0 ? "" : "\n", err));
        SINTER__TRY(sinter__text_puts(&made->texts, text, err));
    }
    made->count = count;
    *out = made;
    made = NULL;
out:
    sinter_key_codec_destroy(made);
    return st;
}

sinter_status
sinter_key_codec_parse(const sinter_env *env, const char *key_types, sinter_key_codec **out,
                       sinter_error *err)
{
    sinter_type *types = NULL;
    char *copy = NULL;
    char *line = NULL;
    size_t count = 1;
    size_t used = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, key_types != NULL);
    for (const char *c = key_types; *c != '\0'; c++) {
        count += *c == '\n' ? 1u : 0u;
    }
    if (count > KEY_COLUMNS_MAX) {
        SINTER__FAIL(err, SINTER_E_INVALID, "%zu key columns, at most %d are possible", count,
                     KEY_COLUMNS_MAX);
    }
    SINTER__TRY(SINTER__NEW(env, types, count, err));
    SINTER__TRY(sinter__strdup(env, key_types, &copy, err));
    for (line = copy; line != NULL && line[0] != '\0';) {
        char *end = strchr(line, '\n');

        if (end != NULL) {
            *end = '\0';
        }
        SINTER__TRY(sinter_type_parse(line, &types[used++], err));
        line = end == NULL ? NULL : end + 1;
    }
    if (used == 0) {
        SINTER__FAIL(err, SINTER_E_INVALID, "no key type is given");
    }
    SINTER__TRY(sinter_key_codec_create(env, types, used, out, err));
out:
    sinter__free(env, copy);
    sinter__free(env, types);
    return st;
}

sinter_status
sinter_key_codec_of_row_type(const sinter_env *env, const sinter_row_type *row_type,
                             sinter_key_codec **out, sinter_error *err)
{
    const size_t *keys = NULL;
    sinter_type *types = NULL;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, row_type != NULL);
    keys = sinter_row_type_keys(row_type, &count);
    if (count == 0) {
        return SINTER__ERR(err, SINTER_E_INVALID, "the row type names no key columns");
    }
    SINTER__TRY(SINTER__NEW(env, types, count, err));
    for (size_t i = 0; i < count; i++) {
        types[i] = *sinter_row_type_column_type(row_type, keys[i]);
    }
    SINTER__TRY(sinter_key_codec_create(env, types, count, out, err));
out:
    sinter__free(env, types);
    return st;
}

void
sinter_key_codec_destroy(sinter_key_codec *codec)
{
    if (codec != NULL) {
        sinter_text_fini(&codec->texts);
        sinter__free(codec->env, codec->types);
        sinter__free(codec->env, codec->usual);
        sinter__free(codec->env, codec);
    }
}

size_t
sinter_key_codec_count(const sinter_key_codec *codec)
{
    return codec->count;
}

const sinter_type *
sinter_key_codec_type(const sinter_key_codec *codec, size_t index)
{
    assert(index < codec->count);
    return &codec->types[index];
}

const char *
sinter_key_codec_types(const sinter_key_codec *codec)
{
    return codec->texts.data;
}

/* Width of a value that isn't a string. */
static size_t
fixed_width(const sinter_type *type)
{
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
    case SINTER_TYPE_TINYINT:
        return 1;
    case SINTER_TYPE_SMALLINT:
        return 2;
    case SINTER_TYPE_INT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
    case SINTER_TYPE_FLOAT:
        return 4;
    case SINTER_TYPE_DECIMAL:
        return sinter__type_is_compact(type) ? 8 : 16;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return sinter__type_is_compact(type) ? 8 : 12;
    default:
        assert(type->id == SINTER_TYPE_BIGINT || type->id == SINTER_TYPE_DOUBLE);
        return 8;
    }
}

/* The low `width` bytes of a number, most significant first. */
static void
put_number(uint8_t *out, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        out[i] = (uint8_t)(number >> (8 * (width - 1 - i)));
    }
}

static uint64_t
get_number(const uint8_t *in, size_t width)
{
    uint64_t number = 0;

    for (size_t i = 0; i < width; i++) {
        number = number << 8 | in[i];
    }
    return number;
}

/* Negative numbers sort the other way round: all bits turned; others above them: sign bit set. */
static uint64_t
order_floating(uint64_t bits, uint64_t sign)
{
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

static uint64_t
unorder_floating(uint64_t ordered, uint64_t sign)
{
    return (ordered & sign) != 0 ? ordered & ~sign : ~ordered;
}

static size_t
put_fixed(const sinter_type *type, const sinter_datum *datum, uint8_t out[FIXED_MAX])
{
    const size_t width = fixed_width(type);
    const uint64_t sign32 = 0x80000000u;
    const uint64_t sign64 = 0x8000000000000000u;

    memset(out, 0, FIXED_MAX);
    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        out[0] = datum->as.integer != 0 ? 1 : 0;
        return width;
    case SINTER_TYPE_FLOAT:
        put_number(out, order_floating(sinter__float_canonical(datum->as.float_bits), sign32),
                   width);
        return width;
    case SINTER_TYPE_DOUBLE:
        put_number(out, order_floating(sinter__double_canonical(datum->as.double_bits), sign64),
                   width);
        return width;
    case SINTER_TYPE_DECIMAL:
        if (width == 8) {
            put_number(out, datum->as.decimal.low, 8);
        } else {
            put_number(out, (uint64_t)datum->as.decimal.high, 8);
            put_number(out + 8, datum->as.decimal.low, 8);
        }
        break;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        put_number(out, (uint64_t)datum->as.integer, 8);
        if (width == 12) {
            put_number(out + 8, (uint64_t)datum->nanos, 4);
        }
        break;
    default:
        put_number(out, (uint64_t)datum->as.integer, width);
        break;
    }
    out[0] ^= 0x80u;
    return width;
}

/* A signed number of `width` bytes that was stored with its sign bit turned. */
static int64_t
get_signed(const uint8_t *in, size_t width)
{
    const uint64_t sign = (uint64_t)1 << (8 * width - 1);
    const uint64_t number = get_number(in, width) ^ sign;

    return (int64_t)((number ^ sign) - sign);
}

/* False when encode can't have given these bytes. */
static bool
get_fixed(const sinter_type *type, const uint8_t *in, sinter_datum *out)
{
    const size_t width = fixed_width(type);

    switch (type->id) {
    case SINTER_TYPE_BOOLEAN:
        out->as.integer = in[0];
        return in[0] <= 1;
    case SINTER_TYPE_FLOAT:
        out->as.float_bits =
            (uint32_t)unorder_floating(get_number(in, 4), 0x80000000u) & 0xffffffffu;
        return sinter__float_canonical(out->as.float_bits) == out->as.float_bits;
    case SINTER_TYPE_DOUBLE:
        out->as.double_bits = unorder_floating(get_number(in, 8), 0x8000000000000000u);
        return sinter__double_canonical(out->as.double_bits) == out->as.double_bits;
    case SINTER_TYPE_DECIMAL:
        if (width == 8) {
            sinter__decimal_set(out, get_signed(in, 8));
        } else {
            out->as.decimal.high = get_signed(in, 8);
            out->as.decimal.low = get_number(in + 8, 8);
        }
        return sinter__decimal_fits(sinter__decimal_get(out), type->precision);
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        out->as.integer = get_signed(in, 8);
        if (width == 12) {
            const uint64_t nanos = get_number(in + 8, 4);

            out->nanos = (int32_t)(nanos <= NANOS_MAX ? nanos : 0);
            return nanos <= NANOS_MAX;
        }
        return true;
    default:
        out->as.integer = get_signed(in, width);
        return type->id != SINTER_TYPE_TIME ||
               (out->as.integer >= 0 && out->as.integer < MS_PER_DAY);
    }
}

static sinter_status
put_escaped(sinter_bytes bytes, sinter_text *out, sinter_error *err)
{
    size_t plain = 0;

    for (size_t i = 0; i < bytes.size; i++) {
        if (bytes.data[i] != 0) {
            plain++;
            continue;
        }
        SINTER__CHECK(sinter_text_append(out, bytes.data + (i - plain), plain, err));
        SINTER__CHECK(sinter_text_append(out, "\x00\xff", 2, err));
        plain = 0;
    }
    if (plain > 0) {
        SINTER__CHECK(sinter_text_append(out, bytes.data + (bytes.size - plain), plain, err));
    }
    return sinter_text_append(out, "\x00\x01", 2, err);
}

static sinter_status
encode_column(const sinter_key_codec *codec, size_t index, const sinter_datum *datum,
              sinter_text *out, sinter_error *err)
{
    const sinter_type *type = &codec->types[index];
    uint8_t fixed[FIXED_MAX];

    if (datum->is_null || type->nullable) {
        const char *name = datum->is_null ? "\x00" : "\x01";

        SINTER__CHECK(sinter_text_append(out, name, 1, err));
    }
    if (datum->is_null) {
        return SINTER_OK;
    }
    if (!sinter__type_is_bytes(type)) {
        return sinter_text_append(out, fixed, put_fixed(type, datum, fixed), err);
    }
    if (index + 1 == codec->count) {
        return sinter_text_append(out, datum->as.bytes.data, datum->as.bytes.size, err);
    }
    return put_escaped(datum->as.bytes, out, err);
}

/* The column's name is made for a message only: it would cost more than the encoding. */
static sinter_status
check_value(const sinter_key_codec *codec, size_t index, const sinter_datum *value,
            sinter_error *err)
{
    const sinter_type *type = &codec->types[index];
    char name[32];

    if (sinter_datum_check(type, NULL, value, NULL) != SINTER_OK) {
        (void)snprintf(name, sizeof name, "key column %zu", index + 1);
        return sinter_datum_check(type, name, value, err);
    }
    if (sinter__type_is_bytes(type) && !value->is_null &&
        value->as.bytes.size > SINTER_KEY_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "key column %zu has %zu bytes, a key at most %llu", index + 1,
                           value->as.bytes.size, (unsigned long long)SINTER_KEY_BYTES_MAX);
    }
    return SINTER_OK;
}

bool
sinter__key_codec_is_value(const sinter_key_codec *codec, const sinter_datum *values,
                           sinter_bytes *out)
{
    const usual_form *form = codec->usual;

    *out = values[0].as.bytes;
    return codec->count == 1 && form->is_last_text && !form->has_marker && !values[0].is_null &&
           values[0].as.bytes.size <= form->size_max;
}

/* Encode a value that is there, of a type with little to be checked, if there is room. @return
 * false: it isn't so, and nothing was done */
static inline bool
encode_usual(const usual_form *form, const sinter_datum *value, sinter_text *out)
{
    const size_t room = out->capacity - out->size;
    uint8_t *to = NULL;

    if (value->is_null || room < FIXED_MAX) {
        return false;
    }
    to = (uint8_t *)out->data + out->size;
    if (form->is_last_text) {
        const sinter_bytes text = value->as.bytes;

        if (text.size > form->size_max || text.size == 0 || room - 2 < text.size) {
            return false;
        }
        *to = 1;
        to += form->has_marker ? 1 : 0;
        memcpy(to, text.data, text.size);
        to += text.size;
    } else if (form->width > 0) {
        const uint32_t shift = 64 - 8 * (uint32_t)form->width;

        if (value->as.integer < form->least || value->as.integer > form->greatest) {
            return false;
        }
        *to = 1;
        to += form->has_marker ? 1 : 0;
        sinter__put_be64(to, ((uint64_t)value->as.integer << shift) ^ (UINT64_C(1) << 63));
        to += form->width;
    } else {
        return false;
    }
    *to = '\0';
    out->size = (size_t)(to - (uint8_t *)out->data);
    return true;
}

sinter_status
sinter_key_encode(const sinter_key_codec *codec, const sinter_datum *values, sinter_text *out,
                  sinter_error *err)
{
    size_t before = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, codec != NULL && values != NULL);
    SINTER__REQUIRE(err, out != NULL);
    before = out->size;
    for (size_t i = 0; i < codec->count; i++) {
        if (encode_usual(&codec->usual[i], &values[i], out)) {
            continue;
        }
        SINTER__TRY(check_value(codec, i, &values[i], err));
        SINTER__TRY(encode_column(codec, i, &values[i], out, err));
    }
    if (out->size - before > SINTER_KEY_BYTES_MAX) {
        SINTER__FAIL(err, SINTER_E_TOO_LARGE, "a key of %zu bytes, at most %llu are possible",
                     out->size - before, (unsigned long long)SINTER_KEY_BYTES_MAX);
    }
out:
    if (st != SINTER_OK && out->data != NULL) {
        out->size = before;
        out->data[before] = '\0';
    }
    return st;
}

/* Where a decoder stands in a key. */
typedef struct key_cursor {
    const sinter_key_codec *codec;
    sinter_bytes key;
    size_t at;
    size_t column;
    sinter_error *err;
} key_cursor;

static sinter_status
key_fault(const key_cursor *cursor, const char *what)
{
    return SINTER__ERR(cursor->err, SINTER_E_CORRUPT, "key column %zu, byte %zu: %s",
                       cursor->column + 1, cursor->at, what);
}

/* Take an escaped string; with `scratch` NULL only its end is looked for. */
static sinter_status
take_escaped(key_cursor *cursor, sinter_text *scratch, sinter_datum *out)
{
    const size_t begin = scratch->size;
    size_t plain = 0;

    while (cursor->at < cursor->key.size) {
        const uint8_t *here = cursor->key.data + cursor->at;

        if (here[0] != 0) {
            plain++;
            cursor->at++;
            continue;
        }
        SINTER__CHECK(sinter_text_append(scratch, here - plain, plain, cursor->err));
        plain = 0;
        if (cursor->at + 1 >= cursor->key.size || (here[1] != 0x01 && here[1] != 0xff)) {
            return key_fault(cursor, "00 is followed by neither 01 nor ff");
        }
        cursor->at += 2;
        if (here[1] == 0x01) {
            out->as.bytes.data = (const uint8_t *)scratch->data + begin;
            out->as.bytes.size = scratch->size - begin;
            return SINTER_OK;
        }
        SINTER__CHECK(sinter_text_append(scratch, "", 1, cursor->err));
    }
    return key_fault(cursor, "a string has no end");
}

static sinter_status
decode_column(key_cursor *cursor, sinter_text *scratch, sinter_datum *out)
{
    const sinter_type *type = &cursor->codec->types[cursor->column];
    const size_t left = cursor->key.size - cursor->at;

    memset(out, 0, sizeof *out);
    if (type->nullable) {
        if (left == 0 || cursor->key.data[cursor->at] > 1) {
            return key_fault(cursor, "no null marker (00 or 01)");
        }
        out->is_null = cursor->key.data[cursor->at] == 0;
        cursor->at++;
    }
    if (out->is_null) {
        return SINTER_OK;
    }
    if (!sinter__type_is_bytes(type)) {
        const size_t width = fixed_width(type);

        if (cursor->key.size - cursor->at < width) {
            return key_fault(cursor, "the key ends inside a value");
        }
        if (!get_fixed(type, cursor->key.data + cursor->at, out)) {
            return key_fault(cursor, "no value of the type has these bytes");
        }
        cursor->at += width;
        return SINTER_OK;
    }
    if (cursor->column + 1 == cursor->codec->count) {
        out->as.bytes.data = cursor->key.data == NULL ? NULL : cursor->key.data + cursor->at;
        out->as.bytes.size = cursor->key.size - cursor->at;
        cursor->at = cursor->key.size;
        return SINTER_OK;
    }
    return take_escaped(cursor, scratch, out);
}

sinter_status
sinter_key_decode(const sinter_key_codec *codec, sinter_bytes key, sinter_text *scratch,
                  sinter_datum *values, sinter_error *err)
{
    key_cursor cursor = {.codec = codec, .key = key, .err = err};

    SINTER__REQUIRE(err, codec != NULL && scratch != NULL);
    SINTER__REQUIRE(err, values != NULL && (key.data != NULL || key.size == 0));
    /* Unescaping never grows, so with this room strings stay where they are put. */
    SINTER__CHECK(sinter__text_reserve(scratch, key.size, err));
    for (; cursor.column < codec->count; cursor.column++) {
        SINTER__CHECK(decode_column(&cursor, scratch, &values[cursor.column]));
    }
    if (cursor.at != key.size) {
        cursor.column--;
        return key_fault(&cursor, "bytes follow the last column");
    }
    return SINTER_OK;
}

/* Parse one word of a key; NULL is null. */
static sinter_status
parse_word(const sinter_key_codec *codec, size_t index, const char *word, sinter_text *scratch,
           sinter_datum *out, sinter_error *err)
{
    char name[32];
    const sinter_column column = {.name = name, .type = codec->types[index]};

    if (word == NULL) {
        *out = (sinter_datum){.is_null = true};
        return SINTER_OK;
    }
    (void)snprintf(name, sizeof name, "key column %zu", index + 1);
    return sinter_datum_parse(&column,
                              (sinter_bytes){.data = (const uint8_t *)word, .size = strlen(word)},
                              0, scratch, out, err);
}

sinter_status
sinter_key_encode_texts(const sinter_key_codec *codec, const char *const *texts, size_t count,
                        sinter_text *out, sinter_error *err)
{
    sinter_datum *values = NULL;
    sinter_text scratch;
    size_t total = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, codec != NULL && texts != NULL);
    SINTER__REQUIRE(err, out != NULL);
    if (count != codec->count) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%zu values given for a key of %zu columns",
                           count, codec->count);
    }
    sinter_text_init(codec->env, &scratch);
    SINTER__TRY(SINTER__NEW(codec->env, values, count, err));
    for (size_t i = 0; i < count; i++) {
        total += texts[i] == NULL ? 0 : strlen(texts[i]);
    }
    SINTER__TRY(sinter__text_reserve(&scratch, total, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__TRY(parse_word(codec, i, texts[i], &scratch, &values[i], err));
    }
    SINTER__TRY(sinter_key_encode(codec, values, out, err));
out:
    sinter_text_fini(&scratch);
    sinter__free(codec->env, values);
    return st;
}

sinter_status
sinter_key_print(const sinter_key_codec *codec, sinter_bytes key, sinter_text *out,
                 sinter_error *err)
{
    sinter_datum *values = NULL;
    sinter_text scratch;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, codec != NULL && out != NULL);
    sinter_text_init(codec->env, &scratch);
    SINTER__TRY(SINTER__NEW(codec->env, values, codec->count, err));
    SINTER__TRY(sinter_key_decode(codec, key, &scratch, values, err));
    for (size_t i = 0; i < codec->count; i++) {
        const bool hex = sinter__type_is_string(&codec->types[i]) && !values[i].is_null &&
                         !sinter__utf8_is_valid(values[i].as.bytes);

        SINTER__TRY(sinter__text_puts(out, i == 0 ? "" : ", ", err));
        SINTER__TRY(sinter_datum_print_text(&codec->types[i], &values[i],
                                            hex ? SINTER_PRINT_HEX_STRINGS : 0, out, err));
    }
out:
    sinter__free(codec->env, values);
    sinter_text_fini(&scratch);
    return st;
}
