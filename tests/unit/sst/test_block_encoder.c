#include "sst/block_encoder.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "sst_support.h"

TestSuite(sst_block_encoder, .timeout = 120);

/** Blocks of a file, and how many have a codec on their parts, or front-coded keys. */
typedef struct part_codecs {
    uint32_t blocks;
    uint32_t front_coded;
    uint32_t keys;
    uint32_t values;
} part_codecs;

static sinter_status
count_codecs(void *ctx, const sinter_sst_block *block)
{
    part_codecs *count = ctx;

    count->blocks++;
    count->front_coded += block->keys_front_coded;
    count->keys += block->key_codec != SINTER_CODEC_NONE;
    count->values += block->value_codec != SINTER_CODEC_NONE;
    cr_assert_leq(block->key_stored_bytes, block->key_raw_bytes);
    cr_assert_leq(block->value_stored_bytes, block->value_raw_bytes);
    return SINTER_OK;
}

static part_codecs
codecs_of(const sst_shape *shape, int codec)
{
    const sst_plan plan = {.options = {.block_bytes = 4000, .codec = codec}};
    test_rng rng = {.state = 12};
    test_pool pool = {0};
    part_codecs count = {0};
    sinter_sst *sst = NULL;
    sst_world world;
    const test_run run = sst_records(&rng, shape, &pool);

    sst_world_init(&world);
    cr_assert_eq(sst_write(&world.env, "c.sst", &run, &plan, NULL, NULL), SINTER_OK);
    cr_assert_eq(sinter_sst_open(&world.env, "c.sst", &sst, NULL), SINTER_OK);
    cr_assert_eq(sinter_sst_each_block(sst, count_codecs, &count, NULL), SINTER_OK);
    sinter_sst_close(sst);
    test_pool_fini(&pool);
    sst_world_fini(&world);
    return count;
}

Test(sst_block_encoder, keys_go_through_the_codec_only_if_they_gain)
{
    const sst_shape random_keys = {.count = 2000,
                                   .key_min = 16,
                                   .key_max = 16,
                                   .value_min = 50,
                                   .value_max = 50,
                                   .sequence_space = 1};
    const sst_shape alike_keys = {.count = 2000,
                                  .key_min = 40,
                                  .key_max = 40,
                                  .value_min = 50,
                                  .value_max = 50,
                                  .shared = 36,
                                  .sequence_space = 1};
    part_codecs count = codecs_of(&random_keys, SINTER_CODEC_ZSTD);

    cr_expect_gt(count.blocks, 20);
    cr_expect_eq(count.keys, 0);
    cr_expect_eq(count.values, count.blocks);
    count = codecs_of(&alike_keys, SINTER_CODEC_ZSTD);
    cr_expect_gt(count.blocks, 20);
    cr_expect_eq(count.keys, count.blocks);
}

Test(sst_block_encoder, keys_are_front_coded_if_that_leaves_out_four_bytes_of_each)
{
    static const struct {
        uint32_t shared;
        bool is_front_coded;
    } cases[] = {{0, false}, {2, false}, {5, true}, {20, true}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sst_shape shape = {.count = 2000,
                                 .key_min = cases[i].shared + 12,
                                 .key_max = cases[i].shared + 12,
                                 .value_min = 50,
                                 .value_max = 50,
                                 .shared = cases[i].shared,
                                 .sequence_space = 1};

        for (int codec = SINTER_CODEC_NONE; codec <= SINTER_CODEC_ZSTD; codec++) {
            const part_codecs count = codecs_of(&shape, sst_codec(codec));

            cr_expect_gt(count.blocks, 20);
            cr_expect_eq(count.front_coded, cases[i].is_front_coded ? count.blocks : 0,
                         "shared %u: %u of %u", cases[i].shared, count.front_coded, count.blocks);
        }
    }
}

Test(sst_block_encoder, values_that_gain_nothing_are_stored_as_they_are)
{
    const sst_shape noise = {.count = 500,
                             .key_min = 8,
                             .key_max = 8,
                             .value_min = 100,
                             .value_max = 100,
                             .noise = true};

    cr_expect_eq(codecs_of(&noise, SINTER_CODEC_ZSTD).values, 0);
    cr_expect_eq(codecs_of(&noise, SINTER_CODEC_LZ4).values, 0);
}

Test(sst_block_encoder, a_file_without_codec_has_none_anywhere)
{
    const sst_shape plain = {
        .count = 500, .key_min = 8, .key_max = 8, .value_min = 100, .value_max = 100};
    const part_codecs count = codecs_of(&plain, SINTER_CODEC_NONE);

    cr_expect(count.keys == 0 && count.values == 0);
}
