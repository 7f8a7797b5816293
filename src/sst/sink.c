#include "sst/sink.h"

#include <assert.h>
#include <string.h>

sinter_status
sinter__sink_reserve(sinter__sink *sink, size_t size, uint8_t **out, sinter_error *err)
{
    assert(size <= SIZE_MAX - sink->pending_size);
    SINTER__CHECK(sinter__scratch_grow(sink->env, &sink->pending, sink->pending_size + size, err));
    *out = sink->pending.data + sink->pending_size;
    return SINTER_OK;
}

sinter_status
sinter__sink_commit(sinter__sink *sink, size_t size, sinter_error *err)
{
    assert(size <= sink->pending.capacity - sink->pending_size);
    sink->pending_size += size;
    return sink->pending_size < SINTER__SINK_CHUNK_BYTES ? SINTER_OK
                                                         : sinter__sink_flush(sink, err);
}

sinter_status
sinter__sink_write(sinter__sink *sink, const void *data, size_t size, sinter_error *err)
{
    uint8_t *place = NULL;

    if (size >= SINTER__SINK_DIRECT_BYTES) {
        SINTER__CHECK(sinter__sink_flush(sink, err));
        SINTER__CHECK(sink->handle->ops->append(sink->handle, data, size, err));
        sink->appended_size += size;
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__sink_reserve(sink, size, &place, err));
    memcpy(place, data, size);
    return sinter__sink_commit(sink, size, err);
}

sinter_status
sinter__sink_flush(sinter__sink *sink, sinter_error *err)
{
    if (sink->pending_size > 0) {
        SINTER__CHECK(
            sink->handle->ops->append(sink->handle, sink->pending.data, sink->pending_size, err));
        sink->appended_size += sink->pending_size;
        sink->pending_size = 0;
    }
    return SINTER_OK;
}

void
sinter__sink_fini(sinter__sink *sink)
{
    if (sink->env != NULL) {
        sinter__scratch_fini(sink->env, &sink->pending);
    }
}
