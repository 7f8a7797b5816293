/*
 * The recorded steps of compact managers: files are added one by one, and after each the manager is
 * triggered and its result taken. A rewrite is answered with one made-up file.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "bucket.h"
#include "sinter/manager.h"

TestSuite(golden, .timeout = 200);

/* Trigger and take; the result, or NULL. */
static sinter_compact_result *
compact(const char *id, const char *name, sinter_manager *manager, bool full)
{
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = sinter_manager_trigger(manager, full, &err);

    cr_assert(st == SINTER_OK || st == SINTER_END, "%s: %s: %s", id, name, err.text);
    st = sinter_manager_take_result(manager, true, &result, &err);
    cr_assert(st == SINTER_OK || st == SINTER_END, "%s: %s: %s", id, name, err.text);
    return result;
}

static json_t *
result_json(const sinter_compact_result *result)
{
    if (result == NULL) {
        return json_null();
    }
    return json_pack("{s:o,s:o}", "before",
                     golden_names_and_levels(sinter_compact_result_before(result)), "after",
                     golden_names_and_levels(sinter_compact_result_after(result)));
}

static json_t *
state_json(sinter_manager *manager)
{
    const sinter_file_set *set = sinter_manager_acquire(manager);
    json_t *state = golden_state(set);

    sinter_file_set_release(set);
    return state;
}

static void
run_step(const char *id, const json_t *op, sinter_manager *manager, golden_recorder *recorder)
{
    static golden_files added;
    const json_t *expected = golden_get(op, "expect");
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    const char *name = NULL;

    added.count = 0;
    golden_files_add_whole(&added, golden_get(op, "add"));
    name = added.files[0].file_name;
    cr_assert_eq(sinter_manager_add_file(manager, &added.files[0], &err), SINTER_OK, "%s: %s", id,
                 err.text);
    cr_expect_eq(sinter_manager_should_wait_latest(manager), golden_bool(op, "should_wait_latest"),
                 "%s: %s: wait, latest", id, name);
    cr_expect_eq(sinter_manager_should_wait_prepare(manager),
                 golden_bool(op, "should_wait_prepare"), "%s: %s: wait, prepare", id, name);
    recorder->actions = json_array();
    recorder->seen_after = 0;
    result = compact(id, name, manager, golden_bool(op, "trigger_full"));
    if (result != NULL) {
        golden_recorder_upgrades(recorder, result);
    }
    golden_expect(id, name, golden_get(expected, "actions"), recorder->actions);
    golden_expect(id, name, golden_get(expected, "result"), result_json(result));
    sinter_compact_result_destroy(result);
    golden_expect(id, name, golden_get(expected, "state"), state_json(manager));
    cr_expect_eq(sinter_manager_is_busy(manager), golden_bool(expected, "not_completed_after"),
                 "%s: %s: busy", id, name);
}

/* Options whose names are those of tables. */
static void
load_options(const json_t *line, sinter_compact_options *options)
{
    static const char *const keys[] = {"compaction.max-size-amplification-percent",
                                       "compaction.size-ratio", "num-sorted-run.compaction-trigger",
                                       "num-sorted-run.stop-trigger"};
    const json_t *given = golden_get(line, "options");
    char text[32];

    sinter_compact_options_init(options);
    options->small_file_ratio = 0; /* so that a limit of 0 is 0 */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        (void)snprintf(text, sizeof text, "%lld", (long long)golden_int(given, keys[i]));
        cr_assert_eq(sinter_compact_options_set(options, keys[i], text, NULL), SINTER_OK, "%s",
                     keys[i]);
    }
    (void)snprintf(text, sizeof text, "%lld", (long long)golden_int(line, "num_levels"));
    cr_assert_eq(sinter_compact_options_set(options, "num-levels", text, NULL), SINTER_OK);
    options->force_rewrite_all_files = golden_bool(given, "force_rewrite_all_files");
    cr_assert_eq(
        sinter_compact_options_set(options, "compaction.force-up-level-0",
                                   golden_bool(given, "force_up_level0") ? "true" : "false", NULL),
        SINTER_OK);
}

static void
manager_case(const char *id, const json_t *line)
{
    const json_t *given = golden_get(line, "options");
    const json_t *ops = golden_get(line, "ops");
    sinter_compact_options options;
    sinter_compact_task task;
    golden_recorder recorder = {.prefix = "c"};
    const sinter_rewriter rewriter = golden_recorder_rewriter(&recorder);
    sinter_manager_config config = {.struct_size = sizeof config, .name = id, .task = &task};
    sinter_manager *manager = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    load_options(line, &options);
    sinter_compact_task_init(&task);
    task.options = &options;
    task.small_file_bytes = (uint64_t)golden_int(given, "min_file_size");
    task.rewriter = &rewriter;
    config.needs_lookup = golden_bool(given, "need_lookup");
    cr_assert_eq(sinter_manager_create(sinter_env_default(), &config, &manager, &err), SINTER_OK,
                 "%s: %s", id, err.text);
    for (size_t i = 0; i < json_array_size(ops); i++) {
        run_step(id, json_array_get(ops, i), manager, &recorder);
    }
    sinter_manager_destroy(manager);
}

Test(golden, compact_manager)
{
    golden_run("compact_manager.jsonl", manager_case);
}
