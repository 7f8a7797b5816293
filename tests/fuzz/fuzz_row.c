/*
 * Any bytes as a BinaryRow of any columns: what is decoded prints, encodes, and decodes again to a
 * row that encodes the same.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz_types.h"

enum { COLUMNS_MAX = 4 };

static void
print(const sinter_row_type *row_type, const sinter_datum *values)
{
    const sinter_row_options options = {.struct_size = sizeof options,
                                        .flags = SINTER_PRINT_HEX_STRINGS};
    sinter_row_writer *writer = NULL;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    if (sinter_row_writer_create(sinter_env_default(), row_type, &options, &writer, NULL) !=
            SINTER_OK ||
        (sinter_row_writer_append(writer, 0, values, &out, NULL) != SINTER_OK && out.size == 0)) {
        abort();
    }
    sinter_row_writer_destroy(writer);
    sinter_text_fini(&out);
}

static void
try_row(const sinter_row_type *row_type, sinter_bytes row)
{
    sinter_datum values[COLUMNS_MAX];
    sinter_datum again[COLUMNS_MAX];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text first;
    sinter_text second;

    sinter_text_init(sinter_env_default(), &first);
    sinter_text_init(sinter_env_default(), &second);
    if (sinter_row_decode(row_type, row, values, &err) == SINTER_OK) {
        print(row_type, values);
        /* Encoding checks what a file may lack: digits, lengths, nulls. */
        if (sinter_row_encode(row_type, values, 0, &first, &err) == SINTER_OK &&
            (sinter_row_decode(row_type, sinter_text_bytes(&first), again, &err) != SINTER_OK ||
             sinter_row_encode(row_type, again, 0, &second, &err) != SINTER_OK ||
             first.size != second.size || memcmp(first.data, second.data, first.size) != 0)) {
            abort();
        }
    }
    sinter_text_fini(&second);
    sinter_text_fini(&first);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[COLUMNS_MAX] = {"a", "b", "c", "d"};
    sinter_column columns[COLUMNS_MAX];
    sinter_row_type *row_type = NULL;
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
        columns[i].name = names[i];
        columns[i].type = fuzz_type(data + at);
        at += FUZZ_TYPE_BYTES;
    }
    if (sinter_row_type_create(
            sinter_env_default(),
            &(sinter_row_layout){sizeof(sinter_row_layout), 0, columns, count, NULL, 0}, &row_type,
            NULL) != SINTER_OK) {
        abort();
    }
    try_row(row_type, (sinter_bytes){data + at, size - at});
    sinter_row_type_destroy(row_type);
    return 0;
}
