#include "sst/front.h"

#include <criterion/criterion.h>
#include <string.h>

#include "records.h"

TestSuite(sst_front, .timeout = 120);

enum { ROWS_MAX = 40, KEY_MAX = 400, SLACK = 64, BYTES_MAX = ROWS_MAX * KEY_MAX + SLACK };

/** Keys one behind the other, in order or not: front coding does not ask. */
typedef struct column {
    uint8_t bytes[BYTES_MAX];
    uint32_t offsets[ROWS_MAX + 1];
    uint32_t rows;
} column;

static void
fill(column *out, test_rng *rng)
{
    const uint32_t longest =
        1 + (uint32_t)test_rng_below(rng, test_rng_chance(rng, 10) ? KEY_MAX : 40);
    const uint32_t alike = (uint32_t)test_rng_below(rng, longest + 1);

    memset(out->bytes, 0xee, sizeof out->bytes);
    out->rows = 1 + (uint32_t)test_rng_below(rng, ROWS_MAX);
    out->offsets[0] = 0;
    for (uint32_t i = 0; i < out->rows; i++) {
        const uint32_t size = (uint32_t)test_rng_below(rng, longest + 1);
        uint8_t *key = out->bytes + out->offsets[i];

        for (uint32_t k = 0; k < size; k++) {
            key[k] = k < alike ? 'a' : (uint8_t)test_rng_below(rng, 2);
        }
        out->offsets[i + 1] = out->offsets[i] + size;
    }
}

static uint32_t
slow_shared(const column *keys, uint32_t row)
{
    uint32_t equal = 0;

    if (row == 0) {
        return 0;
    }
    while (keys->offsets[row - 1] + equal < keys->offsets[row] &&
           keys->offsets[row] + equal < keys->offsets[row + 1] &&
           keys->bytes[keys->offsets[row - 1] + equal] == keys->bytes[keys->offsets[row] + equal]) {
        equal++;
    }
    return equal;
}

Test(sst_front, three_keys_by_hand)
{
    static const uint8_t keys[SLACK + 16] = "applyappleape";
    static const uint32_t offsets[] = {0, 5, 10, 13};
    uint32_t shared[4];
    uint8_t out[SLACK + 16];
    uint8_t back[SLACK + 16];
    const sinter__front front = sinter__front_measure(keys, offsets, 3, shared);

    cr_expect_eq(front.sum, 4 + 2);
    cr_expect_eq(front.max, 4);
    cr_expect(shared[0] == 0 && shared[1] == 0 && shared[2] == 4 && shared[3] == 6);
    cr_assert_eq(sinter__front_put(out, keys, offsets, shared, 3), 7);
    cr_expect_arr_eq(out, "applyee", 7);
    cr_assert(sinter__front_get(back, out, offsets, shared, 3));
    cr_expect_arr_eq(back, keys, 13);
}

Test(sst_front, random_keys_come_back_and_share_what_they_can)
{
    test_rng rng = {.state = 77};
    static column keys;
    static uint8_t out[BYTES_MAX];
    static uint8_t back[BYTES_MAX];
    uint32_t shared[ROWS_MAX + 1];

    for (int i = 0; i < 3000; i++) {
        sinter__front front;
        uint32_t sum = 0;
        uint32_t max = 0;

        fill(&keys, &rng);
        front = sinter__front_measure(keys.bytes, keys.offsets, keys.rows, shared);
        for (uint32_t row = 0; row < keys.rows; row++) {
            const uint32_t expected = slow_shared(&keys, row);

            cr_assert_eq(shared[row + 1] - shared[row], expected, "case %d row %u", i, row);
            sum += expected;
            max = expected > max ? expected : max;
        }
        cr_assert(front.sum == sum && front.max == max, "case %d", i);
        cr_assert_eq(sinter__front_put(out, keys.bytes, keys.offsets, shared, keys.rows),
                     keys.offsets[keys.rows] - sum);
        memset(back, 0xdd, sizeof back);
        cr_assert(sinter__front_get(back, out, keys.offsets, shared, keys.rows));
        cr_assert(memcmp(back, keys.bytes, keys.offsets[keys.rows]) == 0, "case %d", i);
    }
}

static bool
slow_ascends(const column *keys, uint32_t *row_out)
{
    for (uint32_t row = 1; row < keys->rows; row++) {
        const sinter_bytes a = {keys->bytes + keys->offsets[row - 1],
                                keys->offsets[row] - keys->offsets[row - 1]};
        const sinter_bytes b = {keys->bytes + keys->offsets[row],
                                keys->offsets[row + 1] - keys->offsets[row]};
        const size_t shorter = a.size < b.size ? a.size : b.size;
        const int order = memcmp(a.data, b.data, shorter);

        if (order > 0 || (order == 0 && a.size >= b.size)) {
            *row_out = row;
            return false;
        }
    }
    return true;
}

Test(sst_front, the_first_row_that_does_not_ascend_is_found)
{
    test_rng rng = {.state = 78};
    static column keys;
    uint32_t shared[ROWS_MAX + 1];
    int ascending = 0;

    for (int i = 0; i < 20000; i++) {
        uint32_t row = 0;
        uint32_t expected_row = 0;
        bool expected = false;

        fill(&keys, &rng);
        keys.rows = keys.rows > 4 ? 1 + keys.rows % 4 : keys.rows;
        (void)sinter__front_measure(keys.bytes, keys.offsets, keys.rows, shared);
        expected = slow_ascends(&keys, &expected_row);
        cr_assert_eq(sinter__front_ascends(keys.bytes, keys.offsets, shared, keys.rows, &row),
                     expected, "case %d", i);
        cr_assert(expected || row == expected_row, "case %d", i);
        ascending += expected;
    }
    cr_expect(ascending > 1000 && ascending < 19000, "%d", ascending);
}

Test(sst_front, a_key_that_shares_more_than_it_says_is_not_above)
{
    static const uint8_t keys[SLACK] = "abcabd";
    static const uint32_t offsets[] = {0, 3, 6};
    static const uint32_t shared[] = {0, 0, 1}; /* it shares 2 */
    uint32_t row = 0;

    cr_expect_not(sinter__front_ascends(keys, offsets, shared, 2, &row));
    cr_expect_eq(row, 1);
}

Test(sst_front, a_key_cannot_share_more_than_there_is)
{
    static const uint8_t rest[SLACK] = "abcdefgh";
    static const uint32_t offsets[] = {0, 4, 6, 12};
    static const struct {
        uint32_t shared[4];
        bool is_right;
    } cases[] = {
        {{0, 0, 2, 4}, true},
        {{0, 1, 1, 1}, false}, /* the first has nothing before it */
        {{0, 0, 3, 3}, false}, /* more than the key has */
        {{0, 0, 2, 5}, false}, /* more than the key before it has */
    };
    uint8_t back[SLACK + 16];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(sinter__front_get(back, rest, offsets, cases[i].shared, 3), cases[i].is_right,
                     "case %zu", i);
    }
}
