/*
 * Which indexes of values go with each data file of a table, as `file-index.*` options say.
 */
#ifndef SINTER_TABLE_FILE_INDEX_PLAN_H
#define SINTER_TABLE_FILE_INDEX_PLAN_H

#include "base/arena.h"
#include "sinter/table.h"

/** Kinds of indexes. */
typedef enum sinter__file_index_kind {
    SINTER__FILE_INDEX_BLOOM = 0,
    SINTER__FILE_INDEX_BITMAP,
    SINTER__FILE_INDEX_BSI,
    SINTER__FILE_INDEX_RANGE
} sinter__file_index_kind;

/** An index. */
typedef struct sinter__file_index {
    sinter__file_index_kind kind;
    size_t column; /* of the table */
    const char *column_name;
    const char *key;        /* of the MAP that the column is; NULL: its whole values */
    const char *name;       /* of column, or of column and key: "m[k]" */
    sinter_type type;       /* of the values; its parts are the schema's */
    uint32_t items;         /* BLOOM: values to be expected */
    double fpp;             /* BLOOM: how many answers may be wrong */
    int32_t version;        /* BITMAP: 1 or 2 */
    uint32_t stretch_bytes; /* BITMAP of version 2: of a block, RANGE: of a chunk */
} sinter__file_index;

/** The indexes of a table, in the order in which they stand in a file. */
typedef struct sinter__file_index_plan {
    const sinter__file_index *items;
    size_t count;         /* 0: none */
    uint64_t embed_bytes; /* up to which they stand in the manifest */
} sinter__file_index_plan;

/** The kind's name in options and files. */
const char *
sinter__file_index_kind_name(sinter__file_index_kind kind);

/**
 * Read the options.
 *
 * @param arena   takes what the plan is made of
 * @param schema  borrowed as long as the plan
 * @return        SINTER_OK, SINTER_E_NOMEM; option and column named:
 *                SINTER_E_INVALID      a column that isn't there, an option's value
 *                SINTER_E_UNSUPPORTED  a kind of index that isn't known, or a column's type that
 *                                      it doesn't take
 */
sinter_status
sinter__file_index_plan_load(sinter__arena *arena, const sinter_schema *schema,
                             sinter__file_index_plan *out, sinter_error *err);

#endif
