#include <criterion/criterion.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>

#include "sinter/io.h"
#include "sinter/merge_tree.h"
#include "support/executors.h"

TestSuite(compact_idle_buckets, .timeout = 120);

enum { BUCKETS = 10000, USED_BUCKETS = 100, BYTES_MAX = 2048, FILE_BYTES_MAX = 768 };

/* Bytes handed out and not given back, and a clock that counts how often it is asked. */
typedef struct tally {
    uint64_t bytes;
    uint64_t clock_calls;
} tally;

static void *
tally_allocate(void *ctx, size_t size)
{
    void *block = malloc(size);

    ((tally *)ctx)->bytes += malloc_usable_size(block);
    return block;
}

static void *
tally_resize(void *ctx, void *block, size_t size)
{
    const size_t before = malloc_usable_size(block);
    void *moved = realloc(block, size);

    if (moved != NULL) {
        ((tally *)ctx)->bytes += malloc_usable_size(moved) - before;
    }
    return moved;
}

static void
tally_release(void *ctx, void *block)
{
    ((tally *)ctx)->bytes -= malloc_usable_size(block);
    free(block);
}

static int64_t
tally_now(void *ctx)
{
    ((tally *)ctx)->clock_calls++;
    return 1;
}

/* Trees over one scheduler, in memory. */
typedef struct crowd {
    tally tally;
    test_executor executor;
    sinter_env env; /* of the io and the scheduler */
    sinter_env tree_env;
    sinter_io *io;
    sinter_scheduler *scheduler;
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_merge_tree *trees[BUCKETS];
} crowd;

static crowd *
crowd_open(size_t count)
{
    crowd *c = calloc(1, sizeof *c);
    sinter_merge_tree_config config = {.struct_size = sizeof config, .max_sequence = -1};

    cr_assert_not_null(c);
    sinter_env_init(&c->env);
    c->executor.kind = TEST_EXECUTOR_KEEPS;
    test_executor_use(&c->executor, &c->env);
    cr_assert_eq(sinter_io_create(&c->env, SINTER_IO_MEMORY, NULL, &c->io, NULL), SINTER_OK);
    c->env.io = c->io;
    cr_assert_eq(c->io->ops->mkdir(c->io, "table", NULL), SINTER_OK);
    cr_assert_eq(sinter_scheduler_create(&c->env, NULL, &c->scheduler, NULL), SINTER_OK);
    c->tree_env = c->env;
    c->tree_env.allocator = (sinter_allocator){.struct_size = sizeof c->tree_env.allocator,
                                               .ctx = &c->tally,
                                               .allocate = tally_allocate,
                                               .resize = tally_resize,
                                               .release = tally_release};
    c->tree_env.clock.ctx = &c->tally;
    c->tree_env.clock.wall_ms = tally_now;
    c->tree_env.clock.monotonic_ns = tally_now;
    c->tree_env.clock.cpu_ns = tally_now;
    sinter_compact_options_init(&c->options);
    sinter_compact_task_init(&c->task);
    c->task.base_dir = "table";
    c->task.options = &c->options;
    config.task = &c->task;
    config.scheduler = c->scheduler;
    config.name = "region=south,bucket=1024";
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(sinter_merge_tree_open(&c->tree_env, &config, &c->trees[i], NULL), SINTER_OK);
    }
    return c;
}

static void
crowd_close(crowd *c, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sinter_merge_tree_close(c->trees[i]);
    }
    cr_expect_eq(c->tally.bytes, 0);
    sinter_scheduler_destroy(c->scheduler);
    sinter_io_destroy(c->io);
    free(c);
}

Test(compact_idle_buckets, each_of_ten_thousand_takes_less_than_two_kibibytes_and_has_no_work)
{
    crowd *c = crowd_open(BUCKETS);
    sinter_scheduler_metrics metrics = {.struct_size = sizeof metrics};
    const uint64_t clock_calls = c->tally.clock_calls;

    cr_expect_lt(c->tally.bytes / BUCKETS, BYTES_MAX);
    sinter_scheduler_metrics_get(c->scheduler, &metrics);
    cr_expect_eq(metrics.buckets, BUCKETS);
    cr_expect_eq(c->executor.submitted, 0);
    cr_expect_eq(sinter_scheduler_run_one(c->scheduler), SINTER_END);
    cr_expect_eq(sinter_scheduler_drain(c->scheduler, NULL), SINTER_OK);
    cr_expect_eq(c->tally.clock_calls, clock_calls);
    crowd_close(c, BUCKETS);
}

static void
write_and_commit(sinter_merge_tree *tree)
{
    static const uint8_t key[] = "key";
    static const uint8_t value[100];
    sinter_increment *increment = NULL;

    cr_assert_eq(sinter_merge_tree_write(tree, (sinter_bytes){key, sizeof key}, SINTER_KIND_INSERT,
                                         (sinter_bytes){value, sizeof value}, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_merge_tree_prepare_commit(tree, false, &increment, NULL), SINTER_OK);
    cr_assert_eq(sinter_merge_tree_committed(tree, increment, NULL), SINTER_OK);
    sinter_increment_destroy(increment);
}

Test(compact_idle_buckets, a_commit_leaves_no_more_than_its_files_metadata)
{
    crowd *c = crowd_open(USED_BUCKETS);
    const uint64_t bytes = c->tally.bytes;

    for (size_t i = 0; i < USED_BUCKETS; i++) {
        write_and_commit(c->trees[i]);
    }
    cr_expect_lt((c->tally.bytes - bytes) / USED_BUCKETS, FILE_BYTES_MAX);
    cr_expect_eq(c->executor.submitted, 0);
    crowd_close(c, USED_BUCKETS);
}
