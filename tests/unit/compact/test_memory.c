/*
 * Compaction under a memory budget that can't hold all runs at once: blocks of one huge value.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sinter/sst.h"
#include "world.h"

TestSuite(compact_memory, .timeout = 240);

enum { UNIT_MAX = 32, MIB = 1 << 20 };

static const model_rules newest = {
    .engine = MODEL_DEDUPLICATE, .drop_delete = true, .has_ages = true};

/** What a bucket is made of. */
typedef struct big_values {
    int codec;
    unsigned runs;
    unsigned rows;
    size_t bytes;
    bool is_noise; /* no codec makes it smaller */
} big_values;

static void
add_runs(world *w, const big_values *shape)
{
    uint8_t *same = test_pool_take(&w->pool, shape->bytes);

    memset(same, 'x', shape->bytes);
    w->write.codec = shape->codec;
    w->options.codec = shape->codec;
    for (unsigned r = 0; r < shape->runs; r++) {
        test_record records[8];

        if (shape->is_noise) {
            world_add_rows(w, 0, r % 3, 3, shape->rows, 1 + 100 * (int64_t)r, shape->bytes);
            continue;
        }
        cr_assert_leq(shape->rows, 8);
        for (unsigned i = 0; i < shape->rows; i++) {
            char key[16];

            (void)snprintf(key, sizeof key, "%08u", r % 3 + 3 * i);
            records[i] = (test_record){.key = test_pool_copy(&w->pool, test_text(key)),
                                       .value = {same, shape->bytes - r},
                                       .sequence = 1 + 100 * (int64_t)r + i,
                                       .kind = SINTER_KIND_INSERT};
        }
        world_add(w, 0, records, shape->rows);
    }
}

/** Compact the whole bucket; never more than the budget is held. */
static sinter_status
compact_within(world *w, uint64_t budget, sinter_error *err)
{
    const sinter_env env = w->env;
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    sinter_status st = SINTER_OK;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), budget, &w->env.memory, NULL),
                 SINTER_OK);
    world_task(w, NULL, 0, unit, &task);
    task.output_level = 5;
    task.drop_delete = true;
    st = world_compact(w, &task, err);
    cr_assert_eq(sinter_memory_used(w->env.memory), 0);
    cr_assert_leq(sinter_memory_peak(w->env.memory), budget);
    sinter_memory_destroy(w->env.memory);
    w->env = env;
    return st;
}

/** The budget that a refusal says is enough; 0: it says none. */
static uint64_t
named_budget(const sinter_error *err)
{
    const char *end = strstr(err->text, " are enough");
    const char *begin = end;
    uint64_t bytes = 0;

    while (begin != NULL && begin > err->text && begin[-1] >= '0' && begin[-1] <= '9') {
        begin--;
    }
    if (begin != NULL) {
        cr_assert_eq(sscanf(begin, "%" SCNu64, &bytes), 1, "%s", err->text);
    }
    return bytes;
}

/** Compact with a budget that works, or with one that is too small and then what is named. */
static void
expect_compaction(const big_values *shape, uint64_t budget, bool is_enough)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    uint64_t named = 0;
    world w;

    world_init(&w, false, NULL);
    add_runs(&w, shape);
    st = compact_within(&w, budget, &err);
    if (is_enough) {
        cr_assert_eq(st, SINTER_OK, "codec %d, budget %" PRIu64 ": %s", shape->codec, budget,
                     err.text);
    } else {
        cr_assert_eq(st, SINTER_E_TOO_LARGE, "codec %d, budget %" PRIu64, shape->codec, budget);
        cr_assert_eq(w.count, shape->runs, "a refused task leaves all as it was");
        named = named_budget(&err);
        cr_assert_gt(named, budget, "%s", err.text);
        err = (sinter_error)SINTER_ERROR_INIT;
        cr_assert_eq(compact_within(&w, named, &err), SINTER_OK,
                     "codec %d, budget %" PRIu64 ", which was named: %s", shape->codec, named,
                     err.text);
    }
    cr_expect_eq(w.count, 1);
    world_expect_model(&w, &newest, "after the compaction");
    world_fini(&w);
}

static void
try_codec(int codec, bool is_noise)
{
    const big_values four = {codec, 10, 2, 4 * MIB, is_noise};
    const big_values one = {codec, 20, 3, MIB, is_noise};

    expect_compaction(&four, 64 * MIB, true);
    expect_compaction(&four, 60 * MIB, true);
    expect_compaction(&four, 8 * MIB, false);
    expect_compaction(&one, 64 * MIB, true);
    expect_compaction(&one, 24 * MIB, true);
    expect_compaction(&one, 2 * MIB, false);
}

Test(compact_memory, runs_of_huge_values_are_spilled_where_the_budget_asks_for_it_without_codec)
{
    try_codec(SINTER_CODEC_NONE, true);
}

Test(compact_memory, runs_of_huge_values_are_spilled_where_the_budget_asks_for_it_with_zstd)
{
    try_codec(SINTER_CODEC_ZSTD, true);
}

Test(compact_memory, runs_of_huge_values_are_spilled_where_the_budget_asks_for_it_with_lz4)
{
    if (sinter_codec_is_built_in(SINTER_CODEC_LZ4)) {
        try_codec(SINTER_CODEC_LZ4, true);
    }
}

Test(compact_memory, values_that_are_huge_only_when_decoded_are_no_different)
{
    try_codec(SINTER_CODEC_ZSTD, false);
}
