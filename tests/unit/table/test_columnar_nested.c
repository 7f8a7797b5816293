/*
 * Nested values into columns of Arrow and back, in memory and, where libsinter_columnar is, through
 * files of both formats.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "sinter/io.h"
#include "support/fault_alloc.h"
#include "table/columnar_builder.h"
#include "table/columnar_rows.h"
#include "table/row_source.h"

TestSuite(table_columnar_nested, .timeout = 120);

enum { COLUMNS = 6, VALUES = 4, REPEATS = 3 };

static const struct {
    const char *type;
    const char *values[VALUES];
} columns[COLUMNS] = {
    {"ARRAY<INT>", {"[1,null,3]", "null", "[]", "[-2147483648]"}},
    {"MAP<STRING, DOUBLE>", {"[[\"a\",1.5],[\"b\",null]]", "[]", "null", "[[\"longer key\",0]]"}},
    {"MULTISET<STRING>", {"null", "[[\"x\",2],[\"y\",1]]", "[]", "[[\"\",7]]"}},
    {"ROW<x INT, t TIMESTAMP(9), c CHAR(3), h TIME(3)>",
     {"{\"x\":1,\"t\":\"2024-02-29 12:00:00.123456789\",\"c\":\"ab\",\"h\":\"23:59:59.999\"}",
      "{\"x\":null,\"t\":null,\"c\":null,\"h\":null}", "null",
      "{\"x\":-7,\"t\":\"1970-01-01 00:00:00.000000001\",\"c\":\"\",\"h\":\"00:00:00.000\"}"}},
    {"ARRAY<ROW<m MAP<INT, ARRAY<STRING>>, d DECIMAL(30, 2), b BOOLEAN>>",
     {"[{\"m\":[[1,[\"one\",null]],[2,null]],\"d\":\"-12345678901234567890.25\",\"b\":true},null]",
      "[]", "[{\"m\":null,\"d\":null,\"b\":null},{\"m\":[],\"d\":\"0.00\",\"b\":false}]", "null"}},
    {"MAP<INT, ROW<a ARRAY<BYTES>, r ROW<n BIGINT>>>",
     {"null", "[[1,{\"a\":[\"00ff\",\"\"],\"r\":{\"n\":9223372036854775807}}],[2,null]]",
      "[[5,{\"a\":null,\"r\":null}]]", "[]"}},
};

/** Columns with types that live until they are released. */
typedef struct bed {
    sinter_type *types[COLUMNS];
    sinter__columnar_field fields[COLUMNS];
} bed;

static void
bed_init(bed *b)
{
    static const char *const names[COLUMNS] = {"c0", "c1", "c2", "c3", "c4", "c5"};
    sinter_error err = SINTER_ERROR_INIT;

    for (int i = 0; i < COLUMNS; i++) {
        cr_assert_eq(sinter_type_create(sinter_env_default(), columns[i].type, &b->types[i], &err),
                     SINTER_OK, "%s", err.text);
        b->fields[i] =
            (sinter__columnar_field){.name = names[i], .type = *b->types[i], .id = 10 + i};
    }
}

static void
bed_fini(bed *b)
{
    for (int i = 0; i < COLUMNS; i++) {
        sinter_type_destroy(b->types[i]);
    }
}

/** Each value of a column goes with another one of the next, in some row. */
static const char *
value_of(int column, int64_t row)
{
    return columns[column].values[(row + column * (row / VALUES)) % VALUES];
}

static sinter_status
build(const bed *b, const sinter_env *env, int32_t kind, struct ArrowArray *out, sinter_error *err)
{
    sinter__columnar_builder *builder = NULL;
    sinter_status st =
        sinter__columnar_builder_create(env, kind, b->fields, COLUMNS, &builder, err);

    for (int64_t row = 0; st == SINTER_OK && row < (int64_t)VALUES * REPEATS; row++) {
        sinter_datum values[COLUMNS];
        sinter_text texts[COLUMNS];

        for (int i = 0; i < COLUMNS; i++) {
            const char *json = value_of(i, row);
            const sinter_column column = {"c", b->fields[i].type};

            sinter_text_init(sinter_env_default(), &texts[i]);
            values[i] = (sinter_datum){.is_null = strcmp(json, "null") == 0};
            cr_assert(values[i].is_null ||
                          sinter_datum_parse(&column,
                                             (sinter_bytes){(const uint8_t *)json, strlen(json)}, 0,
                                             &texts[i], &values[i], NULL) == SINTER_OK,
                      "%s", json);
        }
        st = sinter__columnar_builder_append(builder, values, err);
        for (int i = 0; i < COLUMNS; i++) {
            sinter_text_fini(&texts[i]);
        }
    }
    if (st == SINTER_OK) {
        cr_expect_gt(sinter__columnar_builder_bytes(builder), 0);
        st = sinter__columnar_builder_take(builder, out, err);
    }
    if (st == SINTER_OK) {
        cr_expect_eq(sinter__columnar_builder_rows(builder), 0);
    }
    sinter__columnar_builder_destroy(builder);
    return st;
}

/** The values of one column, from row `first` on. */
static sinter_status
check_column(const bed *b, const sinter_env *env, int32_t kind, int column,
             const struct ArrowSchema *schema, const struct ArrowArray *array, sinter_error *err)
{
    sinter__arena arena = {.env = env};
    sinter__cells cells = {.nest = NULL};
    sinter_status st = sinter__cells_bind(&arena, kind, schema->children[column],
                                          &b->fields[column].type, &cells, err);

    for (int64_t row = 0; st == SINTER_OK && row < array->length; row++) {
        sinter_datum datum;
        sinter_text text;

        st = sinter__cells_get(&cells, array->children[column], row, &datum, err);
        sinter_text_init(sinter_env_default(), &text);
        if (st == SINTER_OK) {
            cr_assert_eq(sinter_datum_print_json(&b->fields[column].type, &datum, 0, &text, NULL),
                         SINTER_OK);
            cr_assert_str_eq(text.data, value_of(column, row), "row %d", (int)row);
        }
        sinter_text_fini(&text);
    }
    sinter__cells_fini(&cells);
    sinter__arena_fini(&arena);
    return st;
}

static sinter_status
through_memory(const bed *b, const sinter_env *env, int32_t kind, sinter_error *err)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray array = {0};
    sinter_status st = build(b, env, kind, &array, err);

    if (st == SINTER_OK) {
        st = sinter__columnar_schema_make(env, b->fields, COLUMNS, &schema, err);
    }
    for (int i = 0; st == SINTER_OK && i < COLUMNS; i++) {
        st = check_column(b, env, kind, i, &schema, &array, err);
    }
    if (array.release != NULL) {
        array.release(&array);
    }
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    return st;
}

Test(table_columnar_nested, values_are_those_that_were_appended)
{
    sinter_error err = SINTER_ERROR_INIT;
    bed b;

    bed_init(&b);
    cr_expect_eq(through_memory(&b, sinter_env_default(), SINTER__COLUMNAR_PARQUET, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect_eq(through_memory(&b, sinter_env_default(), SINTER__COLUMNAR_ORC, &err), SINTER_OK,
                 "%s", err.text);
    bed_fini(&b);
}

Test(table_columnar_nested, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    bed b;

    bed_init(&b);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = through_memory(&b, &fault.env, SINTER__COLUMNAR_ORC, &err);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %d: %s", (int)n, err.text);
        cr_assert_eq(fault.live, 0, "allocation %d", (int)n);
    }
    bed_fini(&b);
}

Test(table_columnar_nested, parts_have_the_ids_that_the_layout_computes)
{
    enum { BASE = 536870911 };
    static const char json[] =
        "[{\"id\":26,\"name\":\"a\",\"type\":{\"type\":\"ARRAY\",\"element\":\"INT\"}},"
        "{\"id\":27,\"name\":\"m\",\"type\":{\"type\":\"MAP\",\"key\":\"INT\",\"value\":"
        "{\"type\":\"ARRAY\",\"element\":{\"type\":\"ROW\",\"fields\":[{\"id\":28,\"name\":\"x\","
        "\"type\":{\"type\":\"MULTISET\",\"element\":\"INT\"}}]}}}}]";
    sinter__columnar_field fields[2];
    sinter_row_type *row_type = NULL;
    struct ArrowSchema schema;
    const struct ArrowSchema *entries = NULL;
    const struct ArrowSchema *field = NULL;

    cr_assert_eq(sinter_row_type_parse(sinter_env_default(), json, strlen(json), &row_type, NULL),
                 SINTER_OK);
    for (size_t i = 0; i < 2; i++) {
        fields[i] = (sinter__columnar_field){sinter_row_type_column_name(row_type, i),
                                             *sinter_row_type_column_type(row_type, i),
                                             sinter_row_type_column_id(row_type, i)};
    }
    cr_assert_eq(sinter__columnar_schema_make(sinter_env_default(), fields, 2, &schema, NULL),
                 SINTER_OK);
    cr_expect_eq(sinter__arrow_field_id(schema.children[0]), 26);
    cr_expect_eq(sinter__arrow_field_id(schema.children[0]->children[0]), BASE + 1024 * 26 + 1);
    cr_expect_str_eq(schema.children[1]->format, "+m");
    entries = schema.children[1]->children[0];
    cr_expect_eq(sinter__arrow_field_id(entries), -1);
    cr_expect_eq(sinter__arrow_field_id(entries->children[0]), BASE - 1024 * 27 - 1);
    cr_expect_eq(entries->children[0]->flags & ARROW_FLAG_NULLABLE, 0);
    cr_expect_eq(sinter__arrow_field_id(entries->children[1]), BASE + 1024 * 27 + 1);
    cr_expect_eq(sinter__arrow_field_id(entries->children[1]->children[0]), BASE + 1024 * 27 + 2);
    field = entries->children[1]->children[0]->children[0];
    cr_expect_eq(sinter__arrow_field_id(field), 28);
    cr_expect_eq(sinter__arrow_field_id(field->children[0]->children[0]), BASE - 1024 * 28 - 1);
    schema.release(&schema);
    fields[1].id = -1;
    cr_assert_eq(sinter__columnar_schema_make(sinter_env_default(), fields, 2, &schema, NULL),
                 SINTER_OK);
    cr_expect_eq(sinter__arrow_field_id(schema.children[1]->children[0]->children[0]), -1);
    schema.release(&schema);
    sinter_row_type_destroy(row_type);
}

Test(table_columnar_nested, a_column_that_is_nested_otherwise_is_refused_by_name)
{
    struct ArrowSchema element = {.format = "l", .name = "element"};
    struct ArrowSchema *children[] = {&element};
    const struct ArrowSchema list = {
        .format = "+l", .name = "amount", .n_children = 1, .children = children};
    static const char *const types[] = {"ARRAY<INT>", "ROW<x BIGINT>", "MAP<INT, INT>",
                                        "ARRAY<ARRAY<BIGINT>>"};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        sinter__arena arena = {.env = sinter_env_default()};
        sinter_error err = SINTER_ERROR_INIT;
        sinter__cells cells;
        sinter_type *type = NULL;

        cr_assert_eq(sinter_type_create(sinter_env_default(), types[i], &type, NULL), SINTER_OK);
        cr_expect_eq(
            sinter__cells_bind(&arena, SINTER__COLUMNAR_PARQUET, &list, type, &cells, &err),
            SINTER_E_CORRUPT, "%s", types[i]);
        cr_expect_not_null(strstr(err.text, "amount"), "%s", err.text);
        sinter__cells_fini(&cells);
        sinter__arena_fini(&arena);
        sinter_type_destroy(type);
    }
}

#ifdef COLUMNAR_LIBRARY
static void
write_file(const bed *b, const sinter__columnar *columnar, int32_t kind)
{
    const sinter__columnar_api *api = columnar->api;
    const sinter__columnar_write write = {.struct_size = (uint32_t)sizeof write, .kind = kind};
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};
    sinter__columnar_range range = {.count = (uint64_t)VALUES * REPEATS};
    sinter__columnar_output *output = NULL;
    sinter__columnar_batch *batch = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    struct ArrowSchema schema;
    struct ArrowArray array;

    cr_assert_eq(
        sinter__columnar_schema_make(columnar->host.env, b->fields, COLUMNS, &schema, &err),
        SINTER_OK);
    cr_assert_eq(api->output_open(&columnar->host, "m/f", &schema, &write, &output, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(build(b, columnar->host.env, kind, &array, &err), SINTER_OK);
    cr_assert_eq(api->batch_import(&schema, &array, &batch, &err), SINTER_OK, "%s", err.text);
    range.batch = batch;
    cr_assert_eq(api->output_append(output, &range, 1, &err), SINTER_OK, "%s", err.text);
    api->batch_release(batch);
    cr_assert_eq(api->output_finish(output, &written, &err), SINTER_OK, "%s", err.text);
    api->output_close(output);
}

static void
check_file(const bed *b, const sinter__columnar *columnar, int32_t kind)
{
    const sinter__columnar_api *api = columnar->api;
    sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read};
    sinter__columnar_file *file = NULL;
    sinter__columnar_batch *batch = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    struct ArrowSchema as;
    struct ArrowSchema own;
    struct ArrowArray array;

    cr_assert_eq(sinter__columnar_schema_make(columnar->host.env, b->fields, COLUMNS, &as, &err),
                 SINTER_OK);
    read.as = &as;
    cr_assert_eq(api->file_open(&columnar->host, "m/f", 0, 0, &file, &err), SINTER_OK);
    cr_assert_eq(api->file_schema(file, &own, &err), SINTER_OK);
    cr_expect_eq(sinter__arrow_field_id(own.children[0]->children[0]), 536870911 + 1024 * 10 + 1,
                 "the file keeps the ids");
    own.release(&own);
    cr_assert_eq(api->file_read(file, &read, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(api->file_next(file, &batch, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(api->batch_export(batch, &array, &err), SINTER_OK);
    cr_expect_eq(array.length, (int64_t)VALUES * REPEATS);
    for (int i = 0; i < COLUMNS; i++) {
        cr_assert_eq(check_column(b, columnar->host.env, kind, i, &as, &array, &err), SINTER_OK,
                     "%s", err.text);
    }
    array.release(&array);
    api->batch_release(batch);
    api->file_close(file);
    as.release(&as);
}

Test(table_columnar_nested, values_come_back_from_files)
{
    sinter__columnar columnar;
    sinter_env env;
    bed b;

    sinter_env_init(&env);
    env.columnar_library = COLUMNAR_LIBRARY;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &env.io, NULL),
                 SINTER_OK);
    cr_assert_eq(env.io->ops->mkdir(env.io, "m", NULL), SINTER_OK);
    cr_assert_eq(sinter__columnar_load(&env, &columnar, NULL), SINTER_OK);
    bed_init(&b);
    for (int32_t kind = SINTER__COLUMNAR_PARQUET; kind <= SINTER__COLUMNAR_ORC; kind++) {
        write_file(&b, &columnar, kind);
        check_file(&b, &columnar, kind);
        cr_assert_eq(env.io->ops->unlink(env.io, "m/f", NULL), SINTER_OK);
    }
    bed_fini(&b);
    sinter_io_destroy(env.io);
}

/** Read the file through as rows. */
static sinter_status
read_rows(const bed *b, const sinter_env *env, const char *path, sinter_error *err)
{
    sinter_column wanted[COLUMNS];
    const sinter__row_request request = {.path = path, .columns = wanted, .count = COLUMNS};
    sinter__row_source *source = NULL;
    sinter_datum values[COLUMNS];
    int64_t rows = 0;
    sinter_status st;

    for (int i = 0; i < COLUMNS; i++) {
        wanted[i] = (sinter_column){b->fields[i].name, b->fields[i].type};
    }
    st = sinter__columnar_source_open(env, &request, &source, err);
    if (st != SINTER_OK) {
        cr_assert_null(source);
        return st;
    }
    while ((st = source->next(source, values, err)) == SINTER_OK) {
        rows++;
    }
    cr_assert(st != SINTER_END || rows == (int64_t)VALUES * REPEATS);
    source->close(source);
    return st;
}

/** Fail the n-th allocation, and the n-th call of the io, of reading the file. */
static void
sweep(const bed *b, const sinter_env *whole)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_END; n += 1 + n / 8) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.io = whole->io;
        fault.env.columnar_library = whole->columnar_library;
        st = read_rows(b, &fault.env, "m/f", &err);
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM, "allocation %d: %s", (int)n, err.text);
        cr_assert_eq(fault.live, 0, "allocation %d", (int)n);
    }
    st = SINTER_E_IO;
    for (uint64_t n = 0; st != SINTER_END; n++) {
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_error err = SINTER_ERROR_INIT;
        sinter_env env = *whole;

        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), whole->io, &rule, &env.io, NULL),
                     SINTER_OK);
        st = read_rows(b, &env, "m/f", &err);
        cr_assert(st == SINTER_END || st == SINTER_E_IO, "call %d: %s", (int)n, err.text);
        cr_assert(st == SINTER_END || strcmp(err.file, "m/f") == 0, "%s", err.file);
        sinter_io_destroy(env.io);
    }
}

Test(table_columnar_nested, every_allocation_and_every_call_of_the_io_may_fail_in_files)
{
    sinter__columnar columnar;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_env env;
    bed b;

    sinter_env_init(&env);
    env.columnar_library = COLUMNAR_LIBRARY;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &env.io, NULL),
                 SINTER_OK);
    cr_assert_eq(env.io->ops->mkdir(env.io, "m", NULL), SINTER_OK);
    cr_assert_eq(sinter__columnar_load(&env, &columnar, NULL), SINTER_OK);
    bed_init(&b);
    for (int32_t kind = SINTER__COLUMNAR_PARQUET; kind <= SINTER__COLUMNAR_ORC; kind++) {
        write_file(&b, &columnar, kind);
        sweep(&b, &env);
        b.fields[3].name = "nowhere";
        cr_expect_eq(read_rows(&b, &env, "m/f", &err), SINTER_E_CORRUPT);
        cr_expect_not_null(strstr(err.text, "nowhere"), "%s", err.text);
        b.fields[3].name = "c3";
        cr_assert_eq(env.io->ops->unlink(env.io, "m/f", NULL), SINTER_OK);
    }
    bed_fini(&b);
    sinter_io_destroy(env.io);
}
#endif
