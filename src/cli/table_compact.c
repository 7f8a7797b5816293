/*
 * `sinter compact TABLE...`: plan, run and commit in one process.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/table_open.h"
#include "cli/table_plan.h"
#include "cli/text.h"

/* A task and what came of it. */
typedef struct task_slot {
    sinter_table_task_info task;
    sinter_text result;
    sinter_status status;
    bool is_run;
    sinter_error err;
} task_slot;

/* A table under way. */
typedef struct table_job {
    cli *session;
    const cli_task_arguments *args;
    const cli_table_settings *settings;
    const char *path;
    const char *spill_dir;
    uint32_t parallel;
    uint64_t memory_bytes; /* of a task */
    sinter_table *table;
    sinter_table_plan *plan;
    task_slot *slots;
    size_t count;
    atomic_size_t next;
    pthread_mutex_t mutex; /* guards `helpers` */
    pthread_cond_t changed;
    uint32_t helpers; /* that haven't ended */
    sinter_table_commit_info info;
} table_job;

/* ---- running ---- */

/* With several tasks side by side each has its share of the memory. */
static void
run_slot(table_job *job, task_slot *slot)
{
    sinter_table_run_options options = {.struct_size = (uint32_t)sizeof options,
                                        .base_dir = sinter_table_path(job->table),
                                        .spill_dir = job->spill_dir};
    sinter_env env = job->session->env;
    sinter_memory *memory = NULL;

    cli_session_cancel(job->session, &options.is_cancelled, &options.cancel_ctx);
    slot->is_run = true;
    slot->status = job->parallel < 2 ? SINTER_OK
                                     : sinter_memory_create(&job->session->boot, job->memory_bytes,
                                                            &memory, &slot->err);
    if (slot->status == SINTER_OK) {
        env.memory = memory != NULL ? memory : env.memory;
        slot->status =
            sinter_table_task_run(&env, slot->task.document, &options, &slot->result, &slot->err);
    }
    sinter_memory_destroy(memory);
}

static void
run_slots(table_job *job)
{
    size_t at = 0;

    while ((at = atomic_fetch_add(&job->next, 1)) < job->count && cli_signal_exit() == 0) {
        run_slot(job, &job->slots[at]);
    }
}

static void
help(void *arg)
{
    table_job *job = arg;

    run_slots(job);
    (void)pthread_mutex_lock(&job->mutex);
    job->helpers--;
    (void)pthread_cond_signal(&job->changed);
    (void)pthread_mutex_unlock(&job->mutex);
}

static void
run_all(table_job *job)
{
    const sinter_executor *executor = &job->session->env.executor;

    (void)pthread_mutex_init(&job->mutex, NULL);
    (void)pthread_cond_init(&job->changed, NULL);
    for (uint32_t i = 1; executor->submit != NULL && i < job->parallel; i++) {
        (void)pthread_mutex_lock(&job->mutex);
        job->helpers++;
        (void)pthread_mutex_unlock(&job->mutex);
        if (executor->submit(executor->ctx, help, job) != SINTER_OK) {
            (void)pthread_mutex_lock(&job->mutex);
            job->helpers--;
            (void)pthread_mutex_unlock(&job->mutex);
        }
    }
    run_slots(job);
    (void)pthread_mutex_lock(&job->mutex);
    while (job->helpers > 0) {
        (void)pthread_cond_wait(&job->changed, &job->mutex);
    }
    (void)pthread_mutex_unlock(&job->mutex);
    (void)pthread_cond_destroy(&job->changed);
    (void)pthread_mutex_destroy(&job->mutex);
}

/* ---- committing ---- */

/* What can't be removed stays as an orphan: the failure that led here is the one told. */
static void
discard_results(const table_job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        const task_slot *slot = &job->slots[i];
        const sinter_table_result result = {
            .document = {(const uint8_t *)slot->result.data, slot->result.size}};

        if (slot->is_run && slot->status == SINTER_OK) {
            const sinter_status ignored = sinter_table_result_discard(job->table, &result, NULL);

            (void)ignored;
        }
    }
}

static int
commit_results(table_job *job)
{
    sinter_table_result *results = cli_alloc(job->count + 1, sizeof *results);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    size_t count = 0;

    for (size_t i = 0; i < job->count; i++) {
        const task_slot *slot = &job->slots[i];

        if (slot->is_run && slot->status == SINTER_OK) {
            results[count++].document =
                (sinter_bytes){(const uint8_t *)slot->result.data, slot->result.size};
        }
    }
    job->info.struct_size = (uint32_t)sizeof job->info;
    if (count > 0) {
        st = sinter_table_commit_results(job->table, results, count, NULL, &job->info, &err);
    }
    free(results);
    if (st != SINTER_OK) {
        if (!job->info.is_unknown) {
            discard_results(job);
        }
        return cli_fail_status(st, &err);
    }
    return CLI_EXIT_OK;
}

/* ---- telling ---- */

static int
tell_failures(const table_job *job)
{
    int code = CLI_EXIT_OK;

    for (size_t i = 0; i < job->count; i++) {
        const task_slot *slot = &job->slots[i];

        if (slot->is_run && slot->status != SINTER_OK) {
            const int failed = cli_fail_plain(slot->status, &slot->err);

            code = code == CLI_EXIT_OK ? failed : code;
        }
    }
    return code;
}

static void
put_json(const table_job *job)
{
    cli_json json = {.root = NULL};

    for (size_t i = 0; i < job->count; i++) {
        (void)fwrite(job->slots[i].result.data, 1, job->slots[i].result.size, stdout);
    }
    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "format", "sinter.commit");
    cli_json_int(&json, "version", 1);
    cli_json_text(&json, "table", job->path);
    cli_json_int(&json, "snapshot_id", job->info.snapshot_id);
    cli_json_uint(&json, "results", job->info.results);
    cli_json_uint(&json, "files_before", job->info.files_before);
    cli_json_uint(&json, "files_after", job->info.files_after);
    cli_json_object_end(&json);
}

static void
put_summary(const table_job *job)
{
    char bytes[CLI_NUMBER_CHARS];
    uint64_t sum = 0;

    for (size_t i = 0; i < job->count; i++) {
        sum += job->slots[i].task.bytes;
    }
    printf("%s: snapshot %" PRId64 ": %zu %s of %s, %" PRIu64 " files became %" PRIu64 "\n",
           job->path, job->info.snapshot_id, job->count, job->count == 1 ? "task" : "tasks",
           cli_bytes_text(sum, bytes), job->info.files_before, job->info.files_after);
}

/* ---- a table ---- */

static int
show_plan(const table_job *job)
{
    if (job->args->common.json) {
        cli_table_plan_put(job->plan);
    } else {
        printf("%s\n", job->path);
        cli_table_plan_print(job->plan);
    }
    return CLI_EXIT_OK;
}

static int
run_plan(table_job *job)
{
    int code = CLI_EXIT_OK;

    job->slots = cli_alloc(job->count, sizeof *job->slots);
    job->parallel = job->count < job->parallel ? (uint32_t)job->count : job->parallel;
    job->parallel = job->session->env.executor.submit == NULL ? 1 : job->parallel;
    job->memory_bytes = sinter_memory_limit(job->session->memory) / job->parallel;
    for (size_t i = 0; i < job->count; i++) {
        task_slot *slot = &job->slots[i];

        slot->task.struct_size = (uint32_t)sizeof slot->task;
        slot->err = (sinter_error)SINTER_ERROR_INIT;
        sinter_table_plan_get(job->plan, i, &slot->task);
        sinter_text_init(&job->session->boot, &slot->result);
    }
    run_all(job);
    if (cli_signal_exit() != 0) {
        discard_results(job);
        code = cli_fail(cli_signal_exit(), "%s: cancelled by %s", job->path, cli_signal_name());
    } else {
        const int committed = commit_results(job);

        code = tell_failures(job);
        if (committed != CLI_EXIT_OK) {
            code = code == CLI_EXIT_OK ? committed : code;
        } else if (job->args->common.json) {
            put_json(job);
        } else if (!job->args->common.quiet && job->info.snapshot_id != 0) {
            put_summary(job);
        }
    }
    for (size_t i = 0; i < job->count; i++) {
        sinter_text_fini(&job->slots[i].result);
    }
    free(job->slots);
    return code;
}

static int
plan_and_run(table_job *job)
{
    int code = cli_table_plan(job->args, job->table, job->settings, 0, &job->plan);

    if (code == CLI_EXIT_OK) {
        job->count = sinter_table_plan_count(job->plan);
        if (job->count == 0) {
            if (!job->args->common.json && !job->args->common.quiet) {
                printf("%s: nothing to do\n", job->path);
            }
            code = CLI_EXIT_NOTHING;
        } else {
            code = job->args->common.dry_run ? show_plan(job) : run_plan(job);
        }
    }
    sinter_table_plan_destroy(job->plan);
    return code;
}

static int
compact_table(table_job *job)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *lock = NULL;
    sinter_status st = SINTER_OK;
    int code = cli_table_open(job->session, job->path, job->args->branch, &job->table);

    if (code == CLI_EXIT_OK && !job->args->common.dry_run) {
        st = sinter_table_lock(job->table, &lock, &err);
        code = st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
    }
    if (code == CLI_EXIT_OK) {
        code = plan_and_run(job);
    }
    if (lock != NULL) {
        job->session->boot.io->ops->close(lock);
    }
    sinter_table_close(job->table);
    return code;
}

int
cli_tables_compact(cli *session, const cli_task_arguments *args, const cli_load *load,
                   const char *control, const char *spill_dir)
{
    cli_table_settings settings;
    sinter_compact_options options;
    int code = CLI_EXIT_OK;
    int failed = CLI_EXIT_OK;

    cli_table_defaults(&options);
    if (cli_settings_apply(&args->common.settings, &options) != CLI_EXIT_OK ||
        cli_memory_apply(&args->common, &options) != CLI_EXIT_OK) {
        return CLI_EXIT_USAGE;
    }
    if (!args->common.dry_run) {
        code = cli_session_start(session, options.memory_bytes);
        code = code == CLI_EXIT_OK ? cli_session_load(session, load, control) : code;
        if (code != CLI_EXIT_OK) {
            return code;
        }
    }
    code = CLI_EXIT_NOTHING;
    cli_table_settings_init(&args->common, &settings);
    for (int i = 0; i < args->common.operand_count && cli_signal_exit() == 0; i++) {
        table_job job = {.session = session,
                         .args = args,
                         .settings = &settings,
                         .path = args->common.operands[i],
                         .spill_dir = spill_dir,
                         .parallel = load->threads};
        const int done = compact_table(&job);

        if (done == CLI_EXIT_OK) {
            code = CLI_EXIT_OK;
        } else if (done != CLI_EXIT_NOTHING && failed == CLI_EXIT_OK) {
            failed = done;
        }
    }
    cli_table_settings_fini(&settings);
    return failed != CLI_EXIT_OK ? failed : code;
}
