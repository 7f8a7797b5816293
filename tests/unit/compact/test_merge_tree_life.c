/*
 * Lives of merge trees: writes, flushes, compactions, commits that succeed, fail or linger,
 * restarts, cancels and faults at random, with background work that is done when the seed says so.
 * After every step a read shows what a model holds. One thread does it all, so a seed repeats a
 * life exactly:
 *
 *     SINTER_TEST_SEED=N build/dev/tests/unit/compact/test_compact_merge_tree_life
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "files.h"
#include "support/tree_bed.h"

enum { TREES_MAX = 3, STEPS = 70, KEPT_MAX = 256, HELD_MAX = 4, PREPARED_MAX = 3 };

/** Keeps what it is given until the seed says to run it. */
typedef struct dice_executor {
    test_rng *rng;
    uint32_t refuse_percent;
    size_t count;
    void (*work[KEPT_MAX])(void *arg);
    void *args[KEPT_MAX];
} dice_executor;

/** A set that a reader holds, and what it has to show. */
typedef struct held_set {
    const sinter_file_set *set;
    bed_state state;
} held_set;

/** An increment that is neither in the catalog nor given back, and what the catalog shows with it.
 */
typedef struct prepared {
    sinter_increment *increment;
    bed_state state;
} prepared;

typedef struct tree_life {
    tree_bed bed;
    held_set held[HELD_MAX];
    prepared prepared[PREPARED_MAX];
    size_t prepared_count;
} tree_life;

typedef struct sim {
    uint64_t seed;
    test_rng rng;
    dice_executor executor;
    sinter_env env;
    sinter_io *memory;
    sinter_io *fault;
    sinter_scheduler *scheduler; /* NULL: compactions run in the call */
    tree_life trees[TREES_MAX];
    size_t tree_count;
    bool has_faults;
    bool is_paused;
    uint64_t compactions, failures, restarts, commits, returns;
} sim;

static sim s;

/* ---- background ---- */

static sinter_status
keep(void *ctx, void (*work)(void *arg), void *arg)
{
    dice_executor *executor = ctx;

    if (executor->count == KEPT_MAX || test_rng_chance(executor->rng, executor->refuse_percent)) {
        return SINTER_E_BUSY;
    }
    executor->work[executor->count] = work;
    executor->args[executor->count++] = arg;
    return SINTER_OK;
}

static void
run_kept(size_t at_most)
{
    dice_executor *executor = &s.executor;

    for (; executor->count > 0 && at_most > 0; at_most--) {
        const size_t i = (size_t)test_rng_below(&s.rng, executor->count);
        void (*work)(void *arg) = executor->work[i];
        void *arg = executor->args[i];

        executor->count--;
        executor->work[i] = executor->work[executor->count];
        executor->args[i] = executor->args[executor->count];
        work(arg);
    }
}

/* ---- beginning and end ---- */

static void
draw_options(tree_bed *bed)
{
    static const char *const triggers[] = {"1", "2", "3", "5"};
    static const char *const targets[] = {"1 kb", "4 kb", "20 kb", "1 mb"};
    static const char *const ratios[] = {"0", "0.3", "0.7", "1.0"};
    static const char *const yes_no[] = {"false", "true"};
    test_rng *rng = &s.rng;

    bed_set(bed, "num-sorted-run.compaction-trigger", triggers[test_rng_below(rng, 4)]);
    bed_set(bed, "target-file-size", targets[test_rng_below(rng, 4)]);
    bed_set(bed, "compaction.small-file-ratio", ratios[test_rng_below(rng, 4)]);
    bed_set(bed, "compaction.force-up-level-0", yes_no[test_rng_chance(rng, 25)]);
    bed_set(bed, "commit.force-compact", yes_no[test_rng_chance(rng, 15)]);
    bed_set(bed, "write-buffer-spillable", yes_no[test_rng_chance(rng, 50)]);
    bed_set(bed, "write-buffer-size", test_rng_chance(rng, 50) ? "200 kb" : "1 mb");
    bed_set(bed, "sort-engine", test_rng_chance(rng, 50) ? "min-heap" : "loser-tree");
    bed->options.codec = (int32_t)test_rng_below(rng, 3);
    bed->options.block_bytes = 200 + (uint32_t)test_rng_below(rng, 3000);
    bed->value_bytes = 8 + (size_t)test_rng_below(rng, test_rng_chance(rng, 20) ? 4000 : 60);
}

static void
open_tree(tree_bed *bed)
{
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(bed_open(bed, &err), SINTER_OK, "seed %" PRIu64 ": %s", s.seed, err.text);
}

static void
begin(uint64_t seed)
{
    static const char *const dirs[] = {"bucket-0", "bucket-1", "bucket-2"};
    const sinter_fault_options works = {.struct_size = sizeof works, .at_call = UINT64_MAX};

    memset(&s, 0, sizeof s);
    s.seed = seed;
    s.rng.state = seed * 0x9e3779b97f4a7c15u;
    s.has_faults = test_rng_chance(&s.rng, 50);
    s.tree_count = 1 + (size_t)test_rng_below(&s.rng, TREES_MAX);
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &s.memory, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), s.memory, &works, &s.fault, NULL),
                 SINTER_OK);
    for (size_t i = 0; i < s.tree_count; i++) {
        bed_init(&s.trees[i].bed, s.memory, dirs[i]);
    }
    s.env = s.trees[0].bed.env;
    s.env.io = s.fault;
    if (test_rng_chance(&s.rng, 70)) {
        s.executor =
            (dice_executor){.rng = &s.rng, .refuse_percent = test_rng_chance(&s.rng, 30) ? 40 : 0};
        s.env.executor = (sinter_executor){
            .struct_size = sizeof s.env.executor, .ctx = &s.executor, .submit = keep};
    }
    if (test_rng_chance(&s.rng, 75)) {
        const sinter_scheduler_options options = {
            .struct_size = sizeof options,
            .when_full = (int32_t)test_rng_below(&s.rng, 2) * SINTER_QUEUE_RUN_IN_CALLER,
            .tasks_max = 1 + (uint32_t)test_rng_below(&s.rng, 3),
            .queue_max = (uint32_t)test_rng_below(&s.rng, 3)};

        cr_assert_eq(sinter_scheduler_create(&s.env, &options, &s.scheduler, NULL), SINTER_OK);
    }
    for (size_t i = 0; i < s.tree_count; i++) {
        tree_bed *bed = &s.trees[i].bed;

        draw_options(bed);
        if (test_rng_chance(&s.rng, 20)) {
            bed_set(bed, "merge-engine", "first-row");
            bed_set(bed, "ignore-delete", "true");
        }
        bed->env = s.env;
        bed->config.scheduler = s.scheduler;
        bed->seed = seed;
        open_tree(bed);
    }
}

static void
set_fault(sinter_fault_kind kind, uint64_t at_call)
{
    const sinter_fault_options rule = {
        .struct_size = sizeof rule, .kind = kind, .at_call = at_call};

    sinter_io_fault_set(s.fault, &rule);
}

/* A reader that held a set reads it, and lets go. */
static void
release_set(tree_life *tree, held_set *held)
{
    if (held->set != NULL) {
        bed_expect_set(&tree->bed, held->set, &held->state, "a set that was held");
        sinter_file_set_release(held->set);
        held->set = NULL;
    }
}

/* The commits failed for sure: give back the last of what was prepared, until `left` are left. */
static void
give_back(tree_life *tree, size_t left)
{
    while (tree->prepared_count > left) {
        cr_assert_eq(sinter_merge_tree_return(
                         tree->bed.tree, tree->prepared[--tree->prepared_count].increment, NULL),
                     SINTER_OK);
        s.returns++;
    }
}

static void
end(void)
{
    set_fault(SINTER_FAULT_NONE, UINT64_MAX);
    if (s.is_paused) {
        sinter_scheduler_resume(s.scheduler);
    }
    for (size_t i = 0; i < s.tree_count; i++) {
        tree_bed *bed = &s.trees[i].bed;
        sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};

        for (size_t h = 0; h < HELD_MAX; h++) {
            release_set(&s.trees[i], &s.trees[i].held[h]);
        }
        give_back(&s.trees[i], 0);
        sinter_merge_tree_metrics_get(bed->tree, &metrics);
        s.compactions += metrics.compactions_completed;
        bed_close(bed);
        bed_expect_catalog(bed, "closed");
        if (!s.has_faults) {
            bed_expect_names(bed, "closed");
        }
        bed_fini(bed, false);
    }
    run_kept(SIZE_MAX);
    sinter_scheduler_destroy(s.scheduler);
    sinter_io_destroy(s.fault);
    sinter_io_destroy(s.memory);
}

/* ---- steps ---- */

static sinter_status
write_rows(tree_bed *bed, sinter_error *err)
{
    const uint64_t rows = 1 + test_rng_below(&s.rng, 80);
    const uint32_t space = 1 + (uint32_t)test_rng_below(&s.rng, BED_KEYS);
    sinter_status st = SINTER_OK;

    for (uint64_t i = 0; st == SINTER_OK && i < rows; i++) {
        st = bed_write(bed, (uint32_t)test_rng_below(&s.rng, space),
                       (uint8_t)(test_rng_chance(&s.rng, 30) ? test_rng_below(&s.rng, 4) : 0), err);
    }
    return st;
}

/* Bring all that was prepared into the catalog at once. */
static sinter_status
swap_catalog(tree_life *tree, sinter_error *err)
{
    tree_bed *bed = &tree->bed;
    sinter_status first_failure = SINTER_OK;

    for (size_t i = 0; i < tree->prepared_count; i++) {
        bed_apply(bed, tree->prepared[i].increment);
        bed->catalog.state = tree->prepared[i].state;
        bed_expect_catalog(bed, "committed");
    }
    for (size_t i = 0; i < tree->prepared_count; i++) {
        const sinter_status st =
            sinter_merge_tree_committed(bed->tree, tree->prepared[i].increment, err);

        first_failure = first_failure == SINTER_OK ? st : first_failure;
        sinter_increment_destroy(tree->prepared[i].increment);
    }
    tree->prepared_count = 0;
    s.commits++;
    return first_failure;
}

/* A commit that is done, fails for sure, or takes its time while writing goes on. */
static sinter_status
commit(tree_life *tree, sinter_error *err)
{
    prepared *last = &tree->prepared[tree->prepared_count];
    const bool may_linger = tree->prepared_count + 1 < PREPARED_MAX;

    SINTER__CHECK(bed_prepare(&tree->bed, test_rng_chance(&s.rng, 50), &last->increment, err));
    last->state = tree->bed.flushed;
    tree->prepared_count++;
    if (may_linger && test_rng_chance(&s.rng, 25)) {
        return SINTER_OK;
    }
    if (test_rng_chance(&s.rng, 30)) {
        give_back(tree, (size_t)test_rng_below(&s.rng, tree->prepared_count));
        return SINTER_OK;
    }
    if (tree->prepared_count > 1 && test_rng_chance(&s.rng, 30)) {
        give_back(tree, tree->prepared_count - 1);
        return swap_catalog(tree, err);
    }
    SINTER__CHECK(swap_catalog(tree, err));
    bed_expect_same_files(&tree->bed);
    return SINTER_OK;
}

static sinter_status
hold_or_release(tree_life *tree)
{
    held_set *held = &tree->held[test_rng_below(&s.rng, HELD_MAX)];

    if (held->set != NULL) {
        release_set(tree, held);
    } else {
        held->set = sinter_merge_tree_acquire(tree->bed.tree);
        held->state = tree->bed.flushed;
    }
    return SINTER_OK;
}

/* Close without a commit, and start from the catalog. */
static sinter_status
restart(tree_life *tree, sinter_error *err)
{
    const bool is_unsure = test_rng_chance(&s.rng, 50);

    for (size_t h = 0; h < HELD_MAX; h++) {
        release_set(tree, &tree->held[h]);
    }
    set_fault(SINTER_FAULT_NONE, UINT64_MAX);
    if (is_unsure) { /* nobody knew what became of the commits; they weren't done */
        for (size_t i = 0; i < tree->prepared_count; i++) {
            sinter_increment_destroy(tree->prepared[i].increment);
        }
        tree->prepared_count = 0;
    }
    give_back(tree, 0);
    bed_close(&tree->bed);
    if (!s.has_faults && !is_unsure) {
        bed_expect_names(&tree->bed, "closed with increments given back");
    }
    bed_clean(&tree->bed);
    s.restarts++;
    draw_options(&tree->bed);
    return bed_open(&tree->bed, err);
}

static sinter_status
background(tree_bed *bed)
{
    const uint64_t what = test_rng_below(&s.rng, 12);

    if (what < 6) {
        run_kept(1 + (size_t)test_rng_below(&s.rng, 4));
    } else if (s.scheduler == NULL) {
        sinter_merge_tree_cancel(bed->tree);
    } else if (what < 8) {
        const sinter_status st = sinter_scheduler_run_one(s.scheduler);

        cr_assert(st == SINTER_OK || st == SINTER_END);
    } else if (what < 9) {
        sinter_merge_tree_cancel(bed->tree);
    } else if (what < 10) {
        sinter_scheduler_cancel_all(s.scheduler);
    } else {
        s.is_paused = !s.is_paused;
        if (s.is_paused) {
            sinter_scheduler_pause(s.scheduler);
        } else {
            sinter_scheduler_resume(s.scheduler);
        }
    }
    return SINTER_OK;
}

static sinter_status
step_of(tree_life *tree, sinter_error *err)
{
    const uint64_t what = test_rng_below(&s.rng, 100);
    tree_bed *bed = &tree->bed;

    if (what < 35) {
        return write_rows(bed, err);
    }
    if (what < 52) {
        return bed_flush(bed, err);
    }
    if (what < 60) {
        return bed_compact(bed, test_rng_chance(&s.rng, 40), err);
    }
    if (what < 72) {
        return commit(tree, err);
    }
    if (what < 80) {
        return hold_or_release(tree);
    }
    if (what < 83) {
        return restart(tree, err);
    }
    if (what < 86 && s.has_faults) {
        set_fault(test_rng_chance(&s.rng, 50) ? SINTER_FAULT_EIO : SINTER_FAULT_ENOSPC,
                  test_rng_below(&s.rng, 40));
        return SINTER_OK;
    }
    return background(bed);
}

static bool
is_expected(sinter_status st)
{
    return st == SINTER_OK || (s.has_faults && (st == SINTER_E_IO || st == SINTER_E_NO_SPACE)) ||
           (s.scheduler != NULL && st == SINTER_E_BUSY);
}

static void
live(uint64_t seed)
{
    begin(seed);
    for (int step = 0; step < STEPS; step++) {
        tree_life *tree = &s.trees[test_rng_below(&s.rng, s.tree_count)];
        sinter_error err = SINTER_ERROR_INIT;
        char label[32];
        sinter_status st = SINTER_OK;

        (void)snprintf(label, sizeof label, "step %d", step);
        tree->bed.label = label;
        st = step_of(tree, &err);
        cr_assert(is_expected(st), "seed %" PRIu64 ", step %d: %s: %s (%s)", seed, step,
                  sinter_status_name(st), err.text, err.file);
        s.failures += st != SINTER_OK;
        for (size_t i = 0; i < s.tree_count; i++) {
            bed_expect_view(&s.trees[i].bed, label);
        }
    }
    end();
}

Test(compact_merge_tree_life, whatever_happens_a_read_shows_what_was_flushed)
{
    const char *only = getenv("SINTER_TEST_SEED");
    const uint64_t cases = scaled_cases(200);
    uint64_t compactions = 0;
    uint64_t failures = 0;
    uint64_t restarts = 0;
    uint64_t commits = 0;
    uint64_t returns = 0;

    if (only != NULL) {
        live(strtoull(only, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= cases; seed++) {
        live(seed);
        compactions += s.compactions;
        failures += s.failures;
        restarts += s.restarts;
        commits += s.commits;
        returns += s.returns;
    }
    printf("%" PRIu64 " lives: %" PRIu64 " compactions, %" PRIu64 " failures, %" PRIu64
           " restarts, %" PRIu64 " commits, %" PRIu64 " increments given back\n",
           cases, compactions, failures, restarts, commits, returns);
    cr_expect(compactions > 100 && failures > 50 && restarts > 100 && commits > 500 &&
              returns > 200);
}
