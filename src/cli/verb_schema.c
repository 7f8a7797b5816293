#include <inttypes.h>
#include <string.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/table_open.h"

typedef struct schema_arguments {
    cli_common common;
    cli_number id;
    const char *branch;
} schema_arguments;

static const cli_option options[] = {
    {"id", 0, CLI_COUNT, offsetof(schema_arguments, id), "ID", NULL,
     "A schema instead of the newest."},
    {"branch", 0, CLI_TEXT, offsetof(schema_arguments, branch), "NAME", NULL,
     "A branch instead of main."},
};

/* Texts of the types of columns. */
static int
print_type(const sinter_schema *schema, size_t column, sinter_text *out)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    sinter_text_reset(out);
    st = sinter_type_print_full(sinter_row_type_column_type(schema->row_type, column), out, &err);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

static void
put_names(cli_json *json, const char *name, const char *const *names, size_t count)
{
    cli_json_array_begin(json, name);
    for (size_t i = 0; i < count; i++) {
        cli_json_text(json, NULL, names[i]);
    }
    cli_json_array_end(json);
}

static int
put_json(const sinter_schema *schema, sinter_text *type)
{
    cli_json json = {0};
    int code = CLI_EXIT_OK;

    cli_json_object_begin(&json, NULL);
    cli_json_int(&json, "id", schema->id);
    cli_json_array_begin(&json, "columns");
    for (size_t i = 0; i < sinter_row_type_count(schema->row_type); i++) {
        code = code == CLI_EXIT_OK ? print_type(schema, i, type) : code;
        cli_json_object_begin(&json, NULL);
        cli_json_int(&json, "id", sinter_row_type_column_id(schema->row_type, i));
        cli_json_text(&json, "name", sinter_row_type_column_name(schema->row_type, i));
        cli_json_text(&json, "type", type->data);
        cli_json_object_end(&json);
    }
    cli_json_array_end(&json);
    put_names(&json, "partition_keys", schema->partition_keys, schema->partition_key_count);
    put_names(&json, "primary_keys", schema->primary_keys, schema->primary_key_count);
    cli_json_object_begin(&json, "options");
    for (size_t i = 0; i < schema->option_count; i++) {
        cli_json_text(&json, schema->options[i].key, schema->options[i].value);
    }
    cli_json_object_end(&json);
    cli_json_text(&json, "comment", schema->comment);
    cli_json_int(&json, "time_ms", schema->time_ms);
    cli_json_object_end(&json);
    return code;
}

static bool
is_among(const char *name, const char *const *names, size_t count)
{
    size_t i = 0;

    while (i < count && strcmp(names[i], name) != 0) {
        i++;
    }
    return i < count;
}

static int
put_columns(const sinter_schema *schema, sinter_text *type)
{
    static const char *const titles[] = {">ID", "COLUMN", "TYPE", "KEY"};
    cli_table rows;
    int code = CLI_EXIT_OK;

    cli_table_init(&rows, titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < sinter_row_type_count(schema->row_type) && code == CLI_EXIT_OK; i++) {
        const char *name = sinter_row_type_column_name(schema->row_type, i);
        const bool is_partition =
            is_among(name, schema->partition_keys, schema->partition_key_count);
        const bool is_primary = is_among(name, schema->primary_keys, schema->primary_key_count);

        code = print_type(schema, i, type);
        cli_table_cell(&rows, "%" PRId64, sinter_row_type_column_id(schema->row_type, i));
        cli_table_cell(&rows, "%s", name);
        cli_table_cell(&rows, "%s", code == CLI_EXIT_OK ? type->data : "");
        cli_table_cell(&rows, "%s%s%s", is_primary ? "primary" : "",
                       is_primary && is_partition ? ", " : "", is_partition ? "partition" : "");
    }
    cli_table_print(&rows);
    return code;
}

static int
put_text(const sinter_schema *schema, sinter_text *type)
{
    int code = CLI_EXIT_OK;

    printf("schema %" PRId64 "%s%s\n", schema->id, schema->comment == NULL ? "" : ": ",
           schema->comment == NULL ? "" : schema->comment);
    code = put_columns(schema, type);
    for (size_t i = 0; i < schema->option_count; i++) {
        printf("%s = %s\n", schema->options[i].key, schema->options[i].value);
    }
    return code;
}

static int
run(cli *session, void *arguments)
{
    const schema_arguments *args = arguments;
    const sinter_schema *schema = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    sinter_text type;
    sinter_status st = SINTER_OK;
    int code = cli_table_open(session, args->common.operands[0], args->branch, &table);

    if (code != CLI_EXIT_OK) {
        return code;
    }
    sinter_text_init(sinter_env_default(), &type);
    schema = sinter_table_schema(table);
    if (args->id.is_set) {
        st = sinter_table_schema_get(table, (int64_t)(args->id.value & INT64_MAX), &schema, &err);
        code = st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
    }
    if (code == CLI_EXIT_OK) {
        code = args->common.json ? put_json(schema, &type) : put_text(schema, &type);
    }
    sinter_text_fini(&type);
    sinter_table_close(table);
    return code;
}

const cli_verb cli_verb_schema = {
    .name = "schema",
    .operands = "TABLE",
    .summary = "show the columns, keys and options of a table",
    .description = "Show the newest schema of a table in Paimon's layout: columns with their "
                   "field ids and types, the primary key, the partition columns, and options.",
    .examples = "sinter schema shop.db/orders\n"
                "sinter schema shop.db/orders --id 0 --json\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON,
    .operand_min = 1,
    .operand_max = 1,
    .arguments_size = sizeof(schema_arguments),
    .run = run,
};
