/*
 * Bloom filters:  u32 hash functions | bits, the lowest of a byte first
 *
 * The halves of a value's hash are h1 and h2; function i sets the bit of h1 + i * h2.
 */
#include <math.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "table/file_index_builder.h"

enum { HEAD_BYTES = 4 };

typedef struct bloom {
    sinter__index_builder base;
    const sinter_env *env;
    sinter__index_form form;
    uint32_t functions;
    uint32_t bits; /* a multiple of 8 */
    sinter__scratch filter;
} bloom;

static void
bloom_close(sinter__index_builder *base)
{
    bloom *self = (bloom *)base;

    sinter__scratch_fini(self->env, &self->filter);
    sinter__free(self->env, self);
}

static sinter_status
bloom_add(sinter__index_builder *base, const sinter__index_value *value, sinter_error *err)
{
    const bloom *self = (const bloom *)base;
    uint64_t hash = 0;

    (void)err;
    if (value == NULL) {
        return SINTER_OK;
    }
    hash = sinter__index_value_bloom_hash(self->form, value);
    for (uint32_t i = 1; i <= self->functions; i++) {
        const uint32_t both = (uint32_t)hash + i * (uint32_t)(hash >> 32);
        const uint32_t bit = (both > INT32_MAX ? ~both : both) % self->bits;

        self->filter.data[bit / 8] |= (uint8_t)(1u << (bit % 8));
    }
    return SINTER_OK;
}

static sinter_status
bloom_encode(sinter__index_builder *base, sinter__pile *out, sinter_error *err)
{
    const bloom *self = (const bloom *)base;
    uint8_t *to = NULL;

    SINTER__CHECK(sinter__index_room(self->env, out, HEAD_BYTES + self->bits / 8, &to, err));
    sinter__put_be32(to, self->functions);
    memcpy(to + HEAD_BYTES, self->filter.data, self->bits / 8);
    return SINTER_OK;
}

static sinter_status
measure(bloom *self, const sinter__file_index *index, sinter_error *err)
{
    const double ln2 = log(2);
    const double items = index->items;
    const double bits = -items * log(index->fpp) / (ln2 * ln2);

    if (bits >= INT32_MAX - 8) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a bloom filter of %g bits, 256 MiB are the limit", bits);
    }
    self->bits = (uint32_t)bits;
    self->bits += 8 - self->bits % 8;
    self->functions = (uint32_t)(self->bits / items * ln2 + 0.5);
    self->functions = self->functions == 0 ? 1 : self->functions;
    return SINTER_OK;
}

sinter_status
sinter__index_bloom_open(const sinter_env *env, const sinter__file_index *index,
                         sinter__index_builder **out, sinter_error *err)
{
    bloom *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->base = (sinter__index_builder){bloom_add, bloom_encode, bloom_close};
    self->env = env;
    self->form = sinter__index_form_of(&index->type);
    SINTER__TRY(measure(self, index, err));
    SINTER__TRY(sinter__scratch_fit(env, &self->filter, self->bits / 8, err));
    memset(self->filter.data, 0, self->bits / 8);
    *out = &self->base;
    self = NULL;
out:
    if (self != NULL) {
        bloom_close(&self->base);
    }
    return st;
}
