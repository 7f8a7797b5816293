#include <inttypes.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/table_open.h"
#include "cli/text.h"

typedef struct snapshots_arguments {
    cli_common common;
    const char *branch;
} snapshots_arguments;

static const cli_option options[] = {
    {"branch", 0, CLI_TEXT, offsetof(snapshots_arguments, branch), "NAME", NULL,
     "A branch instead of main."},
};

/* A listing under way. */
typedef struct listing {
    const snapshots_arguments *args;
    sinter_table *table;
    cli_table rows;
    uint64_t count;
    sinter_error err;
} listing;

static void
put_maybe(cli_json *json, const char *name, int64_t value, int64_t none)
{
    if (value != none) {
        cli_json_int(json, name, value);
    }
}

static void
put_json(const sinter_snapshot *snapshot, const char *tag)
{
    cli_json json = {0};

    cli_json_object_begin(&json, NULL);
    if (tag != NULL) {
        cli_json_text(&json, "tag", tag);
    }
    cli_json_int(&json, "id", snapshot->id);
    cli_json_int(&json, "schema_id", snapshot->schema_id);
    cli_json_text(&json, "commit_kind", sinter_commit_kind_name(snapshot->commit_kind));
    cli_json_text(&json, "commit_user", snapshot->commit_user);
    cli_json_int(&json, "commit_identifier", snapshot->commit_identifier);
    cli_json_int(&json, "time_ms", snapshot->time_ms);
    cli_json_int(&json, "total_record_count", snapshot->total_record_count);
    cli_json_int(&json, "delta_record_count", snapshot->delta_record_count);
    cli_json_int(&json, "changelog_record_count", snapshot->changelog_record_count);
    put_maybe(&json, "watermark", snapshot->watermark, INT64_MIN);
    put_maybe(&json, "next_row_id", snapshot->next_row_id, -1);
    cli_json_text(&json, "base_manifest_list", snapshot->base.name);
    cli_json_text(&json, "delta_manifest_list", snapshot->delta.name);
    cli_json_text(&json, "changelog_manifest_list", snapshot->changelog.name);
    cli_json_text(&json, "index_manifest", snapshot->index_manifest);
    cli_json_text(&json, "statistics", snapshot->statistics);
    cli_json_object_end(&json);
}

static void
put_row(listing *list, const sinter_snapshot *snapshot, const char *tag)
{
    char time[CLI_NUMBER_CHARS];
    char count[CLI_NUMBER_CHARS];

    cli_table_cell(&list->rows, "%" PRId64, snapshot->id);
    cli_table_cell(&list->rows, "%s", tag == NULL ? "" : tag);
    cli_table_cell(&list->rows, "%s", sinter_commit_kind_name(snapshot->commit_kind));
    cli_table_cell(&list->rows, "%s", cli_time_text(snapshot->time_ms, time));
    cli_table_cell(&list->rows, "%s",
                   snapshot->total_record_count < 0
                       ? "?"
                       : cli_count_text((uint64_t)snapshot->total_record_count, count));
    cli_table_cell(&list->rows, "%+" PRId64, snapshot->delta_record_count);
    cli_table_cell(&list->rows, "%" PRId64, snapshot->schema_id);
    cli_table_cell(&list->rows, "%.40s", snapshot->commit_user);
}

static void
put(listing *list, const sinter_snapshot *snapshot, const char *tag)
{
    list->count++;
    if (list->args->common.json) {
        put_json(snapshot, tag);
    } else {
        put_row(list, snapshot, tag);
    }
}

/* One that expires meanwhile is passed over. */
static sinter_status
list_snapshot(void *ctx, int64_t id)
{
    listing *list = ctx;
    sinter_snapshot *snapshot = NULL;
    const sinter_status st = sinter_table_snapshot_get(list->table, id, &snapshot, &list->err);

    if (st == SINTER_E_NOT_FOUND || st == SINTER_E_EXPIRED) {
        return SINTER_OK;
    }
    if (st == SINTER_OK) {
        put(list, snapshot, NULL);
    }
    sinter_snapshot_destroy(snapshot);
    return st;
}

static sinter_status
list_tag(void *ctx, const char *name)
{
    listing *list = ctx;
    sinter_snapshot *snapshot = NULL;
    const sinter_status st = sinter_table_snapshot_of_tag(list->table, name, &snapshot, &list->err);

    if (st == SINTER_E_NOT_FOUND) {
        return SINTER_OK;
    }
    if (st == SINTER_OK) {
        put(list, snapshot, name);
    }
    sinter_snapshot_destroy(snapshot);
    return st;
}

static int
run(cli *session, void *arguments)
{
    static const char *const titles[] = {">ID",      "TAG",    "KIND",    "TIME (UTC)",
                                         ">RECORDS", ">DELTA", ">SCHEMA", "USER"};
    const snapshots_arguments *args = arguments;
    listing list = {.args = args, .err = SINTER_ERROR_INIT};
    const int code = cli_table_open(session, args->common.operands[0], args->branch, &list.table);
    sinter_status st = SINTER_OK;

    if (code != CLI_EXIT_OK) {
        return code;
    }
    cli_table_init(&list.rows, titles, sizeof titles / sizeof titles[0]);
    st = sinter_table_each_snapshot(list.table, list_snapshot, &list, &list.err);
    if (st == SINTER_OK) {
        st = sinter_table_each_tag(list.table, list_tag, &list, &list.err);
    }
    sinter_table_close(list.table);
    cli_table_print(&list.rows);
    if (st == SINTER_OK && list.count == 0 && !args->common.json && !args->common.quiet) {
        printf("no snapshots\n");
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &list.err);
}

const cli_verb cli_verb_snapshots = {
    .name = "snapshots",
    .operands = "TABLE",
    .summary = "list the snapshots and tags of a table",
    .description = "List the snapshots of a table in Paimon's layout, the oldest first, and then "
                   "those that tags hold. With --json each is an object of its own.",
    .examples = "sinter snapshots shop.db/orders\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_PROGRESS,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(snapshots_arguments),
    .run = run,
};
