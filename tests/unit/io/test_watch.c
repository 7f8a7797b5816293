#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_alloc.h"
#include "sinter/io.h"

TestSuite(io_watch, .timeout = 60);

/* A clock that goes on by `tick_ns` with each look, so that every call takes that long. */
typedef struct bench {
    sinter_env env;
    sinter_io *under;
    sinter_io *watch;
    int64_t now_ns;
    int64_t tick_ns;
    char calls[4096]; /* "name:file " of the slow ones */
    sinter_event last;
    sinter_listener listener;
} bench;

static int64_t
tick(void *ctx)
{
    bench *b = ctx;

    b->now_ns += b->tick_ns;
    return b->now_ns;
}

static void
note(void *ctx, const sinter_event *event)
{
    bench *b = ctx;
    const size_t used = strlen(b->calls);

    b->last = *event;
    (void)snprintf(b->calls + used, sizeof b->calls - used, "%s:%s ", event->text, event->file);
}

static void
bench_begin(bench *b, uint64_t slow_ns)
{
    const sinter_io_watch_options options = {.struct_size = (uint32_t)sizeof options,
                                             .slow_ns = slow_ns};

    memset(b, 0, sizeof *b);
    sinter_env_init(&b->env);
    b->tick_ns = 10;
    b->env.clock.ctx = b;
    b->env.clock.monotonic_ns = tick;
    b->listener =
        (sinter_listener){.struct_size = (uint32_t)sizeof b->listener, .ctx = b, .slow_io = note};
    b->env.listener = &b->listener;
    cr_assert_eq(sinter_io_create(&b->env, SINTER_IO_MEMORY, NULL, &b->under, NULL), SINTER_OK);
    cr_assert_eq(sinter_io_watch_create(&b->env, b->under, &options, &b->watch, NULL), SINTER_OK);
}

static void
bench_end(bench *b)
{
    sinter_io_destroy(b->watch);
    sinter_io_destroy(b->under);
}

static sinter_io_watch_counters
counters_of(const bench *b)
{
    sinter_io_watch_counters counters = {.struct_size = (uint32_t)sizeof counters};

    sinter_io_watch_counters_get(b->watch, &counters);
    return counters;
}

static sinter_status
ignore_name(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    return SINTER_OK;
}

/* Every operation once. */
static void
use_everything(sinter_io *io)
{
    uint8_t data[100] = {0};
    const sinter_io_range ranges[] = {{0, data, 60}, {60, data + 60, 40}};
    sinter_io_ticket ticket;
    sinter_io_file *file = NULL;
    sinter_io_stat stat;
    uint64_t size = 0;

    cr_assert_eq(io->ops->mkdir(io, "/d", NULL), SINTER_OK);
    cr_assert_eq(io->ops->create(io, "/d", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->append(file, data, sizeof data, NULL), SINTER_OK);
    cr_assert_eq(file->ops->sync(file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->publish(file, "/d/f", NULL), SINTER_OK);
    file->ops->close(file);
    cr_assert_eq(io->ops->sync_dir(io, "/d", NULL), SINTER_OK);
    cr_assert_eq(io->ops->stat(io, "/d/f", &stat, NULL), SINTER_OK);
    cr_assert_eq(io->ops->open(io, "/d/f", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read(file, ranges, 2, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read_begin(file, ranges, &ticket, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read_end(file, &ticket, NULL), SINTER_OK);
    file->ops->close(file);
    cr_assert_eq(io->ops->replace(io, "/d/r", data, 7, NULL), SINTER_OK);
    cr_assert_eq(io->ops->list(io, "/d", ignore_name, NULL, NULL), SINTER_OK);
    cr_assert_eq(io->ops->clean(io, "/d", &size, NULL), SINTER_OK);
    cr_assert_eq(io->ops->lock(io, "/d/l", &file, NULL), SINTER_OK);
    file->ops->close(file);
    cr_assert_eq(io->ops->unlink(io, "/d/f", NULL), SINTER_OK);
}

Test(io_watch, counters_agree_with_those_of_the_io_beneath)
{
    sinter_io_watch_counters seen;
    sinter_io_counters beneath = {.struct_size = (uint32_t)sizeof beneath};
    bench b;

    bench_begin(&b, 0);
    use_everything(b.watch);
    seen = counters_of(&b);
    sinter_io_counters_get(b.watch, &beneath);
    cr_expect(seen.read_bytes == 160 && beneath.read_bytes == 160);
    cr_expect_eq(seen.reads, 2);
    cr_expect_eq(seen.written_bytes, 107);
    cr_expect_eq(seen.written_bytes, beneath.written_bytes + 7, "which don't count the replaced");
    cr_expect_eq(seen.writes, 2);
    cr_expect_eq(seen.syncs, 2);
    cr_expect_eq(seen.syncs, beneath.syncs);
    cr_expect(seen.slow_calls == 0 && b.calls[0] == '\0', "nothing is slow");
    bench_end(&b);
}

Test(io_watch, every_slow_call_is_told_with_its_file_and_name)
{
    sinter_io_watch_counters seen;
    bench b;

    bench_begin(&b, 10);
    use_everything(b.watch);
    cr_expect_str_eq(b.calls,
                     "mkdir:/d create:/d append:/d sync:/d publish:/d/f close:/d sync_dir:/d "
                     "stat:/d/f open:/d/f size:/d/f read:/d/f read_begin:/d/f read_end:/d/f "
                     "close:/d/f replace:/d/r list:/d lock:/d/l close:/d/l unlink:/d/f ");
    seen = counters_of(&b);
    cr_expect_eq(seen.slow_calls, 19);
    cr_expect_eq(seen.call_ns, 190);
    bench_end(&b);
}

Test(io_watch, what_takes_a_nanosecond_less_is_not_slow)
{
    bench b;

    bench_begin(&b, 11);
    use_everything(b.watch);
    cr_expect_eq(counters_of(&b).slow_calls, 0);
    cr_expect_eq(counters_of(&b).call_ns, 190);
    b.tick_ns = 11;
    cr_expect_eq(b.under->ops->replace(b.under, "/slow", "1", 1, NULL), SINTER_OK);
    cr_expect_eq(counters_of(&b).slow_calls, 0, "what doesn't pass isn't seen");
    cr_expect_eq(b.watch->ops->replace(b.watch, "/slow", "12345", 5, NULL), SINTER_OK);
    cr_expect_eq(counters_of(&b).slow_calls, 1);
    cr_expect(b.last.bytes == 5 && b.last.duration_ns == 11 && b.last.status == SINTER_OK);
    bench_end(&b);
}

Test(io_watch, calls_that_fail_are_timed_and_move_nothing)
{
    const sinter_fault_options rule = {
        .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .only_op = "append"};
    sinter_io *fault = NULL;
    sinter_io *watch = NULL;
    sinter_io_file *file = NULL;
    const sinter_io_watch_options options = {.struct_size = (uint32_t)sizeof options, .slow_ns = 1};
    sinter_io_watch_counters seen = {.struct_size = (uint32_t)sizeof seen};
    bench b;

    bench_begin(&b, 0);
    cr_assert_eq(sinter_io_fault_create(&b.env, b.under, &rule, &fault, NULL), SINTER_OK);
    cr_assert_eq(sinter_io_watch_create(&b.env, fault, &options, &watch, NULL), SINTER_OK);
    cr_expect_str_eq(sinter_io_name(watch), "memory", "of what it wraps");
    cr_assert_eq(watch->ops->create(watch, "/", 0, &file, NULL), SINTER_OK);
    cr_expect_eq(file->ops->append(file, "1234", 4, NULL), SINTER_E_IO);
    cr_expect_eq(b.last.status, SINTER_E_IO);
    sinter_io_watch_counters_get(watch, &seen);
    cr_expect(seen.writes == 0 && seen.written_bytes == 0 && seen.call_ns == 20);
    file->ops->close(file);
    sinter_io_destroy(watch);
    sinter_io_destroy(fault);
    bench_end(&b);
}

Test(io_watch, arguments_are_checked_and_structs_of_other_versions_understood)
{
    const sinter_env *env = sinter_env_default();
    const sinter_io_watch_options no_size = {.slow_ns = 1};
    sinter_io_watch_counters seen;
    sinter_io *io = NULL;

    cr_expect_eq(sinter_io_watch_create(NULL, sinter_io_posix(), NULL, &io, NULL),
                 SINTER_E_INVALID);
    cr_expect_eq(sinter_io_watch_create(env, NULL, NULL, &io, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_io_watch_create(env, sinter_io_posix(), NULL, NULL, NULL),
                 SINTER_E_INVALID);
    cr_expect_eq(sinter_io_watch_create(env, sinter_io_posix(), &no_size, &io, NULL),
                 SINTER_E_INVALID);
    memset(&seen, 0xab, sizeof seen);
    seen.struct_size = (uint32_t)offsetof(sinter_io_watch_counters, writes);
    sinter_io_watch_counters_get(sinter_io_posix(), &seen);
    cr_expect(seen.reads == 0 && seen.read_bytes == 0);
    cr_expect_eq(seen.writes, UINT64_C(0xabababababababab));
}

Test(io_watch, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_io *base = NULL;
        sinter_io *io = NULL;
        sinter_io_file *file = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &base, NULL),
                     SINTER_OK);
        fault_alloc_init(&fault, n);
        st = sinter_io_watch_create(&fault.env, base, NULL, &io, &err);
        if (st == SINTER_OK) {
            st = io->ops->create(io, "/", 0, &file, &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st && file == NULL));
        if (file != NULL) {
            file->ops->close(file);
        }
        sinter_io_destroy(io);
        cr_expect_eq(fault.live, 0, "leak when allocation %llu fails", (unsigned long long)n);
        sinter_io_destroy(base);
    }
}
