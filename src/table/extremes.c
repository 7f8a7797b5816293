#include "table/extremes.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/bytes.h"
#include "doc/type.h"

/** Some rows of a column, in rows of its buffers. */
typedef struct stretch {
    const uint8_t *valid; /* NULL: all are */
    const void *values;
    const uint8_t *bytes; /* of strings, `values` being their offsets */
    int64_t offset;
    const sinter__row_span *spans;
    size_t span_count;
} stretch;

/* The rows of a span. */
static inline int64_t
begin_of(const stretch *rows, size_t span)
{
    return rows->offset + rows->spans[span].first;
}

static inline int64_t
end_of(const stretch *rows, size_t span)
{
    return begin_of(rows, span) + rows->spans[span].count;
}

static bool
is_valid(const stretch *rows, int64_t at)
{
    return rows->valid == NULL || (rows->valid[at / CHAR_BIT] >> (at % CHAR_BIT) & 1) != 0;
}

static int64_t
count_nulls(const stretch *rows)
{
    int64_t nulls = 0;

    for (size_t s = 0; rows->valid != NULL && s < rows->span_count; s++) {
        for (int64_t at = begin_of(rows, s); at < end_of(rows, s); at++) {
            nulls += is_valid(rows, at) ? 0 : 1;
        }
    }
    return nulls;
}

/* ---- numbers ---- */

/* A number with the order of the value: Java's for floating point. */
static inline int64_t
rank(int32_t form, const void *values, int64_t at)
{
    assert(values != NULL);
    switch (form) {
    case SINTER__CELL_BITS:
        return ((const uint8_t *)values)[at / CHAR_BIT] >> (at % CHAR_BIT) & 1;
    case SINTER__CELL_INT8:
        return ((const int8_t *)values)[at];
    case SINTER__CELL_INT16:
        return ((const int16_t *)values)[at];
    case SINTER__CELL_INT32:
        return ((const int32_t *)values)[at];
    case SINTER__CELL_UINT32: {
        const int32_t bits = (int32_t)sinter__float_canonical(((const uint32_t *)values)[at]);

        return bits < 0 ? bits ^ INT32_MAX : bits;
    }
    case SINTER__CELL_UINT64: {
        const int64_t bits = (int64_t)sinter__double_canonical(((const uint64_t *)values)[at]);

        return bits < 0 ? bits ^ INT64_MAX : bits;
    }
    default:
        return ((const int64_t *)values)[at];
    }
}

/* Inlined once per form, so that the loop has no switch in it. */
__attribute__((always_inline)) static inline void
find_numbers(int32_t form, const stretch *rows, sinter__extremes *out)
{
    int64_t least = 0;
    int64_t greatest = 0;

    for (size_t s = 0; s < rows->span_count; s++) {
        for (int64_t at = begin_of(rows, s); at < end_of(rows, s); at++) {
            const int64_t value = rank(form, rows->values, at);

            if (!is_valid(rows, at)) {
                continue;
            }
            if (out->least < 0 || value < least) {
                least = value;
                out->least = at;
            }
            if (out->greatest < 0 || value > greatest) {
                greatest = value;
                out->greatest = at;
            }
        }
    }
}

static void
find_ranked(int32_t form, const stretch *rows, sinter__extremes *out)
{
    switch (form) {
    case SINTER__CELL_BITS:
        find_numbers(SINTER__CELL_BITS, rows, out);
        break;
    case SINTER__CELL_INT8:
        find_numbers(SINTER__CELL_INT8, rows, out);
        break;
    case SINTER__CELL_INT16:
        find_numbers(SINTER__CELL_INT16, rows, out);
        break;
    case SINTER__CELL_INT32:
        find_numbers(SINTER__CELL_INT32, rows, out);
        break;
    case SINTER__CELL_UINT32:
        find_numbers(SINTER__CELL_UINT32, rows, out);
        break;
    case SINTER__CELL_UINT64:
        find_numbers(SINTER__CELL_UINT64, rows, out);
        break;
    default: /* units of a timestamp, too */
        find_numbers(SINTER__CELL_INT64, rows, out);
        break;
    }
}

/* ---- decimals ---- */

static int
compare_decimals(const void *values, int64_t a, int64_t b)
{
    const uint64_t *halves = values; /* low half first */
    int64_t high_a = 0;
    int64_t high_b = 0;

    assert(halves != NULL);
    high_a = (int64_t)halves[2 * a + 1];
    high_b = (int64_t)halves[2 * b + 1];
    if (high_a != high_b) {
        return high_a < high_b ? -1 : 1;
    }
    return (halves[2 * a] > halves[2 * b]) - (halves[2 * a] < halves[2 * b]);
}

static void
add_decimal(const stretch *rows, int64_t at, sinter__extremes *out)
{
    if (!is_valid(rows, at)) {
        return;
    }
    if (out->least < 0 || compare_decimals(rows->values, at, out->least) < 0) {
        out->least = at;
    }
    if (out->greatest < 0 || compare_decimals(rows->values, at, out->greatest) > 0) {
        out->greatest = at;
    }
}

static void
find_decimals(const stretch *rows, sinter__extremes *out)
{
    for (size_t s = 0; s < rows->span_count; s++) {
        for (int64_t at = begin_of(rows, s); at < end_of(rows, s); at++) {
            add_decimal(rows, at, out);
        }
    }
}

/* ---- texts ---- */

/** A text with its first bytes as a number, which decides most comparisons. */
typedef struct text {
    uint64_t head;
    sinter_bytes bytes;
} text;

static text
text_at(const stretch *rows, int64_t at)
{
    const int32_t *offsets = rows->values;
    text out = {.head = 0};
    uint8_t head[8] = {0};

    assert(offsets != NULL);
    out.bytes = (sinter_bytes){rows->bytes + offsets[at], (size_t)(offsets[at + 1] - offsets[at])};
    if (out.bytes.size >= sizeof head) {
        out.head = sinter__get_be64(out.bytes.data);
    } else if (out.bytes.size > 0) {
        memcpy(head, out.bytes.data, out.bytes.size);
        out.head = sinter__get_be64(head);
    }
    return out;
}

static int
compare_texts(const text *a, const text *b)
{
    const size_t least = a->bytes.size < b->bytes.size ? a->bytes.size : b->bytes.size;
    int order = 0;

    assert(b->bytes.data != NULL); /* of a row, for one is known */
    if (a->head != b->head) {
        return a->head < b->head ? -1 : 1;
    }
    order = least == 0 ? 0 : memcmp(a->bytes.data, b->bytes.data, least);
    return order != 0 ? order : (a->bytes.size > b->bytes.size) - (a->bytes.size < b->bytes.size);
}

/** The extremes so far. */
typedef struct text_extremes {
    text least;
    text greatest;
} text_extremes;

static inline void
add_text(const stretch *rows, int64_t at, text_extremes *known, sinter__extremes *out)
{
    text value;

    if (!is_valid(rows, at)) {
        return;
    }
    value = text_at(rows, at);
    if (out->least < 0 || compare_texts(&value, &known->least) < 0) {
        known->least = value;
        out->least = at;
    }
    if (out->greatest < 0 || compare_texts(&value, &known->greatest) > 0) {
        known->greatest = value;
        out->greatest = at;
    }
}

static void
find_texts(const stretch *rows, sinter__extremes *out)
{
    text_extremes known = {.least.head = 0};

    for (size_t s = 0; s < rows->span_count; s++) {
        for (int64_t at = begin_of(rows, s); at < end_of(rows, s); at++) {
            add_text(rows, at, &known, out);
        }
    }
}

void
sinter__extremes_find(const sinter__cells *cells, const struct ArrowArray *array,
                      const sinter__row_span *spans, size_t span_count, sinter__extremes *out)
{
    static const uint8_t nothing = 0; /* where all texts are empty there may be no bytes */
    const stretch rows = {
        .valid = array->null_count == 0 ? NULL : array->buffers[0],
        .values = array->n_buffers > 1 ? array->buffers[1] : NULL,
        .bytes = array->n_buffers > 2 && array->buffers[2] != NULL ? array->buffers[2] : &nothing,
        .offset = array->offset,
        .spans = spans,
        .span_count = span_count};

    *out = (sinter__extremes){.least = -1, .greatest = -1, .nulls = count_nulls(&rows)};
    switch (cells->form) {
    case SINTER__CELL_BYTES:
        find_texts(&rows, out);
        break;
    case SINTER__CELL_DECIMAL:
        find_decimals(&rows, out);
        break;
    case SINTER__CELL_FIXED_BYTES:
    case SINTER__CELL_FIELDS:
    case SINTER__CELL_LIST:
    case SINTER__CELL_PAIRS:
        break;
    default:
        find_ranked(cells->form, &rows, out);
        break;
    }
    if (out->least >= 0) { /* rows as callers count them */
        out->least -= array->offset;
        out->greatest -= array->offset;
    }
}

int64_t
sinter__extremes_nulls(const struct ArrowArray *array, const sinter__row_span *spans,
                       size_t span_count)
{
    const stretch rows = {.valid = array->null_count == 0 ? NULL : array->buffers[0],
                          .offset = array->offset,
                          .spans = spans,
                          .span_count = span_count};

    return count_nulls(&rows);
}
