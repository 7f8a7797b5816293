#include <string.h>

#include "doc/text.h"
#include "doc/type.h"

/* Length of the sequence that begins here and is well formed; 0 if none is (Unicode, table 3-7). */
static size_t
sequence_length(const uint8_t *at, size_t left)
{
    const uint8_t lead = at[0];
    size_t length = 0;
    uint8_t low = 0x80;
    uint8_t high = 0xbf;

    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xc2 && lead <= 0xdf) {
        length = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        length = 3;
        low = lead == 0xe0 ? 0xa0 : 0x80;
        high = lead == 0xed ? 0x9f : 0xbf;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        length = 4;
        low = lead == 0xf0 ? 0x90 : 0x80;
        high = lead == 0xf4 ? 0x8f : 0xbf;
    }
    if (length == 0 || length > left || at[1] < low || at[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xc0u) != 0x80u) {
            return 0;
        }
    }
    return length;
}

/* Bytes at the front that are ASCII, eight at a time. */
static size_t
ascii_length(const uint8_t *at, size_t left)
{
    size_t i = 0;
    uint64_t word = 0;

    for (; left - i >= sizeof word; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        if ((word & 0x8080808080808080u) != 0) {
            break;
        }
    }
    return i;
}

bool
sinter__utf8_is_valid(sinter_bytes text)
{
    for (size_t i = ascii_length(text.data, text.size); i < text.size;) {
        const size_t length = sequence_length(text.data + i, text.size - i);

        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

size_t
sinter__utf8_count(sinter_bytes text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        count += (text.data[i] & 0xc0u) != 0x80u ? 1u : 0u;
    }
    return count;
}

/* The short escape of a byte, or 0. */
static char
short_escape(uint8_t byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return (char)byte;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

/* Append the escape of a byte that can't stand for itself. */
static sinter_status
print_escape(uint8_t byte, sinter_text *out, sinter_error *err)
{
    static const char digits[] = "0123456789ABCDEF";
    const char escape[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15u]};
    const char brief[] = {'\\', short_escape(byte)};

    return brief[1] != 0 ? sinter_text_append(out, brief, sizeof brief, err)
                         : sinter_text_append(out, escape, sizeof escape, err);
}

sinter_status
sinter__json_string_print(sinter_bytes text, sinter_text *out, sinter_error *err)
{
    size_t begin = 0; /* of bytes that stand for themselves and were not appended yet */

    SINTER__CHECK(sinter_text_append(out, "\"", 1, err));
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] >= 0x20 && text.data[i] != '"' && text.data[i] != '\\') {
            continue;
        }
        SINTER__CHECK(sinter_text_append(out, text.data + begin, i - begin, err));
        SINTER__CHECK(print_escape(text.data[i], out, err));
        begin = i + 1;
    }
    if (begin < text.size) {
        SINTER__CHECK(sinter_text_append(out, text.data + begin, text.size - begin, err));
    }
    return sinter_text_append(out, "\"", 1, err);
}
