/*
 * A row as Paimon's BinaryRow: what its slots hold is in binary.c.
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
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

/* Put the canonical NaN where there is one, in a row just made. */
static void
make_canonical(const sinter_field *fields, const sinter_datum *values, const sinter__slots *slots,
               uint8_t *row)
{
    for (size_t i = 0; i < slots->count; i++) {
        uint8_t *slot = row + slots->slots_at + i * slots->slot_bytes;

        if (fields[i].type.id == SINTER_TYPE_FLOAT && !values[i].is_null) {
            sinter__put_le32(slot, sinter__float_canonical(values[i].as.float_bits));
        } else if (fields[i].type.id == SINTER_TYPE_DOUBLE && !values[i].is_null) {
            sinter__put_le64(slot, sinter__double_canonical(values[i].as.double_bits));
        }
    }
}

sinter_status
sinter_bucket_key_encode(const sinter_row_type *key_type, const sinter_datum *values,
                         sinter_text *out, sinter_error *err)
{
    const sinter_field *fields = NULL;
    sinter__slots slots;
    size_t begin = 0;

    SINTER__REQUIRE(err, key_type != NULL && values != NULL);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    fields = sinter_row_type_fields(key_type);
    begin = out->size;
    for (size_t i = 0; i < sinter_row_type_count(key_type); i++) {
        if (fields[i].type.id >= SINTER_TYPE_ARRAY) {
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                               "column \"%.100s\": type %s can't be part of a bucket key",
                               fields[i].name, sinter_type_name(fields[i].type.id));
        }
    }
    SINTER__CHECK(sinter_row_encode(key_type, values, 0, out, err));
    SINTER__CHECK(sinter__slots_of_row(
        sinter_row_type_count(key_type),
        (sinter_bytes){(const uint8_t *)out->data + begin, out->size - begin}, &slots, err));
    make_canonical(fields, values, &slots, (uint8_t *)out->data + begin);
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
