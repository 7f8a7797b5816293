/*
 * The loser tree through sinter_merge_*: by hand, exhaustively for small inputs, and at random.
 */
#include <criterion/criterion.h>

#include "base/bytes.h"
#include "merge_cases.h"

static test_record
put(const char *key, int64_t sequence, uint8_t kind, const char *value, uint32_t origin)
{
    return (test_record){.key = test_text(key),
                         .value = test_text(value),
                         .sequence = sequence,
                         .kind = kind,
                         .origin = origin};
}

static void
merge_with_defaults(const test_runs *runs, merged *out)
{
    run_world world = {0};
    merge_setup setup;

    merge_setup_init(&setup, &world, runs);
    setup.options.has_ages = true;
    merge_run(&setup, runs, out);
    cr_assert_not(out->has_complaint, "%s", out->complaint);
}

/* Example M1 of the specification. */
Test(merge_loser_tree, example_m1_gives_three_keys_with_their_newest_version)
{
    const test_record r0[] = {put("1", 5, 0, "five", 0), put("3", 9, 0, "nine", 0)};
    const test_record r1[] = {put("1", 7, 0, "seven", 1), put("2", 8, 0, "eight", 1)};
    const test_record r2[] = {put("1", 6, 0, "six", 2)};
    test_runs runs = {0};
    merged result;

    test_runs_add(&runs, r0, 2);
    test_runs_add(&runs, r1, 2);
    test_runs_add(&runs, r2, 1);
    merge_with_defaults(&runs, &result);
    cr_assert_eq(result.status, SINTER_OK);
    cr_assert_eq(result.count, 3);
    cr_expect(test_bytes_equal(result.records[0].value, test_text("seven")));
    cr_expect(test_bytes_equal(result.records[1].value, test_text("eight")));
    cr_expect(test_bytes_equal(result.records[2].value, test_text("nine")));
    cr_expect_eq(result.counters.records_in, 5);
    cr_expect_eq(result.counters.superseded, 2);
    cr_expect_eq(result.counters.keys, 3);
    merged_fini(&result);
    test_runs_fini(&runs);
}

Test(merge_loser_tree, keys_that_differ_in_trailing_zeros_are_different_keys)
{
    static const uint8_t zeros[9] = {0};
    test_record shorter[] = {put("", 1, 0, "empty", 0), put("", 2, 0, "two", 0),
                             put("", 3, 0, "eight", 0)};
    test_record longer[] = {put("", 9, 0, "one", 1), put("", 8, 0, "seven", 1),
                            put("", 7, 0, "nine", 1)};
    static const char *const wanted[] = {"empty", "one", "two", "seven", "eight", "nine"};
    test_runs runs = {0};
    merged result;

    shorter[1].key = (sinter_bytes){zeros, 2};
    shorter[2].key = (sinter_bytes){zeros, 8};
    longer[0].key = (sinter_bytes){zeros, 1};
    longer[1].key = (sinter_bytes){zeros, 7};
    longer[2].key = (sinter_bytes){zeros, 9};
    test_runs_add(&runs, longer, 3);
    test_runs_add(&runs, shorter, 3);
    merge_with_defaults(&runs, &result);
    cr_assert_eq(result.count, 6);
    for (size_t i = 0; i < 6; i++) {
        cr_expect(test_bytes_equal(result.records[i].value, test_text(wanted[i])), "place %zu", i);
    }
    merged_fini(&result);
    test_runs_fini(&runs);
}

Test(merge_loser_tree, keys_with_the_same_first_eight_bytes_are_told_apart_by_the_rest)
{
    const test_record r0[] = {put("samehead", 1, 0, "0", 0), put("sameheadb", 1, 0, "2", 0)};
    const test_record r1[] = {put("sameheada", 1, 0, "1", 1), put("sameheadb", 2, 0, "3", 1)};
    test_runs runs = {0};
    merged result;

    test_runs_add(&runs, r0, 2);
    test_runs_add(&runs, r1, 2);
    merge_with_defaults(&runs, &result);
    cr_assert_eq(result.count, 3);
    cr_expect(test_bytes_equal(result.records[0].value, test_text("0")));
    cr_expect(test_bytes_equal(result.records[1].value, test_text("1")));
    cr_expect(test_bytes_equal(result.records[2].value, test_text("3")));
    merged_fini(&result);
    test_runs_fini(&runs);
}

/* Dense integers, spread over the runs: neighbours differ in the bits where a node keeps its
 * input's number. */
Test(merge_loser_tree, keys_that_differ_in_their_last_bits_only_are_told_apart)
{
    enum { KEYS = 300, RUNS = 70 };
    static uint8_t keys[KEYS][8];

    for (size_t i = 0; i < KEYS; i++) {
        sinter__put_be64(keys[i], UINT64_C(0xFFFFFFFFFFFFFE80) + i);
    }
    for (size_t run_count = 2; run_count <= RUNS; run_count += run_count / 2) {
        test_runs runs = {0};
        merged result;

        for (size_t r = 0; r < run_count; r++) {
            test_record records[KEYS];
            size_t count = 0;

            for (size_t i = 0; i < KEYS; i++) {
                if (i * 7 % run_count == run_count - 1 - r) {
                    records[count] = put("", (int64_t)i, SINTER_KIND_INSERT, "v", (uint32_t)r);
                    records[count++].key = (sinter_bytes){keys[i], 8};
                }
            }
            test_runs_add(&runs, records, count);
        }
        merge_with_defaults(&runs, &result);
        cr_assert_eq(result.count, KEYS, "%zu runs", run_count);
        for (size_t i = 0; i < KEYS; i++) {
            cr_expect(test_bytes_equal(result.records[i].key, (sinter_bytes){keys[i], 8}),
                      "%zu runs: place %zu", run_count, i);
        }
        merged_fini(&result);
        test_runs_fini(&runs);
    }
}

/* State of one key in one run: absent, or a record. */
typedef struct cell {
    bool is_there;
    int64_t sequence;
    uint8_t kind;
} cell;

static const cell cells[] = {{false, 0, 0},
                             {true, 0, SINTER_KIND_INSERT},
                             {true, 0, SINTER_KIND_DELETE},
                             {true, 1, SINTER_KIND_UPDATE_AFTER}};

/* Runs over the keys "" and "\0" numbered by `number`: two bits per cell. */
static void
numbered_runs(uint64_t number, size_t run_count, const uint32_t *ages, test_runs *out)
{
    static const uint8_t zero[1] = {0};
    static const char *const values[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

    *out = (test_runs){0};
    for (size_t r = 0; r < run_count; r++) {
        test_record records[2];
        size_t count = 0;

        for (size_t k = 0; k < 2; k++, number /= 4) {
            const cell *at = &cells[number % 4];

            if (at->is_there) {
                records[count++] = (test_record){.key = {zero, k},
                                                 .value = test_text(values[2 * r + k]),
                                                 .sequence = at->sequence,
                                                 .kind = at->kind,
                                                 .origin = ages[r]};
            }
        }
        test_runs_add(out, records, count);
    }
}

static void
try_all(size_t run_count, const uint32_t *ages, uint32_t rules_step)
{
    const uint64_t numbers = (uint64_t)1 << (4 * run_count);

    for (uint64_t number = 0; number < numbers; number++) {
        for (uint32_t bits = (uint32_t)(number % rules_step); bits < 8; bits += rules_step) {
            const model_rules rules = {.engine =
                                           (bits & 1) != 0 ? MODEL_FIRST_ROW : MODEL_DEDUPLICATE,
                                       .ignore_delete = (bits & 2) != 0,
                                       .drop_delete = (bits & 4) != 0,
                                       .has_ages = true};
            run_world world = {.batch_rows = (uint32_t)(number % 3)};
            merge_setup setup;
            char text[MERGE_TEXT_BYTES];
            test_runs runs;

            numbered_runs(number, run_count, ages, &runs);
            merge_setup_init(&setup, &world, &runs);
            cr_assert(both_engines_match(&setup, &runs, &rules, text),
                      "%zu runs number %llu rules %u: %s", run_count, (unsigned long long)number,
                      bits, text);
            test_runs_fini(&runs);
        }
    }
}

Test(merge_loser_tree, every_small_input_of_up_to_three_runs_is_merged_as_the_model_says)
{
    static const uint32_t ages[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};

    for (size_t run_count = 1; run_count <= 3; run_count++) {
        for (size_t i = 0; i < 3; i++) {
            try_all(run_count, ages[i], run_count < 3 ? 1 : 3);
        }
    }
}

Test(merge_loser_tree, every_small_input_of_four_runs_is_merged_as_the_model_says)
{
    static const uint32_t ages[] = {2, 0, 3, 1};

    try_all(4, ages, 5);
}

static void
try_shape(uint64_t seed, const test_shape *shape)
{
    test_rng rng = {seed};
    const model_rules rules = rules_random(&rng);
    run_world world = world_random(&rng);
    merge_setup setup;
    char text[MERGE_TEXT_BYTES];
    test_runs runs;

    test_runs_random(&rng, shape, &runs);
    merge_setup_init(&setup, &world, &runs);
    setup.capacity = test_rng_chance(&rng, 30) ? 1 : 0;
    setup.seed = seed;
    cr_assert(both_engines_match(&setup, &runs, &rules, text), "seed %llu: %s",
              (unsigned long long)seed, text);
    test_runs_fini(&runs);
}

Test(merge_loser_tree, random_runs_are_merged_as_the_model_says)
{
    for (uint64_t seed = 1; seed <= case_count(6000); seed++) {
        test_rng rng = {seed * 7919};
        test_shape shape;

        test_shape_random(&rng, &shape);
        try_shape(seed, &shape);
    }
}

Test(merge_loser_tree, long_stretches_of_one_run_are_merged_as_the_model_says)
{
    for (uint64_t seed = 1; seed <= case_count(60); seed++) {
        test_rng rng = {seed * 104729};
        test_shape shape = {.run_count = 1 + (size_t)test_rng_below(&rng, 6),
                            .rows_max = 6000,
                            .files_per_run = 2,
                            .key_space = 20000,
                            .sequence_space = 3,
                            .value_max = 10,
                            .retract_percent = 20,
                            .dropped_percent = test_rng_chance(&rng, 30) ? 1 : 0,
                            .stretches = true,
                            .keys = (test_keys)(seed % TEST_KEYS_LONG),
                            .key_width = 4};

        try_shape(seed, &shape);
    }
}

Test(merge_loser_tree, six_hundred_runs_are_merged_as_the_model_says)
{
    static const size_t counts[] = {600, 599, 513, 512, 257, 256, 129, 65, 33, 17};

    for (uint64_t seed = 0; seed < sizeof counts / sizeof counts[0]; seed++) {
        const test_shape shape = {.run_count = counts[seed],
                                  .rows_max = 30,
                                  .files_per_run = 1,
                                  .key_space = 1000,
                                  .sequence_space = 2,
                                  .value_max = 10,
                                  .retract_percent = 20,
                                  .keys = TEST_KEYS_VARIABLE};

        try_shape(seed, &shape);
    }
}

Test(merge_loser_tree, keys_of_up_to_a_mebibyte_are_merged_as_the_model_says)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const test_shape shape = {.run_count = 3,
                                  .rows_max = 12,
                                  .files_per_run = 1,
                                  .key_space = 24,
                                  .sequence_space = 2,
                                  .value_max = 10,
                                  .keys = TEST_KEYS_LONG};

        try_shape(seed, &shape);
    }
}
