/*
 * Fields of metadata that this version doesn't know, carried over when a file is written anew.
 *
 * Newer writers append fields. What is unknown in a record, or in the record `_FILE` inside it, is
 * kept as bytes, with the field as the schema of its file has it; a file that is written with such
 * records has these fields behind the known ones. Records without them get null there. What can't
 * be kept is refused by name when the record is written, never dropped:
 *  - a field whose type is defined outside of it, or that lies deeper inside;
 *  - fields beyond the 64th of a file;
 *  - a field that two files define differently;
 *  - a field that can't be null, beside records that don't have it;
 *  - fields of records that were read without keeping them.
 */
#ifndef SINTER_TABLE_CARRIED_H
#define SINTER_TABLE_CARRIED_H

#include "format/avro_codec.h"

/** An unknown field. */
typedef struct sinter__carried_field {
    const char *outer; /* the field that holds its record; NULL: the root */
    const char *name;
    const char *json;     /* name, type, default */
    int32_t null_branch;  /* of its union; -1: it can't be null */
    const char *obstacle; /* why it can't be kept; NULL: it can */
} sinter__carried_field;

/** The unknown fields of a file. Immutable. */
typedef struct sinter__carried {
    const sinter__carried_field *fields;
    size_t count;
    size_t value_count; /* records have bytes of so many, the first ones */
} sinter__carried;

/** What records have that were read without keeping what is unknown. Static. */
extern const sinter__carried sinter__carried_nothing_kept;

/**
 * Describe the unknown fields of a file.
 *
 * @param arena   takes the description; must outlive the records that name it
 * @param schema  text of the file's schema
 * @param out     NULL: there are none
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget)
 */
sinter_status
sinter__carried_create(sinter__arena *arena, const sinter__avro_decoder *decoder,
                       sinter_bytes schema, const sinter__carried **out, sinter_error *err);

/** What a record carries. */
typedef struct sinter__cargo {
    const sinter__carried *carried; /* NULL: nothing */
    const sinter_bytes *values;     /* one a field; of size 0: its record was null */
} sinter__cargo;

/** The unknown fields of a file that is being written. Zeroed with `env` set is empty. */
typedef struct sinter__carried_union {
    const sinter_env *env;
    const sinter__carried_field **fields; /* borrowed from the records */
    size_t count;
    size_t capacity;
    const sinter__carried *last; /* noted last */
} sinter__carried_union;

/**
 * Note what a record carries.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (naming the field that can't be kept)
 */
sinter_status
sinter__carried_union_note(sinter__carried_union *self, const sinter__carried *carried,
                           sinter_error *err);

void
sinter__carried_union_fini(sinter__carried_union *self);

/** Bytes that the fields of the record `outer` take in a schema's text, each behind a comma. */
size_t
sinter__carried_union_json_size(const sinter__carried_union *self, const char *outer);

/** Put them at `to`. @return their end */
char *
sinter__carried_union_json_put(const sinter__carried_union *self, const char *outer, char *to);

/** Room that the values of a record take, at most. */
size_t
sinter__carried_union_room(const sinter__carried_union *self, const sinter__cargo *cargo);

/** Write the values that belong to the record `outer`. @return their end */
uint8_t *
sinter__carried_union_put(const sinter__carried_union *self, const sinter__cargo *cargo,
                          const char *outer, uint8_t *to);

#endif
