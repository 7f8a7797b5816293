#include "compact/buffer_reader.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compact/row_pages.h"
#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

/* Sorted rows of a buffer. */
typedef struct rows {
    sinter__row_pages pages;
    const sinter__row_entry *entries;
} rows;

static void
rows_sort(rows *r)
{
    r->entries = NULL;
    if (r->pages.rows > 0) {
        cr_assert_eq(sinter__row_pages_sort(&r->pages, &r->entries, NULL), SINTER_OK);
    }
}

static void
rows_fini(rows *r)
{
    sinter__row_pages_clear(&r->pages);
}

static void
add_rows(rows *r, test_rng *rng, size_t count, size_t value_max, bool has_one_width)
{
    uint8_t *value = malloc(value_max + 1);

    cr_assert_not_null(value);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        const int size = snprintf(key, sizeof key, has_one_width ? "%08u" : "%u",
                                  (unsigned)test_rng_below(rng, count));
        sinter__new_row row = {.key = {(const uint8_t *)key, (size_t)size},
                               .value = {value, (size_t)test_rng_below(rng, value_max + 1)},
                               .sequence = (int64_t)i,
                               .kind = (uint8_t)test_rng_below(rng, 4)};

        memset(value, (int)i, row.value.size);
        cr_assert_eq(sinter__row_pages_add(&r->pages, &row, NULL), SINTER_OK);
    }
    free(value);
}

/* One batch holds rows `*at` and following. */
static void
expect_batch(const rows *r, const sinter_batch *batch, size_t *at, size_t skip, const char *when)
{
    uint32_t retracts = 0;

    cr_assert_gt(batch->row_count, 0);
    for (uint32_t i = 0; i < batch->row_count; i++) {
        const sinter__page_row *row = r->entries[*at + i].row;
        const sinter_bytes key = sinter_batch_key(batch, i);

        cr_assert(test_bytes_equal(key, sinter__page_row_key(row)), "%s", when);
        cr_assert(
            test_bytes_equal(batch->payload_ops->value(batch, i), sinter__page_row_value(row)),
            "%s", when);
        cr_assert_eq(batch->sequences[i], row->sequence, "%s", when);
        cr_assert_eq(batch->kinds[i], row->kind, "%s", when);
        cr_assert_eq(batch->prefixes[i], sinter__key_prefix(key.data + skip, key.size - skip), "%s",
                     when);
        retracts += sinter_kind_is_retract((uint8_t)row->kind) ? 1 : 0;
    }
    cr_assert_eq(batch->retract_count, retracts, "%s", when);
    *at += batch->row_count;
    cr_assert(*at == r->pages.rows ||
                  !test_bytes_equal(sinter__page_row_key(r->entries[*at - 1].row),
                                    sinter__page_row_key(r->entries[*at].row)),
              "%s: versions of a key are parted", when);
}

static void
expect_rows(const rows *r, size_t skip, const char *when)
{
    const sinter__buffered_rows source = {.entries = r->entries,
                                          .count = r->pages.rows,
                                          .entry_skip = r->pages.shared_size,
                                          .skip = skip};
    sinter_memory *memory = NULL;
    sinter_env env = *sinter_env_default();
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    size_t at = 0;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 0, &memory, NULL), SINTER_OK);
    env.memory = memory;
    cr_assert_eq(sinter__buffer_reader_open(&env, &source, &reader, NULL), SINTER_OK);
    while (reader->ops->next(reader, &batch, NULL) == SINTER_OK) {
        expect_batch(r, batch, &at, skip, when);
    }
    cr_assert_eq(at, r->pages.rows, "%s", when);
    cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_END);
    reader->ops->close(reader);
    cr_assert_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
}

Test(compact_buffer_reader, all_rows_come_in_order_whatever_their_size)
{
    for (uint64_t seed = 1; seed <= scaled_cases(200); seed++) {
        static const size_t sizes[] = {0, 10, 300, 30000, 400000};
        test_rng rng = {seed};
        const size_t value_max = sizes[seed % 5];
        const size_t count = (size_t)test_rng_below(&rng, value_max > 1000 ? 30 : 9000);
        char when[64];
        rows r;

        (void)snprintf(when, sizeof when, "seed %" PRIu64, seed);
        sinter__row_pages_init(&r.pages, sinter_env_default(), NULL, UINT64_MAX);
        add_rows(&r, &rng, count, value_max, seed % 3 != 0);
        rows_sort(&r);
        expect_rows(&r, r.pages.shared_size, when);
        expect_rows(&r, 0, when);
        rows_fini(&r);
    }
}

/* Rows of "a", `count` of "m" and of "z"; each value is the sequence. */
static void
add_hot_key(rows *r, size_t count)
{
    for (size_t i = 0; i < count + 20; i++) {
        const char *key = i % 10 == 0 && i < 100 ? "a" : i >= count + 10 ? "z" : "m";
        const int64_t sequence = (int64_t)i;
        const sinter__new_row row = {
            .key = {(const uint8_t *)key, 1},
            .value = {(const uint8_t *)&sequence, sizeof sequence},
            .sequence = sequence,
            .kind = (uint8_t)(i % 2 == 0 ? SINTER_KIND_INSERT : SINTER_KIND_DELETE)};

        cr_assert_eq(sinter__row_pages_add(&r->pages, &row, NULL), SINTER_OK);
    }
}

/* Reads a hot key's rows with no more memory than few versions take. */
static sinter_status
read_hot_key(const rows *r, bool keeps_newest, size_t seen[256], int64_t newest[256])
{
    const sinter__buffered_rows source = {
        .entries = r->entries, .count = r->pages.rows, .keeps_newest = keeps_newest};
    sinter_memory *memory = NULL;
    sinter_env env = *sinter_env_default();
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    cr_assert_eq(
        sinter_memory_create(sinter_env_default(), sinter__buffer_reader_bytes(), &memory, NULL),
        SINTER_OK);
    env.memory = memory;
    cr_assert_eq(sinter__buffer_reader_open(&env, &source, &reader, NULL), SINTER_OK);
    while ((st = reader->ops->next(reader, &batch, NULL)) == SINTER_OK) {
        for (uint32_t i = 0; i < batch->row_count; i++) {
            const uint8_t key = sinter_batch_key(batch, i).data[0];
            int64_t value = 0;

            memcpy(&value, batch->payload_ops->value(batch, i).data, sizeof value);
            cr_assert_eq(value, batch->sequences[i]);
            cr_assert_eq(batch->kinds[i], value % 2 == 0 ? SINTER_KIND_INSERT : SINTER_KIND_DELETE);
            seen[key]++;
            newest[key] = value > newest[key] ? value : newest[key];
        }
    }
    reader->ops->close(reader);
    sinter_memory_destroy(memory);
    return st;
}

Test(compact_buffer_reader, a_key_with_very_many_versions_takes_no_more_memory_than_others)
{
    const size_t count = 60000;
    size_t seen[256] = {0};
    int64_t newest[256] = {0};
    rows r;

    sinter__row_pages_init(&r.pages, sinter_env_default(), NULL, UINT64_MAX);
    add_hot_key(&r, count);
    rows_sort(&r);
    cr_assert_eq(read_hot_key(&r, true, seen, newest), SINTER_END);
    cr_expect_eq(seen['a'], 10);
    cr_expect_eq(seen['m'], 1, "%zu versions", seen['m']);
    cr_expect_eq(seen['z'], 10);
    cr_expect_eq(newest['a'], 90);
    cr_expect_eq(newest['m'], (int64_t)count + 9);
    cr_expect_eq(newest['z'], (int64_t)count + 19);
    cr_expect_eq(read_hot_key(&r, false, seen, newest), SINTER_E_TOO_LARGE,
                 "a function that wants all of them");
    rows_fini(&r);
}

Test(compact_buffer_reader, large_values_are_read_where_they_lie)
{
    test_rng rng = {1};
    rows r;
    sinter_memory *memory = NULL;
    sinter_env env = *sinter_env_default();
    sinter_reader *reader = NULL;
    const sinter_batch *batch = NULL;

    sinter__row_pages_init(&r.pages, sinter_env_default(), NULL, UINT64_MAX);
    add_rows(&r, &rng, 20, 4 << 20, true);
    rows_sort(&r);
    {
        const sinter__buffered_rows source = {.entries = r.entries, .count = r.pages.rows};

        cr_assert_eq(sinter_memory_create(sinter_env_default(), sinter__buffer_reader_bytes(),
                                          &memory, NULL),
                     SINTER_OK);
        env.memory = memory;
        cr_assert_eq(sinter__buffer_reader_open(&env, &source, &reader, NULL), SINTER_OK);
    }
    while (reader->ops->next(reader, &batch, NULL) == SINTER_OK) {
        cr_expect(batch->payload_ops->value(batch, 0).size <= 4 << 20);
    }
    reader->ops->close(reader);
    sinter_memory_destroy(memory);
    rows_fini(&r);
}

Test(compact_buffer_reader, every_allocation_may_fail)
{
    test_rng rng = {7};
    rows r;
    sinter_status st = SINTER_E_NOMEM;

    sinter__row_pages_init(&r.pages, sinter_env_default(), NULL, UINT64_MAX);
    add_rows(&r, &rng, 2000, 100, true);
    rows_sort(&r);
    for (uint64_t n = 0; st != SINTER_END; n++) {
        const sinter__buffered_rows source = {.entries = r.entries, .count = r.pages.rows};
        sinter_reader *reader = NULL;
        const sinter_batch *batch = NULL;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter__buffer_reader_open(&fault.env, &source, &reader, NULL);
        while (st == SINTER_OK) {
            st = reader->ops->next(reader, &batch, NULL);
        }
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM);
        if (reader != NULL) {
            reader->ops->close(reader);
        }
        cr_assert_eq(fault.live, 0);
    }
    rows_fini(&r);
}
