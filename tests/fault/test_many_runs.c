/*
 * F22: five hundred overlapping runs within 64 MiB of memory and 128 open files.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "scenario.h"
#include "sinter/manager.h"

TestSuite(field_faults, .timeout = 800);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

enum {
    RUNS = 500,
    ROWS = IS_SANITIZED ? 1000 : 8700, /* about 1 MB */
    VALUE_BYTES = 100,
    OPEN_FILES_MAX = 128,
    BASE_MIB = 16 /* of memory that isn't the budget's */
};
#define BUDGET_BYTES ((uint64_t)64 << 20)

typedef struct many_runs {
    char dir[256];
    sinter_file_meta files[RUNS];
    char names[RUNS][32];
    uint8_t keys[RUNS][2][8];
} many_runs;

static void
put_key(uint64_t number, uint8_t *out)
{
    for (int i = 0; i < 8; i++) {
        out[i] = (uint8_t)(number >> (8 * (7 - i)));
    }
}

/* Rows of run r: every seventh key of the space, so that each key is in about 70 runs. */
static void
write_run(many_runs *m, size_t r, sinter_writer *writer, uint32_t rows)
{
    sinter_batch_builder *builder = NULL;
    uint8_t value[VALUE_BYTES];

    cr_assert_eq(sinter_batch_builder_create(sinter_env_default(), &builder, NULL), SINTER_OK);
    for (uint32_t i = 0; i < rows; i++) {
        uint8_t key[8];

        put_key((uint64_t)i * 7 + r % 7, key);
        memcpy(m->keys[r][i == 0 ? 0 : 1], key, 8);
        memset(value, (int)(r % 251), sizeof value);
        memcpy(value, &i, sizeof i);
        cr_assert_eq(
            sinter_batch_builder_add(builder, (sinter_bytes){key, 8}, (int64_t)(r / 3),
                                     (r + i) % 11 == 0 ? SINTER_KIND_DELETE : SINTER_KIND_INSERT,
                                     (sinter_bytes){value, sizeof value}, NULL),
            SINTER_OK);
        if (i + 1 == rows || sinter_batch_builder_bytes(builder) > 1 << 17) {
            const sinter_batch *batch = sinter_batch_builder_batch(builder);
            const sinter_range range = {batch, 0, batch->row_count};
            size_t taken = 0;
            uint32_t taken_rows = 0;

            cr_assert_eq(
                writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &taken_rows, NULL),
                SINTER_OK);
            sinter_batch_builder_reset(builder);
        }
    }
    sinter_batch_builder_destroy(builder);
}

static void
make_run(many_runs *m, size_t r)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_write_options options = {.struct_size = sizeof options};
    sinter_file_stats stats = {.struct_size = sizeof stats};
    sinter_writer *writer = NULL;
    char path[512];

    snprintf(m->names[r], sizeof m->names[r], "run-%zu.sst", r);
    snprintf(path, sizeof path, "%s/%s", m->dir, m->names[r]);
    cr_assert_eq(
        format->open_writer(format->self, sinter_env_default(), path, &options, &writer, NULL),
        SINTER_OK);
    write_run(m, r, writer, ROWS - (uint32_t)(r * 7919 % 500));
    cr_assert_eq(writer->ops->finish(writer, &stats, NULL), SINTER_OK);
    writer->ops->close(writer);
    m->files[r] = (sinter_file_meta){.struct_size = sizeof m->files[r],
                                     .file_name = m->names[r],
                                     .file_size = stats.file_size,
                                     .row_count = stats.row_count,
                                     .delete_row_count = (int64_t)stats.retract_count,
                                     .min_sequence_number = stats.sequence_min,
                                     .max_sequence_number = stats.sequence_max,
                                     .creation_time_ms = 1000 + (int64_t)(r / 2),
                                     .min_key = {m->keys[r][0], 8},
                                     .max_key = {m->keys[r][1], 8},
                                     .upgraded_from = -1};
}

/* Highest resident size so far, in KiB. */
static uint64_t
peak_resident_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;

    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "VmHWM: %llu", &kib) == 1) {
            break;
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return kib;
}

static uint64_t
hash_file(const char *path, uint64_t hash)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_read_options options = {.struct_size = sizeof options};
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;

    cr_assert_eq(
        format->open_reader(format->self, sinter_env_default(), path, &options, &reader, NULL),
        SINTER_OK);
    while (reader->ops->next(reader, &batch, NULL) == SINTER_OK) {
        for (uint32_t row = 0; row < batch->row_count; row++) {
            const sinter_bytes key = sinter_batch_key(batch, row);
            const sinter_bytes value = batch->payload_ops->value(batch, row);

            hash = sinter__hash_seeded(key.data, key.size, hash);
            hash = sinter__hash_seeded(value.data, value.size, hash);
            hash = sinter__hash_seeded(&batch->sequences[row], 8, hash);
            hash = sinter__hash_seeded(&batch->kinds[row], 1, hash);
        }
    }
    reader->ops->close(reader);
    return hash;
}

/* Hash of what came out, which is removed. */
static uint64_t
hash_result(many_runs *m, sinter_compact_result *result, sinter_compact_counters *counters)
{
    const sinter_file_list *after = sinter_compact_result_after(result);
    uint64_t hash = 0;

    *counters = *sinter_compact_result_counters(result);
    for (size_t i = 0; i < after->count; i++) {
        char path[512];

        snprintf(path, sizeof path, "%s/%s", m->dir, after->files[i].file_name);
        hash = hash_file(path, hash);
        unlink(path);
    }
    sinter_compact_result_destroy(result);
    return hash;
}

static void
set_up_task(many_runs *m, sinter_compact_options *options, sinter_compact_task *task)
{
    sinter_compact_options_init(options);
    options->target_file_bytes = (uint64_t)2 << 20;
    sinter_compact_task_init(task);
    task->output_level = 3;
    task->files = m->files;
    task->count = RUNS;
    task->base_dir = m->dir;
    task->options = options;
}

/* Compact all runs; hash of what came out. */
static uint64_t
compact(many_runs *m, sinter_io *io, uint64_t budget, uint32_t open_files_max,
        sinter_compact_counters *counters)
{
    sinter_env env = *sinter_env_default();
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_compact_options options;
    sinter_compact_task task;

    env.io = io;
    set_up_task(m, &options, &task);
    options.memory_bytes = budget;
    options.open_files_max = open_files_max;
    cr_assert_eq(sinter_compact_task_run(&env, &task, &result, &err), SINTER_OK, "%s: %s",
                 sinter_status_name(err.status), err.text);
    return hash_result(m, result, counters);
}

/* The same by a manager, on a scheduler that has so much for all of its tasks. */
static uint64_t
compact_managed(many_runs *m, sinter_io *io, sinter_compact_counters *counters)
{
    const sinter_scheduler_options limits = {.struct_size = sizeof limits,
                                             .tasks_max = 2,
                                             .memory_bytes = BUDGET_BYTES,
                                             .open_files_max = OPEN_FILES_MAX};
    sinter_env env = *sinter_env_default();
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_manager_config config = {.struct_size = sizeof config, .task = &task};
    sinter_scheduler *scheduler = NULL;
    sinter_manager *manager = NULL;
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t hash = 0;

    env.io = io;
    set_up_task(m, &options, &task);
    options.memory_bytes = BUDGET_BYTES;
    options.open_files_max = OPEN_FILES_MAX;
    cr_assert_eq(sinter_scheduler_create(&env, &limits, &scheduler, &err), SINTER_OK, "%s",
                 err.text);
    config.scheduler = scheduler;
    config.files = m->files;
    config.count = RUNS;
    config.keep_deletes = true; /* as the task of compact() */
    cr_assert_eq(sinter_manager_create(&env, &config, &manager, &err), SINTER_OK, "%s", err.text);
    cr_expect(sinter_manager_should_wait_latest(manager));
    cr_assert_eq(sinter_manager_trigger(manager, false, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter_manager_take_result(manager, true, &result, &err), SINTER_OK, "%s: %s",
                 sinter_status_name(err.status), err.text);
    hash = hash_result(m, result, counters);
    cr_expect_not(sinter_manager_should_wait_latest(manager));
    sinter_manager_destroy(manager);
    sinter_scheduler_destroy(scheduler);
    return hash;
}

static void
remove_runs(many_runs *m)
{
    for (size_t r = 0; r < RUNS; r++) {
        char path[512];

        snprintf(path, sizeof path, "%s/%s", m->dir, m->names[r]);
        unlink(path);
    }
    cr_expect_eq(rmdir(m->dir), 0, "something was left in %s", m->dir);
}

static void
expect_within_limits(const count_io *io, const sinter_compact_counters *counters, uint64_t base_kib)
{
    fprintf(stderr,
            "%s: %llu runs spilled, %llu passes, %lld files open at most, budget peak %llu KiB, "
            "resident %llu KiB over %llu\n",
            sinter_io_name(io->inner), (unsigned long long)counters->merge.spill_runs,
            (unsigned long long)counters->merge.spill_passes, (long long)io->open_files_max,
            (unsigned long long)counters->memory_peak_bytes / 1024,
            (unsigned long long)(peak_resident_kib() - base_kib), (unsigned long long)base_kib);
    cr_expect_leq(io->open_files_max, OPEN_FILES_MAX);
    cr_expect_leq(counters->memory_peak_bytes, BUDGET_BYTES);
    cr_expect_geq(counters->merge.spill_runs, RUNS - OPEN_FILES_MAX);
    if (!IS_SANITIZED) {
        cr_expect_leq(peak_resident_kib() - base_kib, (BUDGET_BYTES >> 10) + BASE_MIB * 1024);
    }
}

Test(field_faults, f22_five_hundred_runs_stay_within_memory_and_open_files)
{
    static many_runs m;
    static const sinter_io_kind kinds[] = {SINTER_IO_POSIX, SINTER_IO_URING, SINTER_IO_POSIX};
    sinter_compact_counters counters;
    uint64_t hashes[3] = {0, 0, 0};
    uint64_t base_kib = 0;
    sinter_io *io = NULL;

    test_directory(m.dir, sizeof m.dir, NULL, "sinter-f22");
    for (size_t r = 0; r < RUNS; r++) {
        make_run(&m, r);
    }
    base_kib = peak_resident_kib();
    for (size_t k = 0; k < 3; k++) {
        count_io counting;

        if (sinter_io_create(sinter_env_default(), kinds[k], NULL, &io, NULL) != SINTER_OK) {
            hashes[k] = hashes[0];
            continue;
        }
        count_io_init(&counting, io);
        hashes[k] = k == 2 ? compact_managed(&m, &counting.base, &counters)
                           : compact(&m, &counting.base, BUDGET_BYTES, OPEN_FILES_MAX, &counters);
        expect_within_limits(&counting, &counters, base_kib);
        sinter_io_destroy(io);
    }
    cr_expect_eq(hashes[0], hashes[1]);
    cr_expect_eq(hashes[0], hashes[2], "a manager makes other records");
    cr_expect_eq(hashes[0], compact(&m, sinter_io_posix(), (uint64_t)4 << 30, 1000, &counters),
                 "other records than with unlimited memory");
    cr_expect_eq(counters.merge.spill_runs, 0);
    remove_runs(&m);
}
