/*
 * Snapshot files: JSON to struct and back (table-layout.md 3).
 */
#ifndef SINTER_TABLE_SNAPSHOT_H
#define SINTER_TABLE_SNAPSHOT_H

#include "doc/json.h"
#include "sinter/table.h"

/** Newest version of the document that is understood, and the one that is written. */
#define SINTER__SNAPSHOT_VERSION 3

/**
 * Read a snapshot's text; members that are not known are passed over.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT (file, line, column, member),
 *         SINTER_E_UNSUPPORTED (a newer version)
 */
sinter_status
sinter__snapshot_parse(const sinter_env *env, const char *path, sinter_bytes text,
                       sinter_snapshot **out, sinter_error *err);

/** The same from a file. @return as above, SINTER_E_NOT_FOUND, SINTER_E_IO */
sinter_status
sinter__snapshot_read(const sinter_env *env, const char *path, sinter_snapshot **out,
                      sinter_error *err);

/** Append the text of a snapshot as it is written: indented, members in the order of the spec. */
sinter_status
sinter__snapshot_print(const sinter_snapshot *snapshot, sinter_text *out, sinter_error *err);

#endif
