/*
 * Inside of catalogs.
 */
#ifndef SINTER_DOC_CATALOG_H
#define SINTER_DOC_CATALOG_H

#include "doc/files_doc.h"
#include "sinter/catalog.h"
#include "sinter/io.h"

struct sinter_catalog {
    const sinter_env *env;
    char *dir;
    char *path;           /* of the document */
    sinter_io_file *lock; /* NULL: read-only, or an io without locks */
    bool is_writable;
    bool is_changed; /* there is something to commit */
    bool is_broken;  /* a commit failed: what lies on disk isn't known */
    sinter_files_doc *doc;
};

/** Replace the content by a copy of `content`. */
sinter_status
sinter__catalog_replace(sinter_catalog *catalog, const sinter_files *content, sinter_error *err);

/** Refuse unless the catalog was opened for writing and no commit failed. */
sinter_status
sinter__catalog_check_writable(const sinter_catalog *catalog, sinter_error *err);

#endif
