#include "base/listener.h"

#include <assert.h>
#include <string.h>

/* The listener as it was first: what one without a size is taken for. */
#define FIRST_SIZE offsetof(sinter_listener, stall_begin)

sinter__callback
sinter__listener_at(const sinter_listener *listener, size_t offset)
{
    sinter__callback callback = NULL;
    size_t size = 0;

    assert(offset + sizeof callback <= sizeof *listener);
    if (listener == NULL) {
        return NULL;
    }
    size = listener->struct_size < FIRST_SIZE ? FIRST_SIZE : listener->struct_size;
    if (offset + sizeof callback <= size) {
        memcpy(&callback, (const char *)listener + offset, sizeof callback);
    }
    return callback;
}

void
sinter__tell(const sinter_listener *listener, size_t offset, const sinter_event *event)
{
    const sinter__callback callback = sinter__listener_at(listener, offset);

    if (callback != NULL) {
        callback(listener->ctx, event);
    }
}

static void
pass_on(const sinter__named_listener *named, size_t offset, const sinter_event *event)
{
    sinter_event told = *event;

    told.bucket = event->bucket != NULL ? event->bucket : named->bucket;
    told.job_id = event->job_id != 0 ? event->job_id : named->job_id;
    sinter__tell(named->behind, offset, &told);
}

#define PASS_ON(name)                                             \
    static void pass_##name(void *ctx, const sinter_event *event) \
    {                                                             \
        pass_on(ctx, offsetof(sinter_listener, name), event);     \
    }
SINTER__CALLBACK_MAP(PASS_ON)
#undef PASS_ON

const sinter_listener *
sinter__named_listener_init(sinter__named_listener *named, const sinter_listener *behind,
                            const char *bucket, uint64_t job_id)
{
    if (behind == NULL) {
        return NULL;
    }
    *named = (sinter__named_listener){
        .listener = {.struct_size = (uint32_t)sizeof named->listener, .ctx = named},
        .behind = behind,
        .bucket = bucket,
        .job_id = job_id,
    };
#define PASS_IF_HEARD(name) \
    named->listener.name = SINTER__LISTENS(behind, name) ? pass_##name : NULL;
    SINTER__CALLBACK_MAP(PASS_IF_HEARD)
#undef PASS_IF_HEARD
    return &named->listener;
}
