#include <string.h>

#include "cli/help.h"
#include "cli/opts.h"

/* A text inside a table's cell. */
static void
put_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

static void
put_verb(FILE *out, const cli_verb *verb)
{
    cli_option option;

    fprintf(out, "\n## sinter %s\n\n`sinter %s [options]%s%s`\n\n%s\n\n", verb->name, verb->name,
            verb->operands[0] != '\0' ? " " : "", verb->operands, verb->description);
    fputs("| option | meaning |\n| --- | --- |\n", out);
    for (size_t i = 0; cli_verb_option(verb, i, &option); i++) {
        fputs("| ", out);
        if (option.letter != 0) {
            fprintf(out, "`-%c`, ", option.letter);
        }
        fprintf(out, "`--%s%s%s` | ", option.name, option.argument != NULL ? " " : "",
                option.argument != NULL ? option.argument : "");
        put_cell(out, option.text);
        if (option.type == CLI_CHOICE) {
            fputs(" One of `", out);
            put_cell(out, option.values);
            fputs("`; the first is the default.", out);
        }
        fputs(" |\n", out);
    }
    if ((verb->takes & CLI_TAKES_SETTINGS) != 0) {
        fputs("| `--KEY VALUE` | Any compaction option by its [key](options.md). |\n", out);
    }
    fprintf(out, "\n```\n%s```\n", verb->examples);
}

void
cli_markdown_program(FILE *out)
{
    fputs("# The sinter program\n\n"
          "<!-- Made from the option tables of src/cli by sinter_gen_docs; build the target "
          "cli_docs. -->\n\n"
          "`sinter VERB [options] [operands]`. A directory of files holds `CATALOG.json`, a\n"
          "`sinter.files` document that is replaced atomically under a lock. `--json` prints for\n"
          "machines; on a terminal tables and a progress line are for people. INT and TERM cancel\n"
          "cleanly, a second signal ends at once.\n\n"
          "| exit code | meaning |\n| --- | --- |\n",
          out);
#define EXIT_ROW(value, name, text) fprintf(out, "| %d | %s |\n", (int)(value), (text));
    CLI_EXIT_MAP(EXIT_ROW)
#undef EXIT_ROW
    for (size_t i = 0; i < cli_verb_count; i++) {
        put_verb(out, cli_verbs[i]);
    }
}
