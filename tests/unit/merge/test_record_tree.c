/*
 * Bare runs, without ages: full ties fall as the tree of spec/compaction.md 14.2 decides, for which
 * the tests have that tree, state by state.
 */
#include <criterion/criterion.h>

#include "merge_cases.h"

/* Runs in which only the position tells the versions of a key apart. */
static void
tie_runs(uint64_t number, size_t run_count, test_runs *out)
{
    static const uint8_t keys[3] = {'a', 'b', 'c'};
    static const char *const values[] = {"0", "1", "2", "3", "4", "5", "6", "7"};

    *out = (test_runs){0};
    for (size_t r = 0; r < run_count; r++) {
        test_record records[3];
        size_t count = 0;

        for (size_t k = 0; k < 3; k++, number /= 2) {
            if (number % 2 != 0) {
                records[count++] = (test_record){
                    .key = {&keys[k], 1}, .value = test_text(values[r]), .sequence = 7};
            }
        }
        test_runs_add(out, records, count);
    }
}

static void
try_ties(size_t run_count, model_engine engine)
{
    for (uint64_t number = 0; number < (uint64_t)1 << (3 * run_count); number++) {
        const model_rules rules = {.engine = engine};
        run_world world = {.batch_rows = (uint32_t)(number % 3)};
        merge_setup setup;
        char text[MERGE_TEXT_BYTES];
        test_runs runs;

        tie_runs(number, run_count, &runs);
        merge_setup_init(&setup, &world, &runs);
        cr_assert(both_engines_match(&setup, &runs, &rules, text), "%zu runs number %llu: %s",
                  run_count, (unsigned long long)number, text);
        test_runs_fini(&runs);
    }
}

Test(merge_record_tree, every_pattern_of_full_ties_falls_as_the_tree_decides)
{
    for (size_t run_count = 1; run_count <= 4; run_count++) {
        try_ties(run_count, MODEL_DEDUPLICATE);
        try_ties(run_count, MODEL_FIRST_ROW);
    }
}

Test(merge_record_tree, every_pattern_of_full_ties_in_five_runs_falls_as_the_tree_decides)
{
    try_ties(5, MODEL_DEDUPLICATE);
}

Test(merge_record_tree, random_runs_without_ages_are_merged_as_the_tree_decides)
{
    for (uint64_t seed = 1; seed <= case_count(4000); seed++) {
        test_rng rng = {seed * 15485863};
        model_rules rules = rules_random(&rng);
        run_world world = world_random(&rng);
        merge_setup setup;
        char text[MERGE_TEXT_BYTES];
        test_shape shape;
        test_runs runs;

        rules.has_ages = false;
        test_shape_random(&rng, &shape);
        if (test_rng_chance(&rng, 50)) {
            shape.sequence_space = 1;
        }
        test_runs_random(&rng, &shape, &runs);
        merge_setup_init(&setup, &world, &runs);
        setup.seed = seed;
        cr_assert(both_engines_match(&setup, &runs, &rules, text), "seed %llu: %s",
                  (unsigned long long)seed, text);
        test_runs_fini(&runs);
    }
}
