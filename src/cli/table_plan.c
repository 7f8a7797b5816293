#include "cli/table_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/text.h"

static void
add_setting(cli_table_settings *out, char *key, const char *value)
{
    out->texts[out->count] = key;
    out->items[out->count++] = (sinter_option){.key = key, .value = value};
}

static char *
copy_text(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = cli_alloc(size, 1);

    memcpy(copy, text, size);
    return copy;
}

void
cli_table_settings_init(const cli_common *common, cli_table_settings *out)
{
    const size_t room = common->settings.count + 1;

    *out = (cli_table_settings){.items = cli_alloc(room, sizeof *out->items),
                                .texts = cli_alloc(room, sizeof *out->texts)};
    for (size_t i = 0; i < common->settings.count; i++) {
        char *text = copy_text(common->settings.items[i]);
        char *equals = strchr(text, '=');

        *equals = '\0'; /* there is one, or cli_settings_apply() had failed */
        add_setting(out, text, equals + 1);
    }
    if (common->memory != NULL) {
        add_setting(out, copy_text("sinter.memory-budget"), common->memory);
    }
}

void
cli_table_settings_fini(cli_table_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        free(settings->texts[i]);
    }
    free(settings->texts);
    free(settings->items);
}

/* An option that means nothing for a table; NULL: none was given. */
static const char *
option_of_directories(const cli_task_arguments *args)
{
    return args->base_dir != NULL               ? "--base-dir"
           : args->unit != NULL                 ? "--unit"
           : args->output_level.is_set          ? "--output-level"
           : args->max_level.is_set             ? "--max-level"
           : args->drop_delete != CLI_DROP_AUTO ? "--drop-delete"
                                                : NULL;
}

int
cli_table_plan(const cli_task_arguments *args, sinter_table *table,
               const cli_table_settings *settings, uint64_t task_bytes_max, sinter_table_plan **out)
{
    const sinter_table_plan_options options = {
        .struct_size = (uint32_t)sizeof options,
        .full = args->full,
        .bucket = args->bucket.is_set ? (int32_t)args->bucket.value : -1,
        .partitions = args->partitions.items,
        .partition_count = args->partitions.count,
        .task_max = args->max_tasks.is_set ? args->max_tasks.value : 0,
        .settings = settings->items,
        .setting_count = settings->count,
        .user = args->commit_user,
        .task_bytes_max = task_bytes_max,
    };
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if (option_of_directories(args) != NULL) {
        return cli_fail(CLI_EXIT_USAGE, "%s is not for tables", option_of_directories(args));
    }
    if (args->bucket.is_set && args->bucket.value > INT32_MAX) {
        return cli_fail(CLI_EXIT_USAGE, "option '--bucket' must be from 0 to %d", INT32_MAX);
    }
    st = sinter_table_plan_create(table, &options, out, &err);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

void
cli_table_plan_print(const sinter_table_plan *plan)
{
    static const char *const titles[] = {"partition", ">bucket", ">files", ">records",
                                         ">bytes",    ">level",  "reason", "because"};
    cli_table table;

    cli_table_init(&table, titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < sinter_table_plan_count(plan); i++) {
        sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};
        char text[CLI_NUMBER_CHARS];

        sinter_table_plan_get(plan, i, &task);
        cli_table_cell(&table, "%s", task.partition[0] == '\0' ? "-" : task.partition);
        cli_table_cell(&table, "%" PRId32, task.bucket);
        cli_table_cell(&table, "%zu", task.file_count);
        cli_table_cell(&table, "%s", cli_count_text(task.records, text));
        cli_table_cell(&table, "%s", cli_bytes_text(task.bytes, text));
        cli_table_cell(&table, "%" PRId32, task.output_level);
        cli_table_cell(&table, "%s", task.reason);
        cli_table_cell(&table, "%s", task.reason_text);
    }
    cli_table_print(&table);
}

void
cli_table_plan_put(const sinter_table_plan *plan)
{
    for (size_t i = 0; i < sinter_table_plan_count(plan); i++) {
        sinter_table_task_info task = {.struct_size = (uint32_t)sizeof task};

        sinter_table_plan_get(plan, i, &task);
        (void)fwrite(task.document.data, 1, task.document.size, stdout);
        putchar('\n');
    }
}
