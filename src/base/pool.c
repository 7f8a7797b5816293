/*
 * A pool of threads over a bounded ring of tasks.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>

#include "base/alloc.h"
#include "base/sync.h"

enum { THREADS_MAX = 1024, QUEUE_MAX = 1 << 24 };

typedef struct task {
    void (*work)(void *arg);
    void *arg;
} task;

struct sinter_pool {
    const sinter_env *env;
    /* Guards what follows but `threads`, which only the maker touches. News: a task, the end. */
    sinter__monitor monitor;
    task *tasks; /* a ring: `task_count` of `queue_max`, the oldest at `first_task` */
    uint32_t queue_max;
    uint32_t first_task;
    uint32_t task_count;
    bool is_ending;
    pthread_t *threads;
    uint32_t thread_count;
};

/* Run tasks until the end is near and none is left. */
static void *
worker(void *arg)
{
    sinter_pool *pool = arg;

    sinter__monitor_lock(&pool->monitor);
    for (;;) {
        while (pool->task_count == 0 && !pool->is_ending) {
            sinter__monitor_wait(&pool->monitor);
        }
        if (pool->task_count == 0) {
            break;
        }
        const task next = pool->tasks[pool->first_task];

        pool->first_task = (pool->first_task + 1) % pool->queue_max;
        pool->task_count--;
        sinter__monitor_unlock(&pool->monitor);
        next.work(next.arg);
        sinter__monitor_lock(&pool->monitor);
    }
    sinter__monitor_unlock(&pool->monitor);
    return NULL;
}

static sinter_status
submit(void *ctx, void (*work)(void *arg), void *arg)
{
    sinter_pool *pool = ctx;
    sinter_status st = SINTER_OK;

    assert(work != NULL);
    sinter__monitor_lock(&pool->monitor);
    if (pool->task_count == pool->queue_max || pool->is_ending) {
        st = SINTER_E_BUSY;
    } else {
        const uint32_t place =
            (uint32_t)(((uint64_t)pool->first_task + pool->task_count) % pool->queue_max);

        pool->tasks[place] = (task){.work = work, .arg = arg};
        pool->task_count++;
        sinter__monitor_tell_one(&pool->monitor);
    }
    sinter__monitor_unlock(&pool->monitor);
    return st;
}

/* Signals are the caller's business: threads inherit the mask of the moment they are made. */
static sinter_status
start_threads(sinter_pool *pool, uint32_t count, sinter_error *err)
{
    sigset_t all;
    sigset_t before;
    int rc = 0;

    (void)sigfillset(&all);
    rc = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (rc != 0) {
        return SINTER__ERR_SYS(err, SINTER_E_IO, rc, NULL, -1, "can't block signals");
    }
    while (pool->thread_count < count && rc == 0) {
        rc = pthread_create(&pool->threads[pool->thread_count], NULL, worker, pool);
        pool->thread_count += rc == 0 ? 1 : 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        return SINTER__ERR_SYS(err, SINTER_E_IO, rc, NULL, -1, "the system gave %u of %u threads",
                               pool->thread_count, count);
    }
    return SINTER_OK;
}

static void
pool_free(sinter_pool *pool)
{
    if (pool != NULL) {
        sinter__free(pool->env, pool->threads);
        sinter__free(pool->env, pool->tasks);
        sinter__free(pool->env, pool);
    }
}

sinter_status
sinter_pool_create(const sinter_env *env, uint32_t thread_count, uint32_t queue_max,
                   sinter_pool **out, sinter_error *err)
{
    sinter_pool *pool = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, thread_count >= 1 && thread_count <= THREADS_MAX);
    SINTER__REQUIRE(err, queue_max >= 1 && queue_max <= QUEUE_MAX);
    SINTER__CHECK(SINTER__NEW(env, pool, 1, err));
    pool->env = env;
    pool->queue_max = queue_max;
    SINTER__TRY(SINTER__NEW(env, pool->tasks, queue_max, err));
    SINTER__TRY(SINTER__NEW(env, pool->threads, thread_count, err));
    SINTER__TRY(sinter__monitor_init(&pool->monitor, err));
    st = start_threads(pool, thread_count, err);
    if (st != SINTER_OK) {
        sinter_pool_destroy(pool);
        return st;
    }
    *out = pool;
    pool = NULL;
out:
    pool_free(pool);
    return st;
}

void
sinter_pool_destroy(sinter_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    sinter__monitor_lock(&pool->monitor);
    pool->is_ending = true;
    sinter__monitor_tell_all(&pool->monitor);
    sinter__monitor_unlock(&pool->monitor);
    for (uint32_t i = 0; i < pool->thread_count; i++) {
        assert(!pthread_equal(pool->threads[i], pthread_self()));
        (void)pthread_join(pool->threads[i], NULL);
    }
    assert(pool->task_count == 0 || pool->thread_count == 0);
    sinter__monitor_fini(&pool->monitor);
    pool_free(pool);
}

sinter_executor
sinter_pool_executor(sinter_pool *pool)
{
    return (sinter_executor){
        .struct_size = (uint32_t)sizeof(sinter_executor), .ctx = pool, .submit = submit};
}
