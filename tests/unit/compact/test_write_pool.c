/*
 * Memory that the write buffers of several trees share.
 */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "sinter/merge_tree.h"
#include "support/fault_alloc.h"
#include "world.h"

TestSuite(compact_write_pool, .timeout = 60);

enum { TREES = 3 };

typedef struct bed {
    world w;
    sinter_compact_options options;
    sinter_compact_task tasks[TREES];
    sinter_write_pool *pool;
    sinter_merge_tree *trees[TREES];
    uint32_t next_key;
} bed;

static void
open_bed(bed *b, uint64_t pool_bytes, bool spillable)
{
    static const char *const dirs[TREES] = {"one", "two", "three"};

    memset(b, 0, sizeof *b);
    world_init(&b->w, false, NULL);
    cr_assert_eq(sinter_write_pool_create(&b->w.env, pool_bytes, &b->pool, NULL), SINTER_OK);
    sinter_compact_options_init(&b->options);
    b->options.write_buffer_spillable = spillable;
    b->options.write_only = true;
    for (size_t i = 0; i < TREES; i++) {
        const sinter_merge_tree_config config = {.struct_size = sizeof config,
                                                 .name = dirs[i],
                                                 .task = &b->tasks[i],
                                                 .max_sequence = -1,
                                                 .pool = b->pool};

        cr_assert_eq(b->w.io->ops->mkdir(b->w.io, dirs[i], NULL), SINTER_OK);
        sinter_compact_task_init(&b->tasks[i]);
        b->tasks[i].base_dir = dirs[i];
        b->tasks[i].options = &b->options;
        cr_assert_eq(sinter_merge_tree_open(&b->w.env, &config, &b->trees[i], NULL), SINTER_OK);
    }
}

static void
close_bed(bed *b)
{
    for (size_t i = 0; i < TREES; i++) {
        sinter_merge_tree_close(b->trees[i]);
    }
    sinter_write_pool_destroy(b->pool);
    world_fini(&b->w);
}

static sinter_status
write_row(bed *b, size_t tree, size_t value_bytes, sinter_error *err)
{
    static uint8_t value[1 << 20];
    const uint32_t key = b->next_key++;
    const uint8_t bytes[4] = {(uint8_t)(key >> 24), (uint8_t)(key >> 16), (uint8_t)(key >> 8),
                              (uint8_t)key};

    cr_assert_leq(value_bytes, sizeof value);
    return sinter_merge_tree_write(b->trees[tree], (sinter_bytes){bytes, 4}, SINTER_KIND_INSERT,
                                   (sinter_bytes){value, value_bytes}, err);
}

static sinter_bucket_metrics
metrics_of(const bed *b, size_t tree)
{
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};

    sinter_merge_tree_metrics_get(b->trees[tree], &metrics);
    return metrics;
}

static uint64_t
rows_in_files(const bed *b, size_t tree)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(b->trees[tree]);
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);
    uint64_t rows = 0;

    for (size_t i = 0; i < count; i++) {
        rows += files[i].row_count;
    }
    sinter_file_set_release(set);
    return rows;
}

Test(compact_write_pool, the_largest_buffer_gives_way)
{
    bed b;

    open_bed(&b, 1 << 20, false);
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(write_row(&b, 1, 6000, NULL), SINTER_OK);
    }
    cr_assert_eq(write_row(&b, 0, 6000, NULL), SINTER_OK);
    cr_assert_eq(metrics_of(&b, 1).flushes, 0);
    for (int i = 0; metrics_of(&b, 1).flushes == 0; i++) {
        cr_assert_lt(i, 100, "the pool is full by now");
        cr_assert_eq(write_row(&b, 2, 6000, NULL), SINTER_OK);
    }
    cr_expect_eq(rows_in_files(&b, 1), 100, "all of the largest one's rows");
    cr_expect_eq(metrics_of(&b, 0).flushes, 0);
    cr_expect_eq(metrics_of(&b, 2).flushes, 0);
    close_bed(&b);
}

Test(compact_write_pool, a_spillable_buffer_spills_to_give_way)
{
    bed b;

    open_bed(&b, 1 << 20, true);
    for (int i = 0; i < 600; i++) {
        cr_assert_eq(write_row(&b, (size_t)i % TREES, 6000, NULL), SINTER_OK);
    }
    cr_expect_gt(metrics_of(&b, 0).spills + metrics_of(&b, 1).spills + metrics_of(&b, 2).spills, 2);
    for (size_t t = 0; t < TREES; t++) {
        cr_expect_eq(metrics_of(&b, t).flushes, 0);
        cr_assert_eq(sinter_merge_tree_flush(b.trees[t], NULL), SINTER_OK);
        cr_expect_eq(rows_in_files(&b, t), 200);
    }
    close_bed(&b);
}

Test(compact_write_pool, a_row_larger_than_the_pool_is_refused_and_no_row_is_lost)
{
    sinter_error err = SINTER_ERROR_INIT;
    bed b;

    open_bed(&b, 256 << 10, false);
    cr_assert_eq(write_row(&b, 0, 1000, NULL), SINTER_OK);
    cr_assert_eq(write_row(&b, 1, 1000, NULL), SINTER_OK);
    cr_expect_eq(write_row(&b, 0, 512 << 10, &err), SINTER_E_TOO_LARGE);
    cr_expect_neq(err.text[0], '\0');
    cr_assert_eq(write_row(&b, 0, 1000, NULL), SINTER_OK);
    for (size_t t = 0; t < TREES; t++) {
        cr_assert_eq(sinter_merge_tree_flush(b.trees[t], NULL), SINTER_OK);
    }
    cr_expect_eq(rows_in_files(&b, 0), 2);
    cr_expect_eq(rows_in_files(&b, 1), 1);
    close_bed(&b);
}

Test(compact_write_pool, a_tree_at_its_own_limit_flushes_itself)
{
    bed b;

    open_bed(&b, 4 << 20, false);
    for (int i = 0; i < 200; i++) {
        cr_assert_eq(write_row(&b, 1, 6000, NULL), SINTER_OK);
    }
    sinter_merge_tree_close(b.trees[0]);
    b.options.write_buffer_bytes = 256 << 10;
    {
        const sinter_merge_tree_config config = {
            .struct_size = sizeof config, .task = &b.tasks[0], .max_sequence = -1, .pool = b.pool};

        cr_assert_eq(sinter_merge_tree_open(&b.w.env, &config, &b.trees[0], NULL), SINTER_OK);
    }
    while (metrics_of(&b, 0).flushes < 2) {
        cr_assert_eq(write_row(&b, 0, 6000, NULL), SINTER_OK);
    }
    cr_expect_eq(metrics_of(&b, 1).flushes, 0, "another tree's memory would have been of no help");
    close_bed(&b);
}

Test(compact_write_pool, memory_that_was_kept_for_more_rows_is_given_up)
{
    bed b;

    open_bed(&b, 1 << 20, false);
    for (int round = 0; round < 3; round++) {
        for (size_t t = 0; t < TREES; t++) {
            const uint64_t before = metrics_of(&b, t).flushes;

            while (metrics_of(&b, t).flushes == before) {
                cr_assert_eq(write_row(&b, t, 3000, NULL), SINTER_OK);
            }
            cr_assert_eq(sinter_merge_tree_flush(b.trees[t], NULL), SINTER_OK);
        }
    }
    close_bed(&b);
}

Test(compact_write_pool, a_closed_tree_leaves_its_memory)
{
    bed b;

    open_bed(&b, 256 << 10, false);
    while (metrics_of(&b, 0).buffer_bytes < 150 << 10) {
        cr_assert_eq(write_row(&b, 0, 2000, NULL), SINTER_OK);
    }
    sinter_merge_tree_close(b.trees[0]);
    b.trees[0] = NULL;
    for (int i = 0; i < 30; i++) {
        cr_assert_eq(write_row(&b, 1, 2000, NULL), SINTER_OK);
        cr_assert_eq(write_row(&b, 2, 2000, NULL), SINTER_OK);
    }
    cr_expect_eq(metrics_of(&b, 1).flushes + metrics_of(&b, 2).flushes, 0, "there was room");
    close_bed(&b);
}

Test(compact_write_pool, bad_arguments_and_lost_allocations)
{
    sinter_write_pool *pool = NULL;
    sinter_status st = SINTER_E_NOMEM;

    cr_expect_eq(sinter_write_pool_create(NULL, 1 << 20, &pool, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_write_pool_create(sinter_env_default(), 1, &pool, NULL), SINTER_E_INVALID);
    cr_expect_null(pool);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter_write_pool_create(&fault.env, 1 << 20, &pool, NULL);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && pool == NULL));
        sinter_write_pool_destroy(pool);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    sinter_write_pool_destroy(NULL);
}
