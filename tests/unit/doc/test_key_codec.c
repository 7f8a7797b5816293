#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "cases.h"
#include "support/fault_alloc.h"

TestSuite(doc_key_codec, .timeout = 60);
TestSuite(field_faults, .timeout = 60);

enum { COLUMNS_MAX = 4, KEY_MAX = 256 };

/* A column's value as text: with its size, since strings hold zero bytes. */
typedef struct text_value {
    const char *text; /* NULL: null */
    size_t size;
} text_value;

#define T(literal)                   \
    {                                \
        literal, sizeof(literal) - 1 \
    }
#define NOTHING \
    {           \
        NULL, 0 \
    }

typedef struct vector {
    const char *types; /* one per line */
    text_value values[COLUMNS_MAX];
    const char *hex;
} vector;

static const vector vectors[] = {
    {"BOOLEAN NOT NULL", {T("false")}, "00"},
    {"BOOLEAN NOT NULL", {T("true")}, "01"},
    {"TINYINT NOT NULL", {T("-128")}, "00"},
    {"TINYINT NOT NULL", {T("-1")}, "7f"},
    {"TINYINT NOT NULL", {T("0")}, "80"},
    {"TINYINT NOT NULL", {T("127")}, "ff"},
    {"SMALLINT NOT NULL", {T("-32768")}, "0000"},
    {"SMALLINT NOT NULL", {T("-1")}, "7fff"},
    {"SMALLINT NOT NULL", {T("0")}, "8000"},
    {"SMALLINT NOT NULL", {T("32767")}, "ffff"},
    {"INT NOT NULL", {T("-2147483648")}, "00000000"},
    {"INT NOT NULL", {T("-2")}, "7ffffffe"},
    {"INT NOT NULL", {T("-1")}, "7fffffff"},
    {"INT NOT NULL", {T("0")}, "80000000"},
    {"INT NOT NULL", {T("1")}, "80000001"},
    {"INT NOT NULL", {T("2147483647")}, "ffffffff"},
    {"BIGINT NOT NULL", {T("-9223372036854775808")}, "0000000000000000"},
    {"BIGINT NOT NULL", {T("-1")}, "7fffffffffffffff"},
    {"BIGINT NOT NULL", {T("0")}, "8000000000000000"},
    {"BIGINT NOT NULL", {T("9223372036854775807")}, "ffffffffffffffff"},
    {"DATE NOT NULL", {T("1969-12-31")}, "7fffffff"},
    {"DATE NOT NULL", {T("1970-01-01")}, "80000000"},
    {"DATE NOT NULL", {T("2024-02-29")}, "80004d46"},
    {"TIME(3) NOT NULL", {T("00:00:00")}, "80000000"},
    {"TIME(3) NOT NULL", {T("23:59:59.999")}, "85265bff"},
    {"FLOAT NOT NULL", {T("-Infinity")}, "007fffff"},
    {"FLOAT NOT NULL", {T("-1.5")}, "403fffff"},
    {"FLOAT NOT NULL", {T("-0.0")}, "7fffffff"},
    {"FLOAT NOT NULL", {T("0.0")}, "80000000"},
    {"FLOAT NOT NULL", {T("1e-45")}, "80000001"},
    {"FLOAT NOT NULL", {T("1.5")}, "bfc00000"},
    {"FLOAT NOT NULL", {T("Infinity")}, "ff800000"},
    {"FLOAT NOT NULL", {T("NaN")}, "ffc00000"},
    {"DOUBLE NOT NULL", {T("-Infinity")}, "000fffffffffffff"},
    {"DOUBLE NOT NULL", {T("-1.5")}, "4007ffffffffffff"},
    {"DOUBLE NOT NULL", {T("-0.0")}, "7fffffffffffffff"},
    {"DOUBLE NOT NULL", {T("0.0")}, "8000000000000000"},
    {"DOUBLE NOT NULL", {T("1.5")}, "bff8000000000000"},
    {"DOUBLE NOT NULL", {T("Infinity")}, "fff0000000000000"},
    {"DOUBLE NOT NULL", {T("NaN")}, "fff8000000000000"},
    {"DECIMAL(10, 2) NOT NULL", {T("-1.00")}, "7fffffffffffff9c"},
    {"DECIMAL(10, 2) NOT NULL", {T("-0.01")}, "7fffffffffffffff"},
    {"DECIMAL(10, 2) NOT NULL", {T("0.00")}, "8000000000000000"},
    {"DECIMAL(10, 2) NOT NULL", {T("0.01")}, "8000000000000001"},
    {"DECIMAL(18, 0) NOT NULL", {T("-999999999999999999")}, "721f494c589c0001"},
    {"DECIMAL(18, 0) NOT NULL", {T("999999999999999999")}, "8de0b6b3a763ffff"},
    {"DECIMAL(38, 18) NOT NULL", {T("-0.000000000000000001")}, "7fffffffffffffffffffffffffffffff"},
    {"DECIMAL(38, 18) NOT NULL", {T("0")}, "80000000000000000000000000000000"},
    {"DECIMAL(38, 18) NOT NULL", {T("1.5")}, "800000000000000014d1120d7b160000"},
    {"DECIMAL(38, 18) NOT NULL",
     {T("99999999999999999999.999999999999999999")},
     "cb3b4ca85a86c47a098a223fffffffff"},
    {"DECIMAL(38, 18) NOT NULL",
     {T("-99999999999999999999.999999999999999999")},
     "34c4b357a5793b85f675ddc000000001"},
    {"TIMESTAMP(3) NOT NULL", {T("1969-12-31T23:59:59.999")}, "7fffffffffffffff"},
    {"TIMESTAMP(3) NOT NULL", {T("1970-01-01 00:00:00.000")}, "8000000000000000"},
    {"TIMESTAMP(3) NOT NULL", {T("2024-11-26T06:38:56.001")}, "800001936731c801"},
    {"TIMESTAMP(9) NOT NULL", {T("1969-12-31T23:59:59.999999999")}, "7fffffffffffffff000f423f"},
    {"TIMESTAMP(9) NOT NULL", {T("1970-01-01 00:00:00")}, "800000000000000000000000"},
    {"TIMESTAMP(9) NOT NULL", {T("1970-01-01 00:00:00.000000001")}, "800000000000000000000001"},
    {"TIMESTAMP(9) NOT NULL", {T("2024-11-26T06:38:56.001000001")}, "800001936731c80100000001"},
    {"STRING NOT NULL", {T("")}, ""},
    {"STRING NOT NULL", {T("\0")}, "00"},
    {"STRING NOT NULL", {T("a")}, "61"},
    {"STRING NOT NULL", {T("a\0")}, "6100"},
    {"STRING NOT NULL", {T("\xc3\xa9")}, "c3a9"},
    {"STRING NOT NULL", {T("\xf0\x9f\x98\x80")}, "f09f9880"},
    {"INT", {NOTHING}, "00"},
    {"INT", {T("-1")}, "017fffffff"},
    {"INT", {T("0")}, "0180000000"},
    {"STRING", {NOTHING}, "00"},
    {"STRING", {T("")}, "01"},
    {"STRING", {T("\0")}, "0100"},
    {"STRING NOT NULL\nINT NOT NULL", {T(""), T("-1")}, "0001 7fffffff"},
    {"STRING NOT NULL\nINT NOT NULL", {T("a"), T("1")}, "610001 80000001"},
    {"STRING NOT NULL\nINT NOT NULL", {T("a\0"), T("0")}, "6100ff0001 80000000"},
    {"STRING NOT NULL\nINT NOT NULL", {T("a\0b"), T("0")}, "6100ff620001 80000000"},
    {"STRING NOT NULL\nINT NOT NULL", {T("a\1"), T("0")}, "61010001 80000000"},
    {"STRING NOT NULL\nSTRING NOT NULL", {T("a"), T("b")}, "610001 62"},
    {"STRING NOT NULL\nSTRING NOT NULL", {T("ab"), T("")}, "61620001"},
    {"STRING NOT NULL\nSTRING NOT NULL", {T("a\0"), T("b\0")}, "6100ff0001 6200"},
    {"INT NOT NULL\nSTRING NOT NULL", {T("-1"), T("a\0")}, "7fffffff 6100"},
    {"BYTES NOT NULL\nBYTES NOT NULL", {T("00ff"), T("00")}, "00ffff0001 00"},
    {"STRING\nINT NOT NULL", {NOTHING, T("7")}, "00 80000007"},
    {"STRING\nINT NOT NULL", {T(""), T("7")}, "010001 80000007"},
    {"STRING\nSTRING", {T("a"), NOTHING}, "01610001 00"},
    {"INT NOT NULL\nBOOLEAN NOT NULL\nTIMESTAMP(6) NOT NULL\nSTRING NOT NULL",
     {T("-5"), T("true"), T("1969-12-31T23:59:59.999999"), T("x")},
     "7ffffffb 01 7fffffffffffffff000f3e58 78"},
};

static sinter_key_codec *
codec_of(const char *types)
{
    sinter_key_codec *codec = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_key_codec_parse(sinter_env_default(), types, &codec, &err), SINTER_OK, "%s",
                 err.text);
    return codec;
}

static void
encode_vector(const vector *v, const sinter_key_codec *codec, sinter_datum *values,
              sinter_text *scratch, sinter_text *key)
{
    cr_assert_eq(sinter_text_append(scratch, "................................", 32, NULL),
                 SINTER_OK);
    sinter_text_reset(scratch);
    for (size_t i = 0; i < sinter_key_codec_count(codec); i++) {
        const sinter_bytes text = {.data = (const uint8_t *)v->values[i].text,
                                   .size = v->values[i].size};
        sinter_error err = SINTER_ERROR_INIT;

        if (v->values[i].text == NULL) {
            values[i] = (sinter_datum){.is_null = true};
            continue;
        }
        cr_assert_eq(sinter_datum_parse(&(sinter_column){"k", *sinter_key_codec_type(codec, i)},
                                        text, 0, scratch, &values[i], &err),
                     SINTER_OK, "%s: %s", v->types, err.text);
    }
    cr_assert_eq(sinter_key_encode(codec, values, key, NULL), SINTER_OK);
}

Test(doc_key_codec, the_vectors_of_the_specification)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const vector *v = &vectors[i];
        sinter_key_codec *codec = codec_of(v->types);
        sinter_datum values[COLUMNS_MAX];
        sinter_datum decoded[COLUMNS_MAX];
        uint8_t expected[KEY_MAX];
        const size_t size = case_hex(v->hex, expected, sizeof expected);
        sinter_text scratch;
        sinter_text other;
        sinter_text key;

        sinter_text_init(sinter_env_default(), &scratch);
        sinter_text_init(sinter_env_default(), &other);
        sinter_text_init(sinter_env_default(), &key);
        encode_vector(v, codec, values, &scratch, &key);
        cr_expect(key.size == size && memcmp(key.data, expected, size) == 0, "%s (%zu): %s",
                  v->types, i, v->hex);
        cr_assert_eq(sinter_key_decode(codec, sinter_text_bytes(&key), &other, decoded, NULL),
                     SINTER_OK);
        for (size_t k = 0; k < sinter_key_codec_count(codec); k++) {
            cr_expect(case_equal(sinter_key_codec_type(codec, k), &values[k], &decoded[k], true),
                      "%s (%zu) comes back", v->types, i);
        }
        sinter_text_fini(&key);
        sinter_text_fini(&other);
        sinter_text_fini(&scratch);
        sinter_key_codec_destroy(codec);
    }
}

Test(doc_key_codec, the_vectors_ascend_as_listed)
{
    uint8_t before[KEY_MAX];
    uint8_t here[KEY_MAX];

    for (size_t i = 1; i < sizeof vectors / sizeof vectors[0]; i++) {
        sinter_bytes a = {.data = before, .size = case_hex(vectors[i - 1].hex, before, KEY_MAX)};
        sinter_bytes b = {.data = here, .size = case_hex(vectors[i].hex, here, KEY_MAX)};

        if (strcmp(vectors[i - 1].types, vectors[i].types) != 0 ||
            strcmp(vectors[i].types, "STRING NOT NULL\nSTRING NOT NULL") == 0) {
            continue;
        }
        if (strstr(vectors[i].types, "(38") != NULL && vectors[i].values[0].text[0] == '-') {
            continue; /* this line lists its extremes last */
        }
        cr_expect_lt(sinter__key_compare(a, b), 0, "%s: %s < %s", vectors[i].types,
                     vectors[i - 1].hex, vectors[i].hex);
    }
}

static size_t
encode_one(const char *type, const sinter_datum *value, uint8_t out[KEY_MAX])
{
    sinter_key_codec *codec = codec_of(type);
    sinter_text key;
    size_t size;

    sinter_text_init(sinter_env_default(), &key);
    cr_assert_eq(sinter_key_encode(codec, value, &key, NULL), SINTER_OK);
    size = key.size;
    cr_assert_leq(size, KEY_MAX);
    memcpy(out, key.data, size);
    sinter_text_fini(&key);
    sinter_key_codec_destroy(codec);
    return size;
}

Test(field_faults, f24_every_nan_is_one_key_and_zeros_differ)
{
    static const uint32_t singles[] = {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffffffffu};
    static const uint64_t doubles[] = {0x7ff8000000000000u, 0xfff8000000000001u,
                                       0x7ff0000000000001u, UINT64_MAX};
    uint8_t first[KEY_MAX];
    uint8_t here[KEY_MAX];
    sinter_datum datum = {.is_null = false};

    for (size_t i = 0; i < 4; i++) {
        datum.as.float_bits = singles[i];
        cr_assert_eq(encode_one("FLOAT NOT NULL", &datum, here), 4);
        (void)case_hex("ffc00000", first, sizeof first);
        cr_expect_eq(memcmp(here, first, 4), 0, "NaN %08" PRIx32, singles[i]);
        datum.as.double_bits = doubles[i];
        cr_assert_eq(encode_one("DOUBLE NOT NULL", &datum, here), 8);
        (void)case_hex("fff8000000000000", first, sizeof first);
        cr_expect_eq(memcmp(here, first, 8), 0, "NaN %016" PRIx64, doubles[i]);
    }
    datum.as.double_bits = 0x8000000000000000u;
    (void)encode_one("DOUBLE NOT NULL", &datum, first);
    datum.as.double_bits = 0;
    (void)encode_one("DOUBLE NOT NULL", &datum, here);
    cr_expect_lt(memcmp(first, here, 8), 0, "-0.0 sorts before 0.0");
}

/* Random keys of one to three columns against a comparator that looks at values only. */
static void
compare_random(case_random *random, uint64_t seed)
{
    const size_t count = 1 + case_below(random, 3);
    sinter_type types[3];
    sinter_datum values[2][3];
    uint8_t rooms[2][3][CASE_BYTES_MAX];
    sinter_datum decoded[3];
    sinter_key_codec *codec = NULL;
    sinter_text keys[2];
    sinter_text scratch;
    int expected = 0;
    int found = 0;

    for (size_t i = 0; i < count; i++) {
        types[i] = case_type(random, case_below(random, 2) == 0);
    }
    cr_assert_eq(sinter_key_codec_create(sinter_env_default(), types, count, &codec, NULL),
                 SINTER_OK);
    sinter_text_init(sinter_env_default(), &scratch);
    for (size_t k = 0; k < 2; k++) {
        sinter_text_init(sinter_env_default(), &keys[k]);
        for (size_t i = 0; i < count; i++) {
            if (types[i].nullable && case_below(random, 4) == 0) {
                values[k][i] = (sinter_datum){.is_null = true};
            } else if (k == 1 && case_below(random, 2) == 0) {
                values[k][i] = values[0][i];
            } else {
                values[k][i] = case_datum(random, &types[i], false, rooms[k][i]);
            }
        }
        cr_assert_eq(sinter_key_encode(codec, values[k], &keys[k], NULL), SINTER_OK);
        sinter_text_reset(&scratch);
        cr_assert_eq(sinter_key_decode(codec, sinter_text_bytes(&keys[k]), &scratch, decoded, NULL),
                     SINTER_OK);
        for (size_t i = 0; i < count; i++) {
            cr_assert(case_equal(&types[i], &values[k][i], &decoded[i], true),
                      "seed %" PRIu64 ": a value changed", seed);
        }
    }
    for (size_t i = 0; i < count && expected == 0; i++) {
        expected = case_compare(&types[i], &values[0][i], &values[1][i]);
    }
    found = sinter__key_compare(sinter_text_bytes(&keys[0]), sinter_text_bytes(&keys[1]));
    cr_assert_eq((found > 0) - (found < 0), (expected > 0) - (expected < 0),
                 "seed %" PRIu64 ": bytes %d, values %d", seed, found, expected);
    sinter_text_fini(&keys[0]);
    sinter_text_fini(&keys[1]);
    sinter_text_fini(&scratch);
    sinter_key_codec_destroy(codec);
}

Test(doc_key_codec, bytes_sort_as_values_do)
{
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        case_random random = {.state = seed};

        compare_random(&random, seed);
    }
}

/* The values of the fault catalogue, in the order of their types. */
Test(field_faults, f23_keys_below_zero_sort_below_it)
{
    static const struct {
        const char *type;
        const char *values[8];
    } lines[] = {
        {"INT NOT NULL", {"-2147483648", "-2", "-1", "0", "1", "2147483647"}},
        {"BIGINT NOT NULL", {"-9223372036854775808", "0", "9223372036854775807"}},
        {"DATE NOT NULL", {"-0044-03-15", "0000-01-01", "1969-12-31", "1970-01-01"}},
        {"DECIMAL(10, 2) NOT NULL", {"-1.00", "-0.01", "0", "0.01"}},
        {"DECIMAL(38, 18) NOT NULL", {"-1", "-0.000000000000000001", "0", "1.5"}},
        {"TIMESTAMP(9) NOT NULL",
         {"1969-12-31 23:59:59.999999998", "1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00"}},
        {"STRING NOT NULL", {"", "a", "ab", "b"}},
        {"DOUBLE NOT NULL", {"-Infinity", "-1.5", "-0.0", "0.0", "1.5", "Infinity", "NaN"}},
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        sinter_key_codec *codec = codec_of(lines[i].type);

        for (size_t k = 1; k < 8 && lines[i].values[k] != NULL; k++) {
            sinter_text low;
            sinter_text high;

            sinter_text_init(sinter_env_default(), &low);
            sinter_text_init(sinter_env_default(), &high);
            cr_assert_eq(sinter_key_encode_texts(codec, &lines[i].values[k - 1], 1, &low, NULL),
                         SINTER_OK);
            cr_assert_eq(sinter_key_encode_texts(codec, &lines[i].values[k], 1, &high, NULL),
                         SINTER_OK);
            cr_expect_lt(sinter__key_compare(sinter_text_bytes(&low), sinter_text_bytes(&high)), 0,
                         "%s: %s < %s", lines[i].type, lines[i].values[k - 1], lines[i].values[k]);
            sinter_text_fini(&low);
            sinter_text_fini(&high);
        }
        sinter_key_codec_destroy(codec);
    }
}

Test(doc_key_codec, any_bytes_decode_to_what_encodes_to_them_or_are_refused)
{
    size_t accepted = 0;

    for (uint64_t seed = 1; seed <= 20000; seed++) {
        case_random random = {.state = seed};
        const size_t count = 1 + case_below(&random, 3);
        sinter_type types[3];
        sinter_datum values[3];
        uint8_t bytes[12];
        sinter_bytes key = {.data = bytes, .size = case_below(&random, sizeof bytes + 1)};
        sinter_key_codec *codec = NULL;
        sinter_text scratch;
        sinter_text again;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_status st;

        for (size_t i = 0; i < count; i++) {
            types[i] = case_type(&random, case_below(&random, 2) == 0);
        }
        for (size_t i = 0; i < key.size; i++) {
            bytes[i] = (uint8_t)(case_below(&random, 2) == 0 ? case_below(&random, 3)
                                                             : case_below(&random, 256));
        }
        cr_assert_eq(sinter_key_codec_create(sinter_env_default(), types, count, &codec, NULL),
                     SINTER_OK);
        sinter_text_init(sinter_env_default(), &scratch);
        sinter_text_init(sinter_env_default(), &again);
        st = sinter_key_decode(codec, key, &scratch, values, &err);
        if (st == SINTER_OK) {
            const sinter_status encoded = sinter_key_encode(codec, values, &again, NULL);

            /* CHAR(n) and the like may be longer in a file than the type says. */
            cr_assert(encoded == SINTER_OK || encoded == SINTER_E_INVALID, "seed %" PRIu64, seed);
            cr_assert(encoded != SINTER_OK ||
                          sinter__key_compare(key, sinter_text_bytes(&again)) == 0,
                      "seed %" PRIu64 ": two byte strings for one key", seed);
            accepted++;
        } else {
            cr_assert_eq(st, SINTER_E_CORRUPT, "seed %" PRIu64, seed);
            cr_assert_eq(err.status, SINTER_E_CORRUPT);
        }
        sinter_text_fini(&again);
        sinter_text_fini(&scratch);
        sinter_key_codec_destroy(codec);
    }
    cr_expect_gt(accepted, 500, "some must pass: %zu", accepted);
}

Test(doc_key_codec, damaged_keys_are_refused_by_column_and_byte)
{
    static const struct {
        const char *types;
        const char *hex;
        const char *text;
    } cases[] = {
        {"INT NOT NULL", "800000", "key column 1, byte 0: the key ends inside a value"},
        {"INT NOT NULL", "8000000000", "key column 1, byte 4: bytes follow the last column"},
        {"INT", "02", "key column 1, byte 0: no null marker (00 or 01)"},
        {"INT", "", "key column 1, byte 0: no null marker (00 or 01)"},
        {"BOOLEAN NOT NULL", "02", "key column 1, byte 0: no value of the type has these bytes"},
        {"FLOAT NOT NULL", "ffc00001",
         "key column 1, byte 0: no value of the type has these bytes"},
        {"TIME NOT NULL", "85265c00", "key column 1, byte 0: no value of the type has these bytes"},
        {"TIMESTAMP(9) NOT NULL", "8000000000000000000f4240",
         "key column 1, byte 0: no value of the type has these bytes"},
        {"DECIMAL(2, 0) NOT NULL", "8000000000000064",
         "key column 1, byte 0: no value of the type has these bytes"},
        {"STRING NOT NULL\nINT NOT NULL", "6161", "key column 1, byte 2: a string has no end"},
        {"STRING NOT NULL\nINT NOT NULL", "610002",
         "key column 1, byte 1: 00 is followed by neither 01 nor ff"},
        {"STRING NOT NULL\nINT NOT NULL", "61000180",
         "key column 2, byte 3: the key ends inside a value"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_key_codec *codec = codec_of(cases[i].types);
        uint8_t bytes[KEY_MAX];
        const sinter_bytes key = {.data = bytes,
                                  .size = case_hex(cases[i].hex, bytes, sizeof bytes)};
        sinter_datum values[2];
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text scratch;

        sinter_text_init(sinter_env_default(), &scratch);
        cr_expect_eq(sinter_key_decode(codec, key, &scratch, values, &err), SINTER_E_CORRUPT);
        cr_expect_str_eq(err.text, cases[i].text);
        sinter_text_fini(&scratch);
        sinter_key_codec_destroy(codec);
    }
}

Test(doc_key_codec, nested_types_are_refused_by_name)
{
    static const char *const types[] = {"ARRAY<INT>", "MAP<INT, INT>", "MULTISET<INT>",
                                        "ROW<a INT>", "VARIANT",       "BLOB"};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        sinter_key_codec *codec = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        char name[16] = {0};

        (void)sscanf(types[i], "%15[A-Z]", name);
        cr_expect_eq(sinter_key_codec_parse(sinter_env_default(), types[i], &codec, &err),
                     SINTER_E_UNSUPPORTED);
        cr_expect_not_null(strstr(err.text, name), "%s names %s", err.text, name);
        cr_expect_null(codec);
    }
}

Test(doc_key_codec, values_outside_their_type_are_refused_before_they_are_encoded)
{
    sinter_key_codec *codec = codec_of("DECIMAL(3, 1) NOT NULL\nTIMESTAMP(3) NOT NULL");
    sinter_datum values[2] = {{.as.decimal = {.low = 1000}}, {.as.integer = 0}};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text key;

    sinter_text_init(sinter_env_default(), &key);
    cr_expect_eq(sinter_key_encode(codec, values, &key, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "column \"key column 1\": more than the 3 digits of DECIMAL(3, 1)");
    values[0].as.decimal.low = 999;
    values[1].nanos = 1;
    cr_expect_eq(sinter_key_encode(codec, values, &key, &err), SINTER_E_INVALID);
    values[1].nanos = 0;
    values[1].is_null = true;
    cr_expect_eq(sinter_key_encode(codec, values, &key, &err), SINTER_E_INVALID, "null");
    cr_expect_eq(key.size, 0, "nothing is left of a refused key");
    sinter_text_fini(&key);
    sinter_key_codec_destroy(codec);
}

Test(field_faults, f21_a_key_has_a_limit)
{
    static uint8_t bytes[SINTER_KEY_BYTES_MAX + 1];
    sinter_key_codec *codec = codec_of("BYTES NOT NULL");
    sinter_datum value = {.as.bytes = {.data = bytes, .size = SINTER_KEY_BYTES_MAX}};
    sinter_text key;

    sinter_text_init(sinter_env_default(), &key);
    cr_expect_eq(sinter_key_encode(codec, &value, &key, NULL), SINTER_OK);
    sinter_text_reset(&key);
    value.as.bytes.size++;
    cr_expect_eq(sinter_key_encode(codec, &value, &key, NULL), SINTER_E_TOO_LARGE);
    sinter_text_fini(&key);
    sinter_key_codec_destroy(codec);
    codec = codec_of("BYTES NOT NULL\nBYTES NOT NULL");
    {
        const sinter_datum pair[2] = {
            {.as.bytes = {.data = bytes, .size = SINTER_KEY_BYTES_MAX / 2}}, {.as.bytes = {0}}};

        /* Every zero byte takes two where another column follows. */
        cr_expect_eq(sinter_key_encode(codec, pair, &key, NULL), SINTER_E_TOO_LARGE);
    }
    sinter_text_fini(&key);
    sinter_key_codec_destroy(codec);
}

Test(doc_key_codec, keys_are_shown_to_people)
{
    static const char *const texts[] = {"5", NULL, "x, y"};
    sinter_key_codec *codec = codec_of("INT NOT NULL\nDATE\nSTRING NOT NULL");
    sinter_text key;
    sinter_text shown;

    sinter_text_init(sinter_env_default(), &key);
    sinter_text_init(sinter_env_default(), &shown);
    cr_assert_eq(sinter_key_encode_texts(codec, texts, 3, &key, NULL), SINTER_OK);
    cr_assert_eq(sinter_key_print(codec, sinter_text_bytes(&key), &shown, NULL), SINTER_OK);
    cr_expect_str_eq(shown.data, "5, null, x, y");
    sinter_text_reset(&shown);
    cr_assert_eq(sinter_text_append(&key, "\xff", 1, NULL), SINTER_OK);
    cr_assert_eq(sinter_key_print(codec, sinter_text_bytes(&key), &shown, NULL), SINTER_OK);
    cr_expect_str_eq(shown.data, "5, null, 782c2079ff", "no UTF-8: hex");
    cr_expect_eq(sinter_key_encode_texts(codec, texts, 2, &key, NULL), SINTER_E_INVALID);
    sinter_text_fini(&shown);
    sinter_text_fini(&key);
    sinter_key_codec_destroy(codec);
}

Test(doc_key_codec, types_are_kept_canonical)
{
    sinter_key_codec *codec = codec_of("int not null\nvarchar(2147483647)\ndecimal(4)");

    cr_expect_str_eq(sinter_key_codec_types(codec), "INT NOT NULL\nSTRING\nDECIMAL(4, 0)");
    sinter_key_codec_destroy(codec);
    cr_expect_eq(sinter_key_codec_parse(sinter_env_default(), "", &codec, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_key_codec_parse(sinter_env_default(), "INT\nNOPE", &codec, NULL),
                 SINTER_E_INVALID);
}

static sinter_status
use_codec(const sinter_env *env, sinter_error *err)
{
    static const char *const texts[] = {"a", "7"};
    sinter_key_codec *codec = NULL;
    sinter_text key;
    sinter_text shown;
    sinter_status st = sinter_key_codec_parse(env, "STRING NOT NULL\nINT NOT NULL", &codec, err);

    sinter_text_init(env, &key);
    sinter_text_init(env, &shown);
    if (st == SINTER_OK) {
        st = sinter_key_encode_texts(codec, texts, 2, &key, err);
    }
    if (st == SINTER_OK) {
        st = sinter_key_print(codec, sinter_text_bytes(&key), &shown, err);
    }
    sinter_text_fini(&shown);
    sinter_text_fini(&key);
    sinter_key_codec_destroy(codec);
    return st;
}

Test(doc_key_codec, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = use_codec(&fault.env, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
}
