#include "scenario.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1000, TARGET_BYTES = 40000, LEVEL_MAX = 5 };

void
test_directory(char *out, size_t size, const char *parent, const char *name)
{
    parent = parent == NULL ? getenv("SINTER_TEST_DIR") : parent;
    if (parent == NULL) {
        parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    snprintf(out, size, "%s/%s-XXXXXX", parent, name);
    if (mkdtemp(out) == NULL) {
        perror(out);
        exit(2);
    }
}

size_t
open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;

    while (dir != NULL && readdir(dir) != NULL) {
        count++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return count;
}

/* A file of keys first, first + step, ...; every `delete_every`-th row is a DELETE. */
static void
add_rows(scenario *s, int32_t level, uint32_t first, uint32_t step, uint32_t count,
         uint32_t delete_every)
{
    static int64_t sequence = 1000;
    test_record *records = calloc(count, sizeof *records);
    uint8_t *bytes = calloc(count, 4 + 24);

    if (records == NULL || bytes == NULL) {
        abort();
    }
    sequence += level == 0 ? 10000 : -10000;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = first + i * step;
        uint8_t *at = bytes + (size_t)i * 28;
        const uint8_t key[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16),
                                (uint8_t)(number >> 8), (uint8_t)number};

        memcpy(at, key, 4);
        memset(at + 4, (int)('a' + (number + (uint32_t)level) % 26), 24);
        records[i] =
            (test_record){.key = {at, 4},
                          .value = {at + 4, 24},
                          .sequence = sequence + i,
                          .kind = delete_every != 0 && i % delete_every == 0 ? SINTER_KIND_DELETE
                                                                             : SINTER_KIND_INSERT};
    }
    bucket_add(&s->bucket, records, count, level);
    s->bucket.clock_ms += 1000;
    free(records);
    free(bytes);
}

void
scenario_begin(scenario *s, bool deletes_late)
{
    scenario_begin_in(s, NULL, deletes_late);
}

void
scenario_begin_in(scenario *s, const char *parent, bool deletes_late)
{
    memset(s, 0, sizeof *s);
    test_directory(s->dir, sizeof s->dir, parent, "sinter-fault");
    bucket_init(&s->bucket, sinter_io_posix(), s->dir, false);
    s->bucket.write.block_bytes = BLOCK_BYTES;
    add_rows(s, 2, 5000, 2, 2000, 0);
    add_rows(s, 1, 0, 2, 2000, 0);
    for (uint32_t i = 0; i < 4; i++) {
        add_rows(s, 0, i, 7 + i, 40, deletes_late ? 0 : 3);
    }
    add_rows(s, 0, 10000, 1, 60, 0);
    add_rows(s, 0, 10040, 1, 60, 4);
    for (size_t i = 0; i < SCENARIO_FILES; i++) {
        s->files[i] = s->bucket.files[i].meta;
    }
    sinter_compact_options_init(&s->options);
    s->options.target_file_bytes = TARGET_BYTES;
    s->options.codec = SINTER_CODEC_NONE;
    s->options.block_bytes = BLOCK_BYTES;
    s->options.sort_spill_threshold = 2;
    s->options.verify_output = true;
    sinter_compact_task_init(&s->task);
    s->task.output_level = LEVEL_MAX;
    s->task.max_level = LEVEL_MAX;
    s->task.drop_delete = true;
    s->task.files = s->files;
    s->task.count = SCENARIO_FILES;
    s->task.base_dir = s->dir;
    s->task.options = &s->options;
}

void
scenario_end(scenario *s)
{
    bucket_remove_files(&s->bucket);
    rmdir(s->dir);
    bucket_fini(&s->bucket);
}

static void
stop(const char *label, uint64_t point, const char *text)
{
    fprintf(stderr, "%s, point %llu: %s\n", label, (unsigned long long)point, text);
    abort();
}

/* New files of a success are whole, deletes are gone; then remove them. */
static void
check_outputs(scenario *s, const sinter_compact_result *result, const char *label, uint64_t point)
{
    const sinter_file_list *after = sinter_compact_result_after(result);
    const sinter_compact_counters *counters = sinter_compact_result_counters(result);
    size_t new_files = 0;

    for (size_t i = 0; i < after->count; i++) {
        sinter_sst_verify_result verified = {.struct_size = sizeof verified};
        char path[1024];

        snprintf(path, sizeof path, "%s/%s", s->dir, after->files[i].file_name);
        if (sinter_sst_verify(&s->bucket.env, path, &verified, NULL) != SINTER_OK ||
            verified.rows != after->files[i].row_count || after->files[i].delete_row_count != 0) {
            stop(label, point, "an output is damaged or holds deletes");
        }
        if (after->files[i].upgraded_from < 0) {
            new_files++;
            unlink(path);
        }
    }
    if (new_files < 2 || counters->files_upgraded != 1 || counters->merge.spill_runs == 0 ||
        counters->merge.blocks_passed == 0 || counters->merge.deleted == 0) {
        stop(label, point, "the compaction holds too little to be worth failing");
    }
}

/* What a crash or a power loss left under a name is whole. */
typedef struct leftovers {
    scenario *s;
    char names[64][256];
    size_t count;
} leftovers;

static sinter_status
note_leftover(void *ctx, const char *name)
{
    leftovers *left = ctx;

    for (size_t i = 0; i < SCENARIO_FILES; i++) {
        if (strcmp(name, left->s->files[i].file_name) == 0) {
            return SINTER_OK;
        }
    }
    if (left->count < 64) {
        snprintf(left->names[left->count++], 256, "%s", name);
    }
    return SINTER_OK;
}

static void
remove_leftovers(scenario *s, uint64_t point)
{
    sinter_io *io = s->bucket.base;
    static leftovers left;

    left = (leftovers){.s = s};
    if (io->ops->list(io, s->dir, note_leftover, &left, NULL) != SINTER_OK) {
        stop("crash", point, "the directory can't be listed");
    }
    for (size_t i = 0; i < left.count; i++) {
        sinter_sst_verify_result verified = {.struct_size = sizeof verified};
        char path[1024];

        snprintf(path, sizeof path, "%s/%s", s->dir, left.names[i]);
        if (sinter_sst_verify(&s->bucket.env, path, &verified, NULL) != SINTER_OK) {
            stop("crash", point, left.names[i]);
        }
        unlink(path);
    }
}

static void
check_directory(scenario *s, const char *label, uint64_t point)
{
    sinter_io *io = s->bucket.base;
    uint64_t removed = 0;
    char text[BUCKET_TEXT_BYTES];

    if (io->ops->clean != NULL && io->ops->clean(io, s->dir, &removed, NULL) != SINTER_OK) {
        stop(label, point, "cleaning failed");
    }
    if (!bucket_is_intact(&s->bucket, text)) {
        stop(label, point, text);
    }
}

static sinter_status
run(scenario *s, const sinter_env *env, sinter_error *err, const char *label, uint64_t point)
{
    const size_t descriptors = open_descriptors();
    sinter_compact_result *result = NULL;
    sinter_status st = SINTER_OK;

    *err = (sinter_error)SINTER_ERROR_INIT;
    st = sinter_compact_task_run(env, &s->task, &result, err);
    if (st == SINTER_OK) {
        check_outputs(s, result, label, point);
    } else if (result != NULL || err->status != st) {
        stop(label, point, "a failure with a result, or without its detail");
    }
    sinter_compact_result_destroy(result);
    if (open_descriptors() != descriptors) {
        stop(label, point, "a descriptor was left open");
    }
    return st;
}

sinter_status
scenario_run(scenario *s, const sinter_env *env, sinter_error *err, const char *label,
             uint64_t point)
{
    const sinter_status st = run(s, env, err, label, point);

    check_directory(s, label, point);
    return st;
}

sinter_status
scenario_run_crash(scenario *s, const sinter_env *env, sinter_error *err, uint64_t point)
{
    const sinter_status st = run(s, env, err, "crash", point);
    uint64_t removed = 0;
    sinter_io *io = s->bucket.base;

    if (io->ops->clean != NULL && io->ops->clean(io, s->dir, &removed, NULL) != SINTER_OK) {
        stop("crash", point, "cleaning failed");
    }
    remove_leftovers(s, point);
    check_directory(s, "crash", point);
    return st;
}
