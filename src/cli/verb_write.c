#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/feed.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/text.h"

typedef struct write_arguments {
    cli_common common;
    int32_t format;
    bool hex_strings;
    const char *user;
    cli_number identifier;
    cli_number buffer;
    const char *spill_dir;
    cli_number threads;
} write_arguments;

#define FIELD(name) offsetof(write_arguments, name)

static const cli_option options[] = {
    {"format", 'f', CLI_CHOICE, FIELD(format), "FORMAT", "auto|json|csv|tsv",
     "Form of the input. auto: by the file's name, else by its first line."},
    {"user", 'u', CLI_TEXT, FIELD(user), "NAME", NULL,
     "Who commits: groups the commits of a job. A random name unless given."},
    {"identifier", 0, CLI_COUNT, FIELD(identifier), "N", NULL,
     "Number of the commit, which grows per user. One that the user has committed already is not "
     "committed again. One more than the user's last unless given."},
    {"buffer", 0, CLI_SIZE, FIELD(buffer), "SIZE", NULL,
     "Rows held for sorting before files are written; the table's write-buffer-size unless given, "
     "at most half of the memory budget."},
    {"spill-dir", 0, CLI_TEXT, FIELD(spill_dir), "DIR", "@dir",
     "Where a full buffer goes instead of into files, until the end."},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", NULL,
     "Threads at most, for the files of several buckets; 1 unless given."},
    {"hex-strings", 0, CLI_FLAG, FIELD(hex_strings), NULL, NULL, "Strings of the input are hex."},
};

/* A write under way. */
typedef struct write_job {
    cli *session;
    const write_arguments *args;
    cli_input input;
    sinter_table *table;
    sinter_table_writer *writer;
    uint64_t rows;
    uint64_t done_bytes;
    sinter_error err;
} write_job;

static int
add_row(void *ctx, const sinter_row_values *row)
{
    write_job *job = ctx;
    const sinter_status st =
        sinter_table_writer_add(job->writer, row->kind, row->values, &job->err);

    job->rows++;
    return st == SINTER_OK ? CLI_EXIT_OK : cli_feed_fail(&job->input, row->line, st, &job->err);
}

static int
write_input(write_job *job, const char *path)
{
    int32_t format = job->args->format - 1; /* auto comes first */
    int code = cli_input_open(path, &job->input);

    if (code == CLI_EXIT_OK && job->args->format == 0) {
        code = cli_input_format(&job->input, &format);
    }
    if (code == CLI_EXIT_OK) {
        cli_feed feed = {
            .session = job->session,
            .input = &job->input,
            .row_type = sinter_table_writer_row_type(job->writer),
            .format = format,
            .flags = job->args->hex_strings ? SINTER_PRINT_HEX_STRINGS : 0,
            .each = add_row,
            .ctx = job,
            .done_bytes = job->done_bytes,
            .rows = &job->rows,
        };

        code = cli_feed_run(&feed);
        job->done_bytes = feed.done_bytes;
    }
    cli_input_close(&job->input);
    return code;
}

static int
begin(write_job *job)
{
    const write_arguments *args = job->args;
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config,
                                        .path = args->common.operands[0]};
    sinter_table_write_options write = {.struct_size = (uint32_t)sizeof write,
                                        .has_identifier = args->identifier.is_set,
                                        .user = args->user,
                                        .identifier = (int64_t)args->identifier.value,
                                        .buffer_bytes = args->buffer.value,
                                        .spill_dir = args->spill_dir};
    cli_load load = {.threads = args->threads.value < 1 ? 1 : (uint32_t)args->threads.value};
    sinter_compact_options defaults;
    sinter_status st = SINTER_OK;
    int code;

    if (args->identifier.value > INT64_MAX || args->threads.value > UINT32_MAX) {
        return cli_fail(CLI_EXIT_USAGE, "option '--%s' is too large",
                        args->threads.value > UINT32_MAX ? "threads" : "identifier");
    }
    cli_table_defaults(&defaults);
    code = cli_memory_apply(&args->common, &defaults);
    if (code == CLI_EXIT_OK) {
        code = cli_session_start(job->session, defaults.memory_bytes);
    }
    if (code == CLI_EXIT_OK) {
        code = cli_session_load(job->session, &load, NULL);
    }
    if (code != CLI_EXIT_OK) {
        return code;
    }
    cli_session_cancel(job->session, &write.is_cancelled, &write.cancel_ctx);
    st = sinter_table_open(&job->session->env, &config, &job->table, &job->err);
    if (st == SINTER_OK) {
        st = sinter_table_writer_open(job->table, &write, &job->writer, &job->err);
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &job->err);
}

static void
put_json(const write_job *job, const sinter_table_write_result *result)
{
    cli_json json = {0};

    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "table", job->args->common.operands[0]);
    if (result->snapshot_id >= 0) {
        cli_json_int(&json, "snapshot", result->snapshot_id);
    } else {
        cli_json_text(&json, "snapshot", NULL);
    }
    cli_json_int(&json, "identifier", result->identifier);
    cli_json_bool(&json, "was_done", result->was_done);
    cli_json_uint(&json, "rows_in", job->rows);
    cli_json_uint(&json, "rows_written", result->rows);
    cli_json_uint(&json, "file_count", result->files);
    cli_json_uint(&json, "bucket_count", result->buckets);
    cli_json_uint(&json, "bytes_written", result->bytes);
    cli_json_object_end(&json);
}

static void
put_result(const write_job *job, const sinter_table_write_result *result)
{
    char a[CLI_NUMBER_CHARS];
    char b[CLI_NUMBER_CHARS];
    char c[CLI_NUMBER_CHARS];

    if (job->args->common.json) {
        put_json(job, result);
    } else if (job->args->common.quiet) {
        return;
    } else if (result->was_done) {
        printf("commit %" PRId64 " of this user is there already: nothing was written\n",
               result->identifier);
    } else if (result->snapshot_id < 0) {
        printf("no rows: no snapshot\n");
    } else {
        printf("snapshot %" PRId64 ": %s rows in, %s written to %s", result->snapshot_id,
               cli_count_text(job->rows, a), cli_count_text(result->rows, b),
               cli_count_text(result->files, c));
        printf(" %s, %s\n", result->files == 1 ? "file" : "files",
               cli_bytes_text(result->bytes, a));
    }
}

static int
finish(write_job *job)
{
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    const sinter_status st = sinter_table_writer_commit(job->writer, &result, &job->err);

    if (st != SINTER_OK) {
        return cli_fail_status(st, &job->err);
    }
    cli_progress_end(&job->session->progress, true);
    put_result(job, &result);
    return CLI_EXIT_OK;
}

static int
write_all(write_job *job)
{
    const cli_common *common = &job->args->common;
    int code = begin(job);

    cli_progress_begin(&job->session->progress, "writing", 0, 0, &job->session->boot.clock);
    if (code == CLI_EXIT_OK && common->operand_count == 1) {
        code = write_input(job, NULL);
    }
    for (int i = 1; code == CLI_EXIT_OK && i < common->operand_count; i++) {
        code = write_input(job, common->operands[i]);
    }
    return code == CLI_EXIT_OK ? finish(job) : code;
}

static int
run(cli *session, void *arguments)
{
    write_job job = {
        .session = session, .args = arguments, .input = CLI_INPUT_CLOSED, .err = SINTER_ERROR_INIT};
    const int code = write_all(&job);

    cli_progress_end(&session->progress, false);
    sinter_table_writer_close(job.writer);
    sinter_table_close(job.table);
    return code;
}

const cli_verb cli_verb_write = {
    .name = "write",
    .operands = "TABLE [FILE...]",
    .summary = "write rows of JSON lines, CSV or TSV into a table in Paimon's layout",
    .description =
        "Read rows from files, or from standard input when none is given or one is `-`, and commit "
        "them to a table as one snapshot of kind APPEND. The input's columns are the table's, by "
        "name; `_kind` says +I, -U, +U or -D. Partition and bucket are computed as Paimon does it. "
        "Tables with a primary key need a fixed number of buckets; tables without a key take "
        "inserts only.\n\n"
        "All rows appear at once; after a failure none does, and no file is left behind.",
    .examples =
        "sinter write shop.db/orders orders.jsonl\n"
        "sinter write shop.db/orders - --format csv --user loader --identifier 7 <day.csv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO | CLI_TAKES_PROGRESS | CLI_TAKES_PRIORITY,
    .operand_min = 1,
    .operand_max = -1,
    .arguments_size = sizeof(write_arguments),
    .run = run,
};
