#include "cli/feed.h"

#include <inttypes.h>
#include <string.h>

#include "cli/report.h"

int
cli_feed_fail(const cli_input *input, uint64_t line, sinter_status st, sinter_error *err)
{
    if (err->file[0] == '\0') {
        (void)snprintf(err->file, sizeof err->file, "%s", input->name);
    }
    if (line > 0 && strstr(err->text, "line ") == NULL) {
        char text[sizeof err->text];

        (void)snprintf(text, sizeof text, "line %" PRIu64 ": %.480s", line, err->text);
        memcpy(err->text, text, sizeof text);
    }
    return cli_fail_status(st, err);
}

static int
take_rows(const cli_feed *feed, sinter_row_reader *reader)
{
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st;
    int code = CLI_EXIT_OK;

    while (code == CLI_EXIT_OK) {
        st = sinter_row_reader_next(reader, &row, &err);
        if (st == SINTER_END) {
            break;
        }
        code =
            st == SINTER_OK ? feed->each(feed->ctx, &row) : cli_feed_fail(feed->input, 0, st, &err);
    }
    return code;
}

static int
read_rows(const cli_feed *feed, sinter_row_reader *reader)
{
    sinter_error err = SINTER_ERROR_INIT;
    cli_input *input = feed->input;
    bool is_ended = false;
    int code = CLI_EXIT_OK;

    while (code == CLI_EXIT_OK && !is_ended) {
        sinter_status st;

        if (input->size == 0) {
            code = cli_input_more(input);
        }
        if (code != CLI_EXIT_OK) {
            break;
        }
        st = sinter_row_reader_feed(reader, input->data, input->size, &err);
        if (st != SINTER_OK) {
            return cli_feed_fail(input, 0, st, &err);
        }
        is_ended = input->is_ended;
        if (is_ended) {
            sinter_row_reader_end(reader);
        }
        cli_input_consume(input);
        code = take_rows(feed, reader);
        cli_progress_set(&feed->session->progress, feed->done_bytes + input->consumed_bytes,
                         *feed->rows);
    }
    return code;
}

int
cli_feed_run(cli_feed *feed)
{
    const sinter_row_options options = {
        .struct_size = (uint32_t)sizeof options,
        .format = feed->format,
        .flags = feed->flags,
        .source = feed->input->name,
    };
    sinter_error err = SINTER_ERROR_INIT;
    sinter_row_reader *reader = NULL;
    const sinter_status st =
        sinter_row_reader_create(&feed->session->boot, feed->row_type, &options, &reader, &err);
    int code;

    if (st != SINTER_OK) {
        return cli_fail_status(st, &err);
    }
    code = read_rows(feed, reader);
    sinter_row_reader_destroy(reader);
    feed->done_bytes += feed->input->consumed_bytes;
    return code;
}
