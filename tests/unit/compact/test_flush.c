/*
 * Flushes: what is written is what the model says, or nothing at all.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flush_bed.h"
#include "support/count_io.h"
#include "support/fault_alloc.h"

static sinter_status
flush_kept(flush_bed *bed)
{
    return sinter__write_buffer_flush(bed->buffer, &bed->flush, bed->result, NULL);
}

Test(compact_flush, rows_leave_sorted_one_version_of_each_key_and_retracts_with_them)
{
    const sinter_file_meta *file = NULL;
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    flush_bed_text(&bed, "pear", SINTER_KIND_INSERT, "1");
    flush_bed_text(&bed, "apple", SINTER_KIND_INSERT, "2");
    flush_bed_text(&bed, "plum", SINTER_KIND_DELETE, "3");
    flush_bed_text(&bed, "apple", SINTER_KIND_UPDATE_AFTER, "4");
    flush_bed_text(&bed, "pear", SINTER_KIND_DELETE, "5");
    cr_assert_eq(flush_kept(&bed), SINTER_OK);
    cr_expect_str_eq(flush_bed_text_of(&bed), "apple=4 pear-5 plum-3 ");
    cr_assert_eq(sinter_compact_result_after(bed.result)->count, 1);
    file = &sinter_compact_result_after(bed.result)->files[0];
    cr_expect_eq(file->level, 0);
    cr_expect_eq(file->file_source, SINTER_FILE_SOURCE_APPEND);
    cr_expect_eq(file->row_count, 3);
    cr_expect_eq(file->delete_row_count, 2);
    cr_expect_eq(file->min_sequence_number, 3);
    cr_expect_eq(file->max_sequence_number, 5);
    cr_expect(test_bytes_equal(file->min_key, text_bytes("apple")));
    cr_expect(test_bytes_equal(file->max_key, text_bytes("plum")));
    cr_expect_eq(sinter_compact_result_counters(bed.result)->merge.records_in, 5);
    cr_expect_eq(sinter_compact_result_counters(bed.result)->merge.superseded, 2);
    flush_bed_fini(&bed);
}

Test(compact_flush, a_single_version_never_meets_the_merge_function)
{
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    flush_bed_reduces(&bed, (model_rules){.engine = MODEL_FIRST_ROW, .has_ages = true});
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    flush_bed_text(&bed, "a", SINTER_KIND_DELETE, "1");
    flush_bed_text(&bed, "b", SINTER_KIND_INSERT, "2");
    flush_bed_text(&bed, "b", SINTER_KIND_INSERT, "3");
    cr_assert_eq(flush_kept(&bed), SINTER_OK);
    cr_expect_str_eq(flush_bed_text_of(&bed), "a-1 b=2 ");
    flush_bed_fini(&bed);
}

Test(compact_flush, rows_that_all_vanish_make_no_file)
{
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    flush_bed_reduces(
        &bed, (model_rules){.engine = MODEL_DEDUPLICATE, .ignore_delete = true, .has_ages = true});
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    flush_bed_text(&bed, "a", SINTER_KIND_DELETE, "1");
    flush_bed_text(&bed, "a", SINTER_KIND_DELETE, "2");
    cr_assert_eq(flush_kept(&bed), SINTER_OK);
    cr_expect_eq(sinter_compact_result_after(bed.result)->count, 0);
    cr_expect_eq(world_name_count(&bed.w), 0);
    cr_expect_eq(sinter__write_buffer_rows(bed.buffer), 0);
    flush_bed_fini(&bed);
}

Test(compact_flush, the_user_sequence_decides_before_the_sequence)
{
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    bed.flush.order = &bed.order;
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    flush_bed_text(&bed, "a", SINTER_KIND_INSERT, "07");
    flush_bed_text(&bed, "a", SINTER_KIND_INSERT, "05");
    flush_bed_text(&bed, "b", SINTER_KIND_INSERT, "01 old");
    flush_bed_text(&bed, "b", SINTER_KIND_INSERT, "01 new");
    cr_assert_eq(flush_kept(&bed), SINTER_OK);
    cr_expect_str_eq(flush_bed_text_of(&bed), "a=07 b=01 new ");
    flush_bed_fini(&bed);
}

Test(compact_flush, files_end_at_their_size_and_at_their_number_of_rows)
{
    test_rng rng = {2};
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    bed.rolling.target_rows = 7;
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    cr_assert_eq(flush_bed_random(&bed, &rng, 100, 1 << 30, 10, NULL), SINTER_OK);
    cr_assert_eq(flush_kept(&bed), SINTER_OK);
    cr_assert_eq(sinter_compact_result_after(bed.result)->count, 15);
    for (size_t i = 0; i < 15; i++) {
        cr_expect_eq(sinter_compact_result_after(bed.result)->files[i].row_count, i < 14 ? 7 : 2);
    }
    flush_bed_fini(&bed);

    flush_bed_init(&bed, 1 << 20, NULL);
    bed.rolling.target_bytes = 20000;
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    cr_assert_eq(flush_bed_random(&bed, &rng, 1000, 1 << 30, 200, NULL), SINTER_OK);
    cr_assert_eq(flush_kept(&bed), SINTER_OK);
    cr_expect_geq(sinter_compact_result_after(bed.result)->count, 4);
    flush_bed_fini(&bed);
}

/* Anything that a bed can be. */
static void
bed_random(flush_bed *bed, test_rng *rng, const sinter_allocator *allocator)
{
    const model_rules rules = {.engine =
                                   test_rng_chance(rng, 30) ? MODEL_FIRST_ROW : MODEL_DEDUPLICATE,
                               .ignore_delete = true,
                               .has_ages = true};

    flush_bed_init(bed, 5000 + test_rng_below(rng, 100000), allocator);
    flush_bed_reduces(bed, rules);
    if (rules.engine == MODEL_DEDUPLICATE && test_rng_chance(rng, 50)) {
        flush_bed_reduces(bed, (model_rules){.engine = MODEL_DEDUPLICATE, .has_ages = true});
    }
    if (test_rng_chance(rng, 60)) {
        flush_bed_spills(bed);
        bed->config.spill_codec = test_rng_chance(rng, 50) ? SINTER_CODEC_LZ4 : SINTER_CODEC_NONE;
        if (test_rng_chance(rng, 30)) {
            bed->config.spill_bytes_max = test_rng_below(rng, 200000);
        }
    }
    bed->flush.order = test_rng_chance(rng, 30) ? &bed->order : NULL;
    bed->flush.sort_engine =
        test_rng_chance(rng, 30) ? SINTER_SORT_MIN_HEAP : SINTER_SORT_LOSER_TREE;
    bed->rolling.target_bytes = 1000 + test_rng_below(rng, 50000);
    bed->rolling.target_rows = test_rng_chance(rng, 30) ? 1 + test_rng_below(rng, 300) : 0;
    bed->rolling.write.codec = test_rng_chance(rng, 50) ? SINTER_CODEC_LZ4 : SINTER_CODEC_NONE;
}

Test(compact_flush, random_rows_come_out_as_the_model_says)
{
    for (uint64_t seed = 1; seed <= scaled_cases(400); seed++) {
        test_rng rng = {seed};
        const unsigned key_space = 1 + (unsigned)test_rng_below(&rng, seed % 3 == 0 ? 20 : 5000);
        const size_t value_max = (size_t)test_rng_below(&rng, seed % 5 == 0 ? 30000 : 200);
        sinter_error err = SINTER_ERROR_INIT;
        char when[64];
        flush_bed bed;

        (void)snprintf(when, sizeof when, "seed %" PRIu64, seed);
        bed_random(&bed, &rng, NULL);
        cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
        for (int round = 0; round < 3; round++) {
            const sinter_status st = flush_bed_random(
                &bed, &rng, 1 + (size_t)test_rng_below(&rng, 2000), key_space, value_max, &err);

            cr_assert(st == SINTER_OK || st == SINTER_END ||
                          (st == SINTER_E_TOO_LARGE && bed.count == 0),
                      "%s: %s", when, err.text);
            cr_assert_eq(flush_bed_flush(&bed, when, &err), SINTER_OK, "%s: %s", when, err.text);
        }
        flush_bed_fini(&bed);
    }
}

/* Where the budget holds few blocks, spilled runs are merged with each other beforehand; where not
 * even that is possible the rows stay. */
Test(compact_flush, a_small_budget_gives_the_same_rows)
{
    uint64_t passes = 0;

    for (uint64_t budget = 600000; budget <= 3000000; budget += 300000) {
        test_rng rng = {budget};
        sinter_memory *memory = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        flush_bed bed;

        cr_assert_eq(sinter_memory_create(sinter_env_default(), budget, &memory, NULL), SINTER_OK);
        flush_bed_init(&bed, 100000, NULL);
        flush_bed_spills(&bed);
        bed.w.env.memory = memory;
        bed.config.spill_codec = SINTER_CODEC_LZ4;
        cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
        cr_assert_eq(flush_bed_random(&bed, &rng, 20000, 3000, 100, &err), SINTER_OK, "%s",
                     err.text);
        cr_expect_gt(sinter__write_buffer_spills(bed.buffer), 10);
        if (budget < 930000) {
            cr_assert_eq(flush_bed_flush(&bed, "too small", &err), SINTER_E_TOO_LARGE);
            cr_expect_not_null(strstr(err.text, "needed"), "%s", err.text);
        } else {
            cr_assert_eq(flush_bed_flush(&bed, "small", &err), SINTER_OK, "%" PRIu64 ": %s", budget,
                         err.text);
        }
        passes += sinter_compact_result_counters(bed.result)->merge.spill_passes;
        flush_bed_fini(&bed);
        cr_expect_eq(sinter_memory_used(memory), 0);
        sinter_memory_destroy(memory);
    }
    cr_expect_gt(passes, 0);
}

Test(compact_flush, an_error_of_the_merge_function_keeps_the_rows_and_leaves_no_file)
{
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    flush_bed_reduces(&bed, (model_rules){.engine = MODEL_FIRST_ROW, .has_ages = true});
    bed.rolling.target_rows = 1;
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    flush_bed_text(&bed, "a", SINTER_KIND_INSERT, "1");
    flush_bed_text(&bed, "b", SINTER_KIND_INSERT, "2");
    flush_bed_text(&bed, "z", SINTER_KIND_INSERT, "3");
    flush_bed_text(&bed, "z", SINTER_KIND_DELETE, "4");
    cr_expect_eq(flush_bed_flush(&bed, "first-row", NULL), SINTER_E_RETRACT);
    flush_bed_reduces(
        &bed, (model_rules){.engine = MODEL_FIRST_ROW, .ignore_delete = true, .has_ages = true});
    flush_bed_text(&bed, "c", SINTER_KIND_INSERT, "5");
    cr_expect_eq(flush_bed_flush(&bed, "ignore-delete", NULL), SINTER_OK);
    flush_bed_fini(&bed);
}

static bool
stop_later(void *ctx)
{
    unsigned *left = ctx;

    return (*left)-- == 0;
}

Test(compact_flush, a_cancelled_flush_can_be_tried_again)
{
    test_rng rng = {9};
    unsigned left = 0;
    flush_bed bed;

    flush_bed_init(&bed, 1 << 20, NULL);
    bed.rolling.target_rows = 50;
    bed.flush.is_cancelled = stop_later;
    bed.flush.cancel_ctx = &left;
    cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
    for (unsigned n = 0; n < 3; n++) {
        left = n;
        cr_assert_eq(flush_bed_random(&bed, &rng, 1000, 300, 100, NULL), SINTER_OK);
        cr_expect_eq(flush_bed_flush(&bed, "cancelled", NULL), SINTER_E_CANCELLED, "ask %u", n);
    }
    left = UINT32_MAX;
    cr_expect_eq(flush_bed_flush(&bed, "again", NULL), SINTER_OK);
    flush_bed_fini(&bed);
}

/* A buffer with spilled rows and rows in memory, and a flush into several files. */
static sinter_status
fill(flush_bed *bed, const sinter_allocator *allocator)
{
    test_rng rng = {4};

    flush_bed_init(bed, 20000, allocator);
    flush_bed_spills(bed);
    bed->rolling.target_bytes = 8000;
    SINTER__CHECK(flush_bed_open(bed));
    return flush_bed_random(bed, &rng, 600, 300, 100, NULL);
}

Test(compact_flush, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    uint64_t n = 0;

    for (; st != SINTER_OK; n++) {
        fault_alloc fault;
        flush_bed bed;

        fault_alloc_init(&fault, UINT64_MAX);
        cr_assert_eq(fill(&bed, &fault.env.allocator), SINTER_OK);
        cr_assert_gt(sinter__write_buffer_spills(bed.buffer), 1);
        fault.calls = 0;
        fault.fail_at = n;
        st = flush_bed_flush(&bed, "no memory", NULL);
        fault.fail_at = UINT64_MAX;
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        if (st != SINTER_OK) {
            cr_assert_eq(flush_bed_flush(&bed, "again", NULL), SINTER_OK);
        }
        flush_bed_fini(&bed);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    cr_expect_gt(n, 50);
}

/* Each call of the io fails in turn: no file, all rows, and the next try succeeds. */
static void
sweep_io(sinter_io *base, sinter_fault_kind kind)
{
    sinter_status st = SINTER_E_IO;
    uint64_t n = 0;

    for (; st != SINTER_OK; n++) {
        const sinter_fault_options rule = {.struct_size = sizeof rule, .kind = kind, .at_call = n};
        const sinter_fault_options none = {.struct_size = sizeof none, .at_call = UINT64_MAX};
        sinter_io *fault = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        char when[64];
        count_io count;
        flush_bed bed;
        test_rng rng = {4};

        (void)snprintf(when, sizeof when, "kind %d call %" PRIu64, (int)kind, n);
        flush_bed_init(&bed, 20000, NULL);
        flush_bed_spills(&bed);
        bed.rolling.target_bytes = 8000;
        if (base != NULL) {
            sinter_io_destroy(bed.w.io);
            bed.w.io = base;
        }
        count_io_init(&count, bed.w.io);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), &count.base, &none, &fault, NULL),
                     SINTER_OK);
        bed.w.env.io = fault;
        cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
        cr_assert_eq(flush_bed_random(&bed, &rng, 600, 300, 100, NULL), SINTER_OK);
        sinter_io_fault_set(fault, &rule);
        st = flush_bed_flush(&bed, when, &err);
        cr_assert(st == SINTER_OK || (st < 0 && err.status == st), "%s", when);
        sinter_io_fault_set(fault, &none);
        if (st != SINTER_OK) {
            cr_assert_eq(flush_bed_flush(&bed, when, &err), SINTER_OK, "%s: %s", when, err.text);
        }
        cr_assert_eq(count.open_files, 0, "%s leaves a file open", when);
        flush_bed_fini(&bed);
        sinter_io_destroy(fault);
    }
    cr_expect_gt(n, 15, "%" PRIu64 " points", n);
}

Test(compact_flush, every_io_call_may_fail_and_the_flush_be_tried_again)
{
    sweep_io(NULL, SINTER_FAULT_EIO);
    sweep_io(NULL, SINTER_FAULT_ENOSPC);
    sweep_io(NULL, SINTER_FAULT_TORN_WRITE);
}

Test(compact_flush, the_same_on_the_disk)
{
    char dir[] = "/tmp/sinter-flush-XXXXXX";

    cr_assert_not_null(mkdtemp(dir));
    cr_assert_eq(chdir(dir), 0);
    cr_assert_eq(mkdir(world_dir, 0700), 0);
    sweep_io(sinter_io_posix(), SINTER_FAULT_EIO);
    sweep_io(sinter_io_posix(), SINTER_FAULT_ENOSPC);
    sweep_io(sinter_io_posix(), SINTER_FAULT_TORN_WRITE);
    cr_assert_eq(rmdir(world_dir), 0, "nothing is left");
    cr_assert_eq(rmdir(dir), 0);
}

/* Power fails at each call in turn: afterwards there are all files of the flush, if it said so, or
 * none. */
Test(compact_flush, after_a_power_loss_there_are_all_files_or_none)
{
    sinter_status st = SINTER_E_IO;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options rule = {
            .struct_size = sizeof rule, .kind = SINTER_FAULT_CRASH, .at_call = n};
        const sinter_fault_options none = {.struct_size = sizeof none, .at_call = UINT64_MAX};
        sinter_io *fault = NULL;
        flush_bed bed;
        test_rng rng = {4};

        flush_bed_init(&bed, 20000, NULL);
        flush_bed_spills(&bed);
        bed.rolling.target_bytes = 8000;
        cr_assert_eq(bed.w.io->ops->sync_dir(bed.w.io, ".", NULL), SINTER_OK);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), bed.w.io, &none, &fault, NULL),
                     SINTER_OK);
        bed.w.env.io = fault;
        cr_assert_eq(flush_bed_open(&bed), SINTER_OK);
        cr_assert_eq(flush_bed_random(&bed, &rng, 600, 300, 100, NULL), SINTER_OK);
        sinter_io_fault_set(fault, &rule);
        st = flush_kept(&bed);
        sinter__write_buffer_destroy(bed.buffer);
        bed.buffer = NULL;
        if (st != SINTER_OK) {
            cr_assert_eq(sinter_io_fault_restart(fault, NULL), SINTER_OK);
            cr_assert_eq(world_name_count(&bed.w), 0, "call %" PRIu64, n);
        } else {
            const size_t files = sinter_compact_result_after(bed.result)->count;

            cr_assert_geq(files, 3);
            sinter_io_fault_set(fault, &(sinter_fault_options){.struct_size = sizeof rule,
                                                               .kind = SINTER_FAULT_CRASH});
            cr_assert_neq(fault->ops->sync_dir(fault, ".", NULL), SINTER_OK);
            cr_assert_eq(sinter_io_fault_restart(fault, NULL), SINTER_OK);
            cr_assert_eq(world_name_count(&bed.w), files);
            cr_assert_gt(strlen(flush_bed_text_of(&bed)), 0);
        }
        flush_bed_fini(&bed);
        sinter_io_destroy(fault);
    }
}
