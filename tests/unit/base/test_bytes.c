#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

TestSuite(base_bytes, .timeout = 20);

Test(base_bytes, integers_have_a_fixed_order_in_memory)
{
    uint8_t b[8];

    sinter__put_le16(b, 0x0102);
    cr_expect(memcmp(b, "\x02\x01", 2) == 0);
    cr_expect_eq(sinter__get_le16(b), 0x0102);
    sinter__put_le32(b, 0x01020304);
    cr_expect(memcmp(b, "\x04\x03\x02\x01", 4) == 0);
    cr_expect_eq(sinter__get_le32(b), 0x01020304);
    sinter__put_le64(b, UINT64_C(0x0102030405060708));
    cr_expect(memcmp(b, "\x08\x07\x06\x05\x04\x03\x02\x01", 8) == 0);
    cr_expect_eq(sinter__get_le64(b), UINT64_C(0x0102030405060708));
    sinter__put_be64(b, UINT64_C(0x0102030405060708));
    cr_expect(memcmp(b, "\x01\x02\x03\x04\x05\x06\x07\x08", 8) == 0);
    cr_expect_eq(sinter__get_be64(b), UINT64_C(0x0102030405060708));
}

Test(base_bytes, a_prefix_is_the_first_eight_bytes)
{
    cr_expect_eq(sinter__key_prefix(NULL, 0), 0);
    cr_expect_eq(sinter__key_prefix((const uint8_t *)"\x01", 1), (uint64_t)1 << 56);
    cr_expect_eq(sinter__key_prefix((const uint8_t *)"abcdefghij", 10),
                 UINT64_C(0x6162636465666768));
}

static int
sign(int order)
{
    return (order > 0) - (order < 0);
}

/* As it should be: byte by byte. */
static int
slow_compare(sinter_bytes a, sinter_bytes b)
{
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        if (a.data[i] != b.data[i]) {
            return a.data[i] < b.data[i] ? -1 : 1;
        }
    }
    return (a.size > b.size) - (a.size < b.size);
}

Test(base_bytes, keys_compare_as_bytes_whatever_their_length)
{
    unsigned state = 7;

    for (int round = 0; round < 200000; round++) {
        uint8_t room[2][40];
        sinter_bytes keys[2];
        const unsigned letters = round % 3 == 0 ? 256 : 2; /* two letters: long common starts */

        for (size_t k = 0; k < 2; k++) {
            keys[k] = (sinter_bytes){room[k], (size_t)rand_r(&state) % 40};
            for (size_t i = 0; i < keys[k].size; i++) {
                room[k][i] = (uint8_t)((unsigned)rand_r(&state) % letters * (255 / (letters - 1)));
            }
        }
        if (round % 5 == 0) { /* one differs from the other in a single byte, or not at all */
            keys[1].size = keys[0].size;
            memcpy(room[1], room[0], keys[0].size);
            if (keys[0].size > 0) {
                room[1][(size_t)rand_r(&state) % keys[0].size] ^= (uint8_t)(round % 10);
            }
        }
        const int wanted = slow_compare(keys[0], keys[1]);
        const uint64_t prefix_a = sinter__key_prefix(keys[0].data, keys[0].size);
        const uint64_t prefix_b = sinter__key_prefix(keys[1].data, keys[1].size);

        cr_assert_eq(sign(sinter__key_compare(keys[0], keys[1])), wanted, "round %d", round);
        cr_assert_eq(sinter__key_equal(keys[0], keys[1]), wanted == 0, "round %d", round);
        cr_assert(prefix_a == prefix_b || (prefix_a < prefix_b) == (wanted < 0), "round %d", round);
    }
}
