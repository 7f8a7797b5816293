#include "table/entry_filter.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "table/metadata_row.h"

sinter_status
sinter__entry_sieve_init(sinter__entry_sieve *self, const sinter_env *env,
                         const sinter__entry_filter *filter, sinter_error *err)
{
    *self = (sinter__entry_sieve){.filter = filter, .env = env};
    if (filter == NULL || filter->predicate == NULL) {
        return SINTER_OK;
    }
    return SINTER__NEW(env, self->bounds, sinter_row_type_count(filter->schema->row_type), err);
}

void
sinter__entry_sieve_fini(sinter__entry_sieve *self)
{
    sinter__free(self->env, self->bounds);
}

static bool
may_be_wanted(const sinter__entry_sieve *self)
{
    return sinter__predicate_may_hold(self->filter->predicate, self->bounds);
}

static bool
takes_partition(sinter__entry_sieve *self, sinter_bytes partition)
{
    const sinter__entry_filter *filter = self->filter;

    if (filter->predicate == NULL) {
        return true;
    }
    sinter__partition_bounds(filter->schema, filter->partition_keys, partition, self->bounds);
    return may_be_wanted(self);
}

bool
sinter__entry_sieve_takes(sinter__entry_sieve *self, const sinter__manifest_entry *entry)
{
    const sinter__entry_filter *filter = self->filter;

    return filter == NULL ||
           ((filter->bucket < 0 ? entry->bucket >= 0 : entry->bucket == filter->bucket) &&
            entry->file.level >= filter->level_min && entry->file.level <= filter->level_max &&
            takes_partition(self, entry->partition));
}

/* Are some of the numbers from `min` to `max` known to be in [low, high]? Not known counts. */
static bool
may_meet(const sinter__manifest_meta *meta, uint32_t has_min, uint32_t has_max,
         const int32_t ends[4])
{
    return ((meta->has & has_min) == 0 || ends[0] <= ends[3]) &&
           ((meta->has & has_max) == 0 || ends[1] >= ends[2]);
}

bool
sinter__entry_sieve_takes_manifest(sinter__entry_sieve *self, const sinter__manifest_meta *meta)
{
    const sinter__entry_filter *filter = self->filter;

    if (filter == NULL) {
        return true;
    }
    const int32_t buckets[] = {meta->min_bucket, meta->max_bucket,
                               filter->bucket < 0 ? 0 : filter->bucket,
                               filter->bucket < 0 ? INT32_MAX : filter->bucket};
    const int32_t levels[] = {meta->min_level, meta->max_level, filter->level_min,
                              filter->level_max};

    if (!may_meet(meta, SINTER__MANIFEST_HAS_MIN_BUCKET, SINTER__MANIFEST_HAS_MAX_BUCKET,
                  buckets) ||
        !may_meet(meta, SINTER__MANIFEST_HAS_MIN_LEVEL, SINTER__MANIFEST_HAS_MAX_LEVEL, levels)) {
        return false;
    }
    if (filter->predicate == NULL) {
        return true;
    }
    for (size_t i = 0; i < filter->schema->partition_key_count; i++) {
        const size_t at = filter->partition_keys[i];
        const sinter__stats_column column = {
            .type = sinter_row_type_column_type(filter->schema->row_type, at),
            .arity = filter->schema->partition_key_count,
            .index = i,
            .row_count = meta->added_count + meta->deleted_count};

        sinter__stats_bounds(&meta->partition_stats, &column, &self->bounds[at]);
    }
    return may_be_wanted(self);
}
