#include <string.h>

#include "cli/documents.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/source.h"
#include "cli/table_plan.h"

typedef struct run_arguments {
    cli_common common;
    const char *base_dir;
    const char *spill_dir;
    const char *rate;
    cli_number threads;
} run_arguments;

#define FIELD(name) offsetof(run_arguments, name)

static const cli_option options[] = {
    {"base-dir", 0, CLI_TEXT, FIELD(base_dir), "DIR", "@dir",
     "Where the table is on this machine, instead of the task's base_dir."},
    {"spill-dir", 0, CLI_TEXT, FIELD(spill_dir), "DIR", "@dir",
     "Where runs go that the memory budget can't hold open; else where new files go."},
    {"rate", 0, CLI_TEXT, FIELD(rate), "SIZE", NULL,
     "Write at most so many bytes a second, such as 64mb; reads keep pace."},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", NULL,
     "Threads to work on, no more than processors; the new files don't depend on it."},
};

/* The result goes out whether the task went well or not; the exit code is the first failure's. */
static int
run_document(cli *session, const run_arguments *args, const cli_table_settings *settings,
             const sinter_table_result *document)
{
    sinter_table_run_options how = {.struct_size = (uint32_t)sizeof how,
                                    .source = document->source,
                                    .base_dir = args->base_dir,
                                    .spill_dir = args->spill_dir,
                                    .settings = settings->items,
                                    .setting_count = settings->count};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text result;
    sinter_status st = SINTER_OK;

    sinter_text_init(&session->boot, &result);
    cli_session_cancel(session, &how.is_cancelled, &how.cancel_ctx);
    st = sinter_table_task_run(&session->env, document->document, &how, &result, &err);
    cli_put_text(&result);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_plain(st, &err);
}

static int
start(cli *session, const run_arguments *args)
{
    const uint64_t threads = args->threads.is_set ? args->threads.value : 1;
    sinter_error err = SINTER_ERROR_INIT;
    cli_load load = {.threads = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX};
    sinter_compact_options set;
    int code = CLI_EXIT_OK;

    if (args->rate != NULL && cli_rate_parse(args->rate, &load.rate, &err) != SINTER_OK) {
        return cli_fail(CLI_EXIT_USAGE, "option '--rate': %s", err.text);
    }
    cli_table_defaults(&set);
    code = cli_settings_apply(&args->common.settings, &set);
    code = code == CLI_EXIT_OK ? cli_memory_apply(&args->common, &set) : code;
    code = code == CLI_EXIT_OK ? cli_session_start(session, set.memory_bytes) : code;
    return code == CLI_EXIT_OK ? cli_session_load(session, &load, NULL) : code;
}

static int
run(cli *session, void *arguments)
{
    const run_arguments *args = arguments;
    cli_table_settings settings;
    cli_documents documents;
    int code = start(session, args);

    if (code != CLI_EXIT_OK) {
        return code;
    }
    cli_table_settings_init(&args->common, &settings);
    code = cli_documents_read(args->common.operands, args->common.operand_count, &documents);
    for (size_t i = 0; i < documents.count && cli_signal_exit() == 0; i++) {
        const int done = run_document(session, args, &settings, &documents.items[i]);

        code = code == CLI_EXIT_OK ? done : code;
    }
    cli_documents_fini(&documents);
    cli_table_settings_fini(&settings);
    return code;
}

const cli_verb cli_verb_run = {
    .name = "run",
    .operands = "TASK...",
    .summary = "run tasks of a table that plan made",
    .description =
        "Run sinter.task documents, one a file or one a line, and print a sinter.result document "
        "for each; `-` is standard input. A task needs its files and nothing else: it may be run "
        "on any machine that sees them, several times and by several processes at once. Nothing "
        "refers to the new files until `sinter commit`.\n\n"
        "After a failure of a task, and when INT or TERM cancels, none of its new files is left, "
        "and the result says why. Those of a result that can't be printed stay until `sinter "
        "remove-orphans`.",
    .examples = "sinter run tasks.jsonl > results.jsonl\n"
                "sinter plan warehouse/sales.db/orders | sinter run - --base-dir /mnt/orders\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_IO | CLI_TAKES_SETTINGS | CLI_TAKES_PRIORITY,
    .operand_min = 1,
    .operand_max = -1,
    .arguments_size = sizeof(run_arguments),
    .run = run,
};
