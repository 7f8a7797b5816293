/*
 * Merge functions, called directly and through a merge (spec/compaction.md 14.4, 14.5).
 */
#include <criterion/criterion.h>

#include "merge_cases.h"

enum { VERSIONS_MAX = 5 };

/* `count` versions of one key, oldest first, with the kinds that `number` says (two bits each). */
static void
versions(uint32_t number, uint32_t count, uint8_t *kinds, sinter_batch *batch, sinter_row *rows)
{
    *batch = (sinter_batch){.struct_size = sizeof *batch, .row_count = count, .kinds = kinds};
    for (uint32_t i = 0; i < count && i < VERSIONS_MAX; i++, number /= 4) {
        kinds[i] = (uint8_t)(number % 4);
        rows[i] = (sinter_row){batch, i};
    }
}

static void
reduce_all(sinter_merge_function *function, bool keeps_first, bool ignore_delete)
{
    for (uint32_t count = 2; count <= VERSIONS_MAX; count++) {
        for (uint32_t number = 0; number < 1u << (2 * count); number++) {
            uint8_t kinds[VERSIONS_MAX];
            sinter_row rows[VERSIONS_MAX];
            sinter_batch batch;
            sinter_row out = {NULL, 99};
            sinter_error err = SINTER_ERROR_INIT;
            sinter_status wanted = SINTER_END;
            uint32_t wanted_row = 99;
            sinter_status st = SINTER_OK;

            versions(number, count, kinds, &batch, rows);
            for (uint32_t i = 0; i < count && wanted != SINTER_E_RETRACT; i++) {
                const bool is_retract =
                    kinds[i] == SINTER_KIND_DELETE || kinds[i] == SINTER_KIND_UPDATE_BEFORE;

                if (is_retract && ignore_delete) {
                    continue;
                }
                if (is_retract && keeps_first) {
                    wanted = SINTER_E_RETRACT;
                } else if (!keeps_first || wanted == SINTER_END) {
                    wanted = SINTER_OK;
                    wanted_row = i;
                }
            }
            st = function->ops->reduce(function, rows, count, &out, &err);
            cr_assert_eq(st, wanted, "kinds %x of %u: %s", number, count, sinter_status_name(st));
            cr_assert(st != SINTER_OK || (out.batch == &batch && out.index == wanted_row));
            cr_assert(st != SINTER_E_RETRACT || err.status == SINTER_E_RETRACT);
        }
    }
}

Test(merge_merge_function, deduplicate_keeps_the_last_version)
{
    reduce_all(sinter_merge_deduplicate(false), false, false);
}

Test(merge_merge_function, deduplicate_with_ignore_delete_keeps_the_last_add)
{
    reduce_all(sinter_merge_deduplicate(true), false, true);
}

Test(merge_merge_function, first_row_keeps_the_first_version_and_refuses_retracts)
{
    reduce_all(sinter_merge_first_row(false), true, false);
}

Test(merge_merge_function, first_row_with_ignore_delete_keeps_the_first_add)
{
    reduce_all(sinter_merge_first_row(true), true, true);
}

static test_runs
two_runs(test_record a, test_record b)
{
    test_runs runs = {0};

    a.origin = 0;
    b.origin = 1;
    test_runs_add(&runs, &a, 1);
    test_runs_add(&runs, &b, 1);
    return runs;
}

static test_record
kind_of(const char *key, uint8_t kind, int64_t sequence)
{
    return (test_record){
        .key = test_text(key), .value = test_text("v"), .kind = kind, .sequence = sequence};
}

static void
merge_by(const test_runs *runs, sinter_merge_function *function, bool drop_delete, int engine,
         merged *out)
{
    run_world world = {0};
    merge_setup setup;

    merge_setup_init(&setup, &world, runs);
    setup.options.function = function;
    setup.options.has_ages = true;
    setup.options.drop_delete = drop_delete;
    setup.options.sort_engine = engine;
    merge_run(&setup, runs, out);
    cr_assert_not(out->has_complaint, "%s", out->complaint);
}

Test(merge_merge_function, a_lone_retract_stays_although_deletes_are_ignored)
{
    sinter_merge_function *const functions[] = {sinter_merge_deduplicate(true),
                                                sinter_merge_first_row(true),
                                                sinter_merge_first_row(false)};
    test_runs runs =
        two_runs(kind_of("a", SINTER_KIND_DELETE, 1), kind_of("b", SINTER_KIND_UPDATE_BEFORE, 2));

    for (size_t i = 0; i < 6; i++) {
        merged result;

        merge_by(&runs, functions[i / 2], false, (int)(i % 2), &result);
        cr_expect_eq(result.status, SINTER_OK, "function %zu", i / 2);
        cr_expect_eq(result.count, 2, "function %zu", i / 2);
        merged_fini(&result);
    }
    test_runs_fini(&runs);
}

Test(merge_merge_function, two_retracts_of_a_key_make_it_vanish_when_deletes_are_ignored)
{
    test_runs runs =
        two_runs(kind_of("a", SINTER_KIND_DELETE, 1), kind_of("a", SINTER_KIND_UPDATE_BEFORE, 2));

    for (int engine = 0; engine < 2; engine++) {
        merged result;

        merge_by(&runs, sinter_merge_deduplicate(true), false, engine, &result);
        cr_expect_eq(result.status, SINTER_OK);
        cr_expect_eq(result.count, 0);
        cr_expect_eq(result.counters.records_in, 2);
        merged_fini(&result);
    }
    test_runs_fini(&runs);
}

Test(merge_merge_function, update_before_is_dropped_like_delete)
{
    test_runs runs =
        two_runs(kind_of("a", SINTER_KIND_UPDATE_BEFORE, 1), kind_of("b", SINTER_KIND_DELETE, 2));

    for (int engine = 0; engine < 2; engine++) {
        merged result;

        merge_by(&runs, NULL, true, engine, &result);
        cr_expect_eq(result.count, 0);
        cr_expect_eq(result.counters.deleted, 2);
        merged_fini(&result);
    }
    test_runs_fini(&runs);
}

/* A function of a user: joins the values of all versions in a batch of its own. */
typedef struct join_function {
    sinter_merge_function base;
    run_world world;
    test_record joined[64]; /* results not yet recycled */
    sinter_reader *readers[64];
    size_t live;
    size_t live_max;
    size_t recycled;
    size_t destroyed;
    size_t fail_at; /* the call that fails, from 1; 0: none */
    size_t calls;
    bool has_wrong_order;
    test_pool pool;
} join_function;

static sinter_status
join_reduce(sinter_merge_function *base, const sinter_row *rows, size_t count, sinter_row *out,
            sinter_error *err)
{
    join_function *join = (join_function *)base;
    test_record *record = &join->joined[join->live];
    uint8_t *value = test_pool_take(&join->pool, count);
    test_run run = {record, 1};
    const sinter_batch *batch = NULL;

    if (++join->calls == join->fail_at) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "told to fail");
    }
    cr_assert_lt(join->live, 64, "results aren't recycled");
    for (size_t i = 0; i < count; i++) {
        const sinter_row *row = &rows[i];

        value[i] = row->batch->payload_ops->value(row->batch, row->index).data[0];
        join->has_wrong_order =
            join->has_wrong_order || (i > 0 && row->batch->sequences[row->index] <
                                                   rows[i - 1].batch->sequences[rows[i - 1].index]);
    }
    *record = (test_record){
        .key = test_pool_copy(&join->pool, sinter_batch_key(rows[0].batch, rows[0].index)),
        .value = {value, count},
        .sequence = rows[count - 1].batch->sequences[rows[count - 1].index]};
    SINTER__CHECK(run_reader_open(&join->world, &run, 0, &join->readers[join->live], err));
    SINTER__CHECK(join->readers[join->live]->ops->next(join->readers[join->live], &batch, err));
    join->live++;
    join->live_max = join->live > join->live_max ? join->live : join->live_max;
    *out = (sinter_row){batch, 0};
    return SINTER_OK;
}

static void
join_recycle(sinter_merge_function *base)
{
    join_function *join = (join_function *)base;

    for (size_t i = 0; i < join->live; i++) {
        join->readers[i]->ops->close(join->readers[i]);
    }
    join->live = 0;
    join->recycled++;
}

static const sinter_merge_function_ops join_ops = {
    .struct_size = sizeof(sinter_merge_function_ops),
    .name = "join",
    .reduce = join_reduce,
    .recycle = join_recycle,
};

static void
join_begin(join_function *join)
{
    *join = (join_function){.base.ops = &join_ops};
    join->world.key_width = UINT32_MAX;
}

static void
join_end(join_function *join)
{
    join_recycle(&join->base);
    cr_expect_eq(join->world.live_readers, 0);
    cr_expect_not(join->has_wrong_order, "versions came in the wrong order");
    test_pool_fini(&join->pool);
}

/* Runs whose values are one letter: the run's. All share the keys "0".."9" with gaps. */
static void
letter_runs(test_rng *rng, size_t run_count, test_runs *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

    *out = (test_runs){0};
    for (size_t r = 0; r < run_count; r++) {
        static const uint8_t digits[] = "0123456789";
        test_record records[10];
        size_t count = 0;

        for (size_t k = 0; k < 10; k++) {
            if (test_rng_chance(rng, 60)) {
                records[count++] = (test_record){.key = {digits + k, 1},
                                                 .value = {(const uint8_t *)letters + r, 1},
                                                 .sequence = (int64_t)test_rng_below(rng, 5),
                                                 .origin = (uint32_t)r};
            }
        }
        test_runs_add(out, records, count);
    }
}

/* What joining gives, by the model's order. */
static void
check_joined(const test_runs *runs, const merged *result, uint64_t seed)
{
    test_pool pool = {0};
    size_t count = 0;
    const test_record **all = model_sort(runs, &pool, &count);
    size_t at = 0;

    for (size_t i = 0, end = 0; i < count; i = end, at++) {
        char value[27] = "";

        for (end = i; end < count && test_bytes_equal(all[end]->key, all[i]->key); end++) {
            value[end - i] = (char)all[end]->value.data[0];
        }
        cr_assert(at < result->count && test_bytes_equal(result->records[at].key, all[i]->key) &&
                      test_bytes_equal(result->records[at].value, test_text(value)),
                  "seed %llu: key %zu isn't \"%s\"", (unsigned long long)seed, at, value);
    }
    cr_assert_eq(at, result->count, "seed %llu", (unsigned long long)seed);
    test_pool_fini(&pool);
}

Test(merge_merge_function, a_function_of_the_caller_sees_all_versions_oldest_first)
{
    for (uint64_t seed = 1; seed <= case_count(400); seed++) {
        test_rng rng = {seed * 49979687};
        join_function join;
        test_runs runs;
        merged result;

        letter_runs(&rng, 1 + (size_t)test_rng_below(&rng, 20), &runs);
        join_begin(&join);
        merge_by(&runs, &join.base, false, (int)(seed % 2), &result);
        cr_assert_eq(result.status, SINTER_OK);
        check_joined(&runs, &result, seed);
        cr_assert(join.calls == 0 || join.recycled > 0, "results were never given back");
        merged_fini(&result);
        join_end(&join);
        test_runs_fini(&runs);
    }
}

Test(merge_merge_function, a_failure_of_the_function_ends_the_merge_with_its_own_words)
{
    test_rng rng = {5};
    test_runs runs;

    letter_runs(&rng, 6, &runs);
    for (size_t fail_at = 1; fail_at <= 5; fail_at++) {
        join_function join;
        merged result;

        join_begin(&join);
        join.fail_at = fail_at;
        merge_by(&runs, &join.base, false, (int)(fail_at % 2), &result);
        cr_expect_eq(result.status, SINTER_E_OVERFLOW);
        cr_expect_neq((void *)strstr(result.err.text, "told to fail"), NULL, "%s", result.err.text);
        merged_fini(&result);
        join_end(&join);
    }
    test_runs_fini(&runs);
}
