/*
 * Which runs are spilled (spec/compaction.md 14.1): the smallest ones, in a stable order.
 */
#include <assert.h>

#include "sinter/merge.h"

static void
reverse(size_t *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const size_t item = items[i];

        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

size_t
sinter_merge_spill_plan(const uint64_t *sizes, size_t count, uint32_t threshold, size_t *order_out)
{
    size_t spilled = 0;

    assert(order_out != NULL || count == 0);
    for (size_t i = 0; i < count; i++) {
        order_out[i] = i;
    }
    if (count <= threshold) {
        return count;
    }
    /* Stable insertion by size; positions of one size keep their order. */
    for (size_t i = 1; i < count; i++) {
        const size_t position = order_out[i];
        size_t j = i;

        while (j > 0 && sizes[order_out[j - 1]] > sizes[position]) {
            order_out[j] = order_out[j - 1];
            j--;
        }
        order_out[j] = position;
    }
    /* Sorted, the first are the ones to spill; direct ones come first in the answer. Three
     * reversals exchange the two parts. */
    spilled = count - threshold;
    reverse(order_out, spilled);
    reverse(order_out + spilled, threshold);
    reverse(order_out, count);
    return threshold;
}
