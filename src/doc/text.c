#include "doc/text.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

void
sinter_text_init(const sinter_env *env, sinter_text *text)
{
    memset(text, 0, sizeof *text);
    text->env = env;
}

void
sinter_text_fini(sinter_text *text)
{
    if (text->env != NULL) {
        sinter__free(text->env, text->data);
    }
    text->data = NULL;
    text->size = 0;
    text->capacity = 0;
}

void
sinter_text_reset(sinter_text *text)
{
    text->size = 0;
    if (text->data != NULL) {
        text->data[0] = '\0';
    }
}

sinter_status
sinter__text_reserve(sinter_text *text, size_t extra, sinter_error *err)
{
    size_t wanted = 0;
    size_t capacity = text->capacity < 256 ? 256 : text->capacity;

    assert(text->env != NULL);
    assert(text->size <= text->capacity);
    if (__builtin_add_overflow(text->size, extra, &wanted) || wanted >= SIZE_MAX / 2) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "a text of %zu more bytes doesn't fit", extra);
    }
    wanted += 1; /* the zero byte */
    if (wanted <= text->capacity) {
        return SINTER_OK;
    }
    while (capacity < wanted) {
        capacity *= 2;
    }
    SINTER__CHECK(sinter__resize(text->env, (void **)&text->data, capacity, 1, err));
    text->capacity = capacity;
    return SINTER_OK;
}

sinter_status
sinter_text_append(sinter_text *text, const void *data, size_t size, sinter_error *err)
{
    SINTER__REQUIRE(err, text != NULL && text->env != NULL);
    SINTER__REQUIRE(err, data != NULL || size == 0);
    SINTER__CHECK(sinter__text_reserve(text, size, err));
    if (size > 0) {
        memcpy(text->data + text->size, data, size);
    }
    text->size += size;
    text->data[text->size] = '\0';
    return SINTER_OK;
}

sinter_status
sinter__text_puts(sinter_text *text, const char *string, sinter_error *err)
{
    return sinter_text_append(text, string, strlen(string), err);
}

sinter_status
sinter__text_fill(sinter_text *text, char byte, size_t count, sinter_error *err)
{
    SINTER__CHECK(sinter__text_reserve(text, count, err));
    if (count > 0) {
        memset(text->data + text->size, byte, count);
    }
    text->size += count;
    text->data[text->size] = '\0';
    return SINTER_OK;
}

sinter_status
sinter_hex_print(sinter_bytes bytes, sinter_text *out, sinter_error *err)
{
    static const char digits[] = "0123456789abcdef";

    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    SINTER__REQUIRE(err, bytes.size <= SIZE_MAX / 4);
    SINTER__CHECK(sinter__text_reserve(out, bytes.size * 2, err));
    for (size_t i = 0; i < bytes.size; i++) {
        out->data[out->size++] = digits[bytes.data[i] >> 4];
        out->data[out->size++] = digits[bytes.data[i] & 15u];
    }
    out->data[out->size] = '\0';
    return SINTER_OK;
}

static int
hex_value(uint8_t digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    if (digit >= 'A' && digit <= 'F') {
        return digit - 'A' + 10;
    }
    return -1;
}

sinter_status
sinter_hex_parse(sinter_bytes text, sinter_text *out, sinter_error *err)
{
    size_t old_size = 0;

    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    if (text.size % 2 != 0) {
        return SINTER__ERR(err, SINTER_E_INVALID, "hex text has an odd number of digits (%zu)",
                           text.size);
    }
    SINTER__CHECK(sinter__text_reserve(out, text.size / 2, err));
    old_size = out->size;
    for (size_t i = 0; i < text.size; i += 2) {
        const int high = hex_value(text.data[i]);
        const int low = hex_value(text.data[i + 1]);

        if (high < 0 || low < 0) {
            out->size = old_size;
            out->data[out->size] = '\0';
            return SINTER__ERR(err, SINTER_E_INVALID, "no hex digit at position %zu",
                               high < 0 ? i + 1 : i + 2);
        }
        out->data[out->size++] = (char)(uint8_t)(high * 16 + low);
    }
    out->data[out->size] = '\0';
    return SINTER_OK;
}
