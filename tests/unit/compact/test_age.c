#include "compact/age.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "files.h"
#include "support/records.h"

TestSuite(compact_age, .timeout = 20);

static sinter_file_meta
aged(const char *name, int32_t level, int64_t created, int64_t max, int64_t min)
{
    sinter_file_meta file = file_with_sequences(name, level, "a", "b", min, max);

    file.creation_time_ms = created;
    return file;
}

Test(compact_age, each_rule_decides_only_where_those_before_it_are_equal)
{
    /* oldest first; every neighbour pair differs by one more rule */
    const sinter_file_meta files[] = {aged("z", 5, 900, 90, 90), aged("y", 1, 100, 80, 80),
                                      aged("x", 1, 200, 10, 10), aged("w", 1, 200, 20, 5),
                                      aged("a", 1, 200, 20, 7),  aged("b", 1, 200, 20, 7),
                                      aged("c", 0, 1, 1, 1)};

    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < 7; j++) {
            const int order = sinter__age_compare(&files[i], &files[j]);

            cr_expect_eq((order > 0) - (order < 0), (i > j) - (i < j), "%zu and %zu", i, j);
        }
    }
}

Test(compact_age, ranks_do_not_depend_on_the_order_of_the_list)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        enum { COUNT = 12 };
        test_rng rng = {seed};
        sinter_file_meta files[COUNT];
        char names[COUNT][4];
        const sinter_file_meta *sorted[COUNT];
        const sinter_file_meta *shuffled[COUNT];

        for (size_t i = 0; i < COUNT; i++) {
            (void)snprintf(names[i], sizeof names[i], "%c", (char)('a' + (int)i));
            files[i] = aged(names[i], (int32_t)test_rng_below(&rng, 2),
                            (int64_t)test_rng_below(&rng, 3), (int64_t)test_rng_below(&rng, 2), 0);
            sorted[i] = &files[i];
            shuffled[COUNT - 1 - i] = &files[i];
        }
        sinter__age_sort(sorted, COUNT);
        sinter__age_sort(shuffled, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            cr_assert_eq(sorted[i], shuffled[i], "seed %" PRIu64, seed);
            cr_assert_eq(sinter__age_rank(sorted, COUNT, sorted[i]), i, "seed %" PRIu64, seed);
        }
    }
}

Test(compact_age, level_0_stands_from_new_to_old_and_above_the_other_levels)
{
    /* example L1 of the specification, and the ties of level 0 */
    const sinter_file_meta files[] = {aged("y", 0, 5, 20, 10), aged("z", 0, 5, 20, 12),
                                      aged("x", 0, 5, 9, 1),   aged("a", 0, 6, 9, 1),
                                      aged("b", 0, 6, 9, 1),   aged("q", 2, 0, 0, 0)};

    for (size_t i = 0; i + 1 < 6; i++) {
        cr_expect_lt(sinter__run_order_compare(&files[i], &files[i + 1]), 0, "%zu", i);
        cr_expect_gt(sinter__run_order_compare(&files[i + 1], &files[i]), 0, "%zu", i);
    }
}

Test(compact_age, files_of_one_level_above_0_have_no_order)
{
    const sinter_file_meta a = aged("a", 2, 1, 1, 1);
    const sinter_file_meta b = aged("b", 2, 9, 9, 9);

    cr_expect_eq(sinter__run_order_compare(&a, &b), 0);
}

Test(compact_age, in_a_level_above_0_files_stand_by_key_and_those_without_rows_first)
{
    const sinter_file_meta files[] = {file_of("z", 0, "x", "y"), file_empty("m", 2),
                                      file_empty("n", 2),        file_of("d", 2, "a", "b"),
                                      file_of("c", 2, "c", "d"), file_of("e", 2, "c", "c"),
                                      file_of("a", 3, "a", "b")};

    for (size_t i = 0; i + 1 < 7; i++) {
        cr_expect_lt(sinter__place_compare(&files[i], &files[i + 1]), 0, "%zu", i);
        cr_expect_gt(sinter__place_compare(&files[i + 1], &files[i]), 0, "%zu", i);
    }
    cr_expect_eq(sinter__place_compare(&files[3], &files[3]), 0);
}
