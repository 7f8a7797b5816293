/*
 * Help, man pages, pages of docs/ and completions, all from the tables of the verbs.
 */
#ifndef SINTER_CLI_HELP_H
#define SINTER_CLI_HELP_H

#include <stdio.h>

#include "cli/cli.h"

/** `sinter --help`. */
void
cli_help_program(FILE *out);

/** `sinter VERB --help`. */
void
cli_help_verb(FILE *out, const cli_verb *verb);

/** man/sinter.1 */
void
cli_man_program(FILE *out);

/** man/sinter-VERB.1 */
void
cli_man_verb(FILE *out, const cli_verb *verb);

/** docs/cli.md */
void
cli_markdown_program(FILE *out);

/** Completions for bash, zsh and fish. */
void
cli_completion_bash(FILE *out);
void
cli_completion_zsh(FILE *out);
void
cli_completion_fish(FILE *out);

/** One sentence about what the program does. */
extern const char cli_program_summary[];

#endif
