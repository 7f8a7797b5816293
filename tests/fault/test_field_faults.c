/*
 * Faults seen in the field that need a disk, a kernel or both: F15, F16, F18 on posix and io_uring.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/posix.h"
#include "scenario.h"
#ifdef SINTER_HAVE_URING
#include "io/uring.h"
#endif

TestSuite(field_faults, .timeout = 300);

static const sinter_io_kind kinds[] = {SINTER_IO_POSIX, SINTER_IO_URING};

/* The backend of a kind; NULL if the kernel refuses it. */
static sinter_io *
backend_of(sinter_io_kind kind)
{
    sinter_io *io = NULL;
    const sinter_status st = sinter_io_create(sinter_env_default(), kind, NULL, &io, NULL);

    cr_assert(st == SINTER_OK || st == SINTER_E_UNSUPPORTED);
    return io;
}

/* ---- F15: the disk fills up ---- */

/* Write a file until at most so much is free. */
static void
fill_disk(const char *dir, const char *path, size_t leave_bytes)
{
    static const char zeros[4096];
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct statvfs space;

    cr_assert_geq(fd, 0);
    while (statvfs(dir, &space) == 0 && space.f_bavail * space.f_frsize > leave_bytes &&
           write(fd, zeros, sizeof zeros) > 0) {
    }
    close(fd);
}

Test(field_faults, f15_a_small_disk_fills_up_and_after_it_was_freed_the_same_task_succeeds)
{
    char mount_dir[256];
    char hog[300];
    scenario s;

    test_directory(mount_dir, sizeof mount_dir, NULL, "sinter-full");
    if (mount("tmpfs", mount_dir, "tmpfs", 0, "size=1m") != 0) {
        fprintf(stderr, "no right to mount (%s): skipped\n", strerror(errno));
        rmdir(mount_dir);
        return;
    }
    scenario_begin_in(&s, mount_dir, false);
    snprintf(hog, sizeof hog, "%s/hog", mount_dir);
    for (size_t k = 0; k < 2; k++) {
        sinter_env env = *sinter_env_default();
        uint64_t refused = 0;

        env.io = backend_of(kinds[k]);
        if (env.io == NULL) {
            continue;
        }
        for (size_t free_bytes = 0; free_bytes < 200000; free_bytes += 20000) {
            sinter_error err;
            sinter_status st = SINTER_OK;

            fill_disk(mount_dir, hog, free_bytes);
            st = scenario_run(&s, &env, &err, "full disk", free_bytes);
            cr_assert(st == SINTER_OK || st == SINTER_E_NO_SPACE, "%s: %s", sinter_status_name(st),
                      err.text);
            refused += st == SINTER_OK ? 0 : 1;
            unlink(hog);
            st = scenario_run(&s, &env, &err, "freed disk", free_bytes);
            cr_assert_eq(st, SINTER_OK, "%s: %s", sinter_status_name(st), err.text);
        }
        cr_expect_gt(refused, 0, "the disk was never full");
        sinter_io_destroy(env.io);
    }
    scenario_end(&s);
    cr_expect_eq(umount(mount_dir), 0);
    rmdir(mount_dir);
}

/* ---- F16: failure after two of three outputs ---- */

static bool
third_was_begun(void *ctx)
{
    const count_io *io = ctx;

    return io->created >= 4; /* one of them is the spill file */
}

Test(field_faults, f16_cancelled_or_failing_at_the_third_output_leaves_nothing)
{
    scenario s;

    scenario_begin(&s, false);
    s.options.target_file_bytes = 20000;
    for (size_t k = 0; k < 2; k++) {
        static const char *const ops[] = {"create", "publish"};
        sinter_io *io = backend_of(kinds[k]);
        sinter_env env = *sinter_env_default();
        sinter_error err;
        count_io counting;

        if (io == NULL) {
            continue;
        }
        for (size_t op = 0; op < 2; op++) {
            const sinter_fault_options options = {.struct_size = sizeof options,
                                                  .kind = SINTER_FAULT_EIO,
                                                  .only_op = ops[op],
                                                  .at_call = op == 0 ? 3 : 2};

            cr_assert_eq(sinter_io_fault_create(sinter_env_default(), io, &options, &env.io, NULL),
                         SINTER_OK);
            cr_assert_eq(scenario_run(&s, &env, &err, ops[op], 2), SINTER_E_IO);
            sinter_io_destroy(env.io);
        }
        count_io_init(&counting, io);
        env.io = &counting.base;
        s.task.is_cancelled = third_was_begun;
        s.task.cancel_ctx = &counting;
        cr_assert_eq(scenario_run(&s, &env, &err, "cancel", 2), SINTER_E_CANCELLED);
        s.task.is_cancelled = NULL;
        cr_assert_geq(counting.created, 4);
        cr_assert_eq(counting.open_files, 0);
        sinter_io_destroy(io);
    }
    scenario_end(&s);
}

Test(field_faults, f16_an_error_of_the_merge_function_after_two_outputs_leaves_nothing)
{
    scenario s;

    scenario_begin(&s, true);
    s.options.target_file_bytes = 20000;
    s.options.merge_engine = SINTER_MERGE_ENGINE_FIRST_ROW;
    for (size_t k = 0; k < 2; k++) {
        sinter_env env = *sinter_env_default();
        sinter_error err;
        count_io counting;
        sinter_io *io = backend_of(kinds[k]);

        if (io == NULL) {
            continue;
        }
        count_io_init(&counting, io);
        env.io = &counting.base;
        cr_assert_eq(scenario_run(&s, &env, &err, "merge function", 0), SINTER_E_RETRACT);
        cr_assert_geq(counting.created, 4, "only %llu files were begun",
                      (unsigned long long)counting.created);
        cr_assert_eq(counting.open_files, 0);
        sinter_io_destroy(io);
    }
    scenario_end(&s);
}

/* ---- F18: less than asked for ---- */

typedef struct meagre {
    test_rng rng;
    size_t bytes_max; /* at most so many at once; 0: a random part */
    bool is_nagging;  /* EINTR or EAGAIN before most calls */
} meagre;

static meagre meagre_plan;

static bool
nags(void)
{
    if (!meagre_plan.is_nagging || test_rng_chance(&meagre_plan.rng, 40)) {
        return false;
    }
    errno = test_rng_chance(&meagre_plan.rng, 50) ? EINTR : EAGAIN;
    return true;
}

static size_t
some_of(size_t size)
{
    if (meagre_plan.bytes_max == 0) {
        return size == 0 ? 0 : 1 + (size_t)test_rng_below(&meagre_plan.rng, size);
    }
    return size < meagre_plan.bytes_max ? size : meagre_plan.bytes_max;
}

static ssize_t
meagre_preadv(int fd, const struct iovec *parts, int count, off_t offset)
{
    (void)count;
    return nags() ? -1 : pread(fd, parts[0].iov_base, some_of(parts[0].iov_len), offset);
}

static ssize_t
meagre_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    (void)count;
    return nags() ? -1 : pwrite(fd, parts[0].iov_base, some_of(parts[0].iov_len), offset);
}

static sinter__posix_calls
meagre_calls(void)
{
    sinter__posix_calls calls = sinter__posix_calls_system;

    calls.preadv = meagre_preadv;
    calls.pwritev = meagre_pwritev;
    return calls;
}

/* Compact into new files and give the hash of all their records. */
static uint64_t
compact_and_hash(scenario *s, sinter_io *io, uint64_t *files_out)
{
    sinter_env env = *sinter_env_default();
    sinter_compact_result *result = NULL;
    const sinter_file_list *after = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t hash = 0;
    char path[1024];

    env.io = io;
    cr_assert_eq(sinter_compact_task_run(&env, &s->task, &result, &err), SINTER_OK, "%s (%s)",
                 err.text, err.file);
    after = sinter_compact_result_after(result);
    *files_out = after->count;
    for (size_t i = 0; i < after->count; i++) {
        test_run run;

        cr_assert_eq(bucket_read(&s->bucket, after->files[i].file_name, &run, &err), SINTER_OK);
        for (size_t r = 0; r < run.count; r++) {
            const test_record *record = &run.records[r];

            for (size_t k = 0; k < record->key.size; k++) {
                hash = hash * 1099511628211u + record->key.data[k];
            }
            for (size_t k = 0; k < record->value.size; k++) {
                hash = hash * 1099511628211u + record->value.data[k];
            }
            hash = hash * 1099511628211u + (uint64_t)record->sequence;
        }
        hash = hash * 31 + after->files[i].file_size;
        if (after->files[i].upgraded_from < 0) {
            snprintf(path, sizeof path, "%s/%s", s->dir, after->files[i].file_name);
            unlink(path);
        }
    }
    sinter_compact_result_destroy(result);
    return hash;
}

static void
compare_meagre(scenario *s, sinter_io *io, uint64_t wanted, uint64_t wanted_files)
{
    uint64_t files = 0;

    cr_assert_not_null(io);
    cr_expect_eq(compact_and_hash(s, io, &files), wanted, "records differ");
    cr_expect_eq(files, wanted_files);
    sinter_io_destroy(io);
}

Test(field_faults, f18_one_byte_or_a_random_part_at_a_time_gives_the_same_files_on_posix)
{
    static const size_t sizes[] = {0, 1, 7};
    const sinter__posix_calls calls = meagre_calls();
    scenario s;
    uint64_t files = 0;
    uint64_t wanted = 0;

    scenario_begin(&s, false);
    wanted = compact_and_hash(&s, sinter_io_posix(), &files);
    for (size_t i = 0; i < 6; i++) {
        sinter_io *io = NULL;

        meagre_plan = (meagre){.rng = {i + 1}, .bytes_max = sizes[i / 2], .is_nagging = i % 2 != 0};
        cr_assert_eq(sinter__posix_create(sinter_env_default(), &calls, &io, NULL), SINTER_OK);
        compare_meagre(&s, io, wanted, files);
    }
    scenario_end(&s);
}

#ifdef SINTER_HAVE_URING
/* The kernel did it all, but says it did a part, or was interrupted. */
static int
meagre_complete(void *ctx, const sinter__ring_request *request, int result)
{
    (void)ctx;
    (void)request;
    if (result <= 0) {
        return result;
    }
    return nags() ? -errno : (int)some_of((size_t)result);
}

Test(field_faults, f18_one_byte_or_a_random_part_at_a_time_gives_the_same_files_on_io_uring)
{
    static const size_t sizes[] = {0, 13, 1};
    const sinter__posix_calls calls = meagre_calls();
    const sinter__ring_hooks hooks = {.complete = meagre_complete};
    scenario s;
    uint64_t files = 0;
    uint64_t wanted = 0;

    if (sinter_io_probe_uring(NULL) != SINTER_OK) {
        fprintf(stderr, "no io_uring here: skipped\n");
        return;
    }
    scenario_begin(&s, false);
    wanted = compact_and_hash(&s, sinter_io_posix(), &files);
    for (size_t i = 0; i < 5; i++) {
        const sinter__uring_setup setup = {.queue_depth = 8,
                                           .buffer_count = 4,
                                           .buffer_bytes = 65536,
                                           .is_ring_only = true,
                                           .calls = &calls,
                                           .hooks = &hooks};
        sinter_io *io = NULL;

        meagre_plan = (meagre){.rng = {i + 1}, .bytes_max = sizes[i / 2], .is_nagging = i % 2 != 0};
        cr_assert_eq(sinter__uring_create(sinter_env_default(), &setup, &io, NULL), SINTER_OK);
        compare_meagre(&s, io, wanted, files);
    }
    scenario_end(&s);
}
#endif

Test(field_faults, f18_a_file_that_ends_early_is_named_with_the_place)
{
    scenario s;
    char path[1024];
    struct stat before;

    scenario_begin(&s, false);
    snprintf(path, sizeof path, "%s/%s", s.dir, s.files[1].file_name);
    cr_assert_eq(stat(path, &before), 0);
    for (off_t cut = 1; cut < before.st_size; cut = cut * 2 + 1) {
        for (size_t k = 0; k < 2; k++) {
            sinter_env env = *sinter_env_default();
            sinter_compact_result *result = NULL;
            sinter_error err = SINTER_ERROR_INIT;

            env.io = backend_of(kinds[k]);
            if (env.io == NULL) {
                continue;
            }
            cr_assert_eq(truncate(path, before.st_size - cut), 0);
            cr_expect_eq(sinter_compact_task_run(&env, &s.task, &result, &err), SINTER_E_CORRUPT,
                         "cut %lld: %s", (long long)cut, err.text);
            cr_expect_not_null(strstr(err.file, s.files[1].file_name), "%s", err.file);
            cr_expect_geq(err.offset, 0);
            cr_expect_eq(bucket_count_names(s.bucket.base, s.dir), SCENARIO_FILES);
            sinter_compact_result_destroy(result);
            sinter_io_destroy(env.io);
        }
        cr_assert_eq(truncate(path, before.st_size), 0);
    }
    scenario_end(&s);
}
