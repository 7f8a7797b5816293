#include "base/fan_out.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/sync.h"

/* Shared by the caller and the helpers; the last to leave releases it. */
typedef struct fan {
    sinter_env env;          /* a copy: a helper may come when the caller is gone */
    sinter__monitor monitor; /* guards what follows; news: done == count */
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
    if (sinter__monitor_init(&shared->monitor, NULL) != SINTER_OK) {
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

    sinter__monitor_unlock(&shared->monitor);
    if (is_last) {
        const sinter_env env = shared->env;

        sinter__monitor_fini(&shared->monitor);
        sinter__free(&env, shared);
    }
}

/* Do pieces as long as there are some that nobody has begun. The mutex is held. */
static void
do_pieces(fan *shared)
{
    while (shared->next < shared->count) {
        const size_t index = shared->next++;

        sinter__monitor_unlock(&shared->monitor);
        shared->work(shared->ctx, index);
        sinter__monitor_lock(&shared->monitor);
        shared->done++;
        if (shared->done == shared->count) {
            sinter__monitor_tell_one(&shared->monitor);
        }
    }
}

static void
help(void *arg)
{
    fan *shared = arg;

    sinter__monitor_lock(&shared->monitor);
    do_pieces(shared);
    leave(shared);
}

/* Ask for a helper for every piece but the caller's. */
static void
call_helpers(fan *shared)
{
    const sinter_executor *executor = &shared->env.executor;

    for (size_t i = 1; i < shared->count; i++) {
        sinter__monitor_lock(&shared->monitor);
        shared->users++;
        sinter__monitor_unlock(&shared->monitor);
        if (executor->submit(executor->ctx, help, shared) != SINTER_OK) {
            sinter__monitor_lock(&shared->monitor);
            shared->users--;
            sinter__monitor_unlock(&shared->monitor);
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
    sinter__monitor_lock(&shared->monitor);
    do_pieces(shared);
    while (shared->done < shared->count) {
        sinter__monitor_wait(&shared->monitor);
    }
    assert(shared->next == shared->count);
    leave(shared);
}
