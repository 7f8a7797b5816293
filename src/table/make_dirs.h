/*
 * Directories made with those above them.
 */
#ifndef SINTER_TABLE_MAKE_DIRS_H
#define SINTER_TABLE_MAKE_DIRS_H

#include "sinter/env.h"

/**
 * Make a directory and those above it, as far as they are missing. Their names are durable on
 * return.
 *
 * @param kept_out  length of what was there before of the path; its own length: all. NULL: nobody
 *                  wants to take it back
 * @return          SINTER_OK, SINTER_E_NOMEM, failures of the io. After a failure what was made is
 *                  gone again
 */
sinter_status
sinter__dirs_make(const sinter_env *env, const char *path, size_t *kept_out, sinter_error *err);

/** Take back what was made, deepest first, as far as it is empty. @return something was removed */
bool
sinter__dirs_undo(const sinter_env *env, const char *path, size_t kept);

#endif
