#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "support/fault_alloc.h"

TestSuite(doc_row_codec, .timeout = 120);
TestSuite(field_faults, .timeout = 60);

enum { COLUMNS_MAX = 130 };

static sinter_row_type *
row_type_of(const char *const *types, size_t count)
{
    sinter_column columns[COLUMNS_MAX];
    char names[COLUMNS_MAX][24];
    sinter_row_type *row_type = NULL;

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof names[i], "c%zu", i);
        columns[i].name = names[i];
        columns[i].type = case_parse_type(types[i]);
    }
    cr_assert_eq(sinter_row_type_create(
                     sinter_env_default(),
                     &(sinter_row_layout){sizeof(sinter_row_layout), 0, columns, count, NULL, 0},
                     &row_type, NULL),
                 SINTER_OK);
    return row_type;
}

/* One value of one type: its row in hex. */
static void
expect_row(const char *type, sinter_datum value, const char *hex)
{
    const char *const types[] = {type};
    sinter_row_type *row_type = row_type_of(types, 1);
    uint8_t expected[64];
    const size_t size = case_hex(hex, expected, sizeof expected);
    sinter_datum back;
    sinter_text row;

    sinter_text_init(sinter_env_default(), &row);
    cr_assert_eq(sinter_row_encode(row_type, &value, 0, &row, NULL), SINTER_OK);
    cr_expect(row.size == size && memcmp(row.data, expected, size) == 0, "%s: %s", type, hex);
    cr_assert_eq(sinter_row_decode(row_type, sinter_text_bytes(&row), &back, NULL), SINTER_OK);
    cr_expect(case_equal(sinter_row_type_column_type(row_type, 0), &value, &back, false), "%s",
              type);
    sinter_text_fini(&row);
    sinter_row_type_destroy(row_type);
}

static sinter_datum
bytes_datum(const char *text)
{
    return (sinter_datum){.as.bytes = {.data = (const uint8_t *)text, .size = strlen(text)}};
}

Test(doc_row_codec, rows_of_one_column_by_hand)
{
    const sinter_datum null = {.is_null = true};

    expect_row("STRING", bytes_datum("x"), "0000000000000000 7800000000000081");
    expect_row("STRING", bytes_datum("a/b=c d"), "0000000000000000 612f623d63206487");
    expect_row("STRING", bytes_datum("12345678"),
               "0000000000000000 0800000010000000 3132333435363738");
    expect_row("STRING", bytes_datum(""), "0000000000000000 0000000000000080");
    expect_row("STRING", null, "0001000000000000 0000000000000000");
    expect_row("INT", (sinter_datum){.as.integer = 9}, "0000000000000000 0900000000000000");
    expect_row("TINYINT", (sinter_datum){.as.integer = -1}, "0000000000000000 ff00000000000000");
    expect_row("BOOLEAN", (sinter_datum){.as.integer = 1}, "0000000000000000 0100000000000000");
    expect_row("SMALLINT", (sinter_datum){.as.integer = -2}, "0000000000000000 feff000000000000");
    expect_row("DECIMAL(30, 0)", null,
               "0001000000000000 0000000010000000 "
               "0000000000000000 0000000000000000");
    expect_row("TIMESTAMP(9)", null, "0001000000000000 0000000010000000 0000000000000000");
    expect_row("DECIMAL(30, 0)", (sinter_datum){.as.decimal = {.low = 255}},
               "0000000000000000 0200000010000000 00ff000000000000 0000000000000000");
    expect_row("DECIMAL(30, 0)", (sinter_datum){.as.decimal = {.low = UINT64_MAX, .high = -1}},
               "0000000000000000 0100000010000000 ff00000000000000 0000000000000000");
    expect_row("TIMESTAMP(6)", (sinter_datum){.as.integer = -1, .nanos = 999000},
               "0000000000000000 583e0f0010000000 ffffffffffffffff");
    expect_row("TIMESTAMP(3)", (sinter_datum){.as.integer = 1},
               "0000000000000000 0100000000000000");
}

Test(field_faults, f24_a_stored_nan_keeps_its_bits)
{
    expect_row("FLOAT", (sinter_datum){.as.float_bits = 0xff800001u},
               "0000000000000000 010080ff00000000");
    expect_row("DOUBLE", (sinter_datum){.as.double_bits = 0x7ff0000000000001u},
               "0000000000000000 010000000000f07f");
}

Test(doc_row_codec, the_header_grows_with_the_columns)
{
    static const size_t counts[] = {1, 56, 57, 64, 120, 121};
    static const size_t headers[] = {8, 8, 16, 16, 16, 24};
    const char *types[COLUMNS_MAX];
    sinter_datum values[COLUMNS_MAX];

    for (size_t i = 0; i < COLUMNS_MAX; i++) {
        types[i] = "INT";
        values[i] = (sinter_datum){.is_null = true};
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        sinter_row_type *row_type = row_type_of(types, counts[i]);
        const size_t bit = counts[i] - 1 + 8;
        sinter_text row;

        sinter_text_init(sinter_env_default(), &row);
        cr_assert_eq(sinter_row_encode(row_type, values, 0, &row, NULL), SINTER_OK);
        cr_expect_eq(row.size, headers[i] + counts[i] * 8);
        cr_expect_neq((uint8_t)row.data[bit / 8] & 1u << bit % 8, 0, "the last null bit");
        sinter_text_fini(&row);
        sinter_row_type_destroy(row_type);
    }
}

static void
round_trip(uint64_t seed)
{
    case_random random = {.state = seed};
    const size_t count = 1 + case_below(&random, 6);
    sinter_column columns[6];
    sinter_datum values[6];
    sinter_datum back[6];
    uint8_t rooms[6][CASE_BYTES_MAX];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    sinter_row_type *row_type = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text row;

    for (size_t i = 0; i < count; i++) {
        columns[i].name = names[i];
        columns[i].type = case_type(&random, true);
        values[i] = case_below(&random, 5) == 0
                        ? (sinter_datum){.is_null = true}
                        : case_datum(&random, &columns[i].type, false, rooms[i]);
    }
    cr_assert_eq(sinter_row_type_create(
                     sinter_env_default(),
                     &(sinter_row_layout){sizeof(sinter_row_layout), 0, columns, count, NULL, 0},
                     &row_type, &err),
                 SINTER_OK, "%s", err.text);
    sinter_text_init(sinter_env_default(), &row);
    cr_assert_eq(sinter_row_encode(row_type, values, 0, &row, &err), SINTER_OK,
                 "seed %" PRIu64 ": %s", seed, err.text);
    cr_assert_eq(sinter_row_decode(row_type, sinter_text_bytes(&row), back, &err), SINTER_OK);
    for (size_t i = 0; i < count; i++) {
        cr_assert(case_equal(&columns[i].type, &values[i], &back[i], false),
                  "seed %" PRIu64 ", column %zu", seed, i);
    }
    /* Whatever happens to the bytes, decoding stays inside them. */
    for (size_t i = 0; i < 20; i++) {
        sinter_bytes cut = sinter_text_bytes(&row);

        row.data[case_below(&random, (uint32_t)row.size)] = (char)case_below(&random, 256);
        cut.size -= case_below(&random, 3) == 0 ? case_below(&random, (uint32_t)row.size) : 0;
        const sinter_status st = sinter_row_decode(row_type, cut, back, &err);

        cr_assert(st == SINTER_OK || st == SINTER_E_CORRUPT, "seed %" PRIu64, seed);
        for (size_t k = 0; st == SINTER_OK && k < count; k++) {
            if (!back[k].is_null && columns[k].type.id >= SINTER_TYPE_CHAR) {
                cr_assert(back[k].as.bytes.data >= cut.data &&
                          back[k].as.bytes.data + back[k].as.bytes.size <= cut.data + cut.size);
            }
        }
    }
    sinter_text_fini(&row);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_codec, rows_come_back_and_damage_stays_inside)
{
    for (uint64_t seed = 1; seed <= 10000; seed++) {
        round_trip(seed);
    }
}

Test(doc_row_codec, damage_names_the_column)
{
    static const struct {
        const char *type;
        const char *hex;
        const char *says;
    } cases[] = {
        {"STRING", "0000000000000000", "has 8 bytes, not a multiple of 8 from 16 on"},
        {"STRING", "0000000000000000 080000001000000000", "a row of 1 columns"},
        {"STRING", "0000000000000000 0800000010000000", "a value lies outside the row"},
        {"STRING", "0000000000000000 0800000008000000", "a value lies outside the row"},
        {"STRING", "0000000000000000 08000000f8ffff7f", "a value lies outside the row"},
        {"STRING", "0000000000000000 ffffff7f10000000 0000000000000000",
         "a value lies outside the row"},
        {"STRING", "0000000000000000 0000000000000088", "a short string is too long"},
        {"BOOLEAN", "0000000000000000 0200000000000000", "a BOOLEAN is 0 or 1"},
        {"TIME", "0000000000000000 005c260500000000", "a TIME outside the day"},
        {"TIMESTAMP(9)", "0000000000000000 40420f0010000000 0000000000000000",
         "more than 999999 nanoseconds"},
        {"TIMESTAMP(9)", "0000000000000000 0000000018000000 0000000000000000",
         "a value lies outside the row"},
        {"DECIMAL(30, 0)", "0000000000000000 0000000010000000 0000000000000000 0000000000000000",
         "a DECIMAL has 1 to 16 bytes"},
        {"DECIMAL(30, 0)", "0000000000000000 1100000010000000 0000000000000000 0000000000000000",
         "a DECIMAL has 1 to 16 bytes"},
        {"DECIMAL(30, 0)", "0000000000000000 0100000010000000 0000000000000000",
         "a value lies outside the row"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const types[] = {cases[i].type};
        sinter_row_type *row_type = row_type_of(types, 1);
        uint8_t bytes[64];
        const sinter_bytes row = {.data = bytes, .size = case_hex(cases[i].hex, bytes, 64)};
        sinter_datum value;
        sinter_error err = SINTER_ERROR_INIT;

        cr_expect_eq(sinter_row_decode(row_type, row, &value, &err), SINTER_E_CORRUPT, "%s",
                     cases[i].hex);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s", err.text);
        sinter_row_type_destroy(row_type);
    }
}

Test(doc_row_codec, nulls_of_not_null_columns_pass_in_retracts_only)
{
    const sinter_column columns[] = {{"k", case_parse_type("INT NOT NULL")},
                                     {"v", case_parse_type("INT NOT NULL")}};
    const char *const keys[] = {"k"};
    const sinter_datum values[] = {{.as.integer = 1}, {.is_null = true}};
    const sinter_datum no_key[] = {{.is_null = true}, {.as.integer = 1}};
    sinter_row_type *row_type = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text row;

    cr_assert_eq(sinter_row_type_create(
                     sinter_env_default(),
                     &(sinter_row_layout){sizeof(sinter_row_layout), 0, columns, 2, keys, 1},
                     &row_type, NULL),
                 SINTER_OK);
    sinter_text_init(sinter_env_default(), &row);
    cr_expect_eq(sinter_row_encode(row_type, values, SINTER_KIND_INSERT, &row, &err),
                 SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "column \"v\": null, but declared NOT NULL");
    cr_expect_eq(sinter_row_encode(row_type, values, SINTER_KIND_DELETE, &row, NULL), SINTER_OK);
    cr_expect_eq(sinter_row_encode(row_type, no_key, SINTER_KIND_DELETE, &row, NULL),
                 SINTER_E_INVALID);
    sinter_text_fini(&row);
    sinter_row_type_destroy(row_type);
}

Test(field_faults, f24_a_bucket_key_has_the_canonical_nan)
{
    const char *const types[] = {"STRING", "FLOAT", "DOUBLE", "DOUBLE"};
    sinter_row_type *row_type = row_type_of(types, 4);
    const sinter_datum values[] = {bytes_datum("a longer string"),
                                   {.as.float_bits = 0xff800001u},
                                   {.as.double_bits = 0x7ff0000000000001u},
                                   {.is_null = true}};
    const sinter_datum canonical[] = {values[0],
                                      {.as.float_bits = 0x7fc00000u},
                                      {.as.double_bits = 0x7ff8000000000000u},
                                      {.is_null = true}};
    sinter_text key;
    sinter_text row;

    sinter_text_init(sinter_env_default(), &key);
    sinter_text_init(sinter_env_default(), &row);
    cr_assert_eq(sinter_text_append(&key, "front", 5, NULL), SINTER_OK);
    cr_assert_eq(sinter_bucket_key_encode(row_type, values, &key, NULL), SINTER_OK);
    cr_assert_eq(sinter_row_encode(row_type, canonical, 0, &row, NULL), SINTER_OK);
    cr_expect(key.size == row.size + 5 && memcmp(key.data + 5, row.data, row.size) == 0);
    sinter_text_fini(&row);
    sinter_text_fini(&key);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_codec, nested_columns_are_no_bucket_key)
{
    static const char json[] =
        "[{\"name\":\"a\",\"type\":\"INT\"},{\"name\":\"m\",\"type\":\"MAP<INT, "
        "INT>\"}]";
    const sinter_datum values[] = {{.as.integer = 1}, {.is_null = true}};
    sinter_row_type *row_type = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text key;

    sinter_text_init(sinter_env_default(), &key);
    cr_assert_eq(sinter_row_type_parse(sinter_env_default(), json, strlen(json), &row_type, NULL),
                 SINTER_OK);
    cr_expect_eq(sinter_bucket_key_encode(row_type, values, &key, &err), SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.text, "column \"m\": type MAP can't be part of a bucket key");
    cr_expect_eq(key.size, 0);
    sinter_text_fini(&key);
    sinter_row_type_destroy(row_type);
}

Test(field_faults, f21_a_row_has_a_limit)
{
    const char *const types[] = {"BYTES", "BYTES"};
    sinter_row_type *row_type = row_type_of(types, 2);
    static const uint8_t byte = 0;
    /* Sizes are checked before the bytes are looked at, so these need not exist. */
    const sinter_datum values[] = {{.as.bytes = {.data = &byte, .size = SINTER_VALUE_BYTES_MAX}},
                                   {.as.bytes = {.data = &byte, .size = 1}}};
    const sinter_datum huge[] = {{.as.bytes = {.data = &byte, .size = 1}},
                                 {.as.bytes = {.data = &byte, .size = SIZE_MAX}}};
    sinter_text row;

    sinter_text_init(sinter_env_default(), &row);
    cr_expect_eq(sinter_row_encode(row_type, values, 0, &row, NULL), SINTER_E_TOO_LARGE);
    cr_expect_neq(sinter_row_encode(row_type, huge, 0, &row, NULL), SINTER_OK);
    cr_expect_eq(row.size, 0);
    sinter_text_fini(&row);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_codec, every_allocation_may_fail)
{
    const char *const types[] = {"STRING", "INT"};
    sinter_row_type *row_type = row_type_of(types, 2);
    const sinter_datum values[] = {bytes_datum("a longer string"), {.as.integer = 1}};
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text row;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        sinter_text_init(&fault.env, &row);
        st = sinter_row_encode(row_type, values, 0, &row, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st && row.size == 0));
        sinter_text_fini(&row);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    sinter_row_type_destroy(row_type);
}
