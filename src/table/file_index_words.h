/*
 * The distinct values of a column and which row has which: what bitmaps of values are made of.
 */
#ifndef SINTER_TABLE_FILE_INDEX_WORDS_H
#define SINTER_TABLE_FILE_INDEX_WORDS_H

#include "table/file_index_builder.h"

/** The word of a row that is null. */
#define SINTER__NO_WORD UINT32_MAX

/** Zeroed with `env` and `form` set is empty. Charged to env->memory. Confined. */
typedef struct sinter__index_words {
    const sinter_env *env;
    sinter__index_form form;
    uint32_t rows;
    uint32_t nulls;
    uint32_t count;       /* of words, numbered as they came */
    bool ends_new;        /* the last one came with the last value */
    sinter__pile of_rows; /* uint32_t a row */
    sinter__pile words;
    sinter__pile text;     /* of words of bytes */
    sinter__scratch slots; /* uint32_t: a word and 1 */
    uint32_t slot_count;   /* 0 or a power of two */
} sinter__index_words;

/** Release. */
void
sinter__index_words_fini(sinter__index_words *self);

/** Take the value of the next row; NULL: it is null. Failures as of add() of a builder. */
sinter_status
sinter__index_words_add(sinter__index_words *self, const sinter__index_value *value,
                        sinter_error *err);

/** The word of a row, or SINTER__NO_WORD. */
uint32_t
sinter__index_words_of_row(const sinter__index_words *self, uint32_t row);

/** A word's value; bytes live until the next one is added. */
sinter__index_value
sinter__index_words_get(const sinter__index_words *self, uint32_t index);

/** Append a word's value as indexes have it. Failures as of encode() of a builder. */
sinter_status
sinter__index_words_put(const sinter__index_words *self, uint32_t index, sinter__pile *out,
                        sinter_error *err);

/** How many rows have it. */
uint32_t
sinter__index_words_rows(const sinter__index_words *self, uint32_t index);

/** Bring the numbers of all words, `order` has room for them, into the order of their values.
 *  SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget). */
sinter_status
sinter__index_words_sort(const sinter__index_words *self, uint32_t *order, sinter_error *err);

/** Bring them into the order in which Java walks a HashMap that has them as keys. Failures as
 *  above. */
sinter_status
sinter__index_words_java_order(const sinter__index_words *self, uint32_t *order, sinter_error *err);

#endif
