#include "doc/type.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

const char *
sinter_type_name(int32_t id)
{
    switch (id) {
#define TYPE_NAME(name, text) \
    case SINTER_TYPE_##name:  \
        return text;
        SINTER_TYPE_MAP(TYPE_NAME)
#undef TYPE_NAME
    default:
        return "unknown";
    }
}

bool
sinter_type_is_nested(const sinter_type *type)
{
    return type->id >= SINTER_TYPE_ARRAY && type->id <= SINTER_TYPE_ROW;
}

static int
print_base(const sinter_type *type, char out[SINTER_TYPE_TEXT_MAX])
{
    const bool unlimited = type->precision == SINTER_TYPE_LENGTH_MAX;

    switch (type->id) {
    case SINTER_TYPE_DECIMAL:
        return snprintf(out, SINTER_TYPE_TEXT_MAX, "DECIMAL(%u, %u)", type->precision, type->scale);
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return snprintf(out, SINTER_TYPE_TEXT_MAX, "TIMESTAMP(%u) WITH LOCAL TIME ZONE",
                        type->precision);
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_VARBINARY:
        if (unlimited) {
            return snprintf(out, SINTER_TYPE_TEXT_MAX, "%s",
                            type->id == SINTER_TYPE_VARCHAR ? "STRING" : "BYTES");
        }
        break;
    case SINTER_TYPE_TIME:
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_BINARY:
        break;
    default:
        return snprintf(out, SINTER_TYPE_TEXT_MAX, "%s", sinter_type_name(type->id));
    }
    return snprintf(out, SINTER_TYPE_TEXT_MAX, "%s(%u)", sinter_type_name(type->id),
                    type->precision);
}

void
sinter_type_print(const sinter_type *type, char out[SINTER_TYPE_TEXT_MAX])
{
    const int length = print_base(type, out);

    assert(length > 0);
    assert((size_t)length + sizeof " NOT NULL" <= SINTER_TYPE_TEXT_MAX);
    if (!type->nullable) {
        memcpy(out + length, " NOT NULL", sizeof " NOT NULL");
    }
}

bool
sinter__type_is_compact(const sinter_type *type)
{
    switch (type->id) {
    case SINTER_TYPE_DECIMAL:
        return type->precision <= 18;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return type->precision <= 3;
    default:
        return true;
    }
}

bool
sinter__type_is_bytes(const sinter_type *type)
{
    return type->id >= SINTER_TYPE_CHAR && type->id <= SINTER_TYPE_VARBINARY;
}

/* How deep is asked here too: a caller's types may be anything. */
static const sinter_type *
without_values(const sinter_type *type, size_t depth)
{
    const sinter_type *refused = NULL;

    if (!sinter_type_is_nested(type)) {
        return type->id > SINTER_TYPE_ROW ? type : NULL;
    }
    if (type->parts == NULL || depth == SINTER_TYPE_DEPTH_MAX) {
        return type;
    }
    for (size_t i = 0; i < type->parts->count && refused == NULL; i++) {
        refused = without_values(&type->parts->fields[i].type, depth + 1);
    }
    return refused;
}

const sinter_type *
sinter__type_without_values(const sinter_type *type)
{
    return type->id < SINTER_TYPE_ARRAY ? NULL : without_values(type, 0);
}
