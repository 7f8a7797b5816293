#include "compact/filter_reader.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

typedef struct filter_reader {
    sinter_reader base;
    const sinter_env *env;
    sinter_reader *inner;
    bool (*keep)(void *ctx, const sinter_batch *batch, uint32_t row);
    void *keep_ctx;
    sinter_batch batch; /* the inner one with marks */
    uint8_t *dropped;
    size_t capacity;
} filter_reader;

static sinter_status
filter_next(sinter_reader *base, const sinter_batch **out, sinter_error *err)
{
    filter_reader *reader = (filter_reader *)base;
    const sinter_batch *inner = NULL;

    SINTER__CHECK(reader->inner->ops->next(reader->inner, &inner, err));
    assert(inner->row_count > 0);
    assert((inner->flags & SINTER_BATCH_STORED) == 0);
    if (inner->row_count > reader->capacity) {
        SINTER__CHECK(
            sinter__resize(reader->env, (void **)&reader->dropped, inner->row_count, 1, err));
        reader->capacity = inner->row_count;
    }
    for (uint32_t i = 0; i < inner->row_count; i++) {
        const uint8_t before = inner->dropped == NULL ? SINTER_DROP_KEEP : inner->dropped[i];
        const bool is_kept = before != SINTER_DROP_KEEP || reader->keep(reader->keep_ctx, inner, i);

        reader->dropped[i] = is_kept ? before : SINTER_DROP_EXPIRED;
    }
    reader->batch = *inner;
    reader->batch.dropped = reader->dropped;
    *out = &reader->batch;
    return SINTER_OK;
}

static void
filter_close(sinter_reader *base)
{
    filter_reader *reader = (filter_reader *)base;

    reader->inner->ops->close(reader->inner);
    sinter__free(reader->env, reader->dropped);
    sinter__free(reader->env, reader);
}

static const sinter_reader_ops filter_ops = {
    .struct_size = (uint32_t)sizeof(sinter_reader_ops),
    .next = filter_next,
    .close = filter_close,
};

sinter_status
sinter__filter_reader_open(const sinter_env *env, sinter_reader *inner,
                           bool (*keep)(void *ctx, const sinter_batch *batch, uint32_t row),
                           void *keep_ctx, sinter_reader **out, sinter_error *err)
{
    filter_reader *reader = NULL;
    const sinter_status st = SINTER__NEW(env, reader, 1, err);

    assert(inner != NULL);
    assert(keep != NULL);
    *out = NULL;
    if (st != SINTER_OK) {
        inner->ops->close(inner);
        return st;
    }
    reader->base.ops = &filter_ops;
    reader->env = env;
    reader->inner = inner;
    reader->keep = keep;
    reader->keep_ctx = keep_ctx;
    *out = &reader->base;
    return SINTER_OK;
}
