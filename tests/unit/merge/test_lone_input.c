/*
 * Inputs that hold several versions of a key side by side: one alone, and several together, through
 * sinter_merge_*.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "merge_cases.h"

static test_record
put(const char *key, int64_t sequence, uint8_t kind)
{
    return (test_record){
        .key = test_text(key), .value = test_text(key), .sequence = sequence, .kind = kind};
}

static void
merge_versions(const test_runs *runs, const model_rules *rules, merged *out)
{
    run_world world = {.has_versions = true};
    merge_setup setup;

    merge_setup_init(&setup, &world, runs);
    merge_options_rules(rules, &setup.options);
    merge_run(&setup, runs, out);
    cr_assert_not(out->has_complaint, "%s", out->complaint);
}

Test(merge_lone_input, versions_become_one_row_and_lone_rows_are_not_touched)
{
    const test_record rows[] = {put("a", 3, SINTER_KIND_INSERT), put("b", 1, SINTER_KIND_INSERT),
                                put("b", 9, SINTER_KIND_DELETE), put("b", 4, SINTER_KIND_INSERT),
                                put("c", 5, SINTER_KIND_DELETE), put("d", 7, SINTER_KIND_DELETE),
                                put("d", 8, SINTER_KIND_DELETE)};
    const model_rules rules[] = {
        {.engine = MODEL_DEDUPLICATE, .has_ages = true},
        {.engine = MODEL_DEDUPLICATE, .has_ages = true, .ignore_delete = true},
        {.engine = MODEL_FIRST_ROW, .has_ages = true, .ignore_delete = true}};
    const int64_t wanted[3][4] = {{3, 9, 5, 8}, {3, 4, 5, -1}, {3, 1, 5, -1}};

    for (size_t i = 0; i < 3; i++) {
        test_runs runs = {0};
        merged result;

        test_runs_add(&runs, rows, 7);
        merge_versions(&runs, &rules[i], &result);
        cr_assert_eq(result.status, SINTER_OK);
        cr_assert_eq(result.count, wanted[i][3] < 0 ? 3 : 4);
        for (size_t row = 0; row < result.count; row++) {
            cr_expect_eq(result.records[row].sequence, wanted[i][row], "rules %zu row %zu", i, row);
        }
        cr_expect_eq(result.counters.records_in, 7);
        merged_fini(&result);
        test_runs_fini(&runs);
    }
}

static int
compare_keys(const void *x, const void *y)
{
    return test_bytes_compare(((const test_record *)x)->key, ((const test_record *)y)->key);
}

/* Put what random runs hold into `count` runs that have several versions of their keys. */
static void
gather_runs(test_rng *rng, const test_runs *from, size_t count, test_runs *out)
{
    test_record *parts[4] = {NULL};
    size_t sizes[4] = {0};

    for (size_t i = 0; i < count; i++) {
        parts[i] = calloc(test_runs_rows(from) + 1, sizeof *parts[i]);
        cr_assert_not_null(parts[i]);
    }
    for (size_t r = 0; r < from->count; r++) {
        for (size_t i = 0; i < from->items[r].count; i++) {
            const size_t part = (size_t)test_rng_below(rng, count);

            parts[part][sizes[part]++] = from->items[r].records[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        qsort(parts[i], sizes[i], sizeof *parts[i], compare_keys);
        test_runs_add(out, parts[i], sizes[i]);
        free(parts[i]);
    }
    out->has_orders = from->has_orders;
    out->key_width = from->key_width;
    out->prefix_skip = from->prefix_skip;
}

Test(merge_lone_input, random_inputs_with_versions_give_what_the_model_says)
{
    for (uint64_t seed = 1; seed <= case_count(3000); seed++) {
        test_rng rng = {seed};
        test_shape shape;
        test_runs made = {0};
        test_runs runs = {0};
        run_world world = world_random(&rng);
        model_rules rules = rules_random(&rng);
        merge_setup setup;
        char text[MERGE_TEXT_BYTES];

        test_shape_random(&rng, &shape);
        test_runs_random(&rng, &shape, &made);
        gather_runs(&rng, &made, seed % 2 == 0 ? 1 : 1 + test_rng_below(&rng, 4), &runs);
        world.has_versions = true;
        merge_setup_init(&setup, &world, &runs);
        setup.capacity = test_rng_below(&rng, 5);
        setup.seed = seed;
        cr_assert(both_engines_match(&setup, &runs, &rules, text), "seed %" PRIu64 ": %s", seed,
                  text);
        test_runs_fini(&runs);
        test_runs_fini(&made);
    }
}

Test(merge_lone_input, a_failing_reader_ends_the_merge)
{
    const test_record rows[] = {put("a", 3, SINTER_KIND_INSERT), put("b", 1, SINTER_KIND_INSERT),
                                put("b", 9, SINTER_KIND_DELETE)};
    run_world world = {.has_versions = true, .batch_rows = 1, .fail_status = SINTER_E_IO};

    for (uint64_t call = 1; call <= 4; call++) {
        test_runs runs = {0};
        merge_setup setup;
        merged result;

        test_runs_add(&runs, rows, 3);
        world.calls = 0;
        world.fail_at_call = call;
        merge_setup_init(&setup, &world, &runs);
        setup.options.has_ages = true;
        merge_run(&setup, &runs, &result);
        cr_expect_eq(result.status, SINTER_E_IO, "call %" PRIu64, call);
        merged_fini(&result);
        test_runs_fini(&runs);
    }
}
