#include "compact/write_pool.h"

#include <assert.h>

#include "base/alloc.h"

struct sinter_write_pool {
    const sinter_env *env;
    sinter_memory *memory;
    sinter__pool_member *members;
};

enum { POOL_BYTES_MIN = 64 * 1024 };

sinter_status
sinter_write_pool_create(const sinter_env *env, uint64_t bytes, sinter_write_pool **out,
                         sinter_error *err)
{
    sinter_write_pool *pool = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, bytes >= POOL_BYTES_MIN);
    SINTER__TRY(SINTER__NEW(env, pool, 1, err));
    pool->env = env;
    SINTER__TRY(sinter_memory_create(env, bytes, &pool->memory, err));
    *out = pool;
    pool = NULL;
out:
    sinter_write_pool_destroy(pool);
    return st;
}

void
sinter_write_pool_destroy(sinter_write_pool *pool)
{
    if (pool != NULL) {
        assert(pool->members == NULL);
        sinter_memory_destroy(pool->memory);
        sinter__free(pool->env, pool);
    }
}

void
sinter__write_pool_enter(sinter_write_pool *pool, sinter__pool_member *member)
{
    member->next = pool->members;
    member->previous = NULL;
    if (pool->members != NULL) {
        pool->members->previous = member;
    }
    pool->members = member;
}

void
sinter__write_pool_leave(sinter_write_pool *pool, sinter__pool_member *member)
{
    if (member->previous != NULL) {
        member->previous->next = member->next;
    } else {
        assert(pool->members == member);
        pool->members = member->next;
    }
    if (member->next != NULL) {
        member->next->previous = member->previous;
    }
}

sinter_status
sinter__write_pool_make_room(sinter_write_pool *pool, sinter_error *err)
{
    sinter__pool_member *largest = NULL;
    uint64_t most = 0;

    for (sinter__pool_member *member = pool->members; member != NULL; member = member->next) {
        const uint64_t bytes = sinter__write_buffer_bytes(member->buffer);

        if (bytes > most) {
            most = bytes;
            largest = member;
        }
    }
    return largest == NULL ? SINTER_END : largest->give_way(largest->ctx, err);
}

sinter_memory *
sinter__write_pool_memory(const sinter_write_pool *pool)
{
    return pool->memory;
}
