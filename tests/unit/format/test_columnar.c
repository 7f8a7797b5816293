/*
 * Parquet and ORC files through the shim: what is written is read.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar_bed.h"

TestSuite(format_columnar, .timeout = 120);

static const int32_t kinds[] = {SINTER__COLUMNAR_PARQUET, SINTER__COLUMNAR_ORC};

static sinter__columnar_write
write_of(int32_t kind)
{
    return (sinter__columnar_write){.struct_size = (uint32_t)sizeof(sinter__columnar_write),
                                    .kind = kind};
}

static const sinter__columnar_read read_all = {.struct_size = (uint32_t)sizeof read_all};

Test(format_columnar, what_is_written_is_read_with_every_codec)
{
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int k = 0; k < 2; k++) {
        for (int codec = SINTER__COLUMNAR_ZSTD; codec <= SINTER__COLUMNAR_GZIP; codec++) {
            sinter__columnar_write write = write_of(kinds[k]);
            sinter_error err = SINTER_ERROR_INIT;
            char path[32];

            write.codec = codec;
            (void)snprintf(path, sizeof path, "m/%d-%d", k, codec);
            bed_write(&bed, path, &write, 3000, 1000);
            cr_expect_eq(bed_read(&bed, path, &read_all, true, &err), 3000, "%s: %s", path,
                         err.text);
        }
    }
    bed_fini(&bed);
}

Test(format_columnar, ranges_of_any_length_come_out_in_order)
{
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int k = 0; k < 2; k++) {
        for (int64_t step = 1; step < 30000; step = step * 5 + 1) {
            const sinter__columnar_write write = write_of(kinds[k]);
            sinter_error err = SINTER_ERROR_INIT;
            char path[32];

            (void)snprintf(path, sizeof path, "m/%d-%lld", k, (long long)step);
            bed_write(&bed, path, &write, 30000, step);
            cr_expect_eq(bed_read(&bed, path, &read_all, true, &err), 30000, "%s", err.text);
        }
    }
    bed_fini(&bed);
}

Test(format_columnar, a_file_tells_its_columns_with_ids_its_rows_and_its_groups)
{
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int k = 0; k < 2; k++) {
        const sinter__columnar_api *api = bed.columnar.api;
        sinter__columnar_write write = write_of(kinds[k]);
        sinter__columnar_info info = {.struct_size = (uint32_t)sizeof info};
        sinter__columnar_file *file = NULL;
        struct ArrowSchema schema;
        uint64_t rows = 0;
        char path[32];

        write.group_bytes = 4096;
        (void)snprintf(path, sizeof path, "m/%d", k);
        bed_write(&bed, path, &write, 200000, 5000);
        cr_assert_eq(api->file_open(&bed.columnar.host, path, 0, bed_size(&bed, path), &file, NULL),
                     SINTER_OK);
        cr_assert_eq(api->file_info(file, &info, NULL), SINTER_OK);
        cr_expect_eq(info.kind, kinds[k]);
        cr_expect_eq(info.row_count, 200000);
        cr_expect_eq(info.column_count, BED_COLUMNS);
        cr_expect_eq(info.file_bytes, bed_size(&bed, path));
        cr_expect(strlen(info.writer) > 0);
        cr_assert(info.group_count > 1, "%u groups", info.group_count);
        for (uint32_t i = 0; i < info.group_count; i++) {
            sinter__columnar_group group = {.struct_size = (uint32_t)sizeof group};

            cr_assert_eq(api->file_group(file, i, &group, NULL), SINTER_OK);
            rows += group.row_count;
            cr_expect(group.stored_bytes > 0 && group.stored_bytes < info.file_bytes);
        }
        cr_expect_eq(rows, 200000);
        cr_assert_eq(api->file_schema(file, &schema, NULL), SINTER_OK);
        cr_assert_eq(schema.n_children, BED_COLUMNS);
        cr_expect_str_eq(schema.children[0]->format, "l");
        cr_expect_str_eq(schema.children[2]->format, "tsn:");
        cr_expect_str_eq(schema.children[5]->name, "tags");
        cr_expect_eq(sinter__arrow_field_id(schema.children[0]), 10);
        cr_expect_eq(sinter__arrow_field_id(schema.children[5]), 15);
        cr_expect_eq(sinter__arrow_field_id(schema.children[5]->children[0]), 536876032);
        schema.release(&schema);
        api->file_close(file);
    }
    bed_fini(&bed);
}

Test(format_columnar, a_read_gives_the_columns_and_groups_that_were_chosen)
{
    static const uint32_t chosen[] = {0, 3, 5};
    const sinter__columnar_read some = {.struct_size = (uint32_t)sizeof some,
                                        .batch_rows = 100,
                                        .columns = chosen,
                                        .column_count = 3};
    const sinter__columnar_read last = {.struct_size = (uint32_t)sizeof last, .group_first = 1};
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int k = 0; k < 2; k++) {
        sinter__columnar_write write = write_of(kinds[k]);
        sinter__columnar_file *file = NULL;
        sinter__columnar_group group = {.struct_size = (uint32_t)sizeof group};
        sinter__columnar_batch *batch = NULL;
        struct ArrowArray array;
        sinter_error err = SINTER_ERROR_INIT;

        write.group_bytes = 4096;
        bed_write(&bed, k == 0 ? "m/p" : "m/o", &write, 200000, 5000);
        cr_expect_eq(bed_read(&bed, k == 0 ? "m/p" : "m/o", &some, true, &err), 200000, "%s",
                     err.text);
        cr_assert_eq(bed.columnar.api->file_open(&bed.columnar.host, k == 0 ? "m/p" : "m/o", 0, 0,
                                                 &file, NULL),
                     SINTER_OK);
        cr_assert_eq(bed.columnar.api->file_group(file, 0, &group, NULL), SINTER_OK);
        cr_assert_eq(bed.columnar.api->file_read(file, &last, NULL), SINTER_OK);
        cr_assert_eq(bed.columnar.api->file_next(file, &batch, NULL), SINTER_OK);
        bed.columnar.api->file_close(file); /* its rows live on */
        cr_assert_eq(bed.columnar.api->batch_export(batch, &array, NULL), SINTER_OK);
        bed.columnar.api->batch_release(batch);
        bed_check(&array, NULL, (int64_t)group.row_count);
        array.release(&array);
    }
    bed_fini(&bed);
}

Test(format_columnar, a_column_that_is_shown_twice_is_read_once)
{
    static const uint32_t chosen[] = {0, 3};
    static const uint32_t shown[] = {1, 0, 1};
    static const uint32_t columns[] = {3, 0, 3};
    const sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read,
                                        .columns = chosen,
                                        .column_count = 2,
                                        .shown = shown,
                                        .shown_count = 3};
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int k = 0; k < 2; k++) {
        const char *path = k == 0 ? "m/p" : "m/o";
        const sinter__columnar_api *api = bed.columnar.api;
        const sinter__columnar_write write = write_of(kinds[k]);
        sinter__columnar_file *file = NULL;
        sinter__columnar_batch *batch = NULL;
        struct ArrowArray array;

        bed_write(&bed, path, &write, 100, 100);
        cr_assert_eq(api->file_open(&bed.columnar.host, path, 0, 0, &file, NULL), SINTER_OK);
        cr_assert_eq(api->file_read(file, &read, NULL), SINTER_OK);
        cr_assert_eq(api->file_next(file, &batch, NULL), SINTER_OK);
        cr_assert_eq(api->batch_export(batch, &array, NULL), SINTER_OK);
        cr_assert_eq(array.n_children, 3);
        bed_check(&array, columns, 0);
        cr_expect_eq(array.children[0]->buffers[1], array.children[2]->buffers[1]);
        array.release(&array);
        api->batch_release(batch);
        api->file_close(file);
    }
    bed_fini(&bed);
}

/* Write the same rows again and again. @return the file's bytes */
static uint64_t
write_again(const columnar_bed *bed, const char *path, bool no_dictionary, int64_t rows, int times)
{
    const sinter__columnar_api *api = bed->columnar.api;
    sinter__columnar_write write = write_of(SINTER__COLUMNAR_PARQUET);
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};
    sinter__columnar_batch *batch = bed_batch(bed, 0, rows);
    const sinter__columnar_range range = {.batch = batch, .count = (uint64_t)rows};
    sinter__columnar_output *output = NULL;
    struct ArrowSchema schema;

    bed_schema(&schema);
    write.codec = SINTER__COLUMNAR_NONE;
    write.no_dictionary = no_dictionary;
    cr_assert_eq(api->output_open(&bed->columnar.host, path, &schema, &write, &output, NULL),
                 SINTER_OK);
    for (int i = 0; i < times; i++) {
        cr_assert_eq(api->output_append(output, &range, 1, NULL), SINTER_OK);
    }
    cr_assert_eq(api->output_finish(output, &written, NULL), SINTER_OK);
    api->output_close(output);
    api->batch_release(batch);
    schema.release(&schema);
    return written.file_bytes;
}

Test(format_columnar, columns_get_a_dictionary_where_it_takes_less_than_the_values)
{
    enum { NAMES = 200 /* of encodings in the footer */ };
    columnar_bed bed;
    uint64_t plain = 0;

    bed_init(&bed, 0);
    plain = write_again(&bed, "m/a", true, 30000, 1);
    cr_expect_leq(write_again(&bed, "m/b", false, 30000, 1), plain + NAMES);
    plain = write_again(&bed, "m/c", true, 100, 300);
    cr_expect_lt(write_again(&bed, "m/d", false, 100, 300), plain / 2);
    bed_fini(&bed);
}

/* The next batch of "m/rows", whose key and columns are one array under two names. @return false:
 * the end, and the file is closed */
static bool
next_paired(const columnar_bed *bed, sinter__columnar_file **file, sinter__columnar_batch **out)
{
    static const uint32_t chosen[] = {0, 1, 2, 3};
    static const uint32_t shown[] = {0, 1, 2, 3, 0, 1, 2, 3};
    const sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read,
                                        .columns = chosen,
                                        .column_count = BED_PAIRED,
                                        .shown = shown,
                                        .shown_count = 2 * BED_PAIRED};
    const sinter__columnar_api *api = bed->columnar.api;

    if (*file == NULL) {
        cr_assert_eq(api->file_open(&bed->columnar.host, "m/rows", 0, 0, file, NULL), SINTER_OK);
        cr_assert_eq(api->file_read(*file, &read, NULL), SINTER_OK);
    }
    if (api->file_next(*file, out, NULL) == SINTER_OK) {
        return true;
    }
    api->file_close(*file);
    *file = NULL;
    return false;
}

static sinter__columnar_output *
open_paired(const columnar_bed *bed, const char *path, const char *prefix,
            const sinter__columnar_write *write)
{
    sinter__columnar_output *output = NULL;
    struct ArrowSchema schema;

    bed_paired_schema(&schema, prefix);
    cr_assert_eq(
        bed->columnar.api->output_open(&bed->columnar.host, path, &schema, write, &output, NULL),
        SINTER_OK);
    schema.release(&schema);
    return output;
}

static void
append_all(const columnar_bed *bed, sinter__columnar_output *output, sinter__columnar_batch *batch)
{
    const sinter__columnar_api *api = bed->columnar.api;
    const sinter__columnar_range range = {.batch = batch, .count = api->batch_rows(batch)};

    cr_assert_eq(api->output_append(output, &range, 1, NULL), SINTER_OK);
    api->batch_release(batch);
}

static void
finish(const columnar_bed *bed, sinter__columnar_output *output)
{
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};

    cr_assert_eq(bed->columnar.api->output_finish(output, &written, NULL), SINTER_OK);
    bed->columnar.api->output_close(output);
}

/* Rows of "m/rows", `times` over. */
static void
write_paired(const columnar_bed *bed, const char *path, const char *prefix,
             const sinter__columnar_write *write, int times)
{
    sinter__columnar_output *output = open_paired(bed, path, prefix, write);

    for (int i = 0; i < times; i++) {
        sinter__columnar_file *file = NULL;
        sinter__columnar_batch *batch = NULL;

        while (next_paired(bed, &file, &batch)) {
            append_all(bed, output, batch);
        }
    }
    finish(bed, output);
}

/* The files' bytes are the same but for the letter in which names differ. @return such bytes */
static size_t
count_letters(const columnar_bed *bed, const char *one, const char *other)
{
    const uint64_t size = bed_size(bed, one);
    uint8_t *bytes[2] = {malloc(size), malloc(size)};
    size_t count = 0;

    cr_assert_eq(bed_size(bed, other), size);
    for (int i = 0; i < 2; i++) {
        const sinter_io_range range = {0, bytes[i], size};
        sinter_io_file *file = NULL;

        cr_assert_eq(bed->env.io->ops->open(bed->env.io, i == 0 ? one : other, 0, &file, NULL),
                     SINTER_OK);
        cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
        file->ops->close(file);
    }
    for (uint64_t i = 0; i < size; i++) {
        if (bytes[0][i] != bytes[1][i]) {
            cr_assert(bytes[0][i] == 'Y' && bytes[1][i] == 'Z', "byte %llu of %llu",
                      (unsigned long long)i, (unsigned long long)size);
            count++;
        }
    }
    free(bytes[0]);
    free(bytes[1]);
    return count;
}

/* Columns that have a twin are written once and put twice; under other names each is written. */
Test(format_columnar, pages_of_a_key_that_are_made_once_are_as_if_they_were_made_twice)
{
    static const struct {
        sinter__columnar_write write;
        int64_t rows;
        int times;
        size_t groups; /* at least */
    } cases[] = {{{0}, 1000, 1, 1},
                 {{.page_bytes = 4096, .no_dictionary = true}, 1000, 2, 1},
                 {{.page_bytes = 4096, .codec = SINTER__COLUMNAR_NONE}, 100, 20, 1},
                 {{.group_bytes = 4096, .page_bytes = 4096}, 4096, 7, 2},
                 {{.dictionary_bytes = 512, .page_bytes = 1024}, 300, 5, 1}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sinter__columnar_write source = write_of(SINTER__COLUMNAR_PARQUET);
        sinter__columnar_write write = cases[i].write;
        columnar_bed bed;

        bed_init(&bed, 0);
        write.struct_size = (uint32_t)sizeof write;
        write.kind = SINTER__COLUMNAR_PARQUET;
        bed_write(&bed, "m/rows", &source, cases[i].rows, 1000);
        write_paired(&bed, "m/y", "_KEY_", &write, cases[i].times);
        write_paired(&bed, "m/z", "_KEZ_", &write, cases[i].times);
        cr_expect_geq(count_letters(&bed, "m/y", "m/z"), (1 + cases[i].groups) * BED_PAIRED,
                      "case %zu", i);
        bed_fini(&bed);
    }
}

/* Check one row: its key is that of row `key`, its other columns are those of `row`. */
static void
check_paired(const struct ArrowArray *rows, int64_t at, int64_t key, int64_t row)
{
    struct ArrowArray one = *rows;

    one.offset += at;
    one.length = 1;
    one.n_children = BED_PAIRED;
    bed_check(&one, NULL, key);
    one.children += BED_PAIRED;
    bed_check(&one, NULL, row);
}

/* The only batch of a file, and its columns; the caller releases both. */
static void
read_only(const columnar_bed *bed, const char *path, sinter__columnar_batch **out,
          struct ArrowArray *columns)
{
    const sinter__columnar_api *api = bed->columnar.api;
    sinter__columnar_file *file = NULL;

    cr_assert_eq(api->file_open(&bed->columnar.host, path, 0, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(api->file_read(file, &read_all, NULL), SINTER_OK);
    cr_assert_eq(api->file_next(file, out, NULL), SINTER_OK);
    cr_assert_eq(api->batch_export(*out, columns, NULL), SINTER_OK);
    api->file_close(file);
}

/* Parts of which key and columns are one array, two arrays with the same values, and with others,
 * in any order. */
Test(format_columnar, a_key_that_differs_from_its_column_is_written_for_itself)
{
    enum { FEW = 4, MANY = 50, PARTS = 5 };
    /* Of FEW rows without NULLs; 35 and 70 have values of the same length. */
    static const int64_t firsts[PARTS][2] = {{0, 0}, {35, 70}, {70, 35}, {70, 70}, {21, 1}};
    const sinter__columnar_write write = write_of(SINTER__COLUMNAR_PARQUET);

    for (int begin = 0; begin < PARTS; begin++) {
        sinter__columnar_output *output = NULL;
        sinter__columnar_file *file = NULL;
        sinter__columnar_batch *batch = NULL;
        struct ArrowArray array;
        columnar_bed bed;

        bed_init(&bed, 0);
        bed_write(&bed, "m/rows", &write, MANY, MANY);
        output = open_paired(&bed, "m/p", "_KEY_", &write);
        for (int i = 0; i < PARTS; i++) {
            const int64_t *first = firsts[(begin + i) % PARTS];

            append_all(&bed, output, bed_paired_batch(&bed, first[0], first[1], FEW));
            while (next_paired(&bed, &file, &batch)) {
                append_all(&bed, output, batch);
            }
        }
        finish(&bed, output);
        read_only(&bed, "m/p", &batch, &array);
        cr_assert_eq(array.length, PARTS * (FEW + MANY));
        for (int64_t i = 0; i < array.length; i++) {
            const int64_t *first = firsts[(begin + i / (FEW + MANY)) % PARTS];
            const int64_t at = i % (FEW + MANY);

            check_paired(&array, i, at < FEW ? first[0] + at : at - FEW,
                         at < FEW ? first[1] + at : at - FEW);
        }
        array.release(&array);
        bed.columnar.api->batch_release(batch);
        bed_fini(&bed);
    }
}

/* A column of the table may be named like a key's, and a key like it. */
Test(format_columnar, three_columns_that_are_each_the_others_key_have_their_values)
{
    static const char *const column_names[] = {"_KEY__KEY_id", "_KEY_id", "id"};
    static const uint32_t ids[] = {0, 0, 0};
    const sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read,
                                        .columns = ids,
                                        .column_count = 1,
                                        .shown = ids,
                                        .shown_count = 3};
    const sinter__columnar_write write = write_of(SINTER__COLUMNAR_PARQUET);
    sinter__columnar_output *output = NULL;
    sinter__columnar_file *file = NULL;
    sinter__columnar_batch *batch = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    columnar_bed bed;

    bed_init(&bed, 0);
    bed_write(&bed, "m/rows", &write, 100, 100);
    bed_paired_schema(&schema, "");
    for (int64_t i = 0; i < 3; i++) {
        schema.children[i]->name = column_names[i];
        schema.children[i]->format = "l";
    }
    for (int64_t i = 3; i < schema.n_children; i++) {
        schema.children[i]->release(schema.children[i]);
        free(schema.children[i]);
    }
    schema.n_children = 3;
    cr_assert_eq(
        bed.columnar.api->output_open(&bed.columnar.host, "m/p", &schema, &write, &output, NULL),
        SINTER_OK);
    schema.release(&schema);
    cr_assert_eq(bed.columnar.api->file_open(&bed.columnar.host, "m/rows", 0, 0, &file, NULL),
                 SINTER_OK);
    cr_assert_eq(bed.columnar.api->file_read(file, &read, NULL), SINTER_OK);
    cr_assert_eq(bed.columnar.api->file_next(file, &batch, NULL), SINTER_OK);
    append_all(&bed, output, batch);
    finish(&bed, output);
    bed.columnar.api->file_close(file);
    read_only(&bed, "m/p", &batch, &array);
    cr_assert_eq(array.length, 100);
    bed_check(&array, ids, 0);
    array.release(&array);
    bed.columnar.api->batch_release(batch);
    bed_fini(&bed);
}

Test(format_columnar, rows_within_rows_are_written_for_themselves)
{
    const sinter__columnar_write write = write_of(SINTER__COLUMNAR_PARQUET);
    sinter__columnar_output *output = NULL;
    sinter__columnar_batch *batch = NULL;
    struct ArrowSchema schema;
    struct ArrowArray array;
    columnar_bed bed;

    bed_init(&bed, 0);
    bed_nested_schema(&schema);
    cr_assert_eq(
        bed.columnar.api->output_open(&bed.columnar.host, "m/p", &schema, &write, &output, NULL),
        SINTER_OK);
    schema.release(&schema);
    append_all(&bed, output, bed_nested_batch(&bed, 0, 300, 100));
    finish(&bed, output);
    read_only(&bed, "m/p", &batch, &array);
    cr_assert_eq(array.length, 100);
    bed_check(array.children[0], NULL, 0);
    bed_check(array.children[1], NULL, 300);
    array.release(&array);
    bed.columnar.api->batch_release(batch);
    bed_fini(&bed);
}

Test(format_columnar, choices_that_make_no_sense_are_refused)
{
    static const uint32_t beyond[] = {0, BED_COLUMNS};
    static const uint32_t twice[] = {1, 1};
    const sinter__columnar_read reads[] = {{.columns = beyond, .column_count = 2},
                                           {.columns = twice, .column_count = 2},
                                           {.columns = twice, .column_count = 0},
                                           {.shown = beyond, .shown_count = 2},
                                           {.group_first = 7},
                                           {.group_count = UINT32_MAX}};
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int k = 0; k < 2; k++) {
        const sinter__columnar_write write = write_of(kinds[k]);

        bed_write(&bed, k == 0 ? "m/p" : "m/o", &write, 10, 10);
        for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
            sinter_error err = SINTER_ERROR_INIT;

            cr_expect_eq(bed_read(&bed, k == 0 ? "m/p" : "m/o", &reads[i], false, &err), -1);
            cr_expect_eq(err.status, SINTER_E_INVALID, "case %zu", i);
        }
    }
    bed_fini(&bed);
}

Test(format_columnar, a_file_without_rows_is_a_file)
{
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int k = 0; k < 2; k++) {
        const sinter__columnar_write write = write_of(kinds[k]);
        sinter_error err = SINTER_ERROR_INIT;

        bed_write(&bed, k == 0 ? "m/p" : "m/o", &write, 0, 1);
        cr_expect_eq(bed_read(&bed, k == 0 ? "m/p" : "m/o", &read_all, true, &err), 0, "%s",
                     err.text);
    }
    bed_fini(&bed);
}

Test(format_columnar, a_file_that_is_not_finished_has_no_name)
{
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int k = 0; k < 2; k++) {
        const sinter__columnar_api *api = bed.columnar.api;
        const sinter__columnar_write write = write_of(kinds[k]);
        sinter__columnar_batch *batch = bed_batch(&bed, 0, 9000);
        const sinter__columnar_range range = {batch, 0, 9000};
        sinter__columnar_output *output = NULL;
        struct ArrowSchema schema;
        sinter_io_stat stat;

        bed_schema(&schema);
        cr_assert_eq(
            api->output_open(&bed.columnar.host, "m/never", &schema, &write, &output, NULL),
            SINTER_OK);
        cr_assert_eq(api->output_append(output, &range, 1, NULL), SINTER_OK);
        api->output_close(output);
        api->batch_release(batch);
        schema.release(&schema);
        cr_expect_eq(bed.env.io->ops->stat(bed.env.io, "m/never", &stat, NULL), SINTER_E_NOT_FOUND);
    }
    bed_fini(&bed);
}

Test(format_columnar, rows_of_other_columns_are_refused)
{
    columnar_bed bed;
    const sinter__columnar_write write = write_of(SINTER__COLUMNAR_PARQUET);
    sinter__columnar_output *output = NULL;
    struct ArrowSchema schema;
    sinter_error err = SINTER_ERROR_INIT;

    bed_init(&bed, 0);
    const sinter__columnar_api *api = bed.columnar.api;
    sinter__columnar_batch *batch = bed_batch(&bed, 0, 10);
    const sinter__columnar_range range = {batch, 0, 10};
    const sinter__columnar_range beyond = {batch, 1, 10};

    bed_schema(&schema);
    schema.children[3]->format = "d:20,3";
    cr_assert_eq(api->output_open(&bed.columnar.host, "m/x", &schema, &write, &output, NULL),
                 SINTER_OK);
    cr_assert_eq(api->output_append(output, &range, 1, &err), SINTER_E_INVALID);
    cr_expect(strstr(err.text, "amount") != NULL, "%s", err.text);
    cr_assert_eq(api->output_finish(output, &(sinter__columnar_written){0}, &err),
                 SINTER_E_INVALID);
    api->output_close(output);
    schema.children[3]->format = "d:20,2";
    cr_assert_eq(api->output_open(&bed.columnar.host, "m/x", &schema, &write, &output, NULL),
                 SINTER_OK);
    cr_assert_eq(api->output_append(output, &beyond, 1, &err), SINTER_E_INVALID);
    api->output_close(output);
    schema.release(&schema);
    api->batch_release(batch);
    bed_fini(&bed);
}

Test(format_columnar, columns_count_against_the_budget_which_is_a_ceiling)
{
    columnar_bed bed;

    bed_init(&bed, (uint64_t)64 << 20);
    for (int k = 0; k < 2; k++) {
        const char *path = k == 0 ? "m/p" : "m/o";
        const sinter__columnar_write write = write_of(kinds[k]);
        sinter_memory *small = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        bed_write(&bed, path, &write, 20000, 100);
        cr_expect_gt(sinter_memory_peak(bed.memory), 100000);
        cr_assert_eq(sinter_memory_create(sinter_env_default(), 20000, &small, NULL), SINTER_OK);
        bed.env.memory = small;
        cr_expect_eq(bed_read(&bed, path, &read_all, true, &err), -1);
        cr_expect_eq(err.status, SINTER_E_TOO_LARGE, "%s", err.text);
        cr_expect_str_eq(err.file, path);
        cr_expect_eq(sinter_memory_used(small), 0);
        bed.env.memory = bed.memory;
        sinter_memory_destroy(small);
    }
    bed_fini(&bed);
}
