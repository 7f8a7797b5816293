/*
 * io_uring: refused, full, interrupted, broken, and with little locked memory (field faults F19,
 * F20).
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends.h"
#include "io/uring.h"

TestSuite(io_uring, .timeout = 120);

static bool
is_refused(void)
{
    sinter_error err = SINTER_ERROR_INIT;

    if (sinter_io_probe_uring(&err) != SINTER_OK) {
        fprintf(stderr, "left out: %s\n", err.text);
        return true;
    }
    return false;
}

/* ---- F19: the kernel says no ---- */

/* From now on this process gets `sys_errno` from the system call `number`. */
static bool
forbid(unsigned number, int sys_errno)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)sys_errno),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

typedef struct log_count {
    int calls;
    char text[512];
} log_count;

static void
count_log(void *ctx, const sinter_event *event)
{
    log_count *log = ctx;

    log->calls++;
    (void)strncpy(log->text, event->text, sizeof log->text - 1);
}

/* Write and read a file; the sum of its bytes, 0 after a failure. */
static uint64_t
bytes_sum(sinter_io *io)
{
    char dir[] = "/tmp/sinter-test-XXXXXX";
    char path[64];
    uint8_t *data = malloc(300000);
    const sinter_io_range range = {.data = data, .size = 300000};
    sinter_io_file *file = NULL;
    uint64_t sum = 0;
    bool good = mkdtemp(dir) != NULL;

    (void)snprintf(path, sizeof path, "%s/a", dir);
    pattern_fill(3, 0, data, 300000);
    good = good && io->ops->create(io, dir, 0, &file, NULL) == SINTER_OK;
    good = good && io->ops->append(file, data, 300000, NULL) == SINTER_OK;
    good = good && io->ops->publish(file, path, NULL) == SINTER_OK;
    if (file != NULL) {
        io->ops->close(file);
        file = NULL;
    }
    memset(data, 0, 300000);
    good = good && io->ops->open(io, path, 0, &file, NULL) == SINTER_OK;
    good = good && io->ops->read(file, &range, 1, NULL) == SINTER_OK;
    for (size_t i = 0; good && i < 300000; i++) {
        sum = sum * 31 + data[i];
    }
    if (file != NULL) {
        io->ops->close(file);
    }
    (void)io->ops->unlink(io, path, NULL);
    (void)io->ops->unlink(io, dir, NULL);
    free(data);
    return sum;
}

enum { CHILD_GOOD = 0, CHILD_CANNOT = 77 };

/* In a child of its own: io=auto falls back with one word, io=uring is refused with the reason. */
static int
under_filter(unsigned number, int sys_errno)
{
    log_count log = {0};
    const sinter_listener listener = {
        .struct_size = (uint32_t)sizeof listener, .ctx = &log, .log = count_log};
    const uint64_t wanted = bytes_sum(sinter_io_posix());
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *io = NULL;
    sinter_env env;
    int wrong = 0;

    if (!forbid(number, sys_errno)) {
        return CHILD_CANNOT;
    }
    sinter_env_init(&env);
    env.listener = &listener;
    wrong |= sinter_io_create(&env, SINTER_IO_AUTO, NULL, &io, &err) == SINTER_OK ? 0 : 1;
    if (wrong != 0) {
        return wrong;
    }
    wrong |= strcmp(sinter_io_name(io), "posix") == 0 ? 0 : 2;
    wrong |= bytes_sum(io) == wanted && wanted != 0 ? 0 : 4;
    wrong |= log.calls == 1 && strstr(log.text, "posix") != NULL ? 0 : 8;
    sinter_io_destroy(io);
    wrong |= sinter_io_create(&env, SINTER_IO_URING, NULL, &io, &err) == SINTER_E_UNSUPPORTED &&
                     io == NULL
                 ? 0
                 : 16;
    wrong |= err.sys_errno == sys_errno ? 0 : 32;
    wrong |= sinter_io_probe_uring(&err) == SINTER_E_UNSUPPORTED && log.calls == 1 ? 0 : 64;
    return wrong;
}

static void
check_filter(unsigned number, int sys_errno)
{
    const pid_t child = fork();
    int status = 0;

    cr_assert(child >= 0);
    if (child == 0) {
        _exit(under_filter(number, sys_errno));
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == CHILD_CANNOT) {
        fprintf(stderr, "left out: no filters here\n");
        return;
    }
    cr_expect_eq(WEXITSTATUS(status), CHILD_GOOD, "call %u, errno %d: bits 0x%x", number, sys_errno,
                 (unsigned)WEXITSTATUS(status));
}

Test(io_uring, F19_posix_takes_over_when_the_ring_is_refused)
{
    check_filter(__NR_io_uring_setup, EPERM);
    check_filter(__NR_io_uring_setup, ENOSYS);
    check_filter(__NR_io_uring_setup, ENOMEM);
}

Test(io_uring, F19_posix_takes_over_when_the_ring_can_be_made_but_not_used)
{
    if (!is_refused()) {
        check_filter(__NR_io_uring_enter, EPERM);
        check_filter(__NR_io_uring_register, EPERM);
    }
}

/* ---- registered buffers ---- */

/* The limit counts what all processes of the user have locked, rings included: where another test
 * has a ring just now, the kernel may have nothing left for one more. */
static sinter_status
create_in_little_memory(sinter_io **out)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_E_UNSUPPORTED;

    for (int tries = 0; tries < 1000 && st == SINTER_E_UNSUPPORTED; tries++) {
        err = (sinter_error)SINTER_ERROR_INIT;
        st = sinter_io_create(sinter_env_default(), SINTER_IO_URING, NULL, out, &err);
        if (st == SINTER_E_UNSUPPORTED && err.sys_errno != ENOMEM) {
            break;
        }
        if (st != SINTER_OK) {
            (void)nanosleep(&pause, NULL);
        }
    }
    return st;
}

static int
with_little_memory(void)
{
    const struct rlimit little = {.rlim_cur = 65536, .rlim_max = 65536};
    sinter_io_counters counters = {.struct_size = (uint32_t)sizeof counters};
    sinter_io *io = NULL;
    int wrong = 0;

    if (setrlimit(RLIMIT_MEMLOCK, &little) != 0) {
        return CHILD_CANNOT;
    }
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) {
        return CHILD_CANNOT;
    }
    if (create_in_little_memory(&io) != SINTER_OK) {
        return 1;
    }
    sinter_io_counters_get(io, &counters);
    wrong |= counters.registered_buffers == 0 ? 0 : 2;
    wrong |= bytes_sum(io) == bytes_sum(sinter_io_posix()) && bytes_sum(io) != 0 ? 0 : 4;
    wrong |= strcmp(sinter_io_name(io), "io_uring") == 0 ? 0 : 8;
    sinter_io_destroy(io);
    return wrong;
}

Test(io_uring, an_ordinary_user_with_little_locked_memory_gets_plain_buffers)
{
    const pid_t child = is_refused() ? -1 : fork();
    int status = 0;

    if (child < 0) {
        return;
    }
    if (child == 0) {
        _exit(with_little_memory());
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == CHILD_CANNOT) {
        fprintf(stderr, "left out: the limit or the user can't be changed\n");
        return;
    }
    cr_expect_eq(WEXITSTATUS(status), CHILD_GOOD, "bits 0x%x", (unsigned)WEXITSTATUS(status));
}

Test(io_uring, buffers_are_registered_where_the_limit_allows)
{
    const sinter_io_options options = {
        .struct_size = (uint32_t)sizeof options, .buffer_count = 3, .buffer_bytes = 8192};
    sinter_io_counters counters = {.struct_size = (uint32_t)sizeof counters};
    sinter_io *io = NULL;

    if (is_refused()) {
        return;
    }
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_URING, &options, &io, NULL),
                 SINTER_OK);
    sinter_io_counters_get(io, &counters);
    cr_expect_eq(counters.registered_buffers, 3);
    sinter_io_destroy(io);
}

static bool
is_never_in_memory(int fd)
{
    (void)fd;
    return false;
}

static bool
is_always_in_memory(int fd)
{
    (void)fd;
    return true;
}

Test(io_uring, files_in_memory_bring_no_buffers)
{
    static bool (*const answers[])(int) = {is_always_in_memory, is_never_in_memory};

    for (size_t i = 0; i < 2; i++) {
        sinter__posix_calls calls = sinter__posix_calls_system;
        const sinter__uring_setup setup = {
            .queue_depth = 8, .buffer_count = 3, .buffer_bytes = 8192, .calls = &calls};
        sinter_io_counters counters = {.struct_size = (uint32_t)sizeof counters};
        sinter_io *io = NULL;
        sinter_io_file *file = NULL;

        if (is_refused()) {
            return;
        }
        calls.is_in_memory = answers[i];
        cr_assert_eq(sinter__uring_create(sinter_env_default(), &setup, &io, NULL), SINTER_OK);
        sinter_io_counters_get(io, &counters);
        cr_expect_eq(counters.registered_buffers, 0, "nothing is open");
        cr_assert_eq(io->ops->create(io, ".", 0, &file, NULL), SINTER_OK);
        sinter_io_counters_get(io, &counters);
        cr_expect_eq(counters.registered_buffers, i == 0 ? 0 : 3);
        file->ops->close(file);
        sinter_io_destroy(io);
    }
}

Test(io_uring, a_budget_that_holds_no_buffers_is_no_failure)
{
    sinter_memory *memory = NULL;
    sinter_io_counters counters = {.struct_size = (uint32_t)sizeof counters};
    sinter_io *io = NULL;
    sinter_env env;

    if (is_refused()) {
        return;
    }
    sinter_env_init(&env);
    cr_assert_eq(sinter_memory_create(&env, 1 << 20, &memory, NULL), SINTER_OK);
    env.memory = memory;
    cr_assert_eq(sinter_io_create(&env, SINTER_IO_URING, NULL, &io, NULL), SINTER_OK);
    sinter_io_counters_get(io, &counters);
    cr_expect_eq(counters.registered_buffers, 0, "16 of 256 KiB don't fit in 1 MiB");
    cr_expect_neq(bytes_sum(io), 0);
    sinter_io_destroy(io);
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
}

/* ---- F20: what the kernel answers ---- */

typedef struct answers {
    uint64_t submit_refusals; /* so many submissions are refused with `submit_errno` first */
    int submit_errno;
    int first_result; /* what the first completions say instead, 0: nothing */
    uint64_t first_count;
    bool only_writes;
    bool only_direct;
    uint64_t submissions;
    uint64_t completions;
} answers;

static int
on_submit(void *ctx)
{
    answers *plan = ctx;

    plan->submissions++;
    if (plan->submit_refusals > 0) {
        plan->submit_refusals -= plan->submit_refusals == UINT64_MAX ? 0 : 1;
        return plan->submit_errno;
    }
    return 0;
}

static int
on_complete(void *ctx, const sinter__ring_request *request, int result)
{
    answers *plan = ctx;

    plan->completions++;
    if (plan->first_count > 0 && (request->is_write || !plan->only_writes) &&
        (request->is_whole_only || !plan->only_direct)) {
        plan->first_count--;
        return plan->first_result;
    }
    return result;
}

static answers plan;
static const sinter__ring_hooks hooks = {
    .ctx = &plan, .submit = on_submit, .complete = on_complete};

static sinter_status
make_hooked(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    const sinter__uring_setup setup = {.queue_depth = 4,
                                       .buffer_count = 4,
                                       .buffer_bytes = 16384,
                                       .is_ring_only = true,
                                       .calls = &sinter__posix_calls_system,
                                       .hooks = &hooks};

    return sinter__uring_create(env, &setup, out, err);
}

static const backend hooked = {.name = "io_uring, hooked", .make = make_hooked, .is_uring = true};

static sinter_status
read_many(bench_io *bench, size_t count, sinter_error *err)
{
    const sinter_io_ops *ops = bench->io->ops;
    uint8_t *data = calloc(count, 10);
    sinter_io_ticket *tickets = calloc(count, sizeof *tickets);
    sinter_io_file *file = NULL;
    sinter_status st = SINTER_OK;

    cr_assert_eq(ops->open(bench->io, path_in(bench, "a"), 0, &file, NULL), SINTER_OK);
    for (size_t i = 0; i < count; i++) {
        const sinter_io_range range = {.offset = i * 10, .data = data + i * 10, .size = 10};

        cr_assert_eq(ops->read_begin(file, &range, &tickets[i], NULL), SINTER_OK);
    }
    for (size_t i = count; i-- > 0;) {
        const sinter_status one = ops->read_end(file, &tickets[i], st == SINTER_OK ? err : NULL);

        st = st == SINTER_OK ? one : st;
    }
    cr_expect(st != SINTER_OK || pattern_holds(7, 0, data, count * 10));
    ops->close(file);
    free(tickets);
    free(data);
    return st;
}

Test(io_uring, F20_each_of_a_thousand_requests_completes_exactly_once)
{
    static const int errnos[] = {EBUSY, EAGAIN, EINTR, ENOMEM};
    bench_io bench;

    if (is_refused()) {
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    put_file(&bench, "a", 7, 10000);
    for (size_t i = 0; i < 4; i++) {
        plan = (answers){.submit_refusals = 500, .submit_errno = errnos[i]};
        cr_expect_eq(read_many(&bench, 1000, NULL), SINTER_OK, "errno %d", errnos[i]);
        cr_expect_eq(plan.completions, 1000, "errno %d: %llu", errnos[i],
                     (unsigned long long)plan.completions);
    }
    bench_io_fini(&bench);
}

Test(io_uring, F20_requests_that_are_put_off_are_made_again)
{
    static const int errnos[] = {EINTR, EAGAIN, ECANCELED};
    bench_io bench;

    if (is_refused()) {
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    put_file(&bench, "a", 7, 10000);
    for (size_t i = 0; i < 3; i++) {
        plan = (answers){.first_result = -errnos[i], .first_count = 700};
        cr_expect_eq(read_many(&bench, 1000, NULL), SINTER_OK, "errno %d", errnos[i]);
        cr_expect_eq(plan.completions, 1700, "each retry is one more");
    }
    bench_io_fini(&bench);
}

Test(io_uring, a_kernel_that_takes_nothing_is_a_failure_not_a_hang)
{
    sinter_error err = SINTER_ERROR_INIT;
    bench_io bench;

    if (is_refused()) {
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    put_file(&bench, "a", 7, 10000);
    plan = (answers){.submit_refusals = UINT64_MAX, .submit_errno = EBUSY};
    cr_expect_eq(read_many(&bench, 50, &err), SINTER_E_IO);
    cr_expect_eq(err.sys_errno, EBUSY);
    cr_expect(strstr(err.file, "/a") != NULL);
    bench_io_fini(&bench);
}

Test(io_uring, a_read_that_is_put_off_for_ever_fails_in_the_end)
{
    sinter_error err = SINTER_ERROR_INIT;
    bench_io bench;

    if (is_refused()) {
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    put_file(&bench, "a", 7, 100);
    plan = (answers){.first_result = -EAGAIN, .first_count = UINT64_MAX};
    cr_expect_eq(read_many(&bench, 2, &err), SINTER_E_IO);
    cr_expect_eq(err.sys_errno, EAGAIN);
    bench_io_fini(&bench);
}

Test(io_uring, failures_of_the_device_come_out_with_file_and_offset)
{
    sinter_error err = SINTER_ERROR_INIT;
    bench_io bench;

    if (is_refused()) {
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    put_file(&bench, "a", 7, 1000);
    plan = (answers){.first_result = -EIO, .first_count = 1};
    cr_expect_eq(read_many(&bench, 5, &err), SINTER_E_IO);
    cr_expect_eq(err.sys_errno, EIO);
    cr_expect(strstr(err.file, "/a") != NULL && err.offset >= 0 && err.offset < 50);
    bench_io_fini(&bench);
}

/* A write that the kernel has taken fails later: append or sync tells, and the file stays failed.
 */
static void
late_failure(bench_io *bench, int result, sinter_status wanted, int sys_errno)
{
    const sinter_io_ops *ops = bench->io->ops;
    uint8_t data[50000];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    sinter_status st = SINTER_OK;

    pattern_fill(1, 0, data, sizeof data);
    cr_assert_eq(ops->create(bench->io, bench->dir, 0, &file, NULL), SINTER_OK);
    plan = (answers){.first_result = result, .first_count = 1, .only_writes = true};
    for (int i = 0; i < 2 && st == SINTER_OK; i++) {
        st = ops->append(file, data, sizeof data, &err);
    }
    st = st == SINTER_OK ? ops->sync(file, &err) : st;
    cr_expect_eq(st, wanted, "%d", st);
    cr_expect_eq(err.sys_errno, sys_errno);
    cr_expect_eq(err.offset, 0, "the first slot: %lld", (long long)err.offset);
    cr_expect_eq(ops->sync(file, &err), wanted, "it stays");
    cr_expect_eq(ops->publish(file, path_in(bench, "x"), &err), wanted);
    ops->close(file);
    cr_expect_eq(name_count(bench), 0);
}

Test(io_uring, a_write_that_fails_later_is_told_and_never_forgotten)
{
    bench_io bench;

    if (is_refused()) {
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    late_failure(&bench, -ENOSPC, SINTER_E_NO_SPACE, ENOSPC);
    late_failure(&bench, -EIO, SINTER_E_IO, EIO);
    late_failure(&bench, 0, SINTER_E_IO, EIO); /* F18: no progress */
    bench_io_fini(&bench);
}

Test(io_uring, direct_io_that_is_refused_in_use_goes_through_the_page_cache)
{
    const sinter_io_ops *ops = NULL;
    uint8_t *data = malloc(100000);
    const sinter_io_range range = {.data = data, .size = 100000};
    sinter_io_file *file = NULL;
    bench_io bench;

    if (is_refused()) {
        free(data);
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    ops = bench.io->ops;
    pattern_fill(6, 0, data, 100000);
    cr_assert_eq(ops->create(bench.io, bench.dir, SINTER_IO_DIRECT, &file, NULL), SINTER_OK);
    plan = (answers){.first_result = -EINVAL, .first_count = 4, .only_direct = true};
    for (size_t i = 0; i < 10; i++) {
        cr_assert_eq(ops->append(file, data + i * 10000, 10000, NULL), SINTER_OK);
    }
    cr_assert_eq(ops->sync(file, NULL), SINTER_OK);
    cr_assert_eq(ops->publish(file, path_in(&bench, "a"), NULL), SINTER_OK);
    ops->close(file);
    cr_assert_eq(ops->open(bench.io, path_in(&bench, "a"), SINTER_IO_DIRECT, &file, NULL),
                 SINTER_OK);
    memset(data, 0, 100000);
    plan = (answers){.first_result = -EINVAL, .first_count = 4, .only_direct = true};
    cr_assert_eq(ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_expect(pattern_holds(6, 0, data, 100000));
    ops->close(file);
    bench_io_fini(&bench);
    free(data);
}

/* ---- threads that come and go ---- */

typedef struct begun {
    bench_io *bench;
    sinter_io_file *file;
    sinter_io_ticket tickets[64];
    uint8_t *data;
    size_t piece;
} begun;

static void *
begin_and_end_thread(void *arg)
{
    begun *job = arg;

    for (size_t i = 0; i < 64; i++) {
        const sinter_io_range range = {
            .offset = i * job->piece, .data = job->data + i * job->piece, .size = job->piece};

        cr_assert_eq(job->file->ops->read_begin(job->file, &range, &job->tickets[i], NULL),
                     SINTER_OK);
    }
    return NULL;
}

Test(io_uring, reads_survive_the_thread_that_began_them)
{
    begun job = {.piece = 65536};
    bench_io bench;
    pthread_t thread;

    if (is_refused()) {
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    put_file(&bench, "a", 7, 64 * job.piece);
    job.bench = &bench;
    job.data = aligned_alloc(4096, 64 * job.piece);
    cr_assert_eq(
        bench.io->ops->open(bench.io, path_in(&bench, "a"), SINTER_IO_DIRECT, &job.file, NULL),
        SINTER_OK);
    cr_assert_eq(pthread_create(&thread, NULL, begin_and_end_thread, &job), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    for (size_t i = 0; i < 64; i++) {
        sinter_error err = SINTER_ERROR_INIT;

        cr_assert_eq(job.file->ops->read_end(job.file, &job.tickets[i], &err), SINTER_OK, "%s",
                     err.text);
    }
    cr_expect(pattern_holds(7, 0, job.data, 64 * job.piece));
    job.file->ops->close(job.file);
    free(job.data);
    bench_io_fini(&bench);
}

Test(io_uring, closing_waits_for_what_the_kernel_still_holds)
{
    uint8_t *data = malloc(64 * 4096);
    sinter_io_file *file = NULL;
    bench_io bench;

    if (is_refused()) {
        free(data);
        return;
    }
    plan = (answers){0};
    bench_io_init(&bench, &hooked, BARE);
    put_file(&bench, "a", 7, 64 * 4096);
    plan = (answers){0};
    cr_assert_eq(bench.io->ops->open(bench.io, path_in(&bench, "a"), 0, &file, NULL), SINTER_OK);
    for (size_t i = 0; i < 64; i++) {
        const sinter_io_range range = {.offset = i * 4096, .data = data + i * 4096, .size = 4096};
        sinter_io_ticket ticket;

        cr_assert_eq(file->ops->read_begin(file, &range, &ticket, NULL), SINTER_OK);
    }
    file->ops->close(file); /* a caller on its way out may have forgotten the tickets */
    cr_expect_eq(plan.completions, 64);
    free(data);
    bench_io_fini(&bench);
}
