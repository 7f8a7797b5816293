/*
 * The command line, read by the tables of the verbs.
 */
#ifndef SINTER_CLI_OPTS_H
#define SINTER_CLI_OPTS_H

#include "cli/cli.h"

/**
 * Parse the words behind the verb into `arguments` (zeroed, verb->arguments_size bytes).
 * @return CLI_EXIT_OK, or CLI_EXIT_USAGE after a message
 */
int
cli_parse(const cli_verb *verb, int argc, char **argv, void *arguments);

/** Release what parsing took. */
void
cli_arguments_fini(const cli_verb *verb, void *arguments);

/** Find a verb by name; NULL after a message that names the nearest one. */
const cli_verb *
cli_verb_find(const char *name);

/** Every option of a verb but the compaction keys, own ones first; false past the last. */
bool
cli_verb_option(const cli_verb *verb, size_t index, cli_option *out);

/** Set each of `settings` ("key=value") in `options`. */
int
cli_settings_apply(const cli_list *settings, sinter_compact_options *options);

/** Defaults of verbs that work on tables: a budget of 512 MiB, since each file of Parquet that is
 * open takes some megabytes a column. */
void
cli_table_defaults(sinter_compact_options *options);

/** Set the memory budget that --memory names, if it does. */
int
cli_memory_apply(const cli_common *common, sinter_compact_options *options);

/** Memory of the program: gives zeroed bytes, or ends with a message. */
void *
cli_alloc(size_t count, size_t size);
void *
cli_realloc(void *ptr, size_t count, size_t size);
/** Room for one item more behind `count`; grows by doubling. The items must have been added one by
 *  one through this function. */
void *
cli_grow(void *ptr, size_t count, size_t size);
/** Append a text to a list. */
void
cli_list_add(cli_list *list, const char *text);

#endif
