#include "soak/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 6, HEAD_BYTES = 16 };

sinter_bytes
soak_key_make(uint32_t index, uint8_t room[SOAK_KEY_ROOM])
{
    const int size = snprintf((char *)room, SOAK_KEY_ROOM,
                              index % 3 == 1 ? "%06" PRIu32 "/of/three" : "%06" PRIu32, index);

    return (sinter_bytes){room, (size_t)size};
}

sinter_bytes
soak_key_behind(uint32_t index, uint8_t room[SOAK_KEY_ROOM])
{
    sinter_bytes key = soak_key_make(index, room);

    room[key.size++] = 0;
    return key;
}

uint32_t
soak_key_index(sinter_bytes key)
{
    uint8_t room[SOAK_KEY_ROOM];
    sinter_bytes expected = {NULL, 0};
    uint32_t index = 0;

    for (size_t i = 0; i < DIGITS && i < key.size; i++) {
        index = index * 10 + (uint32_t)(key.data[i] - '0') % 10;
    }
    expected = soak_key_make(index, room);
    if (key.size != expected.size || memcmp(key.data, expected.data, key.size) != 0) {
        soak_wrong("a key that nobody wrote: %.*s", (int)(key.size < 64 ? key.size : 64),
                   (const char *)key.data);
    }
    return index;
}

static size_t
value_size(uint64_t mixed)
{
    if (mixed % 64 == 0) {
        return HEAD_BYTES + (size_t)(mixed >> 32) % (SOAK_VALUE_ROOM - HEAD_BYTES);
    }
    return HEAD_BYTES + (size_t)(mixed >> 32) % 120;
}

sinter_bytes
soak_value_make(uint32_t bucket, uint32_t index, uint64_t moment, uint8_t room[SOAK_VALUE_ROOM])
{
    const uint64_t mixed = soak_mix(soak_mix(bucket, index), moment);
    const size_t size = value_size(mixed);
    soak_random filler = {mixed};

    memcpy(room, &bucket, 4);
    memcpy(room + 4, &index, 4);
    memcpy(room + 8, &moment, 8);
    for (size_t at = HEAD_BYTES; at < size; at += 8) {
        /* half of it compresses */
        const uint64_t word = at % 32 < 16 ? soak_random_next(&filler) : mixed & 0xff;

        memcpy(room + at, &word, size - at < 8 ? size - at : 8);
    }
    return (sinter_bytes){room, size};
}

uint64_t
soak_value_moment(uint32_t bucket, uint32_t index, sinter_bytes value)
{
    uint8_t room[SOAK_VALUE_ROOM];
    sinter_bytes expected = {NULL, 0};
    uint64_t moment = 0;

    if (value.size >= HEAD_BYTES) {
        memcpy(&moment, value.data + 8, 8);
    }
    expected = soak_value_make(bucket, index, moment, room);
    if (value.size != expected.size || memcmp(value.data, expected.data, value.size) != 0) {
        soak_wrong("bucket %" PRIu32 ", key %" PRIu32 ": a value that nobody wrote, %zu bytes",
                   bucket, index, value.size);
    }
    return moment;
}

void
soak_rows_add(soak_rows *rows, uint32_t key, uint64_t moment)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 64 : rows->capacity * 2;
        rows->rows = soak_resize(rows->rows, rows->capacity, sizeof *rows->rows);
    }
    rows->rows[rows->count++] = (soak_row){key, moment};
}

void
soak_rows_fini(soak_rows *rows)
{
    free(rows->rows);
    *rows = (soak_rows){NULL, 0, 0};
}

static void
take_range(const soak_question *question, const sinter_range *range, soak_rows *out)
{
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const uint32_t key = soak_key_index(sinter_batch_key(range->batch, i));
        const sinter_bytes value = range->batch->payload_ops->value(range->batch, i);

        if (key < question->begin || key >= question->end) {
            soak_wrong("bucket %" PRIu32 ": key %" PRIu32 " in an answer on [%" PRIu32 ", %" PRIu32
                       ")",
                       question->bucket, key, question->begin, question->end);
        }
        if (out->count > 0 && out->rows[out->count - 1].key >= key) {
            soak_wrong("bucket %" PRIu32 ": key %" PRIu32 " after %" PRIu32, question->bucket, key,
                       out->rows[out->count - 1].key);
        }
        soak_rows_add(out, key, soak_value_moment(question->bucket, key, value));
    }
}

sinter_status
soak_read(const sinter_env *env, const soak_question *question, soak_rows *out, sinter_error *err)
{
    uint8_t begin[SOAK_KEY_ROOM];
    uint8_t end[SOAK_KEY_ROOM];
    const bool is_point = question->end == question->begin + 1;
    const sinter_view_source source = {.struct_size = (uint32_t)sizeof source,
                                       .base_dir = question->dir,
                                       .files = question->files,
                                       .count = question->count};
    const sinter_view_options options = {.struct_size = (uint32_t)sizeof options,
                                         .has_begin_key = true,
                                         .has_end_key = true,
                                         .begin_key = soak_key_make(question->begin, begin),
                                         .end_key = is_point ? soak_key_behind(question->begin, end)
                                                             : soak_key_make(question->end, end)};
    sinter_view *view = NULL;
    sinter_range ranges[16];
    sinter_status st = sinter_view_open(env, &source, &options, &view, err);

    out->count = 0;
    while (st == SINTER_OK) {
        size_t count = 0;

        st = sinter_view_next(view, ranges, sizeof ranges / sizeof ranges[0], &count, err);
        for (size_t i = 0; st == SINTER_OK && i < count; i++) {
            take_range(question, &ranges[i], out);
        }
    }
    sinter_view_close(view);
    return st == SINTER_END ? SINTER_OK : st;
}
