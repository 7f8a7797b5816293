/*
 * Shared libraries that are loaded at run time.
 */
#ifndef SINTER_BASE_LIBRARY_H
#define SINTER_BASE_LIBRARY_H

#include "sinter/base.h"

/** Print the path that a file beside this library (or the program it is linked into) has:
 *  "`folder`/`name`" under its directory; `folder` may be ".". @return false: not known, too long,
 *  or there is no such file */
bool
sinter__library_beside(const char *folder, const char *name, char *out, size_t size);

/**
 * Load a library and give the address of one of its symbols. It stays loaded as long as the
 * process, so that what it gave stays valid; loading it again is cheap. Thread-safe.
 *
 * @param path    a path, or a name that the system's loader looks for
 * @param symbol  name of an object or function
 * @param out     its address, not NULL
 * @return        SINTER_OK, SINTER_E_UNSUPPORTED (the loader's words)
 */
sinter_status
sinter__library_load(const char *path, const char *symbol, void **out, sinter_error *err);

#endif
