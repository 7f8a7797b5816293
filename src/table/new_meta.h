/*
 * Files of metadata that a commit makes: their names, how they are written, and how they are taken
 * back when the commit fails.
 *
 * A name has the commit's own UUID and a number, so it is nobody else's. It is noted before its
 * file is written: a write may fail after the file is there.
 */
#ifndef SINTER_TABLE_NEW_META_H
#define SINTER_TABLE_NEW_META_H

#include "base/uuid.h"
#include "table/index_manifest.h"
#include "table/manifest.h"
#include "table/partitions.h"
#include "table/table.h"

/** A file that was, or was to be, written. */
typedef struct sinter__new_file {
    const char *path;
    const char *name; /* in it */
    uint32_t attempt;
} sinter__new_file;

/** The files of a commit. Zeroed with `arena.env` and `table` set is none. Confined. */
typedef struct sinter__new_meta {
    sinter__arena arena; /* of all names, until the end */
    const sinter_table *table;
    sinter__partitions *partitions; /* of the table; borrowed */
    sinter__meta_format format;
    sinter__avro_codec_choice codec;
    uint64_t target_bytes; /* of a manifest; 0: no limit */
    char uuid[SINTER__UUID_CHARS + 1];
    uint32_t manifests; /* so many had a name so far, */
    uint32_t lists;
    uint32_t indexes;
    uint32_t attempt; /* which files belong to */
    sinter__new_file *files;
    size_t count;
    size_t capacity;
} sinter__new_meta;

/** Draw the UUID. */
sinter_status
sinter__new_meta_init(sinter__new_meta *self, sinter_error *err);

void
sinter__new_meta_fini(sinter__new_meta *self);

/**
 * Write manifests, as many as it takes; their metadata with statistics is appended to `list`.
 * @param count  0: nothing is written
 * @return       SINTER_OK, as of sinter__manifest_write() and sinter__partitions_stats()
 */
sinter_status
sinter__new_meta_manifests(sinter__new_meta *self, const sinter__manifest_entry *const *entries,
                           size_t count, sinter__manifest_list *list, sinter_error *err);

/** Write a manifest list. @return as of sinter__manifest_list_write() */
sinter_status
sinter__new_meta_list(sinter__new_meta *self, const sinter__manifest_meta *items, size_t count,
                      sinter_list_file *out, sinter_error *err);

/** Write an index manifest. @return as of sinter__index_manifest_write() */
sinter_status
sinter__new_meta_index(sinter__new_meta *self, const sinter__index_entry *const *entries,
                       size_t count, const char **name_out, sinter_error *err);

/** Take back the files of one attempt, as far as that works. */
void
sinter__new_meta_discard(sinter__new_meta *self, uint32_t attempt);

/** Take back the files beyond the first `count` of all. */
void
sinter__new_meta_undo(sinter__new_meta *self, size_t count);

/** Take back the files of all attempts but the one that wrote `name`, and forget them all. NULL:
 *  of all. @return is there one that wrote it? */
bool
sinter__new_meta_keep(sinter__new_meta *self, const char *name);

/** Append metadata to a list; what it points to is borrowed, as the list's arena's own. */
sinter_status
sinter__manifest_list_push(sinter__manifest_list *list, const sinter__manifest_meta *meta,
                           sinter_error *err);

#endif
