#include "soak/bucket.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_least64_t counts[SOAK_COUNT_COUNT];

void
soak_count_add(soak_count what, uint64_t more)
{
    atomic_fetch_add_explicit(&counts[what], more, memory_order_relaxed);
}

uint64_t
soak_count_get(soak_count what)
{
    return atomic_load_explicit(&counts[what], memory_order_relaxed);
}

const char *
soak_count_text(soak_count what)
{
    static const char *const texts[] = {
#define SOAK_COUNT_TEXT(name, text) [SOAK_COUNT_##name] = (text),
        SOAK_COUNT_MAP(SOAK_COUNT_TEXT)
#undef SOAK_COUNT_TEXT
    };

    return texts[what];
}

void
soak_bucket_init(soak_bucket *bucket, uint32_t number, const char *base_dir, uint64_t seed,
                 uint32_t key_count)
{
    *bucket = (soak_bucket){.number = number, .random = {soak_mix(seed, number)}};
    (void)snprintf(bucket->name, sizeof bucket->name, "b%03" PRIu32, number);
    if (snprintf(bucket->dir, sizeof bucket->dir, "%s/%s", base_dir, bucket->name) >=
        (int)sizeof bucket->dir) {
        soak_wrong("%s: too long a path", base_dir);
    }
    soak_model_init(&bucket->model, number, key_count);
    soak_catalog_init(&bucket->catalog);
    (void)pthread_rwlock_init(&bucket->door, NULL);
}

void
soak_bucket_fini(soak_bucket *bucket)
{
    soak_catalog_fini(&bucket->catalog);
    soak_model_fini(&bucket->model);
    (void)pthread_rwlock_destroy(&bucket->door);
}

/* ---- opening and closing ---- */

static void
set_option(soak_bucket *bucket, const char *key, const char *value)
{
    sinter_error err = SINTER_ERROR_INIT;

    soak_require(sinter_compact_options_set(&bucket->options, key, value, &err), key, &err);
}

static const char *
one_of(soak_bucket *bucket, const char *const *values, uint32_t count)
{
    return values[soak_random_below(&bucket->random, count)];
}

/* Every time it is opened a bucket has other options. */
static void
choose_options(soak_bucket *bucket)
{
    static const char *const buffers[] = {"64 kb", "64 kb", "128 kb", "256 kb"};
    static const char *const triggers[] = {"2", "3", "5"};
    static const char *const targets[] = {"16 kb", "64 kb", "64 kb", "1 mb"};
    static const char *const codecs[] = {"none", "zstd"};
    static const char *const blocks[] = {"1 kb", "4 kb", "64 kb"};
    static const char *const budgets[] = {"4 mb", "8 mb", "32 mb"};
    static const char *const tiny_budgets[] = {"8 kb", "96 kb", "256 kb"};
    static const char *const spills[] = {"64 kb", "1 mb"};
    static const char *const filters[] = {"0", "10"};
    static const char *const parts[] = {"1", "1", "3"};
    static const char *const yes_no[] = {"false", "false", "false", "true"};
    const bool is_tiny = !bucket->is_plain && soak_random_one_in(&bucket->random, 8);

    sinter_compact_options_init(&bucket->options);
    set_option(bucket, "write-buffer-size", one_of(bucket, buffers, 4));
    set_option(bucket, "num-sorted-run.compaction-trigger", one_of(bucket, triggers, 3));
    set_option(bucket, "target-file-size", one_of(bucket, targets, 4));
    set_option(bucket, "file.compression", one_of(bucket, codecs, 2));
    set_option(bucket, "file.block-size", one_of(bucket, blocks, 3));
    set_option(bucket, "sinter.memory-budget",
               is_tiny ? one_of(bucket, tiny_budgets, 3) : one_of(bucket, budgets, 3));
    set_option(bucket, "sinter.filter.bits-per-key", one_of(bucket, filters, 2));
    set_option(bucket, "sinter.sub-compactions", one_of(bucket, parts, 3));
    set_option(bucket, "commit.force-compact", one_of(bucket, yes_no, 4));
    set_option(bucket, "compaction.force-up-level-0", one_of(bucket, yes_no, 4));
    set_option(bucket, "sinter.io.direct", one_of(bucket, yes_no, 4));
    set_option(bucket, "write-buffer-spillable", one_of(bucket, yes_no + 2, 2));
    set_option(bucket, "write-buffer-spill.max-disk-size", one_of(bucket, spills, 2));
    if (soak_random_one_in(&bucket->random, 4)) {
        set_option(bucket, "sort-spill-threshold", "2");
    }
    bucket->is_plain = false;
    sinter_compact_task_init(&bucket->task);
    bucket->task.base_dir = bucket->dir;
    bucket->task.options = &bucket->options;
}

/* The first time: make the directory, so that it lasts, and an empty catalog. */
static sinter_status
make_dir(soak_bucket *bucket, sinter_error *err)
{
    const sinter_env *env = bucket->around.env;
    const char *slash = strrchr(bucket->dir, '/');
    char parent[sizeof bucket->dir];
    sinter_status st = env->io->ops->mkdir(env->io, bucket->dir, err);

    (void)snprintf(parent, sizeof parent, "%.*s", (int)(slash - bucket->dir), bucket->dir);
    if (st == SINTER_OK || st == SINTER_E_EXISTS) {
        st = env->io->ops->sync_dir(env->io, parent, err);
    }
    return st == SINTER_OK ? soak_catalog_save(env, bucket->dir, &bucket->catalog, err) : st;
}

static sinter_status
load_catalog(soak_bucket *bucket, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    soak_catalog_fini(&bucket->catalog);
    st = soak_catalog_load(bucket->around.env, bucket->dir, &bucket->catalog, err);
    if (st == SINTER_E_NOT_FOUND && bucket->model.attempted == 0) {
        st = make_dir(bucket, err);
    }
    return st;
}

static sinter_status
clean(soak_bucket *bucket, sinter_error *err)
{
    const sinter_env *env = bucket->around.env;
    const sinter_clean_options stays = {.struct_size = (uint32_t)sizeof stays,
                                        .files = bucket->catalog.files,
                                        .count = bucket->catalog.count};
    sinter_clean_result cleaned = {.struct_size = (uint32_t)sizeof cleaned};
    sinter_status st = SINTER_OK;

    if (atomic_load(&bucket->holders) > 0) {
        soak_count_add(SOAK_COUNT_HELD_SETS, 1);
        return SINTER_OK;
    }
    st = sinter_clean_dir(env, bucket->dir, &stays, &cleaned, err);
    soak_count_add(SOAK_COUNT_GARBAGE, cleaned.files + cleaned.temporary_files);
    return st == SINTER_OK ? soak_catalog_check_dir(env, bucket->dir, &bucket->catalog, err) : st;
}

static sinter_status
open_tree(soak_bucket *bucket, sinter_error *err)
{
    sinter_merge_tree_config config = {.struct_size = (uint32_t)sizeof config};
    sinter_status st = SINTER_OK;

    config.name = bucket->name;
    config.needs_lookup = soak_random_one_in(&bucket->random, 6);
    config.keep_deletes = soak_random_one_in(&bucket->random, 6);
    config.task = &bucket->task;
    config.scheduler = bucket->around.scheduler;
    config.files = bucket->catalog.files;
    config.count = bucket->catalog.count;
    config.max_sequence = bucket->catalog.max_sequence;
    config.pool = bucket->around.pool;
    (void)pthread_rwlock_wrlock(&bucket->door);
    st = sinter_merge_tree_open(bucket->around.env, &config, &bucket->tree, err);
    bucket->tree_number++;
    (void)pthread_rwlock_unlock(&bucket->door);
    return st;
}

static bool
open_calmly(soak_bucket *bucket)
{
    sinter_error err = SINTER_ERROR_INIT;

    choose_options(bucket);
    if (!soak_calm_ok(load_catalog(bucket, &err), "the catalog", &err) ||
        !soak_calm_ok(clean(bucket, &err), "cleaning", &err)) {
        return false;
    }
    soak_model_restart(&bucket->model, bucket->catalog.moment, bucket->around.pool != NULL);
    if (!soak_calm_ok(open_tree(bucket, &err), bucket->name, &err)) {
        return false;
    }
    bucket->flushes = 0;
    bucket->rows = 0;
    bucket->failures_in_a_row = 0;
    return soak_bucket_verify(bucket, "after a restart");
}

bool
soak_bucket_open(soak_bucket *bucket, const soak_surroundings *around)
{
    bool is_open = false;

    bucket->around = *around;
    soak_calm_begin();
    is_open = open_calmly(bucket);
    soak_calm_end();
    return is_open;
}

/* Each number of the tree is exact: what the program knows itself must agree. */
static void
count_volume(soak_bucket *bucket)
{
    sinter_bucket_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};

    sinter_merge_tree_metrics_get(bucket->tree, &metrics);
    if (metrics.rows_written != bucket->rows) {
        soak_wrong("%s counts %" PRIu64 " rows; %" PRIu64 " were written", bucket->name,
                   metrics.rows_written, bucket->rows);
    }
    bucket->volume.bytes_in += metrics.bytes_in;
    bucket->volume.flushed_bytes += metrics.flushed_bytes;
    bucket->volume.compact_read_bytes += metrics.compact_read_bytes;
    bucket->volume.compact_written_bytes += metrics.compact_written_bytes;
    bucket->volume.stall_ns += metrics.stall_ns;
    soak_count_add(SOAK_COUNT_COMPACTIONS, metrics.compactions_completed);
    soak_count_add(SOAK_COUNT_COMPACTIONS_CANCELLED, metrics.compactions_cancelled);
    soak_count_add(SOAK_COUNT_COMPACTIONS_FAILED, metrics.compactions_failed);
    soak_count_add(SOAK_COUNT_STALLS, metrics.stalls);
    soak_count_add(SOAK_COUNT_FLUSHES, metrics.flushes);
}

void
soak_bucket_close(soak_bucket *bucket)
{
    for (size_t i = 0; i < bucket->increment_count; i++) {
        sinter_increment_destroy(bucket->increments[i]);
    }
    bucket->increment_count = 0;
    (void)pthread_rwlock_wrlock(&bucket->door);
    if (bucket->tree != NULL) {
        count_volume(bucket);
        sinter_merge_tree_close(bucket->tree);
    }
    bucket->tree = NULL;
    (void)pthread_rwlock_unlock(&bucket->door);
}

/* ---- what a writer does ---- */

/* Was there a flush since this was last asked? */
static bool
has_flushed(soak_bucket *bucket)
{
    sinter_bucket_metrics metrics = {.struct_size = (uint32_t)sizeof metrics};
    const uint64_t before = bucket->flushes;

    sinter_merge_tree_metrics_get(bucket->tree, &metrics);
    bucket->flushes = metrics.flushes;
    return metrics.flushes != before;
}

/* A bucket of a pool may have been flushed to make room for another one. */
static void
note_flushes(soak_bucket *bucket)
{
    if (has_flushed(bucket)) {
        soak_model_flush_end(&bucket->model, true);
    }
}

/* Failures that the weather explains; every other one is a wrong answer. */
static void
expect_weather(soak_bucket *bucket, const char *what, sinter_status st, const sinter_error *err)
{
    if (st == SINTER_OK) {
        bucket->failures_in_a_row = 0;
        return;
    }
    soak_count_add(SOAK_COUNT_FAILURES, 1);
    bucket->failures_in_a_row++;
    if (st == SINTER_E_TOO_LARGE) {
        soak_storm_count(SOAK_FAULT_MEMORY_BUDGET);
    } else if (st == SINTER_E_BUSY) {
        soak_sleep_us(1000); /* the scheduler is paused */
    } else if (st != SINTER_E_NOMEM && st != SINTER_E_IO && st != SINTER_E_NO_SPACE) {
        soak_wrong("%s: %s: %s: %s (%s; %s:%d)", bucket->name, what, sinter_status_name(st),
                   err->text, err->file, err->origin_file == NULL ? "" : err->origin_file,
                   (int)err->origin_line);
    }
}

/* False: it failed. */
static bool
write_one(soak_bucket *bucket)
{
    /* half of the rows are of a tenth of the keys */
    const uint32_t keys = bucket->model.key_count;
    const uint32_t below = soak_random_one_in(&bucket->random, 2) ? keys : (keys + 9) / 10;
    const uint32_t key = soak_random_below(&bucket->random, below);
    const bool is_delete = soak_random_one_in(&bucket->random, 6);
    const uint64_t moment = soak_model_write_begin(&bucket->model, key, is_delete);
    uint8_t key_room[SOAK_KEY_ROOM];
    uint8_t value_room[SOAK_VALUE_ROOM];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_bytes value = {NULL, 0};
    uint8_t kind = SINTER_KIND_DELETE;
    sinter_status st = SINTER_OK;

    if (!is_delete) {
        value = soak_value_make(bucket->number, key, moment, value_room);
        kind = moment % 2 == 0 ? SINTER_KIND_INSERT : SINTER_KIND_UPDATE_AFTER;
    }
    st = sinter_merge_tree_write(bucket->tree, soak_key_make(key, key_room), kind, value, &err);
    soak_model_write_end(&bucket->model, key, st == SINTER_OK, has_flushed(bucket));
    expect_weather(bucket, "write", st, &err);
    bucket->rows += st == SINTER_OK ? 1 : 0;
    return st == SINTER_OK;
}

static void
write_some(soak_bucket *bucket)
{
    const uint32_t count = 1 + soak_random_below(&bucket->random, 120);
    uint32_t written = 0;

    while (written < count && write_one(bucket)) {
        written++;
    }
    soak_count_add(SOAK_COUNT_WRITES, written);
}

static void
flush(soak_bucket *bucket)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    soak_model_flush_begin(&bucket->model);
    st = sinter_merge_tree_flush(bucket->tree, &err);
    soak_model_flush_end(&bucket->model, has_flushed(bucket) || st == SINTER_OK);
    expect_weather(bucket, "flush", st, &err);
}

static void
compact(soak_bucket *bucket, bool full)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    soak_model_flush_begin(&bucket->model);
    st = sinter_merge_tree_compact(bucket->tree, full, &err);
    soak_model_flush_end(&bucket->model, has_flushed(bucket) || st == SINTER_OK);
    expect_weather(bucket, "compact", st, &err);
    soak_count_add(SOAK_COUNT_FULL_COMPACTIONS, full ? 1 : 0);
}

static bool
prepare(soak_bucket *bucket)
{
    sinter_increment **out = &bucket->increments[bucket->increment_count];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    soak_model_flush_begin(&bucket->model);
    st = sinter_merge_tree_prepare_commit(bucket->tree, soak_random_one_in(&bucket->random, 3), out,
                                          &err);
    soak_model_flush_end(&bucket->model, has_flushed(bucket) || st == SINTER_OK);
    expect_weather(bucket, "prepare_commit", st, &err);
    if (st == SINTER_OK) {
        bucket->moments[bucket->increment_count++] = soak_model_written(&bucket->model);
    }
    return st == SINTER_OK;
}

/* Swap the catalog; what fails may be tried again. */
static bool
swap_catalog(soak_bucket *bucket)
{
    const uint64_t moment = bucket->moments[bucket->increment_count - 1];
    sinter_error err = SINTER_ERROR_INIT;
    soak_catalog next;

    soak_catalog_copy(&bucket->catalog, &next);
    for (size_t i = 0; i < bucket->increment_count; i++) {
        soak_catalog_apply(&next, bucket->increments[i], bucket->moments[i]);
    }
    soak_model_commit_begin(&bucket->model, moment);
    for (int i = 0; i < 3; i++) {
        if (soak_catalog_save(bucket->around.env, bucket->dir, &next, &err) == SINTER_OK) {
            soak_model_commit_end(&bucket->model, moment);
            soak_catalog_fini(&bucket->catalog);
            bucket->catalog = next;
            return true;
        }
        soak_count_add(SOAK_COUNT_COMMIT_FAILURES, 1);
        if (soak_random_one_in(&bucket->random, 3)) {
            break;
        }
    }
    soak_catalog_fini(&next);
    return false;
}

/* A swap that failed may have been done all the same: look. False: the power is off, too. */
static bool
is_old_for_sure(const soak_bucket *bucket)
{
    sinter_error err = SINTER_ERROR_INIT;
    soak_catalog found;
    bool is_same = false;

    soak_catalog_init(&found);
    soak_calm_begin();
    if (soak_calm_ok(soak_catalog_load(bucket->around.env, bucket->dir, &found, &err),
                     "the catalog", &err)) {
        is_same = found.count == bucket->catalog.count;
        for (size_t i = 0; is_same && i < found.count; i++) {
            is_same = found.files[i].level == bucket->catalog.files[i].level &&
                      strcmp(found.files[i].file_name, bucket->catalog.files[i].file_name) == 0;
        }
    }
    soak_calm_end();
    soak_catalog_fini(&found);
    return is_same;
}

/* The catalog is the old one: give back some of what it was to learn, the last of it. The next
 * increment has it, or one after it; now and then the tree is closed with it. */
static void
give_back(soak_bucket *bucket)
{
    const size_t left = soak_random_below(&bucket->random, (uint32_t)bucket->increment_count);

    while (bucket->increment_count > left) {
        sinter_increment *last = bucket->increments[--bucket->increment_count];
        sinter_error err = SINTER_ERROR_INIT;

        soak_require(sinter_merge_tree_return(bucket->tree, last, &err), "an increment comes back",
                     &err);
        soak_count_add(SOAK_COUNT_RETURNS, 1);
    }
}

bool
soak_bucket_commit(soak_bucket *bucket)
{
    sinter_error err = SINTER_ERROR_INIT;

    note_flushes(bucket);
    if (bucket->increment_count < SOAK_INCREMENTS_MAX && !prepare(bucket)) {
        return false;
    }
    if (bucket->increment_count < SOAK_INCREMENTS_MAX && soak_random_one_in(&bucket->random, 4)) {
        return false; /* committed together with the next one */
    }
    if (soak_random_one_in(&bucket->random, 20) || !swap_catalog(bucket)) {
        if (is_old_for_sure(bucket)) {
            give_back(bucket);
        }
        return false;
    }
    atomic_store(&bucket->removing_tree, bucket->tree_number);
    for (size_t i = 0; i < bucket->increment_count; i++) {
        const sinter_status st =
            sinter_merge_tree_committed(bucket->tree, bucket->increments[i], &err);

        expect_weather(bucket, "committed", st, &err);
        sinter_increment_destroy(bucket->increments[i]);
    }
    bucket->increment_count = 0;
    soak_count_add(SOAK_COUNT_COMMITS, 1);
    return true;
}

static void
restart(soak_bucket *bucket)
{
    const soak_surroundings around = bucket->around;

    soak_bucket_close(bucket);
    if (soak_random_one_in(&bucket->random, 2)) {
        /* The door is closed: readers let go in a while, and then garbage can be told. */
        for (int i = 0; i < 50 && atomic_load(&bucket->holders) > 0; i++) {
            soak_sleep_us(1000);
        }
    }
    soak_count_add(SOAK_COUNT_RESTARTS, soak_bucket_open(bucket, &around) ? 1 : 0);
}

void
soak_bucket_step(soak_bucket *bucket)
{
    const uint32_t choice = soak_random_below(&bucket->random, 100);

    note_flushes(bucket);
    if (bucket->failures_in_a_row > 20) {
        bucket->is_plain = true; /* a budget that can't hold it: others would raise it too */
        restart(bucket);
    } else if (choice < 64) {
        write_some(bucket);
    } else if (choice < 74) {
        flush(bucket);
    } else if (choice < 80) {
        compact(bucket, choice >= 78);
    } else if (choice < 95) {
        (void)soak_bucket_commit(bucket);
    } else if (choice < 97) {
        sinter_merge_tree_cancel(bucket->tree);
        soak_count_add(SOAK_COUNT_CANCELS, 1);
    } else if (choice < 98) {
        soak_calm_begin();
        (void)soak_bucket_verify(bucket, "beside a compaction");
        soak_calm_end();
    } else {
        restart(bucket);
    }
}

/* ---- looking ---- */

bool
soak_bucket_verify(soak_bucket *bucket, const char *what)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(bucket->tree);
    soak_candidates candidates = {.count = 1};
    soak_question question = {
        .bucket = bucket->number, .end = bucket->model.key_count, .dir = bucket->dir};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_env env = *sinter_env_default();
    soak_rows rows = {NULL, 0, 0};
    bool is_read = false;

    note_flushes(bucket);
    env.io = bucket->around.env->io;
    candidates.moments[0] = bucket->model.points[bucket->model.point_count - 1];
    question.files = sinter_file_set_files(set, &question.count);
    soak_require(sinter_files_check(&env, question.files, question.count, &err), bucket->name,
                 &err);
    is_read = soak_calm_ok(soak_read(&env, &question, &rows, &err), bucket->name, &err);
    if (is_read) {
        soak_model_check(&bucket->model, &candidates, &question, &rows, what);
        soak_count_add(SOAK_COUNT_WHOLE_READS, 1);
    }
    sinter_file_set_release(set);
    soak_rows_fini(&rows);
    return is_read;
}

void
soak_bucket_metrics(soak_bucket *bucket, sinter_bucket_metrics *out)
{
    *out = (sinter_bucket_metrics){.struct_size = (uint32_t)sizeof *out};
    (void)pthread_rwlock_rdlock(&bucket->door);
    if (bucket->tree != NULL) {
        sinter_merge_tree_metrics_get(bucket->tree, out);
    }
    (void)pthread_rwlock_unlock(&bucket->door);
}
