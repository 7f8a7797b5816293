#include "sst/keys.h"

#include <criterion/criterion.h>
#include <string.h>

#include "records.h"

TestSuite(sst_keys, .timeout = 120);

enum { ROWS_MAX = 60, KEY_MAX = 12 };

/** A column of keys in memory of its own, with the slack that callers promise. */
typedef struct column {
    uint8_t bytes[ROWS_MAX * KEY_MAX + 16];
    uint32_t offsets[ROWS_MAX + 1];
    sinter__keys keys;
} column;

/** Sorted keys; with one width or many. */
static void
fill(column *out, test_rng *rng, bool is_fixed, uint32_t shared)
{
    test_record records[ROWS_MAX];
    uint8_t bytes[ROWS_MAX][KEY_MAX];
    const size_t width = (size_t)test_rng_below(rng, KEY_MAX + 1);
    size_t count = 0;

    for (size_t i = 0; i < ROWS_MAX; i++) {
        const size_t size = is_fixed ? width : (size_t)test_rng_below(rng, KEY_MAX + 1);

        for (size_t k = 0; k < size; k++) {
            bytes[i][k] = k < shared ? 's' : (uint8_t)test_rng_below(rng, 3);
        }
        records[i] = (test_record){.key = {bytes[i], size}};
    }
    count = test_records_sort_unique(records, ROWS_MAX);
    memset(out, 0xee, sizeof *out);
    out->offsets[0] = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(out->bytes + out->offsets[i], records[i].key.data, records[i].key.size);
        out->offsets[i + 1] = out->offsets[i] + (uint32_t)records[i].key.size;
    }
    out->keys = (sinter__keys){.data = out->bytes,
                               .offsets = is_fixed ? NULL : out->offsets,
                               .width = is_fixed ? (uint32_t)width : 0,
                               .rows = (uint32_t)count};
}

static uint64_t
slow_prefix(sinter_bytes key, uint32_t skip)
{
    uint64_t prefix = 0;

    for (size_t i = skip; i < skip + 8; i++) {
        prefix = prefix << 8 | (i < key.size ? key.data[i] : 0u);
    }
    return prefix;
}

Test(sst_keys, prefixes_are_the_eight_bytes_after_the_skip)
{
    test_rng rng = {.state = 3};
    uint64_t prefixes[ROWS_MAX];
    column keys;

    for (int i = 0; i < 300; i++) {
        const uint32_t skip = (uint32_t)test_rng_below(&rng, KEY_MAX + 4);

        fill(&keys, &rng, i % 2 == 0, 0);
        sinter__keys_prefixes(&keys.keys, skip, prefixes);
        for (uint32_t row = 0; row < keys.keys.rows; row++) {
            cr_assert_eq(prefixes[row], slow_prefix(sinter__keys_at(&keys.keys, row), skip),
                         "case %d row %u skip %u", i, row, skip);
        }
    }
}

Test(sst_keys, the_first_row_that_does_not_ascend_is_found)
{
    test_rng rng = {.state = 4};
    uint64_t prefixes[ROWS_MAX];
    column keys;

    for (int i = 0; i < 300; i++) {
        uint32_t row = 0;

        fill(&keys, &rng, true, 0);
        sinter__keys_prefixes(&keys.keys, 0, prefixes);
        cr_assert(sinter__keys_ascend(&keys.keys, prefixes, &row));
        if (keys.keys.rows > 2) {
            const uint32_t at = 1 + (uint32_t)test_rng_below(&rng, keys.keys.rows - 1);

            memcpy(keys.bytes + (size_t)at * keys.keys.width,
                   keys.bytes + (size_t)(at - 1) * keys.keys.width, keys.keys.width);
            sinter__keys_prefixes(&keys.keys, 0, prefixes);
            cr_assert_not(sinter__keys_ascend(&keys.keys, prefixes, &row), "a key twice");
            cr_assert_eq(row, at);
        }
    }
}

Test(sst_keys, keys_that_differ_in_closing_zeros_ascend)
{
    static const uint8_t zeros[3 + 16] = {0};
    static const uint32_t offsets[] = {0, 0, 1, 3}; /* "", "\0", "\0\0" */
    const sinter__keys keys = {.data = zeros, .offsets = offsets, .rows = 3};
    uint64_t prefixes[3];
    uint32_t row = 0;

    sinter__keys_prefixes(&keys, 0, prefixes);
    cr_expect(prefixes[0] == prefixes[1] && prefixes[1] == prefixes[2]);
    cr_expect(sinter__keys_ascend(&keys, prefixes, &row));
}

Test(sst_keys, lower_bound_is_what_a_walk_finds)
{
    test_rng rng = {.state = 5};
    column keys;
    column others;

    for (int i = 0; i < 200; i++) {
        fill(&keys, &rng, i % 2 == 0, 0);
        fill(&others, &rng, false, 0);
        for (uint32_t k = 0; k < others.keys.rows; k++) {
            const sinter_bytes key = sinter__keys_at(&others.keys, k);
            uint32_t expected = 0;

            while (expected < keys.keys.rows &&
                   test_bytes_compare(sinter__keys_at(&keys.keys, expected), key) < 0) {
                expected++;
            }
            cr_assert_eq(sinter__keys_lower_bound(&keys.keys, key), expected);
        }
    }
}

Test(sst_keys, a_key_without_the_common_start_is_found)
{
    test_rng rng = {.state = 6};
    uint32_t row = 99;
    column keys;

    do {
        fill(&keys, &rng, true, 4);
    } while (keys.keys.width < 6 || keys.keys.rows < 3);
    cr_expect(
        sinter__keys_begin_with(&keys.keys, (sinter_bytes){(const uint8_t *)"ssss", 4}, &row));
    keys.bytes[(size_t)2 * keys.keys.width + 3] = 'x';
    cr_expect_not(
        sinter__keys_begin_with(&keys.keys, (sinter_bytes){(const uint8_t *)"ssss", 4}, &row));
    cr_expect_eq(row, 2);
}
