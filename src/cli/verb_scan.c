#include <inttypes.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/view.h"

typedef struct scan_arguments {
    cli_common common;
    const char *begin;
    const char *end;
    const char *columns;
    const char *base_dir;
    cli_number limit;
    bool count;
    bool kinds;
    bool deletes;
    bool no_header;
    bool hex_strings;
    int32_t format;
} scan_arguments;

#define FIELD(name) offsetof(scan_arguments, name)

static const cli_option options[] = {
    {"begin", 'b', CLI_TEXT, FIELD(begin), "KEY", NULL,
     "First key, inclusive: the key columns parted by commas, or hex:0011... ."},
    {"end", 'e', CLI_TEXT, FIELD(end), "KEY", NULL, "End of the range, exclusive."},
    {"limit", 'l', CLI_COUNT, FIELD(limit), "N", NULL, "Show at most N records."},
    {"count", 'c', CLI_FLAG, FIELD(count), NULL, NULL, "Print the number of records only."},
    {"columns", 0, CLI_TEXT, FIELD(columns), "A,B", NULL, "Show these columns, in this order."},
    {"format", 'f', CLI_CHOICE, FIELD(format), "FORMAT", CLI_ROWS_VALUES,
     "How rows are printed. auto: a table on a terminal, else JSON lines. hex: keys and values as "
     "they are stored."},
    {"kinds", 'k', CLI_FLAG, FIELD(kinds), NULL, NULL, "Show the kind of each record."},
    {"deletes", 'd', CLI_FLAG, FIELD(deletes), NULL, NULL,
     "Show deletes that won too; implies --kinds."},
    {"no-header", 0, CLI_FLAG, FIELD(no_header), NULL, NULL,
     "Leave out the line of column names of csv, tsv and table."},
    {"hex-strings", 0, CLI_FLAG, FIELD(hex_strings), NULL, NULL,
     "Print strings as hex, so that invalid UTF-8 passes."},
    {"base-dir", 0, CLI_TEXT, FIELD(base_dir), "DIR", "@dir",
     "Where the files of a document lie, instead of its base_dir."},
};

static int
encode_bounds(const scan_arguments *args, const cli_source *source, cli_view *view,
              sinter_text *begin, sinter_text *end)
{
    int code = CLI_EXIT_OK;

    if (args->begin != NULL) {
        code = cli_key_encode_text(source, "begin", args->begin, begin);
        view->options.has_begin_key = true;
        view->options.begin_key = sinter_text_bytes(begin);
    }
    if (code == CLI_EXIT_OK && args->end != NULL) {
        code = cli_key_encode_text(source, "end", args->end, end);
        view->options.has_end_key = true;
        view->options.end_key = sinter_text_bytes(end);
    }
    return code;
}

static int
scan(cli *session, const scan_arguments *args, const cli_source *source)
{
    cli_view view = {
        .format = args->common.json ? CLI_ROWS_JSON : args->format,
        .kinds = args->kinds || args->deletes,
        .no_header = args->no_header,
        .hex_strings = args->hex_strings,
        .count_only = args->count,
        .limit = args->limit,
        .columns = args->columns,
        .options = {.keep_deletes = args->deletes},
    };
    sinter_text begin;
    sinter_text end;
    int code;

    sinter_text_init(sinter_env_default(), &begin);
    sinter_text_init(sinter_env_default(), &end);
    code = encode_bounds(args, source, &view, &begin, &end);
    if (code == CLI_EXIT_OK) {
        code = cli_view_print(session, source, &view);
    }
    if (code == CLI_EXIT_OK && args->count && args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_uint(&json, "count", view.rows);
        cli_json_object_end(&json);
    } else if (code == CLI_EXIT_OK && args->count) {
        printf("%" PRIu64 "\n", view.rows);
    }
    sinter_text_fini(&end);
    sinter_text_fini(&begin);
    return code;
}

static int
run(cli *session, void *arguments)
{
    const scan_arguments *args = arguments;
    cli_source source;
    int code;

    code = cli_source_open(session, &args->common, args->common.operands[0], args->base_dir,
                           CLI_SOURCE_FILE, &source);
    if (code == CLI_EXIT_OK) {
        code = cli_session_start(session, source.options.memory_bytes);
    }
    if (code == CLI_EXIT_OK) {
        code = scan(session, args, &source);
    }
    cli_source_close(&source);
    return code;
}

const cli_verb cli_verb_scan = {
    .name = "scan",
    .operands = "DIR|FILE",
    .summary = "print the merged view: what a reader of all files sees",
    .description =
        "Merge all files of a directory with a catalog, or of a sinter.files document, and print "
        "the records that win, in key order. Any other file is an sst file, whose records are "
        "printed. Nothing is written. Columns are printed when the files know their row type; else "
        "keys and values are printed as hex.\n\n"
        "With --verbose a line on standard error counts files and blocks that were read.",
    .examples = "sinter scan data/ --limit 10\n"
                "sinter scan data/ --begin 100 --end 200 --format csv\n"
                "sinter scan data/ --count\n"
                "sinter scan data/data-1.sst --deletes\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO | CLI_TAKES_SETTINGS | CLI_TAKES_PRIORITY,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(scan_arguments),
    .run = run,
};
