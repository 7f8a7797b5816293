#include "cli/task.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/levels.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "cli/text.h"

static int
find_file(const cli_source *source, const char *name, size_t *out)
{
    for (size_t i = 0; i < source->files->file_count; i++) {
        if (strcmp(source->files->files[i].file_name, name) == 0) {
            *out = i;
            return CLI_EXIT_OK;
        }
    }
    return cli_fail(CLI_EXIT_USAGE, "option '--unit': %s holds no file '%s'", source->path, name);
}

/* Positions of the files named in "a,b". */
static int
unit_of_names(const cli_source *source, const char *names, size_t *unit, size_t *count)
{
    while (*names != '\0') {
        const size_t length = strcspn(names, ",");
        char name[512];
        int code;

        (void)snprintf(name, sizeof name, "%.*s", (int)length, names);
        if (*count == source->files->file_count) {
            return cli_fail(CLI_EXIT_USAGE, "option '--unit' names more files than there are");
        }
        code = find_file(source, name, &unit[*count]);
        if (code != CLI_EXIT_OK) {
            return code;
        }
        (*count)++;
        names += length + (names[length] == ',');
    }
    return CLI_EXIT_OK;
}

static int
check_unit(cli *session, const cli_source *source, const sinter_compact_task *task,
           const size_t *unit, size_t count)
{
    const sinter_unit picked = {.struct_size = (uint32_t)sizeof picked,
                                .output_level = task->output_level,
                                .max_level = task->max_level,
                                .drop_delete = task->drop_delete,
                                .files = source->files->files,
                                .count = source->files->file_count,
                                .members = unit,
                                .member_count = count};
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_status st = sinter_unit_check(&session->boot, &picked, &err);

    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

/* The unit that was asked for, checked against all files. `unit`: room for all positions. */
static int
pick_requested(cli *session, const cli_task_arguments *args, const cli_source *source,
               cli_task *out, size_t *unit)
{
    size_t stated_count = 0;
    const size_t *stated = sinter_files_doc_unit(source->doc, &stated_count);
    size_t count = 0;
    int code = CLI_EXIT_OK;

    out->reason_code = "requested";
    out->reason_text = "these files were asked for";
    if (args->unit != NULL) {
        code = unit_of_names(source, args->unit, unit, &count);
    } else {
        for (count = 0; count < stated_count; count++) {
            unit[count] = stated[count];
        }
    }
    if (code == CLI_EXIT_OK && count > 0) {
        code = check_unit(session, source, &out->task, unit, count);
    }
    for (size_t i = 0; code == CLI_EXIT_OK && i < count; i++) {
        out->files[i] = source->files->files[unit[i]];
    }
    out->task.files = out->files;
    out->task.count = count;
    return code;
}

static int
pick_full(const cli_source *source, cli_task *out)
{
    sinter_error err = SINTER_ERROR_INIT;
    const bool drop_delete =
        out->task.drop_delete; /* what the options say, not only what is safe */
    const sinter_status st = sinter_compact_task_pick_full(
        &out->task, source->files->files, source->files->file_count, out->files, &err);

    out->task.drop_delete = drop_delete;
    out->reason_code = "full";
    out->reason_text = "all files are compacted";
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

static int
set_drop_delete(const cli_task_arguments *args, const cli_source *source, sinter_compact_task *task)
{
    const bool is_safe = sinter_unit_drops_deletes(source->files->files, source->files->file_count,
                                                   task->output_level, false, false);

    task->drop_delete = is_safe && args->drop_delete != CLI_DROP_NO;
    if (args->drop_delete == CLI_DROP_YES && !is_safe) {
        return cli_fail(CLI_EXIT_USAGE,
                        "--drop-delete yes: files lie below level %" PRId32
                        ", so that records which were deleted would come back",
                        task->output_level);
    }
    return CLI_EXIT_OK;
}

static sinter_status
ask_strategy(cli *session, const cli_source *source, const sinter_file_set *set, sinter_pick *pick,
             sinter_error *err)
{
    const sinter_env *env = &session->boot;
    sinter_pick_request request = {
        .struct_size = (uint32_t)sizeof request,
        .num_levels = sinter_file_set_num_levels(set),
        .now_ms = env->clock.wall_ms(env->clock.ctx),
        .local_hour = env->clock.local_hour(env->clock.ctx),
    };
    sinter_strategy *strategy = NULL;
    sinter_status st;

    request.runs = sinter_file_set_runs(set, &request.run_count);
    (void)sinter_file_set_files(set, &request.file_count);
    st = sinter_strategy_create(env, &source->options, NULL, &strategy, err);
    if (st == SINTER_OK) {
        st = sinter_strategy_pick(strategy, &request, pick, err);
    }
    sinter_strategy_destroy(strategy);
    return st;
}

/* Give the task the picked files; a lone one that lies in the output level already is nothing. */
static void
use_pick(const sinter_pick *pick, const cli_source *source, const sinter_file_set *set,
         cli_task *out)
{
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);

    out->task.output_level = pick->output_level;
    for (size_t i = 0; i < pick->member_count; i++) {
        size_t position = 0;

        /* The set is about to go; the document's own entry stays. */
        (void)find_file(source, files[pick->members[i]].file_name, &position);
        out->files[i] = source->files->files[position];
    }
    out->task.files = out->files;
    if (pick->member_count != 1 || out->files[0].level != pick->output_level) {
        out->task.count = pick->member_count;
    }
}

/* What the strategy picks by the options. */
static int
pick_auto(cli *session, const cli_task_arguments *args, const cli_source *source, cli_task *out)
{
    const sinter_levels_options options = {.struct_size = (uint32_t)sizeof options,
                                           .num_levels = (uint32_t)out->task.max_level + 1};
    sinter_pick pick = {.struct_size = (uint32_t)sizeof pick};
    sinter_levels *levels = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st;

    pick.members = cli_alloc(source->files->file_count, sizeof *pick.members);
    st = sinter_levels_create(&session->boot, &options, source->files->files,
                              source->files->file_count, &levels, &err);
    if (st == SINTER_OK) {
        st = ask_strategy(session, source, sinter_levels_current(levels), &pick, &err);
    }
    if (st == SINTER_OK) {
        use_pick(&pick, source, sinter_levels_current(levels), out);
    }
    sinter_levels_destroy(levels);
    free(pick.members);
    (void)snprintf(out->pick_text, sizeof out->pick_text, "%s", pick.text);
    out->reason_code = sinter_pick_rule_code((sinter_pick_rule)pick.rule);
    out->reason_text = out->pick_text;
    if (st != SINTER_OK && st != SINTER_END) {
        return cli_fail_status(st, &err);
    }
    return set_drop_delete(args, source, &out->task);
}

static int
pick(cli *session, const cli_task_arguments *args, const cli_source *source, cli_task *out)
{
    size_t stated_count = 0;
    const bool is_stated = sinter_files_doc_unit(source->doc, &stated_count) != NULL;
    size_t *unit;
    int code;

    if ((args->unit != NULL) + args->full + args->automatic > 1) {
        return cli_fail(CLI_EXIT_USAGE, "--unit, --full and --auto exclude each other");
    }
    out->files = cli_alloc(source->files->file_count, sizeof *out->files);
    if (args->automatic) {
        return pick_auto(session, args, source, out);
    }
    if (args->unit == NULL && (args->full || !is_stated)) {
        return pick_full(source, out);
    }
    unit = cli_alloc(source->files->file_count, sizeof *unit);
    code = pick_requested(session, args, source, out, unit);
    free(unit);
    return code;
}

static int
set_levels(const cli_task_arguments *args, const cli_source *source, sinter_compact_task *task)
{
    if (args->max_level.is_set &&
        (args->max_level.value < 1 || args->max_level.value > INT32_MAX)) {
        return cli_fail(CLI_EXIT_USAGE, "option '--max-level' must be from 1 to %d", INT32_MAX);
    }
    task->max_level = args->max_level.is_set ? (int32_t)args->max_level.value : source->max_level;
    task->output_level =
        source->files->output_level >= 0 ? source->files->output_level : task->max_level;
    if (args->output_level.is_set) {
        if (args->output_level.value > (uint64_t)task->max_level) {
            return cli_fail(CLI_EXIT_USAGE,
                            "option '--output-level': the highest level is %" PRId32,
                            task->max_level);
        }
        task->output_level = (int32_t)args->output_level.value;
    }
    return CLI_EXIT_OK;
}

/* An option that means nothing without a table; NULL: none was given. */
static const char *
option_of_tables(const cli_task_arguments *args)
{
    return args->partitions.count > 0  ? "--partition"
           : args->bucket.is_set       ? "--bucket"
           : args->max_tasks.is_set    ? "--max-tasks"
           : args->commit_user != NULL ? "--commit-user"
           : args->branch != NULL      ? "--branch"
                                       : NULL;
}

int
cli_task_init(cli *session, const cli_task_arguments *args, const cli_source *source, cli_task *out)
{
    int code;

    memset(out, 0, sizeof *out);
    if (option_of_tables(args) != NULL) {
        return cli_fail(CLI_EXIT_USAGE, "%s is for tables; there is no schema/ in %s",
                        option_of_tables(args), source->path);
    }
    sinter_compact_task_init(&out->task);
    out->task.base_dir = source->base_dir;
    out->task.options = &source->options;
    out->task.key_types = source->files->key_types;
    out->task.row_type = source->row_type == NULL ? NULL : sinter_row_type_json(source->row_type);
    out->task.is_cancelled = cli_is_cancelled;
    code = set_levels(args, source, &out->task);
    if (code == CLI_EXIT_OK) {
        code = set_drop_delete(args, source, &out->task);
    }
    if (code == CLI_EXIT_OK) {
        code = pick(session, args, source, out);
    }
    out->is_empty = out->task.count == 0;
    return code;
}

void
cli_task_fini(cli_task *task)
{
    free(task->files);
}

void
cli_nothing_print(const cli_task *task)
{
    const bool has_text = task->pick_text[0] != '\0';

    printf("nothing to do%s%s\n", has_text ? ": " : "", task->pick_text);
}

/* The same in numbers: what was done with how many files, and why. */
static void
put_reasons(const sinter_compact_counters *counters)
{
    bool is_first = true;

    for (sinter_reason r = 0; r < SINTER_REASON_COUNT; r++) {
        char number[CLI_NUMBER_CHARS];

        if (counters->files_by_reason[r] > 0) {
            printf("%s%s %s: %s", is_first ? "\nfiles: " : ", ",
                   cli_count_text(counters->files_by_reason[r], number),
                   sinter_file_action_name(sinter_reason_action(r)), sinter_reason_code(r));
            is_first = false;
        }
    }
    if (!is_first) {
        putchar('\n');
    }
}

void
cli_decisions_print(const sinter_compact_result *result, bool with_text)
{
    static const char *const titles[] = {"file", ">level", ">size", ">records", "action", "reason"};
    size_t count = 0;
    const sinter_file_decision *decisions = sinter_compact_result_decisions(result, &count);
    char number[CLI_NUMBER_CHARS];
    cli_table table;

    cli_table_init(&table, titles, 6);
    for (size_t i = 0; i < count; i++) {
        const sinter_file_decision *decision = &decisions[i];

        cli_table_cell(&table, "%s", decision->file->file_name);
        cli_table_cell(&table, "%" PRId32, decision->file->level);
        cli_table_cell(&table, "%s", cli_bytes_text(decision->file->file_size, number));
        cli_table_cell(&table, "%s", cli_count_text(decision->file->row_count, number));
        cli_table_cell(&table, "%s", sinter_file_action_name(decision->action));
        cli_table_cell(&table, "%s%s%s", sinter_reason_code(decision->reason),
                       with_text ? ": " : "",
                       with_text ? sinter_reason_text(decision->reason) : "");
    }
    cli_table_print(&table);
    put_reasons(sinter_compact_result_counters(result));
}

static void
cell_level(cli_table *table, cli_level level)
{
    char number[CLI_NUMBER_CHARS];

    cli_table_cell(table, "%s", level.files == 0 ? "-" : cli_count_text(level.files, number));
    cli_table_cell(table, "%s", level.files == 0 ? "-" : cli_bytes_text(level.bytes, number));
    cli_table_cell(table, "%s", level.files == 0 ? "-" : cli_count_text(level.rows, number));
}

void
cli_levels_compare(const sinter_files *before, const sinter_files *after)
{
    static const char *const titles[] = {">level",          ">files before", ">size before",
                                         ">records before", ">files after",  ">size after",
                                         ">records after"};
    int32_t highest = 0;
    cli_table table;

    for (size_t i = 0; i < before->file_count; i++) {
        highest = before->files[i].level > highest ? before->files[i].level : highest;
    }
    for (size_t i = 0; i < after->file_count; i++) {
        highest = after->files[i].level > highest ? after->files[i].level : highest;
    }
    cli_table_init(&table, titles, 7);
    for (int32_t level = 0; level <= highest; level++) {
        const cli_level old = cli_level_of(before->files, before->file_count, level);
        const cli_level new = cli_level_of(after->files, after->file_count, level);

        if (old.files == 0 && new.files == 0) {
            continue;
        }
        cli_table_cell(&table, "%" PRId32, level);
        cell_level(&table, old);
        cell_level(&table, new);
    }
    cli_table_print(&table);
}

cli_decisions_total
cli_decisions_sum(const sinter_compact_result *result)
{
    size_t count = 0;
    const sinter_file_decision *decisions = sinter_compact_result_decisions(result, &count);
    cli_decisions_total total = {0};

    for (size_t i = 0; i < count; i++) {
        const sinter_file_meta *file = decisions[i].file;

        if (decisions[i].action == SINTER_ACTION_REWRITTEN) {
            total.rewritten_bytes += file->file_size;
            total.rewritten_records += file->row_count;
        } else if (decisions[i].action == SINTER_ACTION_UPGRADED) {
            total.upgraded_bytes += file->file_size;
        }
    }
    return total;
}
