/*
 * Any bytes as a key of any column types: what is decoded encodes to the same bytes.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz_types.h"

enum { COLUMNS_MAX = 4 };

static void
try_key(const sinter_key_codec *codec, sinter_bytes key)
{
    sinter_datum values[COLUMNS_MAX];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text scratch;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &scratch);
    sinter_text_init(sinter_env_default(), &out);
    if (sinter_key_decode(codec, key, &scratch, values, &err) == SINTER_OK) {
        /* A string longer than its type says can be in a file, but isn't encoded. */
        if (sinter_key_encode(codec, values, &out, NULL) == SINTER_OK &&
            (out.size != key.size || (key.size > 0 && memcmp(out.data, key.data, key.size) != 0))) {
            abort();
        }
        sinter_text_reset(&out);
        if (sinter_key_print(codec, key, &out, &err) != SINTER_OK) {
            abort();
        }
    }
    sinter_text_fini(&out);
    sinter_text_fini(&scratch);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sinter_type types[COLUMNS_MAX];
    sinter_key_codec *codec = NULL;
    size_t count = 0;
    size_t at = 1;

    if (size == 0) {
        return 0;
    }
    count = 1u + data[0] % COLUMNS_MAX;
    if (size < at + count * FUZZ_TYPE_BYTES) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        types[i] = fuzz_type(data + at);
        at += FUZZ_TYPE_BYTES;
    }
    if (sinter_key_codec_create(sinter_env_default(), types, count, &codec, NULL) != SINTER_OK) {
        abort();
    }
    try_key(codec, (sinter_bytes){data + at, size - at});
    sinter_key_codec_destroy(codec);
    return 0;
}
