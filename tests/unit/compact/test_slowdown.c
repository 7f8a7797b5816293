/*
 * Writers become slower before they have to stand still, and failures in the background are told.
 */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "sinter/merge_tree.h"
#include "world.h"

TestSuite(compact_slowdown, .timeout = 60);

/** A bucket whose compaction goes on until it is let go, and a clock that the test moves. */
typedef struct bed {
    sinter_env env;
    sinter_io *io;
    sinter_pool *pool;
    sinter_scheduler *scheduler;
    sinter_merge_tree *tree;
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_rewriter rewriter;
    sinter_listener listener;
    sinter_status outcome; /* of the compaction */
    atomic_bool has_begun;
    atomic_bool may_end;
    _Atomic int64_t now_ns;
    _Atomic int sleeps;
    int sleeps_until_end; /* the compaction ends after so many */
    _Atomic int errors;
} bed;

static int64_t
now_ns(void *ctx)
{
    return atomic_load(&((bed *)ctx)->now_ns);
}

static int64_t
noon(void *ctx)
{
    (void)ctx;
    return 43200000;
}

/* Let the compaction end, and come back when it has: the clock stands still meanwhile. */
static void
end_compaction(bed *b)
{
    sinter_scheduler_metrics metrics = {.struct_size = sizeof metrics};

    atomic_store(&b->may_end, true);
    do {
        (void)sched_yield();
        sinter_scheduler_metrics_get(b->scheduler, &metrics);
    } while (metrics.queued > 0 || metrics.running > 0);
    /* Whoever ended it may still hold the scheduler's lock; this takes it too. */
    cr_expect_eq(sinter_scheduler_run_one(b->scheduler), SINTER_END);
}

static void
sleep_ns(void *ctx, int64_t ns)
{
    bed *b = ctx;

    atomic_fetch_add(&b->now_ns, ns);
    if (atomic_fetch_add(&b->sleeps, 1) + 1 == b->sleeps_until_end) {
        end_compaction(b);
    }
    (void)sched_yield();
}

static sinter_status
rewrite(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
        sinter_error *err)
{
    bed *b = ctx;

    (void)request;
    (void)result;
    atomic_store(&b->has_begun, true);
    while (!atomic_load(&b->may_end)) {
        (void)sched_yield();
    }
    if (b->outcome != SINTER_OK && err != NULL) {
        *err = (sinter_error)SINTER_ERROR_INIT;
        err->status = b->outcome;
        strcpy(err->text, "the test says so");
        strcpy(err->file, "x.sst");
    }
    return b->outcome;
}

static void
note_error(void *ctx, const sinter_event *event)
{
    bed *b = ctx;

    cr_expect_str_eq(event->bucket, "b");
    cr_expect_eq(event->status, SINTER_E_CORRUPT);
    cr_expect_str_eq(event->file, "x.sst");
    cr_expect_str_eq(event->text, "the test says so");
    b->errors++;
}

static void
open_bed(bed *b)
{
    const sinter_scheduler_options options = {.struct_size = sizeof options};
    sinter_merge_tree_config config = {.struct_size = sizeof config, .max_sequence = -1};

    memset(b, 0, sizeof *b);
    sinter_env_init(&b->env);
    cr_assert_eq(sinter_io_create(&b->env, SINTER_IO_MEMORY, NULL, &b->io, NULL), SINTER_OK);
    cr_assert_eq(b->io->ops->mkdir(b->io, "bucket", NULL), SINTER_OK);
    b->listener = (sinter_listener){
        .struct_size = sizeof b->listener, .ctx = b, .background_error = note_error};
    b->env.io = b->io;
    b->env.listener = &b->listener;
    b->env.clock = (sinter_clock){.struct_size = sizeof b->env.clock,
                                  .ctx = b,
                                  .wall_ms = noon,
                                  .monotonic_ns = now_ns,
                                  .cpu_ns = now_ns,
                                  .sleep_ns = sleep_ns};
    cr_assert_eq(sinter_pool_create(&b->env, 1, 16, &b->pool, NULL), SINTER_OK);
    b->env.executor = sinter_pool_executor(b->pool);
    cr_assert_eq(sinter_scheduler_create(&b->env, &options, &b->scheduler, NULL), SINTER_OK);
    sinter_compact_options_init(&b->options);
    b->options.write_buffer_bytes = 128 << 10;
    b->options.write_buffer_spillable = false;
    b->options.num_sorted_run_trigger = 2;
    b->options.num_sorted_run_stop = 6;
    sinter_compact_task_init(&b->task);
    b->rewriter =
        (sinter_rewriter){.struct_size = sizeof b->rewriter, .ctx = b, .rewrite = rewrite};
    b->task.base_dir = "bucket";
    b->task.options = &b->options;
    b->task.rewriter = &b->rewriter;
    config.name = "b";
    config.task = &b->task;
    config.scheduler = b->scheduler;
    cr_assert_eq(sinter_merge_tree_open(&b->env, &config, &b->tree, NULL), SINTER_OK);
}

static void
close_bed(bed *b)
{
    atomic_store(&b->may_end, true);
    sinter_merge_tree_close(b->tree);
    sinter_scheduler_destroy(b->scheduler);
    sinter_pool_destroy(b->pool);
    sinter_io_destroy(b->io);
}

/* Write rows until the tree has flushed `flushes` times; a tenth of a second passes with each. */
static void
write_until(bed *b, uint64_t flushes)
{
    static uint8_t value[8 << 10];
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};
    uint32_t key = 0;

    do {
        const uint8_t bytes[4] = {(uint8_t)(key >> 24), (uint8_t)(key >> 16), (uint8_t)(key >> 8),
                                  (uint8_t)key};

        key++;
        atomic_fetch_add(&b->now_ns, 100 * 1000 * 1000);
        cr_assert_eq(sinter_merge_tree_write(b->tree, (sinter_bytes){bytes, 4}, SINTER_KIND_INSERT,
                                             (sinter_bytes){value, sizeof value}, NULL),
                     SINTER_OK);
        sinter_merge_tree_metrics_get(b->tree, &metrics);
        while (metrics.compactions > 0 && !atomic_load(&b->has_begun)) {
            (void)sched_yield();
        }
    } while (metrics.flushes < flushes);
}

static sinter_bucket_metrics
metrics_of(const bed *b)
{
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};

    sinter_merge_tree_metrics_get(b->tree, &metrics);
    return metrics;
}

Test(compact_slowdown, a_writer_gives_the_compaction_time_before_it_has_to_stop)
{
    sinter_bucket_metrics metrics;
    bed b;

    open_bed(&b);
    write_until(&b, 2);
    metrics = metrics_of(&b);
    cr_assert_eq(metrics.compactions, 1);
    cr_expect_eq(metrics.slowdowns, 0, "two runs are the trigger, no more");
    write_until(&b, 3);
    metrics = metrics_of(&b);
    cr_expect_eq(metrics.slowdowns, 1);
    cr_expect_eq(metrics.slowdown_ns, 200 * 1000 * 1000,
                 "one run of five too many: a fifth of a second, the most there is");
    write_until(&b, 6);
    metrics = metrics_of(&b);
    cr_expect_eq(metrics.slowdowns, 4);
    cr_expect_eq(metrics.slowdown_ns, (200 + 400 + 600 + 800) * (uint64_t)1000 * 1000);
    cr_expect_eq(metrics.stalls, 0);
    close_bed(&b);
}

Test(compact_slowdown, it_goes_on_when_the_compaction_ends)
{
    sinter_bucket_metrics metrics;
    bed b;

    open_bed(&b);
    write_until(&b, 2);
    b.sleeps_until_end = 7;
    write_until(&b, 3);
    metrics = metrics_of(&b);
    cr_expect_eq(b.sleeps, 7);
    cr_expect_eq(metrics.slowdown_ns, 7 * 1000 * 1000);
    close_bed(&b);
}

Test(compact_slowdown, commits_and_flushes_that_were_asked_for_are_not_slowed)
{
    sinter_increment *increment = NULL;
    bed b;

    open_bed(&b);
    write_until(&b, 2);
    for (uint8_t i = 0; i < 3; i++) {
        atomic_fetch_add(&b.now_ns, 1000 * 1000 * 1000);
        cr_assert_eq(sinter_merge_tree_write(b.tree, (sinter_bytes){&i, 1}, SINTER_KIND_INSERT,
                                             (sinter_bytes){&i, 1}, NULL),
                     SINTER_OK);
        cr_assert_eq(sinter_merge_tree_flush(b.tree, NULL), SINTER_OK);
    }
    cr_assert_eq(sinter_merge_tree_prepare_commit(b.tree, false, &increment, NULL), SINTER_OK);
    sinter_increment_destroy(increment);
    cr_expect_eq(metrics_of(&b).slowdowns, 0);
    cr_expect_eq(b.sleeps, 0);
    close_bed(&b);
}

Test(compact_slowdown, a_failure_in_the_background_is_told_at_once_and_returned_later)
{
    sinter_error err = SINTER_ERROR_INIT;
    bed b;

    open_bed(&b);
    b.outcome = SINTER_E_CORRUPT;
    write_until(&b, 2);
    atomic_store(&b.may_end, true);
    cr_expect_eq(sinter_merge_tree_compact(b.tree, false, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.text, "the test says so");
    cr_expect_eq(b.errors, 1);
    b.outcome = SINTER_OK;
    cr_expect_eq(sinter_merge_tree_compact(b.tree, true, &err), SINTER_OK, "it can be done again");
    close_bed(&b);
}
