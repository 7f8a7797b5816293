/*
 * Index manifests: the hash indexes and deletion vectors of a snapshot, all of them.
 * Source: table-layout.md 10.
 */
#ifndef SINTER_TABLE_INDEX_MANIFEST_H
#define SINTER_TABLE_INDEX_MANIFEST_H

#include "table/meta_file.h"

enum { SINTER__INDEX_MANIFEST_VERSION = 1 };

/** Bit of `has` of a vector. */
enum { SINTER__VECTOR_HAS_CARDINALITY = 1u << 0 };

/** Where the deletion vector of a data file lies. */
typedef struct sinter__vector_range {
    sinter_bytes data_file; /* its name */
    int32_t offset;         /* in the index file */
    int32_t length;         /* what it counts depends on the vector's form */
    int64_t cardinality;    /* rows that are deleted */
    uint32_t has;           /* SINTER__VECTOR_HAS_* */
    uint32_t reserved;
} sinter__vector_range;

/** Vectors. */
typedef struct sinter__vector_list {
    const sinter__vector_range *items;
    size_t count;
} sinter__vector_list;

/** Bits of `has`. */
enum { SINTER__INDEX_HAS_VECTORS = 1u << 0, SINTER__INDEX_HAS_EXTERNAL_PATH = 1u << 1 };

/** An index file. */
typedef struct sinter__index_entry {
    int32_t version; /* as read; what is written has the known one */
    int32_t kind;    /* 0: ADD, the only one that a full list has */
    sinter_bytes partition;
    int32_t bucket;
    uint32_t has;
    sinter_bytes index_type; /* "HASH", "DELETION_VECTORS", or one that isn't known */
    sinter_bytes file_name;  /* not empty, no slash in it */
    int64_t file_size;
    int64_t row_count; /* hashes, or vectors */
    sinter__vector_list vectors;
    sinter_bytes external_path;
    sinter__cargo cargo;
} sinter__index_entry;

/** An index manifest that was read, in its order. Zeroed is empty. */
typedef struct sinter__index_manifest {
    sinter__arena arena; /* of all that is here */
    sinter__index_entry *items;
    size_t count;
    size_t capacity;
} sinter__index_manifest;

/**
 * Read an index manifest; its entries follow those that are there, with what they carry.
 *
 * @param manifest  release with sinter__index_manifest_fini(), after a failure too
 * @return          as of sinter__meta_file_open() and sinter__meta_file_next()
 */
sinter_status
sinter__index_manifest_read(const sinter_env *env, const char *path,
                            sinter__index_manifest *manifest, sinter_error *err);

void
sinter__index_manifest_fini(sinter__index_manifest *manifest);

/**
 * Write an index manifest.
 *
 * @param bytes_out  size of the file
 * @return           SINTER_OK; SINTER_E_UNSUPPORTED: what an entry carries can't be kept;
 *                   SINTER_E_EXISTS, SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of the io
 */
sinter_status
sinter__index_manifest_write(const sinter_env *env, const sinter__meta_write *how,
                             const sinter__index_entry *const *entries, size_t count,
                             uint64_t *bytes_out, sinter_error *err);

#endif
