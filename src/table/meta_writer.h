/*
 * Files of metadata being written, in the format that the table wants: Avro, or ORC and Parquet by
 * way of the same records (columnar_record_writer.h). Readers of Paimon go by `manifest.format`, so
 * files have to be in it.
 */
#ifndef SINTER_TABLE_META_WRITER_H
#define SINTER_TABLE_META_WRITER_H

#include "format/avro_writer.h"

/** Formats of metadata. */
typedef enum sinter__meta_format {
    SINTER__META_AVRO = 0,
    SINTER__META_PARQUET = 1,
    SINTER__META_ORC = 2
} sinter__meta_format;

/** Find a format by its name in `manifest.format`. @return SINTER_OK, SINTER_E_UNSUPPORTED */
sinter_status
sinter__meta_format_find(const char *name, sinter__meta_format *out, sinter_error *err);

/** What to write. */
typedef struct sinter__meta_writer_options {
    sinter__meta_format format;
    const char *schema; /* Avro's; borrowed for the call */
    sinter__avro_codec_choice codec;
} sinter__meta_writer_options;

/** A file that is being written. Confined. */
typedef struct sinter__meta_writer sinter__meta_writer;

/** Begin a nameless file; release with sinter__meta_writer_close(). @return as of
 *  sinter__avro_writer_open(), sinter__record_writer_open() */
sinter_status
sinter__meta_writer_open(const sinter_env *env, const char *path,
                         const sinter__meta_writer_options *options, sinter__meta_writer **out,
                         sinter_error *err);

/** Get room for a record of up to `size` bytes in Avro's form, to be told of by commit(). As of
 *  sinter__avro_writer_reserve(). */
sinter_status
sinter__meta_writer_reserve(sinter__meta_writer *self, size_t size, uint8_t **out,
                            sinter_error *err);

/** Take the record of `size` bytes that was put there. As of sinter__avro_writer_commit() and
 *  sinter__record_writer_append(). */
sinter_status
sinter__meta_writer_commit(sinter__meta_writer *self, size_t size, sinter_error *err);

/** Bytes so far; about. */
uint64_t
sinter__meta_writer_bytes(const sinter__meta_writer *self);

/** Write the rest, sync and publish; the directory is the caller's to sync. @param bytes_out  size
 *  of the file. @return as of commit; SINTER_E_EXISTS: the name is taken */
sinter_status
sinter__meta_writer_finish(sinter__meta_writer *self, uint64_t *bytes_out, sinter_error *err);

/** Release; a file that was not finished vanishes. Takes NULL. */
void
sinter__meta_writer_close(sinter__meta_writer *self);

#endif
