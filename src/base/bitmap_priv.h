/*
 * The chunks of a bitmap, for the files that change and write them.
 */
#ifndef SINTER_BASE_BITMAP_PRIV_H
#define SINTER_BASE_BITMAP_PRIV_H

#include "base/bitmap.h"

enum {
    SINTER__CHUNK_NUMBERS = 65536,
    SINTER__CHUNK_WORDS = 1024,
    SINTER__CHUNK_BITS_BYTES = 8192,
    SINTER__CHUNK_VALUES_MAX = 4096,
    SINTER__CHUNK_RUNS_MAX = 2047, /* more take more room than bits; files may have more */
    SINTER__BITMAP_CHUNKS_MAX = 65536
};

/** How a chunk's numbers are held. */
typedef enum sinter__chunk_form {
    SINTER__CHUNK_VALUES, /* uint16_t, ascending */
    SINTER__CHUNK_RUNS,   /* sinter__chunk_run, ascending, with numbers missing in between */
    SINTER__CHUNK_BITS    /* uint64_t, 1024 of them */
} sinter__chunk_form;

/** Lower halves that follow each other, both ends included. */
typedef struct sinter__chunk_run {
    uint16_t first;
    uint16_t last;
} sinter__chunk_run;

/** Numbers with one upper half. */
typedef struct sinter__bitmap_chunk {
    void *data;
    uint32_t capacity; /* bytes of data */
    uint32_t count;    /* 1..65536 */
    uint16_t used;     /* values or runs */
    uint16_t key;
    uint8_t form;
    bool was_runs; /* when it was read or written last, or merged */
} sinter__bitmap_chunk;

/** Find the first run from `from` on, which may be 65536. @return false: there are no more */
bool
sinter__chunk_next(const sinter__bitmap_chunk *chunk, uint32_t from, sinter__chunk_run *out);
bool
sinter__words_next(const uint64_t *words, uint32_t from, sinter__chunk_run *out);

/** How many runs the bits are. */
uint32_t
sinter__words_runs(const uint64_t *words);

/** The form that takes the least room in a file. Between equals it isn't runs, unless it was: the
 *  reference counts two bytes more for values then. */
sinter__chunk_form
sinter__chunk_best_form(uint32_t count, uint32_t runs, bool was_runs);

/** Make `data` larger. @return SINTER_OK; SINTER_E_NOMEM, SINTER_E_TOO_LARGE: nothing has changed
 */
sinter_status
sinter__chunk_resize(const sinter_env *env, sinter__bitmap_chunk *chunk, uint32_t bytes,
                     sinter_error *err);

/** Room for so many chunks, not fewer than there is. @return as of sinter__chunk_resize() */
sinter_status
sinter__bitmap_fit_list(sinter__bitmap *self, uint32_t capacity, sinter_error *err);

#endif
