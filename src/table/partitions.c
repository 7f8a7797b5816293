#include "table/partitions.h"

#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "doc/binary.h"
#include "table/metadata_row.h"

enum { ARITY_BYTES = 4 };

static sinter_status
add_column(sinter__partitions *self, const sinter_schema *schema, size_t i, sinter_error *err)
{
    const size_t at = sinter_row_type_find(schema->row_type, schema->partition_keys[i]);
    sinter_type type;

    if (at == SIZE_MAX) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "there is no partition column \"%.100s\"",
                           schema->partition_keys[i]);
    }
    type = *sinter_row_type_column_type(schema->row_type, at);
    self->columns[i] = (sinter_column){schema->partition_keys[i], type};
    self->fields[i] = (sinter_field){.name = schema->partition_keys[i], .id = -1, .type = type};
    type.nullable = false;
    SINTER__CHECK(
        sinter_key_codec_create(self->arena.env, &type, 1, &self->codecs[self->count], err));
    self->count++;
    return SINTER_OK;
}

sinter_status
sinter__partitions_init(sinter__partitions *out, const sinter_schema *schema,
                        const sinter__table_options *options, sinter_error *err)
{
    const size_t room = schema->partition_key_count + 1;
    sinter__arena *arena = &out->arena;

    sinter_text_init(arena->env, &out->key);
    out->names = options->partition_names;
    SINTER__CHECK(
        sinter__arena_take(arena, room * sizeof *out->columns, (void **)&out->columns, err));
    SINTER__CHECK(
        sinter__arena_take(arena, room * sizeof *out->fields, (void **)&out->fields, err));
    SINTER__CHECK(
        sinter__arena_take(arena, room * sizeof *out->codecs, (void **)&out->codecs, err));
    SINTER__CHECK(
        sinter__arena_take(arena, room * sizeof *out->values, (void **)&out->values, err));
    for (size_t i = 0; i < schema->partition_key_count; i++) {
        SINTER__CHECK(add_column(out, schema, i, err));
    }
    return SINTER_OK;
}

void
sinter__partitions_fini(sinter__partitions *self)
{
    for (size_t i = 0; i < self->count; i++) {
        sinter_key_codec_destroy(self->codecs[i]);
    }
    if (self->key.env != NULL) {
        sinter_text_fini(&self->key);
    }
    sinter__arena_fini(&self->arena);
}

/** Read a row into `values`, which borrow from it. */
static sinter_status
read_row(const sinter__partitions *self, sinter_bytes row, sinter_datum *values, sinter_error *err)
{
    sinter__slots slots;

    SINTER__CHECK(sinter__metadata_row_open(row, self->count, &slots, err));
    for (size_t i = 0; i < self->count; i++) {
        SINTER__CHECK(sinter__slots_get(&slots, &self->columns[i].type, i, &values[i], err));
    }
    return SINTER_OK;
}

sinter_status
sinter__partitions_path(sinter__partitions *self, sinter_bytes row, sinter_text *out,
                        sinter_error *err)
{
    SINTER__CHECK(read_row(self, row, self->values, err));
    return sinter__partition_path(&self->names, self->columns, self->count, self->values, out, err);
}

/* ---- order ---- */

/** Order of two values of column `i` that aren't null. */
static sinter_status
compare(sinter__partitions *self, size_t i, const sinter_datum *a, const sinter_datum *b, int *out,
        sinter_error *err)
{
    sinter_bytes keys;
    size_t first = 0;

    sinter_text_reset(&self->key);
    SINTER__CHECK(sinter_key_encode(self->codecs[i], a, &self->key, err));
    first = sinter_text_bytes(&self->key).size;
    SINTER__CHECK(sinter_key_encode(self->codecs[i], b, &self->key, err));
    keys = sinter_text_bytes(&self->key);
    *out = sinter__key_compare((sinter_bytes){keys.data, first},
                               (sinter_bytes){keys.data + first, keys.size - first});
    return SINTER_OK;
}

/** Bounds of the partitions so far. */
typedef struct bounds {
    sinter_datum *min;
    sinter_datum *max;
    int64_t *nulls;
} bounds;

static sinter_status
widen(sinter__partitions *self, bounds *to, size_t i, sinter_error *err)
{
    const sinter_datum *value = &self->values[i];
    int order = 0;

    if (value->is_null) {
        to->nulls[i]++;
        return SINTER_OK;
    }
    if (to->min[i].is_null) {
        to->min[i] = to->max[i] = *value;
        return SINTER_OK;
    }
    SINTER__CHECK(compare(self, i, value, &to->min[i], &order, err));
    if (order < 0) {
        to->min[i] = *value;
    }
    SINTER__CHECK(compare(self, i, value, &to->max[i], &order, err));
    if (order > 0) {
        to->max[i] = *value;
    }
    return SINTER_OK;
}

/** Write values as a row with its arity. */
static sinter_status
make_row(const sinter__partitions *self, const sinter_datum *values, sinter__arena *arena,
         sinter_bytes *out, sinter_error *err)
{
    const sinter__shape shape = {.fields = self->fields, .count = self->count};
    uint8_t *row = NULL;
    size_t size = 0;

    SINTER__CHECK(sinter__binary_size(&shape, values, &size, err));
    SINTER__CHECK(sinter__arena_take(arena, ARITY_BYTES + size, (void **)&row, err));
    memset(row, 0, ARITY_BYTES + size);
    sinter__put_be32(row, (uint32_t)self->count);
    sinter__binary_put(&shape, values, row + ARITY_BYTES);
    *out = (sinter_bytes){row, ARITY_BYTES + size};
    return SINTER_OK;
}

static sinter_status
bounds_init(const sinter__partitions *self, sinter__arena *arena, bounds *out, sinter_error *err)
{
    const size_t room = self->count + 1;

    SINTER__CHECK(sinter__arena_take(arena, room * sizeof *out->min, (void **)&out->min, err));
    SINTER__CHECK(sinter__arena_take(arena, room * sizeof *out->max, (void **)&out->max, err));
    SINTER__CHECK(sinter__arena_take(arena, room * sizeof *out->nulls, (void **)&out->nulls, err));
    for (size_t i = 0; i < self->count; i++) {
        out->min[i] = out->max[i] = (sinter_datum){.is_null = true};
        out->nulls[i] = 0;
    }
    return SINTER_OK;
}

/** Widen the bounds by a partition. One that comes again only has its nulls counted. */
static sinter_status
add_row(sinter__partitions *self, bounds *to, sinter_bytes row, bool is_again, sinter_error *err)
{
    if (!is_again) {
        SINTER__CHECK(read_row(self, row, self->values, err));
    }
    for (size_t i = 0; i < self->count; i++) {
        if (!is_again || self->values[i].is_null) {
            SINTER__CHECK(widen(self, to, i, err));
        }
    }
    return SINTER_OK;
}

sinter_status
sinter__partitions_stats(sinter__partitions *self, const sinter__manifest_entry *const *entries,
                         size_t count, sinter__arena *arena, sinter__simple_stats *out,
                         sinter_error *err)
{
    bounds b = {0};

    SINTER__CHECK(bounds_init(self, arena, &b, err));
    for (size_t i = 0; i < count; i++) {
        const sinter_bytes row = entries[i]->partition;

        SINTER__CHECK(add_row(self, &b, row,
                              i > 0 && sinter__key_equal(row, entries[i - 1]->partition), err));
    }
    *out = (sinter__simple_stats){.null_counts = {b.nulls, self->count},
                                  .has = SINTER__STATS_HAS_NULL_COUNTS};
    SINTER__CHECK(make_row(self, b.min, arena, &out->min_values, err));
    return make_row(self, b.max, arena, &out->max_values, err);
}

/** May column `i` have this value, by its bounds? */
static sinter_status
column_may_hold(sinter__partitions *self, const sinter__manifest_meta *meta, size_t i,
                const sinter_datum *bound[2], bool *out, sinter_error *err)
{
    const sinter_datum *value = &self->values[i];
    const sinter__int64_list *nulls = &meta->partition_stats.null_counts;
    int order = 0;

    *out = true;
    if (value->is_null) {
        *out = i >= nulls->count || nulls->items[i] != 0; /* unknown ones are not 0 */
        return SINTER_OK;
    }
    if (!bound[0][i].is_null) {
        SINTER__CHECK(compare(self, i, value, &bound[0][i], &order, err));
        *out = order >= 0;
    }
    if (*out && !bound[1][i].is_null) {
        SINTER__CHECK(compare(self, i, value, &bound[1][i], &order, err));
        *out = order <= 0;
    }
    return SINTER_OK;
}

sinter_status
sinter__partitions_may_hold(sinter__partitions *self, const sinter__manifest_meta *meta,
                            sinter_bytes row, bool *out, sinter_error *err)
{
    const sinter__simple_stats *stats = &meta->partition_stats;
    sinter_datum *bound[2] = {NULL, NULL};
    sinter_status st = SINTER_OK;

    *out = true;
    if (self->count == 0) {
        return SINTER_OK;
    }
    SINTER__TRY(SINTER__NEW(self->arena.env, bound[0], self->count, err));
    SINTER__TRY(SINTER__NEW(self->arena.env, bound[1], self->count, err));
    SINTER__TRY(read_row(self, row, self->values, err));
    if (read_row(self, stats->min_values, bound[0], NULL) != SINTER_OK ||
        read_row(self, stats->max_values, bound[1], NULL) != SINTER_OK) {
        goto out; /* what can't be read is not known */
    }
    for (size_t i = 0; i < self->count && *out; i++) {
        SINTER__TRY(column_may_hold(self, meta, i, (const sinter_datum *[2]){bound[0], bound[1]},
                                    out, err));
    }
out:
    sinter__free(self->arena.env, bound[0]);
    sinter__free(self->arena.env, bound[1]);
    return st;
}
