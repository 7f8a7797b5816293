#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"

enum { CHUNK_BYTES = 1 << 18 };

int
cli_input_open(const char *path, cli_input *out)
{
    *out = (cli_input){.name = path, .fd = STDIN_FILENO};
    if (path == NULL || strcmp(path, "-") == 0) {
        out->name = "standard input";
        out->is_stdin = true;
        return CLI_EXIT_OK;
    }
    out->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (out->fd < 0) {
        return cli_fail(CLI_EXIT_IO, "%s: can't open: %s", path, strerror(errno));
    }
    return CLI_EXIT_OK;
}

int
cli_input_more(cli_input *input)
{
    ssize_t got;

    if (input->is_ended) {
        return CLI_EXIT_OK;
    }
    if (input->capacity - input->size < CHUNK_BYTES) {
        input->capacity = input->capacity * 2 + CHUNK_BYTES;
        input->data = cli_realloc(input->data, input->capacity, 1);
    }
    do {
        if (!cli_wait_readable(input->fd)) {
            return cli_fail(cli_signal_exit(), "cancelled by %s", cli_signal_name());
        }
        got = read(input->fd, input->data + input->size, CHUNK_BYTES);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got < 0) {
        return cli_fail(CLI_EXIT_IO, "%s: can't read: %s", input->name, strerror(errno));
    }
    input->size += (size_t)got;
    input->is_ended = got == 0;
    return CLI_EXIT_OK;
}

void
cli_input_consume(cli_input *input)
{
    input->consumed_bytes += input->size;
    input->size = 0;
}

static bool
ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name);
    const size_t size = strlen(ending);

    return length >= size && strcasecmp(name + length - size, ending) == 0;
}

/* JSON begins with a brace; a first line with a tab is TSV; all else is CSV. */
static int32_t
format_of_text(const char *text, size_t size)
{
    const char *line_end = memchr(text, '\n', size);
    const size_t line = line_end != NULL ? (size_t)(line_end - text) : size;
    size_t at = 0;

    while (at < size && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))) {
        at++;
    }
    if (at < size && text[at] == '{') {
        return SINTER_ROW_FORMAT_JSON;
    }
    return memchr(text, '\t', line) != NULL ? SINTER_ROW_FORMAT_TSV : SINTER_ROW_FORMAT_CSV;
}

int
cli_input_format(cli_input *input, int32_t *format_out)
{
    static const struct {
        const char *ending;
        int32_t format;
    } endings[] = {
        {".json", SINTER_ROW_FORMAT_JSON},   {".jsonl", SINTER_ROW_FORMAT_JSON},
        {".ndjson", SINTER_ROW_FORMAT_JSON}, {".csv", SINTER_ROW_FORMAT_CSV},
        {".tsv", SINTER_ROW_FORMAT_TSV},
    };
    int code = CLI_EXIT_OK;

    for (size_t i = 0; !input->is_stdin && i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_with(input->name, endings[i].ending)) {
            *format_out = endings[i].format;
            return CLI_EXIT_OK;
        }
    }
    while (code == CLI_EXIT_OK && !input->is_ended &&
           (input->data == NULL || memchr(input->data, '\n', input->size) == NULL)) {
        code = cli_input_more(input);
    }
    if (code == CLI_EXIT_OK) {
        *format_out = format_of_text(input->data != NULL ? input->data : "", input->size);
    }
    return code;
}

static sinter_status
add_name(void *ctx, const char *name)
{
    cli_columns_add(ctx, name, NULL);
    return SINTER_OK;
}

int
cli_input_columns(cli_input *input, int32_t format, cli_columns *out)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_END;
    int code = CLI_EXIT_OK;

    while (st == SINTER_END && code == CLI_EXIT_OK) {
        const bool was_ended = input->is_ended;
        const size_t old_size = input->size;
        sinter_bytes bytes;

        code = cli_input_more(input);
        if (code != CLI_EXIT_OK) {
            return code;
        }
        if (!input->is_ended && old_size > 0 &&
            memchr(input->data + old_size, '\n', input->size - old_size) == NULL) {
            continue; /* no line more than before */
        }
        if (input->is_ended && !was_ended && input->size > 0 &&
            input->data[input->size - 1] != '\n') {
            input->data[input->size++] = '\n'; /* the last line may lack it; more() made room */
        }
        bytes = (sinter_bytes){.data = (const uint8_t *)input->data, .size = input->size};
        cli_columns_fini(out);
        st = sinter_row_columns(sinter_env_default(), format, bytes, add_name, out, &err);
        if (st == SINTER_END && was_ended) {
            return cli_fail(CLI_EXIT_DATA, "%s: there is no first line to take columns from",
                            input->name);
        }
    }
    if (st != SINTER_OK) {
        return cli_fail(CLI_EXIT_DATA, "%s: %s", input->name, err.text);
    }
    return CLI_EXIT_OK;
}

void
cli_input_close(cli_input *input)
{
    if (input->fd >= 0 && !input->is_stdin) {
        (void)close(input->fd);
    }
    free(input->data);
    *input = (cli_input)CLI_INPUT_CLOSED;
}
