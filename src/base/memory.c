/*
 * The memory budget: an atomic count with a ceiling and a high-water mark.
 */
#include "base/memory.h"

#include <assert.h>

#include "base/alloc.h"

void
sinter__memory_init(sinter_memory *memory, sinter_memory *whole, uint64_t limit_bytes)
{
    assert(whole == NULL || whole->whole == NULL);
    memory->env = NULL;
    memory->whole = whole;
    memory->limit_bytes = limit_bytes == 0 ? UINT64_MAX : limit_bytes;
    atomic_init(&memory->used_bytes, 0);
    atomic_init(&memory->peak_bytes, 0);
}

sinter_status
sinter_memory_create(const sinter_env *env, uint64_t limit_bytes, sinter_memory **out,
                     sinter_error *err)
{
    sinter_memory *memory = NULL;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, memory, 1, err));
    sinter__memory_init(memory, NULL, limit_bytes);
    memory->env = env;
    *out = memory;
    return SINTER_OK;
}

void
sinter_memory_destroy(sinter_memory *memory)
{
    if (memory != NULL) {
        assert(atomic_load(&memory->used_bytes) == 0);
        sinter__free(memory->env, memory);
    }
}

static void
raise_peak(sinter_memory *memory, uint64_t used)
{
    uint64_t peak = atomic_load(&memory->peak_bytes);

    while (used > peak && !atomic_compare_exchange_weak(&memory->peak_bytes, &peak, used)) {
    }
}

static void
give_back(sinter_memory *memory, uint64_t bytes)
{
    const uint64_t before = atomic_fetch_sub(&memory->used_bytes, bytes);

    assert(before >= bytes);
    (void)before;
}

/* Take from one budget, whatever it is a share of. */
static sinter_status
take(sinter_memory *memory, uint64_t bytes, sinter_error *err)
{
    uint64_t used = atomic_load(&memory->used_bytes);

    do {
        if (bytes > memory->limit_bytes - used) {
            return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                               "the memory budget of %llu bytes can't hold %llu more beside %llu: "
                               "at least %llu are needed",
                               (unsigned long long)memory->limit_bytes, (unsigned long long)bytes,
                               (unsigned long long)used, (unsigned long long)(used + bytes));
        }
    } while (!atomic_compare_exchange_weak(&memory->used_bytes, &used, used + bytes));
    raise_peak(memory, used + bytes);
    return SINTER_OK;
}

sinter_status
sinter_memory_reserve(sinter_memory *memory, uint64_t bytes, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (memory == NULL) {
        return SINTER_OK;
    }
    st = take(memory, bytes, err);
    if (st == SINTER_OK && memory->whole != NULL) {
        st = take(memory->whole, bytes, err);
        if (st != SINTER_OK) {
            give_back(memory, bytes);
        }
    }
    return st;
}

void
sinter_memory_release(sinter_memory *memory, uint64_t bytes)
{
    if (memory != NULL) {
        give_back(memory, bytes);
        if (memory->whole != NULL) {
            give_back(memory->whole, bytes);
        }
    }
}

uint64_t
sinter_memory_used(const sinter_memory *memory)
{
    return memory == NULL ? 0 : atomic_load(&memory->used_bytes);
}

uint64_t
sinter_memory_peak(const sinter_memory *memory)
{
    return memory == NULL ? 0 : atomic_load(&memory->peak_bytes);
}

uint64_t
sinter_memory_limit(const sinter_memory *memory)
{
    return memory == NULL ? UINT64_MAX : memory->limit_bytes;
}
