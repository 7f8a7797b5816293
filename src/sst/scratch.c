#include "sst/scratch.h"

#include <assert.h>
#include <string.h>

enum { SHRINK_ABOVE_BYTES = 1 << 20, CREEP_BYTES_MAX = 128 << 10, ROUND_BYTES = 256 };

/* Fuzz builds take what is asked for and no more, so that a byte read too far is seen. */
#ifdef SINTER_FUZZING
enum { IS_EXACT = 1 };
#else
enum { IS_EXACT = 0 };
#endif

size_t
sinter__scratch_room(size_t size)
{
    if (IS_EXACT) {
        return size == 0 ? 1 : size;
    }
    if (size < CREEP_BYTES_MAX) {
        size += size / 8;
    }
    return (size + ROUND_BYTES - 1) / ROUND_BYTES * ROUND_BYTES;
}

sinter_status
sinter__scratch_fit(const sinter_env *env, sinter__scratch *scratch, size_t size, sinter_error *err)
{
    const bool is_wasteful = scratch->capacity > SHRINK_ABOVE_BYTES &&
                             scratch->capacity / 8 > sinter__scratch_room(size);
    size_t capacity = 0;
    sinter_status st = SINTER_OK;

    assert((scratch->data == NULL) == (scratch->capacity == 0));
    if (size <= scratch->capacity && !is_wasteful && !IS_EXACT) {
        return SINTER_OK;
    }
    if (size > SIZE_MAX / 2) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a buffer of %zu bytes can't be had", size);
    }
    capacity = sinter__scratch_room(size);
    sinter__scratch_fini(env, scratch);
    SINTER__TRY(sinter_memory_reserve(env->memory, capacity, err));
    st = sinter__resize(env, (void **)&scratch->data, capacity, 1, err);
    if (st != SINTER_OK) {
        sinter_memory_release(env->memory, capacity);
        goto out;
    }
    scratch->capacity = capacity;
    assert(scratch->capacity >= size);
out:
    return st;
}

sinter_status
sinter__scratch_grow(const sinter_env *env, sinter__scratch *scratch, size_t size,
                     sinter_error *err)
{
    size_t capacity = 0;
    sinter_status st = SINTER_OK;

    assert((scratch->data == NULL) == (scratch->capacity == 0));
    if (size <= scratch->capacity) {
        return SINTER_OK;
    }
    if (size > SIZE_MAX / 4) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a buffer of %zu bytes can't be had", size);
    }
    capacity = sinter__scratch_room(size);
    if (capacity < SHRINK_ABOVE_BYTES && capacity < scratch->capacity * 2) {
        capacity = scratch->capacity * 2;
    }
    SINTER__TRY(sinter_memory_reserve(env->memory, capacity - scratch->capacity, err));
    st = sinter__resize(env, (void **)&scratch->data, capacity, 1, err);
    if (st != SINTER_OK) {
        sinter_memory_release(env->memory, capacity - scratch->capacity);
        goto out;
    }
    scratch->capacity = capacity;
out:
    return st;
}

void
sinter__scratch_fini(const sinter_env *env, sinter__scratch *scratch)
{
    sinter__free(env, scratch->data);
    sinter_memory_release(env->memory, scratch->capacity);
    memset(scratch, 0, sizeof *scratch);
}

sinter_status
sinter__pile_append(const sinter_env *env, sinter__pile *pile, const void *data, size_t size,
                    sinter_error *err)
{
    assert(pile->size <= pile->memory.capacity);
    assert(size <= SIZE_MAX / 4 - pile->size);
    SINTER__CHECK(sinter__scratch_grow(env, &pile->memory, pile->size + size, err));
    if (size > 0) {
        memcpy(pile->memory.data + pile->size, data, size);
    }
    pile->size += size;
    return SINTER_OK;
}

void
sinter__pile_fini(const sinter_env *env, sinter__pile *pile)
{
    sinter__scratch_fini(env, &pile->memory);
    pile->size = 0;
}
