/*
 * The merge as callers see it: chooses what to spill, opens the inputs, runs an engine, counts.
 */
#include "sinter/merge.h"

#include <string.h>

#include "base/alloc.h"
#include "base/load.h"
#include "io/io_base.h"
#include "merge/budget.h"
#include "merge/engine.h"
#include "merge/merge_function.h"
#include "merge/spill.h"

enum { OPEN_FILES_MAX = 512, OPEN_FILES_MIN = 2 };

struct sinter_merge {
    const sinter_env *env;
    sinter_merge_options options;
    sinter__spill *spill;
    sinter__input *inputs;
    size_t input_count;
    size_t run_count;
    sinter__engine *engine;
    sinter__sink sink;
    uint64_t records_out;
    bool is_at_end;
    uint64_t enough_bytes; /* a budget that is enough for all of the merge; 0: not known */
};

sinter_status
sinter__merge_name_budget(const sinter_merge *merge, sinter_status st, sinter_error *err)
{
    const uint64_t limit = sinter_memory_limit(merge->env->memory);

    if (st != SINTER_E_TOO_LARGE || merge->enough_bytes <= limit) {
        return st;
    }
    return SINTER__ERR(err, st,
                       "the memory budget of %llu bytes can't hold a merge of %zu runs: %llu are "
                       "enough",
                       (unsigned long long)limit, merge->run_count,
                       (unsigned long long)merge->enough_bytes);
}

void
sinter_merge_options_init(sinter_merge_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = (uint32_t)sizeof *options;
    options->sort_engine = SINTER_SORT_LOSER_TREE;
    options->spill_codec = SINTER_CODEC_ZSTD;
    options->spill_codec_level = 1;
}

static uint64_t
memory_left(const sinter_env *env)
{
    return sinter_memory_limit(env->memory) - sinter_memory_used(env->memory);
}

/* How many runs may stay on their data files, if memory is no matter. */
static size_t
direct_max(size_t count, const sinter_merge_options *options)
{
    const uint32_t files = options->open_files_max == 0 ? OPEN_FILES_MAX : options->open_files_max;
    const uint32_t threshold = options->spill_threshold == 0 ? files : options->spill_threshold;
    size_t direct = threshold < files ? threshold : files;

    if (options->spill_dir == NULL || count <= direct) {
        return count;
    }
    /* The file of the spilled runs is one more. */
    direct = direct == files ? direct - 1 : direct;
    return direct < OPEN_FILES_MIN ? OPEN_FILES_MIN : direct;
}

/* Better to refuse than to fill a disk that others write to as well. What runs take in a spill file
 * isn't known before; their own size is what there is to go by. */
static sinter_status
check_free_space(const sinter_merge *merge, const sinter_merge_input *inputs,
                 const size_t *positions, size_t count, sinter_error *err)
{
    sinter_io *io = merge->env->io;
    uint64_t wanted = 0;
    uint64_t left = 0;
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(wanted, inputs[positions[i]].estimated_bytes, &wanted)) {
            wanted = UINT64_MAX;
        }
    }
    st = sinter__io_free_bytes(io, merge->options.spill_dir, &left, err);
    if (st == SINTER_OK && left < wanted) {
        return SINTER__ERR_AT(err, SINTER_E_NO_SPACE, merge->options.spill_dir, -1,
                              "spilling %zu runs takes about %llu bytes, and %llu are free: free "
                              "some, choose another spill directory or raise the memory budget; no "
                              "data is lost",
                              count, (unsigned long long)wanted, (unsigned long long)left);
    }
    return st == SINTER_END ? SINTER_OK : st;
}

static sinter_status
spill_inputs(sinter_merge *merge, const sinter_merge_input *inputs, const size_t *positions,
             size_t count, sinter_error *err)
{
    const sinter__spill_options options = {
        .dir = merge->options.spill_dir,
        .codec = merge->options.spill_codec,
        .codec_level = merge->options.spill_codec_level,
        .is_cancelled = merge->options.is_cancelled,
        .cancel_ctx = merge->options.cancel_ctx,
        .space = merge->options.spill_space,
    };

    SINTER__CHECK(check_free_space(merge, inputs, positions, count, err));
    SINTER__CHECK(sinter__spill_create(merge->env, &options, &merge->spill, err));
    for (size_t i = 0; i < count; i++) {
        const sinter_merge_input *input = &inputs[positions[i]];
        sinter_reader *reader = NULL;
        sinter_status st = input->open(input->ctx, merge->env, &reader, err);

        if (st == SINTER_OK) {
            st = sinter__spill_run(merge->spill, reader, input->has_versions, &merge->sink.counters,
                                   err);
            reader->ops->close(reader);
        }
        SINTER__CHECK(st);
    }
    return SINTER_OK;
}

static sinter_status
open_direct(sinter_merge *merge, const sinter_merge_input *inputs, const size_t *positions,
            size_t count, sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const sinter_merge_input *input = &inputs[positions[i]];

        merge->inputs[i].is_multi = input->has_versions;
        SINTER__CHECK(input->open(input->ctx, merge->env, &merge->inputs[i].reader, err));
    }
    return SINTER_OK;
}

static sinter_status
open_spilled(sinter_merge *merge, size_t direct_count, sinter_error *err)
{
    const size_t count = sinter__spill_run_count(merge->spill);

    merge->input_count = direct_count + count;
    for (size_t i = 0; i < count; i++) {
        sinter__input *input = &merge->inputs[direct_count + i];

        input->is_multi = sinter__spill_run_is_multi(merge->spill, i);
        SINTER__CHECK(sinter__spill_open(merge->spill, i, &input->reader, err));
    }
    return SINTER_OK;
}

/* What is left of `left` for blocks of spilled runs, once everything else has its share. */
static uint64_t
memory_for_spilled(const sinter_merge *merge, const sinter_merge_input *inputs,
                   const size_t *positions, size_t direct, uint64_t left)
{
    const uint64_t kept = merge->options.kept_back_bytes;

    left -= kept < left ? kept : left;
    for (size_t i = 0; i < direct; i++) {
        const uint64_t bytes = sinter__merge_reader_bytes(&inputs[positions[i]]);

        left -= bytes < left ? bytes : left;
    }
    return left;
}

/* Which runs are spilled: gives the number of those that are not, which come first in `order`. */
static size_t
plan_inputs(sinter_merge *merge, const sinter_merge_input *inputs, size_t count,
            const uint64_t *sizes, size_t *order)
{
    const sinter_env *env = merge->env;
    const sinter__merge_needs needs = {.inputs = inputs,
                                       .order = order,
                                       .count = count,
                                       .direct_max = direct_max(count, &merge->options),
                                       .options = &merge->options};
    sinter__merge_plan plan;
    uint64_t enough = 0;

    sinter_merge_spill_plan(sizes, count, 0, order);
    plan = sinter__merge_plan_memory(&needs, memory_left(env));
    if (plan.enough_bytes != 0 &&
        !__builtin_add_overflow(plan.enough_bytes, sinter_memory_used(env->memory), &enough) &&
        !__builtin_add_overflow(enough, merge->options.kept_back_later_bytes, &enough)) {
        merge->enough_bytes = enough;
    }
    if (merge->options.spill_dir == NULL || plan.spilled == 0) {
        for (size_t i = 0; i < count; i++) {
            order[i] = i;
        }
        return count;
    }
    return sinter_merge_spill_plan(sizes, count, (uint32_t)(count - plan.spilled), order);
}

static sinter_status
open_inputs(sinter_merge *merge, const sinter_merge_input *inputs, size_t count, sinter_error *err)
{
    const sinter_env *env = merge->env;
    uint64_t *sizes = NULL;
    size_t *positions = NULL;
    size_t direct = count;
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(env, sizes, count, err));
    SINTER__TRY(SINTER__NEW(env, positions, count, err));
    SINTER__TRY(SINTER__NEW(env, merge->inputs, count, err));
    for (size_t i = 0; i < count; i++) {
        sizes[i] = inputs[i].estimated_bytes;
    }
    direct = plan_inputs(merge, inputs, count, sizes, positions);
    if (direct < count) {
        /* Before the writer of the spill file takes its part, which it gives back. */
        const uint64_t left = memory_left(env);
        const uint64_t spilled = memory_for_spilled(merge, inputs, positions, direct, left);

        SINTER__TRY(spill_inputs(merge, inputs, positions + direct, count - direct, err));
        SINTER__TRY(sinter__spill_fit(merge->spill, spilled, left, err));
    }
    merge->input_count = direct;
    SINTER__TRY(open_direct(merge, inputs, positions, direct, err));
    if (direct < count) {
        SINTER__TRY(open_spilled(merge, direct, err));
    }
out:
    sinter__free(env, positions);
    sinter__free(env, sizes);
    return st;
}

static sinter_status
create_engine(sinter_merge *merge, sinter_error *err)
{
    const sinter_merge_options *options = &merge->options;
    const sinter__block_gate gate = {options->accepts_block, options->accepts_ctx};

    for (size_t i = 0; i < merge->input_count; i++) {
        merge->inputs[i].is_cancelled = options->is_cancelled;
        merge->inputs[i].cancel_ctx = options->cancel_ctx;
    }
    if (merge->input_count == 1 && merge->inputs[0].is_multi) {
        return sinter__lone_input_create(merge->env, merge->inputs, &merge->engine, err);
    }
    /* Bare runs: the tree decides ties whichever engine was asked for (spec 1), so that both give
     * the same records. */
    if (!options->has_ages) {
        return sinter__record_tree_create(merge->env, merge->inputs, merge->input_count,
                                          &merge->engine, err);
    }
    if (options->sort_engine == SINTER_SORT_MIN_HEAP) {
        return sinter__min_heap_create(merge->env, merge->inputs, merge->input_count,
                                       &merge->engine, err);
    }
    return sinter__loser_tree_create(merge->env, merge->inputs, merge->input_count, gate,
                                     &merge->engine, err);
}

static sinter_status
check_arguments(const sinter_merge_input *inputs, size_t count, const sinter_merge_options *options,
                sinter_error *err)
{
    SINTER__REQUIRE(err, inputs != NULL || count == 0);
    SINTER__REQUIRE(err, count <= UINT32_MAX);
    SINTER__REQUIRE(err, options->sort_engine == SINTER_SORT_LOSER_TREE ||
                             options->sort_engine == SINTER_SORT_MIN_HEAP);
    SINTER__REQUIRE(err, options->spill_threshold != 1);
    for (size_t i = 0; i < count; i++) {
        SINTER__REQUIRE(err, inputs[i].open != NULL);
    }
    return SINTER_OK;
}

sinter_status
sinter_merge_open(const sinter_env *env, const sinter_merge_input *inputs, size_t count,
                  const sinter_merge_options *given, sinter_merge **out, sinter_error *err)
{
    sinter_merge_options options;
    sinter_merge *merge = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, given != NULL);
    sinter_merge_options_init(&options);
    SINTER__CHECK(
        sinter__struct_load(&options, sizeof options, given, "sinter_merge_options", err));
    SINTER__CHECK(check_arguments(inputs, count, &options, err));
    SINTER__TRY(SINTER__NEW(env, merge, 1, err));
    merge->env = env;
    merge->options = options;
    merge->sink.function =
        options.function == NULL ? sinter_merge_deduplicate(false) : options.function;
    merge->sink.keeps_newest = sinter__is_deduplicate(merge->sink.function);
    merge->sink.drop_delete = options.drop_delete;
    merge->sink.has_ages = options.has_ages;
    merge->run_count = count;
    SINTER__TRY(sinter__merge_name_budget(merge, open_inputs(merge, inputs, count, err), err));
    SINTER__TRY(create_engine(merge, err));
    *out = merge;
    merge = NULL;
out:
    sinter_merge_close(merge);
    return st;
}

sinter_status
sinter_merge_next(sinter_merge *merge, sinter_range *ranges, size_t capacity, size_t *count_out,
                  sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, merge != NULL && ranges != NULL && count_out != NULL && capacity > 0);
    *count_out = 0;
    if (merge->is_at_end) {
        return SINTER_END;
    }
    if (merge->options.is_cancelled != NULL &&
        merge->options.is_cancelled(merge->options.cancel_ctx)) {
        return SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled while merging");
    }
    if (merge->sink.function->ops->recycle != NULL) {
        merge->sink.function->ops->recycle(merge->sink.function);
    }
    merge->sink.ranges = ranges;
    merge->sink.capacity = capacity;
    merge->sink.count = 0;
    st = merge->engine->ops->fill(merge->engine, &merge->sink, err);
    merge->is_at_end = st == SINTER_END;
    if (st == SINTER_OK) {
        assert(merge->sink.count > 0);
        for (size_t i = 0; i < merge->sink.count; i++) {
            merge->records_out += ranges[i].count;
        }
        *count_out = merge->sink.count;
    }
    return sinter__merge_name_budget(merge, st, err);
}

void
sinter_merge_counters_get(const sinter_merge *merge, sinter_merge_counters *out)
{
    sinter_merge_counters counters = merge->sink.counters;

    counters.records_out = merge->records_out;
    counters.keys = merge->records_out + merge->sink.keys_lost;
    if (merge->spill != NULL) {
        counters.spilled_bytes = sinter__spill_bytes(merge->spill);
        counters.spill_passes = sinter__spill_passes(merge->spill);
    }
    sinter__struct_store(out, &counters, sizeof counters);
}

void
sinter_merge_close(sinter_merge *merge)
{
    if (merge == NULL) {
        return;
    }
    if (merge->engine != NULL) {
        merge->engine->ops->destroy(merge->engine);
    }
    for (size_t i = 0; i < merge->input_count; i++) {
        if (merge->inputs[i].reader != NULL) {
            merge->inputs[i].reader->ops->close(merge->inputs[i].reader);
        }
    }
    sinter__spill_destroy(merge->spill);
    sinter__free(merge->env, merge->sink.group);
    sinter__free(merge->env, merge->inputs);
    sinter__free(merge->env, merge);
}
