#include "sst/open_block.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sst_support.h"

TestSuite(sst_open_block, .timeout = 120);

/** Random rows as a batch, made by the batch builder. */
typedef struct rows {
    sst_world world;
    test_pool pool;
    test_run run;
    sinter_batch_builder *builder;
    const sinter_batch *batch;
} rows;

static void
rows_init(rows *self, uint64_t seed, const sst_shape *shape)
{
    test_rng rng = {.state = seed};

    memset(self, 0, sizeof *self);
    sst_world_init(&self->world);
    self->run = sst_records(&rng, shape, &self->pool);
    cr_assert_eq(sinter_batch_builder_create(&self->world.env, &self->builder, NULL), SINTER_OK);
    for (size_t i = 0; i < self->run.count; i++) {
        const test_record *record = &self->run.records[i];

        cr_assert_eq(sinter_batch_builder_add(self->builder, record->key, record->sequence,
                                              record->kind, record->value, NULL),
                     SINTER_OK);
    }
    self->batch = sinter_batch_builder_batch(self->builder);
}

static void
rows_fini(rows *self)
{
    sinter_batch_builder_destroy(self->builder);
    test_pool_fini(&self->pool);
    sst_world_fini(&self->world);
}

/** Give a block room for so many bytes. */
static void
make_room(sinter__open_block *block, uint32_t bytes)
{
    cr_assert_eq(sinter__open_block_fit_rows(block, 2000, NULL), SINTER_OK);
    cr_assert_eq(sinter__open_block_fit_keys(block, bytes + SINTER__SST_SLACK_BYTES, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__open_block_fit_values(block, bytes + SINTER__SST_SLACK_BYTES, NULL),
                 SINTER_OK);
    block->raw_limit = bytes;
}

static void
compare(const sinter__open_block *block, const test_run *run)
{
    for (uint32_t i = 0; i < block->rows; i++) {
        const test_record *record = &run->records[i];
        const sinter_bytes key = {block->keys + block->key_offsets[i],
                                  block->key_offsets[i + 1] - block->key_offsets[i]};
        const sinter_bytes value = {block->values + block->value_offsets[i],
                                    block->value_offsets[i + 1] - block->value_offsets[i]};

        cr_assert(test_bytes_equal(key, record->key), "row %u", i);
        cr_assert(test_bytes_equal(value, record->value), "row %u", i);
        cr_assert_eq(block->sequences[i], record->sequence);
        cr_assert_eq(block->kinds[i], record->kind);
    }
}

/** Rows that fit strictly below the limit. */
static uint32_t
fitting(const test_run *run, uint64_t limit)
{
    uint64_t raw = 0;
    uint32_t count = 0;

    while (count < run->count) {
        raw += run->records[count].key.size + run->records[count].value.size;
        if (raw >= limit) {
            break;
        }
        count++;
    }
    return count;
}

Test(sst_open_block, takes_exactly_the_rows_that_stay_below_the_limit)
{
    const sst_shape shapes[] = {
        {.count = 500, .key_min = 16, .key_max = 16, .value_min = 100, .value_max = 100},
        {.count = 500, .key_max = 40, .value_max = 600, .delete_percent = 30},
        {.count = 500, .key_min = 8, .key_max = 8, .value_max = 3},
    };

    for (size_t s = 0; s < 3; s++) {
        for (uint32_t limit = 1; limit < 30000; limit = limit * 3 + 7) {
            sinter__open_block block = {0};
            rows self;

            rows_init(&self, s + 1, &shapes[s]);
            block.env = &self.world.env;
            make_room(&block, limit);
            cr_assert(sinter__has_plain_rows(self.batch));
            cr_assert_eq(sinter__open_block_take_rows(&block, self.batch, 0, self.batch->row_count),
                         fitting(&self.run, limit));
            cr_assert_eq(block.rows, fitting(&self.run, limit));
            compare(&block, &self.run);
            sinter__open_block_fini(&block);
            rows_fini(&self);
        }
    }
}

Test(sst_open_block, ranges_of_any_length_give_the_same_rows)
{
    const sst_shape shape = {.count = 400, .key_max = 20, .value_max = 500, .delete_percent = 20};

    for (uint64_t seed = 1; seed <= 30; seed++) {
        test_rng rng = {.state = seed};
        sinter_range ranges[400];
        sinter__open_block block = {0};
        size_t count = 0;
        rows self;

        rows_init(&self, seed, &shape);
        block.env = &self.world.env;
        make_room(&block, 1 << 20);
        for (uint32_t at = 0; at < self.batch->row_count; count++) {
            const uint32_t left = self.batch->row_count - at;
            uint32_t rows_here = 1 + (uint32_t)test_rng_below(&rng, 1 + seed % 9);

            rows_here = rows_here < left ? rows_here : left;
            ranges[count] = (sinter_range){self.batch, at, rows_here};
            at += rows_here;
        }
        cr_assert_eq(sinter__open_block_take(&block, ranges, count), count, "seed %llu",
                     (unsigned long long)seed);
        cr_assert_eq(block.rows, self.run.count);
        compare(&block, &self.run);
        sinter__open_block_fini(&block);
        rows_fini(&self);
    }
}

Test(sst_open_block, growing_keeps_the_rows)
{
    const sst_shape shape = {.count = 300, .key_max = 20, .value_max = 50};
    sinter__open_block block = {0};
    rows self;

    rows_init(&self, 7, &shape);
    block.env = &self.world.env;
    make_room(&block, 1 << 16);
    cr_assert(sinter__has_plain_rows(self.batch));
    cr_assert_eq(sinter__open_block_take_rows(&block, self.batch, 0, 100), 100);
    cr_assert_eq(sinter__open_block_fit_rows(&block, 50000, NULL), SINTER_OK);
    make_room(&block, 1 << 20);
    cr_assert_eq(sinter__open_block_take_rows(&block, self.batch, 100, self.batch->row_count - 100),
                 self.batch->row_count - 100);
    compare(&block, &self.run);
    sinter__open_block_fini(&block);
    rows_fini(&self);
}
