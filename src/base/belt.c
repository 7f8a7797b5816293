#include "base/belt.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/sync.h"

/* Fewer waiting items don't pay for waking a thread. */
enum { HELP_WAITING_MIN = 2 };

enum helper_state { HELPER_AWAY, HELPER_CALLED, HELPER_WORKS };

/* What came of the item in a place. */
typedef struct outcome {
    bool is_done;
    sinter_status status;
    sinter_error err;
} outcome;

/* Shared by the owner and a helper that was called; the last to go releases it. */
struct sinter__belt {
    sinter_env env; /* a copy: a helper may come when the owner's is gone */
    const sinter__belt_ops *ops;
    void *ctx;
    size_t place_count;
    sinter__monitor monitor; /* guards what follows; news: the helper has got on, or is gone */
    uint64_t filled;         /* items put */
    uint64_t begun;
    uint64_t left;
    bool is_leaving; /* somebody lets items leave */
    bool is_closed;
    bool is_late; /* the helper was called in vain so far */
    enum helper_state helper;
    size_t users;
    sinter_status status; /* the first failure, in the order of items */
    sinter_error err;
    outcome outcomes[]; /* of each place */
};

sinter_status
sinter__belt_create(const sinter_env *env, const sinter__belt_ops *ops, void *ctx, size_t places,
                    sinter__belt **out, sinter_error *err)
{
    const size_t size = sizeof(sinter__belt) + places * sizeof(outcome);
    sinter__belt *belt = NULL;
    sinter_status st = SINTER_OK;

    assert(places > 0);
    *out = NULL;
    SINTER__CHECK(sinter__alloc(env, size, 1, (void **)&belt, err));
    st = sinter__monitor_init(&belt->monitor, err);
    if (st != SINTER_OK) {
        sinter__free(env, belt);
        return st;
    }
    belt->env = *env;
    belt->ops = ops;
    belt->ctx = ctx;
    belt->place_count = places;
    belt->is_late = env->executor.submit == NULL;
    belt->users = 1;
    *out = belt;
    return SINTER_OK;
}

/* One user less, with the mutex held; releases it, and everything after the last user. */
static void
release_use(sinter__belt *belt)
{
    const bool is_last = --belt->users == 0;

    sinter__monitor_unlock(&belt->monitor);
    if (is_last) {
        const sinter_env env = belt->env;

        sinter__monitor_fini(&belt->monitor);
        sinter__free(&env, belt);
    }
}

/* Let what is done leave, as far as it is its turn. The mutex is held, but for the leaving. */
static void
let_leave(sinter__belt *belt)
{
    outcome *next = &belt->outcomes[belt->left % belt->place_count];

    if (belt->is_leaving) {
        return; /* who does sees this item too */
    }
    belt->is_leaving = true;
    while (belt->status == SINTER_OK && belt->left < belt->begun && next->is_done) {
        const size_t place = (size_t)(belt->left % belt->place_count);

        if (next->status == SINTER_OK) {
            sinter__monitor_unlock(&belt->monitor);
            next->status = belt->ops->leave(belt->ctx, place, &next->err);
            sinter__monitor_lock(&belt->monitor);
        }
        if (next->status == SINTER_OK) {
            next->is_done = false;
            belt->left++;
            next = &belt->outcomes[belt->left % belt->place_count];
        } else {
            belt->status = next->status;
            belt->err = next->err;
        }
        sinter__monitor_tell_one(&belt->monitor);
    }
    belt->is_leaving = false;
}

/* Begin the next item, if there is one and it may. */
static bool
begin_next(sinter__belt *belt, size_t *place_out)
{
    *place_out = (size_t)(belt->begun % belt->place_count);
    if (belt->status != SINTER_OK || belt->is_closed || belt->begun == belt->filled ||
        !belt->ops->begin(belt->ctx, *place_out)) {
        return false;
    }
    belt->begun++;
    return true;
}

/* Work on an item that was begun. The mutex is held, but for the work. */
static void
work_on(sinter__belt *belt, size_t place, int worker)
{
    outcome *result = &belt->outcomes[place];

    assert(!result->is_done);
    sinter__monitor_unlock(&belt->monitor);
    result->err = (sinter_error)SINTER_ERROR_INIT;
    result->status = belt->ops->work(belt->ctx, place, worker, &result->err);
    sinter__monitor_lock(&belt->monitor);
    result->is_done = true;
    let_leave(belt);
}

static void
help(void *arg)
{
    sinter__belt *belt = arg;
    size_t place = 0;

    sinter__monitor_lock(&belt->monitor);
    belt->helper = HELPER_WORKS;
    belt->is_late = false;
    while (begin_next(belt, &place)) {
        work_on(belt, place, SINTER__BELT_HELPER);
    }
    belt->helper = HELPER_AWAY;
    sinter__monitor_tell_one(&belt->monitor);
    release_use(belt);
}

/* Work, or else wait for the helper, who then works. The mutex is held. */
static void
get_on(sinter__belt *belt)
{
    size_t place = 0;

    if (begin_next(belt, &place)) {
        work_on(belt, place, SINTER__BELT_OWNER);
    } else {
        assert(belt->helper == HELPER_WORKS);
        sinter__monitor_wait(&belt->monitor);
    }
}

/* What the owner is told; releases the mutex. */
static sinter_status
tell(sinter__belt *belt, sinter_error *err)
{
    const sinter_status st = belt->status;

    if (st != SINTER_OK && err != NULL) {
        *err = belt->err;
    }
    sinter__monitor_unlock(&belt->monitor);
    return st;
}

sinter_status
sinter__belt_room(sinter__belt *belt, size_t *place_out, sinter_error *err)
{
    sinter__monitor_lock(&belt->monitor);
    while (belt->status == SINTER_OK && belt->filled - belt->left == belt->place_count) {
        belt->is_late = belt->is_late || belt->helper == HELPER_CALLED;
        get_on(belt);
    }
    *place_out = (size_t)(belt->filled % belt->place_count);
    return tell(belt, err);
}

void
sinter__belt_put(sinter__belt *belt)
{
    const sinter_executor *executor = &belt->env.executor;
    bool must_call = false;

    sinter__monitor_lock(&belt->monitor);
    assert(belt->filled - belt->left < belt->place_count);
    belt->filled++;
    must_call = executor->submit != NULL && belt->helper == HELPER_AWAY &&
                belt->filled - belt->begun >= HELP_WAITING_MIN;
    if (must_call) {
        belt->helper = HELPER_CALLED;
        belt->users++;
    }
    sinter__monitor_unlock(&belt->monitor);
    if (must_call && executor->submit(executor->ctx, help, belt) != SINTER_OK) {
        sinter__monitor_lock(&belt->monitor);
        belt->helper = HELPER_AWAY;
        belt->is_late = true;
        release_use(belt);
    }
}

bool
sinter__belt_has_help(sinter__belt *belt)
{
    bool has_help = false;

    sinter__monitor_lock(&belt->monitor);
    has_help = !belt->is_late;
    sinter__monitor_unlock(&belt->monitor);
    return has_help;
}

size_t
sinter__belt_count(sinter__belt *belt)
{
    size_t count = 0;

    sinter__monitor_lock(&belt->monitor);
    count = (size_t)(belt->filled - belt->left);
    sinter__monitor_unlock(&belt->monitor);
    return count;
}

sinter_status
sinter__belt_reduce(sinter__belt *belt, size_t most, sinter_error *err)
{
    sinter__monitor_lock(&belt->monitor);
    while (belt->status == SINTER_OK && belt->filled - belt->left > most) {
        get_on(belt);
    }
    while (belt->status != SINTER_OK && belt->helper == HELPER_WORKS) {
        sinter__monitor_wait(&belt->monitor);
    }
    return tell(belt, err);
}

void
sinter__belt_destroy(sinter__belt *belt)
{
    if (belt != NULL) {
        sinter__monitor_lock(&belt->monitor);
        belt->is_closed = true;
        while (belt->helper == HELPER_WORKS) {
            sinter__monitor_wait(&belt->monitor);
        }
        release_use(belt);
    }
}
