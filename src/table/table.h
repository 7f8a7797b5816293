/*
 * Inside of an open table: where its parts lie.
 */
#ifndef SINTER_TABLE_TABLE_H
#define SINTER_TABLE_TABLE_H

#include "sinter/table.h"

/** A schema that was read. */
typedef struct sinter__schema_node {
    sinter_schema *schema;
    struct sinter__schema_node *next;
} sinter__schema_node;

struct sinter_table {
    const sinter_env *env;
    char *root;   /* the table's directory: manifests, index files, buckets */
    char *branch; /* NULL: main */
    char *home;   /* of schemas, snapshots, tags: root, or root/branch/branch-NAME */
    sinter__schema_node *schemas;
    const sinter_schema *latest;
};

/** The path in a path or URI, which must be one of "file:". @return SINTER_OK, SINTER_E_UNSUPPORTED
 */
sinter_status
sinter__local_path(const char *uri, const char **out, sinter_error *err);

/** Make "HOME/DIR" the content of `out`. @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__table_dir(const sinter_table *table, const char *dir, sinter_text *out, sinter_error *err);

/** Make "ROOT/manifest/NAME" the content of `out`. @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__manifest_path(const sinter_table *table, sinter_bytes name, sinter_text *out,
                      sinter_error *err);

#endif
