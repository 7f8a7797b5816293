#include <inttypes.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/table_open.h"
#include "cli/text.h"

typedef struct orphan_arguments {
    cli_common common;
    const char *older_than;
} orphan_arguments;

static const cli_option options[] = {
    {"older-than", 0, CLI_TEXT, offsetof(orphan_arguments, older_than), "AGE", NULL,
     "Look at files that were written longer ago than this, such as 12h or 3d; 1d unless given. "
     "Writers that are at work must not take longer."},
};

static void
put_file(void *ctx, const sinter_removed_file *file)
{
    const orphan_arguments *args = ctx;
    char size[CLI_NUMBER_CHARS];

    if (args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_text(&json, "path", file->path);
        cli_json_uint(&json, "file_size", file->bytes);
        cli_json_object_end(&json);
    } else if (!args->common.quiet) {
        printf("%s %s (%s)\n", args->common.dry_run ? "would remove" : "remove", file->path,
               cli_bytes_text(file->bytes, size));
    }
}

static void
put_result(const orphan_arguments *args, const sinter_orphan_result *result)
{
    char size[CLI_NUMBER_CHARS];

    if (args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_bool(&json, "dry_run", args->common.dry_run);
        cli_json_uint(&json, "orphan_count", result->files);
        cli_json_uint(&json, "temporary_count", result->temporary_files);
        cli_json_uint(&json, "removed_bytes", result->bytes);
        cli_json_uint(&json, "left_count", result->left_files);
        cli_json_object_end(&json);
    } else if (!args->common.quiet) {
        printf("%s: %" PRIu64 " orphan, %" PRIu64 " temporary files, %s\n",
               args->common.dry_run ? "would remove" : "removed", result->files,
               result->temporary_files, cli_bytes_text(result->bytes, size));
    }
    if (result->left_files > 0) {
        cli_note("%" PRIu64 " files could not be removed", result->left_files);
    }
}

static int
run(cli *session, void *arguments)
{
    orphan_arguments *args = arguments;
    sinter_orphan_options how = {.struct_size = (uint32_t)sizeof how,
                                 .flags = args->common.dry_run ? SINTER_REMOVE_DRY_RUN : 0,
                                 .each = put_file,
                                 .ctx = args};
    sinter_orphan_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    sinter_status st = SINTER_OK;
    int64_t age_ms = 0;
    int code = CLI_EXIT_OK;

    if (args->older_than != NULL) {
        code = cli_age_parse("older-than", args->older_than, &age_ms);
        how.older_than_ms = session->boot.clock.wall_ms(session->boot.clock.ctx) - age_ms;
    }
    if (code == CLI_EXIT_OK) {
        code = cli_table_open(session, args->common.operands[0], NULL, &table);
    }
    if (code != CLI_EXIT_OK) {
        return code;
    }
    st = sinter_table_remove_orphans(table, &how, &result, &err);
    sinter_table_close(table);
    if (st != SINTER_OK) {
        return cli_fail_status(st, &err);
    }
    put_result(args, &result);
    return CLI_EXIT_OK;
}

const cli_verb cli_verb_remove_orphans = {
    .name = "remove-orphans",
    .operands = "TABLE",
    .summary = "remove files of a table that no snapshot, tag or branch names",
    .description =
        "Remove what writers that failed left in a table in Paimon's layout: data files, "
        "manifests, "
        "index files and statistics that no snapshot, tag or changelog of any branch names. Files "
        "that are younger than a day are left alone; see --older-than, and look with --dry-run "
        "first.\n\n"
        "When metadata that is there can't be read, nothing is removed.",
    .examples = "sinter remove-orphans shop.db/orders --dry-run\n"
                "sinter remove-orphans shop.db/orders --older-than 3d\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_PROGRESS | CLI_TAKES_DRY_RUN,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(orphan_arguments),
    .run = run,
};
