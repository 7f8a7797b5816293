#include "cli/table_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/source.h"
#include "cli/text.h"

enum { PRINT_BYTES = 1 << 16, NAME_MAX_CHARS = 128 };

/* A scan under way. */
typedef struct table_printer {
    cli *session;
    cli_table_scan *wanted;
    sinter_table *table;
    sinter_snapshot *snapshot; /* NULL: the newest */
    sinter_table_scan_options options;
    char **columns;
    size_t column_count;
    sinter_predicate *where;
    sinter_predicate **partitions; /* one for each --partition */
    sinter_predicate any_partition;
    sinter_table_scan *scan;
    sinter_row_writer *writer;
    sinter_text text;
} table_printer;

bool
cli_is_table(const cli *session, const char *path)
{
    const size_t size = strlen(path) + sizeof "/schema";
    const char *plain = strncmp(path, "file:", 5) == 0 ? path + 5 : path;
    char *dir = cli_alloc(size, 1);
    bool is_table = false;

    (void)snprintf(dir, size, "%s/schema", plain);
    is_table = cli_is_directory(session, dir);
    free(dir);
    return is_table;
}

/* ---- names that aren't there ---- */

/* The name that is most like another one. */
typedef struct nearest_name {
    const char *wanted;
    char found[NAME_MAX_CHARS];
    size_t distance;
} nearest_name;

static sinter_status
look_at_name(void *ctx, const char *name)
{
    nearest_name *nearest = ctx;
    const size_t distance = cli_distance(nearest->wanted, name);

    if (distance < nearest->distance && strlen(name) < sizeof nearest->found) {
        nearest->distance = distance;
        (void)snprintf(nearest->found, sizeof nearest->found, "%s", name);
    }
    return SINTER_OK;
}

/* Say that there is no such tag or branch, and which one may be meant. */
static int
fail_name(const char *what, const nearest_name *nearest)
{
    if (nearest->distance != SIZE_MAX && cli_is_near(nearest->wanted, nearest->distance)) {
        return cli_fail(CLI_EXIT_IO, "there is no %s '%s'; did you mean '%s'?", what,
                        nearest->wanted, nearest->found);
    }
    return cli_fail(CLI_EXIT_IO, "there is no %s '%s'", what, nearest->wanted);
}

/* ---- which snapshot ---- */

static int
open_table(table_printer *p)
{
    sinter_table_config config = {.struct_size = (uint32_t)sizeof config,
                                  .path = p->wanted->path,
                                  .branch = p->wanted->branch};
    nearest_name nearest = {.wanted = p->wanted->branch, .distance = SIZE_MAX};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = sinter_table_open(&p->session->env, &config, &p->table, &err);

    if (st == SINTER_E_NOT_FOUND && config.branch != NULL) {
        config.branch = NULL;
        st = sinter_table_open(&p->session->env, &config, &p->table, &err);
        if (st == SINTER_OK) {
            st = sinter_table_each_branch(p->table, look_at_name, &nearest, &err);
        }
        return st == SINTER_OK ? fail_name("branch", &nearest) : cli_fail_status(st, &err);
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

static int
find_tag(table_printer *p)
{
    nearest_name nearest = {.wanted = p->wanted->tag, .distance = SIZE_MAX};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = sinter_table_snapshot_of_tag(p->table, p->wanted->tag, &p->snapshot, &err);

    if (st == SINTER_E_NOT_FOUND) {
        st = sinter_table_each_tag(p->table, look_at_name, &nearest, &err);
        if (st == SINTER_OK) {
            return fail_name("tag", &nearest);
        }
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

/* Milliseconds since 1970, or a time as rows have them, in UTC. */
static int
parse_time(const char *text, int64_t *out)
{
    static const sinter_column number = {.name = "timestamp", .type = {.id = SINTER_TYPE_BIGINT}};
    static const sinter_column time = {.name = "timestamp",
                                       .type = {.id = SINTER_TYPE_TIMESTAMP, .precision = 3}};
    const sinter_bytes bytes = {.data = (const uint8_t *)text, .size = strlen(text)};
    const bool is_number = text[strspn(text, "0123456789")] == '\0';
    sinter_error err = SINTER_ERROR_INIT;
    sinter_datum value;
    sinter_text scratch;
    sinter_status st;

    sinter_text_init(sinter_env_default(), &scratch);
    st = sinter_datum_parse(is_number ? &number : &time, bytes, 0, &scratch, &value, &err);
    sinter_text_fini(&scratch);
    if (st != SINTER_OK) {
        return cli_fail(CLI_EXIT_USAGE,
                        "option '--timestamp': milliseconds since 1970 or \"2024-10-10 07:08:09\" "
                        "expected, not \"%s\"",
                        text);
    }
    *out = value.as.integer;
    return CLI_EXIT_OK;
}

static int
find_time(table_printer *p)
{
    sinter_error err = SINTER_ERROR_INIT;
    int64_t time_ms = 0;
    const int code = parse_time(p->wanted->timestamp, &time_ms);
    sinter_status st = SINTER_OK;

    if (code != CLI_EXIT_OK) {
        return code;
    }
    st = sinter_table_snapshot_at(p->table, time_ms, &p->snapshot, &err);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

static int
find_snapshot(table_printer *p)
{
    const char *text = p->wanted->snapshot;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if (p->wanted->tag != NULL) {
        return find_tag(p);
    }
    if (p->wanted->timestamp != NULL) {
        return find_time(p);
    }
    if (text == NULL) {
        return CLI_EXIT_OK;
    }
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0' || strlen(text) > 18) {
        return cli_fail(CLI_EXIT_USAGE, "option '--snapshot': a number expected, not \"%s\"", text);
    }
    st = sinter_table_snapshot_get(p->table, strtoll(text, NULL, 10), &p->snapshot, &err);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

/* ---- which rows and columns ---- */

static void
split_columns(table_printer *p)
{
    const char *names = p->wanted->columns;

    while (names != NULL && *names != '\0') {
        const size_t size = strcspn(names, ",");
        char *name = cli_alloc(size + 1, 1);

        memcpy(name, names, size);
        p->columns = cli_grow(p->columns, p->column_count, sizeof *p->columns);
        p->columns[p->column_count++] = name;
        names += size + (names[size] == ',');
    }
}

/* Counting needs no more than one column: the first of the key, or else of all. */
static sinter_status
choose_counted_column(table_printer *p, sinter_error *err)
{
    const sinter_schema *schema = sinter_table_schema(p->table);
    const char *name = NULL;
    sinter_status st = SINTER_OK;

    if (p->snapshot != NULL) {
        st = sinter_table_schema_get(p->table, p->snapshot->schema_id, &schema, err);
    }
    if (st == SINTER_OK) {
        name = schema->primary_key_count > 0 ? schema->primary_keys[0]
                                             : sinter_row_type_column_name(schema->row_type, 0);
        p->columns = cli_grow(p->columns, 0, sizeof *p->columns);
        p->columns[p->column_count] = cli_alloc(strlen(name) + 1, 1);
        memcpy(p->columns[p->column_count++], name, strlen(name) + 1);
    }
    return st;
}

static int
read_partitions(table_printer *p)
{
    const cli_list *given = p->wanted->partitions;
    sinter_error err = SINTER_ERROR_INIT;

    p->partitions = cli_alloc(given->count + 1, sizeof *p->partitions);
    for (size_t i = 0; i < given->count; i++) {
        if (sinter_predicate_of_partition(&p->session->boot, sinter_table_schema(p->table),
                                          given->items[i], &p->partitions[i], &err) != SINTER_OK) {
            return cli_fail(CLI_EXIT_USAGE, "option '--partition': %s", err.text);
        }
    }
    if (given->count > 0) {
        p->any_partition = (sinter_predicate){
            .struct_size = (uint32_t)sizeof p->any_partition,
            .op = SINTER_PREDICATE_OR,
            .parts = (const sinter_predicate *const *)p->partitions,
            .part_count = given->count,
        };
        p->options.partitions = &p->any_partition;
    }
    return CLI_EXIT_OK;
}

static int
set_options(table_printer *p)
{
    const cli_table_scan *wanted = p->wanted;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    int code = CLI_EXIT_OK;

    p->options = (sinter_table_scan_options){.struct_size = (uint32_t)sizeof p->options,
                                             .bucket = -1,
                                             .snapshot = p->snapshot,
                                             .spill_dir = wanted->spill_dir,
                                             .has_limit = wanted->limit.is_set,
                                             .limit = wanted->limit.value};
    if (wanted->bucket.is_set) {
        p->options.bucket =
            wanted->bucket.value < INT32_MAX ? (int32_t)wanted->bucket.value : INT32_MAX;
    }
    code = read_partitions(p);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    if (wanted->where != NULL &&
        sinter_predicate_parse(&p->session->boot, wanted->where, &p->where, &err) != SINTER_OK) {
        return cli_fail(CLI_EXIT_USAGE, "option '--where': %s", err.text);
    }
    p->options.where = p->where;
    split_columns(p);
    if (p->column_count == 0 && wanted->count_only) {
        st = choose_counted_column(p, &err);
    }
    if (p->column_count > 0) {
        p->options.columns = (const char *const *)p->columns;
        p->options.column_count = p->column_count;
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

/* ---- printing ---- */

static void
flush_text(table_printer *p)
{
    if (p->text.size > 0) {
        (void)fwrite(p->text.data, 1, p->text.size, stdout);
        sinter_text_reset(&p->text);
    }
}

static sinter_status
put_rows(table_printer *p, sinter_error *err)
{
    const sinter_datum *values = NULL;
    sinter_status st = SINTER_OK;

    while (!cli_output_failed()) {
        if (cli_is_cancelled(NULL)) {
            return SINTER_E_CANCELLED;
        }
        st = sinter_table_scan_next(p->scan, &values, err);
        if (st == SINTER_OK && p->writer != NULL) {
            st = sinter_row_writer_append(p->writer, 0, values, &p->text, err);
        }
        if (st != SINTER_OK) {
            break;
        }
        p->wanted->rows++;
        if (p->text.size >= PRINT_BYTES) {
            flush_text(p);
        }
    }
    st = st == SINTER_END ? SINTER_OK : st;
    if (st == SINTER_OK && p->writer != NULL) {
        st = sinter_row_writer_end(p->writer, &p->text, err);
    }
    flush_text(p);
    return st;
}

static sinter_status
put_stream(void *ctx, const void *data, size_t size, sinter_error *err)
{
    (void)ctx;
    (void)err;
    (void)fwrite(data, 1, size, stdout);
    return cli_output_failed() || cli_is_cancelled(NULL) ? SINTER_E_CANCELLED : SINTER_OK;
}

static sinter_status
put_arrow(table_printer *p, sinter_error *err)
{
    const sinter_status st = sinter_table_scan_arrow(p->scan, put_stream, NULL, err);

    return st == SINTER_E_CANCELLED && cli_output_failed() ? SINTER_OK : st;
}

static void
note_counters(const table_printer *p)
{
    sinter_table_scan_counters counters = {.struct_size = (uint32_t)sizeof counters};

    sinter_table_scan_counters_get(p->scan, &counters);
    cli_note("manifests read %" PRIu64 ", skipped %" PRIu64 "; files %" PRIu64 ", of these skipped "
             "%" PRIu64 "; rows merged %" PRIu64,
             counters.manifests_read, counters.manifests_skipped, counters.files,
             counters.files_skipped, counters.rows_merged);
}

/* A text that can't be printed is damage, and rows don't tell their file: read once more up to it.
 */
static sinter_status
find_bad_text(table_printer *p, sinter_error *err)
{
    const sinter_datum *values = NULL;
    sinter_error found = SINTER_ERROR_INIT;
    sinter_table_scan *scan = NULL;
    sinter_status st = SINTER_OK;

    p->options.checks_texts = true;
    st = sinter_table_scan_open(p->table, &p->options, &scan, &found);
    while (st == SINTER_OK && !cli_is_cancelled(NULL)) {
        st = sinter_table_scan_next(scan, &values, &found);
    }
    sinter_table_scan_close(scan);
    if (st != SINTER_E_CORRUPT) {
        return err->status;
    }
    *err = found;
    return st;
}

static int
print_rows(table_printer *p)
{
    const sinter_row_options row_options = {
        .struct_size = (uint32_t)sizeof row_options,
        .format = p->wanted->format,
        .flags = p->wanted->hex_strings ? SINTER_PRINT_HEX_STRINGS : 0,
        .no_header = p->wanted->no_header,
    };
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = sinter_table_scan_open(p->table, &p->options, &p->scan, &err);

    if (st == SINTER_OK && !p->wanted->count_only && !p->wanted->is_arrow) {
        st = sinter_row_writer_create(&p->session->boot, sinter_table_scan_row_type(p->scan),
                                      &row_options, &p->writer, &err);
    }
    if (st == SINTER_OK) {
        st = p->wanted->is_arrow && !p->wanted->count_only ? put_arrow(p, &err) : put_rows(p, &err);
    }
    if (p->scan != NULL && p->session->is_verbose) {
        note_counters(p);
    }
    if (st == SINTER_E_INVALID && err.file[0] == '\0' && p->writer != NULL) {
        st = find_bad_text(p, &err);
    }
    if (st == SINTER_E_INVALID && err.file[0] == '\0' && p->wanted->rows == 0) {
        return cli_fail(CLI_EXIT_USAGE, "%s", err.text);
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

static void
release(table_printer *p)
{
    sinter_row_writer_destroy(p->writer);
    sinter_table_scan_close(p->scan);
    for (size_t i = 0; p->partitions != NULL && i < p->wanted->partitions->count; i++) {
        sinter_predicate_destroy(p->partitions[i]);
    }
    free((void *)p->partitions);
    sinter_predicate_destroy(p->where);
    for (size_t i = 0; i < p->column_count; i++) {
        free(p->columns[i]);
    }
    free((void *)p->columns);
    sinter_snapshot_destroy(p->snapshot);
    sinter_table_close(p->table);
    sinter_text_fini(&p->text);
}

int
cli_table_scan_print(cli *session, cli_table_scan *wanted)
{
    table_printer p = {.session = session, .wanted = wanted};
    int code;

    sinter_text_init(&session->boot, &p.text);
    code = open_table(&p);
    if (code == CLI_EXIT_OK) {
        code = find_snapshot(&p);
    }
    if (code == CLI_EXIT_OK) {
        code = set_options(&p);
    }
    if (code == CLI_EXIT_OK) {
        code = print_rows(&p);
    }
    release(&p);
    return code;
}
