/*
 * Which entries of manifests, and which manifests, a read wants (table-layout.md 6.4). It is asked
 * before entries are merged, so it looks at nothing but what identifies a file: what drops an ADD
 * drops its DELETE too.
 */
#ifndef SINTER_TABLE_ENTRY_FILTER_H
#define SINTER_TABLE_ENTRY_FILTER_H

#include "table/manifest_entry.h"
#include "table/manifest_list.h"
#include "table/predicate.h"

/** What is wanted. Immutable; all is borrowed. */
typedef struct sinter__entry_filter {
    const sinter_schema *schema;
    const size_t *partition_keys;       /* positions of partition columns in the schema */
    const sinter__predicate *predicate; /* of the schema's columns; NULL: any partition */
    int32_t bucket;                     /* -1: all that aren't postponed */
    int32_t level_min;
    int32_t level_max;
    /* Nobody asks for statistics of entries, nor writes them again: they are kept in little memory
     * (lean_entry.h), a bucket's entries only where somebody looks at the bucket. */
    bool drops_stats;
} sinter__entry_filter;

/** A filter at work. Confined. */
typedef struct sinter__entry_sieve {
    const sinter__entry_filter *filter; /* NULL: everything is wanted */
    const sinter_env *env;
    sinter__column_bounds *bounds;
} sinter__entry_sieve;

/** Begin. @return SINTER_OK, SINTER_E_NOMEM: there is nothing to release then */
sinter_status
sinter__entry_sieve_init(sinter__entry_sieve *self, const sinter_env *env,
                         const sinter__entry_filter *filter, sinter_error *err);

void
sinter__entry_sieve_fini(sinter__entry_sieve *self);

/** Is the entry wanted? One whose partition can't be read is: who reads it says so. */
bool
sinter__entry_sieve_takes(sinter__entry_sieve *self, const sinter__manifest_entry *entry);

/** May there be an entry in the manifest that is wanted? */
bool
sinter__entry_sieve_takes_manifest(sinter__entry_sieve *self, const sinter__manifest_meta *meta);

#endif
