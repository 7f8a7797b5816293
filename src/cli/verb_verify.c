#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/source.h"
#include "cli/table_scan.h"
#include "cli/table_verify.h"
#include "cli/text.h"

typedef struct verify_arguments {
    cli_common common;
    const char *base_dir;
    const char *snapshot;
    const char *tag;
    const char *branch;
    bool all;
    bool metadata_only;
} verify_arguments;

static const cli_option options[] = {
    {"base-dir", 0, CLI_TEXT, offsetof(verify_arguments, base_dir), "DIR", "@dir",
     "Where the files of a document lie, instead of its base_dir."},
    {"snapshot", 0, CLI_TEXT, offsetof(verify_arguments, snapshot), "N", NULL,
     "Of a table: this snapshot instead of the newest."},
    {"tag", 0, CLI_TEXT, offsetof(verify_arguments, tag), "NAME", NULL,
     "Of a table: the snapshot of this tag."},
    {"branch", 0, CLI_TEXT, offsetof(verify_arguments, branch), "NAME", NULL,
     "Of a table: this branch instead of main."},
    {"all", 'a', CLI_FLAG, offsetof(verify_arguments, all), NULL, NULL,
     "Of a table: all snapshots and tags."},
    {"metadata", 0, CLI_FLAG, offsetof(verify_arguments, metadata_only), NULL, NULL,
     "Of a table: data files must be there and have their size, and aren't read."},
};

/* What was checked so far. */
typedef struct verify_totals {
    uint64_t files;
    uint64_t faults;
    uint64_t bytes;
    uint64_t rows;
    int first_failure;
} verify_totals;

static void
put_json(const char *path, const sinter_sst_verify_result *result, const sinter_error *fault)
{
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    if (sinter_verify_print(path, result, fault, 0, &text, NULL) != SINTER_OK) {
        (void)cli_fail(CLI_EXIT_FAILURE, "%s: can't be shown as JSON", path);
    }
    cli_put_text(&text);
}

static void
verify_file(cli *session, const verify_arguments *args, const char *path, verify_totals *totals)
{
    sinter_sst_verify_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_status st = sinter_sst_verify(&session->env, path, &result, &err);
    char rows[CLI_NUMBER_CHARS];
    char bytes[CLI_NUMBER_CHARS];
    int code;

    totals->files++;
    totals->bytes += result.bytes;
    totals->rows += result.rows;
    if (args->common.json) {
        put_json(path, st == SINTER_OK ? &result : NULL, st == SINTER_OK ? NULL : &err);
    } else if (st == SINTER_OK && !args->common.quiet) {
        printf("%s: sound, %s records, %s\n", path, cli_count_text(result.rows, rows),
               cli_bytes_text(result.bytes, bytes));
    }
    if (st != SINTER_OK) {
        totals->faults++;
        code = cli_fail_plain(st, &err);
        totals->first_failure = totals->first_failure == CLI_EXIT_OK ? code : totals->first_failure;
    }
    cli_progress_set(&session->progress, totals->bytes, totals->rows);
}

/* Path of a file of a source; allocated, for free(). */
static char *
file_path(const char *base_dir, const sinter_file_meta *file)
{
    const char *dir = file->dir != NULL ? file->dir : "";
    const size_t size = strlen(base_dir) + strlen(dir) + strlen(file->file_name) + 3;
    char *path;

    if (file->external_path != NULL) {
        path = cli_alloc(strlen(file->external_path) + 1, 1);
        memcpy(path, file->external_path, strlen(file->external_path) + 1);
        return path;
    }
    path = cli_alloc(size, 1);
    (void)snprintf(path, size, "%s/%s%s%s", base_dir, dir, dir[0] != '\0' ? "/" : "",
                   file->file_name);
    return path;
}

static void
verify_source(cli *session, const verify_arguments *args, const char *operand,
              verify_totals *totals)
{
    uint64_t total_bytes = 0;
    cli_source source;
    int code;

    /* loading compares every statement with the footers and looks for overlaps in a level */
    code = cli_source_open(session, &args->common, operand, args->base_dir, 0, &source);
    if (code != CLI_EXIT_OK) {
        totals->faults++;
        totals->first_failure = totals->first_failure == CLI_EXIT_OK ? code : totals->first_failure;
        cli_source_close(&source);
        return;
    }
    for (size_t i = 0; i < source.files->file_count; i++) {
        total_bytes += source.files->files[i].file_size;
    }
    cli_progress_begin(&session->progress, "verifying", totals->bytes + total_bytes, 0,
                       &session->boot.clock);
    for (size_t i = 0; i < source.files->file_count && !cli_is_cancelled(NULL); i++) {
        char *path = file_path(source.base_dir, &source.files->files[i]);

        verify_file(session, args, path, totals);
        free(path);
    }
    cli_progress_end(&session->progress, !cli_is_cancelled(NULL));
    cli_source_close(&source);
}

static void
verify_table(cli *session, const verify_arguments *args, const char *path, verify_totals *totals)
{
    cli_table_verify wanted = {.path = path,
                               .snapshot = args->snapshot,
                               .tag = args->tag,
                               .branch = args->branch,
                               .all = args->all,
                               .metadata_only = args->metadata_only,
                               .json = args->common.json,
                               .quiet = args->common.quiet,
                               .files = totals->files,
                               .faults = totals->faults,
                               .first_failure = totals->first_failure};

    cli_table_verify_run(session, &wanted);
    totals->files = wanted.files;
    totals->faults = wanted.faults;
    totals->first_failure = wanted.first_failure;
}

/* An option that no operand has a use for; NULL: there is none. */
static const char *
useless_option(cli *session, const verify_arguments *args)
{
    const int count = args->common.operand_count;
    int tables = 0;

    for (int i = 0; i < count; i++) {
        tables += cli_is_table(session, args->common.operands[i]);
    }
    if (tables == count) {
        return args->base_dir != NULL ? "--base-dir" : NULL;
    }
    return tables > 0               ? NULL
           : args->snapshot != NULL ? "--snapshot"
           : args->tag != NULL      ? "--tag"
           : args->branch != NULL   ? "--branch"
           : args->all              ? "--all"
           : args->metadata_only    ? "--metadata"
                                    : NULL;
}

static int
check_options(cli *session, const verify_arguments *args)
{
    const char *useless = NULL;

    if ((args->snapshot != NULL) + (args->tag != NULL) + args->all > 1) {
        return cli_fail(CLI_EXIT_USAGE, "--snapshot, --tag and --all exclude each other");
    }
    useless = useless_option(session, args);
    if (useless == NULL) {
        return CLI_EXIT_OK;
    }
    if (strcmp(useless, "--base-dir") == 0) {
        return cli_fail(CLI_EXIT_USAGE, "--base-dir is not for tables");
    }
    return cli_fail(CLI_EXIT_USAGE, "%s is for tables; there is no schema/ in %s", useless,
                    args->common.operands[0]);
}

static int
run(cli *session, void *arguments)
{
    const verify_arguments *args = arguments;
    verify_totals totals = {.first_failure = CLI_EXIT_OK};
    sinter_compact_options defaults;
    char number[CLI_NUMBER_CHARS];
    int code;

    cli_table_defaults(&defaults);
    code = cli_memory_apply(&args->common, &defaults);
    if (code == CLI_EXIT_OK) {
        code = cli_session_start(session, defaults.memory_bytes);
    }
    if (code == CLI_EXIT_OK) {
        code = check_options(session, args);
    }
    if (code != CLI_EXIT_OK) {
        return code;
    }
    for (int i = 0; i < args->common.operand_count && !cli_is_cancelled(NULL); i++) {
        const char *operand = args->common.operands[i];

        if (cli_is_table(session, operand)) {
            verify_table(session, args, operand, &totals);
        } else if (cli_is_source(session, operand)) {
            verify_source(session, args, operand, &totals);
        } else {
            verify_file(session, args, operand, &totals);
        }
    }
    if (cli_is_cancelled(NULL)) {
        return cli_fail(cli_signal_exit(), "cancelled by %s", cli_signal_name());
    }
    if (!args->common.quiet && !args->common.json) {
        printf("%s %s checked, ", cli_count_text(totals.files, number),
               totals.files == 1 ? "file" : "files");
        printf("%s with faults\n", cli_count_text(totals.faults, number));
    }
    return totals.first_failure;
}

const cli_verb cli_verb_verify = {
    .name = "verify",
    .operands = "FILE|DIR|TABLE...",
    .summary = "read files completely and check everything in them",
    .description =
        "Read every byte of sst files and check it: checksums, that keys ascend strictly, that "
        "index, filters and properties say what the blocks hold. For a directory with a catalog or "
        "a sinter.files document check also that every file is there, is what the document says, "
        "and that no two files of a level above 0 overlap.\n\n"
        "Of a table in Paimon's layout check what snapshots, manifests and data files say of each "
        "other: that all files are there and open, sizes and counts, order of keys, overlaps in a "
        "level, sequence numbers, partition and bucket of each row, statistics, deletion vectors. "
        "Files that nobody names are counted.\n\n"
        "All operands are checked; the exit code is that of the first fault. Nothing is written.",
    .examples = "sinter verify data/\nsinter verify --json data/*.sst\n"
                "sinter verify shop.db/orders --all\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO | CLI_TAKES_PROGRESS | CLI_TAKES_PRIORITY,
    .operand_min = 1,
    .operand_max = -1,
    .arguments_size = sizeof(verify_arguments),
    .run = run,
};
