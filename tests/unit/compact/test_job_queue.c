#include <criterion/criterion.h>
#include <string.h>

#include "compact/job_queue.h"
#include "support/records.h"

TestSuite(compact_job_queue, .timeout = 60);

enum { JOBS = 200 };

Test(compact_job_queue, more_runs_are_due_earlier_by_the_time_they_are_worth)
{
    const sinter__job few = {.need = 2, .queued_ns = INT64_C(50000000000)};
    const sinter__job many = {.need = 5, .queued_ns = INT64_C(53000000000)};
    const sinter__job most = {.need = UINT32_MAX, .queued_ns = 0};

    cr_expect_eq(sinter__job_due_ns(&few, 1), INT64_C(48000000000));
    cr_expect_eq(sinter__job_due_ns(&many, 1), INT64_C(48000000000));
    cr_expect_lt(sinter__job_due_ns(&few, 10), sinter__job_due_ns(&many, 10));
    cr_expect_eq(sinter__job_due_ns(&most, 1), -INT64_C(4294967295) * 1000000000);
    cr_expect_eq(sinter__job_due_ns(&most, UINT32_MAX), -INT64_C(1000000000));
}

/* The one that should come first, by looking at all. */
static sinter__job *
first_of(sinter__job *jobs, const bool *is_in)
{
    sinter__job *first = NULL;

    for (size_t i = 0; i < JOBS; i++) {
        sinter__job *job = &jobs[i];

        if (is_in[i] && (first == NULL || job->due_ns < first->due_ns ||
                         (job->due_ns == first->due_ns && job->id < first->id))) {
            first = job;
        }
    }
    return first;
}

Test(compact_job_queue, the_first_is_always_the_one_due_first)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        static sinter__job jobs[JOBS];
        bool is_in[JOBS] = {false};
        sinter__job *first = NULL;
        test_rng random = {seed};
        uint64_t id = 0;

        memset(jobs, 0, sizeof jobs);
        for (unsigned step = 0; step < 2000; step++) {
            const size_t i = (size_t)(test_rng_next(&random) % JOBS);

            if (!is_in[i]) {
                jobs[i].id = ++id;
                jobs[i].due_ns = (int64_t)(test_rng_next(&random) % 40) - 20;
                first = sinter__job_queue_add(first, &jobs[i]);
                is_in[i] = true;
            } else if (test_rng_next(&random) % 2 == 0) {
                first = sinter__job_queue_remove(first, &jobs[i]);
                is_in[i] = false;
            } else {
                const ptrdiff_t place = first - jobs;

                first = sinter__job_queue_remove(first, first);
                is_in[place] = false;
            }
            cr_assert(first == first_of(jobs, is_in), "seed %llu, step %u",
                      (unsigned long long)seed, step);
        }
        for (size_t left = JOBS; first != NULL; left--) {
            const ptrdiff_t place = first - jobs;

            cr_assert_gt(left, 0);
            cr_assert(first == first_of(jobs, is_in), "seed %llu", (unsigned long long)seed);
            first = sinter__job_queue_remove(first, first);
            is_in[place] = false;
            cr_assert(jobs[place].next == NULL && jobs[place].before == NULL &&
                      jobs[place].child == NULL);
        }
        cr_assert_null(first_of(jobs, is_in));
    }
}
