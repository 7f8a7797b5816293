/*
 * Showing what a task would do: `plan`, and `compact --dry-run`.
 */
#ifndef SINTER_CLI_PLAN_H
#define SINTER_CLI_PLAN_H

#include "cli/task.h"

/** Plan the task and print it. @return an exit code */
int
cli_plan_show(cli *session, const cli_task_arguments *args, const cli_source *source,
              const cli_task *task, bool explain);

#endif
