/*
 * Inside of the reader that sinter_format_sst() opens.
 */
#ifndef SINTER_SST_READER_H
#define SINTER_SST_READER_H

#include "sinter/format.h"

/** Open a reader; see sinter_format.open_reader. */
sinter_status
sinter__sst_reader_open(void *format, const sinter_env *env, const char *path,
                        const sinter_read_options *given, sinter_reader **out, sinter_error *err);

/** What is known of a file before it is opened. */
typedef struct sinter__sst_footprint {
    uint64_t file_bytes;  /* 0: unknown, taken as large */
    uint32_t read_bytes;  /* 0: default */
    uint32_t block_bytes; /* raw, of keys and values; 0: default */
    int32_t codec;
} sinter__sst_footprint;

/**
 * Bytes of the memory budget that a reader of such a file will hold: two reads, one decoded block,
 * its share of the index. Blocks larger than `block_bytes` need more.
 */
uint64_t
sinter__sst_reader_footprint(const sinter__sst_footprint *file);

#endif
