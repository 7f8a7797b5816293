/*
 * Directories outside of a table that its files are put into (table-layout.md 2.2, 6.2).
 */
#ifndef SINTER_TABLE_EXTERNAL_PATHS_H
#define SINTER_TABLE_EXTERNAL_PATHS_H

#include "base/arena.h"
#include "sinter/table.h"

/** Local directories that stand for the table's own; none: files lie in the table. */
typedef struct sinter__external_paths {
    const char **dirs;
    size_t count;
} sinter__external_paths;

/**
 * Where new files go, as `data-file.external-paths` and its strategy say.
 * @param arena  holds them
 * @return       SINTER_OK, SINTER_E_NOMEM; named by option:
 *               SINTER_E_INVALID      a value
 *               SINTER_E_UNSUPPORTED  a path of another file system, or a strategy that isn't known
 */
sinter_status
sinter__external_paths_load(const sinter_schema *schema, sinter__arena *arena,
                            sinter__external_paths *out, sinter_error *err);

/** Where files may lie, whatever the strategy is now: the local ones of all that are named.
 *  @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__external_paths_all(const sinter_schema *schema, sinter__arena *arena,
                           sinter__external_paths *out, sinter_error *err);

/** What metadata call a local file: "file:/a/b". @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__external_path_name(sinter__arena *arena, const char *path, sinter_bytes *out,
                           sinter_error *err);

/**
 * Append the local path of a file that metadata call `whole`, or of one that lies beside it.
 * @param beside  its name; empty: the file itself
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (another file system, named)
 */
sinter_status
sinter__external_path_local(sinter_bytes whole, sinter_bytes beside, sinter_text *out,
                            sinter_error *err);

/** Directories of one bucket: each of the paths with `below` behind it.
 *  @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__external_paths_join(const sinter__external_paths *self, const char *below,
                            sinter__arena *arena, sinter__external_paths *out, sinter_error *err);

#endif
