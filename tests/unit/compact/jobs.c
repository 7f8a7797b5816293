#include "jobs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static int64_t
now_ns(void *ctx)
{
    test_jobs *jobs = ctx;

    return atomic_fetch_add(&jobs->now_ns, jobs->tick_ns) + jobs->tick_ns;
}

static void
sleep_ns(void *ctx, int64_t ns)
{
    test_jobs *jobs = ctx;

    (void)atomic_fetch_add(&jobs->now_ns, ns);
    if (jobs->on_sleep != NULL) {
        jobs->on_sleep(jobs);
    }
}

void
test_jobs_init(test_jobs *jobs)
{
    memset(jobs, 0, sizeof *jobs);
    jobs->now_ns = 1000 * SECOND;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &jobs->io, NULL),
                 SINTER_OK);
    fault_alloc_init(&jobs->alloc, UINT64_MAX);
    jobs->env = jobs->alloc.env;
    jobs->env.io = jobs->io;
    jobs->env.clock.ctx = jobs;
    jobs->env.clock.monotonic_ns = now_ns;
    jobs->env.clock.sleep_ns = sleep_ns;
}

void
test_jobs_begin(test_jobs *jobs, const sinter_scheduler_options *options)
{
    cr_assert_eq(sinter_scheduler_create(&jobs->env, options, &jobs->scheduler, NULL), SINTER_OK);
}

void
test_jobs_end(test_jobs *jobs)
{
    for (unsigned i = 0; i < jobs->count; i++) {
        sinter__scheduler_leave(jobs->scheduler, &jobs->all[i].job);
    }
    sinter_scheduler_destroy(jobs->scheduler);
    test_executor_run(&jobs->executor); /* what comes late finds nothing */
    cr_assert_eq(jobs->alloc.live, 0);
    sinter_io_destroy(jobs->io);
}

static sinter_status
run(void *ctx, const sinter_env *env)
{
    test_job *job = ctx;

    cr_assert_eq(test_job_state(job), SINTER__JOB_RUNNING);
    job->runs++;
    job->turn = atomic_fetch_add(&job->jobs->turns, 1) + 1;
    return job->work != NULL ? job->work(job, env) : job->answer;
}

test_job *
test_jobs_add(test_jobs *jobs, uint32_t need)
{
    test_job *job = &jobs->all[jobs->count];

    cr_assert_lt(jobs->count, (unsigned)TEST_JOBS_MAX);
    jobs->count++;
    (void)snprintf(job->name, sizeof job->name, "b%u", jobs->count);
    job->jobs = jobs;
    job->job = (sinter__job){.run = run,
                             .ctx = job,
                             .counters = &job->counters,
                             .name = job->name,
                             .memory_bytes = 10,
                             .open_files = 1,
                             .need = need};
    sinter__scheduler_enter(jobs->scheduler, &job->job);
    return job;
}

void
test_job_submit(test_job *job)
{
    cr_assert_eq(sinter__scheduler_submit(job->jobs->scheduler, &job->job, NULL), SINTER_OK);
}

test_job *
test_jobs_submit(test_jobs *jobs, uint32_t need)
{
    test_job *job = test_jobs_add(jobs, need);

    test_job_submit(job);
    return job;
}

unsigned
test_jobs_run(test_jobs *jobs)
{
    unsigned count = 0;

    while (sinter_scheduler_run_one(jobs->scheduler) == SINTER_OK) {
        count++;
    }
    return count;
}

sinter__job_state
test_job_state(const test_job *job)
{
    return (sinter__job_state)atomic_load(&job->job.state);
}

void
test_job_expect_done(test_job *job, unsigned runs)
{
    cr_assert_eq(test_job_state(job), SINTER__JOB_DONE, "%s", job->name);
    cr_assert_eq(job->runs, runs, "%s ran %u times", job->name, job->runs);
    sinter__scheduler_reset(job->jobs->scheduler, &job->job);
}

sinter_scheduler_metrics
test_jobs_metrics(const test_jobs *jobs)
{
    sinter_scheduler_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};

    sinter_scheduler_metrics_get(jobs->scheduler, &metrics);
    return metrics;
}
