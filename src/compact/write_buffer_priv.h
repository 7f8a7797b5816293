/*
 * Inside of the write buffer: shared by write_buffer.c, which takes rows in, and flush.c.
 */
#ifndef SINTER_COMPACT_WRITE_BUFFER_PRIV_H
#define SINTER_COMPACT_WRITE_BUFFER_PRIV_H

#include "compact/buffer_reader.h"
#include "compact/row_pages.h"
#include "compact/write_buffer.h"
#include "merge/spill.h"

struct sinter__write_buffer {
    const sinter_env *env;
    sinter__write_buffer_config config;
    int64_t last_sequence; /* of the row that was put last; INT64_MIN: none */
    sinter__row_pages pages;
    const sinter__row_entry *entries; /* of the pages, sorted; NULL: not yet */
    bool was_full;                    /* the last put found no room */
    /* Files of spilled rows. One, but for failures: a file that failed is not written again, yet
     * keeps what it has. */
    sinter__spill **spills;
    size_t spill_count;
    bool is_last_failed;
    uint64_t spilled_rows;
    uint64_t spill_times;
};

/** Sort what is in memory, unless it is sorted. @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__write_buffer_sort(sinter__write_buffer *buffer, sinter_error *err);

/** Read what is in memory, sorted before; prefixes leave out `skip` bytes. */
sinter_status
sinter__write_buffer_read(const sinter__write_buffer *buffer, const sinter_env *env, size_t skip,
                          sinter_reader **out, sinter_error *err);

/** Forget all rows, those in files too. */
void
sinter__write_buffer_clear(sinter__write_buffer *buffer);

#endif
