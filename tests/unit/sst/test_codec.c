#include "sst/codec.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/sst.h"
#include "sst_support.h"

TestSuite(sst_codec, .timeout = 120);

static const int codecs[] = {SINTER_CODEC_NONE, SINTER_CODEC_LZ4, SINTER_CODEC_ZSTD};

/** Encode and decode; returns the stored size. */
static size_t
round_trip(sinter__codec *self, int codec, int level, sinter_bytes raw)
{
    uint8_t *stored = malloc(sinter__codec_bound(codec, raw.size) + 1);
    uint8_t *back = malloc(raw.size + 1);
    sinter_error err = SINTER_ERROR_INIT;
    size_t size = 0;

    cr_assert_eq(
        sinter__codec_encode(self, (sinter__codec_choice){codec, level}, raw, stored, &size, &err),
        SINTER_OK, "%s", err.text);
    cr_assert_leq(size, sinter__codec_bound(codec, raw.size));
    cr_assert_eq(
        sinter__codec_decode(self, codec, (sinter_bytes){stored, size}, back, raw.size, &err),
        SINTER_OK, "%s", err.text);
    cr_assert(raw.size == 0 || memcmp(back, raw.data, raw.size) == 0);
    free(stored);
    free(back);
    return size;
}

Test(sst_codec, every_codec_gives_bytes_back)
{
    const size_t sizes[] = {0, 1, 100, 65536, 1000000};
    test_rng rng = {.state = 5};
    uint8_t *bytes = malloc(1000000);
    sst_world world;

    sst_world_init(&world);
    for (size_t i = 0; i < 1000000; i++) {
        bytes[i] = (uint8_t)test_rng_below(&rng, 16);
    }
    for (size_t c = 0; c < 3; c++) {
        sinter__codec self = {.env = &world.env};

        for (size_t i = 0; i < 5 && sinter_codec_is_built_in(codecs[c]); i++) {
            round_trip(&self, codecs[c], 0, (sinter_bytes){bytes, sizes[i]});
        }
        sinter__codec_fini(&self);
    }
    free(bytes);
    sst_world_fini(&world);
}

Test(sst_codec, zstd_takes_every_level_it_has)
{
    uint8_t bytes[5000];
    sst_world world;
    sinter__codec self = {.env = &world.env};

    sst_world_init(&world);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i / 7);
    }
    for (int level = -7; level <= 22; level++) {
        cr_assert_eq(sinter__codec_check_level(SINTER_CODEC_ZSTD, level, NULL), SINTER_OK);
        cr_expect_lt(
            round_trip(&self, SINTER_CODEC_ZSTD, level, (sinter_bytes){bytes, sizeof bytes}),
            sizeof bytes);
    }
    cr_expect_eq(sinter__codec_check_level(SINTER_CODEC_ZSTD, 23, NULL), SINTER_E_INVALID);
    sinter__codec_fini(&self);
    sst_world_fini(&world);
}

Test(sst_codec, damaged_data_is_refused)
{
    uint8_t raw[1000] = {0};
    uint8_t back[1000];
    uint8_t stored[2000];
    sst_world world;

    sst_world_init(&world);
    for (size_t c = 1; c < 3; c++) {
        sinter__codec self = {.env = &world.env};
        size_t size = 0;

        if (!sinter_codec_is_built_in(codecs[c])) {
            continue;
        }
        cr_assert_eq(sinter__codec_encode(&self, (sinter__codec_choice){codecs[c], 1},
                                          (sinter_bytes){raw, sizeof raw}, stored, &size, NULL),
                     SINTER_OK);
        for (size_t cut = 0; cut < size; cut++) {
            cr_expect_eq(sinter__codec_decode(&self, codecs[c], (sinter_bytes){stored, cut}, back,
                                              sizeof back, NULL),
                         SINTER_E_CORRUPT);
        }
        cr_expect_eq(sinter__codec_decode(&self, codecs[c], (sinter_bytes){stored, size}, back,
                                          sizeof back - 1, NULL),
                     SINTER_E_CORRUPT, "another size than promised");
        sinter__codec_fini(&self);
    }
    sst_world_fini(&world);
}

Test(sst_codec, f21_no_claim_above_what_a_codec_can_pack_is_believed)
{
    cr_expect(sinter__codec_may_expand(SINTER_CODEC_NONE, 5, 5));
    cr_expect(sinter__codec_may_expand(SINTER_CODEC_LZ4, 10, 2000));
    cr_expect_not(sinter__codec_may_expand(SINTER_CODEC_LZ4, 10, 1 << 20));
    cr_expect(sinter__codec_may_expand(SINTER_CODEC_ZSTD, 100, 3 << 20));
    cr_expect_not(sinter__codec_may_expand(SINTER_CODEC_ZSTD, 100, 1 << 30));
}

Test(sst_codec, f21_zeros_pack_no_denser_than_is_believed)
{
    const size_t size = 20 << 20;
    uint8_t *zeros = calloc(size, 1);
    sst_world world;
    sinter__codec self = {.env = &world.env};

    sst_world_init(&world);
    for (size_t c = 1; c < 3; c++) {
        if (sinter_codec_is_built_in(codecs[c])) {
            const size_t stored = round_trip(&self, codecs[c], 1, (sinter_bytes){zeros, size});

            cr_expect(sinter__codec_may_expand(codecs[c], stored, size), "%zu bytes", stored);
        }
    }
    sinter__codec_fini(&self);
    free(zeros);
    sst_world_fini(&world);
}

Test(sst_codec, contexts_count_against_the_budget)
{
    uint8_t raw[1000] = {0};
    sst_world world;
    sinter__codec self = {.env = &world.env};
    size_t stored = 0;
    uint8_t out[2000];

    sst_world_init(&world);
    cr_assert_eq(sinter_memory_create(&world.env, 1000, &world.env.memory, NULL), SINTER_OK);
    cr_expect_eq(sinter__codec_encode(&self, (sinter__codec_choice){SINTER_CODEC_ZSTD, 1},
                                      (sinter_bytes){raw, sizeof raw}, out, &stored, NULL),
                 SINTER_E_TOO_LARGE);
    sinter__codec_fini(&self);
    cr_expect_eq(sinter_memory_used(world.env.memory), 0);
    sinter_memory_destroy(world.env.memory);
    sst_world_fini(&world);
}

Test(sst_codec, unknown_codecs_are_named)
{
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter__codec_check(77, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "77"));
    cr_expect_not(sinter_codec_is_built_in(77));
    cr_expect(sinter_codec_is_built_in(SINTER_CODEC_ZSTD));
}

Test(sst_codec, contexts_hold_no_more_than_was_foretold)
{
    static const int levels[] = {-7, 0, 1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 15, 16, 19};
    static const size_t sizes[] = {100, 70000, 1100000};
    uint8_t *raw = calloc(1, sizes[2]);
    uint8_t *stored = malloc(sinter__codec_bound(SINTER_CODEC_ZSTD, sizes[2]));

    cr_assert(raw != NULL && stored != NULL);
    for (size_t l = 0; l < sizeof levels / sizeof levels[0]; l++) {
        for (size_t s = 0; s < 3; s++) {
            const sinter__codec_choice choice = {SINTER_CODEC_ZSTD, levels[l]};
            sinter__codec codec = {.env = sinter_env_default()};
            uint64_t encoder_bytes = 0;
            size_t size = 0;

            cr_assert_eq(sinter__codec_encode(&codec, choice, (sinter_bytes){raw, sizes[s]}, stored,
                                              &size, NULL),
                         SINTER_OK);
            encoder_bytes = codec.reserved_bytes;
            cr_expect_leq(encoder_bytes,
                          sinter__codec_encoder_bytes(SINTER_CODEC_ZSTD, levels[l], sizes[s]),
                          "level %d, %zu bytes: %llu", levels[l], sizes[s],
                          (unsigned long long)encoder_bytes);
            cr_assert_eq(sinter__codec_decode(&codec, SINTER_CODEC_ZSTD,
                                              (sinter_bytes){stored, size}, raw, sizes[s], NULL),
                         SINTER_OK);
            cr_expect_leq(codec.reserved_bytes - encoder_bytes,
                          sinter__codec_decoder_bytes(SINTER_CODEC_ZSTD));
            sinter__codec_fini(&codec);
        }
    }
    cr_expect_eq(sinter__codec_encoder_bytes(SINTER_CODEC_NONE, 0, 1000), 0);
    cr_expect_eq(sinter__codec_decoder_bytes(SINTER_CODEC_LZ4), 0);
    free(raw);
    free(stored);
}
