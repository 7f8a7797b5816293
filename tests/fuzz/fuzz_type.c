/*
 * Any text as a type: what is taken prints to a text that means the same.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"

enum { TEXT_MAX = 256 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1] = {0};
    char printed[SINTER_TYPE_TEXT_MAX];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_type type;
    sinter_type again;

    memcpy(text, data, size < TEXT_MAX ? size : TEXT_MAX);
    if (sinter_type_parse(text, &type, &err) != SINTER_OK) {
        return 0;
    }
    sinter_type_print(&type, printed);
    if (sinter_type_parse(printed, &again, NULL) != SINTER_OK || again.id != type.id ||
        again.nullable != type.nullable || again.precision != type.precision ||
        again.scale != type.scale) {
        abort();
    }
    return 0;
}
