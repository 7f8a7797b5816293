#include "sst/scratch.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sst_support.h"

TestSuite(sst_scratch, .timeout = 120);

/** A world with a budget. */
static void
world_with_budget(sst_world *world, uint64_t bytes)
{
    sst_world_init(world);
    cr_assert_eq(sinter_memory_create(&world->env, bytes, &world->env.memory, NULL), SINTER_OK);
}

static void
world_end(sst_world *world)
{
    cr_assert_eq(sinter_memory_used(world->env.memory), 0);
    sinter_memory_destroy(world->env.memory);
    sst_world_fini(world);
}

Test(sst_scratch, grow_keeps_what_is_in_it)
{
    sinter__scratch scratch = {0};
    sst_world world;

    world_with_budget(&world, 0);
    cr_assert_eq(sinter__scratch_fit(&world.env, &scratch, 10, NULL), SINTER_OK);
    memcpy(scratch.data, "0123456789", 10);
    cr_assert_eq(sinter__scratch_grow(&world.env, &scratch, 100000, NULL), SINTER_OK);
    cr_expect(memcmp(scratch.data, "0123456789", 10) == 0);
    cr_expect_geq(scratch.capacity, 100000);
    cr_expect_eq(sinter_memory_used(world.env.memory), scratch.capacity);
    sinter__scratch_fini(&world.env, &scratch);
    world_end(&world);
}

Test(sst_scratch, a_budget_refuses_and_leaves_the_reservation_right)
{
    sinter__scratch scratch = {0};
    sinter_error err = SINTER_ERROR_INIT;
    sst_world world;

    world_with_budget(&world, 5000);
    cr_assert_eq(sinter__scratch_fit(&world.env, &scratch, 1000, NULL), SINTER_OK);
    cr_expect_eq(sinter__scratch_grow(&world.env, &scratch, 10000, &err), SINTER_E_TOO_LARGE);
    cr_expect_geq(scratch.capacity, 1000, "grow leaves it as it was");
    cr_expect_eq(sinter__scratch_fit(&world.env, &scratch, 10000, &err), SINTER_E_TOO_LARGE);
    cr_expect_eq(scratch.capacity, 0, "fit leaves it empty");
    world_end(&world);
}

Test(sst_scratch, one_huge_need_is_not_paid_for_ever)
{
    sinter__scratch scratch = {0};
    sst_world world;

    world_with_budget(&world, 0);
    cr_assert_eq(sinter__scratch_fit(&world.env, &scratch, 64 << 20, NULL), SINTER_OK);
    cr_assert_eq(sinter__scratch_fit(&world.env, &scratch, 1000, NULL), SINTER_OK);
    cr_expect_lt(scratch.capacity, 1 << 20);
    sinter__scratch_fini(&world.env, &scratch);
    world_end(&world);
}

Test(sst_scratch, the_room_of_a_size_is_what_a_scratch_of_it_takes)
{
    for (size_t size = 1; size < 1 << 22; size = size * 7 / 4 + 1) {
        sinter__scratch scratch = {0};
        sst_world world;

        world_with_budget(&world, 0);
        cr_assert_eq(sinter__scratch_fit(&world.env, &scratch, size, NULL), SINTER_OK);
        cr_expect_eq(scratch.capacity, sinter__scratch_room(size));
        cr_expect_eq(sinter_memory_used(world.env.memory), scratch.capacity);
        sinter__scratch_fini(&world.env, &scratch);
        world_end(&world);
    }
}

Test(sst_scratch, a_pile_keeps_what_was_put_and_is_counted)
{
    sinter__pile pile = {0};
    sst_world world;

    world_with_budget(&world, 100000);
    cr_assert_eq(sinter__pile_append(&world.env, &pile, "ab", 2, NULL), SINTER_OK);
    cr_assert_eq(sinter__pile_append(&world.env, &pile, NULL, 0, NULL), SINTER_OK);
    for (int i = 0; i < 9000; i++) {
        cr_assert_eq(sinter__pile_append(&world.env, &pile, "cde", 3, NULL), SINTER_OK);
    }
    cr_expect_eq(pile.size, 2 + 9000 * 3);
    cr_expect_arr_eq(pile.memory.data, "abcdecde", 8);
    cr_expect_arr_eq(pile.memory.data + pile.size - 3, "cde", 3);
    cr_expect_geq(sinter_memory_used(world.env.memory), pile.size);
    while (sinter__pile_append(&world.env, &pile, "cdefghi", 7, NULL) == SINTER_OK) {
    }
    cr_expect_leq(pile.size, 100000);
    cr_expect_arr_eq(pile.memory.data, "abcde", 5, "what was put stays after a refusal");
    sinter__pile_fini(&world.env, &pile);
    cr_expect_eq(sinter_memory_used(world.env.memory), 0);
    world_end(&world);
}

Test(sst_scratch, every_allocation_may_fail)
{
    for (uint64_t n = 0; n < 2; n++) {
        sinter__scratch scratch = {0};
        sst_world world;
        sinter_status st = SINTER_OK;

        world_with_budget(&world, 0);
        sst_world_fail_allocation(&world, n);
        st = sinter__scratch_fit(&world.env, &scratch, 10, NULL);
        cr_expect_eq(st, n == 0 ? SINTER_E_NOMEM : SINTER_OK);
        cr_expect_eq(sinter__scratch_grow(&world.env, &scratch, 5000, NULL),
                     n == 1 ? SINTER_E_NOMEM : SINTER_OK);
        sinter__scratch_fini(&world.env, &scratch);
        world_end(&world);
    }
}

Test(sst_scratch, absurd_sizes_are_refused)
{
    sinter__scratch scratch = {0};
    sst_world world;

    world_with_budget(&world, 0);
    cr_expect_eq(sinter__scratch_fit(&world.env, &scratch, SIZE_MAX, NULL), SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter__scratch_grow(&world.env, &scratch, SIZE_MAX, NULL), SINTER_E_TOO_LARGE);
    world_end(&world);
}
