/*
 * Stepping over values of any type.
 */
#include "format/avro_codec.h"

static bool
skip_value(sinter__avro_cursor *cursor, const sinter__avro_node *node, uint32_t depth);

static bool
skip_bytes(sinter__avro_cursor *cursor, uint64_t size)
{
    if (size > (uint64_t)(cursor->end - cursor->at)) {
        return false;
    }
    cursor->at += size;
    return true;
}

/* Items of an array or entries of a map come in blocks; one whose count is negative says how many
 * bytes it has. */
static bool
skip_blocks(sinter__avro_cursor *cursor, const sinter__avro_node *node, uint32_t depth)
{
    const sinter__avro_node *item = node->fields[0].type;
    int64_t count = 0;
    int64_t bytes = 0;
    sinter_bytes key = {0};

    while (sinter__avro_get_long(cursor, &count)) {
        if (count == 0) {
            return true;
        }
        if (count < 0) {
            if (!sinter__avro_get_long(cursor, &bytes) || bytes < 0 ||
                !skip_bytes(cursor, (uint64_t)bytes)) {
                return false;
            }
            continue;
        }
        if (item->is_empty && node->type == SINTER__AVRO_ARRAY) {
            continue; /* any number of them */
        }
        for (int64_t i = 0; i < count; i++) {
            if ((node->type == SINTER__AVRO_MAP && !sinter__avro_get_bytes(cursor, &key)) ||
                !skip_value(cursor, item, depth)) {
                return false;
            }
        }
    }
    return false;
}

static bool
skip_fields(sinter__avro_cursor *cursor, const sinter__avro_node *node, uint32_t depth)
{
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (!skip_value(cursor, node->fields[i].type, depth)) {
            return false;
        }
    }
    return true;
}

/* Values inside values: as deep as SINTER__AVRO_DEPTH_MAX. */
static bool
skip_value(sinter__avro_cursor *cursor, const sinter__avro_node *node, uint32_t depth)
{
    sinter_bytes bytes = {0};
    int64_t number = 0;

    if (node->is_empty) {
        return true; /* and not looked into: records of records of nothing could be many */
    }
    if (depth == SINTER__AVRO_DEPTH_MAX) {
        return false;
    }
    switch (node->type) {
    case SINTER__AVRO_BOOLEAN:
        return skip_bytes(cursor, 1);
    case SINTER__AVRO_INT:
    case SINTER__AVRO_LONG:
    case SINTER__AVRO_ENUM:
        return sinter__avro_get_long(cursor, &number);
    case SINTER__AVRO_FLOAT:
        return skip_bytes(cursor, 4);
    case SINTER__AVRO_DOUBLE:
        return skip_bytes(cursor, 8);
    case SINTER__AVRO_BYTES:
    case SINTER__AVRO_STRING:
        return sinter__avro_get_bytes(cursor, &bytes);
    case SINTER__AVRO_FIXED:
        return skip_bytes(cursor, node->size);
    case SINTER__AVRO_ARRAY:
    case SINTER__AVRO_MAP:
        return skip_blocks(cursor, node, depth + 1);
    case SINTER__AVRO_UNION:
        return sinter__avro_get_long(cursor, &number) && number >= 0 &&
               number < node->field_count &&
               skip_value(cursor, node->fields[number].type, depth + 1);
    case SINTER__AVRO_RECORD:
        return skip_fields(cursor, node, depth + 1);
    case SINTER__AVRO_NULL:
    default:
        return true;
    }
}

bool
sinter__avro_skip(sinter__avro_cursor *cursor, const sinter__avro_node *node)
{
    return skip_value(cursor, node, 0);
}
