/*
 * Rows of values through Parquet and ORC files.
 */
#include <criterion/criterion.h>

#include "columnar_values.h"
#include "sinter/io.h"
#include "table/columnar_builder.h"
#include "table/columnar_rows.h"

TestSuite(table_columnar_files, .timeout = 120);

enum { ROWS = 3000 };

static void
write_rows(const sinter__columnar *columnar, int32_t kind, const struct ArrowSchema *types)
{
    const sinter__columnar_api *api = columnar->api;
    const sinter__columnar_write write = {.struct_size = (uint32_t)sizeof write, .kind = kind};
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};
    sinter__columnar_field fields[VALUE_COLUMNS];
    sinter__columnar_builder *builder = NULL;
    sinter__columnar_output *output = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    values_fields(fields);
    cr_assert_eq(sinter__columnar_builder_create(columnar->host.env, kind, fields, VALUE_COLUMNS,
                                                 &builder, &err),
                 SINTER_OK);
    cr_assert_eq(api->output_open(&columnar->host, "m/f", types, &write, &output, &err), SINTER_OK,
                 "%s", err.text);
    for (uint64_t row = 0; row < ROWS; row++) {
        sinter_datum values[VALUE_COLUMNS];

        values_row(row, values);
        cr_assert_eq(sinter__columnar_builder_append(builder, values, &err), SINTER_OK);
        if (row % 700 == 0 || row == ROWS - 1) {
            sinter__columnar_range range = {NULL, 0, sinter__columnar_builder_rows(builder)};
            sinter__columnar_batch *batch = NULL;
            struct ArrowSchema schema;
            struct ArrowArray array;

            cr_assert_eq(sinter__columnar_schema_make(columnar->host.env, fields, VALUE_COLUMNS,
                                                      &schema, &err),
                         SINTER_OK);
            cr_assert_eq(sinter__columnar_builder_take(builder, &array, &err), SINTER_OK);
            cr_assert_eq(api->batch_import(&schema, &array, &batch, &err), SINTER_OK, "%s",
                         err.text);
            range.batch = batch;
            cr_assert_eq(api->output_append(output, &range, 1, &err), SINTER_OK, "%s", err.text);
            api->batch_release(batch);
        }
    }
    cr_assert_eq(api->output_finish(output, &written, &err), SINTER_OK, "%s", err.text);
    api->output_close(output);
    sinter__columnar_builder_destroy(builder);
}

/** Every value of a batch, by the schema that the file or the caller has. */
static void
check_batch(int32_t kind, const struct ArrowSchema *types, const struct ArrowArray *array,
            uint64_t first)
{
    sinter__columnar_field fields[VALUE_COLUMNS];
    sinter_error err = SINTER_ERROR_INIT;

    values_fields(fields);
    for (int i = 0; i < VALUE_COLUMNS; i++) {
        sinter__arena arena = {.env = sinter_env_default()};
        sinter__cells cells;

        cr_assert_eq(
            sinter__cells_bind(&arena, kind, types->children[i], &fields[i].type, &cells, &err),
            SINTER_OK, "%s", err.text);
        for (int64_t row = 0; row < array->length; row++) {
            sinter_datum values[VALUE_COLUMNS];
            sinter_datum datum;

            values_row(first + (uint64_t)row, values);
            cr_assert_eq(sinter__cells_get(&cells, array->children[i], row, &datum, &err),
                         SINTER_OK);
            cr_assert(values_equal(&fields[i].type, &values[i], &datum), "row %llu column %d",
                      (unsigned long long)first + (unsigned long long)row, i);
        }
        sinter__cells_fini(&cells);
        sinter__arena_fini(&arena);
    }
}

Test(table_columnar_files, values_of_every_type_and_year_come_back_from_files)
{
    sinter__columnar_field fields[VALUE_COLUMNS];
    sinter__columnar columnar;
    struct ArrowSchema types;
    sinter_env env;

    sinter_env_init(&env);
    env.columnar_library = COLUMNAR_LIBRARY;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &env.io, NULL),
                 SINTER_OK);
    cr_assert_eq(env.io->ops->mkdir(env.io, "m", NULL), SINTER_OK);
    cr_assert_eq(sinter__columnar_load(&env, &columnar, NULL), SINTER_OK);
    values_fields(fields);
    cr_assert_eq(sinter__columnar_schema_make(&env, fields, VALUE_COLUMNS, &types, NULL),
                 SINTER_OK);
    for (int32_t kind = SINTER__COLUMNAR_PARQUET; kind <= SINTER__COLUMNAR_ORC; kind++) {
        const sinter__columnar_read read = {
            .struct_size = (uint32_t)sizeof read, .batch_rows = 1000, .as = &types};
        sinter__columnar_file *file = NULL;
        sinter__columnar_batch *batch = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        uint64_t rows = 0;

        write_rows(&columnar, kind, &types);
        cr_assert_eq(columnar.api->file_open(&columnar.host, "m/f", 0, 0, &file, &err), SINTER_OK);
        cr_assert_eq(columnar.api->file_read(file, &read, &err), SINTER_OK, "%s", err.text);
        while (columnar.api->file_next(file, &batch, &err) == SINTER_OK) {
            struct ArrowArray array;

            cr_assert_eq(columnar.api->batch_export(batch, &array, &err), SINTER_OK);
            check_batch(kind, &types, &array, rows);
            rows += (uint64_t)array.length;
            array.release(&array);
            columnar.api->batch_release(batch);
        }
        cr_expect_eq(rows, ROWS, "%s", err.text);
        columnar.api->file_close(file);
        cr_assert_eq(env.io->ops->unlink(env.io, "m/f", NULL), SINTER_OK);
    }
    types.release(&types);
    sinter_io_destroy(env.io);
}
