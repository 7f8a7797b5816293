/*
 * Columns, types and key of a directory: made from the command line and the input's first line,
 * or compared with what its catalog says.
 */
#ifndef SINTER_CLI_SCHEMA_H
#define SINTER_CLI_SCHEMA_H

#include "cli/input.h"

/** The options that describe rows; each may be NULL. */
typedef struct cli_schema {
    const char *key;
    const char *columns;
    const char *types;
    const char *kind_column; /* of the input only */
} cli_schema;

/**
 * Make the row type of a new directory. Reads the input's first line if `columns` is not given.
 * @param out  release with sinter_row_type_destroy()
 * @return     an exit code
 */
int
cli_schema_make(const sinter_env *env, const cli_schema *schema, cli_input *input, int32_t format,
                sinter_row_type **out);

/** Does what was given say the same as the catalog of `dir`? @return an exit code */
int
cli_schema_check(const sinter_env *env, const cli_schema *schema, const char *dir,
                 const sinter_row_type *row_type);

/** The row type with a column of text behind its own. @return an exit code */
int
cli_schema_with_kind(const sinter_env *env, const sinter_row_type *row_type, const char *column,
                     sinter_row_type **out);

#endif
