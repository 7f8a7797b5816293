#include "cli/columns.h"

#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"

static char *
copy(const char *text, size_t size)
{
    char *out = cli_alloc(size + 1, 1);

    memcpy(out, text, size);
    return out;
}

void
cli_columns_add(cli_columns *columns, const char *name, const char *type)
{
    columns->items = cli_grow(columns->items, columns->count, sizeof *columns->items);
    columns->items[columns->count++] = (cli_column){
        .name = copy(name, strlen(name)),
        .type = type == NULL ? NULL : copy(type, strlen(type)),
    };
}

const cli_column *
cli_columns_find(const cli_columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->items[i].name, name) == 0) {
            return &columns->items[i];
        }
    }
    return NULL;
}

/* Length up to the comma that ends an entry. */
static size_t
entry_length(const char *text)
{
    size_t depth = 0;
    size_t length = 0;

    while (text[length] != '\0' && (text[length] != ',' || depth > 0)) {
        depth += text[length] == '(' || text[length] == '<';
        depth -= (text[length] == ')' || text[length] == '>') && depth > 0;
        length++;
    }
    return length;
}

int
cli_columns_parse(const char *option, const char *text, cli_columns *out)
{
    while (*text != '\0') {
        const size_t length = entry_length(text);
        const char *colon = memchr(text, ':', length);
        const size_t name_length = colon == NULL ? length : (size_t)(colon - text);
        char *name = copy(text, name_length);
        char *type = colon == NULL ? NULL : copy(colon + 1, length - name_length - 1);
        const bool is_bad = name_length == 0 || (type != NULL && type[0] == '\0');
        const bool is_twice = cli_columns_find(out, name) != NULL;

        if (!is_bad && !is_twice) {
            cli_columns_add(out, name, type);
        }
        free(type);
        if (is_bad || is_twice) {
            const int code = cli_fail(
                CLI_EXIT_USAGE, "option '--%s': %s '%s'", option,
                is_bad ? "a name or type is missing in" : "given twice:", is_bad ? text : name);

            free(name);
            return code;
        }
        free(name);
        text += length + (text[length] == ',');
    }
    return CLI_EXIT_OK;
}

void
cli_columns_fini(cli_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        free(columns->items[i].name);
        free(columns->items[i].type);
    }
    free(columns->items);
    *columns = (cli_columns){.items = NULL};
}
