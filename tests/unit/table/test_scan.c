/*
 * Scans of tables that Paimon made, copied into memory, where something is missing, damaged, or
 * changes meanwhile.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "sinter/rows.h"
#include "sinter/table_scan.h"

TestSuite(table_scan, .timeout = 60);
TestSuite(field_faults, .timeout = 60);

enum { PATH_BYTES = 512 };

/* ---- a table in memory ---- */

typedef struct copy_job {
    place *p;
    sinter_io *from;
    char from_dir[PATH_BYTES];
    char to_dir[PATH_BYTES];
} copy_job;

static sinter_status
copy_one(void *ctx, const char *name);

static void
copy_file(const copy_job *job, const char *from, const char *to)
{
    sinter_io_file *file = NULL;
    uint64_t size = 0;
    sinter_io_range range = {.data = NULL};

    cr_assert_eq(job->from->ops->open(job->from, from, 0, &file, NULL), SINTER_OK, "%s", from);
    cr_assert_eq(job->from->ops->size(file, &size, NULL), SINTER_OK);
    range.data = malloc(size + 1);
    range.size = size;
    cr_assert_not_null(range.data);
    if (size > 0) {
        cr_assert_eq(job->from->ops->read(file, &range, 1, NULL), SINTER_OK);
    }
    job->from->ops->close(file);
    cr_assert_eq(job->p->memory->ops->replace(job->p->memory, to, range.data, size, NULL),
                 SINTER_OK, "%s", to);
    free(range.data);
}

static sinter_status
copy_one(void *ctx, const char *name)
{
    copy_job *job = ctx;
    copy_job below = *job;
    sinter_io_stat info = {.is_directory = false};

    (void)snprintf(below.from_dir, PATH_BYTES, "%.250s/%.250s", job->from_dir, name);
    (void)snprintf(below.to_dir, PATH_BYTES, "%.250s/%.250s", job->to_dir, name);
    cr_assert_eq(job->from->ops->stat(job->from, below.from_dir, &info, NULL), SINTER_OK);
    if (!info.is_directory) {
        copy_file(job, below.from_dir, below.to_dir);
        return SINTER_OK;
    }
    (void)job->p->memory->ops->mkdir(job->p->memory, below.to_dir, NULL);
    return job->from->ops->list(job->from, below.from_dir, copy_one, &below, NULL);
}

/* A table of tests/data as "t" in memory. */
static void
load(place *p, const char *name)
{
    copy_job job = {.p = p, .to_dir = "t"};

    place_init(p, NULL);
    (void)snprintf(job.from_dir, PATH_BYTES, "%s/%s.db/t", SINTER_TABLES, name);
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, NULL, &job.from, NULL),
                 SINTER_OK);
    (void)p->memory->ops->mkdir(p->memory, "t", NULL);
    cr_assert_eq(job.from->ops->list(job.from, job.from_dir, copy_one, &job, NULL), SINTER_OK);
    sinter_io_destroy(job.from);
}

static void
remove_file(place *p, const char *path)
{
    cr_assert_eq(p->memory->ops->unlink(p->memory, path, NULL), SINTER_OK, "%s", path);
}

/* The content of a small file; free() it. */
static char *
content(place *p, const char *path, size_t *size_out)
{
    sinter_io_file *file = NULL;
    uint64_t size = 0;
    sinter_io_range range = {.data = NULL};

    cr_assert_eq(p->memory->ops->open(p->memory, path, 0, &file, NULL), SINTER_OK, "%s", path);
    cr_assert_eq(p->memory->ops->size(file, &size, NULL), SINTER_OK);
    range.data = calloc(1, size + 1);
    range.size = size;
    cr_assert_not_null(range.data);
    cr_assert_eq(p->memory->ops->read(file, &range, 1, NULL), SINTER_OK);
    p->memory->ops->close(file);
    *size_out = size;
    return range.data;
}

/* A file's first half alone. */
static void
cut(place *p, const char *path)
{
    size_t size = 0;
    char *bytes = content(p, path, &size);

    cr_assert_eq(p->memory->ops->replace(p->memory, path, bytes, size / 2, NULL), SINTER_OK);
    free(bytes);
}

/* ---- rows ---- */

static sinter_status
count_rest(sinter_table_scan *scan, size_t *count_out, sinter_error *err)
{
    const sinter_datum *values = NULL;
    sinter_status st = SINTER_OK;

    *count_out = 0;
    while ((st = sinter_table_scan_next(scan, &values, err)) == SINTER_OK) {
        ++*count_out;
    }
    return st;
}

static sinter_table *
open_table(place *p)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_table *table = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_table_open(&p->env, &config, &table, &err), SINTER_OK, "%s", err.text);
    return table;
}

/* Scan the newest snapshot, or another one (0: the newest). */
static sinter_status
count_rows(place *p, int64_t snapshot_id, size_t *count_out, sinter_error *err)
{
    sinter_table_scan_options options = {.struct_size = (uint32_t)sizeof options, .bucket = -1};
    sinter_table *table = open_table(p);
    sinter_table_scan *scan = NULL;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = SINTER_OK;

    *count_out = 0;
    if (snapshot_id > 0) {
        st = sinter_table_snapshot_get(table, snapshot_id, &snapshot, err);
        options.snapshot = snapshot;
    }
    if (st == SINTER_OK) {
        st = sinter_table_scan_open(table, &options, &scan, err);
    }
    if (st == SINTER_OK) {
        st = count_rest(scan, count_out, err);
    }
    sinter_table_scan_close(scan);
    sinter_snapshot_destroy(snapshot);
    sinter_table_close(table);
    return st;
}

/* Scanning fails with this status and names a file whose path has this in it. */
static void
expect_failure(place *p, sinter_status wanted, const char *file)
{
    sinter_error err = SINTER_ERROR_INIT;
    size_t count = 0;
    const sinter_status st = count_rows(p, 0, &count, &err);

    cr_expect_eq(st, wanted, "%s: %s", file, err.text);
    cr_expect_not_null(strstr(err.file, file), "\"%s\" names \"%s\", not \"%s\"", err.text,
                       err.file, file);
}

/* ---- what is missing or damaged ---- */

static const char base_list[] = "manifest-list-650287bc-8db4-433c-b94c-2a6c0d8aefb0-0";
static const char delta_list[] = "manifest-list-650287bc-8db4-433c-b94c-2a6c0d8aefb0-1";

/* The first name in a directory that begins so; "DIR/NAME". */
typedef struct finder {
    const char *begin;
    char found[PATH_BYTES];
} finder;

static sinter_status
look(void *ctx, const char *name)
{
    finder *f = ctx;

    if (strncmp(name, f->begin, strlen(f->begin)) == 0) {
        (void)snprintf(f->found, sizeof f->found, "%s", name);
    }
    return SINTER_OK;
}

static void
find(place *p, const char *dir, const char *begin, char path[PATH_BYTES])
{
    finder f = {.begin = begin};

    cr_assert_eq(p->memory->ops->list(p->memory, dir, look, &f, NULL), SINTER_OK, "%s", dir);
    cr_assert_neq(f.found[0], '\0', "%s/%s", dir, begin);
    (void)snprintf(path, PATH_BYTES, "%.200s/%.200s", dir, f.found);
}

Test(table_scan, a_missing_or_cut_file_of_metadata_is_named)
{
    const char *const lists[] = {base_list, delta_list};
    char path[PATH_BYTES];
    place p;

    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "t/manifest/%s", lists[i]);
        load(&p, "pk_partitioned_avro");
        cut(&p, path);
        expect_failure(&p, SINTER_E_CORRUPT, lists[i]);
        remove_file(&p, path);
        expect_failure(&p, SINTER_E_NOT_FOUND, lists[i]);
        place_fini(&p);
    }
    load(&p, "pk_partitioned_avro");
    cut(&p, "t/manifest/manifest-3da578e4-37a8-4075-8799-4e714da90874-0");
    expect_failure(&p, SINTER_E_CORRUPT, "manifest-3da578e4-37a8-4075-8799-4e714da90874-0");
    remove_file(&p, "t/manifest/manifest-3da578e4-37a8-4075-8799-4e714da90874-0");
    expect_failure(&p, SINTER_E_NOT_FOUND, "manifest-3da578e4-37a8-4075-8799-4e714da90874-0");
    place_fini(&p);
    load(&p, "pk_partitioned_avro");
    cut(&p, "t/snapshot/snapshot-3");
    expect_failure(&p, SINTER_E_CORRUPT, "snapshot-3");
    place_fini(&p);
}

Test(table_scan, a_missing_or_cut_data_file_is_named)
{
    char path[PATH_BYTES];
    place p;

    load(&p, "pk_partitioned_avro");
    find(&p, "t/dt=19782/region=eu/bucket-0", "data-", path);
    cut(&p, path);
    expect_failure(&p, SINTER_E_CORRUPT, path);
    remove_file(&p, path);
    expect_failure(&p, SINTER_E_NOT_FOUND, path);
    place_fini(&p);
}

Test(table_scan, a_table_that_is_dropped_after_it_was_opened_is_missed)
{
    place p;
    sinter_table *table = NULL;
    sinter_table_scan *scan = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    load(&p, "append_small_avro");
    table = open_table(&p);
    sinter_io_destroy(p.memory); /* all files are gone */
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &p.memory, NULL),
                 SINTER_OK);
    p.env.io = p.memory;
    cr_expect_eq(sinter_table_scan_open(table, NULL, &scan, &err), SINTER_E_NOT_FOUND);
    cr_expect_not_null(strstr(err.file, "t/schema"), "%s", err.file);
    cr_expect_null(scan);
    sinter_table_close(table);
    place_fini(&p);
}

/* ---- no permission ---- */

static sinter_io_ops denying_ops;
static const sinter_io_ops *plain_ops;
static const char *denied;

static sinter_status
deny_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    if (strstr(path, denied) == NULL) {
        return plain_ops->open(io, path, flags, out, err);
    }
    if (err != NULL) {
        *err = (sinter_error){.status = SINTER_E_IO, .sys_errno = EACCES, .offset = -1};
        (void)snprintf(err->file, sizeof err->file, "%s", path);
        (void)snprintf(err->text, sizeof err->text, "can't open the file");
    }
    return SINTER_E_IO;
}

Test(table_scan, a_file_that_may_not_be_read_is_named_with_the_reason)
{
    static const char *const files[] = {base_list, delta_list, "snapshot-3",
                                        "manifest-3da578e4-37a8-4075-8799-4e714da90874-0",
                                        "region=eu/bucket-0/data-"};
    place p;

    load(&p, "pk_partitioned_avro");
    plain_ops = p.memory->ops;
    denying_ops = *plain_ops;
    denying_ops.open = deny_open;
    p.memory->ops = &denying_ops;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        size_t count = 0;

        denied = files[i];
        cr_expect_eq(count_rows(&p, 0, &count, &err), SINTER_E_IO, "%s", files[i]);
        cr_expect_eq(err.sys_errno, EACCES);
        cr_expect_not_null(strstr(err.file, files[i]), "%s, not %s", err.file, files[i]);
    }
    p.memory->ops = plain_ops;
    place_fini(&p);
}

Test(table_scan, every_call_of_the_io_may_fail)
{
    const sinter_fault_options none = {.struct_size = (uint32_t)sizeof none, .at_call = UINT64_MAX};
    sinter_status st = SINTER_E_IO;
    sinter_io *faulty = NULL;
    place p;

    load(&p, "append_small_avro");
    cr_assert_eq(sinter_io_fault_create(&p.env, p.memory, &none, &faulty, NULL), SINTER_OK);
    for (uint64_t n = 0; st != SINTER_END; n++) {
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
        sinter_table *table = NULL;
        sinter_table_scan *scan = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_env env = p.env;
        size_t count = 0;

        env.io = faulty;
        sinter_io_fault_set(faulty, &rule);
        st = sinter_table_open(&env, &config, &table, &err);
        if (st == SINTER_OK) {
            st = sinter_table_scan_open(table, NULL, &scan, &err);
        }
        if (st == SINTER_OK) {
            st = count_rest(scan, &count, &err);
        }
        cr_expect(st == SINTER_END || (st == SINTER_E_IO && err.file[0] != '\0'),
                  "call %llu: %d, %s", (unsigned long long)n, (int)st, err.text);
        sinter_table_scan_close(scan);
        sinter_table_close(table);
    }
    sinter_io_destroy(faulty);
    place_fini(&p);
}

/* ---- faults of the field ---- */

/* Write snapshot 9 of a table with 8: the files of snapshot `files`, the index of snapshot 8. */
static void
mix_snapshots(place *p, int files)
{
    char path[PATH_BYTES];
    size_t size = 0;
    char *eight = content(p, "t/snapshot/snapshot-8", &size);
    char *other = NULL;
    char *index = NULL;
    char *text = calloc(1, 8192);

    cr_assert_not_null(text);
    (void)snprintf(path, sizeof path, "t/snapshot/snapshot-%d", files);
    other = content(p, path, &size);
    index = strstr(eight, "\"indexManifest\"");
    cr_assert_not_null(index);
    (void)snprintf(text, 8192, "{ \"id\" : 9, %.*s, %s", (int)strcspn(index, ","), index,
                   strstr(other, "\"schemaId\""));
    cr_assert_eq(
        p->memory->ops->replace(p->memory, "t/snapshot/snapshot-9", text, strlen(text), NULL),
        SINTER_OK);
    free(text);
    free(other);
    free(eight);
}

Test(field_faults, f4_a_scan_passes_over_vectors_of_files_that_are_gone)
{
    place p;
    sinter_error err = SINTER_ERROR_INIT;
    size_t third = 0;
    size_t eighth = 0;
    size_t mixed = 0;

    load(&p, "append_dv_avro");
    cr_assert_eq(count_rows(&p, 3, &third, &err), SINTER_END, "%s", err.text);
    cr_assert_eq(count_rows(&p, 8, &eighth, &err), SINTER_END, "%s", err.text);
    mix_snapshots(&p, 3);
    cr_assert_eq(count_rows(&p, 9, &mixed, &err), SINTER_END, "%s: %s", err.file, err.text);
    cr_expect_lt(mixed, third, "vectors of files that are there hide their rows");
    cr_expect_lt(mixed, eighth);
    cr_expect_gt(mixed, 0);
    place_fini(&p);
}

Test(field_faults, f8_a_scan_keeps_to_its_snapshot_when_another_one_comes)
{
    place p;
    size_t size = 0;
    size_t second = 0;
    size_t third = 0;
    size_t count = 0;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    sinter_table_scan *scan = NULL;
    char *snapshot = NULL;

    load(&p, "pk_partitioned_avro");
    cr_assert_eq(count_rows(&p, 2, &second, &err), SINTER_END, "%s", err.text);
    cr_assert_eq(count_rows(&p, 3, &third, &err), SINTER_END, "%s", err.text);
    cr_assert_neq(second, third);
    snapshot = content(&p, "t/snapshot/snapshot-3", &size);
    remove_file(&p, "t/snapshot/snapshot-3");
    table = open_table(&p);
    cr_assert_eq(sinter_table_scan_open(table, NULL, &scan, &err), SINTER_OK, "%s", err.text);
    place_write(&p, "t/snapshot/snapshot-3", snapshot);
    cr_expect_eq(count_rest(scan, &count, &err), SINTER_END, "%s", err.text);
    cr_expect_eq(count, second);
    cr_expect_eq(count_rows(&p, 0, &count, &err), SINTER_END);
    cr_expect_eq(count, third);
    free(snapshot);
    sinter_table_scan_close(scan);
    sinter_table_close(table);
    place_fini(&p);
}

Test(field_faults, f9_a_partition_that_is_dropped_under_a_scan_is_named_and_others_can_be_read)
{
    const sinter_bytes day = {(const uint8_t *)"1969-12-31", 10};
    const sinter_predicate other = {.struct_size = (uint32_t)sizeof other,
                                    .op = SINTER_PREDICATE_EQUAL,
                                    .column = "dt",
                                    .values = &day,
                                    .value_count = 1};
    const sinter_table_scan_options options = {
        .struct_size = (uint32_t)sizeof options, .bucket = -1, .partitions = &other};
    char path[PATH_BYTES];
    place p;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    sinter_table_scan *scan = NULL;
    size_t count = 0;

    load(&p, "pk_partitioned_avro");
    table = open_table(&p);
    cr_assert_eq(sinter_table_scan_open(table, NULL, &scan, &err), SINTER_OK, "%s", err.text);
    find(&p, "t/dt=19782/region=eu/bucket-0", "data-", path);
    remove_file(&p, path);
    cr_expect_eq(count_rest(scan, &count, &err), SINTER_E_NOT_FOUND);
    cr_expect_not_null(strstr(err.file, path), "%s", err.file);
    sinter_table_scan_close(scan);
    cr_assert_eq(sinter_table_scan_open(table, &options, &scan, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(count_rest(scan, &count, &err), SINTER_END, "%s", err.text);
    cr_expect_gt(count, 0);
    sinter_table_scan_close(scan);
    sinter_table_close(table);
    place_fini(&p);
}

Test(field_faults, f10_a_snapshot_that_no_hint_tells_of_is_read)
{
    static const char *const hints[] = {"2", "1", "99", "", "x", "-1"};
    place p;
    sinter_error err = SINTER_ERROR_INIT;
    size_t third = 0;
    size_t count = 0;

    load(&p, "pk_partitioned_avro");
    cr_assert_eq(count_rows(&p, 3, &third, &err), SINTER_END, "%s", err.text);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        place_write(&p, "t/snapshot/LATEST", hints[i]);
        cr_expect_eq(count_rows(&p, 0, &count, &err), SINTER_END, "hint \"%s\": %s", hints[i],
                     err.text);
        cr_expect_eq(count, third, "hint \"%s\"", hints[i]);
    }
    remove_file(&p, "t/snapshot/LATEST");
    cr_expect_eq(count_rows(&p, 0, &count, &err), SINTER_END);
    cr_expect_eq(count, third);
    place_fini(&p);
}

/* ---- what is asked for ---- */

Test(table_scan, a_limit_ends_the_rows_and_levels_choose_files)
{
    sinter_table_scan_options options = {
        .struct_size = (uint32_t)sizeof options, .bucket = -1, .has_limit = true, .limit = 3};
    sinter_table_scan_counters counters = {.struct_size = (uint32_t)sizeof counters};
    place p;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    sinter_table_scan *scan = NULL;
    size_t all = 0;
    size_t count = 0;

    load(&p, "pk_dedup_l0_avro");
    cr_assert_eq(count_rows(&p, 0, &all, &err), SINTER_END);
    table = open_table(&p);
    cr_assert_eq(sinter_table_scan_open(table, &options, &scan, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(count_rest(scan, &count, &err), SINTER_END);
    cr_expect_eq(count, 3);
    cr_expect_eq(count_rest(scan, &count, &err), SINTER_END, "and stays at the end");
    cr_expect_eq(count, 0);
    sinter_table_scan_counters_get(scan, &counters);
    cr_expect_eq(counters.rows, 3);
    sinter_table_scan_close(scan);

    options = (sinter_table_scan_options){.struct_size = (uint32_t)sizeof options,
                                          .bucket = -1,
                                          .has_levels = true,
                                          .level_min = 1,
                                          .level_max = 9};
    cr_assert_eq(sinter_table_scan_open(table, &options, &scan, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(count_rest(scan, &count, &err), SINTER_END);
    cr_expect_lt(count, all, "rows that level 0 alone has are missing");
    cr_expect_gt(count, 0);
    sinter_table_scan_close(scan);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_scan, partitions_may_name_partition_columns_only)
{
    const sinter_predicate wrong = {
        .struct_size = (uint32_t)sizeof wrong, .op = SINTER_PREDICATE_IS_NULL, .column = "id"};
    const sinter_table_scan_options options = {
        .struct_size = (uint32_t)sizeof options, .bucket = -1, .partitions = &wrong};
    place p;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    sinter_table_scan *scan = NULL;

    load(&p, "pk_partitioned_avro");
    table = open_table(&p);
    cr_expect_eq(sinter_table_scan_open(table, &options, &scan, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "column \"id\" is no partition column");
    cr_expect_null(scan);
    sinter_table_close(table);
    place_fini(&p);
}
