#include "table/columnar_type.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"

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

/* A schema owns an arena with all that is in it. */

enum { ID_TEXT_MAX = 24, METADATA_MAX = 56 };

/** A column, or a part of one. */
typedef struct field_plan {
    const char *name;
    const sinter_type *type;
    int64_t id;    /* -1: none, nor in it */
    int64_t owner; /* id of the column or field of a ROW that it belongs to */
    int64_t depth; /* inside of it */
} field_plan;

/** A child is a part of its parent's arena. */
static void
release_child(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void
release_root(struct ArrowSchema *schema)
{
    sinter__arena arena = *(sinter__arena *)schema->private_data;

    sinter__arena_fini(&arena);
    schema->release = NULL;
}

/** One pair, "paimon.id" and the number, as Arrow's metadata is laid out. */
static sinter_status
make_metadata(sinter__arena *arena, int64_t id, const char **out, sinter_error *err)
{
    static const char key[] = "paimon.id";
    const int32_t sizes[] = {1, (int32_t)sizeof key - 1};
    char metadata[METADATA_MAX] = {0};
    sinter_bytes copy = {(const uint8_t *)metadata, sizeof metadata};
    char *at = metadata + sizeof sizes + sizeof key - 1;
    char text[ID_TEXT_MAX];
    const int32_t text_size = snprintf(text, sizeof text, "%d", (int)id);

    assert(text_size > 0 && text_size < ID_TEXT_MAX);
    memcpy(metadata, sizes, sizeof sizes);
    memcpy(metadata + sizeof sizes, key, sizeof key - 1);
    memcpy(at, &text_size, sizeof text_size);
    memcpy(at + sizeof text_size, text, (size_t)text_size);
    SINTER__CHECK(sinter__arena_copy(arena, copy, &copy, err));
    *out = (const char *)copy.data;
    return SINTER_OK;
}

/** How part `index` of a nested type stands in the schema. Source: table-layout.md 9.3. */
static field_plan
plan_part(const field_plan *plan, size_t index)
{
    enum { BASE = INT32_MAX / 4, IDS_OF_FIELD = 1024 };
    const sinter_field *field = &plan->type->parts->fields[index];
    field_plan part = {.type = &field->type, .owner = plan->owner, .depth = plan->depth + 1};

    if (plan->type->id == SINTER_TYPE_ROW) {
        part = (field_plan){field->name, &field->type, field->id, field->id, 0};
    } else if (plan->type->id == SINTER_TYPE_ARRAY) {
        part.name = "element";
        part.id = BASE + IDS_OF_FIELD * plan->owner + part.depth;
    } else {
        part.name = index == 0 ? "key" : "value";
        part.id = index == 0 ? BASE - IDS_OF_FIELD * plan->owner - part.depth
                             : BASE + IDS_OF_FIELD * plan->owner + part.depth;
    }
    part.id = plan->id < 0 ? -1 : part.id;
    return part;
}

static sinter_status
make_children(sinter__arena *arena, size_t count, struct ArrowSchema *parent, sinter_error *err)
{
    struct ArrowSchema *children = NULL;

    SINTER__CHECK(sinter__arena_take(arena, (count + 1) * sizeof *parent->children,
                                     (void **)&parent->children, err));
    SINTER__CHECK(
        sinter__arena_take(arena, (count + 1) * sizeof *children, (void **)&children, err));
    for (size_t i = 0; i < count; i++) {
        parent->children[i] = &children[i];
    }
    parent->n_children = (int64_t)count;
    return SINTER_OK;
}

static sinter_status
make_field(sinter__arena *arena, const field_plan *plan, struct ArrowSchema *out,
           sinter_error *err);

/** Parts of a nested type; Arrow has a struct between a map and its key. */
static sinter_status
make_parts(sinter__arena *arena, const field_plan *plan, struct ArrowSchema *out, sinter_error *err)
{
    struct ArrowSchema *parent = out;

    if (plan->type->id == SINTER_TYPE_MAP || plan->type->id == SINTER_TYPE_MULTISET) {
        SINTER__CHECK(make_children(arena, 1, out, err));
        parent = out->children[0];
        *parent = (struct ArrowSchema){.format = "+s", .name = "entries", .release = release_child};
    }
    SINTER__CHECK(make_children(arena, plan->type->parts->count, parent, err));
    for (size_t i = 0; i < plan->type->parts->count; i++) {
        const field_plan part = plan_part(plan, i);

        SINTER__CHECK(make_field(arena, &part, parent->children[i], err));
    }
    if (parent != out) { /* keys are never null */
        parent->children[0]->flags = 0;
    }
    return SINTER_OK;
}

static sinter_status
make_field(sinter__arena *arena, const field_plan *plan, struct ArrowSchema *out, sinter_error *err)
{
    const sinter_type *type = plan->type;
    const bool is_nested = sinter_type_is_nested(type) && type->parts != NULL;
    char format[SINTER__ARROW_FORMAT_MAX] = "+m";

    if (type->id == SINTER_TYPE_ROW || type->id == SINTER_TYPE_ARRAY) {
        memcpy(format, type->id == SINTER_TYPE_ROW ? "+s" : "+l", sizeof "+s");
    }
    if (!is_nested) {
        SINTER__CHECK(sinter__columnar_type_print(type, format, err));
    }
    *out = (struct ArrowSchema){.flags = type->nullable ? ARROW_FLAG_NULLABLE : 0,
                                .release = release_child};
    SINTER__CHECK(sinter__arena_strdup(arena, format, &out->format, err));
    SINTER__CHECK(sinter__arena_strdup(arena, plan->name, &out->name, err));
    if (plan->id >= 0) {
        SINTER__CHECK(make_metadata(arena, plan->id, &out->metadata, err));
    }
    return is_nested ? make_parts(arena, plan, out, err) : SINTER_OK;
}

sinter_status
sinter__columnar_schema_make(const sinter_env *env, const sinter__columnar_field *fields,
                             size_t count, struct ArrowSchema *out, sinter_error *err)
{
    struct ArrowSchema root = {.format = "+s", .name = "", .release = release_root};
    sinter__arena arena = {.env = env};
    sinter__arena *own = NULL;
    sinter_status st = SINTER_OK;

    memset(out, 0, sizeof *out);
    SINTER__TRY(sinter__arena_take(&arena, sizeof *own, (void **)&own, err));
    SINTER__TRY(make_children(&arena, count, &root, err));
    for (size_t i = 0; i < count; i++) {
        const field_plan plan = {fields[i].name, &fields[i].type, fields[i].id, fields[i].id, 0};

        st = make_field(&arena, &plan, root.children[i], err);
        if (st != SINTER_OK) {
            sinter__fail_context(err, "column %s", fields[i].name);
            goto out;
        }
    }
    *own = arena;
    arena = (sinter__arena){0};
    root.private_data = own;
    *out = root;
out:
    if (arena.env != NULL) {
        sinter__arena_fini(&arena);
    }
    return st;
}

sinter_status
sinter__columnar_check_fields(const struct ArrowSchema *field, const sinter_type *type,
                              sinter_error *err)
{
    const bool is_map = strcmp(field->format, "+m") == 0 && field->n_children == 1;
    const struct ArrowSchema *parent = is_map ? field->children[0] : field;

    if (!sinter_type_is_nested(type) || type->parts == NULL ||
        parent->n_children != (int64_t)type->parts->count) {
        return SINTER_OK;
    }
    for (size_t i = 0; i < type->parts->count; i++) {
        const sinter_field *part = &type->parts->fields[i];

        if (type->id == SINTER_TYPE_ROW && strcmp(parent->children[i]->name, part->name) != 0) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "the file has a field %.100s for %.100s",
                               parent->children[i]->name, part->name);
        }
        SINTER__CHECK(sinter__columnar_check_fields(parent->children[i], &part->type, err));
    }
    return SINTER_OK;
}
