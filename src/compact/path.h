/*
 * Where the files of a task lie.
 */
#ifndef SINTER_COMPACT_PATH_H
#define SINTER_COMPACT_PATH_H

#include "base/alloc.h"
#include "sinter/compact.h"

/** "base/dir/name"; `dir` and `name` may be NULL or empty and are then left out. Release with
 *  sinter__free(). */
sinter_status
sinter__path_join(const sinter_env *env, const char *base, const char *dir, const char *name,
                  char **out, sinter_error *err);

/** Print the full path of a data file into `size` bytes, cut where they end. @return its length,
 *  which is below `size` when it is whole */
size_t
sinter__path_print(const char *base, const sinter_file_meta *file, char *out, size_t size);

/** Full path of a data file. Release with sinter__free(). */
sinter_status
sinter__path_of_file(const sinter_env *env, const char *base, const sinter_file_meta *file,
                     char **out, sinter_error *err);

#endif
