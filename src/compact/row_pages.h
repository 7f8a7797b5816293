/*
 * Rows in pages, in the order in which they came: what a write buffer holds in memory.
 */
#ifndef SINTER_COMPACT_ROW_PAGES_H
#define SINTER_COMPACT_ROW_PAGES_H

#include "compact/sorted_rows.h"

/** Rows and what they take of the memory. Confined; pages_init() first, clear() releases. */
typedef struct sinter__row_pages {
    const sinter_env *env;
    sinter_memory *memory; /* what is held is reserved here; NULL: nowhere */
    uint64_t limit_bytes;  /* of what is held */
    uint64_t held_bytes;   /* pages, and what sorting the rows will take */
    size_t rows;
    size_t sortable_rows; /* so many are provided for in `held_bytes` */
    size_t shared_size;   /* bytes that all keys begin with */
    uint64_t first_prefix;
    sinter_bytes first_key;
    uint8_t *at; /* where the next row goes, and the end of its page */
    uint8_t *end;
    struct sinter__row_page *pages;
    struct sinter__row_page *filling; /* one of them; NULL: none yet */
    size_t page_bytes;                /* of the next page */
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

/** Put all rows into `out`, which has room for them, with the first bytes that tell them apart. */
void
sinter__row_pages_list(const sinter__row_pages *pages, sinter__row_entry *out);

/** Release rows and memory; more can be added then. */
void
sinter__row_pages_clear(sinter__row_pages *pages);

#endif
