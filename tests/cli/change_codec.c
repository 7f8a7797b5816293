/*
 * change_codec FILE NUMBER: lets an sst file say that its blocks have another codec, under right
 * checksums: what a later version, or a build with more codecs, may write.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BYTES_MAX = 1 << 20, FOOTER_BYTES = 104, FOOTER_CHECKED = 88 };

/* Numbers of the file; both kinds of machine that the tests run on are little-endian. */
static uint64_t
get(const uint8_t *at)
{
    uint64_t number;

    memcpy(&number, at, sizeof number);
    return number;
}

static void
put(uint8_t *at, uint64_t number)
{
    memcpy(at, &number, sizeof number);
}

/* Value of the property in its section; NULL: there is none. */
static uint8_t *
find_codec(uint8_t *section, size_t size)
{
    static const char name[] = "sinter.codec";

    for (size_t i = 0; i + sizeof name + 8 <= size; i++) {
        if (memcmp(section + i, name, sizeof name) == 0) {
            return section + i + sizeof name;
        }
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    static uint8_t bytes[BYTES_MAX];
    FILE *file = argc == 3 ? fopen(argv[1], "r+b") : NULL;
    const size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
    uint8_t *footer = bytes + size - FOOTER_BYTES;
    uint8_t *value;

    if (size < FOOTER_BYTES || size == sizeof bytes || get(footer) + get(footer + 8) > size) {
        fputs("change_codec: no such file, or too large\n", stderr);
        return 1;
    }
    value = find_codec(bytes + get(footer), (size_t)get(footer + 8));
    if (value == NULL) {
        fputs("change_codec: the file names no codec\n", stderr);
        return 1;
    }
    put(value, strtoull(argv[2], NULL, 10));
    put(footer + 16, XXH3_64bits(bytes + get(footer), (size_t)get(footer + 8)));
    put(footer + FOOTER_CHECKED, XXH3_64bits(footer, FOOTER_CHECKED));
    rewind(file);
    if (fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
