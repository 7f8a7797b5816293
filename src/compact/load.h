/*
 * Structs that callers fill, in the version the caller was compiled with.
 */
#ifndef SINTER_COMPACT_LOAD_H
#define SINTER_COMPACT_LOAD_H

#include "base/load.h"
#include "sinter/compact.h"

/** Options of a caller over the defaults, checked; NULL gives the defaults. @return OK, E_INVALID
 */
sinter_status
sinter__compact_options_load(const sinter_compact_options *source, sinter_compact_options *out,
                             sinter_error *err);

/**
 * Check what a task and a view need of each file's metadata: size of the struct, a name that is one
 * path component, a level, keys in order. @return SINTER_OK, SINTER_E_INVALID (err->file names it)
 */
sinter_status
sinter__file_meta_check(const sinter_file_meta *file, sinter_error *err);

/** Refuse two files of one name. The files passed sinter__file_meta_check(). @return SINTER_OK,
 *  SINTER_E_INVALID (err->file names it), SINTER_E_NOMEM */
sinter_status
sinter__file_names_check(const sinter_env *env, const sinter_file_meta *files, size_t count,
                         sinter_error *err);

#endif
