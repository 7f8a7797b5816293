#include <criterion/criterion.h>
#include <string.h>

#include "jobs.h"

TestSuite(compact_scheduler, .timeout = 60);

static sinter_scheduler_options
options_of(uint32_t tasks_max)
{
    return (sinter_scheduler_options){.struct_size = (uint32_t)sizeof(sinter_scheduler_options),
                                      .tasks_max = tasks_max};
}

/* ---- life ---- */

Test(compact_scheduler, options_that_make_no_sense_are_refused)
{
    sinter_scheduler_options bad[6];
    sinter_scheduler *scheduler = NULL;
    sinter_env env;

    sinter_env_init(&env);
    for (size_t i = 0; i < 6; i++) {
        bad[i] = options_of(1);
    }
    bad[0].tasks_max = 1025;
    bad[1].when_full = 3;
    bad[2].when_full = -1;
    bad[3].limit_mode = 3;
    bad[4].limit_mode = -1;
    bad[5].struct_size = 0;
    for (size_t i = 0; i < 6; i++) {
        cr_expect_eq(sinter_scheduler_create(&env, &bad[i], &scheduler, NULL), SINTER_E_INVALID,
                     "%zu", i);
        cr_expect_null(scheduler);
    }
    cr_expect_eq(sinter_scheduler_create(NULL, NULL, &scheduler, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_scheduler_create(&env, NULL, NULL, NULL), SINTER_E_INVALID);
    env.clock.sleep_ns = NULL;
    bad[0] = options_of(1);
    bad[0].bytes_per_second = 1;
    cr_expect_eq(sinter_scheduler_create(&env, &bad[0], &scheduler, NULL), SINTER_E_INVALID,
                 "a rate without a clock that sleeps");
    cr_assert_eq(sinter_scheduler_create(&env, NULL, &scheduler, NULL), SINTER_OK);
    cr_expect_eq(sinter_scheduler_set_rate(scheduler, 1, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_scheduler_set_tasks_max(scheduler, 0, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_scheduler_set_tasks_max(scheduler, 1025, NULL), SINTER_E_INVALID);
    sinter_scheduler_destroy(scheduler);
    sinter_scheduler_destroy(NULL);
}

Test(compact_scheduler, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_scheduler *scheduler = NULL;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter_scheduler_create(&fault.env, NULL, &scheduler, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        cr_assert_eq(scheduler == NULL, st != SINTER_OK);
        sinter_scheduler_destroy(scheduler);
        cr_assert_eq(fault.live, 0, "leak when allocation %llu fails", (unsigned long long)n);
    }
}

Test(compact_scheduler, a_bucket_that_is_idle_takes_half_a_kilobyte_and_no_call)
{
    test_jobs jobs;
    uint64_t calls = 0;

    test_jobs_init(&jobs);
    jobs.executor.kind = TEST_EXECUTOR_KEEPS;
    test_executor_use(&jobs.executor, &jobs.env);
    test_jobs_begin(&jobs, NULL);
    calls = jobs.alloc.calls;
    for (unsigned i = 0; i < TEST_JOBS_MAX; i++) {
        (void)test_jobs_add(&jobs, 1);
    }
    cr_expect_lt(sizeof(sinter__job) + sizeof(sinter__bucket_counters), 512);
    cr_expect_eq(jobs.alloc.calls, calls, "entering takes no memory but the job's own");
    cr_expect_eq(jobs.executor.submitted, 0);
    cr_expect_eq(test_jobs_metrics(&jobs).buckets, TEST_JOBS_MAX);
    test_jobs_end(&jobs);
}

Test(compact_scheduler, running_a_job_takes_no_memory_but_its_own)
{
    test_jobs jobs;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    (void)test_jobs_submit(&jobs, 1);
    jobs.alloc.fail_at = jobs.alloc.calls;
    cr_expect_eq(test_jobs_run(&jobs), 1);
    test_job_expect_done(&jobs.all[0], 1);
    test_jobs_end(&jobs);
}

Test(compact_scheduler, a_caller_of_another_version_gets_the_counters_it_knows)
{
    test_jobs jobs;
    sinter_scheduler_metrics metrics;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    (void)test_jobs_submit(&jobs, 1);
    memset(&metrics, 0xab, sizeof metrics);
    metrics.struct_size = (uint32_t)offsetof(sinter_scheduler_metrics, submitted);
    sinter_scheduler_metrics_get(jobs.scheduler, &metrics);
    cr_expect(metrics.queued == 1 && metrics.buckets == 1);
    cr_expect_eq(metrics.submitted, UINT64_C(0xabababababababab));
    cr_expect_eq(test_jobs_run(&jobs), 1);
    test_jobs_end(&jobs);
}

/* ---- drain ---- */

static sinter_status
submit_another(test_job *job, const sinter_env *env)
{
    (void)env;
    test_job_submit(job->arg);
    return SINTER_OK;
}

Test(compact_scheduler, drain_waits_for_what_is_queued_meanwhile)
{
    static const test_executor_kind kinds[] = {TEST_EXECUTOR_KEEPS, TEST_EXECUTOR_REFUSES,
                                               TEST_EXECUTOR_INLINE};

    for (size_t k = 0; k < 4; k++) {
        test_jobs jobs;

        test_jobs_init(&jobs);
        if (k < 3) {
            jobs.executor.kind = kinds[k];
            test_executor_use(&jobs.executor, &jobs.env);
        }
        test_jobs_begin(&jobs, NULL);
        for (unsigned i = 0; i < 10; i++) {
            (void)test_jobs_add(&jobs, 1);
        }
        for (unsigned i = 0; i < 9; i++) {
            jobs.all[i].work = submit_another;
            jobs.all[i].arg = &jobs.all[i + 1];
        }
        test_job_submit(&jobs.all[0]);
        cr_expect_eq(sinter_scheduler_drain(jobs.scheduler, NULL), SINTER_OK);
        for (unsigned i = 0; i < 10; i++) {
            test_job_expect_done(&jobs.all[i], 1);
        }
        test_jobs_end(&jobs);
    }
}

Test(compact_scheduler, more_tasks_at_a_time_begin_at_once)
{
    test_jobs jobs;

    test_jobs_init(&jobs);
    jobs.executor.kind = TEST_EXECUTOR_KEEPS;
    test_executor_use(&jobs.executor, &jobs.env);
    test_jobs_begin(&jobs, NULL);
    for (unsigned i = 0; i < 10; i++) {
        (void)test_jobs_submit(&jobs, 1);
    }
    cr_expect_eq(jobs.executor.submitted, 1);
    cr_expect_eq(sinter_scheduler_set_tasks_max(jobs.scheduler, 5, NULL), SINTER_OK);
    cr_expect_eq(jobs.executor.submitted, 5);
    cr_expect_eq(test_jobs_metrics(&jobs).tasks_max, 5);
    test_executor_run(&jobs.executor);
    cr_expect_eq(jobs.turns, 10);
    test_jobs_end(&jobs);
}

/* ---- pause ---- */

Test(compact_scheduler, while_paused_nothing_begins_and_nobody_waits)
{
    sinter_scheduler_options options = options_of(1);
    sinter_error err = SINTER_ERROR_INIT;
    test_jobs jobs;
    test_job *job = NULL;

    test_jobs_init(&jobs);
    jobs.executor.kind = TEST_EXECUTOR_INLINE;
    test_executor_use(&jobs.executor, &jobs.env);
    test_jobs_begin(&jobs, &options);
    sinter_scheduler_pause(jobs.scheduler);
    sinter_scheduler_pause(jobs.scheduler);
    cr_expect_eq(test_jobs_metrics(&jobs).paused, 1);
    cr_expect_eq(sinter_scheduler_drain(jobs.scheduler, NULL), SINTER_OK, "nothing is there");
    job = test_jobs_submit(&jobs, 1);
    cr_expect_eq(sinter_scheduler_run_one(jobs.scheduler), SINTER_END);
    cr_expect_eq(sinter_scheduler_drain(jobs.scheduler, &err), SINTER_E_BUSY);
    cr_expect(strstr(err.text, "sinter_scheduler_resume") != NULL);
    cr_expect_eq(sinter__scheduler_wait(jobs.scheduler, &job->job, &err), SINTER_E_BUSY);
    cr_expect(strstr(err.text, "sinter_scheduler_resume") != NULL);
    cr_expect_eq(job->runs, 0);
    sinter_scheduler_resume(jobs.scheduler);
    test_job_expect_done(job, 1);
    test_jobs_end(&jobs);
}

Test(compact_scheduler, while_paused_a_full_queue_is_busy_whatever_the_policy)
{
    for (int32_t when_full = SINTER_QUEUE_REFUSE; when_full <= SINTER_QUEUE_RUN_IN_CALLER;
         when_full++) {
        sinter_scheduler_options options = options_of(1);
        test_jobs jobs;
        test_job *second = NULL;

        options.queue_max = 1;
        options.when_full = when_full;
        test_jobs_init(&jobs);
        test_jobs_begin(&jobs, &options);
        sinter_scheduler_pause(jobs.scheduler);
        (void)test_jobs_submit(&jobs, 1);
        second = test_jobs_add(&jobs, 1);
        cr_expect_eq(sinter__scheduler_submit(jobs.scheduler, &second->job, NULL), SINTER_E_BUSY);
        cr_expect_eq(test_job_state(second), SINTER__JOB_IDLE);
        cr_expect_eq(test_jobs_metrics(&jobs).queued, 1);
        sinter_scheduler_resume(jobs.scheduler);
        cr_expect_eq(sinter_scheduler_drain(jobs.scheduler, NULL), SINTER_OK);
        test_job_submit(second);
        cr_expect_eq(sinter__scheduler_wait(jobs.scheduler, &second->job, NULL), SINTER_OK);
        test_job_expect_done(second, 1);
        test_jobs_end(&jobs);
    }
}

/* ---- cancel ---- */

static sinter_status
cancel_myself(test_job *job, const sinter_env *env)
{
    sinter_scheduler *scheduler = job->jobs->scheduler;

    (void)env;
    cr_expect_not(sinter__scheduler_should_stop(scheduler, &job->job));
    sinter__scheduler_cancel(scheduler, &job->job);
    cr_expect(sinter__scheduler_should_stop(scheduler, &job->job));
    return job->answer;
}

Test(compact_scheduler, cancelling_does_the_right_thing_in_every_state)
{
    test_jobs jobs;
    test_job *job = NULL;
    sinter_scheduler_metrics metrics;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    job = test_jobs_add(&jobs, 1);
    sinter__scheduler_cancel(jobs.scheduler, &job->job); /* idle: of no account */
    test_job_submit(job);
    cr_expect_not(atomic_load(&job->job.is_cancelled), "an old cancel doesn't stick");
    sinter__scheduler_cancel(jobs.scheduler, &job->job); /* queued: over */
    cr_expect(atomic_load(&job->job.is_cancelled));
    cr_expect_eq(sinter__scheduler_wait(jobs.scheduler, &job->job, NULL), SINTER_OK);
    test_job_expect_done(job, 0);
    cr_expect_eq(sinter_scheduler_run_one(jobs.scheduler), SINTER_END, "gone from the queue");

    job->work = cancel_myself; /* running: told */
    job->answer = SINTER_E_CANCELLED;
    test_job_submit(job);
    cr_expect_eq(test_jobs_run(&jobs), 1);
    sinter__scheduler_cancel(jobs.scheduler, &job->job); /* done: too late */
    cr_expect(atomic_load(&job->job.is_cancelled));
    test_job_expect_done(job, 1);

    job->answer = SINTER_OK; /* it was done all the same */
    test_job_submit(job);
    cr_expect_eq(test_jobs_run(&jobs), 1);
    job->work = NULL;
    sinter__scheduler_reset(jobs.scheduler, &job->job);
    test_job_submit(job);
    sinter_scheduler_pause(jobs.scheduler);
    sinter_scheduler_cancel_all(jobs.scheduler); /* paused: over at once */
    cr_expect_eq(sinter__scheduler_wait(jobs.scheduler, &job->job, NULL), SINTER_OK);
    test_job_expect_done(job, 2);
    metrics = test_jobs_metrics(&jobs);
    cr_expect(metrics.cancelled == 3 && metrics.completed == 1 && metrics.submitted == 4);
    test_jobs_end(&jobs);
}

Test(compact_scheduler, cancelling_what_is_in_the_way_lets_the_next_begin)
{
    sinter_scheduler_options options = options_of(2);
    test_jobs jobs;
    test_job *large = NULL;
    test_job *small = NULL;

    options.memory_bytes = 100;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    large = test_jobs_add(&jobs, 9);
    large->job.memory_bytes = 100;
    test_job_submit(large);
    small = test_jobs_submit(&jobs, 1);
    sinter_scheduler_cancel_all(jobs.scheduler);
    test_job_expect_done(large, 0);
    test_job_expect_done(small, 0);
    test_job_submit(small); /* buckets may be triggered again at once */
    cr_expect_eq(test_jobs_run(&jobs), 1);
    test_jobs_end(&jobs);
}

/* Writes more than a minute's bytes; the clock's sleep cancels it after a while. */
static sinter_status
write_slowly(test_job *job, const sinter_env *env)
{
    static const uint8_t bytes[100];
    sinter_io_file *file = NULL;
    sinter_status st = SINTER_OK;

    cr_assert_eq(env->io->ops->create(env->io, "/", 0, &file, NULL), SINTER_OK);
    st = file->ops->append(file, bytes, sizeof bytes, NULL);
    file->ops->close(file);
    return st == SINTER_OK ? job->answer : st;
}

static void
cancel_after_two_seconds(test_jobs *jobs)
{
    int64_t *cancelled_ns = jobs->arg;

    if (*cancelled_ns == 0 && jobs->now_ns >= 1002 * SECOND) {
        *cancelled_ns = jobs->now_ns;
        sinter__scheduler_cancel(jobs->scheduler, &jobs->all[0].job);
    }
}

/* Wish 4: at every phase, the wait for tokens among them. */
Test(compact_scheduler, a_job_that_waits_for_the_rate_ends_within_a_tenth_of_a_second)
{
    sinter_scheduler_options options = options_of(1);
    int64_t cancelled_ns = 0;
    test_jobs jobs;

    options.bytes_per_second = 1;
    test_jobs_init(&jobs);
    jobs.on_sleep = cancel_after_two_seconds;
    jobs.arg = &cancelled_ns;
    test_jobs_begin(&jobs, &options);
    test_jobs_add(&jobs, 1)->work = write_slowly;
    test_job_submit(&jobs.all[0]);
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect_gt(cancelled_ns, 0);
    cr_expect_leq(jobs.now_ns - cancelled_ns, SECOND / 10);
    cr_expect_eq(test_jobs_metrics(&jobs).cancelled, 1);
    test_job_expect_done(&jobs.all[0], 1);
    jobs.on_sleep = NULL; /* and another bucket's requests don't care */
    test_jobs_add(&jobs, 1)->work = write_slowly;
    test_job_submit(&jobs.all[1]);
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect_eq(test_jobs_metrics(&jobs).completed, 1);
    test_jobs_end(&jobs);
}

static void
raise_the_rate(test_jobs *jobs)
{
    if (jobs->now_ns >= 1002 * SECOND) {
        cr_assert_eq(sinter_scheduler_set_rate(jobs->scheduler, 1000000, NULL), SINTER_OK);
    }
}

/* Wish 2: a change takes effect within a second. */
Test(compact_scheduler, the_rate_changes_while_a_job_waits_for_it)
{
    sinter_scheduler_options options = options_of(1);
    test_jobs jobs;

    options.bytes_per_second = 1;
    test_jobs_init(&jobs);
    jobs.on_sleep = raise_the_rate;
    test_jobs_begin(&jobs, &options);
    test_jobs_add(&jobs, 1)->work = write_slowly;
    test_job_submit(&jobs.all[0]);
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect_eq(test_jobs_metrics(&jobs).completed, 1);
    cr_expect_eq(test_jobs_metrics(&jobs).bytes_per_second, 1000000);
    cr_expect_leq(jobs.now_ns, 1003 * SECOND);
    test_jobs_end(&jobs);
}

Test(compact_scheduler, the_rate_holds_over_all_jobs_and_modes)
{
    for (int32_t mode = SINTER_IO_LIMIT_WRITES; mode <= SINTER_IO_LIMIT_ALL; mode++) {
        sinter_scheduler_options options = options_of(1);
        test_jobs jobs;
        int64_t took_ns = 0;

        options.bytes_per_second = 50;
        options.limit_mode = mode;
        test_jobs_init(&jobs);
        test_jobs_begin(&jobs, &options);
        for (unsigned i = 0; i < 10; i++) {
            test_jobs_add(&jobs, 1)->work = write_slowly;
            test_job_submit(&jobs.all[i]);
        }
        took_ns = -jobs.now_ns;
        cr_expect_eq(test_jobs_run(&jobs), 10);
        took_ns += jobs.now_ns;
        if (mode == SINTER_IO_LIMIT_READS) {
            cr_expect_eq(took_ns, 0);
        } else {
            cr_expect(took_ns >= 19 * SECOND && took_ns <= 21 * SECOND, "1000 bytes took %lld",
                      (long long)took_ns);
        }
        cr_expect_eq(test_jobs_metrics(&jobs).written_bytes, 1000);
        test_jobs_end(&jobs);
    }
}

static sinter_status
read_slowly(test_job *job, const sinter_env *env)
{
    uint8_t data[100] = {0};
    const sinter_io_range range = {0, data, sizeof data};
    sinter_io_file *file = NULL;
    sinter_io *io = env->io;
    sinter_status st = SINTER_OK;

    (void)job;
    cr_assert_eq(io->ops->replace(io, "/r", data, sizeof data, NULL), SINTER_OK);
    cr_assert_eq(io->ops->open(io, "/r", 0, &file, NULL), SINTER_OK);
    st = file->ops->read(file, &range, 1, NULL);
    file->ops->close(file);
    return st;
}

Test(compact_scheduler, reads_have_a_rate_of_their_own_that_changes_too)
{
    sinter_scheduler_options options = options_of(1);
    test_jobs jobs;
    int64_t begin_ns = 0;

    options.bytes_per_second = 1000;
    options.limit_mode = SINTER_IO_LIMIT_ALL;
    options.read_bytes_per_second = 10;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    test_jobs_submit(&jobs, 1)->work = read_slowly;
    begin_ns = jobs.now_ns;
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect_geq(jobs.now_ns - begin_ns, 9 * SECOND);
    cr_expect_eq(test_jobs_metrics(&jobs).bytes_per_second, 1000);
    cr_expect_eq(test_jobs_metrics(&jobs).read_bytes_per_second, 10);
    cr_expect_eq(test_jobs_metrics(&jobs).write_bytes_per_second, 0);
    test_jobs_submit(&jobs, 1)->work = write_slowly;
    begin_ns = jobs.now_ns;
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect_leq(jobs.now_ns - begin_ns, SECOND, "writes go by the rate of both");
    cr_expect_eq(sinter_scheduler_set_side_rate(jobs.scheduler, SINTER_IO_LIMIT_READS, 50, NULL),
                 SINTER_OK);
    cr_expect_eq(test_jobs_metrics(&jobs).read_bytes_per_second, 50);
    test_jobs_submit(&jobs, 1)->work = read_slowly;
    begin_ns = jobs.now_ns;
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect(jobs.now_ns - begin_ns >= SECOND && jobs.now_ns - begin_ns <= 3 * SECOND);
    cr_expect_eq(sinter_scheduler_set_side_rate(jobs.scheduler, (sinter_io_limit_mode)3, 50, NULL),
                 SINTER_E_INVALID);
    test_jobs_end(&jobs);
}

/* ---- listeners that do more than listen ---- */

static sinter_status
take_text(void *ctx, const char *text, size_t size)
{
    (void)ctx;
    (void)text;
    (void)size;
    return SINTER_OK;
}

/* Calls all that may be called from any thread, cancelling the job that tells. */
static void
meddle(void *ctx, const sinter_event *event)
{
    test_jobs *jobs = ctx;

    cr_expect_eq(event->job_id, jobs->all[0].job.id);
    (void)test_jobs_metrics(jobs);
    cr_expect_eq(sinter_scheduler_export(jobs->scheduler, take_text, NULL, NULL), SINTER_OK);
    cr_expect_eq(sinter_scheduler_set_rate(jobs->scheduler, 1000, NULL), SINTER_OK);
    cr_expect_eq(sinter_scheduler_set_tasks_max(jobs->scheduler, 2, NULL), SINTER_OK);
    sinter__scheduler_set_need(jobs->scheduler, &jobs->all[1].job, 9);
    sinter__scheduler_cancel(jobs->scheduler, &jobs->all[0].job);
    jobs->now_ns += 1000 * SECOND; /* and takes its time */
}

static sinter_status
tell_and_look(test_job *job, const sinter_env *env)
{
    const sinter_event event = {.struct_size = (uint32_t)sizeof event};

    env->listener->progress(env->listener->ctx, &event);
    return sinter__scheduler_should_stop(job->jobs->scheduler, &job->job) ? SINTER_E_CANCELLED
                                                                          : SINTER_OK;
}

Test(compact_scheduler, a_listener_may_cancel_its_task_and_call_what_is_thread_safe)
{
    sinter_listener listener = {.struct_size = (uint32_t)sizeof listener, .progress = meddle};
    test_jobs jobs;

    test_jobs_init(&jobs);
    listener.ctx = &jobs;
    jobs.env.listener = &listener;
    test_jobs_begin(&jobs, NULL);
    test_jobs_submit(&jobs, 5)->work = tell_and_look;
    (void)test_jobs_submit(&jobs, 1);
    cr_expect_eq(test_jobs_run(&jobs), 2);
    cr_expect_eq(test_jobs_metrics(&jobs).cancelled, 1);
    test_job_expect_done(&jobs.all[0], 1);
    test_job_expect_done(&jobs.all[1], 1);
    test_jobs_end(&jobs);
}

static void
note_slow(void *ctx, const sinter_event *event)
{
    sinter_event *seen = ctx;

    if (strcmp(event->text, "append") == 0) {
        *seen = *event;
    }
}

Test(compact_scheduler, slow_io_is_told_and_waiting_for_the_rate_is_not)
{
    sinter_event seen = {0};
    const sinter_listener listener = {
        .struct_size = (uint32_t)sizeof listener, .ctx = &seen, .slow_io = note_slow};
    sinter_scheduler_options options = options_of(1);
    test_jobs jobs;

    options.bytes_per_second = 10;
    options.slow_io_ns = 1;
    test_jobs_init(&jobs);
    jobs.env.listener = &listener;
    test_jobs_begin(&jobs, &options);
    test_jobs_submit(&jobs, 1)->work = write_slowly;
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect(seen.struct_size == 0 && test_jobs_metrics(&jobs).slow_ios == 0);
    sinter__scheduler_reset(jobs.scheduler, &jobs.all[0].job);
    jobs.tick_ns = 3; /* a call takes that long */
    test_job_submit(&jobs.all[0]);
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect(seen.duration_ns == 3 && seen.bytes == 1 && test_jobs_metrics(&jobs).slow_ios > 100);
    test_jobs_end(&jobs);
}

static void
note_bucket(void *ctx, const sinter_event *event)
{
    char *buckets = ctx;

    cr_assert(event->bucket != NULL && event->job_id > 0);
    (void)strcat(buckets, event->bucket);
}

Test(compact_scheduler, slow_io_names_the_bucket_and_counts_are_of_all)
{
    char buckets[4096] = "";
    const sinter_listener listener = {
        .struct_size = (uint32_t)sizeof listener, .ctx = buckets, .slow_io = note_bucket};
    sinter_scheduler_options options = options_of(1);
    test_jobs jobs;

    options.slow_io_ns = 1;
    test_jobs_init(&jobs);
    jobs.env.listener = &listener;
    jobs.tick_ns = 3;
    test_jobs_begin(&jobs, &options);
    test_jobs_add(&jobs, 1)->work = read_slowly;
    test_jobs_add(&jobs, 1)->work = read_slowly;
    for (unsigned i = 0; i < 2; i++) {
        test_job_submit(&jobs.all[i]);
        buckets[0] = '\0';
        cr_expect_eq(test_jobs_run(&jobs), 1);
        cr_expect(strstr(buckets, jobs.all[i].name) == buckets);
        cr_expect_null(strstr(buckets, jobs.all[1 - i].name));
    }
    cr_expect_eq(test_jobs_metrics(&jobs).read_bytes, 200);
    test_jobs_end(&jobs);
}
