/*
 * Buffered rows as the input of a merge.
 */
#ifndef SINTER_COMPACT_BUFFER_READER_H
#define SINTER_COMPACT_BUFFER_READER_H

#include "compact/sorted_rows.h"
#include "sinter/batch.h"

/** Rows in order. Borrowed until the reader is closed. */
typedef struct sinter__buffered_rows {
    const sinter__row_entry *entries;
    size_t count;
    size_t entry_skip; /* of keys, that the prefixes of the entries leave out */
    size_t skip;       /* that the prefixes of the batches are to leave out */
    uint32_t origin;
    bool keeps_newest; /* versions that a newer one of their key outdoes may be left out */
} sinter__buffered_rows;

/**
 * Read sorted rows. A batch may hold several versions of a key; they are never parted. With
 * `keeps_newest`, of a key with more versions than fit into a batch the newest comes alone.
 * @return SINTER_OK, SINTER_E_NOMEM. Reading: SINTER_E_TOO_LARGE (budget; or the keys of all
 *         versions of one key take more than 4 GiB), SINTER_E_NOMEM
 */
sinter_status
sinter__buffer_reader_open(const sinter_env *env, const sinter__buffered_rows *rows,
                           sinter_reader **out, sinter_error *err);

/** What reading takes of the memory budget, where no key has many versions or the newest is
 *  enough. */
uint64_t
sinter__buffer_reader_bytes(void);

#endif
