#include "table/java_order.h"

enum { SLOTS_FIRST = 16, SLOTS_MAX = 1 << 30, SURROGATES = 0x10000 };

size_t
sinter__java_units(const char **text, uint16_t out[2])
{
    const uint8_t *at = (const uint8_t *)*text;
    const unsigned lead = at[0];
    const unsigned more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t code = lead < 0xc0 ? lead : lead & (0x3fu >> more);

    if (lead == 0) {
        return 0;
    }
    at++;
    for (unsigned i = 0; i < more && (at[0] & 0xc0u) == 0x80u; i++, at++) {
        code = code << 6 | (at[0] & 0x3fu);
    }
    *text = (const char *)at;
    if (code < SURROGATES) {
        out[0] = (uint16_t)code;
        return 1;
    }
    out[0] = (uint16_t)(0xd800u | ((code - SURROGATES) >> 10 & 0x3ffu));
    out[1] = (uint16_t)(0xdc00u | (code & 0x3ffu));
    return 2;
}

uint32_t
sinter__java_string_hash(const char *text)
{
    uint16_t units[2];
    uint32_t hash = 0;
    size_t count = 0;

    while ((count = sinter__java_units(&text, units)) > 0) {
        for (size_t i = 0; i < count; i++) {
            hash = hash * 31 + units[i];
        }
    }
    return hash;
}

uint32_t
sinter__java_slot(uint32_t hash, size_t items)
{
    size_t slots = SLOTS_FIRST;

    while (slots < SLOTS_MAX && items > slots / 4 * 3) {
        slots *= 2;
    }
    return (hash ^ hash >> 16) & (uint32_t)(slots - 1);
}
