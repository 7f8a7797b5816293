/*
 * The posix backend over a system that misbehaves, and what only it can be asked.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends.h"
#include "io/posix.h"
#ifdef SINTER_HAVE_URING
#include "io/uring.h"
#endif

TestSuite(io_posix, .timeout = 120);

/* ---- a system whose n-th call fails ---- */

typedef struct sabotage {
    _Atomic uint64_t calls;
    uint64_t at_call; /* UINT64_MAX: none */
    int sys_errno;
    bool for_ever; /* from `at_call` on */
    bool no_tmpfile;
    int zero_write; /* pwritev returns 0 */
} sabotage;

static sabotage plan;

static bool
fails(void)
{
    const uint64_t call = atomic_fetch_add(&plan.calls, 1);

    if (call == plan.at_call || (plan.for_ever && call > plan.at_call)) {
        errno = plan.sys_errno;
        return true;
    }
    return false;
}

static int
bad_open(const char *path, int flags, mode_t mode)
{
    if (fails()) {
        return -1;
    }
    if (plan.no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return open(path, flags, mode);
}

static int
bad_close(int fd)
{
    const int rc = close(fd); /* the descriptor is gone in any case, as on Linux */

    return fails() ? -1 : rc;
}

static ssize_t
bad_preadv(int fd, const struct iovec *parts, int count, off_t offset)
{
    return fails() ? -1 : preadv(fd, parts, count, offset);
}

static ssize_t
bad_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    if (plan.zero_write > 0) {
        plan.zero_write++;
        return 0;
    }
    return fails() ? -1 : pwritev(fd, parts, count, offset);
}

static int
bad_sync_data(int fd)
{
    return fails() ? -1 : fdatasync(fd);
}

static int
bad_sync_all(int fd)
{
    return fails() ? -1 : fsync(fd);
}

static int
bad_stat_file(int fd, struct stat *out)
{
    return fails() ? -1 : fstat(fd, out);
}

static int
bad_set_flags(int fd, int flags)
{
    return fails() ? -1 : fcntl(fd, F_SETFL, flags);
}

static int
bad_lock(int fd)
{
    return fails() ? -1 : flock(fd, LOCK_EX | LOCK_NB);
}

static int
bad_link(const char *source, const char *target, int flags)
{
    return fails() ? -1 : linkat(AT_FDCWD, source, AT_FDCWD, target, flags);
}

static int
bad_unlink(const char *path)
{
    return fails() ? -1 : remove(path);
}

static int
bad_rename(const char *source, const char *target)
{
    return fails() ? -1 : rename(source, target);
}

static int
bad_mkdir(const char *path, mode_t mode)
{
    return fails() ? -1 : mkdir(path, mode);
}

static int
bad_sync_range(int fd, off_t offset, off_t size, bool wait)
{
    return fails() ? -1 : sinter__posix_calls_system.sync_range(fd, offset, size, wait);
}

static bool
on_disk(int fd)
{
    (void)fd;
    return false;
}

static int
bad_free_bytes(const char *dir, uint64_t *out)
{
    return fails() ? -1 : sinter__posix_calls_system.free_bytes(dir, out);
}

static const sinter__posix_calls bad_calls = {
    .sync_range = bad_sync_range,
    .is_in_memory = on_disk,
    .open = bad_open,
    .close = bad_close,
    .preadv = bad_preadv,
    .pwritev = bad_pwritev,
    .sync_data = bad_sync_data,
    .sync_all = bad_sync_all,
    .stat_file = bad_stat_file,
    .set_flags = bad_set_flags,
    .lock = bad_lock,
    .link = bad_link,
    .unlink = bad_unlink,
    .rename = bad_rename,
    .mkdir = bad_mkdir,
    .free_bytes = bad_free_bytes,
};

static sinter_status
make_bad(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    return sinter__posix_create(env, &bad_calls, out, err);
}

static const backend bad = {.name = "posix, sabotaged", .make = make_bad};

#ifdef SINTER_HAVE_URING
static sinter_status
make_bad_uring(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    const sinter__uring_setup setup = {.queue_depth = 8,
                                       .buffer_count = 4,
                                       .buffer_bytes = 4096,
                                       .is_ring_only = true,
                                       .calls = &bad_calls};

    return sinter__uring_create(env, &setup, out, err);
}

static const backend bad_uring = {
    .name = "io_uring, sabotaged", .make = make_bad_uring, .is_uring = true};
#endif

static void
healthy(void)
{
    plan = (sabotage){.at_call = UINT64_MAX};
}

static void
fail_from(int sys_errno)
{
    plan.calls = 0;
    plan.at_call = 0;
    plan.sys_errno = sys_errno;
    plan.for_ever = true;
}

static sinter_io_file *
begin_file(bench_io *bench)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(bench->io->ops->create(bench->io, bench->dir, 0, &file, NULL), SINTER_OK);
    return file;
}

static sinter_io_file *
open_file(bench_io *bench, const char *name)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(bench->io->ops->open(bench->io, path_in(bench, name), 0, &file, NULL), SINTER_OK);
    return file;
}

/* ---- writing ---- */

Test(io_posix, small_appends_cost_no_system_call_each)
{
    sinter_io_counters counters = {.struct_size = (uint32_t)sizeof counters};
    bench_io bench;
    sinter_io_file *file = NULL;

    bench_io_init(&bench, &backends[0], BARE);
    file = begin_file(&bench);
    for (int i = 0; i < 300000; i++) {
        cr_assert_eq(file->ops->append(file, "0123456789", 10, NULL), SINTER_OK);
    }
    cr_assert_eq(file->ops->sync(file, NULL), SINTER_OK);
    sinter_io_counters_get(bench.io, &counters);
    cr_expect_eq(counters.writes, 3, "3 MB in chunks of 1 MiB: %llu writes",
                 (unsigned long long)counters.writes);
    file->ops->close(file);
    bench_io_fini(&bench);
}

Test(io_posix, a_large_append_is_one_system_call_with_what_waited)
{
    sinter_io_counters counters = {.struct_size = (uint32_t)sizeof counters};
    uint8_t *data = calloc(1, 8 << 20);
    bench_io bench;
    sinter_io_file *file = NULL;

    bench_io_init(&bench, &backends[0], BARE);
    file = begin_file(&bench);
    cr_assert_eq(file->ops->append(file, data, 100, NULL), SINTER_OK);
    cr_assert_eq(file->ops->append(file, data, 8 << 20, NULL), SINTER_OK);
    sinter_io_counters_get(bench.io, &counters);
    cr_expect_eq(counters.writes, 1);
    cr_expect_eq(counters.written_bytes, 8 << 20, "up to a whole block; 100 bytes wait");
    file->ops->close(file);
    bench_io_fini(&bench);
    free(data);
}

Test(io_posix, F18_a_write_without_progress_is_an_error_not_a_loop)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    bench_io bench;

    healthy();
    bench_io_init(&bench, &bad, BARE);
    file = begin_file(&bench);
    cr_assert_eq(file->ops->append(file, "abc", 3, NULL), SINTER_OK);
    plan.zero_write = 1;
    cr_expect_eq(file->ops->sync(file, &err), SINTER_E_IO);
    cr_expect_eq(plan.zero_write, 2, "asked once");
    cr_expect_eq(err.offset, 0);
    healthy();
    file->ops->close(file);
    bench_io_fini(&bench);
}

Test(io_posix, calls_that_are_interrupted_for_ever_fail_in_the_end)
{
    static const int moods[] = {EINTR, EAGAIN};
    bench_io bench;

    healthy();
    bench_io_init(&bench, &bad, BARE);
    put_file(&bench, "a", 1, 100);
    for (size_t i = 0; i < 2; i++) {
        uint8_t data[10];
        const sinter_io_range range = {.data = data, .size = 10};
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io_file *read = open_file(&bench, "a");
        sinter_io_file *written = begin_file(&bench);

        cr_assert_eq(written->ops->append(written, "abc", 3, NULL), SINTER_OK);
        fail_from(moods[i]);
        cr_expect_eq(read->ops->read(read, &range, 1, &err), SINTER_E_IO);
        cr_expect_eq(err.sys_errno, moods[i]);
        cr_expect_eq(written->ops->sync(written, &err), SINTER_E_IO);
        cr_expect_eq(err.sys_errno, moods[i]);
        healthy();
        written->ops->close(written);
        read->ops->close(read);
    }
    bench_io_fini(&bench);
}

Test(io_posix, each_errno_has_its_status_and_says_where)
{
    static const struct {
        int sys_errno;
        sinter_status status;
    } cases[] = {{ENOSPC, SINTER_E_NO_SPACE}, {EDQUOT, SINTER_E_NO_SPACE}, {EIO, SINTER_E_IO},
                 {EACCES, SINTER_E_IO},       {EROFS, SINTER_E_IO},        {EFBIG, SINTER_E_IO}};
    bench_io bench;

    healthy();
    bench_io_init(&bench, &bad, BARE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io_file *file = begin_file(&bench);

        cr_assert_eq(file->ops->append(file, "abc", 3, NULL), SINTER_OK);
        cr_assert_eq(file->ops->sync(file, NULL), SINTER_OK);
        cr_assert_eq(file->ops->append(file, "abc", 3, NULL), SINTER_OK);
        fail_from(cases[i].sys_errno);
        cr_expect_eq(file->ops->sync(file, &err), cases[i].status, "errno %d", cases[i].sys_errno);
        cr_expect_eq(err.sys_errno, cases[i].sys_errno);
        cr_expect_eq(err.offset, 3);
        cr_expect(strcmp(err.file, bench.dir) == 0, "a file without name: its directory");
        healthy();
        err = (sinter_error)SINTER_ERROR_INIT;
        cr_expect_eq(file->ops->append(file, "x", 1, &err), cases[i].status, "it stays");
        cr_expect_eq(file->ops->publish(file, path_in(&bench, "x"), &err), cases[i].status);
        cr_expect_eq(err.sys_errno, cases[i].sys_errno);
        file->ops->close(file);
    }
    cr_expect_eq(name_count(&bench), 0);
    bench_io_fini(&bench);
}

Test(io_posix, F15_a_full_disk_tells_what_was_needed_and_what_was_there)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    bench_io bench;

    healthy();
    bench_io_init(&bench, &bad, BARE);
    file = begin_file(&bench);
    cr_assert_eq(file->ops->append(file, "abcdefg", 7, NULL), SINTER_OK);
    fail_from(ENOSPC);
    cr_expect_eq(file->ops->sync(file, &err), SINTER_E_NO_SPACE);
    cr_expect(strstr(err.text, "7 bytes to write") != NULL && strstr(err.text, "free") != NULL,
              "%s", err.text);
    healthy();
    file->ops->close(file);
    bench_io_fini(&bench);
}

Test(io_posix, F15_on_a_small_file_system_the_partial_file_vanishes)
{
    static const uint32_t flags[] = {0, SINTER_IO_DIRECT};
    uint8_t *data = calloc(1, 1 << 20);
    bench_io bench;

    bench_io_init(&bench, &backends[0], BARE);
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", bench.dir, "tmpfs", 0, "size=2m") != 0) {
        fprintf(stderr, "left out: mounting is not allowed here\n");
        bench_io_fini(&bench);
        free(data);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io_file *file = NULL;
        sinter_status st = SINTER_OK;

        cr_assert_eq(bench.io->ops->create(bench.io, bench.dir, flags[i], &file, &err), SINTER_OK,
                     "%s", err.text);
        for (int n = 0; n < 4 && st == SINTER_OK; n++) {
            st = file->ops->append(file, data, 1 << 20, &err);
        }
        st = st == SINTER_OK ? file->ops->sync(file, &err) : st;
        cr_expect_eq(st, SINTER_E_NO_SPACE, "%d: %s", st, err.text);
        cr_expect_eq(err.sys_errno, ENOSPC);
        file->ops->close(file);
        cr_expect_eq(name_count(&bench), 0);
        put_file(&bench, "a", 1, 1 << 20); /* the space is there again */
        cr_assert_eq(bench.io->ops->unlink(bench.io, path_in(&bench, "a"), NULL), SINTER_OK);
    }
    cr_assert_eq(umount(bench.dir), 0);
    bench_io_fini(&bench);
    free(data);
}

Test(io_posix, a_file_whose_sync_failed_is_never_trusted_again)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    bench_io bench;

    healthy();
    bench_io_init(&bench, &bad, BARE);
    file = begin_file(&bench);
    fail_from(EIO);
    cr_expect_eq(file->ops->sync(file, &err), SINTER_E_IO);
    healthy(); /* the kernel forgets: the next fdatasync would succeed */
    cr_expect_eq(file->ops->sync(file, &err), SINTER_E_IO);
    cr_expect_eq(file->ops->publish(file, path_in(&bench, "a"), &err), SINTER_E_IO);
    file->ops->close(file);
    bench_io_fini(&bench);
}

/* ---- descriptors ---- */

Test(io_posix, every_descriptor_closes_on_exec)
{
    static const char *const names[] = {"posix", "posix, temporary names", "io_uring"};

    for (size_t i = 0; i < backend_count; i++) {
        sinter_io_file *files[3];
        bench_io bench;
        bool wanted = false;

        for (size_t n = 0; n < 3; n++) {
            wanted = wanted || strcmp(backends[i].name, names[n]) == 0;
        }
        if (!wanted || (backends[i].is_uring && sinter_io_probe_uring(NULL) != SINTER_OK)) {
            continue;
        }
        bench_io_init(&bench, &backends[i], BARE);
        put_file(&bench, "a", 1, 10);
        files[0] = open_file(&bench, "a");
        files[1] = begin_file(&bench);
        cr_assert_eq(bench.io->ops->lock(bench.io, path_in(&bench, "l"), &files[2], NULL),
                     SINTER_OK);
        for (size_t n = 0; n < 3; n++) {
            const int flags = fcntl(((sinter__posix_file *)files[n])->fd, F_GETFD);

            cr_expect(flags >= 0 && (flags & FD_CLOEXEC) != 0, "%s, %zu", backends[i].name, n);
        }
        for (int fd = 3; fd < 256; fd++) { /* the ring's own as well */
            char link[64];
            char target[256] = "";

            (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            if (readlink(link, target, sizeof target - 1) > 0 &&
                strstr(target, "io_uring") != NULL) {
                cr_expect((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
            }
        }
        for (size_t n = 0; n < 3; n++) {
            files[n]->ops->close(files[n]);
        }
        bench_io_fini(&bench);
    }
}

Test(io_posix, what_is_no_regular_file_is_refused_without_waiting)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    bench_io bench;

    bench_io_init(&bench, &backends[0], BARE);
    cr_assert_eq(mkfifo(path_in(&bench, "fifo"), 0600), 0);
    cr_expect_eq(bench.io->ops->open(bench.io, path_in(&bench, "fifo"), 0, &file, &err),
                 SINTER_E_IO);
    cr_expect(strstr(err.text, "regular") != NULL);
    bench_io_fini(&bench);
}

/* ---- temporary files ---- */

static const backend *
named_backend(void)
{
    for (size_t i = 0; i < backend_count; i++) {
        if (strcmp(backends[i].name, "posix, temporary names") == 0) {
            return &backends[i];
        }
    }
    cr_assert(false, "no such backend");
    return NULL;
}

/* A process that holds an unpublished file until it is killed. */
static pid_t
hold_in_child(bench_io *bench)
{
    int ready[2];
    char byte = 0;
    pid_t child = 0;

    cr_assert_eq(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        (void)begin_file(bench);
        (void)!write(ready[1], "x", 1);
        for (;;) {
            (void)pause();
        }
    }
    cr_assert(child > 0);
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return child;
}

Test(io_posix, cleaning_takes_what_the_dead_left_and_nothing_of_the_living)
{
    bench_io bench;
    uint64_t removed = 0;
    pid_t child = 0;
    int status = 0;

    bench_io_init(&bench, named_backend(), BARE);
    put_file(&bench, ".keep.sinter-tmp", 1, 1);
    put_file(&bench, ".0123456789012345678901234567890123456.sinter-tmp", 1, 1);
    child = hold_in_child(&bench);
    cr_expect_eq(name_count(&bench), 3);
    cr_assert_eq(bench.io->ops->clean(bench.io, bench.dir, &removed, NULL), SINTER_OK);
    cr_expect_eq(removed, 0, "its process lives");
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(name_count(&bench), 3, "the dead leave it behind");
    cr_assert_eq(bench.io->ops->clean(bench.io, bench.dir, &removed, NULL), SINTER_OK);
    cr_expect_eq(removed, 1);
    cr_expect_eq(name_count(&bench), 2, "names that only look alike stay");
    bench_io_fini(&bench);
}

Test(io_posix, nameless_files_leave_nothing_when_their_process_is_killed)
{
    bench_io bench;
    pid_t child = 0;

    bench_io_init(&bench, &backends[0], BARE);
    child = hold_in_child(&bench);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_eq(name_count(&bench), 0);
    bench_io_fini(&bench);
}

typedef struct cleaner_job {
    bench_io *bench;
    _Atomic bool is_over;
} cleaner_job;

static void *
clean_on_and_on(void *arg)
{
    cleaner_job *job = arg;

    while (!job->is_over) {
        (void)job->bench->io->ops->clean(job->bench->io, job->bench->dir, NULL, NULL);
    }
    return NULL;
}

Test(io_posix, cleaning_beside_writers_costs_them_nothing)
{
    enum { FILES = 300 };
    bench_io bench;
    cleaner_job job = {.bench = &bench};
    pthread_t thread;

    bench_io_init(&bench, named_backend(), BARE);
    cr_assert_eq(pthread_create(&thread, NULL, clean_on_and_on, &job), 0);
    for (int i = 0; i < FILES; i++) {
        sinter_io_file *file = begin_file(&bench);
        char name[16];

        (void)snprintf(name, sizeof name, "f%d", i);
        cr_assert_eq(file->ops->append(file, "abc", 3, NULL), SINTER_OK);
        cr_assert_eq(file->ops->publish(file, path_in(&bench, name), NULL), SINTER_OK);
        file->ops->close(file);
    }
    job.is_over = true;
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_expect_eq(name_count(&bench), FILES);
    bench_io_fini(&bench);
}

Test(io_posix, a_seed_that_meets_its_own_leftovers_takes_the_next_name)
{
    sinter_io_file *files[2];
    bench_io bench[2];

    for (size_t i = 0; i < 2; i++) {
        bench_io_init(&bench[i], named_backend(), BARE);
        bench[i].env.random_seed = 42;
    }
    for (size_t i = 0; i < 2; i++) { /* two processes with one seed in one directory */
        cr_assert_eq(bench[i].io->ops->create(bench[i].io, bench[0].dir, 0, &files[i], NULL),
                     SINTER_OK);
    }
    cr_expect_eq(name_count(&bench[0]), 2);
    for (size_t i = 0; i < 2; i++) {
        files[i]->ops->close(files[i]);
    }
    bench_io_fini(&bench[1]);
    bench_io_fini(&bench[0]);
}

/* ---- the n-th system call fails ---- */

/* A file made, read and removed, a catalog replaced. */
static sinter_status
run_once(bench_io *bench, bool *is_published)
{
    const sinter_io_ops *ops = bench->io->ops;
    uint8_t data[6000];
    const sinter_io_range range = {.offset = 1000, .data = data, .size = 5000};
    sinter_io_file *file = NULL;
    sinter_io_file *lock = NULL;
    sinter_status st = SINTER_OK;
    char dir[80];

    (void)snprintf(dir, sizeof dir, "%s/sub", bench->dir);
    pattern_fill(4, 0, data, sizeof data);
    *is_published = false;
    st = ops->lock(bench->io, path_in(bench, "LOCK"), &lock, NULL);
    st = st != SINTER_OK ? st : ops->mkdir(bench->io, dir, NULL);
    st = st != SINTER_OK ? st : ops->create(bench->io, bench->dir, 0, &file, NULL);
    st = st != SINTER_OK ? st : ops->append(file, data, sizeof data, NULL);
    st = st != SINTER_OK ? st : ops->sync(file, NULL);
    st = st != SINTER_OK ? st : ops->publish(file, path_in(bench, "made"), NULL);
    *is_published = st == SINTER_OK;
    st = st != SINTER_OK ? st : ops->sync_dir(bench->io, bench->dir, NULL);
    if (file != NULL) {
        ops->close(file);
        file = NULL;
    }
    st = st != SINTER_OK ? st : ops->open(bench->io, path_in(bench, "made"), 0, &file, NULL);
    if (st == SINTER_OK) {
        memset(data, 0, sizeof data);
        st = ops->read(file, &range, 1, NULL);
        cr_expect(st != SINTER_OK || pattern_holds(4, 1000, data, 5000));
    }
    if (file != NULL) {
        ops->close(file);
    }
    st = st != SINTER_OK ? st : ops->replace(bench->io, path_in(bench, "C"), "new", 3, NULL);
    if (lock != NULL) {
        ops->close(lock);
    }
    return st;
}

static void
check_after(bench_io *bench, uint64_t n, bool is_published)
{
    const sinter_io_ops *ops = bench->io->ops;
    static const char *const names[] = {"made", "C", "LOCK", "sub"};
    uint8_t data[6000];
    sinter_io_range range = {.data = data, .size = sizeof data};
    sinter_io_stat about;
    sinter_io_file *file = NULL;

    cr_assert_eq(ops->clean(bench->io, bench->dir, NULL, NULL), SINTER_OK);
    if (is_published) {
        file = open_file(bench, "made");
        cr_assert_eq(ops->read(file, &range, 1, NULL), SINTER_OK, "call %llu",
                     (unsigned long long)n);
        cr_assert(pattern_holds(4, 0, data, sizeof data), "call %llu", (unsigned long long)n);
        ops->close(file);
    }
    range.size = 3;
    file = open_file(bench, "C");
    cr_assert_eq(ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_assert(memcmp(data, "old", 3) == 0 || memcmp(data, "new", 3) == 0, "call %llu",
              (unsigned long long)n);
    ops->close(file);
    for (size_t i = 0; i < 4; i++) {
        if (ops->stat(bench->io, path_in(bench, names[i]), &about, NULL) == SINTER_OK) {
            cr_assert_eq(ops->unlink(bench->io, path_in(bench, names[i]), NULL), SINTER_OK);
        }
    }
    cr_assert_eq(name_count(bench), 0, "call %llu left something", (unsigned long long)n);
}

static uint64_t
sweep(const backend *kind, bool no_tmpfile, int sys_errno)
{
    sinter_status st = SINTER_E_IO;
    bench_io bench;
    uint64_t n = 0;
    size_t before = 0;

    healthy();
    bench_io_init(&bench, kind, BARE);
    before = descriptor_count();
    for (n = 0; n < 200; n++) {
        bool is_published = false;

        healthy();
        cr_assert_eq(bench.io->ops->replace(bench.io, path_in(&bench, "C"), "old", 3, NULL),
                     SINTER_OK);
        plan = (sabotage){.at_call = n, .sys_errno = sys_errno, .no_tmpfile = no_tmpfile};
        st = run_once(&bench, &is_published);
        const bool was_reached = plan.calls > n;

        healthy();
        check_after(&bench, n, is_published);
        cr_assert_eq(descriptor_count(), before, "call %llu", (unsigned long long)n);
        if (!was_reached) {
            break;
        }
    }
    cr_assert_eq(st, SINTER_OK, "the last run ends untouched");
    bench_io_fini(&bench);
    return n;
}

Test(io_posix, every_system_call_may_fail)
{
    static const int errnos[] = {EIO, ENOSPC, EACCES, EINTR};
    uint64_t points = 0;

    for (size_t i = 0; i < sizeof errnos / sizeof errnos[0]; i++) {
        points += sweep(&bad, false, errnos[i]);
        points += sweep(&bad, true, errnos[i]);
    }
    fprintf(stderr, "%llu points\n", (unsigned long long)points);
    cr_expect(points >= 8 * 25, "%llu points", (unsigned long long)points);
}

#ifdef SINTER_HAVE_URING
Test(io_posix, every_system_call_beneath_io_uring_may_fail)
{
    uint64_t points = 0;

    if (sinter_io_probe_uring(NULL) != SINTER_OK) {
        fprintf(stderr, "left out: io_uring is refused\n");
        return;
    }
    points += sweep(&bad_uring, false, EIO);
    points += sweep(&bad_uring, true, ENOSPC);
    cr_expect(points >= 2 * 20, "%llu points", (unsigned long long)points);
}
#endif
