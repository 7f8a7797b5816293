/*
 * Entries of manifests as a scan keeps them: without their statistics, in half of the memory of
 * sinter__manifest_entry. What few entries have (extra files, an index, an external path, row ids,
 * written columns, unknown fields) makes the lean entry a whole one inside.
 */
#ifndef SINTER_TABLE_LEAN_ENTRY_H
#define SINTER_TABLE_LEAN_ENTRY_H

#include "table/entry_groups.h"
#include "table/manifest_entry.h"

/** An entry. Immutable; it lies in an arena. */
typedef struct sinter__lean_entry sinter__lean_entry;

/** The entry without its statistics, into `bare`, which is returned. */
const sinter__manifest_entry *
sinter__manifest_entry_bare(const sinter__manifest_entry *entry, sinter__manifest_entry *bare);

/** Bytes that the lean form takes. */
size_t
sinter__lean_entry_bytes(const sinter__manifest_entry *entry);

/**
 * Keep an entry, and all it points to but its partition and the description of what it carries;
 * statistics are left out, and the bucket, which the entry's group has.
 * @return SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__lean_entry_create(sinter__arena *arena, const sinter__manifest_entry *entry,
                          const sinter__lean_entry **out, sinter_error *err);

/**
 * The entry as it was, without statistics.
 * @param group  its partition and bucket
 * @param out    what it points to lives as long as the arena and the group
 */
void
sinter__lean_entry_get(const sinter__lean_entry *lean, const sinter__entry_group *group,
                       sinter__manifest_entry *out);

#endif
