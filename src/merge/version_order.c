#include "merge/version_order.h"

/* Groups are small nearly always; for the rare large one a gap sort keeps the cost down. It isn't
 * stable, which nobody can see: the order is total over the versions of a key. */
void
sinter__version_sort(sinter_row *rows, size_t count)
{
    size_t gap = 1;

    while (gap < count / 9) {
        gap = gap * 3 + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (size_t i = gap; i < count; i++) {
            const sinter_row row = rows[i];
            size_t j = i;

            while (j >= gap && sinter__version_compare(&rows[j - gap], &row) > 0) {
                rows[j] = rows[j - gap];
                j -= gap;
            }
            rows[j] = row;
        }
    }
}
