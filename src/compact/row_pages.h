/*
 * Rows in pages, and entries to sort them by: what a write buffer holds in memory.
 */
#ifndef SINTER_COMPACT_ROW_PAGES_H
#define SINTER_COMPACT_ROW_PAGES_H

#include "compact/sorted_rows.h"

/** Entries of some rows. */
typedef struct sinter__entry_page {
    struct sinter__entry_page *next;
    size_t count;
    size_t capacity;
    sinter__row_entry entries[];
} sinter__entry_page;

/** Rows and what they take of the memory. Confined; init() first, clear() releases. */
typedef struct sinter__row_pages {
    const sinter_env *env;
    sinter_memory *memory; /* what is held is reserved here; NULL: nowhere */
    uint64_t limit_bytes;  /* of what is held */
    uint64_t held_bytes;   /* pages and entries, spare ones too */
    size_t rows;
    sinter__entry_page *entry_pages; /* in the order of the rows */
    sinter__entry_page *last_entries;
    uint64_t entry_bytes; /* of these pages */
    size_t stale_rows;    /* the first so many entries have prefixes of an earlier `shared_size` */
    size_t shared_size;   /* bytes that all keys begin with; prefixes leave them out */
    uint64_t first_prefix;
    sinter_bytes first_key;
    uint8_t *at; /* where the next row goes, and the end of its page */
    uint8_t *end;
    struct sinter__row_page *pages;
    struct sinter__row_page *spare; /* without rows, to be used again */
    size_t page_bytes;              /* of the next page */
} sinter__row_pages;

void
sinter__row_pages_init(sinter__row_pages *pages, const sinter_env *env, sinter_memory *memory,
                       uint64_t limit_bytes);

/**
 * Copy a row in.
 * @return SINTER_OK; SINTER_END: neither limit nor memory have room for it, nothing was put;
 *         SINTER_E_NOMEM
 */
sinter_status
sinter__row_pages_add(sinter__row_pages *pages, const sinter__new_row *row, sinter_error *err);

/** Bytes that are held when such a row is the only one. */
uint64_t
sinter__row_pages_least(size_t key_size, size_t value_size);

/**
 * Put the entries in the order of their keys, rows of one key side by side in any order.
 * @param out  all of them, until a row is added or pages are cleared; there is at least one
 * @return     SINTER_OK, SINTER_E_NOMEM; nothing has changed then
 */
sinter_status
sinter__row_pages_sort(sinter__row_pages *pages, const sinter__row_entry **out, sinter_error *err);

/** Release rows and memory; more can be added then. */
void
sinter__row_pages_clear(sinter__row_pages *pages);

/** Release the rows, but keep memory for as many: getting it anew costs more than filling it. */
void
sinter__row_pages_reuse(sinter__row_pages *pages);

#endif
