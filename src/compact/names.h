/*
 * File names that are searched for often: sorted once, found by halving.
 */
#ifndef SINTER_COMPACT_NAMES_H
#define SINTER_COMPACT_NAMES_H

#include "sinter/compact.h"

/** A name and the file it belongs to. */
typedef struct sinter__name {
    const char *text;
    const sinter_file_meta *file; /* NULL: not known */
} sinter__name;

/** Names, borrowed. Zeroed is empty. Once sorted, immutable. */
typedef struct sinter__names {
    sinter__name *all;
    size_t count;
    size_t capacity;
} sinter__names;

/** Make room for `capacity` names. Release with sinter__names_fini(). */
sinter_status
sinter__names_init(const sinter_env *env, size_t capacity, sinter__names *out, sinter_error *err);

/** Add one; there is room. */
void
sinter__names_add(sinter__names *names, const char *text, const sinter_file_meta *file);

void
sinter__names_sort(sinter__names *names);

/** The names of `count` files, sorted. After a failure it is empty. */
sinter_status
sinter__names_of_files(const sinter_env *env, const sinter_file_meta *files, size_t count,
                       sinter__names *out, sinter_error *err);

/** The same, and the names of what goes with the files. */
sinter_status
sinter__names_of_all(const sinter_env *env, const sinter_file_meta *files, size_t count,
                     sinter__names *out, sinter_error *err);

/** Find a name among sorted ones; NULL: it isn't there. Needs at most log2(count) + 1
 *  comparisons. */
const sinter__name *
sinter__names_find(const sinter__names *names, const char *text);

void
sinter__names_fini(const sinter_env *env, sinter__names *names);

#endif
