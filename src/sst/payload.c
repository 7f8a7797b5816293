#include "sst/payload.h"

#include <assert.h>

static sinter_bytes
payload_value(const sinter_batch *batch, uint32_t row)
{
    const sinter__sst_payload *payload = batch->payload;

    assert(row < batch->row_count);
    if (payload->values == NULL) {
        return (sinter_bytes){NULL, 0};
    }
    return (sinter_bytes){payload->values + payload->value_offsets[row],
                          payload->value_offsets[row + 1] - payload->value_offsets[row]};
}

const sinter_payload_ops sinter__sst_payload_ops = {
    .struct_size = (uint32_t)sizeof(sinter_payload_ops),
    .format = "sst",
    .value = payload_value,
};
