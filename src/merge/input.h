/*
 * One input of a merge: a reader, the batch it stands in, and the row it stands at.
 */
#ifndef SINTER_MERGE_INPUT_H
#define SINTER_MERGE_INPUT_H

#include <assert.h>

#include "base/bytes.h"
#include "sinter/merge.h"

typedef enum sinter__input_state {
    SINTER__INPUT_DRAINED, /* needs the next batch; the last one may still be in use */
    SINTER__INPUT_ACTIVE,  /* stands at `row` of `batch` */
    SINTER__INPUT_LAZY,    /* stands before a block that is not decoded, described by `info` */
    SINTER__INPUT_HELD,    /* drained inside a group: sorts behind everything until refilled */
    SINTER__INPUT_DONE     /* no more rows; sorts behind everything */
} sinter__input_state;

typedef struct sinter__input {
    sinter_reader *reader;
    const sinter_batch *batch;
    const uint64_t *prefixes; /* of the batch */
    uint32_t row;
    uint32_t fast_end; /* row_end if the batch has no row to skip, else 0 */
    uint32_t row_end;  /* one behind the last row that is kept; 0 unless ACTIVE */
    const sinter_block_info *info;
    sinter__input_state state;
    bool has_dropped;                /* some rows between row and row_end are to be skipped */
    bool is_multi;                   /* several versions of a key may follow each other */
    bool is_whole_only;              /* ask for undecoded blocks first */
    bool (*is_cancelled)(void *ctx); /* asked before each batch; NULL: never */
    void *cancel_ctx;
} sinter__input;

/** Key of the row or block the input stands at. Only ACTIVE and LAZY inputs have one. */
static inline sinter_bytes
sinter__input_key(const sinter__input *input)
{
    assert(input->state == SINTER__INPUT_ACTIVE || input->state == SINTER__INPUT_LAZY);
    return input->state == SINTER__INPUT_LAZY ? input->info->first_key
                                              : sinter_batch_key(input->batch, input->row);
}

/** Its prefix; inputs without a key sort last, so they have the largest one. */
static inline uint64_t
sinter__input_prefix(const sinter__input *input)
{
    switch (input->state) {
    case SINTER__INPUT_ACTIVE:
        return input->prefixes[input->row];
    case SINTER__INPUT_LAZY:
        return input->info->first_prefix;
    default:
        return UINT64_MAX;
    }
}

/** Stand at no row of a batch any more; `state` says why. */
static inline void
sinter__input_drain(sinter__input *input, sinter__input_state state)
{
    input->state = state;
    input->row = 0;
    input->row_end = 0;
    input->fast_end = 0;
}

static inline bool
sinter__input_has_key(const sinter__input *input)
{
    return input->state == SINTER__INPUT_ACTIVE || input->state == SINTER__INPUT_LAZY;
}

/** The next kept row of the batch behind `row`; `row_end` if there is none. */
static inline uint32_t
sinter__input_row_behind(const sinter__input *input, uint32_t row)
{
    row++;
    if (input->has_dropped) {
        while (row < input->row_end && input->batch->dropped[row] != SINTER_DROP_KEEP) {
            row++;
        }
    }
    return row;
}

/** Would a step need another batch, so that rows of this one must have been consumed before? */
static inline bool
sinter__input_is_at_last_row(const sinter__input *input)
{
    return input->state == SINTER__INPUT_ACTIVE &&
           sinter__input_row_behind(input, input->row) == input->row_end;
}

/** Leave the current row: to the next one of the batch, or to `drained` (DRAINED or HELD). */
static inline void
sinter__input_leave_row(sinter__input *input, sinter__input_state drained)
{
    const uint32_t behind = sinter__input_row_behind(input, input->row);

    assert(input->state == SINTER__INPUT_ACTIVE);
    if (behind < input->row_end) {
        input->row = behind;
    } else {
        sinter__input_drain(input, drained);
    }
}

/**
 * Bring a drained or lazy input to its next batch with a kept row: ACTIVE, or DONE.
 * Its last batch must not be in use any more. Counts rows read and dropped.
 */
sinter_status
sinter__input_load(sinter__input *input, sinter_merge_counters *counters, sinter_error *err);

/** As load, but stay in front of the next block without decoding it where that is possible. */
sinter_status
sinter__input_refill(sinter__input *input, sinter_merge_counters *counters, sinter_error *err);

/** Does any of the inputs hold several versions of a key? */
static inline bool
sinter__inputs_have_multi(const sinter__input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].is_multi) {
            return true;
        }
    }
    return false;
}

#endif
