/*
 * The sinter program: finds the verb, parses, runs, flushes, and gives the exit code.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/opts.h"
#include "cli/priority.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/signals.h"

static int
run_verb(const cli_verb *verb, int argc, char **argv)
{
    cli_common *common = cli_alloc(1, verb->arguments_size);
    cli session;
    int code;

    code = cli_parse(verb, argc, argv, common);
    if (code == CLI_EXIT_OK && common->help) {
        cli_help_verb(stdout, verb);
    } else if (code == CLI_EXIT_OK) {
        cli_report_begin(verb->name, common->json);
        code = cli_priority_apply(common);
        if (code == CLI_EXIT_OK) {
            cli_session_init(&session, verb, common);
            code = verb->run(&session, common);
            cli_session_fini(&session);
        }
    }
    cli_arguments_fini(verb, common);
    free(common);
    return code;
}

/* "sinter help compact", "sinter --help", "sinter --version". */
static int
run(int argc, char **argv)
{
    static char help_option[] = "--help";
    const cli_verb *verb;
    const char *word = argv[1];

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        (strcmp(word, "help") == 0 && argc == 2)) {
        cli_help_program(stdout);
        return CLI_EXIT_OK;
    }
    if (strcmp(word, "help") == 0) {
        argv[1] = argv[2];
        argv[2] = help_option;
        argc = 3;
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        argv[1] += strspn(argv[1], "-");
        return run_verb(&cli_verb_version, argc - 1, argv + 1);
    }
    verb = cli_verb_find(argv[1]);
    if (verb == NULL) {
        return CLI_EXIT_USAGE;
    }
    cli_report_begin(verb->name, false);
    return run_verb(verb, argc - 1, argv + 1);
}

int
main(int argc, char **argv)
{
    static char buffer[1 << 18]; /* of standard output; NULL would keep the usual size */
    int code;

    cli_signals_install();
    (void)setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (argc < 2) {
        cli_help_program(stderr);
        return CLI_EXIT_USAGE;
    }
    code = run(argc, argv);
    return cli_finish_output(code);
}
