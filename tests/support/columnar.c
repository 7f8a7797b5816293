#include "support/columnar.h"

#include <string.h>

enum { TEXTS_SEARCHED = 16 };

/* ---- columns in memory ---- */

static sinter_status
builder_add_text(columnar_builder *builder, sinter_bytes text, uint32_t *ref_out, sinter_error *err)
{
    const sinter_env *env = builder->env;
    uint32_t end = 0;

    SINTER__CHECK(sinter__buffer_append(env, &builder->text_bytes, text.data, text.size, err));
    end = (uint32_t)builder->text_bytes.size;
    SINTER__CHECK(sinter__buffer_append(env, &builder->text_offsets, &end, sizeof end, err));
    *ref_out = builder->text_count++;
    return SINTER_OK;
}

/* Entries that no row refers to, a different number in each batch: a reference that is carried
 * from one batch to another then names the wrong text. */
static sinter_status
builder_begin(columnar_builder *builder, sinter_error *err)
{
    static const uint8_t unused[] = "nobody refers to this";
    const uint32_t zero = 0;
    uint32_t ref = 0;

    if (builder->text_offsets.size > 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__buffer_append(builder->env, &builder->text_offsets, &zero, sizeof zero, err));
    for (uint32_t i = 0; i < 1 + builder->resets % 5; i++) {
        SINTER__CHECK(builder_add_text(builder, (sinter_bytes){unused, 4 + i}, &ref, err));
    }
    return SINTER_OK;
}

static sinter_bytes
text_at(const uint32_t *offsets, const uint8_t *bytes, uint32_t ref)
{
    return (sinter_bytes){bytes + offsets[ref], offsets[ref + 1] - offsets[ref]};
}

static bool
builder_find_text(const columnar_builder *builder, sinter_bytes text, uint32_t *ref_out)
{
    const uint32_t *offsets = (const void *)builder->text_offsets.data;
    const uint32_t count = builder->text_count;

    for (uint32_t i = 0; i < TEXTS_SEARCHED && i < count; i++) {
        const sinter_bytes known = text_at(offsets, builder->text_bytes.data, count - 1 - i);

        if (known.size == text.size &&
            (text.size == 0 || memcmp(known.data, text.data, text.size) == 0)) {
            *ref_out = count - 1 - i;
            return true;
        }
    }
    return false;
}

static sinter_status
builder_add(columnar_builder *builder, bool has_number, int64_t number, sinter_bytes text,
            sinter_error *err)
{
    const sinter_env *env = builder->env;
    const uint8_t flag = has_number ? 1 : 0;
    uint32_t ref = 0;

    SINTER__CHECK(builder_begin(builder, err));
    if (!builder_find_text(builder, text, &ref)) {
        SINTER__CHECK(builder_add_text(builder, text, &ref, err));
    }
    SINTER__CHECK(sinter__buffer_append(env, &builder->text_refs, &ref, sizeof ref, err));
    SINTER__CHECK(sinter__buffer_append(env, &builder->numbers, &number, sizeof number, err));
    SINTER__CHECK(sinter__buffer_append(env, &builder->has_number, &flag, sizeof flag, err));
    builder->row_count++;
    return SINTER_OK;
}

sinter_status
columnar_builder_add_value(columnar_builder *builder, sinter_bytes value, sinter_error *err)
{
    int64_t number = 0;

    if (value.size < sizeof number) {
        return builder_add(builder, false, 0, value, err);
    }
    memcpy(&number, value.data, sizeof number);
    return builder_add(builder, true, number,
                       (sinter_bytes){value.data + sizeof number, value.size - sizeof number}, err);
}

sinter_status
columnar_builder_add_row(columnar_builder *builder, const columnar_payload *payload, uint32_t row,
                         sinter_error *err)
{
    const sinter_bytes text =
        text_at(payload->text_offsets, payload->text_bytes, payload->text_refs[row]);

    return builder_add(builder, payload->has_number[row] != 0, payload->numbers[row], text, err);
}

const columnar_payload *
columnar_builder_payload(columnar_builder *builder)
{
    builder->payload = (columnar_payload){
        .row_count = builder->row_count,
        .text_count = builder->text_count,
        .numbers = (const void *)builder->numbers.data,
        .text_refs = (const void *)builder->text_refs.data,
        .text_offsets = (const void *)builder->text_offsets.data,
        .text_bytes = builder->text_bytes.data,
        .has_number = builder->has_number.data,
    };
    return &builder->payload;
}

void
columnar_builder_reset(columnar_builder *builder)
{
    builder->numbers.size = 0;
    builder->text_refs.size = 0;
    builder->text_offsets.size = 0;
    builder->text_bytes.size = 0;
    builder->has_number.size = 0;
    builder->row_count = 0;
    builder->text_count = 0;
    builder->resets++;
}

void
columnar_builder_fini(columnar_builder *builder)
{
    const sinter_env *env = builder->env;

    sinter__buffer_fini(env, &builder->numbers);
    sinter__buffer_fini(env, &builder->text_refs);
    sinter__buffer_fini(env, &builder->text_offsets);
    sinter__buffer_fini(env, &builder->text_bytes);
    sinter__buffer_fini(env, &builder->has_number);
}

sinter_status
columnar_value(const sinter_env *env, const columnar_payload *payload, uint32_t row,
               sinter__buffer *out, sinter_error *err)
{
    const sinter_bytes text =
        text_at(payload->text_offsets, payload->text_bytes, payload->text_refs[row]);

    if (payload->has_number[row] != 0) {
        SINTER__CHECK(
            sinter__buffer_append(env, out, &payload->numbers[row], sizeof(int64_t), err));
    }
    return sinter__buffer_append(env, out, text.data, text.size, err);
}

/* ---- rows on their way through a spill file ----
 *
 * A frozen row: one byte has_number, 8 bytes number, then the text. */

static sinter_status
columnar_freeze(const sinter_batch *batch, uint32_t row,
                sinter_status (*put)(void *put_ctx, const void *data, size_t size), void *put_ctx,
                sinter_error *err)
{
    const columnar_payload *payload = batch->payload;
    const sinter_env *env = sinter_env_default();
    sinter__buffer frozen = {0};
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__buffer_append(env, &frozen, &payload->has_number[row], 1, err));
    SINTER__TRY(sinter__buffer_append(env, &frozen, &payload->numbers[row], sizeof(int64_t), err));
    const sinter_bytes text =
        text_at(payload->text_offsets, payload->text_bytes, payload->text_refs[row]);
    SINTER__TRY(sinter__buffer_append(env, &frozen, text.data, text.size, err));
    SINTER__TRY(put(put_ctx, frozen.data, frozen.size));
out:
    sinter__buffer_fini(env, &frozen);
    return st;
}

static sinter_status
columnar_thaw(const sinter_env *env, const sinter_bytes *frozen, uint32_t row_count, void **state,
              const void **payload_out, sinter_error *err)
{
    columnar_builder *builder = *state;

    if (builder == NULL) {
        SINTER__CHECK(SINTER__NEW(env, builder, 1, err));
        builder->env = env;
        *state = builder;
    }
    columnar_builder_reset(builder);
    for (uint32_t row = 0; row < row_count; row++) {
        const sinter_bytes bytes = frozen[row];
        int64_t number = 0;

        if (bytes.size < 1 + sizeof number || bytes.data[0] > 1) {
            return SINTER__ERR(err, SINTER_E_CORRUPT, "row %u is no frozen row", row);
        }
        memcpy(&number, bytes.data + 1, sizeof number);
        SINTER__CHECK(builder_add(
            builder, bytes.data[0] != 0, number,
            (sinter_bytes){bytes.data + 1 + sizeof number, bytes.size - 1 - sizeof number}, err));
    }
    *payload_out = columnar_builder_payload(builder);
    return SINTER_OK;
}

static void
columnar_thaw_end(const sinter_env *env, void *state)
{
    if (state != NULL) {
        columnar_builder_fini(state);
        sinter__free(env, state);
    }
}

const sinter_payload_ops columnar_payload_ops = {
    .struct_size = sizeof(sinter_payload_ops),
    .format = "columnar",
    .freeze = columnar_freeze,
    .thaw = columnar_thaw,
    .thaw_end = columnar_thaw_end,
};
