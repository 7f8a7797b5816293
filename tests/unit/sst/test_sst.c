#include "sinter/sst.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sst_support.h"

TestSuite(sst_sst, .timeout = 120);

/** A file and its records. */
typedef struct looked_up {
    sst_world world;
    test_pool pool;
    test_run run;
    sinter_sst *sst;
} looked_up;

static void
looked_up_init(looked_up *self, const sst_shape *shape, const sst_plan *plan)
{
    test_rng rng = {.state = 41};
    sinter_error err = SINTER_ERROR_INIT;

    memset(self, 0, sizeof *self);
    sst_world_init(&self->world);
    self->run = sst_records(&rng, shape, &self->pool);
    cr_assert_eq(sst_write(&self->world.env, "g.sst", &self->run, plan, NULL, &err), SINTER_OK,
                 "%s", err.text);
    cr_assert_eq(sinter_sst_open(&self->world.env, "g.sst", &self->sst, &err), SINTER_OK, "%s",
                 err.text);
}

static void
looked_up_fini(looked_up *self)
{
    sinter_sst_close(self->sst);
    test_pool_fini(&self->pool);
    sst_world_fini(&self->world);
}

static const sst_shape shape_of_many = {
    .count = 900, .key_max = 9, .value_max = 50, .delete_percent = 10, .sequence_space = 100};

/** Every key is found in any order, and no other key is. */
static void
check_get(const sst_plan *plan)
{
    test_rng rng = {.state = 42};
    looked_up self;

    looked_up_init(&self, &shape_of_many, plan);
    for (int i = 0; i < 1500; i++) {
        const test_record *record = &self.run.records[test_rng_below(&rng, self.run.count)];
        sinter_row row = {NULL, 0};
        sinter_error err = SINTER_ERROR_INIT;
        uint8_t other[10];

        cr_assert_eq(sinter_sst_get(self.sst, record->key, &row, &err), SINTER_OK, "%s", err.text);
        cr_assert(test_bytes_equal(sinter_batch_key(row.batch, row.index), record->key));
        cr_assert(
            test_bytes_equal(row.batch->payload_ops->value(row.batch, row.index), record->value));
        cr_assert_eq(row.batch->sequences[row.index], record->sequence);
        cr_assert_eq(row.batch->kinds[row.index], record->kind);
        memcpy(other, record->key.data, record->key.size);
        memset(other + record->key.size, 0, 10 - record->key.size);
        cr_assert_eq(sinter_sst_get(self.sst, (sinter_bytes){other, 10}, &row, &err), SINTER_END,
                     "keys have 9 bytes at most");
    }
    looked_up_fini(&self);
}

Test(sst_sst, get_finds_every_key_and_no_other)
{
    check_get(&(sst_plan){.options = {.block_bytes = 500}, .page_bytes = 400});
    check_get(&(sst_plan){
        .options = {.block_bytes = 500, .filter_bits_per_key = 10, .codec = SINTER_CODEC_ZSTD},
        .page_bytes = 400});
    check_get(&(sst_plan){.options = {.codec = SINTER_CODEC_LZ4}});
}

Test(sst_sst, get_after_the_last_key_and_in_an_empty_file_is_the_end)
{
    static const uint8_t high[11] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    const sst_shape none = {.count = 0};
    sinter_row row;
    looked_up self;

    looked_up_init(&self, &shape_of_many, &(sst_plan){.page_bytes = 0});
    cr_expect_eq(sinter_sst_get(self.sst, (sinter_bytes){high, 11}, &row, NULL), SINTER_END);
    looked_up_fini(&self);
    looked_up_init(&self, &none, &(sst_plan){.page_bytes = 0});
    cr_expect_eq(sinter_sst_get(self.sst, (sinter_bytes){high, 11}, &row, NULL), SINTER_END);
    cr_expect_eq(sinter_sst_get(self.sst, (sinter_bytes){NULL, 0}, &row, NULL), SINTER_END);
    looked_up_fini(&self);
}

Test(sst_sst, a_filter_saves_reading_blocks)
{
    const sst_shape shape = {
        .count = 3000, .key_min = 8, .key_max = 8, .value_min = 50, .value_max = 50};
    const sst_plan plan = {.options = {.block_bytes = 4000, .filter_bits_per_key = 16}};
    test_rng rng = {.state = 9};
    sinter_io_counters before = {.struct_size = sizeof before};
    sinter_io_counters after = {.struct_size = sizeof after};
    looked_up self;
    sinter_row row;

    looked_up_init(&self, &shape, &plan);
    sinter_io_counters_get(self.world.io, &before);
    for (int i = 0; i < 500; i++) {
        uint8_t key[8];

        for (int k = 0; k < 8; k++) {
            key[k] = (uint8_t)test_rng_next(&rng);
        }
        cr_assert_eq(sinter_sst_get(self.sst, (sinter_bytes){key, 8}, &row, NULL), SINTER_END);
    }
    sinter_io_counters_get(self.world.io, &after);
    cr_expect_lt(after.read_bytes - before.read_bytes, 500 * 4000 / 10,
                 "blocks of strangers are not read");
    looked_up_fini(&self);
}

/** Sums over blocks. */
typedef struct block_sums {
    uint64_t blocks, rows, retracts, stop_at;
    int64_t sequence_min;
} block_sums;

static sinter_status
add_block(void *ctx, const sinter_sst_block *block)
{
    block_sums *sums = ctx;

    sums->blocks++;
    sums->rows += block->row_count;
    sums->retracts += block->retract_count;
    sums->sequence_min =
        block->sequence_min < sums->sequence_min ? block->sequence_min : sums->sequence_min;
    return sums->blocks == sums->stop_at ? SINTER_E_CANCELLED : SINTER_OK;
}

Test(sst_sst, properties_equal_the_sums_over_blocks)
{
    const sst_plan plan = {
        .options = {.block_bytes = 300, .level = 4, .schema_id = 8, .key_types = "BYTES"},
        .page_bytes = 500,
        .property = "me"};
    sinter_sst_properties properties = {.struct_size = sizeof properties};
    block_sums sums = {.sequence_min = INT64_MAX};
    looked_up self;

    looked_up_init(&self, &shape_of_many, &plan);
    cr_assert_eq(sinter_sst_each_block(self.sst, add_block, &sums, NULL), SINTER_OK);
    sinter_sst_properties_get(self.sst, &properties);
    cr_expect_eq(properties.block_count, sums.blocks);
    cr_expect_eq(properties.row_count, sums.rows);
    cr_expect_eq(properties.row_count, self.run.count);
    cr_expect_eq(properties.retract_count, sums.retracts);
    cr_expect_eq(properties.sequence_min, sums.sequence_min);
    cr_expect_eq(properties.level, 4);
    cr_expect_eq(properties.schema_id, 8);
    cr_expect_str_eq(properties.key_types, "BYTES");
    cr_expect_str_eq(properties.row_type, "");
    cr_expect(test_bytes_equal(properties.min_key, self.run.records[0].key));
    cr_expect(test_bytes_equal(properties.max_key, self.run.records[self.run.count - 1].key));
    cr_expect_str_eq(sinter_sst_user_property(self.sst, "who"), "me");
    cr_expect_null(sinter_sst_user_property(self.sst, "sinter.level"));
    sums = (block_sums){.stop_at = 3};
    cr_expect_eq(sinter_sst_each_block(self.sst, add_block, &sums, NULL), SINTER_E_CANCELLED);
    cr_expect_eq(sums.blocks, 3);
    looked_up_fini(&self);
}

Test(sst_sst, an_older_caller_gets_the_properties_it_knows)
{
    struct {
        sinter_sst_properties properties;
        uint8_t behind;
    } room;
    looked_up self;

    looked_up_init(&self, &shape_of_many, &(sst_plan){.page_bytes = 0});
    memset(&room, 0x55, sizeof room);
    room.properties.struct_size = offsetof(sinter_sst_properties, block_count);
    sinter_sst_properties_get(self.sst, &room.properties);
    cr_expect_eq(room.properties.row_count, self.run.count);
    cr_expect_eq(room.properties.block_count, 0x5555555555555555);
    looked_up_fini(&self);
}

Test(sst_sst, every_allocation_may_fail)
{
    const sst_plan plan = {
        .options = {.block_bytes = 300, .codec = SINTER_CODEC_LZ4, .filter_bits_per_key = 4},
        .page_bytes = 500};
    sinter_status st = SINTER_E_NOMEM;
    looked_up self;

    looked_up_init(&self, &shape_of_many, &plan);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const int64_t live = self.world.fault.live;
        sinter_sst *sst = NULL;
        sinter_row row;

        sst_world_fail_allocation(&self.world, n);
        st = sinter_sst_open(&self.world.env, "g.sst", &sst, NULL);
        if (st == SINTER_OK) {
            st = sinter_sst_get(sst, self.run.records[400].key, &row, NULL);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        sinter_sst_close(sst);
        cr_assert_eq(self.world.fault.live, live);
    }
    looked_up_fini(&self);
}
