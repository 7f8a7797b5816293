#include <inttypes.h>

#include "cli/documents.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/table_open.h"
#include "cli/table_plan.h"

typedef struct commit_arguments {
    cli_common common;
    const char *branch;
    bool keep;
} commit_arguments;

static const cli_option options[] = {
    {"keep", 0, CLI_FLAG, offsetof(commit_arguments, keep), NULL, NULL,
     "Leave the new files of results that are given twice."},
    {"branch", 0, CLI_TEXT, offsetof(commit_arguments, branch), "NAME", NULL,
     "A branch instead of main; results have to be of tasks that were planned there."},
};

static void
put_info(const commit_arguments *args, const sinter_table_commit_info *info)
{
    cli_json json = {.root = NULL};

    if (args->common.json) {
        cli_json_object_begin(&json, NULL);
        cli_json_text(&json, "format", "sinter.commit");
        cli_json_int(&json, "version", 1);
        cli_json_text(&json, "table", args->common.operands[0]);
        cli_json_int(&json, "snapshot_id", info->snapshot_id);
        cli_json_bool(&json, "was_done", info->was_done);
        cli_json_uint(&json, "results", info->results);
        cli_json_uint(&json, "duplicates", info->duplicates);
        cli_json_uint(&json, "files_before", info->files_before);
        cli_json_uint(&json, "files_after", info->files_after);
        cli_json_uint(&json, "files_discarded", info->files_discarded);
        cli_json_object_end(&json);
        return;
    }
    if (info->was_done) {
        printf("snapshot %" PRId64 ": all of it was committed before\n", info->snapshot_id);
    } else {
        printf("snapshot %" PRId64 ": %" PRIu64 " files became %" PRIu64 "\n", info->snapshot_id,
               info->files_before, info->files_after);
    }
    if (info->duplicates > 0) {
        printf("%" PRIu64 " results were given twice; %" PRIu64 " of their files were removed\n",
               info->duplicates, info->files_discarded);
    }
}

static int
run(cli *session, void *arguments)
{
    const commit_arguments *args = arguments;
    const sinter_table_commit_options how = {.struct_size = (uint32_t)sizeof how,
                                             .keep = args->keep};
    sinter_table_commit_info info = {.struct_size = (uint32_t)sizeof info};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    cli_documents documents;
    sinter_status st = SINTER_OK;
    int code =
        cli_documents_read(args->common.operands + 1, args->common.operand_count - 1, &documents);

    if (code == CLI_EXIT_OK) {
        code = cli_table_open(session, args->common.operands[0], args->branch, &table);
    }
    if (code == CLI_EXIT_OK) {
        st =
            sinter_table_commit_results(table, documents.items, documents.count, &how, &info, &err);
        code = st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
    }
    if (code == CLI_EXIT_OK) {
        put_info(args, &info);
    }
    sinter_table_close(table);
    cli_documents_fini(&documents);
    return code;
}

const cli_verb cli_verb_commit = {
    .name = "commit",
    .operands = "TABLE RESULT...",
    .summary = "make results of run a snapshot of a table",
    .description =
        "Commit sinter.result documents, one a file or one a line, as one COMPACT snapshot; `-` is "
        "standard input. Each replaced file is looked for in the newest snapshot: one that isn't "
        "there any more, or whose rows were deleted meanwhile, is a conflict, and nothing is "
        "changed. Of several results of one task the first is used, and new files of the others "
        "are removed unless something refers to them. A result that was committed before changes "
        "nothing.",
    .examples = "sinter commit warehouse/sales.db/orders results.jsonl\n"
                "sinter plan orders | sinter run - | sinter commit orders -\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON,
    .operand_min = 2,
    .operand_max = -1,
    .arguments_size = sizeof(commit_arguments),
    .run = run,
};
