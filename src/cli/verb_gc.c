#include <inttypes.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/source.h"
#include "cli/table_open.h"
#include "cli/text.h"

typedef struct gc_arguments {
    cli_common common;
    const char *older_than;
} gc_arguments;

static const cli_option options[] = {
    {"older-than", 0, CLI_TEXT, offsetof(gc_arguments, older_than), "AGE", NULL,
     "Leave files that were retired or written less than this long ago, such as 30s, 10m, 2h, 7d; "
     "for readers that are still at work."},
};

static void
put_file(void *ctx, const char *file_name, sinter_gc_reason reason, uint64_t bytes)
{
    const gc_arguments *args = ctx;
    const char *word = reason == SINTER_GC_RETIRED ? "retired" : "orphan";
    char size[CLI_NUMBER_CHARS];

    if (args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_text(&json, "file_name", file_name);
        cli_json_text(&json, "reason", word);
        cli_json_uint(&json, "file_size", bytes);
        cli_json_object_end(&json);
    } else if (!args->common.quiet) {
        printf("%s %s (%s, %s)\n", args->common.dry_run ? "would remove" : "remove", file_name,
               word, cli_bytes_text(bytes, size));
    }
}

static void
put_result(const gc_arguments *args, const sinter_gc_result *result)
{
    char size[CLI_NUMBER_CHARS];

    if (args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_bool(&json, "dry_run", args->common.dry_run);
        cli_json_uint(&json, "retired_count", result->retired_files);
        cli_json_uint(&json, "orphan_count", result->orphan_files);
        cli_json_uint(&json, "temporary_count", result->temporary_files);
        cli_json_uint(&json, "removed_bytes", result->bytes);
        cli_json_object_end(&json);
    } else if (!args->common.quiet) {
        printf("%s: %" PRIu64 " retired, %" PRIu64 " orphan, %" PRIu64 " temporary files, %s\n",
               args->common.dry_run ? "would remove" : "removed", result->retired_files,
               result->orphan_files, result->temporary_files, cli_bytes_text(result->bytes, size));
    }
}

static int
run(cli *session, void *arguments)
{
    gc_arguments *args = arguments;
    sinter_gc_options gc = {
        .struct_size = (uint32_t)sizeof gc,
        .dry_run = args->common.dry_run,
        .each = put_file,
        .each_ctx = args,
    };
    sinter_gc_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_catalog *catalog = NULL;
    sinter_status st;

    if (args->older_than != NULL &&
        cli_age_parse("older-than", args->older_than, &gc.older_than_ms) != CLI_EXIT_OK) {
        return CLI_EXIT_USAGE;
    }
    st = sinter_catalog_open(&session->boot, args->common.operands[0], SINTER_CATALOG_WRITE,
                             &catalog, &err);
    if (st == SINTER_OK) {
        st = sinter_catalog_gc(catalog, &gc, &result, &err);
    }
    sinter_catalog_close(catalog);
    if (st != SINTER_OK) {
        return cli_fail_status(st, &err);
    }
    put_result(args, &result);
    return CLI_EXIT_OK;
}

const cli_verb cli_verb_gc = {
    .name = "gc",
    .operands = "DIR",
    .summary = "remove files that compactions retired, and what dead processes left",
    .description =
        "Remove the files of a directory that its catalog no longer names: those a compaction "
        "retired, data files of runs that failed, and temporaries of dead processes. Only names "
        "that sinter gives to data files are looked at. A reader that began before a compaction "
        "may still need retired files: --older-than leaves the young ones.",
    .examples = "sinter gc data/ --dry-run\nsinter gc data/ --older-than 1h\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_PROGRESS | CLI_TAKES_DRY_RUN,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(gc_arguments),
    .run = run,
};
