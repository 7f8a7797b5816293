/*
 * Bit slices of the ranks of values:
 *
 *   i32 bytes of the head
 *   head   u8 1 | i32 rows | i32 values | least | greatest | i32 bytes of the dictionary
 *   dictionary | slices
 *
 * The dictionary has the values in their order, in chunks of which the head has the first one:
 *
 *   i32 13 | u8 1 | i32 chunks | i32 bytes of places | i32 bytes of heads
 *   | i32 place of a head each | heads | keys
 *
 *   head   u8 1 | first value | i32 its rank | i32 place of the keys | i32 how many more
 *          | of values of one size: i32 bytes of keys | i32 size
 *          | of others: i32 bytes of offsets | i32 bytes of keys
 *   keys   i32 offset each, where sizes differ | the other values
 *
 * The slices:
 *
 *   i32 bytes of the head
 *   head   u8 1 | u8 bits | i32 bytes of the set of rows that have a value | i32 bytes of places
 *          | i32 place, i32 bytes of each set
 *   that set | a set of rows each bit
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "table/file_index_rows.h"
#include "table/file_index_words.h"

enum {
    VERSION = 1,
    INT_BYTES = 4,
    DICTIONARY_HEAD_BYTES = 13,
    SLICES_HEAD_BYTES = 10,
    NO_BITS = 64
};

typedef struct range {
    sinter__index_builder base;
    const sinter__file_index *index;
    sinter__index_words words;
} range;

static void
range_close(sinter__index_builder *base)
{
    range *self = (range *)base;
    const sinter_env *env = self->words.env;

    sinter__index_words_fini(&self->words);
    sinter__free(env, self);
}

static sinter_status
range_add(sinter__index_builder *base, const sinter__index_value *value, sinter_error *err)
{
    return sinter__index_words_add(&((range *)base)->words, value, err);
}

/* ---- the dictionary ---- */

/** A dictionary that is being written. */
typedef struct dictionary {
    const range *range;
    sinter__pile places;
    sinter__pile heads;
    sinter__pile offsets; /* of the chunk */
    sinter__pile values;  /* of the chunk, but the first */
    sinter__pile keys;    /* of all chunks before */
    uint32_t first;       /* rank of the chunk's first value */
    uint32_t more;        /* values of the chunk, but the first */
    uint32_t chunks;
} dictionary;

static bool
has_offsets(const range *self)
{
    return self->words.form == SINTER__INDEX_BYTES;
}

/* End the chunk, if there is one. */
static sinter_status
end_chunk(dictionary *self, const uint32_t *order, sinter_error *err)
{
    const range *whole = self->range;
    const sinter_env *env = whole->words.env;
    const sinter__index_value first = sinter__index_words_get(&whole->words, order[self->first]);
    const size_t size = sinter__index_value_size(whole->words.form, &first);
    const bool varies = has_offsets(whole);

    SINTER__CHECK(sinter__index_put_int(env, &self->places, self->heads.size, err));
    SINTER__CHECK(sinter__index_put_byte(env, &self->heads, VERSION, err));
    SINTER__CHECK(sinter__index_words_put(&whole->words, order[self->first], &self->heads, err));
    SINTER__CHECK(sinter__index_put_int(env, &self->heads, self->first, err));
    SINTER__CHECK(sinter__index_put_int(env, &self->heads, self->keys.size, err));
    SINTER__CHECK(sinter__index_put_int(env, &self->heads, self->more, err));
    SINTER__CHECK(sinter__index_put_int(env, &self->heads,
                                        varies ? self->offsets.size : self->values.size, err));
    SINTER__CHECK(sinter__index_put_int(env, &self->heads, varies ? self->values.size : size, err));
    SINTER__CHECK(sinter__index_append(env, &self->keys, &self->offsets, err));
    SINTER__CHECK(sinter__index_append(env, &self->keys, &self->values, err));
    self->offsets.size = 0;
    self->values.size = 0;
    self->more = 0;
    self->chunks++;
    return SINTER_OK;
}

/* Does a value still go into the chunk? */
static bool
has_room(const dictionary *self, uint32_t word)
{
    const range *whole = self->range;
    const sinter__index_value value = sinter__index_words_get(&whole->words, word);
    const size_t limit = whole->index->stretch_bytes;

    return self->values.size + sinter__index_value_size(whole->words.form, &value) <= limit &&
           (!has_offsets(whole) || self->offsets.size + INT_BYTES <= limit);
}

static sinter_status
add_value(dictionary *self, uint32_t word, sinter_error *err)
{
    const range *whole = self->range;

    if (has_offsets(whole)) {
        SINTER__CHECK(
            sinter__index_put_int(whole->words.env, &self->offsets, self->values.size, err));
    }
    self->more++;
    return sinter__index_words_put(&whole->words, word, &self->values, err);
}

static sinter_status
fill(dictionary *self, const uint32_t *order, sinter_error *err)
{
    const uint32_t count = self->range->words.count;

    for (uint32_t rank = 1; rank < count; rank++) {
        if (has_room(self, order[rank])) {
            SINTER__CHECK(add_value(self, order[rank], err));
        } else {
            SINTER__CHECK(end_chunk(self, order, err));
            self->first = rank;
        }
    }
    return count == 0 ? SINTER_OK : end_chunk(self, order, err);
}

static sinter_status
put_dictionary(const dictionary *self, sinter__pile *out, sinter_error *err)
{
    const sinter_env *env = self->range->words.env;

    SINTER__CHECK(sinter__index_put_int(env, out, DICTIONARY_HEAD_BYTES, err));
    SINTER__CHECK(sinter__index_put_byte(env, out, VERSION, err));
    SINTER__CHECK(sinter__index_put_int(env, out, self->chunks, err));
    SINTER__CHECK(sinter__index_put_int(env, out, self->places.size, err));
    SINTER__CHECK(sinter__index_put_int(env, out, self->heads.size, err));
    SINTER__CHECK(sinter__index_append(env, out, &self->places, err));
    SINTER__CHECK(sinter__index_append(env, out, &self->heads, err));
    return sinter__index_append(env, out, &self->keys, err);
}

static void
dictionary_fini(dictionary *self)
{
    const sinter_env *env = self->range->words.env;

    sinter__pile_fini(env, &self->places);
    sinter__pile_fini(env, &self->heads);
    sinter__pile_fini(env, &self->offsets);
    sinter__pile_fini(env, &self->values);
    sinter__pile_fini(env, &self->keys);
}

/* Append the head of the whole and the dictionary. */
static sinter_status
put_words(const range *self, const uint32_t *order, sinter__pile *out, sinter_error *err)
{
    const sinter_env *env = self->words.env;
    dictionary words = {.range = self};
    sinter__pile head = {.size = 0};
    const uint32_t count = self->words.count;
    size_t bytes = 0;
    sinter_status st = SINTER_OK;

    SINTER__TRY(fill(&words, order, err));
    bytes =
        INT_BYTES + DICTIONARY_HEAD_BYTES + words.places.size + words.heads.size + words.keys.size;
    SINTER__TRY(sinter__index_put_byte(env, &head, VERSION, err));
    SINTER__TRY(sinter__index_put_int(env, &head, self->words.rows, err));
    SINTER__TRY(sinter__index_put_int(env, &head, count, err));
    if (count > 0) {
        SINTER__TRY(sinter__index_words_put(&self->words, order[0], &head, err));
        SINTER__TRY(sinter__index_words_put(&self->words, order[count - 1], &head, err));
    }
    SINTER__TRY(sinter__index_put_int(env, &head, bytes, err));
    SINTER__TRY(sinter__index_put_int(env, out, head.size, err));
    SINTER__TRY(sinter__index_append(env, out, &head, err));
    SINTER__TRY(put_dictionary(&words, out, err));
out:
    sinter__pile_fini(env, &head);
    dictionary_fini(&words);
    return st;
}

/* ---- slices ---- */

/** The rank of each row's value. */
typedef struct ranked {
    const sinter__index_words *words;
    const uint32_t *ranks; /* by word */
} ranked;

static bool
rank_of(const void *ctx, uint32_t row, uint64_t *out)
{
    const ranked *self = ctx;
    const uint32_t word = sinter__index_words_of_row(self->words, row);

    *out = word == SINTER__NO_WORD ? 0 : self->ranks[word];
    return word != SINTER__NO_WORD;
}

static sinter_status
put_slices(const range *self, const uint32_t *ranks, sinter__pile *out, sinter_error *err)
{
    const sinter_env *env = self->words.env;
    const ranked numbers = {&self->words, ranks};
    const sinter__index_slices slices = {self->words.rows, rank_of, &numbers};
    const uint32_t count = self->words.count;
    const unsigned bits = count == 0   ? NO_BITS /* as the reference has it */
                          : count == 1 ? 1
                                       : sinter__index_bits(count - 1);
    const size_t places_bytes = (size_t)2 * INT_BYTES * bits;
    sinter__pile places = {.size = 0};
    sinter__pile sets = {.size = 0};
    size_t all_bytes = 0;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__index_slices_put_all(env, &slices, &sets, err));
    all_bytes = sets.size;
    for (unsigned bit = 0; bit < bits; bit++) {
        const size_t before = sets.size;

        SINTER__TRY(sinter__index_slices_put(env, &slices, bit, &sets, err));
        SINTER__TRY(sinter__index_put_int(env, &places, before - all_bytes, err));
        SINTER__TRY(sinter__index_put_int(env, &places, sets.size - before, err));
    }
    assert(places.size == places_bytes);
    SINTER__TRY(sinter__index_put_int(env, out, SLICES_HEAD_BYTES + places_bytes, err));
    SINTER__TRY(sinter__index_put_byte(env, out, VERSION, err));
    SINTER__TRY(sinter__index_put_byte(env, out, bits, err));
    SINTER__TRY(sinter__index_put_int(env, out, all_bytes, err));
    SINTER__TRY(sinter__index_put_int(env, out, places_bytes, err));
    SINTER__TRY(sinter__index_append(env, out, &places, err));
    SINTER__TRY(sinter__index_append(env, out, &sets, err));
out:
    sinter__pile_fini(env, &places);
    sinter__pile_fini(env, &sets);
    return st;
}

static sinter_status
range_encode(sinter__index_builder *base, sinter__pile *out, sinter_error *err)
{
    const range *self = (const range *)base;
    const sinter_env *env = self->words.env;
    const uint32_t count = self->words.count;
    sinter__scratch memory = {.data = NULL};
    uint32_t *order = NULL;
    uint32_t *ranks = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__scratch_fit(env, &memory, ((size_t)count + 1) * 2 * sizeof *order, err));
    order = (uint32_t *)(void *)memory.data;
    ranks = order + count;
    SINTER__TRY(sinter__index_words_sort(&self->words, order, err));
    for (uint32_t i = 0; i < count; i++) {
        ranks[order[i]] = i;
    }
    SINTER__TRY(put_words(self, order, out, err));
    SINTER__TRY(put_slices(self, ranks, out, err));
out:
    sinter__scratch_fini(env, &memory);
    return st;
}

sinter_status
sinter__index_range_open(const sinter_env *env, const sinter__file_index *index,
                         sinter__index_builder **out, sinter_error *err)
{
    range *self = NULL;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->base = (sinter__index_builder){range_add, range_encode, range_close};
    self->index = index;
    self->words.env = env;
    self->words.form = sinter__index_form_of(&index->type);
    *out = &self->base;
    return SINTER_OK;
}
