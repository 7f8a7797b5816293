/*
 * Memory of a process with many buckets (a user's wish): 64 buckets share a scheduler, a write pool
 * and one budget; rows are wide; one bucket has 500 sorted runs when it is compacted. What the
 * process takes at its peak is no more than what it took before the first row, and the budgets.
 *
 *     memory_cap DIR [MIB]      MIB: budget of compactions and flushes; 24. With 400 it fails
 *
 * In a cgroup of its own the kernel would stop a process that takes more. Here its largest resident
 * set is asked for, which needs no rights.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "sinter/sinter.h"

enum {
    BUCKETS = 64,
    RUNS = 500,     /* of the first bucket */
    OTHER_RUNS = 4, /* of the others, before their compaction is due */
    ROWS_A_RUN = 4, /* in the first bucket */
    VALUE_MIN = 20000,
    VALUE_MAX = 120000,
    POOL_MIB = 8,
    BUDGET_MIB = 24,
    THREADS = 2
};

typedef struct bucket {
    char name[16];
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_merge_tree *tree;
} bucket;

static struct {
    sinter_env env;
    sinter_pool *threads;
    sinter_scheduler *scheduler;
    sinter_write_pool *pool;
    bucket buckets[BUCKETS];
    uint8_t value[VALUE_MAX];
    uint64_t random;
    uint64_t bytes; /* of keys and values */
} world;

static void
need(sinter_status st, const char *what, const sinter_error *err)
{
    if (st != SINTER_OK && st != SINTER_END) {
        fprintf(stderr, "memory_cap: %s: %s: %s (%s)\n", what, sinter_status_name(st), err->text,
                err->file);
        exit(1);
    }
}

static uint64_t
draw(uint64_t below)
{
    world.random = world.random * 6364136223846793005u + 1442695040888963407u;
    return (world.random >> 33) % below;
}

static uint64_t
peak_bytes(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void
set(bucket *b, const char *key, const char *value)
{
    sinter_error err = SINTER_ERROR_INIT;

    need(sinter_compact_options_set(&b->options, key, value, &err), key, &err);
}

static void
open_bucket(const char *dir, bucket *b, unsigned number, uint64_t budget_mib)
{
    char task_budget[32];
    sinter_merge_tree_config config = {.struct_size = sizeof config, .max_sequence = -1};
    sinter_error err = SINTER_ERROR_INIT;

    (void)snprintf(b->name, sizeof b->name, "bucket-%u", number);
    sinter_compact_options_init(&b->options);
    (void)snprintf(task_budget, sizeof task_budget, "%" PRIu64 " mb", budget_mib / THREADS);
    set(b, "sinter.memory-budget", task_budget);
    /* Nothing but the budget says that runs are spilled. */
    set(b, "sort-spill-threshold", "1000");
    set(b, "local-sort.max-num-file-handles", "1000");
    set(b, "num-levels", "6");
    set(b, "target-file-size", "16 mb");
    set(b, "num-sorted-run.compaction-trigger", number == 0 ? "1000" : "4");
    sinter_compact_task_init(&b->task);
    b->task.base_dir = dir;
    b->task.output_dir = b->name;
    b->task.options = &b->options;
    config.name = b->name;
    config.task = &b->task;
    config.scheduler = world.scheduler;
    config.pool = world.pool;
    need(sinter_merge_tree_open(&world.env, &config, &b->tree, &err), b->name, &err);
}

static void
open_world(const char *dir, uint64_t budget_mib)
{
    const sinter_scheduler_options scheduler = {
        .struct_size = sizeof scheduler, .tasks_max = THREADS, .memory_bytes = budget_mib << 20};
    sinter_error err = SINTER_ERROR_INIT;

    sinter_env_init(&world.env);
    need(sinter_memory_create(sinter_env_default(), budget_mib << 20, &world.env.memory, &err),
         "budget", &err);
    need(sinter_pool_create(sinter_env_default(), THREADS, 64, &world.threads, &err), "threads",
         &err);
    world.env.executor = sinter_pool_executor(world.threads);
    need(sinter_scheduler_create(&world.env, &scheduler, &world.scheduler, &err), "scheduler",
         &err);
    need(sinter_write_pool_create(&world.env, (uint64_t)POOL_MIB << 20, &world.pool, &err),
         "write pool", &err);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "memory_cap: %s: %s\n", dir, strerror(errno));
        exit(1);
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        char path[4096];

        (void)snprintf(path, sizeof path, "%s/bucket-%u", dir, i);
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            fprintf(stderr, "memory_cap: %s: %s\n", path, strerror(errno));
            exit(1);
        }
        open_bucket(dir, &world.buckets[i], i, budget_mib);
    }
}

/* A wide row whose key is anywhere. Half of it compresses. */
static void
write_row(bucket *b)
{
    const uint64_t number = draw(100000);
    const size_t size = VALUE_MIN + (size_t)draw(VALUE_MAX - VALUE_MIN);
    uint8_t key[8];
    sinter_error err = SINTER_ERROR_INIT;

    for (size_t i = 0; i < 8; i++) {
        key[i] = (uint8_t)(number >> (56 - 8 * i));
    }
    for (size_t i = 0; i + 8 <= size; i += 16) {
        const uint64_t word = draw(UINT32_MAX);

        memcpy(world.value + i, &word, sizeof word);
    }
    need(sinter_merge_tree_write(b->tree, (sinter_bytes){key, sizeof key}, SINTER_KIND_INSERT,
                                 (sinter_bytes){world.value, size}, &err),
         "write", &err);
    world.bytes += sizeof key + size;
}

static void
make_run(bucket *b, unsigned rows)
{
    sinter_error err = SINTER_ERROR_INIT;

    for (unsigned i = 0; i < rows; i++) {
        write_row(b);
    }
    need(sinter_merge_tree_flush(b->tree, &err), "flush", &err);
}

static size_t
count_runs(bucket *b)
{
    const sinter_file_set *files = sinter_merge_tree_acquire(b->tree);
    size_t count = 0;

    (void)sinter_file_set_runs(files, &count);
    sinter_file_set_release(files);
    return count;
}

static void
work(void)
{
    bucket *many = &world.buckets[0];
    sinter_error err = SINTER_ERROR_INIT;

    for (unsigned i = 0; i < RUNS; i++) {
        make_run(many, ROWS_A_RUN);
    }
    if (count_runs(many) < RUNS) {
        fprintf(stderr, "memory_cap: only %zu runs\n", count_runs(many));
        exit(1);
    }
    /* The large compaction runs beside those of the others, all of which write meanwhile. */
    need(sinter_merge_tree_compact(many->tree, true, &err), "full compaction", &err);
    for (unsigned round = 0; round <= OTHER_RUNS; round++) {
        for (unsigned i = 1; i < BUCKETS; i++) {
            make_run(&world.buckets[i], 2);
        }
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        write_row(&world.buckets[i]);
    }
    need(sinter_scheduler_drain(world.scheduler, &err), "drain", &err);
    for (unsigned i = 0; i < BUCKETS; i++) { /* take what was done */
        need(sinter_merge_tree_flush(world.buckets[i].tree, &err), "flush", &err);
    }
    need(sinter_scheduler_drain(world.scheduler, &err), "drain", &err);
}

/* All compactions were there, and succeeded. */
static uint64_t
check_compactions(void)
{
    uint64_t completed = 0;

    for (unsigned i = 0; i < BUCKETS; i++) {
        sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};

        sinter_merge_tree_metrics_get(world.buckets[i].tree, &metrics);
        if (metrics.compactions_completed == 0 || metrics.compactions_failed > 0) {
            fprintf(stderr, "memory_cap: %s: %" PRIu64 " compactions, %" PRIu64 " failed\n",
                    world.buckets[i].name, metrics.compactions_completed,
                    metrics.compactions_failed);
            exit(1);
        }
        completed += metrics.compactions_completed;
    }
    return completed;
}

static void
close_world(void)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        sinter_merge_tree_close(world.buckets[i].tree);
    }
    sinter_scheduler_destroy(world.scheduler);
    sinter_write_pool_destroy(world.pool);
    sinter_pool_destroy(world.threads);
    sinter_memory_destroy(world.env.memory);
}

int
main(int argc, char **argv)
{
    const uint64_t budget_mib = argc > 2 ? strtoull(argv[2], NULL, 10) : BUDGET_MIB;
    const uint64_t cap = (uint64_t)(BUDGET_MIB + POOL_MIB) << 20;
    uint64_t base = 0;
    uint64_t peak = 0;
    uint64_t completed = 0;

    if (argc < 2 || budget_mib == 0) {
        fprintf(stderr, "usage: memory_cap DIR [MIB]\n");
        return 2;
    }
    world.random = 20261130;
    open_world(argv[1], budget_mib);
    base = peak_bytes();
    work();
    completed = check_compactions();
    peak = peak_bytes();
    printf("%d buckets, %" PRIu64 " MiB written, %" PRIu64
           " compactions: at most %.1f MiB, %.1f of them before the first row; budgets %" PRIu64
           " MiB, of which %.1f were in use\n",
           BUCKETS, world.bytes >> 20, completed, (double)peak / (1 << 20),
           (double)base / (1 << 20), cap >> 20,
           (double)sinter_memory_peak(world.env.memory) / (1 << 20));
    close_world();
    if (peak > base + cap) {
        fprintf(stderr, "memory_cap: the peak is above the budgets\n");
        return 1;
    }
    return 0;
}
