/*
 * Nested values: read, checked and built. Checking calls itself for the parts of a value; how deep
 * follows from the type and is limited.
 */
#include "doc/nested.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "doc/text.h"

enum { KEY_SIZE_BYTES = 4 };

static bool
has_parts(const sinter_type *type, int32_t id, size_t count)
{
    return type != NULL && type->id == id && type->parts != NULL && type->parts->count == count;
}

static bool
is_map(const sinter_type *type)
{
    return has_parts(type, SINTER_TYPE_MAP, 2) || has_parts(type, SINTER_TYPE_MULTISET, 2);
}

static sinter_status
open_array(const sinter_type *element, sinter_bytes bytes, sinter_array *out, sinter_error *err)
{
    sinter__slots slots;

    SINTER__CHECK(sinter__slots_of_array(element, bytes, &slots, err));
    *out = (sinter_array){.element = element, .bytes = bytes, .count = slots.count};
    return SINTER_OK;
}

sinter_status
sinter_array_open(const sinter_type *type, sinter_bytes value, sinter_array *out, sinter_error *err)
{
    SINTER__REQUIRE(err, has_parts(type, SINTER_TYPE_ARRAY, 1));
    SINTER__REQUIRE(err, value.data != NULL || value.size == 0);
    SINTER__REQUIRE(err, out != NULL);
    return open_array(&type->parts->fields[0].type, value, out, err);
}

sinter_status
sinter_map_open(const sinter_type *type, sinter_bytes value, sinter_array *keys,
                sinter_array *values, sinter_error *err)
{
    sinter_bytes key_bytes = value;
    size_t key_size = 0;

    SINTER__REQUIRE(err, is_map(type));
    SINTER__REQUIRE(err, value.data != NULL || value.size == 0);
    SINTER__REQUIRE(err, keys != NULL && values != NULL);
    if (value.size >= KEY_SIZE_BYTES) {
        key_size = sinter__get_le32(value.data);
    }
    if (value.size < KEY_SIZE_BYTES || key_size > value.size - KEY_SIZE_BYTES) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "keys of %zu bytes in a map of %zu", key_size,
                           value.size);
    }
    key_bytes.data += KEY_SIZE_BYTES;
    key_bytes.size = key_size;
    value.data += KEY_SIZE_BYTES + key_size;
    value.size -= KEY_SIZE_BYTES + key_size;
    SINTER__CHECK(open_array(&type->parts->fields[0].type, key_bytes, keys, err));
    SINTER__CHECK(open_array(&type->parts->fields[1].type, value, values, err));
    if (keys->count != values->count) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a map of %zu keys has %zu values", keys->count,
                           values->count);
    }
    return SINTER_OK;
}

sinter_status
sinter_array_get(const sinter_array *array, size_t index, sinter_datum *out, sinter_error *err)
{
    sinter__slots slots;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, array != NULL && out != NULL);
    SINTER__REQUIRE(err, array->element != NULL && index < array->count);
    SINTER__CHECK(sinter__slots_of_array(array->element, array->bytes, &slots, err));
    SINTER__REQUIRE(err, index < slots.count);
    st = sinter__slots_get(&slots, array->element, index, out, err);
    if (st != SINTER_OK) {
        sinter__fail_context(err, "element %zu", index);
    }
    return st;
}

sinter_status
sinter_nested_row_get(const sinter_type *type, sinter_bytes value, size_t index, sinter_datum *out,
                      sinter_error *err)
{
    const sinter_field *fields = NULL;
    sinter__slots slots;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, type != NULL && type->id == SINTER_TYPE_ROW && type->parts != NULL);
    SINTER__REQUIRE(err, value.data != NULL || value.size == 0);
    SINTER__REQUIRE(err, out != NULL && index < type->parts->count);
    fields = type->parts->fields;
    SINTER__CHECK(sinter__slots_of_row(type->parts->count, value, &slots, err));
    st = sinter__slots_get(&slots, &fields[index].type, index, out, err);
    if (st != SINTER_OK) {
        sinter__fail_context(err, "field \"%.100s\"", fields[index].name);
    }
    return st;
}

static sinter_status
check_nested(const sinter_type *type, sinter_bytes value, size_t depth, sinter_error *err);

/* Check a part of a value that lies `depth` deep. */
static sinter_status
check_part(const sinter_type *type, const sinter_datum *datum, size_t depth, sinter_error *err)
{
    if (datum->is_null) {
        return type->nullable ? SINTER_OK
                              : SINTER__ERR(err, SINTER_E_INVALID, "null, but declared NOT NULL");
    }
    return sinter_type_is_nested(type) ? check_nested(type, datum->as.bytes, depth, err)
                                       : sinter__datum_check_range(type, NULL, datum, err);
}

/* Check the elements, keys or values that `part` tells of. */
static sinter_status
check_array(const sinter_array *array, const sinter_field *part, size_t depth, sinter_error *err)
{
    for (size_t i = 0; i < array->count; i++) {
        sinter_datum datum = {.is_null = true};
        sinter_status st = SINTER_OK;

        SINTER__CHECK(sinter_array_get(array, i, &datum, err));
        st = check_part(array->element, &datum, depth, err);
        if (st != SINTER_OK) {
            sinter__fail_context(err, "%s %zu", part->name, i);
            return st;
        }
    }
    return SINTER_OK;
}

static sinter_status
check_row(const sinter_type *type, sinter_bytes value, size_t depth, sinter_error *err)
{
    sinter__slots slots;

    SINTER__CHECK(sinter__slots_of_row(type->parts->count, value, &slots, err));
    for (size_t i = 0; i < slots.count; i++) {
        const sinter_field *field = &type->parts->fields[i];
        sinter_datum datum = {.is_null = true};
        sinter_status st = sinter__slots_get(&slots, &field->type, i, &datum, err);

        if (st == SINTER_OK) {
            st = check_part(&field->type, &datum, depth, err);
        }
        if (st != SINTER_OK) {
            sinter__fail_context(err, "field \"%.100s\"", field->name);
            return st;
        }
    }
    return SINTER_OK;
}

static sinter_status
check_nested(const sinter_type *type, sinter_bytes value, size_t depth, sinter_error *err)
{
    sinter_array keys = {.count = 0};
    sinter_array values = {.count = 0};

    if (depth == SINTER_TYPE_DEPTH_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a type nested deeper than %d",
                           SINTER_TYPE_DEPTH_MAX);
    }
    if (type->parts == NULL) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "type %s lacks its parts",
                           sinter_type_name(type->id));
    }
    if (type->id == SINTER_TYPE_ROW) {
        return check_row(type, value, depth + 1, err);
    }
    if (type->id == SINTER_TYPE_ARRAY) {
        SINTER__CHECK(sinter_array_open(type, value, &keys, err));
        return check_array(&keys, &type->parts->fields[0], depth + 1, err);
    }
    SINTER__CHECK(sinter_map_open(type, value, &keys, &values, err));
    SINTER__CHECK(check_array(&keys, &type->parts->fields[0], depth + 1, err));
    return check_array(&values, &type->parts->fields[1], depth + 1, err);
}

sinter_status
sinter__nested_check(const sinter_type *type, sinter_bytes value, sinter_error *err)
{
    assert(sinter_type_is_nested(type));
    return check_nested(type, value, 0, err);
}

/* The elements, fields or keys of a value as they are written. */
static sinter__shape
first_shape(const sinter__nested_value *value)
{
    sinter__shape shape = {.count = value->count};

    if (value->type->id == SINTER_TYPE_ROW) {
        shape.fields = value->type->parts->fields;
    } else {
        shape.element = &value->type->parts->fields[0].type;
    }
    return shape;
}

static sinter__shape
second_shape(const sinter__nested_value *value)
{
    return (sinter__shape){.element = &value->type->parts->fields[1].type, .count = value->count};
}

sinter_status
sinter__nested_size(const sinter__nested_value *value, size_t *out, sinter_error *err)
{
    const sinter__shape first = first_shape(value);
    size_t more = 0;

    SINTER__CHECK(sinter__binary_size(&first, value->first, out, err));
    if (is_map(value->type)) {
        const sinter__shape second = second_shape(value);

        SINTER__CHECK(sinter__binary_size(&second, value->second, &more, err));
        *out += KEY_SIZE_BYTES + more;
    }
    return SINTER_OK;
}

void
sinter__nested_put(const sinter__nested_value *value, uint8_t *out)
{
    const sinter__shape first = first_shape(value);
    size_t size = 0;

    if (!is_map(value->type)) {
        sinter__binary_put(&first, value->first, out);
        return;
    }
    const sinter__shape second = second_shape(value);
    const sinter_status st = sinter__binary_size(&first, value->first, &size, NULL);

    assert(st == SINTER_OK); /* sinter__nested_size() asked */
    (void)st;
    sinter__put_le32(out, (uint32_t)size);
    sinter__binary_put(&first, value->first, out + KEY_SIZE_BYTES);
    sinter__binary_put(&second, value->second, out + KEY_SIZE_BYTES + size);
}

/* Check the datums that are given for `part`. */
static sinter_status
check_given(const sinter_field *part, const sinter_datum *values, size_t count, sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const sinter_status st = sinter_datum_check(&part->type, NULL, &values[i], err);

        if (st != SINTER_OK) {
            sinter__fail_context(err, "%s %zu", part->name, i);
            return st;
        }
    }
    return SINTER_OK;
}

/* Write a value whose parts were checked behind what `out` holds. */
static sinter_status
append(const sinter__nested_value *value, size_t size, sinter_text *out, sinter_error *err)
{
    SINTER__CHECK(sinter__text_reserve(out, size, err));
    memset(out->data + out->size, 0, size + 1);
    sinter__nested_put(value, (uint8_t *)out->data + out->size);
    out->size += size;
    return SINTER_OK;
}

sinter_status
sinter_array_encode(const sinter_type *type, const sinter_datum *values, size_t count,
                    sinter_text *out, sinter_error *err)
{
    const sinter__nested_value value = {.type = type, .first = values, .count = count};
    size_t size = 0;

    SINTER__REQUIRE(err, has_parts(type, SINTER_TYPE_ARRAY, 1));
    SINTER__REQUIRE(err, values != NULL || count == 0);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    SINTER__CHECK(sinter__nested_size(&value, &size, err));
    SINTER__CHECK(check_given(&type->parts->fields[0], values, count, err));
    return append(&value, size, out, err);
}

sinter_status
sinter_map_encode(const sinter_type *type, const sinter_datum *keys, const sinter_datum *values,
                  size_t count, sinter_text *out, sinter_error *err)
{
    const sinter__nested_value value = {
        .type = type, .first = keys, .second = values, .count = count};
    size_t size = 0;

    SINTER__REQUIRE(err, is_map(type));
    SINTER__REQUIRE(err, (keys != NULL && values != NULL) || count == 0);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    SINTER__CHECK(sinter__nested_size(&value, &size, err));
    SINTER__CHECK(check_given(&type->parts->fields[0], keys, count, err));
    SINTER__CHECK(check_given(&type->parts->fields[1], values, count, err));
    return append(&value, size, out, err);
}

sinter_status
sinter_nested_row_encode(const sinter_type *type, const sinter_datum *values, sinter_text *out,
                         sinter_error *err)
{
    sinter__nested_value value = {.type = type, .first = values};
    size_t size = 0;

    SINTER__REQUIRE(err, type != NULL && type->id == SINTER_TYPE_ROW && type->parts != NULL);
    SINTER__REQUIRE(err, values != NULL || type->parts->count == 0);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    value.count = type->parts->count;
    SINTER__CHECK(sinter__nested_size(&value, &size, err));
    for (size_t i = 0; i < value.count; i++) {
        const sinter_field *field = &type->parts->fields[i];

        SINTER__CHECK(sinter_datum_check(&field->type, field->name, &values[i], err));
    }
    return append(&value, size, out, err);
}
