#include "table/scan_columns.h"

#include <string.h>

#include "base/fail.h"

/* Position of a column among those that are read, which it joins if it is new. */
static size_t
need(sinter__scan_columns *c, size_t position)
{
    size_t i = 0;

    while (i < c->count && c->positions[i] != position) {
        i++;
    }
    if (i == c->count) {
        c->positions[i] = position;
        c->fields[i] =
            (sinter_field){.name = sinter_row_type_column_name(c->schema->row_type, position),
                           .id = sinter_row_type_column_id(c->schema->row_type, position),
                           .type = *sinter_row_type_column_type(c->schema->row_type, position)};
        c->count++;
    }
    return i;
}

static sinter_status
find(const sinter__scan_columns *c, const char *name, size_t *out, sinter_error *err)
{
    *out = sinter_row_type_find(c->schema->row_type, name);
    return *out != SIZE_MAX
               ? SINTER_OK
               : SINTER__ERR(err, SINTER_E_INVALID, "the table has no column \"%.100s\"", name);
}

static sinter_status
add_shown(sinter__scan_columns *c, const char *const *names, size_t count, sinter_error *err)
{
    const size_t all = sinter_row_type_count(c->schema->row_type);
    sinter_row_layout layout = {.struct_size = (uint32_t)sizeof layout};
    sinter_column *shown = NULL;

    for (size_t i = 0; i < (names == NULL ? all : count); i++) {
        size_t position = i;

        if (names != NULL) {
            SINTER__CHECK(find(c, names[i], &position, err));
        }
        if (need(c, position) < i && names != NULL) {
            return SINTER__ERR(err, SINTER_E_INVALID, "column \"%.100s\" is asked for twice",
                               names[i]);
        }
    }
    c->shown_count = c->count;
    SINTER__CHECK(
        sinter__arena_take(&c->arena, (c->count + 1) * sizeof *shown, (void **)&shown, err));
    for (size_t i = 0; i < c->count; i++) {
        shown[i] = (sinter_column){.name = c->fields[i].name, .type = c->fields[i].type};
    }
    layout.columns = shown;
    layout.count = c->count;
    return sinter_row_type_create(c->arena.env, &layout, &c->shown, err);
}

static bool
is_partition_key(const sinter_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->partition_key_count; i++) {
        if (strcmp(schema->partition_keys[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static sinter_status
add_keys(sinter__scan_columns *c, sinter_error *err)
{
    const sinter_schema *schema = c->schema;
    sinter_type *types = NULL;
    size_t position = 0;

    for (size_t i = 0; i < schema->partition_key_count; i++) {
        SINTER__CHECK(find(c, schema->partition_keys[i], &c->partition_keys[i], err));
    }
    if (schema->primary_key_count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(&c->arena, schema->primary_key_count * sizeof *types,
                                     (void **)&types, err));
    for (size_t i = 0; i < schema->primary_key_count; i++) {
        if (!is_partition_key(schema, schema->primary_keys[i])) {
            SINTER__CHECK(find(c, schema->primary_keys[i], &position, err));
            c->keys[c->key_count] = need(c, position);
            types[c->key_count] = c->fields[c->keys[c->key_count]].type;
            c->key_count++;
        }
    }
    return sinter_key_codec_create(c->arena.env, types, c->key_count, &c->key_codec, err);
}

/* Names parted by commas, blanks around them don't count. */
static sinter_status
add_sequences(sinter__scan_columns *c, const sinter__table_options *options, sinter_error *err)
{
    const char *at = options->sequence_field;
    size_t position = 0;

    while (at != NULL && c->key_codec != NULL) {
        size_t size = 0;
        char *name = NULL;

        at += strspn(at, " \t");
        size = strcspn(at, ",");
        while (size > 0 && (at[size - 1] == ' ' || at[size - 1] == '\t')) {
            size--;
        }
        SINTER__CHECK(sinter__arena_take(&c->arena, size + 1, (void **)&name, err));
        memcpy(name, at, size);
        name[size] = '\0';
        if (c->sequence_count == sinter_row_type_count(c->schema->row_type)) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "option sequence.field names more columns than there are");
        }
        SINTER__CHECK(find(c, name, &position, err));
        c->sequences[c->sequence_count++] = need(c, position);
        at = strchr(at, ',');
        at = at == NULL ? NULL : at + 1;
    }
    if (c->sequence_count > 0) {
        const sinter__sequence_columns columns = {.fields = c->fields,
                                                  .field_count = c->count,
                                                  .positions = c->sequences,
                                                  .count = c->sequence_count,
                                                  .is_descending = options->sequence_descending};

        return sinter__sequence_order_create(c->arena.env, &columns, &c->order, err);
    }
    return SINTER_OK;
}

sinter_status
sinter__scan_columns_init(sinter__scan_columns *out, const sinter_schema *schema,
                          const sinter__table_options *options, const char *const *names,
                          size_t count, sinter_error *err)
{
    const size_t most = sinter_row_type_count(schema->row_type);

    out->schema = schema;
    SINTER__CHECK(
        sinter__arena_take(&out->arena, most * sizeof *out->fields, (void **)&out->fields, err));
    SINTER__CHECK(sinter__arena_take(&out->arena, most * sizeof *out->positions,
                                     (void **)&out->positions, err));
    SINTER__CHECK(
        sinter__arena_take(&out->arena, most * sizeof *out->keys, (void **)&out->keys, err));
    SINTER__CHECK(sinter__arena_take(&out->arena,
                                     (schema->partition_key_count + 1) * sizeof(size_t),
                                     (void **)&out->partition_keys, err));
    SINTER__CHECK(sinter__arena_take(&out->arena, most * sizeof *out->sequences,
                                     (void **)&out->sequences, err));
    SINTER__CHECK(add_shown(out, names, count, err));
    for (size_t i = 0; out->also != NULL && i < most; i++) {
        if (out->also[i]) {
            (void)need(out, i);
        }
    }
    SINTER__CHECK(add_keys(out, err));
    SINTER__CHECK(add_sequences(out, options, err));
    out->plan = (sinter__row_plan){.row_type = schema->row_type,
                                   .fields = out->fields,
                                   .positions = out->positions,
                                   .count = out->count,
                                   .keys = out->keys,
                                   .key_count = out->key_count,
                                   .key_codec = out->key_codec};
    return SINTER_OK;
}

void
sinter__scan_columns_fini(sinter__scan_columns *c)
{
    sinter__sequence_order_destroy(c->order);
    sinter_key_codec_destroy(c->key_codec);
    sinter_row_type_destroy(c->shown);
    sinter__arena_fini(&c->arena);
}
