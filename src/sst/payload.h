/*
 * The payload of batches that carry plain bytes as values: made by the reader and the batch
 * builder, known to the writer.
 */
#ifndef SINTER_SST_PAYLOAD_H
#define SINTER_SST_PAYLOAD_H

#include "sinter/batch.h"
#include "sst/layout.h"

/**
 * Row i's value is values[value_offsets[i] .. value_offsets[i + 1]]. At least 64 bytes behind the
 * last value are readable. Read with keys only: `values` and `value_offsets` are NULL.
 *
 * With SINTER_BATCH_STORED: `entry` is the block's index entry, `stored` its bytes in the file
 * (sinter__sst_entry_stored() of them), `filter` its key filter, and `format_tag` what the file's
 * blocks are; the columns above are NULL.
 */
typedef struct sinter__sst_payload {
    const uint8_t *values;
    const uint32_t *value_offsets;
    const sinter__sst_entry *entry;
    const uint8_t *stored;
    sinter_bytes filter;
    uint32_t format_tag;
} sinter__sst_payload;

/** The address says that a payload is a sinter__sst_payload. */
extern const sinter_payload_ops sinter__sst_payload_ops;

#endif
