#include "cli/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/opts.h"
#include "cli/report.h"
#include "cli/signals.h"

enum { RANGES = 64, PRINT_BYTES = 1 << 16 };

/* A view being printed. */
typedef struct view_printer {
    cli_view *view;
    sinter_row_writer *writer; /* NULL: only counting */
    sinter_text text;
    bool is_done;
} view_printer;

static int32_t
row_format(const cli_view *view)
{
    switch (view->format) {
    case CLI_ROWS_AUTO:
        return isatty(STDOUT_FILENO) ? SINTER_ROW_FORMAT_TABLE : SINTER_ROW_FORMAT_JSON;
    case CLI_ROWS_CSV:
        return SINTER_ROW_FORMAT_CSV;
    case CLI_ROWS_TSV:
    case CLI_ROWS_HEX:
        return SINTER_ROW_FORMAT_TSV;
    case CLI_ROWS_TABLE:
        return SINTER_ROW_FORMAT_TABLE;
    default:
        return SINTER_ROW_FORMAT_JSON;
    }
}

/* Positions of the columns named in "a,b"; allocated. */
static int
find_columns(const sinter_row_type *row_type, const char *names, size_t **out, size_t *count_out)
{
    size_t *columns = NULL;
    size_t count = 0;

    while (*names != '\0') {
        const size_t length = strcspn(names, ",");
        char name[256];

        (void)snprintf(name, sizeof name, "%.*s", (int)length, names);
        columns = cli_grow(columns, count, sizeof *columns);
        columns[count] = row_type == NULL ? SIZE_MAX : sinter_row_type_find(row_type, name);
        if (columns[count] == SIZE_MAX) {
            free(columns);
            return cli_fail(CLI_EXIT_USAGE, "there is no column '%s'", name);
        }
        count++;
        names += length + (names[length] == ',');
    }
    *out = columns;
    *count_out = count;
    return CLI_EXIT_OK;
}

static void
flush_text(view_printer *printer)
{
    if (printer->text.size > 0) {
        (void)fwrite(printer->text.data, 1, printer->text.size, stdout);
        printer->is_done = cli_output_failed() || printer->is_done;
        sinter_text_reset(&printer->text);
    }
}

static sinter_status
put_row(view_printer *printer, const sinter_batch *batch, uint32_t row, sinter_error *err)
{
    const sinter_bytes none = {.data = NULL, .size = 0};
    const sinter_bytes value = batch->payload_ops != NULL && batch->payload_ops->value != NULL
                                   ? batch->payload_ops->value(batch, row)
                                   : none;
    const sinter_status st =
        sinter_row_writer_append_stored(printer->writer, batch->kinds[row],
                                        sinter_batch_key(batch, row), value, &printer->text, err);

    if (printer->text.size >= PRINT_BYTES) {
        flush_text(printer);
    }
    return st;
}

static sinter_status
put_range(view_printer *printer, const sinter_range *range, sinter_error *err)
{
    cli_view *view = printer->view;

    for (uint32_t i = 0; i < range->count && !printer->is_done; i++) {
        sinter_status st;

        if (view->limit.is_set && view->rows >= view->limit.value) {
            printer->is_done = true;
            break;
        }
        view->rows++;
        if (printer->writer == NULL) {
            continue;
        }
        st = put_row(printer, range->batch, range->first + i, err);
        if (st != SINTER_OK) {
            return st;
        }
    }
    return SINTER_OK;
}

static sinter_status
put_rows(view_printer *printer, sinter_view *view, sinter_error *err)
{
    sinter_range ranges[RANGES];
    sinter_status st = SINTER_OK;

    printer->is_done = printer->view->limit.is_set && printer->view->limit.value == 0;
    while (st == SINTER_OK && !printer->is_done) {
        size_t count = 0;

        if (cli_is_cancelled(NULL)) {
            return SINTER_E_CANCELLED;
        }
        st = sinter_view_next(view, ranges, RANGES, &count, err);
        for (size_t i = 0; st == SINTER_OK && i < count; i++) {
            st = put_range(printer, &ranges[i], err);
        }
    }
    st = st == SINTER_END ? SINTER_OK : st;
    if (st == SINTER_OK && printer->writer != NULL) {
        st = sinter_row_writer_end(printer->writer, &printer->text, err);
    }
    flush_text(printer);
    return st;
}

static void
note_counters(const sinter_view *view)
{
    sinter_view_counters counters = {.struct_size = (uint32_t)sizeof counters};

    sinter_view_counters_get(view, &counters);
    cli_note("files outside of the keys %" PRIu64 ", opened %" PRIu64 ", of these left by index or "
             "filter %" PRIu64 "; blocks read %" PRIu64 ", records %" PRIu64,
             counters.files_outside, counters.files_opened, counters.files_filtered,
             counters.blocks_read, counters.rows_read);
}

static sinter_status
print_view(cli *session, const cli_source *source, view_printer *printer,
           const sinter_row_options *row_options, sinter_error *err)
{
    const bool is_stored = printer->view->format == CLI_ROWS_HEX;
    const sinter_view_source files = {.struct_size = (uint32_t)sizeof files,
                                      .base_dir = source->base_dir,
                                      .files = source->files->files,
                                      .count = source->files->file_count,
                                      .options = &source->options};
    sinter_view *view = NULL;
    sinter_status st = SINTER_OK;

    if (!printer->view->count_only) {
        st = sinter_row_writer_create(&session->boot, is_stored ? NULL : source->row_type,
                                      row_options, &printer->writer, err);
    }
    if (st == SINTER_OK) {
        st = sinter_view_open(&session->env, &files, &printer->view->options, &view, err);
    }
    if (st == SINTER_OK) {
        st = put_rows(printer, view, err);
    }
    if (view != NULL && session->is_verbose) {
        note_counters(view);
    }
    sinter_view_close(view);
    sinter_row_writer_destroy(printer->writer);
    return st;
}

int
cli_view_print(cli *session, const cli_source *source, cli_view *view)
{
    view_printer printer = {.view = view};
    sinter_row_options row_options = {
        .struct_size = (uint32_t)sizeof row_options,
        .format = row_format(view),
        .flags = view->hex_strings ? SINTER_PRINT_HEX_STRINGS : 0,
        .kinds = view->kinds,
        .no_header = view->no_header,
    };
    sinter_error err = SINTER_ERROR_INIT;
    size_t *columns = NULL;
    sinter_status st;
    int code;

    if (view->columns != NULL) {
        code = find_columns(source->row_type, view->columns, &columns, &row_options.column_count);
        if (code != CLI_EXIT_OK) {
            return code;
        }
        row_options.columns = columns;
    }
    view->options.struct_size = (uint32_t)sizeof view->options;
    view->options.keys_only = view->count_only;
    sinter_text_init(&session->boot, &printer.text);
    st = print_view(session, source, &printer, &row_options, &err);
    sinter_text_fini(&printer.text);
    free(columns);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

int
cli_key_encode(const cli_source *source, const char *const *words, size_t count, sinter_text *out)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st;

    if (count == 1 && strncmp(words[0], "hex:", 4) == 0) {
        const sinter_bytes hex = {
            .data = (const uint8_t *)words[0] + 4,
            .size = strlen(words[0] + 4),
        };

        st = sinter_hex_parse(hex, out, &err);
    } else if (count == 1 && source->codec != NULL && sinter_key_codec_count(source->codec) > 1) {
        return cli_key_encode_text(source, NULL, words[0], out);
    } else if (source->codec == NULL) {
        return cli_fail(CLI_EXIT_USAGE, "the keys of these files are opaque bytes: give the key as "
                                        "hex:0011...");
    } else {
        st = sinter_key_encode_texts(source->codec, words, count, out, &err);
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail(CLI_EXIT_USAGE, "key: %s", err.text);
}

int
cli_key_encode_text(const cli_source *source, const char *option, const char *text,
                    sinter_text *out)
{
    const size_t wanted = source->codec == NULL ? 1 : sinter_key_codec_count(source->codec);
    char *copy = cli_alloc(strlen(text) + 1, 1);
    const char **words = cli_alloc(wanted, sizeof *words);
    size_t count = 0;
    char *word = copy;
    int code;

    memcpy(copy, text, strlen(text) + 1);
    words[count++] = word;
    /* the last column takes the rest, commas and all */
    while (count < wanted && (word = strchr(word, ',')) != NULL) {
        *word++ = '\0';
        words[count++] = word;
    }
    if (strncmp(text, "hex:", 4) == 0) {
        code = cli_key_encode(source, &text, 1, out);
    } else if (count < wanted) {
        code = cli_fail(CLI_EXIT_USAGE, "%s%s needs the %zu key columns parted by commas",
                        option != NULL ? "option --" : "the key", option != NULL ? option : "",
                        wanted);
    } else {
        code = cli_key_encode(source, words, count, out);
    }
    free((void *)words);
    free(copy);
    return code;
}
