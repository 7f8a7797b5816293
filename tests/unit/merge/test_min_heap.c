/*
 * The min-heap engine. That it gives what the loser tree gives is tried with every random case of
 * test_loser_tree.c; here is what is its own.
 */
#include <criterion/criterion.h>

#include "merge_cases.h"

static void
merge_min_heap(const test_runs *runs, const model_rules *rules, run_world *world, merged *out)
{
    merge_setup setup;

    merge_setup_init(&setup, world, runs);
    merge_options_rules(rules, &setup.options);
    setup.options.sort_engine = SINTER_SORT_MIN_HEAP;
    merge_run(&setup, runs, out);
    cr_assert_not(out->has_complaint, "%s", out->complaint);
}

Test(merge_min_heap, the_youngest_file_wins_among_equal_sequences)
{
    const test_record old[] = {
        {.key = {(const uint8_t *)"k", 1}, .value = {(const uint8_t *)"8", 1}}};
    const test_record young[] = {
        {.key = {(const uint8_t *)"k", 1}, .value = {(const uint8_t *)"9", 1}, .origin = 1}};
    const model_rules rules = {.has_ages = true};

    for (int order = 0; order < 2; order++) {
        run_world world = {0};
        test_runs runs = {0};
        merged result;

        test_runs_add(&runs, order == 0 ? old : young, 1);
        test_runs_add(&runs, order == 0 ? young : old, 1);
        merge_min_heap(&runs, &rules, &world, &result);
        cr_assert_eq(result.count, 1);
        cr_expect(test_bytes_equal(result.records[0].value, test_text("9")), "order %d", order);
        merged_fini(&result);
        test_runs_fini(&runs);
    }
}

Test(merge_min_heap, full_ties_of_bare_runs_fall_as_the_tree_decides)
{
    for (uint64_t seed = 1; seed <= case_count(1500); seed++) {
        test_rng rng = {seed * 32452843};
        model_rules rules = rules_random(&rng);
        run_world world = world_random(&rng);
        char text[MERGE_TEXT_BYTES];
        model_result model;
        test_shape shape;
        test_runs runs;
        merged result;

        rules.has_ages = false;
        test_shape_random(&rng, &shape);
        shape.sequence_space = 1 + seed % 2;
        test_runs_random(&rng, &shape, &runs);
        model_merge(&runs, &rules, &model);
        merge_min_heap(&runs, &rules, &world, &result);
        cr_assert(merged_matches(&result, &model, text), "seed %llu: %s", (unsigned long long)seed,
                  text);
        merged_fini(&result);
        model_result_fini(&model);
        test_runs_fini(&runs);
    }
}
