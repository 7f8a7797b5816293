/*
 * The order of the versions of one key (spec/compaction.md 1), oldest first: user sequence, then
 * sequence, then retracts before adds, then the age of the file.
 */
#ifndef SINTER_MERGE_VERSION_ORDER_H
#define SINTER_MERGE_VERSION_ORDER_H

#include "base/bytes.h"
#include "sinter/batch.h"

static inline uint32_t
sinter__row_origin(const sinter_row *row)
{
    return row->batch->origins != NULL ? row->batch->origins[row->index] : row->batch->origin;
}

static inline sinter_bytes
sinter__row_order(const sinter_row *row)
{
    const uint32_t *offsets = row->batch->order_offsets;

    return (sinter_bytes){row->batch->orders + offsets[row->index],
                          offsets[row->index + 1] - offsets[row->index]};
}

/** Order without the file's age: <0 when `a` is older, 0 on a tie that only age can decide. */
static inline int
sinter__version_compare_ageless(const sinter_row *a, const sinter_row *b)
{
    const int64_t a_sequence = a->batch->sequences[a->index];
    const int64_t b_sequence = b->batch->sequences[b->index];

    if (a->batch->orders != NULL && b->batch->orders != NULL) {
        const int order = sinter__key_compare(sinter__row_order(a), sinter__row_order(b));

        if (order != 0) {
            return order;
        }
    }
    if (a_sequence != b_sequence) {
        return a_sequence < b_sequence ? -1 : 1;
    }
    return (int)sinter_kind_is_retract(b->batch->kinds[b->index]) -
           (int)sinter_kind_is_retract(a->batch->kinds[a->index]);
}

/** The whole order: <0 when `a` is older. 0 only for rows of one file. */
static inline int
sinter__version_compare(const sinter_row *a, const sinter_row *b)
{
    const int order = sinter__version_compare_ageless(a, b);
    const uint32_t a_origin = sinter__row_origin(a);
    const uint32_t b_origin = sinter__row_origin(b);

    if (order != 0) {
        return order;
    }
    return (a_origin > b_origin) - (a_origin < b_origin);
}

/** Sort versions of one key, oldest first. */
void
sinter__version_sort(sinter_row *rows, size_t count);

#endif
