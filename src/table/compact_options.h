/*
 * Options of a table's schema as a compaction takes them.
 */
#ifndef SINTER_TABLE_COMPACT_OPTIONS_H
#define SINTER_TABLE_COMPACT_OPTIONS_H

#include "sinter/compact.h"
#include "table/table_options.h"

/** Settings of a caller, over those of the schema. Borrowed. */
typedef struct sinter__settings {
    const sinter_option *items;
    size_t count;
} sinter__settings;

/** All of them. */
typedef struct sinter__compaction {
    sinter__table_options table;
    sinter_compact_options core;
    const char *file_prefix; /* data-file.prefix */
    bool has_key;
    bool needs_lookup; /* changelog.md 2 */
} sinter__compaction;

/**
 * Read them; refuse by name what would change the outcome in a way that isn't known here.
 *
 * @param settings  keys that the library knows; others are refused
 * @return          SINTER_OK, SINTER_E_INVALID (key and value), SINTER_E_UNSUPPORTED (key and
 * value)
 */
sinter_status
sinter__compaction_load(const sinter_schema *schema, const sinter__settings *settings,
                        sinter__compaction *out, sinter_error *err);

#endif
