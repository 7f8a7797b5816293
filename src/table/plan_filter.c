#include "table/plan_filter.h"

#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "doc/binary.h"

/* A value as a row of its own, so that equal values are equal bytes. */
static sinter_status
row_of(const sinter_column *column, const sinter_datum *value, sinter__arena *arena,
       sinter_bytes *out, sinter_error *err)
{
    const sinter_field field = {.name = column->name, .type = column->type};
    const sinter__shape shape = {.fields = &field, .count = 1};
    uint8_t *bytes = NULL;
    size_t size = 0;

    SINTER__CHECK(sinter__binary_size(&shape, value, &size, err));
    SINTER__CHECK(sinter__doc_room(arena, size, 1, (void **)&bytes, err));
    sinter__binary_put(&shape, value, bytes);
    *out = (sinter_bytes){bytes, size};
    return SINTER_OK;
}

static sinter_status
parse_value(const sinter_column *column, const char *default_name, sinter_bytes text,
            sinter__arena *arena, sinter_bytes *out, sinter_error *err)
{
    sinter_datum value = {.is_null = true};
    sinter_text scratch;
    sinter_status st = SINTER_OK;

    sinter_text_init(arena->env, &scratch);
    if (text.size != strlen(default_name) || memcmp(text.data, default_name, text.size) != 0) {
        SINTER__TRY(sinter_datum_parse(column, text, 0, &scratch, &value, err));
    }
    SINTER__TRY(row_of(column, &value, arena, out, err));
out:
    sinter_text_fini(&scratch);
    return st;
}

/* One "a=1" of a text. */
static sinter_status
parse_part(const sinter__scan_columns *columns, const char *default_name, sinter_bytes part,
           sinter__arena *arena, sinter_bytes *values, sinter_error *err)
{
    const sinter_schema *schema = columns->schema;
    const char *equals = memchr(part.data, '=', part.size);
    const size_t size = equals == NULL ? part.size : (size_t)(equals - (const char *)part.data);
    size_t i = 0;

    while (i < schema->partition_key_count &&
           (strlen(schema->partition_keys[i]) != size ||
            memcmp(schema->partition_keys[i], part.data, size) != 0)) {
        i++;
    }
    if (equals == NULL || i == schema->partition_key_count) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "partition \"%.*s\": the name of a partition column, =, and a value "
                           "expected",
                           (int)(part.size < 100 ? part.size : 100), (const char *)part.data);
    }
    if (values[i].size > 0) {
        return SINTER__ERR(err, SINTER_E_INVALID, "partition: column \"%.100s\" is named twice",
                           schema->partition_keys[i]);
    }
    return parse_value(&(sinter_column){schema->partition_keys[i],
                                        *sinter_row_type_column_type(schema->row_type,
                                                                     columns->partition_keys[i])},
                       default_name, (sinter_bytes){part.data + size + 1, part.size - size - 1},
                       arena, &values[i], err);
}

sinter_status
sinter__partition_filter_parse(const sinter__scan_columns *columns,
                               const sinter__partition_texts *texts, sinter__arena *arena,
                               sinter__partition_filter *out, sinter_error *err)
{
    const size_t width = columns->schema->partition_key_count;
    sinter_bytes *values = NULL;

    SINTER__CHECK(
        sinter__doc_room(arena, texts->count * width, sizeof *values, (void **)&values, err));
    for (size_t i = 0; i < texts->count; i++) {
        const char *at = texts->items[i];

        while (at != NULL) {
            const size_t size = strcspn(at, ",");

            SINTER__CHECK(parse_part(columns, texts->names->default_name,
                                     (sinter_bytes){(const uint8_t *)at, size}, arena,
                                     values + i * width, err));
            at = at[size] == '\0' ? NULL : at + size + 1;
        }
    }
    *out = (sinter__partition_filter){values, texts->count};
    return SINTER_OK;
}

sinter_status
sinter__partition_filter_fits(const sinter__partition_filter *filter,
                              const sinter__scan_columns *columns, sinter_bytes partition,
                              bool *out, sinter_error *err)
{
    sinter__arena arena = {.env = columns->arena.env};
    sinter__partition_values found = {.count = 0};
    sinter_status st = SINTER_OK;

    *out = filter->count == 0;
    SINTER__TRY(sinter__partition_open(columns, partition, &arena, &found, err));
    for (size_t i = 0; i < filter->count && !*out; i++) {
        bool fits = true;

        for (size_t k = 0; k < found.count && fits; k++) {
            const sinter_bytes wanted = filter->values[i * found.count + k];
            sinter_bytes has = {NULL, 0};

            SINTER__TRY(row_of(&found.columns[k], &found.values[k], &arena, &has, err));
            fits = wanted.size == 0 || sinter__key_equal(wanted, has);
        }
        *out = fits;
    }
out:
    sinter__arena_fini(&arena);
    return st;
}
