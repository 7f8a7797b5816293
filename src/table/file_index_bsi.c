/*
 * Bit slices of numbers:
 *
 *   u8 1 | i32 rows
 *   | u8 has numbers from 0 on | slices of them
 *   | u8 has numbers below | slices of those without sign
 *
 * Slices, of numbers that have 0 as the least, whatever they are:
 *
 *   u8 1 | i64 0 | i64 largest | rows that have one
 *   | i32 bits | rows with bit 0 | rows with bit 1 ...
 */
#include <string.h>

#include "base/alloc.h"
#include "table/file_index_rows.h"

enum { VERSION = 1 };

typedef struct bsi {
    sinter__index_builder base;
    const sinter_env *env;
    sinter__pile numbers;  /* int64_t a row */
    sinter__pile presence; /* a byte a row: 0 is null */
    uint32_t rows;
    uint64_t largest[2]; /* of numbers from 0 on, and of those below without sign */
    uint32_t counts[2];
} bsi;

static void
bsi_close(sinter__index_builder *base)
{
    bsi *self = (bsi *)base;

    sinter__pile_fini(self->env, &self->numbers);
    sinter__pile_fini(self->env, &self->presence);
    sinter__free(self->env, self);
}

static sinter_status
bsi_add(sinter__index_builder *base, const sinter__index_value *value, sinter_error *err)
{
    bsi *self = (bsi *)base;
    const int64_t number = value == NULL ? 0 : value->number;
    const uint8_t is_there = value != NULL;
    const unsigned side = number < 0;
    const uint64_t size = side == 0 ? (uint64_t)number : 0 - (uint64_t)number;

    if (self->rows == SINTER__INDEX_ROWS_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "more rows than an index can hold");
    }
    if (size > INT64_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "%lld has no sign-free form of 63 bits",
                           (long long)number);
    }
    SINTER__CHECK(sinter__pile_append(self->env, &self->numbers, &number, sizeof number, err));
    SINTER__CHECK(sinter__pile_append(self->env, &self->presence, &is_there, 1, err));
    self->rows++;
    if (value != NULL) {
        self->counts[side]++;
        self->largest[side] = size > self->largest[side] ? size : self->largest[side];
    }
    return SINTER_OK;
}

static int64_t
number_at(const bsi *self, uint32_t row)
{
    int64_t number = 0;

    memcpy(&number, self->numbers.memory.data + (size_t)row * sizeof number, sizeof number);
    return number;
}

static bool
positive_of(const void *ctx, uint32_t row, uint64_t *out)
{
    const bsi *self = ctx;
    const int64_t number = number_at(self, row);

    *out = (uint64_t)number;
    return self->presence.memory.data[row] != 0 && number >= 0;
}

static bool
negative_of(const void *ctx, uint32_t row, uint64_t *out)
{
    const bsi *self = ctx;
    const int64_t number = number_at(self, row);

    *out = 0 - (uint64_t)number;
    return self->presence.memory.data[row] != 0 && number < 0;
}

static sinter_status
put_side(const bsi *self, unsigned side, sinter__pile *out, sinter_error *err)
{
    const sinter_env *env = self->env;
    const sinter__index_slices slices = {
        .rows = self->rows, .number_of = side == 0 ? positive_of : negative_of, .ctx = self};
    const unsigned bits = sinter__index_bits(self->largest[side]);

    SINTER__CHECK(sinter__index_put_byte(env, out, self->counts[side] > 0, err));
    if (self->counts[side] == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__index_put_byte(env, out, VERSION, err));
    SINTER__CHECK(sinter__index_put_long(env, out, 0, err));
    SINTER__CHECK(sinter__index_put_long(env, out, (int64_t)self->largest[side], err));
    SINTER__CHECK(sinter__index_slices_put_all(env, &slices, out, err));
    SINTER__CHECK(sinter__index_put_int(env, out, bits, err));
    for (unsigned bit = 0; bit < bits; bit++) {
        SINTER__CHECK(sinter__index_slices_put(env, &slices, bit, out, err));
    }
    return SINTER_OK;
}

static sinter_status
bsi_encode(sinter__index_builder *base, sinter__pile *out, sinter_error *err)
{
    const bsi *self = (const bsi *)base;

    SINTER__CHECK(sinter__index_put_byte(self->env, out, VERSION, err));
    SINTER__CHECK(sinter__index_put_int(self->env, out, self->rows, err));
    SINTER__CHECK(put_side(self, 0, out, err));
    return put_side(self, 1, out, err);
}

sinter_status
sinter__index_bsi_open(const sinter_env *env, const sinter__file_index *index,
                       sinter__index_builder **out, sinter_error *err)
{
    bsi *self = NULL;

    (void)index;
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->base = (sinter__index_builder){bsi_add, bsi_encode, bsi_close};
    self->env = env;
    *out = &self->base;
    return SINTER_OK;
}
