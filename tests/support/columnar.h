/*
 * A second file format, for tests only. Its values are typed columns (a number and a text that
 * refers to a dictionary of its own batch), so they can't be copied as plain bytes, and it carries
 * user sequences. Whatever merges sst files must merge these as well.
 *
 * A value of at least 8 bytes is stored as number (the first 8) and text (the rest), a shorter one
 * as text without number.
 */
#ifndef SINTER_TESTS_COLUMNAR_H
#define SINTER_TESTS_COLUMNAR_H

#include "base/alloc.h"
#include "sinter/format.h"

/** Columns of some rows. Pointers live as long as their owner says. */
typedef struct columnar_payload {
    uint32_t row_count;
    uint32_t text_count;
    const int64_t *numbers;
    const uint32_t *text_refs;    /* per row: entry of the dictionary */
    const uint32_t *text_offsets; /* text_count + 1 */
    const uint8_t *text_bytes;
    const uint8_t *has_number; /* per row */
} columnar_payload;

/** Ops of such payloads: `value` is NULL. */
extern const sinter_payload_ops columnar_payload_ops;

/** Columns that grow row by row. Zeroed with `env` set is empty. */
typedef struct columnar_builder {
    const sinter_env *env;
    sinter__buffer numbers;
    sinter__buffer text_refs;
    sinter__buffer text_offsets;
    sinter__buffer text_bytes;
    sinter__buffer has_number;
    uint32_t row_count;
    uint32_t text_count;
    uint32_t resets;
    columnar_payload payload;
} columnar_builder;

/** Add a row whose value is `value`. */
sinter_status
columnar_builder_add_value(columnar_builder *builder, sinter_bytes value, sinter_error *err);

/** Add a copy of a row of other columns. */
sinter_status
columnar_builder_add_row(columnar_builder *builder, const columnar_payload *payload, uint32_t row,
                         sinter_error *err);

/** The rows so far; lives until the next add, reset or fini. */
const columnar_payload *
columnar_builder_payload(columnar_builder *builder);

/** Forget all rows. The next dictionary numbers its texts differently. */
void
columnar_builder_reset(columnar_builder *builder);

void
columnar_builder_fini(columnar_builder *builder);

/** Append the value of a row, as it was given to columnar_builder_add_value(), to `out`. */
sinter_status
columnar_value(const sinter_env *env, const columnar_payload *payload, uint32_t row,
               sinter__buffer *out, sinter_error *err);

/** How files are written and read. Zeroed: blocks of 64 rows, read whole. */
typedef struct columnar_options {
    uint32_t block_rows; /* of a file's blocks */
    uint32_t batch_rows; /* of a reader's batches; 0: blocks whole */
} columnar_options;

/** The format; `options` is borrowed as long as it is used. */
void
columnar_format_init(sinter_format *format, const columnar_options *options);

#endif
