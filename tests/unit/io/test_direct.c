#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends.h"
#include "io/posix.h"
#ifdef SINTER_HAVE_URING
#include "io/uring.h"
#endif

TestSuite(io_direct, .timeout = 60);

enum { MIB = 1 << 20, PAGE = 4096 };

/* ---- a system that notes what it is asked for ---- */

static struct {
    const uint8_t *begin; /* where reads should go */
    const uint8_t *end;
    unsigned reads_inside;
    unsigned reads_elsewhere;
    unsigned allocations;
    uint64_t allocated; /* end of the last one */
    unsigned writes_beyond;
    int allocate_errno; /* 0: as the system does */
    int truncate_errno;
} seen;

static void
note_read(const void *data)
{
    const bool is_inside = (const uint8_t *)data >= seen.begin && (const uint8_t *)data < seen.end;

    seen.reads_inside += is_inside ? 1 : 0;
    seen.reads_elsewhere += is_inside ? 0 : 1;
}

static ssize_t
noted_preadv(int fd, const struct iovec *parts, int count, off_t offset)
{
    note_read(parts[0].iov_base);
    return preadv(fd, parts, count, offset);
}

static int
noted_allocate(int fd, off_t offset, off_t size)
{
    if (seen.allocate_errno != 0) {
        (void)ftruncate(fd, offset + size / 2); /* a part was given before the disk was full */
        errno = seen.allocate_errno;
        return -1;
    }
    seen.allocations++;
    seen.allocated = (uint64_t)(offset + size);
    return fallocate(fd, 0, offset, size);
}

static int
noted_truncate(int fd, off_t size)
{
    if (seen.truncate_errno != 0) {
        errno = seen.truncate_errno;
        return -1;
    }
    return ftruncate(fd, size);
}

static sinter__posix_calls calls;

static const sinter__posix_calls *
noted_calls(void)
{
    calls = sinter__posix_calls_system;
    calls.preadv = noted_preadv;
    calls.allocate = noted_allocate;
    calls.truncate = noted_truncate;
    return &calls;
}

static sinter_status
make_noted(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    return sinter__posix_create(env, noted_calls(), out, err);
}

static const backend noted = {.name = "posix", .make = make_noted, .flags = SINTER_IO_DIRECT};

#ifdef SINTER_HAVE_URING
static int
note_complete(void *ctx, const sinter__ring_request *request, int result)
{
    (void)ctx;
    if (!request->is_write) {
        note_read(request->data);
    } else if (request->offset + (uint64_t)request->size > seen.allocated) {
        seen.writes_beyond++;
    }
    return result;
}

static sinter_status
make_noted_uring(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    static const sinter__ring_hooks hooks = {.complete = note_complete};
    const sinter__uring_setup setup = {.queue_depth = 8,
                                       .buffer_count = 4,
                                       .buffer_bytes = 65536,
                                       .is_ring_only = true,
                                       .calls = noted_calls(),
                                       .hooks = &hooks};

    return sinter__uring_create(env, &setup, out, err);
}

static const backend noted_uring = {
    .name = "io_uring", .make = make_noted_uring, .is_uring = true, .flags = SINTER_IO_DIRECT};
#endif

/* Both backends, where the directory's file system has direct io. */
static void
over_direct(void (*body)(bench_io *bench))
{
    const backend *kinds[] = {
        &noted,
#ifdef SINTER_HAVE_URING
        &noted_uring,
#endif
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        sinter_io_file *file = NULL;
        bool is_direct = false;
        bench_io bench;

        if (kinds[i]->is_uring && sinter_io_probe_uring(NULL) != SINTER_OK) {
            continue;
        }
        memset(&seen, 0, sizeof seen);
        bench_io_init(&bench, kinds[i], BARE);
        cr_assert_eq(bench.io->ops->create(bench.io, bench.dir, SINTER_IO_DIRECT, &file, NULL),
                     SINTER_OK);
        is_direct = ((sinter__posix_file *)file)->is_direct;
        file->ops->close(file);
        if (is_direct) {
            body(&bench);
        } else {
            fprintf(stderr, "left out: no direct io in %s\n", bench.dir);
        }
        bench_io_fini(&bench);
    }
}

static sinter_io_file *
open_direct(bench_io *bench, const char *name)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(
        bench->io->ops->open(bench->io, path_in(bench, name), SINTER_IO_DIRECT, &file, NULL),
        SINTER_OK);
    return file;
}

static void
reads_in_place(bench_io *bench)
{
    sinter_io_file *file = NULL;
    sinter_io_ticket ticket;
    uint8_t *lent = NULL;

    put_file(bench, "a", 7, 3 * MIB + 100);
    file = open_direct(bench, "a");
    lent = file->ops->borrow(file, MIB - PAGE);
    cr_assert(lent != NULL && (uintptr_t)lent % PAGE == 0);
    seen.begin = lent;
    seen.end = lent + MIB;
    for (uint64_t offset = 0; offset + MIB <= 3 * MIB; offset += MIB / 2) {
        const sinter_io_range range = {offset, lent, MIB};

        memset(lent, 0, MIB);
        cr_assert_eq(file->ops->read_begin(file, &range, &ticket, NULL), SINTER_OK);
        cr_assert_eq(file->ops->read_end(file, &ticket, NULL), SINTER_OK);
        cr_expect(pattern_holds(7, offset, lent, MIB));
        memset(lent, 0, MIB);
        cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
        cr_expect(pattern_holds(7, offset, lent, MIB));
    }
    cr_expect_geq(seen.reads_inside, 10u);
    cr_expect_eq(seen.reads_elsewhere, 0u, "%s: %u reads went elsewhere", bench->kind->name,
                 seen.reads_elsewhere);
    file->ops->give_back(file, lent);
    file->ops->close(file);
}

Test(io_direct, aligned_reads_are_made_without_a_copy)
{
    over_direct(reads_in_place);
}

static void
writes_within(bench_io *bench)
{
    sinter_io_stat about;

    put_file(bench, "a", 3, 20 * MIB + 12345);
    cr_expect_leq(seen.allocations, 2u, "%u steps", seen.allocations);
    cr_expect_geq(seen.allocations, 1u);
    cr_expect_eq(seen.writes_beyond, 0u);
    cr_assert_eq(bench->io->ops->stat(bench->io, path_in(bench, "a"), &about, NULL), SINTER_OK);
    cr_expect_eq(about.size_bytes, 20 * MIB + 12345, "%s: %llu bytes", bench->kind->name,
                 (unsigned long long)about.size_bytes);
}

Test(io_direct, files_grow_in_large_steps_and_end_where_their_bytes_do)
{
    over_direct(writes_within);
}

static void
refused_steps(bench_io *bench)
{
    static const int refusals[] = {EOPNOTSUPP, ENOSPC};

    for (size_t i = 0; i < 2; i++) {
        uint8_t *data = malloc(2 * MIB + 77);
        const sinter_io_range range = {0, data, 2 * MIB + 77};
        sinter_io_file *file = NULL;
        uint64_t size = 0;

        seen.allocate_errno = refusals[i];
        put_file(bench, i == 0 ? "a" : "b", i, 2 * MIB + 77);
        seen.allocate_errno = 0;
        file = open_direct(bench, i == 0 ? "a" : "b");
        cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
        cr_expect_eq(size, 2 * MIB + 77);
        cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
        cr_expect(pattern_holds(i, 0, data, 2 * MIB + 77));
        file->ops->close(file);
        free(data);
    }
}

Test(io_direct, where_steps_are_refused_files_are_written_as_ever)
{
    over_direct(refused_steps);
}

static void
failed_cut(bench_io *bench)
{
    uint8_t *data = calloc(1, 3 * MIB);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;

    cr_assert_eq(bench->io->ops->create(bench->io, bench->dir, SINTER_IO_DIRECT, &file, NULL),
                 SINTER_OK);
    cr_assert_eq(file->ops->append(file, data, 3 * MIB, NULL), SINTER_OK);
    seen.truncate_errno = EIO;
    cr_expect_eq(file->ops->publish(file, path_in(bench, "a"), &err), SINTER_E_IO);
    cr_expect_eq(err.sys_errno, EIO);
    seen.truncate_errno = 0;
    cr_expect_eq(file->ops->sync(file, &err), SINTER_E_IO, "the file stays failed");
    file->ops->close(file);
    cr_expect_eq(name_count(bench), 0);
    free(data);
}

Test(io_direct, a_cut_that_fails_is_an_error_of_the_file)
{
    over_direct(failed_cut);
}

/* Borrow as many pieces as there is room for; returns how many that are. */
static unsigned
borrow_all(sinter_io_file *file, void **lent, unsigned count)
{
    unsigned got = 0;

    for (unsigned i = 0; i < count; i++) {
        lent[i] = file->ops->borrow(file, MIB);
        got += lent[i] != NULL ? 1 : 0;
        if (lent[i] != NULL) {
            memset(lent[i], (int)i, MIB);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        cr_expect(lent[i] == NULL || ((uint8_t *)lent[i])[MIB - 1] == i, "one is no other");
    }
    return got;
}

static void
give_all_back(sinter_io_file *file, void **lent, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (lent[i] != NULL) {
            file->ops->give_back(file, lent[i]);
        }
    }
}

static void
lend_and_take(bench_io *bench)
{
    sinter_env env = *sinter_env_default();
    sinter_io *io = NULL;
    sinter_io_file *file = NULL;
    void *lent[9];
    uint64_t before = 0;

    put_file(bench, "a", 1, PAGE);
    cr_assert_eq(sinter_memory_create(&env, 48 * MIB, &env.memory, NULL), SINTER_OK);
    cr_assert_eq(bench->kind->make(&env, &io, NULL), SINTER_OK);
    cr_assert_eq(io->ops->open(io, path_in(bench, "a"), SINTER_IO_DIRECT, &file, NULL), SINTER_OK);
    before = sinter_memory_used(env.memory);
    cr_expect_null(file->ops->borrow(file, MIB + 1));
    cr_expect_null(file->ops->borrow(file, MIB / 4), "too little for so much");
    cr_expect_eq(borrow_all(file, lent, 9), 9u);
    cr_expect_eq(sinter_memory_used(env.memory), before + 20 * MIB, "as many again to align them");
    give_all_back(file, lent, 9);
    cr_expect_eq(sinter_memory_used(env.memory), before, "nothing lies idle");
    cr_assert_eq(sinter_memory_reserve(env.memory, 32 * MIB, NULL), SINTER_OK);
    cr_expect_leq(borrow_all(file, lent, 9), 2u, "little of a short budget");
    give_all_back(file, lent, 9);
    cr_expect_eq(sinter_memory_used(env.memory), before + 32 * MIB);
    sinter_memory_release(env.memory, 32 * MIB);
    file->ops->close(file);
    sinter_io_destroy(io);
    cr_expect_eq(sinter_memory_used(env.memory), 0u);
    sinter_memory_destroy(env.memory);
}

Test(io_direct, lent_memory_counts_against_the_budget_and_comes_back)
{
    over_direct(lend_and_take);
}

/** Unaligned stretches go through memory of the io, which is not kept. */
static void
read_unaligned(bench_io *bench)
{
    sinter_env env = *sinter_env_default();
    sinter_io *io = NULL;
    sinter_io_file *file = NULL;
    uint8_t bytes[100];
    const sinter_io_range range = {.offset = PAGE - 50, .data = bytes, .size = sizeof bytes};
    uint64_t before = 0;

    put_file(bench, "a", 1, 4 * PAGE);
    cr_assert_eq(sinter_memory_create(&env, 48 * MIB, &env.memory, NULL), SINTER_OK);
    cr_assert_eq(bench->kind->make(&env, &io, NULL), SINTER_OK);
    cr_assert_eq(io->ops->open(io, path_in(bench, "a"), SINTER_IO_DIRECT, &file, NULL), SINTER_OK);
    before = sinter_memory_used(env.memory);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_expect_eq(sinter_memory_used(env.memory), before);
    cr_expect_leq(sinter_memory_peak(env.memory), before + 64 * 1024);
    file->ops->close(file);
    sinter_io_destroy(io);
    sinter_memory_destroy(env.memory);
}

Test(io_direct, an_unaligned_read_leaves_no_memory_behind)
{
    over_direct(read_unaligned);
}

Test(io_direct, a_large_chunk_is_an_eighth_of_what_is_left_at_most)
{
    static const struct {
        uint64_t budget;
        size_t capacity;
    } cases[] = {{8 * MIB, MIB}, {8 * MIB - PAGE, 64 * 1024}, {64 * 1024, 64 * 1024}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_env env = *sinter_env_default();
        sinter__io_chunk chunk = {0};

        cr_assert_eq(sinter_memory_create(&env, cases[i].budget, &env.memory, NULL), SINTER_OK);
        cr_assert_eq(sinter__io_chunk_init(&env, &chunk, MIB, 64 * 1024, NULL), SINTER_OK);
        cr_expect_eq(chunk.capacity, cases[i].capacity, "budget %u", (unsigned)cases[i].budget);
        sinter__io_chunk_fini(&env, &chunk);
        cr_expect_eq(sinter_memory_used(env.memory), 0u);
        sinter_memory_destroy(env.memory);
    }
}

Test(io_direct, files_in_the_page_cache_lend_nothing)
{
    sinter_io_file *file = NULL;
    bench_io bench;

    bench_io_init(&bench, &noted, BARE);
    cr_assert_eq(bench.io->ops->create(bench.io, bench.dir, 0, &file, NULL), SINTER_OK);
    cr_expect_null(file->ops->borrow(file, MIB));
    file->ops->close(file);
    bench_io_fini(&bench);
}
