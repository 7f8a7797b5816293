#include "table/row_place.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "doc/text.h"
#include "sinter/bucket.h"
#include "table/schema_check.h"

enum { ARITY_BYTES = 4, EMPTY_ROW_BYTES = 8 };

/* Columns by name, on their way into a row type. */
typedef struct column_set {
    sinter_column *columns;
    size_t *positions;
    size_t count;
} column_set;

static sinter_status
take_room(sinter__row_place *self, const sinter_schema *schema, column_set *out, sinter_error *err)
{
    const size_t count = sinter_row_type_count(schema->row_type);

    out->count = 0;
    SINTER__CHECK(sinter__arena_take(&self->arena, count * sizeof *out->columns,
                                     (void **)&out->columns, err));
    return sinter__arena_take(&self->arena, count * sizeof *out->positions,
                              (void **)&out->positions, err);
}

static sinter_status
add_column(column_set *set, const sinter_schema *schema, sinter_bytes name, sinter_error *err)
{
    const size_t columns = sinter_row_type_count(schema->row_type);

    for (size_t i = 0; i < columns && set->count < columns; i++) {
        const char *column = sinter_row_type_column_name(schema->row_type, i);

        if (sinter__name_is(name, column)) {
            set->columns[set->count] =
                (sinter_column){column, *sinter_row_type_column_type(schema->row_type, i)};
            set->positions[set->count++] = i;
            return SINTER_OK;
        }
    }
    return SINTER__ERR(err, SINTER_E_INVALID, "there is no column \"%.*s\", or it is named twice",
                       (int)(name.size < 100 ? name.size : 100), (const char *)name.data);
}

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

static sinter_status
make_type(const sinter__row_place *self, const column_set *set, sinter_row_type **out,
          sinter_error *err)
{
    const sinter_row_layout layout = {
        .struct_size = (uint32_t)sizeof layout, .columns = set->columns, .count = set->count};

    return sinter_row_type_create(self->arena.env, &layout, out, err);
}

static sinter_status
find_partition(sinter__row_place *self, const sinter_schema *schema, sinter_error *err)
{
    column_set set;

    SINTER__CHECK(take_room(self, schema, &set, err));
    for (size_t i = 0; i < schema->partition_key_count; i++) {
        SINTER__CHECK(add_column(&set, schema, bytes_of(schema->partition_keys[i]), err));
    }
    self->partition_columns = set.positions;
    return set.count == 0 ? SINTER_OK : make_type(self, &set, &self->partition_type, err);
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
add_primary_key(column_set *set, const sinter_schema *schema, sinter_error *err)
{
    for (size_t i = 0; i < schema->primary_key_count; i++) {
        if (!is_partition_key(schema, schema->primary_keys[i])) {
            SINTER__CHECK(add_column(set, schema, bytes_of(schema->primary_keys[i]), err));
        }
    }
    return SINTER_OK;
}

/* The bucket key: as the option says, else the primary key without partition columns. */
static sinter_status
find_bucket_key(sinter__row_place *self, const sinter_schema *schema, sinter_error *err)
{
    const char *at = sinter_schema_option(schema, "bucket-key");
    sinter_bytes name;
    column_set set;

    SINTER__CHECK(take_room(self, schema, &set, err));
    if (at == NULL || at[0] == '\0') {
        SINTER__CHECK(add_primary_key(&set, schema, err));
        at = NULL;
    }
    while (sinter__name_list_next(&at, &name)) {
        SINTER__CHECK(add_column(&set, schema, name, err));
    }
    if (set.count == 0) {
        return SINTER__ERR(err, SINTER_E_INVALID, "buckets without a bucket-key");
    }
    self->bucket_columns = set.positions;
    self->bucket_column_count = set.count;
    return make_type(self, &set, &self->bucket_type, err);
}

static sinter_status
find_function(sinter__row_place *self, const sinter_schema *schema, sinter_error *err)
{
    static const char key[] = "bucket-function.type";
    const char *name = sinter_schema_option(schema, key);
    int32_t id = 0;

    if (name == NULL || strcmp(name, "default") == 0) {
        return SINTER_OK;
    }
    self->is_modulo = strcmp(name, "mod") == 0;
    if (!self->is_modulo) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "option %s: \"%.60s\" is not known", key,
                           name);
    }
    id = sinter_row_type_column_type(self->bucket_type, 0)->id;
    if (self->bucket_column_count != 1 || (id != SINTER_TYPE_INT && id != SINTER_TYPE_BIGINT)) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "option %s mod: the bucket-key must be one INT or BIGINT", key);
    }
    return SINTER_OK;
}

sinter_status
sinter__row_place_init(sinter__row_place *out, const sinter_schema *schema,
                       const sinter__table_options *options, sinter_error *err)
{
    const sinter_env *env = out->arena.env;
    const size_t columns = sinter_row_type_count(schema->row_type);

    sinter_text_init(env, &out->partition);
    sinter_text_init(env, &out->key);
    SINTER__CHECK(
        sinter__arena_take(&out->arena, columns * sizeof *out->values, (void **)&out->values, err));
    SINTER__CHECK(find_partition(out, schema, err));
    if (options->bucket > 0) {
        out->buckets = (int32_t)options->bucket;
        SINTER__CHECK(find_bucket_key(out, schema, err));
        SINTER__CHECK(find_function(out, schema, err));
    }
    return SINTER_OK;
}

void
sinter__row_place_fini(sinter__row_place *self)
{
    sinter_row_type_destroy(self->partition_type);
    sinter_row_type_destroy(self->bucket_type);
    sinter_text_fini(&self->partition);
    sinter_text_fini(&self->key);
    sinter__arena_fini(&self->arena);
}

static void
pick_values(sinter__row_place *self, const size_t *columns, size_t count,
            const sinter_datum *values)
{
    for (size_t i = 0; i < count; i++) {
        self->values[i] = values[columns[i]];
    }
}

static sinter_status
put_partition(sinter__row_place *self, const sinter_datum *values, sinter_error *err)
{
    const size_t count =
        self->partition_type == NULL ? 0 : sinter_row_type_count(self->partition_type);
    uint8_t arity[ARITY_BYTES];

    sinter__put_be32(arity, (uint32_t)count);
    sinter_text_reset(&self->partition);
    SINTER__CHECK(sinter_text_append(&self->partition, arity, sizeof arity, err));
    if (count == 0) {
        return sinter__text_fill(&self->partition, '\0', EMPTY_ROW_BYTES, err);
    }
    pick_values(self, self->partition_columns, count, values);
    return sinter_row_encode(self->partition_type, self->values, SINTER_KIND_INSERT,
                             &self->partition, err);
}

sinter_status
sinter__row_place_find(sinter__row_place *self, const sinter_datum *values,
                       sinter_bytes *partition_out, int32_t *bucket_out, sinter_error *err)
{
    SINTER__CHECK(put_partition(self, values, err));
    *partition_out = sinter_text_bytes(&self->partition);
    *bucket_out = 0;
    if (self->bucket_type == NULL) {
        return SINTER_OK;
    }
    pick_values(self, self->bucket_columns, self->bucket_column_count, values);
    sinter_text_reset(&self->key);
    SINTER__CHECK(sinter_bucket_key_encode(self->bucket_type, self->values, &self->key, err));
    *bucket_out =
        self->is_modulo
            ? sinter_bucket_of_number(self->values[0].as.integer, self->buckets)
            : sinter_bucket_of_hash(sinter_row_hash(sinter_text_bytes(&self->key)), self->buckets);
    return SINTER_OK;
}
