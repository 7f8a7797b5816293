/*
 * What readers and writers of files take of the memory budget, told before they take it.
 */
#ifndef SINTER_SST_FOOTPRINT_H
#define SINTER_SST_FOOTPRINT_H

#include "sst/file.h"

/** See sinter_format.measure. */
sinter_status
sinter__sst_measure(void *format, const sinter_env *env, const char *path,
                    const sinter_read_options *given, sinter_footprint *out, sinter_error *err);

/** See sinter_format.writer_bytes. */
uint64_t
sinter__sst_writer_bytes(void *format, const sinter_write_options *options,
                         const sinter_footprint *blocks);

/** The most that one read of a span takes, unless a block is larger; of direct reads that leaves
 *  room for the rest of the pages it begins and ends in. */
uint32_t
sinter__sst_read_bytes(const sinter_read_options *options);

/** Bytes of the budget that a reader of an open file will hold, `file` included. Its properties
 *  name the largest block. */
uint64_t
sinter__sst_reader_bytes(const sinter__sst_file *file, const sinter_read_options *options);

#endif
