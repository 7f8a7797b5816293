#include "table/sequence_order.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "doc/binary.h"
#include "doc/text.h"

struct sinter__sequence_order {
    const sinter_env *env;
    sinter__sequence_columns columns;
    sinter_key_codec **codecs; /* one a column */
    sinter_text bytes;
    sinter_order order;
};

/* A value in bytes that sort with memcmp and aren't the beginning of another's: the column behind
 * it, which is always the same, makes the codec write the end of a string. */
static sinter_status
append_value(sinter__sequence_order *self, size_t index, const sinter_datum *value,
             sinter_error *err)
{
    const sinter_datum values[2] = {*value, {.as.integer = 0}};
    uint8_t marker = 1;
    size_t begin = 0;

    if (value->is_null) {
        marker = 0;
        return sinter_text_append(&self->bytes, &marker, 1, err);
    }
    SINTER__CHECK(sinter_text_append(&self->bytes, &marker, 1, err));
    begin = self->bytes.size;
    SINTER__CHECK(sinter_key_encode(self->codecs[index], values, &self->bytes, err));
    if (self->columns.is_descending) {
        for (size_t i = begin; i < self->bytes.size; i++) {
            self->bytes.data[i] = (char)~(unsigned char)self->bytes.data[i];
        }
    }
    return SINTER_OK;
}

static sinter_status
order_row(void *ctx, const sinter_batch *batch, uint32_t row,
          sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
          sinter_error *err)
{
    sinter__sequence_order *self = ctx;
    sinter__slots slots;

    SINTER__CHECK(sinter__slots_of_row(self->columns.field_count,
                                       batch->payload_ops->value(batch, row), &slots, err));
    sinter_text_reset(&self->bytes);
    for (size_t i = 0; i < self->columns.count; i++) {
        const size_t at = self->columns.positions[i];
        sinter_datum value;

        SINTER__CHECK(sinter__slots_get(&slots, &self->columns.fields[at].type, at, &value, err));
        SINTER__CHECK(append_value(self, i, &value, err));
    }
    return put(put_ctx, self->bytes.data, self->bytes.size);
}

static sinter_status
make_codecs(sinter__sequence_order *self, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(self->env, self->codecs, self->columns.count + 1, err));
    for (size_t i = 0; i < self->columns.count; i++) {
        sinter_type types[2] = {self->columns.fields[self->columns.positions[i]].type,
                                {.id = SINTER_TYPE_BOOLEAN}};

        types[0].nullable = false;
        SINTER__CHECK(sinter_key_codec_create(self->env, types, 2, &self->codecs[i], err));
    }
    return SINTER_OK;
}

sinter_status
sinter__sequence_order_create(const sinter_env *env, const sinter__sequence_columns *columns,
                              sinter__sequence_order **out, sinter_error *err)
{
    sinter__sequence_order *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->columns = *columns;
    sinter_text_init(env, &self->bytes);
    self->order =
        (sinter_order){.struct_size = (uint32_t)sizeof self->order, .ctx = self, .row = order_row};
    st = make_codecs(self, err);
    if (st != SINTER_OK) {
        sinter__sequence_order_destroy(self);
        return st;
    }
    *out = self;
    return SINTER_OK;
}

void
sinter__sequence_order_destroy(sinter__sequence_order *self)
{
    if (self != NULL) {
        for (size_t i = 0; self->codecs != NULL && i < self->columns.count; i++) {
            sinter_key_codec_destroy(self->codecs[i]);
        }
        sinter__free(self->env, self->codecs);
        sinter_text_fini(&self->bytes);
        sinter__free(self->env, self);
    }
}

const sinter_order *
sinter__sequence_order_get(const sinter__sequence_order *self)
{
    return &self->order;
}
