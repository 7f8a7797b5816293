#include "backends.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io_base.h"
#include "io/posix.h"
#ifdef SINTER_HAVE_URING
#include "io/uring.h"
#endif

/* ---- systems in a bad mood ---- */

/* O_TMPFILE is refused: files have temporary names. */
static int
open_named(const char *path, int flags, mode_t mode)
{
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return open(path, flags, mode);
}

static _Atomic uint64_t moods = 1;

/* Mixed, as those who ask take turns: each would get the same again and again. */
static uint64_t
next_mood(void)
{
    return atomic_fetch_add(&moods, 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* A third of the calls is interrupted or put off. */
static bool
is_moody(void)
{
    const uint64_t n = next_mood();

    if (n % 3 != 0) {
        return false;
    }
    errno = n % 2 == 0 ? EINTR : EAGAIN;
    return true;
}

static size_t
some_of(size_t size)
{
    const uint64_t n = next_mood();

    /* Mostly a few kilobytes, often a single byte. */
    return n % 2 == 0 || size < 2 ? (size > 0 ? 1 : 0) : 1 + (size_t)(n * 7919 % (size / 2 + 1));
}

static ssize_t
preadv_little(int fd, const struct iovec *parts, int count, off_t offset)
{
    (void)count;
    return is_moody() ? -1 : pread(fd, parts[0].iov_base, some_of(parts[0].iov_len), offset);
}

static ssize_t
pwritev_little(int fd, const struct iovec *parts, int count, off_t offset)
{
    (void)count;
    return is_moody() ? -1 : pwrite(fd, parts[0].iov_base, some_of(parts[0].iov_len), offset);
}

static int
sync_moody(int fd)
{
    return is_moody() ? -1 : fdatasync(fd);
}

static sinter__posix_calls named_calls;
static sinter__posix_calls moody_calls;
static pthread_once_t calls_once = PTHREAD_ONCE_INIT;

static void
make_calls(void)
{
    named_calls = sinter__posix_calls_system;
    named_calls.open = open_named;
    moody_calls = sinter__posix_calls_system;
    moody_calls.preadv = preadv_little;
    moody_calls.pwritev = pwritev_little;
    moody_calls.sync_data = sync_moody;
    moody_calls.sync_all = sync_moody;
}

/* ---- makers ---- */

static sinter_status
make_posix(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    return sinter_io_create(env, SINTER_IO_POSIX, NULL, out, err);
}

static sinter_status
make_posix_named(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    (void)pthread_once(&calls_once, make_calls);
    return sinter__posix_create(env, &named_calls, out, err);
}

static sinter_status
make_posix_moody(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    (void)pthread_once(&calls_once, make_calls);
    return sinter__posix_create(env, &moody_calls, out, err);
}

static sinter_status
make_memory(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    return sinter_io_create(env, SINTER_IO_MEMORY, NULL, out, err);
}

#ifdef SINTER_HAVE_URING
static sinter_status
make_uring(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    return sinter_io_create(env, SINTER_IO_URING, NULL, out, err);
}

/* Four entries, one registered buffer of one page: everything is full all the time. */
static sinter_status
make_uring_tiny(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    const sinter_io_options options = {.struct_size = (uint32_t)sizeof options,
                                       .queue_depth = 4,
                                       .buffer_count = 1,
                                       .buffer_bytes = 4096};

    return sinter_io_create(env, SINTER_IO_URING, &options, out, err);
}

static bool
always(int fd)
{
    (void)fd;
    return true;
}

/* All files are said to lie in memory: plain calls instead of the ring. */
static sinter_status
make_uring_plain(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    static sinter__posix_calls calls;
    const sinter__uring_setup setup = {
        .queue_depth = 4, .buffer_count = 2, .buffer_bytes = 8192, .calls = &calls};

    calls = sinter__posix_calls_system;
    calls.is_in_memory = always;
    return sinter__uring_create(env, &setup, out, err);
}

static int
submit_moody(void *ctx)
{
    const uint64_t n = next_mood();

    (void)ctx;
    return n % 4 == 0 ? EBUSY : n % 4 == 1 ? EAGAIN : 0;
}

static int
complete_moody(void *ctx, const sinter__ring_request *request, int result)
{
    (void)ctx;
    (void)request;
    if (is_moody()) {
        return errno == EINTR ? -EINTR : -EAGAIN;
    }
    return result > 0 ? (int)some_of((size_t)result) : result;
}

static const sinter__ring_hooks moody_hooks = {.submit = submit_moody, .complete = complete_moody};

static sinter_status
make_uring_moody(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    sinter__uring_setup setup = {.queue_depth = 4,
                                 .buffer_count = 2,
                                 .buffer_bytes = 8192,
                                 .is_ring_only = true,
                                 .calls = &moody_calls,
                                 .hooks = &moody_hooks};

    (void)pthread_once(&calls_once, make_calls);
    return sinter__uring_create(env, &setup, out, err);
}
#endif

const backend backends[] = {
    {.name = "posix", .make = make_posix},
    {.name = "posix, direct", .make = make_posix, .flags = SINTER_IO_DIRECT},
    {.name = "posix, sequential", .make = make_posix, .flags = SINTER_IO_SEQUENTIAL},
    {.name = "posix, temporary names", .make = make_posix_named},
    {.name = "posix, little at a time", .make = make_posix_moody},
    {.name = "posix, direct, little at a time",
     .make = make_posix_moody,
     .flags = SINTER_IO_DIRECT},
    {.name = "memory", .make = make_memory, .is_memory = true},
#ifdef SINTER_HAVE_URING
    {.name = "io_uring", .make = make_uring, .is_uring = true},
    {.name = "io_uring, files in memory",
     .make = make_uring_plain,
     .is_uring = true,
     .is_ringless = true},
    {.name = "io_uring, direct", .make = make_uring, .is_uring = true, .flags = SINTER_IO_DIRECT},
    {.name = "io_uring, tiny", .make = make_uring_tiny, .is_uring = true},
    {.name = "io_uring, tiny, direct",
     .make = make_uring_tiny,
     .is_uring = true,
     .flags = SINTER_IO_DIRECT},
    {.name = "io_uring, little at a time", .make = make_uring_moody, .is_uring = true},
    {.name = "io_uring, direct, little at a time",
     .make = make_uring_moody,
     .is_uring = true,
     .flags = SINTER_IO_DIRECT},
#endif
};
const size_t backend_count = sizeof backends / sizeof backends[0];

/* ---- a backend at work ---- */

static _Atomic int64_t quick_now_ns = 1;

static int64_t
quick_now(void *ctx)
{
    (void)ctx;
    return atomic_load(&quick_now_ns);
}

static void
quick_sleep(void *ctx, int64_t ns)
{
    (void)ctx;
    (void)atomic_fetch_add(&quick_now_ns, ns);
}

static void
wrap(bench_io *bench)
{
    const sinter_io_limit_options limit = {.struct_size = (uint32_t)sizeof limit,
                                           .mode = SINTER_IO_LIMIT_ALL,
                                           .bytes_per_second = 200000};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    bench->base = bench->io;
    bench->env.clock.monotonic_ns = quick_now;
    bench->env.clock.sleep_ns = quick_sleep;
    switch (bench->wrapped) {
    case IN_FAULT:
        st = sinter_io_fault_create(&bench->env, bench->base, NULL, &bench->io, &err);
        break;
    case IN_LIMIT:
        st = sinter_io_limit_create(&bench->env, bench->base, &limit, &bench->io, &err);
        break;
    default:
        st = sinter_io_watch_create(&bench->env, bench->base, NULL, &bench->io, &err);
    }
    cr_assert_eq(st, SINTER_OK, "%s", err.text);
}

void
bench_io_init(bench_io *bench, const backend *kind, wrapping wrapped)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *made = NULL;

    memset(bench, 0, sizeof *bench);
    bench->kind = kind;
    sinter_env_init(&bench->env);
    cr_assert_eq(kind->make(&bench->env, &made, &err), SINTER_OK, "%s: %s", kind->name, err.text);
    bench->io = made;
    bench->wrapped = wrapped;
    if (wrapped != BARE) {
        wrap(bench);
    }
    if (kind->is_memory) {
        (void)strcpy(bench->dir, "/box");
        cr_assert_eq(made->ops->mkdir(made, bench->dir, &err), SINTER_OK, "%s", err.text);
    } else {
        (void)strcpy(bench->dir, "/tmp/sinter-test-XXXXXX");
        cr_assert(mkdtemp(bench->dir) != NULL, "no temporary directory: errno %d", errno);
    }
}

typedef struct emptier {
    bench_io *bench;
    size_t count;
    bool removes;
} emptier;

static sinter_status
empty_one(void *ctx, const char *name)
{
    emptier *job = ctx;
    char path[512];

    job->count++;
    if (job->removes) {
        (void)snprintf(path, sizeof path, "%s/%s", job->bench->dir, name);
        return job->bench->io->ops->unlink(job->bench->io, path, NULL);
    }
    return SINTER_OK;
}

void
bench_io_fini(bench_io *bench)
{
    emptier job = {.bench = bench, .removes = true};
    sinter_io *io = bench->io;

    if (bench->wrapped == IN_FAULT) {
        sinter_io_fault_set(io, NULL);
    }
    cr_expect_eq(io->ops->list(io, bench->dir, empty_one, &job, NULL), SINTER_OK);
    cr_expect_eq(io->ops->unlink(io, bench->dir, NULL), SINTER_OK, "%s: %s isn't empty",
                 bench->kind->name, bench->dir);
    sinter_io_destroy(bench->io);
    sinter_io_destroy(bench->base);
}

const char *
path_in(bench_io *bench, const char *name)
{
    (void)snprintf(bench->path, sizeof bench->path, "%s/%s", bench->dir, name);
    return bench->path;
}

size_t
name_count(bench_io *bench)
{
    emptier job = {.bench = bench};

    cr_assert_eq(bench->io->ops->list(bench->io, bench->dir, empty_one, &job, NULL), SINTER_OK);
    return job.count;
}

void
over_all_backends(void (*body)(bench_io *bench))
{
    sinter_error err = SINTER_ERROR_INIT;
    const bool has_uring = sinter_io_probe_uring(&err) == SINTER_OK;

    for (size_t i = 0; i < backend_count * WRAPPINGS; i++) {
        const backend *kind = &backends[i / WRAPPINGS];
        bench_io bench;

        if (i % WRAPPINGS == IN_WATCH && !kind->is_memory) {
            continue; /* it passes everything on: one backend shows it */
        }
        if (kind->is_uring && !has_uring) {
            fprintf(stderr, "left out: %s (%s)\n", kind->name, err.text);
            continue;
        }
        bench_io_init(&bench, kind, (wrapping)(i % WRAPPINGS));
        body(&bench);
        bench_io_fini(&bench);
    }
}

/* ---- bytes ---- */

uint64_t
random_next(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9e3779b97f4a7c15));

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Byte `offset` is this modulo 256; with the offset's last eight bits it grows by 7. */
static uint64_t
pattern_at(uint64_t seed, uint64_t offset)
{
    return seed * 31 + offset * 7 + (offset >> 8) * 13 + (offset >> 16) * 17;
}

static uint8_t sevens[512];
static pthread_once_t sevens_once = PTHREAD_ONCE_INIT;

static void
make_sevens(void)
{
    for (size_t i = 0; i < sizeof sevens; i++) {
        sevens[i] = (uint8_t)(i * 7 & 0xff);
    }
}

/* The bytes from `offset` to the next multiple of 256, at most `size`: a piece of one table, as all
 * of them grow by 7. @return how many */
static size_t
pattern_piece(uint64_t seed, uint64_t offset, size_t size, const uint8_t **out)
{
    enum { INVERSE_OF_7 = 183 }; /* modulo 256 */
    const size_t left = 256 - (size_t)(offset % 256);

    (void)pthread_once(&sevens_once, make_sevens);
    *out = sevens + pattern_at(seed, offset) * INVERSE_OF_7 % 256;
    return left < size ? left : size;
}

void
pattern_fill(uint64_t seed, uint64_t offset, void *data, size_t size)
{
    for (size_t done = 0, count = 0; done < size; done += count) {
        const uint8_t *piece = NULL;

        count = pattern_piece(seed, offset + done, size - done, &piece);
        memcpy((uint8_t *)data + done, piece, count);
    }
}

bool
pattern_holds(uint64_t seed, uint64_t offset, const void *data, size_t size)
{
    for (size_t done = 0, count = 0; done < size; done += count) {
        const uint8_t *piece = NULL;

        count = pattern_piece(seed, offset + done, size - done, &piece);
        if (memcmp((const uint8_t *)data + done, piece, count) != 0) {
            return false;
        }
    }
    return true;
}

void
put_file(bench_io *bench, const char *name, uint64_t seed, size_t size)
{
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    uint8_t *data = malloc(size + 1);

    pattern_fill(seed, 0, data, size);
    cr_assert_eq(ops->create(bench->io, bench->dir, bench->kind->flags, &file, &err), SINTER_OK,
                 "%s: %s", bench->kind->name, err.text);
    cr_assert_eq(ops->append(file, data, size, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(ops->sync(file, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(ops->publish(file, path_in(bench, name), &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(ops->sync_dir(bench->io, bench->dir, &err), SINTER_OK, "%s", err.text);
    ops->close(file);
    free(data);
}

size_t
descriptor_count(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;

    cr_assert(dir != NULL);
    while (readdir(dir) != NULL) {
        count++;
    }
    (void)closedir(dir);
    return count;
}
