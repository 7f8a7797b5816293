/*
 * Structs that callers fill, in the version the caller was compiled with.
 */
#ifndef SINTER_BASE_LOAD_H
#define SINTER_BASE_LOAD_H

#include "sinter/base.h"

/**
 * Copy a struct that begins with its size over defaults.
 *
 * A shorter one leaves the rest of `target` as it is; what a longer one has beyond `size` must be
 * zero.
 *
 * @param target  holds the defaults, `size` bytes; its struct_size is kept
 * @param source  the caller's
 * @param name    of the struct, for the error
 * @return        SINTER_OK, SINTER_E_INVALID
 */
sinter_status
sinter__struct_load(void *target, size_t size, const void *source, const char *name,
                    sinter_error *err);

/**
 * Copy a struct that begins with its size to where a caller made room for it.
 *
 * No more is written than the caller's struct_size says, which is kept; 0 counts as `size`. What a
 * longer one has beyond `size` becomes zero.
 *
 * @param target  the caller's
 * @param source  `size` bytes
 */
void
sinter__struct_store(void *target, const void *source, size_t size);

#endif
