/*
 * The recorded answers, put to what `sinter compact` calls: partition, task, merge, options.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucket.h"
#include "model/merge_harness.h"
#include "sinter/compact.h"
#include "sinter/io.h"

TestSuite(golden, .timeout = 200);

/** Files of a case, in its order. */
typedef struct case_files {
    sinter_file_meta *files;
    uint8_t (*keys)[2][8];
    bool *is_expired;
    size_t count;
} case_files;

static void
files_load(const json_t *list, case_files *out)
{
    out->count = json_array_size(list);
    out->files = calloc(out->count + 1, sizeof *out->files);
    out->keys = calloc(out->count + 1, sizeof *out->keys);
    out->is_expired = calloc(out->count + 1, sizeof *out->is_expired);
    cr_assert(out->files != NULL && out->keys != NULL && out->is_expired != NULL);
    for (size_t i = 0; i < out->count; i++) {
        const json_t *json = json_array_get(list, i);
        sinter_file_meta *file = &out->files[i];

        *file = (sinter_file_meta){.struct_size = sizeof *file, .row_count = 1};
        file->file_name = golden_text(json, "id");
        file->min_key = golden_hex(json, "min_hex", out->keys[i][0]);
        file->max_key = golden_hex(json, "max_hex", out->keys[i][1]);
        file->upgraded_from = -1;
    }
}

static void
files_free(case_files *files)
{
    free(files->files);
    free(files->keys);
    free(files->is_expired);
}

static json_t *
name_list(const sinter_file_meta *const *files, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_string(files[i]->file_name));
    }
    return list;
}

static void
partition_case(const char *id, const json_t *line)
{
    const json_t *expected = golden_get(line, "expect");
    case_files files = {0};
    sinter_partition *partition = NULL;
    json_t *sections = json_array();
    json_t *run_counts = json_array();

    files_load(golden_get(line, "files"), &files);
    cr_assert_eq(
        sinter_partition_create(sinter_env_default(), files.files, files.count, &partition, NULL),
        SINTER_OK, "%s", id);
    for (size_t s = 0; s < sinter_partition_section_count(partition); s++) {
        const size_t count = sinter_partition_run_count(partition, s);
        json_t *runs = json_array();

        for (size_t r = 0; r < count; r++) {
            size_t file_count = 0;
            const sinter_file_meta *const *run = sinter_partition_run(partition, s, r, &file_count);

            json_array_append_new(runs, name_list(run, file_count));
        }
        json_array_append_new(sections, runs);
        json_array_append_new(run_counts, json_integer((json_int_t)count));
    }
    golden_expect(id, "sections", golden_get(expected, "sections"), sections);
    golden_expect(id, "runs", golden_get(expected, "runs_per_section"), run_counts);
    sinter_partition_destroy(partition);
    files_free(&files);
}

Test(golden, interval_partition)
{
    golden_run("interval_partition.jsonl", partition_case);
}

/** A task whose files know whether they have expired. */
typedef struct expiry {
    const sinter_compact_task *task;
    const bool *is_expired;
} expiry;

static bool
file_expired(void *ctx, const sinter_file_meta *file)
{
    const expiry *e = ctx;

    return e->is_expired[file - e->task->files];
}

static void
load_task_files(const json_t *line, case_files *files)
{
    const json_t *list = golden_get(line, "files");

    files_load(list, files);
    for (size_t i = 0; i < files->count; i++) {
        const json_t *json = json_array_get(list, i);
        const json_t *deletes = golden_get(json, "delete_row_count");

        files->files[i].level = (int32_t)golden_int(json, "level");
        files->files[i].file_size = (uint64_t)golden_int(json, "size");
        files->files[i].delete_row_count = json_is_null(deletes) ? -1 : json_integer_value(deletes);
        files->is_expired[i] = golden_bool(json, "expired");
    }
}

static void
task_case(const char *id, const json_t *line)
{
    const json_t *expected = golden_get(line, "expect");
    case_files files = {0};
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    golden_recorder recorder = {.prefix = "out", .actions = json_array()};
    const sinter_rewriter rewriter = golden_recorder_rewriter(&recorder);
    expiry expired = {.task = &task};

    load_task_files(line, &files);
    expired.is_expired = files.is_expired;
    sinter_compact_options_init(&options);
    options.force_rewrite_all_files = golden_bool(line, "force_rewrite_all_files");
    options.small_file_ratio = 0; /* so that a limit of 0 is 0 */
    sinter_compact_task_init(&task);
    task.files = files.files;
    task.count = files.count;
    task.options = &options;
    task.output_level = (int32_t)golden_int(line, "output_level");
    task.max_level = (int32_t)golden_int(line, "max_level");
    task.drop_delete = golden_bool(line, "drop_delete");
    task.small_file_bytes = (uint64_t)golden_int(line, "min_file_size");
    task.is_expired = file_expired;
    task.expire_ctx = &expired;
    task.rewriter = &rewriter;

    cr_assert_eq(sinter_compact_task_run(sinter_env_default(), &task, &result, &err), SINTER_OK,
                 "%s: %s", id, err.text);
    golden_recorder_upgrades(&recorder, result);
    golden_expect(id, "actions", golden_get(expected, "actions"), recorder.actions);
    golden_expect(id, "before", golden_get(expected, "before"),
                  golden_names_and_levels(sinter_compact_result_before(result)));
    golden_expect(id, "after", golden_get(expected, "after"),
                  golden_names_and_levels(sinter_compact_result_after(result)));
    sinter_compact_result_destroy(result);
    files_free(&files);
}

Test(golden, compact_task)
{
    golden_run("compact_task.jsonl", task_case);
}

/** Key of INT, as spec/key-encoding.md has it. */
static sinter_bytes
int_bytes(test_pool *pool, int64_t value)
{
    const uint32_t bits = (uint32_t)(int32_t)value ^ 0x80000000u;
    const uint8_t bytes[4] = {(uint8_t)(bits >> 24), (uint8_t)(bits >> 16), (uint8_t)(bits >> 8),
                              (uint8_t)bits};

    return test_pool_copy(pool, (sinter_bytes){bytes, sizeof bytes});
}

/** Bytes that order a nullable INT; null is lowest in both directions. */
static sinter_bytes
order_bytes(test_pool *pool, const json_t *value, bool is_descending)
{
    uint8_t bytes[5] = {0};
    size_t size = 1;

    if (!json_is_null(value)) {
        const uint32_t bits = (uint32_t)(int32_t)json_integer_value(value) ^ 0x80000000u;

        bytes[0] = 1;
        for (size_t i = 0; i < 4; i++) {
            const uint8_t byte = (uint8_t)(bits >> (24 - 8 * i));

            bytes[1 + i] = is_descending ? (uint8_t)~byte : byte;
        }
        size = 5;
    }
    return test_pool_copy(pool, (sinter_bytes){bytes, size});
}

static const char *const kind_names[] = {"+I", "-U", "+U", "-D"};

static uint8_t
kind_number(const char *name)
{
    for (uint8_t kind = 0; kind < 4; kind++) {
        if (strcmp(kind_names[kind], name) == 0) {
            return kind;
        }
    }
    cr_assert_fail("kind %s", name);
    return 0;
}

/* A record's value holds its JSON, so that it can be compared as it came. */
static test_record
load_record(test_pool *pool, const json_t *json, const char *sequence_field)
{
    char *text = json_dumps(json, JSON_COMPACT);
    test_record record = {0};

    cr_assert_eq(json_array_size(json), 5);
    record.key = int_bytes(pool, json_integer_value(json_array_get(json, 0)));
    record.sequence = json_integer_value(json_array_get(json, 1));
    record.kind = kind_number(json_string_value(json_array_get(json, 2)));
    record.value = test_pool_copy(pool, test_text(text));
    if (sequence_field != NULL) {
        record.order =
            order_bytes(pool, json_array_get(json, 4), strcmp(sequence_field, "descending") == 0);
    }
    free(text);
    return record;
}

static void
load_runs(const json_t *list, const char *sequence_field, test_runs *out)
{
    *out = (test_runs){.has_orders = sequence_field != NULL, .key_width = 4};
    for (size_t r = 0; r < json_array_size(list); r++) {
        const json_t *run = json_array_get(list, r);
        const size_t count = json_array_size(run);
        test_record *records = calloc(count + 1, sizeof *records);

        cr_assert_not_null(records);
        for (size_t i = 0; i < count; i++) {
            records[i] = load_record(&out->pool, json_array_get(run, i), sequence_field);
        }
        test_runs_add(out, records, count);
        free(records);
    }
}

static json_t *
merged_json(const merged *result)
{
    json_t *records = json_array();

    if (result->status != SINTER_OK) {
        json_decref(records);
        cr_assert_eq(result->status, SINTER_E_RETRACT, "%s", result->err.text);
        return json_pack("{s:s}", "error", "retract-not-accepted");
    }
    for (size_t i = 0; i < result->count; i++) {
        const test_record *record = &result->records[i];

        json_array_append_new(
            records, json_loadb((const char *)record->value.data, record->value.size, 0, NULL));
    }
    return json_pack("{s:o}", "records", records);
}

/** One way to merge a case. */
typedef struct merge_way {
    sinter_sort_engine engine;
    uint32_t batch_rows; /* 0: each run in one batch */
    bool has_ages;       /* the engines as files use them; without ages the tree decides ties */
} merge_way;

static void
merge_with(const char *id, const json_t *line, const merge_way *way)
{
    const json_t *field = golden_get(line, "sequence_field");
    const bool ignore_delete = golden_bool(line, "ignore_delete");
    run_world world = {.batch_rows = way->batch_rows};
    merge_setup setup = {.env = sinter_env_default(), .world = &world, .capacity = 7};
    test_runs runs;
    merged result;

    load_runs(golden_get(line, "runs"), json_string_value(field), &runs);
    run_world_fit(&world, &runs);
    sinter_merge_options_init(&setup.options);
    setup.options.sort_engine = (int32_t)way->engine;
    setup.options.has_ages = way->has_ages;
    setup.options.drop_delete = golden_bool(line, "drop_delete");
    setup.options.function = strcmp(golden_text(line, "merge_engine"), "first-row") == 0
                                 ? sinter_merge_first_row(ignore_delete)
                                 : sinter_merge_deduplicate(ignore_delete);
    merge_run(&setup, &runs, &result);
    cr_assert_not(result.has_complaint, "%s: %s", id, result.complaint);
    golden_expect(id, way->engine == SINTER_SORT_LOSER_TREE ? "loser-tree" : "min-heap",
                  golden_get(line, "expect"), merged_json(&result));
    merged_fini(&result);
    test_runs_fini(&runs);
}

static void
merge_case(const char *id, const json_t *line)
{
    const bool has_ties = golden_bool(line, "ties");

    for (uint32_t rows = 0; rows < 4; rows++) {
        merge_with(id, line, &(merge_way){SINTER_SORT_LOSER_TREE, rows, false});
        if (golden_bool(line, "min_heap_same")) {
            merge_with(id, line, &(merge_way){SINTER_SORT_MIN_HEAP, rows, false});
        }
        if (!has_ties) {
            merge_with(id, line, &(merge_way){SINTER_SORT_LOSER_TREE, rows, true});
            merge_with(id, line, &(merge_way){SINTER_SORT_MIN_HEAP, rows, true});
        }
    }
}

Test(golden, merge_order)
{
    golden_run("merge_order.jsonl", merge_case);
}

/** A run that notes when it is opened. */
typedef struct spill_run {
    run_source source;
    size_t *opened;
    size_t *opened_count;
} spill_run;

static sinter_status
open_spill_run(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err)
{
    spill_run *run = ctx;

    run->opened[(*run->opened_count)++] = run->source.index;
    return run_source_open(&run->source, env, out, err);
}

static json_t *
position_list(const size_t *positions, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_integer((json_int_t)positions[i]));
    }
    return list;
}

/* The pure plan: direct runs first, then the spilled ones. */
static void
check_plan(const char *id, const json_t *line, const uint64_t *sizes, size_t count)
{
    const json_t *expected = golden_get(line, "expect");
    size_t *order = calloc(count + 1, sizeof *order);
    size_t direct = 0;

    cr_assert_not_null(order);
    direct = sinter_merge_spill_plan(sizes, count, (uint32_t)golden_int(line, "threshold"), order);
    golden_expect(id, "plan, direct", golden_get(expected, "direct_in_order"),
                  position_list(order, direct));
    golden_expect(id, "plan, spilled", golden_get(expected, "spilled_in_order"),
                  position_list(order + direct, count - direct));
    free(order);
}

/* The same through a merge: the order in which runs are opened, and the records. */
static void
check_opened(const char *id, const json_t *line, const uint64_t *sizes, size_t count)
{
    const json_t *expected = golden_get(line, "expect");
    const size_t spilled = json_array_size(golden_get(expected, "spilled_in_order"));
    sinter_env env = *sinter_env_default();
    run_world world = {0};
    test_runs runs = {.key_width = 4};
    spill_run *inputs_ctx = calloc(count + 1, sizeof *inputs_ctx);
    sinter_merge_input *inputs = calloc(count + 1, sizeof *inputs);
    size_t *opened = calloc(count + 1, sizeof *opened);
    size_t opened_count = 0;
    sinter_merge_options options;
    sinter_merge_counters counters = {.struct_size = sizeof counters};
    sinter_merge *merge = NULL;
    sinter_range range;
    size_t given = 0;
    int64_t rows = 0;

    cr_assert(inputs_ctx != NULL && inputs != NULL && opened != NULL);
    cr_assert_eq(sinter_io_create(&env, SINTER_IO_MEMORY, NULL, &env.io, NULL), SINTER_OK);
    cr_assert_eq(env.io->ops->mkdir(env.io, "spill", NULL), SINTER_OK);
    for (size_t i = 0; i < count; i++) {
        const test_record record = {.key = int_bytes(&runs.pool, (int64_t)i),
                                    .value = test_text("v")};

        test_runs_add(&runs, &record, 1);
    }
    run_world_fit(&world, &runs);
    for (size_t i = 0; i < count; i++) {
        inputs_ctx[i] =
            (spill_run){.source = {.world = &world, .run = &runs.items[i], .index = (uint32_t)i},
                        .opened = opened,
                        .opened_count = &opened_count};
        inputs[i] = (sinter_merge_input){.struct_size = sizeof inputs[i],
                                         .estimated_bytes = sizes[i],
                                         .open = open_spill_run,
                                         .ctx = &inputs_ctx[i]};
    }
    sinter_merge_options_init(&options);
    options.spill_threshold = (uint32_t)golden_int(line, "threshold");
    options.spill_dir = golden_bool(line, "spill_dir") ? "spill" : NULL;
    cr_assert_eq(sinter_merge_open(&env, inputs, count, &options, &merge, NULL), SINTER_OK, "%s",
                 id);
    while (sinter_merge_next(merge, &range, 1, &given, NULL) == SINTER_OK) {
        rows += range.count;
    }
    sinter_merge_counters_get(merge, &counters);
    sinter_merge_close(merge);
    cr_expect_eq(rows, golden_int(expected, "records"), "%s: %" PRId64 " records", id, rows);
    cr_expect_eq(counters.spill_runs, spilled, "%s: spilled runs", id);
    golden_expect(id, "opened, spilled", golden_get(expected, "spilled_in_order"),
                  position_list(opened, spilled));
    golden_expect(id, "opened, direct", golden_get(expected, "direct_in_order"),
                  position_list(opened + spilled, opened_count - spilled));
    sinter_io_destroy(env.io);
    test_runs_fini(&runs);
    free(opened);
    free(inputs);
    free(inputs_ctx);
}

static void
spill_case(const char *id, const json_t *line)
{
    const json_t *list = golden_get(line, "run_sizes");
    const size_t count = json_array_size(list);
    uint64_t *sizes = calloc(count + 1, sizeof *sizes);

    cr_assert_not_null(sizes);
    for (size_t i = 0; i < count; i++) {
        sizes[i] = (uint64_t)json_integer_value(json_array_get(list, i));
    }
    if (golden_bool(line, "spill_dir")) {
        check_plan(id, line, sizes, count);
    }
    check_opened(id, line, sizes, count);
    free(sizes);
}

Test(golden, merge_sorter_spill)
{
    golden_run("merge_sorter_spill.jsonl", spill_case);
}

static void
options_case(const char *id, const json_t *line)
{
    const json_t *expected = golden_get(line, "expect");
    const json_t *threshold = golden_get(expected, "sort_spill_threshold");
    json_t *given = json_object_get(line, "options");
    const char *key = NULL;
    json_t *value = NULL;
    sinter_compact_options options;

    sinter_compact_options_init(&options);
    json_object_foreach(given, key, value)
    {
        const bool is_refused =
            json_is_string(threshold) && strcmp(key, "sort-spill-threshold") == 0;
        const sinter_status st =
            sinter_compact_options_set(&options, key, json_string_value(value), NULL);

        cr_expect_eq(st, is_refused ? SINTER_E_INVALID : SINTER_OK, "%s: %s gives %s", id, key,
                     sinter_status_name(st));
    }
    cr_expect_eq(sinter_compact_options_check(&options, NULL), SINTER_OK, "%s", id);
    cr_expect_eq(sinter_compact_num_levels(&options), golden_int(expected, "num_levels"), "%s", id);
    cr_expect_eq(options.num_sorted_run_trigger, golden_int(expected, "compaction_trigger"), "%s",
                 id);
    cr_expect_eq(sinter_compact_stop_trigger(&options), golden_int(expected, "stop_trigger"), "%s",
                 id);
    cr_expect_eq((int64_t)options.target_file_bytes, golden_int(expected, "target_file_size"), "%s",
                 id);
    cr_expect_eq((int64_t)sinter_compact_small_file_bytes(&options),
                 golden_int(expected, "compaction_file_size"), "%s", id);
    if (json_is_integer(threshold)) {
        cr_expect_eq(sinter_compact_spill_threshold(&options), json_integer_value(threshold), "%s",
                     id);
    }
}

Test(golden, compact_options)
{
    golden_run("compact_options.jsonl", options_case);
}
