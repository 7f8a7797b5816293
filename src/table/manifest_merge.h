/*
 * Entries of manifests merged: what is left of files that were added and deleted.
 *
 *   merge(entries in order):
 *     ADD:    its identity is there -> an error, "already added"; else it is put there
 *     DELETE: its identity is there -> that is taken away;       else it is put there itself
 *
 * The identity of a file is (partition, bucket, level, name, extra files, embedded index, external
 * path): an upgrade deletes a file at one level and adds the same file at another. A DELETE that is
 * left over in the manifests of a whole snapshot is damage; in a part of them, as when manifests
 * are merged into larger ones, it belongs to what comes before. As Paimon does it, a DELETE takes
 * another DELETE away as well, and an ADD behind a DELETE that is left over is an error. Source:
 * table-layout.md 6.3.
 */
#ifndef SINTER_TABLE_MANIFEST_MERGE_H
#define SINTER_TABLE_MANIFEST_MERGE_H

#include "table/entry_groups.h"
#include "table/lean_entry.h"

/** A merge under way. Confined. */
typedef struct sinter__manifest_merge sinter__manifest_merge;

/**
 * Begin.
 * @param env  allocator; the entries that it keeps count against its budget
 * @param out  release with sinter__manifest_merge_destroy()
 * @return     SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__manifest_merge_create(const sinter_env *env, sinter__manifest_merge **out,
                              sinter_error *err);

/** Begin one that keeps no statistics of entries, and takes half of the memory (lean_entry.h);
 *  sinter__manifest_merge_get() has the entries then. An ADD that is there already is told by the
 *  next add, sinter__manifest_merge_settle() or _check(), one of which comes before entries are
 *  counted or looked for. The rest as above. */
sinter_status
sinter__manifest_merge_create_lean(const sinter_env *env, sinter__manifest_merge **out,
                                   sinter_error *err);

/**
 * Have room for entries that will come, which spares growing by steps. Where there is no memory for
 * so many, it grows by steps after all.
 */
void
sinter__manifest_merge_expect(sinter__manifest_merge *merge, size_t count);

/** Release, with the entries; takes NULL. */
void
sinter__manifest_merge_destroy(sinter__manifest_merge *merge);

/**
 * Take the next entry: it is copied if it stays.
 * @return SINTER_OK; SINTER_E_CORRUPT: already added, naming file, level and bucket;
 * SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget, or more than 2^31 entries)
 */
sinter_status
sinter__manifest_merge_add(sinter__manifest_merge *merge, const sinter__manifest_entry *entry,
                           sinter_error *err);

/** Tell what is still to be told of the last entry. @return as of sinter__manifest_merge_add() */
sinter_status
sinter__manifest_merge_settle(sinter__manifest_merge *merge, sinter_error *err);

/**
 * What is left, in the order in which it came, of a merge that isn't lean.
 * @param count_out  how many
 * @return           the entries, until the next add or destroy
 */
const sinter__manifest_entry *const *
sinter__manifest_merge_entries(sinter__manifest_merge *merge, size_t *count_out);

/** How many are left. */
size_t
sinter__manifest_merge_count(sinter__manifest_merge *merge);

/**
 * One of those that are left, by its place in the order; none came since they were counted.
 * @param room  where it goes if the merge is lean; what it points to lives as long as the merge
 * @return      the entry, in the merge or in `room`
 */
const sinter__manifest_entry *
sinter__manifest_merge_get(const sinter__manifest_merge *merge, size_t number,
                           sinter__manifest_entry *room);

/** Is an entry with this identity there, whatever its kind? */
bool
sinter__manifest_merge_has(const sinter__manifest_merge *merge,
                           const sinter__manifest_entry *entry);

/** Take away the one with this identity. @return was it there? */
bool
sinter__manifest_merge_take(sinter__manifest_merge *merge, const sinter__manifest_entry *entry);

/** Number of the group of an entry by its place among those that are left, without looking at the
 *  entry. */
uint32_t
sinter__manifest_merge_group(const sinter__manifest_merge *merge, size_t number);

/** Groups by their numbers: all that came, in the order in which they did. They live as long as the
 *  merge, until the next add. */
const sinter__entry_group *
sinter__manifest_merge_groups(const sinter__manifest_merge *merge, size_t *count_out);

/** Is nothing left but ADDs? @return SINTER_OK; SINTER_E_CORRUPT, naming the first DELETE, or as of
 *  sinter__manifest_merge_settle() */
sinter_status
sinter__manifest_merge_check(sinter__manifest_merge *merge, sinter_error *err);

/** Are these the same file at the same level? */
bool
sinter__manifest_entry_is_same(const sinter__manifest_entry *a, const sinter__manifest_entry *b);

#endif
