#include "format/avro_binary.h"

#include <criterion/criterion.h>

TestSuite(format_avro_binary, .timeout = 20);

Test(format_avro_binary, numbers_are_those_of_the_specification)
{
    static const struct {
        int64_t number;
        const char *bytes;
        size_t size;
    } cases[] = {{0, "\x00", 1},
                 {-1, "\x01", 1},
                 {1, "\x02", 1},
                 {-64, "\x7f", 1},
                 {64, "\x80\x01", 2},
                 {2150, "\xcc\x21", 2},
                 {INT64_MAX, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
                 {INT64_MIN, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[SINTER__AVRO_LONG_BYTES_MAX];
        const uint8_t *end = sinter__avro_put_long(bytes, cases[i].number);
        int64_t number = 5;

        cr_assert_eq((size_t)(end - bytes), cases[i].size);
        cr_expect_arr_eq(bytes, cases[i].bytes, cases[i].size);
        for (size_t size = 0; size <= cases[i].size; size++) {
            sinter__avro_cursor cursor = {bytes, bytes + size};

            cr_expect_eq(sinter__avro_get_long(&cursor, &number), size == cases[i].size);
        }
        cr_expect_eq(number, cases[i].number);
    }
}

/* What follows may be taken in one look with a number, and isn't part of it. */
Test(format_avro_binary, numbers_are_the_same_whatever_follows)
{
    for (int bits = 0; bits < 64; bits++) {
        for (int sign = 0; sign < 2; sign++) {
            const int64_t number =
                (int64_t)(UINT64_C(0x9e3779b97f4a7c15) >> (63 - bits) >> 1) ^ -(int64_t)sign;
            uint8_t bytes[2 * SINTER__AVRO_LONG_BYTES_MAX];
            const size_t size = (size_t)(sinter__avro_put_long(bytes, number) - bytes);

            for (size_t behind = 0; behind <= SINTER__AVRO_LONG_BYTES_MAX; behind++) {
                sinter__avro_cursor cursor = {bytes, bytes + size + behind};
                int64_t found = 0;

                memset(bytes + size, behind % 2 == 0 ? 0xff : 0, SINTER__AVRO_LONG_BYTES_MAX);
                cr_assert(sinter__avro_get_long(&cursor, &found));
                cr_assert_eq(found, number);
                cr_assert_eq((size_t)(cursor.at - bytes), size);
            }
        }
    }
}

Test(format_avro_binary, numbers_with_more_bytes_than_they_need_are_numbers)
{
    static const uint8_t padded[] = "\x82\x80\x80\x00\xff\xff\xff\xff\xff\xff";

    for (size_t size = 4; size <= 10; size++) {
        sinter__avro_cursor cursor = {padded, padded + size};
        int64_t number = 0;

        cr_assert(sinter__avro_get_long(&cursor, &number));
        cr_expect_eq(number, 1);
        cr_expect_eq((size_t)(cursor.at - padded), 4);
    }
}

Test(format_avro_binary, numbers_of_more_than_64_bits_and_sizes_beyond_the_end_are_refused)
{
    static const uint8_t large[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00";
    static const uint8_t endless[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    static const uint8_t negative[] = "\x01";
    static const uint8_t beyond[] = "\6ab";
    sinter__avro_cursor cursor = {large, large + sizeof large};
    sinter_bytes bytes = {0};
    int64_t number = 0;

    cr_expect_not(sinter__avro_get_long(&cursor, &number));
    cursor = (sinter__avro_cursor){endless, endless + sizeof endless};
    cr_expect_not(sinter__avro_get_long(&cursor, &number));
    cursor = (sinter__avro_cursor){negative, negative + 1};
    cr_expect_not(sinter__avro_get_bytes(&cursor, &bytes));
    cursor = (sinter__avro_cursor){beyond, beyond + 3};
    cr_expect_not(sinter__avro_get_bytes(&cursor, &bytes));
}
