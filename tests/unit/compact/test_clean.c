#include <criterion/criterion.h>
#include <inttypes.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "world.h"

TestSuite(compact_clean, .timeout = 60);

#define UUID "0123abcd-0123-4567-89ab-0123456789ab"

static void
put_file(sinter_io *io, const char *path)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(io->ops->create(io, "bucket", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->append(file, "abc", 3, NULL), SINTER_OK);
    cr_assert_eq(file->ops->publish(file, path, NULL), SINTER_OK, "%s", path);
    file->ops->close(file);
}

static bool
has_file(sinter_io *io, const char *path)
{
    sinter_io_stat info;

    return io->ops->stat(io, path, &info, NULL) == SINTER_OK;
}

static void
count_deleted(void *ctx, const sinter_event *event)
{
    cr_expect_eq(event->bytes, 3);
    (*(size_t *)ctx)++;
}

static const char *const named[] = {"bucket/data-" UUID "-0.sst", "bucket/data-" UUID "-7.sst"};
static const char *const orphans[] = {"bucket/data-" UUID "-1.sst",
                                      "bucket/data-" UUID "-18446744073709551615.sst"};
static const char *const foreign[] = {
    "bucket/catalog.json",
    "bucket/data-" UUID "-1.sst.bak",
    "bucket/data-" UUID "-.sst",
    "bucket/data-" UUID "-x.sst",
    "bucket/data-0123ABCD-0123-4567-89ab-0123456789ab-1.sst",
    "bucket/data-0123abcd.0123-4567-89ab-0123456789ab-1.sst",
    "bucket/other-" UUID "-1.sst",
    "bucket/data-",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
put_all(sinter_io *io)
{
    for (size_t i = 0; i < COUNT(named); i++) {
        put_file(io, named[i]);
    }
    for (size_t i = 0; i < COUNT(orphans); i++) {
        put_file(io, orphans[i]);
    }
    for (size_t i = 0; i < COUNT(foreign); i++) {
        put_file(io, foreign[i]);
    }
}

/* A catalog that names one file, and another one as something that goes with it. */
static sinter_file_meta
catalog_file(void)
{
    static const char *const extra[] = {"data-" UUID "-7.sst"};
    sinter_file_meta file = file_of("data-" UUID "-0.sst", 0, "a", "b");

    file.extra_files = extra;
    file.extra_file_count = 1;
    return file;
}

Test(compact_clean, only_data_files_that_nobody_names_go)
{
    const sinter_file_meta file = catalog_file();
    const sinter_clean_options keep = {.struct_size = sizeof keep, .files = &file, .count = 1};
    size_t told = 0;
    const sinter_listener listener = {
        .struct_size = sizeof listener, .ctx = &told, .file_deleted = count_deleted};
    sinter_clean_result done = {.struct_size = sizeof done};
    world w;

    world_init(&w, false, NULL);
    w.env.listener = &listener;
    put_all(w.io);
    cr_assert_eq(w.io->ops->mkdir(w.io, "bucket/data-" UUID "-2.sst", NULL), SINTER_OK);
    cr_assert_eq(sinter_clean_dir(&w.env, "bucket", &keep, &done, NULL), SINTER_OK);
    cr_expect_eq(done.files, COUNT(orphans));
    cr_expect_eq(done.bytes, 3 * COUNT(orphans));
    cr_expect_eq(told, COUNT(orphans));
    for (size_t i = 0; i < COUNT(named); i++) {
        cr_expect(has_file(w.io, named[i]), "%s", named[i]);
    }
    for (size_t i = 0; i < COUNT(foreign); i++) {
        cr_expect(has_file(w.io, foreign[i]), "%s", foreign[i]);
    }
    for (size_t i = 0; i < COUNT(orphans); i++) {
        cr_expect(!has_file(w.io, orphans[i]), "%s", orphans[i]);
    }
    cr_expect(has_file(w.io, "bucket/data-" UUID "-2.sst"), "a directory is no data file");
    world_fini(&w);
}

Test(compact_clean, another_prefix_leaves_others_files_alone)
{
    const sinter_clean_options keep = {.struct_size = sizeof keep, .file_prefix = "other-"};
    sinter_clean_result done = {.struct_size = sizeof done};
    world w;

    world_init(&w, false, NULL);
    put_all(w.io);
    cr_assert_eq(sinter_clean_dir(&w.env, "bucket", &keep, &done, NULL), SINTER_OK);
    cr_expect_eq(done.files, 1);
    cr_expect(!has_file(w.io, "bucket/other-" UUID "-1.sst"));
    cr_expect(has_file(w.io, orphans[0]));
    world_fini(&w);
}

Test(compact_clean, a_failed_removal_is_told_and_can_be_done_again)
{
    const sinter_file_meta file = catalog_file();
    const sinter_clean_options keep = {.struct_size = sizeof keep, .files = &file, .count = 1};
    const sinter_fault_options fault = {
        .struct_size = sizeof fault, .kind = SINTER_FAULT_EIO, .only_op = "unlink", .at_call = 1};
    const sinter_fault_options none = {.struct_size = sizeof none, .at_call = UINT64_MAX};
    sinter_clean_result done = {.struct_size = sizeof done};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *io = NULL;
    world w;

    world_init(&w, false, NULL);
    put_all(w.io);
    cr_assert_eq(sinter_io_fault_create(&w.env, w.io, &fault, &io, NULL), SINTER_OK);
    w.env.io = io;
    cr_expect_eq(sinter_clean_dir(&w.env, "bucket", &keep, &done, &err), SINTER_E_IO);
    cr_expect_eq(done.files, 1, "counts tell what was done");
    cr_expect_neq(err.file[0], '\0');
    sinter_io_fault_set(io, &none);
    cr_expect_eq(sinter_clean_dir(&w.env, "bucket", &keep, &done, NULL), SINTER_OK);
    cr_expect_eq(done.files, 1);
    sinter_io_destroy(io);
    world_fini(&w);
}

Test(compact_clean, every_allocation_may_fail)
{
    const sinter_file_meta file = catalog_file();
    const sinter_clean_options keep = {.struct_size = sizeof keep, .files = &file, .count = 1};
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        world w;

        world_init(&w, false, NULL);
        put_all(w.io);
        fault_alloc_init(&fault, n);
        fault.env.io = w.io;
        st = sinter_clean_dir(&fault.env, "bucket", &keep, NULL, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %" PRIu64 ": %d", n, st);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        cr_assert(has_file(w.io, named[0]));
        world_fini(&w);
    }
}

Test(compact_clean, bad_arguments_are_refused)
{
    sinter_file_meta file = catalog_file();
    sinter_clean_options keep = {.struct_size = sizeof keep, .files = &file, .count = 1};
    world w;

    world_init(&w, false, NULL);
    put_all(w.io);
    cr_expect_eq(sinter_clean_dir(NULL, "bucket", &keep, NULL, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_clean_dir(&w.env, NULL, &keep, NULL, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_clean_dir(&w.env, "bucket", NULL, NULL, NULL), SINTER_E_INVALID);
    keep.files = NULL;
    cr_expect_eq(sinter_clean_dir(&w.env, "bucket", &keep, NULL, NULL), SINTER_E_INVALID);
    keep.files = &file;
    file.file_name = "a/b";
    cr_expect_eq(sinter_clean_dir(&w.env, "bucket", &keep, NULL, NULL), SINTER_E_INVALID);
    cr_expect(has_file(w.io, orphans[0]), "nothing goes when the list is bad");
    keep = (sinter_clean_options){.struct_size = sizeof keep};
    cr_expect_eq(sinter_clean_dir(&w.env, "nowhere", &keep, NULL, NULL), SINTER_E_NOT_FOUND);
    world_fini(&w);
}
