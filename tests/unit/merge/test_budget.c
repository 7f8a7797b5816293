#include "merge/budget.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "merge/spill.h"
#include "records.h"

TestSuite(merge_budget, .timeout = 60);

enum { MIB = 1 << 20, RUNS_MAX = 12 };

/** Runs of 12 MiB each while they are open, with blocks of 4 MiB. */
typedef struct case_of_runs {
    sinter_merge_input inputs[RUNS_MAX];
    size_t order[RUNS_MAX];
    sinter_merge_options options;
    sinter__merge_needs needs;
} case_of_runs;

static void
set_up(case_of_runs *c, size_t count)
{
    sinter_merge_options_init(&c->options);
    c->options.spill_dir = "spill";
    c->options.spill_codec = SINTER_CODEC_NONE;
    for (size_t i = 0; i < count; i++) {
        c->order[i] = i;
        c->inputs[i] =
            (sinter_merge_input){.memory_bytes = 12 * MIB, .block_bytes = 4 * MIB, .block_rows = 1};
    }
    c->needs = (sinter__merge_needs){.inputs = c->inputs,
                                     .order = c->order,
                                     .count = count,
                                     .direct_max = count,
                                     .options = &c->options};
}

Test(merge_budget, an_ample_budget_spills_nothing)
{
    case_of_runs c;

    set_up(&c, 4);
    cr_expect_eq(sinter__merge_plan_memory(&c.needs, 48 * MIB).spilled, 0);
    cr_expect_gt(sinter__merge_plan_memory(&c.needs, 48 * MIB - 1).spilled, 0);
    c.options.kept_back_bytes = 2;
    cr_expect_eq(sinter__merge_plan_memory(&c.needs, 48 * MIB + 2).spilled, 0);
    cr_expect_gt(sinter__merge_plan_memory(&c.needs, 48 * MIB + 1).spilled, 0);
}

Test(merge_budget, each_run_that_is_spilled_costs_a_block_instead_of_a_reader)
{
    sinter__merge_plan plan;
    case_of_runs c;

    set_up(&c, 10); /* 120 MiB; k spilled: (10 - k) * 12 + k * (4 and a bit) */
    plan = sinter__merge_plan_memory(&c.needs, 64 * MIB);
    cr_expect_eq(plan.spilled, 8, "%zu", plan.spilled);
    plan = sinter__merge_plan_memory(&c.needs, 100 * MIB);
    cr_expect_eq(plan.spilled, 3, "%zu", plan.spilled);
    /* All spilled: 40 MiB and a bit; a reader beside the spill writer is 12 + 8 and a bit. */
    cr_expect_gt(plan.enough_bytes, 40 * MIB);
    cr_expect_lt(plan.enough_bytes, 43 * MIB);
}

Test(merge_budget, runs_that_may_not_stay_are_spilled_whatever_the_budget)
{
    case_of_runs c;

    set_up(&c, 10);
    c.needs.direct_max = 4;
    cr_expect_eq(sinter__merge_plan_memory(&c.needs, UINT64_MAX).spilled, 6);
    c.needs.direct_max = 10;
    c.options.spill_dir = NULL;
    cr_expect_eq(sinter__merge_plan_memory(&c.needs, UINT64_MAX).enough_bytes, 120 * MIB);
}

Test(merge_budget, sums_that_pass_every_number_are_no_small_ones)
{
    case_of_runs c;

    set_up(&c, 3);
    for (size_t i = 0; i < 3; i++) {
        c.inputs[i].memory_bytes = UINT64_MAX - 5;
        c.inputs[i].block_bytes = UINT64_MAX;
        c.inputs[i].block_rows = UINT32_MAX;
    }
    cr_expect_eq(sinter__merge_plan_memory(&c.needs, 64 * MIB).spilled, 3);
    cr_expect_geq(sinter__merge_plan_memory(&c.needs, 64 * MIB).enough_bytes, UINT64_MAX - 5);
}

/** What k spilled runs take, straight from the description. */
static uint64_t
needed_with(const case_of_runs *c, size_t k)
{
    uint64_t merging = c->options.kept_back_bytes;
    uint64_t shared = 0;
    uint64_t spilling = 0;

    for (size_t i = 0; i < c->needs.count; i++) {
        const sinter_merge_input *input = &c->inputs[c->order[i]];
        sinter__spill_footprint spill;

        sinter__spill_measure(c->options.spill_codec, c->options.spill_codec_level,
                              input->block_bytes, input->block_rows, &spill);
        if (i >= k) {
            merging += sinter__merge_reader_bytes(input);
            continue;
        }
        merging += spill.block_bytes;
        shared = spill.shared_bytes > shared ? spill.shared_bytes : shared;
        if (sinter__merge_reader_bytes(input) + spill.writer_bytes > spilling) {
            spilling = sinter__merge_reader_bytes(input) + spill.writer_bytes;
        }
    }
    merging += shared;
    return merging > spilling ? merging : spilling;
}

static void
try_runs(uint64_t seed)
{
    test_rng rng = {seed * 86028121};
    const size_t count = 1 + (size_t)test_rng_below(&rng, RUNS_MAX);
    const uint64_t left = test_rng_below(&rng, 80 * MIB);
    size_t wanted = count;
    uint64_t enough = UINT64_MAX;
    bool is_known = true;
    sinter__merge_plan plan;
    case_of_runs c;

    set_up(&c, count);
    c.options.spill_codec = (int32_t)test_rng_below(&rng, 3);
    c.options.kept_back_bytes = test_rng_below(&rng, 8 * MIB);
    c.needs.direct_max = 1 + (size_t)test_rng_below(&rng, count);
    for (size_t i = 0; i < count; i++) {
        const size_t other = (size_t)test_rng_below(&rng, i + 1);

        c.inputs[i].memory_bytes = test_rng_below(&rng, 10) * MIB;
        c.inputs[i].block_bytes = test_rng_chance(&rng, 3) ? 0 : test_rng_below(&rng, 4 * MIB);
        c.inputs[i].block_rows = 1 + (uint32_t)test_rng_below(&rng, 100000);
        is_known = is_known && c.inputs[i].block_bytes != 0;
        c.order[i] = c.order[other];
        c.order[other] = i;
    }
    for (size_t k = count + 1; k-- > count - c.needs.direct_max;) {
        const uint64_t needed = needed_with(&c, k);

        enough = needed < enough ? needed : enough;
        wanted = needed <= left ? k : wanted;
    }
    plan = sinter__merge_plan_memory(&c.needs, left);
    cr_assert_eq(plan.spilled, wanted, "seed %" PRIu64 ": %zu, not %zu", seed, plan.spilled,
                 wanted);
    cr_assert_eq(plan.enough_bytes, is_known ? enough : 0, "seed %" PRIu64, seed);
    if (is_known) {
        plan = sinter__merge_plan_memory(&c.needs, enough);
        cr_assert_leq(needed_with(&c, plan.spilled), enough, "seed %" PRIu64, seed);
    }
}

Test(merge_budget, as_few_runs_are_spilled_as_a_budget_asks_for)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        try_runs(seed);
    }
}
