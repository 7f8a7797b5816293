/*
 * Whole compactions over files in memory.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "sinter/sst.h"
#include "world.h"

TestSuite(compact_merge_rewriter, .timeout = 200);
TestSuite(field_faults, .timeout = 60);

enum { UNIT_MAX = 64 };

static const model_rules newest = {
    .engine = MODEL_DEDUPLICATE, .drop_delete = true, .has_ages = true};

/* Compact everything to a level as the rules for deletes say. */
static void
compact_all(world *w, int32_t output_level)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_error err = SINTER_ERROR_INIT;

    world_task(w, NULL, 0, unit, &task);
    task.output_level = output_level;
    task.drop_delete = sinter_unit_drops_deletes(w->files, w->count, output_level, false, false);
    cr_assert_eq(world_compact(w, &task, &err), SINTER_OK, "%s", err.text);
}

Test(compact_merge_rewriter, overlapping_files_become_one_with_the_newest_versions)
{
    const test_record old[] = {world_record("a", 1, "old"), world_record("b", 2, "b"),
                               world_record("z", 3, "z")};
    const test_record new[] = {world_record("a", 4, "new"), world_delete("z", 5)};

    for (int columnar = 0; columnar < 2; columnar++) {
        world w;

        world_init(&w, columnar != 0, NULL);
        world_add(&w, 1, old, 3);
        world_add(&w, 0, new, 2);
        cr_expect_str_eq(world_text(&w), "a=new b=b ");
        compact_all(&w, 5);
        cr_assert_eq(w.count, 1);
        cr_expect_eq(w.files[0].level, 5);
        cr_expect_eq(w.files[0].row_count, 2);
        cr_expect_eq(w.files[0].delete_row_count, 0);
        cr_expect_eq(w.files[0].min_sequence_number, 2, "computed from what was written");
        cr_expect_eq(w.files[0].max_sequence_number, 4);
        cr_expect_eq(w.files[0].file_source, SINTER_FILE_SOURCE_COMPACT);
        cr_expect_str_eq(world_text(&w), "a=new b=b ");
        cr_expect_eq(world_name_count(&w), 1);
        world_fini(&w);
    }
}

Test(compact_merge_rewriter, counters_tell_every_record_and_byte)
{
    const test_record old[] = {world_record("a", 1, "old"), world_record("b", 2, "b"),
                               world_record("z", 3, "z")};
    const test_record new[] = {world_record("a", 4, "new"), world_delete("z", 5)};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    const sinter_compact_counters *c = NULL;
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 1, old, 3);
    world_add(&w, 0, new, 2);
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;
    task.drop_delete = true;
    cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
    c = sinter_compact_result_counters(result);
    cr_expect_eq(c->merge.records_in, 5);
    cr_expect_eq(c->merge.records_out, 2);
    cr_expect_eq(c->merge.superseded, 2);
    cr_expect_eq(c->merge.deleted, 1);
    cr_expect_eq(c->merge.keys, 3);
    cr_expect_eq(c->files_opened, 2);
    cr_expect_eq(c->blocks_read, 2);
    cr_expect_eq(c->bytes_read, w.files[0].file_size + w.files[1].file_size);
    cr_expect_eq(c->bytes_written, sinter_compact_result_after(result)->files[0].file_size);
    cr_expect_gt(c->memory_peak_bytes, 0);
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

Test(field_faults, f02_deletes_are_kept_above_the_bottom)
{
    const test_record a[] = {world_delete("k", 20)};
    const test_record b[] = {world_record("a", 21, "1")};
    const test_record c[] = {world_record("k", 1, "v")};
    const size_t ab[] = {1, 2};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 5, c, 1);
    world_add(&w, 0, a, 1);
    world_add(&w, 0, b, 1);
    world_task(&w, ab, 2, unit, &task);
    task.output_level = 3;
    task.drop_delete = sinter_unit_drops_deletes(w.files, w.count, 3, false, false);
    cr_assert_eq(world_compact(&w, &task, NULL), SINTER_OK);
    cr_assert_eq(w.count, 2);
    cr_expect_eq(w.files[1].delete_row_count, 1);
    cr_expect_str_eq(world_text(&w), "a=1 ");
    compact_all(&w, 5);
    cr_assert_eq(w.count, 1);
    cr_expect_eq(w.files[0].delete_row_count, 0);
    cr_expect_eq(w.files[0].row_count, 1);
    cr_expect_str_eq(world_text(&w), "a=1 ");
    world_fini(&w);
}

Test(field_faults, f03_a_large_file_with_deletes_loses_them_at_the_bottom)
{
    const test_record x[] = {world_record("a", 1, "1"), world_delete("b", 2)};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;

    for (int is_known = 0; is_known < 2; is_known++) {
        world w;

        world_init(&w, false, NULL);
        w.options.small_file_ratio = 0;
        world_add(&w, 0, x, 2);
        w.files[0].delete_row_count = is_known != 0 ? 1 : -1;
        world_task(&w, NULL, 0, unit, &task);
        task.output_level = 5;
        task.drop_delete = true;
        cr_assert_eq(world_compact(&w, &task, NULL), SINTER_OK);
        cr_assert_eq(w.count, 1);
        cr_expect_eq(w.files[0].delete_row_count, 0);
        cr_expect_eq(w.files[0].row_count, 1);
        world_fini(&w);
    }
}

Test(field_faults, f05_two_versions_with_the_same_sequence)
{
    const test_record f1[] = {world_record("1", 0, "8")};
    const test_record f2[] = {world_record("1", 0, "9")};
    const test_record third[] = {world_record("0", 5, "x"), world_record("2", 6, "y")};

    for (int variant = 0; variant < 8; variant++) {
        const bool is_reversed = (variant & 1) != 0;
        const bool has_third = (variant & 2) != 0;
        world w;

        world_init(&w, false, NULL);
        w.options.sort_engine = (variant & 4) != 0 ? SINTER_SORT_MIN_HEAP : SINTER_SORT_LOSER_TREE;
        world_add(&w, 0, f1, 1);
        world_add(&w, 0, f2, 1);
        if (has_third) {
            world_add(&w, 0, third, 2);
        }
        if (is_reversed) {
            const sinter_file_meta first = w.files[0];

            w.files[0] = w.files[1];
            w.files[1] = first;
        }
        cr_expect_not_null(strstr(world_text(&w), "1=9 "), "variant %d", variant);
        compact_all(&w, has_third ? 3 : 5);
        cr_expect_not_null(strstr(world_text(&w), "1=9 "), "variant %d", variant);
        compact_all(&w, 5);
        cr_expect_not_null(strstr(world_text(&w), "1=9 "), "variant %d", variant);
        world_fini(&w);
    }
}

Test(field_faults, f05_a_retract_goes_before_an_add_of_the_same_sequence)
{
    const test_record adds[] = {world_record("1", 0, "8")};
    const test_record retracts[] = {world_delete("1", 0)};
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 0, adds, 1);
    world_add(&w, 0, retracts, 1);
    cr_expect_str_eq(world_text(&w), "1=8 ", "though the retract's file is younger");
    world_fini(&w);
}

Test(field_faults, f06_a_key_on_the_border_of_two_files_comes_out_once)
{
    const test_record low[] = {world_record("1", 1, "one"), world_record("5", 1, "old")};
    const test_record high[] = {world_record("5", 2, "new"), world_record("9", 2, "nine")};
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 0, low, 2);
    world_add(&w, 0, high, 2);
    cr_expect_str_eq(world_text(&w), "1=one 5=new 9=nine ");
    compact_all(&w, 5);
    cr_assert_eq(w.count, 1);
    cr_expect_eq(w.files[0].row_count, 3);
    world_fini(&w);
}

Test(compact_merge_rewriter, outputs_roll_at_the_target_and_never_touch)
{
    for (int columnar = 0; columnar < 2; columnar++) {
        world w;

        world_init(&w, columnar != 0, NULL);
        w.options.target_file_bytes = 20000;
        w.options.block_bytes = 2000;
        w.write.block_bytes = 2000;
        w.options.codec = SINTER_CODEC_NONE;
        world_add_rows(&w, 0, 0, 2, 500, 1, 100);
        world_add_rows(&w, 0, 1, 2, 500, 1001, 100);
        compact_all(&w, 5);
        cr_assert_gt(w.count, 3, "%zu files", w.count);
        for (size_t i = 0; i < w.count; i++) {
            cr_expect_eq(w.files[i].level, 5);
            cr_expect(i + 1 == w.count || w.files[i].file_size >= 20000, "file %zu", i);
            cr_expect_lt(w.files[i].file_size, 20000 + 5000);
        }
        cr_expect_eq(sinter_files_check(&w.env, w.files, w.count, NULL), SINTER_OK);
        world_expect_model(&w, &newest, "rolled");
        world_fini(&w);
    }
}

Test(compact_merge_rewriter, a_tiny_target_gives_files_of_one_block)
{
    world w;

    world_init(&w, false, NULL);
    w.options.target_file_bytes = 1;
    w.options.small_file_ratio = 0;
    w.options.block_bytes = 500;
    world_add_rows(&w, 0, 0, 2, 50, 1, 100);
    world_add_rows(&w, 0, 1, 2, 50, 1001, 100);
    compact_all(&w, 5);
    cr_expect_geq(w.count, 10);
    world_expect_model(&w, &newest, "one block each");
    world_fini(&w);
}

Test(field_faults, f12_a_second_pass_over_full_files_rewrites_nothing)
{
    for (int ratio = 0; ratio < 2; ratio++) {
        sinter_file_meta unit[UNIT_MAX];
        sinter_compact_task task;
        sinter_compact_result *result = NULL;
        world w;

        world_init(&w, false, NULL);
        w.options.target_file_bytes = 20000;
        w.options.small_file_ratio = ratio != 0 ? 1.0 : 0.7;
        w.options.block_bytes = 1000;
        world_add_rows(&w, 0, 0, 2, 500, 1, 100);
        world_add_rows(&w, 0, 1, 2, 500, 1001, 100);
        compact_all(&w, 5);
        cr_assert_gt(w.count, 3);
        world_task(&w, NULL, 0, unit, &task);
        task.output_level = 5;
        task.drop_delete = true;
        cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
        cr_expect_eq(sinter_compact_result_counters(result)->files_rewritten, 0,
                     "neither full files nor the short last one");
        cr_expect_eq(sinter_compact_result_before(result)->count, 0);
        sinter_compact_result_destroy(result);
        world_fini(&w);
    }
}

/* Rows put in between leave an open block that is smaller than a quarter, and all blocks behind are
 * of one size. */
Test(compact_merge_rewriter, blocks_behind_a_small_rest_pass)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;

    for (unsigned more = 1; more <= 6; more++) {
        sinter_compact_result *result = NULL;
        const sinter_compact_counters *c = NULL;
        world w;

        world_init(&w, false, NULL);
        w.options.block_bytes = 2000;
        w.write.block_bytes = 2000;
        w.options.codec = SINTER_CODEC_ZSTD;
        w.write.codec = SINTER_CODEC_ZSTD;
        world_add_rows(&w, 1, 0, 2, 1000, 1, 100);
        world_add_rows(&w, 0, 201, 2, more, 5001, 100);
        world_task(&w, NULL, 0, unit, &task);
        task.output_level = 5;
        task.drop_delete = true;
        cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
        c = sinter_compact_result_counters(result);
        cr_expect_gt(c->merge.blocks_passed, 40, "%u: %" PRIu64, more, c->merge.blocks_passed);
        cr_expect_eq(c->merge.records_out, 1000 + more);
        world_apply(&w, result);
        world_expect_model(&w, &newest, "passed");
        sinter_compact_result_destroy(result);
        world_fini(&w);
    }
}

Test(compact_merge_rewriter, files_of_a_level_have_its_codec)
{
    static const int32_t levels[] = {1, 5};
    static const int32_t codecs[] = {SINTER_CODEC_NONE, SINTER_CODEC_ZSTD};

    for (size_t i = 0; i < 2; i++) {
        sinter_sst_properties properties = {.struct_size = sizeof properties};
        sinter_file_meta unit[UNIT_MAX];
        sinter_compact_task task;
        sinter_compact_result *result = NULL;
        const sinter_file_list *after = NULL;
        sinter_sst *sst = NULL;
        char path[300];
        world w;

        world_init(&w, false, NULL);
        w.options.codec = SINTER_CODEC_NONE;
        w.options.codec_of_level[5] = SINTER_CODEC_ZSTD + 1;
        world_add_rows(&w, 0, 0, 1, 100, 1, 100);
        world_add_rows(&w, 0, 0, 2, 100, 5001, 100);
        world_task(&w, NULL, 0, unit, &task);
        task.output_level = levels[i];
        cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
        after = sinter_compact_result_after(result);
        cr_assert_eq(after->count, 1);
        (void)snprintf(path, sizeof path, "%s/%s", world_dir, after->files[0].file_name);
        cr_assert_eq(sinter_sst_open(&w.env, path, &sst, NULL), SINTER_OK);
        sinter_sst_properties_get(sst, &properties);
        cr_expect_eq(properties.codec, codecs[i]);
        sinter_sst_close(sst);
        sinter_compact_result_destroy(result);
        world_fini(&w);
    }
}

Test(compact_merge_rewriter, blocks_that_meet_nothing_pass_as_they_are)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;

    for (int passthrough = 0; passthrough < 2; passthrough++) {
        sinter_compact_result *result = NULL;
        const sinter_compact_counters *c = NULL;
        world w;

        world_init(&w, false, NULL);
        w.options.block_passthrough = passthrough != 0;
        w.options.block_bytes = 2000;
        w.options.codec = SINTER_CODEC_ZSTD;
        w.write.block_bytes = 2000;
        w.write.codec = SINTER_CODEC_ZSTD;
        world_add_rows(&w, 1, 0, 1, 1000, 1, 100);
        world_add_rows(&w, 0, 500, 1, 10, 5001, 100);
        world_task(&w, NULL, 0, unit, &task);
        task.output_level = 5;
        task.drop_delete = true;
        cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
        c = sinter_compact_result_counters(result);
        if (passthrough != 0) {
            cr_expect_gt(c->merge.blocks_passed, 40, "%" PRIu64, c->merge.blocks_passed);
            cr_expect_lt(c->blocks_read, 8);
        } else {
            cr_expect_eq(c->merge.blocks_passed, 0);
        }
        cr_expect_eq(c->merge.records_in, 1010);
        cr_expect_eq(c->merge.records_out, 1000);
        world_apply(&w, result);
        world_expect_model(&w, &newest, "passed");
        sinter_compact_result_destroy(result);
        world_fini(&w);
    }
}

Test(compact_merge_rewriter, blocks_with_deletes_do_not_pass_where_these_are_dropped)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    test_record records[100];
    char keys[100][8];
    world w;

    for (int i = 0; i < 100; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "%04d", i);
        records[i] = i % 3 == 0 ? world_delete(keys[i], i) : world_record(keys[i], i, "value");
    }
    for (int drop = 0; drop < 2; drop++) {
        sinter_compact_result *result = NULL;

        world_init(&w, false, NULL);
        w.options.force_rewrite_all_files = true;
        w.write.codec = w.options.codec;
        world_add(&w, 0, records, 100);
        world_task(&w, NULL, 0, unit, &task);
        task.output_level = 5;
        task.drop_delete = drop != 0;
        cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
        cr_expect_eq(sinter_compact_result_counters(result)->merge.blocks_passed, drop == 0);
        cr_expect_eq(sinter_compact_result_after(result)->files[0].row_count, drop != 0 ? 66 : 100);
        cr_expect_eq(sinter_compact_result_after(result)->files[0].delete_row_count,
                     drop != 0 ? 0 : 34);
        sinter_compact_result_destroy(result);
        world_fini(&w);
    }
}

/** Keeps what is younger than a limit; the time is the sequence. */
static bool
keep_young(void *ctx, const sinter_batch *batch, uint32_t row)
{
    return batch->sequences[row] >= *(const int64_t *)ctx;
}

Test(compact_merge_rewriter, expired_records_are_left_out_before_merging)
{
    /* The new version of "a" has expired, so the old one is what is left of it. */
    const test_record old[] = {world_record("a", 50, "old"), world_record("b", 60, "b")};
    const test_record new[] = {world_record("a", 10, "expired"), world_record("c", 70, "c")};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    const sinter_compact_counters *c = NULL;
    int64_t limit = 40;
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 1, old, 2);
    world_add(&w, 0, new, 2);
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;
    task.drop_delete = true;
    task.keep_record = keep_young;
    task.expire_ctx = &limit;
    cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
    c = sinter_compact_result_counters(result);
    cr_expect_eq(c->merge.expired, 1);
    cr_expect_eq(c->merge.records_in, 4);
    cr_expect_eq(c->merge.records_out, 3);
    world_apply(&w, result);
    cr_expect_str_eq(world_text(&w), "a=old b=b c=c ");
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

/** The user's sequence is the value itself. */
static sinter_status
order_by_value(void *ctx, const sinter_batch *batch, uint32_t row,
               sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
               sinter_error *err)
{
    const sinter_bytes value = batch->payload_ops->value(batch, row);

    (void)ctx;
    (void)err;
    return put(put_ctx, value.data, value.size);
}

Test(compact_merge_rewriter, a_user_sequence_goes_before_the_sequence)
{
    const test_record old[] = {world_record("a", 1, "9"), world_record("b", 2, "1")};
    const test_record new[] = {world_record("a", 3, "5"), world_record("b", 4, "1")};
    const sinter_order order = {.struct_size = sizeof order, .row = order_by_value};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 1, old, 2);
    world_add(&w, 0, new, 2);
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;
    task.order = &order;
    cr_assert_eq(world_compact(&w, &task, NULL), SINTER_OK);
    cr_expect_str_eq(world_text(&w), "a=9 b=1 ");
    cr_expect_eq(w.files[0].max_sequence_number, 4, "b is the newer one");
    cr_expect_eq(w.files[0].min_sequence_number, 1);
    world_fini(&w);
}

Test(field_faults, f30_a_section_whose_rows_are_all_deleted_gives_no_file)
{
    const test_record old[] = {world_record("k", 1, "v")};
    const test_record new[] = {world_delete("k", 2)};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 5, old, 1);
    world_add(&w, 0, new, 1);
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;
    task.drop_delete = true;
    cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
    cr_expect_eq(sinter_compact_result_before(result)->count, 2);
    cr_expect_eq(sinter_compact_result_after(result)->count, 0);
    cr_expect_eq(world_name_count(&w), 2, "nothing but the inputs");
    world_apply(&w, result);
    cr_expect_str_eq(world_text(&w), "");
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

Test(compact_merge_rewriter, files_that_differ_from_their_metadata_are_noticed)
{
    const test_record old[] = {world_record("b", 1, "1"), world_record("d", 2, "2")};
    const test_record new[] = {world_record("a", 3, "3"), world_record("f", 4, "4")};

    for (int lie = 0; lie < 4; lie++) {
        sinter_file_meta unit[UNIT_MAX];
        sinter_compact_task task;
        sinter_compact_result *result = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        world w;

        world_init(&w, false, NULL);
        world_add(&w, 0, old, 2);
        world_add(&w, 0, new, 2);
        world_task(&w, NULL, 0, unit, &task);
        task.output_level = 5;
        switch (lie) {
        case 0:
            unit[0].file_size++;
            break;
        case 1:
            unit[0].row_count++;
            break;
        case 2:
            unit[0].min_key = text_bytes("c");
            break;
        default:
            unit[0].max_key = text_bytes("c");
            break;
        }
        cr_expect_eq(world_run(&w, &task, &result, &err), SINTER_E_CORRUPT, "lie %d", lie);
        cr_expect_not_null(strstr(err.file, "in-000"), "lie %d: %s", lie, err.file);
        cr_expect_eq(world_name_count(&w), 2, "lie %d", lie);
        world_fini(&w);
    }
}

Test(compact_merge_rewriter, a_missing_file_is_named_and_nothing_is_made)
{
    const test_record rows[] = {world_record("b", 1, "1")};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 0, rows, 1);
    world_add(&w, 0, rows, 1);
    cr_assert_eq(w.io->ops->unlink(w.io, "bucket/in-001.sst", NULL), SINTER_OK);
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;
    cr_expect_eq(world_run(&w, &task, &result, &err), SINTER_E_NOT_FOUND);
    cr_expect_str_eq(err.file, "bucket/in-001.sst");
    cr_expect_eq(world_name_count(&w), 1);
    world_fini(&w);
}

Test(compact_merge_rewriter, without_a_directory_or_io_a_task_is_refused)
{
    const test_record rows[] = {world_record("b", 1, "1")};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    world w;

    world_init(&w, false, NULL);
    world_add(&w, 0, rows, 1);
    world_task(&w, NULL, 0, unit, &task);
    task.base_dir = NULL;
    cr_expect_eq(world_run(&w, &task, &result, NULL), SINTER_E_INVALID);
    task.base_dir = world_dir;
    w.env.io = NULL;
    cr_expect_eq(world_run(&w, &task, &result, NULL), SINTER_E_INVALID);
    world_fini(&w);
}

Test(compact_merge_rewriter, names_have_the_prefix_and_go_where_they_are_asked_to)
{
    const test_record rows[] = {world_record("b", 1, "1")};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    const sinter_file_meta *made = NULL;
    sinter_io_stat stat;
    char path[256];
    world w;

    world_init(&w, false, NULL);
    w.env.random_seed = 7;
    world_add(&w, 0, rows, 1);
    world_add(&w, 0, rows, 1);
    cr_assert_eq(w.io->ops->mkdir(w.io, "bucket/out", NULL), SINTER_OK);
    world_task(&w, NULL, 0, unit, &task);
    task.output_level = 5;
    task.output_dir = "out";
    task.file_prefix = "part-";
    for (int round = 0; round < 2; round++) {
        w.now_ms = 5000; /* the same seed at the same time: the name is taken the second time */
        cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK, "round %d", round);
        made = &sinter_compact_result_after(result)->files[0];
        cr_expect_str_eq(made->dir, "out");
        cr_expect_eq(strncmp(made->file_name, "part-", 5), 0);
        cr_expect_eq(strlen(made->file_name), 5 + 36 + 2 + 4, "%s", made->file_name);
        (void)snprintf(path, sizeof path, "bucket/out/%s", made->file_name);
        cr_expect_eq(w.io->ops->stat(w.io, path, &stat, NULL), SINTER_OK);
        cr_expect_eq(stat.size_bytes, made->file_size);
        sinter_compact_result_destroy(result);
    }
    world_fini(&w);
}

Test(compact_merge_rewriter, a_seeded_run_writes_the_same_bytes_again)
{
    sinter_bytes content[2];
    world w[2];

    for (int i = 0; i < 2; i++) {
        world_init(&w[i], false, NULL);
        w[i].env.random_seed = 99;
        world_add_rows(&w[i], 0, 0, 2, 300, 1, 50);
        world_add_rows(&w[i], 0, 1, 3, 300, 1001, 50);
        compact_all(&w[i], 5);
        content[i] = world_content(&w[i], w[i].files[0].file_name);
    }
    cr_expect_str_eq(w[0].files[0].file_name, w[1].files[0].file_name);
    cr_expect(test_bytes_equal(content[0], content[1]));
    world_fini(&w[0]);
    world_fini(&w[1]);
}
