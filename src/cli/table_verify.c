#include "cli/table_verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/text.h"

/* A fault as it was told. */
typedef struct fault {
    sinter_status status;
    sinter_error err;
} fault;

typedef struct verify_job {
    cli *session;
    cli_table_verify *wanted;
    sinter_table *table;
    sinter_snapshot *snapshot; /* the one that was asked for */
    fault *faults;
    size_t count;
    sinter_table_check_result result;
    sinter_orphan_result orphans;
    bool has_orphans;
    sinter_error err;
} verify_job;

static void
fail(verify_job *job, int code)
{
    cli_table_verify *wanted = job->wanted;

    wanted->first_failure = wanted->first_failure == CLI_EXIT_OK ? code : wanted->first_failure;
}

static void
take_fault(void *ctx, sinter_status status, const sinter_error *err)
{
    verify_job *job = ctx;

    job->faults = cli_grow(job->faults, job->count, sizeof *job->faults);
    job->faults[job->count].status = status;
    job->faults[job->count++].err = *err;
    fail(job, cli_fail_plain(status, err));
}

static void
show_progress(void *ctx, uint64_t bytes, uint64_t rows)
{
    verify_job *job = ctx;

    cli_progress_set(&job->session->progress, bytes, rows);
}

static sinter_status
open_snapshot(verify_job *job)
{
    const cli_table_verify *wanted = job->wanted;
    char *end = NULL;
    long long id = 0;

    if (wanted->tag != NULL) {
        return sinter_table_snapshot_of_tag(job->table, wanted->tag, &job->snapshot, &job->err);
    }
    if (wanted->snapshot == NULL) {
        return SINTER_OK;
    }
    id = strtoll(wanted->snapshot, &end, 10);
    if (wanted->snapshot[0] < '0' || wanted->snapshot[0] > '9' || *end != '\0') {
        (void)snprintf(job->err.text, sizeof job->err.text,
                       "option '--snapshot' needs a number, not '%.60s'", wanted->snapshot);
        return SINTER_E_INVALID;
    }
    return sinter_table_snapshot_get(job->table, id, &job->snapshot, &job->err);
}

/* Files that nobody names are no fault: dead writers leave them, and live ones name theirs later.
 */
static void
count_orphans(verify_job *job)
{
    const sinter_clock *clock = &job->session->boot.clock;
    const sinter_orphan_options options = {.struct_size = (uint32_t)sizeof options,
                                           .flags = SINTER_REMOVE_DRY_RUN,
                                           .older_than_ms = clock->wall_ms(clock->ctx)};

    job->orphans.struct_size = (uint32_t)sizeof job->orphans;
    job->has_orphans =
        sinter_table_remove_orphans(job->table, &options, &job->orphans, NULL) == SINTER_OK;
}

static sinter_status
check(verify_job *job)
{
    sinter_table_check_options options = {.struct_size = (uint32_t)sizeof options,
                                          .fault = take_fault,
                                          .progress = show_progress,
                                          .ctx = job};
    sinter_status st = open_snapshot(job);

    if (st != SINTER_OK) {
        return st;
    }
    options.snapshot = job->snapshot;
    options.flags |= job->wanted->all ? SINTER_CHECK_ALL : 0u;
    options.flags |= job->wanted->metadata_only ? SINTER_CHECK_METADATA_ONLY : 0u;
    cli_session_cancel(job->session, &options.is_cancelled, &options.cancel_ctx);
    st = sinter_table_check(job->table, &options, &job->result, &job->err);
    if (st == SINTER_OK) {
        count_orphans(job);
    }
    return st;
}

static void
put_faults(cli_json *json, const verify_job *job)
{
    cli_json_array_begin(json, "faults");
    for (size_t i = 0; i < job->count; i++) {
        const sinter_error *err = &job->faults[i].err;

        cli_json_object_begin(json, NULL);
        cli_json_text(json, "status", sinter_status_name(job->faults[i].status));
        cli_json_text(json, "message", err->text);
        cli_json_text(json, "file", err->file[0] != '\0' ? err->file : NULL);
        if (err->offset >= 0) {
            cli_json_int(json, "offset", err->offset);
        }
        cli_json_object_end(json);
    }
    cli_json_array_end(json);
}

static void
put_json(const verify_job *job)
{
    const sinter_table_check_result *result = &job->result;
    cli_json json = {0};

    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "table", job->wanted->path);
    cli_json_bool(&json, "is_sound", result->faults == 0);
    cli_json_uint(&json, "snapshot_count", result->snapshots);
    cli_json_uint(&json, "list_count", result->lists);
    cli_json_uint(&json, "manifest_count", result->manifests);
    cli_json_uint(&json, "data_file_count", result->data_files);
    cli_json_uint(&json, "index_file_count", result->index_files);
    cli_json_uint(&json, "row_count", result->rows);
    cli_json_uint(&json, "data_bytes", result->bytes);
    cli_json_uint(&json, "fault_count", result->faults);
    put_faults(&json, job);
    if (job->has_orphans) {
        cli_json_uint(&json, "orphan_count", job->orphans.files);
        cli_json_uint(&json, "orphan_bytes", job->orphans.bytes);
    }
    cli_json_object_end(&json);
}

static void
put_text(const verify_job *job)
{
    const sinter_table_check_result *result = &job->result;
    char files[CLI_NUMBER_CHARS];
    char rows[CLI_NUMBER_CHARS];
    char bytes[CLI_NUMBER_CHARS];
    char faults[CLI_NUMBER_CHARS];

    printf("%s: %s%s, %" PRIu64 " %s, %s data files, %s rows, %s\n", job->wanted->path,
           result->faults == 0 ? "sound" : cli_count_text(result->faults, faults),
           result->faults == 0 ? "" : (result->faults == 1 ? " fault" : " faults"),
           result->snapshots, result->snapshots == 1 ? "snapshot" : "snapshots",
           cli_count_text(result->data_files, files), cli_count_text(result->rows, rows),
           cli_bytes_text(result->bytes, bytes));
    if (job->has_orphans && job->orphans.files > 0) {
        printf("%s: %s files that nobody names, %s\n", job->wanted->path,
               cli_count_text(job->orphans.files, files),
               cli_bytes_text(job->orphans.bytes, bytes));
    }
}

void
cli_table_verify_run(cli *session, cli_table_verify *wanted)
{
    const sinter_table_config config = {
        .struct_size = (uint32_t)sizeof config, .path = wanted->path, .branch = wanted->branch};
    verify_job job = {.session = session,
                      .wanted = wanted,
                      .result.struct_size = (uint32_t)sizeof job.result,
                      .err = SINTER_ERROR_INIT};
    sinter_status st = sinter_table_open(&session->env, &config, &job.table, &job.err);

    cli_progress_begin(&session->progress, "verifying", 0, 0, &session->boot.clock);
    if (st == SINTER_OK) {
        st = check(&job);
    }
    cli_progress_end(&session->progress, st == SINTER_OK);
    wanted->files += job.result.data_files;
    wanted->faults += job.result.faults + (st == SINTER_OK ? 0 : 1);
    if (st != SINTER_OK) {
        fail(&job, cli_fail_status(st, &job.err));
    } else if (wanted->json) {
        put_json(&job);
    } else if (!wanted->quiet) {
        put_text(&job);
    }
    free(job.faults);
    sinter_snapshot_destroy(job.snapshot);
    sinter_table_close(job.table);
}
