/*
 * The sorted file format: properties, inspection, verification. Reading and writing records goes
 * through sinter_format_sst(). The bytes are described in docs/sst-format.md.
 */
#ifndef SINTER_SST_H
#define SINTER_SST_H

#include "sinter/batch.h"
#include "sinter/env.h"
#include "sinter/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An open file, for its properties and blocks. Confined. */
typedef struct sinter_sst sinter_sst;

/** Properties of a file. Bytes and strings live as long as the sinter_sst. */
typedef struct sinter_sst_properties {
    uint32_t struct_size;
    uint32_t format_version;
    uint64_t features_compatible;
    uint64_t features_incompatible;
    uint64_t file_size;
    uint64_t row_count;
    uint64_t retract_count;
    uint64_t block_count;
    uint64_t raw_key_bytes;
    uint64_t raw_value_bytes;
    uint64_t stored_bytes; /* of all blocks */
    int64_t sequence_min;
    int64_t sequence_max;
    int64_t creation_time_ms;
    sinter_bytes min_key;
    sinter_bytes max_key;
    int32_t level;
    int32_t codec;
    uint32_t schema_id;
    uint32_t filter_bits_per_key; /* 0: no filters */
    const char *key_types;        /* one per line; "" if opaque */
    const char *row_type;         /* JSON; "" if opaque */
    const char *writer_version;
    /* The largest of each in the file, whichever blocks they are of; 0: the file doesn't say. */
    uint64_t largest_block;      /* as stored, trailer included */
    uint64_t largest_key_part;   /* raw */
    uint64_t largest_value_part; /* raw */
    uint32_t largest_block_rows;
    uint32_t largest_page; /* of the index */
} sinter_sst_properties;

/** One block as the index has it. Bytes live until the next call. */
typedef struct sinter_sst_block {
    uint32_t struct_size;
    uint32_t row_count;
    uint32_t retract_count;
    uint32_t filter_bytes;
    uint64_t offset;
    uint64_t key_raw_bytes, key_stored_bytes;
    uint64_t value_raw_bytes, value_stored_bytes;
    int32_t key_codec, value_codec;
    int64_t sequence_min, sequence_max;
    sinter_bytes first_key, last_key;
    uint64_t key_bytes;    /* of all keys, without other columns and before front coding */
    bool keys_front_coded; /* stored as what differs from the key before */
} sinter_sst_block;

/**
 * Open a file and check footer and properties.
 *
 * @param env   allocator and io; borrowed until close
 * @param path  borrowed for the call
 * @param out   release with sinter_sst_close()
 * @return      SINTER_OK, SINTER_E_NOT_FOUND, SINTER_E_IO, SINTER_E_NOMEM, SINTER_E_TOO_LARGE,
 *              SINTER_E_CORRUPT      with file and offset
 *              SINTER_E_UNSUPPORTED  a newer format version, an unknown incompatible feature (named
 *                                    in the text), or a codec that is not built in
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_sst_open(const sinter_env *env, const char *path, sinter_sst **out, sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_sst_close(sinter_sst *sst);

/** Copy the properties. `out->struct_size` must be set; no more than that is written. */
SINTER_API void
sinter_sst_properties_get(const sinter_sst *sst, sinter_sst_properties *out);

/** Value of a user property, or NULL. */
SINTER_API const char *
sinter_sst_user_property(const sinter_sst *sst, const char *name);

/** Call `each` for every block in order, reading the index only. A failure of `each` ends it. */
SINTER_API SINTER_NODISCARD sinter_status
sinter_sst_each_block(sinter_sst *sst,
                      sinter_status (*each)(void *ctx, const sinter_sst_block *block), void *ctx,
                      sinter_error *err);

/**
 * Look a key up through index and filter.
 *
 * @param key        encoded key
 * @param row_out    the record; its batch lives until the next call
 * @return           SINTER_OK found, SINTER_END not in the file, or a failure as of reading
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_sst_get(sinter_sst *sst, sinter_bytes key, sinter_row *row_out, sinter_error *err);

/** What verification counted. */
typedef struct sinter_sst_verify_result {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t blocks;
    uint64_t rows;
    uint64_t bytes; /* file bytes accounted for; equals the file size */
} sinter_sst_verify_result;

/**
 * Check everything: every checksum, that keys ascend strictly within and across blocks, that index
 * entries and properties equal what the blocks hold, that filters know every key, that every byte
 * of the file belongs to something.
 * @param out  may be NULL; else struct_size must be set, and no more than that is written
 * @return     SINTER_OK, or the first fault as of sinter_sst_open()
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_sst_verify(const sinter_env *env, const char *path, sinter_sst_verify_result *out,
                  sinter_error *err);

/** A stretch of a damaged file that could not be copied. Texts and keys live for the call. */
typedef struct sinter_sst_loss {
    uint32_t struct_size;
    sinter_status status; /* SINTER_E_CORRUPT, SINTER_E_IO */
    uint64_t offset;      /* bytes of the file */
    uint64_t size;
    uint64_t rows;      /* that were there; counts with knows_rows */
    bool knows_rows;    /* else the stretch may have held rows, or index pages only */
    bool has_first_key; /* first_key counts */
    bool has_last_key;  /* last_key counts */
    bool are_between;   /* the keys are those of rows in front of and behind the stretch: what is
                           lost lies between; else its own first and last one */
    uint32_t reserved;
    sinter_bytes first_key;
    sinter_bytes last_key;
    const char *text; /* what is wrong */
} sinter_sst_loss;

/** Options of a rescue. */
typedef struct sinter_sst_rescue_options {
    uint32_t struct_size;
    uint32_t reserved;
    const char *out_path;  /* where the rows go; the name must be free */
    const char *like_path; /* an intact file of the same table: its types, schema and codec are used
                              where the damaged file has lost its own; NULL: none is known then */
    /** Told of each stretch that is lost, in order. NULL: nobody. */
    void (*lost)(void *ctx, const sinter_sst_loss *loss);
    void *lost_ctx;
    bool (*is_cancelled)(void *ctx); /* asked now and then; NULL: never */
    void *cancel_ctx;
} sinter_sst_rescue_options;

/** What came of a rescue. */
typedef struct sinter_sst_rescue_result {
    uint32_t struct_size;
    bool is_complete; /* every row of the file was copied, for sure */
    bool has_file;    /* a file was made; without a row there is none */
    bool knows_rows;  /* rows_said counts: the file still says how many rows it has */
    bool knows_types; /* the new file has the types of the old one, or those of like_path */
    uint64_t rows_said;
    uint64_t rows_copied;
    uint64_t blocks_copied;
    uint64_t file_size; /* of the new file */
    uint64_t losses;    /* stretches that `lost` was told of */
    uint64_t bytes_lost;
    sinter_error fault; /* status SINTER_OK, or why the index could not be used: blocks were looked
                           for in all of the file then */
} sinter_sst_rescue_result;

/**
 * Copy what is intact of a damaged file into a new one: every block whose checksums hold and whose
 * keys follow those before it. The damaged file is only read.
 *
 * Blocks are found by the index and, where a page of it or the footer is damaged, by looking for
 * their ends byte by byte. Where the damaged file has lost its properties, types, schema and codec
 * are those of `like_path`; its user properties are not copied.
 *
 * @param env   allocator, io, memory; borrowed for the call
 * @param path  borrowed for the call
 * @param out   may be NULL; else struct_size must be set, and no more than that is written
 * @return      SINTER_OK, whether or not something was lost; SINTER_E_INVALID, SINTER_E_NOMEM,
 *              SINTER_E_NOT_FOUND, SINTER_E_EXISTS (out_path), SINTER_E_CANCELLED,
 *              SINTER_E_TOO_LARGE (a block for the budget), SINTER_E_UNSUPPORTED (of a later
 *              version, or a codec that is not built in), failures of writing. No file is made then
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_sst_rescue(const sinter_env *env, const char *path, const sinter_sst_rescue_options *options,
                  sinter_sst_rescue_result *out, sinter_error *err);

/** Codecs this build can read and write. */
SINTER_API bool
sinter_codec_is_built_in(int codec);

/** Newest format version this build writes and reads. */
SINTER_API uint32_t
sinter_sst_format_version(void);

/** Let a writer of sinter_format_sst() store a name and a value; before the first append.
 *  @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (another format, too late, a reserved name),
 *          SINTER_E_EXISTS (set already) */
SINTER_API SINTER_NODISCARD sinter_status
sinter_sst_writer_set_property(sinter_writer *writer, const char *name, const char *value,
                               sinter_error *err);

/** A batch made from single records, to feed any writer. Confined. */
typedef struct sinter_batch_builder sinter_batch_builder;

/** Make a builder. @return SINTER_OK, SINTER_E_NOMEM */
SINTER_API SINTER_NODISCARD sinter_status
sinter_batch_builder_create(const sinter_env *env, sinter_batch_builder **out, sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_batch_builder_destroy(sinter_batch_builder *builder);

/**
 * Add a record; copies key and value. The caller keeps keys ascending.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (key, value, or 4 GiB of batch),
 *         SINTER_E_INVALID (kind)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_batch_builder_add(sinter_batch_builder *builder, sinter_bytes key, int64_t sequence,
                         uint8_t kind, sinter_bytes value, sinter_error *err);

/** Bytes of keys and values added since the last reset. */
SINTER_API size_t
sinter_batch_builder_bytes(const sinter_batch_builder *builder);

/** The rows added, as a batch with "sst" payload; lives until the next add or reset. It is the same
 *  struct each time and is brought up to date by this call, in no time: whoever calls it after
 *  each add may hand out rows (a merge function its results) that stay until the reset. */
SINTER_API const sinter_batch *
sinter_batch_builder_batch(sinter_batch_builder *builder);

/** Forget all rows, keep the memory. */
SINTER_API void
sinter_batch_builder_reset(sinter_batch_builder *builder);

#ifdef __cplusplus
}
#endif
#endif
