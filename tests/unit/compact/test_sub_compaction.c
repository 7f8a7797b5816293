/*
 * Rewrites that are cut by key range: the same records come out, in one sorted run, however many
 * parts and threads there are.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>

#include "fault_alloc.h"
#include "world.h"

TestSuite(compact_sub_compaction, .timeout = 200);
TestSuite(field_faults, .timeout = 60);

enum { UNIT_MAX = 64, OUTPUTS_MAX = 512 };

static const model_rules newest = {
    .engine = MODEL_DEDUPLICATE, .drop_delete = true, .has_ages = true};

static int64_t
noon(void *ctx)
{
    (void)ctx;
    return 43200000;
}

/* A bucket whose rewrites are cut into up to `parts` of at least `part_bytes`. */
static void
cut_world(world *w, uint32_t parts, uint64_t part_bytes, const sinter_allocator *allocator)
{
    world_init(w, false, allocator);
    w->env.clock.wall_ms = noon; /* the world's own clock is for one thread */
    w->write.block_bytes = 1024;
    w->options.block_bytes = 1024;
    w->options.sub_compactions = parts;
    w->options.target_file_bytes = part_bytes;
    w->options.memory_bytes = (uint64_t)1 << 32;
}

static void
add_random_files(world *w, test_rng *rng)
{
    const size_t files = 2 + test_rng_below(rng, 6);
    int64_t sequence = 0;

    for (size_t f = 0; f < files; f++) {
        const unsigned first = (unsigned)test_rng_below(rng, 3000);
        const unsigned step = 1 + (unsigned)test_rng_below(rng, 5);
        const unsigned count = 1 + (unsigned)test_rng_below(rng, 700);

        world_add_rows(w, 0, first, step, count, sequence, test_rng_below(rng, 60));
        sequence += count;
    }
}

static void
full_task(world *w, sinter_file_meta *unit, sinter_compact_task *task)
{
    world_task(w, NULL, 0, unit, task);
    task->output_level = 5;
    task->drop_delete = true;
}

static uint64_t
rows_of(const sinter_file_meta *files, size_t count)
{
    uint64_t rows = 0;

    for (size_t i = 0; i < count; i++) {
        rows += files[i].row_count;
    }
    return rows;
}

static void
check_result(const world *w, const sinter_compact_result *result, const char *when)
{
    const sinter_file_list *after = sinter_compact_result_after(result);
    const sinter_compact_counters *counters = sinter_compact_result_counters(result);
    size_t decision_count = 0;
    const sinter_file_decision *decisions =
        sinter_compact_result_decisions(result, &decision_count);
    uint64_t rows_in = 0;
    uint64_t rows_out = 0;

    cr_assert_eq(sinter_files_check(&w->env, after->files, after->count, NULL), SINTER_OK, "%s",
                 when);
    for (size_t i = 0; i < after->count; i++) {
        rows_out += after->files[i].upgraded_from < 0 ? after->files[i].row_count : 0;
        cr_assert(i == 0 ||
                      test_bytes_compare(after->files[i - 1].max_key, after->files[i].min_key) < 0,
                  "%s: files are told in key order", when);
    }
    for (size_t i = 0; i < decision_count; i++) {
        rows_in +=
            decisions[i].action == SINTER_ACTION_REWRITTEN ? decisions[i].file->row_count : 0;
    }
    cr_assert_eq(counters->merge.records_in, rows_in, "%s", when);
    cr_assert_eq(counters->merge.records_out, rows_out, "%s", when);
}

Test(compact_sub_compaction, any_cut_gives_what_the_model_gives)
{
    size_t cut_cases = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        test_rng rng = {seed};
        const uint32_t parts = 1 + (uint32_t)test_rng_below(&rng, 9);
        const uint32_t threads = (uint32_t)test_rng_below(&rng, 4);
        sinter_file_meta unit[UNIT_MAX];
        sinter_compact_result *result = NULL;
        sinter_compact_task task;
        sinter_pool *pool = NULL;
        char when[64];
        world w;

        (void)snprintf(when, sizeof when, "seed %llu", (unsigned long long)seed);
        cut_world(&w, parts, 1 + test_rng_below(&rng, 20000), NULL);
        add_random_files(&w, &rng);
        if (threads > 0) {
            cr_assert_eq(sinter_pool_create(&w.env, threads, 64, &pool, NULL), SINTER_OK);
            w.env.executor = sinter_pool_executor(pool);
        }
        full_task(&w, unit, &task);
        cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK, "%s", when);
        check_result(&w, result, when);
        cut_cases += sinter_compact_result_after(result)->count > 1 && parts > 1;
        world_apply(&w, result);
        world_expect_model(&w, &newest, when);
        sinter_compact_result_destroy(result);
        sinter_pool_destroy(pool);
        world_fini(&w);
    }
    cr_assert_gt(cut_cases, 20, "only %zu cases were cut", cut_cases);
}

/* Run the same task with so many threads; names and bytes of the new files. */
static size_t
outputs_with(uint32_t parts, uint32_t threads, test_pool *keep, sinter_bytes *names,
             sinter_bytes *contents)
{
    test_rng rng = {77};
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_result *result = NULL;
    const sinter_file_list *after = NULL;
    sinter_compact_task task;
    sinter_pool *pool = NULL;
    size_t count = 0;
    world w;

    cut_world(&w, parts, 3000, NULL);
    w.options.block_bytes = 200; /* many blocks beside */
    w.env.random_seed = 5;
    add_random_files(&w, &rng);
    if (threads > 0) {
        cr_assert_eq(sinter_pool_create(&w.env, threads, 64, &pool, NULL), SINTER_OK);
        w.env.executor = sinter_pool_executor(pool);
    }
    full_task(&w, unit, &task);
    cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
    after = sinter_compact_result_after(result);
    cr_assert(after->count > 2 && after->count <= OUTPUTS_MAX);
    for (; count < after->count; count++) {
        names[count] = test_pool_copy(keep, test_text(after->files[count].file_name));
        contents[count] = test_pool_copy(keep, world_content(&w, after->files[count].file_name));
    }
    sinter_compact_result_destroy(result);
    sinter_pool_destroy(pool);
    world_fini(&w);
    return count;
}

static void
check_bytes(uint32_t parts)
{
    static sinter_bytes names[2][OUTPUTS_MAX];
    static sinter_bytes contents[2][OUTPUTS_MAX];
    test_pool keep = {0};
    const size_t count = outputs_with(parts, 0, &keep, names[0], contents[0]);

    for (uint32_t threads = 1; threads <= 5; threads += 2) {
        cr_assert_eq(outputs_with(parts, threads, &keep, names[1], contents[1]), count);
        for (size_t i = 0; i < count; i++) {
            cr_assert(test_bytes_equal(names[0][i], names[1][i]), "%u threads", threads);
            cr_assert(test_bytes_equal(contents[0][i], contents[1][i]), "%u threads", threads);
        }
    }
    test_pool_fini(&keep);
}

Test(compact_sub_compaction, bytes_do_not_depend_on_the_number_of_threads)
{
    check_bytes(6);
    check_bytes(1); /* then only blocks are encoded beside */
}

/* F7: a part that gets one block of the large file and nothing else still writes its rows. */
Test(field_faults, f07_no_part_of_a_file_is_planned_away)
{
    for (uint32_t parts = 1; parts <= 24; parts++) {
        sinter_file_meta unit[UNIT_MAX];
        sinter_compact_result *result = NULL;
        sinter_compact_task task;
        world w;

        cut_world(&w, parts, 1, NULL);
        world_add_rows(&w, 0, 0, 10, 120, 0, 90);   /* 11 blocks */
        world_add_rows(&w, 0, 600, 10, 2, 1000, 9); /* whose keys the large file has too */
        full_task(&w, unit, &task);
        cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK, "%u parts", parts);
        check_result(&w, result, "f07");
        cr_assert_eq(sinter_compact_result_counters(result)->merge.records_out, 120);
        world_apply(&w, result);
        world_expect_model(&w, &newest, "f07");
        sinter_compact_result_destroy(result);
        world_fini(&w);
    }
}

Test(compact_sub_compaction, parts_without_rows_make_no_file)
{
    static test_record deletes[600];
    static char keys[600][9];
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    world w;

    cut_world(&w, 8, 1, NULL);
    world_add_rows(&w, 0, 0, 1, 1000, 0, 40);
    for (unsigned i = 0; i < 600; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "%08u", i + 100);
        deletes[i] = world_delete(keys[i], 5000 + i);
    }
    world_add(&w, 0, deletes, 600);
    full_task(&w, unit, &task);
    cr_assert_eq(world_compact(&w, &task, NULL), SINTER_OK);
    cr_assert_eq(rows_of(w.files, w.count), 400);
    for (size_t i = 0; i < w.count; i++) {
        cr_expect_gt(w.files[i].row_count, 0);
    }
    world_expect_model(&w, &newest, "deletes");
    world_fini(&w);
}

Test(compact_sub_compaction, keys_that_begin_alike_for_long_are_left_together)
{
    static uint8_t keys[40][400];
    test_record records[2][40];
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_task task;
    world w;

    cut_world(&w, 8, 1, NULL);
    for (int f = 0; f < 2; f++) {
        for (unsigned i = 0; i < 40; i++) {
            memset(keys[i], 'k', sizeof keys[i]);
            keys[i][399] = (uint8_t)i;
            records[f][i] = world_record("", f * 40 + (int64_t)i, "v");
            records[f][i].key = (sinter_bytes){keys[i], sizeof keys[i]};
        }
        world_add(&w, 0, records[f], 40);
    }
    full_task(&w, unit, &task);
    cr_assert_eq(world_compact(&w, &task, NULL), SINTER_OK);
    cr_assert_eq(rows_of(w.files, w.count), 40);
    world_expect_model(&w, &newest, "alike");
    world_fini(&w);
}

Test(compact_sub_compaction, a_small_budget_is_not_cut_into_pieces)
{
    sinter_file_meta unit[UNIT_MAX];
    sinter_compact_result *result = NULL;
    sinter_compact_task task;
    world w;

    cut_world(&w, 8, 1, NULL);
    w.options.target_file_bytes = 1 << 20;
    w.options.memory_bytes = 20 << 20;
    world_add_rows(&w, 0, 0, 1, 3000, 0, 90);
    world_add_rows(&w, 0, 0, 2, 1500, 9000, 90);
    w.options.target_file_bytes = 1000;
    full_task(&w, unit, &task);
    cr_assert_eq(world_run(&w, &task, &result, NULL), SINTER_OK);
    /* the shares of parts would have been taken from the budget beforehand: 15 MiB */
    cr_expect_lt(sinter_compact_result_counters(result)->memory_peak_bytes, 10 << 20);
    check_result(&w, result, "small budget");
    sinter_compact_result_destroy(result);
    world_fini(&w);
}

/* ---- failures ---- */

static void
three_files(world *w)
{
    world_add_rows(w, 0, 0, 3, 150, 0, 60);
    world_add_rows(w, 0, 1, 2, 200, 1000, 60);
    world_add_rows(w, 0, 200, 1, 150, 2000, 60);
}

Test(compact_sub_compaction, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    uint64_t n = 0;

    for (; st != SINTER_OK; n++) {
        sinter_file_meta unit[UNIT_MAX];
        sinter_compact_result *result = NULL;
        sinter_compact_task task;
        fault_alloc fault;
        world w;

        cut_world(&w, 3, 2000, NULL);
        three_files(&w);
        full_task(&w, unit, &task);
        fault_alloc_init(&fault, n);
        w.env.allocator = fault.env.allocator;
        st = world_run(&w, &task, &result, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %llu: %s",
                  (unsigned long long)n, sinter_status_name(st));
        if (st != SINTER_OK) {
            cr_assert_eq(world_name_count(&w), 3, "allocation %llu", (unsigned long long)n);
        }
        sinter_compact_result_destroy(result);
        cr_assert_eq(fault.live, 0, "allocation %llu", (unsigned long long)n);
        world_fini(&w);
    }
    cr_assert_gt(n, 100);
}

Test(compact_sub_compaction, every_io_call_may_fail_on_any_thread)
{
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        sinter_status st = SINTER_E_IO;
        uint64_t n = 0;

        for (; st != SINTER_OK; n++) {
            const sinter_fault_options rule = {
                .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
            sinter_file_meta unit[UNIT_MAX];
            sinter_compact_result *result = NULL;
            sinter_compact_task task;
            sinter_pool *pool = NULL;
            sinter_io *faulty = NULL;
            world w;

            cut_world(&w, 3, 2000, NULL);
            three_files(&w);
            full_task(&w, unit, &task);
            cr_assert_eq(sinter_io_fault_create(&w.env, w.io, &rule, &faulty, NULL), SINTER_OK);
            w.env.io = faulty;
            if (threads > 0) {
                cr_assert_eq(sinter_pool_create(&w.env, threads, 8, &pool, NULL), SINTER_OK);
                w.env.executor = sinter_pool_executor(pool);
            }
            st = world_run(&w, &task, &result, NULL);
            cr_assert(st == SINTER_OK || st == SINTER_E_IO, "call %llu: %s", (unsigned long long)n,
                      sinter_status_name(st));
            if (st != SINTER_OK) {
                cr_assert_eq(world_name_count(&w), 3, "call %llu", (unsigned long long)n);
            }
            sinter_compact_result_destroy(result);
            sinter_pool_destroy(pool);
            sinter_io_destroy(faulty);
            world_fini(&w);
        }
        cr_assert_gt(n, 30);
    }
}

typedef struct patience {
    atomic_int left;
} patience;

static bool
has_lost_patience(void *ctx)
{
    patience *p = ctx;

    return atomic_fetch_sub(&p->left, 1) <= 0;
}

Test(compact_sub_compaction, a_cancelled_task_leaves_nothing)
{
    sinter_status st = SINTER_E_CANCELLED;
    int asks = 0;

    for (; st != SINTER_OK; asks++) {
        patience p = {asks};
        sinter_file_meta unit[UNIT_MAX];
        sinter_compact_result *result = NULL;
        sinter_compact_task task;
        sinter_pool *pool = NULL;
        world w;

        cut_world(&w, 3, 2000, NULL);
        three_files(&w);
        full_task(&w, unit, &task);
        task.is_cancelled = has_lost_patience;
        task.cancel_ctx = &p;
        cr_assert_eq(sinter_pool_create(&w.env, 2, 8, &pool, NULL), SINTER_OK);
        w.env.executor = sinter_pool_executor(pool);
        st = world_run(&w, &task, &result, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_CANCELLED, "%s", sinter_status_name(st));
        if (st != SINTER_OK) {
            cr_assert_eq(world_name_count(&w), 3, "cancelled at ask %d", asks);
        }
        sinter_compact_result_destroy(result);
        sinter_pool_destroy(pool);
        world_fini(&w);
    }
    cr_assert_gt(asks, 5);
}
