#include "cli/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/signals.h"

static const char *report_verb = NULL;
static bool report_json = false;
static int output_errno = 0; /* of the first write to standard output that failed */

void
cli_report_begin(const char *verb, bool json)
{
    report_verb = verb;
    report_json = json;
}

/* A file name may hold anything; a message stays one line and can't move the cursor. */
static void
put_safe(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c < 0x20 || *c == 0x7f) {
            fprintf(stderr, "\\x%02x", *c);
        } else {
            fputc(*c, stderr);
        }
    }
}

static void
put_head(void)
{
    (void)fflush(stdout); /* so that rows before the failure stand before the message */
    fputs("sinter", stderr);
    if (report_verb != NULL) {
        fprintf(stderr, " %s", report_verb);
    }
    fputs(": ", stderr);
}

__attribute__((format(printf, 1, 0))) static void
put_line(const char *format, va_list args)
{
    char line[2048];

    put_head();
    (void)vsnprintf(line, sizeof line, format, args);
    put_safe(line);
    fputc('\n', stderr);
}

int
cli_fail(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_line(format, args);
    va_end(args);
    return code;
}

void
cli_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_line(format, args);
    va_end(args);
}

int
cli_exit_of(sinter_status status, bool has_file)
{
    switch (status) {
    case SINTER_OK:
    case SINTER_END:
        return CLI_EXIT_OK;
    case SINTER_E_INVALID:
        return has_file ? CLI_EXIT_DATA : CLI_EXIT_USAGE;
    case SINTER_E_CORRUPT:
    case SINTER_E_UNSUPPORTED:
    case SINTER_E_RETRACT:
        return CLI_EXIT_DATA;
    case SINTER_E_IO:
    case SINTER_E_NOT_FOUND:
    case SINTER_E_EXISTS:
        return CLI_EXIT_IO;
    case SINTER_E_BUSY:
    case SINTER_E_CONFLICT:
    case SINTER_E_EXPIRED:
        return CLI_EXIT_BUSY;
    case SINTER_E_NO_SPACE:
        return CLI_EXIT_NO_SPACE;
    case SINTER_E_CANCELLED:
        return cli_signal_exit() != 0 ? cli_signal_exit() : CLI_EXIT_FAILURE;
    default:
        return CLI_EXIT_FAILURE;
    }
}

static void
put_json(const sinter_error *err)
{
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    if (sinter_error_print(err, &text, NULL) == SINTER_OK) {
        (void)fwrite(text.data, 1, text.size, stdout);
    }
    sinter_text_fini(&text);
}

int
cli_fail_status(sinter_status status, const sinter_error *err)
{
    if (report_json) {
        put_json(err);
    }
    return cli_fail_plain(status, err);
}

int
cli_fail_plain(sinter_status status, const sinter_error *err)
{
    if (status == SINTER_E_CANCELLED && cli_signal_exit() != 0) {
        return cli_fail(cli_signal_exit(), "cancelled by %s", cli_signal_name());
    }
    put_head();
    if (err->file[0] != '\0') {
        put_safe(err->file);
        fputs(": ", stderr);
    }
    if (err->offset >= 0) {
        fprintf(stderr, "offset %lld: ", (long long)err->offset);
    }
    put_safe(err->text[0] != '\0' ? err->text : sinter_status_text(status));
    if (err->sys_errno != 0 && strstr(err->text, strerror(err->sys_errno)) == NULL) {
        fprintf(stderr, ": %s", strerror(err->sys_errno)); /* io says it in its text already */
    }
    fputc('\n', stderr);
    return cli_exit_of(status, err->file[0] != '\0');
}

bool
cli_output_failed(void)
{
    if (ferror(stdout) == 0) {
        return false;
    }
    if (output_errno == 0) {
        output_errno = errno; /* asked right after writing: still that of the write */
    }
    return true;
}

int
cli_finish_output(int code)
{
    static int failed_code = CLI_EXIT_OK; /* the message is printed once */

    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return code;
    }
    if (output_errno == 0) {
        output_errno = errno;
    }
    if (output_errno == EPIPE) {
        return CLI_EXIT_PIPE;
    }
    if (cli_signal_exit() != 0) {
        return cli_signal_exit();
    }
    if (failed_code == CLI_EXIT_OK) {
        failed_code =
            output_errno == ENOSPC || output_errno == EDQUOT ? CLI_EXIT_NO_SPACE : CLI_EXIT_IO;
        (void)cli_fail(failed_code, "can't write to standard output: %s",
                       output_errno != 0 ? strerror(output_errno) : "an earlier write failed");
    }
    return failed_code;
}
