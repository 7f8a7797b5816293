/*
 * Reports of the program as JSON on standard output, written front to back.
 *
 * The documents of spec/interchange.md are made by the library; this is for what only the program
 * tells, such as the properties that `inspect` shows.
 */
#ifndef SINTER_CLI_JSON_H
#define SINTER_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "sinter/base.h"

/** Where in a value the writer is. Zeroed: at the start of a line. */
typedef struct cli_json {
    bool needs_comma;
    uint32_t depth;
} cli_json;

/** Open and close; `name` NULL inside arrays and at the top. Closing the top ends the line. */
void
cli_json_object_begin(cli_json *json, const char *name);
void
cli_json_object_end(cli_json *json);
void
cli_json_array_begin(cli_json *json, const char *name);
void
cli_json_array_end(cli_json *json);

/** A member, or an element with `name` NULL. A NULL text is null. */
void
cli_json_text(cli_json *json, const char *name, const char *text);
void
cli_json_int(cli_json *json, const char *name, int64_t value);
void
cli_json_uint(cli_json *json, const char *name, uint64_t value);
void
cli_json_bool(cli_json *json, const char *name, bool value);
void
cli_json_bytes(cli_json *json, const char *name, sinter_bytes value);

#endif
