#include "sst/sink.h"

#include <assert.h>
#include <string.h>

sinter_status
sinter__sst_sink_reserve(sinter__sst_sink *sink, size_t size, uint8_t **out, sinter_error *err)
{
    assert(size <= SIZE_MAX - sink->pending_size);
    SINTER__CHECK(sinter__scratch_grow(sink->env, &sink->pending, sink->pending_size + size, err));
    *out = sink->pending.data + sink->pending_size;
    return SINTER_OK;
}

sinter_status
sinter__sst_sink_commit(sinter__sst_sink *sink, size_t size, sinter_error *err)
{
    assert(size <= sink->pending.capacity - sink->pending_size);
    sink->pending_size += size;
    return sink->pending_size < SINTER__SST_SINK_CHUNK_BYTES ? SINTER_OK
                                                             : sinter__sst_sink_flush(sink, err);
}

sinter_status
sinter__sst_sink_write(sinter__sst_sink *sink, const void *data, size_t size, sinter_error *err)
{
    uint8_t *place = NULL;

    assert(sink->handle != NULL);
    if (size >= SINTER__SST_SINK_CHUNK_BYTES) {
        SINTER__CHECK(sinter__sst_sink_flush(sink, err));
        SINTER__CHECK(sink->handle->ops->append(sink->handle, data, size, err));
        sink->appended_size += size;
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__sst_sink_reserve(sink, size, &place, err));
    memcpy(place, data, size);
    return sinter__sst_sink_commit(sink, size, err);
}

sinter_status
sinter__sst_sink_flush(sinter__sst_sink *sink, sinter_error *err)
{
    assert(sink->pending_size <= sink->pending.capacity);
    if (sink->pending_size > 0) {
        SINTER__CHECK(
            sink->handle->ops->append(sink->handle, sink->pending.data, sink->pending_size, err));
        sink->appended_size += sink->pending_size;
        sink->pending_size = 0;
    }
    return SINTER_OK;
}

void
sinter__sst_sink_fini(sinter__sst_sink *sink)
{
    if (sink->env != NULL) {
        sinter__scratch_fini(sink->env, &sink->pending);
    }
}
