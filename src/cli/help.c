#include "cli/help.h"

#include <string.h>

#include "cli/opts.h"

enum { LINE_COLUMNS = 80, TEXT_COLUMN = 28 };

const char cli_program_summary[] = "compact sorted files that overlap, and look into them";

/* Print a text from the present column on, in lines of at most LINE_COLUMNS; an empty line of the
 * text stays one. */
static void
put_wrapped(FILE *out, const char *text, size_t indent, size_t column)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, " \n");

        if (column > indent && column + 1 + length > LINE_COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)length, text);
        column += length;
        text += length;
        if (strncmp(text, "\n\n", 2) == 0) {
            fprintf(out, "\n\n%*s", (int)indent, "");
            column = indent;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

static void
put_option(FILE *out, const cli_option *option)
{
    char left[96];
    int length;

    length = snprintf(left, sizeof left, "  %c%c%c --%s%s%s", option->letter != 0 ? '-' : ' ',
                      option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ',' : ' ',
                      option->name, option->argument != NULL ? " " : "",
                      option->argument != NULL ? option->argument : "");
    fputs(left, out);
    if (length + 2 > TEXT_COLUMN) {
        fprintf(out, "\n%*s", TEXT_COLUMN, "");
    } else {
        fprintf(out, "%*s", TEXT_COLUMN - length, "");
    }
    put_wrapped(out, option->text, TEXT_COLUMN, TEXT_COLUMN);
    if (option->type == CLI_CHOICE) {
        fprintf(out, "%*s%s: %s\n", TEXT_COLUMN, "", "one of", option->values);
    }
}

void
cli_help_verb(FILE *out, const cli_verb *verb)
{
    cli_option option;

    fprintf(out, "Usage: sinter %s [options]%s%s\n\n", verb->name,
            verb->operands[0] != '\0' ? " " : "", verb->operands);
    put_wrapped(out, verb->description, 0, 0);
    fputs("\nOptions:\n", out);
    for (size_t i = 0; cli_verb_option(verb, i, &option); i++) {
        put_option(out, &option);
    }
    if ((verb->takes & CLI_TAKES_SETTINGS) != 0) {
        fprintf(out, "  %-*s", TEXT_COLUMN - 2, "    --KEY VALUE");
        put_wrapped(out, "Any compaction option; `sinter options` lists them.", TEXT_COLUMN,
                    TEXT_COLUMN);
    }
    fprintf(out, "\nExamples:\n");
    for (const char *line = verb->examples; *line != '\0';) {
        const size_t length = strcspn(line, "\n");

        fprintf(out, "  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void
cli_help_program(FILE *out)
{
    fprintf(out, "sinter %s: %s.\n\n", SINTER_VERSION_TEXT, cli_program_summary);
    fputs("Usage: sinter VERB [options] [operands]\n\nVerbs:\n", out);
    for (size_t i = 0; i < cli_verb_count; i++) {
        fprintf(out, "  %-10s %s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
    }
    fputs("\n`sinter VERB --help` explains a verb, `sinter --version` names libraries, io\n"
          "backend and formats.\n\nExit codes:\n",
          out);
#define EXIT_LINE(value, name, text)        \
    fprintf(out, "  %-10d ", (int)(value)); \
    put_wrapped(out, (text), 13, 13);
    CLI_EXIT_MAP(EXIT_LINE)
#undef EXIT_LINE
}
