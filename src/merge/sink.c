#include "merge/sink.h"

#include "base/fail.h"
#include "merge/version_order.h"

enum { GROUP_CAPACITY_FIRST = 16 };

static uint32_t
put_run_of_adds(sinter__sink *sink, const sinter_batch *batch, uint32_t first, uint32_t end)
{
    uint32_t row = first;

    while (row < end && !sinter_kind_is_retract(batch->kinds[row])) {
        row++;
    }
    if (row > first) {
        sink->ranges[sink->count++] = (sinter_range){batch, first, row - first};
    }
    return row;
}

uint32_t
sinter__sink_rows(sinter__sink *sink, const sinter_batch *batch, uint32_t first, uint32_t end)
{
    assert(first < end && end <= batch->row_count);
    if (!sink->drop_delete || batch->retract_count == 0) {
        if (sinter__sink_is_full(sink)) {
            return first;
        }
        sink->ranges[sink->count++] = (sinter_range){batch, first, end - first};
        return end;
    }
    while (first < end && !sinter__sink_is_full(sink)) {
        first = put_run_of_adds(sink, batch, first, end);
        while (first < end && sinter_kind_is_retract(batch->kinds[first])) {
            sink->counters.deleted++;
            sink->keys_lost++;
            first++;
        }
    }
    return first;
}

sinter_status
sinter__sink_group_add(const sinter_env *env, sinter__sink *sink, const sinter_batch *batch,
                       uint32_t row, sinter_error *err)
{
    if (sink->group_count == sink->group_capacity) {
        const size_t capacity =
            sink->group_capacity == 0 ? GROUP_CAPACITY_FIRST : sink->group_capacity * 2;

        SINTER__CHECK(
            sinter__resize(env, (void **)&sink->group, capacity, sizeof *sink->group, err));
        sink->group_capacity = capacity;
    }
    sink->group[sink->group_count++] = (sinter_row){batch, row};
    return SINTER_OK;
}

sinter_status
sinter__sink_group_end(sinter__sink *sink, bool is_sorted, sinter_error *err)
{
    const size_t count = sink->group_count;
    sinter_row result = {NULL, 0};
    sinter_status st = SINTER_OK;

    assert(count >= 2 && !sinter__sink_is_full(sink));
    sink->group_count = 0;
    if (!is_sorted) {
        sinter__version_sort(sink->group, count);
    }
    st = sink->function->ops->reduce(sink->function, sink->group, count, &result, err);
    if (st == SINTER_OK) {
        sink->counters.superseded += count - 1;
        sinter__sink_row(sink, result.batch, result.index);
    } else if (st == SINTER_END) {
        sink->counters.superseded += count - 1;
        sink->counters.deleted++;
        sink->keys_lost++;
        st = SINTER_OK;
    }
    return st;
}
