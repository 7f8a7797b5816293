/*
 * Keys and values that tell by themselves whose they are: a value names its bucket, its key and the
 * moment it was written at, and what follows is made of these.
 */
#ifndef SOAK_RECORDS_H
#define SOAK_RECORDS_H

#include "soak/common.h"

enum { SOAK_KEY_ROOM = 32, SOAK_VALUE_ROOM = 8192 };

/** The bytes of key number `index`; keys sort as their numbers do. */
sinter_bytes
soak_key_make(uint32_t index, uint8_t room[SOAK_KEY_ROOM]);

/** The smallest key above that of `index`. */
sinter_bytes
soak_key_behind(uint32_t index, uint8_t room[SOAK_KEY_ROOM]);

/** The number of a key; a wrong answer if it is none. */
uint32_t
soak_key_index(sinter_bytes key);

/** What is written of a key at a moment. */
sinter_bytes
soak_value_make(uint32_t bucket, uint32_t index, uint64_t moment, uint8_t room[SOAK_VALUE_ROOM]);

/** The moment a value was written at; a wrong answer if a byte of it is not as it was. */
uint64_t
soak_value_moment(uint32_t bucket, uint32_t index, sinter_bytes value);

/** One row of an answer. */
typedef struct soak_row {
    uint32_t key;
    uint64_t moment;
} soak_row;

/** An answer, in key order. Grows; soak_rows_fini() releases it. */
typedef struct soak_rows {
    soak_row *rows;
    size_t count;
    size_t capacity;
} soak_rows;

void
soak_rows_add(soak_rows *rows, uint32_t key, uint64_t moment);
void
soak_rows_fini(soak_rows *rows);

/** Some keys of some files of a bucket. */
typedef struct soak_question {
    uint32_t bucket;
    uint32_t begin; /* first key */
    uint32_t end;   /* one behind the last */
    const char *dir;
    const sinter_file_meta *files;
    size_t count;
} soak_question;

/**
 * Read what files hold, through a view. The rows replace those in `out`; each is checked by itself.
 * @return SINTER_OK, or what the view failed with
 */
sinter_status
soak_read(const sinter_env *env, const soak_question *question, soak_rows *out, sinter_error *err);

#endif
