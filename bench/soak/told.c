#include "soak/told.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#define TOLD_MAP(X) \
    X(task_begin)   \
    X(task_end)     \
    X(file_created) \
    X(file_deleted) \
    X(spill_begin)  \
    X(spill_end)    \
    X(progress)     \
    X(log)          \
    X(stall_begin)  \
    X(stall_end)    \
    X(slow_io)      \
    X(background_error)

#define TOLD_COUNTER(name)                                                 \
    static atomic_uint_least64_t name##_count;                             \
    static void count_##name(void *ctx, const sinter_event *event)         \
    {                                                                      \
        (void)ctx;                                                         \
        if (event->struct_size < offsetof(sinter_event, file)) {           \
            soak_wrong("an event without its size");                       \
        }                                                                  \
        atomic_fetch_add_explicit(&name##_count, 1, memory_order_relaxed); \
    }
TOLD_MAP(TOLD_COUNTER)
#undef TOLD_COUNTER

const sinter_listener *
soak_told_listener(void)
{
    static const sinter_listener listener = {.struct_size = (uint32_t)sizeof listener,
#define TOLD_FIELD(name) .name = count_##name,
                                             TOLD_MAP(TOLD_FIELD)
#undef TOLD_FIELD
    };

    return &listener;
}

static void
check_pair(const char *what, atomic_uint_least64_t *begun, atomic_uint_least64_t *ended)
{
    if (atomic_load(begun) != atomic_load(ended)) {
        soak_wrong("%" PRIu64 " %s were told to begin, %" PRIu64 " to end",
                   (uint64_t)atomic_load(begun), what, (uint64_t)atomic_load(ended));
    }
}

void
soak_told_check(void)
{
    check_pair("tasks", &task_begin_count, &task_end_count);
    check_pair("spills", &spill_begin_count, &spill_end_count);
    check_pair("stalls", &stall_begin_count, &stall_end_count);
}

void
soak_told_print(void)
{
    printf("told:");
#define TOLD_PRINT(name) printf(" %s %" PRIu64, #name, (uint64_t)atomic_load(&name##_count));
    TOLD_MAP(TOLD_PRINT)
#undef TOLD_PRINT
    printf("\n");
}
