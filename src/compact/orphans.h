/*
 * Data files of a directory that nobody names: what a killed run leaves behind.
 */
#ifndef SINTER_COMPACT_ORPHANS_H
#define SINTER_COMPACT_ORPHANS_H

#include "base/arena.h"
#include "sinter/compact.h"

/** Names found. Zeroed with arena.env set is empty; release with sinter__orphans_fini(). */
typedef struct sinter__orphans {
    sinter__arena arena;
    const char **names;
    size_t count;
    size_t capacity;
} sinter__orphans;

/** Tells whether somebody names a file. */
typedef struct sinter__known_names {
    bool (*has)(void *ctx, const char *name);
    void *ctx;
} sinter__known_names;

/**
 * List the names in `dir` that this library gives to data files (`<prefix><uuid>-<number>` and the
 * extension of a format) and that are not known.
 * @return SINTER_OK, SINTER_E_NOMEM, failures of the io
 */
sinter_status
sinter__orphans_list(const sinter_env *env, const char *dir, const char *prefix,
                     const sinter__known_names *known, sinter__orphans *out, sinter_error *err);

void
sinter__orphans_fini(sinter__orphans *orphans);

#endif
