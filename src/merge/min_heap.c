/*
 * The merge with a binary heap (spec/compaction.md 14.3): one current record per input, ordered by
 * key and then by version. A round takes the smallest record and all with its key; the inputs they
 * came from stay outside the heap until the next round begins.
 */
#include "base/alloc.h"
#include "merge/engine.h"
#include "merge/version_order.h"

typedef struct min_heap {
    sinter__engine engine;
    const sinter_env *env;
    sinter__input *inputs;
    size_t count;
    size_t *heap; /* positions of inputs */
    size_t heap_count;
    size_t *taken; /* inputs outside the heap: their record was handed out, or none was read yet */
    size_t taken_count;
    size_t settled_count; /* of those taken: back in the heap, or done */
} min_heap;

static int
heap_compare(const min_heap *heap, size_t a, size_t b, bool has_ages)
{
    const sinter__input *input_a = &heap->inputs[a];
    const sinter__input *input_b = &heap->inputs[b];
    const sinter_row row_a = {input_a->batch, input_a->row};
    const sinter_row row_b = {input_b->batch, input_b->row};
    const int order = sinter__key_compare(sinter__input_key(input_a), sinter__input_key(input_b));

    if (order != 0) {
        return order;
    }
    return has_ages ? sinter__version_compare(&row_a, &row_b)
                    : sinter__version_compare_ageless(&row_a, &row_b);
}

static void
heap_offer(min_heap *heap, size_t index, bool has_ages)
{
    size_t at = heap->heap_count++;

    while (at > 0) {
        const size_t parent = (at - 1) / 2;

        if (heap_compare(heap, index, heap->heap[parent], has_ages) >= 0) {
            break;
        }
        heap->heap[at] = heap->heap[parent];
        at = parent;
    }
    heap->heap[at] = index;
}

static size_t
heap_poll(min_heap *heap, bool has_ages)
{
    const size_t result = heap->heap[0];
    const size_t last = heap->heap[--heap->heap_count];
    const size_t count = heap->heap_count;
    size_t at = 0;

    while (at < count / 2) {
        size_t child = 2 * at + 1;

        if (child + 1 < count &&
            heap_compare(heap, heap->heap[child], heap->heap[child + 1], has_ages) > 0) {
            child++;
        }
        if (heap_compare(heap, last, heap->heap[child], has_ages) <= 0) {
            break;
        }
        heap->heap[at] = heap->heap[child];
        at = child;
    }
    if (count > 0) {
        heap->heap[at] = last;
    }
    return result;
}

/* Move on the inputs whose records were taken. `must_flush_out`: one needs its next batch while
 * rows of the current one are still in the sink. */
static sinter_status
settle(min_heap *heap, sinter__sink *sink, bool *must_flush_out, sinter_error *err)
{
    *must_flush_out = false;
    while (heap->settled_count < heap->taken_count) {
        const size_t index = heap->taken[heap->settled_count];
        sinter__input *input = &heap->inputs[index];

        if (input->state == SINTER__INPUT_DRAINED) {
            if (sink->count > 0) {
                *must_flush_out = true;
                return SINTER_OK;
            }
            SINTER__CHECK(sinter__input_load(input, &sink->counters, err));
        }
        heap->settled_count++;
        if (input->state == SINTER__INPUT_ACTIVE) {
            heap_offer(heap, index, sink->has_ages);
        }
    }
    heap->taken_count = 0;
    heap->settled_count = 0;
    return SINTER_OK;
}

/* Take the top's record, and the following ones too where an input may hold several versions. */
static sinter_status
take_top(min_heap *heap, sinter__sink *sink, sinter_error *err)
{
    const size_t index = heap_poll(heap, sink->has_ages);
    sinter__input *input = &heap->inputs[index];
    const sinter_bytes key = sinter__input_key(input);

    do {
        SINTER__CHECK(sinter__sink_group_add(heap->env, sink, input->batch, input->row, err));
        sinter__input_leave_row(input, SINTER__INPUT_DRAINED);
    } while (input->is_multi && input->state == SINTER__INPUT_ACTIVE &&
             sinter__key_compare(sinter__input_key(input), key) == 0);
    heap->taken[heap->taken_count++] = index;
    return SINTER_OK;
}

static sinter_status
min_heap_fill(sinter__engine *engine, sinter__sink *sink, sinter_error *err)
{
    min_heap *heap = (min_heap *)engine;
    const bool is_sorted = !sinter__inputs_have_multi(heap->inputs, heap->count);

    assert(sink->count == 0);
    while (!sinter__sink_is_full(sink)) {
        bool must_flush = false;
        sinter_bytes key;

        SINTER__CHECK(settle(heap, sink, &must_flush, err));
        if (must_flush || heap->heap_count == 0) {
            break;
        }
        key = sinter__input_key(&heap->inputs[heap->heap[0]]);
        do {
            SINTER__CHECK(take_top(heap, sink, err));
        } while (heap->heap_count > 0 &&
                 sinter__key_compare(sinter__input_key(&heap->inputs[heap->heap[0]]), key) == 0);
        if (sink->group_count == 1) {
            sink->group_count = 0;
            sinter__sink_row(sink, sink->group[0].batch, sink->group[0].index);
        } else {
            SINTER__CHECK(sinter__sink_group_end(sink, is_sorted, err));
        }
    }
    return sink->count > 0 ? SINTER_OK : SINTER_END;
}

static void
min_heap_destroy(sinter__engine *engine)
{
    min_heap *heap = (min_heap *)engine;

    sinter__free(heap->env, heap->taken);
    sinter__free(heap->env, heap->heap);
    sinter__free(heap->env, heap);
}

static const sinter__engine_ops min_heap_ops = {min_heap_fill, min_heap_destroy};

sinter_status
sinter__min_heap_create(const sinter_env *env, sinter__input *inputs, size_t count,
                        sinter__engine **out, sinter_error *err)
{
    min_heap *heap = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, heap, 1, err));
    heap->engine.ops = &min_heap_ops;
    heap->env = env;
    heap->inputs = inputs;
    heap->count = count;
    SINTER__TRY(SINTER__NEW(env, heap->heap, count, err));
    SINTER__TRY(SINTER__NEW(env, heap->taken, count, err));
    for (size_t i = 0; i < count; i++) {
        heap->taken[i] = i;
    }
    heap->taken_count = count;
    *out = &heap->engine;
    heap = NULL;
out:
    if (heap != NULL) {
        min_heap_destroy(&heap->engine);
    }
    return st;
}
