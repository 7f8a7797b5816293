#include "base/arena.h"

#include <assert.h>
#include <string.h>

enum {
    ARENA_CHUNK_BYTES = 16 * 1024,
    ARENA_CHUNK_BYTES_MAX = 8 << 20,
    ARENA_AHEAD_BYTES_MAX = 64 << 20,
    ARENA_ALIGN = 16
};

struct sinter__arena_chunk {
    struct sinter__arena_chunk *next;
    size_t used;
    size_t capacity;
    size_t padding; /* keeps the bytes behind it aligned */
};

static uint8_t *
chunk_bytes(struct sinter__arena_chunk *chunk)
{
    return (uint8_t *)(chunk + 1);
}

/* Begin a chunk with room for `size` bytes. Each is twice as large as the one before, so that much
 * memory comes in few pieces. */
static sinter_status
add_chunk(sinter__arena *arena, size_t size, sinter_error *err)
{
    struct sinter__arena_chunk *chunk = NULL;
    size_t capacity = ARENA_CHUNK_BYTES;
    size_t bytes = 0;

    if (arena->chunks != NULL && arena->chunks->capacity >= ARENA_CHUNK_BYTES) {
        capacity = arena->chunks->capacity < ARENA_CHUNK_BYTES_MAX / 2 ? 2 * arena->chunks->capacity
                                                                       : ARENA_CHUNK_BYTES_MAX;
    }
    capacity = size > capacity ? size : capacity;
    if (__builtin_add_overflow(capacity, sizeof *chunk, &bytes)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu bytes don't fit in memory", size);
    }
    SINTER__CHECK(sinter__resize(arena->env, (void **)&chunk, bytes, 1, err));
    sinter__prefer_huge_pages(chunk, bytes);
    *chunk = (struct sinter__arena_chunk){.capacity = capacity, .next = arena->chunks};
    arena->chunks = chunk;
    return SINTER_OK;
}

sinter_status
sinter__arena_take(sinter__arena *arena, size_t size, void **out, sinter_error *err)
{
    struct sinter__arena_chunk *chunk = arena->chunks;
    size_t rounded = 0;

    *out = NULL;
    if (__builtin_add_overflow(size, (size_t)(ARENA_ALIGN - 1), &rounded)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu bytes don't fit in memory", size);
    }
    rounded &= ~(size_t)(ARENA_ALIGN - 1);
    if (chunk == NULL || chunk->capacity - chunk->used < rounded) {
        SINTER__CHECK(add_chunk(arena, rounded, err));
        chunk = arena->chunks;
        assert(chunk != NULL);
    }
    *out = chunk_bytes(chunk) + chunk->used;
    chunk->used += rounded;
    return SINTER_OK;
}

void
sinter__arena_expect(sinter__arena *arena, size_t size)
{
    if (size > ARENA_CHUNK_BYTES) {
        (void)add_chunk(arena, size < ARENA_AHEAD_BYTES_MAX ? size : ARENA_AHEAD_BYTES_MAX, NULL);
    }
}

sinter_status
sinter__arena_copy(sinter__arena *arena, sinter_bytes bytes, sinter_bytes *out, sinter_error *err)
{
    void *copy = NULL;

    SINTER__CHECK(sinter__arena_take(arena, bytes.size == 0 ? 1 : bytes.size, &copy, err));
    assert(copy != NULL);
    if (bytes.size > 0) {
        memcpy(copy, bytes.data, bytes.size);
    }
    out->data = copy;
    out->size = bytes.size;
    return SINTER_OK;
}

sinter_status
sinter__arena_strdup(sinter__arena *arena, const char *text, const char **out, sinter_error *err)
{
    sinter_bytes copy = {0};

    *out = NULL;
    if (text == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_copy(arena, (sinter_bytes){(const uint8_t *)text, strlen(text) + 1},
                                     &copy, err));
    *out = (const char *)copy.data;
    return SINTER_OK;
}

void
sinter__arena_fini(sinter__arena *arena)
{
    struct sinter__arena_chunk *chunk = arena->chunks;

    while (chunk != NULL) {
        struct sinter__arena_chunk *next = chunk->next;

        sinter__free(arena->env, chunk);
        chunk = next;
    }
    arena->chunks = NULL;
}
