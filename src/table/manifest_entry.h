/*
 * Entries of manifests: a data file that was added or deleted. Source: table-layout.md 6.2.
 *
 * The form of a file, all 20 fields of Paimon 1.3: those that files of older versions don't have,
 * and those that may be null, have a bit in `has`. Strings are as in the file, without a zero.
 */
#ifndef SINTER_TABLE_MANIFEST_ENTRY_H
#define SINTER_TABLE_MANIFEST_ENTRY_H

#include "table/carried.h"
#include "table/simple_stats.h"

/** Bits of `has`. */
enum {
    SINTER__FILE_HAS_CREATION_TIME = 1u << 0,
    SINTER__FILE_HAS_DELETE_ROW_COUNT = 1u << 1,
    SINTER__FILE_HAS_EMBEDDED_INDEX = 1u << 2,
    SINTER__FILE_HAS_SOURCE = 1u << 3,
    SINTER__FILE_HAS_VALUE_STATS_COLS = 1u << 4, /* an empty list is not null */
    SINTER__FILE_HAS_EXTERNAL_PATH = 1u << 5,
    SINTER__FILE_HAS_FIRST_ROW_ID = 1u << 6,
    SINTER__FILE_HAS_WRITE_COLS = 1u << 7
};

/** Where a file came from. */
enum { SINTER__FILE_SOURCE_APPEND = 0, SINTER__FILE_SOURCE_COMPACT = 1 };

/** A data file. */
typedef struct sinter__data_file {
    sinter_bytes file_name; /* not empty, no slash in it */
    int64_t file_size;      /* bytes */
    int64_t row_count;
    sinter_bytes min_key; /* a row with its arity in front, as all rows here */
    sinter_bytes max_key;
    sinter__simple_stats key_stats;
    sinter__simple_stats value_stats;
    int64_t min_sequence;
    int64_t max_sequence;
    int64_t schema_id;
    int32_t level;
    uint32_t has;                   /* SINTER__FILE_HAS_* */
    sinter__bytes_list extra_files; /* names beside the file */
    int64_t creation_time_ms;       /* the writer's wall clock as if it were UTC */
    int64_t delete_row_count;
    sinter_bytes embedded_index;
    int32_t source;
    uint32_t reserved;
    sinter__bytes_list value_stats_cols;
    sinter_bytes external_path;
    int64_t first_row_id;
    sinter__bytes_list write_cols;
} sinter__data_file;

/** The version of an entry that is known, and written. */
enum { SINTER__MANIFEST_VERSION = 2 };

/** Kinds of an entry. */
enum { SINTER__ENTRY_ADD = 0, SINTER__ENTRY_DELETE = 1 };

/** An entry. */
typedef struct sinter__manifest_entry {
    int32_t version; /* as read; what is written has the known one */
    int32_t kind;
    sinter_bytes partition;
    int32_t bucket;
    int32_t total_buckets;
    sinter__data_file file;
    sinter__cargo cargo; /* what is unknown to this version */
} sinter__manifest_entry;

/** How it is read. */
extern const sinter__avro_shape sinter__manifest_entry_shape;

/**
 * Check what a decoder can't: kind, names, numbers that can't be negative.
 * @return SINTER_OK, SINTER_E_CORRUPT
 */
sinter_status
sinter__manifest_entry_check(const sinter__manifest_entry *entry, sinter_error *err);

/** Check the name of a file from metadata: it must stay in its directory. `what` names it.
 *  @return SINTER_OK, SINTER_E_CORRUPT */
sinter_status
sinter__meta_name_check(sinter_bytes name, const char *what, sinter_error *err);

/**
 * Copy an entry and all it points to, but for the description of what it carries, into one piece
 * of the arena.
 * @return SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__manifest_entry_copy(sinter__arena *arena, const sinter__manifest_entry *entry,
                            const sinter__manifest_entry **out, sinter_error *err);

/** Bytes that a copy takes. */
size_t
sinter__manifest_entry_bytes(const sinter__manifest_entry *entry);

/** Room that writing an entry takes, at most. */
size_t
sinter__manifest_entry_room(const sinter__manifest_entry *entry,
                            const sinter__carried_union *carried);

/** Write it as a record of the schema that sinter__manifest_schema() prints. @return its end */
uint8_t *
sinter__manifest_entry_put(uint8_t *to, const sinter__manifest_entry *entry,
                           const sinter__carried_union *carried);

#endif
