#include <string.h>

#include "cli/help.h"
#include "cli/opts.h"

/* Text in roff: a dash is a dash, and a line can't begin a request. */
static void
put_roff(FILE *out, const char *text)
{
    bool at_line_begin = true;

    for (const char *c = text; *c != '\0'; c++) {
        if (at_line_begin && (*c == '.' || *c == '\'')) {
            fputs("\\&", out);
        }
        at_line_begin = false;
        switch (*c) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-':
            fputs("\\-", out);
            break;
        case '`':
            break; /* marks commands in help; bold would need pairs */
        case '\n':
            if (c[1] == '\n') {
                fputs("\n.PP\n", out);
                c++;
            } else {
                fputc('\n', out);
            }
            at_line_begin = true;
            break;
        default:
            fputc(*c, out);
        }
    }
    fputc('\n', out);
}

static void
put_upper(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
    }
}

static void
put_title(FILE *out, const char *name, const char *summary)
{
    fputs(".\\\" Made from the option tables of src/cli by sinter_gen_docs.\n.TH ", out);
    put_upper(out, name);
    fprintf(out, " 1 \"\" \"sinter %s\" \"User Commands\"\n.SH NAME\n", SINTER_VERSION_TEXT);
    for (const char *c = name; *c != '\0'; c++) {
        fputs(*c == '-' ? "\\-" : (char[]){*c, '\0'}, out);
    }
    fputs(" \\- ", out);
    put_roff(out, summary);
}

static void
put_option(FILE *out, const cli_option *option)
{
    fputs(".TP\n", out);
    if (option->letter != 0) {
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    }
    fputs("\\fB\\-\\-", out);
    for (const char *c = option->name; *c != '\0'; c++) {
        fputs(*c == '-' ? "\\-" : (char[]){*c, '\0'}, out);
    }
    fprintf(out, "\\fR%s%s%s\n", option->argument != NULL ? " \\fI" : "",
            option->argument != NULL ? option->argument : "",
            option->argument != NULL ? "\\fR" : "");
    put_roff(out, option->text);
    if (option->type == CLI_CHOICE) {
        fprintf(out, "One of \\fB%s\\fR; the first is the default.\n", option->values);
    }
}

static void
put_examples(FILE *out, const char *examples)
{
    fputs(".SH EXAMPLES\n.nf\n", out);
    put_roff(out, examples);
    fputs(".fi\n", out);
}

static void
put_exit_codes(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
#define EXIT_ENTRY(value, name, text)           \
    fprintf(out, ".TP\n.B %d\n", (int)(value)); \
    put_roff(out, (text));
    CLI_EXIT_MAP(EXIT_ENTRY)
#undef EXIT_ENTRY
}

void
cli_man_verb(FILE *out, const cli_verb *verb)
{
    char name[64];
    cli_option option;

    (void)snprintf(name, sizeof name, "sinter-%s", verb->name);
    put_title(out, name, verb->summary);
    fprintf(out, ".SH SYNOPSIS\n\\fBsinter %s\\fR [\\fIoptions\\fR] \\fI", verb->name);
    for (const char *c = verb->operands; *c != '\0'; c++) {
        fputs(*c == '-' ? "\\-" : (char[]){*c, '\0'}, out);
    }
    fputs("\\fR\n.SH DESCRIPTION\n", out);
    put_roff(out, verb->description);
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; cli_verb_option(verb, i, &option); i++) {
        put_option(out, &option);
    }
    if ((verb->takes & CLI_TAKES_SETTINGS) != 0) {
        fputs(".TP\n\\fB\\-\\-\\fIKEY VALUE\\fR\n", out);
        put_roff(out, "Any compaction option by its key; sinter-options(1) lists them.");
    }
    put_examples(out, verb->examples);
    put_exit_codes(out);
    fputs(".SH SEE ALSO\n.BR sinter (1)\n", out);
}

static void
put_keys(FILE *out)
{
    sinter_option_info info = {.struct_size = (uint32_t)sizeof info};

    fputs(".SH COMPACTION OPTIONS\n", out);
    put_roff(
        out,
        "Given as `-o KEY=VALUE` or `--KEY VALUE`; a document and a catalog may hold them too.");
    for (size_t i = 0; sinter_compact_option_info(i, &info); i++) {
        fputs(".TP\n.B ", out);
        put_roff(out, info.key);
        put_roff(out, info.text);
        fprintf(out, "Type %s, default %s", info.type,
                info.default_text[0] != '\0' ? info.default_text : "unset");
        fprintf(out, "%s%s.\n", info.range_text[0] != '\0' ? ", " : "", info.range_text);
    }
}

void
cli_man_program(FILE *out)
{
    put_title(out, "sinter", cli_program_summary);
    fputs(".SH SYNOPSIS\n\\fBsinter\\fR \\fIverb\\fR [\\fIoptions\\fR] [\\fIoperands\\fR]\n"
          ".SH DESCRIPTION\n",
          out);
    put_roff(out,
             "sinter takes sorted files whose key ranges overlap, decides the least work that "
             "restores order, does it, and says exactly what changed.\n\n"
             "A directory of files holds CATALOG.json, a sinter.files document that is replaced "
             "atomically under a lock. Files are never changed in place.\n\n"
             "Sizes are written as 64MB or 64 mb, with binary multiples. INT and TERM cancel: what "
             "was begun is removed. A second signal ends at once; the next start or `sinter gc` "
             "cleans up. Colours are left out when NO_COLOR is set or the output is no terminal.");
    fputs(".SH VERBS\n", out);
    for (size_t i = 0; i < cli_verb_count; i++) {
        fprintf(out, ".TP\n\\fB%s\\fR\n", cli_verbs[i]->name);
        put_roff(out, cli_verbs[i]->summary);
    }
    put_keys(out);
    put_exit_codes(out);
    fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nWhen set and not empty, no colours.\n"
          ".SH SEE ALSO\n",
          out);
    for (size_t i = 0; i < cli_verb_count; i++) {
        fprintf(out, ".BR sinter\\-%s (1)%s\n", cli_verbs[i]->name,
                i + 1 < cli_verb_count ? "," : "");
    }
}
