#include "fault_alloc.h"

#include <stdatomic.h>
#include <stdlib.h>

static void *
fault_allocate(void *ctx, size_t size)
{
    fault_alloc *fault = ctx;
    void *block = NULL;

    if (atomic_fetch_add(&fault->calls, 1) == fault->fail_at) {
        return NULL;
    }
    block = malloc(size);
    if (block != NULL) {
        atomic_fetch_add(&fault->live, 1);
    }
    return block;
}

static void *
fault_resize(void *ctx, void *ptr, size_t size)
{
    fault_alloc *fault = ctx;

    if (atomic_fetch_add(&fault->calls, 1) == fault->fail_at) {
        return NULL;
    }
    return realloc(ptr, size);
}

static void
fault_release(void *ctx, void *ptr)
{
    fault_alloc *fault = ctx;

    if (ptr != NULL) {
        atomic_fetch_sub(&fault->live, 1);
        free(ptr);
    }
}

void
fault_alloc_init(fault_alloc *fault, uint64_t fail_at)
{
    *fault = (fault_alloc){.fail_at = fail_at};
    sinter_env_init(&fault->env);
    fault->env.allocator.ctx = fault;
    fault->env.allocator.allocate = fault_allocate;
    fault->env.allocator.resize = fault_resize;
    fault->env.allocator.release = fault_release;
}
