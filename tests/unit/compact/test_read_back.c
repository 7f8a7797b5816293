/*
 * New files that are read back before anybody hears of them (sinter.verify-output), over an io that
 * damages what is written.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compact/read_back.h"
#include "flush_bed.h"

TestSuite(compact_read_back, .timeout = 200);

enum { ROWS = 60, UNIT_MAX = 8 };

/* The memory backend with one bit of all that is appended flipped on its way. */
static const sinter_io_ops *honest;
static sinter_io_ops flipping;
static uint64_t flip_at; /* byte */
static uint64_t appended;

static sinter_status
flip_append(sinter_io_file *file, const void *data, size_t size, sinter_error *err)
{
    uint8_t *copy = malloc(size + 1);
    sinter_status st = SINTER_OK;

    cr_assert_not_null(copy);
    memcpy(copy, data, size);
    if (flip_at >= appended && flip_at - appended < size) {
        copy[flip_at - appended] ^= (uint8_t)(1u << flip_at % 8);
    }
    appended += size;
    st = honest->append(file, copy, size, err);
    free(copy);
    return st;
}

static sinter_status
flip_create(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    const sinter_status st = honest->create(io, dir, flags, out, err);

    if (st == SINTER_OK) {
        (*out)->ops = &flipping;
    }
    return st;
}

static void
flip_from_here(world *w, uint64_t at)
{
    if (honest == NULL) {
        honest = w->io->ops;
        flipping = *honest;
        flipping.create = flip_create;
        flipping.append = flip_append;
    }
    flip_at = at;
    appended = 0;
    w->io->ops = &flipping;
}

/* A bucket whose compaction to level 5 makes two files. */
static void
begin(world *w, bool is_columnar, sinter_file_meta *unit, sinter_compact_task *task)
{
    world_init(w, is_columnar, NULL);
    w->options.target_file_bytes = 2000;
    w->options.block_bytes = 500;
    w->options.codec = SINTER_CODEC_NONE;
    w->options.verify_output = true;
    world_add_rows(w, 0, 0, 2, ROWS, 1000, 20);
    world_add_rows(w, 0, 1, 2, ROWS, 2000, 20);
    world_task(w, NULL, 0, unit, task);
    task->output_level = 5;
}

static uint64_t
bytes_of_new_files(void)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_compact_task task;
    const sinter_compact_counters *counters = NULL;
    uint64_t bytes = 0;
    world w;

    begin(&w, false, unit, &task);
    cr_assert_eq(world_run(&w, &task, &result, &err), SINTER_OK, "%s", err.text);
    counters = sinter_compact_result_counters(result);
    bytes = counters->bytes_verified;
    cr_expect_eq(bytes, counters->bytes_written, "not every new file was read");
    cr_expect_gt(sinter_compact_result_after(result)->count, 1);
    sinter_compact_result_destroy(result);
    world_fini(&w);
    return bytes;
}

Test(compact_read_back, one_damaged_bit_fails_the_task_and_leaves_nothing)
{
    const uint64_t size = bytes_of_new_files();

    for (uint64_t at = 0; at < size; at++) {
        sinter_file_meta unit[UNIT_MAX];
        sinter_compact_result *result = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_compact_task task;
        sinter_status st = SINTER_OK;
        world w;

        begin(&w, false, unit, &task);
        flip_from_here(&w, at);
        st = world_run(&w, &task, &result, &err);
        /* What a flipped bit makes look like a newer file is refused as such. */
        cr_assert(st == SINTER_E_CORRUPT || st == SINTER_E_UNSUPPORTED, "byte %" PRIu64 ": %s", at,
                  sinter_status_name(st));
        cr_assert_null(result);
        cr_assert_not_null(strstr(err.text, "read back"), "byte %" PRIu64 ": %s", at, err.text);
        cr_assert_not_null(strstr(err.file, ".sst"), "%s", err.file);
        cr_assert_eq(world_name_count(&w), 2, "byte %" PRIu64 ": a new file stayed", at);
        world_fini(&w);
    }
}

Test(compact_read_back, nobody_reads_back_unasked)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_result *result = NULL;
    sinter_compact_task task;
    world w;

    begin(&w, false, unit, &task);
    w.options.verify_output = false;
    flip_from_here(&w, 100);
    cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
    cr_expect_eq(sinter_compact_result_counters(result)->bytes_verified, 0);
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

Test(compact_read_back, a_format_that_cannot_verify_is_refused_by_name)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_format older = *sinter_format_sst();
    sinter_compact_task task;
    world w;

    begin(&w, true, unit, &task);
    cr_expect_eq(world_run(&w, &task, &result, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, w.format.name), "%s", err.text);
    cr_expect_eq(world_name_count(&w), 2);
    world_fini(&w);

    older.struct_size = (uint32_t)offsetof(sinter_format, verify);
    cr_expect_eq(sinter__read_back_check(&older, &err), SINTER_E_UNSUPPORTED);
    cr_expect_eq(sinter__read_back_check(sinter_format_sst(), &err), SINTER_OK);
}

static sinter_status
rewrite_nothing(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
                sinter_error *err)
{
    (void)ctx;
    (void)request;
    (void)result;
    (void)err;
    return SINTER_OK;
}

Test(compact_read_back, a_rewriter_of_the_callers_is_refused)
{
    const sinter_rewriter rewriter = {.struct_size = sizeof rewriter, .rewrite = rewrite_nothing};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_compact_task task;
    world w;

    begin(&w, false, unit, &task);
    task.rewriter = &rewriter;
    cr_expect_eq(world_run(&w, &task, &result, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "sinter.verify-output"), "%s", err.text);
    w.options.verify_output = false;
    cr_expect_eq(world_run(&w, &task, &result, &err), SINTER_OK);
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

Test(compact_read_back, a_flush_reads_its_files_back_and_keeps_the_rows_of_damaged_ones)
{
    sinter_error err = SINTER_ERROR_INIT;
    test_rng rng = {5};
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    bed.rolling.target_rows = 50;
    bed.flush.reads_back = true;
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    cr_assert_eq(flush_bed_random(&bed, &rng, 200, 150, 20, NULL), SINTER_OK);
    for (uint64_t at = 0; at < 4000; at += 37) {
        flip_from_here(&bed.w, at);
        cr_assert_neq(flush_bed_flush(&bed, "damaged", &err), SINTER_OK, "byte %" PRIu64, at);
        cr_expect_not_null(strstr(err.text, "read back"), "%s", err.text);
    }
    flip_from_here(&bed.w, UINT64_MAX);
    cr_expect_eq(flush_bed_flush(&bed, "whole", &err), SINTER_OK, "%s", err.text);
    cr_expect_gt(sinter_compact_result_counters(bed.result)->bytes_verified, 4000);
    flush_bed_fini(&bed);
}
