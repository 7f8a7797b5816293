#include "avro_bed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/avro_binary.h"

void
avro_bed_init(avro_bed *bed, const sinter_env *env)
{
    bed->env = env == NULL ? *sinter_env_default() : *env;
    bed->memory = NULL;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &bed->memory, NULL),
                 SINTER_OK);
    bed->env.io = bed->memory;
}

void
avro_bed_fini(avro_bed *bed)
{
    sinter_io_destroy(bed->memory);
}

void
avro_bed_put(const avro_bed *bed, const char *path, const void *data, size_t size)
{
    cr_assert_eq(bed->memory->ops->replace(bed->memory, path, data, size, NULL), SINTER_OK);
}

uint8_t *
avro_bed_get(const avro_bed *bed, const char *path, size_t *size_out)
{
    sinter_io_file *file = NULL;
    uint64_t size = 0;
    sinter_io_range range = {0};

    cr_assert_eq(bed->memory->ops->open(bed->memory, path, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    range.size = (size_t)size;
    range.data = malloc(range.size + 1);
    cr_assert_not_null(range.data);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    *size_out = range.size;
    return range.data;
}

uint8_t *
avro_bed_load(const char *path, size_t *size_out)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = 0;

    cr_assert_not_null(file, "%s", path);
    cr_assert(fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
              fseek(file, 0, SEEK_SET) == 0);
    data = malloc((size_t)size + 1);
    cr_assert_not_null(data);
    cr_assert_eq(fread(data, 1, (size_t)size, file), (size_t)size);
    (void)fclose(file);
    *size_out = (size_t)size;
    return data;
}

static size_t
print_record(char *text, size_t room, size_t index)
{
    return (size_t)snprintf(text, room, "record %zu", index);
}

sinter_status
avro_bed_write(const sinter_env *env, const char *path, const sinter__avro_writer_options *options,
               size_t count, sinter_error *err)
{
    sinter__avro_writer *writer = NULL;
    uint64_t bytes = 0;
    sinter_status st = sinter__avro_writer_open(env, path, options, &writer, err);

    for (size_t i = 0; i < count && st == SINTER_OK; i++) {
        char text[32];
        const size_t size = print_record(text, sizeof text, i);
        uint8_t *to = NULL;

        st = sinter__avro_writer_reserve(writer, size + SINTER__AVRO_LONG_BYTES_MAX, &to, err);
        if (st == SINTER_OK) {
            const uint8_t *end =
                sinter__avro_put_bytes(to, (sinter_bytes){(const uint8_t *)text, size});

            st = sinter__avro_writer_commit(writer, (size_t)(end - to), err);
        }
    }
    if (st == SINTER_OK) {
        st = sinter__avro_writer_finish(writer, &bytes, err);
    }
    sinter__avro_writer_close(writer);
    return st;
}

sinter_status
avro_bed_read(const sinter_env *env, const char *path, const sinter__avro_reader_options *options,
              size_t *count_out, sinter_error *err)
{
    sinter__avro_reader *reader = NULL;
    sinter__avro_block block = {0};
    sinter_status st = sinter__avro_reader_open(env, path, options, &reader, err);

    *count_out = 0;
    while (st == SINTER_OK && (st = sinter__avro_reader_next(reader, &block, err)) == SINTER_OK) {
        sinter__avro_cursor cursor = {block.bytes.data, block.bytes.data + block.bytes.size};

        for (uint64_t i = 0; i < block.count; i++) {
            char text[32];
            const size_t size = print_record(text, sizeof text, (*count_out)++);
            sinter_bytes record = {0};

            cr_assert(sinter__avro_get_bytes(&cursor, &record) && record.size == size &&
                      memcmp(record.data, text, size) == 0);
        }
        cr_assert(cursor.at == cursor.end);
    }
    sinter__avro_reader_close(reader);
    return st == SINTER_END ? SINTER_OK : st;
}
