/*
 * Sets of rows as indexes hold them: Roaring bitmaps, and numbers cut into one such set a bit.
 */
#ifndef SINTER_TABLE_FILE_INDEX_ROWS_H
#define SINTER_TABLE_FILE_INDEX_ROWS_H

#include "table/file_index_builder.h"

/** Append the set of some rows, ascending. Failures as of encode() of a builder. */
sinter_status
sinter__index_row_list_put(const sinter_env *env, const uint32_t *rows, uint32_t count,
                           sinter__pile *out, sinter_error *err);

/** Numbers of rows. */
typedef struct sinter__index_slices {
    uint32_t rows;
    /** Does the row have a number? */
    bool (*number_of)(const void *ctx, uint32_t row, uint64_t *out);
    const void *ctx;
} sinter__index_slices;

/** Append the set of rows that have a number. */
sinter_status
sinter__index_slices_put_all(const sinter_env *env, const sinter__index_slices *slices,
                             sinter__pile *out, sinter_error *err);

/** Append the set of rows whose number has this bit. */
sinter_status
sinter__index_slices_put(const sinter_env *env, const sinter__index_slices *slices, unsigned bit,
                         sinter__pile *out, sinter_error *err);

/** Bits that a number takes; of 0 none. */
unsigned
sinter__index_bits(uint64_t number);

#endif
