#include "executors.h"

#include <assert.h>

static sinter_status
submit(void *ctx, void (*work)(void *arg), void *arg)
{
    test_executor *self = ctx;

    self->submitted++;
    if (self->kind == TEST_EXECUTOR_REFUSES || self->count == TEST_EXECUTOR_TASKS_MAX) {
        return SINTER_E_BUSY;
    }
    if (self->kind == TEST_EXECUTOR_INLINE) {
        work(arg);
    } else {
        self->work[self->count] = work;
        self->args[self->count] = arg;
        self->count++;
    }
    return SINTER_OK;
}

void
test_executor_use(test_executor *executor, sinter_env *env)
{
    env->executor = (sinter_executor){
        .struct_size = (uint32_t)sizeof env->executor, .ctx = executor, .submit = submit};
}

void
test_executor_run(test_executor *executor)
{
    const size_t count = executor->count;

    executor->count = 0;
    for (size_t i = 0; i < count; i++) {
        executor->work[i](executor->args[i]);
    }
}
