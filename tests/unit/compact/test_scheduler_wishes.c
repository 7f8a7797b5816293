/*
 * What people who run background compaction ask for, each with the check of its own: a limit on the
 * load (2), stop and pause (4), a memory cap that holds (5), fair order by need (8), bounded
 * background work (14). Clocks are simulated.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "support/told_strategy.h"
#include "support/tree_bed.h"
#include "support/watch_io.h"

TestSuite(compact_scheduler_wishes, .timeout = 60);

#define SECOND_NS INT64_C(1000000000)

static tree_bed bed;
static watch_io watch;
static sinter_error err;

/* A tree over a watched io with files to compact, and a scheduler. */
static sinter_scheduler *
begin(const sinter_scheduler_options *options, uint32_t files, size_t value_bytes)
{
    sinter_scheduler *scheduler = NULL;

    err = (sinter_error)SINTER_ERROR_INIT;
    bed_init(&bed, NULL, "bucket");
    watch_io_init(&watch, bed.memory);
    bed.env.io = &watch.base;
    bed.value_bytes = value_bytes;
    bed_set(&bed, "num-sorted-run.compaction-trigger", "1000");
    bed_set(&bed, "num-levels", "6");
    bed_set(&bed, "file.compression", "none");
    cr_assert_eq(sinter_scheduler_create(&bed.env, options, &scheduler, &err), SINTER_OK, "%s",
                 err.text);
    bed.config.scheduler = scheduler;
    cr_assert_eq(bed_open(&bed, &err), SINTER_OK, "%s", err.text);
    for (uint32_t f = 0; f < files; f++) {
        for (uint32_t i = 0; i < 100; i++) {
            bed_put(&bed, (i * 3 + f) % BED_KEYS);
        }
        cr_assert_eq(bed_commit(&bed, false, &err), SINTER_OK, "%s", err.text);
    }
    return scheduler;
}

static void
end(sinter_scheduler *scheduler)
{
    bed_close(&bed);
    bed_expect_names(&bed, "at the end");
    sinter_scheduler_destroy(scheduler);
    cr_expect_eq(watch.open_files, 0);
    bed_fini(&bed, true);
}

static sinter_manager *
manager(void)
{
    return sinter_merge_tree_manager(bed.tree);
}

static void
trigger(void)
{
    cr_assert_eq(sinter_manager_trigger(manager(), true, &err), SINTER_OK, "%s", err.text);
}

/* ---- wish 2: a limit on the load ---- */

enum { MOVES_MAX = 20000 };

/** Bytes that passed, and when. */
typedef struct moves {
    sinter_scheduler *scheduler;
    struct {
        int64_t at_ns;
        uint64_t bytes;
    } items[MOVES_MAX];
    size_t count;
    uint64_t bytes;
    uint64_t change_after; /* bytes; 0: never */
    uint64_t new_rate;
    int64_t changed_ns;
} moves;

static moves m;

static void
note_move(void *ctx, const watch_call *call)
{
    (void)ctx;
    if (call->op != WATCH_READ && call->op != WATCH_APPEND) {
        return;
    }
    cr_assert_lt(m.count, MOVES_MAX);
    m.items[m.count].at_ns = atomic_load(&bed.clock.now_ns);
    m.items[m.count++].bytes = call->size;
    m.bytes += call->size;
    if (m.change_after != 0 && m.bytes > m.change_after) {
        m.change_after = 0;
        m.changed_ns = atomic_load(&bed.clock.now_ns);
        cr_assert_eq(sinter_scheduler_set_rate(m.scheduler, m.new_rate, NULL), SINTER_OK);
    }
}

/* No second that begins within [from, to - 1 s] moves more than the rate and a tenth. */
static void
expect_rate(uint64_t rate, int64_t from_ns, int64_t to_ns)
{
    uint64_t largest = 0;
    uint64_t total = 0;
    double seconds = (double)(to_ns - from_ns) / (double)SECOND_NS;

    for (size_t i = 0; i < m.count; i++) {
        const int64_t start = m.items[i].at_ns;
        uint64_t sum = 0;

        if (start < from_ns || start >= to_ns) {
            continue;
        }
        total += m.items[i].bytes;
        for (size_t j = i;
             j < m.count && m.items[j].at_ns < start + SECOND_NS && m.items[j].at_ns < to_ns; j++) {
            sum += m.items[j].bytes;
        }
        largest = sum > largest ? sum : largest;
    }
    cr_expect_leq((double)largest, 1.1 * (double)rate, "%" PRIu64 " bytes in a second of %" PRIu64,
                  largest, rate);
    cr_expect_gt(seconds, 1.5, "too short to tell");
    cr_expect_geq((double)total / seconds, 0.8 * (double)rate, "%f a second",
                  (double)total / seconds);
}

Test(compact_scheduler_wishes, w02_reads_and_writes_of_all_tasks_stay_below_the_rate)
{
    const sinter_scheduler_options options = {.struct_size = sizeof options,
                                              .limit_mode = SINTER_IO_LIMIT_ALL,
                                              .bytes_per_second = 200000};
    sinter_scheduler *scheduler = begin(&options, 10, 1000);
    const int64_t begin_ns = atomic_load(&bed.clock.now_ns);
    sinter_scheduler_metrics metrics = {.struct_size = sizeof metrics};

    memset(&m, 0, sizeof m);
    m.scheduler = scheduler;
    m.change_after = 600000;
    m.new_rate = 50000;
    watch.after = note_move;
    trigger();
    cr_assert_eq(sinter_scheduler_run_one(scheduler), SINTER_OK);
    watch.after = NULL;
    cr_expect_gt(m.bytes, 1000000);
    expect_rate(200000, begin_ns, m.changed_ns);
    expect_rate(50000, m.changed_ns + SECOND_NS, atomic_load(&bed.clock.now_ns));
    sinter_scheduler_metrics_get(scheduler, &metrics);
    cr_expect_eq(metrics.read_bytes + metrics.written_bytes, m.bytes,
                 "what is counted is what the io moved");
    cr_expect_eq(metrics.bytes_per_second, 50000);
    cr_assert_eq(bed_commit(&bed, true, &err), SINTER_OK, "%s", err.text);
    bed_expect_view(&bed, "compacted slowly");
    end(scheduler);
}

Test(compact_scheduler_wishes, w02_flushes_are_not_slowed_down)
{
    const sinter_scheduler_options options = {
        .struct_size = sizeof options, .limit_mode = SINTER_IO_LIMIT_ALL, .bytes_per_second = 1000};
    sinter_scheduler *scheduler = begin(&options, 3, 1000);

    cr_expect_lt(atomic_load(&bed.clock.now_ns), 1010 * SECOND_NS, "300 KB at 1 KB a second");
    end(scheduler);
}

/** Cancels in the n-th sleep. */
typedef struct sleeper {
    unsigned slept;
    unsigned cancel_at;
    int64_t cancelled_ns;
} sleeper;

static void
cancel_in_sleep(void *ctx, int64_t ns)
{
    sleeper *s = ctx;

    (void)ns;
    if (++s->slept == s->cancel_at) {
        s->cancelled_ns = atomic_load(&bed.clock.now_ns);
        sinter_manager_cancel(manager());
    }
}

Test(compact_scheduler_wishes, w02_waiting_for_the_rate_reacts_to_cancel_at_once)
{
    const sinter_scheduler_options options = {
        .struct_size = sizeof options, .limit_mode = SINTER_IO_LIMIT_ALL, .bytes_per_second = 5000};

    for (unsigned at = 1; at < 20; at += 6) {
        sinter_scheduler *scheduler = begin(&options, 4, 1000);
        sleeper s = {.cancel_at = at};
        sinter_compact_result *result = NULL;
        const size_t names = bed_name_count(&bed);

        bed.clock.ctx = &s;
        bed.clock.slept = cancel_in_sleep;
        trigger();
        cr_assert_eq(sinter_scheduler_run_one(scheduler), SINTER_OK);
        bed.clock.slept = NULL;
        cr_assert_geq(s.slept, at);
        cr_expect_leq(atomic_load(&bed.clock.now_ns) - s.cancelled_ns, SECOND_NS / 10,
                      "it ends within 100 ms");
        cr_expect_eq(sinter_manager_take_result(manager(), true, &result, &err), SINTER_END);
        cr_expect_eq(bed_name_count(&bed), names);
        cr_expect_eq(sinter_scheduler_run_one(scheduler), SINTER_END, "it doesn't come back");
        end(scheduler);
    }
}

/* ---- wish 4: stop, cancel, pause, resume ---- */

/** Cancels at the n-th call. */
typedef struct canceller {
    uint64_t cancel_at;
    uint64_t calls;
    uint64_t moved_after; /* reads and appends that were begun afterwards */
} canceller;

static sinter_status
cancel_at_call(void *ctx, const watch_call *call, sinter_error *e)
{
    canceller *c = ctx;

    (void)e;
    if (c->calls > c->cancel_at && (call->op == WATCH_READ || call->op == WATCH_APPEND)) {
        c->moved_after++;
    }
    if (c->calls++ == c->cancel_at) {
        sinter_manager_cancel(manager());
    }
    return SINTER_OK;
}

Test(compact_scheduler_wishes, w04_a_task_ends_soon_after_a_cancel_at_any_call_and_leaves_nothing)
{
    bool was_met = true;
    uint64_t cancelled = 0;

    for (uint64_t n = 0; was_met; n++) {
        sinter_scheduler *scheduler = begin(NULL, 5, 300);
        sinter_scheduler_metrics metrics = {.struct_size = sizeof metrics};
        canceller c = {.cancel_at = n};
        sinter_compact_result *result = NULL;
        const size_t names = bed_name_count(&bed);
        sinter_status st = SINTER_OK;

        trigger();
        watch.ctx = &c;
        watch.before = cancel_at_call;
        cr_assert_eq(sinter_scheduler_run_one(scheduler), SINTER_OK);
        watch.before = NULL;
        was_met = c.calls > n;
        st = sinter_manager_take_result(manager(), true, &result, &err);
        sinter_compact_result_destroy(result);
        cr_assert(st == SINTER_OK || st == SINTER_END, "call %" PRIu64 ": %s", n, err.text);
        if (st == SINTER_END) {
            cancelled++;
            cr_assert_eq(bed_name_count(&bed), names, "call %" PRIu64 " left a file", n);
            cr_assert_leq(c.moved_after, 16, "call %" PRIu64 ": %" PRIu64 " reads and writes later",
                          n, c.moved_after);
        } else {
            /* too late: only the last file's end was to be written */
            cr_assert_leq(c.moved_after, 16, "call %" PRIu64 " was cancelled in vain", n);
        }
        cr_assert_eq(sinter_scheduler_run_one(scheduler), SINTER_END, "it doesn't come back");
        sinter_scheduler_metrics_get(scheduler, &metrics);
        cr_assert_eq(metrics.running + metrics.queued, 0);
        cr_assert_eq(metrics.cancelled, st == SINTER_END ? 1 : 0);
        bed_expect_view(&bed, "cancelled");
        bed_close(&bed);
        sinter_scheduler_destroy(scheduler);
        bed_fini(&bed, true);
    }
    cr_expect_gt(cancelled, 10);
}

/** Pauses at the n-th call. */
typedef struct pauser {
    sinter_scheduler *scheduler;
    _Atomic uint64_t calls;
    uint64_t pause_at;
    atomic_bool has_paused;
} pauser;

static sinter_status
pause_at_call(void *ctx, const watch_call *call, sinter_error *e)
{
    pauser *p = ctx;

    (void)call;
    (void)e;
    if (atomic_fetch_add(&p->calls, 1) == p->pause_at) {
        sinter_scheduler_pause(p->scheduler);
        atomic_store(&p->has_paused, true);
    }
    return SINTER_OK;
}

static void
nap(int64_t ms)
{
    const sinter_clock *clock = &sinter_env_default()->clock;

    clock->sleep_ns(clock->ctx, ms * 1000000);
}

/* Wait until the task stands still; false: it has ended. */
static bool
wait_until_still(pauser *p)
{
    uint64_t calls = 0;
    uint64_t before = 1;

    for (int i = 0; i < 500 && !atomic_load(&p->has_paused); i++) {
        nap(10);
    }
    for (int i = 0; i < 100 && calls != before; i++) {
        before = calls;
        nap(50);
        calls = atomic_load(&p->calls);
    }
    return atomic_load(&p->has_paused) && calls == before;
}

static void
pause_and(bool cancels, uint64_t pause_at)
{
    const sinter_scheduler_options options = {.struct_size = sizeof options,
                                              .memory_bytes = (uint64_t)256 << 20};
    sinter_scheduler_metrics metrics = {.struct_size = sizeof metrics};
    sinter_pool *pool = NULL;
    sinter_scheduler *scheduler = NULL;
    sinter_compact_result *result = NULL;
    sinter_bucket_metrics bucket = {.struct_size = sizeof bucket};
    pauser p = {.pause_at = pause_at};
    sinter_env env;

    cr_assert_eq(sinter_pool_create(sinter_env_default(), 2, 64, &pool, NULL), SINTER_OK);
    scheduler = begin(&options, 0, 1000);
    bed_close(&bed); /* again, with threads and the time of the system */
    sinter_scheduler_destroy(scheduler);
    env = bed.env;
    env.executor = sinter_pool_executor(pool);
    env.clock = sinter_env_default()->clock;
    bed.env = env;
    cr_assert_eq(sinter_scheduler_create(&env, &options, &scheduler, NULL), SINTER_OK);
    bed.config.scheduler = scheduler;
    cr_assert_eq(bed_open(&bed, &err), SINTER_OK, "%s", err.text);
    for (uint32_t i = 0; i < 400; i++) {
        bed_put(&bed, i * 3 % BED_KEYS);
        if (i % 100 == 99) {
            cr_assert_eq(bed_commit(&bed, false, &err), SINTER_OK, "%s", err.text);
        }
    }
    p.scheduler = scheduler;
    watch.ctx = &p;
    watch.before = pause_at_call;
    trigger();
    cr_assert(wait_until_still(&p), "paused at call %" PRIu64, pause_at);
    cr_expect_eq(sinter_manager_take_result(manager(), false, &result, &err), SINTER_END);
    cr_expect_eq(sinter_manager_take_result(manager(), true, &result, &err), SINTER_E_BUSY);
    cr_expect(sinter_manager_is_busy(manager()));
    sinter_scheduler_metrics_get(scheduler, &metrics);
    cr_expect_eq(metrics.paused, 1);
    sinter_merge_tree_metrics_get(bed.tree, &bucket);
    cr_expect_eq(bucket.running, 1);
    bed_expect_view(&bed, "paused");
    if (cancels) {
        sinter_manager_cancel(manager());
        for (int i = 0; i < 500 && sinter_manager_is_busy(manager()); i++) {
            nap(10);
            cr_expect_eq(sinter_manager_take_result(manager(), false, &result, &err), SINTER_END);
        }
        cr_expect_not(sinter_manager_is_busy(manager()), "cancelled though it stood still");
        sinter_scheduler_resume(scheduler);
    } else {
        sinter_scheduler_resume(scheduler);
        cr_expect_eq(bed_commit(&bed, true, &err), SINTER_OK, "%s", err.text);
        cr_expect_eq(bed_run_count(&bed), 1);
    }
    bed_expect_view(&bed, "resumed");
    watch.before = NULL;
    end(scheduler);
    sinter_pool_destroy(pool);
}

Test(compact_scheduler_wishes, w04_a_running_task_stands_still_while_paused_and_goes_on)
{
    pause_and(false, 3);
    pause_and(false, 15);
    pause_and(true, 10);
}

Test(compact_scheduler_wishes, w04_a_waiting_task_is_held_up_resumed_and_cancelled)
{
    sinter_scheduler *scheduler = begin(NULL, 3, 100);
    sinter_compact_result *result = NULL;
    const uint64_t calls = watch_io_calls(&watch);

    sinter_scheduler_pause(scheduler);
    trigger();
    cr_expect_eq(sinter_scheduler_run_one(scheduler), SINTER_END, "none may run");
    cr_expect_eq(sinter_scheduler_drain(scheduler, &err), SINTER_E_BUSY);
    cr_expect_eq(watch_io_calls(&watch), calls);
    sinter_manager_cancel(manager());
    cr_expect_eq(sinter_manager_take_result(manager(), false, &result, &err), SINTER_END);
    cr_expect_not(sinter_manager_is_busy(manager()), "cancelled while it waited");
    trigger();
    sinter_scheduler_cancel_all(scheduler);
    cr_expect_eq(sinter_manager_take_result(manager(), false, &result, &err), SINTER_END);
    cr_expect_not(sinter_manager_is_busy(manager()));
    trigger();
    sinter_scheduler_resume(scheduler);
    cr_expect_eq(sinter_scheduler_drain(scheduler, &err), SINTER_OK);
    cr_expect_eq(sinter_manager_take_result(manager(), false, &result, &err), SINTER_OK);
    sinter_compact_result_destroy(result);
    bed_close(&bed);
    sinter_scheduler_destroy(scheduler);
    bed_fini(&bed, true);
}

/* ---- buckets whose files are made up ---- */

enum { BUCKETS_MAX = 64, RUNS_MAX = 40 };

typedef struct made_bucket {
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_rewriter rewriter;
    told_strategy strategy;
    sinter_manager *manager;
    char names[RUNS_MAX][24];
    uint32_t need;
    uint64_t ran;
    uint64_t files; /* made so far */
} made_bucket;

static made_bucket buckets[BUCKETS_MAX];
static _Atomic unsigned last_ran;
static sinter_scheduler *watched; /* its limits are looked at while tasks run */
static _Atomic uint64_t memory_seen, running_seen, files_seen;

static void
note_largest(_Atomic uint64_t *largest, uint64_t value)
{
    uint64_t seen = atomic_load(largest);

    while (value > seen && !atomic_compare_exchange_weak(largest, &seen, value)) {
    }
}

static sinter_status
pretend(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
        sinter_error *e)
{
    made_bucket *b = ctx;
    char name[32];
    sinter_file_meta made = file_of(name, request->output_level, "a", "b");

    (void)snprintf(name, sizeof name, "made-%" PRIu64, b->files++);
    b->ran++;
    last_ran = (unsigned)(b - buckets);
    if (watched != NULL) {
        sinter_scheduler_metrics metrics = {.struct_size = sizeof metrics};

        sinter_scheduler_metrics_get(watched, &metrics);
        note_largest(&memory_seen, metrics.memory_bytes);
        note_largest(&running_seen, metrics.running);
        note_largest(&files_seen, metrics.open_files);
    }
    return sinter_compact_result_add_after(result, &made, e);
}

static void
bucket_init(made_bucket *b)
{
    memset(b, 0, sizeof *b);
    sinter_compact_options_init(&b->options);
    b->options.num_levels = 6;
}

/* Try to make the manager; options were set. */
static sinter_status
bucket_try(made_bucket *b, const sinter_env *env, sinter_scheduler *scheduler, sinter_error *detail)
{
    const sinter_manager_config config = {.struct_size = sizeof config,
                                          .name = "made up",
                                          .task = &b->task,
                                          .strategy = &b->strategy.base,
                                          .scheduler = scheduler};

    sinter_compact_task_init(&b->task);
    b->rewriter =
        (sinter_rewriter){.struct_size = sizeof b->rewriter, .ctx = b, .rewrite = pretend};
    b->task.options = &b->options;
    b->task.rewriter = &b->rewriter;
    told_init(&b->strategy);
    told_all(&b->strategy, 5);
    return sinter_manager_create(env, &config, &b->manager, detail);
}

static void
bucket_start(made_bucket *b, const sinter_env *env, sinter_scheduler *scheduler)
{
    cr_assert_eq(bucket_try(b, env, scheduler, &err), SINTER_OK, "%s", err.text);
}

static void
bucket_begin(made_bucket *b, const sinter_env *env, sinter_scheduler *scheduler)
{
    bucket_init(b);
    bucket_start(b, env, scheduler);
}

/* Add so many runs. */
static void
bucket_fill(made_bucket *b, uint32_t runs)
{
    b->need = runs;
    for (uint32_t i = 0; i < runs; i++) {
        sinter_file_meta file;

        (void)snprintf(b->names[i], sizeof b->names[i], "f-%" PRIu64, b->files++);
        file = file_with_sequences(b->names[i], 0, "a", "b", (int64_t)b->files * 10,
                                   (int64_t)b->files * 10 + 9);
        cr_assert_eq(sinter_manager_add_file(b->manager, &file, &err), SINTER_OK, "%s", err.text);
    }
}

static void
bucket_take(made_bucket *b)
{
    sinter_compact_result *result = NULL;

    cr_assert_eq(sinter_manager_take_result(b->manager, true, &result, &err), SINTER_OK, "%s",
                 err.text);
    sinter_compact_result_destroy(result);
}

/* ---- wish 5: a memory cap that holds ---- */

Test(compact_scheduler_wishes, w05_tasks_together_stay_within_memory_and_open_files)
{
    const sinter_scheduler_options options = {.struct_size = sizeof options,
                                              .tasks_max = 8,
                                              .memory_bytes = (uint64_t)5 << 20,
                                              .open_files_max = 70};
    sinter_env env = *sinter_env_default();
    sinter_scheduler *scheduler = NULL;
    sinter_pool *pool = NULL;

    cr_assert_eq(sinter_pool_create(&env, 8, 256, &pool, NULL), SINTER_OK);
    env.executor = sinter_pool_executor(pool);
    cr_assert_eq(sinter_scheduler_create(&env, &options, &scheduler, NULL), SINTER_OK);
    watched = scheduler;
    for (unsigned i = 0; i < BUCKETS_MAX; i++) {
        bucket_init(&buckets[i]);
        buckets[i].options.memory_bytes = (uint64_t)(1 + i % 2) << 20;
        buckets[i].options.open_files_max = 20;
        bucket_start(&buckets[i], &env, scheduler);
        bucket_fill(&buckets[i], 3);
    }
    for (unsigned i = 0; i < BUCKETS_MAX; i++) {
        cr_assert_eq(sinter_manager_trigger(buckets[i].manager, true, &err), SINTER_OK, "%s",
                     err.text);
    }
    cr_assert_eq(sinter_scheduler_drain(scheduler, &err), SINTER_OK, "%s", err.text);
    watched = NULL;
    for (unsigned i = 0; i < BUCKETS_MAX; i++) {
        bucket_take(&buckets[i]);
        cr_expect_eq(buckets[i].ran, 1);
        sinter_manager_destroy(buckets[i].manager);
    }
    cr_expect_leq(memory_seen, options.memory_bytes);
    cr_expect_leq(files_seen, options.open_files_max);
    cr_expect_gt(memory_seen, 0);
    cr_expect_leq(running_seen, 3, "three times 20 files, not four times");
    sinter_scheduler_destroy(scheduler);
    sinter_pool_destroy(pool);
}

Test(compact_scheduler_wishes, w05_a_task_that_can_never_run_is_refused_with_both_numbers)
{
    const sinter_scheduler_options options = {
        .struct_size = sizeof options, .memory_bytes = (uint64_t)5 << 20, .open_files_max = 70};
    sinter_scheduler *scheduler = NULL;

    cr_assert_eq(sinter_scheduler_create(sinter_env_default(), &options, &scheduler, NULL),
                 SINTER_OK);
    for (int files = 0; files < 2; files++) {
        made_bucket *b = &buckets[0];

        bucket_init(b);
        b->options.memory_bytes = (uint64_t)(files != 0 ? 1 : 6) << 20;
        b->options.open_files_max = 71;
        err = (sinter_error)SINTER_ERROR_INIT;
        cr_expect_eq(bucket_try(b, sinter_env_default(), scheduler, &err), SINTER_E_TOO_LARGE);
        cr_expect_not_null(strstr(err.text, files != 0 ? "71" : "6291456"), "%s", err.text);
        cr_expect_not_null(strstr(err.text, files != 0 ? "70" : "5242880"), "%s", err.text);
    }
    sinter_scheduler_destroy(scheduler);
}

/* ---- wish 8: choose when ---- */

Test(compact_scheduler_wishes, w08_the_neediest_bucket_is_first_and_none_starves)
{
    enum { BUCKETS = 10, ROUNDS = 400 };
    bed_clock clock = {.now_ns = 1000 * SECOND_NS};
    sinter_env env = *sinter_env_default();
    sinter_scheduler *scheduler = NULL;
    unsigned waited[BUCKETS] = {0};

    bed_clock_use(&clock, &env);
    cr_assert_eq(sinter_scheduler_create(&env, NULL, &scheduler, NULL), SINTER_OK);
    for (unsigned i = 0; i < BUCKETS; i++) {
        bucket_begin(&buckets[i], &env, scheduler);
        bucket_fill(&buckets[i], 2 + 4 * ((i * 7) % BUCKETS));
        cr_assert_eq(sinter_manager_trigger(buckets[i].manager, true, &err), SINTER_OK);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        cr_assert_eq(sinter_scheduler_run_one(scheduler), SINTER_OK);
        if (round == 0) {
            for (unsigned i = 0; i < BUCKETS; i++) {
                cr_expect_leq(buckets[i].need, buckets[last_ran].need, "the neediest is first");
            }
        }
        for (unsigned i = 0; i < BUCKETS; i++) {
            waited[i] = i == last_ran ? 0 : waited[i] + 1;
            /* a run more counts as a second more: the neediest has 38, this one `need` */
            cr_assert_leq(waited[i], 38 - buckets[i].need + 2 * BUCKETS,
                          "round %u: bucket %u with %u runs starves", round, i, buckets[i].need);
        }
        bucket_take(&buckets[last_ran]);
        bucket_fill(&buckets[last_ran], buckets[last_ran].need); /* it is written to at once */
        cr_assert_eq(sinter_manager_trigger(buckets[last_ran].manager, true, &err), SINTER_OK);
        clock.now_ns += SECOND_NS;
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        cr_expect_gt(buckets[i].ran, 0);
        sinter_manager_destroy(buckets[i].manager);
    }
    sinter_scheduler_destroy(scheduler);
}

Test(compact_scheduler_wishes, w08_runs_that_come_while_a_task_waits_count)
{
    bed_clock clock = {.now_ns = 1000 * SECOND_NS};
    sinter_env env = *sinter_env_default();
    sinter_scheduler *scheduler = NULL;

    bed_clock_use(&clock, &env);
    cr_assert_eq(sinter_scheduler_create(&env, NULL, &scheduler, NULL), SINTER_OK);
    for (unsigned i = 0; i < 2; i++) {
        bucket_begin(&buckets[i], &env, scheduler);
        bucket_fill(&buckets[i], 10 - 5 * i);
        cr_assert_eq(sinter_manager_trigger(buckets[i].manager, true, &err), SINTER_OK);
    }
    bucket_fill(&buckets[1], 20);
    cr_assert_eq(sinter_scheduler_run_one(scheduler), SINTER_OK);
    cr_expect_eq(last_ran, 1);
    for (unsigned i = 0; i < 2; i++) {
        sinter_manager_destroy(buckets[i].manager);
    }
    sinter_scheduler_destroy(scheduler);
}

/* ---- wish 14: bounded background work ---- */

static void
fill_queue(int32_t when_full, uint32_t threads)
{
    enum { BUCKETS = 6 };
    const sinter_scheduler_options options = {
        .struct_size = sizeof options, .queue_max = 2, .when_full = when_full};
    sinter_env env = *sinter_env_default();
    sinter_scheduler_metrics metrics = {.struct_size = sizeof metrics};
    sinter_scheduler *scheduler = NULL;
    sinter_pool *pool = NULL;
    unsigned refused = 0;

    if (threads > 0) {
        cr_assert_eq(sinter_pool_create(&env, threads, 64, &pool, NULL), SINTER_OK);
        env.executor = sinter_pool_executor(pool);
    }
    cr_assert_eq(sinter_scheduler_create(&env, &options, &scheduler, NULL), SINTER_OK);
    for (unsigned i = 0; i < BUCKETS; i++) {
        bucket_begin(&buckets[i], &env, scheduler);
        bucket_fill(&buckets[i], 3);
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        sinter_status st = sinter_manager_trigger(buckets[i].manager, true, &err);

        sinter_scheduler_metrics_get(scheduler, &metrics);
        cr_assert_leq(metrics.queued, 2);
        if (st == SINTER_E_BUSY && when_full == SINTER_QUEUE_REFUSE) {
            refused++;
            cr_expect_gt(strlen(err.text), 0);
            cr_expect_not(sinter_manager_is_busy(buckets[i].manager));
            cr_assert_eq(sinter_scheduler_drain(scheduler, &err), SINTER_OK);
            st = sinter_manager_trigger(buckets[i].manager, true, &err);
        }
        cr_assert_eq(st, SINTER_OK, "%s: %s", sinter_status_name(st), err.text);
    }
    cr_assert_eq(sinter_scheduler_drain(scheduler, &err), SINTER_OK);
    for (unsigned i = 0; i < BUCKETS; i++) {
        bucket_take(&buckets[i]);
        cr_expect_eq(buckets[i].ran, 1);
        sinter_manager_destroy(buckets[i].manager);
    }
    sinter_scheduler_metrics_get(scheduler, &metrics);
    cr_expect_eq(metrics.refused, refused);
    cr_expect(threads > 0 || when_full != SINTER_QUEUE_REFUSE || refused == 2, "%u", refused);
    cr_expect_eq(metrics.completed, BUCKETS);
    sinter_scheduler_destroy(scheduler);
    sinter_pool_destroy(pool);
}

Test(compact_scheduler_wishes, w14_a_full_queue_refuses_waits_or_works_and_nobody_hangs)
{
    for (uint32_t threads = 0; threads < 3; threads++) {
        fill_queue(SINTER_QUEUE_REFUSE, threads);
        fill_queue(SINTER_QUEUE_WAIT, threads);
        fill_queue(SINTER_QUEUE_RUN_IN_CALLER, threads);
    }
}

Test(compact_scheduler_wishes, w14_a_requested_full_compaction_does_not_stop_writers)
{
    sinter_scheduler *scheduler = begin(NULL, 3, 100);
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};

    cr_assert_eq(bed_compact(&bed, true, &err), SINTER_OK, "%s", err.text);
    cr_assert(sinter_manager_is_busy(manager()));
    for (uint32_t i = 0; i < 200; i++) {
        bed_put(&bed, i);
        if (i % 20 == 19) {
            cr_assert_eq(bed_flush(&bed, &err), SINTER_OK, "%s", err.text);
        }
        if (i % 50 == 49) {
            cr_assert_eq(bed_commit(&bed, false, &err), SINTER_OK, "%s", err.text);
        }
    }
    sinter_merge_tree_metrics_get(bed.tree, &metrics);
    cr_expect_eq(metrics.compactions_completed, 0, "nobody had to do it to go on");
    cr_expect_eq(metrics.stalls, 0);
    cr_expect_eq(metrics.running, 1);
    cr_assert_eq(sinter_scheduler_run_one(scheduler), SINTER_OK);
    cr_assert_eq(bed_commit(&bed, true, &err), SINTER_OK, "%s", err.text);
    bed_expect_view(&bed, "at the end");
    end(scheduler);
}
