/*
 * Chunks, and changing them. A chunk that outgrows its form is spread out to bits on the stack and
 * made anew in the form that is smallest then; one of bits stays so. bitmap_codec.c writes and
 * reads.
 */
#include "base/bitmap.h"

#include <assert.h>

#include "base/bitmap_priv.h"
#include "base/bytes.h"

enum { LIST_FIRST = 4, DATA_BYTES_FIRST = 8 };

/* ---- looking ---- */

static uint32_t
find_value(const uint16_t *values, uint32_t count, uint32_t value)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (values[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first run that ends at or behind the value. */
static uint32_t
find_run(const sinter__chunk_run *runs, uint32_t count, uint32_t value)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (runs[middle].last < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first chunk whose key isn't below this one. */
static uint32_t
find_chunk(const sinter__bitmap *self, uint32_t key)
{
    uint32_t low = 0;
    uint32_t high = self->chunk_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (self->chunks[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first bit from `from` on that is `flip` ? clear : set; CHUNK_NUMBERS: there is none. */
static uint32_t
find_bit(const uint64_t *words, uint32_t from, uint64_t flip)
{
    uint32_t at = from / 64;
    uint64_t word = 0;

    if (from >= SINTER__CHUNK_NUMBERS) {
        return SINTER__CHUNK_NUMBERS;
    }
    word = (words[at] ^ flip) & (UINT64_MAX << (from % 64));
    while (word == 0) {
        if (++at == SINTER__CHUNK_WORDS) {
            return SINTER__CHUNK_NUMBERS;
        }
        word = words[at] ^ flip;
    }
    return at * 64 + (uint32_t)__builtin_ctzll(word);
}

bool
sinter__words_next(const uint64_t *words, uint32_t from, sinter__chunk_run *out)
{
    const uint32_t first = find_bit(words, from, 0);

    if (first == SINTER__CHUNK_NUMBERS) {
        return false;
    }
    out->first = (uint16_t)first;
    out->last = (uint16_t)(find_bit(words, first, UINT64_MAX) - 1);
    return true;
}

static bool
next_value(const sinter__bitmap_chunk *chunk, uint32_t from, sinter__chunk_run *out)
{
    const uint16_t *values = chunk->data;
    uint32_t at = find_value(values, chunk->used, from);

    if (at == chunk->used) {
        return false;
    }
    out->first = values[at];
    while (at + 1 < chunk->used && values[at + 1] == values[at] + 1) {
        at++;
    }
    out->last = values[at];
    return true;
}

static bool
next_run(const sinter__bitmap_chunk *chunk, uint32_t from, sinter__chunk_run *out)
{
    const sinter__chunk_run *runs = chunk->data;
    const uint32_t at = find_run(runs, chunk->used, from);

    if (at == chunk->used) {
        return false;
    }
    *out = runs[at];
    out->first = out->first < from ? (uint16_t)from : out->first;
    return true;
}

bool
sinter__chunk_next(const sinter__bitmap_chunk *chunk, uint32_t from, sinter__chunk_run *out)
{
    assert(chunk->count > 0);
    if (from >= SINTER__CHUNK_NUMBERS) {
        return false;
    }
    switch (chunk->form) {
    case SINTER__CHUNK_VALUES:
        return next_value(chunk, from, out);
    case SINTER__CHUNK_RUNS:
        return next_run(chunk, from, out);
    default:
        return sinter__words_next(chunk->data, from, out);
    }
}

static bool
chunk_contains(const sinter__bitmap_chunk *chunk, uint32_t value)
{
    const uint64_t *words = chunk->data;
    sinter__chunk_run run;

    if (chunk->form == SINTER__CHUNK_BITS) {
        return (words[value / 64] >> (value % 64) & 1) != 0;
    }
    return sinter__chunk_next(chunk, value, &run) && run.first == value;
}

bool
sinter__bitmap_contains(const sinter__bitmap *bitmap, uint32_t number)
{
    const uint32_t key = number >> 16;
    const uint32_t at = find_chunk(bitmap, key);

    return at < bitmap->chunk_count && bitmap->chunks[at].key == key &&
           chunk_contains(&bitmap->chunks[at], number & 0xffff);
}

bool
sinter__bitmap_next(const sinter__bitmap *bitmap, uint32_t from, sinter__bitmap_run *out)
{
    const uint32_t key = from >> 16;
    sinter__chunk_run run;

    for (uint32_t i = find_chunk(bitmap, key); i < bitmap->chunk_count; i++) {
        const sinter__bitmap_chunk *chunk = &bitmap->chunks[i];

        if (sinter__chunk_next(chunk, chunk->key == key ? from & 0xffff : 0, &run)) {
            out->first = (uint32_t)chunk->key << 16 | run.first;
            out->last = (uint32_t)chunk->key << 16 | run.last;
            return true;
        }
    }
    return false;
}

uint32_t
sinter__bitmap_last(const sinter__bitmap *bitmap)
{
    const sinter__bitmap_chunk *chunk = NULL;
    uint32_t at = SINTER__CHUNK_WORDS - 1;

    assert(bitmap->chunk_count > 0);
    chunk = &bitmap->chunks[bitmap->chunk_count - 1];
    if (chunk->form == SINTER__CHUNK_VALUES) {
        return (uint32_t)chunk->key << 16 | ((const uint16_t *)chunk->data)[chunk->used - 1];
    }
    if (chunk->form == SINTER__CHUNK_RUNS) {
        return (uint32_t)chunk->key << 16 |
               ((const sinter__chunk_run *)chunk->data)[chunk->used - 1].last;
    }
    while (((const uint64_t *)chunk->data)[at] == 0) {
        at--;
    }
    return (uint32_t)chunk->key << 16 |
           (at * 64 + 63 - (uint32_t)__builtin_clzll(((const uint64_t *)chunk->data)[at]));
}

/* ---- memory ---- */

sinter_status
sinter__chunk_resize(const sinter_env *env, sinter__bitmap_chunk *chunk, uint32_t bytes,
                     sinter_error *err)
{
    const uint32_t more = bytes - chunk->capacity;
    sinter_status st = SINTER_OK;

    assert(bytes >= chunk->capacity);
    SINTER__CHECK(sinter_memory_reserve(env->memory, more, err));
    st = sinter__resize(env, &chunk->data, bytes, 1, err);
    if (st != SINTER_OK) {
        sinter_memory_release(env->memory, more);
        return st;
    }
    chunk->capacity = bytes;
    return SINTER_OK;
}

static void
chunk_fini(const sinter_env *env, sinter__bitmap_chunk *chunk)
{
    sinter__free(env, chunk->data);
    sinter_memory_release(env->memory, chunk->capacity);
}

sinter_status
sinter__bitmap_fit_list(sinter__bitmap *self, uint32_t capacity, sinter_error *err)
{
    const uint64_t more =
        (uint64_t)(capacity - self->chunk_capacity) * sizeof(sinter__bitmap_chunk);
    sinter_status st = SINTER_OK;

    assert(capacity >= self->chunk_capacity && capacity <= SINTER__BITMAP_CHUNKS_MAX);
    SINTER__CHECK(sinter_memory_reserve(self->env->memory, more, err));
    st = sinter__resize(self->env, (void **)&self->chunks, capacity, sizeof *self->chunks, err);
    if (st != SINTER_OK) {
        sinter_memory_release(self->env->memory, more);
        return st;
    }
    self->chunk_capacity = capacity;
    return SINTER_OK;
}

void
sinter__bitmap_fini(sinter__bitmap *bitmap)
{
    const sinter_env *env = bitmap->env;

    for (uint32_t i = 0; i < bitmap->chunk_count; i++) {
        chunk_fini(env, &bitmap->chunks[i]);
    }
    sinter__free(env, bitmap->chunks);
    sinter_memory_release(env->memory,
                          (uint64_t)bitmap->chunk_capacity * sizeof(sinter__bitmap_chunk));
    *bitmap = (sinter__bitmap){.env = env};
}

/* ---- changing ---- */

/* Put a chunk into the list, which takes its data. */
static sinter_status
insert_chunk(sinter__bitmap *self, uint32_t at, const sinter__bitmap_chunk *chunk,
             sinter_error *err)
{
    uint32_t capacity = self->chunk_capacity;

    if (self->chunk_count == capacity) {
        capacity = capacity == 0 ? LIST_FIRST : capacity * 2;
        SINTER__CHECK(sinter__bitmap_fit_list(self, capacity, err));
    }
    memmove(&self->chunks[at + 1], &self->chunks[at],
            (self->chunk_count - at) * sizeof *self->chunks);
    self->chunks[at] = *chunk;
    self->chunk_count++;
    return SINTER_OK;
}

static void
set_bits(uint64_t *words, sinter__chunk_run run)
{
    const uint32_t begin = run.first / 64;
    const uint32_t end = run.last / 64;
    const uint64_t head = UINT64_MAX << (run.first % 64);
    const uint64_t tail = UINT64_MAX >> (63 - run.last % 64);

    if (begin == end) {
        words[begin] |= head & tail;
        return;
    }
    words[begin] |= head;
    for (uint32_t i = begin + 1; i < end; i++) {
        words[i] = UINT64_MAX;
    }
    words[end] |= tail;
}

/* Set the bits of a chunk's numbers beside those that are set. */
static void
spread(const sinter__bitmap_chunk *chunk, uint64_t *words)
{
    sinter__chunk_run run;

    if (chunk->form == SINTER__CHUNK_BITS) {
        for (uint32_t i = 0; i < SINTER__CHUNK_WORDS; i++) {
            words[i] |= ((const uint64_t *)chunk->data)[i];
        }
        return;
    }
    for (uint32_t from = 0; sinter__chunk_next(chunk, from, &run); from = run.last + 1u) {
        set_bits(words, run);
    }
}

/* Write the numbers of `words` in the chunk's form. */
static void
fill(sinter__bitmap_chunk *chunk, const uint64_t *words)
{
    sinter__chunk_run run;

    chunk->used = 0;
    if (chunk->form == SINTER__CHUNK_BITS) {
        memcpy(chunk->data, words, SINTER__CHUNK_BITS_BYTES);
        return;
    }
    for (uint32_t from = 0; sinter__words_next(words, from, &run); from = run.last + 1u) {
        if (chunk->form == SINTER__CHUNK_RUNS) {
            ((sinter__chunk_run *)chunk->data)[chunk->used++] = run;
            continue;
        }
        for (uint32_t value = run.first; value <= run.last; value++) {
            ((uint16_t *)chunk->data)[chunk->used++] = (uint16_t)value;
        }
    }
}

/* Make a chunk anew of bits, in the form that is smallest. Unchanged after a failure. */
static sinter_status
rebuild(sinter__bitmap *self, sinter__bitmap_chunk *chunk, const uint64_t *words, bool was_runs,
        sinter_error *err)
{
    sinter__bitmap_chunk made = {.key = chunk->key};
    uint32_t runs = 0;
    uint32_t bytes = SINTER__CHUNK_BITS_BYTES;

    for (uint32_t i = 0; i < SINTER__CHUNK_WORDS; i++) {
        made.count += (uint32_t)__builtin_popcountll(words[i]);
    }
    runs = sinter__words_runs(words);
    made.form = (uint8_t)sinter__chunk_best_form(made.count, runs, was_runs);
    made.was_runs = was_runs && made.form == SINTER__CHUNK_RUNS;
    if (made.form == SINTER__CHUNK_VALUES) {
        bytes = made.count * (uint32_t)sizeof(uint16_t);
    } else if (made.form == SINTER__CHUNK_RUNS) {
        bytes = runs * (uint32_t)sizeof(sinter__chunk_run);
    }
    SINTER__CHECK(sinter__chunk_resize(self->env, &made, bytes, err));
    fill(&made, words);
    self->count += made.count - chunk->count;
    chunk_fini(self->env, chunk);
    *chunk = made;
    return SINTER_OK;
}

/* Add a value to a chunk whose form has no more room for it. */
static sinter_status
outgrow(sinter__bitmap *self, sinter__bitmap_chunk *chunk, uint16_t value, sinter_error *err)
{
    uint64_t words[SINTER__CHUNK_WORDS] = {0};

    spread(chunk, words);
    set_bits(words, (sinter__chunk_run){value, value});
    return rebuild(self, chunk, words, chunk->was_runs, err);
}

/* Room for one more item of `size` bytes at `at`; the items behind move. */
static sinter_status
open_gap(const sinter_env *env, sinter__bitmap_chunk *chunk, size_t at, size_t size,
         sinter_error *err)
{
    uint8_t *items = NULL;

    if ((chunk->used + 1u) * size > chunk->capacity) {
        SINTER__CHECK(sinter__chunk_resize(
            env, chunk, chunk->capacity == 0 ? DATA_BYTES_FIRST : chunk->capacity * 2, err));
    }
    items = chunk->data;
    memmove(items + (at + 1) * size, items + at * size, (chunk->used - at) * size);
    chunk->used++;
    return SINTER_OK;
}

static sinter_status
add_value(sinter__bitmap *self, sinter__bitmap_chunk *chunk, uint16_t value, sinter_error *err)
{
    const uint32_t at = find_value(chunk->data, chunk->used, value);

    if (chunk->used == SINTER__CHUNK_VALUES_MAX) {
        return outgrow(self, chunk, value, err);
    }
    SINTER__CHECK(open_gap(self->env, chunk, at, sizeof value, err));
    ((uint16_t *)chunk->data)[at] = value;
    chunk->count++;
    self->count++;
    return SINTER_OK;
}

static sinter_status
add_to_runs(sinter__bitmap *self, sinter__bitmap_chunk *chunk, uint16_t value, sinter_error *err)
{
    sinter__chunk_run *runs = chunk->data;
    const uint32_t at = find_run(runs, chunk->used, value);
    const bool joins_left = at > 0 && runs[at - 1].last + 1 == value;
    const bool joins_right = at < chunk->used && runs[at].first == value + 1;

    if (joins_left && joins_right) {
        runs[at - 1].last = runs[at].last;
        memmove(&runs[at], &runs[at + 1], (chunk->used - at - 1) * sizeof *runs);
        chunk->used--;
    } else if (joins_left) {
        runs[at - 1].last = value;
    } else if (joins_right) {
        runs[at].first = value;
    } else if (chunk->used >= SINTER__CHUNK_RUNS_MAX) {
        return outgrow(self, chunk, value, err);
    } else {
        SINTER__CHECK(open_gap(self->env, chunk, at, sizeof *runs, err));
        ((sinter__chunk_run *)chunk->data)[at] = (sinter__chunk_run){value, value};
    }
    chunk->count++;
    self->count++;
    return SINTER_OK;
}

static sinter_status
add_to_chunk(sinter__bitmap *self, sinter__bitmap_chunk *chunk, uint16_t value, sinter_error *err)
{
    switch (chunk->form) {
    case SINTER__CHUNK_VALUES:
        return add_value(self, chunk, value, err);
    case SINTER__CHUNK_RUNS:
        return add_to_runs(self, chunk, value, err);
    default:
        set_bits(chunk->data, (sinter__chunk_run){value, value});
        chunk->count++;
        self->count++;
        return SINTER_OK;
    }
}

/* Put in a chunk of one value. */
static sinter_status
add_chunk(sinter__bitmap *self, uint32_t at, uint32_t number, sinter_error *err)
{
    sinter__bitmap_chunk chunk = {.key = (uint16_t)(number >> 16), .used = 1, .count = 1};
    sinter_status st = SINTER_OK;

    chunk.form = SINTER__CHUNK_VALUES;
    SINTER__TRY(sinter__chunk_resize(self->env, &chunk, DATA_BYTES_FIRST, err));
    *(uint16_t *)chunk.data = (uint16_t)(number & 0xffff);
    SINTER__TRY(insert_chunk(self, at, &chunk, err));
    self->count++;
out:
    if (st != SINTER_OK) {
        chunk_fini(self->env, &chunk);
    }
    return st;
}

sinter_status
sinter__bitmap_add(sinter__bitmap *bitmap, uint32_t number, bool *added_out, sinter_error *err)
{
    const uint32_t key = number >> 16;
    const uint32_t at = find_chunk(bitmap, key);

    *added_out = false;
    if (at == bitmap->chunk_count || bitmap->chunks[at].key != key) {
        SINTER__CHECK(add_chunk(bitmap, at, number, err));
    } else if (chunk_contains(&bitmap->chunks[at], number & 0xffff)) {
        return SINTER_OK;
    } else {
        SINTER__CHECK(add_to_chunk(bitmap, &bitmap->chunks[at], (uint16_t)(number & 0xffff), err));
    }
    *added_out = true;
    return SINTER_OK;
}

/* Put in a copy of another bitmap's chunk. */
static sinter_status
copy_chunk(sinter__bitmap *self, uint32_t at, const sinter__bitmap_chunk *from, sinter_error *err)
{
    sinter__bitmap_chunk chunk = *from;
    sinter_status st = SINTER_OK;

    chunk.data = NULL;
    chunk.capacity = 0;
    SINTER__TRY(sinter__chunk_resize(self->env, &chunk, from->capacity, err));
    memcpy(chunk.data, from->data, from->capacity);
    SINTER__TRY(insert_chunk(self, at, &chunk, err));
    self->count += chunk.count;
out:
    if (st != SINTER_OK) {
        chunk_fini(self->env, &chunk);
    }
    return st;
}

sinter_status
sinter__bitmap_merge(sinter__bitmap *bitmap, const sinter__bitmap *other, sinter_error *err)
{
    for (uint32_t i = 0; i < other->chunk_count; i++) {
        const sinter__bitmap_chunk *from = &other->chunks[i];
        const uint32_t at = find_chunk(bitmap, from->key);

        if (at == bitmap->chunk_count || bitmap->chunks[at].key != from->key) {
            SINTER__CHECK(copy_chunk(bitmap, at, from, err));
        } else {
            sinter__bitmap_chunk *chunk = &bitmap->chunks[at];
            uint64_t words[SINTER__CHUNK_WORDS] = {0};

            spread(chunk, words);
            spread(from, words);
            SINTER__CHECK(rebuild(bitmap, chunk, words, chunk->was_runs || from->was_runs, err));
        }
    }
    return SINTER_OK;
}
