#include "compact/age.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

static int
compare_int64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int
sinter__age_compare(const sinter_file_meta *a, const sinter_file_meta *b)
{
    int order = compare_int64(b->level, a->level);

    assert(a->file_name != NULL);
    assert(b->file_name != NULL);

    if (order == 0) {
        order = compare_int64(a->creation_time_ms, b->creation_time_ms);
    }
    if (order == 0) {
        order = compare_int64(a->max_sequence_number, b->max_sequence_number);
    }
    if (order == 0) {
        order = compare_int64(a->min_sequence_number, b->min_sequence_number);
    }
    return order != 0 ? order : strcmp(a->file_name, b->file_name);
}

static int
compare_entries(const void *a, const void *b)
{
    return sinter__age_compare(*(const sinter_file_meta *const *)a,
                               *(const sinter_file_meta *const *)b);
}

void
sinter__age_sort(const sinter_file_meta **files, size_t count)
{
    assert(files != NULL || count == 0);
    if (count > 1) {
        qsort(files, count, sizeof *files, compare_entries);
    }
}

uint32_t
sinter__age_rank(const sinter_file_meta *const *sorted, size_t count, const sinter_file_meta *file)
{
    size_t low = 0;
    size_t high = count;

    assert(count > 0);
    assert(count <= UINT32_MAX);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (sinter__age_compare(sorted[middle], file) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    assert(low < count);
    assert(sinter__age_compare(sorted[low], file) == 0);
    return (uint32_t)low;
}

int
sinter__run_order_compare(const sinter_file_meta *a, const sinter_file_meta *b)
{
    int order = compare_int64(a->level, b->level);

    assert(a->file_name != NULL);
    assert(b->file_name != NULL);

    if (order != 0 || a->level != 0) {
        return order;
    }
    order = compare_int64(b->max_sequence_number, a->max_sequence_number);
    if (order == 0) {
        order = compare_int64(a->min_sequence_number, b->min_sequence_number);
    }
    if (order == 0) {
        order = compare_int64(a->creation_time_ms, b->creation_time_ms);
    }
    return order != 0 ? order : strcmp(a->file_name, b->file_name);
}

int
sinter__place_compare(const sinter_file_meta *a, const sinter_file_meta *b)
{
    int order = sinter__run_order_compare(a, b);

    if (order != 0 || a->level == 0) {
        return order;
    }
    order = (a->row_count > 0) - (b->row_count > 0);
    if (order == 0 && a->row_count > 0) {
        order = sinter__key_compare(a->min_key, b->min_key);
    }
    return order != 0 ? order : strcmp(a->file_name, b->file_name);
}
