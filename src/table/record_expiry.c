#include "table/record_expiry.h"

#include "base/fail.h"
#include "compact/parse.h"
#include "doc/binary.h"
#include "table/manifest_entry.h"
#include "table/metadata_row.h"
#include "table/schema_check.h"

enum { MS_PER_S = 1000 };

static const char time_key[] = "record-level.expire-time";
static const char field_key[] = "record-level.time-field";
/* A BIGINT from here on is milliseconds. */
static const int64_t MS_FROM = 1000000000000;

static bool
is_time(const sinter_type *type)
{
    return type->id == SINTER_TYPE_INT || type->id == SINTER_TYPE_BIGINT ||
           type->id == SINTER_TYPE_TIMESTAMP || type->id == SINTER_TYPE_TIMESTAMP_LTZ;
}

/* Of a value that isn't null. Rounded towards 0, as Paimon does it. */
static int64_t
seconds_of(const sinter_type *type, const sinter_datum *value)
{
    const bool is_ms =
        type->id == SINTER_TYPE_BIGINT ? value->as.integer >= MS_FROM : type->id != SINTER_TYPE_INT;

    return is_ms ? value->as.integer / MS_PER_S : value->as.integer;
}

sinter_status
sinter__record_expiry_load(sinter_table *table, const sinter__scan_columns *columns, int64_t now_ms,
                           sinter__record_expiry *out, sinter_error *err)
{
    const sinter_schema *schema = columns->schema;
    const char *time = sinter_schema_option(schema, time_key);
    const char *field = sinter_schema_option(schema, field_key);
    int64_t expire_ms = 0;

    *out = (sinter__record_expiry){.table = table, .columns = columns};
    if (time == NULL || schema->primary_key_count == 0) {
        return SINTER_OK;
    }
    if (sinter__parse_duration(time, &expire_ms, NULL) != SINTER_OK) {
        return SINTER__ERR(err, SINTER_E_INVALID, "option %s: \"%.60s\" is no duration", time_key,
                           time);
    }
    out->column = field == NULL ? SIZE_MAX : sinter_row_type_find(schema->row_type, field);
    if (out->column == SIZE_MAX ||
        !is_time(sinter_row_type_column_type(schema->row_type, out->column))) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "option %s: \"%.100s\" is no column of type INT, BIGINT or TIMESTAMP",
                           field_key, field == NULL ? "" : field);
    }
    out->oldest_s = now_ms / MS_PER_S - expire_ms / MS_PER_S;
    out->is_on = true;
    return SINTER_OK;
}

/* ---- files ---- */

/* Position of a column by its id; SIZE_MAX: there is none. */
static size_t
find_id(const sinter_row_type *type, int64_t id)
{
    for (size_t i = 0; i < sinter_row_type_count(type); i++) {
        if (sinter_row_type_column_id(type, i) == id) {
            return i;
        }
    }
    return SIZE_MAX;
}

static size_t
find_name(const sinter__bytes_list *names, const char *name)
{
    size_t i = 0;

    while (i < names->count && !sinter__name_is(names->items[i], name)) {
        i++;
    }
    return i < names->count ? i : SIZE_MAX;
}

bool
sinter__record_expiry_of_file(void *ctx, const sinter_file_meta *meta)
{
    const sinter__record_expiry *self = ctx;
    const sinter__manifest_entry *entry = meta->carried;
    const sinter_row_type *own = self->columns->schema->row_type;
    const sinter_schema *schema = NULL;
    sinter__stats_column place = {.row_count = entry->file.row_count};
    sinter__column_bounds bounds = {.has_min = false};
    size_t at = 0;

    if (!self->is_on ||
        sinter_table_schema_get(self->table, entry->file.schema_id, &schema, NULL) != SINTER_OK) {
        return false;
    }
    at = find_id(schema->row_type, sinter_row_type_column_id(own, self->column));
    if (at == SIZE_MAX || !is_time(sinter_row_type_column_type(schema->row_type, at))) {
        return false;
    }
    place.type = sinter_row_type_column_type(schema->row_type, at);
    place.arity = sinter_row_type_count(schema->row_type);
    place.index = at;
    if ((entry->file.has & SINTER__FILE_HAS_VALUE_STATS_COLS) != 0) {
        place.arity = entry->file.value_stats_cols.count;
        place.index = find_name(&entry->file.value_stats_cols,
                                sinter_row_type_column_name(schema->row_type, at));
    }
    sinter__stats_bounds(&entry->file.value_stats, &place, &bounds);
    return bounds.has_min && seconds_of(place.type, &bounds.min) < self->oldest_s;
}

/* ---- rows ---- */

bool
sinter__record_expiry_keeps(void *ctx, const sinter_batch *batch, uint32_t row)
{
    const sinter__record_expiry *self = ctx;
    const sinter_type *type = &self->columns->fields[self->column].type;
    sinter_datum value = {.is_null = true};
    sinter__slots slots;

    return sinter__slots_of_row(self->columns->count, batch->payload_ops->value(batch, row), &slots,
                                NULL) != SINTER_OK ||
           sinter__slots_get(&slots, type, self->column, &value, NULL) != SINTER_OK ||
           value.is_null || seconds_of(type, &value) >= self->oldest_s;
}
