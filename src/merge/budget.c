/*
 * With k runs spilled a merge takes first what spilling the hungriest of them takes, then one block
 * of each spilled run and a whole reader of each other one, beside what its user keeps back. The
 * k that takes least is what a refusal names: merging spilled runs beforehand may do with less, but
 * how much less depends on how many versions their keys have.
 */
#include "merge/budget.h"

#include <assert.h>

#include "merge/spill.h"

enum { MEMORY_BYTES_UNKNOWN = 1024 * 1024 };

static uint64_t
sum_of(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t
sinter__merge_reader_bytes(const sinter_merge_input *input)
{
    return input->memory_bytes == 0 ? MEMORY_BYTES_UNKNOWN : input->memory_bytes;
}

/** Sums over the runs that are spilled. */
typedef struct spilled_sums {
    uint64_t spilling; /* the hungriest reader beside the writer of the spill file */
    uint64_t blocks;
    uint64_t shared; /* by all readers of the spill file */
} spilled_sums;

static void
add_spilled(spilled_sums *sums, const sinter_merge_input *input,
            const sinter_merge_options *options)
{
    sinter__spill_footprint spill;

    sinter__spill_measure(options->spill_codec, options->spill_codec_level, input->block_bytes,
                          input->block_rows, &spill);
    sums->spilling =
        larger(sums->spilling, sum_of(sinter__merge_reader_bytes(input), spill.writer_bytes));
    sums->blocks = sum_of(sums->blocks, spill.block_bytes);
    sums->shared = larger(sums->shared, spill.shared_bytes);
}

sinter__merge_plan
sinter__merge_plan_memory(const sinter__merge_needs *needs, uint64_t left_bytes)
{
    sinter__merge_plan plan = {.spilled = needs->count, .enough_bytes = UINT64_MAX};
    spilled_sums spilled = {0, 0, 0};
    bool is_known = true;
    bool is_chosen = false;
    uint64_t direct = 0;

    assert(needs->direct_max <= needs->count);
    for (size_t i = 0; i < needs->count; i++) {
        direct = sum_of(direct, sinter__merge_reader_bytes(&needs->inputs[i]));
        is_known = is_known && needs->inputs[i].block_bytes != 0;
    }
    for (size_t k = 0; k <= needs->count; k++) {
        const uint64_t merging = sum_of(sum_of(direct, sum_of(spilled.blocks, spilled.shared)),
                                        needs->options->kept_back_bytes);
        const uint64_t needed = larger(merging, spilled.spilling);

        if (k >= needs->count - needs->direct_max) {
            plan.enough_bytes = needed < plan.enough_bytes ? needed : plan.enough_bytes;
            plan.spilled = !is_chosen && needed <= left_bytes ? k : plan.spilled;
            is_chosen = is_chosen || needed <= left_bytes;
        }
        if (needs->options->spill_dir == NULL) {
            break;
        }
        if (k < needs->count) {
            const sinter_merge_input *input = &needs->inputs[needs->order[k]];

            direct -= direct == UINT64_MAX ? 0 : sinter__merge_reader_bytes(input);
            add_spilled(&spilled, input, needs->options);
        }
    }
    plan.enough_bytes = is_known ? plan.enough_bytes : 0;
    return plan;
}
