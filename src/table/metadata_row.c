#include "table/metadata_row.h"

#include "base/bytes.h"
#include "base/fail.h"

enum { ARITY_BYTES = 4, NANOS_LAST = 999999 };

sinter_status
sinter__metadata_row_open(sinter_bytes row, size_t count, sinter__slots *out, sinter_error *err)
{
    if (row.size < ARITY_BYTES || sinter__get_be32(row.data) != count) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a row of %zu columns expected", count);
    }
    return sinter__slots_of_row(
        count, (sinter_bytes){row.data + ARITY_BYTES, row.size - ARITY_BYTES}, out, err);
}

void
sinter__partition_bounds(const sinter_schema *schema, const size_t *partition_keys,
                         sinter_bytes partition, sinter__column_bounds *bounds)
{
    const size_t count = schema->partition_key_count;
    sinter__slots slots;
    const bool is_row = sinter__metadata_row_open(partition, count, &slots, NULL) == SINTER_OK;

    for (size_t i = 0; i < count; i++) {
        const sinter_type *type = sinter_row_type_column_type(schema->row_type, partition_keys[i]);
        sinter__column_bounds *b = &bounds[partition_keys[i]];
        sinter_datum value;

        *b = (sinter__column_bounds){0};
        if (is_row && sinter__slots_get(&slots, type, i, &value, NULL) == SINTER_OK) {
            b->has_null_count = true;
            b->row_count = 1;
            b->null_count = value.is_null;
            b->has_min = b->has_max = !value.is_null;
            b->min = b->max = value;
        }
    }
}

/* One bound; null and NaN are none. */
static bool
get_bound(sinter_bytes row, const sinter__stats_column *column, sinter_datum *out)
{
    const sinter_type *type = column->type;
    sinter__slots slots;

    if (sinter__metadata_row_open(row, column->arity, &slots, NULL) != SINTER_OK ||
        sinter__slots_get(&slots, type, column->index, out, NULL) != SINTER_OK || out->is_null) {
        return false;
    }
    if (type->id == SINTER_TYPE_FLOAT) {
        return (out->as.float_bits & 0x7fffffffu) <= 0x7f800000u;
    }
    return type->id != SINTER_TYPE_DOUBLE ||
           (out->as.double_bits & INT64_MAX) <= 0x7ff0000000000000u;
}

/* Writers that know of one zero only may mean the other one too. */
static void
widen_zero(const sinter_type *type, sinter__column_bounds *b)
{
    if (type->id == SINTER_TYPE_FLOAT) {
        b->min.as.float_bits = b->min.as.float_bits == 0 ? 1u << 31 : b->min.as.float_bits;
        b->max.as.float_bits = b->max.as.float_bits == 1u << 31 ? 0 : b->max.as.float_bits;
    } else {
        b->min.as.double_bits = b->min.as.double_bits == 0 ? 1ull << 63 : b->min.as.double_bits;
        b->max.as.double_bits = b->max.as.double_bits == 1ull << 63 ? 0 : b->max.as.double_bits;
    }
}

void
sinter__stats_bounds(const sinter__simple_stats *stats, const sinter__stats_column *column,
                     sinter__column_bounds *out)
{
    const int32_t type = column->type->id;

    *out = (sinter__column_bounds){0};
    /* Paimon notes -1 where a footer of Parquet has no statistics, as with texts of 4 KiB. */
    if (stats->null_counts.count == column->arity && column->index < column->arity &&
        stats->null_counts.items[column->index] >= 0) {
        out->has_null_count = true;
        out->null_count = stats->null_counts.items[column->index];
        out->row_count = column->row_count;
    }
    if (column->index >= column->arity || sinter_type_is_nested(column->type)) {
        return;
    }
    out->has_min = get_bound(stats->min_values, column, &out->min);
    out->has_max = get_bound(stats->max_values, column, &out->max);
    if (type == SINTER_TYPE_FLOAT || type == SINTER_TYPE_DOUBLE) {
        widen_zero(column->type, out);
    } else if (type == SINTER_TYPE_TIMESTAMP || type == SINTER_TYPE_TIMESTAMP_LTZ) {
        out->max.nanos = NANOS_LAST; /* some formats keep milliseconds only */
    }
}
