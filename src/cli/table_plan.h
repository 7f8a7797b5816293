/*
 * Compaction of tables: what `compact` and `plan` share.
 */
#ifndef SINTER_CLI_TABLE_PLAN_H
#define SINTER_CLI_TABLE_PLAN_H

#include "cli/table_scan.h"
#include "cli/task.h"

/** Settings of a command line as options of the library, --memory among them. */
typedef struct cli_table_settings {
    sinter_option *items;
    char **texts;
    size_t count;
} cli_table_settings;

void
cli_table_settings_init(const cli_common *common, cli_table_settings *out);

void
cli_table_settings_fini(cli_table_settings *settings);

/** Plan a table. @param task_bytes_max  as in sinter_table_plan_options. @return an exit code */
int
cli_table_plan(const cli_task_arguments *args, sinter_table *table,
               const cli_table_settings *settings, uint64_t task_bytes_max,
               sinter_table_plan **out);

/** Print tasks for people: partition, bucket, files, bytes, level, reason. */
void
cli_table_plan_print(const sinter_table_plan *plan);

/** Print the documents of tasks, one a line. */
void
cli_table_plan_put(const sinter_table_plan *plan);

/**
 * Compact tables, one after the other: plan, run, commit. A table that fails doesn't end it.
 *
 * @param load     how; `threads` tasks are run side by side at most
 * @param control  path of a file that changes it meanwhile; NULL: none
 * @return         the exit code of the first table that failed; CLI_EXIT_NOTHING: nothing was due
 */
int
cli_tables_compact(cli *session, const cli_task_arguments *args, const cli_load *load,
                   const char *control, const char *spill_dir);

#endif
