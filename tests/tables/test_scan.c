/*
 * A scan gives the rows that Paimon reads: of the newest snapshot, of older ones, and of tags.
 * exceptions.txt names the cases that are refused; one of them that passes is a failure
 * too.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/rows.h"
#include "sinter/table_scan.h"
#include "tables.h"

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All rows, sorted by their bytes. */
static sinter_status
scan_lines(const table_case *test, const sinter_snapshot *snapshot, tables_lines *out,
           sinter_error *err)
{
    const sinter_table_scan_options options = {
        .struct_size = (uint32_t)sizeof options, .bucket = -1, .snapshot = snapshot};
    const sinter_row_options row_options = {.struct_size = (uint32_t)sizeof row_options};
    const sinter_datum *values = NULL;
    sinter_table_scan *scan = NULL;
    sinter_row_writer *writer = NULL;
    sinter_text text;
    sinter_status st = sinter_table_scan_open(test->table, &options, &scan, err);

    *out = (tables_lines){.items = NULL};
    if (st != SINTER_OK) {
        return st;
    }
    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), sinter_table_scan_row_type(scan),
                                          &row_options, &writer, NULL),
                 SINTER_OK);
    while ((st = sinter_table_scan_next(scan, &values, err)) == SINTER_OK) {
        sinter_text_reset(&text);
        cr_assert_eq(sinter_row_writer_append(writer, 0, values, &text, NULL), SINTER_OK);
        out->items = realloc(out->items, (out->count + 1) * sizeof *out->items);
        cr_assert_not_null(out->items);
        out->items[out->count++] = strndup(text.data, strcspn(text.data, "\n"));
    }
    sinter_row_writer_destroy(writer);
    sinter_table_scan_close(scan);
    sinter_text_fini(&text);
    if (out->count > 1) {
        qsort(out->items, out->count, sizeof *out->items, compare_lines);
    }
    return st;
}

static void
check_rows(const table_case *test, const sinter_snapshot *snapshot, const char *file)
{
    sinter_error err = SINTER_ERROR_INIT;
    tables_lines expected;
    tables_lines found;

    sinter_status st = SINTER_OK;

    cr_assert(tables_read_lines(test, file, &expected), "%s: %s", test->name, file);
    st = scan_lines(test, snapshot, &found, &err);
    cr_expect_eq(st, SINTER_END, "%s: %s: %s", test->name, file, err.text);
    cr_expect(st != SINTER_END || found.count == expected.count, "%s: %s: %zu rows instead of %zu",
              test->name, file, found.count, expected.count);
    for (size_t i = 0; st == SINTER_END && i < found.count && i < expected.count; i++) {
        cr_expect_str_eq(found.items[i], expected.items[i], "%s: %s: %s", test->name, file,
                         found.items[i]);
    }
    tables_lines_free(&found);
    tables_lines_free(&expected);
}

static sinter_status
check_snapshot(void *ctx, int64_t id)
{
    const table_case *test = ctx;
    sinter_snapshot *snapshot = NULL;
    tables_lines lines;
    char file[64];

    (void)snprintf(file, sizeof file, "%s%lld.jsonl",
                   strcmp(test->expected, "expected") == 0 ? "expected-" : "expected/snapshot-",
                   (long long)id);
    if (tables_read_lines(test, file, &lines)) {
        tables_lines_free(&lines);
        cr_assert_eq(sinter_table_snapshot_get(test->table, id, &snapshot, NULL), SINTER_OK);
        check_rows(test, snapshot, file);
        sinter_snapshot_destroy(snapshot);
    }
    return SINTER_OK;
}

static sinter_status
check_tag(void *ctx, const char *tag)
{
    const table_case *test = ctx;
    sinter_snapshot *snapshot = NULL;
    char file[128];

    (void)snprintf(file, sizeof file, "expected-tag-%s.jsonl", tag);
    cr_assert_eq(sinter_table_snapshot_of_tag(test->table, tag, &snapshot, NULL), SINTER_OK);
    check_rows(test, snapshot, file);
    sinter_snapshot_destroy(snapshot);
    return SINTER_OK;
}

/* Rows of the branches of a table, each as it is. */
static sinter_status
check_branch(void *ctx, const char *branch)
{
    const table_case *main = ctx;
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config,
                                        .path = sinter_table_path(main->table),
                                        .branch = branch};
    table_case test = *main;
    tables_lines lines;
    char file[128];

    (void)snprintf(file, sizeof file, "%sbranch-%s.jsonl", main->expected, branch);
    if (tables_read_lines(main, file, &lines)) {
        tables_lines_free(&lines);
        cr_assert_eq(sinter_table_open(&main->env, &config, &test.table, NULL), SINTER_OK);
        check_rows(&test, NULL, file);
        sinter_table_close(test.table);
    }
    return SINTER_OK;
}

static bool
check_case(table_case *test)
{
    sinter_error err = SINTER_ERROR_INIT;
    tables_lines lines;
    char reason[160];

    if (!tables_can_read(test)) {
        return false;
    }
    if (tables_find_exception(test, "scan", reason, sizeof reason)) {
        const sinter_status st = scan_lines(test, NULL, &lines, &err);

        cr_assert_eq(st, SINTER_E_UNSUPPORTED, "%s: excepted (%s), but the scan says %d: %s",
                     test->name, reason, (int)st, err.text);
        tables_lines_free(&lines);
        return false;
    }
    check_rows(test, NULL,
               strcmp(test->expected, "expected") == 0 ? "expected.jsonl"
                                                       : "expected/latest.jsonl");
    cr_assert_eq(sinter_table_each_snapshot(test->table, check_snapshot, test, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_each_tag(test->table, check_tag, test, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_each_branch(test->table, check_branch, test, NULL), SINTER_OK);
    return true;
}

Test(tables_scan, rows_are_those_that_paimon_reads)
{
    tables_run_all(check_case);
}
