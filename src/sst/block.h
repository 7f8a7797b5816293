/*
 * A block's two parts: columns to bytes and back (docs/sst-format.md, "Block").
 */
#ifndef SINTER_SST_BLOCK_H
#define SINTER_SST_BLOCK_H

#include "sst/codec.h"
#include "sst/keys.h"
#include "sst/layout.h"
#include "sst/scratch.h"

/** Columns of a block that is being written. Offsets have one item more than rows. */
typedef struct sinter__sst_columns {
    uint32_t rows;
    const uint8_t *keys;
    const uint32_t *key_offsets;
    const uint32_t *value_offsets;
    const int64_t *sequences;
    const uint8_t *kinds;
    const uint32_t *shared; /* front coding: as of sinter__front_measure(); NULL: none */
    uint32_t shared_max;
} sinter__sst_columns;

/** A span of an unsigned column. */
typedef struct sinter__sst_extent {
    uint32_t min;
    uint32_t max;
} sinter__sst_extent;

/** What the columns of a block say about it. */
typedef struct sinter__sst_summary {
    sinter__sst_extent key_bytes;   /* of one key */
    sinter__sst_extent value_bytes; /* of one value */
    int64_t sequence_min;
    int64_t sequence_max;
    uint32_t retracts;
    uint32_t kinds_or; /* all kinds joined by |, to see invalid ones */
    bool kinds_equal;
} sinter__sst_summary;

/** Look through the columns once; at least one row. */
void
sinter__sst_summarize(const sinter__sst_columns *columns, sinter__sst_summary *out);

/** Room that the raw key part of a block may need, with what packing writes over. */
size_t
sinter__sst_key_part_bound(uint32_t rows, size_t key_bytes);

/** Put the raw key part and return its size. */
size_t
sinter__sst_put_key_part(uint8_t *out, const sinter__sst_columns *columns,
                         const sinter__sst_summary *summary);

/** A block's columns as the decoder leaves them. They live until its next call. */
typedef struct sinter__sst_decoded {
    sinter__keys keys;
    const uint64_t *prefixes;
    const int64_t *sequences;
    const uint8_t *kinds;
    const uint32_t *value_offsets;
    const uint8_t *values; /* NULL until the value part is decoded */
} sinter__sst_decoded;

/**
 * Decodes blocks of one file, one at a time. Zeroed with `env` and `path` set and `codec.env` equal
 * to `env` is ready. Confined.
 */
typedef struct sinter__sst_decoder {
    const sinter_env *env;
    const char *path;           /* named in failures; borrowed */
    sinter_bytes shared_prefix; /* all keys must begin with it; prefixes come after it. Borrowed */
    sinter__codec codec;
    sinter__scratch key_raw;
    sinter__scratch value_raw;
    sinter__scratch columns;
    sinter__scratch keys; /* front-coded keys, put together */
    sinter__sst_decoded out;
} sinter__sst_decoder;

/**
 * Verify and decode a key part into columns.
 *
 * Checks: checksum, sizes, kinds, that keys ascend strictly, and that the entry's keys, key bytes
 * and retract count are those of the rows.
 *
 * @param stored  the `entry->key_stored` bytes of the part, followed by SINTER__SST_TRAILER_BYTES
 *                readable bytes; with codec none the columns refer to them, unless front-coded
 * @return SINTER_OK, SINTER_E_CORRUPT with file and offset, SINTER_E_NOMEM, SINTER_E_TOO_LARGE,
 *         SINTER_E_UNSUPPORTED (codec)
 */
sinter_status
sinter__sst_decode_keys(sinter__sst_decoder *decoder, const sinter__sst_entry *entry,
                        const uint8_t *stored, sinter_error *err);

/**
 * The same for a block that no index describes: of the entry, offset and what stands in the trailer
 * are set. Retracts, bytes of keys, and first and last key, which live until the next call, are
 * filled in instead of checked.
 */
sinter_status
sinter__sst_decode_bare_keys(sinter__sst_decoder *decoder, sinter__sst_entry *entry,
                             const uint8_t *stored, sinter_error *err);

/** Verify and decode the value part of the block whose keys were decoded last. As above. */
sinter_status
sinter__sst_decode_values(sinter__sst_decoder *decoder, const sinter__sst_entry *entry,
                          const uint8_t *stored, sinter_error *err);

/** Check a block's trailer against its entry; `trailer` are the last bytes of the block. */
sinter_status
sinter__sst_check_trailer(const char *path, const sinter__sst_entry *entry, const uint8_t *trailer,
                          sinter_error *err);

/** Check both checksums of a whole stored block and its trailer. */
sinter_status
sinter__sst_check_stored(const char *path, const sinter__sst_entry *entry, const uint8_t *stored,
                         sinter_error *err);

void
sinter__sst_decoder_fini(sinter__sst_decoder *decoder);

#endif
