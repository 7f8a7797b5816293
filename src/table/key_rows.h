/*
 * Keys as metadata has them: rows of the primary key without partition columns
 * (table-layout.md 6.2).
 */
#ifndef SINTER_TABLE_KEY_ROWS_H
#define SINTER_TABLE_KEY_ROWS_H

#include "base/arena.h"
#include "sinter/table.h"

/** How the keys of a table are read. Zeroed with `arena.env` set is none. Confined. */
typedef struct sinter__key_rows {
    sinter__arena arena;
    sinter_key_codec *codec; /* NULL: the table has no primary key */
    sinter_type *types;
    sinter_datum *values;
    size_t count;
    sinter_text text;
} sinter__key_rows;

/**
 * Find the columns of the key.
 * @param out  release with sinter__key_rows_fini(), after a failure too
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a type that can't be a key)
 */
sinter_status
sinter__key_rows_init(sinter__key_rows *out, const sinter_schema *schema, sinter_error *err);

void
sinter__key_rows_fini(sinter__key_rows *self);

/** Encode a row that has its arity in front, into the arena, so that bytes have the order of
 * values. There is a key. @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT */
sinter_status
sinter__key_rows_encode(sinter__key_rows *self, sinter_bytes row, sinter_bytes *out,
                        sinter_error *err);

#endif
