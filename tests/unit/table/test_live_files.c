#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../../support/executors.h"
#include "../../support/fault_alloc.h"
#include "../../support/wide_table.h"
#include "place.h"
#include "sinter/table_scan.h"
#include "table/live_files.h"
#include "table/table.h"

TestSuite(table_live_files, .timeout = 60);

/* A table in memory, and its snapshot. */
typedef struct bed {
    place p;
    sinter_table *table;
    sinter_snapshot *snapshot;
} bed;

static const wide_table small = {
    .partitions = 30, .buckets = 3, .files = 40, .deleted = 500, .manifest_bytes = 1};

static void
open_table(bed *b)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_table_open(&b->p.env, &config, &b->table, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_table_snapshot_get(b->table, 1, &b->snapshot, &err), SINTER_OK, "%s",
                 err.text);
}

static void
make(bed *b, const wide_table *shape)
{
    sinter_error err = SINTER_ERROR_INIT;

    place_init(&b->p, NULL);
    cr_assert_eq(wide_table_write(&b->p.env, "t", shape, &err), SINTER_OK, "%s: %s", err.file,
                 err.text);
    open_table(b);
}

static void
close_table(bed *b)
{
    sinter_snapshot_destroy(b->snapshot);
    sinter_table_close(b->table);
}

static void
unmake(bed *b)
{
    close_table(b);
    place_fini(&b->p);
}

/* Everything about the files in one number, order included. */
static uint64_t
digest(const sinter__live_files *files, size_t *count_out)
{
    size_t bucket_count = 0;
    const sinter__bucket_files *buckets = sinter__live_files_buckets(files, &bucket_count);
    sinter__scratch room = {0};
    uint64_t sum = 0;

    *count_out = 0;
    for (size_t b = 0; b < bucket_count; b++) {
        sinter__bucket_files bucket;

        cr_assert_eq(sinter__live_files_unfold(files, &buckets[b], &room, &bucket, NULL),
                     SINTER_OK);
        cr_assert_eq(bucket.count, buckets[b].count);
        for (size_t i = 0; i < bucket.count; i++) {
            const sinter__manifest_entry *entry = bucket.entries[i];

            cr_assert_eq(entry->bucket, bucket.bucket);
            cr_assert_eq(entry->partition.size, bucket.partition.size);
            for (size_t c = 0; c < entry->file.file_name.size; c++) {
                sum = sum * 31 + entry->file.file_name.data[c];
            }
            for (size_t c = 0; c < entry->partition.size; c++) {
                sum = sum * 31 + entry->partition.data[c];
            }
            ++*count_out;
        }
    }
    sinter__scratch_fini(sinter_env_default(), &room);
    return sum;
}

static uint64_t
read_digest(bed *b, const sinter__entry_filter *filter, size_t *count_out)
{
    sinter__live_files *files = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t sum = 0;

    cr_assert_eq(sinter__live_files_read_some(b->table, b->snapshot, filter, &files, NULL, &err),
                 SINTER_OK, "%s", err.text);
    sum = digest(files, count_out);
    sinter__live_files_destroy(files);
    return sum;
}

Test(table_live_files, buckets_are_in_the_order_of_partitions_and_numbers)
{
    bed b;
    sinter__live_files *files = NULL;
    const sinter__bucket_files *buckets = NULL;
    size_t count = 0;

    make(&b, &small);
    cr_assert_eq(sinter__live_files_read(b.table, b.snapshot, &files, NULL), SINTER_OK);
    buckets = sinter__live_files_buckets(files, &count);
    cr_expect_eq(count, small.partitions * small.buckets);
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(buckets[i].count, small.files, "what was deleted is gone");
        if (i > 0) {
            const int order = memcmp(buckets[i - 1].partition.data, buckets[i].partition.data,
                                     buckets[i].partition.size);

            cr_expect(order < 0 || (order == 0 && buckets[i - 1].bucket < buckets[i].bucket));
        }
    }
    sinter__live_files_destroy(files);
    unmake(&b);
}

static const sinter__entry_filter without_stats = {
    .bucket = -1, .level_max = INT32_MAX, .drops_stats = true};

Test(table_live_files, any_number_of_threads_gives_the_same_files_with_and_without_statistics)
{
    bed b;
    sinter_pool *pool = NULL;
    size_t count = 0;
    size_t again = 0;
    uint64_t sum = 0;

    make(&b, &small);
    sum = read_digest(&b, NULL, &count);
    cr_expect_eq(read_digest(&b, &without_stats, &again), sum);
    cr_assert_eq(count, small.partitions * small.buckets * small.files);
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        cr_assert_eq(sinter_pool_create(sinter_env_default(), threads, 64, &pool, NULL), SINTER_OK);
        b.p.env.executor = sinter_pool_executor(pool);
        cr_expect_eq(read_digest(&b, NULL, &again), sum, "%u threads", threads);
        cr_expect_eq(read_digest(&b, &without_stats, &again), sum, "%u threads", threads);
        sinter_pool_destroy(pool);
    }
    b.p.env.executor = (sinter_executor){.struct_size = 0};
    unmake(&b);
}

/* Damage a byte of a manifest. */
static void
damage(bed *b, int number)
{
    char path[128];
    uint8_t bytes[512];
    sinter_io_range range = {.data = bytes, .size = sizeof bytes};
    sinter_io_file *file = NULL;
    const sinter_io_ops *ops = b->p.memory->ops;

    (void)snprintf(path, sizeof path, "t/manifest/manifest-00000000-0000-4000-8000-000000000000-%d",
                   number);
    cr_assert_eq(ops->open(b->p.memory, path, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(ops->read(file, &range, 1, NULL), SINTER_OK);
    ops->close(file);
    cr_assert_eq(ops->replace(b->p.memory, path, bytes, sizeof bytes, NULL), SINTER_OK);
}

Test(table_live_files, the_first_failure_in_order_is_told_by_any_number_of_threads)
{
    bed b;
    sinter_pool *pool = NULL;
    sinter__live_files *files = NULL;

    make(&b, &small);
    damage(&b, 3);
    damage(&b, 1);
    cr_assert_eq(sinter_pool_create(sinter_env_default(), 3, 64, &pool, NULL), SINTER_OK);
    for (int round = 0; round < 4; round++) {
        sinter_error err = SINTER_ERROR_INIT;

        b.p.env.executor =
            round == 0 ? (sinter_executor){.struct_size = 0} : sinter_pool_executor(pool);
        cr_expect_eq(sinter__live_files_read(b.table, b.snapshot, &files, &err), SINTER_E_CORRUPT);
        cr_expect_null(files);
        cr_expect_not_null(strstr(err.file, "-000000000000-1"), "%s", err.file);
    }
    sinter_pool_destroy(pool);
    b.p.env.executor = (sinter_executor){.struct_size = 0};
    unmake(&b);
}

Test(table_live_files, manifests_side_by_side_take_no_memory_that_one_after_the_other_has_not)
{
    bed b;
    sinter_pool *pool = NULL;
    sinter_memory *memory = NULL;
    sinter__live_files *files = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status alone = SINTER_E_TOO_LARGE;
    uint64_t budget = 1 << 20;

    make(&b, &small);
    while (alone != SINTER_OK) { /* the least that is enough */
        budget += 1 << 18;
        cr_assert_eq(sinter_memory_create(sinter_env_default(), budget, &memory, NULL), SINTER_OK);
        b.p.env.memory = memory;
        alone = sinter__live_files_read(b.table, b.snapshot, &files, &err);
        sinter__live_files_destroy(files);
        files = NULL;
        sinter_memory_destroy(memory);
        cr_assert(alone == SINTER_OK || alone == SINTER_E_TOO_LARGE, "%s", err.text);
    }
    cr_assert_eq(sinter_pool_create(sinter_env_default(), 3, 64, &pool, NULL), SINTER_OK);
    cr_assert_eq(sinter_memory_create(sinter_env_default(), budget, &memory, NULL), SINTER_OK);
    b.p.env.memory = memory;
    b.p.env.executor = sinter_pool_executor(pool);
    cr_expect_eq(sinter__live_files_read(b.table, b.snapshot, &files, &err), SINTER_OK, "%s",
                 err.text);
    sinter__live_files_destroy(files);
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_pool_destroy(pool);
    b.p.env.memory = NULL;
    b.p.env.executor = (sinter_executor){.struct_size = 0};
    sinter_memory_destroy(memory);
    unmake(&b);
}

/* ---- filters ---- */

static void
plan(bed *b, const sinter_table_scan_options *options, const char *where,
     sinter_table_scan_counters *out)
{
    sinter_table_scan_options wanted = *options;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table_scan *scan = NULL;
    sinter_predicate *predicate = NULL;

    if (where != NULL) {
        cr_assert_eq(sinter_predicate_parse(&b->p.env, where, &predicate, &err), SINTER_OK, "%s",
                     err.text);
        wanted.where = predicate;
    }
    *out = (sinter_table_scan_counters){.struct_size = (uint32_t)sizeof *out};
    cr_assert_eq(sinter_table_scan_open(b->table, &wanted, &scan, &err), SINTER_OK, "%s", err.text);
    sinter_table_scan_counters_get(scan, out);
    sinter_table_scan_close(scan);
    sinter_predicate_destroy(predicate);
}

Test(table_live_files, partitions_buckets_and_levels_are_left_out_before_entries_are_merged)
{
    const sinter_table_scan_options all = {.struct_size = (uint32_t)sizeof all, .bucket = -1};
    const sinter_table_scan_options bucket = {.struct_size = (uint32_t)sizeof bucket, .bucket = 2};
    const sinter_table_scan_options level = {.struct_size = (uint32_t)sizeof level,
                                             .bucket = -1,
                                             .has_levels = true,
                                             .level_min = 0,
                                             .level_max = 4};
    sinter_table_scan_counters counters;
    bed b;

    make(&b, &small);
    plan(&b, &all, NULL, &counters);
    cr_expect_eq(counters.files, small.partitions * small.buckets * small.files);
    cr_expect_eq(counters.manifests_skipped, 0);
    plan(&b, &all, "dt = '2024-01-02'", &counters);
    cr_expect_eq(counters.files, 6 * small.buckets * small.files);
    cr_expect_gt(counters.manifests_skipped, 0);
    plan(&b, &all, "dt = '2024-01-01' and hr in (3, 4) and id > 5", &counters);
    cr_expect_eq(counters.files, 2 * small.buckets * small.files);
    plan(&b, &all, "dt > '2025'", &counters);
    cr_expect_eq(counters.files, 0);
    cr_expect_eq(counters.manifests_read, 0);
    plan(&b, &bucket, NULL, &counters);
    cr_expect_eq(counters.files, small.partitions * small.files);
    plan(&b, &level, NULL, &counters);
    cr_expect_eq(counters.files, 0);
    unmake(&b);
}

Test(table_live_files, every_allocation_may_fail)
{
    const wide_table tiny = {
        .partitions = 2, .buckets = 1, .files = 2, .deleted = 1, .manifest_bytes = 1};
    sinter_status st = SINTER_E_NOMEM;
    bed b;
    fault_alloc fault;

    make(&b, &tiny);
    close_table(&b);
    for (size_t n = 0; st != SINTER_OK; n++) {
        const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
        sinter_table *table = NULL;
        sinter_table_scan *scan = NULL;

        fault_alloc_init(&fault, n);
        fault.env.io = b.p.memory;
        st = sinter_table_open(&fault.env, &config, &table, NULL);
        if (st == SINTER_OK) {
            st = sinter_table_scan_open(table, NULL, &scan, NULL);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %zu: %d", n, (int)st);
        sinter_table_scan_close(scan);
        sinter_table_close(table);
        cr_assert_eq(fault.live, 0, "leak when allocation %zu fails", n);
    }
    place_fini(&b.p);
}
