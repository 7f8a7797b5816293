#include "sst/reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sst_support.h"

TestSuite(sst_reader, .timeout = 240);

static const test_record fruits[] = {
    {.key = {(const uint8_t *)"apple", 5}, .value = {(const uint8_t *)"red", 3}, .sequence = 7},
    {.key = {(const uint8_t *)"banana", 6}, .sequence = 9, .kind = SINTER_KIND_DELETE},
    {.key = {(const uint8_t *)"cherry", 6},
     .value = {(const uint8_t *)"dark", 4},
     .sequence = -3,
     .kind = SINTER_KIND_UPDATE_AFTER},
};

/** Records that the test's own arrays hold. */
static test_run
run_of(const test_record *records, size_t count)
{
    test_run run = {.count = count};

    memcpy(&run.records, &records, sizeof run.records); /* the helpers only read */
    return run;
}

Test(sst_reader, yields_what_was_written)
{
    const test_run run = run_of(fruits, 3);
    const sst_plan plan = {.options = {.level = 2}};
    sinter_error err = SINTER_ERROR_INIT;
    sst_world world;

    sst_world_init(&world);
    cr_assert_eq(sst_write(&world.env, "a.sst", &run, &plan, NULL, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(sst_read_compare(&world.env, "a.sst", NULL, &run, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(sinter_sst_verify(&world.env, "a.sst", NULL, &err), SINTER_OK, "%s", err.text);
    sst_world_fini(&world);
}

Test(sst_reader, a_block_tells_unread_whether_it_may_hold_a_key)
{
    static const struct {
        const char *key;
        bool with_filter;
        bool without;
    } cases[] = {{"apple", true, true},      {"banana", true, true}, {"cherry", true, true},
                 {"blueberry", false, true}, {"aaa", false, false},  {"dates", false, false}};
    const test_run run = run_of(fruits, 3);

    for (int filtered = 0; filtered < 2; filtered++) {
        const sst_plan plan = {.options = {.filter_bits_per_key = filtered != 0 ? 30 : 0}};
        sinter_reader *reader = NULL;
        const sinter_batch *batch = NULL;
        bool maybe = false;
        sst_world world;

        sst_world_init(&world);
        cr_assert_eq(sst_write(&world.env, "a.sst", &run, &plan, NULL, NULL), SINTER_OK);
        cr_assert_eq(sinter__sst_reader_open(NULL, &world.env, "a.sst", NULL, &reader, NULL),
                     SINTER_OK);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            cr_assert_eq(reader->ops->may_hold(reader, test_text(cases[i].key), &maybe, NULL),
                         SINTER_OK);
            cr_expect_eq(maybe, filtered != 0 ? cases[i].with_filter : cases[i].without, "%s",
                         cases[i].key);
        }
        cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
        cr_expect_eq(batch->row_count, 3, "asking moved nothing");
        cr_expect_eq(reader->ops->may_hold(reader, test_text("apple"), &maybe, NULL), SINTER_END);
        reader->ops->close(reader);
        sst_world_fini(&world);
    }
}

/** A shape and a plan that follow from a seed. */
static void
random_case(test_rng *rng, sst_shape *shape, sst_plan *plan)
{
    static const int codecs[] = {SINTER_CODEC_NONE, SINTER_CODEC_LZ4, SINTER_CODEC_ZSTD};
    static const uint32_t key_max[] = {0, 1, 8, 16, 24, 300};
    static const uint32_t value_max[] = {0, 1, 16, 100, 3000, 60000};
    const size_t key_class = (size_t)test_rng_below(rng, 6);
    const size_t value_class = (size_t)test_rng_below(rng, 6);

    *shape = (sst_shape){
        .count = (size_t)test_rng_below(rng, value_class == 5 ? 30 : 2000),
        .key_max = key_max[key_class],
        .value_max = value_max[value_class],
        .delete_percent = test_rng_chance(rng, 50) ? 0 : 10,
        .sequence_space = test_rng_chance(rng, 30) ? 0 : 1 + test_rng_below(rng, 1000),
        .noise = test_rng_chance(rng, 30),
    };
    shape->key_min = test_rng_chance(rng, 50) ? shape->key_max : 0;
    shape->value_min = test_rng_chance(rng, 50) ? shape->value_max : 0;
    shape->shared = test_rng_chance(rng, 20) ? (uint32_t)test_rng_below(rng, 12) : 0;
    *plan = (sst_plan){
        .options = {.block_bytes =
                        (uint32_t)(test_rng_chance(rng, 20) ? 0 : 1 + test_rng_below(rng, 20000)),
                    .codec = codecs[test_rng_below(rng, 3)],
                    .codec_level = test_rng_chance(rng, 20) ? -3 : 0,
                    .filter_bits_per_key =
                        test_rng_chance(rng, 50) ? 0 : 1 + (uint32_t)test_rng_below(rng, 20)},
        .page_bytes = test_rng_chance(rng, 50) ? 0 : 1 + (uint32_t)test_rng_below(rng, 1000),
        .batch_rows = 1 + (size_t)test_rng_below(rng, 1500),
        .range_rows = (uint32_t)test_rng_below(rng, 12),
    };
}

/** Read from a key to a key, both perhaps absent, and compare with the records between them. */
static void
check_range(const sst_world *world, test_rng *rng, const test_run *run, const char *path)
{
    sinter_read_options options = {.struct_size = sizeof options,
                                   .origin = 5,
                                   .read_bytes = 1 + (uint32_t)test_rng_below(rng, 100000),
                                   .keys_only = test_rng_chance(rng, 30)};
    sinter_error err = SINTER_ERROR_INIT;
    size_t first = 0;
    size_t end = run->count;
    test_run part;

    if (test_rng_chance(rng, 70) && run->count > 0) {
        first = (size_t)test_rng_below(rng, run->count);
        options.has_begin_key = true;
        options.begin_key = run->records[first].key;
    }
    if (test_rng_chance(rng, 70) && run->count > 0) {
        end = first + (size_t)test_rng_below(rng, run->count - first);
        options.has_end_key = true;
        options.end_key = run->records[end].key;
    }
    part = (test_run){.records = run->records + first, .count = end - first};
    cr_assert_eq(sst_read_compare(&world->env, path, &options, &part, &err), SINTER_OK, "%s",
                 err.text);
}

static void
check_case(uint64_t seed)
{
    test_rng rng = {seed};
    test_pool pool = {0};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_file_stats stats = {0};
    sinter_sst_verify_result verified = {0};
    sst_shape shape;
    sst_plan plan;
    sst_world world;
    test_run run;

    sst_world_init(&world);
    random_case(&rng, &shape, &plan);
    run = sst_records(&rng, &shape, &pool);
    cr_assert_eq(sst_write(&world.env, "r.sst", &run, &plan, &stats, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(stats.row_count, run.count);
    cr_assert_eq(sst_read_compare(&world.env, "r.sst", NULL, &run, &err), SINTER_OK, "%s",
                 err.text);
    for (int i = 0; i < 6; i++) {
        check_range(&world, &rng, &run, "r.sst");
    }
    cr_assert_eq(sinter_sst_verify(&world.env, "r.sst", &verified, &err), SINTER_OK, "%s at %lld",
                 err.text, (long long)err.offset);
    cr_assert_eq(verified.bytes, stats.file_size);
    cr_assert_eq(verified.rows, run.count);
    test_pool_fini(&pool);
    sst_world_fini(&world);
}

Test(sst_reader, random_files_come_back_whole_and_in_ranges)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        cr_log_info("seed %llu", (unsigned long long)seed);
        check_case(seed);
    }
}

/** A file of many blocks on disk in memory, its records, and a reader. */
typedef struct open_file {
    sst_world world;
    test_pool pool;
    test_run run;
    sinter_reader *reader;
} open_file;

static void
open_file_init(open_file *file, const sst_shape *shape, const sst_plan *plan,
               const sinter_read_options *options)
{
    const sinter_format *format = sinter_format_sst();
    sinter_error err = SINTER_ERROR_INIT;
    test_rng rng = {.state = 17};

    memset(file, 0, sizeof *file);
    sst_world_init(&file->world);
    file->run = sst_records(&rng, shape, &file->pool);
    cr_assert_eq(sst_write(&file->world.env, "f.sst", &file->run, plan, NULL, &err), SINTER_OK,
                 "%s", err.text);
    cr_assert_eq(
        format->open_reader(format->self, &file->world.env, "f.sst", options, &file->reader, &err),
        SINTER_OK, "%s", err.text);
}

static void
open_file_fini(open_file *file)
{
    file->reader->ops->close(file->reader);
    test_pool_fini(&file->pool);
    sst_world_fini(&file->world);
}

static const sst_shape several = {
    .count = 2000, .key_max = 12, .value_max = 40, .delete_percent = 10, .sequence_space = 5000};
static const sst_plan small_blocks = {.options = {.block_bytes = 700}, .page_bytes = 600};

Test(sst_reader, seek_goes_on_at_the_first_key_not_below_in_any_direction)
{
    open_file file;
    test_rng rng = {.state = 23};

    open_file_init(&file, &several, &small_blocks, NULL);
    for (int i = 0; i < 300; i++) {
        const size_t at = (size_t)test_rng_below(&rng, file.run.count);
        const test_record *record = &file.run.records[at];
        const sinter_batch *batch = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        cr_assert_eq(file.reader->ops->seek(file.reader, record->key, &err), SINTER_OK);
        for (size_t k = at; k < at + 60 && k < file.run.count;) {
            cr_assert_eq(file.reader->ops->next(file.reader, &batch, &err), SINTER_OK);
            for (uint32_t row = 0; row < batch->row_count; row++, k++) {
                cr_assert(test_bytes_equal(sinter_batch_key(batch, row), file.run.records[k].key));
            }
        }
    }
    open_file_fini(&file);
}

Test(sst_reader, seek_behind_the_last_key_finds_the_end)
{
    static const uint8_t high[13] = {255, 255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 255};
    const sinter_batch *batch = NULL;
    const sinter_block_info *info = NULL;
    open_file file;

    open_file_init(&file, &several, &small_blocks, NULL);
    cr_assert_eq(file.reader->ops->seek(file.reader, (sinter_bytes){high, 13}, NULL), SINTER_OK);
    cr_expect_eq(file.reader->ops->peek(file.reader, &info, NULL), SINTER_END);
    cr_expect_eq(file.reader->ops->next(file.reader, &batch, NULL), SINTER_END);
    cr_assert_eq(file.reader->ops->seek(file.reader, (sinter_bytes){NULL, 0}, NULL), SINTER_OK);
    cr_expect_eq(file.reader->ops->next(file.reader, &batch, NULL), SINTER_OK);
    cr_expect(test_bytes_equal(sinter_batch_key(batch, 0), file.run.records[0].key));
    open_file_fini(&file);
}

Test(sst_reader, peek_tells_what_next_then_yields)
{
    open_file file;
    const sinter_batch *batch = NULL;
    const sinter_block_info *info = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bool was_last = false;
    size_t at = 0;

    open_file_init(&file, &several, &small_blocks, NULL);
    while (file.reader->ops->peek(file.reader, &info, &err) == SINTER_OK) {
        const uint32_t rows = info->row_count;
        const uint32_t retracts = info->retract_count;

        cr_assert_not(was_last, "no block follows the last");
        cr_assert(info->is_whole);
        was_last = info->is_last;
        cr_assert(test_bytes_equal(info->first_key, file.run.records[at].key));
        cr_assert(test_bytes_equal(info->last_key, file.run.records[at + rows - 1].key));
        cr_assert_eq(file.reader->ops->next(file.reader, &batch, &err), SINTER_OK);
        cr_assert_eq(batch->row_count, rows);
        cr_assert_eq(batch->retract_count, retracts);
        cr_assert_eq(info->first_prefix, batch->prefixes[0]);
        at += rows;
    }
    cr_expect(was_last);
    cr_expect_eq(at, file.run.count);
    open_file_fini(&file);
}

Test(sst_reader, a_batch_outlives_peeking_at_the_next_block)
{
    open_file file;
    const sinter_batch *batch = NULL;
    const sinter_block_info *info = NULL;
    size_t at = 0;

    open_file_init(
        &file, &several, &small_blocks,
        &(sinter_read_options){.struct_size = sizeof(sinter_read_options), .read_bytes = 1});
    while (file.reader->ops->next(file.reader, &batch, NULL) == SINTER_OK) {
        const sinter_status st = file.reader->ops->peek(file.reader, &info, NULL);

        cr_assert(st == SINTER_OK || st == SINTER_END);
        for (uint32_t i = 0; i < batch->row_count; i++, at++) {
            cr_assert(test_bytes_equal(sinter_batch_key(batch, i), file.run.records[at].key));
            cr_assert(
                test_bytes_equal(batch->payload_ops->value(batch, i), file.run.records[at].value));
        }
    }
    cr_expect_eq(at, file.run.count);
    open_file_fini(&file);
}

Test(sst_reader, a_block_that_a_range_cuts_is_not_whole_and_cant_be_taken)
{
    open_file file;
    const sinter_batch *batch = NULL;
    const sinter_block_info *info = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    open_file_init(&file, &several, &small_blocks, NULL);
    cr_assert_eq(file.reader->ops->peek(file.reader, &info, NULL), SINTER_OK);
    cr_assert_eq(file.reader->ops->seek(file.reader, file.run.records[1].key, &err), SINTER_OK);
    cr_assert_eq(file.reader->ops->peek(file.reader, &info, &err), SINTER_OK);
    cr_expect_not(info->is_whole);
    cr_expect_eq(file.reader->ops->take(file.reader, &batch, &err), SINTER_E_INVALID);
    cr_assert_eq(file.reader->ops->next(file.reader, &batch, &err), SINTER_OK,
                 "the reader goes on");
    cr_assert_eq(file.reader->ops->peek(file.reader, &info, &err), SINTER_OK);
    cr_expect(info->is_whole);
    open_file_fini(&file);
}

Test(sst_reader, prefixes_come_after_the_bytes_that_all_keys_share)
{
    const sst_shape shape = {
        .count = 700, .key_min = 10, .key_max = 30, .value_max = 10, .shared = 9};
    const sinter_read_options options = {.struct_size = sizeof options, .key_prefix_skip = 9};
    const sinter_read_options lie = {.struct_size = sizeof lie, .key_prefix_skip = 10};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t rows = 0;
    open_file file;

    open_file_init(&file, &shape, &small_blocks, NULL);
    cr_expect_eq(sst_read_compare(&file.world.env, "f.sst", &options, &file.run, &err), SINTER_OK,
                 "%s", err.text);
    cr_expect_eq(sst_read_all(&file.world.env, "f.sst", &lie, &rows, &err), SINTER_E_CORRUPT,
                 "a key that lacks the shared prefix is noticed");
    open_file_fini(&file);
}

Test(sst_reader, a_file_of_another_size_than_recorded_is_refused)
{
    const sinter_read_options options = {.struct_size = sizeof options, .expected_file_bytes = 17};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t rows = 0;
    open_file file;

    open_file_init(&file, &several, &small_blocks, NULL);
    cr_expect_eq(sst_read_all(&file.world.env, "f.sst", &options, &rows, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.file, "f.sst");
    open_file_fini(&file);
}

Test(sst_reader, a_missing_file_is_not_found)
{
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t rows = 0;

    sst_world_init(&world);
    cr_expect_eq(sst_read_all(&world.env, "none.sst", NULL, &rows, &err), SINTER_E_NOT_FOUND);
    cr_expect_str_eq(err.file, "none.sst");
    sst_world_fini(&world);
}

/** Read a file under a budget; the reservation must be gone afterwards. */
static sinter_status
read_within(open_file *file, uint64_t budget, uint64_t *peak_out, sinter_error *err)
{
    sinter_env env = file->world.env;
    sinter_status st = SINTER_OK;
    uint64_t rows = 0;

    cr_assert_eq(sinter_memory_create(&env, budget, &env.memory, NULL), SINTER_OK);
    st = sst_read_all(&env, "f.sst", NULL, &rows, err);
    cr_assert_eq(sinter_memory_used(env.memory), 0);
    *peak_out = sinter_memory_peak(env.memory);
    sinter_memory_destroy(env.memory);
    return st;
}

Test(sst_reader, memory_stays_within_the_budget)
{
    const sst_shape shape = {.count = 20000,
                             .key_min = 16,
                             .key_max = 16,
                             .value_min = 100,
                             .value_max = 100,
                             .noise = true};
    const sst_plan plan = {.options = {.codec = SINTER_CODEC_ZSTD}};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t peak = 0;
    open_file file;

    open_file_init(&file, &shape, &plan, NULL);
    cr_expect_eq(read_within(&file, 0, &peak, &err), SINTER_OK);
    cr_expect_eq(read_within(&file, peak, &peak, &err), SINTER_OK);
    cr_expect_eq(read_within(&file, 100000, &peak, &err), SINTER_E_TOO_LARGE);
    cr_expect_str_eq(err.file, "f.sst");
    open_file_fini(&file);
}

Test(sst_reader, a_budget_too_small_for_reading_ahead_still_reads)
{
    const sst_shape shape = {
        .count = 6, .key_min = 4, .key_max = 4, .value_min = 900000, .value_max = 900000};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t peak = 0;
    open_file file;

    open_file_init(&file, &shape, &small_blocks, NULL);
    cr_expect_eq(read_within(&file, 1100000, &peak, &err), SINTER_OK, "%s", err.text);
    open_file_fini(&file);
}

Test(sst_reader, a_failed_reader_stays_failed_until_it_seeks)
{
    open_file file;
    sinter_fault_options fault = {
        .struct_size = sizeof fault, .kind = SINTER_FAULT_EIO, .at_call = UINT64_MAX};
    const sinter_format *format = sinter_format_sst();
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    sinter_io *faulty = NULL;
    sinter_env env;
    sinter_status st = SINTER_OK;

    open_file_init(&file, &several, &small_blocks, NULL);
    cr_assert_eq(sinter_io_fault_create(&file.world.io_env, file.world.io, &fault, &faulty, NULL),
                 0);
    env = file.world.env;
    env.io = faulty;
    cr_assert_eq(format->open_reader(format->self, &env, "f.sst", NULL, &reader, NULL), SINTER_OK);
    fault.at_call = 0;
    sinter_io_fault_set(faulty, &fault);
    while (st == SINTER_OK) {
        st = reader->ops->next(reader, &batch, NULL);
    }
    cr_assert_eq(st, SINTER_E_IO);
    fault.at_call = UINT64_MAX;
    sinter_io_fault_set(faulty, &fault);
    cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_E_IO, "no block is skipped");
    cr_expect_eq(reader->ops->seek(reader, file.run.records[0].key, NULL), SINTER_OK);
    cr_expect_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
    reader->ops->close(reader);
    sinter_io_destroy(faulty);
    open_file_fini(&file);
}

Test(sst_reader, keys_and_values_up_to_several_megabytes_come_back)
{
    const sst_shape shape = {.count = 12, .key_max = 1 << 20, .value_max = 5 << 20};
    const int codecs[] = {SINTER_CODEC_NONE, SINTER_CODEC_LZ4, SINTER_CODEC_ZSTD};
    test_rng rng = {.state = 31};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &shape, &pool);

    for (size_t i = 0; i < 3; i++) {
        const sst_plan plan = {.options = {.codec = codecs[i]}};
        sinter_error err = SINTER_ERROR_INIT;
        sst_world world;

        sst_world_init(&world);
        cr_assert_eq(sst_write(&world.env, "f.sst", &run, &plan, NULL, &err), SINTER_OK, "%s",
                     err.text);
        cr_assert_eq(sst_read_compare(&world.env, "f.sst", NULL, &run, &err), SINTER_OK, "%s",
                     err.text);
        cr_assert_eq(sinter_sst_verify(&world.env, "f.sst", NULL, &err), SINTER_OK, "%s", err.text);
        sst_world_fini(&world);
    }
    test_pool_fini(&pool);
}

/** Write and read the same records over one backend, in a folder of its own. */
static void
check_on_disk(sinter_io_kind kind, bool direct)
{
    const sst_shape shape = {.count = 9000, .key_max = 20, .value_max = 300, .delete_percent = 5};
    const sst_plan plan = {.options = {.codec = SINTER_CODEC_ZSTD, .direct = direct}};
    sinter_read_options options = {.struct_size = sizeof options, .direct = direct};
    char dir[] = "/tmp/sst_reader.XXXXXX";
    char path[64];
    test_rng rng = {.state = 3};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &shape, &pool);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_env env;

    cr_assert_not_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/d.sst", dir);
    sinter_env_init(&env);
    cr_assert_eq(sinter_io_create(&env, kind, NULL, &env.io, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sst_write(&env, path, &run, &plan, NULL, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sst_read_compare(&env, path, &options, &run, &err), SINTER_OK, "%s", err.text);
    options.keys_only = true;
    options.read_bytes = 5000;
    cr_assert_eq(sst_read_compare(&env, path, &options, &run, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_sst_verify(&env, path, NULL, &err), SINTER_OK, "%s", err.text);
    sst_unlink(&env, path);
    cr_assert_eq(rmdir(dir), 0);
    sinter_io_destroy(env.io);
    test_pool_fini(&pool);
}

Test(sst_reader, files_on_disk_come_back_through_every_backend)
{
    check_on_disk(SINTER_IO_POSIX, false);
    check_on_disk(SINTER_IO_POSIX, true);
    check_on_disk(SINTER_IO_AUTO, false);
    check_on_disk(SINTER_IO_AUTO, true);
}
