/*
 * Values into columns of Arrow and back, in memory.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "columnar_values.h"
#include "support/fault_alloc.h"
#include "table/columnar_builder.h"
#include "table/columnar_rows.h"

TestSuite(table_columnar_rows, .timeout = 120);

enum { ROWS = 500, ROWS_OF_SWEEP = 30 };

/** Look at each value of a column. */
static sinter_status
check_column(const sinter_env *env, int32_t kind, int column, const struct ArrowSchema *schema,
             const struct ArrowArray *array, sinter_error *err)
{
    sinter__columnar_field fields[VALUE_COLUMNS];
    sinter__arena arena = {.env = env};
    sinter_datum values[VALUE_COLUMNS];
    sinter__cells cells;
    sinter_status st;

    values_fields(fields);
    st = sinter__cells_bind(&arena, kind, schema->children[column], &fields[column].type, &cells,
                            err);
    for (int64_t row = 0; st == SINTER_OK && row < array->length; row++) {
        sinter_datum datum;

        values_row((uint64_t)row, values);
        cr_assert_eq(sinter__cells_get(&cells, array->children[column], row, &datum, err),
                     SINTER_OK);
        cr_assert(values_equal(&fields[column].type, &values[column], &datum), "row %d column %d",
                  (int)row, column);
    }
    sinter__cells_fini(&cells);
    sinter__arena_fini(&arena);
    return st;
}

/** Build rows, take them, and look at them. */
static sinter_status
build(const sinter_env *env, int32_t kind, uint64_t rows, sinter_error *err)
{
    sinter__columnar_field fields[VALUE_COLUMNS];
    sinter_datum values[VALUE_COLUMNS];
    sinter__columnar_builder *builder = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray array = {0};
    sinter_status st;

    values_fields(fields);
    st = sinter__columnar_builder_create(env, kind, fields, VALUE_COLUMNS, &builder, err);
    for (uint64_t row = 0; st == SINTER_OK && row < rows; row++) {
        values_row(row, values);
        st = sinter__columnar_builder_append(builder, values, err);
    }
    if (st == SINTER_OK) {
        cr_expect_eq(sinter__columnar_builder_rows(builder), rows);
        st = sinter__columnar_builder_take(builder, &array, err);
    }
    if (st == SINTER_OK) {
        cr_expect_eq(sinter__columnar_builder_rows(builder), 0);
        st = sinter__columnar_schema_make(env, fields, VALUE_COLUMNS, &schema, err);
    }
    sinter__columnar_builder_destroy(builder);
    for (int i = 0; st == SINTER_OK && i < VALUE_COLUMNS; i++) {
        st = check_column(env, kind, i, &schema, &array, err);
    }
    if (array.release != NULL) {
        array.release(&array);
    }
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    return st;
}

Test(table_columnar_rows, values_of_every_type_are_those_that_were_appended)
{
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(build(sinter_env_default(), SINTER__COLUMNAR_PARQUET, ROWS, &err), SINTER_OK);
    cr_expect_eq(build(sinter_env_default(), SINTER__COLUMNAR_ORC, ROWS, &err), SINTER_OK);
}

Test(table_columnar_rows, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = build(&fault.env, SINTER__COLUMNAR_PARQUET, ROWS_OF_SWEEP, &err);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        cr_assert_eq(fault.live, 0, "allocation %llu", (unsigned long long)n);
    }
}

Test(table_columnar_rows, CHAR_is_padded_in_ORC_and_without_the_blanks_a_value)
{
    sinter__columnar_field field = {.name = "c", .id = -1};
    const sinter_datum value = {.as.bytes = {(const uint8_t *)"\xc3\xa9z", 3}};
    const struct ArrowSchema schema = {.format = "u", .name = "c"};
    sinter__columnar_builder *builder = NULL;
    struct ArrowArray array;
    sinter__arena arena = {.env = sinter_env_default()};
    sinter__cells cells;
    sinter_datum datum;

    cr_assert_eq(sinter_type_parse("CHAR(4)", &field.type, NULL), SINTER_OK);
    cr_assert_eq(sinter__columnar_builder_create(sinter_env_default(), SINTER__COLUMNAR_ORC, &field,
                                                 1, &builder, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__columnar_builder_append(builder, &value, NULL), SINTER_OK);
    cr_assert_eq(sinter__columnar_builder_take(builder, &array, NULL), SINTER_OK);
    cr_expect_eq(((const int32_t *)array.children[0]->buffers[1])[1], 5);
    cr_expect_eq(memcmp(array.children[0]->buffers[2], "\xc3\xa9z  ", 5), 0);
    cr_assert_eq(
        sinter__cells_bind(&arena, SINTER__COLUMNAR_ORC, &schema, &field.type, &cells, NULL),
        SINTER_OK);
    cr_assert_eq(sinter__cells_get(&cells, array.children[0], 0, &datum, NULL), SINTER_OK);
    cr_expect(values_equal(&field.type, &value, &datum));
    sinter__cells_fini(&cells);
    cr_assert_eq(
        sinter__cells_bind(&arena, SINTER__COLUMNAR_PARQUET, &schema, &field.type, &cells, NULL),
        SINTER_OK);
    cr_assert_eq(sinter__cells_get(&cells, array.children[0], 0, &datum, NULL), SINTER_OK);
    cr_expect_eq(datum.as.bytes.size, 5, "blanks in Parquet are the value's own");
    sinter__cells_fini(&cells);
    sinter__arena_fini(&arena);
    array.release(&array);
    sinter__columnar_builder_destroy(builder);
}

Test(table_columnar_rows, columns_of_another_type_are_refused_by_name)
{
    static const struct {
        const char *format;
        const char *type;
        sinter_status expected;
    } cases[] = {
        {"l", "INT", SINTER_E_CORRUPT},
        {"d:10,3", "DECIMAL(10, 2)", SINTER_E_CORRUPT},
        {"d:11,2", "DECIMAL(10, 2)", SINTER_E_CORRUPT},
        {"tsx:", "TIMESTAMP(3)", SINTER_E_CORRUPT},
        {"tsm:", "DATE", SINTER_E_CORRUPT},
        {"w:0", "BINARY(3)", SINTER_E_CORRUPT},
        {"U", "STRING", SINTER_E_CORRUPT},
        {"+l", "ARRAY<INT>", SINTER_E_UNSUPPORTED}, /* of parts that aren't known */
        {"+l", "INT", SINTER_E_CORRUPT},
        {"+s", "INT", SINTER_E_CORRUPT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ArrowSchema field = {.format = cases[i].format, .name = "amount"};
        sinter__arena arena = {.env = sinter_env_default()};
        sinter_error err = SINTER_ERROR_INIT;
        sinter__cells cells;
        sinter_type type;

        cr_assert_eq(sinter_type_parse(cases[i].type, &type, NULL), SINTER_OK);
        cr_expect_eq(
            sinter__cells_bind(&arena, SINTER__COLUMNAR_PARQUET, &field, &type, &cells, &err),
            cases[i].expected, "case %zu", i);
        sinter__cells_fini(&cells);
        sinter__arena_fini(&arena);
        cr_expect(strstr(err.text, "amount") != NULL, "%s", err.text);
    }
}

Test(table_columnar_rows, a_schema_has_names_types_and_ids)
{
    sinter__columnar_field fields[VALUE_COLUMNS];
    struct ArrowSchema schema;

    values_fields(fields);
    fields[1].id = -1;
    fields[2].id = 2147483646;
    cr_assert_eq(
        sinter__columnar_schema_make(sinter_env_default(), fields, VALUE_COLUMNS, &schema, NULL),
        SINTER_OK);
    cr_assert_eq(schema.n_children, VALUE_COLUMNS);
    cr_expect_str_eq(schema.children[3]->name, "c3");
    cr_expect_eq(schema.children[3]->flags & ARROW_FLAG_NULLABLE, 0);
    cr_expect_eq(schema.children[4]->flags & ARROW_FLAG_NULLABLE, ARROW_FLAG_NULLABLE);
    cr_expect_eq(sinter__arrow_field_id(schema.children[0]), 0);
    cr_expect_eq(sinter__arrow_field_id(schema.children[1]), -1);
    cr_expect_eq(sinter__arrow_field_id(schema.children[2]), 2147483646);
    cr_expect_str_eq(schema.children[9]->format, "d:10,2");
    cr_expect_str_eq(schema.children[15]->format, "tsm:");
    cr_expect_str_eq(schema.children[17]->format, "tsu:");
    cr_expect_str_eq(schema.children[18]->format, "tsn:");
    cr_expect_str_eq(schema.children[20]->format, "tsu:UTC");
    schema.release(&schema);
}

Test(table_columnar_rows, a_timestamp_beyond_64_bits_is_an_overflow)
{
    sinter__columnar_field field = {.name = "t", .id = -1};
    const sinter_datum value = {.as.integer = 253402300799999};
    sinter__columnar_builder *builder = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_type_parse("TIMESTAMP(9)", &field.type, NULL), SINTER_OK);
    cr_assert_eq(sinter__columnar_builder_create(sinter_env_default(), SINTER__COLUMNAR_PARQUET,
                                                 &field, 1, &builder, NULL),
                 SINTER_OK);
    cr_expect_eq(sinter__columnar_builder_append(builder, &value, &err), SINTER_E_OVERFLOW);
    sinter__columnar_builder_destroy(builder);
}
