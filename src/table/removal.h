/*
 * Files of a table that are to be removed: found first, each once, and removed at the end.
 */
#ifndef SINTER_TABLE_REMOVAL_H
#define SINTER_TABLE_REMOVAL_H

#include "sinter/table_maintenance.h"
#include "table/index_manifest.h"
#include "table/name_set.h"
#include "table/partitions.h"

/** Files. Zeroed with the first four set is none. Confined. */
typedef struct sinter__removal {
    const sinter_env *env;
    const char *root;
    const sinter__table_options *options;
    sinter__partitions *partitions;
    sinter__name_set paths; /* all of them */
    const char **items;     /* the same in their order */
    size_t count;
    size_t capacity;
    uint64_t foreign; /* files whose place is none of the local file system */
} sinter__removal;

void
sinter__removal_fini(sinter__removal *self);

/** Add "ROOT/DIR/NAME". @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__removal_file(sinter__removal *self, const char *dir, sinter_bytes name, sinter_error *err);

/** Add a data file, or with another `name` a file beside it.
 *  @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT (no such partition) */
sinter_status
sinter__removal_data_file(sinter__removal *self, const sinter__manifest_entry *entry,
                          sinter_bytes name, sinter_error *err);

/** Add an index file. @return as of a data file */
sinter_status
sinter__removal_index_file(sinter__removal *self, const sinter__index_entry *entry,
                           sinter_error *err);

/** Who is told of each file. */
typedef struct sinter__removal_listener {
    void (*each)(void *ctx, const sinter_removed_file *file); /* NULL: nobody */
    void *ctx;
    bool is_dry; /* nothing is removed */
} sinter__removal_listener;

/**
 * Remove them. One that is gone already is as good.
 * @param left  goes up by those that couldn't be removed
 * @return      how many were
 */
uint64_t
sinter__removal_run(sinter__removal *self, const sinter__removal_listener *listener,
                    uint64_t *left);

/** Remove the directories that these files lay in, and those of their partitions, as far as they
 *  are empty. */
void
sinter__removal_clean_dirs(const sinter__removal *self);

#endif
