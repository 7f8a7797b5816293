/*
 * The soak: buckets that are written, flushed, compacted, committed, read, cancelled, restarted
 * and hit by faults for a given time, and whatever they answer is compared with a model.
 *
 *   soak --seconds 600 --seed 7 [--buckets 64] [--writers 2] [--readers 2] [--keys 500]
 *        [--dir DIR] [--memory-backend yes] [--allow-zero yes] [--keep yes]
 *
 * Ends with 1 at the first wrong answer, and when something that it is for never happened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak/told.h"
#include "soak/world.h"

enum { COMMAND_ROOM = 1024, DIR_ROOM = 300, PROGRESS_SECONDS = 10 };

/* ---- threads ---- */

typedef struct worker {
    pthread_t thread;
    uint32_t number;
    soak_random random;
    soak_world *world;
    atomic_bool *stop;
} worker;

static void *
write_on(void *arg)
{
    worker *self = arg;
    const soak_options *options = &self->world->options;
    const uint32_t writers = (uint32_t)options->writers;
    const uint32_t mine = ((uint32_t)options->buckets - self->number + writers - 1) / writers;

    while (!atomic_load(self->stop)) {
        /* an eighth of the buckets gets half of the work, and so has many levels soon */
        const uint32_t below = soak_random_one_in(&self->random, 2) ? mine : (mine + 7) / 8;
        const uint32_t which = self->number + writers * soak_random_below(&self->random, below);
        soak_bucket *bucket = &self->world->buckets[which];

        if (bucket->tree == NULL) {
            soak_sleep_us(1000); /* the power is off */
            continue;
        }
        soak_bucket_step(bucket);
    }
    return NULL;
}

static void *
read_on(void *arg)
{
    worker *self = arg;
    soak_reader reader = {.number = self->number,
                          .random = self->random,
                          .buckets = self->world->buckets,
                          .bucket_count = (uint32_t)self->world->options.buckets,
                          .env = &self->world->read_env};

    while (!atomic_load(self->stop)) {
        soak_reader_step(&reader);
    }
    soak_reader_end(&reader);
    return NULL;
}

static void
workers_start(worker *workers, soak_world *world, atomic_bool *stop)
{
    const soak_options *options = &world->options;

    for (uint32_t i = 0; i < options->writers + options->readers; i++) {
        const bool writes = i < options->writers;

        workers[i].number = writes ? i : i - (uint32_t)options->writers;
        workers[i].random.state = soak_random_next(&world->random);
        workers[i].world = world;
        workers[i].stop = stop;
        if (pthread_create(&workers[i].thread, NULL, writes ? write_on : read_on, &workers[i]) !=
            0) {
            soak_wrong("no thread to be had");
        }
    }
}

/* ---- what the main thread does meanwhile ---- */

static void
cancel_one(soak_world *world)
{
    soak_bucket *bucket =
        &world->buckets[soak_random_below(&world->random, (uint32_t)world->options.buckets)];
    uint64_t bytes = 0;
    uint64_t total = 0;

    (void)pthread_rwlock_rdlock(&bucket->door);
    if (bucket->tree != NULL) {
        sinter_manager_progress(sinter_merge_tree_manager(bucket->tree), &bytes, &total);
        sinter_merge_tree_cancel(bucket->tree);
    }
    (void)pthread_rwlock_unlock(&bucket->door);
    soak_count_add(SOAK_COUNT_CANCELS, 1);
}

static void
pause_a_little(soak_world *world)
{
    sinter_scheduler_pause(world->scheduler);
    soak_sleep_us(soak_random_below(&world->random, 40000));
    sinter_scheduler_resume(world->scheduler);
    soak_count_add(SOAK_COUNT_PAUSES, 1);
}

static void
change_rates(soak_world *world)
{
    static const uint64_t rates[] = {0, 0, 1u << 20, 8u << 20};
    sinter_error err = SINTER_ERROR_INIT;

    soak_require(sinter_scheduler_set_rate(world->scheduler,
                                           rates[soak_random_below(&world->random, 4)], &err),
                 "rate", &err);
    soak_require(sinter_scheduler_set_tasks_max(world->scheduler,
                                                1 + soak_random_below(&world->random, 3), &err),
                 "tasks", &err);
    soak_count_add(SOAK_COUNT_RATE_CHANGES, 1);
}

static void
fill_disk(soak_world *world)
{
    soak_storm_disk_full(true);
    soak_sleep_us(soak_random_below(&world->random, 60000));
    soak_storm_disk_full(false);
}

static sinter_status
put_text(void *ctx, const char *text, size_t size)
{
    uint64_t *lines = ctx;

    for (size_t i = 0; i < size; i++) {
        *lines += text[i] == '\n' ? 1 : 0;
    }
    return SINTER_OK;
}

static void
export_counters(soak_world *world)
{
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t lines = 0;
    sinter_status st = SINTER_OK;

    st = sinter_scheduler_export(world->scheduler, put_text, &lines, &err);
    if (st == SINTER_OK && lines < world->options.buckets / 2) {
        soak_wrong("%" PRIu64 " lines tell of %" PRIu64 " buckets", lines, world->options.buckets);
    }
    soak_count_add(SOAK_COUNT_EXPORTS, st == SINTER_OK ? 1 : 0);
}

static void
disturb(soak_world *world)
{
    switch (soak_random_below(&world->random, 24)) {
    case 0:
        sinter_scheduler_cancel_all(world->scheduler);
        break;
    case 1:
    case 2:
        pause_a_little(world);
        break;
    case 3:
        change_rates(world);
        break;
    case 4:
        fill_disk(world);
        break;
    case 5:
        export_counters(world);
        break;
    default:
        cancel_one(world);
        break;
    }
    soak_sleep_us(1000 + soak_random_below(&world->random, 30000));
}

/* ---- what is printed ---- */

typedef struct amplification {
    double runs; /* on the average of the buckets */
    double write;
    double space;
    soak_volume volume;
} amplification;

/* Of all buckets together. Those that are closed count with what they had. */
static void
measure(soak_world *world, bool adds_closed, amplification *out)
{
    const uint64_t count = world->options.buckets;
    uint64_t runs = 0;
    sinter_bucket_metrics sum = {.struct_size = (uint32_t)sizeof sum};

    *out = (amplification){0};
    for (uint64_t i = 0; i < count; i++) {
        sinter_bucket_metrics one;
        soak_volume *volume = &world->buckets[i].volume;

        soak_bucket_metrics(&world->buckets[i], &one);
        runs += one.runs;
        sum.bytes += one.bytes;
        sum.bottom_bytes += one.bottom_bytes;
        sum.flushed_bytes += one.flushed_bytes;
        sum.compact_written_bytes += one.compact_written_bytes;
        if (adds_closed) {
            sum.flushed_bytes += volume->flushed_bytes;
            sum.compact_written_bytes += volume->compact_written_bytes;
            out->volume.bytes_in += volume->bytes_in;
            out->volume.flushed_bytes += volume->flushed_bytes;
            out->volume.compact_read_bytes += volume->compact_read_bytes;
            out->volume.compact_written_bytes += volume->compact_written_bytes;
            out->volume.stall_ns += volume->stall_ns;
        }
    }
    out->runs = (double)runs / (double)count;
    out->write = sinter_bucket_write_amplification(&sum);
    out->space = sinter_bucket_space_amplification(&sum);
}

static void
print_progress(soak_world *world, double elapsed, amplification *last)
{
    uint64_t faults = 0;

    for (int i = 0; i < SOAK_FAULT_COUNT; i++) {
        faults += soak_storm_hits((soak_fault)i);
    }
    measure(world, false, last);
    printf("%5.0f s  %" PRIu64 " rows, %" PRIu64 " commits, %" PRIu64
           " compactions in closed trees, %" PRIu64 " reads, %" PRIu64
           " faults; now %.1f runs, written %.2f times, space %.2f\n",
           elapsed, soak_count_get(SOAK_COUNT_WRITES), soak_count_get(SOAK_COUNT_COMMITS),
           soak_count_get(SOAK_COUNT_COMPACTIONS),
           soak_count_get(SOAK_COUNT_POINT_READS) + soak_count_get(SOAK_COUNT_RANGE_READS), faults,
           last->runs, last->write, last->space);
}

/* But for what nobody asks for. */
static bool
has_seen_all(void)
{
    bool is_whole = true;

    for (int i = 0; i < SOAK_COUNT_COUNT; i++) {
        is_whole &= i == SOAK_COUNT_OUTLIVED_SETS || soak_count_get((soak_count)i) > 0;
    }
    for (int i = 0; i < SOAK_FAULT_COUNT; i++) {
        is_whole &= soak_storm_hits((soak_fault)i) > 0;
    }
    return is_whole;
}

static void
print_count(const char *text, uint64_t count)
{
    printf("  %12" PRIu64 "  %s\n", count, text);
}

static void
print_summary(soak_world *world, double elapsed, const amplification *last)
{
    const soak_options *options = &world->options;
    amplification all;

    measure(world, true, &all);
    printf("%" PRIu64 " buckets, %" PRIu64 " writers, %" PRIu64 " readers, %s, seed %" PRIu64
           ", %.0f s\n",
           options->buckets, options->writers, options->readers,
           options->memory_backend ? "memory backend" : "files", options->seed, elapsed);
    for (int i = 0; i < SOAK_COUNT_COUNT; i++) {
        print_count(soak_count_text((soak_count)i), soak_count_get((soak_count)i));
    }
    for (int i = 0; i < SOAK_FAULT_COUNT; i++) {
        print_count(soak_fault_text((soak_fault)i), soak_storm_hits((soak_fault)i));
    }
    printf("%.0f rows/s, %.2f MB/s written; stalled %.1f s; bytes to disk per byte flushed %.2f; "
           "when last looked at: %.1f sorted runs a bucket, %.2f bytes per byte at the bottom\n",
           (double)soak_count_get(SOAK_COUNT_WRITES) / elapsed,
           (double)all.volume.bytes_in / elapsed / 1e6, (double)all.volume.stall_ns * 1e-9,
           all.write, last->runs, last->space);
    soak_told_print();
}

/* ---- the run ---- */

static void
run_epoch(soak_world *world, double until, bool ends_dark, double began, amplification *last)
{
    static double printed;
    worker workers[SOAK_WRITERS_MAX + SOAK_READERS_MAX];
    atomic_bool stop = false;
    sinter_error err = SINTER_ERROR_INIT;

    soak_world_open(world);
    workers_start(workers, world, &stop);
    while (soak_seconds() < until) {
        disturb(world);
        if (soak_seconds() - printed > PROGRESS_SECONDS) {
            printed = soak_seconds();
            print_progress(world, printed - began, last);
        }
    }
    measure(world, false, last);
    if (ends_dark) {
        soak_world_power_off(world);
        soak_sleep_us(20000);
    }
    atomic_store(&stop, true);
    soak_require(sinter_scheduler_set_rate(world->scheduler, 0, &err), "rate", &err);
    for (uint32_t i = 0; i < world->options.writers + world->options.readers; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
    soak_world_close(world);
    soak_count_add(SOAK_COUNT_EPOCHS, 1);
}

static int
run(const soak_options *options)
{
    const double epoch = (double)options->seconds / 8 < 30 ? (double)options->seconds / 8 : 30;
    const double began = soak_seconds();
    const double end = began + (double)options->seconds;
    amplification last = {0};
    soak_world world;

    soak_world_init(&world, options);
    /* Longer, up to twice the time, while something is left that never happened. */
    for (uint64_t i = 0; soak_seconds() < end || (soak_seconds() < end + (double)options->seconds &&
                                                  !options->allow_zero && !has_seen_all());
         i++) {
        run_epoch(&world, soak_seconds() + epoch, i % 2 == 1, began, &last);
    }
    soak_world_open(&world); /* once more: what is there is whole */
    soak_world_close(&world);
    print_summary(&world, soak_seconds() - began, &last);
    soak_world_fini(&world);
    if (!has_seen_all() && !options->allow_zero) {
        fprintf(stderr, "something of the above never happened\n");
        return 1;
    }
    printf("no wrong answer\n");
    return 0;
}

/* ---- the command line ---- */

static bool
parse_yes(const char *text, bool *out)
{
    *out = strcmp(text, "yes") == 0;
    return *out || strcmp(text, "no") == 0;
}

static bool
parse_one(const char *name, const char *value, soak_options *out)
{
    if (strcmp(name, "--seconds") == 0) {
        return soak_parse_number(value, 1000000, &out->seconds) && out->seconds > 0;
    }
    if (strcmp(name, "--seed") == 0) {
        return soak_parse_number(value, UINT64_MAX, &out->seed);
    }
    if (strcmp(name, "--buckets") == 0) {
        return soak_parse_number(value, 10000, &out->buckets) && out->buckets > 0;
    }
    if (strcmp(name, "--writers") == 0) {
        return soak_parse_number(value, SOAK_WRITERS_MAX, &out->writers) && out->writers > 0;
    }
    if (strcmp(name, "--readers") == 0) {
        return soak_parse_number(value, SOAK_READERS_MAX, &out->readers);
    }
    if (strcmp(name, "--keys") == 0) {
        return soak_parse_number(value, 900000, &out->keys) && out->keys > 0;
    }
    if (strcmp(name, "--dir") == 0) {
        out->dir = value;
        return true;
    }
    if (strcmp(name, "--memory-backend") == 0) {
        return parse_yes(value, &out->memory_backend);
    }
    if (strcmp(name, "--allow-zero") == 0) {
        return parse_yes(value, &out->allow_zero);
    }
    return strcmp(name, "--keep") == 0 && parse_yes(value, &out->keep);
}

static bool
parse(int argc, char **argv, soak_options *out)
{
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 >= argc || !parse_one(argv[i], argv[i + 1], out)) {
            fprintf(stderr, "%s: bad argument %s\n", argv[0], argv[i]);
            return false;
        }
    }
    if (out->buckets < out->writers) {
        fprintf(stderr, "%s: more writers than buckets\n", argv[0]);
        return false;
    }
    return true;
}

int
main(int argc, char **argv)
{
    soak_options options = {.seconds = 60,
                            .seed = 1,
                            .buckets = 64,
                            .writers = 2,
                            .readers = 2,
                            .keys = 2000,
                            .dir = getenv("TMPDIR")};
    char dir[DIR_ROOM];
    char command[COMMAND_ROOM];
    int result = 0;

    if (!parse(argc, argv, &options)) {
        return 2;
    }
    (void)snprintf(command, sizeof command,
                   "%s --seed %" PRIu64 " --seconds %" PRIu64 " --buckets %" PRIu64
                   " --writers %" PRIu64 " --readers %" PRIu64 " --keys %" PRIu64
                   " --memory-backend %s",
                   argv[0], options.seed, options.seconds, options.buckets, options.writers,
                   options.readers, options.keys, options.memory_backend ? "yes" : "no");
    soak_command_set(command);
    (void)snprintf(dir, sizeof dir, "%s/sinter-soak-XXXXXX",
                   options.dir == NULL ? "/tmp" : options.dir);
    if (!options.memory_backend && mkdtemp(dir) == NULL) {
        perror(dir);
        return 2;
    }
    options.dir = options.memory_backend ? "soak" : dir;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s (in %s)\n", command, options.dir);
    result = run(&options);
    if (result == 0 && !options.memory_backend && !options.keep && !soak_remove_tree(options.dir)) {
        fprintf(stderr, "%s could not be removed\n", options.dir);
        return 1;
    }
    return result;
}
