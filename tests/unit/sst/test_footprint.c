#include "sst/footprint.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "sst_support.h"

TestSuite(sst_footprint, .timeout = 240);

/** A file and what was said of it. */
typedef struct measured_file {
    sst_world world;
    test_pool pool;
    test_run run;
    sst_plan plan;
    sinter_footprint footprint;
} measured_file;

static void
measured_file_init(measured_file *file, uint64_t seed, const sst_shape *shape, const sst_plan *plan,
                   const sinter_read_options *options)
{
    const sinter_format *format = sinter_format_sst();
    test_rng rng = {.state = seed};
    sinter_error err = SINTER_ERROR_INIT;

    *file = (measured_file){.plan = *plan, .footprint = {.struct_size = sizeof(sinter_footprint)}};
    sst_world_init(&file->world);
    file->run = sst_records(&rng, shape, &file->pool);
    cr_assert_eq(sst_write(&file->world.env, "f.sst", &file->run, plan, NULL, &err), SINTER_OK,
                 "%s", err.text);
    cr_assert_eq(
        format->measure(format->self, &file->world.env, "f.sst", options, &file->footprint, &err),
        SINTER_OK, "%s", err.text);
}

static void
measured_file_fini(measured_file *file)
{
    test_pool_fini(&file->pool);
    sst_world_fini(&file->world);
}

/** Read the file, or take its blocks as stored; gives the most that was held. */
static uint64_t
reading_peak(measured_file *file, const sinter_read_options *options, bool takes)
{
    const sinter_format *format = sinter_format_sst();
    sinter_env env = file->world.env;
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;
    uint64_t peak = 0;

    cr_assert_eq(sinter_memory_create(&env, 0, &env.memory, NULL), SINTER_OK);
    cr_assert_eq(format->open_reader(format->self, &env, "f.sst", options, &reader, NULL),
                 SINTER_OK);
    while (st == SINTER_OK) {
        st = takes ? reader->ops->take(reader, &batch, NULL)
                   : reader->ops->next(reader, &batch, NULL);
    }
    cr_assert_eq(st, SINTER_END);
    reader->ops->close(reader);
    peak = sinter_memory_peak(env.memory);
    sinter_memory_destroy(env.memory);
    return peak;
}

/** The most that a writer of the same rows holds with a thread beside it. */
static uint64_t
writing_peak(measured_file *file)
{
    const sinter_format *format = sinter_format_sst();
    sinter_write_options options = file->plan.options;
    sinter_env env = file->world.env; /* the writer's; the reader is not counted */
    sinter_pool *pool = NULL;
    sinter_reader *reader = NULL;
    sinter_writer *writer = NULL;
    const sinter_batch *batch = NULL;
    uint64_t peak = 0;

    options.struct_size = sizeof options;
    cr_assert_eq(sinter_pool_create(sinter_env_default(), 1, 8, &pool, NULL), SINTER_OK);
    env.executor = sinter_pool_executor(pool);
    cr_assert_eq(sinter_memory_create(&env, 0, &env.memory, NULL), SINTER_OK);
    cr_assert_eq(format->open_reader(format->self, &file->world.env, "f.sst", NULL, &reader, NULL),
                 SINTER_OK);
    cr_assert_eq(format->open_writer(format->self, &env, "g.sst", &options, &writer, NULL),
                 SINTER_OK);
    while (reader->ops->next(reader, &batch, NULL) == SINTER_OK) {
        const sinter_range range = {.batch = batch, .first = 0, .count = batch->row_count};
        size_t taken = 0;
        uint32_t rows = 0;

        cr_assert_eq(writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &rows, NULL),
                     SINTER_OK);
        cr_assert_eq(taken, 1);
    }
    cr_assert_eq(writer->ops->finish(writer, NULL, NULL), SINTER_OK);
    writer->ops->close(writer);
    reader->ops->close(reader);
    sinter_pool_destroy(pool);
    peak = sinter_memory_peak(env.memory);
    sinter_memory_destroy(env.memory);
    sst_unlink(&file->world.env, "g.sst");
    return peak;
}

Test(sst_footprint, a_file_with_one_huge_value_says_so)
{
    const sst_shape shape = {.count = 3,
                             .key_min = 8,
                             .key_max = 8,
                             .value_min = 4 << 20,
                             .value_max = 4 << 20,
                             .noise = true};
    const sst_plan plan = {.options = {.codec = SINTER_CODEC_ZSTD}};
    measured_file file;

    measured_file_init(&file, 1, &shape, &plan, NULL);
    cr_expect_eq(file.footprint.block_rows, 1);
    cr_expect_eq(file.footprint.value_part_bytes, 4 << 20);
    cr_expect_eq(file.footprint.key_part_bytes, SINTER__SST_KEY_HEADER_BYTES + 8);
    /* Two reads and what they decode to. */
    cr_expect_geq(file.footprint.reader_bytes, 3 * (4 << 20));
    cr_expect_leq(file.footprint.reader_bytes, 3 * (4 << 20) + (512 << 10));
    measured_file_fini(&file);
}

static void
try_shape(uint64_t seed)
{
    test_rng rng = {.state = seed * 49979687};
    const bool is_large = seed % 5 == 0;
    const uint32_t value_max = (uint32_t)1 << test_rng_below(&rng, is_large ? 22 : 12);
    const uint32_t shared = test_rng_chance(&rng, 30) ? 40 : 0;
    const sst_shape shape = {.count = 1 + (size_t)test_rng_below(&rng, is_large ? 8 : 20000),
                             .key_min = 4 + shared,
                             .key_max = 4 + shared + (uint32_t)test_rng_below(&rng, 60),
                             .shared = shared,
                             .value_min = (uint32_t)test_rng_below(&rng, value_max + 1),
                             .value_max = value_max,
                             .noise = test_rng_chance(&rng, 50)};
    const sst_plan plan = {
        .options = {.codec = sst_codec((int)test_rng_below(&rng, 3)),
                    .block_bytes = (uint32_t)1 << (8 + test_rng_below(&rng, 13)),
                    .filter_bits_per_key = test_rng_chance(&rng, 50) ? 10 : 0,
                    .blocks_beside = (uint32_t)test_rng_below(&rng, 5)},
    };
    const sinter_read_options options = {
        .struct_size = sizeof options,
        .read_bytes = (uint32_t)4096 << test_rng_below(&rng, 8),
    };
    measured_file file;
    uint64_t peak = 0;

    measured_file_init(&file, seed, &shape, &plan, &options);
    for (int takes = 0; takes < 2; takes++) {
        peak = reading_peak(&file, &options, takes != 0);
        cr_expect_leq(peak, file.footprint.reader_bytes, "seed %" PRIu64 ", takes %d", seed, takes);
    }
    peak = reading_peak(&file, &options, false);
    cr_expect_leq(file.footprint.reader_bytes, 2 * peak + (1 << 20),
                  "seed %" PRIu64 ": far more is said than is held: %" PRIu64, seed, peak);
    peak = writing_peak(&file);
    cr_expect_leq(peak,
                  sinter_format_sst()->writer_bytes(NULL, &file.plan.options, &file.footprint),
                  "seed %" PRIu64 ": the writer of codec %d, blocks of %u", seed,
                  file.plan.options.codec, file.plan.options.block_bytes);
    measured_file_fini(&file);
}

Test(sst_footprint, readers_and_writers_hold_no_more_than_was_said)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        try_shape(seed);
    }
}

Test(sst_footprint, an_older_caller_gets_what_it_has_room_for)
{
    const sst_shape shape = {.count = 3, .key_min = 4, .key_max = 4, .value_max = 10};
    const sst_plan plan = {.options = {.codec = 0}};
    const sinter_format *format = sinter_format_sst();
    sinter_footprint older;
    measured_file file;

    measured_file_init(&file, 1, &shape, &plan, NULL);
    memset(&older, 0xab, sizeof older);
    older.struct_size = 16;
    cr_assert_eq(format->measure(format->self, &file.world.env, "f.sst", NULL, &older, NULL),
                 SINTER_OK);
    cr_expect_eq(older.struct_size, 16);
    cr_expect_eq(older.key_part_bytes, file.footprint.key_part_bytes);
    cr_expect_eq(older.value_part_bytes, 0xababababababababu);
    measured_file_fini(&file);
}

/** Where the value of a property of the file stands. */
static uint8_t *
find_number(uint8_t *bytes, size_t size, const char *name)
{
    for (size_t i = 0; i + strlen(name) + 9 <= size; i++) {
        if (memcmp(bytes + i, name, strlen(name) + 1) == 0) {
            return bytes + i + strlen(name) + 1;
        }
    }
    cr_assert_fail("%s is not there", name);
    return NULL;
}

/** Make the checksums of properties and footer right again. */
static void
reseal(uint8_t *bytes, size_t size)
{
    uint8_t *footer = bytes + size - SINTER__SST_FOOTER_BYTES;

    sinter__put_le64(footer + 16, sinter__hash(bytes + sinter__get_le64(footer),
                                               (size_t)sinter__get_le64(footer + 8)));
    sinter__put_le64(footer + 88, sinter__hash(footer, 88));
}

Test(sst_footprint, impossible_claims_are_refused_and_the_largest_possible_do_no_harm)
{
    static const struct {
        const char *name;
        uint64_t largest;
    } claims[] = {{"sinter.largest_block", 0 /* the file's size */},
                  {"sinter.largest_key_part", SINTER_BLOCK_BYTES_MAX},
                  {"sinter.largest_value_part", SINTER_BLOCK_BYTES_MAX},
                  {"sinter.largest_block_rows", SINTER__SST_BLOCK_ROWS_MAX},
                  {"sinter.largest_page", SINTER__SST_PAGE_BYTES_MAX}};
    const sst_shape shape = {.count = 30, .key_min = 4, .key_max = 4, .value_max = 10};
    const sst_plan plan = {.options = {.filter_bits_per_key = 64}};
    const sinter_format *format = sinter_format_sst();
    sinter_error err = SINTER_ERROR_INIT;
    measured_file file;
    uint8_t *bytes = NULL;
    size_t size = 0;

    measured_file_init(&file, 1, &shape, &plan, NULL);
    bytes = sst_file_bytes(&file.world.env, "f.sst", &size);
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        uint8_t *place = find_number(bytes, size, claims[i].name);
        const uint64_t largest = claims[i].largest == 0 ? size : claims[i].largest;

        sinter__put_le64(place, largest + 1);
        reseal(bytes, size);
        sst_put_file(&file.world.env, "bad.sst", bytes, size);
        cr_expect_eq(
            format->measure(format->self, &file.world.env, "bad.sst", NULL, &file.footprint, &err),
            SINTER_E_CORRUPT, "%s", claims[i].name);
        cr_expect_str_eq(err.file, "bad.sst");
        sst_unlink(&file.world.env, "bad.sst");
        sinter__put_le64(place, largest);
    }
    reseal(bytes, size);
    sst_put_file(&file.world.env, "bad.sst", bytes, size);
    cr_expect_eq(
        format->measure(format->self, &file.world.env, "bad.sst", NULL, &file.footprint, &err),
        SINTER_OK, "%s", err.text);
    cr_expect_geq(file.footprint.reader_bytes, size);
    cr_expect_gt(format->writer_bytes(NULL, &plan.options, &file.footprint), 0);
    free(bytes);
    measured_file_fini(&file);
}

/** Give the named property another name that no reader knows. */
static void
hide_property(uint8_t *bytes, size_t size, const char *name)
{
    find_number(bytes, size, name)[-2] = 'X';
    reseal(bytes, size);
}

Test(sst_footprint, a_file_that_says_nothing_reads_as_before)
{
    static const char *const names[] = {"sinter.largest_block", "sinter.largest_key_part",
                                        "sinter.largest_value_part", "sinter.largest_block_rows",
                                        "sinter.largest_page"};
    const sst_shape shape = {.count = 30, .key_min = 4, .key_max = 4, .value_max = 10};
    const sst_plan plan = {.options = {.codec = 0}};
    const sinter_format *format = sinter_format_sst();
    sinter_error err = SINTER_ERROR_INIT;
    measured_file file;
    uint8_t *bytes = NULL;
    size_t size = 0;

    measured_file_init(&file, 1, &shape, &plan, NULL);
    bytes = sst_file_bytes(&file.world.env, "f.sst", &size);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        hide_property(bytes, size, names[i]);
    }
    sst_put_file(&file.world.env, "old.sst", bytes, size);
    cr_expect_eq(
        format->measure(format->self, &file.world.env, "old.sst", NULL, &file.footprint, &err),
        SINTER_END);
    cr_expect_eq(sst_read_compare(&file.world.env, "old.sst", NULL, &file.run, &err), SINTER_OK,
                 "%s", err.text);
    cr_expect_eq(sinter_sst_verify(&file.world.env, "old.sst", NULL, &err), SINTER_OK, "%s",
                 err.text);
    free(bytes);
    measured_file_fini(&file);
}

Test(sst_footprint, measuring_fails_as_opening_does)
{
    const sst_shape shape = {.count = 3, .key_min = 4, .key_max = 4, .value_max = 10};
    const sst_plan plan = {.options = {.codec = 0}};
    const sinter_format *format = sinter_format_sst();
    sinter_status st = SINTER_E_NOMEM;
    measured_file file;

    measured_file_init(&file, 1, &shape, &plan, NULL);
    cr_expect_eq(
        format->measure(format->self, &file.world.env, "no.sst", NULL, &file.footprint, NULL),
        SINTER_E_NOT_FOUND);
    for (uint64_t n = 0; st == SINTER_E_NOMEM; n++) {
        sst_world_fail_allocation(&file.world, n);
        st = format->measure(format->self, &file.world.env, "f.sst", NULL, &file.footprint, NULL);
        cr_assert_eq(file.world.fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    cr_expect_eq(st, SINTER_OK);
    measured_file_fini(&file);
}
