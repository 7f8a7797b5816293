/*
 * A file opened for reading: header, footer and properties, checked; and reads of its parts.
 */
#ifndef SINTER_SST_FILE_H
#define SINTER_SST_FILE_H

#include "sinter/io.h"
#include "sinter/sst.h"
#include "sst/layout.h"
#include "sst/scratch.h"

/** Zeroed is closed. Confined. */
typedef struct sinter__sst_file {
    const sinter_env *env;
    sinter_io_file *handle;
    char *path;
    uint64_t size;
    sinter__scratch tail; /* the last bytes of the file, read in one go */
    uint64_t tail_offset;
    sinter__scratch section; /* properties */
    sinter__sst_footer footer;
    sinter_sst_properties properties;
    uint32_t format_tag; /* of its blocks, see sinter_block_info */
} sinter__sst_file;

/** How to open. */
typedef struct sinter__sst_open_options {
    uint32_t flags;          /* SINTER_IO_* */
    uint64_t expected_bytes; /* 0: any size */
    bool ignores_header;     /* the footer is enough */
} sinter__sst_open_options;

/**
 * Open a file and check header, footer, properties.
 * @param file  zeroed; call sinter__sst_file_close() after a failure too
 * @return      as of sinter_sst_open()
 */
sinter_status
sinter__sst_file_open(const sinter_env *env, const char *path,
                      const sinter__sst_open_options *options, sinter__sst_file *file,
                      sinter_error *err);

void
sinter__sst_file_close(sinter__sst_file *file);

/** Read bytes whose place was checked against the file's size. */
sinter_status
sinter__sst_file_read(sinter__sst_file *file, uint64_t offset, void *data, size_t size,
                      sinter_error *err);

/** Name file and offset of a failure that has none yet; returns `st`. */
sinter_status
sinter__sst_file_fault(const sinter__sst_file *file, uint64_t offset, sinter_status st,
                       sinter_error *err);

/** A word for "blocks like these": version, codec, filters, schema and types. */
uint32_t
sinter__sst_format_tag(const sinter_sst_properties *properties);

#endif
