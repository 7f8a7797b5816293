/*
 * Columns that are read as other types than the file has: timestamps far from today, ORC's times.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "columnar_bed.h"
#include "sinter/io.h"

TestSuite(format_columnar_cast, .timeout = 120);

/* Years 1, 1677, 1970, 2024, 2262, 9999, in microseconds. */
static const int64_t micros[] = {-62135596800000000, -9223372036000000, -1000000,
                                 1709208000123457,   9223372036854775,  253402300799999999};
enum { ROWS = sizeof micros / sizeof micros[0] };

static void
release_nothing(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void
release_no_array(struct ArrowArray *array)
{
    array->release = NULL;
}

/** A root with one column. */
typedef struct one_column {
    struct ArrowSchema child;
    struct ArrowSchema *children[1];
    struct ArrowSchema root;
} one_column;

static const struct ArrowSchema *
one_schema(one_column *out, const char *format)
{
    out->child = (struct ArrowSchema){
        .format = format, .name = "t", .flags = ARROW_FLAG_NULLABLE, .release = release_nothing};
    out->children[0] = &out->child;
    out->root = (struct ArrowSchema){.format = "+s",
                                     .name = "",
                                     .n_children = 1,
                                     .children = out->children,
                                     .release = release_nothing};
    return &out->root;
}

/** Append a column of numbers, 8 or 4 bytes each. */
static void
append_column(const columnar_bed *bed, sinter__columnar_output *output, const char *format,
              const void *values)
{
    const sinter__columnar_api *api = bed->columnar.api;
    const void *buffers[] = {NULL, values};
    struct ArrowArray child = {
        .length = ROWS, .n_buffers = 2, .buffers = buffers, .release = release_no_array};
    struct ArrowArray *children[] = {&child};
    struct ArrowArray root = {.length = ROWS,
                              .n_buffers = 1,
                              .n_children = 1,
                              .buffers = buffers,
                              .children = children,
                              .release = release_no_array};
    sinter__columnar_batch *batch = NULL;
    sinter__columnar_range range = {NULL, 0, ROWS};
    one_column schema;

    (void)one_schema(&schema, format);
    cr_assert_eq(api->batch_import(&schema.root, &root, &batch, NULL), SINTER_OK);
    range.batch = batch;
    cr_assert_eq(api->output_append(output, &range, 1, NULL), SINTER_OK);
    api->batch_release(batch);
}

/** Write a file with one column. */
static void
write_column(const columnar_bed *bed, int32_t kind, const char *format, const void *values)
{
    const sinter__columnar_api *api = bed->columnar.api;
    const sinter__columnar_write write = {.struct_size = (uint32_t)sizeof write,
                                          .kind = kind,
                                          .codec = SINTER__COLUMNAR_NONE,
                                          .no_dictionary = true};
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};
    sinter__columnar_output *output = NULL;
    one_column schema;

    cr_assert_eq(api->output_open(&bed->columnar.host, "m/t", one_schema(&schema, format), &write,
                                  &output, NULL),
                 SINTER_OK);
    append_column(bed, output, format, values);
    cr_assert_eq(api->output_finish(output, &written, NULL), SINTER_OK);
    api->output_close(output);
}

/** Read the column as `format` (NULL: as it is) into `out`. */
static sinter_status
read_column(const columnar_bed *bed, const char *path, const char *format, void *out, size_t width,
            sinter_error *err)
{
    const sinter__columnar_api *api = bed->columnar.api;
    sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read};
    sinter__columnar_file *file = NULL;
    sinter__columnar_batch *batch = NULL;
    one_column schema;
    sinter_status st;

    read.as = format == NULL ? NULL : one_schema(&schema, format);
    cr_assert_eq(api->file_open(&bed->columnar.host, path, 0, 0, &file, err), SINTER_OK, "%s",
                 err->text);
    st = api->file_read(file, &read, err);
    if (st == SINTER_OK) {
        st = api->file_next(file, &batch, err);
    }
    if (st == SINTER_OK) {
        struct ArrowArray array;

        cr_assert_eq(api->batch_export(batch, &array, err), SINTER_OK);
        cr_assert_eq(array.length, ROWS);
        memcpy(out, (const char *)array.children[0]->buffers[1] + array.children[0]->offset * 8,
               ROWS * width);
        array.release(&array);
    }
    api->batch_release(batch);
    api->file_close(file);
    return st;
}

Test(format_columnar_cast, timestamps_of_all_years_come_out_of_orc_in_microseconds)
{
    int64_t values[ROWS];
    sinter_error err = SINTER_ERROR_INIT;
    columnar_bed bed;

    bed_init(&bed, 0);
    write_column(&bed, SINTER__COLUMNAR_ORC, "tsu:", micros);
    cr_assert_eq(read_column(&bed, "m/t", "tsu:", values, 8, &err), SINTER_OK, "%s", err.text);
    for (int i = 0; i < ROWS; i++) {
        cr_expect_eq(values[i], micros[i], "row %d: %lld", i, (long long)values[i]);
    }
    cr_assert_eq(read_column(&bed, "m/t", "tsm:", values, 8, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(values[0], -62135596800000);
    cr_expect_eq(values[2], -1000);
    cr_expect_eq(values[3], 1709208000123);
    cr_expect_eq(values[5], 253402300799999);
    bed_fini(&bed);
}

Test(format_columnar_cast, timestamps_that_nanoseconds_do_not_reach_are_refused_not_wrong)
{
    int64_t values[ROWS];
    sinter_error err = SINTER_ERROR_INIT;
    columnar_bed bed;

    bed_init(&bed, 0);
    write_column(&bed, SINTER__COLUMNAR_ORC, "tsu:", micros);
    cr_expect_eq(read_column(&bed, "m/t", NULL, values, 8, &err), SINTER_E_UNSUPPORTED);
    cr_expect_eq(read_column(&bed, "m/t", "tsn:", values, 8, &err), SINTER_E_UNSUPPORTED);
    cr_expect(strstr(err.text, "2262") != NULL, "%s", err.text);
    bed_fini(&bed);
}

Test(format_columnar_cast, INT96_of_the_year_9999_is_refused_not_wrong)
{
    int64_t values[ROWS];
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *memory_io = NULL;
    columnar_bed bed;

    bed_init(&bed, 0);
    memory_io = bed.env.io;
    bed.env.io = sinter_io_posix();
    cr_expect_eq(read_column(&bed, FIXTURES "/int96_year_9999.parquet", NULL, values, 8, &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect(strstr(err.text, "column t") != NULL, "%s", err.text);
    bed.env.io = memory_io;
    bed_fini(&bed);
}

/* The second before 1970 is 0 in the file where milliseconds follow, as that of times after 1970
 * is. */
Test(format_columnar_cast, ORC_takes_no_milliseconds_of_the_last_second_before_1970)
{
    static const int64_t lost[] = {-1, -999000};
    const sinter__columnar_write write = {.struct_size = (uint32_t)sizeof write,
                                          .kind = SINTER__COLUMNAR_ORC};
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int i = 0; i < 2; i++) {
        const int64_t early[ROWS] = {0, 1, lost[i]};
        sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};
        sinter__columnar_output *output = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        one_column schema;

        cr_assert_eq(bed.columnar.api->output_open(&bed.columnar.host, "m/t",
                                                   one_schema(&schema, "tsu:"), &write, &output,
                                                   NULL),
                     SINTER_OK);
        append_column(&bed, output, "tsu:", early);
        cr_expect_eq(bed.columnar.api->output_finish(output, &written, &err), SINTER_E_UNSUPPORTED);
        cr_expect(strstr(err.text, "column t") != NULL, "%s", err.text);
        bed.columnar.api->output_close(output);
    }
    bed_fini(&bed);
}

Test(format_columnar_cast, ORC_takes_any_other_fraction_of_a_second_before_1970)
{
    static const int64_t early[ROWS] = {-999001,  -1000000,    -1000001, -62135596799999999,
                                        -1500000, -86400000001};
    int64_t values[ROWS];
    sinter_error err = SINTER_ERROR_INIT;
    columnar_bed bed;

    bed_init(&bed, 0);
    write_column(&bed, SINTER__COLUMNAR_ORC, "tsu:", early);
    cr_assert_eq(read_column(&bed, "m/t", "tsu:", values, 8, &err), SINTER_OK, "%s", err.text);
    for (int i = 0; i < ROWS; i++) {
        cr_expect_eq(values[i], early[i], "row %d: %lld", i, (long long)values[i]);
    }
    bed_fini(&bed);
}

/** Does the file hold these bytes? */
static bool
holds(const columnar_bed *bed, const uint8_t *bytes, size_t size)
{
    const uint64_t file_size = bed_size(bed, "m/t");
    sinter_io_file *file = NULL;
    uint8_t *content = malloc(file_size);
    const sinter_io_range range = {0, content, file_size};
    bool found = false;

    cr_assert_eq(bed->env.io->ops->open(bed->env.io, "m/t", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    for (uint64_t at = 0; !found && at + size <= file_size; at++) {
        found = memcmp(content + at, bytes, size) == 0;
    }
    free(content);
    return found;
}

/** Java refuses nanoseconds of a day below 0, which Arrow itself would write. */
Test(format_columnar_cast, INT96_before_1970_is_a_day_and_what_is_past_of_it)
{
    /* 86399999999999 nanoseconds of Julian day 2440587 */
    static const uint8_t last[] = {0xff, 0xff, 0x4e, 0x91, 0x94, 0x4e, 0, 0, 0x8b, 0x3d, 0x25, 0};
    static const int64_t nanos[ROWS] = {-1, 0, 1, -86400000000000, INT64_MIN + 1, INT64_MAX};
    int64_t values[ROWS];
    sinter_error err = SINTER_ERROR_INIT;
    columnar_bed bed;

    bed_init(&bed, 0);
    write_column(&bed, SINTER__COLUMNAR_PARQUET, "tsn:", nanos);
    cr_expect(holds(&bed, last, sizeof last));
    cr_assert_eq(read_column(&bed, "m/t", NULL, values, 8, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(memcmp(values, nanos, sizeof nanos), 0);
    bed_fini(&bed);
}

Test(format_columnar_cast, ORC_keeps_times_as_numbers_and_gives_them_as_times)
{
    static const int32_t times[ROWS] = {0, 1, 86399999, 12345678, 5, 6};
    int32_t values[ROWS];
    sinter_error err = SINTER_ERROR_INIT;
    columnar_bed bed;

    bed_init(&bed, 0);
    write_column(&bed, SINTER__COLUMNAR_ORC, "ttm", times);
    cr_assert_eq(read_column(&bed, "m/t", "i", values, 4, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(memcmp(values, times, sizeof times), 0);
    cr_assert_eq(read_column(&bed, "m/t", "ttm", values, 4, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(memcmp(values, times, sizeof times), 0);
    bed_fini(&bed);
}

Test(format_columnar_cast, what_can_not_be_had_is_refused_by_name)
{
    int64_t values[ROWS];
    sinter_error err = SINTER_ERROR_INIT;
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int32_t kind = SINTER__COLUMNAR_PARQUET; kind <= SINTER__COLUMNAR_ORC; kind++) {
        write_column(&bed, kind, "l", micros);
        cr_expect_eq(read_column(&bed, "m/t", "tsu:", values, 8, &err), SINTER_E_UNSUPPORTED);
        cr_expect(strstr(err.text, "column t") != NULL, "%s", err.text);
        cr_assert_eq(bed.env.io->ops->unlink(bed.env.io, "m/t", NULL), SINTER_OK);
    }
    bed_fini(&bed);
}

/** Copy the file with another time zone of three letters in its stripe. */
static void
copy_with_zone(const columnar_bed *bed, const char *to, const char *zone)
{
    const sinter_io_ops *ops = bed->env.io->ops;
    sinter_io_file *file = NULL;
    sinter_io_range range = {0};
    uint64_t size = 0;
    char *bytes = NULL;
    char *at = NULL;

    cr_assert_eq(ops->open(bed->env.io, "m/t", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    bytes = malloc(size);
    range = (sinter_io_range){.data = bytes, .size = size};
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    at = memmem(bytes, size, "\x1a\x03GMT", 5);
    at = at == NULL ? memmem(bytes, size, "\x1a\x03UTC", 5) : at;
    cr_assert_not_null(at, "a stripe tells its time zone");
    memcpy(at + 2, zone, 3);
    cr_assert_eq(ops->create(bed->env.io, "m", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->append(file, bytes, size, NULL), SINTER_OK);
    cr_assert_eq(file->ops->publish(file, to, NULL), SINTER_OK);
    file->ops->close(file);
    free(bytes);
}

Test(format_columnar_cast, times_near_1970_are_those_that_java_reads_in_any_time_zone)
{
    enum { HOUR = 3600 };
    static const int64_t written[ROWS] = {999,
                                          HOUR * INT64_C(1000000) + 500000,
                                          9 * HOUR * INT64_C(1000000) + 500000,
                                          2 * HOUR * INT64_C(1000000),
                                          1709208000123457,
                                          -1000000};
    int64_t values[ROWS];
    sinter_error err = SINTER_ERROR_INIT;
    columnar_bed bed;

    bed_init(&bed, 0);
    write_column(&bed, SINTER__COLUMNAR_ORC, "tsu:", written);
    copy_with_zone(&bed, "m/east", "PRC");
    copy_with_zone(&bed, "m/west", "EST");
    for (int as = 0; as < 2; as++) {
        const char *format = as == 0 ? "tsu:" : "tsn:";
        const int64_t per_micro = as == 0 ? 1 : 1000;

        cr_assert_eq(read_column(&bed, "m/east", format, values, 8, &err), SINTER_OK, "%s",
                     err.text);
        for (int i = 0; i < ROWS; i++) { /* a second less within eight hours, if it has fractions */
            cr_expect_eq(values[i], (written[i] - (i == 1 ? 1000000 : 0)) * per_micro, "row %d", i);
        }
        cr_assert_eq(read_column(&bed, "m/west", format, values, 8, &err), SINTER_OK, "%s",
                     err.text);
        for (int i = 0; i < ROWS; i++) {
            cr_expect_eq(values[i], written[i] * per_micro, "row %d", i);
        }
    }
    bed_fini(&bed);
}
