#include "base/listener.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(base_listener, .timeout = 20);

typedef struct heard {
    unsigned count;
    sinter_event last;
} heard;

static void
hear(void *ctx, const sinter_event *event)
{
    heard *all = ctx;

    all->count++;
    all->last = *event;
}

/* A listener whose every callback is `hear`. */
static sinter_listener
listener_of(heard *all)
{
    sinter_listener listener = {.struct_size = (uint32_t)sizeof listener, .ctx = all};

#define SET(name) listener.name = hear;
    SINTER__CALLBACK_MAP(SET)
#undef SET
    return listener;
}

Test(base_listener, every_callback_is_in_the_list)
{
    size_t count = 0;

#define COUNT(name) count++;
    SINTER__CALLBACK_MAP(COUNT)
#undef COUNT
    cr_expect_eq(offsetof(sinter_listener, task_begin) + count * sizeof(sinter__callback),
                 sizeof(sinter_listener));
}

Test(base_listener, nobody_listening_is_fine)
{
    const sinter_event event = {.struct_size = (uint32_t)sizeof event};
    const sinter_listener deaf = {.struct_size = (uint32_t)sizeof deaf};
    sinter__named_listener named;

    SINTER__TELL(NULL, slow_io, &event);
    SINTER__TELL(&deaf, slow_io, &event);
    cr_expect_not(SINTER__LISTENS(NULL, log));
    cr_expect_not(SINTER__LISTENS(&deaf, log));
    cr_expect_null(sinter__named_listener_init(&named, NULL, "b", 1));
    cr_expect_not(SINTER__LISTENS(sinter__named_listener_init(&named, &deaf, "b", 1), log));
}

Test(base_listener, a_listener_of_an_older_header_is_read_as_far_as_it_goes)
{
    static const size_t sizes[] = {0, offsetof(sinter_listener, stall_begin),
                                   offsetof(sinter_listener, slow_io), sizeof(sinter_listener),
                                   sizeof(sinter_listener) + 64};
    static const bool has_stall[] = {false, false, true, true, true};
    static const bool has_slow[] = {false, false, false, true, true};
    const sinter_event event = {.struct_size = (uint32_t)sizeof event};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        heard all = {.count = 0};
        sinter_listener listener = listener_of(&all);
        sinter__named_listener named;
        const sinter_listener *behind = NULL;

        listener.struct_size = (uint32_t)sizes[i];
        if (!has_slow[i]) { /* whatever lies behind the struct is none of our business */
            memset(&listener.slow_io, 0xab, sizeof listener.slow_io);
        }
        SINTER__TELL(&listener, log, &event);
        cr_expect_eq(all.count, 1);
        SINTER__TELL(&listener, stall_begin, &event);
        cr_expect_eq(all.count, has_stall[i] ? 2 : 1);
        SINTER__TELL(&listener, slow_io, &event);
        cr_expect_eq(all.count, 1 + has_stall[i] + has_slow[i]);
        behind = sinter__named_listener_init(&named, &listener, "b", 1);
        cr_expect_eq(SINTER__LISTENS(behind, slow_io), has_slow[i]);
        cr_expect_eq(SINTER__LISTENS(behind, stall_end), has_stall[i]);
    }
}

Test(base_listener, a_name_is_added_and_nothing_else_changed)
{
    const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                .file = "f",
                                .text = "t",
                                .bytes = 1,
                                .records = 2,
                                .duration_ns = 3,
                                .status = SINTER_E_IO};
    heard all = {.count = 0};
    const sinter_listener listener = listener_of(&all);
    sinter__named_listener named;
    const sinter_listener *told = sinter__named_listener_init(&named, &listener, "bucket", 42);
    unsigned count = 0;

#define EXPECT_PASSED(name)                                                           \
    SINTER__TELL(told, name, &event);                                                 \
    cr_expect_eq(all.count, ++count, #name);                                          \
    cr_expect(strcmp(all.last.bucket, "bucket") == 0 && all.last.job_id == 42);       \
    cr_expect(all.last.file == event.file && all.last.text == event.text);            \
    cr_expect(all.last.bytes == 1 && all.last.records == 2 && all.last.status == -3); \
    cr_expect(all.last.duration_ns == 3);
    SINTER__CALLBACK_MAP(EXPECT_PASSED)
#undef EXPECT_PASSED
}
