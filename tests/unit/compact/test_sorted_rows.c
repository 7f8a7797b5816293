#include "compact/sorted_rows.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "compact/row_pages.h"
#include "files.h"
#include "support/records.h"

enum { KEY_MAX = 300 };

/* Shapes of keys: some are decided by few bytes, some by bytes far behind, some not at all. */
static sinter_bytes
random_key(test_rng *rng, unsigned shape, uint8_t *key)
{
    size_t size = 0;

    switch (shape) {
    case 0: /* bytes of any value */
        size = (size_t)test_rng_below(rng, 20);
        for (size_t i = 0; i < size; i++) {
            key[i] = (uint8_t)test_rng_next(rng);
        }
        break;
    case 1: /* few letters, zero bytes among them */
        size = (size_t)test_rng_below(rng, 24);
        for (size_t i = 0; i < size; i++) {
            key[i] = (uint8_t)test_rng_below(rng, 3);
        }
        break;
    case 2: /* few keys */
        size = 16;
        memset(key, 'k', size);
        key[15] = (uint8_t)test_rng_below(rng, 5);
        break;
    case 3: /* zero bytes only */
        size = (size_t)test_rng_below(rng, 40);
        memset(key, 0, size);
        break;
    case 4: /* groups that share a long start each, and differ far behind it */
        size = KEY_MAX;
        memset(key, (int)test_rng_below(rng, 3), size);
        key[250 + test_rng_below(rng, 50)] = (uint8_t)test_rng_next(rng);
        break;
    default: /* a start that ends everywhere */
        size = (size_t)test_rng_below(rng, KEY_MAX);
        memset(key, 'a', size);
        if (size > 0) {
            key[size - 1] = (uint8_t)('a' + test_rng_below(rng, 3));
        }
        break;
    }
    return (sinter_bytes){key, size};
}

static void
expect_sorted(const sinter__row_pages *pages, const sinter__row_entry *entries, uint64_t seed)
{
    uint8_t *seen = calloc(pages->rows + 1, 1);

    cr_assert_not_null(seen);
    for (size_t i = 0; i < pages->rows; i++) {
        const sinter__page_row *row = entries[i].row;

        cr_assert_eq(seen[row->sequence]++, 0, "seed %" PRIu64 ": a row twice", seed);
        cr_assert_eq(entries[i].prefix, sinter__page_row_prefix(row, pages->shared_size),
                     "seed %" PRIu64 ": the prefix of row %zu is another", seed, i);
        cr_assert(i == 0 || test_bytes_compare(sinter__page_row_key(entries[i - 1].row),
                                               sinter__page_row_key(row)) <= 0,
                  "seed %" PRIu64 ": row %zu", seed, i);
    }
    free(seen);
}

Test(compact_sorted_rows, rows_of_any_keys_come_out_sorted_none_lost)
{
    for (uint64_t seed = 1; seed <= scaled_cases(600); seed++) {
        test_rng rng = {seed};
        const unsigned shape = (unsigned)(seed % 7);
        const size_t count = (size_t)test_rng_below(&rng, seed % 20 < 7 ? 5000 : 200);
        const sinter__row_entry *entries = NULL;
        sinter__row_pages pages;

        sinter__row_pages_init(&pages, sinter_env_default(), NULL, UINT64_MAX);
        for (size_t i = 0; i < count; i++) {
            uint8_t key[KEY_MAX];
            const unsigned kind = shape == 6 ? (unsigned)test_rng_below(&rng, 6) : shape;
            const sinter__new_row row = {.key = random_key(&rng, kind, key),
                                         .sequence = (int64_t)i};

            cr_assert_eq(sinter__row_pages_add(&pages, &row, NULL), SINTER_OK);
        }
        if (count > 0) {
            cr_assert_eq(sinter__row_pages_sort(&pages, &entries, NULL), SINTER_OK);
        }
        expect_sorted(&pages, entries, seed);
        if (count > 0) { /* once more, now in place */
            cr_assert_eq(sinter__row_pages_sort(&pages, &entries, NULL), SINTER_OK);
        }
        expect_sorted(&pages, entries, seed);
        sinter__row_pages_clear(&pages);
    }
}

Test(compact_sorted_rows, rows_that_come_in_order_stay_in_it)
{
    enum { COUNT = 2000 };
    const sinter__row_entry *entries = NULL;
    sinter__row_pages pages;

    sinter__row_pages_init(&pages, sinter_env_default(), NULL, UINT64_MAX);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint8_t key[12] = "same key";
        const sinter__new_row row = {.key = {key, sizeof key}, .sequence = i};

        sinter__put_be64(key + 4, i);
        cr_assert_eq(sinter__row_pages_add(&pages, &row, NULL), SINTER_OK);
    }
    cr_assert_eq(sinter__row_pages_sort(&pages, &entries, NULL), SINTER_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        cr_assert_eq(entries[i].row->sequence, i);
    }
    sinter__row_pages_clear(&pages);
}

Test(compact_sorted_rows, a_shared_start_is_counted_in_bytes)
{
    cr_expect_eq(sinter__shared_start(text_bytes("abcdefghij"), text_bytes("abcdefghix"), 10), 9);
    cr_expect_eq(sinter__shared_start(text_bytes("abcdefgh"), text_bytes("abcxefgh"), 8), 3);
    cr_expect_eq(sinter__shared_start(text_bytes("abc"), text_bytes("abcd"), 3), 3);
    cr_expect_eq(sinter__shared_start(text_bytes(""), text_bytes("a"), 0), 0);
}
