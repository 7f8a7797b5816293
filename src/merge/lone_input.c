/*
 * One input that holds several versions of a key side by side: there is nothing to merge, only to
 * reduce. Rows without company leave in long ranges.
 */
#include "base/alloc.h"
#include "merge/engine.h"
#include "merge/version_order.h"

typedef struct lone_input {
    sinter__engine engine;
    const sinter_env *env;
    sinter__input *input;
} lone_input;

static inline bool
is_same_key(const sinter__input *input, uint32_t a, uint32_t b)
{
    return input->prefixes[a] == input->prefixes[b] &&
           sinter__key_equal(sinter_batch_key(input->batch, a), sinter_batch_key(input->batch, b));
}

/* First kept row behind the versions of the key of `row`. */
static uint32_t
row_behind_key(const sinter__input *input, uint32_t row)
{
    uint32_t behind = sinter__input_row_behind(input, row);

    while (behind < input->row_end && is_same_key(input, row, behind)) {
        behind = sinter__input_row_behind(input, behind);
    }
    return behind;
}

/* Rows from the current one on that lie side by side, each alone with its key. */
static uint32_t
count_alone(const sinter__input *input)
{
    uint32_t row = input->row;

    while (row < input->row_end) {
        const uint32_t behind = sinter__input_row_behind(input, row);

        if (behind < input->row_end && is_same_key(input, row, behind)) {
            break;
        }
        row++;
        if (behind != row) {
            break; /* rows to skip */
        }
    }
    return row - input->row;
}

/* Go to `row`, which is kept or the end. */
static void
go_to(sinter__input *input, uint32_t row)
{
    if (row < input->row_end) {
        input->row = row;
    } else {
        sinter__input_drain(input, SINTER__INPUT_DRAINED);
    }
}

static void
take_alone(sinter__input *input, sinter__sink *sink, uint32_t count)
{
    const uint32_t end = sinter__sink_rows(sink, input->batch, input->row, input->row + count);

    if (end > input->row) {
        go_to(input, sinter__input_row_behind(input, end - 1));
    }
}

/* Versions of one key become one row, or none. */
static sinter_status
take_versions(const lone_input *self, sinter__sink *sink, sinter_error *err)
{
    sinter__input *input = self->input;
    const uint32_t behind = row_behind_key(input, input->row);
    sinter_row newest = {input->batch, input->row};

    for (uint32_t row = input->row; row < behind; row = sinter__input_row_behind(input, row)) {
        const sinter_row version = {input->batch, row};

        if (!sink->keeps_newest) {
            SINTER__CHECK(sinter__sink_group_add(self->env, sink, input->batch, row, err));
        } else if (row > input->row) {
            newest = sinter__version_compare(&version, &newest) > 0 ? version : newest;
            sink->counters.superseded++;
        }
    }
    go_to(input, behind);
    if (sink->keeps_newest) {
        sinter__sink_row(sink, newest.batch, newest.index);
        return SINTER_OK;
    }
    return sinter__sink_group_end(sink, false, err);
}

/* Take what begins at the current row: rows without company, or all versions of a key. */
static sinter_status
take_some(const lone_input *self, sinter__sink *sink, sinter_error *err)
{
    const uint32_t alone = count_alone(self->input);

    if (alone == 0) {
        return take_versions(self, sink, err);
    }
    take_alone(self->input, sink, alone);
    return SINTER_OK;
}

static sinter_status
lone_input_fill(sinter__engine *engine, sinter__sink *sink, sinter_error *err)
{
    lone_input *self = (lone_input *)engine;
    sinter__input *input = self->input;

    assert(sink->count == 0);
    while (!sinter__sink_is_full(sink)) {
        if (input->state == SINTER__INPUT_ACTIVE) {
            SINTER__CHECK(take_some(self, sink, err));
        } else if (input->state == SINTER__INPUT_DONE || sink->count > 0) {
            break;
        } else {
            SINTER__CHECK(sinter__input_load(input, &sink->counters, err));
        }
    }
    return sink->count > 0 ? SINTER_OK : SINTER_END;
}

static void
lone_input_destroy(sinter__engine *engine)
{
    lone_input *self = (lone_input *)engine;

    sinter__free(self->env, self);
}

static const sinter__engine_ops lone_input_ops = {lone_input_fill, lone_input_destroy};

sinter_status
sinter__lone_input_create(const sinter_env *env, sinter__input *input, sinter__engine **out,
                          sinter_error *err)
{
    lone_input *self = NULL;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->engine.ops = &lone_input_ops;
    self->env = env;
    self->input = input;
    *out = &self->engine;
    return SINTER_OK;
}
