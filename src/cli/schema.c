#include "cli/schema.h"

#include <stdlib.h>
#include <string.h>

#include "cli/columns.h"
#include "cli/opts.h"
#include "cli/report.h"

/* The lists of the command line, parsed. */
typedef struct column_lists {
    cli_columns all;
    cli_columns types;
    cli_columns keys;
} column_lists;

/* `*out` is to be destroyed. */
static int
parse_type(const sinter_env *env, const char *name, const char *text, sinter_type **out)
{
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_status st = sinter_type_create(env, text, out, &err);

    if (st == SINTER_E_INVALID) {
        return cli_fail(CLI_EXIT_USAGE, "column '%s': %s", name, err.text);
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

/* The type of a column: of --columns, of --types, of --key, else STRING; a key is never null. */
static int
column_type(const sinter_env *env, const column_lists *lists, const cli_column *column,
            sinter_type **out)
{
    const cli_column *typed = cli_columns_find(&lists->types, column->name);
    const cli_column *key = cli_columns_find(&lists->keys, column->name);
    const char *text = column->type;
    int code;

    if (text == NULL && typed != NULL) {
        text = typed->type;
    }
    if (text == NULL && key != NULL) {
        text = key->type;
    }
    code = parse_type(env, column->name, text != NULL ? text : "STRING", out);
    if (code == CLI_EXIT_OK && key != NULL) {
        (*out)->nullable = false;
    }
    return code;
}

static int
check_names(const char *option, const cli_columns *named, const cli_columns *all)
{
    for (size_t i = 0; i < named->count; i++) {
        if (cli_columns_find(all, named->items[i].name) == NULL) {
            return cli_fail(CLI_EXIT_USAGE, "option '--%s': there is no column '%s'", option,
                            named->items[i].name);
        }
    }
    return CLI_EXIT_OK;
}

static int
make_row_type(const sinter_env *env, const column_lists *lists, sinter_row_type **out)
{
    sinter_column *columns = cli_alloc(lists->all.count, sizeof *columns);
    sinter_type **types = cli_alloc(lists->all.count, sizeof *types);
    const char **keys = cli_alloc(lists->keys.count, sizeof *keys);
    sinter_error err = SINTER_ERROR_INIT;
    int code = CLI_EXIT_OK;
    sinter_status st;

    for (size_t i = 0; code == CLI_EXIT_OK && i < lists->all.count; i++) {
        columns[i].name = lists->all.items[i].name;
        code = column_type(env, lists, &lists->all.items[i], &types[i]);
        if (code == CLI_EXIT_OK) {
            columns[i].type = *types[i];
        }
    }
    for (size_t i = 0; i < lists->keys.count; i++) {
        keys[i] = lists->keys.items[i].name;
    }
    if (code == CLI_EXIT_OK) {
        const sinter_row_layout all = {.struct_size = (uint32_t)sizeof all,
                                       .columns = columns,
                                       .count = lists->all.count,
                                       .keys = keys,
                                       .key_count = lists->keys.count};

        st = sinter_row_type_create(env, &all, out, &err);
        code = st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
    }
    for (size_t i = 0; i < lists->all.count; i++) {
        sinter_type_destroy(types[i]);
    }
    free((void *)keys);
    free((void *)types);
    free(columns);
    return code;
}

/* `_kind` of the input is no column either; the library leaves it out by itself. */
static void
drop_column(cli_columns *columns, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < columns->count; i++) {
        if (name != NULL && strcmp(columns->items[i].name, name) == 0) {
            free(columns->items[i].name);
            free(columns->items[i].type);
        } else {
            columns->items[kept++] = columns->items[i];
        }
    }
    columns->count = kept;
}

static int
parse_lists(const cli_schema *schema, cli_input *input, int32_t format, column_lists *lists)
{
    int code = cli_columns_parse("key", schema->key, &lists->keys);

    if (code == CLI_EXIT_OK && schema->types != NULL) {
        code = cli_columns_parse("types", schema->types, &lists->types);
    }
    if (code == CLI_EXIT_OK && schema->columns != NULL) {
        code = cli_columns_parse("columns", schema->columns, &lists->all);
    } else if (code == CLI_EXIT_OK) {
        code = cli_input_columns(input, format, &lists->all);
        drop_column(&lists->all, schema->kind_column);
    }
    if (code == CLI_EXIT_OK) {
        code = check_names("key", &lists->keys, &lists->all);
    }
    return code == CLI_EXIT_OK ? check_names("types", &lists->types, &lists->all) : code;
}

int
cli_schema_make(const sinter_env *env, const cli_schema *schema, cli_input *input, int32_t format,
                sinter_row_type **out)
{
    column_lists lists = {.all = {.items = NULL}};
    int code = parse_lists(schema, input, format, &lists);

    if (code == CLI_EXIT_OK) {
        code = make_row_type(env, &lists, out);
    }
    cli_columns_fini(&lists.all);
    cli_columns_fini(&lists.types);
    cli_columns_fini(&lists.keys);
    return code;
}

/* What a list of the catalog's columns has to be compared with. */
typedef struct known_columns {
    const char *dir;
    const sinter_row_type *row_type;
    const size_t *positions; /* where the names have to stand, in order; NULL: anywhere */
    size_t position_count;
} known_columns;

/* Say that a type isn't the one of the catalog. */
static int
refuse_type(const sinter_env *env, const char *dir, const sinter_type *known,
            const sinter_type *given, const char *name)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text known_text;
    sinter_text given_text;
    sinter_status st;
    int code;

    sinter_text_init(env, &known_text);
    sinter_text_init(env, &given_text);
    st = sinter_type_print_full(known, &known_text, &err);
    st = st != SINTER_OK ? st : sinter_type_print_full(given, &given_text, &err);
    code = st != SINTER_OK
               ? cli_fail_status(st, &err)
               : cli_fail(CLI_EXIT_USAGE, "column '%s' is %s in the catalog of %s, not %s", name,
                          known_text.data, dir, given_text.data);
    sinter_text_fini(&given_text);
    sinter_text_fini(&known_text);
    return code;
}

/* A type that was given again has to be the one of the catalog; whether it may be null is not
 * asked, since a key column never is. */
static int
check_type(const sinter_env *env, const known_columns *known, size_t position,
           const cli_column *column)
{
    sinter_type known_type = *sinter_row_type_column_type(known->row_type, position);
    sinter_type *given = NULL;
    int code;

    if (column->type == NULL) {
        return CLI_EXIT_OK;
    }
    code = parse_type(env, column->name, column->type, &given);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    known_type.nullable = true;
    given->nullable = true;
    if (!sinter_type_equal(&known_type, given)) {
        code = refuse_type(env, known->dir, &known_type, given, column->name);
    }
    sinter_type_destroy(given);
    return code;
}

static int
check_list(const sinter_env *env, const known_columns *known, const char *option, const char *text)
{
    cli_columns given = {.items = NULL};
    int code = cli_columns_parse(option, text, &given);

    if (code == CLI_EXIT_OK && known->positions != NULL && given.count != known->position_count) {
        code = cli_fail(CLI_EXIT_USAGE, "option '--%s': the catalog of %s has %zu columns there",
                        option, known->dir, known->position_count);
    }
    for (size_t i = 0; code == CLI_EXIT_OK && i < given.count; i++) {
        const size_t at = sinter_row_type_find(known->row_type, given.items[i].name);

        if (at == SIZE_MAX || (known->positions != NULL && at != known->positions[i])) {
            code = cli_fail(CLI_EXIT_USAGE, "option '--%s': the catalog of %s has no '%s' there",
                            option, known->dir, given.items[i].name);
        } else {
            code = check_type(env, known, at, &given.items[i]);
        }
    }
    cli_columns_fini(&given);
    return code;
}

int
cli_schema_check(const sinter_env *env, const cli_schema *schema, const char *dir,
                 const sinter_row_type *row_type)
{
    known_columns known = {.dir = dir, .row_type = row_type};
    const size_t count = sinter_row_type_count(row_type);
    size_t *all = cli_alloc(count, sizeof *all);
    int code = CLI_EXIT_OK;

    for (size_t i = 0; i < count; i++) {
        all[i] = i;
    }
    if (schema->types != NULL) {
        code = check_list(env, &known, "types", schema->types);
    }
    if (code == CLI_EXIT_OK && schema->key != NULL) {
        known.positions = sinter_row_type_keys(row_type, &known.position_count);
        code = check_list(env, &known, "key", schema->key);
    }
    if (code == CLI_EXIT_OK && schema->columns != NULL) {
        known.positions = all;
        known.position_count = count;
        code = check_list(env, &known, "columns", schema->columns);
    }
    free(all);
    return code;
}

int
cli_schema_with_kind(const sinter_env *env, const sinter_row_type *row_type, const char *column,
                     sinter_row_type **out)
{
    const size_t count = sinter_row_type_count(row_type);
    sinter_column *columns = cli_alloc(count + 1, sizeof *columns);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st;

    for (size_t i = 0; i < count; i++) {
        columns[i].name = sinter_row_type_column_name(row_type, i);
        columns[i].type = *sinter_row_type_column_type(row_type, i);
    }
    columns[count].name = column;
    st = sinter_type_parse("STRING", &columns[count].type, &err);
    if (st == SINTER_OK) {
        const sinter_row_layout all = {
            .struct_size = (uint32_t)sizeof all, .columns = columns, .count = count + 1};

        st = sinter_row_type_create(env, &all, out, &err);
    }
    free(columns);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}
