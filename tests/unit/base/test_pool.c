#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault_alloc.h"
#include "sinter/env.h"

TestSuite(base_pool, .timeout = 60);

typedef struct counter {
    _Atomic uint64_t value;
} counter;

static void
count_one(void *arg)
{
    counter *one = arg;

    (void)atomic_fetch_add(&one->value, 1);
}

Test(base_pool, each_task_runs_once_and_destroy_waits_for_all)
{
    enum { TASKS = 4000 };
    counter *counts = calloc(TASKS, sizeof *counts);

    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        sinter_pool *pool = NULL;
        sinter_executor executor;
        size_t taken = 0;

        cr_assert_eq(sinter_pool_create(sinter_env_default(), threads, 64, &pool, NULL), SINTER_OK);
        executor = sinter_pool_executor(pool);
        while (taken < TASKS) {
            const sinter_status st = executor.submit(executor.ctx, count_one, &counts[taken]);

            cr_assert(st == SINTER_OK || st == SINTER_E_BUSY);
            taken += st == SINTER_OK ? 1 : 0;
        }
        sinter_pool_destroy(pool);
        for (size_t i = 0; i < TASKS; i++) {
            cr_assert_eq(counts[i].value, 1, "%u threads, task %zu", threads, i);
            counts[i].value = 0;
        }
    }
    free(counts);
    sinter_pool_destroy(NULL);
}

typedef struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_waiting;
    bool is_open;
} gate;

static void
wait_at_gate(void *arg)
{
    gate *door = arg;

    (void)pthread_mutex_lock(&door->mutex);
    door->is_waiting = true;
    (void)pthread_cond_broadcast(&door->changed);
    while (!door->is_open) {
        (void)pthread_cond_wait(&door->changed, &door->mutex);
    }
    (void)pthread_mutex_unlock(&door->mutex);
}

Test(base_pool, a_full_queue_says_busy_and_takes_again_later)
{
    gate door = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    sinter_pool *pool = NULL;
    sinter_executor executor;
    counter ran = {0};

    cr_assert_eq(sinter_pool_create(sinter_env_default(), 1, 2, &pool, NULL), SINTER_OK);
    executor = sinter_pool_executor(pool);
    cr_assert_eq(executor.submit(executor.ctx, wait_at_gate, &door), SINTER_OK);
    (void)pthread_mutex_lock(&door.mutex);
    while (!door.is_waiting) {
        (void)pthread_cond_wait(&door.changed, &door.mutex);
    }
    (void)pthread_mutex_unlock(&door.mutex);
    cr_expect_eq(executor.submit(executor.ctx, count_one, &ran), SINTER_OK);
    cr_expect_eq(executor.submit(executor.ctx, count_one, &ran), SINTER_OK);
    cr_expect_eq(executor.submit(executor.ctx, count_one, &ran), SINTER_E_BUSY);
    (void)pthread_mutex_lock(&door.mutex);
    door.is_open = true;
    (void)pthread_cond_broadcast(&door.changed);
    (void)pthread_mutex_unlock(&door.mutex);
    while (executor.submit(executor.ctx, count_one, &ran) == SINTER_E_BUSY) {
        (void)usleep(100);
    }
    sinter_pool_destroy(pool);
    cr_expect_eq(ran.value, 3);
}

static void
note_mask(void *arg)
{
    sigset_t mask;
    bool *all_blocked = arg;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    *all_blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1 &&
                   sigismember(&mask, SIGUSR1) == 1;
}

Test(base_pool, threads_take_no_signals_and_the_caller_keeps_its_mask)
{
    sinter_pool *pool = NULL;
    sinter_executor executor;
    sigset_t before;
    sigset_t after;
    bool all_blocked = false;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &before);
    cr_assert_eq(sinter_pool_create(sinter_env_default(), 1, 1, &pool, NULL), SINTER_OK);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    executor = sinter_pool_executor(pool);
    cr_assert_eq(executor.submit(executor.ctx, note_mask, &all_blocked), SINTER_OK);
    sinter_pool_destroy(pool);
    cr_expect(all_blocked);
    for (int number = 1; number < 32; number++) {
        cr_expect_eq(sigismember(&before, number), sigismember(&after, number), "%d", number);
    }
}

Test(base_pool, limits_are_checked_and_every_allocation_may_fail)
{
    static const uint32_t bad[][2] = {{0, 1}, {1025, 1}, {1, 0}, {1, (1u << 24) + 1}};
    sinter_status st = SINTER_E_NOMEM;
    sinter_pool *pool = NULL;

    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(sinter_pool_create(sinter_env_default(), bad[i][0], bad[i][1], &pool, NULL),
                     SINTER_E_INVALID);
        cr_expect(pool == NULL);
    }
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter_pool_create(&fault.env, 2, 4, &pool, NULL);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && pool == NULL));
        sinter_pool_destroy(pool);
        cr_assert_eq(fault.live, 0);
    }
}
