/*
 * Where an engine puts what leaves the merge: ranges of rows, groups reduced to one row, retracts
 * left out if they are to be dropped.
 */
#ifndef SINTER_MERGE_SINK_H
#define SINTER_MERGE_SINK_H

#include <assert.h>

#include "base/alloc.h"
#include "sinter/merge.h"

typedef struct sinter__sink {
    sinter_range *ranges; /* the caller's, for this call */
    size_t count;
    size_t capacity;
    sinter_merge_function *function;
    bool keeps_newest; /* the function is plain deduplicate: the newest version is the result */
    bool drop_delete;
    bool has_ages;
    sinter_merge_counters counters; /* records_out is counted by the merge itself */
    uint64_t keys_lost;             /* keys whose result was dropped or none */
    sinter_row *group;              /* versions of the key at hand */
    size_t group_count;
    size_t group_capacity;
} sinter__sink;

static inline bool
sinter__sink_is_full(const sinter__sink *sink)
{
    return sink->count == sink->capacity;
}

/** Put one row that is the only version of its key, or a result. There must be room. */
static inline void
sinter__sink_row(sinter__sink *sink, const sinter_batch *batch, uint32_t row)
{
    sinter_range *last = NULL;

    if (sink->drop_delete && sinter_kind_is_retract(batch->kinds[row])) {
        sink->counters.deleted++;
        sink->keys_lost++;
        return;
    }
    if (sink->count > 0) {
        last = &sink->ranges[sink->count - 1];
        if (last->batch == batch && last->first + last->count == row) {
            last->count++;
            return;
        }
    }
    assert(sink->count < sink->capacity);
    sink->ranges[sink->count++] = (sinter_range){batch, row, 1};
}

/**
 * Put rows [first, end), each the only version of its key, as far as there is room.
 * @return the first row that was not put; `end` if all were
 */
uint32_t
sinter__sink_rows(sinter__sink *sink, const sinter_batch *batch, uint32_t first, uint32_t end);

/** Add a version to the group at hand. */
sinter_status
sinter__sink_group_add(const sinter_env *env, sinter__sink *sink, const sinter_batch *batch,
                       uint32_t row, sinter_error *err);

/**
 * Reduce the group at hand (at least two versions) and put the result; there must be room.
 * `is_sorted`: the engine has put the versions in their order.
 */
sinter_status
sinter__sink_group_end(sinter__sink *sink, bool is_sorted, sinter_error *err);

#endif
