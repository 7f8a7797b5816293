/*
 * What every backend owes its callers (include/sinter/io.h), tried on all of them, plain and under
 * the fault wrapper, over systems that do less than asked (field fault F18).
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "io/io_base.h"

TestSuite(io_contract, .timeout = 240);

#define OK_OR_SAY(call) cr_assert_eq((call), SINTER_OK, "%s: %s", bench->kind->name, err.text)

/* ---- bytes ---- */

static void
written_is_read(bench_io *bench)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 262143, 262144, 1048576, 1300001};
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        /* A single byte per system call makes megabytes slow. */
        const size_t size =
            strstr(bench->kind->name, "little") != NULL && sizes[i] > 4097 ? 4097 + i : sizes[i];
        uint8_t *data = malloc(size + 1);
        const sinter_io_range range = {.offset = 0, .data = data, .size = size};
        sinter_io_file *file = NULL;
        uint64_t found = 0;

        put_file(bench, "a", i, size);
        OK_OR_SAY(ops->open(bench->io, path_in(bench, "a"), bench->kind->flags, &file, &err));
        OK_OR_SAY(ops->size(file, &found, &err));
        cr_assert_eq(found, size, "%s", bench->kind->name);
        OK_OR_SAY(ops->read(file, &range, 1, &err));
        cr_assert(pattern_holds(i, 0, data, size), "%s, %zu bytes", bench->kind->name, size);
        ops->close(file);
        OK_OR_SAY(ops->unlink(bench->io, path_in(bench, "a"), &err));
        free(data);
    }
}

Test(io_contract, what_was_appended_is_read_back)
{
    over_all_backends(written_is_read);
}

/* Appends and reads of any size in any order, on a file that has no name yet. */
static void
random_history(bench_io *bench)
{
    const bool is_slow = strstr(bench->kind->name, "little") != NULL;
    const size_t rounds = is_slow ? 30 : 60;
    const size_t piece_max = is_slow ? 2000 : 300000;
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t state = 20240 + bench->kind->flags;
    uint8_t *data = malloc(piece_max);
    sinter_io_file *file = NULL;
    uint64_t size = 0;

    OK_OR_SAY(ops->create(bench->io, bench->dir, bench->kind->flags, &file, &err));
    for (size_t i = 0; i < rounds; i++) {
        const uint64_t what = random_next(&state) % 10;
        size_t piece = (size_t)(random_next(&state) % (what < 4 ? 100 : piece_max));

        if (what < 8 || size == 0) {
            pattern_fill(9, size, data, piece);
            OK_OR_SAY(ops->append(file, data, piece, &err));
            memset(data, 0, piece); /* the bytes are ours again */
            size += piece;
        } else if (what == 8) {
            OK_OR_SAY(ops->sync(file, &err));
        } else {
            const uint64_t offset = random_next(&state) % size;
            sinter_io_range range = {.offset = offset, .data = data};

            range.size = piece < size - offset ? piece : (size_t)(size - offset);
            OK_OR_SAY(ops->read(file, &range, 1, &err));
            cr_assert(pattern_holds(9, offset, data, range.size), "%s, round %zu",
                      bench->kind->name, i);
        }
        uint64_t found = 0;

        OK_OR_SAY(ops->size(file, &found, &err));
        cr_assert_eq(found, size, "%s, round %zu", bench->kind->name, i);
    }
    ops->close(file);
    free(data);
    cr_assert_eq(name_count(bench), 0, "%s: an unpublished file stayed", bench->kind->name);
}

Test(io_contract, any_history_of_appends_and_reads_gives_the_bytes)
{
    over_all_backends(random_history);
}

static void
vectored(bench_io *bench)
{
    enum { RANGES = 100, FILE_BYTES = 100000 };
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_range ranges[RANGES];
    sinter_io_file *file = NULL;
    uint64_t state = 77;
    uint64_t offset = 0;

    put_file(bench, "v", 3, FILE_BYTES);
    for (size_t i = 0; i < RANGES; i++) {
        const size_t size = (size_t)(random_next(&state) % 400); /* 0 as well */

        /* Runs that touch, and jumps now and then. */
        offset = i % 7 == 0 ? random_next(&state) % (FILE_BYTES / 2) : offset;
        ranges[i] = (sinter_io_range){.offset = offset, .data = malloc(size + 1), .size = size};
        offset += size;
    }
    OK_OR_SAY(ops->open(bench->io, path_in(bench, "v"), bench->kind->flags, &file, &err));
    OK_OR_SAY(ops->read(file, ranges, RANGES, &err));
    OK_OR_SAY(ops->read(file, NULL, 0, &err));
    for (size_t i = 0; i < RANGES; i++) {
        cr_expect(pattern_holds(3, ranges[i].offset, ranges[i].data, ranges[i].size),
                  "%s, range %zu", bench->kind->name, i);
        free(ranges[i].data);
    }
    ops->close(file);
}

Test(io_contract, each_range_of_a_vector_is_filled)
{
    over_all_backends(vectored);
}

/* ---- reads begun and ended apart; field fault F20 ---- */

static void
many_in_flight(bench_io *bench)
{
    enum { READS = 1000, PIECE = 37, FILE_BYTES = READS * PIECE };
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    uint8_t *data = malloc(FILE_BYTES);
    sinter_io_ticket *tickets = calloc(READS, sizeof *tickets);
    sinter_io_file *file = NULL;

    put_file(bench, "f", 5, FILE_BYTES);
    memset(data, 0, FILE_BYTES);
    OK_OR_SAY(ops->open(bench->io, path_in(bench, "f"), bench->kind->flags, &file, &err));
    for (size_t i = 0; i < READS; i++) {
        const sinter_io_range range = {
            .offset = i * PIECE, .data = data + i * PIECE, .size = PIECE};

        OK_OR_SAY(ops->read_begin(file, &range, &tickets[i], &err));
    }
    for (size_t i = 0; i < READS; i++) { /* 381 and 1000 have no common divisor */
        OK_OR_SAY(ops->read_end(file, &tickets[(i * 381) % READS], &err));
    }
    cr_expect(pattern_holds(5, 0, data, FILE_BYTES), "%s", bench->kind->name);
    ops->close(file);
    free(tickets);
    free(data);
}

Test(io_contract, F20_a_thousand_reads_in_flight_each_end_once)
{
    over_all_backends(many_in_flight);
}

static void
end_twice(bench_io *bench)
{
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    uint8_t data[16];
    const sinter_io_range range = {.offset = 2, .data = data, .size = sizeof data};
    sinter_io_ticket ticket = {{0}};
    sinter_io_file *file = NULL;

    put_file(bench, "f", 1, 100);
    OK_OR_SAY(ops->open(bench->io, path_in(bench, "f"), bench->kind->flags, &file, &err));
    OK_OR_SAY(ops->read_begin(file, &range, &ticket, &err));
    OK_OR_SAY(ops->read_end(file, &ticket, &err));
    cr_expect(pattern_holds(1, 2, data, sizeof data));
    cr_expect_eq(ops->read_end(file, &ticket, &err), SINTER_E_INVALID, "%s", bench->kind->name);
    ops->close(file);
}

Test(io_contract, a_ticket_ends_once)
{
    over_all_backends(end_twice);
}

/* ---- reads that can't be ---- */

static void
early_end(bench_io *bench)
{
    static const struct {
        uint64_t file_bytes, offset, size, missing_at;
    } cases[] = {{100, 90, 11, 100},
                 {100, 100, 1, 100},
                 {100, 5000, 10, 5000},
                 {8192, 4096, 8192, 8192},
                 {5000, 4096, 4096, 5000},
                 {0, 0, 1, 0},
                 {8192, 0, 12288, 8192},
                 {100, INT64_MAX - 9, 9, INT64_MAX - 9},
                 {100, INT64_MAX, 9, INT64_MAX}};
    const sinter_io_ops *ops = bench->io->ops;
    uint8_t *data = aligned_alloc(4096, 16384);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sinter_io_range range = {
            .offset = cases[i].offset, .data = data, .size = (size_t)cases[i].size};
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io_ticket ticket = {{0}};
        sinter_io_file *file = NULL;
        sinter_status st = SINTER_OK;

        put_file(bench, "e", 1, (size_t)cases[i].file_bytes);
        OK_OR_SAY(ops->open(bench->io, path_in(bench, "e"), bench->kind->flags, &file, &err));
        cr_expect_eq(ops->read(file, &range, 1, &err), SINTER_E_CORRUPT, "%s, case %zu",
                     bench->kind->name, i);
        cr_expect_eq(err.status, SINTER_E_CORRUPT);
        cr_expect_eq(err.offset, (int64_t)cases[i].missing_at, "%s, case %zu: offset %lld",
                     bench->kind->name, i, (long long)err.offset);
        cr_expect(strstr(err.file, "/e") != NULL, "%s: names '%s'", bench->kind->name, err.file);
        st = ops->read_begin(file, &range, &ticket, &err);
        st = st == SINTER_OK ? ops->read_end(file, &ticket, &err) : st;
        cr_expect_eq(st, SINTER_E_CORRUPT, "%s, case %zu", bench->kind->name, i);
        ops->close(file);
        OK_OR_SAY(ops->unlink(bench->io, path_in(bench, "e"), &err));
    }
    free(data);
}

Test(io_contract, F18_an_early_end_names_file_and_offset)
{
    over_all_backends(early_end);
}

static void
beyond_offsets(bench_io *bench)
{
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    uint8_t data[8];
    const sinter_io_range ranges[] = {{.offset = UINT64_MAX, .data = data, .size = 8},
                                      {.offset = (uint64_t)1 << 63, .data = data, .size = 1},
                                      {.offset = INT64_MAX - 3, .data = data, .size = 8}};
    sinter_io_file *file = NULL;

    put_file(bench, "e", 1, 100);
    OK_OR_SAY(ops->open(bench->io, path_in(bench, "e"), bench->kind->flags, &file, &err));
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(ops->read(file, &ranges[i], 1, &err), SINTER_E_CORRUPT, "%s, %zu",
                     bench->kind->name, i);
    }
    ops->close(file);
}

Test(io_contract, offsets_beyond_any_file_are_refused)
{
    over_all_backends(beyond_offsets);
}

/* ---- names ---- */

static void
publishing(bench_io *bench)
{
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_stat about;
    sinter_io_file *file = NULL;
    uint8_t data[10];
    const sinter_io_range range = {.data = data, .size = 10};

    put_file(bench, "first", 1, 10);
    OK_OR_SAY(ops->create(bench->io, bench->dir, bench->kind->flags, &file, &err));
    pattern_fill(2, 0, data, 10);
    OK_OR_SAY(ops->append(file, data, 10, &err));
    cr_expect_eq(ops->publish(file, path_in(bench, "first"), &err), SINTER_E_EXISTS, "%s",
                 bench->kind->name);
    cr_expect_eq(err.sys_errno, EEXIST, "%s", bench->kind->name);
    cr_expect(strstr(err.file, "first") != NULL, "%s: names '%s'", bench->kind->name, err.file);
    cr_expect_eq(ops->publish(file, path_in(bench, "no/such"), &err), SINTER_E_NOT_FOUND, "%s",
                 bench->kind->name);
    cr_expect_eq(ops->stat(bench->io, path_in(bench, "second"), &about, &err), SINTER_E_NOT_FOUND);
    OK_OR_SAY(ops->sync(file, &err));
    OK_OR_SAY(ops->publish(file, path_in(bench, "second"), &err));
    cr_expect_eq(ops->append(file, data, 1, &err), SINTER_E_INVALID, "%s", bench->kind->name);
    cr_expect_eq(ops->publish(file, path_in(bench, "third"), &err), SINTER_E_INVALID);
    ops->close(file);
    cr_expect_eq(name_count(bench), 2, "%s", bench->kind->name);

    for (uint64_t seed = 1; seed <= 2; seed++) {
        OK_OR_SAY(ops->open(bench->io, path_in(bench, seed == 1 ? "first" : "second"),
                            bench->kind->flags, &file, &err));
        OK_OR_SAY(ops->read(file, &range, 1, &err));
        cr_expect(pattern_holds(seed, 0, data, 10), "%s", bench->kind->name);
        cr_expect_eq(ops->append(file, data, 1, &err), SINTER_E_INVALID, "opened files are read");
        cr_expect_eq(ops->sync(file, &err), SINTER_E_INVALID);
        cr_expect_eq(ops->publish(file, path_in(bench, "x"), &err), SINTER_E_INVALID);
        ops->close(file);
    }
}

Test(io_contract, a_name_is_given_once_and_never_over_another)
{
    over_all_backends(publishing);
}

static void
names(bench_io *bench)
{
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_stat about;
    sinter_io_file *file = NULL;
    char sub[80];

    (void)snprintf(sub, sizeof sub, "%s/sub", bench->dir);
    OK_OR_SAY(ops->mkdir(bench->io, sub, &err));
    cr_expect_eq(ops->mkdir(bench->io, sub, &err), SINTER_E_EXISTS, "%s", bench->kind->name);
    OK_OR_SAY(ops->stat(bench->io, sub, &about, &err));
    cr_expect(about.is_directory);
    put_file(bench, "sub/a", 1, 123);
    OK_OR_SAY(ops->stat(bench->io, path_in(bench, "sub/a"), &about, &err));
    cr_expect(!about.is_directory);
    cr_expect_eq(about.size_bytes, 123);
    cr_expect(about.mtime_ms > INT64_C(1500000000000), "%s: %lld", bench->kind->name,
              (long long)about.mtime_ms);
    cr_expect_eq(name_count(bench), 1, "the walk doesn't go down");
    cr_expect_neq(ops->unlink(bench->io, sub, &err), SINTER_OK, "not empty");
    OK_OR_SAY(ops->stat(bench->io, path_in(bench, "sub/a"), &about, &err));
    OK_OR_SAY(ops->unlink(bench->io, path_in(bench, "sub/a"), &err));
    OK_OR_SAY(ops->unlink(bench->io, sub, &err));

    cr_expect_eq(ops->unlink(bench->io, path_in(bench, "none"), &err), SINTER_E_NOT_FOUND);
    cr_expect_eq(err.sys_errno, ENOENT, "%s", bench->kind->name);
    cr_expect_eq(ops->open(bench->io, path_in(bench, "none"), 0, &file, &err), SINTER_E_NOT_FOUND);
    cr_expect(file == NULL && strstr(err.file, "none") != NULL);
    cr_expect_eq(ops->open(bench->io, bench->dir, 0, &file, &err), SINTER_E_IO, "a directory");
    cr_expect_eq(ops->create(bench->io, path_in(bench, "none"), 0, &file, &err), SINTER_E_NOT_FOUND,
                 "%s", bench->kind->name);
    cr_expect_eq(ops->sync_dir(bench->io, path_in(bench, "none"), &err), SINTER_E_NOT_FOUND);
    cr_expect_eq(ops->mkdir(bench->io, path_in(bench, "no/ne"), &err), SINTER_E_NOT_FOUND);
    cr_expect_eq(ops->stat(bench->io, path_in(bench, "none"), &about, NULL), SINTER_E_NOT_FOUND);
}

Test(io_contract, names_come_and_go)
{
    over_all_backends(names);
}

static sinter_status
stop_at_second(void *ctx, const char *name)
{
    int *seen = ctx;

    cr_expect(name[0] != '.');
    return ++*seen == 2 ? SINTER_E_CANCELLED : SINTER_OK;
}

static void
walking(bench_io *bench)
{
    int seen = 0;
    sinter_error err = SINTER_ERROR_INIT;

    put_file(bench, "a", 1, 1);
    put_file(bench, "b", 1, 1);
    put_file(bench, "c", 1, 1);
    cr_expect_eq(bench->io->ops->list(bench->io, bench->dir, stop_at_second, &seen, NULL),
                 SINTER_E_CANCELLED);
    cr_expect_eq(seen, 2);
    cr_expect_eq(
        bench->io->ops->list(bench->io, path_in(bench, "none"), stop_at_second, &seen, &err),
        SINTER_E_NOT_FOUND);
}

Test(io_contract, a_walk_ends_when_its_callback_says_so)
{
    over_all_backends(walking);
}

static void
replacing(bench_io *bench)
{
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    uint8_t data[5000];
    uint8_t found[5000];
    sinter_io_file *file = NULL;

    for (size_t size = 0; size <= sizeof data; size += 1000) {
        const sinter_io_range range = {.data = found, .size = size};
        uint64_t there = 0;

        pattern_fill(size, 0, data, size);
        OK_OR_SAY(ops->replace(bench->io, path_in(bench, "CATALOG"), data, size, &err));
        cr_expect_eq(name_count(bench), 1, "%s", bench->kind->name);
        OK_OR_SAY(ops->open(bench->io, path_in(bench, "CATALOG"), 0, &file, &err));
        OK_OR_SAY(ops->size(file, &there, &err));
        cr_assert_eq(there, size, "%s", bench->kind->name);
        OK_OR_SAY(ops->read(file, &range, 1, &err));
        cr_expect(pattern_holds(size, 0, found, size), "%s", bench->kind->name);
        ops->close(file);
    }
    cr_expect_eq(ops->replace(bench->io, path_in(bench, "no/such"), data, 1, &err),
                 SINTER_E_NOT_FOUND, "%s", bench->kind->name);
    cr_expect_eq(name_count(bench), 1, "%s", bench->kind->name);
}

Test(io_contract, replace_leaves_the_new_bytes_and_nothing_else)
{
    over_all_backends(replacing);
}

static void
locking(bench_io *bench)
{
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *first = NULL;
    sinter_io_file *second = NULL;

    for (int i = 0; i < 2; i++) {
        OK_OR_SAY(ops->lock(bench->io, path_in(bench, "LOCK"), &first, &err));
        cr_expect_eq(ops->lock(bench->io, path_in(bench, "LOCK"), &second, &err), SINTER_E_BUSY,
                     "%s", bench->kind->name);
        cr_expect(second == NULL && strstr(err.file, "LOCK") != NULL);
        ops->close(first);
    }
    cr_expect_eq(ops->lock(bench->io, path_in(bench, "no/LOCK"), &first, &err), SINTER_E_NOT_FOUND,
                 "%s", bench->kind->name);
}

Test(io_contract, a_lock_is_held_by_one)
{
    over_all_backends(locking);
}

static void
cleaning(bench_io *bench)
{
    const sinter_io_ops *ops = bench->io->ops;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    uint64_t removed = 99;

    if (ops->clean == NULL) {
        return;
    }
    put_file(bench, "keep", 1, 10);
    OK_OR_SAY(ops->create(bench->io, bench->dir, bench->kind->flags, &file, &err));
    OK_OR_SAY(ops->append(file, "abc", 3, &err));
    OK_OR_SAY(ops->clean(bench->io, bench->dir, &removed, &err));
    cr_expect_eq(removed, 0, "%s: a living file was taken", bench->kind->name);
    OK_OR_SAY(ops->clean(bench->io, bench->dir, NULL, &err));
    OK_OR_SAY(ops->sync(file, &err));
    OK_OR_SAY(ops->publish(file, path_in(bench, "made"), &err));
    ops->close(file);
    cr_expect_eq(name_count(bench), 2, "%s", bench->kind->name);
}

Test(io_contract, cleaning_takes_nothing_that_lives)
{
    over_all_backends(cleaning);
}

/* ---- many files, many threads ---- */

typedef struct worker_job {
    bench_io *bench;
    uint64_t seed;
    bool is_good;
} worker_job;

static void *
work(void *arg)
{
    enum { PIECES = 40, PIECE = 5000 };
    worker_job *job = arg;
    sinter_io *io = job->bench->io;
    const sinter_io_ops *ops = io->ops;
    const uint32_t flags = job->bench->kind->flags;
    uint8_t *data = malloc(PIECES * PIECE);
    sinter_io_ticket tickets[PIECES];
    sinter_io_file *file = NULL;
    char path[96];
    bool good = true;

    (void)snprintf(path, sizeof path, "%s/%llu", job->bench->dir, (unsigned long long)job->seed);
    pattern_fill(job->seed, 0, data, PIECES * PIECE);
    good = ops->create(io, job->bench->dir, flags, &file, NULL) == SINTER_OK;
    for (size_t i = 0; good && i < PIECES; i++) {
        good = ops->append(file, data + i * PIECE, PIECE, NULL) == SINTER_OK;
    }
    good = good && ops->sync(file, NULL) == SINTER_OK;
    good = good && ops->publish(file, path, NULL) == SINTER_OK;
    if (file != NULL) {
        ops->close(file);
        file = NULL;
    }
    memset(data, 0, PIECES * PIECE);
    good = good && ops->open(io, path, flags, &file, NULL) == SINTER_OK;
    for (size_t i = 0; good && i < PIECES; i++) {
        const sinter_io_range range = {
            .offset = i * PIECE, .data = data + i * PIECE, .size = PIECE};

        good = ops->read_begin(file, &range, &tickets[i], NULL) == SINTER_OK;
    }
    for (size_t i = 0; good && i < PIECES; i++) {
        good = ops->read_end(file, &tickets[i], NULL) == SINTER_OK;
    }
    if (file != NULL) {
        ops->close(file);
    }
    job->is_good = good && pattern_holds(job->seed, 0, data, PIECES * PIECE);
    free(data);
    return NULL;
}

static void
threads(bench_io *bench)
{
    enum { THREADS = 4 };
    pthread_t ids[THREADS];
    worker_job jobs[THREADS];

    if (strstr(bench->kind->name, "little") != NULL && bench->base != NULL) {
        return; /* slow, and the plain one says as much */
    }
    for (size_t i = 0; i < THREADS; i++) {
        jobs[i] = (worker_job){.bench = bench, .seed = i + 1};
        cr_assert_eq(pthread_create(&ids[i], NULL, work, &jobs[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_join(ids[i], NULL), 0);
        cr_expect(jobs[i].is_good, "%s, thread %zu", bench->kind->name, i);
    }
    cr_expect_eq(name_count(bench), THREADS);
}

Test(io_contract, threads_share_a_backend_with_a_file_each)
{
    over_all_backends(threads);
}

/* ---- what is left behind; field fault F16 ---- */

static void
descriptors(bench_io *bench)
{
    const size_t before = descriptor_count();
    const sinter_io_ops *ops = bench->io->ops;
    uint8_t *data = calloc(1, 700000);
    const sinter_io_range range = {.data = data, .size = 700000};
    sinter_io_ticket tickets[3];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *made = NULL;
    sinter_io_file *opened = NULL;

    if (strstr(bench->kind->name, "little") == NULL) {
        put_file(bench, "a", 1, 700000);
        OK_OR_SAY(ops->create(bench->io, bench->dir, bench->kind->flags, &made, &err));
        OK_OR_SAY(ops->append(made, data, 700000, &err)); /* dropped with bytes on their way */
        OK_OR_SAY(ops->append(made, data, 600, &err));
        OK_OR_SAY(ops->open(bench->io, path_in(bench, "a"), bench->kind->flags, &opened, &err));
        for (size_t i = 0; i < 3; i++) {
            OK_OR_SAY(ops->read_begin(opened, &range, &tickets[i], &err));
            OK_OR_SAY(ops->read_end(opened, &tickets[i], &err));
        }
        ops->close(opened);
        ops->close(made);
        cr_expect_eq(name_count(bench), 1, "%s", bench->kind->name);
    }
    cr_expect_eq(descriptor_count(), before, "%s", bench->kind->name);
    free(data);
}

Test(io_contract, F16_closing_leaves_no_descriptor_and_no_file)
{
    over_all_backends(descriptors);
}

/* An io that can't tell is fine. */
static sinter_status
free_space(sinter_io *io, const char *dir, sinter_error *err)
{
    uint64_t bytes = 0;
    const sinter_status st = sinter__io_free_bytes(io, dir, &bytes, err);

    return st == SINTER_END ? SINTER_OK : st;
}

/* One of everything. Returns the first failure. */
static sinter_status
one_of_everything(sinter_io *io, const char *dir, uint32_t flags, sinter_error *err)
{
    const sinter_io_ops *ops = io->ops;
    uint8_t data[9000];
    sinter_io_range ranges[] = {{.offset = 1, .data = data, .size = 100},
                                {.offset = 5000, .data = data + 200, .size = 333}};
    sinter_io_ticket ticket = {{0}};
    sinter_io_file *file = NULL;
    sinter_io_file *lock = NULL;
    char path[96];
    char catalog[96];
    sinter_io_stat about;
    uint64_t size = 0;
    sinter_status st = SINTER_OK;

    (void)snprintf(path, sizeof path, "%s/one", dir);
    (void)snprintf(catalog, sizeof catalog, "%s/CATALOG", dir);
    memset(data, 7, sizeof data);
    st = ops->lock(io, catalog, &lock, err);
    st = st != SINTER_OK ? st : ops->create(io, dir, flags, &file, err);
    st = st != SINTER_OK ? st : ops->append(file, data, sizeof data, err);
    st = st != SINTER_OK ? st : ops->sync(file, err);
    st = st != SINTER_OK ? st : ops->publish(file, path, err);
    st = st != SINTER_OK ? st : ops->sync_dir(io, dir, err);
    if (file != NULL) {
        ops->close(file);
        file = NULL;
    }
    st = st != SINTER_OK ? st : ops->open(io, path, flags, &file, err);
    st = st != SINTER_OK ? st : ops->size(file, &size, err);
    st = st != SINTER_OK ? st : ops->read(file, ranges, 2, err);
    if (st == SINTER_OK) {
        st = ops->read_begin(file, &ranges[0], &ticket, err);
        st = st != SINTER_OK ? st : ops->read_end(file, &ticket, err);
    }
    if (file != NULL) {
        ops->close(file);
    }
    st = st != SINTER_OK ? st : ops->stat(io, path, &about, err);
    st = st != SINTER_OK ? st : ops->replace(io, catalog, data, 100, err);
    st = st != SINTER_OK ? st : free_space(io, dir, err);
    (void)ops->unlink(io, path, NULL);
    if (lock != NULL) {
        ops->close(lock);
    }
    (void)ops->unlink(io, catalog, NULL);
    return st;
}

/* The n-th allocation is refused, for every n until nothing is refused any more. */
static void
allocation_sweep(const backend *kind, bool wrapped)
{
    sinter_status st = SINTER_E_NOMEM;
    uint64_t n = 0;

    for (n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        sinter_io *made = NULL;
        sinter_io *io = NULL;
        char dir[64] = "/tmp/sinter-test-XXXXXX";

        fault_alloc_init(&fault, n);
        st = kind->make(&fault.env, &made, &err);
        if (st == SINTER_OK && wrapped) {
            st = sinter_io_fault_create(&fault.env, made, NULL, &io, &err);
        }
        if (st == SINTER_OK) {
            sinter_io *used = wrapped ? io : made;

            if (kind->is_memory) {
                (void)strcpy(dir, "/box");
                st = used->ops->mkdir(used, dir, &err);
            } else {
                cr_assert(mkdtemp(dir) != NULL);
            }
            st = st != SINTER_OK ? st : one_of_everything(used, dir, kind->flags, &err);
            if (!kind->is_memory) {
                cr_expect_eq(remove(dir), 0, "%s: files stayed when allocation %llu failed",
                             kind->name, (unsigned long long)n);
            }
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st), "%s, %llu: %d %s",
                  kind->name, (unsigned long long)n, st, err.text);
        sinter_io_destroy(io);
        sinter_io_destroy(made);
        cr_assert_eq(fault.live, 0, "%s: leak when allocation %llu fails", kind->name,
                     (unsigned long long)n);
    }
    cr_expect(n > 4, "%s: %llu allocations", kind->name, (unsigned long long)n);
}

Test(io_contract, every_allocation_may_fail)
{
    const bool has_uring = sinter_io_probe_uring(NULL) == SINTER_OK;

    for (size_t i = 0; i < backend_count; i++) {
        if (!backends[i].is_uring || has_uring) {
            allocation_sweep(&backends[i], false);
            allocation_sweep(&backends[i], true);
        }
    }
}

/* The n-th call fails, for every n: the failure comes out, and nothing stays behind. */
static void
call_sweep(bench_io *bench)
{
    static const sinter_fault_kind kinds[] = {SINTER_FAULT_EIO, SINTER_FAULT_ENOSPC,
                                              SINTER_FAULT_TORN_WRITE};
    const size_t before = descriptor_count();

    if (bench->wrapped != IN_FAULT) {
        return;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        sinter_status st = SINTER_E_IO;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            sinter_fault_options rule = {
                .struct_size = (uint32_t)sizeof rule, .kind = kinds[k], .at_call = n};
            sinter_error err = SINTER_ERROR_INIT;

            sinter_io_fault_set(bench->io, &rule);
            st = one_of_everything(bench->io, bench->dir, bench->kind->flags, &err);
            sinter_io_fault_set(bench->io, NULL);
            cr_assert(st == SINTER_OK ||
                          (err.status == st && err.sys_errno != 0 && err.file[0] != '\0'),
                      "%s, call %llu: %d", bench->kind->name, (unsigned long long)n, st);
            cr_assert(n < 100);
            cr_assert(st != SINTER_OK || n > 12, "%llu calls only", (unsigned long long)n);
            (void)bench->io->ops->unlink(bench->io, path_in(bench, "one"), NULL);
            (void)bench->io->ops->unlink(bench->io, path_in(bench, "CATALOG"), NULL);
            cr_assert_eq(name_count(bench), 0, "%s, call %llu", bench->kind->name,
                         (unsigned long long)n);
            cr_assert_eq(descriptor_count(), before, "%s", bench->kind->name);
        }
    }
}

Test(io_contract, every_call_may_fail)
{
    over_all_backends(call_sweep);
}
