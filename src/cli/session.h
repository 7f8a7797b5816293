/*
 * What a verb works with: the environment with io, budget and listener, styles, and time.
 */
#ifndef SINTER_CLI_SESSION_H
#define SINTER_CLI_SESSION_H

#include "cli/cli.h"
#include "cli/control.h"
#include "cli/progress.h"

struct cli {
    sinter_env boot; /* for documents, catalogs and questions: posix io, no budget */
    sinter_env env;  /* for the work itself; set up by cli_session_start() */
    sinter_io *io;
    sinter_io *limited; /* `io` behind a limit; NULL: none */
    sinter_memory *memory;
    sinter_pool *pool; /* NULL: one thread */
    cli_control control;
    bool is_controlled; /* `control` is set up */
    sinter_io_kind io_kind;
    sinter_listener listener;
    cli_progress progress;
    const cli_verb *verb;
    bool is_verbose;
};

/** Make the environment for looking around. */
void
cli_session_init(cli *session, const cli_verb *verb, const cli_common *common);

/**
 * Make the environment for the work: a memory budget, and the io that the common options ask for,
 * whose buffers belong to the budget. Once more: in place of the earlier one, which nothing uses
 * any more.
 * @return an exit code
 */
int
cli_session_start(cli *session, uint64_t memory_bytes);

/**
 * Let the work go by rates and a number of threads: the calling one, and others up to the number of
 * processors.
 * @param control  path of a file that changes them meanwhile; NULL: none. Borrowed
 * @return         an exit code
 */
int
cli_session_load(cli *session, const cli_load *load, const char *control);

/** What a task asks whether it should end: fits is_cancelled and cancel_ctx of the library. */
void
cli_session_cancel(cli *session, bool (**is_cancelled_out)(void *ctx), void **ctx_out);

/** Release. */
void
cli_session_fini(cli *session);

enum cli_style_name { CLI_STYLE_PLAIN, CLI_STYLE_TITLE, CLI_STYLE_WARN };

/** Escape sequence of a style for standard output; "" unless a terminal that may show colours. */
const char *
cli_style(enum cli_style_name style);

#endif
