#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/feed.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/schema.h"
#include "cli/signals.h"
#include "cli/source.h"
#include "cli/text.h"

typedef struct ingest_arguments {
    cli_common common;
    cli_schema schema;
    cli_number buffer;
    cli_number buffer_rows;
    int32_t format;
    bool deletes;
    bool per_file;
    bool hex_strings;
} ingest_arguments;

#define FIELD(name) offsetof(ingest_arguments, name)

static const cli_option options[] = {
    {"key", 'k', CLI_TEXT, FIELD(schema.key), "A[:TYPE],B", NULL,
     "Key columns, in key order. Needed for a new directory."},
    {"columns", 'c', CLI_TEXT, FIELD(schema.columns), "A:TYPE,B", NULL,
     "All columns of a new directory, in order; else they are taken from the input's first line. "
     "A column without a type is a STRING."},
    {"types", 't', CLI_TEXT, FIELD(schema.types), "A:TYPE,B:TYPE", NULL,
     "Types of some columns, such as INT, BIGINT, DOUBLE, DECIMAL(10, 2), DATE, TIMESTAMP(3), "
     "BYTES, ARRAY<INT>, MAP<STRING, INT>, ROW<a INT, b STRING>."},
    {"format", 'f', CLI_CHOICE, FIELD(format), "FORMAT", "auto|json|csv|tsv",
     "Form of the input. auto: by the file's name, else by its first line."},
    {"kind-column", 0, CLI_TEXT, FIELD(schema.kind_column), "NAME", NULL,
     "Column of the input that holds each record's kind: +I, -U, +U, -D, or insert, update, delete "
     "(or their first letters); empty is +I. Without it a column `_kind` is taken when there is "
     "one."},
    {"deletes", 'd', CLI_FLAG, FIELD(deletes), NULL, NULL,
     "Every record is a delete; the key columns are enough."},
    {"buffer", 0, CLI_SIZE, FIELD(buffer), "SIZE", NULL,
     "Records held before a file is written; 32MB unless given. A small one gives several files "
     "that overlap."},
    {"buffer-rows", 0, CLI_COUNT, FIELD(buffer_rows), "N", NULL, "Write a file after N records."},
    {"per-file", 0, CLI_FLAG, FIELD(per_file), NULL, NULL,
     "Begin a new file with each input file."},
    {"hex-strings", 0, CLI_FLAG, FIELD(hex_strings), NULL, NULL, "Strings of the input are hex."},
};

/* An ingest under way. */
typedef struct ingest_job {
    cli *session;
    const ingest_arguments *args;
    const char *dir;
    cli_input input;
    int32_t format;              /* of the present input */
    uint64_t total_bytes;        /* of all inputs; 0: unknown */
    uint64_t done_bytes;         /* of inputs that are through */
    sinter_row_type *row_type;   /* of a new catalog */
    sinter_row_type *input_type; /* with the kind column */
    sinter_catalog *catalog;     /* NULL in a dry run of a new one */
    sinter_compact_options compact;
    sinter_ingest *ingest; /* NULL in a dry run */
    size_t kind_index;     /* in input_type; SIZE_MAX: none */
    uint64_t rows;
    bool has_made_dir;
    bool has_made_catalog;
    sinter_error err;
} ingest_job;

static int
fail_job(const ingest_job *job, sinter_status st)
{
    return cli_fail_status(st, &job->err);
}

/* --- the catalog --- */

static sinter_status
create_catalog(ingest_job *job)
{
    const cli_list *settings = &job->args->common.settings;
    sinter_option *stated = cli_alloc(settings->count, sizeof *stated);
    char **keys = cli_alloc(settings->count, sizeof *keys);
    const sinter_catalog_options catalog_options = {
        .struct_size = (uint32_t)sizeof catalog_options,
        .num_levels = -1,
        .row_type = job->row_type,
        .options = stated,
        .option_count = settings->count,
    };
    sinter_status st;

    for (size_t i = 0; i < settings->count; i++) {
        const size_t length = strcspn(settings->items[i], "=");

        keys[i] = cli_alloc(length + 1, 1);
        memcpy(keys[i], settings->items[i], length);
        stated[i].key = keys[i];
        stated[i].value = settings->items[i] + length + 1;
    }
    job->has_made_dir = access(job->dir, F_OK) != 0 && errno == ENOENT;
    st = sinter_catalog_create(&job->session->boot, job->dir, &catalog_options, &job->err);
    job->has_made_catalog = st == SINTER_OK;
    for (size_t i = 0; i < settings->count; i++) {
        free(keys[i]);
    }
    free(keys);
    free(stated);
    return st;
}

/* A path below the directory; allocated. */
static char *
path_of(const ingest_job *job, const char *name)
{
    const size_t size = strlen(job->dir) + strlen(name) + 2;
    char *path = cli_alloc(size, 1);

    (void)snprintf(path, size, "%s/%s", job->dir, name);
    return path;
}

/* SINTER_END: there is none, a new one is to be made. */
static sinter_status
open_catalog(ingest_job *job)
{
    const uint32_t flags = job->args->common.dry_run ? 0 : SINTER_CATALOG_WRITE;
    sinter_io *io = job->session->boot.io;
    char *path = path_of(job, SINTER_CATALOG_FILE);
    sinter_io_stat info;
    sinter_status st;

    memset(&info, 0, sizeof info);
    st = io->ops->stat(io, path, &info, NULL);
    free(path);
    if (st == SINTER_E_NOT_FOUND) {
        return SINTER_END;
    }
    return sinter_catalog_open(&job->session->boot, job->dir, flags, &job->catalog, &job->err);
}

static int
check_known(const ingest_job *job)
{
    const sinter_row_type *row_type = sinter_files_doc_row_type(sinter_catalog_doc(job->catalog));

    if (row_type == NULL) {
        return cli_fail(CLI_EXIT_DATA, "%s: its catalog has no row type", job->dir);
    }
    return cli_schema_check(&job->session->boot, &job->args->schema, job->dir, row_type);
}

static int
prepare_catalog(ingest_job *job)
{
    sinter_status st = open_catalog(job);
    int code;

    if (st == SINTER_OK) {
        return check_known(job);
    }
    if (st != SINTER_END) {
        return fail_job(job, st);
    }
    if (job->args->schema.key == NULL) {
        return cli_fail(CLI_EXIT_USAGE, "%s has no catalog: name the key columns with --key",
                        job->dir);
    }
    code = cli_schema_make(&job->session->boot, &job->args->schema, &job->input, job->format,
                           &job->row_type);
    if (code != CLI_EXIT_OK || job->args->common.dry_run) {
        return code;
    }
    st = create_catalog(job);
    if (st == SINTER_OK) {
        st = sinter_catalog_open(&job->session->boot, job->dir, SINTER_CATALOG_WRITE, &job->catalog,
                                 &job->err);
    }
    return st == SINTER_OK ? CLI_EXIT_OK : fail_job(job, st);
}

/* A failed first ingest leaves no catalog whose types could not be changed any more. */
static void
undo_catalog(const ingest_job *job)
{
    static const char *const names[] = {SINTER_CATALOG_FILE, SINTER_CATALOG_LOCK};
    sinter_io *io = job->session->boot.io;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = path_of(job, names[i]);

        (void)io->ops->unlink(io, path, NULL);
        free(path);
    }
    if (job->has_made_dir) {
        (void)rmdir(job->dir);
    }
}

/* --- the rows --- */

static bool
is_word(sinter_bytes text, const char *word)
{
    return text.size == strlen(word) && strncasecmp((const char *)text.data, word, text.size) == 0;
}

static int
parse_kind(ingest_job *job, const sinter_row_values *row, uint8_t *kind_out)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } words[] = {
        {"+I", SINTER_KIND_INSERT},       {"-U", SINTER_KIND_UPDATE_BEFORE},
        {"+U", SINTER_KIND_UPDATE_AFTER}, {"-D", SINTER_KIND_DELETE},
        {"insert", SINTER_KIND_INSERT},   {"update", SINTER_KIND_UPDATE_AFTER},
        {"delete", SINTER_KIND_DELETE},   {"i", SINTER_KIND_INSERT},
        {"u", SINTER_KIND_UPDATE_AFTER},  {"d", SINTER_KIND_DELETE},
        {"", SINTER_KIND_INSERT},
    };
    const sinter_datum *datum = &row->values[job->kind_index];

    *kind_out = SINTER_KIND_INSERT;
    if (datum->is_null) {
        return CLI_EXIT_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (is_word(datum->as.bytes, words[i].word)) {
            *kind_out = words[i].kind;
            return CLI_EXIT_OK;
        }
    }
    return cli_fail(CLI_EXIT_DATA, "%s: line %" PRIu64 ": column '%s': '%.*s' is no kind",
                    job->input.name, row->line, job->args->schema.kind_column,
                    (int)(datum->as.bytes.size < 40 ? datum->as.bytes.size : 40),
                    (const char *)datum->as.bytes.data);
}

static int
add_row(void *ctx, const sinter_row_values *row)
{
    ingest_job *job = ctx;
    uint8_t kind = job->args->deletes ? SINTER_KIND_DELETE : row->kind;
    sinter_status st;
    int code = CLI_EXIT_OK;

    if (job->kind_index != SIZE_MAX) {
        code = parse_kind(job, row, &kind);
    }
    job->rows++;
    if (code != CLI_EXIT_OK || job->ingest == NULL) {
        return code;
    }
    st = sinter_ingest_add(job->ingest, kind, row->values, &job->err);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_feed_fail(&job->input, row->line, st, &job->err);
}

static const sinter_row_type *
catalog_row_type(const ingest_job *job)
{
    return job->catalog != NULL ? sinter_files_doc_row_type(sinter_catalog_doc(job->catalog))
                                : job->row_type;
}

/* Read the open input to its end. */
static int
ingest_input(ingest_job *job)
{
    cli_feed feed = {
        .session = job->session,
        .input = &job->input,
        .row_type = job->input_type != NULL ? job->input_type : catalog_row_type(job),
        .format = job->format,
        .flags = job->args->hex_strings ? SINTER_PRINT_HEX_STRINGS : 0,
        .each = add_row,
        .ctx = job,
        .done_bytes = job->done_bytes,
        .rows = &job->rows,
    };
    sinter_status st;
    int code = cli_feed_run(&feed);

    job->done_bytes = feed.done_bytes;
    if (code == CLI_EXIT_OK && job->args->per_file && job->ingest != NULL) {
        st = sinter_ingest_flush(job->ingest, &job->err);
        code = st == SINTER_OK ? CLI_EXIT_OK : fail_job(job, st);
    }
    return code;
}

static int
open_input(ingest_job *job, int index)
{
    const cli_common *common = &job->args->common;
    int code =
        cli_input_open(index < common->operand_count ? common->operands[index] : NULL, &job->input);

    if (code == CLI_EXIT_OK && job->args->format == 0) {
        return cli_input_format(&job->input, &job->format);
    }
    job->format = job->args->format - 1; /* auto comes first */
    return code;
}

static int
begin(ingest_job *job)
{
    const sinter_ingest_options ingest_options = {
        .struct_size = (uint32_t)sizeof ingest_options,
        .buffer_bytes = job->args->buffer.value,
        .buffer_rows = job->args->buffer_rows.value,
        .compact = &job->compact,
        .is_cancelled = cli_is_cancelled,
    };
    const cli_common *common = &job->args->common;
    sinter_status st = SINTER_OK;
    int code;

    sinter_compact_options_init(&job->compact);
    if (job->catalog != NULL) {
        st = sinter_files_doc_options(sinter_catalog_doc(job->catalog), &job->compact, &job->err);
    }
    code =
        st == SINTER_OK ? cli_settings_apply(&common->settings, &job->compact) : fail_job(job, st);
    if (code == CLI_EXIT_OK) {
        code = cli_memory_apply(common, &job->compact);
    }
    if (code == CLI_EXIT_OK) {
        code = cli_session_start(job->session, job->compact.memory_bytes);
    }
    if (code == CLI_EXIT_OK && job->args->schema.kind_column != NULL) {
        job->kind_index = sinter_row_type_count(catalog_row_type(job));
        code = cli_schema_with_kind(&job->session->boot, catalog_row_type(job),
                                    job->args->schema.kind_column, &job->input_type);
    }
    if (code == CLI_EXIT_OK && !common->dry_run) {
        st = sinter_ingest_open(&job->session->env, job->catalog, &ingest_options, &job->ingest,
                                &job->err);
    }
    return code == CLI_EXIT_OK && st != SINTER_OK ? fail_job(job, st) : code;
}

static void
put_result(const ingest_job *job, const sinter_ingest_counters *counters)
{
    char a[CLI_NUMBER_CHARS];
    char b[CLI_NUMBER_CHARS];
    char c[CLI_NUMBER_CHARS];

    if (job->args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_bool(&json, "dry_run", job->args->common.dry_run);
        cli_json_uint(&json, "rows_in", job->rows);
        cli_json_uint(&json, "rows_written", counters->rows_written);
        cli_json_uint(&json, "rows_retract", counters->rows_retract);
        cli_json_uint(&json, "file_count", counters->files);
        cli_json_uint(&json, "bytes_written", counters->bytes_written);
        cli_json_object_end(&json);
    } else if (job->args->common.dry_run) {
        printf("%s records would be ingested\n", cli_count_text(job->rows, a));
    } else if (!job->args->common.quiet) {
        printf("%s records in, %s written to %s", cli_count_text(job->rows, a),
               cli_count_text(counters->rows_written, b), cli_count_text(counters->files, c));
        printf(" level-0 %s, %s\n", counters->files == 1 ? "file" : "files",
               cli_bytes_text(counters->bytes_written, a));
    }
}

static int
finish(ingest_job *job)
{
    sinter_ingest_counters counters = {.struct_size = (uint32_t)sizeof counters};
    sinter_status st;

    if (job->ingest != NULL) {
        st = sinter_ingest_finish(job->ingest, &counters, &job->err);
        if (st != SINTER_OK) {
            return fail_job(job, st);
        }
    }
    cli_progress_end(&job->session->progress, true);
    put_result(job, &counters);
    return CLI_EXIT_OK;
}

static void
sum_inputs(ingest_job *job)
{
    const cli_common *common = &job->args->common;

    for (int i = 1; i < common->operand_count; i++) {
        sinter_io_stat info;

        memset(&info, 0, sizeof info);
        if (job->session->boot.io->ops->stat(job->session->boot.io, common->operands[i], &info,
                                             NULL) != SINTER_OK) {
            job->total_bytes = 0; /* a pipe or standard input: no end in sight */
            break;
        }
        job->total_bytes += info.size_bytes;
    }
    cli_progress_begin(&job->session->progress, "ingesting", job->total_bytes, 0,
                       &job->session->boot.clock);
}

static int
ingest(ingest_job *job)
{
    const cli_common *common = &job->args->common;
    int code = open_input(job, 1);

    if (code == CLI_EXIT_OK) {
        code = prepare_catalog(job);
    }
    if (code == CLI_EXIT_OK) {
        code = begin(job);
    }
    sum_inputs(job);
    for (int i = 2; code == CLI_EXIT_OK; i++) {
        code = ingest_input(job);
        cli_input_close(&job->input);
        if (code != CLI_EXIT_OK || i >= common->operand_count) {
            break;
        }
        code = open_input(job, i);
    }
    return code == CLI_EXIT_OK ? finish(job) : code;
}

static int
run(cli *session, void *arguments)
{
    const ingest_arguments *args = arguments;
    ingest_job job = {
        .session = session,
        .args = args,
        .dir = args->common.operands[0],
        .kind_index = SIZE_MAX,
        .input = CLI_INPUT_CLOSED,
        .err = SINTER_ERROR_INIT,
    };
    int code;

    code = ingest(&job);
    cli_progress_end(&session->progress, false);
    cli_input_close(&job.input);
    sinter_ingest_close(job.ingest);
    if (code != CLI_EXIT_OK && job.has_made_catalog) {
        undo_catalog(&job);
    }
    sinter_catalog_close(job.catalog);
    sinter_row_type_destroy(job.input_type);
    sinter_row_type_destroy(job.row_type);
    return code;
}

const cli_verb cli_verb_ingest = {
    .name = "ingest",
    .operands = "DIR [FILE...]",
    .summary = "turn rows of CSV, TSV or JSON lines into level-0 files of a directory",
    .description =
        "Read rows from files, or from standard input when none is given or one is `-`, sort them "
        "by key, and write them as level-0 files of a directory. The directory and its catalog are "
        "made if missing: --key names the key columns, --types or --columns give types. Options by "
        "key, such as --num-levels 4, are then kept in the catalog.\n\n"
        "CSV and TSV begin with a line of names. JSON lines take their columns from the first "
        "object. Later rows win over earlier ones of the same key. All files of one ingest appear "
        "at once; after a failure none does.",
    .examples = "sinter ingest data/ items.csv --key id:BIGINT --types price:DECIMAL(10, 2)\n"
                "sinter ingest data/ changes.jsonl --kind-column op --buffer 1MB\n"
                "cut -f1 old.tsv | sinter ingest data/ --deletes --format tsv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO | CLI_TAKES_PROGRESS | CLI_TAKES_DRY_RUN |
             CLI_TAKES_SETTINGS | CLI_TAKES_PRIORITY,
    .operand_min = 1,
    .operand_max = -1,
    .arguments_size = sizeof(ingest_arguments),
    .run = run,
};
