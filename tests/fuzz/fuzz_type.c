/*
 * Any text as a type: what is taken prints to a text that means the same.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"

enum { TEXT_MAX = 256 };

/* With its parts it prints to a text that makes an equal type. */
static void
try_parts(const char *text)
{
    sinter_type *type = NULL;
    sinter_type *again = NULL;
    sinter_text printed;

    sinter_text_init(sinter_env_default(), &printed);
    if (sinter_type_create(sinter_env_default(), text, &type, NULL) == SINTER_OK &&
        (sinter_type_print_full(type, &printed, NULL) != SINTER_OK ||
         sinter_type_create(sinter_env_default(), printed.data, &again, NULL) != SINTER_OK ||
         !sinter_type_equal(type, again))) {
        abort();
    }
    sinter_type_destroy(again);
    sinter_type_destroy(type);
    sinter_text_fini(&printed);
}

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
    try_parts(text);
    return 0;
}
