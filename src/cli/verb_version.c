#include <inttypes.h>

#include "cli/json.h"
#include "cli/report.h"
#include "cli/session.h"

typedef struct version_arguments {
    cli_common common;
} version_arguments;

static void
put_list_json(const cli *session)
{
    cli_json json = {0};
    const char *library;

    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "sinter", sinter_version());
    cli_json_array_begin(&json, "libraries");
    for (size_t i = 0; (library = sinter_library_version(i)) != NULL; i++) {
        cli_json_text(&json, NULL, library);
    }
    cli_json_array_end(&json);
    cli_json_text(&json, "io", sinter_io_name(session->io));
    cli_json_array_begin(&json, "formats");
    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "name", sinter_format_sst()->name);
    cli_json_uint(&json, "version", sinter_sst_format_version());
    cli_json_object_end(&json);
    cli_json_array_end(&json);
    cli_json_array_begin(&json, "codecs");
    for (int codec = 0; sinter_codec_name(codec) != NULL; codec++) {
        if (sinter_codec_is_built_in(codec)) {
            cli_json_text(&json, NULL, sinter_codec_name(codec));
        }
    }
    cli_json_array_end(&json);
    cli_json_object_end(&json);
}

static void
put_list(const cli *session)
{
    const char *library;

    printf("sinter %s\nlibraries: ", sinter_version());
    for (size_t i = 0; (library = sinter_library_version(i)) != NULL; i++) {
        printf("%s%s", i > 0 ? ", " : "", library);
    }
    printf("\nio: %s\nformats: %s (version %" PRIu32 ")\ncodecs:", sinter_io_name(session->io),
           sinter_format_sst()->name, sinter_sst_format_version());
    for (int codec = 0; sinter_codec_name(codec) != NULL; codec++) {
        if (sinter_codec_is_built_in(codec)) {
            printf(" %s", sinter_codec_name(codec));
        }
    }
    putchar('\n');
}

static int
run(cli *session, void *arguments)
{
    const version_arguments *args = arguments;
    const int code = cli_session_start(session, 0);

    if (code != CLI_EXIT_OK) {
        return code;
    }
    if (args->common.json) {
        put_list_json(session);
    } else {
        put_list(session);
    }
    return CLI_EXIT_OK;
}

const cli_verb cli_verb_version = {
    .name = "version",
    .operands = "",
    .summary = "show the versions of the program, its libraries, io backend and formats",
    .description = "Show the version of the program, the libraries that are linked in, the io "
                   "backend that serves here, and the file formats and codecs of this build. "
                   "`sinter --version` is the same.",
    .examples = "sinter version --json\n",
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO,
    .operand_max = 0,
    .arguments_size = sizeof(version_arguments),
    .run = run,
};
