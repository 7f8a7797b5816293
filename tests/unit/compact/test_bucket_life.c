/*
 * The life of a bucket: flushes and compactions at random, and after each a read that has to give
 * what a model makes of everything ever written (field-faults, rule 1).
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "world.h"

static const model_rules newest = {
    .engine = MODEL_DEDUPLICATE, .drop_delete = true, .has_ages = true};

/** How a bucket is driven. */
typedef struct life {
    test_rng rng;
    world w;
    model_rules rules;
    int64_t sequence;
    int64_t sequence_max;
    int64_t sequence_floor; /* what came before was compacted, and its deletes may be gone */
    unsigned key_space;
    uint64_t seed;
} life;

static void
draw_options(life *l)
{
    test_rng *rng = &l->rng;
    sinter_compact_options *o = &l->w.options;

    o->sort_engine = (int32_t)test_rng_below(rng, 2);
    o->codec = (int32_t)test_rng_below(rng, 3);
    o->block_bytes = 50 + (uint32_t)test_rng_below(rng, 3000);
    o->target_file_bytes = 200 + test_rng_below(rng, 20000);
    o->small_file_ratio = (double)test_rng_below(rng, 11) / 10;
    o->sort_spill_threshold = test_rng_chance(rng, 40) ? 2 + (uint32_t)test_rng_below(rng, 4) : 0;
    o->spill_codec = (int32_t)test_rng_below(rng, 3);
    o->block_passthrough = !test_rng_chance(rng, 20);
    o->force_rewrite_all_files = test_rng_chance(rng, 10);
    o->filter_bits_per_key = test_rng_chance(rng, 30) ? 10 : 0;
    l->w.write.codec = o->codec;
    l->w.write.block_bytes = o->block_bytes;
    l->w.write.filter_bits_per_key = o->filter_bits_per_key;
    l->w.columnar.block_rows = 1 + (uint32_t)test_rng_below(rng, 20);
}

/* A flush: keys at random or side by side; sequences go on, or some come twice. */
static void
flush_rows(life *l)
{
    test_rng *rng = &l->rng;
    const size_t wanted = 1 + (size_t)test_rng_below(rng, 60);
    const bool is_stretch = test_rng_chance(rng, 40);
    unsigned next_key = (unsigned)test_rng_below(rng, l->key_space);
    test_record *records = calloc(wanted, sizeof *records);
    size_t count = 0;

    cr_assert_not_null(records);
    l->sequence = l->sequence_max;
    if (test_rng_chance(rng, 20)) {
        /* another writer began where we did */
        l->sequence -= (int64_t)test_rng_below(rng, 20);
        l->sequence = l->sequence < l->sequence_floor ? l->sequence_floor : l->sequence;
    }
    for (size_t i = 0; i < wanted; i++) {
        char key[16];
        uint8_t value[64] = {0};
        const size_t value_size = (size_t)test_rng_below(rng, sizeof value);

        next_key = is_stretch ? next_key + 1 : (unsigned)test_rng_below(rng, l->key_space);
        (void)snprintf(key, sizeof key, "%u", next_key);
        (void)snprintf((char *)value, sizeof value, "v%" PRId64, l->sequence);
        records[i] =
            (test_record){.key = test_pool_copy(&l->w.pool, test_text(key)),
                          .value = test_pool_copy(&l->w.pool, (sinter_bytes){value, value_size}),
                          .sequence = l->sequence++,
                          .kind = (uint8_t)(test_rng_chance(rng, 25) ? test_rng_below(rng, 4) : 0)};
        if (l->rules.engine == MODEL_FIRST_ROW && !l->rules.ignore_delete) {
            records[i].kind = SINTER_KIND_INSERT;
        }
    }
    l->sequence_max = l->sequence > l->sequence_max ? l->sequence : l->sequence_max;
    count = test_records_sort_unique(records, wanted);
    world_add(&l->w, 0, records, count);
    free(records);
}

/* A unit at random: any files that pass the check, or everything. */
static void
compact_some(life *l)
{
    test_rng *rng = &l->rng;
    world *w = &l->w;
    size_t places[256];
    size_t count = 0;
    const int32_t level = 1 + (int32_t)test_rng_below(rng, 5);
    const uint32_t percent = test_rng_chance(rng, 30) ? 100 : (uint32_t)test_rng_below(rng, 100);
    sinter_unit picked = {.struct_size = sizeof picked, .output_level = level, .max_level = 5};
    sinter_file_meta *unit = calloc(w->count + 1, sizeof *unit);
    sinter_compact_task task;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_not_null(unit);
    for (size_t i = 0; i < w->count && count < 256; i++) {
        if (w->files[i].level <= level && test_rng_chance(rng, percent)) {
            places[count++] = i;
        }
    }
    picked.drop_delete =
        sinter_unit_drops_deletes(w->files, w->count, level, false, test_rng_chance(rng, 10));
    picked.files = w->files;
    picked.count = w->count;
    picked.members = places;
    picked.member_count = count;
    if (sinter_unit_check(&w->env, &picked, NULL) == SINTER_OK) {
        world_task(w, places, count, unit, &task);
        task.output_level = level;
        task.drop_delete = picked.drop_delete;
        cr_assert_eq(world_compact(w, &task, &err), SINTER_OK, "seed %" PRIu64 ": %s: %s", l->seed,
                     sinter_status_name(err.status), err.text);
        cr_assert_eq(sinter_files_check(&w->env, w->files, w->count, &err), SINTER_OK,
                     "seed %" PRIu64 ": %s", l->seed, err.text);
        cr_assert_eq(world_name_count(w), w->count, "seed %" PRIu64, l->seed);
        l->sequence_floor = l->sequence_max + 1;
    }
    free(unit);
}

static void
live(uint64_t seed)
{
    char when[64];
    static life l;

    memset(&l, 0, sizeof l);
    l.seed = seed;
    l.rng.state = seed * 7919;
    world_init(&l.w, test_rng_chance(&l.rng, 25), NULL);
    l.key_space = 1 + (unsigned)test_rng_below(&l.rng, 300);
    l.sequence = (int64_t)test_rng_below(&l.rng, 1000) - 500;
    l.sequence_floor = l.sequence;
    l.sequence_max = l.sequence;
    l.rules = newest;
    if (test_rng_chance(&l.rng, 20)) {
        l.rules.engine = MODEL_FIRST_ROW;
        l.w.options.merge_engine = SINTER_MERGE_ENGINE_FIRST_ROW;
    }
    draw_options(&l);
    for (int step = 0; step < 12; step++) {
        if (test_rng_chance(&l.rng, 60)) {
            flush_rows(&l);
        } else {
            compact_some(&l);
        }
        if (test_rng_chance(&l.rng, 10)) {
            draw_options(&l);
        }
        (void)snprintf(when, sizeof when, "seed %" PRIu64 " step %d", seed, step);
        world_expect_model(&l.w, &l.rules, when);
    }
    world_fini(&l.w);
}

Test(compact_bucket_life, no_compaction_ever_changes_what_a_read_returns)
{
    for (uint64_t seed = 1; seed <= scaled_cases(400); seed++) {
        live(seed);
    }
}
