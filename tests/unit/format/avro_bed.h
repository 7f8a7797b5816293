/*
 * An environment with files in memory, and containers made by hand for tests.
 */
#ifndef SINTER_TESTS_AVRO_BED_H
#define SINTER_TESTS_AVRO_BED_H

#include "format/avro_reader.h"
#include "format/avro_writer.h"

typedef struct avro_bed {
    sinter_env env;
    sinter_io *memory;
} avro_bed;

/** @param env  NULL: the default one; its io is replaced */
void
avro_bed_init(avro_bed *bed, const sinter_env *env);
void
avro_bed_fini(avro_bed *bed);

/** Make a file of these bytes. */
void
avro_bed_put(const avro_bed *bed, const char *path, const void *data, size_t size);

/** The bytes of a file; free() them. */
uint8_t *
avro_bed_get(const avro_bed *bed, const char *path, size_t *size_out);

/** The same of a file of the system. */
uint8_t *
avro_bed_load(const char *path, size_t *size_out);

/** Write a container of `count` records "record 0", "record 1", ... */
sinter_status
avro_bed_write(const sinter_env *env, const char *path, const sinter__avro_writer_options *options,
               size_t count, sinter_error *err);

/** Read a container of such records through; a record that is wrong fails the test. */
sinter_status
avro_bed_read(const sinter_env *env, const char *path, const sinter__avro_reader_options *options,
              size_t *count_out, sinter_error *err);

#endif
