/*
 * What a verb works with: the environment with io, budget and listener, styles, and time.
 */
#ifndef SINTER_CLI_SESSION_H
#define SINTER_CLI_SESSION_H

#include "cli/cli.h"
#include "cli/progress.h"

struct cli {
    sinter_env env;
    sinter_io *io;
    sinter_memory *memory;
    sinter_listener listener;
    cli_progress progress;
    const cli_verb *verb;
    bool is_verbose;
};

/** Make the environment that the common options ask for. @return an exit code */
int
cli_session_init(cli *session, const cli_verb *verb, const cli_common *common);

/** Take a memory budget for the work, in place of an earlier one that nothing uses any more.
 * @return an exit code */
int
cli_session_budget(cli *session, uint64_t bytes);

/** Release. */
void
cli_session_fini(cli *session);

enum cli_style_name { CLI_STYLE_PLAIN, CLI_STYLE_TITLE, CLI_STYLE_WARN };

/** Escape sequence of a style for standard output; "" unless a terminal that may show colours. */
const char *
cli_style(enum cli_style_name style);

#endif
