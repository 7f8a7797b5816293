/*
 * Schema files: JSON to struct (table-layout.md 2).
 */
#ifndef SINTER_TABLE_SCHEMA_H
#define SINTER_TABLE_SCHEMA_H

#include "sinter/table_create.h"

/** Newest version of the document that is understood. */
#define SINTER__SCHEMA_VERSION 3

/**
 * Read a schema file.
 * @param out  release with sinter_schema_destroy()
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_NOT_FOUND, SINTER_E_IO,
 *             SINTER_E_CORRUPT      (file, line, column, member)
 *             SINTER_E_UNSUPPORTED  (a newer version)
 */
sinter_status
sinter__schema_read(const sinter_env *env, const char *path, sinter_schema **out,
                    sinter_error *err);

/**
 * The same of a text.
 * @param name  for errors; NULL: none
 */
sinter_status
sinter__schema_of_text(const sinter_env *env, const char *name, sinter_bytes text,
                       sinter_schema **out, sinter_error *err);

#endif
