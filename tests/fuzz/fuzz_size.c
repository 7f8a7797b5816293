/*
 * Any text as a size ("128 mb") and as the value of every option.
 */
#include "fuzz.h"

#include <string.h>

#include "sinter/sinter.h"

enum { TEXT_MAX = 128 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1] = {0};
    sinter_option_info info = {.struct_size = sizeof info};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t bytes = 0;

    memcpy(text, data, size < TEXT_MAX ? size : TEXT_MAX);
    (void)(sinter_parse_bytes(text, &bytes, &err) == SINTER_OK);
    for (size_t i = 0; sinter_compact_option_info(i, &info); i++) {
        sinter_compact_options options;

        sinter_compact_options_init(&options);
        (void)(sinter_compact_options_set(&options, info.key, text, &err) == SINTER_OK);
        (void)(sinter_compact_options_check(&options, &err) == SINTER_OK);
    }
    {
        sinter_compact_options options;

        sinter_compact_options_init(&options);
        (void)(sinter_compact_options_set(&options, text, "1", &err) == SINTER_OK);
    }
    return 0;
}
