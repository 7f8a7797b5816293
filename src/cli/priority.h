/*
 * How the system treats the program beside others: --nice and --io-priority.
 */
#ifndef SINTER_CLI_PRIORITY_H
#define SINTER_CLI_PRIORITY_H

#include "cli/cli.h"

/** Set what was asked for, for this thread and those that it makes. @return an exit code */
int
cli_priority_apply(const cli_common *common);

#endif
