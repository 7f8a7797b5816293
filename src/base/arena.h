/*
 * An arena: many small allocations, released together.
 */
#ifndef SINTER_BASE_ARENA_H
#define SINTER_BASE_ARENA_H

#include "base/alloc.h"

/** Zeroed with `env` set is empty. Confined. */
typedef struct sinter__arena {
    const sinter_env *env;
    struct sinter__arena_chunk *chunks;
} sinter__arena;

/** Take `size` bytes aligned to 16, not set. */
sinter_status
sinter__arena_take(sinter__arena *arena, size_t size, void **out, sinter_error *err);

/** Take as many bytes ahead, in one piece, for what will be asked for: they are memory only where
 *  they are used. Where there are none, they come piece by piece after all. */
void
sinter__arena_expect(sinter__arena *arena, size_t size);

/** Copy bytes into the arena; size 0 gives an empty stretch. */
sinter_status
sinter__arena_copy(sinter__arena *arena, sinter_bytes bytes, sinter_bytes *out, sinter_error *err);

/** Copy a string into the arena; NULL gives NULL. */
sinter_status
sinter__arena_strdup(sinter__arena *arena, const char *text, const char **out, sinter_error *err);

/** Release everything. */
void
sinter__arena_fini(sinter__arena *arena);

#endif
