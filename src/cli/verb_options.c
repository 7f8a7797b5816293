#include "cli/json.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/table.h"

typedef struct options_arguments {
    cli_common common;
} options_arguments;

static void
put_json(const sinter_option_info *info)
{
    cli_json json = {0};

    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "key", info->key);
    cli_json_text(&json, "type", info->type);
    cli_json_text(&json, "default", info->default_text[0] != '\0' ? info->default_text : NULL);
    cli_json_text(&json, "range", info->range_text);
    cli_json_text(&json, "text", info->text);
    cli_json_object_end(&json);
}

static int
run(cli *session, void *arguments)
{
    static const char *const titles[] = {"key", "type", "default", "range", "meaning"};
    const options_arguments *args = arguments;
    sinter_option_info info = {.struct_size = (uint32_t)sizeof info};
    cli_table table;

    (void)session;
    cli_table_init(&table, titles, 5);
    for (size_t i = 0; sinter_compact_option_info(i, &info); i++) {
        if (args->common.json) {
            put_json(&info);
            continue;
        }
        cli_table_cell(&table, "%s", info.key);
        cli_table_cell(&table, "%s", info.type);
        cli_table_cell(&table, "%s", info.default_text[0] != '\0' ? info.default_text : "unset");
        cli_table_cell(&table, "%s", info.range_text);
        cli_table_cell(&table, "%s", info.text);
    }
    cli_table_print(&table);
    return CLI_EXIT_OK;
}

const cli_verb cli_verb_options = {
    .name = "options",
    .operands = "",
    .summary = "list the compaction options with their defaults",
    .description = "List every compaction option: its key, type, default, range and meaning. The "
                   "keys are those of Apache Paimon; keys that begin with `sinter.` are our own. "
                   "They can be given with -o KEY=VALUE or --KEY VALUE, in a sinter.files "
                   "document, and when a catalog is made.",
    .examples = "sinter options\nsinter options --json\n",
    .takes = CLI_TAKES_JSON,
    .operand_max = 0,
    .arguments_size = sizeof(options_arguments),
    .run = run,
};
