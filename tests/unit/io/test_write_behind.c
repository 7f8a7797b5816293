#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "io/posix.h"
#ifdef SINTER_HAVE_URING
#include "io/uring.h"
#endif

TestSuite(io_write_behind, .timeout = 60);

enum { MIB = 1 << 20, APPEND = 100000, WINDOW_MAX = 6 * MIB };

static struct {
    unsigned calls;
    uint64_t pushed; /* all before was begun */
    uint64_t waited; /* all before is on the disk */
    uint64_t gaps;   /* calls that left something out */
    uint64_t largest;
    bool is_in_memory;
    int sys_errno; /* of each call from `at_call` on */
    unsigned at_call;
} seen;

static int
noted_sync_range(int fd, off_t offset, off_t size, bool wait)
{
    uint64_t *reached = wait ? &seen.waited : &seen.pushed;

    if (seen.sys_errno != 0 && seen.calls >= seen.at_call) {
        seen.calls++;
        errno = seen.sys_errno;
        return -1;
    }
    seen.calls++;
    seen.gaps += (uint64_t)offset == *reached ? 0 : 1;
    *reached = (uint64_t)(offset + size);
    seen.largest = (uint64_t)size > seen.largest ? (uint64_t)size : seen.largest;
    return sinter__posix_calls_system.sync_range(fd, offset, size, wait);
}

static bool
noted_is_in_memory(int fd)
{
    (void)fd;
    return seen.is_in_memory;
}

static const sinter__posix_calls *
noted_calls(void)
{
    static sinter__posix_calls calls;

    calls = sinter__posix_calls_system;
    calls.sync_range = noted_sync_range;
    calls.is_in_memory = noted_is_in_memory;
    return &calls;
}

static sinter_status
make_noted(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    return sinter__posix_create(env, noted_calls(), out, err);
}

static const backend noted = {.name = "posix", .make = make_noted};

#ifdef SINTER_HAVE_URING
static sinter_status
make_noted_uring(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    const sinter__uring_setup setup = {.queue_depth = 8,
                                       .buffer_count = 4,
                                       .buffer_bytes = 65536,
                                       .is_ring_only = true,
                                       .calls = noted_calls()};

    return sinter__uring_create(env, &setup, out, err);
}

static const backend noted_uring = {.name = "io_uring", .make = make_noted_uring, .is_uring = true};
#endif

static void
over_both(void (*body)(bench_io *bench))
{
    bench_io bench;

    memset(&seen, 0, sizeof seen);
    bench_io_init(&bench, &noted, BARE);
    body(&bench);
    bench_io_fini(&bench);
#ifdef SINTER_HAVE_URING
    if (sinter_io_probe_uring(NULL) == SINTER_OK) {
        memset(&seen, 0, sizeof seen);
        bench_io_init(&bench, &noted_uring, BARE);
        body(&bench);
        bench_io_fini(&bench);
    }
#endif
}

/* Append `size` bytes; the first failure ends it. `*behind_out`: the most that wasn't on the disk.
 */
static sinter_status
append_bytes(sinter_io_file *file, size_t size, size_t step, uint64_t *behind_out,
             sinter_error *err)
{
    uint8_t *data = malloc(step);
    sinter_status st = SINTER_OK;

    *behind_out = 0;
    for (size_t done = 0; done < size && st == SINTER_OK; done += step) {
        pattern_fill(5, done, data, step);
        st = file->ops->append(file, data, step, err);
        if (done + step - seen.waited > *behind_out) {
            *behind_out = done + step - seen.waited;
        }
    }
    free(data);
    return st;
}

static sinter_io_file *
begin_file(bench_io *bench, uint32_t flags)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(bench->io->ops->create(bench->io, bench->dir, flags, &file, NULL), SINTER_OK);
    return file;
}

static void
bounded(bench_io *bench)
{
    static const size_t steps[] = {APPEND, 3 * APPEND, 2 * MIB};

    for (size_t i = 0; i < 3; i++) { /* gathered, and written from where they are */
        sinter_io_file *file = begin_file(bench, 0);
        uint64_t behind = 0;

        memset(&seen, 0, sizeof seen);
        cr_assert_eq(append_bytes(file, 40 * MIB, steps[i], &behind, NULL), SINTER_OK);
        cr_expect_eq(seen.gaps, 0u, "every byte is pushed and waited for");
        cr_expect_geq(seen.waited, 28u * MIB);
        cr_expect_leq(behind, 2u * WINDOW_MAX + 2u * MIB, "%s: %llu bytes behind",
                      bench->kind->name, (unsigned long long)behind);
        cr_expect_leq(seen.largest, (uint64_t)WINDOW_MAX);
        cr_expect_geq(seen.largest, 4u * MIB, "small windows would cost calls");
        cr_expect_eq(file->ops->sync(file, NULL), SINTER_OK);
        file->ops->close(file);
    }
}

Test(io_write_behind, what_is_not_on_the_disk_yet_stays_within_a_few_megabytes)
{
    over_both(bounded);
}

static void
refused(bench_io *bench)
{
    static const int refusals[] = {ENOSYS, EINVAL, ESPIPE};

    for (size_t i = 0; i < 6; i++) {
        sinter_io_file *file = begin_file(bench, 0);
        sinter_error err = SINTER_ERROR_INIT;
        uint64_t behind = 0;

        memset(&seen, 0, sizeof seen);
        seen.sys_errno = refusals[i % 3];
        seen.at_call = i < 3 ? 0 : 2; /* the first push, or the first wait */
        cr_expect_eq(append_bytes(file, 24 * MIB, APPEND, &behind, &err), SINTER_OK, "%s",
                     err.text);
        cr_expect_eq(seen.calls, seen.at_call + 1, "once is enough");
        cr_expect_eq(file->ops->sync(file, NULL), SINTER_OK);
        file->ops->close(file);
    }
}

Test(io_write_behind, a_file_system_without_it_is_left_alone)
{
    over_both(refused);
}

static void
failed(bench_io *bench)
{
    for (unsigned at_call = 0; at_call < 4; at_call++) {
        sinter_io_file *file = begin_file(bench, 0);
        sinter_error err = SINTER_ERROR_INIT;
        uint64_t behind = 0;

        memset(&seen, 0, sizeof seen);
        seen.sys_errno = EIO;
        seen.at_call = at_call;
        cr_expect_eq(append_bytes(file, 24 * MIB, APPEND, &behind, &err), SINTER_E_IO);
        cr_expect_eq(err.sys_errno, EIO);
        seen.sys_errno = 0;
        cr_expect_eq(file->ops->append(file, "x", 1, NULL), SINTER_E_IO, "the file stays failed");
        cr_expect_eq(file->ops->publish(file, path_in(bench, "a"), NULL), SINTER_E_IO);
        file->ops->close(file);
        cr_expect_eq(name_count(bench), 0u);
    }
}

Test(io_write_behind, a_page_that_was_lost_is_an_error_of_the_file)
{
    over_both(failed);
}

static void
left_alone(bench_io *bench)
{
    for (int i = 0; i < 2; i++) {
        sinter_io_file *file = NULL;
        uint64_t behind = 0;

        memset(&seen, 0, sizeof seen);
        seen.is_in_memory = i == 0;
        file = begin_file(bench, i == 0 ? 0 : SINTER_IO_SCRATCH);
        cr_expect_eq(append_bytes(file, 20 * MIB, APPEND, &behind, NULL), SINTER_OK);
        cr_expect_eq(seen.calls, 0u);
        file->ops->close(file);
    }
}

Test(io_write_behind, scratch_files_and_files_in_memory_are_left_alone)
{
    over_both(left_alone);
}
