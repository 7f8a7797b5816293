#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/session.h"

typedef struct create_arguments {
    cli_common common;
    const char *schema;
    const char *columns;
    const char *primary_key;
    const char *partition_by;
    const char *comment;
    cli_list options; /* "key=value" */
} create_arguments;

#define FIELD(name) offsetof(create_arguments, name)

static const cli_option options[] = {
    {"schema", 's', CLI_TEXT, FIELD(schema), "FILE", "@file",
     "JSON with fields, partitionKeys, primaryKeys, options and comment, as the schema files of "
     "tables have it; `-` is standard input."},
    {"columns", 'c', CLI_TEXT, FIELD(columns), "COLUMNS", NULL,
     "Instead of --schema: names and types, parted by commas, such as \"id BIGINT NOT NULL, v "
     "STRING\"."},
    {"primary-key", 'k', CLI_TEXT, FIELD(primary_key), "A,B", NULL,
     "Columns of the primary key; they become NOT NULL."},
    {"partition-by", 'p', CLI_TEXT, FIELD(partition_by), "A,B", NULL, "Partition columns."},
    {"comment", 0, CLI_TEXT, FIELD(comment), "TEXT", NULL, "Comment of the table."},
    {"option", 'o', CLI_LIST, FIELD(options), "KEY=VALUE", NULL,
     "An option of the table, such as bucket=4 or file.format=avro; it goes before one of the "
     "schema's."},
};

/* A creation under way. */
typedef struct create_job {
    cli *session;
    const create_arguments *args;
    sinter_schema *parsed; /* of --schema */
    sinter_type *type;     /* of --columns */
    sinter_row_type *row_type;
    sinter_option *options;
    char **keys;          /* of options of the command line */
    sinter_schema schema; /* what is made */
    sinter_error err;
} create_job;

/* ---- columns ---- */

static int
read_all(const char *path, cli_input *input)
{
    int code = cli_input_open(path, input);

    while (code == CLI_EXIT_OK && !input->is_ended) {
        code = cli_input_more(input);
    }
    return code;
}

static int
take_file(create_job *job)
{
    cli_input input = CLI_INPUT_CLOSED;
    sinter_status st = SINTER_OK;
    int code = read_all(job->args->schema, &input);

    if (code == CLI_EXIT_OK) {
        const sinter_bytes text = {(const uint8_t *)input.data, input.size};

        st = sinter_schema_parse(&job->session->boot, input.name, text, &job->parsed, &job->err);
        code = st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &job->err);
    }
    cli_input_close(&input);
    if (code == CLI_EXIT_OK) {
        job->schema = *job->parsed;
    }
    return code;
}

static int
take_columns(create_job *job)
{
    const size_t size = strlen(job->args->columns) + sizeof "ROW<>";
    char *text = cli_alloc(size, 1);
    sinter_status st = SINTER_OK;

    (void)snprintf(text, size, "ROW<%s>", job->args->columns);
    st = sinter_type_create(&job->session->boot, text, &job->type, &job->err);
    free(text);
    if (st == SINTER_OK) {
        st = sinter_row_type_of_type(&job->session->boot, job->type, NULL, 0, &job->row_type,
                                     &job->err);
    }
    if (st != SINTER_OK) {
        return st == SINTER_E_INVALID
                   ? cli_fail(CLI_EXIT_USAGE, "option '--columns': %s", job->err.text)
                   : cli_fail_status(st, &job->err);
    }
    job->schema.row_type = job->row_type;
    return CLI_EXIT_OK;
}

/* ---- options ---- */

static void
put_option(create_job *job, const char *key, const char *value)
{
    for (size_t i = 0; i < job->schema.option_count; i++) {
        if (strcmp(job->options[i].key, key) == 0) {
            job->options[i].value = value;
            return;
        }
    }
    job->options[job->schema.option_count++] = (sinter_option){.key = key, .value = value};
}

static int
take_options(create_job *job)
{
    const create_arguments *args = job->args;
    const size_t given = args->options.count;
    const size_t room = job->schema.option_count + given + 2;

    job->options = cli_alloc(room, sizeof *job->options);
    job->keys = cli_alloc(given, sizeof *job->keys);
    if (job->schema.option_count > 0) {
        memcpy(job->options, job->schema.options, job->schema.option_count * sizeof *job->options);
    }
    job->schema.options = job->options;
    for (size_t i = 0; i < given; i++) {
        const char *item = args->options.items[i];
        const size_t length = strcspn(item, "=");

        if (length == 0 || item[length] == '\0') {
            return cli_fail(CLI_EXIT_USAGE, "option '--option' needs KEY=VALUE, not '%s'", item);
        }
        job->keys[i] = cli_alloc(length + 1, 1);
        memcpy(job->keys[i], item, length);
        put_option(job, job->keys[i], item + length + 1);
    }
    if (args->primary_key != NULL) {
        put_option(job, "primary-key", args->primary_key);
    }
    if (args->partition_by != NULL) {
        put_option(job, "partition", args->partition_by);
    }
    if (args->comment != NULL) {
        job->schema.comment = args->comment;
    }
    return CLI_EXIT_OK;
}

/* ---- the table ---- */

static void
put_result(const create_job *job, const sinter_schema *made)
{
    const create_arguments *args = job->args;
    const char *format = sinter_schema_option(made, "file.format");
    const size_t columns = sinter_row_type_count(made->row_type);

    format = format == NULL ? "parquet" : format;
    if (args->common.json) {
        cli_json json = {0};

        cli_json_object_begin(&json, NULL);
        cli_json_text(&json, "table", args->common.operands[0]);
        cli_json_int(&json, "schema_id", made->id);
        cli_json_uint(&json, "column_count", columns);
        cli_json_text(&json, "file_format", format);
        cli_json_object_end(&json);
    } else if (!args->common.quiet) {
        printf("%s: made, %zu %s, %s, %s files\n", args->common.operands[0], columns,
               columns == 1 ? "column" : "columns",
               made->primary_key_count > 0 ? "with a primary key" : "without a primary key",
               format);
    }
}

static int
create(create_job *job)
{
    const sinter_env *env = &job->session->boot;
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config,
                                        .path = job->args->common.operands[0]};
    sinter_table *table = NULL;
    sinter_status st = sinter_table_create(env, &config, &job->schema, &job->err);

    if (st == SINTER_OK) {
        st = sinter_table_open(env, &config, &table, &job->err);
    }
    if (st != SINTER_OK) {
        return cli_fail_status(st, &job->err);
    }
    put_result(job, sinter_table_schema(table));
    sinter_table_close(table);
    return CLI_EXIT_OK;
}

static void
release(create_job *job)
{
    for (size_t i = 0; job->keys != NULL && i < job->args->options.count; i++) {
        free(job->keys[i]);
    }
    free(job->keys);
    free(job->options);
    sinter_row_type_destroy(job->row_type);
    sinter_type_destroy(job->type);
    sinter_schema_destroy(job->parsed);
}

static int
run(cli *session, void *arguments)
{
    const create_arguments *args = arguments;
    create_job job = {.session = session,
                      .args = args,
                      .schema = {.struct_size = (uint32_t)sizeof job.schema},
                      .err = SINTER_ERROR_INIT};
    int code;

    if ((args->schema == NULL) == (args->columns == NULL)) {
        return cli_fail(CLI_EXIT_USAGE, "one of --schema and --columns is needed");
    }
    code = args->schema != NULL ? take_file(&job) : take_columns(&job);
    if (code == CLI_EXIT_OK) {
        code = take_options(&job);
    }
    if (code == CLI_EXIT_OK) {
        code = create(&job);
    }
    release(&job);
    return code;
}

const cli_verb cli_verb_create = {
    .name = "create",
    .operands = "TABLE",
    .summary = "make a table in Paimon's layout",
    .description =
        "Make a directory with the first schema of a table in it, which Paimon then opens like one "
        "of its own. Columns come from --columns or from a schema as JSON. What Paimon refuses is "
        "refused: a primary key without the partition columns, unless buckets are dynamic, names "
        "of its own columns, types that the format doesn't have.\n\n"
        "Data files are Parquet where libsinter_columnar is there, else Avro, unless the option "
        "file.format says otherwise. A table that is there already is left alone.",
    .examples = "sinter create shop.db/orders --columns \"id BIGINT, v STRING\" --primary-key id "
                "-o bucket=4\n"
                "sinter create shop.db/copy --schema shop.db/orders/schema/schema-0\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_PROGRESS,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(create_arguments),
    .run = run,
};
