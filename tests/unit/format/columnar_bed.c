#include "columnar_bed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/io.h"

static const char *const names[BED_COLUMNS] = {"id", "text", "at", "amount", "flag", "tags"};
static const char *const formats[BED_COLUMNS] = {"l", "u", "tsn:", "d:20,2", "b", "+l"};

void
bed_init(columnar_bed *bed, uint64_t limit_bytes)
{
    sinter_env_init(&bed->env);
    bed->env.columnar_library = COLUMNAR_LIBRARY;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &bed->env.io, NULL),
                 SINTER_OK);
    cr_assert_eq(bed->env.io->ops->mkdir(bed->env.io, "m", NULL), SINTER_OK);
    cr_assert_eq(sinter_memory_create(sinter_env_default(), limit_bytes, &bed->memory, NULL),
                 SINTER_OK);
    bed->env.memory = bed->memory;
    cr_assert_eq(sinter__columnar_load(&bed->env, &bed->columnar, NULL), SINTER_OK);
}

void
bed_fini(columnar_bed *bed)
{
    cr_expect_eq(sinter_memory_used(bed->memory), 0);
    sinter_memory_destroy(bed->memory);
    sinter_io_destroy(bed->env.io);
}

static void
release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    free(schema->private_data);
    schema->release = NULL;
}

static void
make_schema(struct ArrowSchema *out, const char *name, const char *format, int64_t children)
{
    *out = (struct ArrowSchema){.format = format,
                                .name = name,
                                .flags = ARROW_FLAG_NULLABLE,
                                .n_children = children,
                                .release = release_schema};
    out->children = calloc((size_t)children + 1, sizeof(struct ArrowSchema *));
    for (int64_t i = 0; i < children; i++) {
        out->children[i] = calloc(1, sizeof(struct ArrowSchema));
    }
}

static void
set_id(struct ArrowSchema *field, int id)
{
    const int32_t one = 1;
    const int32_t key_size = 9;
    char text[16];
    const int32_t size = snprintf(text, sizeof text, "%d", id);
    char *bytes = malloc(64);

    memcpy(bytes, &one, 4);
    memcpy(bytes + 4, &key_size, 4);
    memcpy(bytes + 8, "paimon.id", 9);
    memcpy(bytes + 17, &size, 4);
    memcpy(bytes + 21, text, (size_t)size);
    field->metadata = bytes;
    field->private_data = bytes;
}

void
bed_schema(struct ArrowSchema *out)
{
    make_schema(out, "", "+s", BED_COLUMNS);
    for (int i = 0; i < BED_COLUMNS; i++) {
        make_schema(out->children[i], names[i], formats[i], i == 5 ? 1 : 0);
        set_id(out->children[i], 10 + i);
    }
    make_schema(out->children[5]->children[0], "element", "i", 0);
    set_id(out->children[5]->children[0], 536876032);
}

/* Values follow from the number of the row. */

static bool
is_null(int64_t row, int column)
{
    return column > 0 && (row + column) % 7 == 0;
}

static int
text_of(int64_t row, char *out)
{
    return sprintf(out, "%.*s%lld", (int)(row % 5) * 3, "abcdefghijkl", (long long)(row % 1000));
}

static int64_t
nanos_of(int64_t row)
{
    return (row - 500) * 1000000007; /* before 1970 and after */
}

static int
tag_count(int64_t row)
{
    return is_null(row, 5) ? 0 : (int)(row % 4);
}

static void
release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    for (int64_t i = 0; i < array->n_buffers; i++) {
        free((void *)(uintptr_t)array->buffers[i]);
    }
    free(array->buffers);
    free(array->children);
    array->release = NULL;
}

/** Buffers of zeros: validity, `second` and `third` bytes. */
static void
make_array(struct ArrowArray *out, int64_t length, int64_t second, int64_t third, int64_t children)
{
    *out = (struct ArrowArray){
        .length = length, .null_count = -1, .n_children = children, .release = release_array};
    out->n_buffers = 1 + (second >= 0) + (third >= 0);
    out->buffers = calloc(3, sizeof(void *));
    out->buffers[0] = calloc(1, (size_t)length / 8 + 1);
    if (second >= 0) {
        out->buffers[1] = calloc(1, (size_t)second + 1);
    }
    if (third >= 0) {
        out->buffers[2] = calloc(1, (size_t)third + 1);
    }
    out->children = calloc((size_t)children + 1, sizeof(struct ArrowArray *));
    for (int64_t i = 0; i < children; i++) {
        out->children[i] = calloc(1, sizeof(struct ArrowArray));
    }
}

static void *
buffer_of(const struct ArrowArray *array, int index)
{
    return (void *)(uintptr_t)array->buffers[index];
}

static void
set_bit(void *bits, int64_t at)
{
    ((uint8_t *)bits)[at / 8] = (uint8_t)(((uint8_t *)bits)[at / 8] | 1u << (at % 8));
}

static bool
get_bit(const void *bits, int64_t at)
{
    return bits == NULL || (((const uint8_t *)bits)[at / 8] & (1u << (at % 8))) != 0;
}

static void
fill_column(struct ArrowArray *out, int column, int64_t first, int64_t count)
{
    int32_t end = 0;

    make_array(out, count, column == 3 ? count * 16 : (count + 1) * 8,
               column == 1 ? count * 24 : -1, column == 5 ? 1 : 0);
    if (column == 5) {
        make_array(out->children[0], count * 3, count * 12, -1, 0);
        memset(buffer_of(out->children[0], 0), 0xff, (size_t)(count * 3) / 8 + 1);
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = first + i;

        if (!is_null(row, column)) {
            set_bit(buffer_of(out, 0), i);
        }
        if (column == 0) {
            ((int64_t *)buffer_of(out, 1))[i] = row;
        } else if (column == 1) {
            end += text_of(row, (char *)buffer_of(out, 2) + end);
            ((int32_t *)buffer_of(out, 1))[i + 1] = end;
        } else if (column == 2) {
            ((int64_t *)buffer_of(out, 1))[i] = nanos_of(row);
        } else if (column == 3) {
            ((int64_t *)buffer_of(out, 1))[2 * i] = row - 100;
            ((int64_t *)buffer_of(out, 1))[2 * i + 1] = row < 100 ? -1 : 0;
        } else if (column == 4 && row % 3 == 0) {
            set_bit(buffer_of(out, 1), i);
        } else if (column == 5) {
            for (int t = 0; t < tag_count(row); t++) {
                ((int32_t *)buffer_of(out->children[0], 1))[end++] = (int32_t)row + t;
            }
            ((int32_t *)buffer_of(out, 1))[i + 1] = end;
        }
    }
}

sinter__columnar_batch *
bed_batch(const columnar_bed *bed, int64_t first, int64_t count)
{
    sinter__columnar_batch *batch = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;

    bed_schema(&schema);
    make_array(&array, count, -1, -1, BED_COLUMNS);
    memset(buffer_of(&array, 0), 0xff, (size_t)count / 8 + 1);
    for (int i = 0; i < BED_COLUMNS; i++) {
        fill_column(array.children[i], i, first, count);
    }
    cr_assert_eq(bed->columnar.api->batch_import(&schema, &array, &batch, NULL), SINTER_OK);
    return batch;
}

void
bed_paired_schema(struct ArrowSchema *out, const char *prefix)
{
    static char prefixed[BED_PAIRED][32];

    make_schema(out, "", "+s", 2 * BED_PAIRED);
    for (int i = 0; i < 2 * BED_PAIRED; i++) {
        const int column = i % BED_PAIRED;

        (void)snprintf(prefixed[column], sizeof prefixed[column], "%s%s", prefix, names[column]);
        make_schema(out->children[i], i < BED_PAIRED ? prefixed[column] : names[column],
                    formats[column], 0);
        set_id(out->children[i], 10 + i);
    }
}

sinter__columnar_batch *
bed_paired_batch(const columnar_bed *bed, int64_t first_key, int64_t first, int64_t count)
{
    sinter__columnar_batch *batch = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;

    bed_paired_schema(&schema, "_KEY_");
    make_array(&array, count, -1, -1, 2 * BED_PAIRED);
    memset(buffer_of(&array, 0), 0xff, (size_t)count / 8 + 1);
    for (int i = 0; i < 2 * BED_PAIRED; i++) {
        fill_column(array.children[i], i % BED_PAIRED, i < BED_PAIRED ? first_key : first, count);
    }
    cr_assert_eq(bed->columnar.api->batch_import(&schema, &array, &batch, NULL), SINTER_OK);
    return batch;
}

void
bed_nested_schema(struct ArrowSchema *out)
{
    static const char *const row_names[] = {"_KEY_row", "row"};

    make_schema(out, "", "+s", 2);
    for (int i = 0; i < 2; i++) {
        make_schema(out->children[i], row_names[i], "+s", BED_PAIRED);
        for (int k = 0; k < BED_PAIRED; k++) {
            make_schema(out->children[i]->children[k], names[k], formats[k], 0);
        }
    }
}

/* Rows without NULLs have no bits that tell. */
static void
make_rows(struct ArrowArray *out, int64_t count, int64_t children)
{
    make_array(out, count, -1, -1, children);
    free(buffer_of(out, 0));
    out->buffers[0] = NULL;
    out->null_count = 0;
}

sinter__columnar_batch *
bed_nested_batch(const columnar_bed *bed, int64_t first_key, int64_t first, int64_t count)
{
    sinter__columnar_batch *batch = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;

    bed_nested_schema(&schema);
    make_rows(&array, count, 2);
    for (int i = 0; i < 2; i++) {
        make_rows(array.children[i], count, BED_PAIRED);
        for (int k = 0; k < BED_PAIRED; k++) {
            fill_column(array.children[i]->children[k], k, i == 0 ? first_key : first, count);
        }
    }
    cr_assert_eq(bed->columnar.api->batch_import(&schema, &array, &batch, NULL), SINTER_OK);
    return batch;
}

static void
check_cell(const struct ArrowArray *cells, int64_t at, int column, int64_t row)
{
    const int64_t *numbers = cells->buffers[1];
    const int32_t *offsets = cells->buffers[1];
    char text[32];

    if (!get_bit(cells->buffers[0], at)) {
        cr_assert(is_null(row, column), "row %lld column %d is null", (long long)row, column);
        return;
    }
    cr_assert(!is_null(row, column), "row %lld column %d is not null", (long long)row, column);
    if (column == 0) {
        cr_assert_eq(numbers[at], row);
    } else if (column == 1) {
        const int size = text_of(row, text);

        cr_assert_eq(offsets[at + 1] - offsets[at], size);
        cr_assert_eq(memcmp((const char *)cells->buffers[2] + offsets[at], text, (size_t)size), 0);
    } else if (column == 2) {
        cr_assert_eq(numbers[at], nanos_of(row));
    } else if (column == 3) {
        cr_assert_eq(numbers[2 * at], row - 100);
        cr_assert_eq(numbers[2 * at + 1], row < 100 ? -1 : 0);
    } else if (column == 4) {
        cr_assert_eq(get_bit(cells->buffers[1], at), row % 3 == 0);
    } else {
        const struct ArrowArray *tags = cells->children[0];

        cr_assert_eq(offsets[at + 1] - offsets[at], tag_count(row));
        for (int t = 0; t < tag_count(row); t++) {
            cr_assert_eq(((const int32_t *)tags->buffers[1])[tags->offset + offsets[at] + t],
                         (int32_t)row + t);
        }
    }
}

void
bed_check(const struct ArrowArray *array, const uint32_t *columns, int64_t first)
{
    for (int64_t c = 0; c < array->n_children; c++) {
        const struct ArrowArray *cells = array->children[c];

        for (int64_t i = 0; i < array->length; i++) {
            check_cell(cells, array->offset + cells->offset + i,
                       columns == NULL ? (int)c : (int)columns[c], first + i);
        }
    }
}

void
bed_write(const columnar_bed *bed, const char *path, const sinter__columnar_write *write,
          int64_t count, int64_t step)
{
    const sinter__columnar_api *api = bed->columnar.api;
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};
    sinter__columnar_batch *batch = bed_batch(bed, 0, count);
    sinter__columnar_output *output = NULL;
    struct ArrowSchema schema;
    sinter_error err = SINTER_ERROR_INIT;

    bed_schema(&schema);
    cr_assert_eq(api->output_open(&bed->columnar.host, path, &schema, write, &output, &err),
                 SINTER_OK, "%s", err.text);
    schema.release(&schema);
    for (int64_t first = 0; first < count; first += step) {
        const sinter__columnar_range range = {
            batch, (uint64_t)first, (uint64_t)(count - first < step ? count - first : step)};

        cr_assert_eq(api->output_append(output, &range, 1, &err), SINTER_OK, "%s", err.text);
    }
    api->batch_release(batch);
    cr_assert_eq(api->output_finish(output, &written, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(written.row_count, (uint64_t)count);
    cr_expect_eq(written.file_bytes, bed_size(bed, path));
    api->output_close(output);
}

int64_t
bed_read(const columnar_bed *bed, const char *path, const sinter__columnar_read *read, bool check,
         sinter_error *err)
{
    const sinter__columnar_api *api = bed->columnar.api;
    sinter__columnar_file *file = NULL;
    sinter__columnar_batch *batch = NULL;
    int64_t count = 0;
    sinter_status st = api->file_open(&bed->columnar.host, path, 0, 0, &file, err);

    if (st == SINTER_OK) {
        st = api->file_read(file, read, err);
    }
    while (st == SINTER_OK && (st = api->file_next(file, &batch, err)) == SINTER_OK) {
        struct ArrowArray array;

        cr_assert_eq(api->batch_export(batch, &array, err), SINTER_OK);
        if (check) {
            bed_check(&array, read->columns, count);
        }
        count += array.length;
        array.release(&array);
        api->batch_release(batch);
    }
    api->file_close(file);
    return st == SINTER_END ? count : -1;
}

uint64_t
bed_size(const columnar_bed *bed, const char *path)
{
    sinter_io_stat stat;

    cr_assert_eq(bed->env.io->ops->stat(bed->env.io, path, &stat, NULL), SINTER_OK);
    return stat.size_bytes;
}

void
bed_copy(const columnar_bed *bed, const char *from, const char *to, uint64_t size, uint64_t at,
         uint8_t flip)
{
    sinter_io *io = bed->env.io;
    sinter_io_file *file = NULL;
    uint8_t *bytes = malloc(size + 1);
    const sinter_io_range range = {0, bytes, size};

    cr_assert_eq(io->ops->open(io, from, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    if (at < size) {
        bytes[at] ^= flip;
    }
    cr_assert_eq(io->ops->replace(io, to, bytes, size, NULL), SINTER_OK);
    free(bytes);
}
