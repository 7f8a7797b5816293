/*
 * Files of metadata: manifests, manifest lists and index manifests, as records of one shape.
 *
 * What a file is made of is seen at its first bytes: Avro, or ORC and Parquet, which
 * `manifest.format` may also name and whose records become Avro ones first (columnar_records.h).
 * The version that each record begins with must be the one that is known.
 */
#ifndef SINTER_TABLE_META_FILE_H
#define SINTER_TABLE_META_FILE_H

#include "table/carried.h"
#include "table/meta_writer.h"

/** A kind of file. Its records begin with an int32_t, their version. */
typedef struct sinter__meta_kind {
    const char *what; /* "manifest" */
    const sinter__avro_shape *shape;
    int32_t version;
    const char *schema_begin; /* the schema that is written, up to where fields of the record */
    const char *schema_outer; /* `outer` may follow, NULL: none may; then up to those of the root */
    const char *outer;
} sinter__meta_kind;

/** How to open. Zeroed: any size, and what is unknown isn't kept. */
typedef struct sinter__meta_read {
    uint64_t expected_bytes; /* 0: unknown; else another size is SINTER_E_CORRUPT */
    /* Takes the description of unknown fields, so that the records may be written again; must
     * outlive them. NULL: the records are only read. */
    sinter__arena *keep;
} sinter__meta_read;

/** A file that is being read. Confined. */
typedef struct sinter__meta_file sinter__meta_file;

/**
 * Open a file.
 *
 * @param how  NULL: defaults
 * @param out  release with sinter__meta_file_close()
 * @return     SINTER_OK; as of sinter__avro_reader_open(), sinter__avro_schema_parse() and
 *             sinter__avro_decoder_create() or sinter__columnar_records_open(), with the file's
 *             name; SINTER_E_UNSUPPORTED: another version
 */
sinter_status
sinter__meta_file_open(const sinter_env *env, const char *path, const sinter__meta_kind *kind,
                       const sinter__meta_read *how, sinter__meta_file **out, sinter_error *err);

/**
 * Read the next record.
 *
 * @param record  the kind's struct; what it points to lives until the next call
 * @param cargo   its unknown fields, as long; `carried` as long as `keep`
 * @return        SINTER_OK, SINTER_END; SINTER_E_CORRUPT and others with file and offset of the
 *                block; SINTER_E_UNSUPPORTED: another version
 */
sinter_status
sinter__meta_file_next(sinter__meta_file *file, void *record, sinter__cargo *cargo,
                       sinter_error *err);

/** Name the file, and the offset of the block that is being read, of a failure that has none;
 *  returns `st`. */
sinter_status
sinter__meta_file_fault(const sinter__meta_file *file, sinter_status st, sinter_error *err);

/** Close and release; takes NULL. */
void
sinter__meta_file_close(sinter__meta_file *file);

/** Where and how to write. */
typedef struct sinter__meta_write {
    const char *path;
    sinter__meta_format format; /* zero: Avro */
    sinter__avro_codec_choice codec;
    uint64_t target_bytes; /* a file that has as many ends, looked at every 1000 records; 0: none */
} sinter__meta_write;

/**
 * Find the codec for `manifest.compression`: "zstd" as Paimon says, or a name of Avro's.
 * @param level  for zstd
 * @return       SINTER_OK, SINTER_E_UNSUPPORTED
 */
sinter_status
sinter__meta_codec(const char *name, int level, sinter__avro_codec_choice *out, sinter_error *err);

/**
 * Begin a file with the kind's schema and the fields that its records carry.
 * @return as of sinter__meta_writer_open(); SINTER_E_UNSUPPORTED: the carried fields don't go
 *         together
 */
sinter_status
sinter__meta_file_create(const sinter_env *env, const sinter__meta_write *how,
                         const sinter__meta_kind *kind, const sinter__carried_union *carried,
                         sinter__meta_writer **out, sinter_error *err);

#endif
