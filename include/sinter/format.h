/*
 * Data-file formats behind one vtable: how compaction opens and makes files without knowing them.
 */
#ifndef SINTER_FORMAT_H
#define SINTER_FORMAT_H

#include "sinter/batch.h"
#include "sinter/env.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a file is to be read. Zeroed with struct_size set: the whole file. */
typedef struct sinter_read_options {
    uint32_t struct_size;
    uint32_t key_prefix_skip;     /* bytes that all keys of the merge share */
    uint32_t origin;              /* rank of the file by age, put into its batches */
    uint32_t read_bytes;          /* size of one read; 0: the format's default */
    bool has_begin_key;           /* begin_key counts */
    bool has_end_key;             /* end_key counts */
    bool keys_only;               /* values are not needed: rows may come without them */
    bool direct;                  /* SINTER_IO_DIRECT */
    sinter_bytes begin_key;       /* inclusive; borrowed until open returns */
    sinter_bytes end_key;         /* exclusive; borrowed until open returns */
    uint64_t expected_file_bytes; /* 0: unknown; else another size is SINTER_E_CORRUPT */
    bool begins_reading;          /* the first read is on its way when open returns */
    uint8_t reserved[7];
} sinter_read_options;

/** How a file is to be written. Zeroed with struct_size set: defaults of the format. */
typedef struct sinter_write_options {
    uint32_t struct_size;
    uint32_t block_bytes;         /* target of a block's raw bytes; 0: 64 KiB */
    int32_t codec;                /* sinter_codec */
    int32_t codec_level;          /* zstd; 0: 1 */
    uint32_t filter_bits_per_key; /* 0: no key filter; at most 64 */
    int32_t level;                /* level at writing, for the file's properties */
    bool direct;                  /* SINTER_IO_DIRECT */
    bool no_pass;                 /* never take stored blocks */
    uint32_t schema_id;
    const char *key_types; /* Paimon type texts, one per line; NULL: opaque keys. Borrowed */
    const char *row_type;  /* row type as JSON; NULL: opaque values. Borrowed */
    /** Filled blocks that may be on their way to the file at a time, with the environment's
     * executor to help encode them. The bytes are the same for any number. 0: none; at most 64 */
    uint32_t blocks_beside;
    uint32_t reserved;
} sinter_write_options;

/** What reading a file takes, as the file says. */
typedef struct sinter_footprint {
    uint32_t struct_size;
    uint32_t block_rows;       /* at most in a block */
    uint64_t key_part_bytes;   /* of the largest block's keys, decoded */
    uint64_t value_part_bytes; /* of the largest block's values, decoded */
    uint64_t reader_bytes;     /* of the memory budget, at most, while a reader is open */
    uint64_t rows_bytes;       /* keys and values of all rows; 0: not known */
} sinter_footprint;

/** How a file is to be verified. Zeroed with struct_size set: by itself. */
typedef struct sinter_verify_options {
    uint32_t struct_size;
    bool direct; /* SINTER_IO_DIRECT */
    uint8_t reserved[3];
    /** Size, rows, retracts, sequences, smallest and largest key as the writer had them; NULL:
     *  nobody said anything. Borrowed for the call. */
    const sinter_file_stats *said;
    bool (*is_cancelled)(void *ctx); /* asked now and then; NULL: never */
    void *cancel_ctx;
} sinter_verify_options;

/** A format. `self` is passed back to each function. Immutable. */
typedef struct sinter_format {
    uint32_t struct_size;
    uint32_t reserved;
    void *self;
    const char *name;      /* "sst" */
    const char *extension; /* ".sst" */
    /** Open a file for reading. `path` is borrowed for the call. */
    sinter_status (*open_reader)(void *self, const sinter_env *env, const char *path,
                                 const sinter_read_options *options, sinter_reader **out,
                                 sinter_error *err);
    /** Begin a new file that finish() publishes as `path`. */
    sinter_status (*open_writer)(void *self, const sinter_env *env, const char *path,
                                 const sinter_write_options *options, sinter_writer **out,
                                 sinter_error *err);
    /** Learn what a reader with these options will take, without reading blocks. SINTER_END: the
     *  file doesn't say. NULL, or beyond struct_size: the format's files never say. */
    sinter_status (*measure)(void *self, const sinter_env *env, const char *path,
                             const sinter_read_options *options, sinter_footprint *out,
                             sinter_error *err);
    /** Bytes of the memory budget that a writer takes, at most, for the rows of files whose largest
     *  numbers these are, and the sum of their rows_bytes. NULL, or beyond struct_size: not known.
     */
    uint64_t (*writer_bytes)(void *self, const sinter_write_options *options,
                             const sinter_footprint *blocks);
    /** Call `each` for every block in key order, as the index knows it, without reading blocks.
     * Only the keys and the sizes in `info` count. A failure of `each` ends the walk and is
     * returned. NULL, or beyond struct_size: the format has no blocks to tell of. */
    sinter_status (*each_block)(void *self, const sinter_env *env, const char *path,
                                sinter_status (*each)(void *ctx, const sinter_block_info *info),
                                void *ctx, sinter_error *err);
    /** Read the whole file and check everything in it, and that it is what its writer said.
     * SINTER_E_CORRUPT: the first thing that is not. NULL, or beyond struct_size: the format can't
     * tell a good file from a bad one. */
    sinter_status (*verify)(void *self, const sinter_env *env, const char *path,
                            const sinter_verify_options *options, sinter_error *err);
} sinter_format;

/** The built-in sorted file format (docs/sst-format.md). Static. */
SINTER_API const sinter_format *
sinter_format_sst(void);

#ifdef __cplusplus
}
#endif
#endif
