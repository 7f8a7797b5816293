#include "table/file_index_words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "table/java_order.h"

enum { SLOTS_FIRST = 64 };

/* More than there may be words. */
#define SLOTS_MAX ((uint32_t)1 << 31)

/** A distinct value. */
typedef struct word {
    int64_t number;
    uint64_t hash;
    uint64_t text_at;
    uint32_t text_size;
    uint32_t rows;
} word;

static word *
word_at(const sinter__index_words *self, uint32_t index)
{
    return (word *)(void *)self->words.memory.data + index;
}

static uint32_t *
slots_of(const sinter__index_words *self)
{
    return (uint32_t *)(void *)self->slots.data;
}

void
sinter__index_words_fini(sinter__index_words *self)
{
    sinter__pile_fini(self->env, &self->of_rows);
    sinter__pile_fini(self->env, &self->words);
    sinter__pile_fini(self->env, &self->text);
    sinter__scratch_fini(self->env, &self->slots);
}

sinter__index_value
sinter__index_words_get(const sinter__index_words *self, uint32_t index)
{
    const word *found = word_at(self, index);
    sinter__index_value value = {.number = found->number};

    assert(index < self->count);
    if (found->text_size > 0) {
        value.bytes = (sinter_bytes){self->text.memory.data + found->text_at, found->text_size};
    }
    return value;
}

sinter_status
sinter__index_words_put(const sinter__index_words *self, uint32_t index, sinter__pile *out,
                        sinter_error *err)
{
    const sinter__index_value value = sinter__index_words_get(self, index);
    uint8_t *to = NULL;

    SINTER__CHECK(
        sinter__index_room(self->env, out, sinter__index_value_size(self->form, &value), &to, err));
    (void)sinter__index_value_put(self->form, &value, to);
    return SINTER_OK;
}

uint32_t
sinter__index_words_rows(const sinter__index_words *self, uint32_t index)
{
    assert(index < self->count);
    return word_at(self, index)->rows;
}

uint32_t
sinter__index_words_of_row(const sinter__index_words *self, uint32_t row)
{
    assert(row < self->rows);
    return ((const uint32_t *)(const void *)self->of_rows.memory.data)[row];
}

/* ---- adding ---- */

static uint64_t
hash_of(const sinter__index_words *self, const sinter__index_value *value)
{
    return self->form == SINTER__INDEX_BYTES ? sinter__hash(value->bytes.data, value->bytes.size)
                                             : sinter__hash(&value->number, sizeof value->number);
}

/* Double the table when it is half full, while it can be. */
static sinter_status
fit_slots(sinter__index_words *self, sinter_error *err)
{
    const uint32_t count = self->slot_count == 0 ? SLOTS_FIRST : self->slot_count * 2;
    sinter__scratch fresh = {.data = NULL};
    uint32_t *slots = NULL;

    if (self->count < self->slot_count / 2 || self->slot_count == SLOTS_MAX) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__scratch_fit(self->env, &fresh, (size_t)count * sizeof *slots, err));
    slots = (uint32_t *)(void *)fresh.data;
    memset(slots, 0, (size_t)count * sizeof *slots);
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t at = (uint32_t)word_at(self, i)->hash & (count - 1);

        while (slots[at] != 0) {
            at = (at + 1) & (count - 1);
        }
        slots[at] = i + 1;
    }
    sinter__scratch_fini(self->env, &self->slots);
    self->slots = fresh;
    self->slot_count = count;
    return SINTER_OK;
}

static sinter_status
add_word(sinter__index_words *self, const sinter__index_value *value, uint64_t hash,
         sinter_error *err)
{
    const word made = {.number = value->number,
                       .hash = hash,
                       .text_at = self->text.size,
                       .text_size = (uint32_t)value->bytes.size};

    if (self->text.size + value->bytes.size > SIZE_MAX / 8) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "the values of an index are too many bytes");
    }
    SINTER__CHECK(sinter__pile_append(self->env, &self->words, &made, sizeof made, err));
    SINTER__CHECK(
        sinter__pile_append(self->env, &self->text, value->bytes.data, value->bytes.size, err));
    self->count++;
    return SINTER_OK;
}

static sinter_status
find_word(sinter__index_words *self, const sinter__index_value *value, uint32_t *out,
          sinter_error *err)
{
    const uint64_t hash = hash_of(self, value);
    uint32_t at = 0;

    SINTER__CHECK(fit_slots(self, err));
    at = (uint32_t)hash & (self->slot_count - 1);
    for (uint32_t slot = 0; (slot = slots_of(self)[at]) != 0;
         at = (at + 1) & (self->slot_count - 1)) {
        const sinter__index_value found = sinter__index_words_get(self, slot - 1);

        if (word_at(self, slot - 1)->hash == hash &&
            sinter__index_value_compare(self->form, &found, value) == 0) {
            *out = slot - 1;
            return SINTER_OK;
        }
    }
    *out = self->count;
    SINTER__CHECK(add_word(self, value, hash, err));
    slots_of(self)[at] = self->count;
    return SINTER_OK;
}

sinter_status
sinter__index_words_add(sinter__index_words *self, const sinter__index_value *value,
                        sinter_error *err)
{
    const uint32_t before = self->count;
    uint32_t index = SINTER__NO_WORD;

    if (self->rows == SINTER__INDEX_ROWS_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "more rows than an index can hold");
    }
    if (value != NULL) {
        SINTER__CHECK(find_word(self, value, &index, err));
        self->ends_new = self->count > before;
    }
    SINTER__CHECK(sinter__pile_append(self->env, &self->of_rows, &index, sizeof index, err));
    self->rows++;
    if (value == NULL) {
        self->nulls++;
    } else {
        word_at(self, index)->rows++;
    }
    return SINTER_OK;
}

/* ---- orders ---- */

/** A word on its way into order. */
typedef struct sorted {
    sinter__index_value value;
    sinter__index_form form;
    uint32_t word;
} sorted;

static int
compare_sorted(const void *a, const void *b)
{
    const sorted *left = a;
    const sorted *right = b;

    return sinter__index_value_compare(left->form, &left->value, &right->value);
}

sinter_status
sinter__index_words_sort(const sinter__index_words *self, uint32_t *order, sinter_error *err)
{
    sinter__scratch memory = {.data = NULL};
    sorted *items = NULL;

    SINTER__CHECK(
        sinter__scratch_fit(self->env, &memory, ((size_t)self->count + 1) * sizeof *items, err));
    items = (sorted *)(void *)memory.data;
    for (uint32_t i = 0; i < self->count; i++) {
        items[i] = (sorted){sinter__index_words_get(self, i), self->form, i};
    }
    if (self->count > 1) {
        qsort(items, self->count, sizeof *items, compare_sorted);
    }
    for (uint32_t i = 0; i < self->count; i++) {
        order[i] = items[i].word;
    }
    sinter__scratch_fini(self->env, &memory);
    return SINTER_OK;
}

static int
compare_places(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

sinter_status
sinter__index_words_java_order(const sinter__index_words *self, uint32_t *order, sinter_error *err)
{
    sinter__scratch memory = {.data = NULL};
    const size_t items = self->count - (self->ends_new ? 1u : 0u);
    uint64_t *places = NULL; /* slot, then words, the last ones first */

    SINTER__CHECK(
        sinter__scratch_fit(self->env, &memory, ((size_t)self->count + 1) * sizeof *places, err));
    places = (uint64_t *)(void *)memory.data;
    for (uint32_t i = 0; i < self->count; i++) {
        const sinter__index_value value = sinter__index_words_get(self, i);

        places[i] =
            (uint64_t)sinter__java_slot(sinter__index_value_java_hash(self->form, &value), items)
                << 32 |
            (self->count - 1 - i);
    }
    if (self->count > 1) {
        qsort(places, self->count, sizeof *places, compare_places);
    }
    for (uint32_t i = 0; i < self->count; i++) {
        order[i] = self->count - 1 - (uint32_t)places[i];
    }
    sinter__scratch_fini(self->env, &memory);
    return SINTER_OK;
}
