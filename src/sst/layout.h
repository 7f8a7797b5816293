/*
 * Where every byte of a file stands: widths, limits, and the parts that several files of this room
 * put and get. docs/sst-format.md is the same in prose; change both or none.
 */
#ifndef SINTER_SST_LAYOUT_H
#define SINTER_SST_LAYOUT_H

#include <assert.h>

#include "sinter/base.h"

/** Both ends of a file carry this. */
#define SINTER__SST_MAGIC "SINTERST"

enum {
    SINTER__SST_VERSION = 1,
    SINTER__SST_BLOCK_VERSION = 1,
    SINTER__SST_MAGIC_BYTES = 8,
    SINTER__SST_HEADER_BYTES = 16,
    SINTER__SST_FOOTER_BYTES = 104,
    SINTER__SST_TRAILER_BYTES = 40,     /* end of a block, and the same bytes in its index entry */
    SINTER__SST_KEY_HEADER_BYTES = 48,  /* start of a raw key part */
    SINTER__SST_FRONT_CODED_BIT = 0x80, /* beside the codec of a key part */
    SINTER__SST_FRONT_CODED_KEY_BYTES_MAX = 64 << 20, /* of a block's keys that are front-coded */
    SINTER__SST_ENTRY_BYTES = 96,                     /* fixed part of a leaf entry */
    SINTER__SST_CHILD_BYTES = 40,                     /* fixed part of an entry of an upper page */
    SINTER__SST_PAGE_HEADER_BYTES = 32,
    SINTER__SST_CHECKSUM_BYTES = 8,
    SINTER__SST_PAGE_TARGET_BYTES = 8 << 10,
    SINTER__SST_LEVEL_COUNT_MAX = 16,
    /* Bounds the columns of one block, and so what 16 MiB above the option must hold. */
    SINTER__SST_BLOCK_ROWS_MAX = 1 << 19,
    /* A page is cut once it reaches its target: at worst one entry with two keys more. */
    SINTER__SST_PAGE_BYTES_MAX = (8 << 10) + (2 << 20) + 256,
    SINTER__SST_FILTER_TARGET_BYTES = 256 << 10,
    SINTER__SST_FILTER_BYTES_MAX = (256 << 10) + (1 << 19) * 8 + 64,
    SINTER__SST_BLOCK_BYTES_DEFAULT = 64 << 10,
    SINTER__SST_READ_BYTES_DEFAULT = 256 << 10,
    SINTER__SST_DIRECT_READ_BYTES_DEFAULT = 1 << 20,
    SINTER__SST_DIRECT_ALIGN = 4096, /* of direct reads: offset, size, memory */
    SINTER__SST_DIRECT_ROOM = 3 * SINTER__SST_DIRECT_ALIGN, /* what that takes beside a span */
    /* Readable bytes behind columns, keys and values, so that copies and loads may run over. */
    SINTER__SST_SLACK_BYTES = 64
};

/** Feature bits. A reader refuses unknown incompatible bits by number and name. */
#define SINTER__SST_COMPATIBLE_FILTERS ((uint64_t)1 << 0)
/** Reserved: key parts with a stream column, value parts kept from earlier files. */
#define SINTER__SST_INCOMPATIBLE_STREAMS ((uint64_t)1 << 0)
/** There may be blocks with front-coded keys. */
#define SINTER__SST_INCOMPATIBLE_FRONT_CODING ((uint64_t)1 << 1)
/** What this build understands. */
#define SINTER__SST_INCOMPATIBLE_KNOWN SINTER__SST_INCOMPATIBLE_FRONT_CODING

/** A block as its index entry tells it. Keys point into the page. */
typedef struct sinter__sst_entry {
    uint64_t offset;
    uint64_t value_checksum;
    uint64_t key_checksum;
    uint32_t value_stored;
    uint32_t value_raw;
    uint32_t key_stored;
    uint32_t key_raw;
    uint32_t rows;
    uint8_t value_codec;
    uint8_t key_codec;
    bool keys_front_coded;
    uint16_t streams; /* value parts the key part refers to: 1 */
    uint32_t retracts;
    uint32_t filter_offset; /* in the filter section of the leaf page */
    uint32_t filter_size;
    uint32_t key_bytes; /* of all keys, without the other columns */
    int64_t sequence_min;
    int64_t sequence_max;
    sinter_bytes first_key;
    sinter_bytes last_key;
} sinter__sst_entry;

/** Bytes of a block in the file: both parts and the trailer. */
static inline uint64_t
sinter__sst_entry_stored(const sinter__sst_entry *entry)
{
    return (uint64_t)entry->value_stored + entry->key_stored + SINTER__SST_TRAILER_BYTES;
}

/** Bytes of a block's keys and values. */
static inline uint64_t
sinter__sst_entry_raw(const sinter__sst_entry *entry)
{
    return (uint64_t)entry->value_raw + entry->key_bytes;
}

/** Put the 40 bytes that end a block and stand in its entry. */
void
sinter__sst_put_trailer(uint8_t out[SINTER__SST_TRAILER_BYTES], const sinter__sst_entry *entry);

/** Put the fixed part of a leaf entry; the keys follow it in the page. */
void
sinter__sst_put_entry(uint8_t out[SINTER__SST_ENTRY_BYTES], const sinter__sst_entry *entry);

/** Get the fixed part of a leaf entry; key sizes are filled in, key pointers are not. */
void
sinter__sst_get_entry(const uint8_t in[SINTER__SST_ENTRY_BYTES], sinter__sst_entry *entry);

/** Does `checksum` belong to the bytes? Always true in fuzz builds, so that they get deeper. */
bool
sinter__sst_checksum_ok(uint64_t checksum, const void *data, size_t size);

/** The last bytes of a file. */
typedef struct sinter__sst_footer {
    uint64_t properties_offset;
    uint64_t properties_size;
    uint64_t properties_checksum;
    uint64_t root_offset;
    uint64_t root_checksum;
    uint32_t root_size;
    uint32_t level_count; /* index levels; 1: the root is a leaf page */
    uint64_t block_count;
    uint64_t features_compatible;
    uint64_t features_incompatible;
    uint64_t file_size;
    uint32_t version;
} sinter__sst_footer;

/** Put a footer with its checksum and magic. */
void
sinter__sst_put_footer(uint8_t out[SINTER__SST_FOOTER_BYTES], const sinter__sst_footer *footer);

/** Get a footer; false if magic, checksum or reserved bytes are wrong. */
bool
sinter__sst_get_footer(const uint8_t in[SINTER__SST_FOOTER_BYTES], sinter__sst_footer *footer);

/** Put the first bytes of a file. */
void
sinter__sst_put_header(uint8_t out[SINTER__SST_HEADER_BYTES]);

#endif
