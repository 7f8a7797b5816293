#include <string.h>

#include "cli/help.h"
#include "cli/opts.h"

/* A text inside single quotes of a shell. */
static void
put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else if (*text == '`') {
            continue;
        } else {
            fputc(*text, out);
        }
    }
    fputc('\'', out);
}

/* "auto|posix" as "auto posix". */
static void
put_values(FILE *out, const char *values)
{
    for (; *values != '\0'; values++) {
        fputc(*values == '|' ? ' ' : *values, out);
    }
}

static bool
is_named(const char *values, const char *name)
{
    return values != NULL && strcmp(values, name) == 0;
}

/* The next different choice option over all verbs: --io means the same everywhere. */
static bool
is_first_use(size_t verb, size_t index, const char *name)
{
    cli_option option;

    for (size_t v = 0; v <= verb; v++) {
        for (size_t i = 0; cli_verb_option(cli_verbs[v], i, &option); i++) {
            if (v == verb && i == index) {
                return true;
            }
            if (option.type == CLI_CHOICE && strcmp(option.name, name) == 0) {
                return false;
            }
        }
    }
    return true;
}

static void
put_bash_values(FILE *out)
{
    cli_option option;

    for (size_t v = 0; v < cli_verb_count; v++) {
        for (size_t i = 0; cli_verb_option(cli_verbs[v], i, &option); i++) {
            if (option.type == CLI_CHOICE && is_first_use(v, i, option.name)) {
                fprintf(out, "    --%s)\n        values=\"", option.name);
                put_values(out, option.values);
                fputs("\" ;;\n", out);
            }
        }
    }
}

static void
put_keys(FILE *out, const char *format)
{
    sinter_option_info info = {.struct_size = (uint32_t)sizeof info};

    for (size_t i = 0; sinter_compact_option_info(i, &info); i++) {
        fputs(format, out);
        fputs(info.key, out);
    }
}

void
cli_completion_bash(FILE *out)
{
    cli_option option;

    fputs("# Completion of sinter for bash. Made from the option tables by sinter_gen_docs.\n"
          "_sinter() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local verb=${COMP_WORDS[1]} options=\"\" keys=\"\" values=\"\"\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          out);
    for (size_t v = 0; v < cli_verb_count; v++) {
        fprintf(out, "%s ", cli_verbs[v]->name);
    }
    fputs("--help --version\" -- \"$word\"))\n        return\n    fi\n    keys=\"", out);
    put_keys(out, " --");
    fputs("\"\n    case $before in\n", out);
    put_bash_values(out);
    fputs("    esac\n"
          "    if [ -n \"$values\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n        return\n    fi\n"
          "    case $verb in\n",
          out);
    for (size_t v = 0; v < cli_verb_count; v++) {
        fprintf(out, "    %s)\n        options=\"", cli_verbs[v]->name);
        for (size_t i = 0; cli_verb_option(cli_verbs[v], i, &option); i++) {
            fprintf(out, "%s--%s", i > 0 ? " " : "", option.name);
        }
        fprintf(out, "%s\" ;;\n", (cli_verbs[v]->takes & CLI_TAKES_SETTINGS) != 0 ? "$keys" : "");
    }
    fputs("    esac\n"
          "    case $word in\n"
          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -o filenames -F _sinter sinter\n",
          out);
}

/* One `_arguments` entry: '(-j --json)'{-j,--json}'[text]:SIZE:action' */
static void
put_zsh_option(FILE *out, const cli_option *option)
{
    fputs(" \\\n        ", out);
    if (option->letter != 0) {
        fprintf(out, "'%s(-%c --%s)'{-%c,--%s}", option->type == CLI_LIST ? "*" : "",
                option->letter, option->name, option->letter, option->name);
    } else {
        fprintf(out, "'%s--%s'", option->type == CLI_LIST ? "*" : "", option->name);
    }
    fputs("'[", out);
    for (const char *c = option->text; *c != '\0'; c++) {
        if (*c == '\'') {
            fputs("'\\''", out);
        } else if (strchr("[]:\\", *c) != NULL) {
            fprintf(out, "\\%c", *c);
        } else if (*c != '`') {
            fputc(*c, out);
        }
    }
    fputs("]", out);
    if (option->argument != NULL) {
        fprintf(out, ":%s:", option->argument);
        if (option->type == CLI_CHOICE) {
            fputc('(', out);
            put_values(out, option->values);
            fputc(')', out);
        } else if (is_named(option->values, "@file")) {
            fputs("_files", out);
        } else if (is_named(option->values, "@dir")) {
            fputs("_files -/", out);
        }
    }
    fputc('\'', out);
}

void
cli_completion_zsh(FILE *out)
{
    cli_option option;

    fputs("#compdef sinter\n"
          "# Completion of sinter for zsh. Made from the option tables by sinter_gen_docs.\n"
          "_sinter() {\n    local -a verbs keys\n    verbs=(\n",
          out);
    for (size_t v = 0; v < cli_verb_count; v++) {
        char line[256];

        (void)snprintf(line, sizeof line, "%s:%s", cli_verbs[v]->name, cli_verbs[v]->summary);
        fputs("        ", out);
        put_quoted(out, line);
        fputc('\n', out);
    }
    fputs("    )\n    keys=(", out);
    put_keys(out, "\n        --");
    fputs("\n    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe verb verbs\n        return\n    fi\n"
          "    case $words[2] in\n",
          out);
    for (size_t v = 0; v < cli_verb_count; v++) {
        fprintf(out, "    %s)\n", cli_verbs[v]->name);
        if ((cli_verbs[v]->takes & CLI_TAKES_SETTINGS) != 0) {
            fputs("        [[ $PREFIX == --* ]] && compadd -a keys\n", out);
        }
        fputs("        shift words; (( CURRENT-- ))\n        _arguments", out);
        for (size_t i = 0; cli_verb_option(cli_verbs[v], i, &option); i++) {
            put_zsh_option(out, &option);
        }
        fputs(" \\\n        '*:file:_files'\n        ;;\n", out);
    }
    fputs("    esac\n}\n_sinter \"$@\"\n", out);
}

static void
put_fish_option(FILE *out, const cli_verb *verb, const cli_option *option)
{
    fprintf(out, "complete -c sinter -n '__fish_seen_subcommand_from %s' -l %s", verb->name,
            option->name);
    if (option->letter != 0) {
        fprintf(out, " -s %c", option->letter);
    }
    if (option->type == CLI_CHOICE) {
        fputs(" -x -a '", out);
        put_values(out, option->values);
        fputc('\'', out);
    } else if (option->type != CLI_FLAG) {
        fputs(" -r", out);
    }
    fputs(" -d ", out);
    put_quoted(out, option->text);
    fputc('\n', out);
}

void
cli_completion_fish(FILE *out)
{
    sinter_option_info info = {.struct_size = (uint32_t)sizeof info};
    cli_option option;

    fputs("# Completion of sinter for fish. Made from the option tables by sinter_gen_docs.\n",
          out);
    for (size_t v = 0; v < cli_verb_count; v++) {
        fprintf(out, "complete -c sinter -f -n __fish_use_subcommand -a %s -d ",
                cli_verbs[v]->name);
        put_quoted(out, cli_verbs[v]->summary);
        fputc('\n', out);
    }
    for (size_t v = 0; v < cli_verb_count; v++) {
        for (size_t i = 0; cli_verb_option(cli_verbs[v], i, &option); i++) {
            put_fish_option(out, cli_verbs[v], &option);
        }
        for (size_t i = 0; (cli_verbs[v]->takes & CLI_TAKES_SETTINGS) != 0 &&
                           sinter_compact_option_info(i, &info);
             i++) {
            fprintf(out, "complete -c sinter -n '__fish_seen_subcommand_from %s' -l %s -r -d ",
                    cli_verbs[v]->name, info.key);
            put_quoted(out, info.text);
            fputc('\n', out);
        }
    }
}
