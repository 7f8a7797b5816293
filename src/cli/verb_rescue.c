#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/source.h"
#include "cli/text.h"

typedef struct rescue_arguments {
    cli_common common;
    const char *out;
    const char *like;
} rescue_arguments;

static const cli_option options[] = {
    {"out", 0, CLI_TEXT, offsetof(rescue_arguments, out), "DIR", "@dir",
     "Where the new files go, each under the name of the damaged one; made if it isn't there."},
    {"like", 0, CLI_TEXT, offsetof(rescue_arguments, like), "FILE", "@file",
     "An intact file of the same table, whose types, schema and codec are used where the damaged "
     "file has lost its own."},
};

/* What is said of one file while it is rescued. */
typedef struct story {
    const rescue_arguments *args;
    sinter_json *json; /* NULL: text */
} story;

static void
put_key(sinter_json *json, const char *name, bool is_known, sinter_bytes key)
{
    char *hex = is_known ? cli_hex(key) : NULL;

    sinter_json_put_text(json, name, hex);
    free(hex);
}

static void
put_loss_json(sinter_json *json, const sinter_sst_loss *loss)
{
    sinter_json_begin_object(json, NULL);
    sinter_json_put_count(json, "offset", loss->offset);
    sinter_json_put_count(json, "bytes", loss->size);
    if (loss->knows_rows) {
        sinter_json_put_count(json, "row_count", loss->rows);
    } else {
        sinter_json_put_text(json, "row_count", NULL);
    }
    sinter_json_put_bool(json, "keys_are_between", loss->are_between);
    put_key(json, "first_key", loss->has_first_key, loss->first_key);
    put_key(json, "last_key", loss->has_last_key, loss->last_key);
    sinter_json_put_text(json, "status", sinter_status_name(loss->status));
    sinter_json_put_text(json, "message", loss->text);
    sinter_json_end(json);
}

static void
print_keys(const sinter_sst_loss *loss)
{
    char *first = loss->has_first_key ? cli_hex(loss->first_key) : NULL;
    char *last = loss->has_last_key ? cli_hex(loss->last_key) : NULL;

    if (!loss->are_between) {
        printf(", keys %s to %s", first, last);
    } else if (first != NULL && last != NULL) {
        printf(", keys between %s and %s", first, last);
    } else if (first != NULL) {
        printf(", keys behind %s", first);
    } else if (last != NULL) {
        printf(", keys in front of %s", last);
    }
    free(first);
    free(last);
}

static void
on_loss(void *ctx, const sinter_sst_loss *loss)
{
    const story *told = ctx;
    char offset[CLI_NUMBER_CHARS];
    char bytes[CLI_NUMBER_CHARS];
    char rows[CLI_NUMBER_CHARS];

    if (told->json != NULL) {
        put_loss_json(told->json, loss);
    } else {
        printf("lost: %s bytes from %s on, %s", cli_count_text(loss->size, bytes),
               cli_count_text(loss->offset, offset),
               loss->knows_rows ? cli_count_text(loss->rows, rows) : "nobody knows how many");
        fputs(" records", stdout);
        print_keys(loss);
        printf(": %s\n", loss->text);
    }
}

static void
print_result(const char *path, const char *out_path, const sinter_sst_rescue_result *result)
{
    char copied[CLI_NUMBER_CHARS];
    char said[CLI_NUMBER_CHARS];

    printf("%s: %s", path, cli_count_text(result->rows_copied, copied));
    if (result->knows_rows) {
        printf(" of %s", cli_count_text(result->rows_said, said));
    }
    printf(" records copied%s%s%s\n", result->has_file ? " to " : "",
           result->has_file ? out_path : "; no file was made",
           result->knows_rows ? "" : "; how many there were isn't known");
    if (result->fault.status != SINTER_OK) {
        printf("%s: the index could not be used: %s\n", path, result->fault.text);
    }
    if (result->has_file && !result->knows_types) {
        printf("%s: the types are lost, so the new file has none; --like names a file that has\n",
               path);
    }
}

static void
put_result_json(sinter_json *json, const char *out_path, const sinter_sst_rescue_result *result)
{
    sinter_json_put_bool(json, "complete", result->is_complete);
    sinter_json_put_text(json, "out", result->has_file ? out_path : NULL);
    sinter_json_put_count(json, "rows_copied", result->rows_copied);
    if (result->knows_rows) {
        sinter_json_put_count(
            json, "rows_lost",
            result->rows_said > result->rows_copied ? result->rows_said - result->rows_copied : 0);
    } else {
        sinter_json_put_text(json, "rows_lost", NULL);
    }
    sinter_json_put_count(json, "blocks_copied", result->blocks_copied);
    sinter_json_put_count(json, "bytes_lost", result->bytes_lost);
    sinter_json_put_bool(json, "types_known", result->knows_types);
    sinter_json_put_text(json, "index_fault",
                         result->fault.status == SINTER_OK ? NULL : result->fault.text);
}

static int
print_json(const sinter_json *json)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text text;
    sinter_status st;

    sinter_text_init(sinter_env_default(), &text);
    st = sinter_json_print(json, 0, &text, &err);
    cli_put_text(&text);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

/* Rescue one file, and tell of it. The exit code says whether something was lost. */
static int
rescue_file(cli *session, story *told, const char *path, const char *out_path)
{
    const sinter_sst_rescue_options rescue = {.struct_size = (uint32_t)sizeof rescue,
                                              .out_path = out_path,
                                              .like_path = told->args->like,
                                              .lost = on_loss,
                                              .lost_ctx = told,
                                              .is_cancelled = cli_is_cancelled};
    sinter_sst_rescue_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    int code = CLI_EXIT_OK;

    if (told->json != NULL) {
        sinter_json_put_text(told->json, "format", "sinter.rescue");
        sinter_json_put_integer(told->json, "version", 1);
        sinter_json_put_text(told->json, "file_name", path);
        sinter_json_begin_array(told->json, "lost");
    }
    st = sinter_sst_rescue(&session->env, path, &rescue, &result, &err);
    if (st != SINTER_OK) {
        return cli_fail_status(st, &err);
    }
    if (told->json != NULL) {
        sinter_json_end(told->json);
        put_result_json(told->json, out_path, &result);
        code = print_json(told->json);
    } else {
        print_result(path, out_path, &result);
    }
    return code == CLI_EXIT_OK && !result.is_complete ? CLI_EXIT_DATA : code;
}

static int
rescue_operand(cli *session, const rescue_arguments *args, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const size_t size = strlen(args->out) + strlen(name) + 2;
    char *out_path = cli_alloc(size, 1);
    story told = {.args = args};
    sinter_error err = SINTER_ERROR_INIT;
    int code = CLI_EXIT_OK;

    (void)snprintf(out_path, size, "%s/%s", args->out, name);
    if (args->common.json) {
        const sinter_status st = sinter_json_create(sinter_env_default(), &told.json, &err);

        code = st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
    }
    if (code == CLI_EXIT_OK) {
        code = rescue_file(session, &told, path, out_path);
    }
    sinter_json_destroy(told.json);
    free(out_path);
    return code;
}

/* Have the directory of the new files. */
static int
make_out(cli *session, const char *out)
{
    sinter_io *io = session->boot.io;
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_status st = io->ops->mkdir(io, out, &err);

    return st == SINTER_OK || st == SINTER_E_EXISTS ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

static int
run(cli *session, void *arguments)
{
    const rescue_arguments *args = arguments;
    sinter_compact_options defaults;
    int first = CLI_EXIT_OK;
    int code;

    if (args->out == NULL) {
        return cli_fail(CLI_EXIT_USAGE, "option '--out' is missing: where do the new files go?");
    }
    sinter_compact_options_init(&defaults);
    code = cli_memory_apply(&args->common, &defaults);
    if (code == CLI_EXIT_OK) {
        code = cli_session_start(session, defaults.memory_bytes);
    }
    if (code == CLI_EXIT_OK) {
        code = make_out(session, args->out);
    }
    if (code != CLI_EXIT_OK) {
        return code;
    }
    for (int i = 0; i < args->common.operand_count && !cli_is_cancelled(NULL); i++) {
        code = rescue_operand(session, args, args->common.operands[i]);
        first = first == CLI_EXIT_OK ? code : first;
    }
    return first;
}

const cli_verb cli_verb_rescue = {
    .name = "rescue",
    .operands = "FILE...",
    .summary = "copy what is intact of damaged files, and list what is lost",
    .description =
        "Copy every block of a damaged sst file whose checksums hold into a new file, and list "
        "what "
        "is lost: where it stood, how many records it held and which keys, as far as the file "
        "still "
        "says. Keys are shown as hex. Where a page of the index or the footer is damaged, blocks "
        "are looked for byte by byte; what else stood between them can't be told then.\n\n"
        "The damaged files are only read, and no catalog is changed. Records that were lost may "
        "bring older versions of them, or records that they deleted, back to light: look at the "
        "list before the new file takes the place of the old one.\n\n"
        "All files are tried. The exit code is 3 when something was lost, or may have been.",
    .examples = "sinter rescue data/data-1.sst --out rescued\n"
                "sinter rescue data/data-1.sst --out rescued --like data/data-2.sst --json\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO,
    .operand_min = 1,
    .operand_max = -1,
    .arguments_size = sizeof(rescue_arguments),
    .run = run,
};
