/*
 * Any text as rows in JSON lines, CSV and TSV, fed in pieces: the rows taken print to JSON lines
 * that are taken and print the same. The first byte chooses the format, the second the pieces.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"

static const char schema[] =
    "[{\"name\":\"y\",\"type\":\"BOOLEAN\"},{\"name\":\"t\",\"type\":\"TINYINT\"},"
    "{\"name\":\"i\",\"type\":\"INT\"},{\"name\":\"l\",\"type\":\"BIGINT\"},"
    "{\"name\":\"f\",\"type\":\"FLOAT\"},{\"name\":\"g\",\"type\":\"DOUBLE\"},"
    "{\"name\":\"d\",\"type\":\"DECIMAL(20, 3)\"},{\"name\":\"a\",\"type\":\"DATE\"},"
    "{\"name\":\"m\",\"type\":\"TIME(3)\"},{\"name\":\"p\",\"type\":\"TIMESTAMP(9)\"},"
    "{\"name\":\"z\",\"type\":\"TIMESTAMP(3) WITH LOCAL TIME ZONE\"},"
    "{\"name\":\"s\",\"type\":\"STRING\"},{\"name\":\"c\",\"type\":\"VARCHAR(3)\"},"
    "{\"name\":\"b\",\"type\":\"BYTES\"},"
    "{\"name\":\"n\",\"type\":\"ARRAY<MAP<STRING, DOUBLE>>\"},"
    "{\"name\":\"r\",\"type\":\"ROW<q DECIMAL(20, 3), w BYTES, e MULTISET<FLOAT>>\"}]";

/* Read rows until a fault or the end; print those taken. */
static sinter_status
convert(const sinter_row_type *row_type, int32_t format, size_t piece, sinter_bytes text,
        sinter_text *out)
{
    const sinter_row_options options = {
        .struct_size = sizeof options, .format = format, .source = "fuzz"};
    const sinter_row_options print = {.struct_size = sizeof print, .kinds = true};
    sinter_row_reader *reader = NULL;
    sinter_row_writer *writer = NULL;
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    size_t at = 0;

    if (sinter_row_reader_create(sinter_env_default(), row_type, &options, &reader, NULL) !=
            SINTER_OK ||
        sinter_row_writer_create(sinter_env_default(), row_type, &print, &writer, NULL) !=
            SINTER_OK) {
        abort();
    }
    while (st == SINTER_OK) {
        st = sinter_row_reader_next(reader, &row, &err);
        if (st == SINTER_OK) {
            if (sinter_row_writer_append(writer, row.kind, row.values, out, &err) != SINTER_OK) {
                abort();
            }
        } else if (st == SINTER_END && at < text.size) {
            const size_t size = text.size - at < piece ? text.size - at : piece;

            st = sinter_row_reader_feed(reader, text.data + at, size, &err);
            at += size;
            if (at == text.size) {
                sinter_row_reader_end(reader);
            }
        }
    }
    sinter_row_writer_destroy(writer);
    sinter_row_reader_destroy(reader);
    return st;
}

static sinter_status
ignore_name(void *ctx, const char *name)
{
    size_t *sum = ctx;

    *sum += strlen(name);
    return SINTER_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sinter_row_type *row_type = NULL;
    sinter_text first;
    sinter_text second;
    size_t names = 0;

    if (size < 2) {
        return 0;
    }
    sinter_text_init(sinter_env_default(), &first);
    sinter_text_init(sinter_env_default(), &second);
    if (sinter_row_type_parse(sinter_env_default(), schema, strlen(schema), &row_type, NULL) !=
        SINTER_OK) {
        abort();
    }
    const int32_t format = data[0] % 3;
    const sinter_bytes text = {data + 2, size - 2};

    (void)(sinter_row_columns(sinter_env_default(), format, text, ignore_name, &names, NULL) ==
           SINTER_OK);
    (void)(convert(row_type, format, 1u + data[1], text, &first) == SINTER_END);
    if (first.size > 0 &&
        (convert(row_type, SINTER_ROW_FORMAT_JSON, first.size, sinter_text_bytes(&first),
                 &second) != SINTER_END ||
         first.size != second.size || memcmp(first.data, second.data, first.size) != 0)) {
        abort();
    }
    sinter_row_type_destroy(row_type);
    sinter_text_fini(&second);
    sinter_text_fini(&first);
    return 0;
}
