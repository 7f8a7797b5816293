/*
 * BinaryRows that the reference implementation made (murmur_bucket.jsonl): encoding the recorded
 * values gives the recorded bytes, and decoding those gives the values.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "sinter/type.h"

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
