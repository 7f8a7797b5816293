/*
 * Adds the user-defined sequence of each record, as order-preserving bytes (spec/compaction.md 1).
 */
#ifndef SINTER_COMPACT_ORDER_READER_H
#define SINTER_COMPACT_ORDER_READER_H

#include "sinter/compact.h"

/**
 * Wrap a reader: batches get the column `orders`. Stored blocks pass through it as they are, since
 * a key that exists once needs no order.
 *
 * @param inner  taken, also on failure (it is closed then)
 * @param order  borrowed until close
 */
sinter_status
sinter__order_reader_open(const sinter_env *env, sinter_reader *inner, const sinter_order *order,
                          sinter_reader **out, sinter_error *err);

#endif
