#include "cli/cli.h"

const cli_verb *const cli_verbs[] = {
    &cli_verb_ingest,    &cli_verb_compact,        &cli_verb_plan,    &cli_verb_run,
    &cli_verb_commit,    &cli_verb_scan,           &cli_verb_get,     &cli_verb_inspect,
    &cli_verb_status,    &cli_verb_verify,         &cli_verb_create,  &cli_verb_write,
    &cli_verb_snapshots, &cli_verb_schema,         &cli_verb_files,   &cli_verb_partitions,
    &cli_verb_expire,    &cli_verb_remove_orphans, &cli_verb_stats,   &cli_verb_rescue,
    &cli_verb_gc,        &cli_verb_options,        &cli_verb_version,
};

const size_t cli_verb_count = sizeof cli_verbs / sizeof cli_verbs[0];
