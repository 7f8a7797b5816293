/*
 * Buffered rows, and sorting them by key.
 */
#ifndef SINTER_COMPACT_SORTED_ROWS_H
#define SINTER_COMPACT_SORTED_ROWS_H

#include "base/bytes.h"
#include "sinter/env.h"

/** A row that is to be buffered. */
typedef struct sinter__new_row {
    sinter_bytes key;
    sinter_bytes value;
    int64_t sequence;
    uint8_t kind;
} sinter__new_row;

enum { SINTER__PAGE_ROW_KEY_MASK = (1 << 24) - 1 };

/** A row as it lies in a page: this, its key, its value. At least 64 bytes behind it are readable.
 */
typedef struct sinter__page_row {
    int64_t sequence;
    uint32_t value_size;
    uint32_t key_size : 24;
    uint32_t kind : 8;
} sinter__page_row;

/** What is sorted: a row, and 8 bytes of its key as a big-endian number. */
typedef struct sinter__row_entry {
    uint64_t prefix;
    const sinter__page_row *row;
} sinter__row_entry;

static inline sinter_bytes
sinter__page_row_key(const sinter__page_row *row)
{
    return (sinter_bytes){(const uint8_t *)(row + 1), row->key_size};
}

static inline sinter_bytes
sinter__page_row_value(const sinter__page_row *row)
{
    return (sinter_bytes){(const uint8_t *)(row + 1) + row->key_size, row->value_size};
}

/** 8 bytes of the key behind the first `skip`, missing ones 0. The key has so many. */
static inline uint64_t
sinter__page_row_prefix(const sinter__page_row *row, size_t skip)
{
    const sinter_bytes key = sinter__page_row_key(row);

    return sinter__key_prefix(key.data + skip, key.size - skip);
}

/** How many bytes two keys begin with in common, of the first `most`, which both have. */
size_t
sinter__shared_start(sinter_bytes a, sinter_bytes b, size_t most);

/** Sort by key, in place. As the sorter below does it. */
void
sinter__rows_sort(sinter__row_entry *entries, size_t count);

enum { SINTER__ROW_DIGITS = 256 /* values of the byte that rows are distributed by */ };

/**
 * Sorts entries that lie in several stretches into one array. Each stretch is counted once, and
 * then put once, in the same order. Prefixes are those behind the same number of bytes, in which
 * no two keys differ; they stay as they are.
 */
typedef struct sinter__row_sorter {
    sinter__row_entry *out;
    size_t count;
    uint64_t last_prefix;
    bool is_in_order;                /* prefixes came ascending */
    size_t ends[SINTER__ROW_DIGITS]; /* first how many have the digit, then where the next goes */
} sinter__row_sorter;

void
sinter__row_sorter_init(sinter__row_sorter *sorter);
void
sinter__row_sorter_count(sinter__row_sorter *sorter, const sinter__row_entry *entries,
                         size_t count);
/** All are counted; `out` has room for them. */
void
sinter__row_sorter_begin(sinter__row_sorter *sorter, sinter__row_entry *out);
void
sinter__row_sorter_put(sinter__row_sorter *sorter, const sinter__row_entry *entries, size_t count);
/** All are put: `out` is sorted by key now, rows of one key side by side, in any order. */
void
sinter__row_sorter_end(sinter__row_sorter *sorter);

#endif
