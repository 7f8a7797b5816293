/*
 * Manifest lists: which manifests a snapshot has. Source: table-layout.md 6.1.
 */
#ifndef SINTER_TABLE_MANIFEST_LIST_H
#define SINTER_TABLE_MANIFEST_LIST_H

#include "table/meta_file.h"
#include "table/simple_stats.h"

enum { SINTER__MANIFEST_LIST_VERSION = 2 };

/** Bits of `has`. Each is a bound that is known. */
enum {
    SINTER__MANIFEST_HAS_MIN_BUCKET = 1u << 0,
    SINTER__MANIFEST_HAS_MAX_BUCKET = 1u << 1,
    SINTER__MANIFEST_HAS_MIN_LEVEL = 1u << 2,
    SINTER__MANIFEST_HAS_MAX_LEVEL = 1u << 3
};

/** A manifest as its list knows it. */
typedef struct sinter__manifest_meta {
    int32_t version; /* as read; what is written has the known one */
    uint32_t has;
    sinter_bytes file_name; /* in manifest/; not empty, no slash in it */
    int64_t file_size;
    int64_t added_count;   /* ADD entries */
    int64_t deleted_count; /* DELETE entries */
    sinter__simple_stats partition_stats;
    int64_t schema_id; /* the largest of its entries */
    int32_t min_bucket;
    int32_t max_bucket;
    int32_t min_level;
    int32_t max_level;
    sinter__cargo cargo;
} sinter__manifest_meta;

/** A list that was read, in its order. Zeroed with both arenas' `env` set is empty. */
typedef struct sinter__manifest_list {
    sinter__arena arena; /* of all that is here */
    sinter__manifest_meta *items;
    size_t count;
    size_t capacity;
} sinter__manifest_list;

/**
 * Read a list; its manifests follow those that are there, with what they carry.
 *
 * @param list            release with sinter__manifest_list_fini(), after a failure too
 * @param expected_bytes  size on record; 0: unknown
 * @return                as of sinter__meta_file_open() and sinter__meta_file_next()
 */
sinter_status
sinter__manifest_list_read(const sinter_env *env, const char *path, uint64_t expected_bytes,
                           sinter__manifest_list *list, sinter_error *err);

void
sinter__manifest_list_fini(sinter__manifest_list *list);

/**
 * Write a list; none is a list as well.
 *
 * @param bytes_out  size of the file
 * @return           SINTER_OK; SINTER_E_UNSUPPORTED: what a manifest carries can't be kept;
 *                   SINTER_E_EXISTS, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of the io
 */
sinter_status
sinter__manifest_list_write(const sinter_env *env, const sinter__meta_write *how,
                            const sinter__manifest_meta *items, size_t count, uint64_t *bytes_out,
                            sinter_error *err);

#endif
