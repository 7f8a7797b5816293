#include "table/key_rows.h"

#include <string.h>

#include "base/fail.h"
#include "doc/text.h"
#include "table/metadata_row.h"

static bool
is_partition_key(const sinter_schema *schema, const char *name)
{
    size_t i = 0;

    while (i < schema->partition_key_count && strcmp(schema->partition_keys[i], name) != 0) {
        i++;
    }
    return i < schema->partition_key_count;
}

sinter_status
sinter__key_rows_init(sinter__key_rows *out, const sinter_schema *schema, sinter_error *err)
{
    const size_t room = schema->primary_key_count;

    sinter_text_init(out->arena.env, &out->text);
    SINTER__CHECK(
        sinter__arena_take(&out->arena, room * sizeof *out->types, (void **)&out->types, err));
    SINTER__CHECK(
        sinter__arena_take(&out->arena, room * sizeof *out->values, (void **)&out->values, err));
    for (size_t i = 0; i < room; i++) {
        const size_t at = sinter_row_type_find(schema->row_type, schema->primary_keys[i]);

        if (at != SIZE_MAX && !is_partition_key(schema, schema->primary_keys[i])) {
            out->types[out->count++] = *sinter_row_type_column_type(schema->row_type, at);
        }
    }
    if (room == 0) {
        return SINTER_OK;
    }
    return sinter_key_codec_create(out->arena.env, out->types, out->count, &out->codec, err);
}

void
sinter__key_rows_fini(sinter__key_rows *self)
{
    sinter_key_codec_destroy(self->codec);
    if (self->text.env != NULL) {
        sinter_text_fini(&self->text);
    }
    sinter__arena_fini(&self->arena);
}

sinter_status
sinter__key_rows_encode(sinter__key_rows *self, sinter_bytes row, sinter_bytes *out,
                        sinter_error *err)
{
    sinter__slots slots;

    SINTER__CHECK(sinter__metadata_row_open(row, self->count, &slots, err));
    for (size_t i = 0; i < self->count; i++) {
        SINTER__CHECK(sinter__slots_get(&slots, &self->types[i], i, &self->values[i], err));
    }
    sinter_text_reset(&self->text);
    SINTER__CHECK(sinter_key_encode(self->codec, self->values, &self->text, err));
    return sinter__arena_copy(&self->arena, sinter_text_bytes(&self->text), out, err);
}
