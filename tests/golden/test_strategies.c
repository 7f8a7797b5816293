/*
 * The recorded answers on what is compacted next, put to the strategies and the levels.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucket.h"
#include "compact/strategy.h"

TestSuite(golden_strategies, .timeout = 200);

/* Set an option from its value in a case: a number, or null, which leaves it as it is. */
static void
set_option(const char *id, sinter_compact_options *options, const char *key, const json_t *value)
{
    char text[32];

    if (json_is_null(value)) {
        return;
    }
    cr_assert(json_is_integer(value), "%s: %s", id, key);
    (void)snprintf(text, sizeof text, "%" PRId64, (int64_t)json_integer_value(value));
    cr_assert_eq(sinter_compact_options_set(options, key, text, NULL), SINTER_OK, "%s: %s = %s", id,
                 key, text);
}

/* All options of a case but `skip`. */
static void
load_options(const char *id, const json_t *line, const char *skip, sinter_compact_options *out)
{
    json_t *given = json_object_get(line, "options");
    const char *key = NULL;
    json_t *value = NULL;

    sinter_compact_options_init(out);
    json_object_foreach(given, key, value)
    {
        const char *name = strcmp(key, "compaction.optimization-interval_ms") == 0
                               ? "compaction.optimization-interval" /* a bare number is ms */
                               : key;

        if (skip == NULL || strcmp(key, skip) != 0) {
            set_option(id, out, name, value);
        }
    }
}

/* What a strategy answers, as a case has it; null: nothing to compact. */
static json_t *
answer_of(const char *id, sinter_status st, const sinter_pick *pick)
{
    json_t *positions = json_array();

    cr_assert(st == SINTER_OK || st == SINTER_END, "%s: %s", id, sinter_status_name(st));
    cr_assert_gt(strlen(pick->text), 0, "%s is not explained", id);
    cr_assert_lt(strlen(pick->text), sizeof pick->text - 1, "%s: cut: %s", id, pick->text);
    if (st == SINTER_END) {
        json_decref(positions);
        return json_null();
    }
    cr_assert_neq(pick->rule, SINTER_PICK_NONE, "%s", id);
    for (size_t i = 0; i < pick->run_count; i++) {
        json_array_append_new(positions, json_integer((json_int_t)i));
    }
    return json_pack("{s:i,s:o,s:b}", "output_level", (int)pick->output_level, "runs", positions,
                     "file_rewrite", (int)pick->file_rewrite);
}

/* Ask a strategy with the runs of a step, each of one file. */
static void
ask(const char *id, const json_t *step, sinter_strategy *strategy, sinter_pick_request *request)
{
    const json_t *list = golden_get(step, "runs");
    const size_t count = json_array_size(list);
    sinter_level_run *runs = calloc(count + 1, sizeof *runs);
    size_t *members = calloc(count + 1, sizeof *members);
    sinter_pick pick = {.struct_size = sizeof pick, .members = members};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    cr_assert(runs != NULL && members != NULL);
    for (size_t i = 0; i < count; i++) {
        const json_t *run = json_array_get(list, i);

        runs[i] = (sinter_level_run){.level = (int32_t)golden_int(run, "level"),
                                     .bytes = (uint64_t)golden_int(run, "size"),
                                     .count = 1};
    }
    request->runs = runs;
    request->run_count = count;
    request->file_count = count;
    st = sinter_strategy_pick(strategy, request, &pick, &err);
    cr_assert_geq(st, SINTER_OK, "%s: %s", id, err.text);
    golden_expect(id, pick.text, golden_get(step, "expect"), answer_of(id, st, &pick));
    free(members);
    free(runs);
}

static sinter_pick_request
request_of(const json_t *line)
{
    return (sinter_pick_request){.struct_size = sizeof(sinter_pick_request),
                                 .num_levels = (uint32_t)golden_int(line, "num_levels")};
}

static void
universal_case(const char *id, const json_t *line)
{
    sinter_pick_request request = request_of(line);
    sinter_compact_options options;
    sinter_strategy *strategy = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    load_options(id, line, NULL, &options);
    request.local_hour = (int32_t)golden_int(line, "hour");
    cr_assert_eq(sinter_strategy_create(sinter_env_default(), &options, NULL, &strategy, &err),
                 SINTER_OK, "%s: %s", id, err.text);
    ask(id, line, strategy, &request);
    sinter_strategy_destroy(strategy);
}

Test(golden_strategies, universal_pick)
{
    golden_run("universal_pick.jsonl", universal_case);
}

static void
ask_steps(const char *id, const json_t *line, sinter_strategy *strategy)
{
    const json_t *steps = golden_get(line, "steps");
    sinter_pick_request request = request_of(line);

    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        char name[128];

        (void)snprintf(name, sizeof name, "%s, step %zu", id, i);
        if (json_object_get(step, "now_ms") != NULL) {
            request.now_ms = golden_int(step, "now_ms");
        }
        ask(name, step, strategy, &request);
    }
    sinter_strategy_destroy(strategy);
}

/* The recorded interval is that of the strategy itself, not what an option would make of it. */
static void
force_up_case(const char *id, const json_t *line)
{
    const char *key = "lookup-compact.max-interval";
    const json_t *interval = golden_get(golden_get(line, "options"), key);
    const sinter_strategy_origin origin = {.struct_size = sizeof origin};
    sinter_compact_options options;
    const sinter__strategy_config config = {
        .options = &options,
        .origin = &origin,
        .forces_up = true,
        .force_up_interval = json_is_null(interval) ? 0 : (uint32_t)json_integer_value(interval)};
    sinter_strategy *strategy = NULL;

    load_options(id, line, key, &options);
    cr_assert_eq(sinter__strategy_create(sinter_env_default(), &config, &strategy, NULL),
                 SINTER_OK);
    ask_steps(id, line, strategy);
}

Test(golden_strategies, force_up_level0)
{
    golden_run("force_up_level0.jsonl", force_up_case);
}

static void
early_full_case(const char *id, const json_t *line)
{
    sinter_compact_options options;
    sinter_strategy *strategy = NULL;

    load_options(id, line, NULL, &options);
    cr_assert_eq(sinter_strategy_create(sinter_env_default(), &options, NULL, &strategy, NULL),
                 SINTER_OK);
    ask_steps(id, line, strategy);
}

Test(golden_strategies, early_full)
{
    golden_run("early_full.jsonl", early_full_case);
}

static bool
file_expired(void *ctx, const sinter_file_meta *file)
{
    const golden_files *table = ctx;

    return table->is_expired[file - table->files];
}

static void
full_pick_case(const char *id, const json_t *line)
{
    const json_t *runs = golden_get(line, "runs");
    golden_files *table = calloc(1, sizeof *table);
    sinter_file_meta *picked = calloc(GOLDEN_FILES_MAX, sizeof *picked);
    sinter_compact_options options;
    sinter_compact_task task;
    json_t *names = NULL;

    cr_assert(table != NULL && picked != NULL);
    for (size_t r = 0; r < json_array_size(runs); r++) {
        const json_t *run = json_array_get(runs, r);
        const json_t *files = golden_get(run, "files");

        for (size_t f = 0; f < json_array_size(files); f++) {
            const json_t *json = json_array_get(files, f);
            const size_t place = table->count;

            golden_files_add(table, json)->level = (int32_t)golden_int(run, "level");
            table->is_expired[place] = golden_bool(json, "expired");
        }
    }
    sinter_compact_options_init(&options);
    options.force_rewrite_all_files = golden_bool(line, "force_rewrite_all_files");
    sinter_compact_task_init(&task);
    task.options = &options;
    task.max_level = (int32_t)golden_int(line, "num_levels") - 1;
    task.output_level = task.max_level;
    task.is_expired = file_expired;
    task.expire_ctx = table;
    cr_assert_eq(sinter_compact_task_pick_full(&task, table->files, table->count, picked, NULL),
                 SINTER_OK, "%s", id);
    names = golden_names(task.files, task.count);
    golden_expect(id, "pick", golden_get(line, "expect"),
                  task.count == 0
                      ? json_null()
                      : json_pack("{s:i,s:O,s:b}", "output_level", (int)task.output_level, "files",
                                  names, "file_rewrite", (int)task.file_rewrite));
    json_decref(names);
    free(picked);
    free(table);
}

Test(golden_strategies, full_pick)
{
    golden_run("full_pick.jsonl", full_pick_case);
}

static void
note_dropped(void *ctx, const char *file_name)
{
    json_t *names = ctx;
    size_t place = 0;

    /* Sorted, as the recorded ones are. */
    while (place < json_array_size(names) &&
           strcmp(json_string_value(json_array_get(names, place)), file_name) < 0) {
        place++;
    }
    json_array_insert_new(names, place, json_string(file_name));
}

static void
level_op(const char *id, const json_t *op, sinter_levels *levels, json_t *dropped)
{
    const json_t *expected = golden_get(op, "expect");
    golden_files *before = calloc(1, sizeof *before);
    golden_files *after = calloc(1, sizeof *after);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    cr_assert(before != NULL && after != NULL);
    golden_files_load(before, golden_get(op, "before"));
    golden_files_load(after, golden_get(op, "after"));
    json_array_clear(dropped);
    st = sinter_levels_update(levels, before->files, before->count, after->files, after->count,
                              &err);
    if (json_object_get(expected, "error") != NULL) {
        cr_expect_eq(st, SINTER_E_INVALID, "%s: %s", id, sinter_status_name(st));
    } else {
        json_t *state = NULL;

        cr_assert_eq(st, SINTER_OK, "%s: %s", id, err.text);
        state = golden_state(sinter_levels_current(levels));
        json_object_set(state, "dropped", dropped);
        golden_expect(id, "state", expected, state);
    }
    free(after);
    free(before);
}

static void
levels_case(const char *id, const json_t *line)
{
    const json_t *expected = golden_get(line, "expect_init");
    const json_t *ops = golden_get(line, "ops");
    golden_files *files = calloc(1, sizeof *files);
    json_t *dropped = json_array();
    const sinter_levels_options options = {.struct_size = sizeof options,
                                           .num_levels = (uint32_t)golden_int(line, "num_levels"),
                                           .dropped = note_dropped,
                                           .dropped_ctx = dropped};
    sinter_levels *levels = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    cr_assert_not_null(files);
    golden_files_load(files, golden_get(line, "init"));
    st = sinter_levels_create(sinter_env_default(), &options, files->files, files->count, &levels,
                              &err);
    if (json_object_get(expected, "error") != NULL) {
        cr_expect_eq(st, SINTER_E_INVALID, "%s: %s", id, sinter_status_name(st));
    } else {
        cr_assert_eq(st, SINTER_OK, "%s: %s", id, err.text);
        golden_expect(id, "state at first", expected, golden_state(sinter_levels_current(levels)));
    }
    for (size_t i = 0; i < json_array_size(ops); i++) {
        char name[128];

        (void)snprintf(name, sizeof name, "%s, op %zu", id, i);
        level_op(name, json_array_get(ops, i), levels, dropped);
    }
    sinter_levels_destroy(levels);
    json_decref(dropped);
    free(files);
}

Test(golden_strategies, levels)
{
    golden_run("levels.jsonl", levels_case);
}
