#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "compact/result.h"
#include "support/fault_alloc.h"
#include "world.h"

TestSuite(compact_discard, .timeout = 60);

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
has_file(sinter_io *io, const char *path)
{
    sinter_io_stat info;

    return io->ops->stat(io, path, &info, NULL) == SINTER_OK;
}

/* Three inputs whose second is upgraded, and three new files: with an extra file, below another
 * directory, and outside of the bucket. */
static const char *const old_paths[] = {"bucket/in-a", "bucket/in-b"};
static const char *const new_paths[] = {"bucket/new-a", "bucket/new-a.index", "bucket/sub/new-b",
                                        "elsewhere"};
static sinter_file_meta inputs[2];

static sinter_compact_result *
make_result(sinter_io *io)
{
    static const char *const extra[] = {"new-a.index"};
    sinter_file_meta made = file_of("new-a", 3, "a", "b");
    sinter_compact_result *result = NULL;

    inputs[0] = file_of("in-a", 0, "a", "b");
    inputs[1] = file_of("in-b", 0, "c", "d");
    cr_assert_eq(io->ops->mkdir(io, "bucket/sub", NULL), SINTER_OK);
    for (size_t i = 0; i < 2; i++) {
        put_file(io, old_paths[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        put_file(io, new_paths[i]);
    }
    cr_assert_eq(sinter__result_create(sinter_env_default(), inputs, 2, &result, NULL), SINTER_OK);
    cr_assert_eq(sinter__result_add_before(result, &inputs[0], NULL), SINTER_OK);
    cr_assert_eq(sinter__result_add_upgraded(result, &inputs[1], 3, NULL), SINTER_OK);
    made.extra_files = extra;
    made.extra_file_count = 1;
    cr_assert_eq(sinter_compact_result_add_after(result, &made, NULL), SINTER_OK);
    made = file_of("new-b", 3, "e", "f");
    made.dir = "sub";
    cr_assert_eq(sinter_compact_result_add_after(result, &made, NULL), SINTER_OK);
    made = file_of("new-c", 3, "g", "h");
    made.external_path = "elsewhere";
    cr_assert_eq(sinter_compact_result_add_after(result, &made, NULL), SINTER_OK);
    return result;
}

static size_t
count_new(sinter_io *io)
{
    size_t count = 0;

    for (size_t i = 0; i < 4; i++) {
        count += has_file(io, new_paths[i]);
    }
    return count;
}

static void
expect_inputs(sinter_io *io)
{
    cr_assert(has_file(io, old_paths[0]));
    cr_assert(has_file(io, old_paths[1]), "an upgraded file is an input");
}

static void
count_deleted(void *ctx, const sinter_event *event)
{
    cr_expect_not_null(event->file);
    (*(size_t *)ctx)++;
}

Test(compact_discard, new_files_go_and_inputs_stay)
{
    size_t told = 0;
    const sinter_listener listener = {
        .struct_size = sizeof listener, .ctx = &told, .file_deleted = count_deleted};
    sinter_compact_result *result;
    world w;

    world_init(&w, false, NULL);
    w.env.listener = &listener;
    result = make_result(w.io);
    cr_assert_eq(count_new(w.io), 4);
    cr_assert_eq(sinter_compact_result_discard(&w.env, result, "bucket", NULL), SINTER_OK);
    cr_expect_eq(count_new(w.io), 0);
    cr_expect_eq(told, 4);
    expect_inputs(w.io);
    cr_expect_eq(sinter_compact_result_discard(&w.env, result, "bucket", NULL), SINTER_OK,
                 "what is gone needs no removing");
    cr_expect_eq(told, 4);
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

Test(compact_discard, what_a_task_made_is_taken_back)
{
    sinter_file_meta unit[2];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    size_t names;
    world w;

    world_init(&w, false, NULL);
    (void)world_add_rows(&w, 0, 1, 1, 20, 1, 10);
    (void)world_add_rows(&w, 0, 5, 1, 20, 100, 10);
    names = world_name_count(&w);
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 3;
    cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
    cr_assert_eq(world_name_count(&w), names + 1);
    cr_assert_eq(sinter_compact_result_discard(&w.env, result, world_dir, NULL), SINTER_OK);
    cr_expect_eq(world_name_count(&w), names);
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

Test(compact_discard, bad_arguments_are_refused)
{
    sinter_env no_io = *sinter_env_default();
    sinter_compact_result *result;
    world w;

    world_init(&w, false, NULL);
    result = make_result(w.io);
    no_io.io = NULL;
    cr_expect_eq(sinter_compact_result_discard(NULL, result, "bucket", NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_compact_result_discard(&no_io, result, "bucket", NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_compact_result_discard(&w.env, NULL, "bucket", NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_compact_result_discard(&w.env, result, NULL, NULL), SINTER_E_INVALID);
    cr_expect_eq(count_new(w.io), 4);
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

/* One failure costs one file; a second try finishes the work. */
static void
expect_all_but_one(world *w, sinter_compact_result *result, uint64_t n)
{
    cr_assert_eq(count_new(w->io), 1, "failure %" PRIu64, n);
    expect_inputs(w->io);
    w->env = *sinter_env_default();
    w->env.io = w->io;
    cr_assert_eq(sinter_compact_result_discard(&w->env, result, "bucket", NULL), SINTER_OK);
    cr_assert_eq(count_new(w->io), 0);
}

Test(compact_discard, only_paths_that_no_system_takes_need_memory)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_compact_result *result;
    char longest[5000];
    fault_alloc fault;
    world w;

    world_init(&w, false, NULL);
    result = make_result(w.io);
    fault_alloc_init(&fault, 0);
    w.env.allocator = fault.env.allocator;
    memset(longest, 'd', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    cr_expect_eq(sinter_compact_result_discard(&w.env, result, longest, &err), SINTER_E_NOMEM);
    cr_expect_eq(err.status, SINTER_E_NOMEM);
    fault.fail_at = UINT64_MAX;
    cr_expect_eq(sinter_compact_result_discard(&w.env, result, longest, NULL), SINTER_OK,
                 "nothing lies there");
    cr_expect_eq(fault.live, 0);
    fault.fail_at = fault.calls;
    cr_expect_eq(sinter_compact_result_discard(&w.env, result, "bucket", NULL), SINTER_OK);
    cr_expect_eq(count_new(w.io), 0);
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

Test(compact_discard, every_io_call_may_fail)
{
    sinter_status st = SINTER_E_IO;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options rule = {
            .struct_size = sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_error err = SINTER_ERROR_INIT;
        sinter_compact_result *result;
        sinter_io *faulty = NULL;
        world w;

        world_init(&w, false, NULL);
        result = make_result(w.io);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), w.io, &rule, &faulty, NULL),
                     SINTER_OK);
        w.env.io = faulty;
        st = sinter_compact_result_discard(&w.env, result, "bucket", &err);
        if (st != SINTER_OK) {
            cr_assert(st == SINTER_E_IO && err.status == st && strlen(err.file) > 0);
            expect_all_but_one(&w, result, n);
        } else {
            cr_assert_eq(n, 4, "one call a file");
            cr_assert_eq(err.status, SINTER_OK, "untouched on success");
        }
        sinter_compact_result_destroy(result);
        sinter_io_destroy(faulty);
        world_fini(&w);
    }
}
