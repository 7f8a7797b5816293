/*
 * Any bytes as a value of a nested type: what prints is walked as a whole; what passes the check
 * stands in a row, comes back, and its JSON is taken again. The first byte chooses the type.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"

static const char *const schemas[] = {
    "[{\"name\":\"v\",\"type\":\"ARRAY<INT>\"}]",
    "[{\"name\":\"v\",\"type\":\"ARRAY<STRING>\"}]",
    "[{\"name\":\"v\",\"type\":\"MAP<STRING, DECIMAL(30, 2)>\"}]",
    "[{\"name\":\"v\",\"type\":\"MULTISET<TIMESTAMP(9)>\"}]",
    "[{\"name\":\"v\",\"type\":\"ROW<a BOOLEAN, b TIMESTAMP(9), c DECIMAL(30, 2), d BYTES>\"}]",
    "[{\"name\":\"v\",\"type\":\"ARRAY<ROW<m MAP<SMALLINT, ARRAY<DOUBLE>>, s MULTISET<DATE>>>\"}]",
    "[{\"name\":\"v\",\"type\":\"MAP<ROW<x TINYINT>, MAP<FLOAT, ROW<>>>\"}]",
    "[{\"name\":\"v\",\"type\":\"ARRAY<ARRAY<ARRAY<TIME(3) NOT NULL>>>\"}]"};

/* A value that passed the check is the same behind a row and behind its JSON. */
static void
try_row(const sinter_row_type *row_type, const sinter_datum *value, const sinter_text *json)
{
    const sinter_column column = {"v", *sinter_row_type_column_type(row_type, 0)};
    sinter_datum back = {.is_null = true};
    sinter_text row;
    sinter_text scratch;
    sinter_text again;

    sinter_text_init(sinter_env_default(), &row);
    sinter_text_init(sinter_env_default(), &scratch);
    sinter_text_init(sinter_env_default(), &again);
    if (sinter_row_encode(row_type, value, 0, &row, NULL) != SINTER_OK ||
        sinter_row_decode(row_type, sinter_text_bytes(&row), &back, NULL) != SINTER_OK ||
        back.as.bytes.size != value->as.bytes.size ||
        memcmp(back.as.bytes.data, value->as.bytes.data, back.as.bytes.size) != 0) {
        abort();
    }
    /* A key may come twice in bytes, and a time may have more decimals than its type. */
    if (sinter_datum_parse(&column, sinter_text_bytes(json), SINTER_PRINT_HEX_STRINGS, &scratch,
                           &back, NULL) == SINTER_OK &&
        (sinter_datum_check(&column.type, "v", &back, NULL) != SINTER_OK ||
         sinter_datum_print_json(&column.type, &back, SINTER_PRINT_HEX_STRINGS, &again, NULL) !=
             SINTER_OK ||
         again.size != json->size || memcmp(again.data, json->data, again.size) != 0)) {
        abort();
    }
    sinter_text_fini(&again);
    sinter_text_fini(&scratch);
    sinter_text_fini(&row);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sinter_type *type = NULL;
    sinter_row_type *row_type = NULL;
    sinter_datum value = {.is_null = false};
    sinter_text json;
    sinter_status printed;

    if (size < 1) {
        return 0;
    }
    const char *schema = schemas[data[0] % (sizeof schemas / sizeof schemas[0])];

    if (sinter_row_type_parse(sinter_env_default(), schema, strlen(schema), &row_type, NULL) !=
        SINTER_OK) {
        abort();
    }
    type = sinter_row_type_column_type(row_type, 0);
    value.as.bytes = (sinter_bytes){data + 1, size - 1};
    sinter_text_init(sinter_env_default(), &json);
    printed = sinter_datum_print_json(type, &value, SINTER_PRINT_HEX_STRINGS, &json, NULL);
    if (sinter_datum_check(type, "v", &value, NULL) == SINTER_OK) {
        if (printed != SINTER_OK) {
            abort();
        }
        try_row(row_type, &value, &json);
    }
    sinter_text_fini(&json);
    sinter_row_type_destroy(row_type);
    return 0;
}
