/*
 * The program's own catalog of a bucket: a small text that lists the bucket's files, replaced as a
 * whole through the io.
 *
 *   soak-catalog 1
 *   moment 812
 *   max-sequence 977
 *   file data-….sst 5 4711 120 3 0 976 1764500000000 0 1 303030303030 303030303939
 *   end 1 9f3a…                        number of files, checksum of all before
 */
#ifndef SOAK_CATALOG_H
#define SOAK_CATALOG_H

#include "soak/common.h"

#define SOAK_CATALOG_NAME "catalog"

/** What a bucket was when it was committed. Owns its metadata. Confined. */
typedef struct soak_catalog {
    uint64_t moment;      /* of the last write that was committed */
    int64_t max_sequence; /* -1: none */
    sinter_file_meta *files;
    size_t count;
    size_t capacity;
} soak_catalog;

void
soak_catalog_init(soak_catalog *catalog);
void
soak_catalog_fini(soak_catalog *catalog);

/** A copy that owns its metadata too; `out` is not initialised before. */
void
soak_catalog_copy(const soak_catalog *catalog, soak_catalog *out);

/**
 * Read the catalog of a directory. Wrong answers: it is torn or damaged.
 * @return SINTER_OK, SINTER_E_NOT_FOUND, failures of the io
 */
sinter_status
soak_catalog_load(const sinter_env *env, const char *dir, soak_catalog *out, sinter_error *err);

/** Replace it. After a failure either the old one is there or the new one. */
sinter_status
soak_catalog_save(const sinter_env *env, const char *dir, const soak_catalog *catalog,
                  sinter_error *err);

/** Do what an increment says. Wrong answers: it retires a file that isn't there, or adds one that
 *  is; its largest sequence goes back. */
void
soak_catalog_apply(soak_catalog *catalog, const sinter_increment *increment, uint64_t moment);

/** Is a file named? */
bool
soak_catalog_names(const soak_catalog *catalog, const char *file_name);

/**
 * List a directory against its catalog. Wrong answers: a named file isn't there; there is something
 * else than these, the catalog itself and lock files.
 * @return SINTER_OK, failures of the io
 */
sinter_status
soak_catalog_check_dir(const sinter_env *env, const char *dir, const soak_catalog *catalog,
                       sinter_error *err);

#endif
