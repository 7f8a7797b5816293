/*
 * Failures on standard error, in one line, and the exit code of each class.
 */
#ifndef SINTER_CLI_REPORT_H
#define SINTER_CLI_REPORT_H

#include "cli/cli.h"

/**
 * Name the running verb in messages.
 * @param json  print failures of the library as JSON on standard output too
 */
void
cli_report_begin(const char *verb, bool json);

/** Print "sinter VERB: ..." and give `code` back. Control characters are shown as escapes. */
int
cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Print a failure of the library: file, offset, sentence and errno in one line.
 * A cancellation prints what was cancelled.
 * @return the exit code of its class
 */
int
cli_fail_status(sinter_status status, const sinter_error *err);

/** The same without JSON on standard output, for what has its own document. */
int
cli_fail_plain(sinter_status status, const sinter_error *err);

/** Print one line that is no failure, unless it is about nothing. */
void
cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Exit code of a status. `has_file`: the failure names a file, so that it is about data. */
int
cli_exit_of(sinter_status status, bool has_file);

/** Flush standard output. @return `code`, or the code of the write that failed */
int
cli_finish_output(int code);

/** Has writing to standard output failed? Long loops ask and end early. */
bool
cli_output_failed(void);

#endif
