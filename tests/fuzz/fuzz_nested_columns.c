/*
 * Any bytes as the rows of a file with a nested column. The first byte chooses the column's type;
 * the others are a block of an Avro file. Rows that are read go into columns of Arrow, as those of
 * Parquet and of ORC are, and come back as they were; or they are no values of the type, and are
 * refused.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "doc/binary.h"
#include "format/avro_writer.h"
#include "sinter/sinter.h"
#include "table/avro_row_schema.h"
#include "table/columnar_builder.h"
#include "table/columnar_rows.h"
#include "table/data_reader.h"

enum { MEMORY_BYTES = 64 << 20 };

static const char *const types[] = {
    "ARRAY<INT>",
    "ARRAY<STRING>",
    "MAP<STRING, DECIMAL(30, 2)>",
    "MULTISET<TIMESTAMP(6)>",
    "ROW<a BOOLEAN, b TIMESTAMP(3), c DECIMAL(9, 2), d BYTES, e CHAR(3)>",
    "ARRAY<ROW<m MAP<SMALLINT, ARRAY<DOUBLE>>, s MULTISET<DATE>>>",
    "MAP<ROW<x TINYINT>, MAP<INT, ROW<y FLOAT>>>",
    "ARRAY<ARRAY<ARRAY<TIME(3) NOT NULL>>>"};

static void
demand(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* "f.avro": one block, whose only record is the bytes, whatever they are. */
static void
write_file(const sinter_env *env, const sinter_field *field, const uint8_t *data, size_t size)
{
    sinter__avro_writer_options options = {.schema = NULL};
    sinter__avro_writer *writer = NULL;
    uint8_t *at = NULL;
    uint64_t bytes = 0;
    sinter_text schema;

    sinter_text_init(env, &schema);
    demand(sinter__avro_row_schema(field, 1, &schema, NULL) == SINTER_OK);
    options.schema = schema.data;
    demand(sinter__avro_writer_open(env, "f.avro", &options, &writer, NULL) == SINTER_OK);
    if (sinter__avro_writer_reserve(writer, size, &at, NULL) == SINTER_OK) {
        memcpy(at, data, size);
        demand(sinter__avro_writer_commit(writer, size, NULL) == SINTER_OK);
    }
    demand(sinter__avro_writer_finish(writer, &bytes, NULL) == SINTER_OK);
    sinter__avro_writer_close(writer);
    sinter_text_fini(&schema);
}

static sinter_status
print(const sinter_type *type, const sinter_datum *value, sinter_text *out)
{
    sinter_text_reset(out);
    return sinter_datum_print_json(type, value, SINTER_PRINT_HEX_STRINGS, out, NULL);
}

/* The value in columns of a kind, and what comes back of it. */
static void
try_columns(const sinter_env *env, int32_t kind, const sinter__columnar_field *field,
            const sinter_datum *value, const sinter_text *json)
{
    sinter__arena arena = {.env = env};
    sinter__cells cells = {.nest = NULL};
    sinter__columnar_builder *builder = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray array = {0};
    sinter_datum back = {.is_null = true};
    sinter_text again;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &again);
    demand(sinter__columnar_builder_create(env, kind, field, 1, &builder, NULL) == SINTER_OK);
    st = sinter__columnar_builder_append(builder, value, NULL);
    if (st == SINTER_OK) {
        demand(sinter__columnar_builder_take(builder, &array, NULL) == SINTER_OK);
        demand(sinter__columnar_schema_make(env, field, 1, &schema, NULL) == SINTER_OK);
        demand(sinter__cells_bind(&arena, kind, schema.children[0], &field->type, &cells, NULL) ==
               SINTER_OK);
        demand(sinter__cells_get(&cells, array.children[0], 0, &back, NULL) == SINTER_OK);
        demand(print(&field->type, &back, &again) == SINTER_OK);
        demand(again.size == json->size && memcmp(again.data, json->data, again.size) == 0);
        sinter__cells_fini(&cells);
        array.release(&array);
        schema.release(&schema);
    } else {
        demand(st == SINTER_E_OVERFLOW || st == SINTER_E_TOO_LARGE);
    }
    sinter__columnar_builder_destroy(builder);
    sinter__arena_fini(&arena);
    sinter_text_fini(&again);
}

static void
try_row(const sinter_env *env, const sinter__columnar_field *field, sinter_bytes row)
{
    sinter_datum value = {.is_null = true};
    sinter__slots slots;
    sinter_text json;

    sinter_text_init(env, &json);
    demand(sinter__slots_of_row(1, row, &slots, NULL) == SINTER_OK);
    demand(sinter__slots_get(&slots, &field->type, 0, &value, NULL) == SINTER_OK);
    /* What can't be printed has a part beyond its type: it isn't shown, and isn't written. */
    if (print(&field->type, &value, &json) == SINTER_OK &&
        sinter_datum_check(&field->type, "v", &value, NULL) == SINTER_OK) {
        try_columns(env, SINTER__COLUMNAR_PARQUET, field, &value, &json);
        try_columns(env, SINTER__COLUMNAR_ORC, field, &value, &json);
    }
    sinter_text_fini(&json);
}

static void
read_file(const sinter_env *env, const sinter_row_type *row_type,
          const sinter__columnar_field *field)
{
    const sinter_field wanted = {.name = field->name, .type = field->type};
    const size_t position = 0;
    const sinter__row_plan plan = {
        .row_type = row_type, .fields = &wanted, .positions = &position, .count = 1};
    const sinter__data_input input = {.path = "f.avro", .row_type = row_type};
    const sinter_batch *batch = NULL;
    sinter_reader *reader = NULL;
    sinter_status st = sinter__data_reader_open(env, &plan, &input, NULL, &reader, NULL);

    while (st == SINTER_OK) {
        st = reader->ops->next(reader, &batch, NULL);
        for (uint32_t i = 0; st == SINTER_OK && i < batch->row_count; i++) {
            try_row(env, field, batch->payload_ops->value(batch, i));
        }
    }
    demand(st == SINTER_END || st == SINTER_E_CORRUPT || st == SINTER_E_TOO_LARGE);
    if (reader != NULL) {
        reader->ops->close(reader);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sinter_env env = *sinter_env_default();
    sinter_io *memory_io = NULL;
    sinter_type *type = NULL;
    sinter_column column = {.name = "v"};
    sinter__columnar_field field = {.name = "v", .id = 0};
    const sinter_row_layout layout = {
        .struct_size = (uint32_t)sizeof layout, .columns = &column, .count = 1};
    sinter_row_type *row_type = NULL;

    if (size < 2) {
        return 0;
    }
    demand(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &memory_io, NULL) ==
           SINTER_OK);
    demand(sinter_memory_create(sinter_env_default(), MEMORY_BYTES, &env.memory, NULL) ==
           SINTER_OK);
    env.io = memory_io;
    demand(sinter_type_create(&env, types[data[0] % (sizeof types / sizeof types[0])], &type,
                              NULL) == SINTER_OK);
    column.type = field.type = *type;
    demand(sinter_row_type_create(&env, &layout, &row_type, NULL) == SINTER_OK);
    write_file(&env, &(sinter_field){.name = "v", .type = *type}, data + 1, size - 1);
    read_file(&env, row_type, &field);
    sinter_row_type_destroy(row_type);
    sinter_type_destroy(type);
    demand(sinter_memory_used(env.memory) == 0);
    sinter_memory_destroy(env.memory);
    sinter_io_destroy(memory_io);
    return 0;
}
