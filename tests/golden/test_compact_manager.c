/*
 * The recorded steps of compact managers: files are added one by one, and after each the manager is
 * triggered and its result taken. A rewrite is answered with one made-up file.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "sinter/manager.h"

TestSuite(golden, .timeout = 200);

enum { NAME_BYTES = 32, FILES_MAX = 256, MADE_AT_MS = 9000 };

/** A file with the room its metadata points to. */
typedef struct known_file {
    sinter_file_meta meta;
    char name[NAME_BYTES];
    uint8_t keys[2][4];
} known_file;

/** Notes what the task asks for. */
typedef struct recorder {
    json_t *actions;
    size_t seen_after; /* so many of the result's new files stand in `actions` */
    unsigned outputs;
} recorder;

/** Key of INT, as spec/key-encoding.md has it. */
static sinter_bytes
int_key(int64_t value, uint8_t out[4])
{
    const uint32_t bits = (uint32_t)(int32_t)value ^ 0x80000000u;

    for (unsigned i = 0; i < 4; i++) {
        out[i] = (uint8_t)(bits >> (24 - 8 * i));
    }
    return (sinter_bytes){out, 4};
}

static void
load_file(const json_t *json, known_file *out)
{
    const json_t *deletes = golden_get(json, "delete_row_count");

    (void)snprintf(out->name, sizeof out->name, "%s", golden_text(json, "id"));
    out->meta = (sinter_file_meta){.struct_size = sizeof out->meta,
                                   .level = (int32_t)golden_int(json, "level"),
                                   .file_name = out->name,
                                   .file_size = (uint64_t)golden_int(json, "size"),
                                   .row_count = 1,
                                   .delete_row_count =
                                       json_is_null(deletes) ? -1 : json_integer_value(deletes),
                                   .min_sequence_number = golden_int(json, "min_seq"),
                                   .max_sequence_number = golden_int(json, "max_seq"),
                                   .creation_time_ms = golden_int(json, "created_ms"),
                                   .min_key = int_key(golden_int(json, "min"), out->keys[0]),
                                   .max_key = int_key(golden_int(json, "max"), out->keys[1]),
                                   .upgraded_from = -1};
}

/* Upgrades are calls of nobody: they are read off the result, in its order. */
static void
record_upgrades(recorder *r, const sinter_compact_result *result)
{
    const sinter_file_list *after = sinter_compact_result_after(result);

    for (; r->seen_after < after->count; r->seen_after++) {
        const sinter_file_meta *file = &after->files[r->seen_after];

        if (file->upgraded_from >= 0) {
            json_array_append_new(r->actions,
                                  json_pack("{s:s,s:i,s:s}", "op", "upgrade", "output_level",
                                            (int)file->level, "file", file->file_name));
        }
    }
}

/* The made-up file covers another input. */
static void
cover(sinter_file_meta *made, const sinter_file_meta *file)
{
    const bool is_first = made->file_size == 0;

    made->file_size += file->file_size;
    if (is_first || memcmp(file->min_key.data, made->min_key.data, 4) < 0) {
        made->min_key = file->min_key;
    }
    if (is_first || memcmp(file->max_key.data, made->max_key.data, 4) > 0) {
        made->max_key = file->max_key;
    }
    if (is_first || file->min_sequence_number < made->min_sequence_number) {
        made->min_sequence_number = file->min_sequence_number;
    }
    if (is_first || file->max_sequence_number > made->max_sequence_number) {
        made->max_sequence_number = file->max_sequence_number;
    }
}

static sinter_status
record_rewrite(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
               sinter_error *err)
{
    recorder *r = ctx;
    json_t *sections = json_array();
    char name[NAME_BYTES];
    sinter_file_meta made = {.struct_size = sizeof made,
                             .level = request->output_level,
                             .file_name = name,
                             .row_count = 1,
                             .creation_time_ms = MADE_AT_MS,
                             .upgraded_from = -1};

    record_upgrades(r, result);
    for (size_t s = 0; s < request->section_count; s++) {
        json_t *runs = json_array();

        for (size_t i = 0; i < request->sections[s].count; i++) {
            const sinter_rewrite_run *run = &request->sections[s].runs[i];
            json_t *names = json_array();

            for (size_t f = 0; f < run->count; f++) {
                json_array_append_new(names, json_string(run->files[f]->file_name));
                cover(&made, run->files[f]);
            }
            json_array_append_new(runs, names);
        }
        json_array_append_new(sections, runs);
    }
    (void)snprintf(name, sizeof name, "c%u", r->outputs++);
    json_array_append_new(r->actions, json_pack("{s:s,s:i,s:b,s:o,s:s}", "op", "rewrite",
                                                "output_level", (int)request->output_level,
                                                "drop_delete", (int)request->drop_delete,
                                                "sections", sections, "output", name));
    r->seen_after++;
    return sinter_compact_result_add_after(result, &made, err);
}

static json_t *
name_level_list(const sinter_file_list *files)
{
    json_t *list = json_array();

    for (size_t i = 0; i < files->count; i++) {
        json_array_append_new(
            list, json_pack("[s,i]", files->files[i].file_name, (int)files->files[i].level));
    }
    return list;
}

static json_t *
state_json(sinter_manager *manager)
{
    const sinter_file_set *set = sinter_manager_acquire(manager);
    const uint32_t levels = sinter_file_set_num_levels(set);
    size_t run_count = 0;
    size_t file_count = 0;
    const sinter_level_run *runs = sinter_file_set_runs(set, &run_count);
    const sinter_file_meta *files = sinter_file_set_files(set, &file_count);
    json_t *level0 = json_array();
    json_t *above = json_array();
    json_t *all = json_array();
    json_t *state = NULL;

    for (uint32_t level = 1; level < levels; level++) {
        json_array_append_new(above, json_array());
    }
    for (size_t r = 0; r < run_count; r++) {
        json_t *list =
            runs[r].level == 0 ? level0 : json_array_get(above, (size_t)runs[r].level - 1);

        for (size_t f = 0; f < runs[r].count; f++) {
            json_array_append_new(list, json_string(runs[r].files[f].file_name));
        }
    }
    for (size_t f = 0; f < file_count; f++) {
        json_array_append_new(all, json_string(files[f].file_name));
    }
    state =
        json_pack("{s:i,s:o,s:o,s:I,s:i,s:I,s:o}", "number_of_levels", (int)levels, "level0",
                  level0, "levels_from_1", above, "number_of_sorted_runs", (json_int_t)run_count,
                  "non_empty_highest_level", (int)sinter_file_set_highest_level(set),
                  "total_file_size", (json_int_t)sinter_file_set_bytes(set), "all_files", all);
    sinter_file_set_release(set);
    return state;
}

static void
run_step(const char *id, const json_t *op, sinter_manager *manager, recorder *r)
{
    const json_t *expected = golden_get(op, "expect");
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    known_file file;
    sinter_status st = SINTER_OK;

    load_file(golden_get(op, "add"), &file);
    cr_assert_eq(sinter_manager_add_file(manager, &file.meta, &err), SINTER_OK, "%s: %s", id,
                 err.text);
    cr_expect_eq(sinter_manager_should_wait_latest(manager), golden_bool(op, "should_wait_latest"),
                 "%s: %s: wait, latest", id, file.name);
    cr_expect_eq(sinter_manager_should_wait_prepare(manager),
                 golden_bool(op, "should_wait_prepare"), "%s: %s: wait, prepare", id, file.name);
    *r = (recorder){.actions = json_array(), .outputs = r->outputs};
    st = sinter_manager_trigger(manager, golden_bool(op, "trigger_full"), &err);
    cr_assert(st == SINTER_OK || st == SINTER_END, "%s: %s: %s", id, file.name, err.text);
    st = sinter_manager_take_result(manager, true, &result, &err);
    cr_assert(st == SINTER_OK || st == SINTER_END, "%s: %s: %s", id, file.name, err.text);
    if (result != NULL) {
        record_upgrades(r, result);
    }
    golden_expect(id, file.name, golden_get(expected, "actions"), r->actions);
    golden_expect(id, file.name, golden_get(expected, "result"),
                  result == NULL
                      ? json_null()
                      : json_pack("{s:o,s:o}", "before",
                                  name_level_list(sinter_compact_result_before(result)), "after",
                                  name_level_list(sinter_compact_result_after(result))));
    sinter_compact_result_destroy(result);
    golden_expect(id, file.name, golden_get(expected, "state"), state_json(manager));
    cr_expect_eq(sinter_manager_is_busy(manager), golden_bool(expected, "not_completed_after"),
                 "%s: %s: busy", id, file.name);
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
    recorder r = {.outputs = 0};
    const sinter_rewriter rewriter = {
        .struct_size = sizeof rewriter, .ctx = &r, .rewrite = record_rewrite};
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
        run_step(id, json_array_get(ops, i), manager, &r);
    }
    sinter_manager_destroy(manager);
}

Test(golden, compact_manager)
{
    golden_run("compact_manager.jsonl", manager_case);
}
