/*
 * The child of the crash test: opens every bucket from its catalog, cleans, checks, and then writes
 * rows that only their number decides, commits, and tells of each commit once the catalog is
 * swapped.
 *
 * So what a bucket must hold follows from the moment in its catalog alone: rows 1 to that number.
 */
#include "soak/crash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soak/catalog.h"
#include "soak/hook_io.h"
#include "soak/records.h"

enum { KEYS = 300, DIR_ROOM = 400, LINGER_US = 300 };

typedef struct child_bucket {
    uint32_t number;
    char name[16];
    char dir[DIR_ROOM];
    soak_catalog catalog;
    uint64_t moment; /* of the last row written */
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_merge_tree *tree;
} child_bucket;

typedef struct child {
    const crash_call *call;
    soak_random random;
    sinter_io *disk;
    sinter_io *watched;
    sinter_env env;
    sinter_pool *pool;
    sinter_scheduler *scheduler;
    child_bucket buckets[CRASH_BUCKETS];
} child;

static _Thread_local bool is_writer;
static _Thread_local soak_random linger_random;

/* ---- the board ---- */

static crash_phase
phase_of(soak_op op)
{
    switch (op) {
    case SOAK_OP_REPLACE:
        return CRASH_SWAP;
    case SOAK_OP_PUBLISH:
    case SOAK_OP_SYNC_DIR:
        return CRASH_PUBLISH;
    default:
        return is_writer ? CRASH_FLUSH : CRASH_MERGE;
    }
}

/* As on a slow disk: so that a kill finds the phase it is meant for, before or behind the call. */
static void
linger(const crash_board *board, crash_phase phase)
{
    if (atomic_load(&board->target) == (int)phase &&
        atomic_load(&board->active[CRASH_RECOVERY]) == 0) {
        soak_sleep_us(soak_random_below(&linger_random, LINGER_US));
    }
}

static soak_verdict
board_before(void *ctx, soak_op op)
{
    crash_board *board = ctx;
    const crash_phase phase = phase_of(op);

    atomic_fetch_add(&board->active[phase], 1);
    atomic_fetch_add(&board->entered[phase], 1);
    linger(board, phase);
    return SOAK_PASS;
}

static void
board_after(void *ctx, soak_op op)
{
    crash_board *board = ctx;
    const crash_phase phase = phase_of(op);

    linger(board, phase);
    atomic_fetch_sub(&board->active[phase], 1);
}

static void
tell(const child *self, crash_word word, uint32_t bucket, uint64_t number)
{
    const crash_message message = {(uint32_t)word, bucket, number};

    if (write(self->call->pipe, &message, sizeof message) != (ssize_t)sizeof message) {
        soak_wrong("the parent does not listen");
    }
}

/* ---- rows ---- */

typedef struct row_of_moment {
    uint32_t key;
    bool is_delete;
} row_of_moment;

static row_of_moment
row_at(const child *self, uint32_t bucket, uint64_t moment)
{
    const uint64_t mixed = soak_mix(soak_mix(self->call->seed, bucket), moment);

    return (row_of_moment){(uint32_t)(mixed >> 8) % KEYS, mixed % 8 == 0};
}

static void
write_next(const child *self, child_bucket *bucket)
{
    const uint64_t moment = bucket->moment + 1;
    const row_of_moment row = row_at(self, bucket->number, moment);
    uint8_t key_room[SOAK_KEY_ROOM];
    uint8_t value_room[SOAK_VALUE_ROOM];
    sinter_bytes value = {NULL, 0};
    sinter_error err = SINTER_ERROR_INIT;

    if (!row.is_delete) {
        value = soak_value_make(bucket->number, row.key, moment, value_room);
    }
    soak_require(sinter_merge_tree_write(bucket->tree, soak_key_make(row.key, key_room),
                                         row.is_delete ? SINTER_KIND_DELETE : SINTER_KIND_INSERT,
                                         value, &err),
                 "write", &err);
    bucket->moment = moment;
}

/* ---- opening ---- */

static void
check_rows(const child *self, const child_bucket *bucket)
{
    uint64_t expected[KEYS] = {0};
    soak_rows rows = {NULL, 0, 0};
    sinter_error err = SINTER_ERROR_INIT;
    const soak_question question = {.bucket = bucket->number,
                                    .end = KEYS,
                                    .dir = bucket->dir,
                                    .files = bucket->catalog.files,
                                    .count = bucket->catalog.count};
    size_t at = 0;

    for (uint64_t moment = 1; moment <= bucket->catalog.moment; moment++) {
        const row_of_moment row = row_at(self, bucket->number, moment);

        expected[row.key] = row.is_delete ? 0 : moment;
    }
    soak_require(soak_read(&self->env, &question, &rows, &err), "reading", &err);
    for (uint32_t key = 0; key < KEYS; key++) {
        const bool is_there = at < rows.count && rows.rows[at].key == key;
        const uint64_t got = is_there ? rows.rows[at].moment : 0;

        if (got != expected[key]) {
            soak_wrong("%s at moment %" PRIu64 ": key %" PRIu32 " is of %" PRIu64 ", %" PRIu64
                       " was read (0: none)",
                       bucket->dir, bucket->catalog.moment, key, expected[key], got);
        }
        at += is_there ? 1 : 0;
    }
    soak_rows_fini(&rows);
}

static void
load_catalog(const child *self, child_bucket *bucket)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *io = self->env.io;
    sinter_status st = soak_catalog_load(&self->env, bucket->dir, &bucket->catalog, &err);

    if (st == SINTER_E_NOT_FOUND) { /* the parent knows whether there should be one */
        st = io->ops->mkdir(io, bucket->dir, &err);
        st = st == SINTER_E_EXISTS ? SINTER_OK : st;
        soak_require(st, bucket->dir, &err);
        st = soak_catalog_save(&self->env, bucket->dir, &bucket->catalog, &err);
    }
    soak_require(st, "the catalog", &err);
}

static void
set_option(child_bucket *bucket, const char *key, const char *value)
{
    sinter_error err = SINTER_ERROR_INIT;

    soak_require(sinter_compact_options_set(&bucket->options, key, value, &err), key, &err);
}

static uint64_t
open_bucket(child *self, uint32_t number)
{
    child_bucket *bucket = &self->buckets[number];
    sinter_clean_options stays = {.struct_size = (uint32_t)sizeof stays};
    sinter_clean_result cleaned = {.struct_size = (uint32_t)sizeof cleaned};
    sinter_error err = SINTER_ERROR_INIT;

    bucket->number = number;
    (void)snprintf(bucket->name, sizeof bucket->name, "b%" PRIu32, number);
    (void)snprintf(bucket->dir, sizeof bucket->dir, "%s/b%" PRIu32, self->call->dir, number);
    sinter_compact_options_init(&bucket->options);
    set_option(bucket, "write-buffer-size", "64 kb");
    set_option(bucket, "num-sorted-run.compaction-trigger", number % 2 == 0 ? "2" : "3");
    set_option(bucket, "target-file-size", "16 kb");
    set_option(bucket, "file.block-size", "2 kb");
    set_option(bucket, "file.compression", number < 2 ? "none" : "zstd");
    sinter_compact_task_init(&bucket->task);
    bucket->task.base_dir = bucket->dir;
    bucket->task.options = &bucket->options;
    load_catalog(self, bucket);
    stays.files = bucket->catalog.files;
    stays.count = bucket->catalog.count;
    soak_require(sinter_clean_dir(&self->env, bucket->dir, &stays, &cleaned, &err), "cleaning",
                 &err);
    soak_require(soak_catalog_check_dir(&self->env, bucket->dir, &bucket->catalog, &err),
                 bucket->dir, &err);
    check_rows(self, bucket);
    tell(self, CRASH_OPENED, number, bucket->catalog.moment);
    return cleaned.files + cleaned.temporary_files;
}

static void
open_tree(child *self, child_bucket *bucket)
{
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_merge_tree_config config = {.struct_size = (uint32_t)sizeof config,
                                             .name = bucket->name,
                                             .task = &bucket->task,
                                             .scheduler = self->scheduler,
                                             .files = bucket->catalog.files,
                                             .count = bucket->catalog.count,
                                             .max_sequence = bucket->catalog.max_sequence};

    soak_require(sinter_merge_tree_open(&self->env, &config, &bucket->tree, &err), bucket->name,
                 &err);
    bucket->moment = bucket->catalog.moment;
}

static void
open_all(child *self)
{
    const sinter_env *plain = sinter_env_default();
    const soak_hook hook = {.ctx = self->call->board, .before = board_before, .after = board_after};
    const sinter_io_kind kind = self->call->round % 2 == 0 ? SINTER_IO_POSIX : SINTER_IO_AUTO;
    const sinter_scheduler_options options = {.struct_size = (uint32_t)sizeof options,
                                              .tasks_max = 2};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t garbage = 0;

    soak_require(sinter_io_create(plain, kind, NULL, &self->disk, &err), "io", &err);
    self->watched = soak_hook_io_create(self->disk, &hook);
    sinter_env_init(&self->env);
    self->env.io = self->watched;
    atomic_fetch_add(&self->call->board->active[CRASH_RECOVERY], 1);
    for (uint32_t i = 0; i < CRASH_BUCKETS; i++) {
        garbage += open_bucket(self, i);
    }
    atomic_fetch_sub(&self->call->board->active[CRASH_RECOVERY], 1);
    tell(self, CRASH_GARBAGE, 0, garbage);
    soak_require(sinter_pool_create(plain, 2, 64, &self->pool, &err), "pool", &err);
    self->env.executor = sinter_pool_executor(self->pool);
    soak_require(sinter_scheduler_create(&self->env, &options, &self->scheduler, &err), "scheduler",
                 &err);
    for (uint32_t i = 0; i < CRASH_BUCKETS; i++) {
        open_tree(self, &self->buckets[i]);
    }
    tell(self, CRASH_READY, 0, 0);
}

/* ---- what is interrupted ---- */

static void
commit(child *self, child_bucket *bucket)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_increment *increment = NULL;
    bool is_compacted = false;

    soak_require(sinter_merge_tree_prepare_commit(
                     bucket->tree, soak_random_one_in(&self->random, 3), &increment, &err),
                 "prepare_commit", &err);
    is_compacted = sinter_increment_compact_after(increment)->count > 0;
    soak_catalog_apply(&bucket->catalog, increment, bucket->moment);
    soak_require(soak_catalog_save(&self->env, bucket->dir, &bucket->catalog, &err), "the catalog",
                 &err);
    tell(self, CRASH_COMMITTED, bucket->number, bucket->moment);
    if (is_compacted) {
        tell(self, CRASH_COMPACTED, bucket->number, 1);
    }
    soak_require(sinter_merge_tree_committed(bucket->tree, increment, &err), "committed", &err);
    sinter_increment_destroy(increment);
}

static void
step(child *self)
{
    child_bucket *bucket = &self->buckets[soak_random_below(&self->random, CRASH_BUCKETS)];
    const uint32_t rows = 1 + soak_random_below(&self->random, 150);
    const uint32_t choice = soak_random_below(&self->random, 10);
    sinter_error err = SINTER_ERROR_INIT;

    for (uint32_t i = 0; i < rows; i++) {
        write_next(self, bucket);
    }
    if (choice < 4) {
        commit(self, bucket);
    } else if (choice < 7) {
        soak_require(sinter_merge_tree_flush(bucket->tree, &err), "flush", &err);
    } else if (choice == 7) {
        soak_require(
            sinter_merge_tree_compact(bucket->tree, soak_random_one_in(&self->random, 2), &err),
            "compact", &err);
    }
}

static void
close_all(child *self)
{
    for (uint32_t i = 0; i < CRASH_BUCKETS; i++) {
        sinter_merge_tree_close(self->buckets[i].tree);
        soak_catalog_fini(&self->buckets[i].catalog);
    }
    sinter_scheduler_destroy(self->scheduler);
    sinter_pool_destroy(self->pool);
    sinter_io_destroy(self->watched);
    sinter_io_destroy(self->disk);
}

int
crash_child_run(const crash_call *call)
{
    child self = {.call = call, .random = {soak_mix(call->seed, call->round)}};

    is_writer = true;
    open_all(&self);
    while (!call->only_checks) {
        step(&self);
    }
    close_all(&self);
    return 0;
}
