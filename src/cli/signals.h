/*
 * INT and TERM ask for a clean end, a second one ends at once. PIPE is ignored: the write fails.
 */
#ifndef SINTER_CLI_SIGNALS_H
#define SINTER_CLI_SIGNALS_H

#include <stdbool.h>

/** Install the handlers. */
void
cli_signals_install(void);

/** Did a signal ask for an end? Fits the library's is_cancelled; `ctx` is unused. */
bool
cli_is_cancelled(void *ctx);

/** Wait until `fd` can be read without blocking, or a signal asks for an end: then false. A signal
 *  that comes between the question and the wait isn't lost. */
bool
cli_wait_readable(int fd);

/** Exit code of the signal that came, 0 if none did. */
int
cli_signal_exit(void);

/** Name of the signal that came. */
const char *
cli_signal_name(void);

#endif
