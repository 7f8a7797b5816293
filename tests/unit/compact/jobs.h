/*
 * Jobs for tests of the scheduler: each notes when it runs, and does what a test put into it.
 */
#ifndef SINTER_TESTS_COMPACT_JOBS_H
#define SINTER_TESTS_COMPACT_JOBS_H

#include "compact/metrics.h"
#include "compact/scheduler.h"
#include "sinter/io.h"
#include "support/executors.h"
#include "support/fault_alloc.h"

#define SECOND INT64_C(1000000000)

enum { TEST_JOBS_MAX = 64 };

typedef struct test_jobs test_jobs;

/** One bucket with its job. */
typedef struct test_job {
    sinter__job job;
    sinter__bucket_counters counters;
    test_jobs *jobs;
    char name[16];
    unsigned runs;
    unsigned turn; /* when it ran last: 1, 2, .. */
    sinter_status answer;
    sinter_status (*work)(struct test_job *job, const sinter_env *env); /* NULL: nothing */
    void *arg;
} test_job;

/** A scheduler on a clock that goes on only when somebody sleeps or a test says so. Confined but
 *  for the jobs. */
struct test_jobs {
    fault_alloc alloc;
    sinter_env env;
    sinter_io *io;
    test_executor executor;
    _Atomic int64_t now_ns;
    int64_t tick_ns; /* the clock goes on by that with each look */
    void (*on_sleep)(test_jobs *jobs);
    void *arg;
    sinter_scheduler *scheduler;
    _Atomic unsigned turns;
    test_job all[TEST_JOBS_MAX];
    unsigned count;
};

/** Set up, over files in memory. No executor; change `env` before test_jobs_begin(). */
void
test_jobs_init(test_jobs *jobs);

/** Make the scheduler; NULL: defaults. */
void
test_jobs_begin(test_jobs *jobs, const sinter_scheduler_options *options);

/** All buckets leave, and the scheduler goes: nothing may wait or run. */
void
test_jobs_end(test_jobs *jobs);

/** A new bucket. */
test_job *
test_jobs_add(test_jobs *jobs, uint32_t need);

/** Submit; must succeed. */
void
test_job_submit(test_job *job);

/** A new bucket whose job is submitted. */
test_job *
test_jobs_submit(test_jobs *jobs, uint32_t need);

/** Run as long as one may; how many ran. */
unsigned
test_jobs_run(test_jobs *jobs);

/** The state. */
sinter__job_state
test_job_state(const test_job *job);

/** The job was done `runs` times, and is submitted no more. */
void
test_job_expect_done(test_job *job, unsigned runs);

/** Counters of the scheduler. */
sinter_scheduler_metrics
test_jobs_metrics(const test_jobs *jobs);

#endif
