/*
 * A full compaction of a copy of each table leaves the rows as they were, and everything at one
 * level. exceptions.txt names the cases where it doesn't, or is refused; one of them that passes is
 * a failure too.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sinter/rows.h"
#include "sinter/table_compact.h"
#include "sinter/table_scan.h"
#include "tables.h"

enum { PATH_BYTES = 4096, TASKS_MAX = 64 };

/* ---- a copy of a case ---- */

static size_t copy_skip;
static char copy_root[PATH_BYTES / 2];

static void
copy_content(const char *from, const char *to)
{
    FILE *in = fopen(from, "rbe");
    FILE *out = fopen(to, "wbe");
    char bytes[16384];
    size_t got = 0;

    cr_assert(in != NULL && out != NULL, "%s: %s", to, strerror(errno));
    while ((got = fread(bytes, 1, sizeof bytes, in)) > 0) {
        cr_assert_eq(fwrite(bytes, 1, got, out), got);
    }
    cr_assert_eq(fclose(out), 0);
    (void)fclose(in);
}

static int
copy_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    char to[PATH_BYTES];

    (void)info;
    (void)walk;
    (void)snprintf(to, sizeof to, "%s%s", copy_root, path + copy_skip);
    if (type == FTW_D) {
        cr_assert(mkdir(to, 0700) == 0 || errno == EEXIST, "%s: %s", to, strerror(errno));
    } else {
        copy_content(path, to);
    }
    return 0;
}

static int
remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

static sinter_table *
open_copy(const table_case *test)
{
    const char *tmp = getenv("TMPDIR");
    sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = copy_root};
    sinter_table *table = NULL;
    char from[PATH_BYTES];

    (void)snprintf(copy_root, sizeof copy_root, "%s/sinter-tables-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(copy_root));
    (void)snprintf(from, sizeof from, "%s/t", test->dir);
    copy_skip = strlen(from);
    cr_assert_eq(nftw(from, copy_one, 16, FTW_PHYS), 0);
    cr_assert_eq(sinter_table_open(&test->env, &config, &table, NULL), SINTER_OK);
    return table;
}

static void
remove_copy(sinter_table *table)
{
    sinter_table_close(table);
    cr_assert_eq(nftw(copy_root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* ---- compaction ---- */

static sinter_status
run_tasks(const table_case *test, const sinter_table_plan *plan, sinter_text *documents,
          sinter_error *err)
{
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < sinter_table_plan_count(plan) && st == SINTER_OK; i++) {
        sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};

        sinter_table_plan_get(plan, i, &task);
        sinter_text_init(sinter_env_default(), &documents[i]);
        st = sinter_table_task_run(&test->env, task.document, NULL, &documents[i], err);
    }
    return st;
}

/* Plan, run and commit so many tasks; 0: all. */
static sinter_status
compact_some(const table_case *test, sinter_table *table, uint64_t most, sinter_error *err)
{
    const sinter_table_plan_options options = {
        .struct_size = (uint32_t)sizeof options, .full = true, .bucket = -1, .task_max = most};
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_table_result results[TASKS_MAX] = {{.source = NULL}};
    sinter_text documents[TASKS_MAX] = {{.data = NULL}};
    sinter_table_plan *plan = NULL;
    size_t count = 0;
    sinter_status st = sinter_table_plan_create(table, &options, &plan, err);

    if (st != SINTER_OK) {
        return st;
    }
    count = sinter_table_plan_count(plan);
    cr_assert(count <= TASKS_MAX);
    st = run_tasks(test, plan, documents, err);
    for (size_t i = 0; i < count; i++) {
        results[i].document = (sinter_bytes){(const uint8_t *)documents[i].data, documents[i].size};
    }
    if (st == SINTER_OK && count > 0) {
        st = sinter_table_commit_results(table, results, count, NULL, &info, err);
        cr_assert(st != SINTER_OK || (info.results == count && !info.was_done));
        /* Once more changes nothing. */
        cr_assert(st != SINTER_OK || sinter_table_commit_results(table, results, count, NULL, &info,
                                                                 err) == SINTER_OK,
                  "%s: %s", test->name, err->text);
        cr_assert(st != SINTER_OK || info.was_done, "%s", test->name);
    }
    for (size_t i = 0; i < count; i++) {
        sinter_text_fini(&documents[i]);
    }
    sinter_table_plan_destroy(plan);
    return st;
}

/* New files of append tables may be small enough to be joined once more. */
static void
expect_nothing_due(const table_case *test, sinter_table *table)
{
    const sinter_table_plan_options options = {
        .struct_size = (uint32_t)sizeof options, .full = true, .bucket = -1};
    sinter_table_plan *plan = NULL;

    cr_assert_eq(sinter_table_plan_create(table, &options, &plan, NULL), SINTER_OK);
    cr_expect_eq(sinter_table_plan_count(plan), 0, "%s: compacted, and due again", test->name);
    sinter_table_plan_destroy(plan);
}

/* ---- rows ---- */

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
scan_lines(sinter_table *table, tables_lines *out)
{
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    const sinter_datum *values = NULL;
    sinter_table_scan *scan = NULL;
    sinter_row_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text text;
    sinter_status st = sinter_table_scan_open(table, NULL, &scan, &err);

    *out = (tables_lines){.items = NULL};
    cr_assert_eq(st, SINTER_OK, "%s", err.text);
    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), sinter_table_scan_row_type(scan),
                                          &options, &writer, NULL),
                 SINTER_OK);
    while ((st = sinter_table_scan_next(scan, &values, &err)) == SINTER_OK) {
        sinter_text_reset(&text);
        cr_assert_eq(sinter_row_writer_append(writer, 0, values, &text, NULL), SINTER_OK);
        out->items = realloc(out->items, (out->count + 1) * sizeof *out->items);
        cr_assert_not_null(out->items);
        out->items[out->count++] = strndup(text.data, strcspn(text.data, "\n"));
    }
    cr_assert_eq(st, SINTER_END, "%s", err.text);
    sinter_row_writer_destroy(writer);
    sinter_table_scan_close(scan);
    sinter_text_fini(&text);
    if (out->count > 1) {
        qsort(out->items, out->count, sizeof *out->items, compare_lines);
    }
}

static bool
has_expected_rows(const table_case *test, sinter_table *table)
{
    tables_lines expected;
    tables_lines found;
    bool is_same = true;

    cr_assert(tables_read_lines(test, "expected.jsonl", &expected), "%s", test->name);
    scan_lines(table, &found);
    is_same = found.count == expected.count;
    for (size_t i = 0; i < found.count && is_same; i++) {
        is_same = strcmp(found.items[i], expected.items[i]) == 0;
    }
    tables_lines_free(&found);
    tables_lines_free(&expected);
    return is_same;
}

static bool
check_copy(table_case *test)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    char reason[160];
    bool is_excepted = false;
    sinter_status st = SINTER_OK;

    is_excepted = tables_find_exception(test, "compact", reason, sizeof reason);
    table = open_copy(test);
    /* One bucket first: vectors and files of the others stay. */
    st = compact_some(test, table, 1, &err);
    cr_assert(st != SINTER_OK || is_excepted || has_expected_rows(test, table),
              "%s: other rows after one task", test->name);
    if (st == SINTER_OK) {
        st = compact_some(test, table, 0, &err);
    }
    if (is_excepted) {
        cr_assert(st == SINTER_E_UNSUPPORTED || !has_expected_rows(test, table),
                  "%s: excepted (%s), but it works", test->name, reason);
    } else {
        cr_assert_eq(st, SINTER_OK, "%s: %s: %s", test->name, err.file, err.text);
        cr_assert(has_expected_rows(test, table), "%s: other rows than before", test->name);
        if (sinter_table_schema(table)->primary_key_count > 0) {
            expect_nothing_due(test, table);
        }
    }
    remove_copy(table);
    return !is_excepted;
}

/* Cases are looked at through an io that writes nothing. */
static bool
check_case(table_case *test)
{
    sinter_io *looking = test->env.io;
    bool has_checked = false;

    if (!tables_can_read(test)) {
        return false;
    }
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, NULL, &test->env.io, NULL),
                 SINTER_OK);
    has_checked = check_copy(test);
    sinter_io_destroy(test->env.io);
    test->env.io = looking;
    return has_checked;
}

Test(tables_compact, a_full_compaction_leaves_the_rows_as_they_were)
{
    tables_run(check_case);
}
