#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "compact/levels.h"
#include "files.h"
#include "sinter/io.h"
#include "sinter/levels.h"
#include "support/fault_alloc.h"

TestSuite(compact_file_set, .timeout = 60);

/** Levels over files that exist, in memory. */
typedef struct held_files {
    fault_alloc fault;
    sinter_env env;
    sinter_io *io;
    sinter_listener listener;
    size_t told;
    size_t failures;
    sinter_levels *levels;
} held_files;

static void
count_told(void *ctx, const sinter_event *event)
{
    cr_expect_not_null(event->file);
    ((held_files *)ctx)->told++;
}

static void
count_failed(void *ctx, const sinter_event *event)
{
    cr_expect_lt(event->status, 0);
    ((held_files *)ctx)->failures++;
}

static void
put_file(sinter_io *io, const char *path)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(io->ops->create(io, "bucket", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->append(file, "x", 1, NULL), SINTER_OK);
    cr_assert_eq(file->ops->publish(file, path, NULL), SINTER_OK, "%s", path);
    file->ops->close(file);
}

static bool
has_file(const held_files *b, const char *path)
{
    sinter_io_stat info;

    return b->io->ops->stat(b->io, path, &info, NULL) == SINTER_OK;
}

static void
held_files_init(held_files *b)
{
    static const char *const names[] = {"a", "b", "c", "a.index"};
    const sinter_levels_options options = {
        .struct_size = sizeof options, .num_levels = 6, .base_dir = "bucket"};

    *b = (held_files){.told = 0};
    fault_alloc_init(&b->fault, UINT64_MAX);
    b->env = b->fault.env;
    b->listener = (sinter_listener){.struct_size = sizeof b->listener,
                                    .ctx = b,
                                    .file_deleted = count_told,
                                    .background_error = count_failed};
    b->env.listener = &b->listener;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &b->io, NULL),
                 SINTER_OK);
    b->env.io = b->io;
    cr_assert_eq(b->io->ops->mkdir(b->io, "bucket", NULL), SINTER_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64];

        (void)snprintf(path, sizeof path, "bucket/%s", names[i]);
        put_file(b->io, path);
    }
    cr_assert_eq(sinter_levels_create(&b->env, &options, NULL, 0, &b->levels, NULL), SINTER_OK);
}

static void
held_files_fini(held_files *b)
{
    sinter_levels_destroy(b->levels);
    cr_expect_eq(b->fault.live, 0);
    sinter_io_destroy(b->io);
}

static const char *const extra_files[] = {"a.index"};

static sinter_file_meta
file_a(int32_t level)
{
    sinter_file_meta file = file_of("a", level, "a", "m");

    file.extra_files = extra_files;
    file.extra_file_count = 1;
    return file;
}

static void
replace(held_files *b, const sinter_file_meta *before, const sinter_file_meta *after)
{
    cr_assert_eq(sinter_levels_update(b->levels, before, before == NULL ? 0 : 1, after,
                                      after == NULL ? 0 : 1, NULL),
                 SINTER_OK);
}

Test(compact_file_set, a_retired_file_that_nobody_holds_goes_at_once)
{
    const sinter_file_meta a = file_a(0);
    const sinter_file_meta b = file_of("b", 5, "a", "m");
    held_files w;

    held_files_init(&w);
    replace(&w, NULL, &a);
    replace(&w, &a, &b);
    cr_expect_eq(sinter_levels_discard(w.levels, &a, NULL), SINTER_OK);
    cr_expect_not(has_file(&w, "bucket/a") || has_file(&w, "bucket/a.index"));
    cr_expect_eq(w.told, 2);
    cr_expect_eq(sinter_levels_discard(w.levels, &a, NULL), SINTER_OK, "gone already");
    cr_expect(has_file(&w, "bucket/b"));
    held_files_fini(&w);
}

Test(compact_file_set, a_retired_file_that_is_held_goes_with_its_last_set)
{
    const sinter_file_meta a = file_a(0);
    const sinter_file_meta b = file_of("b", 0, "a", "m");
    const sinter_file_set *sets[2];
    held_files w;

    held_files_init(&w);
    replace(&w, NULL, &a);
    sets[0] = sinter_levels_acquire(w.levels);
    replace(&w, NULL, &b);
    sets[1] = sinter_levels_acquire(w.levels);
    replace(&w, &a, NULL);
    cr_expect_eq(sinter_levels_discard(w.levels, &a, NULL), SINTER_OK);
    cr_expect(has_file(&w, "bucket/a") && has_file(&w, "bucket/a.index"));
    sinter_file_set_release(sets[1]);
    cr_expect(has_file(&w, "bucket/a"));
    sinter_levels_destroy(w.levels);
    w.levels = NULL;
    cr_expect(has_file(&w, "bucket/a"), "also when the levels are gone");
    sinter_file_set_release(sets[0]);
    cr_expect_not(has_file(&w, "bucket/a") || has_file(&w, "bucket/a.index"));
    cr_expect(has_file(&w, "bucket/b"));
    cr_expect_eq(w.told, 2);
    held_files_fini(&w);
}

Test(compact_file_set, a_file_is_the_same_at_whatever_level_a_set_lists_it)
{
    const sinter_file_meta young = file_a(0);
    const sinter_file_meta old = file_a(5);
    const sinter_file_set *held;
    held_files w;

    held_files_init(&w);
    replace(&w, NULL, &young);
    held = sinter_levels_acquire(w.levels);
    replace(&w, &young, &old);
    cr_expect_eq(sinter_levels_discard(w.levels, &young, NULL), SINTER_E_INVALID,
                 "it is listed in level 5");
    replace(&w, &old, NULL);
    cr_expect_eq(sinter_levels_discard(w.levels, &old, NULL), SINTER_OK);
    cr_expect(has_file(&w, "bucket/a"), "held in level 0");
    sinter_file_set_release(held);
    cr_expect_not(has_file(&w, "bucket/a"));
    held_files_fini(&w);
}

Test(compact_file_set, a_file_that_came_back_is_held_by_the_sets_from_before)
{
    const sinter_file_meta a = file_a(0);
    const sinter_file_set *held;
    held_files w;

    held_files_init(&w);
    replace(&w, NULL, &a);
    held = sinter_levels_acquire(w.levels);
    replace(&w, &a, NULL);
    replace(&w, NULL, &a);
    cr_expect_eq(sinter_levels_discard(w.levels, &a, NULL), SINTER_E_INVALID);
    replace(&w, &a, NULL);
    cr_expect_eq(sinter_levels_discard(w.levels, &a, NULL), SINTER_OK);
    cr_expect(has_file(&w, "bucket/a"));
    cr_expect_eq(sinter_levels_update(w.levels, NULL, 0, &a, 1, NULL), SINTER_E_INVALID,
                 "it waits for its removal");
    sinter_file_set_release(held);
    cr_expect_not(has_file(&w, "bucket/a"));
    held_files_fini(&w);
}

Test(compact_file_set, without_a_directory_nothing_is_removed)
{
    const sinter_levels_options options = {.struct_size = sizeof options, .num_levels = 6};
    const sinter_file_meta a = file_a(0);
    sinter_levels *levels = NULL;

    cr_assert_eq(sinter_levels_create(sinter_env_default(), &options, NULL, 0, &levels, NULL),
                 SINTER_OK);
    cr_expect_eq(sinter_levels_discard(levels, &a, NULL), SINTER_E_INVALID);
    sinter_levels_destroy(levels);
}

Test(compact_file_set, files_of_a_bucket_that_ended_go_with_the_last_set_that_lists_them)
{
    held_files w;
    const sinter_file_meta a = file_a(0);
    const sinter_file_meta b = file_of("b", 1, "a", "m");
    const sinter_file_set *held = NULL;

    held_files_init(&w);
    replace(&w, NULL, &a);
    held = sinter_levels_acquire(w.levels);
    replace(&w, &a, &b);
    w.fault.fail_at = w.fault.calls; /* from here on the next one fails */
    sinter__levels_abandon(w.levels);
    cr_expect_eq(sinter_levels_discard(w.levels, &a, NULL), SINTER_OK);
    cr_expect_eq(sinter_levels_discard(w.levels, &b, NULL), SINTER_OK, "listed no more");
    cr_expect(!has_file(&w, "bucket/b"));
    cr_expect(has_file(&w, "bucket/a"), "a set lists it");
    sinter_levels_destroy(w.levels);
    w.levels = NULL;
    cr_expect(has_file(&w, "bucket/a"), "and outlives the levels");
    sinter_file_set_release(held);
    cr_expect(!has_file(&w, "bucket/a"));
    cr_expect_eq(w.fault.calls, w.fault.fail_at);
    held_files_fini(&w);
}

Test(compact_file_set, a_removal_needs_no_memory)
{
    const sinter_file_meta a = file_a(0);
    const sinter_file_meta b = file_of("b", 0, "a", "m");
    const sinter_file_set *held;
    held_files w;

    held_files_init(&w);
    replace(&w, NULL, &a);
    replace(&w, NULL, &b);
    replace(&w, &a, NULL);
    held = sinter_levels_acquire(w.levels);
    replace(&w, &b, NULL);
    w.fault.fail_at = w.fault.calls; /* from here on the next one fails */
    cr_expect_eq(sinter_levels_discard(w.levels, &a, NULL), SINTER_OK);
    cr_expect_eq(sinter_levels_discard(w.levels, &b, NULL), SINTER_OK);
    sinter_file_set_release(held);
    cr_expect_eq(w.fault.calls, w.fault.fail_at);
    cr_expect_not(has_file(&w, "bucket/a") || has_file(&w, "bucket/b"));
    held_files_fini(&w);
}

Test(compact_file_set, a_removal_that_fails_is_returned_or_told)
{
    const sinter_file_meta a = file_a(0);
    const sinter_file_meta b = file_of("b", 0, "a", "m");
    const sinter_fault_options rule = {
        .struct_size = sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = 0};
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_file_set *held;
    sinter_io *faulty = NULL;
    held_files w;

    held_files_init(&w);
    replace(&w, NULL, &a);
    replace(&w, &a, &b);
    held = sinter_levels_acquire(w.levels);
    replace(&w, &b, NULL);
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), w.io, &rule, &faulty, NULL),
                 SINTER_OK);
    w.env.io = faulty;
    cr_expect_eq(sinter_levels_discard(w.levels, &a, &err), SINTER_E_IO);
    cr_expect_eq(err.status, SINTER_E_IO);
    cr_expect_not(has_file(&w, "bucket/a.index"), "the others go all the same");
    sinter_io_destroy(faulty);
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), w.io, &rule, &faulty, NULL),
                 SINTER_OK);
    w.env.io = faulty;
    cr_expect_eq(sinter_levels_discard(w.levels, &b, &err), SINTER_OK);
    sinter_file_set_release(held);
    cr_expect_eq(w.failures, 1);
    cr_expect(has_file(&w, "bucket/b"));
    held_files_fini(&w);
    sinter_io_destroy(faulty);
}

/** What readers do while levels change. */
typedef struct readers {
    sinter_levels *levels;
    atomic_bool is_over;
    atomic_size_t acquired;
} readers;

/* All files of a set have the same number in their name: sets are whole. */
static void
read_sets(void *arg)
{
    readers *shared = arg;

    while (!atomic_load(&shared->is_over)) {
        const sinter_file_set *set = sinter_levels_acquire(shared->levels);
        const sinter_file_set *again = sinter_file_set_acquire(set);
        size_t count = 0;
        const sinter_file_meta *files = sinter_file_set_files(again, &count);

        sinter_file_set_release(set);
        cr_assert_eq(count, 3);
        for (size_t i = 0; i < count; i++) {
            cr_assert_str_eq(files[i].file_name + 1, files[0].file_name + 1);
        }
        (void)atomic_fetch_add(&shared->acquired, 1);
        sinter_file_set_release(again);
    }
}

enum { NAME_CHARS = 24, THREADS = 3, UPDATES = 1000 };

static void
make_files(char (*names)[NAME_CHARS], unsigned number, sinter_file_meta *files)
{
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(names[i], NAME_CHARS, "%c%u", 'a' + (int)i, number);
        files[i] = file_of(names[i], (int32_t)i, "a", "m");
    }
}

Test(compact_file_set, threads_see_whole_sets_while_levels_change)
{
    char names[2][3][NAME_CHARS];
    sinter_file_meta files[2][3];
    const sinter_levels_options options = {.struct_size = sizeof options, .num_levels = 3};
    readers shared = {.levels = NULL};
    sinter_pool *pool = NULL;
    sinter_executor executor;

    make_files(names[0], 0, files[0]);
    cr_assert_eq(
        sinter_levels_create(sinter_env_default(), &options, files[0], 3, &shared.levels, NULL),
        SINTER_OK);
    cr_assert_eq(sinter_pool_create(sinter_env_default(), THREADS, THREADS, &pool, NULL),
                 SINTER_OK);
    executor = sinter_pool_executor(pool);
    for (size_t i = 0; i < THREADS; i++) {
        cr_assert_eq(executor.submit(executor.ctx, read_sets, &shared), SINTER_OK);
    }
    for (unsigned n = 1; n <= UPDATES || atomic_load(&shared.acquired) < UPDATES; n++) {
        make_files(names[n % 2], n, files[n % 2]);
        cr_assert_eq(
            sinter_levels_update(shared.levels, files[(n + 1) % 2], 3, files[n % 2], 3, NULL),
            SINTER_OK);
    }
    atomic_store(&shared.is_over, true);
    sinter_pool_destroy(pool);
    sinter_levels_destroy(shared.levels);
}
