/*
 * Parquet and ORC files, through libsinter_columnar, which is loaded when the first of them comes.
 */
#ifndef SINTER_FORMAT_COLUMNAR_H
#define SINTER_FORMAT_COLUMNAR_H

#include "format/columnar_abi.h"

/** The library with the services of an environment. Plain memory; copies are good. Immutable. */
typedef struct sinter__columnar {
    const sinter__columnar_api *api; /* static */
    sinter__columnar_host host;
} sinter__columnar;

/**
 * Load the library, if it isn't.
 *
 * @param env  borrowed by everything made with `out`; its columnar_library says where to look
 * @return     SINTER_OK, SINTER_E_UNSUPPORTED (it is missing, can't be loaded, or is of another
 *             build: the text says what to do)
 */
sinter_status
sinter__columnar_load(const sinter_env *env, sinter__columnar *out, sinter_error *err);

/** The id of a field, from its metadata; -1: it has none. */
int64_t
sinter__arrow_field_id(const struct ArrowSchema *field);

#endif
