/*
 * Whole compactions as jobs of a scheduler: what they move is counted, and wherever one is
 * cancelled, it ends in time and leaves nothing behind.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "compact/scheduler.h"
#include "sinter/manager.h"
#include "world.h"

TestSuite(compact_scheduler_task, .timeout = 120);

#define SECOND INT64_C(1000000000)

/* A bucket, and a job that compacts all of it. */
typedef struct compaction {
    world w;
    sinter_env
        env; /* the scheduler's: the world's with a clock that goes on when somebody sleeps */
    int64_t now_ns;
    unsigned sleeps;
    unsigned cancel_at; /* the sleep in which it is cancelled; 0: never */
    int64_t cancelled_ns;
    sinter_scheduler *scheduler;
    sinter__job job;
    sinter_file_meta unit[8];
    sinter_compact_result *result;
    sinter_status status;
} compaction;

static int64_t
now_ns(void *ctx)
{
    return ((compaction *)ctx)->now_ns;
}

static int64_t
now_ms(void *ctx)
{
    return ((compaction *)ctx)->now_ns / 1000000;
}

static int64_t
no_cpu_ns(void *ctx)
{
    (void)ctx;
    return 0;
}

static void
sleep_ns(void *ctx, int64_t ns)
{
    compaction *c = ctx;

    c->now_ns += ns;
    if (++c->sleeps == c->cancel_at) {
        c->cancelled_ns = c->now_ns;
        sinter__scheduler_cancel(c->scheduler, &c->job);
    }
}

static bool
should_stop(void *ctx)
{
    compaction *c = ctx;

    return sinter__scheduler_should_stop(c->scheduler, &c->job);
}

static sinter_status
compact(void *ctx, const sinter_env *env)
{
    compaction *c = ctx;
    sinter_compact_task task;

    world_task(&c->w, NULL, 0, c->unit, &task);
    task.output_level = 5;
    task.is_cancelled = should_stop;
    task.cancel_ctx = c;
    c->status = sinter_compact_task_run(env, &task, &c->result, NULL);
    return c->status;
}

static void
compaction_begin(compaction *c, sinter_io_limit_mode mode, uint64_t bytes_per_second)
{
    const sinter_scheduler_options options = {.struct_size = (uint32_t)sizeof options,
                                              .limit_mode = (int32_t)mode,
                                              .bytes_per_second = bytes_per_second};

    memset(c, 0, sizeof *c);
    world_init(&c->w, false, NULL);
    for (unsigned i = 0; i < 4; i++) {
        (void)world_add_rows(&c->w, 0, i, 3, 300, (int64_t)i * 1000 + 1, 100);
    }
    c->now_ns = 1000 * SECOND;
    c->env = c->w.env;
    c->env.clock = (sinter_clock){.struct_size = (uint32_t)sizeof c->env.clock,
                                  .ctx = c,
                                  .wall_ms = now_ms,
                                  .monotonic_ns = now_ns,
                                  .cpu_ns = no_cpu_ns,
                                  .sleep_ns = sleep_ns};
    cr_assert_eq(sinter_scheduler_create(&c->env, &options, &c->scheduler, NULL), SINTER_OK);
    c->job = (sinter__job){.run = compact, .ctx = c, .memory_bytes = 8 << 20, .need = 4};
    sinter__scheduler_enter(c->scheduler, &c->job);
    cr_assert_eq(sinter__scheduler_submit(c->scheduler, &c->job, NULL), SINTER_OK);
}

static sinter_scheduler_metrics
compaction_end(compaction *c)
{
    sinter_scheduler_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};

    sinter_scheduler_metrics_get(c->scheduler, &metrics);
    sinter_compact_result_destroy(c->result);
    sinter__scheduler_leave(c->scheduler, &c->job);
    sinter_scheduler_destroy(c->scheduler);
    world_fini(&c->w);
    return metrics;
}

/* Wish 3: read and written agree with what the io layer counted. */
Test(compact_scheduler_task, the_bytes_that_tasks_moved_are_those_that_the_io_counted)
{
    sinter_io_counters before = {.struct_size = (uint32_t)sizeof before};
    sinter_io_counters after = {.struct_size = (uint32_t)sizeof after};
    sinter_scheduler_metrics metrics;
    compaction c;

    compaction_begin(&c, SINTER_IO_LIMIT_WRITES, 0);
    sinter_io_counters_get(c.w.io, &before);
    cr_assert_eq(sinter_scheduler_run_one(c.scheduler), SINTER_OK);
    cr_assert_eq(c.status, SINTER_OK);
    sinter_io_counters_get(c.w.io, &after);
    metrics = compaction_end(&c);
    cr_expect_gt(metrics.read_bytes, 30000);
    cr_expect_gt(metrics.written_bytes, 10000);
    cr_expect_eq(metrics.read_bytes, after.read_bytes - before.read_bytes);
    cr_expect_eq(metrics.written_bytes, after.written_bytes - before.written_bytes);
    cr_expect_eq(metrics.completed, 1);
}

/* Wish 4: wherever it waits for tokens, it ends within 100 ms, and the directory is as before. */
Test(compact_scheduler_task, a_task_that_waits_for_the_rate_can_be_cancelled_at_every_moment)
{
    sinter_status st = SINTER_E_CANCELLED;
    unsigned cancelled = 0;

    for (unsigned n = 1; st == SINTER_E_CANCELLED; n++) {
        size_t names = 0;
        compaction c;

        compaction_begin(&c, SINTER_IO_LIMIT_ALL, 10000);
        names = world_name_count(&c.w);
        c.cancel_at = n;
        cr_assert_eq(sinter_scheduler_run_one(c.scheduler), SINTER_OK);
        st = c.status;
        if (st == SINTER_E_CANCELLED) {
            cancelled++;
            cr_assert_null(c.result);
            cr_assert_leq(c.now_ns - c.cancelled_ns, SECOND / 10, "cancelled in sleep %u", n);
            cr_assert_eq(world_name_count(&c.w), names, "cancelled in sleep %u", n);
        } else {
            cr_assert_eq(st, SINTER_OK);
            cr_expect_gt(world_name_count(&c.w), names);
        }
        cr_assert_eq(compaction_end(&c).cancelled, st == SINTER_OK ? 0 : 1);
    }
    cr_expect_gt(cancelled, 50);
}

/* ---- a manager's tasks ---- */

typedef struct failure_news {
    unsigned count;
    uint64_t job_id;
    char text[512];
    char bucket[16];
    sinter_manager *manager; /* to be cancelled by the listener; NULL: not */
} failure_news;

static void
note_failure(void *ctx, const sinter_event *event)
{
    failure_news *news = ctx;

    cr_assert_eq(event->status, SINTER_E_NO_SPACE);
    news->count++;
    news->job_id = event->job_id;
    (void)strncpy(news->text, event->text, sizeof news->text - 1);
    (void)strncpy(news->bucket, event->bucket, sizeof news->bucket - 1);
}

static void
cancel_manager(void *ctx, const sinter_event *event)
{
    failure_news *news = ctx;

    (void)event;
    sinter_manager_cancel(news->manager);
}

/* A world, a scheduler over it whose io may fail, and a manager of all files. */
typedef struct managed {
    world w;
    sinter_io *fault;
    sinter_env env;
    sinter_scheduler *scheduler;
    sinter_manager *manager;
    sinter_compact_task task;
    sinter_listener listener;
    failure_news news;
} managed;

static void
managed_begin(managed *m)
{
    sinter_manager_config config = {.struct_size = (uint32_t)sizeof config, .name = "bucket-7"};
    sinter_file_meta unit[4];

    memset(m, 0, sizeof *m);
    world_init(&m->w, false, NULL);
    for (unsigned i = 0; i < 4; i++) {
        (void)world_add_rows(&m->w, 0, i, 3, 300, (int64_t)i * 1000 + 1, 100);
    }
    m->listener = (sinter_listener){.struct_size = (uint32_t)sizeof m->listener,
                                    .ctx = &m->news,
                                    .background_error = note_failure};
    m->env = m->w.env;
    m->env.listener = &m->listener;
    cr_assert_eq(sinter_io_fault_create(&m->w.env, m->w.io, NULL, &m->fault, NULL), SINTER_OK);
    m->env.io = m->fault;
    cr_assert_eq(sinter_scheduler_create(&m->env, NULL, &m->scheduler, NULL), SINTER_OK);
    world_task(&m->w, NULL, 0, unit, &m->task);
    m->task.files = NULL;
    m->task.count = 0;
    config.task = &m->task;
    config.scheduler = m->scheduler;
    config.files = m->w.files;
    config.count = m->w.count;
    cr_assert_eq(sinter_manager_create(&m->env, &config, &m->manager, NULL), SINTER_OK);
}

static void
managed_end(managed *m)
{
    sinter_manager_destroy(m->manager);
    sinter_scheduler_destroy(m->scheduler);
    sinter_io_destroy(m->fault);
    world_fini(&m->w);
}

Test(compact_scheduler_task, a_task_that_fails_is_told_with_its_bucket_and_again_with_its_result)
{
    const sinter_fault_options rule = {
        .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_ENOSPC, .only_op = "append"};
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    static managed m;

    managed_begin(&m);
    sinter_io_fault_set(m.fault, &rule);
    cr_assert_eq(sinter_manager_trigger(m.manager, true, NULL), SINTER_OK);
    cr_expect_eq(sinter_manager_take_result(m.manager, true, &result, &err), SINTER_E_NO_SPACE);
    cr_expect_eq(m.news.count, 1);
    cr_expect_str_eq(m.news.bucket, "bucket-7");
    cr_expect_str_eq(m.news.text, err.text);
    cr_expect_eq(m.news.job_id, 1);
    sinter_io_fault_set(m.fault, NULL);
    cr_assert_eq(sinter_manager_trigger(m.manager, true, NULL), SINTER_OK);
    cr_expect_eq(sinter_manager_take_result(m.manager, true, &result, &err), SINTER_OK);
    cr_expect_eq(m.news.count, 1);
    sinter_compact_result_destroy(result);
    managed_end(&m);
}

/* Whatever it is told of, a listener may cancel the task that tells it. */
Test(compact_scheduler_task, a_listener_may_cancel_the_task_of_its_manager)
{
    static const size_t callbacks[] = {
        offsetof(sinter_listener, task_begin), offsetof(sinter_listener, file_created),
        offsetof(sinter_listener, file_deleted), offsetof(sinter_listener, progress),
        offsetof(sinter_listener, task_end)};

    for (size_t i = 0; i < sizeof callbacks / sizeof callbacks[0]; i++) {
        void (*callback)(void *, const sinter_event *) = cancel_manager;
        sinter_compact_result *result = NULL;
        sinter_status st = SINTER_OK;
        size_t names = 0;
        static managed m;

        managed_begin(&m);
        names = world_name_count(&m.w);
        m.news.manager = m.manager;
        memcpy((char *)&m.listener + callbacks[i], &callback, sizeof callback);
        cr_assert_eq(sinter_manager_trigger(m.manager, true, NULL), SINTER_OK);
        st = sinter_manager_take_result(m.manager, true, &result, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_END);
        cr_expect_eq(result != NULL, st == SINTER_OK);
        cr_expect(i != 0 || st == SINTER_END, "it can't have missed the first one");
        cr_expect(st == SINTER_OK || world_name_count(&m.w) == names);
        sinter_compact_result_destroy(result);
        managed_end(&m);
    }
}
