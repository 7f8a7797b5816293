#include "table/columnar_type.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { MILLI_DIGITS = 3, MICRO_DIGITS = 6 };

sinter_status
sinter__columnar_type_print(const sinter_type *type, char out[SINTER__ARROW_FORMAT_MAX],
                            sinter_error *err)
{
    static const char *const plain[] = {
        [SINTER_TYPE_BOOLEAN] = "b",   [SINTER_TYPE_TINYINT] = "c", [SINTER_TYPE_SMALLINT] = "s",
        [SINTER_TYPE_INT] = "i",       [SINTER_TYPE_BIGINT] = "l",  [SINTER_TYPE_FLOAT] = "f",
        [SINTER_TYPE_DOUBLE] = "g",    [SINTER_TYPE_DATE] = "tdD",  [SINTER_TYPE_TIME] = "ttm",
        [SINTER_TYPE_CHAR] = "u",      [SINTER_TYPE_VARCHAR] = "u", [SINTER_TYPE_BINARY] = "z",
        [SINTER_TYPE_VARBINARY] = "z",
    };
    const char *unit = "n";

    switch (type->id) {
    case SINTER_TYPE_DECIMAL:
        (void)snprintf(out, SINTER__ARROW_FORMAT_MAX, "d:%u,%u", type->precision, type->scale);
        return SINTER_OK;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        if (type->precision <= MICRO_DIGITS) {
            unit = type->precision <= MILLI_DIGITS ? "m" : "u";
        }
        (void)snprintf(out, SINTER__ARROW_FORMAT_MAX, "ts%s:%s", unit,
                       type->id == SINTER_TYPE_TIMESTAMP ? "" : "UTC");
        return SINTER_OK;
    default:
        break;
    }
    if (type->id < 0 || type->id >= (int32_t)(sizeof plain / sizeof plain[0]) ||
        plain[type->id] == NULL) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "%s in Parquet and ORC files",
                           sinter_type_name(type->id));
    }
    (void)snprintf(out, SINTER__ARROW_FORMAT_MAX, "%s", plain[type->id]);
    return SINTER_OK;
}

/* A schema owns one block: its children, their pointers, words, names and ids. */

enum { ID_TEXT_MAX = 12, METADATA_MAX = 40 };

typedef struct field_block {
    struct ArrowSchema schema;
    char format[SINTER__ARROW_FORMAT_MAX];
    char metadata[METADATA_MAX];
} field_block;

typedef struct schema_block {
    const sinter_env *env;
    struct ArrowSchema **children;
    field_block *fields;
    char *names;
} schema_block;

static void
release_block(schema_block *block)
{
    const sinter_env *env = block->env;

    sinter__free(env, block->children);
    sinter__free(env, block->fields);
    sinter__free(env, block->names);
    sinter__free(env, block);
}

/** A child is a part of its parent's block. */
static void
release_child(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void
release_root(struct ArrowSchema *schema)
{
    release_block(schema->private_data);
    schema->release = NULL;
}

/** One pair, "paimon.id" and the number, as Arrow's metadata is laid out. */
static void
print_id(int64_t id, char out[METADATA_MAX])
{
    static const char key[] = "paimon.id";
    const int32_t sizes[] = {1, (int32_t)sizeof key - 1};
    char text[ID_TEXT_MAX];
    const int32_t text_size = snprintf(text, sizeof text, "%d", (int)id);

    assert(text_size > 0 && text_size < ID_TEXT_MAX);
    memcpy(out, sizes, sizeof sizes);
    memcpy(out + sizeof sizes, key, sizeof key - 1);
    memcpy(out + sizeof sizes + sizeof key - 1, &text_size, sizeof text_size);
    memcpy(out + sizeof sizes + sizeof key - 1 + sizeof text_size, text, (size_t)text_size);
}

static sinter_status
fill_field(const sinter__columnar_field *given, const char *name, field_block *out,
           sinter_error *err)
{
    const sinter_status st = sinter__columnar_type_print(&given->type, out->format, err);

    if (st != SINTER_OK) {
        sinter__fail_context(err, "column %s", given->name);
        return st;
    }
    if (given->id >= 0) {
        print_id(given->id, out->metadata);
    }
    out->schema = (struct ArrowSchema){
        .format = out->format,
        .name = name,
        .metadata = given->id >= 0 ? out->metadata : NULL,
        .flags = given->type.nullable ? ARROW_FLAG_NULLABLE : 0,
        .release = release_child,
    };
    return SINTER_OK;
}

sinter_status
sinter__columnar_schema_make(const sinter_env *env, const sinter__columnar_field *fields,
                             size_t count, struct ArrowSchema *out, sinter_error *err)
{
    schema_block *block = NULL;
    size_t name_bytes = 0;
    char *name = NULL;
    sinter_status st = SINTER_OK;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        name_bytes += strlen(fields[i].name) + 1;
    }
    SINTER__TRY(SINTER__NEW(env, block, 1, err));
    block->env = env;
    SINTER__TRY(SINTER__NEW(env, block->children, count, err));
    SINTER__TRY(SINTER__NEW(env, block->fields, count, err));
    SINTER__TRY(SINTER__NEW(env, block->names, name_bytes, err));
    name = block->names;
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(fields[i].name) + 1;

        memcpy(name, fields[i].name, size);
        SINTER__TRY(fill_field(&fields[i], name, &block->fields[i], err));
        block->children[i] = &block->fields[i].schema;
        name += size;
    }
    *out = (struct ArrowSchema){
        .format = "+s",
        .name = "",
        .n_children = (int64_t)count,
        .children = block->children,
        .release = release_root,
        .private_data = block,
    };
    block = NULL;
out:
    if (block != NULL) {
        release_block(block);
    }
    return st;
}
