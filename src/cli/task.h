/*
 * From options and a document to a compact task, and its result for people: what `compact` and
 * `plan` share.
 */
#ifndef SINTER_CLI_TASK_H
#define SINTER_CLI_TASK_H

#include "cli/source.h"

/** What both verbs take; follows cli_common in their arguments. */
typedef struct cli_task_arguments {
    cli_common common;
    const char *base_dir;
    const char *unit;
    cli_number output_level;
    cli_number max_level;
    int32_t drop_delete; /* CLI_DROP_* */
    bool full;
    bool automatic;
    /* of tables */
    cli_list partitions;
    cli_number bucket;
    cli_number max_tasks;
    const char *commit_user;
    const char *branch;
} cli_task_arguments;

enum { CLI_DROP_AUTO = 0, CLI_DROP_YES = 1, CLI_DROP_NO = 2 };

#define CLI_TASK_FIELD(name) offsetof(cli_task_arguments, name)

#define CLI_TASK_OPTIONS                                                                          \
    {"output-level",                                                                              \
     'L',                                                                                         \
     CLI_COUNT,                                                                                   \
     CLI_TASK_FIELD(output_level),                                                                \
     "N",                                                                                         \
     NULL,                                                                                        \
     "Level of the result; else that of the document, else the highest."},                        \
        {"max-level",                                                                             \
         0,                                                                                       \
         CLI_COUNT,                                                                               \
         CLI_TASK_FIELD(max_level),                                                               \
         "N",                                                                                     \
         NULL,                                                                                    \
         "Highest level; else number of levels of document or options, less one."},               \
        {"unit",                                                                                  \
         'u',                                                                                     \
         CLI_TEXT,                                                                                \
         CLI_TASK_FIELD(unit),                                                                    \
         "A,B",                                                                                   \
         NULL,                                                                                    \
         "Compact these files only; checked against all others."},                                \
        {"full",                                                                                  \
         0,                                                                                       \
         CLI_FLAG,                                                                                \
         CLI_TASK_FIELD(full),                                                                    \
         NULL,                                                                                    \
         NULL,                                                                                    \
         "Pick all files, whatever the document's unit says."},                                   \
        {"auto",                                                                                  \
         0,                                                                                       \
         CLI_FLAG,                                                                                \
         CLI_TASK_FIELD(automatic),                                                               \
         NULL,                                                                                    \
         NULL,                                                                                    \
         "Pick what is due by the options num-sorted-run.* and compaction.*; often nothing is."}, \
        {"drop-delete",                                                                           \
         0,                                                                                       \
         CLI_CHOICE,                                                                              \
         CLI_TASK_FIELD(drop_delete),                                                             \
         "WHEN",                                                                                  \
         "auto|yes|no",                                                                           \
         "Leave deletes out of the result. auto: when nothing older can lie below. yes: fail if " \
         "that doesn't hold."},                                                                   \
        {"partition",                                                                             \
         'p',                                                                                     \
         CLI_LIST,                                                                                \
         CLI_TASK_FIELD(partitions),                                                              \
         "A=1,B=x",                                                                               \
         NULL,                                                                                    \
         "Of a table: partitions with these values; may be given several times."},                \
        {"bucket",                                                                                \
         'b',                                                                                     \
         CLI_COUNT,                                                                               \
         CLI_TASK_FIELD(bucket),                                                                  \
         "N",                                                                                     \
         NULL,                                                                                    \
         "Of a table: this bucket only."},                                                        \
        {"max-tasks",                                                                             \
         0,                                                                                       \
         CLI_COUNT,                                                                               \
         CLI_TASK_FIELD(max_tasks),                                                               \
         "N",                                                                                     \
         NULL,                                                                                    \
         "Of a table: at most so many tasks."},                                                   \
        {"commit-user",                                                                           \
         0,                                                                                       \
         CLI_TEXT,                                                                                \
         CLI_TASK_FIELD(commit_user),                                                             \
         "NAME",                                                                                  \
         NULL,                                                                                    \
         "Of a table: who commits, as its snapshots say it; else a UUID."},                       \
        {"branch",                                                                                \
         0,                                                                                       \
         CLI_TEXT,                                                                                \
         CLI_TASK_FIELD(branch),                                                                  \
         "NAME",                                                                                  \
         NULL,                                                                                    \
         "Of a table: this branch instead of main."},                                             \
    {                                                                                             \
        "base-dir", 0, CLI_TEXT, CLI_TASK_FIELD(base_dir), "DIR", "@dir",                         \
            "Where the files of a document lie, instead of its base_dir."                         \
    }

/** A task with what it stands on. */
typedef struct cli_task {
    sinter_compact_task task;
    sinter_file_meta *files; /* the unit's */
    const char *reason_code; /* of the pick */
    const char *reason_text;
    char pick_text[192]; /* of a strategy's pick */
    bool is_empty;       /* there is nothing to do */
} cli_task;

/** Pick the unit and check it. @return an exit code; cli_task_fini() in any case */
int
cli_task_init(cli *session, const cli_task_arguments *args, const cli_source *source,
              cli_task *out);

void
cli_task_fini(cli_task *task);

/** Say that there is nothing to do, and what the strategy says to that, if it was asked. */
void
cli_nothing_print(const cli_task *task);

/** A table of the files that a result decided on: action, reason. */
void
cli_decisions_print(const sinter_compact_result *result, bool with_text);

/** Levels before and after side by side. */
void
cli_levels_compare(const sinter_files *before, const sinter_files *after);

/** What a result does with its input files, summed up. */
typedef struct cli_decisions_total {
    uint64_t rewritten_bytes;
    uint64_t rewritten_records;
    uint64_t upgraded_bytes;
} cli_decisions_total;

cli_decisions_total
cli_decisions_sum(const sinter_compact_result *result);

#endif
