/*
 * The recorded answers on which files of append tables are joined, put to the coordinator and to
 * the picks of a bucket.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "append/bucketed.h"
#include "base/bytes.h"
#include "golden.h"
#include "sinter/io.h"

TestSuite(golden_append, .timeout = 200);

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

/* Of partition p: 'p' and a digit, which sort as the numbers do. */
static const char *const partition_names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

static sinter_bytes
partition_of(const json_t *step)
{
    const int64_t p = golden_int(step, "partition");

    cr_assert(p >= 0 && p < 10);
    return bytes_of(partition_names[p]);
}

static sinter__append_file
file_of(const json_t *json)
{
    return (sinter__append_file){.name = bytes_of(golden_text(json, "name")),
                                 .bytes = (uint64_t)golden_int(json, "size"),
                                 .rows = (uint64_t)golden_int(json, "rows"),
                                 .carried = json};
}

static sinter__append_limits
limits_of(const json_t *options)
{
    return (sinter__append_limits){
        .target_bytes = (uint64_t)golden_int(options, "target_file_size"),
        .small_bytes = (uint64_t)golden_int(options, "compaction_file_size"),
        .open_file_cost = (uint64_t)golden_int(options, "open_file_cost"),
        .file_num_min = (uint64_t)golden_int(options, "min_file_num"),
        .file_num_limit = 100000,
        .delete_ratio = json_number_value(golden_get(options, "delete_ratio_threshold")),
        .has_vectors = golden_bool(options, "dv")};
}

/* ---- a table of snapshots ---- */

enum { SNAPSHOTS_MAX = 400 };

typedef struct fake_table {
    const json_t *snapshots[SNAPSHOTS_MAX]; /* steps; NULL: without data files */
    int64_t count;
    const json_t *vectors; /* of the newest snapshot */
    /* What is being read. */
    const json_t *steps[SNAPSHOTS_MAX];
    size_t step_count;
    size_t step;
    size_t file;
} fake_table;

static sinter_status
fake_latest(void *ctx, int64_t *out, sinter_error *err)
{
    const fake_table *table = ctx;

    (void)err;
    *out = table->count;
    return table->count == 0 ? SINTER_END : SINTER_OK;
}

static sinter_status
fake_earliest(void *ctx, int64_t *out, sinter_error *err)
{
    (void)ctx;
    (void)err;
    *out = 1;
    return SINTER_OK;
}

static sinter_status
fake_open(void *ctx, int64_t id, bool is_delta, sinter_error *err)
{
    fake_table *table = ctx;

    (void)err;
    if (id > table->count) {
        return SINTER_END;
    }
    table->step_count = table->step = table->file = 0;
    for (int64_t i = is_delta ? id : 1; i <= id; i++) {
        if (table->snapshots[i - 1] != NULL) {
            table->steps[table->step_count++] = table->snapshots[i - 1];
        }
    }
    return SINTER_OK;
}

static const json_t *
added_of(const json_t *step)
{
    const json_t *files = json_object_get(step, "files");

    return files != NULL ? files : golden_get(step, "after");
}

/* Is the file deleted by a step that is read? */
static bool
is_deleted(const fake_table *table, const char *name)
{
    for (size_t i = 0; i < table->step_count; i++) {
        const json_t *before = json_object_get(table->steps[i], "before");

        for (size_t k = 0; k < json_array_size(before); k++) {
            if (strcmp(json_string_value(json_array_get(before, k)), name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static sinter_status
fake_next(void *ctx, sinter_bytes *partition, sinter__append_file *file, sinter_error *err)
{
    fake_table *table = ctx;

    (void)err;
    while (table->step < table->step_count) {
        const json_t *step = table->steps[table->step];
        const json_t *files = added_of(step);

        while (table->file < json_array_size(files)) {
            const json_t *json = json_array_get(files, table->file++);

            if (!is_deleted(table, golden_text(json, "name"))) {
                *partition = partition_of(step);
                *file = file_of(json);
                return SINTER_OK;
            }
        }
        table->step++;
        table->file = 0;
    }
    return SINTER_END;
}

static const char *const index_names[] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7",
                                          "i8", "i9", "ia", "ib", "ic", "id", "ie", "if"};

static sinter_status
fake_vector(void *ctx, sinter_bytes partition, const sinter__append_file *file,
            sinter__append_vector *out, sinter_error *err)
{
    const fake_table *table = ctx;

    (void)err;
    for (size_t i = 0; i < json_array_size(table->vectors); i++) {
        const json_t *vector = json_array_get(table->vectors, i);
        const json_t *cardinality = golden_get(vector, "cardinality");
        const int64_t index = golden_int(vector, "index");

        if (sinter__key_equal(partition_of(vector), partition) &&
            sinter__key_equal(bytes_of(golden_text(vector, "file")), file->name)) {
            cr_assert(index >= 0 && index < 16);
            *out = (sinter__append_vector){
                .has = true,
                .cardinality = json_is_null(cardinality) ? -1 : json_integer_value(cardinality),
                .index_file = bytes_of(index_names[index])};
        }
    }
    return SINTER_OK;
}

/* ---- answers ---- */

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names, sorted: the order within a task is nobody's business. */
static json_t *
sorted_names(const sinter__append_file *files, size_t count)
{
    json_t *array = json_array();
    const char **names = calloc(count + 1, sizeof *names);

    for (size_t i = 0; i < count; i++) {
        names[i] = (const char *)files[i].name.data; /* strings of JSON end with a zero */
    }
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(array, json_string(names[i]));
    }
    free(names);
    return array;
}

static sinter_status
note_task(void *ctx, const sinter__append_task *task)
{
    json_array_append_new(ctx, json_pack("{s:i, s:o}", "partition", task->partition.data[0] - '0',
                                         "files", sorted_names(task->files, task->count)));
    return SINTER_OK;
}

static json_t *
sorted_tasks(const json_t *tasks)
{
    json_t *out = json_array();

    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const json_t *files = golden_get(json_array_get(tasks, i), "files");
        const size_t count = json_array_size(files);
        sinter__append_file *list = calloc(count + 1, sizeof *list);

        for (size_t k = 0; k < count; k++) {
            list[k].name = bytes_of(json_string_value(json_array_get(files, k)));
        }
        json_array_append_new(out, json_pack("{s:O, s:o}", "partition",
                                             golden_get(json_array_get(tasks, i), "partition"),
                                             "files", sorted_names(list, count)));
        free(list);
    }
    return out;
}

static void
expect_state(const char *id, const json_t *step, const json_t *tasks,
             const sinter__append_coordinator *coordinator)
{
    json_t *state = json_array();
    json_t *expected = sorted_tasks(golden_get(step, "tasks"));
    sinter__append_waiting waiting;

    for (size_t i = 0; sinter__append_coordinator_waiting(coordinator, i, &waiting); i++) {
        json_array_append_new(state,
                              json_pack("{s:i, s:i, s:o}", "partition",
                                        waiting.partition.data[0] - '0', "age", (int)waiting.age,
                                        "waiting", sorted_names(waiting.files, waiting.count)));
    }
    golden_expect(id, "tasks", expected, json_deep_copy(tasks));
    golden_expect(id, "state", golden_get(step, "state"), state);
    json_decref(expected);
}

static void
commit_step(fake_table *table, const char *op, const json_t *step, const char *op_before)
{
    if (strcmp(op, "commit_dv") == 0) {
        table->vectors = golden_get(step, "dvs");
        if (strcmp(op_before, "commit_compact") == 0) {
            return; /* belongs to that snapshot */
        }
        step = NULL;
    }
    cr_assert(table->count < SNAPSHOTS_MAX);
    table->snapshots[table->count++] = step;
}

static void
run_step(const char *id, const json_t *step, sinter__append_coordinator *coordinator, bool is_plan)
{
    json_t *tasks = json_array();
    const sinter_status st =
        is_plan ? sinter__append_coordinator_plan(coordinator, note_task, tasks, NULL)
                : sinter__append_coordinator_run(coordinator, note_task, tasks, NULL);

    if (json_object_get(step, "end_of_scan") != NULL) {
        cr_assert_eq(st, SINTER_END, "%s: %d", id, (int)st);
    } else {
        cr_assert_eq(st, SINTER_OK, "%s: %d", id, (int)st);
        expect_state(id, step, tasks, coordinator);
    }
    json_decref(tasks);
}

static void
notify_step(const json_t *step, sinter__append_coordinator *coordinator)
{
    const json_t *files = golden_get(step, "files");
    sinter__append_file *list = calloc(json_array_size(files) + 1, sizeof *list);

    for (size_t i = 0; i < json_array_size(files); i++) {
        list[i] = file_of(json_array_get(files, i));
    }
    cr_assert_eq(sinter__append_coordinator_notify(coordinator, partition_of(step), list,
                                                   json_array_size(files), NULL),
                 SINTER_OK);
    free(list);
}

static void
run_coordinator(const char *id, const json_t *line)
{
    const sinter__append_limits limits = limits_of(golden_get(line, "options"));
    const json_t *steps = golden_get(line, "steps");
    fake_table table = {.count = 0};
    const sinter__append_source source = {&table,    fake_latest, fake_earliest,
                                          fake_open, fake_next,   fake_vector};
    sinter__append_coordinator *coordinator = NULL;
    const char *op_before = "";

    if (strcmp(golden_text(line, "kind"), "notify") == 0) {
        cr_assert_eq(sinter__append_coordinator_create(sinter_env_default(), &limits, &source, true,
                                                       &coordinator, NULL),
                     SINTER_OK);
    }
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const char *op = golden_text(step, "op");

        if (strcmp(op, "open") == 0) {
            sinter__append_coordinator_destroy(coordinator);
            cr_assert_eq(sinter__append_coordinator_create(sinter_env_default(), &limits, &source,
                                                           golden_bool(step, "streaming"),
                                                           &coordinator, NULL),
                         SINTER_OK);
        } else if (strncmp(op, "commit", 6) == 0) {
            commit_step(&table, op, step, op_before);
        } else if (strcmp(op, "notify") == 0) {
            notify_step(step, coordinator);
        } else {
            run_step(id, step, coordinator, strcmp(op, "plan") == 0);
        }
        op_before = op;
    }
    sinter__append_coordinator_destroy(coordinator);
}

Test(golden_append, coordinators_give_the_recorded_tasks)
{
    golden_run("append_coordinator.jsonl", run_coordinator);
}

/* ---- buckets ---- */

enum { FILES_MAX = 400 };

typedef struct fake_bucket {
    sinter__append_limits limits;
    bool force;
    sinter__bucketed_file waiting[FILES_MAX];
    size_t count;
    /* The last result. */
    bool is_present;
    json_t *before;
} fake_bucket;

static void
add_file(fake_bucket *bucket, const json_t *json)
{
    cr_assert(bucket->count < FILES_MAX);
    bucket->waiting[bucket->count++] =
        (sinter__bucketed_file){.file = file_of(json), .min_sequence = golden_int(json, "min_seq")};
}

/* What the recorded rewriter made of these files is in the step that follows. */
static void
trigger(fake_bucket *bucket, bool full, const json_t *result)
{
    sinter__bucketed_pick pick;
    const json_t *after = golden_get(result, "after");

    sinter__bucketed_sort(bucket->waiting, bucket->count);
    pick = full ? sinter__bucketed_pick_full(&bucket->limits, bucket->force, bucket->waiting,
                                             bucket->count)
                : sinter__bucketed_pick_auto(&bucket->limits, bucket->waiting, bucket->count);
    bucket->is_present = full ? pick.has_asked : pick.count > 0;
    json_decref(bucket->before);
    bucket->before = json_array();
    for (size_t i = 0; i < pick.count; i++) {
        json_array_append_new(
            bucket->before,
            json_string((const char *)bucket->waiting[pick.first + i].file.name.data));
    }
    if (!full || pick.has_asked) {
        const size_t gone = full ? bucket->count : pick.first + pick.count;

        memmove(bucket->waiting, bucket->waiting + gone,
                (bucket->count - gone) * sizeof *bucket->waiting);
        bucket->count -= gone;
    }
    if (json_array_size(after) > 0) {
        const json_t *last = json_array_get(after, json_array_size(after) - 1);

        if ((uint64_t)golden_int(last, "size") < bucket->limits.small_bytes) {
            add_file(bucket, last);
        }
    }
    sinter__bucketed_sort(bucket->waiting, bucket->count);
}

static void
expect_result(const char *id, const json_t *step, fake_bucket *bucket)
{
    json_t *waiting = json_array();

    cr_assert_eq(bucket->is_present, golden_bool(step, "present"), "%s", id);
    if (bucket->is_present) {
        golden_expect(id, "before", golden_get(step, "before"), json_deep_copy(bucket->before));
    }
    for (size_t i = 0; i < bucket->count; i++) {
        json_array_append_new(waiting,
                              json_string((const char *)bucket->waiting[i].file.name.data));
    }
    golden_expect(id, "waiting", golden_get(step, "waiting"), waiting);
}

static void
run_bucket(const char *id, const json_t *line)
{
    const json_t *steps = golden_get(line, "steps");
    const json_t *restored = golden_get(line, "restored");
    fake_bucket *bucket = calloc(1, sizeof *bucket);

    bucket->limits =
        (sinter__append_limits){.target_bytes = (uint64_t)golden_int(line, "target_file_size"),
                                .small_bytes = (uint64_t)golden_int(line, "compaction_file_size"),
                                .file_num_min = (uint64_t)golden_int(line, "min_file_num")};
    bucket->force = golden_bool(line, "force_rewrite_all");
    for (size_t i = 0; i < json_array_size(restored); i++) {
        add_file(bucket, json_array_get(restored, i));
    }
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const char *op = golden_text(step, "op");

        if (strcmp(op, "add") == 0) {
            add_file(bucket, golden_get(step, "file"));
        } else if (strcmp(op, "trigger") == 0) {
            trigger(bucket, golden_bool(step, "full"), json_array_get(steps, i + 1));
        } else {
            expect_result(id, step, bucket);
        }
    }
    json_decref(bucket->before);
    free(bucket);
}

Test(golden_append, buckets_join_the_recorded_files)
{
    golden_run("append_bucketed.jsonl", run_bucket);
}
