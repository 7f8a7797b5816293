#include "append/bucketed.h"

#include <stdlib.h>

#include "base/bytes.h"

static int
compare_files(const void *a, const void *b)
{
    const sinter__bucketed_file *x = a;
    const sinter__bucketed_file *y = b;
    const int order = (x->min_sequence > y->min_sequence) - (x->min_sequence < y->min_sequence);

    return order != 0 ? order : sinter__key_compare(x->file.name, y->file.name);
}

void
sinter__bucketed_sort(sinter__bucketed_file *files, size_t count)
{
    if (count > 1) {
        qsort(files, count, sizeof *files, compare_files);
    }
}

sinter__bucketed_pick
sinter__bucketed_pick_auto(const sinter__append_limits *limits, const sinter__bucketed_file *files,
                           size_t count)
{
    sinter__bucketed_pick pick = {.first = 0};
    uint64_t total = 0;

    for (size_t i = 0; i < count; i++) {
        total += files[i].file.bytes;
        if (i + 1 - pick.first >= limits->file_num_min) {
            pick.count = i + 1 - pick.first;
            return pick;
        }
        if (total >= 2 * limits->target_bytes) {
            total -= files[pick.first++].file.bytes;
        }
    }
    return pick;
}

sinter__bucketed_pick
sinter__bucketed_pick_full(const sinter__append_limits *limits, bool force,
                           const sinter__bucketed_file *files, size_t count)
{
    sinter__bucketed_pick pick = {.first = 0};
    size_t small = 0;

    if (!force && (count == 0 || (!limits->has_vectors && count < 3))) {
        return pick;
    }
    pick.has_asked = true;
    while (!force && pick.first < count && !files[pick.first].has_vector &&
           files[pick.first].file.bytes >= limits->small_bytes) {
        pick.first++;
    }
    for (size_t i = pick.first; i < count; i++) {
        small += files[i].file.bytes < limits->small_bytes ? 1 : 0;
    }
    pick.count = count - pick.first;
    if (!force && !limits->has_vectors && (pick.count < 3 || small <= pick.count - small)) {
        pick.count = 0;
    }
    return pick;
}
