/*
 * A row as Paimon's BinaryRow: what its slots hold is in binary.c.
 */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "doc/binary.h"
#include "doc/row_type.h"
#include "doc/text.h"

/* Check every value. */
static sinter_status
check_values(const sinter_row_type *row_type, const sinter_datum *values, uint8_t kind,
             sinter_error *err)
{
    for (size_t i = 0; i < sinter_row_type_count(row_type); i++) {
        sinter_type type = *sinter_row_type_column_type(row_type, i);

        if (sinter_kind_is_retract(kind) && !sinter__row_type_is_key(row_type, i)) {
            type.nullable = true;
        }
        SINTER__CHECK(
            sinter_datum_check(&type, sinter_row_type_column_name(row_type, i), &values[i], err));
    }
    return SINTER_OK;
}

sinter_status
sinter_row_encode(const sinter_row_type *row_type, const sinter_datum *values, uint8_t kind,
                  sinter_text *out, sinter_error *err)
{
    sinter__shape shape = {.fields = NULL};
    size_t size = 0;

    SINTER__REQUIRE(err, row_type != NULL && values != NULL);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    shape.fields = sinter_row_type_fields(row_type);
    shape.count = sinter_row_type_count(row_type);
    SINTER__CHECK(sinter__binary_size(&shape, values, &size, err));
    SINTER__CHECK(check_values(row_type, values, kind, err));
    SINTER__CHECK(sinter__text_reserve(out, size, err));
    memset(out->data + out->size, 0, size + 1);
    sinter__binary_put(&shape, values, (uint8_t *)out->data + out->size);
    out->size += size;
    return SINTER_OK;
}

sinter_status
sinter_row_decode(const sinter_row_type *row_type, sinter_bytes row, sinter_datum *values,
                  sinter_error *err)
{
    const sinter_field *fields = NULL;
    sinter__slots slots;

    SINTER__REQUIRE(err, row_type != NULL && values != NULL);
    SINTER__REQUIRE(err, row.data != NULL || row.size == 0);
    fields = sinter_row_type_fields(row_type);
    SINTER__CHECK(sinter__slots_of_row(sinter_row_type_count(row_type), row, &slots, err));
    for (size_t i = 0; i < slots.count; i++) {
        const sinter_status st = sinter__slots_get(&slots, &fields[i].type, i, &values[i], err);

        if (st != SINTER_OK) {
            sinter__fail_context(err, "row, column \"%.100s\"", fields[i].name);
            return st;
        }
    }
    return SINTER_OK;
}
