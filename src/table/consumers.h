/*
 * Consumers: readers of a table that want to go on from a snapshot (table-layout.md 1, 14.1).
 */
#ifndef SINTER_TABLE_CONSUMERS_H
#define SINTER_TABLE_CONSUMERS_H

#include "table/table.h"

/**
 * The smallest snapshot that a consumer wants next; INT64_MAX: there is no consumer.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT (file, line, column, member), SINTER_E_IO
 */
sinter_status
sinter__consumers_next(sinter_table *table, int64_t *out, sinter_error *err);

#endif
