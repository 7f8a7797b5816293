#include <inttypes.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/table_open.h"

typedef struct expire_arguments {
    cli_common common;
    const char *branch;
    const char *older_than;
    cli_number retain_min;
    cli_number retain_max;
    cli_number limit;
} expire_arguments;

#define FIELD(name) offsetof(expire_arguments, name)

static const cli_option options[] = {
    {"retain-min", 0, CLI_COUNT, FIELD(retain_min), "N", NULL,
     "Snapshots that stay whatever their age; else the table's snapshot.num-retained.min."},
    {"retain-max", 0, CLI_COUNT, FIELD(retain_max), "N", NULL,
     "Snapshots beyond so many go whatever their age; else the table's "
     "snapshot.num-retained.max."},
    {"older-than", 0, CLI_TEXT, FIELD(older_than), "AGE", NULL,
     "In between those go that are older, such as 30s, 10m, 2h, 7d; else the table's "
     "snapshot.time-retained."},
    {"limit", 'l', CLI_COUNT, FIELD(limit), "N", NULL,
     "Expire at most N snapshots; else the table's snapshot.expire.limit."},
    {"branch", 0, CLI_TEXT, FIELD(branch), "NAME", NULL, "A branch instead of main."},
};

static void
put_file(void *ctx, const sinter_removed_file *file)
{
    const expire_arguments *args = ctx;

    if (args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_text(&json, "path", file->path);
        cli_json_uint(&json, "file_size", file->bytes);
        cli_json_object_end(&json);
    } else {
        printf("%s %s\n", args->common.dry_run ? "would remove" : "remove", file->path);
    }
}

static void
print_result(const sinter_expire_result *result, const char *what)
{
    if (result->snapshots == 0) {
        printf("no snapshot to expire\n");
    } else {
        printf("%s: snapshots %" PRId64 " to %" PRId64 ", %" PRIu64 " data files, %" PRIu64
               " files of metadata\n",
               what, result->first_id, result->last_id, result->data_files, result->meta_files);
    }
    if (result->changelogs > 0) {
        printf("%s: %" PRIu64 " changelogs that outlived their snapshots\n", what,
               result->changelogs);
    }
}

static void
put_result(const expire_arguments *args, const sinter_expire_result *result)
{
    if (args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_bool(&json, "dry_run", args->common.dry_run);
        cli_json_int(&json, "first_id", result->first_id);
        cli_json_int(&json, "last_id", result->last_id);
        cli_json_uint(&json, "snapshot_count", result->snapshots);
        cli_json_uint(&json, "changelog_count", result->changelogs);
        cli_json_uint(&json, "data_file_count", result->data_files);
        cli_json_uint(&json, "metadata_file_count", result->meta_files);
        cli_json_uint(&json, "left_count", result->left_files);
        cli_json_object_end(&json);
    } else if (!args->common.quiet) {
        print_result(result, args->common.dry_run ? "would expire" : "expired");
    }
    if (result->left_files > 0) {
        cli_note("%" PRIu64 " files could not be removed; remove-orphans finds them",
                 result->left_files);
    }
}

static int
take_options(expire_arguments *args, const sinter_env *env, sinter_expire_options *out)
{
    int64_t age_ms = 0;

    if ((args->retain_min.is_set && args->retain_min.value == 0) ||
        (args->retain_max.is_set && args->retain_max.value == 0) ||
        (args->limit.is_set && args->limit.value == 0)) {
        return cli_fail(CLI_EXIT_USAGE, "the newest snapshot always stays: numbers begin at 1");
    }
    *out = (sinter_expire_options){.struct_size = (uint32_t)sizeof *out,
                                   .flags = args->common.dry_run ? SINTER_REMOVE_DRY_RUN : 0,
                                   .retain_min = (int64_t)(args->retain_min.value & INT64_MAX),
                                   .retain_max = (int64_t)(args->retain_max.value & INT64_MAX),
                                   .limit = (int64_t)(args->limit.value & INT64_MAX),
                                   .ctx = args};
    if (args->common.verbose || args->common.dry_run) {
        out->each = args->common.quiet ? NULL : put_file;
    }
    if (args->older_than != NULL) {
        if (cli_age_parse("older-than", args->older_than, &age_ms) != CLI_EXIT_OK) {
            return CLI_EXIT_USAGE;
        }
        out->older_than_ms = env->clock.wall_ms(env->clock.ctx) - age_ms;
    }
    return CLI_EXIT_OK;
}

static int
run(cli *session, void *arguments)
{
    expire_arguments *args = arguments;
    sinter_expire_options how;
    sinter_expire_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    sinter_status st = SINTER_OK;
    int code = take_options(args, &session->boot, &how);

    if (code == CLI_EXIT_OK) {
        code = cli_table_open(session, args->common.operands[0], args->branch, &table);
    }
    if (code != CLI_EXIT_OK) {
        return code;
    }
    st = sinter_table_expire(table, &how, &result, &err);
    sinter_table_close(table);
    if (st != SINTER_OK) {
        return cli_fail_status(st, &err);
    }
    put_result(args, &result);
    return CLI_EXIT_OK;
}

const cli_verb cli_verb_expire = {
    .name = "expire",
    .operands = "TABLE",
    .summary = "expire old snapshots of a table, with the files only they need",
    .description =
        "Remove the oldest snapshots of a table in Paimon's layout, and the data files and "
        "metadata that no snapshot that stays, no tag, no branch and no consumer needs. How many "
        "stay, and how old they get, is said by the table's options unless it is said here.\n\n"
        "Everything that goes is found before anything is removed: metadata that can't be read "
        "keeps all of it. Others may read and commit meanwhile.",
    .examples = "sinter expire shop.db/orders --dry-run\n"
                "sinter expire shop.db/orders --retain-max 20 --older-than 7d\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_PROGRESS | CLI_TAKES_DRY_RUN,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(expire_arguments),
    .run = run,
};
