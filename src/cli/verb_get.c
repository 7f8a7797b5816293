#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"
#include "cli/view.h"

typedef struct get_arguments {
    cli_common common;
    const char *base_dir;
    bool kinds;
    bool deletes;
    bool hex_strings;
    int32_t format;
} get_arguments;

#define FIELD(name) offsetof(get_arguments, name)

static const cli_option options[] = {
    {"format", 'f', CLI_CHOICE, FIELD(format), "FORMAT", CLI_ROWS_VALUES,
     "How the row is printed. auto: a table on a terminal, else JSON. hex: as it is stored."},
    {"kinds", 'k', CLI_FLAG, FIELD(kinds), NULL, NULL, "Show the kind of the record."},
    {"deletes", 'd', CLI_FLAG, FIELD(deletes), NULL, NULL,
     "Show a delete that won; implies --kinds."},
    {"hex-strings", 0, CLI_FLAG, FIELD(hex_strings), NULL, NULL,
     "Print strings as hex, so that invalid UTF-8 passes."},
    {"base-dir", 0, CLI_TEXT, FIELD(base_dir), "DIR", "@dir",
     "Where the files of a document lie, instead of its base_dir."},
};

/* The record with the key stands alone in [key, key followed by a zero byte). */
static int
get(cli *session, const get_arguments *args, const cli_source *source)
{
    cli_view view = {
        .format = args->common.json ? CLI_ROWS_JSON : args->format,
        .kinds = args->kinds || args->deletes,
        .hex_strings = args->hex_strings,
        .limit = {.value = 1, .is_set = true},
        .no_header = true,
        .options = {.keep_deletes = args->deletes, .has_begin_key = true, .has_end_key = true},
    };
    sinter_text key;
    uint8_t *end;
    int code;

    sinter_text_init(sinter_env_default(), &key);
    code = cli_key_encode(source, (const char *const *)args->common.operands + 1,
                          (size_t)args->common.operand_count - 1, &key);
    if (code == CLI_EXIT_OK) {
        end = cli_alloc(key.size + 1, 1);
        if (key.size > 0) {
            memcpy(end, key.data, key.size);
        }
        view.options.begin_key = sinter_text_bytes(&key);
        view.options.end_key = (sinter_bytes){.data = end, .size = key.size + 1};
        code = cli_view_print(session, source, &view);
        free(end);
    }
    sinter_text_fini(&key);
    if (code == CLI_EXIT_OK && view.rows == 0) {
        return CLI_EXIT_NOT_FOUND;
    }
    return code;
}

static int
run(cli *session, void *arguments)
{
    const get_arguments *args = arguments;
    cli_source source;
    int code;

    code = cli_source_open(session, &args->common, args->common.operands[0], args->base_dir,
                           CLI_SOURCE_FILE | CLI_SOURCE_TRUST, &source);
    if (code == CLI_EXIT_OK) {
        code = cli_session_start(session, source.options.memory_bytes);
    }
    if (code == CLI_EXIT_OK) {
        code = get(session, args, &source);
    }
    cli_source_close(&source);
    return code;
}

const cli_verb cli_verb_get = {
    .name = "get",
    .operands = "DIR|FILE KEY...",
    .summary = "print the record with a key",
    .description =
        "Look a key up in the merged view of a directory with a catalog, or of a sinter.files "
        "document, or in an sst file. Give one word per key column, or one word hex:0011... with "
        "the encoded key. Put -- before a key that begins with a dash.\n\n"
        "Only files whose keys span the key are opened, and of those with key filters only blocks "
        "are read that may hold it. With --verbose a line on standard error counts both.\n\n"
        "Exit code 7 says that there is no such record; nothing is printed then.",
    .examples = "sinter get data/ 42\nsinter get data/ -- -1 blue\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON | CLI_TAKES_IO | CLI_TAKES_SETTINGS,
    .operand_min = 2,
    .operand_max = -1,
    .arguments_size = sizeof(get_arguments),
    .run = run,
};
