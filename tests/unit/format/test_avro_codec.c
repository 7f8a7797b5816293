#include "format/avro_codec.h"

#include <avro.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "avro_compare.h"
#include "sinter/type.h"
#include "support/fault_alloc.h"

TestSuite(format_avro_codec, .timeout = 120);

/* What is wanted of random records. */
typedef struct inner {
    sinter_bytes text;
    int64_t number;
    uint32_t has;
    uint32_t padding;
} inner;

typedef struct outer {
    int32_t i32;
    uint32_t has;
    int64_t i64;
    sinter_bytes bytes;
    inner record;
    sinter__avro_list texts;
    sinter__avro_list numbers;
    sinter__avro_list records;
} outer;

enum { HAS_NUMBER = 1 };

static const sinter__avro_want inner_wants[] = {
    {"text", SINTER__AVRO_FORM_BYTES, offsetof(inner, text), 0, NULL},
    {"number", SINTER__AVRO_FORM_INT64, offsetof(inner, number), HAS_NUMBER, NULL}};
static const sinter__avro_shape inner_shape = {inner_wants, 2, sizeof(inner), offsetof(inner, has)};
static const sinter__avro_want outer_wants[] = {
    {"i32", SINTER__AVRO_FORM_INT32, offsetof(outer, i32), 1, NULL},
    {"i64", SINTER__AVRO_FORM_INT64, offsetof(outer, i64), 2, NULL},
    {"bytes", SINTER__AVRO_FORM_BYTES, offsetof(outer, bytes), 4, NULL},
    {"record", SINTER__AVRO_FORM_RECORD, offsetof(outer, record), 8, &inner_shape},
    {"texts", SINTER__AVRO_FORM_BYTES_LIST, offsetof(outer, texts), 16, NULL},
    {"numbers", SINTER__AVRO_FORM_INT64_LIST, offsetof(outer, numbers), 32, NULL},
    {"records", SINTER__AVRO_FORM_RECORD_LIST, offsetof(outer, records), 64, &inner_shape}};
static const sinter__avro_shape outer_shape = {outer_wants, 7, sizeof(outer), offsetof(outer, has)};

/* Texts of random schemas. */
typedef struct maker {
    char text[60000];
    size_t size;
    uint64_t state;
    int names;
} maker;

static uint32_t
roll(maker *m, uint32_t sides)
{
    m->state = m->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(m->state >> 33) % sides;
}

static void
put(maker *m, const char *text)
{
    const size_t size = strlen(text);

    cr_assert_lt(m->size + size, sizeof m->text);
    memcpy(m->text + m->size, text, size + 1);
    m->size += size;
}

static void
put_name(maker *m)
{
    char name[32];

    (void)snprintf(name, sizeof name, "\"n%d\"", m->names++);
    put(m, name);
}

static void
put_type(maker *m, int depth)
{
    static const char *const plain[] = {"\"null\"",  "\"boolean\"", "\"int\"",   "\"long\"",
                                        "\"float\"", "\"double\"",  "\"bytes\"", "\"string\""};
    const uint32_t kind = roll(m, depth > 3 ? 8 : 14);

    switch (kind) {
    case 8:
        put(m, "{\"type\":\"fixed\",\"size\":5,\"name\":");
        put_name(m);
        put(m, "}");
        break;
    case 9:
        put(m, "{\"type\":\"enum\",\"symbols\":[\"A\",\"B\"],\"name\":");
        put_name(m);
        put(m, "}");
        break;
    case 10:
    case 11:
        put(m, kind == 10 ? "{\"type\":\"array\",\"items\":" : "{\"type\":\"map\",\"values\":");
        put_type(m, depth + 1);
        put(m, "}");
        break;
    case 12:
        put(m, "[\"string\",\"null\",{\"type\":\"array\",\"items\":");
        put_type(m, depth + 1);
        put(m, "}]");
        break;
    case 13:
        put(m, "{\"type\":\"record\",\"name\":");
        put_name(m);
        put(m, ",\"fields\":[{\"name\":\"p\",\"type\":");
        put_type(m, depth + 1);
        put(m, "},{\"name\":\"q\",\"type\":");
        put_type(m, depth + 1);
        put(m, "}]}");
        break;
    default:
        put(m, plain[kind]);
        break;
    }
}

/* A type as it is, or in a union with null, this way or that. */
static uint32_t
open_union(maker *m, bool can_be_null)
{
    const uint32_t way = roll(m, can_be_null ? 3 : 2);

    put(m, way == 0 ? "" : way == 1 ? "[" : "[\"null\",");
    return way;
}

static void
close_union(maker *m, uint32_t way)
{
    put(m, way == 0 ? "" : way == 1 ? ",\"null\"]" : "]");
}

static void
put_inner(maker *m)
{
    put(m, "{\"type\":\"record\",\"name\":");
    put_name(m);
    put(m, ",\"fields\":[{\"name\":\"other\",\"type\":");
    put_type(m, 2);
    put(m, "},{\"name\":\"text\",\"type\":\"string\"}");
    if (roll(m, 3) > 0) {
        put(m, ",{\"name\":\"number\",\"type\":[\"null\",\"int\"]}");
    }
    put(m, "]}");
}

static void
put_wanted(maker *m, uint32_t number)
{
    const bool is_list = number > 3;
    const uint32_t way = open_union(m, true);
    uint32_t item_way = 0;

    put(m, is_list ? "{\"type\":\"array\",\"items\":" : "");
    item_way = number == 5 ? open_union(m, true) : 0;
    switch (number) {
    case 0:
        put(m, "\"int\"");
        break;
    case 1:
    case 5:
        put(m, roll(m, 2) == 0 ? "\"int\"" : "\"long\"");
        break;
    case 2:
    case 4:
        put(m, roll(m, 2) == 0 ? "\"bytes\"" : "\"string\"");
        break;
    default:
        put_inner(m);
        break;
    }
    close_union(m, item_way);
    put(m, is_list ? "}" : "");
    close_union(m, way);
}

/* Wanted fields in any order, some of them missing, with others between them. */
static void
put_schema(maker *m)
{
    const uint32_t first = roll(m, 7);
    const uint32_t way = open_union(m, true);

    put(m, "{\"type\":\"record\",\"name\":\"root\",\"fields\":[");
    for (uint32_t i = 0; i < 7; i++) {
        const uint32_t number = (first + i * 3) % 7;
        char name[48];

        if (roll(m, 2) == 0) {
            (void)snprintf(name, sizeof name, "{\"name\":\"unknown%u\",\"type\":", i);
            put(m, name);
            put_type(m, 0);
            put(m, "},");
        }
        if (roll(m, 5) > 0) {
            (void)snprintf(name, sizeof name,
                           "{\"name\":\"%s\",\"type\":", outer_wants[number].name);
            put(m, name);
            put_wanted(m, number);
            put(m, "},");
        }
    }
    put(m, "{\"name\":\"last\",\"type\":\"int\"}]}");
    close_union(m, way);
}

static void
fill(maker *m, avro_value_t *value)
{
    uint8_t bytes[300];
    avro_value_t part;
    size_t count = 0;
    const uint32_t size = roll(m, 10) == 0 ? 299 : roll(m, 12);

    for (uint32_t i = 0; i < size + 5 && i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(1 + roll(m, 127));
    }
    switch (avro_value_get_type(value)) {
    case AVRO_BOOLEAN:
        avro_value_set_boolean(value, (int)roll(m, 2));
        break;
    case AVRO_INT32:
        avro_value_set_int(value, (int32_t)(roll(m, UINT32_MAX) >> roll(m, 31)) *
                                      (roll(m, 2) == 0 ? 1 : -1));
        break;
    case AVRO_INT64:
        (void)roll(m, 2);
        avro_value_set_long(value, (int64_t)m->state >> roll(m, 63));
        break;
    case AVRO_FLOAT:
        avro_value_set_float(value, (float)roll(m, 1000));
        break;
    case AVRO_DOUBLE:
        avro_value_set_double(value, roll(m, 1000));
        break;
    case AVRO_BYTES:
        avro_value_set_bytes(value, bytes, size);
        break;
    case AVRO_STRING:
        bytes[size] = 0;
        avro_value_set_string_len(value, (const char *)bytes, size + 1);
        break;
    case AVRO_FIXED:
        avro_value_set_fixed(value, bytes, 5);
        break;
    case AVRO_ENUM:
        avro_value_set_enum(value, (int)roll(m, 2));
        break;
    case AVRO_ARRAY:
    case AVRO_MAP:
        for (count = roll(m, 4); count > 0; count--) {
            if (avro_value_get_type(value) == AVRO_ARRAY) {
                avro_value_append(value, &part, NULL);
            } else {
                (void)snprintf((char *)bytes, sizeof bytes, "key%zu", count);
                avro_value_add(value, (const char *)bytes, &part, NULL, NULL);
            }
            fill(m, &part);
        }
        break;
    case AVRO_UNION:
        count = avro_schema_union_size(avro_value_get_schema(value));
        avro_value_set_branch(value, (int)roll(m, (uint32_t)count), &part);
        fill(m, &part);
        break;
    case AVRO_RECORD:
        avro_value_get_size(value, &count);
        for (size_t i = 0; i < count; i++) {
            avro_value_get_by_index(value, i, &part, NULL);
            fill(m, &part);
        }
        break;
    default:
        avro_value_set_null(value);
        break;
    }
}

enum { ENCODED_MAX = 1 << 20, RECORDS = 8 };

/* Spares are the bytes of their fields: with what is wanted they make up the record. */
static void
check_spares(const sinter__avro_decoder *decoder)
{
    size_t count = 0;
    const sinter__avro_spare *spares = sinter__avro_decoder_spares(decoder, &count);
    const sinter_bytes *values = sinter__avro_decoder_spare_values(decoder);

    for (size_t i = 0; i < count; i++) {
        sinter__avro_cursor cursor = {values[i].data, values[i].data + values[i].size};

        cr_assert(spares[i].outer != NULL || values[i].data != NULL);
        cr_assert(values[i].data == NULL || sinter__avro_skip(&cursor, spares[i].type));
        cr_assert(cursor.at == cursor.end);
    }
}

static void
try_schema(maker *m)
{
    avro_schema_t theirs = NULL;
    avro_value_iface_t *kind = NULL;
    avro_value_t root;
    sinter__avro_schema *schema = NULL;
    sinter__avro_decoder *decoder = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    char *encoded = malloc(ENCODED_MAX);

    cr_assert_eq(avro_schema_from_json_length(m->text, m->size, &theirs), 0, "%s", m->text);
    kind = avro_generic_class_from_schema(theirs);
    cr_assert_eq(avro_generic_value_new(kind, &root), 0);
    cr_assert_eq(sinter__avro_schema_parse(sinter_env_default(),
                                           (sinter_bytes){(const uint8_t *)m->text, m->size},
                                           &schema, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(
        sinter__avro_decoder_create(sinter_env_default(), schema, &outer_shape, &decoder, &err),
        SINTER_OK, "%s", err.text);
    for (size_t i = 0; i < RECORDS; i++) {
        avro_writer_t writer = avro_writer_memory(encoded, ENCODED_MAX);
        avro_value_t value = root;
        sinter__avro_cursor cursor = {0};
        outer ours;
        bool is_record = false;

        avro_value_reset(&root);
        fill(m, &root);
        is_record = avro_compare_unwrap(&value);
        cr_assert_eq(avro_value_write(writer, &root), 0);
        cursor = (sinter__avro_cursor){(const uint8_t *)encoded,
                                       (const uint8_t *)encoded + avro_writer_tell(writer)};
        avro_writer_free(writer);
        cr_assert_eq(sinter__avro_decoder_next(decoder, &cursor, &ours, &err),
                     is_record ? SINTER_OK : SINTER_E_CORRUPT);
        if (is_record) {
            cr_assert(cursor.at == cursor.end);
            avro_compare(&value, &outer_shape, (const uint8_t *)&ours);
            check_spares(decoder);
        }
    }
    sinter__avro_decoder_destroy(decoder);
    sinter__avro_schema_destroy(schema);
    avro_value_decref(&root);
    avro_value_iface_decref(kind);
    avro_schema_decref(theirs);
    free(encoded);
}

Test(format_avro_codec, random_records_of_random_schemas_are_those_of_avro_c)
{
    const char *scale = getenv("SINTER_TEST_SCALE");
    const int rounds = 200 * (scale == NULL ? 1 : atoi(scale));
    maker *m = calloc(1, sizeof *m);

    for (int round = 0; round < rounds; round++) {
        *m = (maker){.state = (uint64_t)round * 77 + 5};
        put_schema(m);
        try_schema(m);
    }
    free(m);
}

#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define INNER(fields) \
    FIELD("record", "{\"type\":\"record\",\"name\":\"i\",\"fields\":[" fields "]}")

/* Decode one record of a schema; the statuses of making the decoder and of that. */
static sinter_status
decode(const sinter_env *env, const char *text, sinter_bytes record, outer *out, sinter_error *err)
{
    sinter__avro_schema *schema = NULL;
    sinter__avro_decoder *decoder = NULL;
    sinter__avro_cursor cursor = {record.data, record.data + record.size};
    sinter_status st = sinter__avro_schema_parse(
        env, (sinter_bytes){(const uint8_t *)text, strlen(text)}, &schema, err);

    if (st == SINTER_OK) {
        st = sinter__avro_decoder_create(env, schema, &outer_shape, &decoder, err);
    }
    if (st == SINTER_OK) {
        st = sinter__avro_decoder_next(decoder, &cursor, out, err);
    }
    sinter__avro_decoder_destroy(decoder);
    sinter__avro_schema_destroy(schema);
    return st;
}

static void
refused(const char *text, const char *record, size_t size, sinter_status status, const char *word)
{
    sinter_error err = SINTER_ERROR_INIT;
    outer out;

    cr_expect_eq(decode(sinter_env_default(), text, (sinter_bytes){(const uint8_t *)record, size},
                        &out, &err),
                 status, "%s", text);
    cr_expect_not_null(strstr(err.text, word), "%s: %s", word, err.text);
}

#define REFUSED(text, record, status, word) \
    refused((text), (record), sizeof(record) - 1, (status), (word))

Test(format_avro_codec, what_does_not_fit_is_refused_by_the_name_of_the_field)
{
    REFUSED("\"int\"", "\2", SINTER_E_CORRUPT, "a file of int, not of records");
    REFUSED(RECORD(FIELD("i32", "\"string\"")), "", SINTER_E_UNSUPPORTED,
            "field i32 has type string");
    REFUSED(RECORD(FIELD("i32", "[\"null\",\"int\",\"string\"]")), "", SINTER_E_UNSUPPORTED,
            "field i32 has type union");
    REFUSED(RECORD(FIELD("texts", "{\"type\":\"array\",\"items\":\"int\"}")), "",
            SINTER_E_UNSUPPORTED, "field texts has type int");
    REFUSED(RECORD(INNER(FIELD("number", "\"int\""))), "\2", SINTER_E_CORRUPT,
            "there is no field text");
    REFUSED(RECORD(FIELD("i32", "\"int\"") "," FIELD("i32", "\"int\"")), "\2", SINTER_E_CORRUPT,
            "two fields are named i32");
    REFUSED(RECORD(FIELD("i32", "\"long\"")), "\x80\x80\x80\x80\x10", SINTER_E_CORRUPT,
            "field i32 has 2147483648");
    REFUSED(RECORD(INNER(FIELD("text", "[\"null\",\"string\"]"))), "\0", SINTER_E_CORRUPT,
            "field text is null");
    REFUSED(RECORD(FIELD("i32", "[\"null\",\"int\"]")), "\4\2", SINTER_E_CORRUPT,
            "field i32 is damaged");
    REFUSED(RECORD(FIELD("bytes", "\"bytes\"")), "\6ab", SINTER_E_CORRUPT, "field bytes is dam");
    REFUSED(RECORD(FIELD("bytes", "\"bytes\"")), "\1ab", SINTER_E_CORRUPT, "field bytes is dam");
    REFUSED(RECORD(FIELD("numbers", "{\"type\":\"array\",\"items\":\"int\"}")), "\10\2\2",
            SINTER_E_CORRUPT, "field numbers is damaged");
    REFUSED(RECORD(FIELD("texts", "{\"type\":\"array\",\"items\":[\"null\",\"string\"]}")),
            "\2\0\0", SINTER_E_CORRUPT, "field texts has a null");
    REFUSED(RECORD(FIELD("x", "\"double\"")), "1234567", SINTER_E_CORRUPT, "field x is damaged");
    REFUSED("[\"null\"," RECORD(FIELD("i32", "\"int\"")) "]", "\0", SINTER_E_CORRUPT,
            "a record is null");
}

Test(format_avro_codec, lists_may_come_in_blocks_with_sizes)
{
    static const uint8_t record[] = "\2\2\1\2\4\4\6\10\0"; /* 1; with its size: 2; 3, 4 */
    sinter_error err = SINTER_ERROR_INIT;
    outer out;

    cr_assert_eq(decode(sinter_env_default(), RECORD(FIELD("i64", "\"int\"")),
                        (sinter_bytes){record, 1}, &out, &err),
                 SINTER_OK);
    cr_expect(out.i64 == 1 && out.has == 2);
    {
        static const char text[] =
            RECORD(FIELD("numbers", "{\"type\":\"array\",\"items\":\"int\"}"));
        sinter__avro_schema *schema = NULL;
        sinter__avro_decoder *decoder = NULL;
        sinter__avro_cursor cursor = {record, record + sizeof record - 1};

        cr_assert_eq(sinter__avro_schema_parse(sinter_env_default(),
                                               (sinter_bytes){(const uint8_t *)text, strlen(text)},
                                               &schema, &err),
                     SINTER_OK);
        cr_assert_eq(
            sinter__avro_decoder_create(sinter_env_default(), schema, &outer_shape, &decoder, &err),
            SINTER_OK);
        cr_assert_eq(sinter__avro_decoder_next(decoder, &cursor, &out, &err), SINTER_OK, "%s",
                     err.text);
        cr_assert_eq(out.numbers.count, 4);
        for (size_t i = 0; i < 4; i++) {
            cr_expect_eq(((const int64_t *)out.numbers.items)[i], (int64_t)i + 1);
        }
        sinter__avro_decoder_destroy(decoder);
        sinter__avro_schema_destroy(schema);
    }
}

/* One list of `count` numbers that may be null, all of a byte but the one at `odd`: a null, or one
 * of two bytes. In two blocks where `is_cut`; a number follows. */
static size_t
put_numbers(uint8_t *to, size_t count, size_t odd, bool is_null, bool is_cut)
{
    uint8_t *at = to;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || (is_cut && i == count / 2)) {
            at = sinter__avro_put_long(at, (int64_t)(!is_cut               ? count
                                                     : i == 0 && count > 1 ? count / 2
                                                                           : count - count / 2));
        }
        at = sinter__avro_put_long(at, i != odd || !is_null);
        if (i != odd || !is_null) {
            at = sinter__avro_put_long(at, i == odd ? -500 : (int64_t)(i % 64) - 5);
        }
    }
    at = sinter__avro_put_long(at, 0);
    at = sinter__avro_put_long(at, 7);
    return (size_t)(at - to);
}

static void
check_numbers(const outer *out, size_t count, size_t odd, bool is_null)
{
    const int64_t *items = out->numbers.items;

    cr_assert_eq(out->i64, 7);
    cr_assert_eq(out->numbers.count, count);
    for (size_t i = 0; i < count; i++) {
        const int64_t number = i != odd ? (int64_t)(i % 64) - 5 : is_null ? INT64_MIN : -500;

        cr_assert_eq(items[i], number, "%zu of %zu", i, count);
    }
}

Test(format_avro_codec, lists_of_short_numbers_are_what_other_lists_are)
{
    static const char text[] =
        RECORD(FIELD("numbers", "{\"type\":\"array\",\"items\":[\"null\",\"long\"]}") "," FIELD(
            "i64", "\"long\""));
    sinter__avro_schema *schema = NULL;
    sinter__avro_decoder *decoder = NULL;
    uint8_t bytes[400];

    cr_assert_eq(sinter__avro_schema_parse(sinter_env_default(),
                                           (sinter_bytes){(const uint8_t *)text, strlen(text)},
                                           &schema, NULL),
                 SINTER_OK);
    cr_assert_eq(
        sinter__avro_decoder_create(sinter_env_default(), schema, &outer_shape, &decoder, NULL),
        SINTER_OK);
    for (size_t form = 0; form < 4; form++) {
        const bool is_null = form % 2 == 0;

        for (size_t count = 0; count < 70; count++) {
            for (size_t odd = 0; odd <= count; odd += 1 + count / 5) {
                const size_t size = put_numbers(bytes, count, odd, is_null, form > 1 && count > 1);

                for (size_t cut = 0; cut <= size; cut++) { /* cut off anywhere: an error */
                    sinter__avro_cursor cursor = {bytes, bytes + cut};
                    outer out;

                    cr_assert_eq(sinter__avro_decoder_next(decoder, &cursor, &out, NULL),
                                 cut == size ? SINTER_OK : SINTER_E_CORRUPT);
                    if (cut == size) {
                        check_numbers(&out, count, odd, is_null);
                        cr_assert(cursor.at == cursor.end);
                    }
                }
            }
        }
    }
    sinter__avro_decoder_destroy(decoder);
    sinter__avro_schema_destroy(schema);
}

Test(format_avro_codec, unwanted_fields_far_inside_are_told_of)
{
    static const char text[] =
        RECORD(INNER(FIELD("text", "\"string\"") "," FIELD("near", "\"int\"")) "," FIELD(
            "records",
            "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"j\","
            "\"fields\":[" FIELD("text", "\"string\"") "," FIELD("far", "\"int\"") "]}}"));
    sinter__avro_schema *schema = NULL;
    sinter__avro_decoder *decoder = NULL;
    const sinter__avro_spare *spares = NULL;
    size_t count = 0;

    cr_assert_eq(sinter__avro_schema_parse(sinter_env_default(),
                                           (sinter_bytes){(const uint8_t *)text, strlen(text)},
                                           &schema, NULL),
                 SINTER_OK);
    cr_assert_eq(
        sinter__avro_decoder_create(sinter_env_default(), schema, &outer_shape, &decoder, NULL),
        SINTER_OK);
    spares = sinter__avro_decoder_spares(decoder, &count);
    cr_assert_eq(count, 1);
    cr_expect_str_eq(spares[0].outer, "record");
    cr_expect_str_eq(spares[0].name, "near");
    cr_expect_str_eq(sinter__avro_decoder_lost(decoder), "far");
    sinter__avro_decoder_destroy(decoder);
    sinter__avro_schema_destroy(schema);
}

Test(format_avro_codec, stepping_over_ends_whatever_the_schema_and_the_bytes_say)
{
    /* Records of records of nothing, two to the thirtieth; an array of as many nothings; a list
     * that holds itself. */
    sinter_text text;
    char part[200];
    sinter__avro_schema *schema = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    static const uint8_t deep[200] = {2, 2, 2};
    uint8_t list[200];
    outer out;

    sinter_text_init(sinter_env_default(), &text);
    (void)snprintf(part, sizeof part, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[");
    cr_assert_eq(sinter_text_append(&text, part, strlen(part), NULL), SINTER_OK);
    for (int i = 0; i < 30; i++) {
        (void)snprintf(part, sizeof part,
                       "%s{\"name\":\"x%d\",\"type\":{\"type\":\"record\",\"name\":\"t%d\","
                       "\"fields\":[{\"name\":\"a\",\"type\":%s%d\"},{\"name\":\"b\",\"type\":"
                       "%s%d\"}]}}",
                       i == 0 ? "{\"name\":\"z\",\"type\":{\"type\":\"fixed\",\"name\":\"t-1\","
                                "\"size\":0}},"
                              : ",",
                       i, i, "\"t", i - 1, "\"t", i - 1);
        cr_assert_eq(sinter_text_append(&text, part, strlen(part), NULL), SINTER_OK);
    }
    cr_assert_eq(sinter_text_append(&text, "]}", 2, NULL), SINTER_OK);
    cr_expect_eq(decode(sinter_env_default(), text.data, (sinter_bytes){deep, 0}, &out, &err),
                 SINTER_OK, "%s", err.text);
    sinter_text_fini(&text);

    cr_expect_eq(
        decode(sinter_env_default(), RECORD(FIELD("x", "{\"type\":\"array\",\"items\":\"null\"}")),
               (sinter_bytes){(const uint8_t *)"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1\0", 11},
               &out, &err),
        SINTER_OK);
    memset(list, 2, sizeof list);
    cr_expect_eq(decode(sinter_env_default(), RECORD(FIELD("next", "[\"null\",\"r\"]")),
                        (sinter_bytes){list, sizeof list}, &out, &err),
                 SINTER_E_CORRUPT);
    sinter__avro_schema_destroy(schema);
}

Test(format_avro_codec, every_allocation_may_fail_and_lists_count_against_the_budget)
{
    static const char text[] =
        RECORD(FIELD("numbers", "{\"type\":\"array\",\"items\":\"int\"}") "," FIELD(
            "texts", "{\"type\":\"array\",\"items\":\"string\"}") "," FIELD("u", "\"int\""));
    enum { COUNT = 20000 };
    uint8_t *record = calloc(1, 3 * COUNT);
    uint8_t *to = sinter__avro_put_long(record, COUNT) + COUNT;
    sinter_status st = SINTER_E_NOMEM;
    sinter_memory *memory = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_env env = *sinter_env_default();
    outer out;

    to = sinter__avro_put_long(to, 0);
    to = sinter__avro_put_long(to, 1000) + 1000;
    to = sinter__avro_put_long(sinter__avro_put_long(to, 0), 3);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = decode(&fault.env, text, (sinter_bytes){record, (size_t)(to - record)}, &out, &err);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        cr_assert_eq(fault.live, 0);
    }
    cr_assert_eq(sinter_memory_create(sinter_env_default(), 100000, &memory, NULL), SINTER_OK);
    env.memory = memory;
    cr_expect_eq(decode(&env, text, (sinter_bytes){record, (size_t)(to - record)}, &out, &err),
                 SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
    free(record);
}
