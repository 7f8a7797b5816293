#include "sst/writer.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sst_support.h"

TestSuite(sst_writer, .timeout = 120);

static const sst_shape ordinary = {.count = 3000,
                                   .key_min = 16,
                                   .key_max = 16,
                                   .value_min = 100,
                                   .value_max = 100,
                                   .delete_percent = 5,
                                   .sequence_space = 100000};

/** Open a writer on "w.sst". */
static sinter_writer *
open_writer(const sst_world *world, const sinter_write_options *options)
{
    const sinter_format *format = sinter_format_sst();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_write_options sized = {.struct_size = sizeof sized};
    sinter_writer *writer = NULL;

    sized = options == NULL ? sized : *options;
    sized.struct_size = sizeof sized;
    sized.codec = sst_codec(sized.codec);
    cr_assert_eq(format->open_writer(format->self, &world->env, "w.sst", &sized, &writer, &err),
                 SINTER_OK, "%s", err.text);
    return writer;
}

static sinter_reader *
open_reader(const sst_world *world, const char *path, const sinter_read_options *options)
{
    const sinter_format *format = sinter_format_sst();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_reader *reader = NULL;

    cr_assert_eq(format->open_reader(format->self, &world->env, path, options, &reader, &err),
                 SINTER_OK, "%s", err.text);
    return reader;
}

/** Append one whole batch; no stop. */
static sinter_status
append_whole(sinter_writer *writer, const sinter_batch *batch, sinter_error *err)
{
    const sinter_range range = {batch, 0, batch->row_count};
    size_t taken = 0;
    uint32_t rows = 0;

    return writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &rows, err);
}

static bool
exists(const sst_world *world, const char *path)
{
    sinter_io_stat stat;

    return world->io->ops->stat(world->io, path, &stat, NULL) == SINTER_OK;
}

/** Append the records "b", "a" or "b", "b" in two batches or one. */
static void
check_refused(const char *first, const char *second, bool two_batches)
{
    sinter_batch_builder *builder = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_writer *writer = NULL;
    sst_world world;
    sinter_status st = SINTER_OK;

    sst_world_init(&world);
    writer = open_writer(&world, &(sinter_write_options){.block_bytes = two_batches ? 1 : 0});
    cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
    cr_assert_eq(sinter_batch_builder_add(builder, SST_BYTES(first), 1, 0, SST_BYTES("v"), NULL),
                 0);
    if (two_batches) {
        st = append_whole(writer, sinter_batch_builder_batch(builder), &err);
        sinter_batch_builder_reset(builder);
    }
    cr_assert_eq(sinter_batch_builder_add(builder, SST_BYTES(second), 1, 0, SST_BYTES("v"), NULL),
                 0);
    if (st == SINTER_OK) {
        st = append_whole(writer, sinter_batch_builder_batch(builder), &err);
    }
    if (st == SINTER_OK) {
        st = writer->ops->finish(writer, NULL, &err);
    }
    cr_expect_eq(st, SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "w.sst");
    cr_expect_eq(writer->ops->finish(writer, NULL, NULL), SINTER_E_INVALID, "it stays refused");
    writer->ops->close(writer);
    cr_expect_not(exists(&world, "w.sst"), "nothing is published");
    sinter_batch_builder_destroy(builder);
    sst_world_fini(&world);
}

Test(sst_writer, refuses_keys_that_descend_or_repeat)
{
    check_refused("b", "a", false);
    check_refused("b", "b", false);
    check_refused("b", "a", true);
    check_refused("b", "b", true);
    check_refused("b\x01", "b", true);
}

Test(sst_writer, close_without_finish_leaves_nothing)
{
    sst_world world;
    sinter_writer *writer = NULL;

    sst_world_init(&world);
    writer = open_writer(&world, NULL);
    writer->ops->close(writer);
    cr_expect_not(exists(&world, "w.sst"));
    sst_world_fini(&world);
}

Test(sst_writer, a_taken_name_is_left_alone)
{
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_writer *writer = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;

    sst_world_init(&world);
    sst_put_file(&world.env, "w.sst", (const uint8_t *)"mine", 4);
    writer = open_writer(&world, NULL);
    cr_expect_eq(writer->ops->finish(writer, NULL, &err), SINTER_E_EXISTS);
    writer->ops->close(writer);
    bytes = sst_file_bytes(&world.env, "w.sst", &size);
    cr_expect(size == 4 && memcmp(bytes, "mine", 4) == 0);
    free(bytes);
    sst_world_fini(&world);
}

Test(sst_writer, a_file_without_rows_is_whole)
{
    const test_run none = {.count = 0};
    const sst_plan plan = {.page_bytes = 0};
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_file_stats stats = {0};

    sst_world_init(&world);
    cr_assert_eq(sst_write(&world.env, "e.sst", &none, &plan, &stats, &err), SINTER_OK);
    cr_expect_eq(stats.row_count, 0);
    cr_expect_eq(sst_read_compare(&world.env, "e.sst", NULL, &none, &err), SINTER_OK, "%s",
                 err.text);
    cr_expect_eq(sinter_sst_verify(&world.env, "e.sst", NULL, &err), SINTER_OK, "%s", err.text);
    sst_world_fini(&world);
}

Test(sst_writer, refuses_options_above_their_limits)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_write_options options[] = {
        {.struct_size = sizeof(sinter_write_options),
         .block_bytes = (uint32_t)SINTER_BLOCK_OPTION_BYTES_MAX + 1},
        {.struct_size = sizeof(sinter_write_options),
         .codec = SINTER_CODEC_ZSTD,
         .codec_level = 1000},
        {.struct_size = sizeof(sinter_write_options), .filter_bits_per_key = 65},
    };
    sst_world world;

    sst_world_init(&world);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_writer *writer = NULL;

        cr_expect_eq(
            format->open_writer(format->self, &world.env, "w.sst", &options[i], &writer, &err),
            SINTER_E_INVALID);
        cr_expect_null(writer);
        cr_expect_neq(err.text[0], '\0');
    }
    sst_world_fini(&world);
}

Test(sst_writer, an_unknown_codec_is_refused_by_number)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_write_options options = {.struct_size = sizeof options, .codec = 9};
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_writer *writer = NULL;

    sst_world_init(&world);
    cr_expect_eq(format->open_writer(format->self, &world.env, "w.sst", &options, &writer, &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "9"));
    sst_world_fini(&world);
}

static sinter_bytes
no_value(const sinter_batch *batch, uint32_t row)
{
    static const uint8_t letters[] = "abcdefgh";

    (void)batch;
    return (sinter_bytes){letters, row};
}

/** Payloads of other formats: with `value` and without. */
static const sinter_payload_ops foreign_ops = {
    .struct_size = sizeof(sinter_payload_ops), .format = "foreign", .value = no_value};
static const sinter_payload_ops opaque_ops = {.struct_size = sizeof(sinter_payload_ops),
                                              .format = "opaque"};

/** Five rows with keys of two bytes. */
static void
fill_foreign(sinter_batch *batch, const sinter_payload_ops *ops)
{
    static const uint8_t keys[10 + 16] = "aabbccddee";
    static const int64_t sequences[5] = {5, 4, 3, 2, 1};
    static const uint8_t kinds[5] = {0, 1, 2, 3, 0};
    static const uint64_t prefixes[5] = {0};

    *batch = (sinter_batch){.struct_size = sizeof *batch,
                            .row_count = 5,
                            .key_width = 2,
                            .keys = keys,
                            .prefixes = prefixes,
                            .sequences = sequences,
                            .kinds = kinds,
                            .payload_ops = ops};
}

Test(sst_writer, takes_values_of_other_formats_through_their_accessor)
{
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_file_stats stats = {0};
    sinter_batch batch;
    test_record records[5];
    test_run run = {.records = records, .count = 5};
    sinter_writer *writer = NULL;

    sst_world_init(&world);
    fill_foreign(&batch, &foreign_ops);
    for (uint32_t i = 0; i < 5; i++) {
        records[i] = (test_record){.key = sinter_batch_key(&batch, i),
                                   .value = no_value(&batch, i),
                                   .sequence = batch.sequences[i],
                                   .kind = batch.kinds[i]};
    }
    writer = open_writer(&world, NULL);
    cr_assert_eq(append_whole(writer, &batch, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(writer->ops->finish(writer, &stats, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(stats.retract_count, 2);
    cr_expect_eq(stats.sequence_min, 1);
    cr_expect_eq(stats.sequence_max, 5);
    writer->ops->close(writer);
    cr_assert_eq(sst_read_compare(&world.env, "w.sst", NULL, &run, &err), SINTER_OK, "%s",
                 err.text);
    sst_world_fini(&world);
}

Test(sst_writer, refuses_values_that_are_no_bytes)
{
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_batch batch;
    sinter_writer *writer = NULL;

    sst_world_init(&world);
    fill_foreign(&batch, &opaque_ops);
    writer = open_writer(&world, NULL);
    cr_expect_eq(append_whole(writer, &batch, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "opaque"));
    writer->ops->close(writer);
    sst_world_fini(&world);
}

Test(sst_writer, f21_a_key_or_value_above_the_limit_never_reaches_a_file)
{
    const struct {
        uint64_t key, value;
    } sizes[] = {{SINTER_KEY_BYTES_MAX + 1, 0},
                 {1, SINTER_VALUE_BYTES_MAX + 1},
                 {1, (uint64_t)INT32_MAX},
                 {1, (uint64_t)INT32_MAX + 1},
                 {1, ((uint64_t)1 << 32) + 1}};
    static const uint8_t byte = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sinter_batch_builder *builder = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sst_world world;

        sst_world_init(&world);
        cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
        cr_expect_eq(sinter_batch_builder_add(builder, (sinter_bytes){&byte, (size_t)sizes[i].key},
                                              0, 0, (sinter_bytes){&byte, (size_t)sizes[i].value},
                                              &err),
                     SINTER_E_TOO_LARGE);
        cr_expect_eq(sinter_batch_builder_bytes(builder), 0);
        sinter_batch_builder_destroy(builder);
        sst_world_fini(&world);
    }
}

static sinter_bytes
huge_value(const sinter_batch *batch, uint32_t row)
{
    static const uint8_t byte = 0;

    (void)batch;
    (void)row;
    return (sinter_bytes){&byte, (size_t)1 << 32}; /* only its size may be looked at */
}

static const sinter_payload_ops huge_ops = {
    .struct_size = sizeof(sinter_payload_ops), .format = "huge", .value = huge_value};

Test(sst_writer, f21_a_foreign_value_above_the_limit_is_refused_unread)
{
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_batch batch;
    sinter_writer *writer = NULL;

    sst_world_init(&world);
    fill_foreign(&batch, &huge_ops);
    writer = open_writer(&world, NULL);
    cr_expect_eq(append_whole(writer, &batch, &err), SINTER_E_TOO_LARGE);
    cr_expect_eq(writer->ops->finish(writer, NULL, NULL), SINTER_E_TOO_LARGE);
    writer->ops->close(writer);
    cr_expect_not(exists(&world, "w.sst"));
    sst_world_fini(&world);
}

/** Write `run` into files that roll at `stop_bytes`; check that each reads back its part. */
static void
check_rolling(uint64_t stop_bytes, uint32_t range_rows)
{
    sst_world world;
    test_rng rng = {.state = stop_bytes};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &ordinary, &pool);
    sinter_batch_builder *builder = NULL;
    size_t done = 0;

    sst_world_init(&world);
    cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
    for (size_t i = 0; i < run.count; i++) {
        cr_assert_eq(sinter_batch_builder_add(builder, run.records[i].key, run.records[i].sequence,
                                              run.records[i].kind, run.records[i].value, NULL),
                     SINTER_OK);
    }
    while (done < run.count) {
        sinter_writer *writer = open_writer(&world, &(sinter_write_options){.block_bytes = 4096});
        const size_t begin = done;
        sinter_error err = SINTER_ERROR_INIT;
        bool is_full = false;
        test_run part;

        while (done < run.count && !is_full) {
            const size_t left = run.count - done;
            const sinter_range range = {sinter_batch_builder_batch(builder), (uint32_t)done,
                                        (uint32_t)(left < range_rows ? left : range_rows)};
            size_t taken = 0;
            uint32_t rows = 0;

            cr_assert_eq(writer->ops->append(writer, &range, 1, stop_bytes, &taken, &rows, &err),
                         SINTER_OK);
            done += taken == 1 ? range.count : rows;
            is_full = writer->ops->size(writer) >= stop_bytes && (taken == 0 || rows > 0);
            cr_assert(taken == 1 || is_full, "an append that stops early has reached the size");
        }
        cr_assert_eq(writer->ops->finish(writer, NULL, &err), SINTER_OK);
        writer->ops->close(writer);
        part = (test_run){.records = run.records + begin, .count = done - begin};
        cr_assert_gt(part.count, 0);
        cr_assert_eq(sst_read_compare(&world.env, "w.sst", NULL, &part, &err), SINTER_OK);
        sst_unlink(&world.env, "w.sst");
    }
    sinter_batch_builder_destroy(builder);
    test_pool_fini(&pool);
    sst_world_fini(&world);
}

Test(sst_writer, stops_at_the_first_block_border_past_the_size)
{
    check_rolling(20000, 1000000);
    check_rolling(20000, 7);
    check_rolling(1, 100);
}

/** Copy a file block by block as stored where the writer accepts it; count what was passed. */
static void
copy_blocks(const sst_world *world, const char *from, const sinter_write_options *options,
            bool force_decode_first, sinter_file_stats *stats)
{
    sinter_reader *reader = open_reader(world, from, NULL);
    sinter_writer *writer = open_writer(world, options);
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_block_info *info = NULL;
    const sinter_batch *batch = NULL;
    bool decode = force_decode_first;

    while (reader->ops->peek(reader, &info, &err) == SINTER_OK) {
        const uint32_t rows = info->row_count;
        const bool is_kept = !decode && writer->ops->accepts(writer, info);

        cr_assert_eq(is_kept ? reader->ops->take(reader, &batch, &err)
                             : reader->ops->next(reader, &batch, &err),
                     SINTER_OK, "%s", err.text);
        cr_assert_eq(batch->row_count, rows);
        cr_assert_eq((batch->flags & SINTER_BATCH_STORED) != 0, is_kept);
        cr_assert_eq(append_whole(writer, batch, &err), SINTER_OK, "%s", err.text);
        decode = false;
    }
    cr_assert_eq(reader->ops->next(reader, &batch, &err), SINTER_END);
    cr_assert_eq(writer->ops->finish(writer, stats, &err), SINTER_OK, "%s", err.text);
    writer->ops->close(writer);
    reader->ops->close(reader);
}

static void
check_passing(int codec, uint32_t filter_bits, bool force_decode_first)
{
    const sst_plan plan = {
        .options = {.block_bytes = 4096, .codec = codec, .filter_bits_per_key = filter_bits},
        .page_bytes = 1000};
    sst_world world;
    test_rng rng = {.state = 5};
    test_pool pool = {0};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_file_stats stats = {0};
    const test_run run = sst_records(&rng, &ordinary, &pool);

    sst_world_init(&world);
    cr_assert_eq(sst_write(&world.env, "a.sst", &run, &plan, NULL, &err), SINTER_OK);
    copy_blocks(&world, "a.sst", &plan.options, force_decode_first, &stats);
    cr_expect_gt(stats.blocks_passed, 50);
    cr_expect_eq(stats.row_count, run.count);
    cr_assert_eq(sinter_sst_verify(&world.env, "w.sst", NULL, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sst_read_compare(&world.env, "w.sst", NULL, &run, &err), SINTER_OK, "%s",
                 err.text);
    test_pool_fini(&pool);
    sst_world_fini(&world);
}

Test(sst_writer, passed_blocks_read_back_and_verify)
{
    check_passing(SINTER_CODEC_NONE, 0, false);
    check_passing(SINTER_CODEC_ZSTD, 0, true);
    check_passing(SINTER_CODEC_LZ4, 10, false);
    check_passing(SINTER_CODEC_NONE, 10, true);
}

/** Blocks of a file with these options, asked about by a writer with those. */
static bool
accepts(const sinter_write_options *from, const sinter_write_options *to)
{
    const sst_plan plan = {.options = *from};
    const sst_shape shape = {
        .count = 200, .key_min = 8, .key_max = 8, .value_min = 50, .value_max = 50};
    sst_world world;
    test_rng rng = {.state = 3};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &shape, &pool);
    const sinter_block_info *info = NULL;
    sinter_reader *reader = NULL;
    sinter_writer *writer = NULL;
    bool answer = false;

    sst_world_init(&world);
    cr_assert_eq(sst_write(&world.env, "a.sst", &run, &plan, NULL, NULL), SINTER_OK);
    reader = open_reader(&world, "a.sst", NULL);
    writer = open_writer(&world, to);
    cr_assert_eq(reader->ops->peek(reader, &info, NULL), SINTER_OK);
    answer = writer->ops->accepts(writer, info);
    writer->ops->close(writer);
    reader->ops->close(reader);
    test_pool_fini(&pool);
    sst_world_fini(&world);
    return answer;
}

Test(sst_writer, accepts_blocks_worth_keeping_and_of_its_own_format_only)
{
    const sinter_write_options base = {.block_bytes = 1000, .codec = SINTER_CODEC_ZSTD};
    sinter_write_options other = base;

    cr_expect(accepts(&base, &base));
    other.codec_level = 7;
    cr_expect(accepts(&base, &other), "the level doesn't matter");
    other = base;
    other.codec = SINTER_CODEC_NONE;
    cr_expect_not(accepts(&base, &other));
    other = base;
    other.schema_id = 2;
    cr_expect_not(accepts(&base, &other));
    other = base;
    other.key_types = "BIGINT";
    cr_expect_not(accepts(&base, &other));
    other = base;
    other.filter_bits_per_key = 10;
    cr_expect_not(accepts(&base, &other));
    other = base;
    other.no_pass = true;
    cr_expect_not(accepts(&base, &other));
    other = base;
    other.block_bytes = 3000;
    cr_expect_not(accepts(&base, &other), "less than half the target");
    other.block_bytes = 1500;
    cr_expect(accepts(&base, &other));
}

Test(sst_writer, a_block_after_a_nearly_empty_one_is_not_accepted)
{
    const sinter_write_options options = {.block_bytes = 1000};
    sst_world world;
    sinter_writer *writer = NULL;
    sinter_batch_builder *builder = NULL;
    uint8_t value[300] = {0};
    sinter_block_info info = {.is_whole = true, .raw_bytes = 1000};

    sst_world_init(&world);
    {
        const sst_plan plan = {.options = options};
        const test_record record = {.key = SST_BYTES("k")};
        test_run run = {.count = 1};
        const sinter_block_info *real = NULL;
        sinter_reader *reader = NULL;

        run.records = &(test_record){.key = record.key};
        cr_assert_eq(sst_write(&world.env, "a.sst", &run, &plan, NULL, NULL), SINTER_OK);
        reader = open_reader(&world, "a.sst", NULL);
        cr_assert_eq(reader->ops->peek(reader, &real, NULL), SINTER_OK);
        info.format_tag = real->format_tag;
        cr_expect(real->is_last);
        reader->ops->close(reader);
    }
    writer = open_writer(&world, &options);
    cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
    cr_expect(writer->ops->accepts(writer, &info), "nothing is open");
    cr_assert_eq(
        sinter_batch_builder_add(builder, SST_BYTES("a"), 0, 0, (sinter_bytes){value, 100}, NULL),
        SINTER_OK);
    cr_assert_eq(append_whole(writer, sinter_batch_builder_batch(builder), NULL), SINTER_OK);
    cr_expect_not(writer->ops->accepts(writer, &info), "a tenth is open");
    cr_expect(writer->ops->accepts(writer, &info), "not twice in a row");
    cr_expect_not(writer->ops->accepts(writer, &info), "a tenth is open");
    sinter_batch_builder_reset(builder);
    cr_assert_eq(
        sinter_batch_builder_add(builder, SST_BYTES("b"), 0, 0, (sinter_bytes){value, 150}, NULL),
        SINTER_OK);
    cr_assert_eq(append_whole(writer, sinter_batch_builder_batch(builder), NULL), SINTER_OK);
    cr_expect(writer->ops->accepts(writer, &info), "a quarter is open");
    info.raw_bytes = 499;
    cr_expect_not(writer->ops->accepts(writer, &info), "a small block");
    info.is_last = true;
    cr_expect(writer->ops->accepts(writer, &info), "the small end of its file");
    info.is_whole = false;
    cr_expect_not(writer->ops->accepts(writer, &info), "a block that is cut");
    sinter_batch_builder_destroy(builder);
    writer->ops->close(writer);
    sst_world_fini(&world);
}

/** Write and copy a small file; the sweeps fail one call of it. */
static sinter_status
write_and_read(const sinter_env *env, const test_run *run, sinter_error *err)
{
    const sst_plan plan = {.options = {.block_bytes = 600,
                                       .codec = SINTER_CODEC_ZSTD,
                                       .filter_bits_per_key = 5,
                                       .row_type = "{}"},
                           .page_bytes = 400,
                           .batch_rows = 37,
                           .property = "x"};
    sinter_status st = sst_write(env, "s.sst", run, &plan, NULL, err);

    return st == SINTER_OK ? sst_read_compare(env, "s.sst", NULL, run, err) : st;
}

Test(sst_writer, every_allocation_may_fail)
{
    const sst_shape shape = {.count = 100, .key_max = 20, .value_max = 50, .delete_percent = 10};
    test_rng rng = {.state = 1};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &shape, &pool);
    sinter_status st = SINTER_E_NOMEM;
    sst_world world;

    sst_world_init(&world);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;

        sst_world_fail_allocation(&world, n);
        st = write_and_read(&world.env, &run, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st), "%s", err.text);
        cr_assert_eq(world.fault.live, 0, "leak when allocation %llu fails", (unsigned long long)n);
        if (exists(&world, "s.sst")) {
            sst_world_fail_allocation(&world, UINT64_MAX);
            cr_assert_eq(sinter_sst_verify(&world.env, "s.sst", NULL, NULL), SINTER_OK);
            sst_unlink(&world.env, "s.sst");
        }
    }
    test_pool_fini(&pool);
    sst_world_fini(&world);
}

Test(sst_writer, every_io_call_may_fail)
{
    const sst_shape shape = {.count = 100, .key_max = 20, .value_max = 50, .delete_percent = 10};
    const sinter_fault_kind kinds[] = {SINTER_FAULT_EIO, SINTER_FAULT_ENOSPC,
                                       SINTER_FAULT_TORN_WRITE, SINTER_FAULT_CRASH};
    test_rng rng = {.state = 1};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &shape, &pool);

    for (size_t kind = 0; kind < 4; kind++) {
        sinter_status st = SINTER_E_IO;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            sinter_fault_options fault = {
                .struct_size = sizeof fault, .kind = kinds[kind], .at_call = n};
            sinter_error err = SINTER_ERROR_INIT;
            sinter_io *faulty = NULL;
            sst_world world;

            sst_world_init(&world);
            cr_assert_eq(sinter_io_fault_create(&world.io_env, world.io, &fault, &faulty, NULL),
                         SINTER_OK);
            world.env.io = faulty;
            st = write_and_read(&world.env, &run, &err);
            cr_assert(st == SINTER_OK || st == SINTER_E_IO || st == SINTER_E_NO_SPACE, "%s: %s",
                      sinter_status_name(st), err.text);
            cr_assert(st == SINTER_OK || err.file[0] != '\0', "%s", err.text);
            fault.at_call = UINT64_MAX;
            sinter_io_fault_set(faulty, &fault);
            if (kinds[kind] == SINTER_FAULT_CRASH) {
                cr_assert_eq(sinter_io_fault_restart(faulty, NULL), SINTER_OK);
            }
            if (exists(&world, "s.sst")) {
                cr_assert_eq(sinter_sst_verify(&world.env, "s.sst", NULL, &err), SINTER_OK, "%s",
                             err.text);
            }
            sinter_io_destroy(faulty);
            sst_world_fini(&world);
        }
    }
    test_pool_fini(&pool);
}

Test(sst_writer, an_older_caller_gets_the_stats_it_knows)
{
    const sinter_format *format = sinter_format_sst();
    sinter_file_stats older;
    sinter_writer *writer = NULL;
    sst_world world;

    sst_world_init(&world);
    memset(&older, 0xab, sizeof older);
    older.struct_size = offsetof(sinter_file_stats, row_count);
    cr_assert_eq(format->open_writer(format->self, &world.env, "f.sst", NULL, &writer, NULL),
                 SINTER_OK);
    cr_assert_eq(writer->ops->finish(writer, &older, NULL), SINTER_OK);
    cr_expect_eq(older.struct_size, offsetof(sinter_file_stats, row_count));
    cr_expect(older.file_size > 100 && older.file_size < 10000);
    cr_expect_eq(older.row_count, UINT64_C(0xabababababababab));
    cr_expect_eq(older.blocks_passed, UINT64_C(0xabababababababab));
    writer->ops->close(writer);
    sst_world_fini(&world);
}
