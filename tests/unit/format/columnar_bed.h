/*
 * Columns for tests of the format room, and files of them in memory.
 */
#ifndef SINTER_TESTS_COLUMNAR_BED_H
#define SINTER_TESTS_COLUMNAR_BED_H

#include "format/columnar.h"

enum { BED_COLUMNS = 6, BED_PAIRED = 4 };

/** An io in memory, and the library over it. */
typedef struct columnar_bed {
    sinter_env env;
    sinter_memory *memory;
    sinter__columnar columnar;
} columnar_bed;

void
bed_init(columnar_bed *bed, uint64_t limit_bytes);

/** Everything that was charged has been given back. */
void
bed_fini(columnar_bed *bed);

/** Columns id BIGINT, text STRING, at TIMESTAMP(9), amount DECIMAL, flag BOOLEAN, tags ARRAY<INT>,
 *  with field ids 10, 11, ... The caller releases it. */
void
bed_schema(struct ArrowSchema *out);

/** Rows `first`, first + 1, ... of columns that follow from the row's number. */
sinter__columnar_batch *
bed_batch(const columnar_bed *bed, int64_t first, int64_t count);

/** Columns of a schema that has the first BED_PAIRED of bed_schema() twice, first with `prefix` in
 *  front of their names, and without NULLs. The caller releases it. */
void
bed_paired_schema(struct ArrowSchema *out, const char *prefix);

/** Rows of these columns, which are those of rows `first_key` and `first` on. */
sinter__columnar_batch *
bed_paired_batch(const columnar_bed *bed, int64_t first_key, int64_t first, int64_t count);

/** Columns "_KEY_row" and "row", each a row of the first BED_PAIRED of bed_schema(). The caller
 *  releases it. */
void
bed_nested_schema(struct ArrowSchema *out);

/** Rows of these columns, as bed_paired_batch() has them. */
sinter__columnar_batch *
bed_nested_batch(const columnar_bed *bed, int64_t first_key, int64_t first, int64_t count);

/** Check that rows are those of bed_batch(). `columns`: positions of the array's children. */
void
bed_check(const struct ArrowArray *array, const uint32_t *columns, int64_t first);

/** Write rows 0 to `count` - 1, in ranges of `step`. */
void
bed_write(const columnar_bed *bed, const char *path, const sinter__columnar_write *write,
          int64_t count, int64_t step);

/** Read all rows of a file, of these columns (NULL: all). @return their number, or -1 after a
 *  failure */
int64_t
bed_read(const columnar_bed *bed, const char *path, const sinter__columnar_read *read, bool check,
         sinter_error *err);

/** Copy a file within the io, cut to `size` bytes, one of them changed by `flip`. */
void
bed_copy(const columnar_bed *bed, const char *from, const char *to, uint64_t size, uint64_t at,
         uint8_t flip);

uint64_t
bed_size(const columnar_bed *bed, const char *path);

#endif
