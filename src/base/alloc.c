#include "base/alloc.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, HUGE_PAGE_BYTES = 2 << 20 };

sinter_status
sinter__alloc(const sinter_env *env, size_t count, size_t size, void **out, sinter_error *err)
{
    size_t bytes = 0;

    *out = NULL;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu items of %zu bytes don't fit in memory", count,
                           size);
    }
    bytes = bytes == 0 ? 1 : bytes;
    *out = env->allocator.allocate(env->allocator.ctx, bytes);
    if (*out == NULL) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for %zu bytes", bytes);
    }
    memset(*out, 0, bytes);
    return SINTER_OK;
}

sinter_status
sinter__resize(const sinter_env *env, void **ptr, size_t count, size_t size, sinter_error *err)
{
    size_t bytes = 0;
    void *grown = NULL;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu items of %zu bytes don't fit in memory", count,
                           size);
    }
    bytes = bytes == 0 ? 1 : bytes;
    grown = *ptr == NULL ? env->allocator.allocate(env->allocator.ctx, bytes)
                         : env->allocator.resize(env->allocator.ctx, *ptr, bytes);
    if (grown == NULL) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "no memory for %zu bytes", bytes);
    }
    *ptr = grown;
    return SINTER_OK;
}

void
sinter__prefer_huge_pages(void *block, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    /* Rounded outwards: the edges of blocks that lie side by side belong to one huge page. */
    const size_t before = (size_t)((uintptr_t)block % PAGE_BYTES);
    const size_t size = (before + bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

    if (bytes >= HUGE_PAGE_BYTES) {
        (void)madvise((uint8_t *)block - before, size, MADV_HUGEPAGE);
    }
#else
    (void)block;
    (void)bytes;
#endif
}

void
sinter__free(const sinter_env *env, const void *ptr)
{
    /* The allocator's door takes a plain pointer; what is freed is nobody's constant any more. */
    const union {
        const void *given;
        void *taken;
    } same = {.given = ptr};

    env->allocator.release(env->allocator.ctx, same.taken);
}

sinter_status
sinter__strdup(const sinter_env *env, const char *text, char **out, sinter_error *err)
{
    *out = NULL;
    if (text == NULL) {
        return SINTER_OK;
    }
    const size_t size = strlen(text) + 1;

    SINTER__CHECK(sinter__alloc(env, size, 1, (void **)out, err));
    assert(*out != NULL);
    memcpy(*out, text, size);
    return SINTER_OK;
}

sinter_status
sinter__buffer_reserve(const sinter_env *env, sinter__buffer *buffer, size_t extra,
                       sinter_error *err)
{
    size_t wanted = 0;
    size_t capacity = buffer->capacity;

    if (__builtin_add_overflow(buffer->size, extra, &wanted)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "a buffer of %zu more bytes doesn't fit", extra);
    }
    if (wanted <= capacity) {
        return SINTER_OK;
    }
    capacity = capacity < 256 ? 256 : capacity;
    while (capacity < wanted) {
        if (__builtin_mul_overflow(capacity, (size_t)2, &capacity)) {
            capacity = wanted;
        }
    }
    SINTER__CHECK(sinter__resize(env, (void **)&buffer->data, capacity, 1, err));
    buffer->capacity = capacity;
    return SINTER_OK;
}

sinter_status
sinter__buffer_append(const sinter_env *env, sinter__buffer *buffer, const void *data, size_t size,
                      sinter_error *err)
{
    if (size == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__buffer_reserve(env, buffer, size, err));
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return SINTER_OK;
}

void
sinter__buffer_fini(const sinter_env *env, sinter__buffer *buffer)
{
    sinter__free(env, buffer->data);
    memset(buffer, 0, sizeof *buffer);
}
