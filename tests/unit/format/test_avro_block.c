#include "format/avro_block.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "support/fault_alloc.h"

TestSuite(format_avro_block, .timeout = 60);

enum { RAW_BYTES = 300000 };

static const sinter__avro_codec codecs[] = {SINTER__AVRO_CODEC_NULL, SINTER__AVRO_CODEC_DEFLATE,
                                            SINTER__AVRO_CODEC_ZSTANDARD,
#ifdef SINTER_HAVE_SNAPPY
                                            SINTER__AVRO_CODEC_SNAPPY
#endif
};
enum { CODECS = sizeof codecs / sizeof codecs[0] };

static void
fill(uint8_t *raw, size_t size)
{
    uint32_t state = 7;

    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        raw[i] = (uint8_t)(state >> 29);
    }
}

static sinter_status
around(const sinter_env *env, sinter__avro_codec codec, sinter_bytes raw, sinter_error *err)
{
    sinter__avro_coder encoder = {.env = env};
    sinter__avro_coder decoder = {.env = env};
    sinter_bytes stored = {0};
    sinter_bytes back = {0};
    sinter_status st = sinter__avro_block_encode(
        &encoder, (sinter__avro_codec_choice){.codec = codec}, raw, &stored, err);

    if (st == SINTER_OK) {
        st = sinter__avro_block_decode(&decoder, codec, stored, raw.size < 9 ? 9 : 2 * raw.size,
                                       &back, err);
    }
    if (st == SINTER_OK) {
        cr_expect(back.size == raw.size && memcmp(back.data, raw.data, raw.size) == 0);
    }
    sinter__avro_coder_fini(&encoder);
    sinter__avro_coder_fini(&decoder);
    return st;
}

Test(format_avro_block, every_codec_gives_back_what_it_took)
{
    uint8_t *raw = malloc(RAW_BYTES);

    fill(raw, RAW_BYTES);
    for (size_t c = 0; c < CODECS; c++) {
        for (size_t size = 0; size <= RAW_BYTES; size = size * 3 + 1) {
            cr_expect_eq(around(sinter_env_default(), codecs[c], (sinter_bytes){raw, size}, NULL),
                         SINTER_OK, "codec %zu, %zu bytes", c, size);
        }
    }
    free(raw);
}

Test(format_avro_block, zstd_frames_need_not_say_their_size_and_may_be_several)
{
    uint8_t *raw = malloc(RAW_BYTES);
    uint8_t *stored = malloc(2 * ZSTD_compressBound(RAW_BYTES));
    ZSTD_CCtx *context = ZSTD_createCCtx();
    sinter__avro_coder decoder = {.env = sinter_env_default()};
    sinter_bytes back = {0};
    size_t size = 0;

    fill(raw, RAW_BYTES);
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    size = ZSTD_compress2(context, stored, ZSTD_compressBound(RAW_BYTES), raw, 200000);
    cr_assert_eq(ZSTD_getFrameContentSize(stored, size), ZSTD_CONTENTSIZE_UNKNOWN);
    size += ZSTD_compress2(context, stored + size, ZSTD_compressBound(RAW_BYTES), raw + 200000,
                           RAW_BYTES - 200000);
    cr_assert_eq(sinter__avro_block_decode(&decoder, SINTER__AVRO_CODEC_ZSTANDARD,
                                           (sinter_bytes){stored, size}, SINTER_BLOCK_BYTES_MAX,
                                           &back, NULL),
                 SINTER_OK);
    cr_expect(back.size == RAW_BYTES && memcmp(back.data, raw, RAW_BYTES) == 0);
    sinter__avro_coder_fini(&decoder);
    ZSTD_freeCCtx(context);
    free(stored);
    free(raw);
}

Test(format_avro_block, what_decodes_to_more_than_the_limit_is_refused_before_it_is_held)
{
    enum { ZEROS = 8 << 20 };
    uint8_t *raw = calloc(1, ZEROS);
    sinter_memory *memory = NULL;
    sinter_env env = *sinter_env_default();

    cr_assert_eq(sinter_memory_create(&env, 2 << 20, &memory, NULL), SINTER_OK);
    env.memory = memory;
    for (size_t c = 1; c < CODECS; c++) {
        sinter__avro_coder encoder = {.env = sinter_env_default()};
        sinter__avro_coder decoder = {.env = &env};
        sinter_bytes stored = {0};
        sinter_bytes back = {0};
        sinter_error err = SINTER_ERROR_INIT;

        cr_assert_eq(sinter__avro_block_encode(&encoder,
                                               (sinter__avro_codec_choice){.codec = codecs[c]},
                                               (sinter_bytes){raw, ZEROS}, &stored, NULL),
                     SINTER_OK);
        cr_expect_eq(sinter__avro_block_decode(&decoder, codecs[c], stored, 100000, &back, &err),
                     SINTER_E_TOO_LARGE);
        cr_expect_str_eq(err.text, "a block decodes to more than 100000 bytes");
        cr_expect_eq(sinter__avro_block_decode(&decoder, codecs[c], stored, ZEROS, &back, &err),
                     SINTER_E_TOO_LARGE, "the budget");
        sinter__avro_coder_fini(&decoder);
        decoder = (sinter__avro_coder){.env = sinter_env_default()};
        cr_expect_eq(sinter__avro_block_decode(&decoder, codecs[c], stored, ZEROS - 1, &back, NULL),
                     SINTER_E_TOO_LARGE);
        cr_expect_eq(sinter__avro_block_decode(&decoder, codecs[c], stored, ZEROS, &back, NULL),
                     SINTER_OK);
        sinter__avro_coder_fini(&encoder);
        sinter__avro_coder_fini(&decoder);
        cr_expect_eq(sinter_memory_used(memory), 0);
    }
    sinter_memory_destroy(memory);
    free(raw);
}

Test(format_avro_block, cut_or_changed_blocks_never_decode_to_the_same)
{
    uint8_t raw[500];

    fill(raw, sizeof raw);
    for (size_t c = 1; c < CODECS; c++) {
        sinter__avro_coder encoder = {.env = sinter_env_default()};
        sinter__avro_coder decoder = {.env = sinter_env_default()};
        sinter_bytes stored = {0};
        sinter_bytes back = {0};
        sinter_error err = SINTER_ERROR_INIT;
        uint8_t copy[1000];

        cr_assert_eq(sinter__avro_block_encode(&encoder,
                                               (sinter__avro_codec_choice){.codec = codecs[c]},
                                               (sinter_bytes){raw, sizeof raw}, &stored, NULL),
                     SINTER_OK);
        cr_assert_leq(stored.size, sizeof copy - 1);
        memcpy(copy, stored.data, stored.size);
        copy[stored.size] = 0;
        for (size_t size = 1; size < stored.size; size++) {
            cr_expect_eq(sinter__avro_block_decode(&decoder, codecs[c], (sinter_bytes){copy, size},
                                                   100000, &back, &err),
                         SINTER_E_CORRUPT, "codec %zu cut to %zu", c, size);
        }
        cr_expect_eq(sinter__avro_block_decode(&decoder, codecs[c],
                                               (sinter_bytes){copy, stored.size + 1}, 100000, &back,
                                               &err),
                     SINTER_E_CORRUPT, "a byte too many");
        sinter__avro_coder_fini(&encoder);
        sinter__avro_coder_fini(&decoder);
    }
}

Test(format_avro_block, a_codec_that_is_not_known_is_refused_by_name)
{
    sinter__avro_codec codec = SINTER__AVRO_CODEC_NULL;
    sinter_error err = SINTER_ERROR_INIT;

    for (size_t c = 0; c < CODECS; c++) {
        const char *name = sinter__avro_codec_name(codecs[c]);

        cr_expect_eq(sinter__avro_codec_find((sinter_bytes){(const uint8_t *)name, strlen(name)},
                                             &codec, NULL),
                     SINTER_OK);
        cr_expect_eq(codec, codecs[c]);
    }
    cr_expect_eq(sinter__avro_codec_find((sinter_bytes){(const uint8_t *)"bzip2", 5}, &codec, &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "codec \"bzip2\": null, deflate"), "%s", err.text);
}

Test(format_avro_block, every_allocation_may_fail)
{
    uint8_t raw[5000];

    fill(raw, sizeof raw);
    for (size_t c = 0; c < CODECS; c++) {
        sinter_status st = SINTER_E_NOMEM;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            sinter_error err = SINTER_ERROR_INIT;
            fault_alloc fault;

            fault_alloc_init(&fault, n);
            st = around(&fault.env, codecs[c], (sinter_bytes){raw, sizeof raw}, &err);
            cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
            cr_assert_eq(fault.live, 0);
        }
    }
}

#ifdef SINTER_HAVE_SNAPPY
Test(format_avro_block, a_snappy_block_ends_with_the_checksum_of_what_it_holds)
{
    uint8_t block[] = {0x05, 0x10, 'h', 'e', 'l', 'l', 'o', 0x36, 0x10, 0xa6, 0x86};
    sinter__avro_coder coder = {.env = sinter_env_default()};
    sinter_bytes back = {0};
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter__avro_block_decode(&coder, SINTER__AVRO_CODEC_SNAPPY,
                                           (sinter_bytes){block, sizeof block}, 100, &back, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect(back.size == 5 && memcmp(back.data, "hello", 5) == 0);
    block[sizeof block - 1]++;
    cr_expect_eq(sinter__avro_block_decode(&coder, SINTER__AVRO_CODEC_SNAPPY,
                                           (sinter_bytes){block, sizeof block}, 100, &back, &err),
                 SINTER_E_CORRUPT);
    sinter__avro_coder_fini(&coder);
}
#endif

/* Items of 16 bytes, of which there are so many different ones; 0: all are. */
static void
fill_items(uint8_t *raw, size_t size, uint32_t seed, uint32_t kinds)
{
    enum { ITEM_BYTES = 16 };

    for (size_t i = 0; i < size; i += ITEM_BYTES) {
        uint32_t state = (seed + (uint32_t)i) * 2654435761u;

        state = kinds == 0 ? state : (state >> 8) % kinds;
        for (size_t b = 0; b < ITEM_BYTES; b++) {
            state = state * 1664525u + 1013904223u;
            raw[i + b] = (uint8_t)(state >> 24);
        }
    }
}

static void
expect_back(sinter__avro_coder *decoder, sinter_bytes stored, sinter_bytes raw)
{
    sinter_bytes back = {0};

    cr_assert_eq(sinter__avro_block_decode(decoder, SINTER__AVRO_CODEC_ZSTANDARD, stored, raw.size,
                                           &back, NULL),
                 SINTER_OK);
    cr_expect(back.size == raw.size && memcmp(back.data, raw.data, raw.size) == 0);
}

/* Does a smaller table of zstd's do, after some blocks of such items? How much the last one is
 * larger than the first. */
static bool
likes_small_table(uint32_t kinds, size_t *loss_out)
{
    enum { BLOCK_BYTES = 64000, BLOCKS = 6 };
    const sinter__avro_codec_choice choice = {.codec = SINTER__AVRO_CODEC_ZSTANDARD};
    uint8_t *raw = malloc(BLOCK_BYTES);
    sinter__avro_coder encoder = {.env = sinter_env_default()};
    sinter__avro_coder decoder = {.env = sinter_env_default()};
    sinter_bytes stored = {0};
    size_t first = 0;
    bool likes = false;

    for (uint32_t block = 0; block < BLOCKS; block++) {
        fill_items(raw, BLOCK_BYTES, block * BLOCK_BYTES, kinds);
        cr_assert_eq(sinter__avro_block_encode(&encoder, choice, (sinter_bytes){raw, BLOCK_BYTES},
                                               &stored, NULL),
                     SINTER_OK);
        expect_back(&decoder, stored, (sinter_bytes){raw, BLOCK_BYTES});
        first = block == 0 ? stored.size : first;
    }
    *loss_out = stored.size > first ? stored.size - first : 0;
    likes = encoder.likes_small;
    sinter__avro_coder_fini(&encoder);
    sinter__avro_coder_fini(&decoder);
    free(raw);
    return likes;
}

Test(format_avro_block, zstd_1_has_a_smaller_table_only_where_blocks_do_not_grow_by_it)
{
    size_t loss = 0;

    cr_expect(likes_small_table(0, &loss), "nothing is found anyway");
    cr_expect_leq(loss, 64000u / 256);
    cr_expect_not(likes_small_table(1500, &loss), "items come again far behind");
    cr_expect_leq(loss, 64000u / 64);
}
