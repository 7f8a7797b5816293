#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fan_out.h"
#include "fault_alloc.h"

TestSuite(base_fan_out, .timeout = 60);

enum { PIECES_MAX = 40 };

typedef struct pieces {
    _Atomic uint32_t calls[PIECES_MAX];
    _Atomic uint32_t running;
} pieces;

static void
count_piece(void *ctx, size_t index)
{
    pieces *all = ctx;

    (void)atomic_fetch_add(&all->running, 1);
    (void)atomic_fetch_add(&all->calls[index], 1);
    (void)atomic_fetch_sub(&all->running, 1);
}

static void
check_once(const sinter_env *env, size_t count)
{
    pieces all = {.running = 0};

    sinter__fan_out(env, count, count_piece, &all);
    cr_assert_eq(all.running, 0, "every call has returned");
    for (size_t i = 0; i < PIECES_MAX; i++) {
        cr_assert_eq(all.calls[i], i < count ? 1 : 0, "%zu pieces: piece %zu", count, i);
    }
}

static sinter_env
env_with(sinter_pool *pool)
{
    sinter_env env;

    sinter_env_init(&env);
    env.executor = sinter_pool_executor(pool);
    return env;
}

Test(base_fan_out, each_piece_is_done_once_by_any_number_of_threads)
{
    for (size_t count = 0; count <= PIECES_MAX; count++) {
        check_once(sinter_env_default(), count);
    }
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        sinter_pool *pool = NULL;
        sinter_env env;

        cr_assert_eq(sinter_pool_create(sinter_env_default(), threads, 3, &pool, NULL), SINTER_OK);
        env = env_with(pool);
        for (int round = 0; round < 50; round++) {
            check_once(&env, (size_t)round % (PIECES_MAX + 1));
        }
        sinter_pool_destroy(pool);
    }
}

/* Pieces that meet can only do so on several threads at a time. */
typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t there;
} meeting;

static void
wait_for_the_other(void *ctx, size_t index)
{
    meeting *both = ctx;

    (void)index;
    (void)pthread_mutex_lock(&both->mutex);
    both->there++;
    (void)pthread_cond_broadcast(&both->changed);
    while (both->there < 2) {
        (void)pthread_cond_wait(&both->changed, &both->mutex);
    }
    (void)pthread_mutex_unlock(&both->mutex);
}

Test(base_fan_out, pieces_are_done_side_by_side)
{
    meeting both = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    sinter_pool *pool = NULL;
    sinter_env env;

    cr_assert_eq(sinter_pool_create(sinter_env_default(), 1, 4, &pool, NULL), SINTER_OK);
    env = env_with(pool);
    sinter__fan_out(&env, 2, wait_for_the_other, &both);
    cr_expect_eq(both.there, 2);
    sinter_pool_destroy(pool);
}

/* Everybody in the pool fans out into the same pool: nobody may wait for a piece not begun. */
typedef struct nested {
    const sinter_env *env;
    _Atomic uint32_t done;
} nested;

static void
count_inner(void *ctx, size_t index)
{
    nested *all = ctx;

    (void)index;
    (void)atomic_fetch_add(&all->done, 1);
}

static void
fan_out_again(void *ctx, size_t index)
{
    nested *all = ctx;

    (void)index;
    sinter__fan_out(all->env, 6, count_inner, all);
}

Test(base_fan_out, work_of_the_pool_may_fan_out_into_the_same_pool)
{
    for (uint32_t threads = 1; threads <= 4; threads++) {
        sinter_pool *pool = NULL;
        sinter_env env;
        nested all = {.env = &env};

        cr_assert_eq(sinter_pool_create(sinter_env_default(), threads, 64, &pool, NULL), SINTER_OK);
        env = env_with(pool);
        sinter__fan_out(&env, 8, fan_out_again, &all);
        cr_expect_eq(all.done, 8 * 6);
        sinter_pool_destroy(pool);
    }
}

static sinter_status
refuse(void *ctx, void (*work)(void *arg), void *arg)
{
    (void)ctx;
    (void)work;
    (void)arg;
    return SINTER_E_BUSY;
}

Test(base_fan_out, an_executor_that_takes_nothing_and_no_memory_leave_the_caller_to_do_it)
{
    sinter_env env;
    fault_alloc faults;

    sinter_env_init(&env);
    env.executor =
        (sinter_executor){.struct_size = (uint32_t)sizeof env.executor, .submit = refuse};
    check_once(&env, 5);
    fault_alloc_init(&faults, 0);
    env.allocator = faults.env.allocator;
    check_once(&env, 5);
    cr_expect_eq(faults.live, 0);
}
