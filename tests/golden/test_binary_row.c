/*
 * BinaryRows, hashes and buckets that the reference implementation made: encoding the recorded
 * values gives the recorded bytes, decoding those gives the values, and hashing them the bucket.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "sinter/bucket.h"
#include "sinter/rows.h"

TestSuite(golden_binary_row, .timeout = 60);

enum { COLUMNS_MAX = 128 };

/* Read a value in the notation of README-merge.md. */
static void
read_value(const char *id, const json_t *value, const sinter_type *type, sinter_text *scratch,
           sinter_datum *out)
{
    memset(out, 0, sizeof *out);
    out->is_null = json_is_null(value);
    if (out->is_null) {
        return;
    }
    if (json_is_array(value)) {
        out->as.integer = json_integer_value(json_array_get(value, 0));
        out->nanos = (int32_t)json_integer_value(json_array_get(value, 1));
    } else if (json_is_boolean(value)) {
        out->as.integer = json_is_true(value);
    } else if (json_is_integer(value)) {
        out->as.integer = json_integer_value(value);
    } else if (type->id == SINTER_TYPE_FLOAT) {
        out->as.float_bits = (uint32_t)strtoul(json_string_value(value), NULL, 16);
    } else if (type->id == SINTER_TYPE_DOUBLE) {
        out->as.double_bits = strtoull(json_string_value(value), NULL, 16);
    } else {
        const sinter_bytes text = {.data = (const uint8_t *)json_string_value(value),
                                   .size = json_string_length(value)};
        sinter_error err = SINTER_ERROR_INIT;

        cr_assert_eq(sinter_datum_parse(&(sinter_column){"f", *type}, text, 0, scratch, out, &err),
                     SINTER_OK, "%s: %s", id, err.text);
    }
}

/* The hash and the buckets of a line of murmur_bucket.jsonl. */
static void
check_buckets(const char *id, const json_t *line, sinter_bytes row, const json_t *first)
{
    const int32_t hash = sinter_row_hash(row);
    const json_t *buckets = golden_get(line, "buckets");

    cr_assert_eq(hash, golden_int(line, "hash"), "%s", id);
    for (size_t i = 0; i < json_array_size(buckets); i++) {
        const json_t *wanted = json_array_get(buckets, i);
        const int32_t count = (int32_t)golden_int(wanted, "numBuckets");

        cr_expect_eq(sinter_bucket_of_hash(hash, count), golden_int(wanted, "bucket"), "%s", id);
        if (json_is_integer(first) && json_is_integer(json_object_get(wanted, "mod_bucket"))) {
            cr_expect_eq(sinter_bucket_of_number(json_integer_value(first), count),
                         golden_int(wanted, "mod_bucket"), "%s", id);
        }
    }
}

static void
compare(const char *id, const json_t *line, const sinter_row_type *row_type)
{
    const json_t *row = golden_get(line, "row");
    const sinter_bytes hex = {.data = (const uint8_t *)golden_text(line, "binary_row"),
                              .size = strlen(golden_text(line, "binary_row"))};
    const size_t count = sinter_row_type_count(row_type);
    sinter_datum values[COLUMNS_MAX];
    sinter_datum decoded[COLUMNS_MAX];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text scratch;
    sinter_text expected;
    sinter_text found;

    sinter_text_init(sinter_env_default(), &scratch);
    sinter_text_init(sinter_env_default(), &expected);
    sinter_text_init(sinter_env_default(), &found);
    cr_assert(count <= COLUMNS_MAX && count == json_array_size(row), "%s", id);
    cr_assert_eq(sinter_hex_parse(hex, &expected, NULL), SINTER_OK);
    /* Hex values must not move while others are read. */
    cr_assert_eq(sinter_text_append(&scratch, expected.data, expected.size, NULL), SINTER_OK);
    sinter_text_reset(&scratch);
    for (size_t i = 0; i < count; i++) {
        read_value(id, json_array_get(row, i), sinter_row_type_column_type(row_type, i), &scratch,
                   &values[i]);
    }
    cr_assert_eq(sinter_row_encode(row_type, values, 0, &found, &err), SINTER_OK, "%s: %s", id,
                 err.text);
    cr_assert(found.size == expected.size && memcmp(found.data, expected.data, found.size) == 0,
              "%s: other bytes", id);
    cr_assert_eq(sinter_row_decode(row_type, sinter_text_bytes(&expected), decoded, &err),
                 SINTER_OK, "%s: %s", id, err.text);
    sinter_text_reset(&found);
    cr_assert_eq(sinter_row_encode(row_type, decoded, 0, &found, &err), SINTER_OK, "%s: %s", id,
                 err.text);
    cr_assert(found.size == expected.size && memcmp(found.data, expected.data, found.size) == 0,
              "%s: other values", id);
    check_buckets(id, line, sinter_text_bytes(&expected), json_array_get(row, 0));
    sinter_text_fini(&found);
    sinter_text_fini(&expected);
    sinter_text_fini(&scratch);
}

static void
run_row(const char *id, const json_t *line)
{
    char *fields = json_dumps(golden_get(line, "fields"), JSON_COMPACT);
    sinter_row_type *row_type = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_not_null(fields);
    cr_assert_eq(
        sinter_row_type_parse(sinter_env_default(), fields, strlen(fields), &row_type, &err),
        SINTER_OK, "%s: %s", id, err.text);
    compare(id, line, row_type);
    sinter_row_type_destroy(row_type);
    free(fields);
}

Test(golden_binary_row, murmur_bucket)
{
    golden_run("murmur_bucket.jsonl", run_row);
}

static void
run_function(const char *id, const json_t *line)
{
    const sinter_bytes hex = {.data = (const uint8_t *)golden_text(line, "row_hex"),
                              .size = strlen(golden_text(line, "row_hex"))};
    const int32_t buckets = (int32_t)golden_int(line, "buckets");
    const json_t *mod = golden_get(line, "bucket_mod");
    sinter_text row;
    int32_t hash = 0;

    sinter_text_init(sinter_env_default(), &row);
    cr_assert_eq(sinter_hex_parse(hex, &row, NULL), SINTER_OK);
    hash = sinter_row_hash(sinter_text_bytes(&row));
    cr_expect_eq(hash, golden_int(line, "hash"), "%s: %s", id, golden_text(line, "row_hex"));
    cr_expect_eq(sinter_bucket_of_hash(hash, buckets), golden_int(line, "bucket_default"));
    if (json_is_integer(mod)) {
        const json_t *value = json_array_get(golden_get(line, "values"), 0);

        cr_expect_eq(sinter_bucket_of_number(json_integer_value(value), buckets),
                     json_integer_value(mod));
    }
    sinter_text_fini(&row);
}

Test(golden_binary_row, bucket_function)
{
    golden_run("bucket_function.jsonl", run_function);
}

/* Print a row as a JSON line without its newline. */
static void
print_row(const sinter_row_type *row_type, const sinter_datum *values, sinter_text *out)
{
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_row_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), row_type, &options, &writer, &err),
                 SINTER_OK);
    cr_assert_eq(sinter_row_writer_append(writer, 0, values, out, &err), SINTER_OK, "%s", err.text);
    sinter_row_writer_destroy(writer);
    out->data[--out->size] = '\0';
}

/* A row as JSON: its bytes and hash are those recorded, and print the same JSON. */
static void
check_json_row(const char *id, const json_t *line, const sinter_row_type *row_type,
               const char *json)
{
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options, .source = id};
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_datum values[COLUMNS_MAX];
    sinter_row_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text bytes;
    sinter_text text;

    sinter_text_init(sinter_env_default(), &bytes);
    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(sinter_row_reader_create(sinter_env_default(), row_type, &options, &reader, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_row_reader_feed(reader, json, strlen(json), &err), SINTER_OK);
    sinter_row_reader_end(reader);
    cr_assert_eq(sinter_row_reader_next(reader, &row, &err), SINTER_OK, "%s: %s", id, err.text);
    cr_assert_eq(sinter_row_encode(row_type, row.values, 0, &bytes, &err), SINTER_OK, "%s: %s", id,
                 err.text);
    cr_assert_eq(sinter_hex_print(sinter_text_bytes(&bytes), &text, NULL), SINTER_OK);
    cr_assert_str_eq(text.data, golden_text(line, "binary_row"), "%s", id);
    cr_expect_eq(sinter_row_hash(sinter_text_bytes(&bytes)), golden_int(line, "hash"), "%s", id);
    cr_assert_eq(sinter_row_decode(row_type, sinter_text_bytes(&bytes), values, &err), SINTER_OK,
                 "%s: %s", id, err.text);
    sinter_text_reset(&text);
    print_row(row_type, values, &text);
    cr_expect_str_eq(text.data, json, "%s", id);
    sinter_row_reader_destroy(reader);
    sinter_text_fini(&text);
    sinter_text_fini(&bytes);
}

/* The row is a text in the line: jansson would print numbers its own way. */
static void
run_nested(const char *id, const json_t *line)
{
    char *fields = json_dumps(golden_get(line, "fields"), JSON_COMPACT);
    sinter_row_type *row_type = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_not_null(fields);
    cr_assert_eq(
        sinter_row_type_parse(sinter_env_default(), fields, strlen(fields), &row_type, &err),
        SINTER_OK, "%s: %s", id, err.text);
    check_json_row(id, line, row_type, golden_text(line, "row"));
    sinter_row_type_destroy(row_type);
    free(fields);
}

Test(golden_binary_row, nested_rows)
{
    golden_run("nested_rows.jsonl", run_nested);
}
