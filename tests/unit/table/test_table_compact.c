/*
 * Tables in memory that are compacted: what is planned, what becomes of results, and that nothing
 * is lost whatever fails.
 */
#include "sinter/table_compact.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "place.h"
#include "sinter/rows.h"
#include "sinter/table_create.h"
#include "sinter/table_maintenance.h"
#include "sinter/table_scan.h"
#include "sinter/table_write.h"
#include "support/fault_alloc.h"

TestSuite(table_table_compact, .timeout = 120);

#define FIELDS                                                                         \
    "\"fields\":[{\"name\":\"k\",\"type\":\"INT\"},{\"name\":\"p\",\"type\":\"INT\"}," \
    "{\"name\":\"v\",\"type\":\"STRING\"}]"
#define KEYED                                                                           \
    "{" FIELDS ",\"primaryKeys\":[\"k\",\"p\"],\"partitionKeys\":[\"p\"],\"options\":{" \
    "\"file.format\":\"avro\",\"bucket\":\"1\"}}"
#define INDEXED                                                                             \
    "{" FIELDS ",\"primaryKeys\":[\"k\",\"p\"],\"partitionKeys\":[\"p\"],\"options\":{"     \
    "\"file.format\":\"avro\",\"bucket\":\"1\",\"file-index.bitmap.columns\":\"v\","        \
    "\"file-index.bloom-filter.columns\":\"k\",\"file-index.bloom-filter.k.items\":\"20\"," \
    "\"file-index.in-manifest-threshold\":\"0 b\"}}"
#define BUCKETED                                                                               \
    "{" FIELDS ",\"options\":{\"file.format\":\"avro\",\"bucket\":\"1\",\"bucket-key\":\"k\"," \
    "\"compaction.min.file-num\":\"2\"}}"

#define EXTERNAL                                                    \
    "\"file.format\":\"avro\",\"bucket\":\"1\","                    \
    "\"data-file.external-paths\":\"file:/x/one,s3://bucket/two\"," \
    "\"data-file.external-paths.strategy\":\"specific-fs\","        \
    "\"data-file.external-paths.specific-fs\":\"FILE\","            \
    "\"file-index.bitmap.columns\":\"v\",\"file-index.in-manifest-threshold\":\"0 b\""

enum { RESULTS_MAX = 8 };

/* Results of tasks that were run. */
typedef struct results {
    sinter_text documents[RESULTS_MAX];
    sinter_table_result items[RESULTS_MAX];
    size_t count;
} results;

/* ---- a table ---- */

static void
make_table(const sinter_env *env, const char *json)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_schema *schema = NULL;

    cr_assert_eq(sinter_schema_parse(env, NULL, (sinter_bytes){(const uint8_t *)json, strlen(json)},
                                     &schema, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_create(env, &config, schema, &err), SINTER_OK, "%s", err.text);
    sinter_schema_destroy(schema);
}

/* `branch` NULL: main. */
static sinter_status
open_branch(const sinter_env *env, const char *branch, sinter_table **out, sinter_error *err)
{
    const sinter_table_config config = {
        .struct_size = (uint32_t)sizeof config, .path = "t", .branch = branch};

    return sinter_table_open(env, &config, out, err);
}

static sinter_status
open_table(const sinter_env *env, sinter_table **out, sinter_error *err)
{
    return open_branch(env, NULL, out, err);
}

/* Rows (k, p, v) with a kind, "+1,7,a -2,7,b", as a commit; a p below 0 is null. */
static void
write_rows(const sinter_env *env, const char *rows)
{
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_table_writer *writer = NULL;
    sinter_table *table = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(open_table(env, &table, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_writer_open(table, NULL, &writer, &err), SINTER_OK, "%s", err.text);
    while (*rows != '\0') {
        char kind = '+';
        int k = 0;
        int p = 0;
        char v[16] = "";
        int used = 0;
        sinter_datum values[3] = {{.is_null = false}};

        cr_assert_eq(sscanf(rows, "%c%d,%d,%15[a-z]%n", &kind, &k, &p, v, &used), 4);
        values[0].as.integer = k;
        values[1].as.integer = p;
        values[1].is_null = p < 0;
        values[2].as.bytes = (sinter_bytes){(const uint8_t *)v, strlen(v)};
        cr_assert_eq(sinter_table_writer_add(writer,
                                             kind == '-' ? SINTER_KIND_DELETE : SINTER_KIND_INSERT,
                                             values, &err),
                     SINTER_OK, "%s", err.text);
        rows += used;
        rows += *rows == ' ' ? 1 : 0;
    }
    cr_assert_eq(sinter_table_writer_commit(writer, &result, &err), SINTER_OK, "%s", err.text);
    sinter_table_writer_close(writer);
    sinter_table_close(table);
}

/* The rows in the order of a scan, "1,7,a 2,7,b". Release with free(). */
static char *
scan_rows(const sinter_env *env, const char *branch)
{
    sinter_table_scan *scan = NULL;
    sinter_table *table = NULL;
    const sinter_datum *values = NULL;
    char *out = calloc(1, 4096);
    size_t size = 0;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    cr_assert_eq(open_branch(env, branch, &table, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_scan_open(table, NULL, &scan, &err), SINTER_OK, "%s", err.text);
    while ((st = sinter_table_scan_next(scan, &values, &err)) == SINTER_OK) {
        size += (size_t)snprintf(
            out + size, 4096 - size, "%s%" PRId64 ",%" PRId64 ",%.*s", size == 0 ? "" : " ",
            values[0].as.integer, values[1].is_null ? -1 : values[1].as.integer,
            (int)values[2].as.bytes.size, (const char *)values[2].as.bytes.data);
    }
    cr_assert_eq(st, SINTER_END, "%s", err.text);
    sinter_table_scan_close(scan);
    sinter_table_close(table);
    return out;
}

static void
expect_branch_rows(const sinter_env *env, const char *branch, const char *expected)
{
    char *rows = scan_rows(env, branch);

    cr_expect_str_eq(rows, expected);
    free(rows);
}

static void
expect_rows(const sinter_env *env, const char *expected)
{
    expect_branch_rows(env, NULL, expected);
}

static int64_t
latest_of(const sinter_env *env, const char *branch)
{
    sinter_table *table = NULL;
    int64_t id = 0;

    cr_assert_eq(open_branch(env, branch, &table, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_latest_id(table, &id, NULL), SINTER_OK);
    sinter_table_close(table);
    return id;
}

static int64_t
latest(const sinter_env *env)
{
    return latest_of(env, NULL);
}

/* Data files in the directory of partition 7's bucket. */
static sinter_status
count_name(void *ctx, const char *name)
{
    *(int *)ctx += strncmp(name, "data-", 5) == 0 ? 1 : 0;
    return SINTER_OK;
}

static int
count_files(const place *p)
{
    int count = 0;

    cr_assert_eq(p->memory->ops->list(p->memory, "t/p=7/bucket-0", count_name, &count, NULL),
                 SINTER_OK);
    return count;
}

/* ---- compaction ---- */

static const sinter_table_plan_options everything = {
    .struct_size = (uint32_t)sizeof everything, .full = true, .bucket = -1};

static sinter_status
run_all(sinter_table *table, const sinter_env *env, const sinter_table_plan_options *options,
        results *out, sinter_error *err)
{
    sinter_table_plan *plan = NULL;
    sinter_status st = sinter_table_plan_create(table, options, &plan, err);

    *out = (results){.count = 0};
    for (size_t i = 0; st == SINTER_OK && i < sinter_table_plan_count(plan); i++) {
        sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};

        cr_assert(i < RESULTS_MAX);
        sinter_table_plan_get(plan, i, &task);
        sinter_text_init(env, &out->documents[i]);
        st = sinter_table_task_run(env, task.document, NULL, &out->documents[i], err);
        out->items[i].document =
            (sinter_bytes){(const uint8_t *)out->documents[i].data, out->documents[i].size};
        out->count++;
    }
    sinter_table_plan_destroy(plan);
    return st;
}

static void
results_fini(results *r)
{
    for (size_t i = 0; i < r->count; i++) {
        sinter_text_fini(&r->documents[i]);
    }
}

/* All three steps. */
static sinter_status
compact(const sinter_env *env, const sinter_table_plan_options *options,
        sinter_table_commit_info *info, sinter_error *err)
{
    sinter_table *table = NULL;
    results r = {.count = 0};
    sinter_status st = open_table(env, &table, err);

    *info = (sinter_table_commit_info){.struct_size = (uint32_t)sizeof *info};
    if (st == SINTER_OK) {
        st = run_all(table, env, options, &r, err);
    }
    if (st == SINTER_OK && r.count > 0) {
        st = sinter_table_commit_results(table, r.items, r.count, NULL, info, err);
    }
    results_fini(&r);
    sinter_table_close(table);
    return st;
}

static void
make_rows(place *p, const sinter_env *env, const char *table)
{
    place_init(p, env);
    make_table(&p->env, table);
    write_rows(&p->env, "+1,7,a +2,7,b +3,7,c +1,8,x");
    write_rows(&p->env, "+2,7,bb -3,7,c +2,8,y");
}

static void
make_keyed(place *p, const sinter_env *env)
{
    make_rows(p, env, KEYED);
}

/** Files of a directory. */
typedef struct name_counts {
    size_t data;
    size_t indexes;
} name_counts;

static sinter_status
count_kind(void *ctx, const char *name)
{
    name_counts *counts = ctx;
    const char *dot = strrchr(name, '.');

    counts->data += strcmp(dot, ".avro") == 0 ? 1u : 0u;
    counts->indexes += strcmp(dot, ".index") == 0 ? 1u : 0u;
    return SINTER_OK;
}

static name_counts
count_kinds(const place *p)
{
    name_counts counts = {.data = 0};

    cr_assert_eq(p->memory->ops->list(p->memory, "t/p=7/bucket-0", count_kind, &counts, NULL),
                 SINTER_OK);
    return counts;
}

Test(table_table_compact, results_become_one_snapshot_with_the_same_rows)
{
    sinter_table_commit_info info;
    sinter_error err = SINTER_ERROR_INIT;
    place p;

    make_keyed(&p, NULL);
    expect_rows(&p.env, "1,7,a 2,7,bb 1,8,x 2,8,y");
    cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(info.results, 2);
    cr_expect_eq(info.files_before, 4);
    cr_expect_eq(info.files_after, 2);
    cr_expect_eq(info.snapshot_id, 3);
    expect_rows(&p.env, "1,7,a 2,7,bb 1,8,x 2,8,y");
    cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK);
    cr_expect_eq(latest(&p.env), 3, "nothing was due");
    place_fini(&p);
}

Test(table_table_compact, partitions_buckets_and_a_number_of_tasks_can_be_asked_for)
{
    const char *const seven[] = {"p=7"};
    const char *const wrong[] = {"q=7"};
    const char *const text[] = {"p=seven"};
    sinter_table_plan_options options = everything;
    sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};
    sinter_table_plan *plan = NULL;
    sinter_table *table = NULL;
    place p;

    make_keyed(&p, NULL);
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    options.partitions = seven;
    options.partition_count = 1;
    cr_assert_eq(sinter_table_plan_create(table, &options, &plan, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_plan_count(plan), 1);
    sinter_table_plan_get(plan, 0, &task);
    cr_expect_str_eq(task.partition, "p=7");
    cr_expect_str_eq(task.reason, "full");
    cr_expect_eq(task.file_count, 2);
    sinter_table_plan_destroy(plan);
    options.partitions = wrong;
    cr_expect_eq(sinter_table_plan_create(table, &options, &plan, NULL), SINTER_E_INVALID);
    options.partitions = text;
    cr_expect_eq(sinter_table_plan_create(table, &options, &plan, NULL), SINTER_E_INVALID);
    options = everything;
    options.bucket = 3;
    cr_assert_eq(sinter_table_plan_create(table, &options, &plan, NULL), SINTER_OK);
    cr_expect_eq(sinter_table_plan_count(plan), 0);
    sinter_table_plan_destroy(plan);
    options = everything;
    options.task_max = 1;
    cr_assert_eq(sinter_table_plan_create(table, &options, &plan, NULL), SINTER_OK);
    cr_expect_eq(sinter_table_plan_count(plan), 1);
    sinter_table_plan_destroy(plan);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_compact, without_full_the_strategy_decides)
{
    const sinter_option trigger = {"num-sorted-run.compaction-trigger", "2"};
    sinter_table_plan_options options = {.struct_size = (uint32_t)sizeof options, .bucket = -1};
    sinter_table_commit_info info;
    place p;

    make_keyed(&p, NULL);
    cr_assert_eq(compact(&p.env, &options, &info, NULL), SINTER_OK);
    cr_expect_eq(latest(&p.env), 2, "two runs are not many");
    options.settings = &trigger;
    options.setting_count = 1;
    cr_assert_eq(compact(&p.env, &options, &info, NULL), SINTER_OK);
    cr_expect_eq(latest(&p.env), 3);
    expect_rows(&p.env, "1,7,a 2,7,bb 1,8,x 2,8,y");
    place_fini(&p);
}

Test(table_table_compact, what_was_committed_is_not_committed_twice)
{
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_table *table = NULL;
    results r;
    place p;

    make_keyed(&p, NULL);
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    cr_assert_eq(run_all(table, &p.env, &everything, &r, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_commit_results(table, r.items, r.count, NULL, &info, NULL),
                 SINTER_OK);
    cr_expect(!info.was_done);
    cr_assert_eq(sinter_table_commit_results(table, r.items, r.count, NULL, &info, NULL),
                 SINTER_OK);
    cr_expect(info.was_done);
    cr_assert_eq(sinter_table_commit_results(table, r.items, 1, NULL, &info, NULL), SINTER_OK);
    cr_expect(info.was_done, "one of them alone too");
    cr_expect_eq(latest(&p.env), 3);
    /* After its files are gone, too: the history knows it. */
    write_rows(&p.env, "+9,7,z");
    cr_assert_eq(compact(&p.env, &everything, &info, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_commit_results(table, r.items, r.count, NULL, &info, NULL),
                 SINTER_E_CONFLICT);
    expect_rows(&p.env, "1,7,a 2,7,bb 9,7,z 1,8,x 2,8,y");
    results_fini(&r);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_compact, what_is_left_of_results_is_committed_with_those_that_were)
{
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_table *table = NULL;
    results r;
    place p;

    make_keyed(&p, NULL);
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    cr_assert_eq(run_all(table, &p.env, &everything, &r, NULL), SINTER_OK);
    cr_assert_eq(r.count, 2);
    cr_assert_eq(sinter_table_commit_results(table, &r.items[1], 1, NULL, &info, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_commit_results(table, r.items, r.count, NULL, &info, NULL),
                 SINTER_OK);
    cr_expect(!info.was_done && info.files_before == 2 && latest(&p.env) == 4);
    expect_rows(&p.env, "1,7,a 2,7,bb 1,8,x 2,8,y");
    results_fini(&r);
    sinter_table_close(table);
    place_fini(&p);
}

/* Files whose keys lie apart and overlap, one of which reaches into everything. */
static void
make_cut(place *p)
{
    place_init(p, NULL);
    make_table(&p->env, KEYED);
    write_rows(&p->env, "+1,7,a +2,7,b +3,7,c");
    write_rows(&p->env, "+4,7,d +5,7,e +6,7,f");
    write_rows(&p->env, "+7,7,g +8,7,h +9,7,i");
    write_rows(&p->env, "+1,7,aa -5,7,e +9,7,ii");
}

Test(table_table_compact, a_unit_that_is_cut_is_committed_whole_or_not_at_all)
{
    static const char rows[] = "1,7,aa 2,7,b 3,7,c 4,7,d 6,7,f 7,7,g 8,7,h 9,7,ii";
    sinter_table_plan_options options = everything;
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_table_result some[RESULTS_MAX];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    results r;
    place p;

    make_cut(&p);
    options.task_bytes_max = 1;
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    cr_assert_eq(run_all(table, &p.env, &options, &r, &err), SINTER_OK, "%s", err.text);
    cr_assert_gt(r.count, 2);
    for (size_t missing = 0; missing < r.count; missing++) {
        size_t count = 0;

        for (size_t i = 0; i < r.count; i++) {
            some[count] = r.items[i];
            count += i == missing ? 0 : 1;
        }
        cr_expect_eq(sinter_table_commit_results(table, some, count, NULL, &info, &err),
                     SINTER_E_INVALID);
        cr_expect_not_null(strstr(err.text, "lack the part"), "%s", err.text);
        cr_expect_eq(latest(&p.env), 4);
    }
    /* In any order, and one twice. */
    for (size_t i = 0; i < r.count; i++) {
        some[i] = r.items[r.count - 1 - i];
    }
    some[r.count] = r.items[0];
    cr_assert_eq(sinter_table_commit_results(table, some, r.count + 1, NULL, &info, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect_eq(info.duplicates, 1);
    cr_expect_eq(info.files_before, 4, "a file of several parts is retired once");
    cr_expect_eq(info.files_after, r.count);
    cr_expect_eq(latest(&p.env), 5);
    expect_rows(&p.env, rows);
    cr_assert_eq(sinter_table_commit_results(table, r.items, r.count, NULL, &info, &err),
                 SINTER_OK);
    cr_expect(info.was_done);
    cr_expect_eq(latest(&p.env), 5);
    results_fini(&r);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_compact, parts_that_overlap_are_refused)
{
    sinter_table_plan_options options = everything;
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    char *text = NULL;
    char *range = NULL;
    results r;
    place p;

    make_cut(&p);
    options.task_bytes_max = 1;
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    cr_assert_eq(run_all(table, &p.env, &options, &r, &err), SINTER_OK, "%s", err.text);
    /* A result of the same task for all keys, beside those of its parts. */
    text = calloc(1, r.items[0].document.size + 1);
    memcpy(text, r.items[0].document.data, r.items[0].document.size);
    range = strstr(text, "\"range\":{");
    cr_assert_not_null(range);
    while (*range != '}') {
        *range++ = ' ';
    }
    *range = ' ';
    range = strstr(text, "  ");
    for (const char *from = "\"range\":null"; *from != '\0'; from++) {
        *range++ = *from;
    }
    r.items[r.count++].document = (sinter_bytes){(const uint8_t *)text, strlen(text)};
    sinter_text_init(&p.env, &r.documents[r.count - 1]);
    cr_expect_eq(sinter_table_commit_results(table, r.items, r.count, NULL, &info, &err),
                 SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "overlap"), "%s", err.text);
    cr_expect_eq(latest(&p.env), 4);
    free(text);
    results_fini(&r);
    sinter_table_close(table);
    place_fini(&p);
}

static void
copy_file(place *p, const char *from, const char *to)
{
    static char text[1 << 16];
    sinter_io_file *file = NULL;
    sinter_io_range range = {.data = text};
    uint64_t size = 0;

    cr_assert_eq(p->memory->ops->open(p->memory, from, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    cr_assert_lt(size, sizeof text);
    range.size = (size_t)size;
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    text[size] = '\0';
    place_write(p, to, text);
}

Test(table_table_compact, a_branch_is_compacted_by_itself)
{
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *branch = NULL;
    sinter_table *table = NULL;
    results r;
    place p;

    /* As a branch is made of a tag (table-layout.md 1.4). */
    make_keyed(&p, NULL);
    copy_file(&p, "t/schema/schema-0", "t/branch/branch-b/schema/schema-0");
    copy_file(&p, "t/snapshot/snapshot-2", "t/branch/branch-b/snapshot/snapshot-2");
    write_rows(&p.env, "+9,7,z");
    cr_assert_eq(open_branch(&p.env, "b", &branch, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    cr_assert_eq(run_all(branch, &p.env, &everything, &r, &err), SINTER_OK, "%s", err.text);
    cr_assert_gt(r.count, 0);
    cr_expect_eq(sinter_table_commit_results(table, r.items, r.count, NULL, &info, &err),
                 SINTER_E_INVALID, "main has the same files");
    cr_expect_not_null(strstr(err.text, "branch b"), "%s", err.text);
    cr_assert_eq(sinter_table_commit_results(branch, r.items, r.count, NULL, &info, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect_eq(latest_of(&p.env, "b"), 3);
    cr_expect_eq(latest(&p.env), 3);
    expect_branch_rows(&p.env, "b", "1,7,a 2,7,bb 1,8,x 2,8,y");
    expect_rows(&p.env, "1,7,a 2,7,bb 9,7,z 1,8,x 2,8,y");
    results_fini(&r);
    sinter_table_close(table);
    sinter_table_close(branch);
    place_fini(&p);
}

Test(table_table_compact, rows_that_were_written_meanwhile_stay)
{
    sinter_table *table = NULL;
    results r;
    place p;

    make_keyed(&p, NULL);
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    cr_assert_eq(run_all(table, &p.env, &everything, &r, NULL), SINTER_OK);
    write_rows(&p.env, "+1,7,new -2,7,bb");
    cr_assert_eq(sinter_table_commit_results(table, r.items, r.count, NULL, NULL, NULL), SINTER_OK);
    expect_rows(&p.env, "1,7,new 1,8,x 2,8,y");
    results_fini(&r);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_compact, files_of_a_duplicate_go_unless_they_are_used)
{
    const sinter_table_commit_options keep = {.struct_size = (uint32_t)sizeof keep, .keep = true};
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_table_plan *plan = NULL;
    sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};
    sinter_table *table = NULL;
    sinter_text first;
    sinter_text second;
    place p;

    make_rows(&p, NULL, INDEXED);
    sinter_text_init(&p.env, &first);
    sinter_text_init(&p.env, &second);
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_plan_create(table, &everything, &plan, NULL), SINTER_OK);
    sinter_table_plan_get(plan, 0, &task);
    cr_assert_eq(sinter_table_task_run(&p.env, task.document, NULL, &first, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_task_run(&p.env, task.document, NULL, &second, NULL), SINTER_OK);
    cr_expect_eq(count_files(&p), 8);

    const sinter_table_result both[] = {{"first", {(const uint8_t *)first.data, first.size}},
                                        {"second", {(const uint8_t *)second.data, second.size}},
                                        {"first again", {(const uint8_t *)first.data, first.size}}};

    cr_assert_eq(sinter_table_commit_results(table, both, 3, &keep, &info, NULL), SINTER_OK);
    cr_expect_eq(info.duplicates, 2);
    cr_expect_eq(info.files_discarded, 0);
    cr_expect_eq(count_files(&p), 8);
    cr_assert_eq(sinter_table_commit_results(table, both, 3, NULL, &info, NULL), SINTER_OK);
    cr_expect(info.was_done);
    cr_expect_eq(info.files_discarded, 1);
    cr_expect_eq(count_files(&p), 6, "index files go with them");
    expect_rows(&p.env, "1,7,a 2,7,bb 1,8,x 2,8,y");
    sinter_text_fini(&first);
    sinter_text_fini(&second);
    sinter_table_plan_destroy(plan);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_compact, rows_of_append_tables_keep_their_order)
{
    sinter_table_commit_info info;
    sinter_error err = SINTER_ERROR_INIT;
    place p;

    place_init(&p, NULL);
    make_table(&p.env, BUCKETED);
    write_rows(&p.env, "+5,1,a +4,1,b");
    write_rows(&p.env, "+3,1,c");
    write_rows(&p.env, "+9,1,d +1,1,e");
    cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(info.files_before, 3);
    cr_expect_eq(info.files_after, 1);
    expect_rows(&p.env, "5,1,a 4,1,b 3,1,c 9,1,d 1,1,e");
    write_rows(&p.env, "+2,1,f");
    expect_rows(&p.env, "5,1,a 4,1,b 3,1,c 9,1,d 1,1,e 2,1,f");
    place_fini(&p);
}

static void
maintain(const sinter_env *env, bool expires)
{
    sinter_expire_options options = {.struct_size = (uint32_t)sizeof options,
                                     .retain_min = 1,
                                     .retain_max = 1,
                                     .older_than_ms = INT64_MAX};
    sinter_expire_result expired = {.struct_size = (uint32_t)sizeof expired};
    sinter_orphan_options old = {.struct_size = (uint32_t)sizeof old};
    sinter_orphan_result orphans = {.struct_size = (uint32_t)sizeof orphans};
    sinter_table *table = NULL;

    cr_assert_eq(open_table(env, &table, NULL), SINTER_OK);
    if (expires) {
        cr_expect_eq(sinter_table_expire(table, &options, &expired, NULL), SINTER_OK);
    } else {
        (void)usleep(3000);
        old.older_than_ms = env->clock.wall_ms(env->clock.ctx);
        cr_expect_eq(sinter_table_remove_orphans(table, &old, &orphans, NULL), SINTER_OK);
        cr_expect_eq(orphans.files, 0);
    }
    sinter_table_close(table);
}

Test(table_table_compact, results_go_to_external_directories)
{
    static const char *const schemas[] = {
        "{" FIELDS ",\"primaryKeys\":[\"k\",\"p\"],\"options\":{" EXTERNAL "}}",
        "{" FIELDS ",\"options\":{\"bucket-key\":\"k\",\"compaction.min.file-num\":\"2\"," EXTERNAL
        "}}"};

    for (size_t i = 0; i < 2; i++) {
        sinter_table_commit_info info;
        sinter_error err = SINTER_ERROR_INIT;
        int files[2] = {0};
        place p;

        place_init(&p, NULL);
        make_table(&p.env, schemas[i]);
        write_rows(&p.env, "+1,7,a +2,7,b");
        write_rows(&p.env, "+3,7,c");
        write_rows(&p.env, "+4,7,d");
        cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK, "%s", err.text);
        cr_expect(info.files_before == 3 && info.files_after == 1);
        expect_rows(&p.env, "1,7,a 2,7,b 3,7,c 4,7,d");
        cr_expect_eq(p.memory->ops->list(p.memory, "/x/one/bucket-0", count_name, &files[0], NULL),
                     SINTER_OK);
        cr_expect_eq(p.memory->ops->list(p.memory, "t/bucket-0", count_name, &files[1], NULL),
                     SINTER_E_NOT_FOUND);
        cr_expect_eq(files[0], 8, "four files with an index each");
        maintain(&p.env, true);
        files[0] = 0;
        cr_expect_eq(p.memory->ops->list(p.memory, "/x/one/bucket-0", count_name, &files[0], NULL),
                     SINTER_OK);
        cr_expect_eq(files[0], 2);
        place_fini(&p);
    }
}

Test(table_table_compact, files_of_the_own_format_hold_the_same_rows)
{
    static const char *const schemas[] = {
        "{" FIELDS
        ",\"primaryKeys\":[\"k\"],\"options\":{\"file.format\":\"sst\",\"bucket\":\"1\"}}",
        "{" FIELDS ",\"options\":{\"file.format\":\"sst\",\"bucket\":\"1\",\"bucket-key\":\"k\","
        "\"compaction.min.file-num\":\"2\"}}"};
    static const char *const rows[] = {"1,-1,a 3,7,c 4,8,dd", "4,7,d 1,-1,a 3,7,c 4,8,dd"};

    for (size_t i = 0; i < 2; i++) {
        sinter_table_commit_info info;
        sinter_error err = SINTER_ERROR_INIT;
        place p;

        place_init(&p, NULL);
        make_table(&p.env, schemas[i]);
        write_rows(&p.env, "+4,7,d +1,-1,a");
        write_rows(&p.env, i == 0 ? "+3,7,c +2,7,b" : "+3,7,c");
        write_rows(&p.env, i == 0 ? "+4,8,dd -2,7,b" : "+4,8,dd");
        cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK, "%s", err.text);
        cr_expect_eq(info.files_after, 1);
        expect_rows(&p.env, rows[i]);
        place_fini(&p);
    }
}

/* A clock that stands still. */
static int64_t now_ms;

static int64_t
tell_time(void *ctx)
{
    (void)ctx;
    return now_ms;
}

#define EXPIRING(field)                                                          \
    "{" FIELDS ",\"primaryKeys\":[\"k\"],\"options\":{\"file.format\":\"avro\"," \
    "\"bucket\":\"1\",\"record-level.expire-time\":\"100 s\"," field "}}"

Test(table_table_compact, f27_old_rows_go_and_rows_without_a_time_stay)
{
    sinter_table_commit_info info;
    sinter_error err = SINTER_ERROR_INIT;
    place p;

    place_init(&p, NULL);
    p.env.clock.wall_ms = tell_time;
    now_ms = 199999;
    make_table(&p.env, EXPIRING("\"record-level.time-field\":\"p\""));
    write_rows(&p.env, "+1,100,a +2,50,b +3,-1,c");
    write_rows(&p.env, "+4,99,d");
    expect_rows(&p.env, "1,100,a 2,50,b 3,-1,c 4,99,d");
    cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK, "%s", err.text);
    expect_rows(&p.env, "1,100,a 3,-1,c 4,99,d");
    cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(latest(&p.env), 3, "no file holds an old row");
    now_ms = 200000;
    cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(info.files_before, 1, "the file at the top is rewritten for its statistics");
    expect_rows(&p.env, "1,100,a 3,-1,c");
    place_fini(&p);
}

Test(table_table_compact, a_lock_keeps_others_away_and_leaves_nothing)
{
    sinter_table *table = NULL;
    sinter_io_file *lock = NULL;
    sinter_io_file *other = NULL;
    place p;

    make_keyed(&p, NULL);
    cr_assert_eq(open_table(&p.env, &table, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_lock(table, &lock, NULL), SINTER_OK);
    cr_expect_eq(sinter_table_lock(table, &other, NULL), SINTER_E_BUSY);
    p.memory->ops->close(lock);
    cr_assert_eq(sinter_table_lock(table, &other, NULL), SINTER_OK);
    p.memory->ops->close(other);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table_compact, index_files_come_and_go_with_their_data_files)
{
    sinter_table_commit_info info;
    sinter_error err = SINTER_ERROR_INIT;
    name_counts counts;
    place p;

    make_rows(&p, NULL, INDEXED);
    counts = count_kinds(&p);
    cr_expect(counts.data == 2 && counts.indexes == 2, "flushed files");
    cr_assert_eq(compact(&p.env, &everything, &info, &err), SINTER_OK, "%s", err.text);
    maintain(&p.env, false);
    counts = count_kinds(&p);
    cr_expect(counts.data == 3 && counts.indexes == 3, "a new one beside them");
    maintain(&p.env, true);
    counts = count_kinds(&p);
    cr_expect(counts.data == 1 && counts.indexes == 1, "the old ones expired");
    expect_rows(&p.env, "1,7,a 2,7,bb 1,8,x 2,8,y");
    place_fini(&p);
}

/* The rows are the same whatever fails; a compaction that succeeds afterwards finds all of it. */
static void
expect_unharmed(place *p)
{
    sinter_env plain;
    sinter_table_commit_info info;
    sinter_error err = SINTER_ERROR_INIT;

    sinter_env_init(&plain);
    plain.io = p->memory;
    expect_rows(&plain, "1,7,a 2,7,bb 1,8,x 2,8,y");
    cr_assert_eq(compact(&plain, &everything, &info, &err), SINTER_OK, "%s", err.text);
    expect_rows(&plain, "1,7,a 2,7,bb 1,8,x 2,8,y");
}

/* No index file without its data file. */
static void
expect_no_lone_index(const place *p)
{
    const name_counts counts = count_kinds(p);

    cr_expect_eq(counts.data, counts.indexes);
}

Test(table_table_compact, any_allocation_may_fail)
{
    const char *const seven[] = {"p=7"};
    sinter_table_plan_options options = everything;
    sinter_status st = SINTER_E_NOMEM;
    uint64_t step = 1;

    options.partitions = seven;
    options.partition_count = 1;
    /* All of the first ones, then one of many. */
    for (uint64_t n = 0; st != SINTER_OK; n += step) {
        sinter_table_commit_info info;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        place p;

        step = n < 16 ? 1 : 89;
        make_rows(&p, NULL, INDEXED);
        fault_alloc_init(&fault, n);
        fault.env.io = p.memory;
        st = compact(&fault.env, &options, &info, &err);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %" PRIu64 ": %d: %s", n,
                  (int)st, err.text);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        expect_no_lone_index(&p);
        expect_unharmed(&p);
        place_fini(&p);
    }
}

Test(table_table_compact, any_io_call_may_fail)
{
    bool is_past = false;

    /* Some failures are made up for: hints that can't be read, say. */
    for (uint64_t n = 0; !is_past; n += n > 20 ? 17 : 3) {
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_table_commit_info info;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io *faulty = NULL;
        sinter_env env;
        place p;

        make_rows(&p, NULL, INDEXED);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), p.memory, &rule, &faulty, NULL),
                     SINTER_OK);
        env = p.env;
        env.io = faulty;
        cr_expect(compact(&env, &everything, &info, &err) == SINTER_OK || err.text[0] != '\0');
        is_past = sinter_io_fault_calls(faulty) <= n;
        expect_no_lone_index(&p);
        expect_unharmed(&p);
        sinter_io_destroy(faulty);
        place_fini(&p);
    }
}
