/*
 * The index written and walked: with pages so small that it has many levels.
 */
#include "sst/index_cursor.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sst/index_writer.h"
#include "sst_support.h"

TestSuite(sst_index_cursor, .timeout = 120);

/** A file of blocks with keys "k00000".. and the cursor over its index. */
typedef struct indexed_file {
    sst_world world;
    sinter__sst_file file;
    sinter__index_cursor cursor;
    sinter__leaf leaf;
    size_t rows;
} indexed_file;

static void
indexed_file_init(indexed_file *self, size_t rows, uint32_t page_bytes)
{
    const sst_plan plan = {.options = {.block_bytes = 1}, .page_bytes = page_bytes};
    const sinter__sst_open_options options = {.flags = 0};
    test_record *records = NULL;
    test_pool pool = {0};
    sinter_error err = SINTER_ERROR_INIT;
    test_run run = {.count = rows};

    memset(self, 0, sizeof *self);
    sst_world_init(&self->world);
    records = test_pool_take(&pool, (rows + 1) * sizeof *records);
    for (size_t i = 0; i < rows; i++) {
        char text[32];

        (void)snprintf(text, sizeof text, "k%05zu", i * 2);
        records[i] = (test_record){.key = test_pool_copy(&pool, SST_BYTES(text))};
    }
    run.records = records;
    cr_assert_eq(sst_write(&self->world.env, "i.sst", &run, &plan, NULL, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(sinter__sst_file_open(&self->world.env, "i.sst", &options, &self->file, &err),
                 SINTER_OK, "%s", err.text);
    self->cursor.file = &self->file;
    self->rows = rows;
    test_pool_fini(&pool);
}

static void
indexed_file_fini(indexed_file *self)
{
    sinter__leaf_fini(&self->world.env, &self->leaf);
    sinter__index_cursor_fini(&self->cursor);
    sinter__sst_file_close(&self->file);
    sst_world_fini(&self->world);
}

static bool
is_key(sinter_bytes key, size_t number)
{
    char text[32];

    (void)snprintf(text, sizeof text, "k%05zu", number);
    return test_bytes_equal(key, SST_BYTES(text));
}

/** Walk on from a block and check that every further one comes. */
static void
check_rest(indexed_file *self, size_t at, uint32_t block)
{
    sinter_status st = SINTER_OK;

    while (st == SINTER_OK) {
        for (; block < self->leaf.count; block++, at++) {
            cr_assert(is_key(self->leaf.entries[block].first_key, at * 2));
            cr_assert_eq(self->leaf.is_last && block + 1 == self->leaf.count, at + 1 == self->rows);
        }
        st = sinter__index_cursor_next(&self->cursor, &self->leaf, NULL);
        block = 0;
    }
    cr_assert_eq(st, SINTER_END);
    cr_assert_eq(at, self->rows);
}

Test(sst_index_cursor, a_walk_meets_every_block_whatever_the_page_size)
{
    const size_t rows[] = {1, 2, 3, 50, 500};
    const uint32_t page_bytes[] = {1, 200, 300, 1000, 8192};

    for (size_t r = 0; r < 5; r++) {
        for (size_t p = 0; p < 5; p++) {
            indexed_file self;

            indexed_file_init(&self, rows[r], page_bytes[p]);
            cr_assert_eq(sinter__index_cursor_next(&self.cursor, &self.leaf, NULL), SINTER_OK);
            check_rest(&self, 0, 0);
            indexed_file_fini(&self);
        }
    }
}

Test(sst_index_cursor, tiny_pages_make_many_levels)
{
    indexed_file self;

    indexed_file_init(&self, 500, 1);
    cr_expect_geq(self.file.footer.level_count, 8, "two entries a page");
    cr_expect_leq(self.file.footer.level_count, 11);
    indexed_file_fini(&self);
}

Test(sst_index_cursor, seek_finds_the_first_block_not_below_the_key)
{
    indexed_file self;

    indexed_file_init(&self, 300, 250);
    for (size_t number = 0; number < 600; number += 7) {
        char text[32];
        const size_t expected = (number + 1) / 2;
        sinter_status st = SINTER_OK;

        (void)snprintf(text, sizeof text, "k%05zu", number);
        st = sinter__index_cursor_seek(&self.cursor, SST_BYTES(text), &self.leaf, NULL);
        cr_assert_eq(st, expected < self.rows ? SINTER_OK : SINTER_END);
        if (st == SINTER_OK) {
            check_rest(&self, expected, sinter__leaf_find(&self.leaf, SST_BYTES(text)));
        }
    }
    indexed_file_fini(&self);
}

static sinter_status
count_page(void *ctx, sinter__extent place, sinter_error *err)
{
    sinter__extent *last = ctx;

    (void)err;
    cr_assert_geq(place.offset, last->offset + last->size, "pages are left in file order");
    *last = place;
    return SINTER_OK;
}

Test(sst_index_cursor, pages_are_left_in_file_order_the_root_last)
{
    sinter__extent last = {0, 0};
    indexed_file self;

    indexed_file_init(&self, 100, 200);
    self.cursor.leave = count_page;
    self.cursor.leave_ctx = &last;
    while (sinter__index_cursor_next(&self.cursor, &self.leaf, NULL) == SINTER_OK) {
    }
    cr_expect_eq(last.offset, self.file.footer.root_offset);
    indexed_file_fini(&self);
}

Test(sst_index_cursor, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_END; n++) {
        indexed_file self;

        indexed_file_init(&self, 40, 200);
        sst_world_fail_allocation(&self.world, n);
        do {
            st = sinter__index_cursor_next(&self.cursor, &self.leaf, NULL);
        } while (st == SINTER_OK);
        cr_assert(st == SINTER_END || st == SINTER_E_NOMEM);
        indexed_file_fini(&self);
    }
}

Test(sst_index_cursor, pages_are_counted_in_the_budget_while_they_are_built_and_walked)
{
    enum { KEY_BYTES = 300000 };
    const sinter__sst_open_options options = {.flags = 0};
    sinter__sst_entry entry = {.rows = 1, .streams = 1, .key_bytes = KEY_BYTES};
    sinter__index_writer index = {.page_bytes = SINTER__SST_PAGE_TARGET_BYTES};
    uint8_t *key = calloc(1, KEY_BYTES);
    indexed_file many;
    sinter__sst_file file = {0};
    sinter__index_cursor cursor = {0};
    sinter__leaf leaf = {0};
    sinter__sst_sink sink = {0};
    sinter_env env;
    uint64_t before = 0;

    cr_assert_not_null(key);
    indexed_file_init(&many, 500, 0);
    env = many.world.env;
    cr_assert_eq(sinter_memory_create(&env, 0, &env.memory, NULL), SINTER_OK);
    sink.env = &env;
    sink.appended_size = SINTER__SST_TRAILER_BYTES; /* of a block that has no parts */
    index.sink = &sink;
    index.page_bytes = 4 * KEY_BYTES; /* the page stays open */
    entry.first_key = (sinter_bytes){key, KEY_BYTES};
    entry.last_key = entry.first_key;
    cr_assert_eq(sinter__index_writer_add(&index, &entry, (sinter_bytes){key, 1000}, NULL),
                 SINTER_OK);
    cr_expect_geq(sinter_memory_used(env.memory), 2 * KEY_BYTES + 1000);
    sinter__index_writer_fini(&index);
    cr_expect_eq(sinter_memory_used(env.memory), 0);

    cr_assert_eq(sinter__sst_file_open(&env, "i.sst", &options, &file, NULL), SINTER_OK);
    before = sinter_memory_used(env.memory);
    cursor.file = &file;
    cr_assert_eq(sinter__index_cursor_next(&cursor, &leaf, NULL), SINTER_OK);
    cr_assert_gt(file.footer.level_count, 1);
    cr_expect_geq(sinter_memory_used(env.memory) - before,
                  leaf.size + leaf.count * sizeof *leaf.entries + file.footer.root_size);
    sinter__leaf_fini(&env, &leaf);
    sinter__index_cursor_fini(&cursor);
    sinter__sst_file_close(&file);
    cr_expect_eq(sinter_memory_used(env.memory), 0);
    sinter_memory_destroy(env.memory);
    indexed_file_fini(&many);
    free(key);
}
