/*
 * Manifests: data files that were added and deleted. Source: table-layout.md 6.2.
 */
#ifndef SINTER_TABLE_MANIFEST_H
#define SINTER_TABLE_MANIFEST_H

#include "table/manifest_entry.h"
#include "table/manifest_list.h"

/** A manifest that is being read. Confined. */
typedef struct sinter__manifest_reader sinter__manifest_reader;

/**
 * Open a manifest.
 *
 * @param path    the file
 * @param listed  what its list knows of it: another size, and other numbers of entries, are
 *                SINTER_E_CORRUPT; NULL: nothing. Copied
 * @param keep    takes the description of unknown fields, so that entries may be written again;
 *                must outlive them. NULL: they are only read, and writing one is refused if its
 *                file has such fields
 * @param out     release with sinter__manifest_close()
 * @return        as of sinter__meta_file_open()
 */
sinter_status
sinter__manifest_open(const sinter_env *env, const char *path, const sinter__manifest_meta *listed,
                      sinter__arena *keep, sinter__manifest_reader **out, sinter_error *err);

/**
 * Read the next entry.
 * @param out  until the next call; sinter__manifest_entry_copy() keeps it
 * @return     SINTER_OK, SINTER_END; as of sinter__meta_file_next()
 */
sinter_status
sinter__manifest_next(sinter__manifest_reader *reader, const sinter__manifest_entry **out,
                      sinter_error *err);

/** Close and release; takes NULL. */
void
sinter__manifest_close(sinter__manifest_reader *reader);

/**
 * Write entries as they stand.
 *
 * @param how    a file that reaches `target_bytes` ends there
 * @param count  at least 1
 * @param out    what a list has to know of the file, but its partition_stats, which are empty (the
 *               caller knows the types of partitions). The name lies in `how->path`. It counts how
 *               many entries went into the file; for the others call again with another name
 * @return       SINTER_OK; SINTER_E_UNSUPPORTED: what an entry carries can't be kept;
 *               SINTER_E_EXISTS, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of the io
 */
sinter_status
sinter__manifest_write(const sinter_env *env, const sinter__meta_write *how,
                       const sinter__manifest_entry *const *entries, size_t count,
                       sinter__manifest_meta *out, sinter_error *err);

#endif
