#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"

TestSuite(io_io, .timeout = 30);

typedef struct log_count {
    int calls;
    sinter_status last;
    char text[256];
} log_count;

static void
count_log(void *ctx, const sinter_event *event)
{
    log_count *log = ctx;

    log->calls++;
    log->last = event->status;
    (void)strncpy(log->text, event->text, sizeof log->text - 1);
}

Test(io_io, each_kind_has_its_name)
{
    static const struct {
        sinter_io_kind kind;
        const char *name;
    } cases[] = {{SINTER_IO_POSIX, "posix"}, {SINTER_IO_MEMORY, "memory"}};

    for (size_t i = 0; i < 2; i++) {
        sinter_io *io = NULL;
        sinter_io *wrapped = NULL;

        cr_assert_eq(sinter_io_create(sinter_env_default(), cases[i].kind, NULL, &io, NULL),
                     SINTER_OK);
        cr_expect(strcmp(sinter_io_name(io), cases[i].name) == 0);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), io, NULL, &wrapped, NULL),
                     SINTER_OK);
        cr_expect(strcmp(sinter_io_name(wrapped), cases[i].name) == 0, "who really serves");
        sinter_io_destroy(wrapped);
        sinter_io_destroy(io);
    }
    cr_expect(strcmp(sinter_io_name(sinter_io_posix()), "posix") == 0);
    cr_expect(sinter_io_posix() == sinter_env_default()->io);
    sinter_io_destroy(sinter_io_posix());
    sinter_io_destroy(NULL);
    cr_expect(strcmp(sinter_io_name(sinter_io_posix()), "posix") == 0, "it is never destroyed");
}

Test(io_io, auto_gives_io_uring_silently_or_posix_with_one_word)
{
    log_count log = {0};
    const sinter_listener listener = {
        .struct_size = (uint32_t)sizeof listener, .ctx = &log, .log = count_log};
    const bool has_uring = sinter_io_probe_uring(NULL) == SINTER_OK;
    sinter_env env;
    sinter_io *io = NULL;

    sinter_env_init(&env);
    env.listener = &listener;
    cr_assert_eq(sinter_io_create(&env, SINTER_IO_AUTO, NULL, &io, NULL), SINTER_OK);
    cr_expect(strcmp(sinter_io_name(io), has_uring ? "io_uring" : "posix") == 0);
    cr_expect_eq(log.calls, has_uring ? 0 : 1);
    sinter_io_destroy(io);
}

Test(io_io, options_out_of_range_are_refused)
{
    static const sinter_io_options bad[] = {
        {.queue_depth = 4097},
        {.buffer_count = 1025},
        {.buffer_bytes = 4095},
        {.buffer_bytes = 5000},
        {.buffer_bytes = (16 << 20) + 4096},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io *io = NULL;

        cr_expect_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, &bad[i], &io, &err),
                     SINTER_E_INVALID, "case %zu", i);
        cr_expect(io == NULL && err.status == SINTER_E_INVALID);
    }
}

Test(io_io, arguments_that_make_no_sense_are_refused)
{
    sinter_io *io = NULL;

    cr_expect_eq(sinter_io_create(NULL, SINTER_IO_POSIX, NULL, &io, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, NULL, NULL, NULL),
                 SINTER_E_INVALID);
    cr_expect_eq(sinter_io_create(sinter_env_default(), (sinter_io_kind)17, NULL, &io, NULL),
                 SINTER_E_INVALID);
    cr_expect(io == NULL);
}

Test(io_io, structs_of_other_versions_are_understood)
{
    struct {
        sinter_io_options known;
        uint32_t later[4];
    } longer = {.known = {.struct_size = (uint32_t)sizeof longer, .queue_depth = 8}};
    const sinter_io_options shorter = {
        .struct_size = 8, .queue_depth = 8, .buffer_bytes = 1 /* not in it: not read */};
    sinter_io *io = NULL;

    cr_expect_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, &longer.known, &io, NULL),
                 SINTER_OK, "an unknown tail of zeros");
    sinter_io_destroy(io);
    longer.later[3] = 1;
    cr_expect_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, &longer.known, &io, NULL),
                 SINTER_E_INVALID, "an unknown option is asked for");
    cr_expect_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, &shorter, &io, NULL),
                 SINTER_OK);
    sinter_io_destroy(io);
}

Test(io_io, counters_tell_what_was_moved)
{
    for (size_t i = 0; i < backend_count; i++) {
        sinter_io_counters counters = {.struct_size = (uint32_t)sizeof counters};
        uint8_t data[100];
        const sinter_io_range range = {.data = data, .size = sizeof data};
        sinter_io_file *file = NULL;
        bench_io bench;

        if (backends[i].is_uring && sinter_io_probe_uring(NULL) != SINTER_OK) {
            continue;
        }
        bench_io_init(&bench, &backends[i], IN_FAULT);
        put_file(&bench, "a", 1, 5000);
        cr_assert_eq(bench.io->ops->open(bench.io, path_in(&bench, "a"), 0, &file, NULL),
                     SINTER_OK);
        cr_assert_eq(bench.io->ops->read(file, &range, 1, NULL), SINTER_OK);
        bench.io->ops->close(file);
        sinter_io_counters_get(bench.io, &counters); /* through the wrapper */
        cr_expect_eq(counters.written_bytes, 5000, "%s: %llu", bench.kind->name,
                     (unsigned long long)counters.written_bytes);
        cr_expect_eq(counters.read_bytes, 100, "%s", bench.kind->name);
        cr_expect(counters.reads >= 1 && counters.writes >= 1, "%s", bench.kind->name);
        cr_expect_eq(counters.ring_calls > 0, bench.kind->is_uring && !bench.kind->is_ringless,
                     "%s: %llu", bench.kind->name, (unsigned long long)counters.ring_calls);
        cr_expect(counters.syncs >= 2, "%s: data and directory", bench.kind->name);
        bench_io_fini(&bench);
    }
}

Test(io_io, a_short_counter_struct_is_not_overrun)
{
    sinter_io_counters counters;

    memset(&counters, 0xab, sizeof counters);
    counters.struct_size = 16; /* up to and with `reads` */
    sinter_io_counters_get(sinter_io_posix(), &counters);
    cr_expect_eq(counters.struct_size, 16);
    cr_expect(counters.reads != UINT64_C(0xabababababababab));
    cr_expect_eq(counters.read_bytes, UINT64_C(0xabababababababab));
}
