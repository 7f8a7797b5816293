#include <criterion/criterion.h>
#include <string.h>

#include "sst/payload.h"
#include "sst_support.h"

TestSuite(sst_builder, .timeout = 120);

Test(sst_builder, a_batch_holds_what_was_added)
{
    sinter_batch_builder *builder = NULL;
    const sinter_batch *batch = NULL;
    sst_world world;

    sst_world_init(&world);
    cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
    cr_assert_eq(sinter_batch_builder_add(builder, SST_BYTES("a"), -5, 1, SST_BYTES("one"), NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_batch_builder_add(builder, SST_BYTES("bcdefghij"), 6, 2,
                                          (sinter_bytes){NULL, 0}, NULL),
                 SINTER_OK);
    cr_expect_eq(sinter_batch_builder_bytes(builder), 1 + 3 + 9);
    batch = sinter_batch_builder_batch(builder);
    cr_expect_eq(batch->row_count, 2);
    cr_expect_eq(batch->retract_count, 1);
    cr_expect_eq(batch->payload_ops, &sinter__sst_payload_ops);
    cr_expect(test_bytes_equal(sinter_batch_key(batch, 1), SST_BYTES("bcdefghij")));
    cr_expect(test_bytes_equal(batch->payload_ops->value(batch, 0), SST_BYTES("one")));
    cr_expect_eq(batch->payload_ops->value(batch, 1).size, 0);
    cr_expect_eq(batch->prefixes[1], 0x6263646566676869);
    cr_expect_eq(batch->sequences[0], -5);
    cr_expect_eq(batch->kinds[1], 2);
    sinter_batch_builder_reset(builder);
    cr_expect_eq(sinter_batch_builder_batch(builder)->row_count, 0);
    cr_expect_eq(sinter_batch_builder_bytes(builder), 0);
    sinter_batch_builder_destroy(builder);
    sst_world_fini(&world);
}

Test(sst_builder, keys_of_one_width_are_a_column_of_fixed_width)
{
    sinter_batch_builder *builder = NULL;
    sst_world world;

    sst_world_init(&world);
    cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
    for (int round = 0; round < 2; round++) {
        const sinter_batch *batch = NULL;

        for (uint8_t i = 0; i < 10; i++) {
            const uint8_t key[2] = {1, i};

            cr_assert_eq(sinter_batch_builder_add(builder, (sinter_bytes){key, 2}, 0, 0,
                                                  (sinter_bytes){NULL, 0}, NULL),
                         SINTER_OK);
        }
        batch = sinter_batch_builder_batch(builder);
        cr_expect(batch->key_offsets == NULL && batch->key_width == 2);
        cr_assert_eq(sinter_batch_builder_add(builder, SST_BYTES("longer"), 0, 0,
                                              (sinter_bytes){NULL, 0}, NULL),
                     SINTER_OK);
        batch = sinter_batch_builder_batch(builder);
        cr_expect_not_null(batch->key_offsets);
        cr_expect(test_bytes_equal(sinter_batch_key(batch, 10), SST_BYTES("longer")));
        sinter_batch_builder_reset(builder);
    }
    sinter_batch_builder_destroy(builder);
    sst_world_fini(&world);
}

Test(sst_builder, rows_that_were_handed_out_stay_while_more_are_added)
{
    sinter_batch_builder *builder = NULL;
    const sinter_batch *first = NULL;
    sst_world world;

    sst_world_init(&world);
    cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
    for (uint32_t i = 0; i < 1000; i++) {
        const uint8_t key[2] = {(uint8_t)(i >> 8), (uint8_t)i};
        const sinter_batch *batch = NULL;

        cr_assert_eq(sinter_batch_builder_add(builder, (sinter_bytes){key, 2}, i,
                                              i % 2 == 0 ? 0 : 3, (sinter_bytes){key, 2}, NULL),
                     SINTER_OK);
        batch = sinter_batch_builder_batch(builder);
        first = i == 0 ? batch : first;
        cr_assert_eq(batch, first, "the same struct each time");
        cr_expect_eq(batch->retract_count, (i + 1) / 2);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        const uint8_t key[2] = {(uint8_t)(i >> 8), (uint8_t)i};

        cr_expect(test_bytes_equal(sinter_batch_key(first, i), (sinter_bytes){key, 2}));
        cr_expect(test_bytes_equal(first->payload_ops->value(first, i), (sinter_bytes){key, 2}));
        cr_expect_eq(first->sequences[i], i);
    }
    sinter_batch_builder_reset(builder);
    cr_expect_eq(sinter_batch_builder_batch(builder)->retract_count, 0);
    sinter_batch_builder_destroy(builder);
    sst_world_fini(&world);
}

Test(sst_builder, refuses_unknown_kinds)
{
    sinter_batch_builder *builder = NULL;
    sst_world world;

    sst_world_init(&world);
    cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
    cr_expect_eq(sinter_batch_builder_add(builder, SST_BYTES("a"), 0, 4, SST_BYTES(""), NULL),
                 SINTER_E_INVALID);
    sinter_batch_builder_destroy(builder);
    sinter_batch_builder_destroy(NULL);
    sst_world_fini(&world);
}

Test(sst_builder, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    static const uint8_t value[600] = {0};
    sst_world world;

    sst_world_init(&world);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_batch_builder *builder = NULL;
        size_t added = 0;

        sst_world_fail_allocation(&world, n);
        st = sinter_batch_builder_create(&world.env, &builder, NULL);
        for (uint32_t i = 0; st == SINTER_OK && i < 1200; i++) {
            const uint8_t key[2] = {(uint8_t)(i >> 8), (uint8_t)i};

            st = sinter_batch_builder_add(builder, (sinter_bytes){key, 2}, i, 0,
                                          (sinter_bytes){value, sizeof value}, NULL);
            added += st == SINTER_OK;
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        if (builder != NULL) {
            cr_assert_eq(sinter_batch_builder_batch(builder)->row_count, added,
                         "a refused record leaves the others alone");
        }
        sinter_batch_builder_destroy(builder);
        cr_assert_eq(world.fault.live, 0);
    }
    sst_world_fini(&world);
}
