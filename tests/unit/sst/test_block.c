#include "sst/block.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "sst_support.h"

TestSuite(sst_block, .timeout = 120);

/** A key part of three rows, its entry, and a decoder. */
typedef struct tiny_block {
    sst_world world;
    sinter__sst_decoder decoder;
    sinter__sst_entry entry;
    uint8_t part[512]; /* key part, and slack */
    uint8_t values[64 + SINTER__SST_SLACK_BYTES];
} tiny_block;

static const uint32_t tiny_key_offsets[] = {0, 1, 3, 6};
static const uint32_t tiny_value_offsets[] = {0, 2, 2, 7};
static const int64_t tiny_sequences[] = {5, INT64_MIN, 7};
static const uint8_t tiny_kinds[] = {0, 3, 2};

static void
tiny_block_init(tiny_block *block)
{
    const sinter__sst_columns columns = {.rows = 3,
                                         .keys = (const uint8_t *)"abbccc",
                                         .key_offsets = tiny_key_offsets,
                                         .value_offsets = tiny_value_offsets,
                                         .sequences = tiny_sequences,
                                         .kinds = tiny_kinds};
    sinter__sst_summary summary;

    memset(block, 0, sizeof *block);
    sst_world_init(&block->world);
    block->decoder.env = &block->world.env;
    block->decoder.codec.env = &block->world.env;
    block->decoder.path = "tiny.sst";
    sinter__sst_summarize(&columns, &summary);
    memcpy(block->values, "vvwwwww", 7);
    block->entry = (sinter__sst_entry){
        .offset = 100,
        .value_raw = 7,
        .value_stored = 7,
        .value_checksum = sinter__hash(block->values, 7),
        .rows = 3,
        .retracts = summary.retracts,
        .key_bytes = 6,
        .sequence_min = summary.sequence_min,
        .sequence_max = summary.sequence_max,
        .first_key = SST_BYTES("a"),
        .last_key = SST_BYTES("ccc"),
        .streams = 1,
    };
    block->entry.key_raw = (uint32_t)sinter__sst_put_key_part(block->part, &columns, &summary);
    block->entry.key_stored = block->entry.key_raw;
}

static sinter_status
decode(tiny_block *block, sinter_error *err)
{
    block->entry.key_checksum = sinter__hash(block->part, block->entry.key_stored);
    return sinter__sst_decode_keys(&block->decoder, &block->entry, block->part, err);
}

static void
tiny_block_fini(tiny_block *block)
{
    sinter__sst_decoder_fini(&block->decoder);
    sst_world_fini(&block->world);
}

Test(sst_block, a_summary_sees_extents_kinds_and_retracts)
{
    const sinter__sst_columns columns = {.rows = 3,
                                         .keys = (const uint8_t *)"abbccc",
                                         .key_offsets = tiny_key_offsets,
                                         .value_offsets = tiny_value_offsets,
                                         .sequences = tiny_sequences,
                                         .kinds = tiny_kinds};
    sinter__sst_summary summary;

    sinter__sst_summarize(&columns, &summary);
    cr_expect(summary.key_bytes.min == 1 && summary.key_bytes.max == 3);
    cr_expect(summary.value_bytes.min == 0 && summary.value_bytes.max == 5);
    cr_expect(summary.sequence_min == INT64_MIN && summary.sequence_max == 7);
    cr_expect_eq(summary.retracts, 1);
    cr_expect_eq(summary.kinds_or, 3);
    cr_expect_not(summary.kinds_equal);
}

Test(sst_block, columns_come_back)
{
    sinter_error err = SINTER_ERROR_INIT;
    const sinter__sst_decoded *out = NULL;
    tiny_block block;

    tiny_block_init(&block);
    cr_assert_eq(decode(&block, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter__sst_decode_values(&block.decoder, &block.entry, block.values, &err),
                 SINTER_OK);
    out = &block.decoder.out;
    cr_expect(test_bytes_equal(sinter__keys_at(&out->keys, 1), SST_BYTES("bb")));
    cr_expect_arr_eq(out->sequences, tiny_sequences, sizeof tiny_sequences);
    cr_expect_arr_eq(out->kinds, tiny_kinds, sizeof tiny_kinds);
    cr_expect_arr_eq(out->value_offsets, tiny_value_offsets, sizeof tiny_value_offsets);
    cr_expect_eq(out->values, block.values, "without a codec values stay where they are");
    cr_expect(out->keys.data > block.part && out->keys.data < block.part + 512);
    tiny_block_fini(&block);
}

Test(sst_block, equal_columns_cost_nothing)
{
    static const uint32_t key_offsets[] = {0, 2, 4, 6};
    static const uint32_t value_offsets[] = {0, 9, 18, 27};
    static const int64_t sequences[] = {5, 5, 5};
    static const uint8_t kinds[] = {2, 2, 2};
    const sinter__sst_columns columns = {.rows = 3,
                                         .keys = (const uint8_t *)"aabbcc",
                                         .key_offsets = key_offsets,
                                         .value_offsets = value_offsets,
                                         .sequences = sequences,
                                         .kinds = kinds};
    sinter__sst_summary summary;
    uint8_t part[512];

    sinter__sst_summarize(&columns, &summary);
    cr_expect_eq(sinter__sst_put_key_part(part, &columns, &summary),
                 SINTER__SST_KEY_HEADER_BYTES + 6);
}

/** A header byte that is set to something wrong. */
typedef struct wrong_byte {
    size_t at;
    uint8_t value;
} wrong_byte;

Test(sst_block, a_header_that_makes_no_sense_is_refused_with_its_place)
{
    static const wrong_byte wrong[] = {
        {0, 4},     /* rows */
        {4, 32},    /* key lengths wider than 31 */
        {4, 57},    /* no width */
        {5, 65},    /* no width */
        {5, 0},     /* the columns no longer fill the part */
        {6, 3},     /* kinds up to 7 */
        {7, 255},   /* no width */
        {8, 1},     /* streams */
        {12, 1},    /* reserved */
        {16, 2},    /* base of key lengths: they don't add up */
        {23, 0x80}, /* negative */
        {18, 0xff}, /* above 1 MiB */
        {32, 1},    /* kinds with a base and a width */
        {40, 1},    /* base of value lengths */
        {47, 0x80}, /* negative */
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        tiny_block block;

        tiny_block_init(&block);
        block.part[wrong[i].at] = wrong[i].value;
        cr_expect_eq(decode(&block, &err), SINTER_E_CORRUPT, "byte %zu", wrong[i].at);
        cr_expect_str_eq(err.file, "tiny.sst");
        cr_expect_eq(err.offset, 107);
        tiny_block_fini(&block);
    }
}

/** The tiny block again, of keys that share beginnings: "abc", "abde", "abdf". */
static void
front_block_init(tiny_block *block)
{
    static const uint8_t keys[64 + SINTER__SST_SLACK_BYTES] = "abcabdeabdf";
    static const uint32_t key_offsets[] = {0, 3, 7, 11};
    static const uint32_t shared[] = {0, 0, 2, 5};
    const sinter__sst_columns columns = {.rows = 3,
                                         .keys = keys,
                                         .key_offsets = key_offsets,
                                         .value_offsets = tiny_value_offsets,
                                         .sequences = tiny_sequences,
                                         .kinds = tiny_kinds,
                                         .shared = shared,
                                         .shared_max = 3};
    sinter__sst_summary summary;

    tiny_block_init(block);
    sinter__sst_summarize(&columns, &summary);
    memset(block->part, 0, sizeof block->part);
    block->entry.keys_front_coded = true;
    block->entry.key_bytes = 11;
    block->entry.first_key = SST_BYTES("abc");
    block->entry.last_key = SST_BYTES("abdf");
    block->entry.key_raw = (uint32_t)sinter__sst_put_key_part(block->part, &columns, &summary);
    block->entry.key_stored = block->entry.key_raw;
}

Test(sst_block, front_coded_keys_come_back_whole)
{
    sinter_error err = SINTER_ERROR_INIT;
    const sinter__keys *keys = NULL;
    tiny_block block;

    front_block_init(&block);
    cr_expect_eq(block.part[9], 2, "shared lengths up to 3");
    cr_expect_arr_eq(block.part + block.entry.key_raw - 6, "abcdef", 6);
    cr_assert_eq(decode(&block, &err), SINTER_OK, "%s", err.text);
    keys = &block.decoder.out.keys;
    cr_expect(test_bytes_equal(sinter__keys_at(keys, 0), SST_BYTES("abc")));
    cr_expect(test_bytes_equal(sinter__keys_at(keys, 1), SST_BYTES("abde")));
    cr_expect(test_bytes_equal(sinter__keys_at(keys, 2), SST_BYTES("abdf")));
    cr_expect_arr_eq(block.decoder.out.sequences, tiny_sequences, sizeof tiny_sequences);
    tiny_block_fini(&block);
}

Test(sst_block, front_coding_that_makes_no_sense_is_refused_with_its_place)
{
    static const wrong_byte wrong[] = {
        {9, 32},    /* shared lengths wider than 31 */
        {9, 1},     /* they don't add up */
        {9, 0},     /* nothing is shared, but bytes are missing */
        {10, 1},    /* reserved */
        {16, 2},    /* base of key lengths: they don't add up */
        {53, 0x0c}, /* key lengths 3, 4, 4 and shared 0, 3, 0: too few */
        {53, 0x39}, /* the first shares one, of nothing */
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;
        tiny_block block;
        size_t at = wrong[i].at;

        front_block_init(&block);
        if (at == 53) { /* the column of shared lengths: the byte before the keys */
            at = block.entry.key_raw - 6 - 1;
            cr_assert_eq(block.part[at], 0x38, "0, 2, 3 in two bits each");
        }
        block.part[at] = wrong[i].value;
        cr_expect_eq(decode(&block, &err), SINTER_E_CORRUPT, "case %zu", i);
        cr_expect_eq(err.offset, 107);
        tiny_block_fini(&block);
    }
}

Test(sst_block, a_wrong_checksum_is_refused)
{
    sinter_error err = SINTER_ERROR_INIT;
    tiny_block block;

    tiny_block_init(&block);
    cr_assert_eq(decode(&block, &err), SINTER_OK);
    block.entry.key_checksum ^= 1;
    cr_expect_eq(sinter__sst_decode_keys(&block.decoder, &block.entry, block.part, &err),
                 SINTER_E_CORRUPT);
    block.values[3] ^= 1;
    cr_expect_eq(sinter__sst_decode_values(&block.decoder, &block.entry, block.values, &err),
                 SINTER_E_CORRUPT);
    tiny_block_fini(&block);
}

Test(sst_block, a_row_out_of_order_is_named)
{
    sinter_error err = SINTER_ERROR_INIT;
    tiny_block block;
    uint8_t *keys = NULL;

    tiny_block_init(&block);
    keys = block.part + block.entry.key_raw - 6;
    memcpy(keys, "caaccc", 6);
    block.entry.first_key = SST_BYTES("c");
    cr_expect_eq(decode(&block, &err), SINTER_E_CORRUPT);
    cr_expect_not_null(strstr(err.text, "row 1"), "%s", err.text);
    tiny_block_fini(&block);
}

Test(sst_block, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        tiny_block block;

        front_block_init(&block);
        sst_world_fail_allocation(&block.world, n);
        st = decode(&block, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        tiny_block_fini(&block);
    }
}
