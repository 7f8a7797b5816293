#include "cli/table_open.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

int
cli_table_open(cli *session, const char *path, const char *branch, sinter_table **out)
{
    const sinter_table_config config = {
        .struct_size = (uint32_t)sizeof config, .path = path, .branch = branch};
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_status st = sinter_table_open(&session->boot, &config, out, &err);

    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

int
cli_table_snapshot(sinter_table *table, const cli_number *number, const char *tag,
                   sinter_snapshot **out)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    *out = NULL;
    if (number->is_set && tag != NULL) {
        return cli_fail(CLI_EXIT_USAGE, "--snapshot and --tag can't be given both");
    }
    if (tag != NULL) {
        st = sinter_table_snapshot_of_tag(table, tag, out, &err);
    } else if (number->is_set) {
        st = number->value > INT64_MAX
                 ? SINTER_E_NOT_FOUND
                 : sinter_table_snapshot_get(table, (int64_t)number->value, out, &err);
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

int
cli_age_parse(const char *option, const char *text, int64_t *ms_out)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"ms", 1},      {"s", 1000},     {"m", 60000}, {"min", 60000},
                 {"h", 3600000}, {"d", 86400000}, {"", 1000}};
    char *end = NULL;
    const unsigned long long value = strtoull(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || value > 1000000000) {
        return cli_fail(CLI_EXIT_USAGE, "option '--%s' needs an age such as 10m, not '%s'", option,
                        text);
    }
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) == 0) {
            *ms_out = (int64_t)value * units[i].ms;
            return CLI_EXIT_OK;
        }
    }
    return cli_fail(CLI_EXIT_USAGE, "option '--%s' has unit '%s'; the units are ms, s, m, h, d",
                    option, end);
}
