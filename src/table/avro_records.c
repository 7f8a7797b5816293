#include "table/avro_records.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "table/avro_row_schema.h"
#include "table/avro_rows.h"

struct sinter__record_decoder {
    const sinter_env *env;
    sinter__avro_schema *schema;
    sinter__avro_rows *rows;
};

/* ---- payload ---- */

static sinter_status
freeze(const sinter_batch *batch, uint32_t row,
       sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
       sinter_error *err)
{
    const sinter_bytes record = ((const sinter__records_payload *)batch->payload)->rows[row];

    (void)err;
    return put(put_ctx, record.data, record.size);
}

static sinter_status
thaw(const sinter_env *env, const sinter_bytes *frozen, uint32_t row_count, void **state,
     const void **payload_out, sinter_error *err)
{
    sinter__records_payload *payload = *state;

    (void)row_count;
    if (payload == NULL) {
        SINTER__CHECK(SINTER__NEW(env, payload, 1, err));
        *state = payload;
    }
    payload->rows = frozen;
    *payload_out = payload;
    return SINTER_OK;
}

static void
thaw_end(const sinter_env *env, void *state)
{
    sinter__free(env, state);
}

const sinter_payload_ops sinter__records_payload_ops = {.struct_size =
                                                            (uint32_t)sizeof(sinter_payload_ops),
                                                        .format = "records",
                                                        .freeze = freeze,
                                                        .thaw = thaw,
                                                        .thaw_end = thaw_end};

/* ---- decoding ---- */

static sinter_status
compile(sinter__record_decoder *self, const sinter_field *fields, size_t count, sinter_error *err)
{
    sinter_column *columns = NULL;
    sinter_text text;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->env, &text);
    SINTER__TRY(SINTER__NEW(self->env, columns, count, err));
    for (size_t i = 0; i < count; i++) {
        columns[i].name = fields[i].name;
        columns[i].type = fields[i].type;
    }
    SINTER__TRY(sinter__avro_row_schema(fields, count, &text, err));
    SINTER__TRY(sinter__avro_schema_parse(self->env, sinter_text_bytes(&text), &self->schema, err));
    SINTER__TRY(
        sinter__avro_rows_create(self->env, self->schema, columns, count, &self->rows, err));
    sinter__avro_rows_keep(self->rows, NULL);
out:
    sinter__free(self->env, columns);
    sinter_text_fini(&text);
    return st;
}

sinter_status
sinter__record_decoder_create(const sinter_env *env, const sinter_field *fields, size_t count,
                              sinter__record_decoder **out, sinter_error *err)
{
    sinter__record_decoder *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    st = compile(self, fields, count, err);
    if (st != SINTER_OK) {
        sinter__record_decoder_destroy(self);
        return st;
    }
    *out = self;
    return SINTER_OK;
}

void
sinter__record_decoder_destroy(sinter__record_decoder *self)
{
    if (self != NULL) {
        sinter__avro_rows_destroy(self->rows);
        sinter__avro_schema_destroy(self->schema);
        sinter__free(self->env, self);
    }
}

sinter_status
sinter__record_decode(sinter__record_decoder *self, sinter_bytes record, size_t count,
                      sinter_datum *values, sinter_error *err)
{
    sinter__avro_cursor cursor = {record.data, record.data + record.size};

    return sinter__avro_rows_head(self->rows, &cursor, count, values, err);
}
