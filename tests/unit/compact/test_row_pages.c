#include "compact/row_pages.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

static sinter__new_row
row_of(const char *key, const char *value, int64_t sequence)
{
    return (sinter__new_row){
        .key = text_bytes(key), .value = text_bytes(value), .sequence = sequence, .kind = 0};
}

Test(compact_row_pages, rows_come_out_as_they_went_in)
{
    const sinter__new_row rows[] = {row_of("tree", "x", 1), row_of("trunk", "", 2),
                                    row_of("tr", "longer than eight", 3)};
    const sinter__row_entry *entries = NULL;
    sinter__row_pages pages;

    sinter__row_pages_init(&pages, sinter_env_default(), NULL, 100000);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(sinter__row_pages_add(&pages, &rows[i], NULL), SINTER_OK);
    }
    cr_expect_eq(pages.shared_size, 2);
    entries = pages.entry_pages->entries;
    for (size_t i = 0; i < 3; i++) {
        cr_expect(test_bytes_equal(sinter__page_row_key(entries[i].row), rows[i].key));
        cr_expect(test_bytes_equal(sinter__page_row_value(entries[i].row), rows[i].value));
        cr_expect_eq(entries[i].row->sequence, rows[i].sequence);
    }
    cr_assert_eq(sinter__row_pages_sort(&pages, &entries, NULL), SINTER_OK);
    cr_expect_eq(entries[0].row->sequence, 3);
    cr_expect_eq(entries[0].prefix, 0);
    cr_expect_eq(entries[1].prefix, UINT64_C(0x6565) << 48);
    cr_expect_eq(entries[2].prefix, UINT64_C(0x756e6b) << 40);
    sinter__row_pages_clear(&pages);
    cr_expect_eq(pages.held_bytes, 0);
}

Test(compact_row_pages, a_single_row_fits_into_what_is_named_as_least_and_not_into_less)
{
    const sinter__new_row row = row_of("key", "value", 1);
    const uint64_t least = sinter__row_pages_least(row.key.size, row.value.size);
    sinter__row_pages pages;

    sinter__row_pages_init(&pages, sinter_env_default(), NULL, least - 1);
    cr_expect_eq(sinter__row_pages_add(&pages, &row, NULL), SINTER_END);
    sinter__row_pages_clear(&pages);
    sinter__row_pages_init(&pages, sinter_env_default(), NULL, least);
    cr_expect_eq(sinter__row_pages_add(&pages, &row, NULL), SINTER_OK);
    cr_expect_eq(pages.held_bytes, least);
    cr_expect_eq(sinter__row_pages_add(&pages, &row, NULL), SINTER_END);
    cr_expect_eq(pages.rows, 1);
    sinter__row_pages_clear(&pages);
}

/* Random rows until the limit: what is held covers them and stays below it, none is lost, and most
 * of the memory is used. */
Test(compact_row_pages, what_is_held_covers_the_rows_and_never_passes_the_limit)
{
    for (uint64_t seed = 1; seed <= scaled_cases(300); seed++) {
        test_rng rng = {seed};
        const uint64_t limit = 3000 + test_rng_below(&rng, seed % 10 == 0 ? 4 << 20 : 200000);
        const uint64_t value_max = 1 + test_rng_below(&rng, seed % 2 == 0 ? 200 : 20000);
        static uint8_t bytes[20000];
        sinter_memory *memory = NULL;
        const sinter__row_entry *entries = NULL;
        sinter__row_pages pages;
        uint64_t payload = 0;
        uint64_t sum = 0;

        cr_assert_eq(sinter_memory_create(sinter_env_default(), limit, &memory, NULL), SINTER_OK);
        sinter__row_pages_init(&pages, sinter_env_default(), memory, limit);
        for (int64_t i = 1;; i++) {
            const sinter__new_row row = {.key = {bytes, (size_t)test_rng_below(&rng, 40)},
                                         .value = {bytes, (size_t)test_rng_below(&rng, value_max)},
                                         .sequence = i,
                                         .kind = (uint8_t)test_rng_below(&rng, 4)};

            if (sinter__row_pages_add(&pages, &row, NULL) != SINTER_OK) {
                break;
            }
            payload += row.key.size + row.value.size + sizeof(sinter__page_row) +
                       sizeof(sinter__row_entry);
            cr_assert_geq(pages.held_bytes, payload, "seed %" PRIu64, seed);
            cr_assert_leq(pages.held_bytes, limit, "seed %" PRIu64, seed);
            cr_assert_eq(sinter_memory_used(memory), pages.held_bytes);
        }
        if (pages.rows > 0) {
            cr_assert_eq(sinter__row_pages_sort(&pages, &entries, NULL), SINTER_OK);
        }
        cr_assert_leq(pages.held_bytes, limit);
        for (size_t i = 0; i < pages.rows; i++) {
            sum += (uint64_t)entries[i].row->sequence;
        }
        cr_expect_eq(sum, (uint64_t)pages.rows * (pages.rows + 1) / 2, "seed %" PRIu64, seed);
        cr_expect_geq(payload + 20000 + limit / 3, limit * 2 / 3, "seed %" PRIu64 " of %" PRIu64,
                      seed, limit);
        sinter__row_pages_clear(&pages);
        cr_assert_eq(sinter_memory_used(memory), 0);
        sinter_memory_destroy(memory);
    }
}

/* Filled again and again, with small rows and large ones, after a release or without one. */
Test(compact_row_pages, memory_that_is_kept_is_used_again_and_counted)
{
    static uint8_t bytes[30000];
    test_rng rng = {11};
    sinter_memory *memory = NULL;
    sinter__row_pages pages;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 1 << 20, &memory, NULL), SINTER_OK);
    sinter__row_pages_init(&pages, sinter_env_default(), memory, 1 << 20);
    for (int round = 0; round < 40; round++) {
        const uint64_t value_max = test_rng_chance(&rng, 50) ? 100 : sizeof bytes;
        const sinter__row_entry *entries = NULL;
        uint64_t held = 0;
        int64_t rows = 0;

        for (;; rows++) {
            const sinter__new_row row = {.key = {bytes, (size_t)test_rng_below(&rng, 20)},
                                         .value = {bytes, (size_t)test_rng_below(&rng, value_max)},
                                         .sequence = rows};

            if (sinter__row_pages_add(&pages, &row, NULL) != SINTER_OK) {
                break;
            }
        }
        cr_assert_gt(rows, 20);
        cr_assert_eq(sinter__row_pages_sort(&pages, &entries, NULL), SINTER_OK);
        held = pages.held_bytes;
        cr_assert_eq(sinter_memory_used(memory), held);
        if (test_rng_chance(&rng, 70)) {
            sinter__row_pages_reuse(&pages);
            cr_assert_leq(pages.held_bytes, held);
        } else {
            sinter__row_pages_clear(&pages);
            cr_assert_eq(pages.held_bytes, 0);
        }
        cr_assert_eq(sinter_memory_used(memory), pages.held_bytes);
        cr_assert_eq(pages.rows, 0);
    }
    sinter__row_pages_clear(&pages);
    cr_assert_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
}

Test(compact_row_pages, others_that_hold_the_memory_make_it_full)
{
    const sinter__new_row row = row_of("key", "value", 1);
    sinter_memory *memory = NULL;
    sinter__row_pages pages;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 10000, &memory, NULL), SINTER_OK);
    cr_assert_eq(sinter_memory_reserve(memory, 9900, NULL), SINTER_OK);
    sinter__row_pages_init(&pages, sinter_env_default(), memory, 1 << 20);
    cr_expect_eq(sinter__row_pages_add(&pages, &row, NULL), SINTER_END);
    sinter_memory_release(memory, 9900);
    cr_expect_eq(sinter__row_pages_add(&pages, &row, NULL), SINTER_OK);
    sinter__row_pages_clear(&pages);
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
}

Test(compact_row_pages, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        static uint8_t bytes[3000];
        sinter__row_pages pages;
        fault_alloc fault;
        size_t rows = 0;

        fault_alloc_init(&fault, n);
        sinter__row_pages_init(&pages, &fault.env, NULL, 1 << 20);
        for (st = SINTER_OK; st == SINTER_OK && rows < 100;) {
            const sinter__new_row row = {.value = {bytes, rows * 30}, .sequence = (int64_t)rows};

            st = sinter__row_pages_add(&pages, &row, NULL);
            rows += st == SINTER_OK ? 1 : 0;
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        cr_expect_eq(pages.rows, rows);
        sinter__row_pages_clear(&pages);
        cr_expect_eq(fault.live, 0);
    }
}

Test(compact_row_pages, what_was_kept_makes_way_for_a_row_that_needs_it)
{
    static uint8_t large[300 << 10];
    const sinter__new_row row = {
        .key = text_bytes("k"), .value = {large, sizeof large}, .sequence = INT64_MAX};
    const sinter__row_entry *entries = NULL;
    sinter__row_pages pages;
    sinter_status st = SINTER_OK;

    sinter__row_pages_init(&pages, sinter_env_default(), NULL,
                           sinter__row_pages_least(1, sizeof large) + (64 << 10));
    for (int64_t i = 0; st == SINTER_OK; i++) {
        const sinter__new_row small = row_of("key", "v", i);

        st = sinter__row_pages_add(&pages, &small, NULL);
    }
    cr_assert_eq(st, SINTER_END);
    cr_assert_eq(sinter__row_pages_sort(&pages, &entries, NULL), SINTER_OK);
    sinter__row_pages_reuse(&pages);
    cr_assert_gt(pages.held_bytes, 0);
    cr_expect_eq(sinter__row_pages_add(&pages, &row, NULL), SINTER_OK, "the first try is enough");
    sinter__row_pages_clear(&pages);
}
