#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/table_open.h"
#include "cli/text.h"

/* `files` and `partitions` take the same. */
typedef struct files_arguments {
    cli_common common;
    cli_number snapshot;
    const char *tag;
    const char *branch;
} files_arguments;

#define FIELD(name) offsetof(files_arguments, name)

static const cli_option options[] = {
    {"snapshot", 0, CLI_COUNT, FIELD(snapshot), "ID", NULL, "A snapshot instead of the newest."},
    {"tag", 0, CLI_TEXT, FIELD(tag), "NAME", NULL, "The snapshot that a tag holds."},
    {"branch", 0, CLI_TEXT, FIELD(branch), "NAME", NULL, "A branch instead of main."},
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* Files of a partition. */
typedef struct partition_sum {
    char *name;
    uint64_t files;
    uint64_t rows;
    uint64_t bytes;
    uint64_t buckets;
    int32_t last_bucket;
    int64_t newest_ms;
} partition_sum;

/* A listing under way. */
typedef struct listing {
    const files_arguments *args;
    cli_table rows;
    uint64_t count;
    partition_sum sum; /* of the partition that is listed; name NULL: none */
    sinter_error err;
} listing;

static const char *
source_name(int32_t source)
{
    if (source == SINTER_FILE_SOURCE_UNKNOWN) {
        return NULL;
    }
    return source == SINTER_FILE_SOURCE_COMPACT ? "compact" : "append";
}

static void
put_file_json(const sinter_table_file *file)
{
    cli_json json = {0};

    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "partition", file->partition);
    cli_json_int(&json, "bucket", file->bucket);
    cli_json_int(&json, "total_buckets", file->total_buckets);
    cli_json_int(&json, "level", file->level);
    cli_json_text(&json, "file_name", file->file_name);
    cli_json_text(&json, "path", file->path);
    cli_json_uint(&json, "file_size", file->file_size);
    cli_json_uint(&json, "row_count", file->row_count);
    if (file->delete_row_count >= 0) {
        cli_json_int(&json, "delete_row_count", file->delete_row_count);
    }
    cli_json_bool(&json, "has_vector", file->has_vector != 0);
    if (file->vector_row_count >= 0) {
        cli_json_int(&json, "vector_row_count", file->vector_row_count);
    }
    cli_json_text(&json, "min_key", file->min_key);
    cli_json_text(&json, "max_key", file->max_key);
    cli_json_int(&json, "min_sequence_number", file->min_sequence_number);
    cli_json_int(&json, "max_sequence_number", file->max_sequence_number);
    cli_json_int(&json, "schema_id", file->schema_id);
    cli_json_int(&json, "creation_time_ms", file->creation_time_ms);
    cli_json_text(&json, "file_source", source_name(file->file_source));
    cli_json_object_end(&json);
}

static void
put_file_row(cli_table *rows, const sinter_table_file *file)
{
    char size[CLI_NUMBER_CHARS];
    char count[CLI_NUMBER_CHARS];

    cli_table_cell(rows, "%s", file->partition);
    cli_table_cell(rows, "%d", file->bucket);
    cli_table_cell(rows, "%d", file->level);
    cli_table_cell(rows, "%s", file->file_name);
    cli_table_cell(rows, "%s", cli_bytes_text(file->file_size, size));
    cli_table_cell(rows, "%s", cli_count_text(file->row_count, count));
    if (file->has_vector == 0) {
        cli_table_cell(rows, "%s", "");
    } else if (file->vector_row_count < 0) {
        cli_table_cell(rows, "%s", "?");
    } else {
        cli_table_cell(rows, "%" PRId64, file->vector_row_count);
    }
    cli_table_cell(rows, "%.30s", file->min_key == NULL ? "" : file->min_key);
    cli_table_cell(rows, "%.30s", file->max_key == NULL ? "" : file->max_key);
}

static sinter_status
put_file(void *ctx, const sinter_table_file *file)
{
    listing *list = ctx;

    list->count++;
    if (list->args->common.json) {
        put_file_json(file);
    } else {
        put_file_row(&list->rows, file);
    }
    return SINTER_OK;
}

/* ---- partitions ---- */

static void
put_partition(listing *list)
{
    const partition_sum *sum = &list->sum;
    char size[CLI_NUMBER_CHARS];
    char count[CLI_NUMBER_CHARS];
    char time[CLI_NUMBER_CHARS];

    if (sum->name == NULL) {
        return;
    }
    list->count++;
    if (list->args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_text(&json, "partition", sum->name);
        cli_json_uint(&json, "bucket_count", sum->buckets);
        cli_json_uint(&json, "file_count", sum->files);
        cli_json_uint(&json, "file_size", sum->bytes);
        cli_json_uint(&json, "row_count", sum->rows);
        cli_json_int(&json, "creation_time_ms", sum->newest_ms);
        cli_json_object_end(&json);
    } else {
        cli_table_cell(&list->rows, "%s", sum->name[0] == '\0' ? "(none)" : sum->name);
        cli_table_cell(&list->rows, "%" PRIu64, sum->buckets);
        cli_table_cell(&list->rows, "%" PRIu64, sum->files);
        cli_table_cell(&list->rows, "%s", cli_bytes_text(sum->bytes, size));
        cli_table_cell(&list->rows, "%s", cli_count_text(sum->rows, count));
        cli_table_cell(&list->rows, "%s",
                       sum->newest_ms == 0 ? "" : cli_time_text(sum->newest_ms, time));
    }
    free(sum->name);
    list->sum = (partition_sum){.name = NULL};
}

/* Files come by partition and bucket. */
static sinter_status
add_file(void *ctx, const sinter_table_file *file)
{
    listing *list = ctx;
    partition_sum *sum = &list->sum;

    if (sum->name == NULL || strcmp(sum->name, file->partition) != 0) {
        put_partition(list);
        sum->name = cli_alloc(strlen(file->partition) + 1, 1);
        memcpy(sum->name, file->partition, strlen(file->partition) + 1);
    }
    sum->buckets += sum->files == 0 || sum->last_bucket != file->bucket ? 1 : 0;
    sum->last_bucket = file->bucket;
    sum->files++;
    sum->rows += file->row_count;
    sum->bytes += file->file_size;
    sum->newest_ms =
        file->creation_time_ms > sum->newest_ms ? file->creation_time_ms : sum->newest_ms;
    return SINTER_OK;
}

/* ---- both ---- */

static int
list_files(cli *session, listing *list,
           sinter_status (*each)(void *ctx, const sinter_table_file *file))
{
    const files_arguments *args = list->args;
    sinter_table *table = NULL;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = SINTER_OK;
    int code = cli_table_open(session, args->common.operands[0], args->branch, &table);

    if (code == CLI_EXIT_OK) {
        code = cli_table_snapshot(table, &args->snapshot, args->tag, &snapshot);
    }
    if (code == CLI_EXIT_OK) {
        st = sinter_table_each_file(table, snapshot, each, list, &list->err);
        code = st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &list->err);
    }
    put_partition(list);
    cli_table_print(&list->rows);
    if (code == CLI_EXIT_OK && list->count == 0 && !args->common.json && !args->common.quiet) {
        printf("no files\n");
    }
    sinter_snapshot_destroy(snapshot);
    sinter_table_close(table);
    return code;
}

static int
run_files(cli *session, void *arguments)
{
    static const char *const titles[] = {"PARTITION", ">BUCKET", ">LEVEL",  "FILE",   ">SIZE",
                                         ">ROWS",     ">MARKED", "MIN KEY", "MAX KEY"};
    listing list = {.args = arguments, .err = SINTER_ERROR_INIT};

    cli_table_init(&list.rows, titles, sizeof titles / sizeof titles[0]);
    return list_files(session, &list, put_file);
}

static int
run_partitions(cli *session, void *arguments)
{
    static const char *const titles[] = {"PARTITION", ">BUCKETS", ">FILES",
                                         ">SIZE",     ">ROWS",    "NEWEST FILE"};
    listing list = {.args = arguments, .err = SINTER_ERROR_INIT};

    cli_table_init(&list.rows, titles, sizeof titles / sizeof titles[0]);
    return list_files(session, &list, add_file);
}

const cli_verb cli_verb_files = {
    .name = "files",
    .operands = "TABLE",
    .summary = "list the data files of a table",
    .description =
        "List the live data files of a snapshot of a table in Paimon's layout, by partition and "
        "bucket, with the keys that they begin and end with. MARKED counts the rows that a "
        "deletion "
        "vector marks. With --json each file is an object of its own.",
    .examples = "sinter files shop.db/orders\n"
                "sinter files shop.db/orders --snapshot 12 --json\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .takes = CLI_TAKES_JSON | CLI_TAKES_PROGRESS,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(files_arguments),
    .run = run_files,
};

const cli_verb cli_verb_partitions = {
    .name = "partitions",
    .operands = "TABLE",
    .summary = "list the partitions of a table, with their files, rows and bytes",
    .description = "List the partitions of a snapshot of a table in Paimon's layout that have "
                   "files. Rows are those of the files: older versions of a key, and deletes, "
                   "count. With --json each partition is an object of its own.",
    .examples = "sinter partitions shop.db/orders\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .takes = CLI_TAKES_JSON | CLI_TAKES_PROGRESS,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(files_arguments),
    .run = run_partitions,
};
