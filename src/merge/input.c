#include "merge/input.h"

#include "base/fail.h"

static void
count_dropped(const sinter_batch *batch, sinter_merge_counters *counters)
{
    for (uint32_t i = 0; i < batch->row_count; i++) {
        counters->expired += batch->dropped[i] == SINTER_DROP_EXPIRED;
        counters->filtered += batch->dropped[i] == SINTER_DROP_FILTERED;
        counters->vector += batch->dropped[i] == SINTER_DROP_VECTOR;
    }
}

/* Cut dropped rows off both ends, so that the first and the last row of a batch are kept ones. */
static void
trim_dropped(sinter__input *input)
{
    const uint8_t *dropped = input->batch->dropped;

    while (input->row < input->row_end && dropped[input->row] != SINTER_DROP_KEEP) {
        input->row++;
    }
    while (input->row_end > input->row && dropped[input->row_end - 1] != SINTER_DROP_KEEP) {
        input->row_end--;
    }
}

sinter_status
sinter__input_load(sinter__input *input, sinter_merge_counters *counters, sinter_error *err)
{
    assert(input->state != SINTER__INPUT_ACTIVE && input->state != SINTER__INPUT_DONE);
    do {
        const sinter_batch *batch = NULL;
        sinter_status st = SINTER_OK;

        /* Here and not only between calls of the merge: what is read may all vanish. */
        if (input->is_cancelled != NULL && input->is_cancelled(input->cancel_ctx)) {
            return SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled while merging");
        }
        st = input->reader->ops->next(input->reader, &batch, err);
        if (st == SINTER_END) {
            sinter__input_drain(input, SINTER__INPUT_DONE);
            return SINTER_OK;
        }
        if (st != SINTER_OK) {
            return st;
        }
        assert(batch->row_count > 0);
        input->batch = batch;
        input->prefixes = batch->prefixes;
        input->row = 0;
        input->row_end = batch->row_count;
        input->has_dropped = batch->dropped != NULL;
        counters->records_in += batch->row_count;
        if (input->has_dropped) {
            count_dropped(batch, counters);
            trim_dropped(input);
        }
    } while (input->row == input->row_end);
    input->fast_end = input->has_dropped ? 0 : input->row_end;
    input->state = SINTER__INPUT_ACTIVE;
    return SINTER_OK;
}

sinter_status
sinter__input_refill(sinter__input *input, sinter_merge_counters *counters, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    assert(input->state == SINTER__INPUT_DRAINED || input->state == SINTER__INPUT_HELD);
    if (!input->is_whole_only || input->reader->ops->peek == NULL) {
        return sinter__input_load(input, counters, err);
    }
    st = input->reader->ops->peek(input->reader, &input->info, err);
    if (st == SINTER_OK || st == SINTER_END) {
        sinter__input_drain(input, st == SINTER_OK ? SINTER__INPUT_LAZY : SINTER__INPUT_DONE);
        return SINTER_OK;
    }
    return st;
}
