/*
 * The order of versions by columns of the user's (option `sequence.field`).
 */
#ifndef SINTER_TABLE_SEQUENCE_ORDER_H
#define SINTER_TABLE_SEQUENCE_ORDER_H

#include "sinter/compact.h"
#include "sinter/type.h"

/** Makes the order of rows. Immutable once made, but for its room: confined. */
typedef struct sinter__sequence_order sinter__sequence_order;

/** Where the columns are. Borrowed as long as the order. */
typedef struct sinter__sequence_columns {
    const sinter_field *fields; /* of the rows, which are the values of batches */
    size_t field_count;
    const size_t *positions; /* of the sequence columns, the first one counts first */
    size_t count;
    bool is_descending; /* the smaller value wins; null is lowest in both directions */
} sinter__sequence_columns;

/**
 * Make one.
 * @param out  release with sinter__sequence_order_destroy()
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a type without order)
 * Source: compaction.md 1.
 */
sinter_status
sinter__sequence_order_create(const sinter_env *env, const sinter__sequence_columns *columns,
                              sinter__sequence_order **out, sinter_error *err);

/** Release; takes NULL. */
void
sinter__sequence_order_destroy(sinter__sequence_order *self);

/** What tasks and views take; lives as long as the order. */
const sinter_order *
sinter__sequence_order_get(const sinter__sequence_order *self);

#endif
