#include "sst/pack.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

TestSuite(sst_pack, .timeout = 120);

enum { COUNT_MAX = 200, SLACK = 64 };

Test(sst_pack, packs_three_bits_from_the_lowest_upwards)
{
    const int64_t values[] = {10, 17, 11, 12}; /* less 10: 0, 7, 1, 2 */
    uint8_t bytes[2 + SLACK] = {0};
    int64_t back[4];

    cr_assert_eq(sinter__pack_i64(bytes, values, 4, 10, 3), 2);
    cr_expect_eq(bytes[0], 0x78); /* 01 111 000 */
    cr_expect_eq(bytes[1], 0x04); /* 010 0 */
    sinter__unpack_i64(back, bytes, 4, 10, 3);
    cr_expect_arr_eq(back, values, sizeof values);
}

Test(sst_pack, nothing_is_read_beyond_eight_bytes_behind_a_column)
{
    test_rng rng = {.state = 79};

    for (uint32_t width = 1; width <= SINTER__PACK_WIDTH_MAX; width++) {
        for (size_t count = 1; count <= 40; count++) {
            const size_t size = sinter__pack_bytes(count, width) + 8;
            const uint64_t mask = ((uint64_t)1 << width) - 1;
            uint8_t *exact = malloc(size); /* what is read behind it, a sanitizer sees */
            uint8_t bytes[40 * 8 + SLACK];
            int64_t values[40];
            int64_t back[40];

            for (size_t i = 0; i < count; i++) {
                values[i] = (int64_t)(test_rng_next(&rng) & mask);
            }
            (void)sinter__pack_i64(bytes, values, count, 0, width);
            memcpy(exact, bytes, size);
            sinter__unpack_i64(back, exact, count, 0, width);
            cr_assert_arr_eq(back, values, count * sizeof back[0], "%u bits, %zu", width, count);
            free(exact);
        }
    }
}

Test(sst_pack, widths_hold_their_spread)
{
    cr_expect_eq(sinter__pack_width(0), 0);
    cr_expect_eq(sinter__pack_width(1), 1);
    cr_expect_eq(sinter__pack_width(255), 8);
    cr_expect_eq(sinter__pack_width(256), 9);
    cr_expect_eq(sinter__pack_width(((uint64_t)1 << 56) - 1), 56);
    cr_expect_eq(sinter__pack_width((uint64_t)1 << 56), 64);
    cr_expect_eq(sinter__pack_width(UINT64_MAX), 64);
}

/** Values of `width` bits above a base, which may wrap. */
static void
check_width(test_rng *rng, uint32_t width)
{
    const size_t count = (size_t)test_rng_below(rng, COUNT_MAX) + 1;
    const int64_t base = (int64_t)test_rng_next(rng);
    const uint64_t mask = width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    int64_t values[COUNT_MAX];
    int64_t back[COUNT_MAX];
    uint8_t bytes[COUNT_MAX * 8 + SLACK + 8];

    for (size_t i = 0; i < count; i++) {
        values[i] = (int64_t)((uint64_t)base + (test_rng_next(rng) & mask));
    }
    cr_assert_eq(sinter__pack_i64(bytes, values, count, base, width),
                 sinter__pack_bytes(count, width));
    sinter__unpack_i64(back, bytes, count, base, width);
    cr_assert_arr_eq(back, values, count * sizeof values[0], "width %u", width);
}

Test(sst_pack, every_width_comes_back)
{
    test_rng rng = {.state = 77};

    for (uint32_t width = 0; width <= SINTER__PACK_WIDTH_MAX; width++) {
        for (int i = 0; i < 20; i++) {
            check_width(&rng, width);
        }
    }
    check_width(&rng, SINTER__PACK_WIDTH_RAW);
}

Test(sst_pack, lengths_come_back_as_offsets_and_their_sum_is_exact)
{
    test_rng rng = {.state = 78};
    uint32_t offsets[COUNT_MAX + 1] = {0};
    uint32_t back[COUNT_MAX + 1];
    uint8_t bytes[COUNT_MAX * 8 + SLACK];

    for (uint32_t width = 0; width <= 24; width++) {
        const uint32_t base = (uint32_t)test_rng_below(&rng, 100);
        const uint64_t spread = (uint64_t)1 << width;

        for (size_t i = 0; i < COUNT_MAX; i++) {
            offsets[i + 1] = offsets[i] + base + (uint32_t)test_rng_below(&rng, spread);
        }
        cr_assert_eq(sinter__pack_lengths(bytes, offsets, COUNT_MAX, base, width),
                     sinter__pack_bytes(COUNT_MAX, width));
        cr_assert_eq(sinter__unpack_lengths(back, bytes, COUNT_MAX, base, width),
                     offsets[COUNT_MAX]);
        cr_assert_arr_eq(back, offsets, sizeof offsets, "width %u", width);
    }
}

Test(sst_pack, lengths_that_pass_32_bits_are_seen_in_the_sum)
{
    static const uint32_t widths[] = {31, 25, 8};
    uint8_t bytes[COUNT_MAX * 4 + SLACK];
    uint32_t offsets[COUNT_MAX + 1];

    memset(bytes, 0xff, sizeof bytes);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        const uint32_t base = (uint32_t)1 << 30;
        const uint64_t longest = base + ((uint64_t)1 << widths[i]) - 1;

        cr_expect_eq(sinter__unpack_lengths(offsets, bytes, COUNT_MAX, base, widths[i]),
                     COUNT_MAX * longest);
    }
}

Test(sst_pack, kinds_come_back)
{
    test_rng rng = {.state = 80};
    uint8_t kinds[COUNT_MAX];
    uint8_t bytes[COUNT_MAX + SLACK];
    uint8_t back[COUNT_MAX];

    for (uint32_t width = 1; width <= 8; width++) {
        for (size_t i = 0; i < COUNT_MAX; i++) {
            kinds[i] = (uint8_t)test_rng_below(&rng, (uint64_t)1 << width);
        }
        cr_assert_eq(sinter__pack_u8(bytes, kinds, COUNT_MAX, width),
                     sinter__pack_bytes(COUNT_MAX, width));
        sinter__unpack_u8(back, bytes, COUNT_MAX, width);
        cr_expect_arr_eq(back, kinds, sizeof kinds, "width %u", width);
    }
}
