#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/levels.h"
#include "cli/opts.h"
#include "cli/plan.h"
#include "cli/report.h"
#include "cli/table_plan.h"
#include "cli/text.h"

typedef struct compact_arguments {
    cli_task_arguments task;
    const char *result;
    const char *catalog_out;
    const char *rate;
    const char *read_rate;
    const char *control;
    cli_number threads;
    const char *spill_dir;
    const char *spill_limit;
    bool verify_output;
} compact_arguments;

#define FIELD(name) offsetof(compact_arguments, name)

static const cli_option options[] = {
    CLI_TASK_OPTIONS,
    {"result", 'r', CLI_TEXT, FIELD(result), "FILE", "@file",
     "Write the sinter.result document to a file; without it, it goes to standard output when "
     "--json is given or the operand is a document."},
    {"catalog-out", 0, CLI_TEXT, FIELD(catalog_out), "FILE", "@file",
     "Write the sinter.files document of the state afterwards to a file."},
    {"rate", 0, CLI_TEXT, FIELD(rate), "SIZE", NULL,
     "Write at most so many bytes a second, such as 64mb; reads keep pace."},
    {"read-rate", 0, CLI_TEXT, FIELD(read_rate), "SIZE", NULL,
     "Read at most so many bytes a second."},
    {"control", 0, CLI_TEXT, FIELD(control), "FILE", "@file",
     "Look at a file twice a second, and go by what it says: rate, read-rate, threads, pause."},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", NULL,
     "Threads to work on, no more than processors; unless given, as many as "
     "sinter.sub-compactions. The new files don't depend on it."},
    {"spill-dir", 0, CLI_TEXT, FIELD(spill_dir), "DIR", "@dir",
     "Where runs go that the memory budget can't hold open; else where new files go."},
    {"spill-limit", 0, CLI_TEXT, FIELD(spill_limit), "SIZE", NULL,
     "Bytes that spilled runs may take at a time, such as 20gb; short for --sinter.spill-limit."},
    {"verify-output", 0, CLI_FLAG, FIELD(verify_output), NULL, NULL,
     "Read every new file back and check all of it before anything refers to it; short for "
     "--sinter.verify-output true."},
};

/* A compaction under way. */
typedef struct compact_job {
    cli *session;
    const compact_arguments *args;
    cli_load load;
    cli_source source;
    cli_task task;
    sinter_compact_result *result; /* NULL after a failure */
    sinter_files_doc *after;
    sinter_text document; /* sinter.result */
    char task_id[SINTER_TASK_ID_CHARS + 1];
    sinter_error err;
} compact_job;

/* Remove files that the task made and that nothing will name. What can't be removed stays as an
 * orphan: the failure that led here is the one told. */
static void
remove_new_files(const compact_job *job)
{
    const sinter_status ignored =
        job->source.catalog != NULL
            ? sinter_catalog_discard(job->source.catalog, job->result, NULL)
            : sinter_compact_result_discard(&job->session->boot, job->result, job->source.base_dir,
                                            NULL);

    (void)ignored;
}

static sinter_status
run_task(compact_job *job)
{
    cli *session = job->session;
    sinter_compact_result *planned = NULL;
    cli_decisions_total total;
    sinter_status st;

    st = sinter_compact_task_plan(&session->boot, &job->task.task, &planned, &job->err);
    if (st == SINTER_OK) {
        total = cli_decisions_sum(planned);
        cli_progress_begin(&session->progress, "compacting", total.rewritten_bytes,
                           total.rewritten_records, &session->boot.clock);
        st = sinter_compact_task_run(&session->env, &job->task.task, &job->result, &job->err);
        cli_progress_end(&session->progress, st == SINTER_OK);
    }
    sinter_compact_result_destroy(planned);
    return st;
}

static sinter_status
make_document(compact_job *job, const sinter_error *failure)
{
    const sinter_result_content content = {
        .struct_size = (uint32_t)sizeof content,
        .task_id = job->task_id[0] != '\0' ? job->task_id : NULL,
        .base_dir = job->source.base_dir,
        .result = job->result,
        .error = failure,
        .codec = job->source.codec,
    };

    sinter_text_reset(&job->document);
    return sinter_result_print(&content, &job->document, failure == NULL ? &job->err : NULL);
}

static sinter_status
replace_file(compact_job *job, const char *path, const sinter_text *text)
{
    sinter_io *io = job->session->boot.io;

    return io->ops->replace(io, path, text->data, text->size, &job->err);
}

static sinter_status
write_catalog_out(compact_job *job)
{
    sinter_text text;
    sinter_status st;

    if (job->args->catalog_out == NULL) {
        return SINTER_OK;
    }
    sinter_text_init(&job->session->boot, &text);
    st = sinter_files_print(sinter_files_doc_get(job->after), job->source.codec, 0, &text,
                            &job->err);
    if (st == SINTER_OK) {
        st = replace_file(job, job->args->catalog_out, &text);
    }
    sinter_text_fini(&text);
    return st;
}

static sinter_status
commit(compact_job *job)
{
    sinter_status st = SINTER_OK;

    if (!job->task.is_empty) {
        st = sinter_catalog_apply(job->source.catalog, job->result, &job->err);
        if (st == SINTER_OK) {
            st = sinter_catalog_commit(job->source.catalog, &job->err);
        }
        if (st != SINTER_OK) {
            remove_new_files(job);
        }
    }
    return st;
}

static bool
wants_document(const compact_job *job)
{
    return job->args->task.common.json ||
           (job->source.catalog == NULL && job->args->result == NULL);
}

/* Without a catalog the documents are all that names the new files: no document, no files. */
static sinter_status
publish(compact_job *job)
{
    sinter_status st;

    st = sinter_files_doc_apply(&job->session->boot, job->source.doc, job->result, &job->after,
                                &job->err);
    if (st == SINTER_OK) {
        st = make_document(job, NULL);
    }
    if (st != SINTER_OK) {
        remove_new_files(job);
        return st;
    }
    if (job->source.catalog != NULL) {
        st = commit(job);
        if (st != SINTER_OK) {
            return st;
        }
    }
    st = write_catalog_out(job);
    if (st == SINTER_OK && job->args->result != NULL) {
        st = replace_file(job, job->args->result, &job->document);
    }
    if (st == SINTER_OK && wants_document(job)) {
        (void)fwrite(job->document.data, 1, job->document.size, stdout);
    }
    if (job->source.catalog == NULL && (st != SINTER_OK || cli_finish_output(0) != 0)) {
        remove_new_files(job);
    }
    return st;
}

static void
put_counters(const sinter_compact_counters *counters)
{
    const sinter_merge_counters *merge = &counters->merge;
    const double seconds = (double)counters->wall_us / 1e6;
    char a[CLI_NUMBER_CHARS];
    char b[CLI_NUMBER_CHARS];
    char c[CLI_NUMBER_CHARS];

    printf("read %s, wrote %s, upgraded %s", cli_bytes_text(counters->bytes_read, a),
           cli_bytes_text(counters->bytes_written, b), cli_bytes_text(counters->bytes_upgraded, c));
    printf(" in %s", cli_seconds_text(seconds, a));
    if (seconds > 0 && counters->bytes_read > 0) {
        printf(" (%s/s)", cli_bytes_text((uint64_t)((double)counters->bytes_read / seconds), a));
    }
    printf("\nrecords: %s in, %s out", cli_count_text(merge->records_in, a),
           cli_count_text(merge->records_out, b));
    printf("; superseded %s, deletes dropped %s, expired %s", cli_count_text(merge->superseded, a),
           cli_count_text(merge->deleted, b), cli_count_text(merge->expired, c));
    printf("\nblocks: %s read, %s passed as stored", cli_count_text(counters->blocks_read, a),
           cli_count_text(merge->blocks_passed, b));
    if (counters->bytes_verified > 0) {
        printf("; read back %s", cli_bytes_text(counters->bytes_verified, a));
    }
    if (merge->spilled_bytes > 0) {
        printf("; spilled %s", cli_bytes_text(merge->spilled_bytes, a));
    }
    printf("; peak of the memory budget %s\n", cli_bytes_text(counters->memory_peak_bytes, a));
}

static void
put_summary(const compact_job *job)
{
    const sinter_file_list *after;
    sinter_file_meta *made;
    size_t count = 0;

    if (job->task.is_empty) {
        cli_nothing_print(&job->task);
        return;
    }
    cli_decisions_print(job->result, false);
    after = sinter_compact_result_after(job->result);
    made = cli_alloc(after->count, sizeof *made);
    for (size_t i = 0; i < after->count; i++) {
        if (after->files[i].upgraded_from < 0) {
            made[count++] = after->files[i];
        }
    }
    if (count > 0) {
        fputs("\nnew files:\n", stdout);
        cli_files_print(made, count, job->source.codec);
    }
    free(made);
    putchar('\n');
    cli_levels_compare(job->source.files, sinter_files_doc_get(job->after));
    putchar('\n');
    put_counters(sinter_compact_result_counters(job->result));
}

/* A failed run has a result document too. */
static int
fail_job(compact_job *job, sinter_status st)
{
    if (wants_document(job) && make_document(job, &job->err) == SINTER_OK) {
        (void)fwrite(job->document.data, 1, job->document.size, stdout);
    }
    return cli_fail_plain(st, &job->err);
}

static int
compact(compact_job *job)
{
    const cli_common *common = &job->args->task.common;
    const uint64_t threads =
        job->args->threads.is_set ? job->args->threads.value : job->source.options.sub_compactions;
    sinter_status st = SINTER_OK;
    int code;

    if (common->dry_run) {
        return cli_plan_show(job->session, &job->args->task, &job->source, &job->task, false);
    }
    job->load.threads = threads < 1 ? 1 : threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
    code = cli_session_start(job->session, job->source.options.memory_bytes);
    if (code == CLI_EXIT_OK) {
        code = cli_session_load(job->session, &job->load, job->args->control);
    }
    if (code != CLI_EXIT_OK) {
        return code;
    }
    cli_session_cancel(job->session, &job->task.task.is_cancelled, &job->task.task.cancel_ctx);
    st = sinter_task_id_draw(&job->session->boot, job->task_id, &job->err);
    if (st == SINTER_OK) {
        st = run_task(job); /* of no files: an empty result */
    }
    if (st == SINTER_OK) {
        st = publish(job);
    }
    if (st != SINTER_OK) {
        return fail_job(job, st);
    }
    if (!wants_document(job) && !common->quiet) {
        put_summary(job);
    }
    return CLI_EXIT_OK;
}

/* What options of the program say beside the keys. */
static int
set_task_up(const compact_arguments *args, compact_job *job)
{
    job->task.task.spill_dir = args->spill_dir;
    job->source.options.verify_output = job->source.options.verify_output || args->verify_output;
    if (args->spill_limit != NULL &&
        sinter_compact_options_set(&job->source.options, "sinter.spill-limit", args->spill_limit,
                                   &job->err) != SINTER_OK) {
        return cli_fail(CLI_EXIT_USAGE, "option '--spill-limit': %s", job->err.text);
    }
    return CLI_EXIT_OK;
}

static int
parse_rate(const char *option, const char *text, uint64_t *out)
{
    sinter_error err = SINTER_ERROR_INIT;

    return text == NULL || cli_rate_parse(text, out, &err) == SINTER_OK
               ? CLI_EXIT_OK
               : cli_fail(CLI_EXIT_USAGE, "option '--%s': %s", option, err.text);
}

/* An option that means nothing for a table; NULL: none was given. */
static const char *
option_of_directories(const compact_arguments *args)
{
    return args->result != NULL        ? "--result"
           : args->catalog_out != NULL ? "--catalog-out"
           : args->spill_limit != NULL ? "--spill-limit (-o sinter.spill-limit=SIZE is)"
           : args->verify_output       ? "--verify-output (-o sinter.verify-output=true is)"
                                       : NULL;
}

/* Tables are compacted by their own options; nothing else is a list. */
static int
compact_tables(cli *session, const compact_arguments *args, cli_load *load)
{
    const uint64_t threads = args->threads.is_set ? args->threads.value : 1;

    for (int i = 0; i < args->task.common.operand_count; i++) {
        if (!cli_is_table(session, args->task.common.operands[i])) {
            return cli_fail(CLI_EXIT_USAGE,
                            "%s is no table; several operands have to be tables, all of them",
                            args->task.common.operands[i]);
        }
    }
    if (option_of_directories(args) != NULL) {
        return cli_fail(CLI_EXIT_USAGE, "%s is not for tables", option_of_directories(args));
    }
    load->threads = threads < 1 ? 1 : threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
    return cli_tables_compact(session, &args->task, load, args->control, args->spill_dir);
}

static int
run(cli *session, void *arguments)
{
    const compact_arguments *args = arguments;
    compact_job job = {.session = session, .args = args, .err = SINTER_ERROR_INIT};
    int code = parse_rate("rate", args->rate, &job.load.rate);

    if (code == CLI_EXIT_OK) {
        code = parse_rate("read-rate", args->read_rate, &job.load.read_rate);
    }
    if (code != CLI_EXIT_OK) {
        return code;
    }
    if (args->task.common.operand_count > 1 ||
        cli_is_table(session, args->task.common.operands[0])) {
        return compact_tables(session, args, &job.load);
    }
    sinter_text_init(&session->boot, &job.document);
    code = cli_source_open(session, &args->task.common, args->task.common.operands[0],
                           args->task.base_dir, args->task.common.dry_run ? 0 : CLI_SOURCE_WRITE,
                           &job.source);
    if (code == CLI_EXIT_OK) {
        code = cli_task_init(session, &args->task, &job.source, &job.task);
    }
    if (code == CLI_EXIT_OK) {
        code = set_task_up(args, &job);
    }
    if (code == CLI_EXIT_OK) {
        code = compact(&job);
    }
    sinter_compact_result_destroy(job.result);
    sinter_files_doc_destroy(job.after);
    sinter_text_fini(&job.document);
    cli_task_fini(&job.task);
    cli_source_close(&job.source);
    return code;
}

const cli_verb cli_verb_compact = {
    .name = "compact",
    .operands = "TABLE...|DIR|FILE",
    .summary = "restore order among files: rewrite what overlaps, upgrade the rest",
    .description =
        "Compact Paimon tables, each a directory with its schemas: what their options ask for, or "
        "with --full all of it, by partition and bucket. New files and the COMPACT snapshot are as "
        "Paimon writes them; replaced files stay until snapshots expire. A table is locked against "
        "other runs of sinter, and writers of Paimon may go on: what one of them replaces "
        "meanwhile is a conflict, which leaves the table as it is. Where tables have deletion "
        "vectors, writers that compact themselves must pause (write-only), as for a compaction by "
        "Paimon: they would bring back vectors of files that are gone. With --threads N so many "
        "tasks "
        "run side by side, each with its share of --memory. The exit code is 8 when nothing is "
        "due.\n\n"
        "Compact the files of a directory with a catalog, or of a sinter.files document. Unless a "
        "unit is given, all files are picked and go to the highest level. Files that overlap are "
        "merged into new ones, large files that nothing overlaps are upgraded: they get a new "
        "level and are not read.\n\n"
        "A directory is locked while it is compacted, and its catalog is replaced atomically at "
        "the end. Replaced files stay until `sinter gc`, for readers that began earlier. A "
        "document "
        "is not changed: the sinter.result document says what happened, and --catalog-out writes "
        "the document of the state afterwards.\n\n"
        "With --sinter.sub-compactions a large rewrite is cut by key range into so many parts, "
        "which are done side by side on as many processors as there are. With --threads 2 and "
        "without parts, new blocks are encoded beside the merge.\n\n"
        "A control file has lines such as `rate = 50mb`, `read-rate = 20mb/s` (0: unlimited), "
        "`threads = 2`, `pause = true`; # begins a comment. It is looked at twice a second, may "
        "come later or go, and best is replaced by a rename. What it says holds within a second, "
        "from then on: a key that is not there, or no more, stays as it was. A line that can't be "
        "understood is told once on standard error and ignored. Threads that are too many, and "
        "all while paused, stand still with the memory they have; INT and TERM cancel them "
        "too.\n\n"
        "Input files are never changed. After a failure, and when INT or TERM cancels, no new file "
        "is left.",
    .examples = "sinter compact warehouse/sales.db/orders\n"
                "sinter compact warehouse/sales.db/orders --full --partition dt=2024-10-10\n"
                "sinter compact warehouse/*.db/* --threads 2 --memory 256mb --quiet\n"
                "sinter compact data/\n"
                "sinter compact data/ --target-file-size 64mb --file.compression zstd\n"
                "sinter compact data/ --threads 2\n"
                "sinter compact data/ --sinter.sub-compactions 4\n"
                "sinter compact data/ --rate 64mb --nice 10 --io-priority idle\n"
                "sinter compact data/ --control night.conf\n"
                "sinter compact data/ --memory 32mb --spill-dir /var/tmp --spill-limit 20gb\n"
                "sinter compact files.json --output-level 3 --result result.json\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO | CLI_TAKES_PROGRESS | CLI_TAKES_DRY_RUN |
             CLI_TAKES_SETTINGS | CLI_TAKES_PRIORITY,
    .operand_min = 1,
    .operand_max = -1,
    .arguments_size = sizeof(compact_arguments),
    .run = run,
};
