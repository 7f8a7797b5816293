#include <criterion/criterion.h>
#include <string.h>

#include "base/fan_out.h"
#include "jobs.h"

TestSuite(compact_dispatch, .timeout = 60);

static sinter_scheduler_options
options_of(uint32_t tasks_max)
{
    return (sinter_scheduler_options){.struct_size = (uint32_t)sizeof(sinter_scheduler_options),
                                      .tasks_max = tasks_max};
}

/* ---- order ---- */

Test(compact_dispatch, the_bucket_with_most_runs_goes_first)
{
    static const uint32_t needs[] = {3, 9, 1, 9, 20, 5};
    static const unsigned turns[] = {5, 2, 6, 3, 1, 4}; /* the two nines as they came */
    test_jobs jobs;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    for (size_t i = 0; i < 6; i++) {
        (void)test_jobs_submit(&jobs, needs[i]);
    }
    cr_expect_eq(test_jobs_run(&jobs), 6);
    for (size_t i = 0; i < 6; i++) {
        cr_expect_eq(jobs.all[i].turn, turns[i], "job %zu was number %u", i, jobs.all[i].turn);
        test_job_expect_done(&jobs.all[i], 1);
    }
    test_jobs_end(&jobs);
}

Test(compact_dispatch, a_second_of_waiting_is_worth_so_many_runs)
{
    for (uint32_t age = 1; age <= 4; age *= 2) {
        sinter_scheduler_options options = options_of(1);
        test_jobs jobs;
        test_job *few = NULL;
        test_job *many = NULL;

        options.age_runs_per_second = age;
        for (int64_t seconds = 1; seconds <= 20; seconds++) {
            test_jobs_init(&jobs);
            test_jobs_begin(&jobs, &options);
            few = test_jobs_submit(&jobs, 2);
            jobs.now_ns += seconds * SECOND;
            many = test_jobs_submit(&jobs, 10);
            cr_expect_eq(test_jobs_run(&jobs), 2);
            cr_expect_eq(few->turn < many->turn, 2 + seconds * age >= 10, "%lld seconds, age %u",
                         (long long)seconds, age);
            test_jobs_end(&jobs);
        }
    }
}

Test(compact_dispatch, the_default_is_one_run_a_second)
{
    test_jobs jobs;
    test_job *few = NULL;
    test_job *many = NULL;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    few = test_jobs_submit(&jobs, 2);
    jobs.now_ns += 9 * SECOND;
    many = test_jobs_submit(&jobs, 10);
    cr_expect_eq(test_jobs_run(&jobs), 2);
    cr_expect_lt(few->turn, many->turn);
    test_jobs_end(&jobs);
}

/* Wish 8. Two busy buckets ask again as soon as they are done and always have 30 runs; a task takes
 * a second. Whoever has one run waits for 29 seconds and two tasks at most. */
Test(compact_dispatch, every_bucket_gets_its_turn_within_bounded_rounds)
{
    test_jobs jobs;
    test_job *quiet = NULL;
    unsigned rounds = 0;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    (void)test_jobs_submit(&jobs, 30);
    (void)test_jobs_submit(&jobs, 30);
    quiet = test_jobs_submit(&jobs, 1);
    while (quiet->runs == 0) {
        cr_assert_lt(rounds, 32, "starving");
        rounds++;
        cr_assert_eq(sinter_scheduler_run_one(jobs.scheduler), SINTER_OK);
        jobs.now_ns += SECOND;
        for (unsigned i = 0; i < 2; i++) {
            if (test_job_state(&jobs.all[i]) == SINTER__JOB_DONE) {
                sinter__scheduler_reset(jobs.scheduler, &jobs.all[i].job);
                test_job_submit(&jobs.all[i]);
            }
        }
    }
    cr_expect_gt(rounds, 25, "and not out of turn");
    sinter_scheduler_cancel_all(jobs.scheduler);
    test_jobs_end(&jobs);
}

Test(compact_dispatch, need_that_changes_while_a_job_waits_counts)
{
    test_jobs jobs;
    test_job *first = NULL;
    test_job *second = NULL;
    test_job *third = NULL;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    first = test_jobs_submit(&jobs, 5);
    second = test_jobs_submit(&jobs, 4);
    third = test_jobs_add(&jobs, 0);
    sinter__scheduler_set_need(jobs.scheduler, &second->job, 9);
    sinter__scheduler_set_need(jobs.scheduler, &first->job, 1);
    sinter__scheduler_set_need(jobs.scheduler, &third->job, 3); /* not queued yet */
    test_job_submit(third);
    cr_expect_eq(test_jobs_run(&jobs), 3);
    cr_expect(second->turn == 1 && third->turn == 2 && first->turn == 3);
    test_jobs_end(&jobs);
}

/* ---- what a job gets ---- */

static void
note_event(void *ctx, const sinter_event *event)
{
    sinter_event *seen = ctx;

    cr_assert_str_eq(event->bucket, "b1");
    *seen = *event;
}

static sinter_status
look_around(test_job *job, const sinter_env *env)
{
    const sinter_event event = {.struct_size = (uint32_t)sizeof event, .bytes = 7};
    sinter_io_file *file = NULL;

    cr_expect_eq(sinter_memory_limit(env->memory), 1000);
    cr_expect_eq(sinter_memory_reserve(env->memory, 1000, NULL), SINTER_OK);
    cr_expect_eq(sinter_memory_used(job->jobs->env.memory), 1000, "of the whole, too");
    cr_expect_eq(sinter_memory_reserve(env->memory, 1, NULL), SINTER_E_TOO_LARGE);
    sinter_memory_release(env->memory, 1000);
    cr_assert_eq(env->io->ops->create(env->io, "/", 0, &file, NULL), SINTER_OK);
    cr_expect_eq(file->ops->append(file, "12345", 5, NULL), SINTER_OK);
    file->ops->close(file);
    env->listener->task_end(env->listener->ctx, &event);
    cr_expect_eq(test_jobs_metrics(job->jobs).memory_bytes, 1000);
    cr_expect_eq(test_jobs_metrics(job->jobs).open_files, 3);
    cr_expect_eq(test_jobs_metrics(job->jobs).running, 1);
    job->jobs->now_ns += 5 * SECOND;
    return SINTER_OK;
}

Test(compact_dispatch, a_job_has_a_budget_and_counted_io_and_its_events_have_names)
{
    sinter_event seen = {0};
    const sinter_listener listener = {
        .struct_size = (uint32_t)sizeof listener, .ctx = &seen, .task_end = note_event};
    sinter_memory *whole = NULL;
    sinter_scheduler_metrics metrics;
    test_jobs jobs;
    test_job *job = NULL;

    test_jobs_init(&jobs);
    cr_assert_eq(sinter_memory_create(sinter_env_default(), 4000, &whole, NULL), SINTER_OK);
    jobs.env.memory = whole;
    jobs.env.listener = &listener;
    test_jobs_begin(&jobs, NULL);
    job = test_jobs_add(&jobs, 1);
    job->job.memory_bytes = 1000;
    job->job.open_files = 3;
    job->work = look_around;
    test_job_submit(job);
    jobs.now_ns += 2 * SECOND;
    cr_expect_eq(test_jobs_run(&jobs), 1);
    cr_expect(seen.job_id == job->job.id && seen.bytes == 7);
    metrics = test_jobs_metrics(&jobs);
    cr_expect(metrics.busy_ns == 5 * SECOND && metrics.wait_ns == 2 * SECOND);
    cr_expect(metrics.written_bytes == 5 && metrics.read_bytes == 0);
    cr_expect(metrics.memory_bytes == 0 && metrics.open_files == 0 && metrics.running == 0);
    test_jobs_end(&jobs);
    sinter_memory_destroy(whole);
}

Test(compact_dispatch, what_jobs_return_is_counted)
{
    static const sinter_status answers[] = {SINTER_OK, SINTER_E_IO, SINTER_E_CANCELLED, SINTER_OK};
    sinter_scheduler_metrics metrics;
    test_jobs jobs;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    for (size_t i = 0; i < 4; i++) {
        test_jobs_submit(&jobs, 1)->answer = answers[i];
    }
    cr_expect_eq(test_jobs_metrics(&jobs).queued, 4);
    cr_expect_eq(test_jobs_run(&jobs), 4);
    metrics = test_jobs_metrics(&jobs);
    cr_expect(metrics.submitted == 4 && metrics.completed == 2 && metrics.failed == 1 &&
              metrics.cancelled == 1 && metrics.queued == 0);
    test_jobs_end(&jobs);
}

/* ---- admission ---- */

/* While this one runs, the neediest can't, and nothing overtakes it. */
static sinter_status
look_at_the_queue(test_job *job, const sinter_env *env)
{
    (void)env;
    cr_expect_eq(sinter_scheduler_run_one(job->jobs->scheduler), SINTER_END);
    cr_expect_eq(job->jobs->turns, 1);
    return SINTER_OK;
}

/* A job of 60 runs; one of 80 waits for room, and small ones that would fit, behind it. */
static void
expect_strict_order(test_jobs *jobs, bool is_memory)
{
    test_job *first = test_jobs_add(jobs, 100);
    test_job *large = test_jobs_add(jobs, 50);
    test_job *small = test_jobs_add(jobs, 10);

    first->work = look_at_the_queue;
    if (is_memory) {
        first->job.memory_bytes = 60;
        large->job.memory_bytes = 80;
    } else {
        first->job.open_files = 60;
        large->job.open_files = 80;
    }
    test_job_submit(small);
    test_job_submit(large);
    test_job_submit(first);
    cr_expect_eq(test_jobs_run(jobs), 3);
    cr_expect(first->turn == 1 && large->turn == 2 && small->turn == 3);
}

Test(compact_dispatch, the_neediest_waits_for_memory_and_nobody_overtakes_it)
{
    sinter_scheduler_options options = options_of(4);
    test_jobs jobs;

    options.memory_bytes = 100;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    expect_strict_order(&jobs, true);
    test_jobs_end(&jobs);
}

Test(compact_dispatch, the_neediest_waits_for_open_files_and_nobody_overtakes_it)
{
    sinter_scheduler_options options = options_of(4);
    test_jobs jobs;

    options.open_files_max = 100;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    expect_strict_order(&jobs, false);
    test_jobs_end(&jobs);
}

Test(compact_dispatch, a_job_that_can_never_fit_is_refused_with_both_numbers)
{
    sinter_scheduler_options options = options_of(1);
    sinter_error err = SINTER_ERROR_INIT;
    test_jobs jobs;
    test_job *job = NULL;

    options.memory_bytes = 1234;
    options.open_files_max = 77;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    job = test_jobs_add(&jobs, 1);
    job->job.memory_bytes = 5678;
    cr_expect_eq(sinter__scheduler_submit(jobs.scheduler, &job->job, &err), SINTER_E_TOO_LARGE);
    cr_expect(strstr(err.text, "1234") != NULL && strstr(err.text, "5678") != NULL, "%s", err.text);
    job->job.memory_bytes = 0; /* without a budget it may take all there is */
    cr_expect_eq(sinter__scheduler_submit(jobs.scheduler, &job->job, &err), SINTER_E_TOO_LARGE);
    job->job.memory_bytes = 1234;
    job->job.open_files = 78;
    cr_expect_eq(sinter__scheduler_submit(jobs.scheduler, &job->job, &err), SINTER_E_TOO_LARGE);
    cr_expect(strstr(err.text, "77") != NULL && strstr(err.text, "78") != NULL, "%s", err.text);
    cr_expect_eq(test_job_state(job), SINTER__JOB_IDLE);
    job->job.open_files = 77;
    test_job_submit(job);
    cr_expect_eq(test_jobs_run(&jobs), 1);
    test_jobs_end(&jobs);
}

/* A caller that waits for `arg` while the only slot is taken. */
static sinter_status
wait_for_another(test_job *job, const sinter_env *env)
{
    test_job *other = job->arg;

    (void)env;
    cr_expect_eq(sinter_scheduler_run_one(job->jobs->scheduler), SINTER_END, "no slot");
    cr_expect_eq(sinter__scheduler_wait(job->jobs->scheduler, &other->job, NULL), SINTER_OK);
    cr_expect_eq(test_job_state(other), SINTER__JOB_DONE);
    return SINTER_OK;
}

Test(compact_dispatch, who_waits_for_its_job_needs_no_slot_but_room_beside_the_neediest)
{
    sinter_scheduler_options options = options_of(1);
    test_jobs jobs;
    test_job *running = NULL;
    test_job *neediest = NULL;
    test_job *mine = NULL;

    options.memory_bytes = 100;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    running = test_jobs_submit(&jobs, 100);
    neediest = test_jobs_add(&jobs, 50);
    mine = test_jobs_submit(&jobs, 1);
    neediest->job.memory_bytes = 80; /* 10 run, 80 are kept, 10 are mine */
    test_job_submit(neediest);
    running->work = wait_for_another;
    running->arg = mine;
    cr_expect_eq(test_jobs_run(&jobs), 2);
    cr_expect(mine->turn == 2 && neediest->turn == 3);
    test_jobs_end(&jobs);
}

Test(compact_dispatch, who_waits_and_has_no_room_beside_the_neediest_runs_that)
{
    sinter_scheduler_options options = options_of(1);
    test_jobs jobs;
    test_job *neediest = NULL;
    test_job *mine = NULL;

    options.memory_bytes = 100;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    mine = test_jobs_submit(&jobs, 1);
    neediest = test_jobs_add(&jobs, 50);
    neediest->job.memory_bytes = 95;
    test_job_submit(neediest);
    cr_expect_eq(sinter__scheduler_wait(jobs.scheduler, &mine->job, NULL), SINTER_OK);
    cr_expect(neediest->turn == 1 && mine->turn == 2);
    test_jobs_end(&jobs);
}

/* ---- executors ---- */

Test(compact_dispatch, an_executor_that_works_at_once_does_all_of_it)
{
    test_jobs jobs;

    test_jobs_init(&jobs);
    jobs.executor.kind = TEST_EXECUTOR_INLINE;
    test_executor_use(&jobs.executor, &jobs.env);
    test_jobs_begin(&jobs, NULL);
    for (unsigned i = 0; i < TEST_JOBS_MAX; i++) {
        test_job_expect_done(test_jobs_submit(&jobs, i), 1);
    }
    test_jobs_end(&jobs);
}

/* What waited while the scheduler was paused goes in order, and not one inside of another. */
static sinter_status
expect_depth_one(test_job *job, const sinter_env *env)
{
    (void)env;
    cr_expect_eq(test_jobs_metrics(job->jobs).running, 1);
    return SINTER_OK;
}

Test(compact_dispatch, an_executor_that_works_at_once_goes_no_deeper_with_every_job)
{
    sinter_scheduler_options options = options_of(8);
    test_jobs jobs;

    test_jobs_init(&jobs);
    jobs.executor.kind = TEST_EXECUTOR_INLINE;
    test_executor_use(&jobs.executor, &jobs.env);
    test_jobs_begin(&jobs, &options);
    sinter_scheduler_pause(jobs.scheduler);
    for (unsigned i = 0; i < 20; i++) {
        test_jobs_submit(&jobs, i)->work = expect_depth_one;
    }
    sinter_scheduler_resume(jobs.scheduler);
    for (unsigned i = 0; i < 20; i++) {
        cr_expect_eq(jobs.all[i].turn, 20 - i);
        test_job_expect_done(&jobs.all[i], 1);
    }
    test_jobs_end(&jobs);
}

Test(compact_dispatch, no_more_runners_are_called_than_can_begin_something)
{
    sinter_scheduler_options options = options_of(3);
    test_jobs jobs;

    options.memory_bytes = 25; /* two of ten at a time */
    test_jobs_init(&jobs);
    jobs.executor.kind = TEST_EXECUTOR_KEEPS;
    test_executor_use(&jobs.executor, &jobs.env);
    test_jobs_begin(&jobs, &options);
    cr_expect_eq(jobs.executor.submitted, 0, "an idle scheduler asks for nothing");
    for (unsigned i = 0; i < 10; i++) {
        (void)test_jobs_submit(&jobs, i);
        cr_expect_leq(jobs.executor.submitted, 3);
        cr_expect_eq(jobs.turns, 0);
    }
    test_executor_run(&jobs.executor);
    cr_expect_eq(jobs.turns, 10, "a runner goes on until nothing is left");
    cr_expect_leq(jobs.executor.submitted, 3);
    test_jobs_end(&jobs);
}

Test(compact_dispatch, after_a_refusal_the_next_event_tries_again)
{
    test_jobs jobs;
    test_job *first = NULL;
    test_job *second = NULL;

    test_jobs_init(&jobs);
    jobs.executor.kind = TEST_EXECUTOR_REFUSES;
    test_executor_use(&jobs.executor, &jobs.env);
    test_jobs_begin(&jobs, NULL);
    first = test_jobs_submit(&jobs, 2);
    cr_expect_eq(first->runs, 0);
    jobs.executor.kind = TEST_EXECUTOR_INLINE;
    second = test_jobs_submit(&jobs, 1);
    test_job_expect_done(first, 1);
    test_job_expect_done(second, 1);
    test_jobs_end(&jobs);
}

Test(compact_dispatch, who_waits_runs_the_job_whatever_the_executor_does)
{
    static const test_executor_kind kinds[] = {TEST_EXECUTOR_INLINE, TEST_EXECUTOR_KEEPS,
                                               TEST_EXECUTOR_REFUSES};

    for (size_t k = 0; k < 3; k++) {
        test_jobs jobs;
        test_job *first = NULL;
        test_job *second = NULL;

        test_jobs_init(&jobs);
        jobs.executor.kind = kinds[k];
        test_executor_use(&jobs.executor, &jobs.env);
        test_jobs_begin(&jobs, NULL);
        first = test_jobs_submit(&jobs, 1);
        second = test_jobs_submit(&jobs, 2);
        cr_expect_eq(sinter__scheduler_wait(jobs.scheduler, &first->job, NULL), SINTER_OK);
        test_job_expect_done(first, 1);
        cr_expect_eq(sinter__scheduler_wait(jobs.scheduler, &second->job, NULL), SINTER_OK);
        test_job_expect_done(second, 1);
        test_jobs_end(&jobs); /* runners that were kept come when it is gone */
    }
}

/* ---- a full queue ---- */

Test(compact_dispatch, a_full_queue_may_refuse)
{
    sinter_scheduler_options options = options_of(1);
    sinter_error err = SINTER_ERROR_INIT;
    test_jobs jobs;
    test_job *third = NULL;

    options.queue_max = 2;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    (void)test_jobs_submit(&jobs, 1);
    (void)test_jobs_submit(&jobs, 1);
    third = test_jobs_add(&jobs, 9);
    cr_expect_eq(sinter__scheduler_submit(jobs.scheduler, &third->job, &err), SINTER_E_BUSY);
    cr_expect(strstr(err.text, "queue_max") != NULL);
    cr_expect_eq(test_job_state(third), SINTER__JOB_IDLE);
    cr_expect(test_jobs_metrics(&jobs).refused == 1 && test_jobs_metrics(&jobs).submitted == 2);
    cr_expect_eq(sinter_scheduler_run_one(jobs.scheduler), SINTER_OK);
    test_job_submit(third);
    cr_expect_eq(test_jobs_run(&jobs), 2);
    test_jobs_end(&jobs);
}

Test(compact_dispatch, a_full_queue_may_let_the_caller_run_its_job)
{
    sinter_scheduler_options options = options_of(1);
    test_jobs jobs;
    test_job *third = NULL;

    options.queue_max = 2;
    options.when_full = SINTER_QUEUE_RUN_IN_CALLER;
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, &options);
    (void)test_jobs_submit(&jobs, 5);
    (void)test_jobs_submit(&jobs, 5);
    third = test_jobs_submit(&jobs, 1);
    test_job_expect_done(third, 1);
    cr_expect_eq(third->turn, 1);
    cr_expect_eq(test_jobs_metrics(&jobs).queued, 2);
    cr_expect_eq(test_jobs_run(&jobs), 2);
    test_jobs_end(&jobs);
}

Test(compact_dispatch, a_full_queue_may_let_the_caller_wait_and_work_meanwhile)
{
    static const test_executor_kind kinds[] = {TEST_EXECUTOR_KEEPS, TEST_EXECUTOR_REFUSES};

    for (size_t k = 0; k < 3; k++) {
        sinter_scheduler_options options = options_of(1);
        test_jobs jobs;
        test_job *neediest = NULL;
        test_job *third = NULL;

        options.queue_max = 2;
        options.when_full = SINTER_QUEUE_WAIT;
        test_jobs_init(&jobs);
        if (k < 2) {
            jobs.executor.kind = kinds[k];
            test_executor_use(&jobs.executor, &jobs.env);
        }
        test_jobs_begin(&jobs, &options);
        (void)test_jobs_submit(&jobs, 1);
        neediest = test_jobs_submit(&jobs, 5);
        third = test_jobs_submit(&jobs, 9);
        test_job_expect_done(neediest, 1);
        cr_expect_eq(test_job_state(third), SINTER__JOB_QUEUED);
        cr_expect_eq(test_jobs_run(&jobs), 2);
        test_jobs_end(&jobs);
    }
}

/* ---- one thread for everything ---- */

static void
nothing(void *ctx, size_t index)
{
    (void)ctx;
    (void)index;
}

static sinter_status
fan_out_in_job(test_job *job, const sinter_env *env)
{
    (void)job;
    sinter__fan_out(env, 5, nothing, NULL);
    return SINTER_OK;
}

/* Work of the pool's only thread: submits and waits, again and again. */
static void
be_a_writer(void *arg)
{
    test_jobs *jobs = arg;

    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < jobs->count; i++) {
            test_job_submit(&jobs->all[i]);
        }
        for (unsigned i = 0; i < jobs->count; i++) {
            cr_assert_eq(sinter__scheduler_wait(jobs->scheduler, &jobs->all[i].job, NULL),
                         SINTER_OK);
            test_job_expect_done(&jobs->all[i], round + 1);
        }
    }
    cr_assert_eq(sinter_scheduler_drain(jobs->scheduler, NULL), SINTER_OK);
}

Test(compact_dispatch, one_thread_is_enough_for_writer_and_jobs_with_any_policy)
{
    for (int32_t when_full = SINTER_QUEUE_WAIT; when_full <= SINTER_QUEUE_RUN_IN_CALLER;
         when_full++) {
        sinter_scheduler_options options = options_of(1);
        sinter_pool *pool = NULL;
        test_jobs jobs;

        options.queue_max = 2;
        options.when_full = when_full;
        options.memory_bytes = 15;
        test_jobs_init(&jobs);
        cr_assert_eq(sinter_pool_create(sinter_env_default(), 1, 4, &pool, NULL), SINTER_OK);
        jobs.env.executor = sinter_pool_executor(pool);
        test_jobs_begin(&jobs, &options);
        for (unsigned i = 0; i < 8; i++) {
            test_jobs_add(&jobs, i)->work = fan_out_in_job;
        }
        cr_assert_eq(jobs.env.executor.submit(pool, be_a_writer, &jobs), SINTER_OK);
        sinter_pool_destroy(pool); /* waits for all that it was given */
        test_jobs_end(&jobs);
    }
}
