/*
 * The end of a file that is being written: bytes are gathered and appended in large pieces.
 */
#ifndef SINTER_SST_SINK_H
#define SINTER_SST_SINK_H

#include "sinter/io.h"
#include "sst/scratch.h"

/* From so many bytes on the io writes without copying them once more. */
enum { SINTER__SST_SINK_CHUNK_BYTES = 256 << 10 };

/** Zeroed with `env` and `handle` set is empty. Confined. */
typedef struct sinter__sst_sink {
    const sinter_env *env;
    sinter_io_file *handle;
    sinter__scratch pending;
    size_t pending_size;    /* bytes gathered, not yet appended */
    uint64_t appended_size; /* bytes handed to the io */
} sinter__sst_sink;

/** Where the next byte will stand in the file. */
static inline uint64_t
sinter__sst_sink_offset(const sinter__sst_sink *sink)
{
    return sink->appended_size + sink->pending_size;
}

/**
 * Make room for `size` more bytes and return where they go. Content behind the end that was put
 * there by an earlier reserve is kept. Valid until the next call.
 */
sinter_status
sinter__sst_sink_reserve(sinter__sst_sink *sink, size_t size, uint8_t **out, sinter_error *err);

/** Count `size` of the reserved bytes as written; appends what is gathered if it is enough. */
sinter_status
sinter__sst_sink_commit(sinter__sst_sink *sink, size_t size, sinter_error *err);

/** Write bytes. */
sinter_status
sinter__sst_sink_write(sinter__sst_sink *sink, const void *data, size_t size, sinter_error *err);

/** Hand all that is gathered to the io. */
sinter_status
sinter__sst_sink_flush(sinter__sst_sink *sink, sinter_error *err);

void
sinter__sst_sink_fini(sinter__sst_sink *sink);

#endif
