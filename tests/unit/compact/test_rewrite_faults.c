/*
 * Compactions that fail: a full disk, an error or a cancel between outputs, and every allocation
 * and io call in turn (field-faults F15, F16).
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "support/count_io.h"
#include "support/fault_alloc.h"
#include "world.h"

TestSuite(compact_rewrite_faults, .timeout = 200);
TestSuite(field_faults, .timeout = 60);

enum { UNIT_MAX = 64 };

static const model_rules newest = {
    .engine = MODEL_DEDUPLICATE, .drop_delete = true, .has_ages = true};

/** What stops a task after two of three outputs. */
typedef struct stopper {
    sinter_io *fault;
    unsigned asked;
    unsigned cancel_at;
} stopper;

static bool
stop_later(void *ctx)
{
    stopper *s = ctx;

    return ++s->asked == s->cancel_at;
}

/** Inputs as they were, and nothing else in the directory. */
static void
expect_untouched(world *w, const sinter_bytes *contents, size_t count, const char *when)
{
    cr_assert_eq(world_name_count(w), count, "%s: %zu names", when, world_name_count(w));
    for (size_t i = 0; i < count; i++) {
        cr_assert(test_bytes_equal(contents[i], world_content(w, w->files[i].file_name)), "%s",
                  when);
    }
}

static size_t
set_up_three_outputs(world *w, sinter_bytes *contents)
{
    w->options.target_file_bytes = 40000;
    w->options.small_file_ratio = 0;
    w->options.block_bytes = 2000;
    w->write.block_bytes = 2000;
    world_add_rows(w, 0, 0, 2, 500, 1, 100);
    world_add_rows(w, 0, 1, 2, 500, 1001, 100);
    world_add_rows(w, 0, 5000, 1, 10, 3001, 100);
    for (size_t i = 0; i < w->count; i++) {
        contents[i] = world_content(w, w->files[i].file_name);
    }
    return w->count;
}

Test(field_faults, f16_failure_after_two_of_three_outputs)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_bytes contents[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    uint64_t publishes = 0;
    uint64_t calls = 0;
    world w;
    sinter_io *fault = NULL;
    count_io count;
    sinter_fault_options rule = {.struct_size = sizeof rule, .kind = SINTER_FAULT_NONE};
    size_t inputs = 0;
    stopper s = {.cancel_at = 0};

    world_init(&w, false, NULL);
    inputs = set_up_three_outputs(&w, contents);
    count_io_init(&count, w.io);
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), &count.base, &rule, &fault, NULL),
                 SINTER_OK);
    w.env.io = fault;
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;

    /* a run without a fault tells how many files it makes */
    rule.only_op = "publish";
    sinter_io_fault_set(fault, &rule);
    task.is_cancelled = stop_later;
    task.cancel_ctx = &s;
    cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
    publishes = sinter_io_fault_calls(fault);
    cr_assert_geq(publishes, 3);
    calls = s.asked;
    cr_assert_geq(calls, 4);
    for (size_t i = 0; i < sinter_compact_result_after(result)->count; i++) {
        const sinter_file_meta *file = &sinter_compact_result_after(result)->files[i];
        char path[128];

        if (file->upgraded_from < 0) {
            (void)snprintf(path, sizeof path, "bucket/%s", file->file_name);
            cr_assert_eq(w.io->ops->unlink(w.io, path, NULL), SINTER_OK);
        }
    }
    sinter_compact_result_destroy(result);
    expect_untouched(&w, contents, inputs, "before");

    rule.kind = SINTER_FAULT_EIO;
    rule.at_call = 2;
    sinter_io_fault_set(fault, &rule);
    cr_expect_eq(world_run(&w, &task, &result, NULL), SINTER_E_IO, "the third publish fails");
    cr_expect_null(result);
    expect_untouched(&w, contents, inputs, "EIO");

    rule.kind = SINTER_FAULT_ENOSPC;
    rule.only_op = "append";
    rule.at_call = 2;
    sinter_io_fault_set(fault, &rule);
    cr_expect_eq(world_run(&w, &task, &result, NULL), SINTER_E_NO_SPACE);
    expect_untouched(&w, contents, inputs, "ENOSPC");

    rule.kind = SINTER_FAULT_NONE;
    sinter_io_fault_set(fault, &rule);
    for (unsigned at = 1; at <= calls; at++) {
        s = (stopper){.cancel_at = at};
        cr_expect_eq(world_run(&w, &task, &result, NULL), SINTER_E_CANCELLED, "at %u", at);
        expect_untouched(&w, contents, inputs, "cancelled");
    }
    cr_expect_eq(count.open_files, 0);
    sinter_io_destroy(fault);
    world_fini(&w);
}

Test(field_faults, f15_after_space_has_been_freed_the_same_task_succeeds)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_bytes contents[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_fault_options rule = {
        .struct_size = sizeof rule, .kind = SINTER_FAULT_ENOSPC, .only_op = "append", .at_call = 1};
    world w;
    sinter_io *fault = NULL;
    size_t inputs = 0;

    world_init(&w, false, NULL);
    inputs = set_up_three_outputs(&w, contents);
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), w.io, &rule, &fault, NULL),
                 SINTER_OK);
    w.env.io = fault;
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;
    cr_expect_eq(world_run(&w, &task, &result, &err), SINTER_E_NO_SPACE);
    cr_expect_not_null(strstr(err.text, "bytes into bucket"), "%s", err.text);
    expect_untouched(&w, contents, inputs, "full");
    rule.kind = SINTER_FAULT_NONE;
    sinter_io_fault_set(fault, &rule);
    cr_expect_eq(world_compact(&w, &task, &err), SINTER_OK);
    world_expect_model(&w, &newest, "after space was freed");
    sinter_io_destroy(fault);
    world_fini(&w);
}

Test(field_faults, f16_an_error_of_the_merge_function_leaves_nothing)
{
    test_record rows[400];
    char keys[400][8];
    const test_record retract[] = {world_delete("0399", 9000)};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    world w;

    for (int i = 0; i < 400; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "%04d", i);
        rows[i] = world_record(keys[i], i, "a value of some length to fill blocks");
    }
    world_init(&w, false, NULL);
    w.options.merge_engine = SINTER_MERGE_ENGINE_FIRST_ROW;
    w.options.target_file_bytes = 2000;
    w.options.block_bytes = 300;
    world_add(&w, 0, rows, 400);
    world_add(&w, 0, retract, 1);
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;
    cr_expect_eq(world_run(&w, &task, &result, &err), SINTER_E_RETRACT);
    cr_expect_null(result);
    cr_expect_eq(world_name_count(&w), 2);
    world_fini(&w);
}

/* A compaction with a spill, several outputs, an upgrade, passed blocks and dropped deletes. */
static void
set_up_everything(world *w)
{
    const test_record deletes[] = {world_delete("00000003", 9001), world_delete("00000009", 9002)};

    w->options.target_file_bytes = 2500;
    w->options.small_file_ratio = 0.1;
    w->options.block_bytes = 600;
    w->options.codec = SINTER_CODEC_LZ4;
    w->options.sort_spill_threshold = 2;
    w->write.block_bytes = 600;
    w->write.codec = SINTER_CODEC_LZ4;
    world_add_rows(w, 1, 0, 1, 120, 1, 40);
    world_add_rows(w, 0, 2, 5, 8, 1001, 40);
    world_add_rows(w, 0, 4, 7, 5, 2001, 40);
    world_add(w, 0, deletes, 2);
    world_add_rows(w, 0, 1000, 1, 30, 3001, 40);
}

static sinter_status
run_everything(world *w, sinter_compact_result **result, sinter_error *err)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_status st = SINTER_OK;

    world_task(w, NULL, 0, unit, &task);
    task.output_level = 5;
    task.drop_delete = true;
    st = world_run(w, &task, result, err);
    if (st == SINTER_OK) {
        const sinter_compact_counters *c = sinter_compact_result_counters(*result);

        cr_assert_gt(c->merge.spill_runs, 0);
        cr_assert_gt(c->merge.blocks_passed, 0);
        cr_assert_eq(c->files_upgraded, 1);
        cr_assert_eq(c->merge.deleted, 2);
        cr_assert_geq(sinter_compact_result_after(*result)->count, 3);
        /* what the result says of inputs has to be read while they are there */
        world_apply(w, *result);
    }
    return st;
}

Test(compact_rewrite_faults, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    uint64_t n = 0;

    for (; st != SINTER_OK; n++) {
        sinter_compact_result *result = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        size_t names = 0;
        world w;

        fault_alloc_init(&fault, UINT64_MAX);
        world_init(&w, false, &fault.env.allocator);
        set_up_everything(&w);
        names = world_name_count(&w);
        fault.calls = 0;
        fault.fail_at = n;
        st = run_everything(&w, &result, &err);
        fault.fail_at = UINT64_MAX;
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && result == NULL && err.status == st),
                  "allocation %" PRIu64 ": %s: %s", n, sinter_status_name(st), err.text);
        if (st != SINTER_OK) {
            cr_assert_eq(world_name_count(&w), names, "allocation %" PRIu64 " left a file", n);
        } else {
            world_expect_model(&w, &newest, "at the end of the sweep");
        }
        sinter_compact_result_destroy(result);
        world_fini(&w);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    cr_expect_gt(n, 100, "%" PRIu64 " points", n);
}

Test(compact_rewrite_faults, what_a_finished_task_made_outlives_a_power_loss)
{
    const sinter_fault_options rule = {.struct_size = sizeof rule, .kind = SINTER_FAULT_NONE};
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *fault = NULL;
    world w;

    world_init(&w, false, NULL);
    set_up_everything(&w);
    cr_assert_eq(w.io->ops->sync_dir(w.io, ".", NULL), SINTER_OK);
    cr_assert_eq(w.io->ops->sync_dir(w.io, world_dir, NULL), SINTER_OK);
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), w.io, &rule, &fault, NULL),
                 SINTER_OK);
    w.env.io = fault;
    cr_assert_eq(run_everything(&w, &result, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_io_fault_restart(fault, NULL), SINTER_OK);
    world_expect_model(&w, &newest, "when power is back");
    sinter_compact_result_destroy(result);
    sinter_io_destroy(fault);
    world_fini(&w);
}

static void
sweep_io(sinter_fault_kind kind)
{
    sinter_status st = SINTER_E_IO;
    uint64_t n = 0;

    for (; st != SINTER_OK; n++) {
        const sinter_fault_options rule = {.struct_size = sizeof rule, .kind = kind, .at_call = n};
        sinter_compact_result *result = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_io *fault = NULL;
        count_io count;
        size_t names = 0;
        world w;

        world_init(&w, false, NULL);
        set_up_everything(&w);
        names = world_name_count(&w);
        count_io_init(&count, w.io);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), &count.base, &rule, &fault, NULL),
                     SINTER_OK);
        w.env.io = fault;
        st = run_everything(&w, &result, &err);
        cr_assert(st == SINTER_OK || (st < 0 && result == NULL && err.status == st),
                  "call %" PRIu64, n);
        cr_assert_eq(count.open_files, 0, "call %" PRIu64 " leaves a file open", n);
        w.env.io = w.io;
        if (st != SINTER_OK) {
            cr_assert_eq(world_name_count(&w), names, "call %" PRIu64 " left a file: %s", n,
                         err.text);
        }
        world_expect_model(&w, &newest, "after a fault");
        sinter_compact_result_destroy(result);
        sinter_io_destroy(fault);
        world_fini(&w);
    }
    cr_expect_gt(n, 30, "%" PRIu64 " points", n);
}

Test(compact_rewrite_faults, every_io_call_may_fail)
{
    sweep_io(SINTER_FAULT_EIO);
}

Test(compact_rewrite_faults, every_io_call_may_find_a_full_disk)
{
    sweep_io(SINTER_FAULT_ENOSPC);
}

Test(compact_rewrite_faults, every_write_may_be_torn)
{
    sweep_io(SINTER_FAULT_TORN_WRITE);
}
