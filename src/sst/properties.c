/*
 * One property: u32 size of the name, u32 size of the value, both with the zero byte that closes a
 * string; the name; the value. Numbers are 8 bytes. Own names that a reader doesn't know are
 * skipped: they are additions that change nothing else.
 */
#include "sst/properties.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

enum { HEAD_BYTES = 8 };

typedef enum property_type {
    TYPE_U64,
    TYPE_I64,
    TYPE_U32,
    TYPE_I32,
    TYPE_BYTES,
    TYPE_TEXT
} property_type;

typedef struct property_field {
    const char *name;
    size_t offset; /* in sinter_sst_properties */
    property_type type;
    bool is_optional; /* files may come without it */
} property_field;

#define FIELD_AT(member, kind, optional)                                                         \
    {                                                                                            \
        SINTER__SST_OWN_PREFIX #member, offsetof(sinter_sst_properties, member), kind, optional, \
    }
#define FIELD(member, kind) FIELD_AT(member, kind, false)
#define FIELD_OPTIONAL(member, kind) FIELD_AT(member, kind, true)

static const property_field fields[] = {
    FIELD(row_count, TYPE_U64),
    FIELD(retract_count, TYPE_U64),
    FIELD(raw_key_bytes, TYPE_U64),
    FIELD(raw_value_bytes, TYPE_U64),
    FIELD(stored_bytes, TYPE_U64),
    FIELD(sequence_min, TYPE_I64),
    FIELD(sequence_max, TYPE_I64),
    FIELD(creation_time_ms, TYPE_I64),
    FIELD(level, TYPE_I32),
    FIELD(codec, TYPE_I32),
    FIELD(schema_id, TYPE_U32),
    FIELD(filter_bits_per_key, TYPE_U32),
    FIELD(min_key, TYPE_BYTES),
    FIELD(max_key, TYPE_BYTES),
    FIELD(key_types, TYPE_TEXT),
    FIELD(row_type, TYPE_TEXT),
    FIELD(writer_version, TYPE_TEXT),
    FIELD_OPTIONAL(largest_block, TYPE_U64),
    FIELD_OPTIONAL(largest_key_part, TYPE_U64),
    FIELD_OPTIONAL(largest_value_part, TYPE_U64),
    FIELD_OPTIONAL(largest_block_rows, TYPE_U32),
    FIELD_OPTIONAL(largest_page, TYPE_U32),
};

enum { FIELD_COUNT = (int)(sizeof fields / sizeof fields[0]) };
static_assert(FIELD_COUNT <= 32, "a bit per field");

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void
sinter__sst_count_largest(sinter_sst_properties *properties, const sinter__sst_entry *entry)
{
    const uint64_t rows = larger(properties->largest_block_rows, entry->rows);
    const uint64_t key_part =
        entry->keys_front_coded ? larger(entry->key_raw, entry->key_bytes) : entry->key_raw;

    assert(entry->rows > 0 && rows <= SINTER__SST_BLOCK_ROWS_MAX);
    properties->largest_block_rows = (uint32_t)rows;
    properties->largest_block = larger(properties->largest_block, sinter__sst_entry_stored(entry));
    properties->largest_key_part = larger(properties->largest_key_part, key_part);
    properties->largest_value_part = larger(properties->largest_value_part, entry->value_raw);
}

sinter_status
sinter__sst_put_property(const sinter_env *env, const char *name, sinter_bytes value,
                         sinter__buffer *out, sinter_error *err)
{
    const size_t name_size = strlen(name) + 1;
    uint8_t head[HEAD_BYTES];

    assert(name_size <= UINT32_MAX && value.size <= UINT32_MAX);
    sinter__put_le32(head, (uint32_t)name_size);
    sinter__put_le32(head + 4, (uint32_t)value.size);
    SINTER__CHECK(sinter__buffer_append(env, out, head, sizeof head, err));
    SINTER__CHECK(sinter__buffer_append(env, out, name, name_size, err));
    return sinter__buffer_append(env, out, value.data, value.size, err);
}

/** A field's value in the form of the section; numbers are put into `number`. */
static sinter_bytes
field_bytes(const sinter_sst_properties *properties, const property_field *field,
            uint8_t number[sizeof(uint64_t)])
{
    const uint8_t *place = (const uint8_t *)properties + field->offset;
    sinter_bytes value = {number, sizeof(uint64_t)};
    const char *text = NULL;
    uint32_t narrow = 0;
    uint64_t wide = 0;

    switch (field->type) {
    case TYPE_BYTES:
        memcpy(&value, place, sizeof value);
        return value;
    case TYPE_TEXT:
        memcpy(&text, place, sizeof text);
        text = text == NULL ? "" : text;
        return (sinter_bytes){(const uint8_t *)text, strlen(text) + 1};
    case TYPE_U32:
    case TYPE_I32:
        memcpy(&narrow, place, sizeof narrow);
        wide = field->type == TYPE_U32 ? narrow : (uint64_t)(int64_t)(int32_t)narrow;
        break;
    default:
        memcpy(&wide, place, sizeof wide);
        break;
    }
    sinter__put_le64(number, wide);
    return value;
}

sinter_status
sinter__sst_put_properties(const sinter_env *env, const sinter_sst_properties *properties,
                           sinter_bytes user, sinter__buffer *out, sinter_error *err)
{
    assert(user.data != NULL || user.size == 0);
    for (int i = 0; i < FIELD_COUNT; i++) {
        uint8_t number[sizeof(uint64_t)];
        const sinter_bytes value = field_bytes(properties, &fields[i], number);

        SINTER__CHECK(sinter__sst_put_property(env, fields[i].name, value, out, err));
    }
    return sinter__buffer_append(env, out, user.data, user.size, err);
}

/** One property of a section. */
typedef struct property {
    const char *name;
    sinter_bytes value;
} property;

static bool
is_text(const uint8_t *data, size_t size)
{
    return size > 0 && memchr(data, 0, size) == data + size - 1;
}

/** Take the next property off the section; false if it is malformed. */
static bool
take_property(sinter_bytes *section, property *out)
{
    uint64_t name_size = 0;
    uint64_t value_size = 0;

    assert(section->size > 0);
    if (section->size < HEAD_BYTES) {
        return false;
    }
    name_size = sinter__get_le32(section->data);
    value_size = sinter__get_le32(section->data + 4);
    if (name_size + value_size > section->size - HEAD_BYTES ||
        !is_text(section->data + HEAD_BYTES, (size_t)name_size)) {
        return false;
    }
    out->name = (const char *)section->data + HEAD_BYTES;
    out->value.data = section->data + HEAD_BYTES + name_size;
    out->value.size = (size_t)value_size;
    section->data += HEAD_BYTES + name_size + value_size;
    section->size -= (size_t)(HEAD_BYTES + name_size + value_size);
    return true;
}

/** Set a field; false if the value isn't of its type. */
static bool
set_field(sinter_sst_properties *properties, const property_field *field, sinter_bytes value)
{
    uint8_t *place = (uint8_t *)properties + field->offset;
    const char *text = (const char *)value.data;
    uint32_t narrow = 0;
    uint64_t wide = 0;

    if (field->type == TYPE_BYTES) {
        memcpy(place, &value, sizeof value);
        return value.size <= SINTER_KEY_BYTES_MAX;
    }
    if (field->type == TYPE_TEXT) {
        memcpy(place, &text, sizeof text);
        return is_text(value.data, value.size);
    }
    if (value.size != sizeof wide) {
        return false;
    }
    wide = sinter__get_le64(value.data);
    if (field->type == TYPE_U64 || field->type == TYPE_I64) {
        memcpy(place, &wide, sizeof wide);
        return true;
    }
    narrow = (uint32_t)wide;
    memcpy(place, &narrow, sizeof narrow);
    return field->type == TYPE_U32 ? wide <= UINT32_MAX
                                   : (int64_t)wide >= INT32_MIN && (int64_t)wide <= INT32_MAX;
}

static int
find_field(const char *name)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool
is_own(const char *name)
{
    return strncmp(name, SINTER__SST_OWN_PREFIX, sizeof SINTER__SST_OWN_PREFIX - 1) == 0;
}

/** A bit for each field that a file must have. */
static uint32_t
required_fields(void)
{
    uint32_t bits = 0;

    for (int i = 0; i < FIELD_COUNT; i++) {
        bits |= fields[i].is_optional ? 0 : 1u << i;
    }
    return bits;
}

const char *
sinter__sst_get_properties(sinter_bytes section, sinter_sst_properties *out)
{
    const uint32_t required = required_fields();
    uint32_t seen = 0;
    property item;

    while (section.size > 0) {
        int field = 0;

        if (!take_property(&section, &item)) {
            return "a property is malformed";
        }
        field = find_field(item.name);
        if (field < 0) {
            if (!is_own(item.name) && !is_text(item.value.data, item.value.size)) {
                return "a user property is no text";
            }
            continue;
        }
        if ((seen & (1u << field)) != 0) {
            return "a property stands twice";
        }
        seen |= 1u << field;
        if (!set_field(out, &fields[field], item.value)) {
            return "a property has a value of another type";
        }
    }
    return (seen & required) == required ? NULL : "a property is missing";
}

const char *
sinter__sst_find_property(sinter_bytes section, const char *name)
{
    property item;

    if (is_own(name)) {
        return NULL;
    }
    while (section.size > 0 && take_property(&section, &item)) {
        if (strcmp(item.name, name) == 0) {
            return (const char *)item.value.data;
        }
    }
    return NULL;
}
