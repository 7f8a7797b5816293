/*
 * The order in which indexes stand in a file.
 */
#ifndef SINTER_TABLE_FILE_INDEX_ORDER_H
#define SINTER_TABLE_FILE_INDEX_ORDER_H

#include "table/file_index_plan.h"

/**
 * Bring indexes, each once, from the order of options into the one of files. Those of one name
 * follow each other then.
 * @return SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__file_index_order(const sinter_env *env, sinter__file_index *items, size_t count,
                         sinter_error *err);

#endif
