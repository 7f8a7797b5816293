#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_base.h"
#include "sinter/io.h"

TestSuite(io_memory, .timeout = 30);

static sinter_io *
make(void)
{
    sinter_io *io = NULL;

    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &io, NULL),
                 SINTER_OK);
    return io;
}

static void
put(sinter_io *io, const char *dir, const char *path, const char *text, bool synced)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(io->ops->create(io, dir, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(io->ops->append(file, text, strlen(text), NULL), SINTER_OK);
    if (synced) {
        cr_assert_eq(io->ops->sync(file, NULL), SINTER_OK);
    }
    cr_assert_eq(io->ops->publish(file, path, NULL), SINTER_OK);
    io->ops->close(file);
}

/* Size of a file, -1 when there is none. */
static int64_t
size_of(sinter_io *io, const char *path)
{
    sinter_io_stat about;

    return io->ops->stat(io, path, &about, NULL) == SINTER_OK ? (int64_t)about.size_bytes : -1;
}

Test(io_memory, a_path_has_many_spellings)
{
    sinter_io *io = make();

    cr_assert_eq(io->ops->mkdir(io, "/a", NULL), SINTER_OK);
    cr_assert_eq(io->ops->mkdir(io, "a/b/", NULL), SINTER_OK);
    put(io, "./a//b", "/a/./b/c", "123", true);
    cr_expect_eq(size_of(io, "a/b/c"), 3);
    cr_expect_eq(size_of(io, "//a//b//c"), 3);
    cr_expect_eq(size_of(io, "a/b"), 0);
    cr_expect_eq(size_of(io, "a/bc"), -1);
    cr_expect_eq(size_of(io, "a/b/c/d"), -1);
    cr_expect_eq(io->ops->mkdir(io, "/", NULL), SINTER_E_EXISTS);
    sinter_io_destroy(io);
}

Test(io_memory, power_loss_takes_what_was_not_synced)
{
    sinter_io *io = make();

    cr_assert_eq(io->ops->mkdir(io, "d", NULL), SINTER_OK);
    cr_assert_eq(io->ops->sync_dir(io, "/", NULL), SINTER_OK);
    put(io, "d", "d/whole", "12345", true);
    put(io, "d", "d/empty", "12345", false); /* the name is synced, the bytes aren't */
    put(io, "d", "d/gone-later", "1", true);
    cr_assert_eq(io->ops->sync_dir(io, "d", NULL), SINTER_OK);
    put(io, "d", "d/nameless", "12345", true); /* the bytes are synced, the name isn't */
    cr_assert_eq(io->ops->unlink(io, "d/gone-later", NULL), SINTER_OK);
    cr_assert_eq(io->ops->replace(io, "d/CATALOG", "xy", 2, NULL), SINTER_OK);
    cr_expect_eq(size_of(io, "d/empty"), 5);

    cr_assert_eq(sinter__memory_restart(io, NULL), SINTER_OK);
    cr_expect_eq(size_of(io, "d/whole"), 5);
    cr_expect_eq(size_of(io, "d/empty"), 0);
    cr_expect_eq(size_of(io, "d/nameless"), -1);
    cr_expect_eq(size_of(io, "d/gone-later"), 1, "its removal wasn't synced");
    cr_expect_eq(size_of(io, "d/CATALOG"), 2);
    sinter_io_destroy(io);
}

Test(io_memory, a_directory_that_was_not_synced_goes_with_what_is_in_it)
{
    sinter_io *io = make();

    cr_assert_eq(io->ops->mkdir(io, "d", NULL), SINTER_OK);
    cr_assert_eq(io->ops->mkdir(io, "d/e", NULL), SINTER_OK);
    put(io, "d/e", "d/e/f", "123", true);
    cr_assert_eq(io->ops->sync_dir(io, "d/e", NULL), SINTER_OK);
    cr_assert_eq(io->ops->sync_dir(io, "d", NULL), SINTER_OK);
    cr_assert_eq(sinter__memory_restart(io, NULL), SINTER_OK);
    cr_expect_eq(size_of(io, "d"), -1);
    cr_expect_eq(size_of(io, "d/e/f"), -1);
    sinter_io_destroy(io);
}

Test(io_memory, appends_after_a_sync_are_lost_alone)
{
    sinter_io *io = make();
    sinter_io_file *file = NULL;

    cr_assert_eq(io->ops->create(io, "/", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(io->ops->append(file, "123", 3, NULL), SINTER_OK);
    cr_assert_eq(io->ops->sync(file, NULL), SINTER_OK);
    cr_assert_eq(io->ops->append(file, "4567", 4, NULL), SINTER_OK);
    cr_assert_eq(io->ops->publish(file, "a", NULL), SINTER_OK);
    cr_assert_eq(io->ops->sync_dir(io, "/", NULL), SINTER_OK);
    cr_expect_eq(sinter__memory_restart(io, NULL), SINTER_E_BUSY, "a file is open");
    io->ops->close(file);
    cr_expect_eq(size_of(io, "a"), 7, "a refused restart changes nothing");
    cr_assert_eq(sinter__memory_restart(io, NULL), SINTER_OK);
    cr_expect_eq(size_of(io, "a"), 3);
    sinter_io_destroy(io);
}

Test(io_memory, a_removed_file_lives_while_it_is_open)
{
    sinter_io *io = make();
    sinter_io_file *file = NULL;
    char text[3];
    const sinter_io_range range = {.data = text, .size = 3};

    put(io, "/", "a", "abc", true);
    cr_assert_eq(io->ops->open(io, "a", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(io->ops->unlink(io, "a", NULL), SINTER_OK);
    put(io, "/", "a", "another", true);
    cr_assert_eq(io->ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_expect(memcmp(text, "abc", 3) == 0);
    io->ops->close(file);
    sinter_io_destroy(io);
}

/* What the names of one directory mean, now and after a restart: sizes, -1 for none. */
enum { NAMES = 6 };
typedef struct model {
    int64_t now[NAMES];
    int64_t now_synced[NAMES];
    int64_t durable[NAMES];
} model;

static void
step(sinter_io *io, model *expected, uint32_t what, uint32_t number)
{
    const uint32_t i = number % NAMES;
    char path[16];
    char text[64];

    (void)snprintf(path, sizeof path, "d/%u", i);
    if (what < 5) {
        const bool synced = what % 2 == 0;
        const int64_t size = number / NAMES % 50;

        (void)snprintf(text, sizeof text, "%0*d", (int)size + 1, 0);
        if (expected->now[i] < 0) {
            put(io, "d", path, text, synced);
            expected->now[i] = size + 1;
            expected->now_synced[i] = synced ? size + 1 : 0;
        }
    } else if (what < 8) {
        const sinter_status st = io->ops->unlink(io, path, NULL);

        cr_assert_eq(st, expected->now[i] < 0 ? SINTER_E_NOT_FOUND : SINTER_OK);
        expected->now[i] = -1;
        expected->now_synced[i] = -1;
    } else if (what < 10) {
        cr_assert_eq(io->ops->sync_dir(io, "d", NULL), SINTER_OK);
        memcpy(expected->durable, expected->now_synced, sizeof expected->durable);
    } else {
        cr_assert_eq(sinter__memory_restart(io, NULL), SINTER_OK);
        memcpy(expected->now, expected->durable, sizeof expected->now);
        memcpy(expected->now_synced, expected->durable, sizeof expected->now_synced);
    }
}

Test(io_memory, any_history_leaves_what_the_model_says)
{
    for (unsigned seed = 1; seed <= 200; seed++) {
        sinter_io *io = make();
        unsigned state = seed;
        model expected;

        memset(&expected, 0xff, sizeof expected); /* -1 everywhere */
        cr_assert_eq(io->ops->mkdir(io, "d", NULL), SINTER_OK);
        cr_assert_eq(io->ops->sync_dir(io, "/", NULL), SINTER_OK);
        for (int i = 0; i < 60; i++) {
            const uint32_t what = (uint32_t)rand_r(&state) % 11;

            step(io, &expected, what, (uint32_t)rand_r(&state));
            for (uint32_t n = 0; n < NAMES; n++) {
                char path[16];

                (void)snprintf(path, sizeof path, "d/%u", n);
                cr_assert_eq(size_of(io, path), expected.now[n], "seed %u, step %d, name %u", seed,
                             i, n);
            }
        }
        sinter_io_destroy(io);
    }
}
