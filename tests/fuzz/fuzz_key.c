/*
 * Any bytes as a key of any column types: what is decoded encodes to the same bytes. With the bit
 * TEXT_BIT of the first byte set, the rest is text: lines of key types, an empty line, and a line
 * for each value.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz_types.h"

enum { COLUMNS_MAX = 4, TEXT_MAX = 512, TEXT_BIT = 0x40 };

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

/* Cut the lines of `text` into words; an empty one stands for null. */
static size_t
cut_words(char *text, const char *words[COLUMNS_MAX])
{
    size_t count = 0;

    while (text != NULL && count < COLUMNS_MAX) {
        char *end = strchr(text, '\n');

        if (end != NULL) {
            *end = '\0';
        }
        words[count++] = text[0] == '\0' ? NULL : text;
        text = end == NULL ? NULL : end + 1;
    }
    return count;
}

static void
try_texts(sinter_bytes input)
{
    char text[TEXT_MAX + 1] = {0};
    const char *words[COLUMNS_MAX];
    sinter_key_codec *codec = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    char *values = NULL;
    sinter_text key;

    memcpy(text, input.data, input.size < TEXT_MAX ? input.size : TEXT_MAX);
    values = strstr(text, "\n\n");
    if (values != NULL) {
        values[0] = '\0';
        values += 2;
    }
    if (sinter_key_codec_parse(sinter_env_default(), text, &codec, &err) != SINTER_OK) {
        return;
    }
    sinter_text_init(sinter_env_default(), &key);
    if (sinter_key_codec_count(codec) <= COLUMNS_MAX &&
        sinter_key_encode_texts(codec, words, cut_words(values, words), &key, &err) == SINTER_OK) {
        try_key(codec, sinter_text_bytes(&key));
    }
    sinter_text_fini(&key);
    sinter_key_codec_destroy(codec);
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
    if ((data[0] & TEXT_BIT) != 0) {
        try_texts((sinter_bytes){data + 1, size - 1});
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
