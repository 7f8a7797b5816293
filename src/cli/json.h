/*
 * Reports of the program as JSON on standard output, one object a line.
 *
 * The documents of spec/interchange.md are made by the library; this is for what only the program
 * tells, such as what gc removed. It is the library's sinter_json, which ends the program when it
 * has no memory.
 */
#ifndef SINTER_CLI_JSON_H
#define SINTER_CLI_JSON_H

#include "sinter/doc.h"

/** A report under construction. Zeroed: not begun. */
typedef struct cli_json {
    sinter_json *root;
    uint32_t depth;
} cli_json;

/** Open and close; `name` NULL inside arrays and at the top. Closing the top prints the line. */
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

#endif
