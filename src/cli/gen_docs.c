/*
 * Writes man/, completions/ and docs/cli.md below the directory given, from the
 * option tables.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/report.h"

/* Open DIR/NAME for writing, or end. */
static FILE *
open_file(const char *dir, const char *name)
{
    char path[4096];
    FILE *out;

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    out = fopen(path, "wbe");
    if (out == NULL) {
        exit(cli_fail(CLI_EXIT_IO, "%s: can't open: %s", path, strerror(errno)));
    }
    return out;
}

static void
close_file(FILE *out, const char *name)
{
    const bool is_bad = ferror(out) != 0;

    if (fclose(out) != 0 || is_bad) {
        exit(cli_fail(CLI_EXIT_IO, "%s: can't write", name));
    }
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out);
    } files[] = {
        {"man/sinter.1", cli_man_program},
        {"completions/sinter.bash", cli_completion_bash},
        {"completions/_sinter", cli_completion_zsh},
        {"completions/sinter.fish", cli_completion_fish},
        {"docs/cli.md", cli_markdown_program},
    };

    if (argc != 2) {
        return cli_fail(CLI_EXIT_USAGE, "usage: sinter_gen_docs DIR");
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        FILE *out = open_file(argv[1], files[i].name);

        files[i].write(out);
        close_file(out, files[i].name);
    }
    for (size_t i = 0; i < cli_verb_count; i++) {
        char name[128];
        FILE *out;

        (void)snprintf(name, sizeof name, "man/sinter-%s.1", cli_verbs[i]->name);
        out = open_file(argv[1], name);
        cli_man_verb(out, cli_verbs[i]);
        close_file(out, name);
    }
    return CLI_EXIT_OK;
}
