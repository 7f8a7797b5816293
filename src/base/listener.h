/*
 * How events reach a listener, whichever version of the header it was compiled with.
 */
#ifndef SINTER_BASE_LISTENER_H
#define SINTER_BASE_LISTENER_H

#include "sinter/env.h"

/** What a listener is called by: all its callbacks have this type. */
typedef void (*sinter__callback)(void *ctx, const sinter_event *event);

/** Every callback of a listener, in their order. */
#define SINTER__CALLBACK_MAP(X) \
    X(task_begin)               \
    X(task_end)                 \
    X(file_created)             \
    X(file_deleted)             \
    X(spill_begin)              \
    X(spill_end)                \
    X(progress)                 \
    X(log)                      \
    X(stall_begin)              \
    X(stall_end)                \
    X(slow_io)                  \
    X(background_error)

/** The callback at `offset` of a listener. NULL: there is no listener, it doesn't care, or it is
 *  older than this event. */
sinter__callback
sinter__listener_at(const sinter_listener *listener, size_t offset);

/** Does somebody listen to events of this name? */
#define SINTER__LISTENS(listener, name) \
    (sinter__listener_at((listener), offsetof(sinter_listener, name)) != NULL)

/** Tell the listener, if it cares. No lock may be held. */
void
sinter__tell(const sinter_listener *listener, size_t offset, const sinter_event *event);

#define SINTER__TELL(listener, name, event) \
    sinter__tell((listener), offsetof(sinter_listener, name), (event))

/** A listener that passes events on, saying which bucket and which job they are of where they don't
 *  say that themselves. */
typedef struct sinter__named_listener {
    sinter_listener listener;
    const sinter_listener *behind;
    const char *bucket;
    uint64_t job_id;
} sinter__named_listener;

/** Set up in place; strings and `behind` (NULL: nobody) are borrowed while it is in use.
 *  @return what to put into an environment: NULL when nobody listens */
const sinter_listener *
sinter__named_listener_init(sinter__named_listener *named, const sinter_listener *behind,
                            const char *bucket, uint64_t job_id);

#endif
