#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compact/metrics.h"
#include "compact/scheduler.h"
#include "sinter/io.h"
#include "support/records.h"

TestSuite(compact_scheduler_threads, .timeout = 120);

enum { JOBS = 24, WRITERS = 4, ROUNDS = 60 };

typedef struct world world;

typedef struct busy_job {
    sinter__job job;
    sinter__bucket_counters counters;
    world *world;
    char name[8];
    atomic_bool is_running;
    _Atomic uint32_t looks; /* how often it asks before it ends */
    _Atomic uint64_t runs;
} busy_job;

struct world {
    sinter_env env;
    sinter_pool *pool;
    sinter_scheduler *scheduler;
    busy_job jobs[JOBS];
    _Atomic uint32_t running;
    _Atomic uint32_t running_most;
    _Atomic uint64_t memory;
    atomic_bool is_over;
    uint64_t seed;
};

static void
raise_to(_Atomic uint32_t *most, uint32_t value)
{
    uint32_t old = atomic_load(most);

    while (value > old && !atomic_compare_exchange_weak(most, &old, value)) {
    }
}

static sinter_status
be_busy(void *ctx, const sinter_env *env)
{
    busy_job *job = ctx;
    world *w = job->world;
    sinter_status st = SINTER_OK;
    sinter_io_stat stat;

    cr_assert_not(atomic_exchange(&job->is_running, true), "one run of a job at a time");
    raise_to(&w->running_most, atomic_fetch_add(&w->running, 1) + 1);
    cr_assert_leq(atomic_fetch_add(&w->memory, job->job.memory_bytes) + job->job.memory_bytes, 100);
    (void)atomic_fetch_add(&job->runs, 1);
    for (uint32_t i = atomic_load(&job->looks); i > 0 && st == SINTER_OK; i--) {
        (void)env->io->ops->stat(env->io, "/", &stat, NULL);
        (void)sched_yield();
        if (sinter__scheduler_should_stop(w->scheduler, &job->job)) {
            st = SINTER_E_CANCELLED;
        }
    }
    (void)atomic_fetch_sub(&w->memory, job->job.memory_bytes);
    (void)atomic_fetch_sub(&w->running, 1);
    atomic_store(&job->is_running, false);
    return st;
}

static void
world_begin(world *w, uint32_t threads, sinter_scheduler_options *options)
{
    memset(w, 0, sizeof *w);
    sinter_env_init(&w->env);
    options->struct_size = (uint32_t)sizeof *options;
    options->memory_bytes = 100;
    if (threads > 0) {
        cr_assert_eq(sinter_pool_create(sinter_env_default(), threads, 8, &w->pool, NULL),
                     SINTER_OK);
        w->env.executor = sinter_pool_executor(w->pool);
    }
    cr_assert_eq(sinter_scheduler_create(&w->env, options, &w->scheduler, NULL), SINTER_OK);
    for (unsigned i = 0; i < JOBS; i++) {
        busy_job *job = &w->jobs[i];

        (void)snprintf(job->name, sizeof job->name, "b%u", i);
        job->world = w;
        job->job = (sinter__job){.run = be_busy,
                                 .ctx = job,
                                 .counters = &job->counters,
                                 .name = job->name,
                                 .memory_bytes = 10 + 6 * (i % 16)};
        sinter__scheduler_enter(w->scheduler, &job->job);
    }
}

static void
world_end(world *w)
{
    sinter_scheduler_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};

    sinter_scheduler_metrics_get(w->scheduler, &metrics);
    cr_expect_eq(metrics.submitted, metrics.completed + metrics.failed + metrics.cancelled);
    cr_expect(metrics.queued == 0 && metrics.running == 0 && metrics.memory_bytes == 0);
    for (unsigned i = 0; i < JOBS; i++) {
        sinter__scheduler_leave(w->scheduler, &w->jobs[i].job);
    }
    sinter_scheduler_destroy(w->scheduler);
    sinter_pool_destroy(w->pool);
}

static sinter__job_state
state_of(const busy_job *job)
{
    return (sinter__job_state)atomic_load(&job->job.state);
}

static void
until_running(const busy_job *job)
{
    while (!atomic_load(&job->is_running)) {
        (void)sched_yield();
    }
}

/* ---- standing still ---- */

Test(compact_scheduler_threads, a_job_that_stands_still_ends_when_it_is_cancelled)
{
    sinter_scheduler_options options = {.tasks_max = 1};
    static world w;
    busy_job *job = &w.jobs[0];

    world_begin(&w, 1, &options);
    job->looks = UINT32_MAX;
    cr_assert_eq(sinter__scheduler_submit(w.scheduler, &job->job, NULL), SINTER_OK);
    until_running(job);
    sinter_scheduler_pause(w.scheduler);
    cr_expect_eq(sinter__scheduler_wait(w.scheduler, &job->job, NULL), SINTER_E_BUSY);
    cr_expect_eq(sinter_scheduler_drain(w.scheduler, NULL), SINTER_E_BUSY);
    sinter__scheduler_cancel(w.scheduler, &job->job);
    cr_expect_eq(sinter__scheduler_wait(w.scheduler, &job->job, NULL), SINTER_OK, "though paused");
    cr_expect_eq(state_of(job), SINTER__JOB_DONE);
    sinter__scheduler_reset(w.scheduler, &job->job);
    world_end(&w);
}

Test(compact_scheduler_threads, a_job_that_stands_still_goes_on_when_it_is_resumed)
{
    sinter_scheduler_options options = {.tasks_max = 1};
    static world w;
    busy_job *job = &w.jobs[0];

    world_begin(&w, 1, &options);
    job->looks = 2000;
    cr_assert_eq(sinter__scheduler_submit(w.scheduler, &job->job, NULL), SINTER_OK);
    for (int i = 0; i < 20; i++) {
        sinter_scheduler_pause(w.scheduler);
        (void)sched_yield();
        sinter_scheduler_resume(w.scheduler);
    }
    cr_expect_eq(sinter__scheduler_wait(w.scheduler, &job->job, NULL), SINTER_OK);
    cr_expect_eq(job->runs, 1);
    sinter__scheduler_reset(w.scheduler, &job->job);
    world_end(&w);
}

/* ---- a trigger that waits for a place ---- */

static void *
submit_it(void *arg)
{
    busy_job *job = arg;

    cr_assert_eq(sinter__scheduler_submit(job->world->scheduler, &job->job, NULL), SINTER_OK);
    return NULL;
}

Test(compact_scheduler_threads, a_job_that_waits_for_a_place_in_the_queue_can_be_cancelled)
{
    sinter_scheduler_options options = {
        .tasks_max = 1, .queue_max = 1, .when_full = SINTER_QUEUE_WAIT};
    static world w;
    pthread_t thread;

    world_begin(&w, 1, &options);
    w.jobs[0].looks = UINT32_MAX;
    cr_assert_eq(sinter__scheduler_submit(w.scheduler, &w.jobs[0].job, NULL), SINTER_OK);
    until_running(&w.jobs[0]);
    cr_assert_eq(sinter__scheduler_submit(w.scheduler, &w.jobs[1].job, NULL), SINTER_OK);
    cr_assert_eq(pthread_create(&thread, NULL, submit_it, &w.jobs[2]), 0);
    while (state_of(&w.jobs[2]) != SINTER__JOB_QUEUED) {
        (void)sched_yield();
    }
    sinter__scheduler_cancel(w.scheduler, &w.jobs[2].job);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_expect(state_of(&w.jobs[2]) == SINTER__JOB_DONE && w.jobs[2].runs == 0);
    sinter_scheduler_cancel_all(w.scheduler);
    cr_expect_eq(sinter_scheduler_drain(w.scheduler, NULL), SINTER_OK);
    for (unsigned i = 0; i < 3; i++) {
        sinter__scheduler_reset(w.scheduler, &w.jobs[i].job);
    }
    world_end(&w);
}

Test(compact_scheduler_threads, a_trigger_that_waits_for_a_place_returns_when_there_is_one)
{
    sinter_scheduler_options options = {
        .tasks_max = 1, .queue_max = 1, .when_full = SINTER_QUEUE_WAIT};
    static world w;
    pthread_t threads[2];

    world_begin(&w, 1, &options);
    w.jobs[0].looks = 100;
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(sinter__scheduler_submit(w.scheduler, &w.jobs[i].job, NULL), SINTER_OK);
        cr_assert_eq(pthread_create(&threads[i], NULL, submit_it, &w.jobs[2 + i]), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    cr_expect_eq(sinter_scheduler_drain(w.scheduler, NULL), SINTER_OK);
    for (unsigned i = 0; i < 4; i++) {
        cr_expect_eq(w.jobs[i].runs, 1);
        sinter__scheduler_reset(w.scheduler, &w.jobs[i].job);
    }
    world_end(&w);
}

/* ---- everything at once ---- */

typedef struct writer {
    world *world;
    unsigned number;
    test_rng random;
} writer;

/* End a job one way or another. */
static void
finish(writer *self, busy_job *job)
{
    sinter_scheduler *scheduler = self->world->scheduler;

    if (test_rng_chance(&self->random, 20)) {
        sinter__scheduler_cancel(scheduler, &job->job);
    }
    while (state_of(job) != SINTER__JOB_DONE) {
        const sinter_status st = sinter__scheduler_wait(scheduler, &job->job, NULL);

        cr_assert(st == SINTER_OK || st == SINTER_E_BUSY);
        if (st == SINTER_E_BUSY && test_rng_chance(&self->random, 10)) {
            sinter__scheduler_cancel(scheduler, &job->job);
        }
        (void)sched_yield();
    }
    cr_assert_not(atomic_load(&job->is_running));
    sinter__scheduler_reset(scheduler, &job->job);
}

static void *
write_and_wait(void *arg)
{
    writer *self = arg;
    world *w = self->world;

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = self->number; i < JOBS; i += WRITERS) {
            busy_job *job = &w->jobs[i];

            if (state_of(job) == SINTER__JOB_IDLE) {
                sinter__scheduler_set_need(w->scheduler, &job->job,
                                           (uint32_t)test_rng_below(&self->random, 30));
                job->looks = (uint32_t)test_rng_below(&self->random, 60);
                (void)sinter__scheduler_submit(w->scheduler, &job->job, NULL);
            }
            if (state_of(job) != SINTER__JOB_IDLE && test_rng_chance(&self->random, 40)) {
                finish(self, job);
            }
        }
    }
    for (unsigned i = self->number; i < JOBS; i += WRITERS) {
        if (state_of(&w->jobs[i]) != SINTER__JOB_IDLE) {
            finish(self, &w->jobs[i]);
        }
    }
    return NULL;
}

static sinter_status
count_text(void *ctx, const char *text, size_t size)
{
    (void)text;
    *(size_t *)ctx += size;
    return SINTER_OK;
}

/* Changes whatever can be changed. */
static void *
meddle(void *arg)
{
    world *w = arg;
    test_rng random = {w->seed + 1000};

    while (!atomic_load(&w->is_over)) {
        const unsigned i = (unsigned)test_rng_below(&random, JOBS);
        sinter_status st = SINTER_OK;
        size_t bytes = 0;

        switch (test_rng_below(&random, 8)) {
        case 0:
            sinter_scheduler_pause(w->scheduler);
            break;
        case 1:
            cr_assert_eq(sinter_scheduler_set_tasks_max(
                             w->scheduler, 1 + (uint32_t)test_rng_below(&random, 4), NULL),
                         SINTER_OK);
            break;
        case 2:
            cr_assert_eq(sinter_scheduler_set_rate(w->scheduler,
                                                   test_rng_below(&random, 2) * 1000000000, NULL),
                         SINTER_OK);
            break;
        case 3:
            sinter__scheduler_cancel(w->scheduler, &w->jobs[i].job);
            break;
        case 4:
            sinter__scheduler_set_need(w->scheduler, &w->jobs[i].job,
                                       (uint32_t)test_rng_below(&random, 50));
            break;
        case 5:
            cr_assert_eq(sinter_scheduler_export(w->scheduler, count_text, &bytes, NULL),
                         SINTER_OK);
            cr_assert_gt(bytes, 1000);
            break;
        case 6:
            st = sinter_scheduler_run_one(w->scheduler);
            cr_assert(st == SINTER_OK || st == SINTER_END);
            break;
        default:
            if (test_rng_chance(&random, 5)) {
                sinter_scheduler_cancel_all(w->scheduler);
            }
        }
        sinter_scheduler_resume(w->scheduler);
        (void)sched_yield();
    }
    return NULL;
}

Test(compact_scheduler_threads, hundreds_of_jobs_end_whatever_is_changed_meanwhile)
{
    static const int32_t policies[] = {SINTER_QUEUE_REFUSE, SINTER_QUEUE_WAIT,
                                       SINTER_QUEUE_RUN_IN_CALLER};
    uint64_t all_runs = 0;

    for (uint64_t seed = 0; seed < 9; seed++) {
        sinter_scheduler_options options = {.tasks_max = 2 + (uint32_t)(seed % 3),
                                            .when_full = policies[seed % 3],
                                            .queue_max = seed % 2 == 0 ? 3 : 0};
        static world w;
        writer writers[WRITERS];
        pthread_t threads[WRITERS + 1];
        uint64_t runs = 0;

        world_begin(&w, (uint32_t)(seed / 3), &options); /* none, one, two */
        w.seed = seed;
        for (unsigned i = 0; i < WRITERS; i++) {
            writers[i] = (writer){.world = &w, .number = i, .random = {seed * 100 + i}};
            cr_assert_eq(pthread_create(&threads[i], NULL, write_and_wait, &writers[i]), 0);
        }
        cr_assert_eq(pthread_create(&threads[WRITERS], NULL, meddle, &w), 0);
        for (unsigned i = 0; i < WRITERS; i++) {
            cr_assert_eq(pthread_join(threads[i], NULL), 0);
        }
        atomic_store(&w.is_over, true);
        cr_assert_eq(pthread_join(threads[WRITERS], NULL), 0);
        cr_expect_eq(sinter_scheduler_drain(w.scheduler, NULL), SINTER_OK);
        for (unsigned i = 0; i < JOBS; i++) {
            runs += w.jobs[i].runs;
        }
        /* How many are refused or cancelled before they run is a matter of time. */
        cr_expect_gt(runs, 0, "seed %llu", (unsigned long long)seed);
        all_runs += runs;
        world_end(&w);
    }
    cr_expect_gt(all_runs, 500);
}
