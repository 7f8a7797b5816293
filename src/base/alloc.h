/*
 * Memory through the environment's allocator, with every size checked.
 */
#ifndef SINTER_BASE_ALLOC_H
#define SINTER_BASE_ALLOC_H

#include "base/fail.h"
#include "sinter/env.h"

/** Allocate `count * size` zeroed bytes; count 0 gives a valid pointer of 1 byte. */
sinter_status
sinter__alloc(const sinter_env *env, size_t count, size_t size, void **out, sinter_error *err);

/** Grow `*ptr` to `count * size` bytes; new bytes are not set; the old block stays on failure. */
sinter_status
sinter__resize(const sinter_env *env, void **ptr, size_t count, size_t size, sinter_error *err);

/** Ask the system to back a large block with huge pages, which cost less to get and to look up. A
 *  hint, before it is filled. */
void
sinter__prefer_huge_pages(void *block, size_t bytes);

/** Release; takes NULL. */
void
sinter__free(const sinter_env *env, const void *ptr);

/** Copy a string; NULL gives NULL. */
sinter_status
sinter__strdup(const sinter_env *env, const char *text, char **out, sinter_error *err);

/** Allocate a zeroed array of `count` items of the type that `ptr` points to. */
#define SINTER__NEW(env, ptr, count, err) \
    sinter__alloc((env), (count), sizeof *(ptr), (void **)&(ptr), (err))

/** A growing byte buffer. Zeroed is empty; fini releases. */
typedef struct sinter__buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
} sinter__buffer;

/** Make room for `extra` more bytes behind `size`. Grows by doubling. */
sinter_status
sinter__buffer_reserve(const sinter_env *env, sinter__buffer *buffer, size_t extra,
                       sinter_error *err);
/** Append bytes. */
sinter_status
sinter__buffer_append(const sinter_env *env, sinter__buffer *buffer, const void *data, size_t size,
                      sinter_error *err);
void
sinter__buffer_fini(const sinter_env *env, sinter__buffer *buffer);

#endif
