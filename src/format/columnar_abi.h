/*
 * What the library and libsinter_columnar, which it loads at run time, agree on.
 *
 * One symbol, SINTER__COLUMNAR_SYMBOL, gives a struct of functions. Columns cross as Arrow's C Data
 * Interface, failures as sinter_error; no C++ type and no exception crosses. The library's own
 * services (memory, files) go to the other side by way of sinter__columnar_host. Both sides are
 * built from one tree: another SINTER__COLUMNAR_ABI is refused, so structs need no older versions.
 */
#ifndef SINTER_FORMAT_COLUMNAR_ABI_H
#define SINTER_FORMAT_COLUMNAR_ABI_H

#include "format/arrow_c.h"
#include "sinter/base.h"
#include "sinter/env.h"
#include "sinter/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Goes up with every change of this file. */
#define SINTER__COLUMNAR_ABI 4u
#define SINTER__COLUMNAR_SYMBOL "sinter_columnar_api"

/** File formats. */
typedef enum sinter__columnar_kind {
    SINTER__COLUMNAR_PARQUET = 1,
    SINTER__COLUMNAR_ORC = 2
} sinter__columnar_kind;

/** Codecs that Parquet and ORC files may have. */
typedef enum sinter__columnar_codec {
    SINTER__COLUMNAR_ZSTD = 0,
    SINTER__COLUMNAR_NONE = 1,
    SINTER__COLUMNAR_SNAPPY = 2,
    SINTER__COLUMNAR_LZ4 = 3, /* Parquet: LZ4_RAW */
    SINTER__COLUMNAR_GZIP = 4 /* ORC: ZLIB */
} sinter__columnar_codec;

/** The caller's services. Copied by who takes it; what it points to must outlive everything made
 *  with it, arrays included. */
typedef struct sinter__columnar_host {
    uint32_t struct_size;
    uint32_t reserved;
    const sinter_env *env;
    sinter_status (*reserve)(sinter_memory *memory, uint64_t bytes, sinter_error *err);
    void (*release)(sinter_memory *memory, uint64_t bytes);
} sinter__columnar_host;

/** A file being read. Confined, with its batches. */
typedef struct sinter__columnar_file sinter__columnar_file;
/** Rows in memory, all columns of a read. Immutable, counted: lives on without its file. */
typedef struct sinter__columnar_batch sinter__columnar_batch;
/** A file being written. Confined. */
typedef struct sinter__columnar_output sinter__columnar_output;

/** A stream of Arrow's IPC format. Confined. */
typedef struct sinter__columnar_stream sinter__columnar_stream;

/** Takes a stream's bytes. */
typedef struct sinter__columnar_put {
    /** All of them, or a failure, which ends the stream. */
    sinter_status (*put)(void *ctx, const void *data, size_t size, sinter_error *err);
    void *ctx;
} sinter__columnar_put;

/** What a file says of itself. */
typedef struct sinter__columnar_info {
    uint32_t struct_size;
    int32_t kind; /* sinter__columnar_kind */
    uint64_t file_bytes;
    uint64_t row_count;
    uint32_t group_count;  /* row groups of Parquet, stripes of ORC */
    uint32_t column_count; /* of the root: nested columns count once */
    const char *writer;    /* name and version of what wrote it; lives as long as the file */
} sinter__columnar_info;

/** A row group or stripe. */
typedef struct sinter__columnar_group {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t row_count;
    uint64_t stored_bytes; /* in the file */
    uint64_t raw_bytes;    /* of Parquet: pages before the codec; ORC: 0, not told */
} sinter__columnar_group;

/** Which part of a file to read, and how. Zeroed with struct_size set: all of it. */
typedef struct sinter__columnar_read {
    uint32_t struct_size;
    uint32_t batch_rows;     /* rows of a batch at most; 0: 4096 */
    const uint32_t *columns; /* positions of columns, ascending; NULL: all */
    uint32_t column_count;   /* with `columns`; at least 1 */
    uint32_t group_first;
    uint32_t group_count; /* 0: all from group_first on */
    uint32_t shown_count; /* with `shown`; at least 1 */
    /** What the chosen columns are wanted as, in their order; names don't matter. Timestamps may
     *  have coarser units, and int32 (ORC's times) be times. NULL: as the file has them. Borrowed
     *  for the call. */
    const struct ArrowSchema *as;
    /** Which of the chosen columns the batches have, as positions among them in any order; one that
     *  is there twice is read once. NULL: each, once. */
    const uint32_t *shown;
} sinter__columnar_read;

/** What reading takes, as far as the footer tells: sizes of pages are not in it, so they are taken
 *  for those of usual writers, and never for more than their column has. */
typedef struct sinter__columnar_footprint {
    uint32_t struct_size;
    uint32_t batch_rows;   /* at most in a batch */
    uint64_t reader_bytes; /* of the memory budget, with a batch */
    uint64_t batch_bytes;  /* of the columns of a batch */
    uint64_t rows_bytes;   /* of the columns of all rows */
} sinter__columnar_footprint;

/** How to write. Zeroed with struct_size and kind set: as Paimon's defaults. */
typedef struct sinter__columnar_write {
    uint32_t struct_size;
    int32_t kind;         /* sinter__columnar_kind */
    int32_t codec;        /* sinter__columnar_codec */
    int32_t codec_level;  /* zstd and gzip in Parquet; 0: 1 for zstd, the codec's for gzip. ORC
                             has one level of each codec */
    uint64_t group_bytes; /* encoded, of a row group or stripe; 0: 128 MiB, 64 MiB */
    uint32_t page_bytes;  /* of Parquet's pages; 0: 1 MiB */
    uint32_t io_flags;    /* SINTER_IO_* */
    bool no_dictionary;   /* Parquet: plain encoding from the start */
    uint8_t reserved[3];
    uint32_t dictionary_bytes; /* of a column of Parquet at most; 0: 1 MiB */
} sinter__columnar_write;

/** Rows of a batch that lie side by side. */
typedef struct sinter__columnar_range {
    const sinter__columnar_batch *batch;
    uint64_t first;
    uint64_t count;
} sinter__columnar_range;

/** What was written. */
typedef struct sinter__columnar_written {
    uint32_t struct_size;
    uint32_t group_count;
    uint64_t file_bytes;
    uint64_t row_count;
} sinter__columnar_written;

/** The functions. Failures fill `err`, which may be NULL; outputs are NULL after one. */
typedef struct sinter__columnar_api {
    uint32_t struct_size;
    uint32_t abi;
    const char *arrow_version; /* "19.0.1" */

    /**
     * Open a file of either format, told by its first bytes, and read its footer.
     * @param expected_bytes  0: any size; else another is SINTER_E_CORRUPT
     * @return SINTER_E_NOMEM, SINTER_E_TOO_LARGE, failures of io, SINTER_E_CORRUPT (neither format,
     *         or damaged), SINTER_E_UNSUPPORTED (a feature or codec that Arrow lacks)
     */
    sinter_status (*file_open)(const sinter__columnar_host *host, const char *path,
                               uint32_t io_flags, uint64_t expected_bytes,
                               sinter__columnar_file **out, sinter_error *err);
    /** struct_size of `out` must be set. */
    sinter_status (*file_info)(const sinter__columnar_file *file, sinter__columnar_info *out,
                               sinter_error *err);
    /** `index` < group_count. */
    sinter_status (*file_group)(const sinter__columnar_file *file, uint32_t index,
                                sinter__columnar_group *out, sinter_error *err);
    /** The root struct with a child per column; the caller releases it. */
    sinter_status (*file_schema)(const sinter__columnar_file *file, struct ArrowSchema *out,
                                 sinter_error *err);
    /**
     * Begin to read, from the start of the part, whatever was read before.
     * @return SINTER_E_INVALID (no such columns or groups), SINTER_E_UNSUPPORTED (a column can't be
     *         had as it is wanted; timestamps with more than six decimals before 1677 or after
     * 2262, which Arrow can't hold), and those of file_next()
     */
    sinter_status (*file_read)(sinter__columnar_file *file, const sinter__columnar_read *read,
                               sinter_error *err);
    /** What file_read() of the same part and file_next() will take; nothing is read for it. */
    sinter_status (*file_footprint)(const sinter__columnar_file *file,
                                    const sinter__columnar_read *read,
                                    sinter__columnar_footprint *out, sinter_error *err);
    /** Next batch, with at least one row; SINTER_END after the last. Release it. */
    sinter_status (*file_next)(sinter__columnar_file *file, sinter__columnar_batch **out,
                               sinter_error *err);
    /** Close and release; takes NULL. */
    void (*file_close)(sinter__columnar_file *file);

    uint64_t (*batch_rows)(const sinter__columnar_batch *batch);
    /** The columns, as a struct array; the caller releases it, before or after the batch. */
    sinter_status (*batch_export)(const sinter__columnar_batch *batch, struct ArrowArray *out,
                                  sinter_error *err);
    /** A batch of the caller's columns. Both structs are taken, also when it fails. */
    sinter_status (*batch_import)(struct ArrowSchema *schema, struct ArrowArray *array,
                                  sinter__columnar_batch **out, sinter_error *err);
    /** Takes NULL. */
    void (*batch_release)(sinter__columnar_batch *batch);

    /**
     * Begin a file that output_finish() publishes as `path`.
     * @param schema  borrowed; the root struct. Fields carry their ids as file_schema() gives them
     * @return SINTER_E_NOMEM, SINTER_E_INVALID, failures of io, SINTER_E_UNSUPPORTED (a type that
     *         the format can't hold)
     */
    sinter_status (*output_open)(const sinter__columnar_host *host, const char *path,
                                 const struct ArrowSchema *schema,
                                 const sinter__columnar_write *write, sinter__columnar_output **out,
                                 sinter_error *err);
    /** Append rows of batches whose columns have the types of the schema. Copied. */
    sinter_status (*output_append)(sinter__columnar_output *output,
                                   const sinter__columnar_range *ranges, size_t count,
                                   sinter_error *err);
    /** Bytes written, and encoded ones that are still held. */
    uint64_t (*output_size)(const sinter__columnar_output *output);
    /** Write what is left, sync, publish; struct_size of `out` must be set. */
    sinter_status (*output_finish)(sinter__columnar_output *output, sinter__columnar_written *out,
                                   sinter_error *err);
    /** Release in any state; a file that was not finished vanishes. Takes NULL. */
    void (*output_close)(sinter__columnar_output *output);

    /**
     * Begin a stream: `put` gets its bytes as they are made, during these calls.
     * @param schema  borrowed; the root struct
     * @param put     copied
     * @return SINTER_E_NOMEM, SINTER_E_TOO_LARGE, SINTER_E_INVALID, failures of `put`
     */
    sinter_status (*stream_open)(const sinter__columnar_host *host,
                                 const struct ArrowSchema *schema, const sinter__columnar_put *put,
                                 sinter__columnar_stream **out, sinter_error *err);
    /** Append a batch with the columns of the schema. */
    sinter_status (*stream_append)(sinter__columnar_stream *stream,
                                   const sinter__columnar_batch *batch, sinter_error *err);
    /** Write the end. */
    sinter_status (*stream_finish)(sinter__columnar_stream *stream, sinter_error *err);
    /** Release in any state; writes nothing. Takes NULL. */
    void (*stream_close)(sinter__columnar_stream *stream);
} sinter__columnar_api;

/** The one symbol. Never NULL; the struct is static. */
typedef const sinter__columnar_api *(*sinter__columnar_api_function)(void);

#ifdef __cplusplus
}
#endif
#endif
