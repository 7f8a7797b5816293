/*
 * Which runs are spilled (spec/compaction.md 14.1).
 */
#include <criterion/criterion.h>

#include "merge_cases.h"

Test(merge_spill_plan, the_example_of_the_specification_spills_the_smallest_seven)
{
    const uint64_t sizes[] = {50, 30, 10, 53, 10, 30, 40, 30, 40, 40, 30, 10, 10, 63};
    const size_t wanted[] = {10, 6, 8, 9, 0, 3, 13, 2, 4, 11, 12, 1, 5, 7};
    size_t order[14];

    cr_assert_eq(sinter_merge_spill_plan(sizes, 14, 7, order), 7);
    for (size_t i = 0; i < 14; i++) {
        cr_expect_eq(order[i], wanted[i], "place %zu", i);
    }
}

Test(merge_spill_plan, as_many_runs_as_the_threshold_stay_in_their_order)
{
    const uint64_t sizes[] = {3, 1, 2};
    size_t order[3];

    cr_assert_eq(sinter_merge_spill_plan(sizes, 3, 3, order), 3);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(order[i], i);
    }
    cr_assert_eq(sinter_merge_spill_plan(sizes, 0, 3, order), 0);
}

Test(merge_spill_plan, random_sizes_are_split_as_a_stable_sort_splits_them)
{
    for (uint64_t seed = 1; seed <= case_count(3000); seed++) {
        test_rng rng = {seed * 86028121};
        const size_t count = (size_t)test_rng_below(&rng, seed % 100 == 0 ? 600 : 20);
        const uint32_t threshold = 1 + (uint32_t)test_rng_below(&rng, 20);
        uint64_t sizes[600];
        size_t got[600];
        size_t wanted[600];

        for (size_t i = 0; i < count; i++) {
            sizes[i] = test_rng_below(&rng, 2) == 0 ? test_rng_below(&rng, 4) : UINT64_MAX - i % 3;
        }
        cr_assert_eq(sinter_merge_spill_plan(sizes, count, threshold, got),
                     model_spill_plan(sizes, count, threshold, wanted), "seed %llu",
                     (unsigned long long)seed);
        for (size_t i = 0; i < count; i++) {
            cr_assert_eq(got[i], wanted[i], "seed %llu place %zu", (unsigned long long)seed, i);
        }
    }
}
