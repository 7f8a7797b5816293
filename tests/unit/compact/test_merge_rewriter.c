/*
 * Whole compactions over files in memory.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "sinter/sst.h"
#include "support/count_io.h"
#include "support/fault_alloc.h"
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

/* Add a file of `count` rows: keys from `first` on, `step` apart, values of `bytes` bytes. */
static size_t
add_rows(world *w, int32_t level, unsigned first, unsigned step, unsigned count, int64_t sequence,
         size_t bytes)
{
    test_record *records = calloc(count, sizeof *records);
    size_t place = 0;

    cr_assert_not_null(records);
    for (unsigned i = 0; i < count; i++) {
        char key[16];
        uint8_t *value = test_pool_take(&w->pool, bytes);
        test_rng rng = {(uint64_t)sequence * 1000003 + i};

        (void)snprintf(key, sizeof key, "%08u", first + i * step);
        for (size_t b = 0; b < bytes; b++) {
            value[b] = (uint8_t)test_rng_next(&rng);
        }
        records[i] = (test_record){.key = test_pool_copy(&w->pool, test_text(key)),
                                   .value = {value, bytes},
                                   .sequence = sequence + i,
                                   .kind = SINTER_KIND_INSERT};
    }
    place = world_add(w, level, records, count);
    free(records);
    return place;
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
        add_rows(&w, 0, 0, 2, 500, 1, 100);
        add_rows(&w, 0, 1, 2, 500, 1001, 100);
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
    add_rows(&w, 0, 0, 2, 50, 1, 100);
    add_rows(&w, 0, 1, 2, 50, 1001, 100);
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
        add_rows(&w, 0, 0, 2, 500, 1, 100);
        add_rows(&w, 0, 1, 2, 500, 1001, 100);
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
        add_rows(&w, 1, 0, 1, 1000, 1, 100);
        add_rows(&w, 0, 500, 1, 10, 5001, 100);
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
        add_rows(&w[i], 0, 0, 2, 300, 1, 50);
        add_rows(&w[i], 0, 1, 3, 300, 1001, 50);
        compact_all(&w[i], 5);
        content[i] = world_content(&w[i], w[i].files[0].file_name);
    }
    cr_expect_str_eq(w[0].files[0].file_name, w[1].files[0].file_name);
    cr_expect(test_bytes_equal(content[0], content[1]));
    world_fini(&w[0]);
    world_fini(&w[1]);
}

/* ---- failures: F15, F16 and the sweeps ---- */

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
    add_rows(w, 0, 0, 2, 500, 1, 100);
    add_rows(w, 0, 1, 2, 500, 1001, 100);
    add_rows(w, 0, 5000, 1, 10, 3001, 100);
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
    add_rows(w, 1, 0, 1, 120, 1, 40);
    add_rows(w, 0, 2, 5, 8, 1001, 40);
    add_rows(w, 0, 4, 7, 5, 2001, 40);
    world_add(w, 0, deletes, 2);
    add_rows(w, 0, 1000, 1, 30, 3001, 40);
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

Test(compact_merge_rewriter, every_allocation_may_fail)
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

Test(compact_merge_rewriter, every_io_call_may_fail)
{
    sweep_io(SINTER_FAULT_EIO);
}

Test(compact_merge_rewriter, every_io_call_may_find_a_full_disk)
{
    sweep_io(SINTER_FAULT_ENOSPC);
}

Test(compact_merge_rewriter, every_write_may_be_torn)
{
    sweep_io(SINTER_FAULT_TORN_WRITE);
}

/* ---- the life of a bucket ---- */

/** How a bucket is driven. */
typedef struct life {
    test_rng rng;
    world w;
    model_rules rules;
    int64_t sequence;
    int64_t sequence_max;
    int64_t sequence_floor; /* what came before was compacted, and its deletes may be gone */
    unsigned key_space;
    uint64_t seed;
} life;

static void
draw_options(life *l)
{
    test_rng *rng = &l->rng;
    sinter_compact_options *o = &l->w.options;

    o->sort_engine = (int32_t)test_rng_below(rng, 2);
    o->codec = (int32_t)test_rng_below(rng, 3);
    o->block_bytes = 50 + (uint32_t)test_rng_below(rng, 3000);
    o->target_file_bytes = 200 + test_rng_below(rng, 20000);
    o->small_file_ratio = (double)test_rng_below(rng, 11) / 10;
    o->sort_spill_threshold = test_rng_chance(rng, 40) ? 2 + (uint32_t)test_rng_below(rng, 4) : 0;
    o->spill_codec = (int32_t)test_rng_below(rng, 3);
    o->block_passthrough = !test_rng_chance(rng, 20);
    o->force_rewrite_all_files = test_rng_chance(rng, 10);
    o->filter_bits_per_key = test_rng_chance(rng, 30) ? 10 : 0;
    l->w.write.codec = o->codec;
    l->w.write.block_bytes = o->block_bytes;
    l->w.write.filter_bits_per_key = o->filter_bits_per_key;
    l->w.columnar.block_rows = 1 + (uint32_t)test_rng_below(rng, 20);
}

/* A flush: keys at random or side by side; sequences go on, or some come twice. */
static void
flush_rows(life *l)
{
    test_rng *rng = &l->rng;
    const size_t wanted = 1 + (size_t)test_rng_below(rng, 60);
    const bool is_stretch = test_rng_chance(rng, 40);
    unsigned next_key = (unsigned)test_rng_below(rng, l->key_space);
    test_record *records = calloc(wanted, sizeof *records);
    size_t count = 0;

    cr_assert_not_null(records);
    l->sequence = l->sequence_max;
    if (test_rng_chance(rng, 20)) {
        /* another writer began where we did */
        l->sequence -= (int64_t)test_rng_below(rng, 20);
        l->sequence = l->sequence < l->sequence_floor ? l->sequence_floor : l->sequence;
    }
    for (size_t i = 0; i < wanted; i++) {
        char key[16];
        uint8_t value[64] = {0};
        const size_t value_size = (size_t)test_rng_below(rng, sizeof value);

        next_key = is_stretch ? next_key + 1 : (unsigned)test_rng_below(rng, l->key_space);
        (void)snprintf(key, sizeof key, "%u", next_key);
        (void)snprintf((char *)value, sizeof value, "v%" PRId64, l->sequence);
        records[i] =
            (test_record){.key = test_pool_copy(&l->w.pool, test_text(key)),
                          .value = test_pool_copy(&l->w.pool, (sinter_bytes){value, value_size}),
                          .sequence = l->sequence++,
                          .kind = (uint8_t)(test_rng_chance(rng, 25) ? test_rng_below(rng, 4) : 0)};
        if (l->rules.engine == MODEL_FIRST_ROW && !l->rules.ignore_delete) {
            records[i].kind = SINTER_KIND_INSERT;
        }
    }
    l->sequence_max = l->sequence > l->sequence_max ? l->sequence : l->sequence_max;
    count = test_records_sort_unique(records, wanted);
    world_add(&l->w, 0, records, count);
    free(records);
}

/* A unit at random: any files that pass the check, or everything. */
static void
compact_some(life *l)
{
    test_rng *rng = &l->rng;
    world *w = &l->w;
    size_t places[256];
    size_t count = 0;
    const int32_t level = 1 + (int32_t)test_rng_below(rng, 5);
    const uint32_t percent = test_rng_chance(rng, 30) ? 100 : (uint32_t)test_rng_below(rng, 100);
    bool drop_delete = false;
    sinter_file_meta *unit = calloc(w->count + 1, sizeof *unit);
    sinter_compact_task task;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_not_null(unit);
    for (size_t i = 0; i < w->count && count < 256; i++) {
        if (w->files[i].level <= level && test_rng_chance(rng, percent)) {
            places[count++] = i;
        }
    }
    drop_delete =
        sinter_unit_drops_deletes(w->files, w->count, level, false, test_rng_chance(rng, 10));
    if (sinter_unit_check(&w->env, w->files, w->count, places, count, level, 5, drop_delete,
                          NULL) == SINTER_OK) {
        world_task(w, places, count, unit, &task);
        task.output_level = level;
        task.drop_delete = drop_delete;
        cr_assert_eq(world_compact(w, &task, &err), SINTER_OK, "seed %" PRIu64 ": %s: %s", l->seed,
                     sinter_status_name(err.status), err.text);
        cr_assert_eq(sinter_files_check(&w->env, w->files, w->count, &err), SINTER_OK,
                     "seed %" PRIu64 ": %s", l->seed, err.text);
        cr_assert_eq(world_name_count(w), w->count, "seed %" PRIu64, l->seed);
        l->sequence_floor = l->sequence_max + 1;
    }
    free(unit);
}

static void
live(uint64_t seed)
{
    char when[64];
    static life l;

    memset(&l, 0, sizeof l);
    l.seed = seed;
    l.rng.state = seed * 7919;
    world_init(&l.w, test_rng_chance(&l.rng, 25), NULL);
    l.key_space = 1 + (unsigned)test_rng_below(&l.rng, 300);
    l.sequence = (int64_t)test_rng_below(&l.rng, 1000) - 500;
    l.sequence_floor = l.sequence;
    l.sequence_max = l.sequence;
    l.rules = newest;
    if (test_rng_chance(&l.rng, 20)) {
        l.rules.engine = MODEL_FIRST_ROW;
        l.w.options.merge_engine = SINTER_MERGE_ENGINE_FIRST_ROW;
    }
    draw_options(&l);
    for (int step = 0; step < 12; step++) {
        if (test_rng_chance(&l.rng, 60)) {
            flush_rows(&l);
        } else {
            compact_some(&l);
        }
        if (test_rng_chance(&l.rng, 10)) {
            draw_options(&l);
        }
        (void)snprintf(when, sizeof when, "seed %" PRIu64 " step %d", seed, step);
        world_expect_model(&l.w, &l.rules, when);
    }
    world_fini(&l.w);
}

Test(compact_merge_rewriter, no_compaction_ever_changes_what_a_read_returns)
{
    for (uint64_t seed = 1; seed <= scaled_cases(400); seed++) {
        live(seed);
    }
}
