#include "cli/documents.h"

#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"

static void
add(cli_documents *out, const char *source, const char *text, size_t size)
{
    out->items = cli_grow(out->items, out->count, sizeof *out->items);
    out->items[out->count++] =
        (sinter_table_result){.source = source, .document = {(const uint8_t *)text, size}};
}

/* The end of a line without blanks. */
static size_t
trim(const char *line, size_t size)
{
    while (size > 0 && strchr(" \t\r\n", line[size - 1]) != NULL) {
        size--;
    }
    return size;
}

/* Has every line an object of its own? A document that is indented has not. */
static bool
has_lines(const char *text, size_t size)
{
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        const size_t line = end == NULL ? size : (size_t)(end - text) + 1;
        const size_t length = trim(text, line);

        if (length > 0 && (text[0] != '{' || text[length - 1] != '}')) {
            return false;
        }
        text += line;
        size -= line;
    }
    return true;
}

static void
split(const cli_input *input, cli_documents *out)
{
    const char *text = input->data;
    size_t size = input->size;

    if (!has_lines(text, size)) {
        add(out, input->name, text, size);
        return;
    }
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        const size_t line = end == NULL ? size : (size_t)(end - text) + 1;
        const size_t length = trim(text, line);

        if (length > 0) {
            add(out, input->name, text, length);
        }
        text += line;
        size -= line;
    }
}

int
cli_documents_read(char *const *paths, int count, cli_documents *out)
{
    int code = CLI_EXIT_OK;

    *out = (cli_documents){.inputs = cli_alloc((size_t)count + 1, sizeof *out->inputs)};
    for (int i = 0; i < count && code == CLI_EXIT_OK; i++) {
        cli_input *input = &out->inputs[i];

        code = cli_input_open(paths[i], input);
        if (code != CLI_EXIT_OK) {
            break;
        }
        out->input_count++;
        while (code == CLI_EXIT_OK && !input->is_ended) {
            code = cli_input_more(input);
        }
        if (code == CLI_EXIT_OK) {
            split(input, out);
        }
    }
    if (code == CLI_EXIT_OK && out->count == 0) {
        code = cli_fail(CLI_EXIT_USAGE, "there is no document to work on");
    }
    return code;
}

void
cli_documents_fini(cli_documents *documents)
{
    for (int i = 0; i < documents->input_count; i++) {
        cli_input_close(&documents->inputs[i]);
    }
    free(documents->inputs);
    free(documents->items);
}
