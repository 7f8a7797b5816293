#include "sst/reader.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sst_support.h"

TestSuite(sst_reader, .timeout = 120);

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

/** A shape and a plan that follow from a seed. */
static void
random_case(test_rng *rng, sst_shape *shape, sst_plan *plan)
{
    static const int codecs[] = {SINTER_CODEC_NONE, SINTER_CODEC_LZ4, SINTER_CODEC_ZSTD};
    static const uint32_t key_max[] = {0, 1, 8, 16, 24, 300};
    static const uint32_t value_max[] = {0, 1, 16, 100, 3000, 200000};
    const size_t key_class = (size_t)test_rng_below(rng, 6);
    const size_t value_class = (size_t)test_rng_below(rng, 6);

    *shape = (sst_shape){
        .count = (size_t)test_rng_below(rng, value_class == 5 ? 40 : 3000),
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
    for (uint64_t seed = 1; seed <= 250; seed++) {
        cr_log_info("seed %llu", (unsigned long long)seed);
        check_case(seed);
    }
}
