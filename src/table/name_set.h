/*
 * A set of names.
 */
#ifndef SINTER_TABLE_NAME_SET_H
#define SINTER_TABLE_NAME_SET_H

#include "base/arena.h"

/** Zeroed with `arena.env` set is empty. Confined. */
typedef struct sinter__name_set {
    sinter__arena arena;
    sinter_bytes *slots; /* of size 0: free */
    size_t slot_count;   /* a power of 2, or 0 */
    size_t count;
} sinter__name_set;

void
sinter__name_set_fini(sinter__name_set *set);

/** Put a name, which is not empty; it is copied.
 *  @param is_new_out  it wasn't there; NULL: nobody asks
 *  @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__name_set_add(sinter__name_set *set, sinter_bytes name, bool *is_new_out, sinter_error *err);

bool
sinter__name_set_has(const sinter__name_set *set, sinter_bytes name);

#endif
