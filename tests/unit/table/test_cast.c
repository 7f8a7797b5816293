/*
 * casts.jsonl holds what Paimon 1.3.1 reads after a column's type was changed: lines of two types
 * and cases [value, value read]; [value] alone where it fails. A third element is what sinter gives
 * where it differs on purpose, null standing for a refusal.
 */
#include "table/cast.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/env.h"
#include "support/fault_alloc.h"

typedef struct cast_pair {
    sinter_column from;
    sinter_column to;
    char name[160];
} cast_pair;

static bool
is_same(const json_t *expected, const json_t *found)
{
    return json_is_number(expected) && json_is_number(found)
               ? json_number_value(expected) == json_number_value(found)
               : json_equal(expected, found) != 0;
}

static void
read_value(const cast_pair *pair, const json_t *value, sinter_text *scratch, sinter_datum *out)
{
    char *text = json_is_string(value) ? strdup(json_string_value(value))
                                       : json_dumps(value, JSON_ENCODE_ANY);
    const sinter_bytes bytes = {(const uint8_t *)text, strlen(text)};
    sinter_text copy;

    sinter_text_init(sinter_env_default(), &copy);
    cr_assert_eq(sinter_text_append(&copy, text, bytes.size, NULL), SINTER_OK);
    cr_assert_eq(sinter_datum_parse(&pair->from, sinter_text_bytes(&copy), 0, scratch, out, NULL),
                 SINTER_OK, "%s: %s", pair->name, text);
    if (pair->from.type.id >= SINTER_TYPE_CHAR && scratch->size == 0) {
        cr_assert_eq(sinter_text_append(scratch, text, bytes.size, NULL), SINTER_OK);
        out->as.bytes = sinter_text_bytes(scratch);
    }
    sinter_text_fini(&copy);
    free(text);
}

/* The value that sinter gives; NULL where it refuses. */
static json_t *
cast_value(const cast_pair *pair, const json_t *value)
{
    sinter_text scratch;
    sinter_text bytes;
    sinter_text printed;
    sinter_datum in = {.is_null = false};
    sinter_datum out;
    json_t *found = NULL;

    sinter_text_init(sinter_env_default(), &scratch);
    sinter_text_init(sinter_env_default(), &bytes);
    sinter_text_init(sinter_env_default(), &printed);
    read_value(pair, value, &scratch, &in);
    if (sinter__cast(&pair->from.type, &pair->to.type, &in, &bytes, &out, NULL) == SINTER_OK) {
        cr_assert_eq(sinter_datum_print_json(&pair->to.type, &out, 0, &printed, NULL), SINTER_OK,
                     "%s", pair->name);
        found = json_loads(printed.data, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        cr_assert_not_null(found, "%s: %s", pair->name, printed.data);
    }
    sinter_text_fini(&scratch);
    sinter_text_fini(&bytes);
    sinter_text_fini(&printed);
    return found;
}

static void
check_case(const cast_pair *pair, const json_t *test)
{
    const size_t count = json_array_size(test);
    const json_t *expected = count >= 2 ? json_array_get(test, count - 1) : NULL;
    json_t *found = cast_value(pair, json_array_get(test, 0));
    char *shown = json_dumps(test, JSON_ENCODE_ANY);
    char *result = found == NULL ? NULL : json_dumps(found, JSON_ENCODE_ANY);

    if (count == 1 || (count == 3 && json_is_null(expected))) {
        cr_expect_null(found, "%s: %s: %s", pair->name, shown, result);
    } else {
        cr_expect(found != NULL && is_same(expected, found), "%s: %s: found %s", pair->name, shown,
                  result == NULL ? "a refusal" : result);
    }
    json_decref(found);
    free(shown);
    free(result);
}

Test(table_cast, values_are_cast_as_the_reference_casts_them)
{
    FILE *file = fopen(SINTER_CASTS, "r");
    char *line = NULL;
    size_t capacity = 0;
    size_t cases = 0;

    cr_assert_not_null(file);
    while (getline(&line, &capacity, file) > 0) {
        json_t *json = json_loads(line, JSON_ALLOW_NUL, NULL);
        const json_t *list = json_object_get(json, "cases");
        const char *from = json_string_value(json_object_get(json, "from"));
        const char *to = json_string_value(json_object_get(json, "to"));
        cast_pair pair = {.from.name = "v", .to.name = "v"};

        cr_assert(json_is_array(list) && from != NULL && to != NULL);
        (void)snprintf(pair.name, sizeof pair.name, "%s to %s", from, to);
        cr_assert_eq(sinter_type_parse(from, &pair.from.type, NULL), SINTER_OK);
        cr_assert_eq(sinter_type_parse(to, &pair.to.type, NULL), SINTER_OK);
        cr_assert(sinter__cast_is_known(&pair.from.type, &pair.to.type), "%s", pair.name);
        for (size_t i = 0; i < json_array_size(list); i++) {
            check_case(&pair, json_array_get(list, i));
            cases++;
        }
        json_decref(json);
    }
    cr_expect_gt(cases, 3000);
    (void)fclose(file);
    free(line);
}

Test(table_cast, what_can_not_be_cast_is_known_beforehand)
{
    static const char *const pairs[][2] = {
        {"BOOLEAN", "DATE"},       {"DATE", "INT"},
        {"INT", "BINARY(4)"},      {"BYTES", "INT"},
        {"DATE", "TIME(3)"},       {"TIME(3)", "DATE"},
        {"FLOAT", "BOOLEAN"},      {"SMALLINT", "TIMESTAMP(3)"},
        {"TIMESTAMP(3)", "FLOAT"}, {"STRING", "VARIANT"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        sinter_type from;
        sinter_type to;

        cr_assert_eq(sinter_type_parse(pairs[i][0], &from, NULL), SINTER_OK);
        cr_assert_eq(sinter_type_parse(pairs[i][1], &to, NULL), SINTER_OK);
        cr_expect_not(sinter__cast_is_known(&from, &to), "%s to %s", pairs[i][0], pairs[i][1]);
    }
}

Test(table_cast, a_text_that_is_no_such_value_is_named)
{
    const sinter_type from = {.id = SINTER_TYPE_VARCHAR, .precision = SINTER_TYPE_LENGTH_MAX};
    const sinter_type to = {
        .id = SINTER_TYPE_DECIMAL, .nullable = true, .precision = 10, .scale = 2};
    const sinter_datum value = {.as.bytes = {(const uint8_t *)"one", 3}};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_datum out;
    sinter_text bytes;

    sinter_text_init(sinter_env_default(), &bytes);
    cr_expect_eq(sinter__cast(&from, &to, &value, &bytes, &out, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "\"one\" can't be cast to DECIMAL(10, 2)");
    sinter_text_fini(&bytes);
}

Test(table_cast, every_allocation_may_fail)
{
    const sinter_type from = {.id = SINTER_TYPE_INT};
    const sinter_type to = {.id = SINTER_TYPE_CHAR, .precision = 200};
    const sinter_datum value = {.as.integer = 42};
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        sinter_datum out;
        sinter_text bytes;

        fault_alloc_init(&fault, n);
        sinter_text_init(&fault.env, &bytes);
        st = sinter__cast(&from, &to, &value, &bytes, &out, NULL);
        cr_assert(st == SINTER_E_NOMEM || out.as.bytes.size == 200);
        sinter_text_fini(&bytes);
        cr_assert_eq(fault.live, 0);
        cr_assert_lt(n, 10);
    }
}
