#include "base/fan_out.h"

#include <assert.h>
#include <pthread.h>

#include "base/alloc.h"

/* Shared by the caller and the helpers; the last to leave releases it. */
typedef struct fan {
    sinter_env env; /* a copy: a helper may come when the caller is gone */
    pthread_mutex_t mutex;
    pthread_cond_t finished; /* done == count */
    size_t count;
    size_t next; /* the first piece that nobody has begun */
    size_t done;
    size_t users;
    void (*work)(void *ctx, size_t index);
    void *ctx;
} fan;

static sinter_status
fan_create(const sinter_env *env, size_t count, void (*work)(void *, size_t), void *ctx, fan **out)
{
    fan *shared = NULL;

    SINTER__CHECK(SINTER__NEW(env, shared, 1, NULL));
    if (pthread_mutex_init(&shared->mutex, NULL) != 0) {
        sinter__free(env, shared);
        return SINTER_E_NOMEM;
    }
    if (pthread_cond_init(&shared->finished, NULL) != 0) {
        (void)pthread_mutex_destroy(&shared->mutex);
        sinter__free(env, shared);
        return SINTER_E_NOMEM;
    }
    shared->env = *env;
    shared->count = count;
    shared->users = 1;
    shared->work = work;
    shared->ctx = ctx;
    *out = shared;
    return SINTER_OK;
}

/* Leave with the mutex held; releases it, and everything after the last user. */
static void
leave(fan *shared)
{
    const bool is_last = --shared->users == 0;

    (void)pthread_mutex_unlock(&shared->mutex);
    if (is_last) {
        const sinter_env env = shared->env;

        (void)pthread_cond_destroy(&shared->finished);
        (void)pthread_mutex_destroy(&shared->mutex);
        sinter__free(&env, shared);
    }
}

/* Do pieces as long as there are some that nobody has begun. The mutex is held. */
static void
do_pieces(fan *shared)
{
    while (shared->next < shared->count) {
        const size_t index = shared->next++;

        (void)pthread_mutex_unlock(&shared->mutex);
        shared->work(shared->ctx, index);
        (void)pthread_mutex_lock(&shared->mutex);
        shared->done++;
        if (shared->done == shared->count) {
            (void)pthread_cond_signal(&shared->finished);
        }
    }
}

static void
help(void *arg)
{
    fan *shared = arg;

    (void)pthread_mutex_lock(&shared->mutex);
    do_pieces(shared);
    leave(shared);
}

/* Ask for a helper for every piece but the caller's. */
static void
call_helpers(fan *shared)
{
    const sinter_executor *executor = &shared->env.executor;

    for (size_t i = 1; i < shared->count; i++) {
        (void)pthread_mutex_lock(&shared->mutex);
        shared->users++;
        (void)pthread_mutex_unlock(&shared->mutex);
        if (executor->submit(executor->ctx, help, shared) != SINTER_OK) {
            (void)pthread_mutex_lock(&shared->mutex);
            shared->users--;
            (void)pthread_mutex_unlock(&shared->mutex);
            return;
        }
    }
}

void
sinter__fan_out(const sinter_env *env, size_t count, void (*work)(void *ctx, size_t index),
                void *ctx)
{
    fan *shared = NULL;

    if (count < 2 || env->executor.submit == NULL ||
        fan_create(env, count, work, ctx, &shared) != SINTER_OK) {
        for (size_t i = 0; i < count; i++) {
            work(ctx, i);
        }
        return;
    }
    call_helpers(shared);
    (void)pthread_mutex_lock(&shared->mutex);
    do_pieces(shared);
    while (shared->done < shared->count) {
        (void)pthread_cond_wait(&shared->finished, &shared->mutex);
    }
    assert(shared->next == shared->count);
    leave(shared);
}
