/*
 * Tables of very many data files, for tests and benchmarks of planning: metadata only, the files
 * themselves are not there.
 */
#ifndef SINTER_TESTS_WIDE_TABLE_H
#define SINTER_TESTS_WIDE_TABLE_H

#include "sinter/env.h"

/** What to make: a table of dt STRING, hr INT (partitions), id BIGINT (key), name STRING, n INT,
 *  price DOUBLE, at TIMESTAMP(6). */
typedef struct wide_table {
    uint32_t partitions;
    uint32_t buckets;
    uint32_t files;          /* of each bucket; with ids 1000 * f .. 1000 * f + 999 at level 5 */
    uint32_t deleted;        /* entries more, each deleted again in a manifest of the delta */
    uint64_t manifest_bytes; /* a manifest that has as many ends, looked at every 1000 entries */
} wide_table;

/**
 * Write the metadata of a table with one snapshot.
 * @param dir  must not be there; directories are made
 */
sinter_status
wide_table_write(const sinter_env *env, const char *dir, const wide_table *shape,
                 sinter_error *err);

#endif
