/*
 * Bitmaps of values. Version 1:
 *
 *   u8 1 | i32 rows | i32 values | u8 has nulls | i32 place of the nulls, where there are any
 *   | value, i32 place each | sets of rows
 *
 * A place is where the set stands, counted from the first one, or -1 - row where it has one row,
 * and then it isn't there. Version 2, sorted and in blocks of some bytes:
 *
 *   u8 2 | i32 rows | i32 values | u8 has nulls
 *   | i32 place and i32 bytes of the nulls, where there are any
 *   | i32 blocks | first value, i32 place of the block each | i32 bytes of blocks | blocks
 *   | sets of rows
 *
 *   block   i32 values | value, i32 place, i32 bytes, or -1 each
 *
 * Sets stand in the order in which Java walks the HashMap of the values.
 */
#include <string.h>

#include "base/alloc.h"
#include "table/file_index_rows.h"
#include "table/file_index_words.h"

enum { VERSION_BLOCKS = 2, INT_BYTES = 4 };

typedef struct bitmap {
    sinter__index_builder base;
    const sinter__file_index *index;
    sinter__index_words words;
} bitmap;

/** Where the set of a word is. */
typedef struct place {
    int32_t at;
    int32_t bytes; /* -1: it isn't there */
} place;

/** An index that is being written. */
typedef struct layout {
    const bitmap *index;
    sinter__scratch memory; /* of the four that follow */
    uint32_t *order;        /* of words */
    place *places;          /* by word */
    uint32_t *ends;         /* by word: its last row's place in `rows`, and 1 */
    uint32_t *rows;         /* by word, those that are null behind all */
    place nulls;
    sinter__pile sets;
} layout;

static void
bitmap_close(sinter__index_builder *base)
{
    bitmap *self = (bitmap *)base;
    const sinter_env *env = self->words.env;

    sinter__index_words_fini(&self->words);
    sinter__free(env, self);
}

static sinter_status
bitmap_add(sinter__index_builder *base, const sinter__index_value *value, sinter_error *err)
{
    return sinter__index_words_add(&((bitmap *)base)->words, value, err);
}

/* ---- sets of rows ---- */

/* Sort rows by word. */
static void
sort_rows(layout *self)
{
    const sinter__index_words *words = &self->index->words;
    uint32_t at = 0;
    uint32_t null_at = words->rows - words->nulls;

    for (uint32_t i = 0; i < words->count; i++) {
        self->ends[i] = at;
        at += sinter__index_words_rows(words, i);
    }
    for (uint32_t row = 0; row < words->rows; row++) {
        const uint32_t word = sinter__index_words_of_row(words, row);

        self->rows[word == SINTER__NO_WORD ? null_at++ : self->ends[word]++] = row;
    }
}

static sinter_status
put_set(layout *self, const uint32_t *rows, uint32_t count, place *out, sinter_error *err)
{
    const size_t before = self->sets.size;

    if (count == 1) {
        *out = (place){-1 - (int32_t)rows[0], -1};
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__index_row_list_put(self->index->words.env, rows, count, &self->sets, err));
    *out = (place){(int32_t)before, (int32_t)(self->sets.size - before)};
    return SINTER_OK;
}

/* The set of nulls has a length even where it isn't there. */
static sinter_status
put_nulls(layout *self, sinter_error *err)
{
    const sinter__index_words *words = &self->index->words;
    const uint32_t *rows = self->rows + (words->rows - words->nulls);
    sinter__pile alone = {.size = 0};
    sinter_status st = SINTER_OK;

    if (words->nulls != 1) {
        return words->nulls == 0 ? SINTER_OK : put_set(self, rows, words->nulls, &self->nulls, err);
    }
    st = sinter__index_row_list_put(words->env, rows, 1, &alone, err);
    self->nulls = (place){-1 - (int32_t)rows[0], (int32_t)alone.size};
    sinter__pile_fini(words->env, &alone);
    return st;
}

static sinter_status
make_sets(layout *self, sinter_error *err)
{
    const sinter__index_words *words = &self->index->words;

    sort_rows(self);
    SINTER__CHECK(sinter__index_words_java_order(words, self->order, err));
    SINTER__CHECK(put_nulls(self, err));
    for (uint32_t i = 0; i < words->count; i++) {
        const uint32_t word = self->order[i];
        const uint32_t count = sinter__index_words_rows(words, word);

        SINTER__CHECK(put_set(self, self->rows + (self->ends[word] - count), count,
                              &self->places[word], err));
    }
    return SINTER_OK;
}

/* ---- what stands before them ---- */

static sinter_status
put_head(const layout *self, sinter__pile *out, sinter_error *err)
{
    const sinter__index_words *words = &self->index->words;
    const sinter_env *env = words->env;
    const int32_t version = self->index->index->version;

    SINTER__CHECK(sinter__index_put_byte(env, out, (unsigned)version, err));
    SINTER__CHECK(sinter__index_put_int(env, out, words->rows, err));
    SINTER__CHECK(sinter__index_put_int(env, out, words->count, err));
    SINTER__CHECK(sinter__index_put_byte(env, out, words->nulls > 0, err));
    if (words->nulls > 0) {
        SINTER__CHECK(sinter__index_put_int(env, out, (uint32_t)self->nulls.at, err));
    }
    return words->nulls > 0 && version == VERSION_BLOCKS
               ? sinter__index_put_int(env, out, (uint32_t)self->nulls.bytes, err)
               : SINTER_OK;
}

/* Version 1: all values. */
static sinter_status
put_list(const layout *self, sinter__pile *out, sinter_error *err)
{
    const sinter__index_words *words = &self->index->words;

    for (uint32_t i = 0; i < words->count; i++) {
        const uint32_t word = self->order[i];

        SINTER__CHECK(sinter__index_words_put(words, word, out, err));
        SINTER__CHECK(sinter__index_put_int(words->env, out, (uint32_t)self->places[word].at, err));
    }
    return SINTER_OK;
}

/* How many of the values from `first` on go into a block, and its bytes. */
static sinter_status
measure_block(const layout *self, uint32_t first, uint32_t *count_out, size_t *bytes_out,
              sinter_error *err)
{
    const sinter__index_words *words = &self->index->words;
    const size_t limit = self->index->index->stretch_bytes;
    size_t bytes = INT_BYTES;
    uint32_t count = 0;

    while (first + count < words->count) {
        const sinter__index_value value =
            sinter__index_words_get(words, self->order[first + count]);
        const size_t more = 2 * (size_t)INT_BYTES + sinter__index_value_size(words->form, &value);

        if (bytes + more > limit) {
            break;
        }
        bytes += more;
        count++;
    }
    *count_out = count;
    *bytes_out = bytes;
    return count > 0 ? SINTER_OK
                     : SINTER__ERR(err, SINTER_E_TOO_LARGE,
                                   "a value has no room in a block of %zu bytes "
                                   "(index-block-size)",
                                   limit);
}

static sinter_status
put_block(const layout *self, uint32_t first, uint32_t count, sinter__pile *out, sinter_error *err)
{
    const sinter_env *env = self->index->words.env;

    SINTER__CHECK(sinter__index_put_int(env, out, count, err));
    for (uint32_t i = first; i < first + count; i++) {
        const place *set = &self->places[self->order[i]];

        SINTER__CHECK(sinter__index_words_put(&self->index->words, self->order[i], out, err));
        SINTER__CHECK(sinter__index_put_int(env, out, (uint32_t)set->at, err));
        SINTER__CHECK(sinter__index_put_int(env, out, (uint32_t)set->bytes, err));
    }
    return SINTER_OK;
}

/* Version 2: sorted values in blocks, and where these are. */
static sinter_status
put_blocks(layout *self, sinter__pile *out, sinter_error *err)
{
    const sinter__index_words *words = &self->index->words;
    const sinter_env *env = words->env;
    sinter__pile places = {.size = 0};
    sinter__pile blocks = {.size = 0};
    uint32_t block_count = 0;
    uint32_t count = 0;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__index_words_sort(words, self->order, err));
    for (uint32_t first = 0; first < words->count; first += count, block_count++) {
        size_t bytes = 0;

        SINTER__TRY(measure_block(self, first, &count, &bytes, err));
        SINTER__TRY(sinter__index_words_put(words, self->order[first], &places, err));
        SINTER__TRY(sinter__index_put_int(env, &places, blocks.size, err));
        SINTER__TRY(put_block(self, first, count, &blocks, err));
    }
    SINTER__TRY(sinter__index_put_int(env, out, block_count, err));
    SINTER__TRY(sinter__index_append(env, out, &places, err));
    SINTER__TRY(sinter__index_put_int(env, out, blocks.size, err));
    SINTER__TRY(sinter__index_append(env, out, &blocks, err));
out:
    sinter__pile_fini(env, &places);
    sinter__pile_fini(env, &blocks);
    return st;
}

static sinter_status
bitmap_encode(sinter__index_builder *base, sinter__pile *out, sinter_error *err)
{
    const bitmap *index = (const bitmap *)base;
    const sinter__index_words *words = &index->words;
    const sinter_env *env = words->env;
    const size_t count = words->count;
    layout self = {.index = index};
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__scratch_fit(
        env, &self.memory,
        count * sizeof *self.places + (2 * count + words->rows + 1) * sizeof *self.rows, err));
    self.places = (place *)(void *)self.memory.data;
    self.order = (uint32_t *)(void *)(self.places + count);
    self.ends = self.order + count;
    self.rows = self.ends + count;
    SINTER__TRY(make_sets(&self, err));
    SINTER__TRY(put_head(&self, out, err));
    SINTER__TRY(index->index->version == VERSION_BLOCKS ? put_blocks(&self, out, err)
                                                        : put_list(&self, out, err));
    SINTER__TRY(sinter__index_append(env, out, &self.sets, err));
out:
    sinter__pile_fini(env, &self.sets);
    sinter__scratch_fini(env, &self.memory);
    return st;
}

sinter_status
sinter__index_bitmap_open(const sinter_env *env, const sinter__file_index *index,
                          sinter__index_builder **out, sinter_error *err)
{
    bitmap *self = NULL;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->base = (sinter__index_builder){bitmap_add, bitmap_encode, bitmap_close};
    self->index = index;
    self->words.env = env;
    self->words.form = sinter__index_form_of(&index->type);
    *out = &self->base;
    return SINTER_OK;
}
