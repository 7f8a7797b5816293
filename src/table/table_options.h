/*
 * Options of a table's schema that decide how it is read (table-layout.md 2.2).
 */
#ifndef SINTER_TABLE_TABLE_OPTIONS_H
#define SINTER_TABLE_TABLE_OPTIONS_H

#include "sinter/table.h"
#include "table/partition_path.h"

/** Option `merge-engine`. */
typedef enum sinter__merge_engine {
    SINTER__ENGINE_DEDUPLICATE,
    SINTER__ENGINE_FIRST_ROW,
    SINTER__ENGINE_PARTIAL_UPDATE,
    SINTER__ENGINE_AGGREGATION
} sinter__merge_engine;

/** Options with their values or defaults. Texts live as long as the schema. */
typedef struct sinter__table_options {
    int64_t bucket; /* -1: dynamic, or none at all; -2: postponed */
    sinter__merge_engine merge_engine;
    bool ignore_delete;
    bool ignore_update_before; /* when rows are written */
    bool deletion_vectors;
    bool data_evolution;
    bool row_tracking;
    bool index_in_data_dir; /* index-file-in-data-file-dir */
    bool sequence_descending;
    const char *sequence_field; /* names parted by commas; NULL: none */
    const char *data_dir;       /* data-file.path-directory; NULL: the table itself */
    sinter__partition_names partition_names;
} sinter__table_options;

/**
 * Read them.
 * @return SINTER_OK, SINTER_E_INVALID (key, value and what is possible)
 */
sinter_status
sinter__table_options_load(const sinter_schema *schema, sinter__table_options *out,
                           sinter_error *err);

/** "partial-update", ... */
const char *
sinter__merge_engine_name(sinter__merge_engine engine);

#endif
