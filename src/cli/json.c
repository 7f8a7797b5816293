#include "cli/json.h"

#include <stdlib.h>

#include "cli/report.h"
#include "cli/source.h"

static void
fail(sinter_status st)
{
    exit(cli_fail(CLI_EXIT_FAILURE, "a report can't be printed as JSON: %s",
                  sinter_status_text(st)));
}

void
cli_json_object_begin(cli_json *json, const char *name)
{
    if (json->depth++ == 0) {
        const sinter_status st = sinter_json_create(sinter_env_default(), &json->root, NULL);

        if (st != SINTER_OK) {
            fail(st);
        }
        return;
    }
    sinter_json_begin_object(json->root, name);
}

void
cli_json_object_end(cli_json *json)
{
    sinter_text text;
    sinter_status st;

    if (--json->depth > 0) {
        sinter_json_end(json->root);
        return;
    }
    sinter_text_init(sinter_env_default(), &text);
    st = sinter_json_print(json->root, 0, &text, NULL);
    if (st != SINTER_OK) {
        fail(st);
    }
    cli_put_text(&text);
    sinter_json_destroy(json->root);
}

void
cli_json_array_begin(cli_json *json, const char *name)
{
    json->depth++;
    sinter_json_begin_array(json->root, name);
}

void
cli_json_array_end(cli_json *json)
{
    json->depth--;
    sinter_json_end(json->root);
}

void
cli_json_text(cli_json *json, const char *name, const char *text)
{
    sinter_json_put_text(json->root, name, text);
}

void
cli_json_int(cli_json *json, const char *name, int64_t value)
{
    sinter_json_put_integer(json->root, name, value);
}

void
cli_json_uint(cli_json *json, const char *name, uint64_t value)
{
    sinter_json_put_count(json->root, name, value);
}

void
cli_json_bool(cli_json *json, const char *name, bool value)
{
    sinter_json_put_bool(json->root, name, value);
}
