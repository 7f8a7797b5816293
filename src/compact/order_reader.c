#include "compact/order_reader.h"

#include <assert.h>

#include "base/alloc.h"

typedef struct order_reader {
    sinter_reader base;
    const sinter_env *env;
    sinter_reader *inner;
    const sinter_order *order;
    sinter_batch batch; /* the inner one with orders */
    sinter__buffer orders;
    uint32_t *offsets;
    size_t offsets_capacity;
    uint32_t puts;     /* calls of put for the current row */
    sinter_error *err; /* of the current call */
} order_reader;

static sinter_status
put_order(void *put_ctx, const void *data, size_t size)
{
    order_reader *reader = put_ctx;

    reader->puts++;
    if (size > UINT32_MAX - reader->orders.size) {
        return SINTER__ERR(reader->err, SINTER_E_TOO_LARGE,
                           "the user sequences of a batch take more than 4 GiB");
    }
    return sinter__buffer_append(reader->env, &reader->orders, data, size, reader->err);
}

static sinter_status
add_orders(order_reader *reader, const sinter_batch *inner, sinter_error *err)
{
    const size_t wanted = (size_t)inner->row_count + 1;

    assert(inner->row_count > 0);

    if (wanted > reader->offsets_capacity) {
        SINTER__CHECK(sinter__resize(reader->env, (void **)&reader->offsets, wanted,
                                     sizeof *reader->offsets, err));
        reader->offsets_capacity = wanted;
    }
    reader->orders.size = 0;
    reader->err = err;
    /* A batch whose orders are all empty needs a pointer too: NULL would say there are none. */
    SINTER__CHECK(sinter__buffer_reserve(reader->env, &reader->orders, 1, err));
    reader->offsets[0] = 0;
    for (uint32_t i = 0; i < inner->row_count; i++) {
        reader->puts = 0;
        SINTER__CHECK(reader->order->row(reader->order->ctx, inner, i, put_order, reader, err));
        if (reader->puts != 1) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "the sequence of a record was given %u times instead of once",
                               reader->puts);
        }
        reader->offsets[i + 1] = (uint32_t)reader->orders.size;
    }
    return SINTER_OK;
}

static sinter_status
order_next(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    order_reader *reader = (order_reader *)base;
    const sinter_batch *inner = NULL;

    SINTER__CHECK(reader->inner->ops->next(reader->inner, &inner, err));
    assert((inner->flags & SINTER_BATCH_STORED) == 0);
    SINTER__CHECK(add_orders(reader, inner, err));
    reader->batch = *inner;
    reader->batch.orders = reader->orders.data;
    reader->batch.order_offsets = reader->offsets;
    *out = &reader->batch;
    return SINTER_OK;
}

static sinter_status
order_peek(sinter_reader *base, const sinter_block_info **out, sinter_error *err)
{
    order_reader *reader = (order_reader *)base;

    return reader->inner->ops->peek(reader->inner, out, err);
}

static sinter_status
order_take(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    order_reader *reader = (order_reader *)base;

    return reader->inner->ops->take(reader->inner, out, err);
}

static void
order_close(sinter_reader *base)
{
    order_reader *reader = (order_reader *)base;

    reader->inner->ops->close(reader->inner);
    sinter__buffer_fini(reader->env, &reader->orders);
    sinter__free(reader->env, reader->offsets);
    sinter__free(reader->env, reader);
}

static const sinter_reader_ops order_ops_plain = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops),
    .next = order_next,
    .close = order_close,
};

static const sinter_reader_ops order_ops_blocks = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops),
    .next = order_next,
    .peek = order_peek,
    .take = order_take,
    .close = order_close,
};

sinter_status
sinter__order_reader_open(const sinter_env *env, sinter_reader *inner, const sinter_order *order,
                          sinter_reader **out, sinter_error *err)
{
    order_reader *reader = NULL;
    const sinter_status st = SINTER__NEW(env, reader, 1, err);

    assert(inner != NULL);
    assert(order->row != NULL);
    *out = NULL;
    if (st != SINTER_OK) {
        inner->ops->close(inner);
        return st;
    }
    reader->base.ops = inner->ops->peek != NULL ? &order_ops_blocks : &order_ops_plain;
    reader->env = env;
    reader->inner = inner;
    reader->order = order;
    *out = &reader->base;
    return SINTER_OK;
}
