#include <inttypes.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/table_scan.h"
#include "cli/view.h"

/* The format that only tables have, behind those that all rows have. */
enum { ROWS_ARROW = CLI_ROWS_HEX + 1 };

typedef struct scan_arguments {
    cli_common common;
    const char *begin;
    const char *end;
    const char *columns;
    const char *base_dir;
    const char *snapshot;
    const char *tag;
    const char *timestamp;
    const char *branch;
    const char *where;
    const char *spill_dir;
    cli_list partitions;
    cli_number bucket;
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
    {"where", 'w', CLI_TEXT, FIELD(where), "EXPRESSION", NULL,
     "Of a table: show rows for which this holds, such as \"a >= 5 and b in ('x', 'y')\". Files "
     "that can't have such rows are not read."},
    {"partition", 'p', CLI_LIST, FIELD(partitions), "COLUMN=VALUE,...", NULL,
     "Of a table: show rows of this partition, or of these if given several times. Columns that "
     "are left out may have any value."},
    {"bucket", 0, CLI_COUNT, FIELD(bucket), "N", NULL, "Of a table: show rows of this bucket."},
    {"snapshot", 's', CLI_TEXT, FIELD(snapshot), "N", NULL,
     "Of a table: show the rows of this snapshot."},
    {"tag", 't', CLI_TEXT, FIELD(tag), "NAME", NULL, "Of a table: show the rows of this tag."},
    {"timestamp", 0, CLI_TEXT, FIELD(timestamp), "TIME", NULL,
     "Of a table: show the rows of the newest snapshot that is not younger than this time: "
     "milliseconds since 1970, or \"2024-10-10 07:08:09\" in UTC."},
    {"branch", 0, CLI_TEXT, FIELD(branch), "NAME", NULL, "Of a table: show this branch."},
    {"columns", 0, CLI_TEXT, FIELD(columns), "A,B", NULL, "Show these columns, in this order."},
    {"format", 'f', CLI_CHOICE, FIELD(format), "FORMAT", CLI_ROWS_VALUES "|arrow",
     "How rows are printed. auto: a table on a terminal, else JSON lines. hex: keys and values as "
     "they are stored. arrow: rows of a table as a stream of Arrow's IPC format, through "
     "libsinter_columnar."},
    {"kinds", 'k', CLI_FLAG, FIELD(kinds), NULL, NULL, "Show the kind of each record."},
    {"deletes", 'd', CLI_FLAG, FIELD(deletes), NULL, NULL,
     "Show deletes that won too; implies --kinds."},
    {"no-header", 0, CLI_FLAG, FIELD(no_header), NULL, NULL,
     "Leave out the line of column names of csv, tsv and table."},
    {"hex-strings", 0, CLI_FLAG, FIELD(hex_strings), NULL, NULL,
     "Print strings as hex, so that invalid UTF-8 passes."},
    {"base-dir", 0, CLI_TEXT, FIELD(base_dir), "DIR", "@dir",
     "Where the files of a document lie, instead of its base_dir."},
    {"spill-dir", 0, CLI_TEXT, FIELD(spill_dir), "DIR", "@dir",
     "Where runs go that the memory budget can't hold open; else beside the files."},
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
print_count(const scan_arguments *args, uint64_t count)
{
    if (args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_uint(&json, "count", count);
        cli_json_object_end(&json);
    } else {
        printf("%" PRIu64 "\n", count);
    }
    return CLI_EXIT_OK;
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
        .options = {.keep_deletes = args->deletes, .spill_dir = args->spill_dir},
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
    if (code == CLI_EXIT_OK && args->count) {
        code = print_count(args, view.rows);
    }
    sinter_text_fini(&end);
    sinter_text_fini(&begin);
    return code;
}

/* ---- tables ---- */

/* How rows of a table are printed; -1: not at all this way. */
static int32_t
table_format(const scan_arguments *args)
{
    static const int32_t formats[] = {
        [CLI_ROWS_AUTO] = SINTER_ROW_FORMAT_JSON,   [CLI_ROWS_JSON] = SINTER_ROW_FORMAT_JSON,
        [CLI_ROWS_CSV] = SINTER_ROW_FORMAT_CSV,     [CLI_ROWS_TSV] = SINTER_ROW_FORMAT_TSV,
        [CLI_ROWS_TABLE] = SINTER_ROW_FORMAT_TABLE, [CLI_ROWS_HEX] = -1,
        [ROWS_ARROW] = SINTER_ROW_FORMAT_JSON};

    return args->format == CLI_ROWS_AUTO && !args->common.json && isatty(STDOUT_FILENO) != 0
               ? SINTER_ROW_FORMAT_TABLE
               : formats[args->common.json ? CLI_ROWS_JSON : args->format];
}

/* An option that may not be meant. */
typedef struct given_option {
    bool is_given;
    const char *name;
} given_option;

/* The first that is given; NULL: none is. */
static const char *
first_given(const given_option *given, size_t count)
{
    size_t i = 0;

    while (i < count && !given[i].is_given) {
        i++;
    }
    return i < count ? given[i].name : NULL;
}

/* An option that a table doesn't have; NULL: none is given. */
static const char *
refused_for_table(const scan_arguments *args)
{
    const given_option given[] = {{args->begin != NULL, "--begin"},
                                  {args->end != NULL, "--end"},
                                  {args->kinds, "--kinds"},
                                  {args->deletes, "--deletes"},
                                  {args->base_dir != NULL, "--base-dir"},
                                  {args->common.settings.count > 0, "-o"},
                                  {table_format(args) < 0, "--format hex"}};

    return first_given(given, sizeof given / sizeof given[0]);
}

/* The same the other way round. */
static const char *
refused_without_table(const scan_arguments *args)
{
    const given_option given[] = {
        {args->where != NULL, "--where"},   {args->partitions.count > 0, "--partition"},
        {args->bucket.is_set, "--bucket"},  {args->snapshot != NULL, "--snapshot"},
        {args->tag != NULL, "--tag"},       {args->timestamp != NULL, "--timestamp"},
        {args->branch != NULL, "--branch"}, {args->format == ROWS_ARROW, "--format arrow"}};

    return first_given(given, sizeof given / sizeof given[0]);
}

static int
scan_table(cli *session, const scan_arguments *args)
{
    const cli_load load = {.threads = UINT32_MAX};
    cli_table_scan wanted = {.path = args->common.operands[0],
                             .snapshot = args->snapshot,
                             .tag = args->tag,
                             .timestamp = args->timestamp,
                             .branch = args->branch,
                             .columns = args->columns,
                             .where = args->where,
                             .spill_dir = args->spill_dir,
                             .partitions = &args->partitions,
                             .bucket = args->bucket,
                             .limit = args->limit,
                             .count_only = args->count,
                             .no_header = args->no_header,
                             .hex_strings = args->hex_strings,
                             .format = table_format(args),
                             .is_arrow = args->format == ROWS_ARROW && !args->common.json};
    sinter_compact_options defaults;
    int code;

    if (refused_for_table(args) != NULL) {
        return cli_fail(CLI_EXIT_USAGE, "a table has no %s", refused_for_table(args));
    }
    if ((args->snapshot != NULL) + (args->tag != NULL) + (args->timestamp != NULL) > 1) {
        return cli_fail(CLI_EXIT_USAGE, "one of --snapshot, --tag and --timestamp is enough");
    }
    if (wanted.is_arrow && !wanted.count_only && isatty(STDOUT_FILENO) != 0) {
        return cli_fail(CLI_EXIT_USAGE, "an Arrow stream is no text: send it to a file or a pipe");
    }
    cli_table_defaults(&defaults);
    code = cli_memory_apply(&args->common, &defaults);
    if (code == CLI_EXIT_OK) {
        code = cli_session_start(session, defaults.memory_bytes);
    }
    if (code == CLI_EXIT_OK) {
        code = cli_session_load(session, &load, NULL);
    }
    if (code == CLI_EXIT_OK) {
        code = cli_table_scan_print(session, &wanted);
    }
    return code == CLI_EXIT_OK && args->count ? print_count(args, wanted.rows) : code;
}

static int
run(cli *session, void *arguments)
{
    const scan_arguments *args = arguments;
    cli_source source;
    int code;

    if (cli_is_table(session, args->common.operands[0])) {
        return scan_table(session, args);
    }
    if (refused_without_table(args) != NULL) {
        return cli_fail(CLI_EXIT_USAGE, "%s is for tables; there is no schema/ in %s",
                        refused_without_table(args), args->common.operands[0]);
    }
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
    .operands = "TABLE|DIR|FILE",
    .summary = "print the merged view: what a reader of all files sees",
    .description =
        "Print the rows of a table in Paimon's layout, a directory with schema/ in it: of the "
        "newest snapshot, or of the one that is asked for. Files are read only where partitions, "
        "keys and statistics say that rows may be wanted.\n\n"
        "Else merge all files of a directory with a catalog, or of a sinter.files document, and "
        "print "
        "the records that win, in key order. Any other file is an sst file, whose records are "
        "printed. Nothing is written. Columns are printed when the files know their row type; else "
        "keys and values are printed as hex.\n\n"
        "With --verbose a line on standard error counts what was read.",
    .examples = "sinter scan warehouse/db.db/orders --where \"price >= 5\" --columns id,price\n"
                "sinter scan warehouse/db.db/orders --partition dt=2024-10-10 --count\n"
                "sinter scan warehouse/db.db/orders --format arrow >orders.arrows\n"
                "sinter scan data/ --limit 10\n"
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
