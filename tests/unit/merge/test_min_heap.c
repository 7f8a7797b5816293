/*
 * The min-heap engine. That it gives what the loser tree gives is tried with every random case of
 * test_loser_tree.c; here is what is its own.
 */
#include <criterion/criterion.h>

#include "merge_cases.h"

TestSuite(merge_min_heap, .timeout = 120);

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

/* Is the record one of the runs'? */
static bool
is_an_input(const test_runs *runs, const test_record *record)
{
    for (size_t r = 0; r < runs->count; r++) {
        for (size_t i = 0; i < runs->items[r].count; i++) {
            const test_record *input = &runs->items[r].records[i];

            if (test_bytes_equal(input->key, record->key) && input->sequence == record->sequence &&
                input->kind == record->kind && test_bytes_equal(input->value, record->value)) {
                return true;
            }
        }
    }
    return false;
}

Test(merge_min_heap, without_ages_only_full_ties_are_left_open)
{
    for (uint64_t seed = 1; seed <= case_count(1500); seed++) {
        test_rng rng = {seed * 32452843};
        model_rules rules = rules_random(&rng);
        run_world world = world_random(&rng);
        model_result model;
        test_shape shape;
        test_runs runs;
        merged result;

        rules.has_ages = false;
        test_shape_random(&rng, &shape);
        test_runs_random(&rng, &shape, &runs);
        model_merge(&runs, &rules, &model);
        merge_min_heap(&runs, &rules, &world, &result);
        cr_assert_eq(result.status, model.status, "seed %llu", (unsigned long long)seed);
        for (size_t i = 0; i < result.count && result.status == SINTER_OK; i++) {
            const test_record *got = &result.records[i];

            cr_assert(i < model.count && test_bytes_equal(got->key, model.records[i]->key) &&
                          model_sequence_compare(got, model.records[i]) == 0 &&
                          is_an_input(&runs, got),
                      "seed %llu record %zu", (unsigned long long)seed, i);
        }
        cr_assert(result.status != SINTER_OK || result.count == model.count);
        merged_fini(&result);
        model_result_fini(&model);
        test_runs_fini(&runs);
    }
}
