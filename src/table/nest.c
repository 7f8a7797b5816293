#include "table/nest.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "doc/nested.h"
#include "doc/text.h"

static sinter_status
init_at(sinter__arena *arena, const sinter_type *type, uint32_t depth, sinter__nest *out,
        sinter_error *err)
{
    out->type = *type;
    sinter_text_init(arena->env, &out->text);
    if (!sinter_type_is_nested(type)) {
        return SINTER_OK;
    }
    if (type->parts == NULL || depth >= SINTER__NEST_DEPTH_MAX) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "the type can't be read");
    }
    out->owns_bytes = true;
    SINTER__CHECK(sinter__arena_take(arena, (type->parts->count + 1) * sizeof *out->parts,
                                     (void **)&out->parts, err));
    memset(out->parts, 0, (type->parts->count + 1) * sizeof *out->parts);
    out->part_count = type->parts->count;
    SINTER__CHECK(sinter__arena_take(arena, (out->part_count + 1) * sizeof *out->fields,
                                     (void **)&out->fields, err));
    for (size_t i = 0; i < out->part_count; i++) {
        SINTER__CHECK(init_at(arena, &type->parts->fields[i].type, depth + 1, &out->parts[i], err));
    }
    return SINTER_OK;
}

sinter_status
sinter__nest_init(sinter__arena *arena, const sinter_type *type, const char *column,
                  sinter__nest *out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    memset(out, 0, sizeof *out);
    st = init_at(arena, type, 0, out, err);
    if (st == SINTER_E_UNSUPPORTED) {
        sinter__fail_context(err, "column %.100s", column);
    }
    return st;
}

void
sinter__nest_fini(sinter__nest *nest)
{
    if (nest->text.env == NULL) {
        return;
    }
    for (size_t i = 0; i < nest->part_count; i++) {
        sinter__nest_fini(&nest->parts[i]);
    }
    sinter__free(nest->text.env, nest->values);
    sinter_text_fini(&nest->text);
}

void
sinter__nest_begin(sinter__nest *nest)
{
    for (size_t p = 0; p < nest->part_count; p++) {
        nest->parts[p].value_count = 0;
        sinter_text_reset(&nest->parts[p].text);
    }
}

sinter_status
sinter__nest_add(sinter__nest *part, sinter_datum **out, sinter_error *err)
{
    if (part->value_count == part->value_capacity) {
        const size_t wanted = part->value_capacity == 0 ? 16 : part->value_capacity * 2;

        SINTER__CHECK(sinter__resize(part->text.env, (void **)&part->values, wanted,
                                     sizeof *part->values, err));
        part->value_capacity = wanted;
    }
    *out = &part->values[part->value_count++];
    return SINTER_OK;
}

void
sinter__nest_note(size_t begin, sinter_datum *out)
{
    out->as.integer = (int64_t)begin; /* where `data` will be */
}

void
sinter__nest_settle(const sinter__nest *nest, sinter_datum *value)
{
    if (nest->owns_bytes && !value->is_null) {
        value->as.bytes.data = (const uint8_t *)nest->text.data + value->as.integer;
    }
}

sinter_status
sinter__nest_end(sinter__nest *nest, sinter_datum *out, sinter_error *err)
{
    sinter__nested_value value = {
        .type = &nest->type, .first = nest->fields, .count = nest->part_count};
    const size_t begin = nest->text.size;
    size_t size = 0;

    for (size_t p = 0; p < nest->part_count; p++) {
        for (size_t i = 0; i < nest->parts[p].value_count; i++) {
            sinter__nest_settle(&nest->parts[p], &nest->parts[p].values[i]);
        }
    }
    if (nest->type.id == SINTER_TYPE_ROW) {
        for (size_t p = 0; p < nest->part_count; p++) {
            assert(nest->parts[p].value_count == 1);
            nest->fields[p] = nest->parts[p].values[0];
        }
    } else {
        value.first = nest->parts[0].values;
        value.second = nest->part_count > 1 ? nest->parts[1].values : NULL;
        value.count = nest->parts[0].value_count;
        assert(value.second == NULL || nest->parts[1].value_count == value.count);
    }
    SINTER__CHECK(sinter__nested_size(&value, &size, err));
    SINTER__CHECK(sinter__text_fill(&nest->text, '\0', size, err));
    sinter__nested_put(&value, (uint8_t *)nest->text.data + begin);
    out->as.bytes.size = size;
    sinter__nest_note(begin, out);
    return SINTER_OK;
}
