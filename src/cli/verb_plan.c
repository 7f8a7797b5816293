#include <inttypes.h>

#include "cli/levels.h"
#include "cli/opts.h"
#include "cli/plan.h"
#include "cli/report.h"
#include "cli/table_open.h"
#include "cli/table_plan.h"
#include "cli/text.h"

typedef struct plan_arguments {
    cli_task_arguments task;
    const char *max_task_size;
    bool explain;
} plan_arguments;

enum { SECTIONS_SHOWN = 40 };

static const cli_option options[] = {
    CLI_TASK_OPTIONS,
    {"explain", 'x', CLI_FLAG, offsetof(plan_arguments, explain), NULL, NULL,
     "Draw sections and runs, and say in a sentence why each file is rewritten, upgraded or kept."},
    {"max-task-size", 0, CLI_TEXT, offsetof(plan_arguments, max_task_size), "SIZE", NULL,
     "Of a table: cut what is due in a bucket into tasks of about this size, such as 10gb, by key "
     "range, where files begin and end. Their results are committed together or not at all."},
};

static sinter_status
put_json(const cli_source *source, const cli_task *task, const sinter_partition *partition,
         const sinter_compact_result *result, sinter_error *err)
{
    const sinter_plan_content content = {
        .struct_size = (uint32_t)sizeof content,
        .base_dir = source->base_dir,
        .reason_code = task->reason_code,
        .output_level = task->task.output_level,
        .max_level = task->task.max_level,
        .drop_delete = task->task.drop_delete,
        .small_file_bytes = sinter_compact_small_file_bytes(&source->options),
        .target_file_bytes = source->options.target_file_bytes,
        .partition = partition,
        .result = result,
        .codec = source->codec,
    };
    sinter_text text;
    sinter_status st;

    sinter_text_init(sinter_env_default(), &text);
    st = sinter_plan_print(&content, &text, err);
    cli_put_text(&text);
    return st;
}

static void
put_plan(const cli_source *source, const cli_task *task, const sinter_partition *partition,
         const sinter_compact_result *result, bool explain)
{
    char a[CLI_NUMBER_CHARS];
    char b[CLI_NUMBER_CHARS];
    cli_decisions_total total;

    if (task->is_empty) {
        cli_nothing_print(task);
        return;
    }
    printf("%zu %s to level %" PRId32 " of %" PRId32 " (%s: %s); deletes are %s\n",
           task->task.count, task->task.count == 1 ? "file" : "files", task->task.output_level,
           task->task.max_level, task->reason_code, task->reason_text,
           task->task.drop_delete ? "left out" : "kept");
    if (explain) {
        printf("a file is small below %s, new files end at %s\n\n",
               cli_bytes_text(sinter_compact_small_file_bytes(&source->options), a),
               cli_bytes_text(source->options.target_file_bytes, b));
        cli_sections_draw(partition, SECTIONS_SHOWN);
    }
    putchar('\n');
    cli_decisions_print(result, explain);
    total = cli_decisions_sum(result);
    printf("\nto rewrite: %s; to upgrade without reading: %s\n",
           cli_bytes_text(total.rewritten_bytes, a), cli_bytes_text(total.upgraded_bytes, b));
}

int
cli_plan_show(cli *session, const cli_task_arguments *args, const cli_source *source,
              const cli_task *task, bool explain)
{
    sinter_compact_result *result = NULL;
    sinter_partition *partition = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st;

    st = sinter_partition_create(&session->boot, task->task.files, task->task.count, &partition,
                                 &err);
    if (st == SINTER_OK) {
        st = sinter_compact_task_plan(&session->boot, &task->task, &result, &err);
    }
    if (st == SINTER_OK && args->common.json) {
        st = put_json(source, task, partition, result, &err);
    } else if (st == SINTER_OK) {
        put_plan(source, task, partition, result, explain);
    }
    sinter_compact_result_destroy(result);
    sinter_partition_destroy(partition);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

/* Settings are words of a command line until they have been applied once. */
static int
check_settings(const cli_common *common)
{
    sinter_compact_options set;
    int code = CLI_EXIT_OK;

    cli_table_defaults(&set);
    code = cli_settings_apply(&common->settings, &set);
    return code == CLI_EXIT_OK ? cli_memory_apply(common, &set) : code;
}

static int
plan_table(cli *session, const plan_arguments *args)
{
    cli_table_settings settings;
    sinter_table *table = NULL;
    sinter_table_plan *plan = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t task_bytes_max = 0;
    int code = check_settings(&args->task.common);

    if (code != CLI_EXIT_OK) {
        return code;
    }
    if (args->max_task_size != NULL &&
        (sinter_parse_bytes(args->max_task_size, &task_bytes_max, &err) != SINTER_OK ||
         task_bytes_max == 0)) {
        return cli_fail(CLI_EXIT_USAGE, "option '--max-task-size': a size expected, not \"%s\"",
                        args->max_task_size);
    }
    cli_table_settings_init(&args->task.common, &settings);
    code = cli_table_open(session, args->task.common.operands[0], args->task.branch, &table);
    if (code == CLI_EXIT_OK) {
        code = cli_table_plan(&args->task, table, &settings, task_bytes_max, &plan);
    }
    if (code == CLI_EXIT_OK && sinter_table_plan_count(plan) == 0) {
        code = CLI_EXIT_NOTHING;
    } else if (code == CLI_EXIT_OK && args->explain) {
        cli_table_plan_print(plan);
    } else if (code == CLI_EXIT_OK) {
        cli_table_plan_put(plan);
    }
    sinter_table_plan_destroy(plan);
    sinter_table_close(table);
    cli_table_settings_fini(&settings);
    return code;
}

static int
run(cli *session, void *arguments)
{
    const plan_arguments *args = arguments;
    cli_task task = {.files = NULL};
    cli_source source;
    int code;

    if (cli_is_table(session, args->task.common.operands[0])) {
        return plan_table(session, args);
    }
    if (args->max_task_size != NULL) {
        return cli_fail(CLI_EXIT_USAGE, "--max-task-size is for tables; there is no schema/ in %s",
                        args->task.common.operands[0]);
    }
    code = cli_source_open(session, &args->task.common, args->task.common.operands[0],
                           args->task.base_dir, 0, &source);
    if (code == CLI_EXIT_OK) {
        code = cli_task_init(session, &args->task, &source, &task);
    }
    if (code == CLI_EXIT_OK) {
        code = cli_plan_show(session, &args->task, &source, &task, args->explain);
    }
    cli_task_fini(&task);
    cli_source_close(&source);
    return code;
}

const cli_verb cli_verb_plan = {
    .name = "plan",
    .operands = "TABLE|DIR|FILE",
    .summary = "show what compact would do, and why",
    .description =
        "Show which files `sinter compact` with the same options would rewrite, upgrade or leave, "
        "and how much it would read. Only footers are read and nothing is written. With --json a "
        "sinter.plan document is printed.\n\n"
        "Of a Paimon table the tasks are printed, one sinter.task document a line, which `sinter "
        "run` takes on any machine that sees the files; with --explain as a table for people. The "
        "exit code is 8 when there is none.",
    .examples = "sinter plan warehouse/sales.db/orders > tasks.jsonl\n"
                "sinter plan warehouse/sales.db/orders --full --explain\n"
                "sinter plan data/ --explain\nsinter plan files.json --output-level 3 --json\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO | CLI_TAKES_SETTINGS,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(plan_arguments),
    .run = run,
};
