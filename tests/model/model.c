#include "model/model.h"

#include <stdlib.h>

int
model_sequence_compare(const test_record *a, const test_record *b)
{
    const int order = test_bytes_compare(a->order, b->order);
    const bool a_adds = !sinter_kind_is_retract(a->kind);
    const bool b_adds = !sinter_kind_is_retract(b->kind);

    if (order != 0) {
        return order;
    }
    if (a->sequence != b->sequence) {
        return a->sequence < b->sequence ? -1 : 1;
    }
    return (int)a_adds - (int)b_adds; /* a retract goes before an add */
}

static int
record_compare(const void *x, const void *y)
{
    const test_record *a = *(const test_record *const *)x;
    const test_record *b = *(const test_record *const *)y;
    int order = test_bytes_compare(a->key, b->key);

    if (order == 0) {
        order = model_sequence_compare(a, b);
    }
    return order != 0 ? order : (a->origin > b->origin) - (a->origin < b->origin);
}

const test_record **
model_sort(const test_runs *runs, test_pool *pool, size_t *count_out)
{
    const test_record **all = test_pool_take(pool, (test_runs_rows(runs) + 1) * sizeof *all);
    size_t count = 0;

    for (size_t r = 0; r < runs->count; r++) {
        for (size_t i = 0; i < runs->items[r].count; i++) {
            if (runs->items[r].records[i].dropped == SINTER_DROP_KEEP) {
                all[count++] = &runs->items[r].records[i];
            }
        }
    }
    qsort(all, count, sizeof *all, record_compare);
    *count_out = count;
    return all;
}

/* Reduce one group, oldest first. NULL: nothing is left of the key. */
static const test_record *
reduce(const test_record *const *group, size_t count, const model_rules *rules,
       sinter_status *status)
{
    const test_record *result = NULL;

    if (count == 1) {
        return group[0]; /* the merge function is not asked */
    }
    for (size_t i = 0; i < count; i++) {
        if (sinter_kind_is_retract(group[i]->kind)) {
            if (rules->ignore_delete) {
                continue;
            }
            if (rules->engine == MODEL_FIRST_ROW) {
                *status = SINTER_E_RETRACT;
                return NULL;
            }
        }
        if (rules->engine == MODEL_DEDUPLICATE || result == NULL) {
            result = group[i];
        }
    }
    return result;
}

static void
count_inputs(const test_runs *runs, sinter_merge_counters *counters)
{
    for (size_t r = 0; r < runs->count; r++) {
        for (size_t i = 0; i < runs->items[r].count; i++) {
            const uint8_t dropped = runs->items[r].records[i].dropped;

            counters->records_in++;
            counters->expired += dropped == SINTER_DROP_EXPIRED ? 1 : 0;
            counters->filtered += dropped == SINTER_DROP_FILTERED ? 1 : 0;
            counters->vector += dropped == SINTER_DROP_VECTOR ? 1 : 0;
        }
    }
}

void
model_merge(const test_runs *runs, const model_rules *rules, model_result *out)
{
    size_t count = 0;
    const test_record **all = NULL;

    *out = (model_result){.status = SINTER_OK};
    count_inputs(runs, &out->counters);
    all = rules->has_ages ? model_sort(runs, &out->pool, &count)
                          : model_tree_sort(runs, &out->pool, &count);
    out->records = test_pool_take(&out->pool, (count + 1) * sizeof(const test_record *));
    for (size_t i = 0, end = 0; i < count && out->status == SINTER_OK; i = end) {
        const test_record *result = NULL;

        for (end = i + 1; end < count && test_bytes_equal(all[end]->key, all[i]->key);) {
            end++;
        }
        out->counters.keys++;
        result = reduce(all + i, end - i, rules, &out->status);
        if (out->status != SINTER_OK) {
            break;
        }
        out->counters.superseded += end - i - 1;
        if (result == NULL || (rules->drop_delete && sinter_kind_is_retract(result->kind))) {
            out->counters.deleted++; /* nothing is left of the key */
        } else {
            out->records[out->count++] = result;
        }
    }
    out->counters.records_out = out->count;
}

void
model_result_fini(model_result *result)
{
    test_pool_fini(&result->pool);
    *result = (model_result){0};
}

size_t
model_spill_plan(const uint64_t *sizes, size_t count, uint32_t threshold, size_t *order_out)
{
    const size_t direct = threshold == 0 || count <= threshold ? count : threshold;
    const size_t spilled = count - direct;

    if (spilled == 0) {
        for (size_t i = 0; i < count; i++) {
            order_out[i] = i;
        }
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        size_t place = 0; /* in a stable sort by size */

        for (size_t j = 0; j < count; j++) {
            place += sizes[j] < sizes[i] || (sizes[j] == sizes[i] && j < i) ? 1 : 0;
        }
        order_out[place < spilled ? direct + place : place - spilled] = i;
    }
    return direct;
}
