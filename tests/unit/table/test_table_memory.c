/*
 * Buckets of many files and a memory budget that can't hold all of them open: merges spill.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "sinter/table_compact.h"
#include "sinter/table_create.h"
#include "sinter/table_scan.h"
#include "sinter/table_write.h"

TestSuite(table_table_memory, .timeout = 120);

enum { FILES = 12, ROWS = 1500, TEXT_BYTES = 120 };

static void
make_table(const sinter_env *env, const char *format)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_schema *schema = NULL;
    char json[512];

    (void)snprintf(json, sizeof json,
                   "{\"fields\":[{\"name\":\"k\",\"type\":\"INT\"},{\"name\":\"v\",\"type\":"
                   "\"STRING\"}],\"primaryKeys\":[\"k\"],\"options\":{\"file.format\":\"%s\","
                   "\"bucket\":\"1\"}}",
                   format);
    cr_assert_eq(sinter_schema_parse(env, NULL, (sinter_bytes){(const uint8_t *)json, strlen(json)},
                                     &schema, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_create(env, &config, schema, &err), SINTER_OK, "%s", err.text);
    sinter_schema_destroy(schema);
}

static sinter_table *
open_table(const sinter_env *env)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;

    cr_assert_eq(sinter_table_open(env, &config, &table, &err), SINTER_OK, "%s", err.text);
    return table;
}

/* Texts that no codec makes much smaller, and no dictionary. */
static void
fill_text(char *text, uint64_t seed)
{
    for (int i = 0; i < TEXT_BYTES; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        text[i] = (char)('0' + (seed >> 58));
    }
}

/* A file of level 0 with every FILES-th key from `file` on, and some keys that all files have. */
static void
write_file(const sinter_env *env, int file)
{
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_table_writer *writer = NULL;
    sinter_table *table = open_table(env);
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_table_writer_open(table, NULL, &writer, &err), SINTER_OK, "%s", err.text);
    for (int row = 0; row < ROWS; row++) {
        sinter_datum values[2] = {{.is_null = false}};
        char text[TEXT_BYTES];

        fill_text(text, (uint64_t)file * ROWS + (uint64_t)row);
        values[0].as.integer = row % 3 == 0 ? row * FILES : row * FILES + file;
        values[1].as.bytes = (sinter_bytes){(const uint8_t *)text, sizeof text};
        cr_assert_eq(sinter_table_writer_add(writer, SINTER_KIND_INSERT, values, &err), SINTER_OK,
                     "%s", err.text);
    }
    cr_assert_eq(sinter_table_writer_commit(writer, &result, &err), SINTER_OK, "%s", err.text);
    sinter_table_writer_close(writer);
    sinter_table_close(table);
}

/* A sum over all rows, which come in the order of their keys. */
static sinter_status
scan_all(const sinter_env *env, uint64_t *sum, uint64_t *rows, sinter_error *err)
{
    sinter_table *table = open_table(env);
    sinter_table_scan *scan = NULL;
    const sinter_datum *values = NULL;
    int64_t last = -1;
    sinter_status st = sinter_table_scan_open(table, NULL, &scan, err);

    *sum = *rows = 0;
    while (st == SINTER_OK && (st = sinter_table_scan_next(scan, &values, err)) == SINTER_OK) {
        cr_assert_gt(values[0].as.integer, last);
        last = values[0].as.integer;
        *sum = *sum * 31 + (uint64_t)last;
        for (size_t i = 0; i < values[1].as.bytes.size; i++) {
            *sum = *sum * 31 + values[1].as.bytes.data[i];
        }
        *rows += 1;
    }
    sinter_table_scan_close(scan);
    sinter_table_close(table);
    return st == SINTER_END ? SINTER_OK : st;
}

static sinter_status
compact(const sinter_env *env, sinter_error *err)
{
    const sinter_table_plan_options everything = {
        .struct_size = (uint32_t)sizeof everything, .full = true, .bucket = -1};
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};
    sinter_table *table = open_table(env);
    sinter_table_plan *plan = NULL;
    sinter_table_result result = {.document = {.size = 0}};
    sinter_text document;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &document);
    cr_assert_eq(sinter_table_plan_create(table, &everything, &plan, err), SINTER_OK);
    cr_assert_eq(sinter_table_plan_count(plan), 1);
    sinter_table_plan_get(plan, 0, &task);
    st = sinter_table_task_run(env, task.document, NULL, &document, err);
    if (st == SINTER_OK) {
        result.document = sinter_text_bytes(&document);
        st = sinter_table_commit_results(table, &result, 1, NULL, &info, err);
    }
    sinter_text_fini(&document);
    sinter_table_plan_destroy(plan);
    sinter_table_close(table);
    return st;
}

/* How much a budget that holds everything has to hold. */
static uint64_t
peak_of_scan(const place *p, uint64_t *sum, uint64_t *rows)
{
    sinter_env env = p->env;
    uint64_t peak = 0;

    cr_assert_eq(sinter_memory_create(&p->env, UINT64_C(1) << 40, &env.memory, NULL), SINTER_OK);
    cr_assert_eq(scan_all(&env, sum, rows, NULL), SINTER_OK);
    peak = sinter_memory_peak(env.memory);
    sinter_memory_destroy(env.memory);
    return peak;
}

static void
expect_scan(const place *p, uint64_t budget, uint64_t sum, uint64_t rows)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_env env = p->env;
    uint64_t found = 0;
    uint64_t found_rows = 0;

    cr_assert_eq(sinter_memory_create(&p->env, budget, &env.memory, NULL), SINTER_OK);
    cr_assert_eq(scan_all(&env, &found, &found_rows, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(found_rows, rows);
    cr_expect_eq(found, sum);
    cr_expect_eq(sinter_memory_used(env.memory), 0);
    sinter_memory_destroy(env.memory);
}

/* `least`: quarters of what holding all files open takes, which a writer needs beside them. */
static void
check_format(const char *format, uint64_t least)
{
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t sum = 0;
    uint64_t rows = 0;
    uint64_t peak = 0;
    sinter_env env;
    place p;

    place_init(&p, NULL);
#ifdef COLUMNAR_LIBRARY
    p.env.columnar_library = COLUMNAR_LIBRARY;
#endif
    make_table(&p.env, format);
    for (int i = 0; i < FILES; i++) {
        write_file(&p.env, i);
    }
    peak = peak_of_scan(&p, &sum, &rows);
    expect_scan(&p, peak / 2, sum, rows);
    expect_scan(&p, peak / 4, sum, rows);
    env = p.env;
    cr_assert_eq(sinter_memory_create(&p.env, peak / 4 * least, &env.memory, NULL), SINTER_OK);
    cr_assert_eq(compact(&env, &err), SINTER_OK, "%s", err.text);
    sinter_memory_destroy(env.memory);
    expect_scan(&p, peak / 2, sum, rows);
    place_fini(&p);
}

Test(table_table_memory, files_of_avro_that_the_budget_cant_hold_open_are_spilled)
{
    check_format("avro", 1);
}

#ifdef COLUMNAR_LIBRARY
Test(table_table_memory, files_of_parquet_that_the_budget_cant_hold_open_are_spilled)
{
    check_format("parquet", 6);
}

Test(table_table_memory, files_of_orc_that_the_budget_cant_hold_open_are_spilled)
{
    check_format("orc", 5);
}
#endif
