#include "cli/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/text.h"

static void
put_text(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            printf("\\%c", *c);
        } else if (*c < 0x20 || *c == 0x7f) {
            printf("\\u%04X", *c);
        } else {
            putchar(*c);
        }
    }
    putchar('"');
}

static void
put_name(cli_json *json, const char *name)
{
    if (json->needs_comma) {
        putchar(',');
    }
    json->needs_comma = true;
    if (name != NULL) {
        put_text(name);
        putchar(':');
    }
}

static void
begin(cli_json *json, const char *name, char bracket)
{
    put_name(json, name);
    putchar(bracket);
    json->needs_comma = false;
    json->depth++;
}

static void
end(cli_json *json, char bracket)
{
    putchar(bracket);
    json->depth--;
    json->needs_comma = json->depth > 0;
    if (json->depth == 0) {
        putchar('\n');
    }
}

void
cli_json_object_begin(cli_json *json, const char *name)
{
    begin(json, name, '{');
}

void
cli_json_object_end(cli_json *json)
{
    end(json, '}');
}

void
cli_json_array_begin(cli_json *json, const char *name)
{
    begin(json, name, '[');
}

void
cli_json_array_end(cli_json *json)
{
    end(json, ']');
}

void
cli_json_text(cli_json *json, const char *name, const char *text)
{
    put_name(json, name);
    if (text == NULL) {
        fputs("null", stdout);
    } else {
        put_text(text);
    }
}

void
cli_json_int(cli_json *json, const char *name, int64_t value)
{
    put_name(json, name);
    printf("%" PRId64, value);
}

void
cli_json_uint(cli_json *json, const char *name, uint64_t value)
{
    put_name(json, name);
    printf("%" PRIu64, value);
}

void
cli_json_bool(cli_json *json, const char *name, bool value)
{
    put_name(json, name);
    fputs(value ? "true" : "false", stdout);
}

void
cli_json_bytes(cli_json *json, const char *name, sinter_bytes value)
{
    char *hex = cli_hex(value);

    cli_json_text(json, name, hex);
    free(hex);
}
