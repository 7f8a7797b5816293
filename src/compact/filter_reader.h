/*
 * Marks the records of a reader that a callback doesn't want to keep (spec/compaction.md 12).
 */
#ifndef SINTER_COMPACT_FILTER_READER_H
#define SINTER_COMPACT_FILTER_READER_H

#include "sinter/compact.h"

/**
 * Wrap a reader: rows that `keep` refuses are marked SINTER_DROP_EXPIRED.
 *
 * Stored blocks can't be taken through it, because each record has to be seen.
 *
 * @param inner  taken, also on failure (it is closed then)
 */
sinter_status
sinter__filter_reader_open(const sinter_env *env, sinter_reader *inner,
                           bool (*keep)(void *ctx, const sinter_batch *batch, uint32_t row),
                           void *keep_ctx, sinter_reader **out, sinter_error *err);

#endif
