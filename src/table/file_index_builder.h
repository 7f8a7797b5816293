/*
 * Indexes of the values of one column while a file is written: one implementation a kind.
 */
#ifndef SINTER_TABLE_FILE_INDEX_BUILDER_H
#define SINTER_TABLE_FILE_INDEX_BUILDER_H

#include "sst/scratch.h"
#include "table/file_index_plan.h"
#include "table/file_index_value.h"

/** Rows of a file at most. */
#define SINTER__INDEX_ROWS_MAX ((uint64_t)INT32_MAX)

/** An index that is being made. Confined. What it holds is charged to env->memory. */
typedef struct sinter__index_builder sinter__index_builder;

struct sinter__index_builder {
    /** Take the value of the next row; NULL: it is null. SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the
     *  budget, rows, what the kind can't hold). */
    sinter_status (*add)(sinter__index_builder *self, const sinter__index_value *value,
                         sinter_error *err);
    /** Append the index of all rows. Failures as of add(); SINTER_E_TOO_LARGE also: an index of
     *  2 GiB. */
    sinter_status (*encode)(sinter__index_builder *self, sinter__pile *out, sinter_error *err);
    /** Release, in any state. */
    void (*close)(sinter__index_builder *self);
};

/**
 * Begin an index.
 * @param index  borrowed as long as the builder
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget)
 */
sinter_status
sinter__index_bloom_open(const sinter_env *env, const sinter__file_index *index,
                         sinter__index_builder **out, sinter_error *err);
sinter_status
sinter__index_bitmap_open(const sinter_env *env, const sinter__file_index *index,
                          sinter__index_builder **out, sinter_error *err);
sinter_status
sinter__index_bsi_open(const sinter_env *env, const sinter__file_index *index,
                       sinter__index_builder **out, sinter_error *err);
sinter_status
sinter__index_range_open(const sinter_env *env, const sinter__file_index *index,
                         sinter__index_builder **out, sinter_error *err);

/** Make room behind a pile and count it in; `*out` is its first byte. Failures as of growing. */
sinter_status
sinter__index_room(const sinter_env *env, sinter__pile *pile, size_t size, uint8_t **out,
                   sinter_error *err);

/** Append a number, most significant byte first. */
sinter_status
sinter__index_put_byte(const sinter_env *env, sinter__pile *pile, unsigned number,
                       sinter_error *err);
sinter_status
sinter__index_put_int(const sinter_env *env, sinter__pile *pile, uint64_t number,
                      sinter_error *err);
sinter_status
sinter__index_put_long(const sinter_env *env, sinter__pile *pile, int64_t number,
                       sinter_error *err);

/** Append all bytes of another pile. */
sinter_status
sinter__index_append(const sinter_env *env, sinter__pile *pile, const sinter__pile *from,
                     sinter_error *err);

#endif
