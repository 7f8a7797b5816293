#include "io/huge_pool.h"

enum { PIECES = SINTER__IO_HUGE_BYTES / SINTER__HUGE_PIECE_BYTES };

/* A huge page in pieces. */
typedef struct sinter__huge_arena {
    struct sinter__huge_arena *next;
    sinter__io_chunk chunk;
    unsigned taken; /* bit i: piece i is out */
} sinter__huge_arena;

enum {
    ALL_TAKEN = (1 << PIECES) - 1,
    LEFT_SHARE = 8 /* an arena takes one part in so many of what the budget has left, or less */
};

sinter_status
sinter__huge_pool_init(sinter__huge_pool *pool, const sinter_env *env, sinter_error *err)
{
    pool->env = env;
    return sinter__mutex_init(&pool->mutex, err);
}

static void
arena_free(const sinter_env *env, sinter__huge_arena *arena)
{
    sinter__io_chunk_fini(env, &arena->chunk);
    sinter__free(env, arena);
}

void
sinter__huge_pool_fini(sinter__huge_pool *pool)
{
    while (pool->arenas != NULL) {
        sinter__huge_arena *arena = pool->arenas;

        assert(arena->taken == 0);
        pool->arenas = arena->next;
        arena_free(pool->env, arena);
    }
    sinter__mutex_fini(&pool->mutex);
}

/* Does the budget have so much left that an arena is little? */
static bool
is_affordable(const sinter__huge_pool *pool)
{
    const sinter_memory *memory = pool->env->memory;

    return (sinter_memory_limit(memory) - sinter_memory_used(memory)) / LEFT_SHARE >=
           SINTER__IO_HUGE_BYTES;
}

/* A piece of the arenas that are there; called with the mutex held. */
static void *
take_piece(const sinter__huge_pool *pool)
{
    for (sinter__huge_arena *arena = pool->arenas; arena != NULL; arena = arena->next) {
        for (unsigned i = 0; i < PIECES; i++) {
            if ((arena->taken >> i & 1) == 0) {
                arena->taken |= 1u << i;
                return arena->chunk.data + (size_t)i * SINTER__HUGE_PIECE_BYTES;
            }
        }
    }
    return NULL;
}

void *
sinter__huge_pool_take(sinter__huge_pool *pool)
{
    sinter__huge_arena *arena = NULL;
    void *piece = NULL;

    sinter__mutex_lock(&pool->mutex);
    piece = take_piece(pool);
    sinter__mutex_unlock(&pool->mutex);
    if (piece != NULL || !is_affordable(pool) ||
        SINTER__NEW(pool->env, arena, 1, NULL) != SINTER_OK) {
        return piece;
    }
    if (sinter__io_chunk_init(pool->env, &arena->chunk, SINTER__IO_HUGE_BYTES,
                              SINTER__IO_HUGE_BYTES, NULL) != SINTER_OK) {
        sinter__free(pool->env, arena);
        return NULL;
    }
    arena->taken = 1;
    sinter__mutex_lock(&pool->mutex);
    arena->next = pool->arenas;
    pool->arenas = arena;
    sinter__mutex_unlock(&pool->mutex);
    return arena->chunk.data;
}

void
sinter__huge_pool_give(sinter__huge_pool *pool, void *piece)
{
    sinter__huge_arena **link = &pool->arenas;
    sinter__huge_arena *arena = NULL;
    size_t offset = 0;

    sinter__mutex_lock(&pool->mutex);
    for (;; link = &(*link)->next) {
        arena = *link;
        assert(arena != NULL);
        offset = (size_t)((uintptr_t)piece - (uintptr_t)arena->chunk.data);
        if (offset < SINTER__IO_HUGE_BYTES) {
            break;
        }
    }
    assert((arena->taken & ALL_TAKEN) == arena->taken);
    arena->taken &= ~(1u << offset / SINTER__HUGE_PIECE_BYTES);
    if (arena->taken == 0) { /* nothing lies idle: the budget is for those who work */
        *link = arena->next;
    } else {
        arena = NULL;
    }
    sinter__mutex_unlock(&pool->mutex);
    if (arena != NULL) {
        arena_free(pool->env, arena);
    }
}
