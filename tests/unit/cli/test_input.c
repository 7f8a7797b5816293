#include "cli/input.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(cli_input, .timeout = 20);

/* An input over a temporary file with a content. */
static void
open_text(cli_input *input, char *path, const char *ending, const char *content)
{
    FILE *out;
    int fd;

    (void)snprintf(path, 64, "/tmp/sinter-input-XXXXXX%s", ending);
    fd = mkstemps(path, (int)strlen(ending));
    cr_assert_geq(fd, 0);
    out = fdopen(fd, "w");
    cr_assert_not_null(out);
    fputs(content, out);
    fclose(out);
    cr_assert_eq(cli_input_open(path, input), CLI_EXIT_OK);
}

static int32_t
format_of(const char *ending, const char *content)
{
    char path[64];
    cli_input input;
    int32_t format = -1;

    open_text(&input, path, ending, content);
    cr_expect_eq(cli_input_format(&input, &format), CLI_EXIT_OK);
    cli_input_close(&input);
    unlink(path);
    return format;
}

Test(cli_input, the_name_tells_the_format_before_the_content_does)
{
    cr_expect_eq(format_of(".csv", "{\"a\":1}\n"), SINTER_ROW_FORMAT_CSV);
    cr_expect_eq(format_of(".TSV", "a,b\n"), SINTER_ROW_FORMAT_TSV);
    cr_expect_eq(format_of(".ndjson", "a,b\n"), SINTER_ROW_FORMAT_JSON);
}

Test(cli_input, the_first_line_tells_the_format_of_other_names)
{
    cr_expect_eq(format_of(".txt", "\n {\"a\":1}\n"), SINTER_ROW_FORMAT_JSON);
    cr_expect_eq(format_of(".txt", "a\tb,c\n"), SINTER_ROW_FORMAT_TSV);
    cr_expect_eq(format_of(".txt", "a,b\nc\td\n"), SINTER_ROW_FORMAT_CSV);
    cr_expect_eq(format_of(".txt", ""), SINTER_ROW_FORMAT_CSV);
}

Test(cli_input, columns_come_from_a_first_line_of_any_length)
{
    enum { COLUMNS = 60000 };
    char *text = malloc(COLUMNS * 8);
    size_t at = 0;
    char path[64];
    cli_input input;
    cli_columns columns = {.items = NULL};

    cr_assert_not_null(text);
    for (int i = 0; i < COLUMNS; i++) {
        at += (size_t)snprintf(text + at, 8, "%s%05d", i > 0 ? "," : "c", i);
    }
    open_text(&input, path, ".csv", text); /* without a newline, longer than one read */
    cr_assert_eq(cli_input_columns(&input, SINTER_ROW_FORMAT_CSV, &columns), CLI_EXIT_OK);
    cr_expect_eq(columns.count, COLUMNS);
    cr_expect_str_eq(columns.items[COLUMNS - 1].name, "59999");
    cli_columns_fini(&columns);
    cli_input_close(&input);
    unlink(path);
    free(text);
}

Test(cli_input, a_missing_file_and_an_empty_one_are_failures)
{
    char path[64];
    cli_input input;
    cli_columns columns = {.items = NULL};

    cr_expect_eq(cli_input_open("/nonexistent/file", &input), CLI_EXIT_IO);
    open_text(&input, path, ".csv", "");
    cr_expect_eq(cli_input_columns(&input, SINTER_ROW_FORMAT_CSV, &columns), CLI_EXIT_DATA);
    cli_columns_fini(&columns);
    cli_input_close(&input);
    unlink(path);
}
