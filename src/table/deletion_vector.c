/*
 * In memory both formats are a list of bitmaps by upper half, in which format 1 has one at most.
 * The frame:
 *
 *   u32 BE bytes of magic number and bitmap | u32 magic | bitmap | u32 BE CRC-32 of magic and
 * bitmap
 *
 * The magic number is big-endian in format 1 and little-endian in format 2, whose bitmap is
 *
 *   u64 LE maps, then per map  u32 LE upper half | portable 32-bit bitmap
 */
#include "table/deletion_vector.h"

#include <assert.h>
#include <zlib.h>

#include "base/bytes.h"

#define MAGIC_V1 0x5e43f2d0u
#define MAGIC_V2 0xd1d33964u /* as its bytes read big-endian */

enum {
    WORD_BYTES = 4,       /* of length, magic number and checksum */
    FRAME_BYTES = 12,     /* these three */
    OUTER_BYTES = 8,      /* length and checksum, which the length doesn't count */
    BITMAP_BYTES_MIN = 8, /* an empty one; a count of maps */
    MAP_BYTES_MIN = 12,   /* upper half and an empty bitmap */
    MAPS_FIRST = 2,
    KEY_MAX = INT32_MAX - 1
};

/** The positions with one upper half. */
typedef struct position_map {
    uint32_t key;
    sinter__bitmap bitmap; /* not empty */
} position_map;

struct sinter__deletion_vector {
    const sinter_env *env;
    sinter__deletion_format format;
    position_map *maps; /* by key, ascending */
    uint32_t map_count;
    uint32_t map_capacity;
};

sinter_status
sinter__deletion_vector_create(const sinter_env *env, sinter__deletion_format format,
                               sinter__deletion_vector **out, sinter_error *err)
{
    sinter__deletion_vector *vector = NULL;

    assert(format == SINTER__DELETION_V1 || format == SINTER__DELETION_V2);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, vector, 1, err));
    vector->env = env;
    vector->format = format;
    *out = vector;
    return SINTER_OK;
}

void
sinter__deletion_vector_destroy(sinter__deletion_vector *vector)
{
    if (vector == NULL) {
        return;
    }
    for (uint32_t i = 0; i < vector->map_count; i++) {
        sinter__bitmap_fini(&vector->maps[i].bitmap);
    }
    sinter__free(vector->env, vector->maps);
    sinter_memory_release(vector->env->memory,
                          (uint64_t)vector->map_capacity * sizeof(position_map));
    sinter__free(vector->env, vector);
}

sinter__deletion_format
sinter__deletion_vector_format(const sinter__deletion_vector *vector)
{
    return vector->format;
}

uint64_t
sinter__deletion_vector_count(const sinter__deletion_vector *vector)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < vector->map_count; i++) {
        count += vector->maps[i].bitmap.count;
    }
    return count;
}

/* The first map whose key isn't below this one. */
static uint32_t
find_map(const sinter__deletion_vector *self, uint64_t key)
{
    uint32_t low = 0;
    uint32_t high = self->map_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (self->maps[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool
sinter__deletion_vector_contains(const sinter__deletion_vector *vector, uint64_t position)
{
    const uint64_t key = position >> 32;
    const uint32_t at = find_map(vector, key);

    return at < vector->map_count && vector->maps[at].key == key &&
           sinter__bitmap_contains(&vector->maps[at].bitmap, (uint32_t)position);
}

bool
sinter__deletion_vector_next(const sinter__deletion_vector *vector, uint64_t from,
                             sinter__deletion_run *out)
{
    const uint64_t key = from >> 32;
    sinter__bitmap_run run;

    for (uint32_t i = find_map(vector, key); i < vector->map_count; i++) {
        const position_map *map = &vector->maps[i];

        if (sinter__bitmap_next(&map->bitmap, map->key == key ? (uint32_t)from : 0, &run)) {
            out->first = (uint64_t)map->key << 32 | run.first;
            out->last = (uint64_t)map->key << 32 | run.last;
            return true;
        }
    }
    return false;
}

/* Room for so many maps. */
static sinter_status
fit_maps(sinter__deletion_vector *self, uint32_t capacity, sinter_error *err)
{
    const uint64_t more = (uint64_t)(capacity - self->map_capacity) * sizeof *self->maps;
    sinter_status st = SINTER_OK;

    assert(capacity > self->map_capacity);
    SINTER__CHECK(sinter_memory_reserve(self->env->memory, more, err));
    st = sinter__resize(self->env, (void **)&self->maps, capacity, sizeof *self->maps, err);
    if (st != SINTER_OK) {
        sinter_memory_release(self->env->memory, more);
        return st;
    }
    self->map_capacity = capacity;
    return SINTER_OK;
}

/* Put an empty map into the list. */
static sinter_status
insert_map(sinter__deletion_vector *self, uint32_t at, uint32_t key, sinter_error *err)
{
    if (self->map_count == self->map_capacity) {
        SINTER__CHECK(
            fit_maps(self, self->map_capacity == 0 ? MAPS_FIRST : self->map_capacity * 2, err));
    }
    memmove(&self->maps[at + 1], &self->maps[at], (self->map_count - at) * sizeof *self->maps);
    self->maps[at] = (position_map){.key = key, .bitmap = {.env = self->env}};
    self->map_count++;
    return SINTER_OK;
}

static void
remove_map(sinter__deletion_vector *self, uint32_t at)
{
    sinter__bitmap_fini(&self->maps[at].bitmap);
    self->map_count--;
    memmove(&self->maps[at], &self->maps[at + 1], (self->map_count - at) * sizeof *self->maps);
}

/* Find the map of a key, or put an empty one in. */
static sinter_status
get_map(sinter__deletion_vector *self, uint32_t key, uint32_t *at_out, sinter_error *err)
{
    *at_out = find_map(self, key);
    if (*at_out < self->map_count && self->maps[*at_out].key == key) {
        return SINTER_OK;
    }
    return insert_map(self, *at_out, key, err);
}

static uint64_t
position_max(sinter__deletion_format format)
{
    return format == SINTER__DELETION_V1 ? SINTER__DELETION_V1_POSITION_MAX
                                         : SINTER__DELETION_V2_POSITION_MAX;
}

sinter_status
sinter__deletion_vector_add(sinter__deletion_vector *vector, uint64_t position, bool *added_out,
                            sinter_error *err)
{
    uint32_t at = 0;
    sinter_status st = SINTER_OK;

    *added_out = false;
    if (position > position_max(vector->format)) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW,
                           "position out of range: %llu in a deletion vector of format %d",
                           (unsigned long long)position, (int)vector->format);
    }
    SINTER__CHECK(get_map(vector, (uint32_t)(position >> 32), &at, err));
    st = sinter__bitmap_add(&vector->maps[at].bitmap, (uint32_t)position, added_out, err);
    if (vector->maps[at].bitmap.count == 0) {
        remove_map(vector, at);
    }
    return st;
}

sinter_status
sinter__deletion_vector_merge(sinter__deletion_vector *vector, const sinter__deletion_vector *other,
                              sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (vector->format != other->format) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "a deletion vector of format %d can't take one of format %d",
                           (int)vector->format, (int)other->format);
    }
    for (uint32_t i = 0; i < other->map_count && st == SINTER_OK; i++) {
        uint32_t at = 0;

        SINTER__CHECK(get_map(vector, other->maps[i].key, &at, err));
        st = sinter__bitmap_merge(&vector->maps[at].bitmap, &other->maps[i].bitmap, err);
        if (vector->maps[at].bitmap.count == 0) {
            remove_map(vector, at);
        }
    }
    return st;
}

void
sinter__deletion_vector_widen(sinter__deletion_vector *vector)
{
    vector->format = SINTER__DELETION_V2;
}

/* ---- writing ---- */

sinter_status
sinter__deletion_vector_encoded_bytes(const sinter__deletion_vector *vector, uint64_t *out,
                                      sinter_error *err)
{
    const uint32_t maps = vector->map_count;
    uint64_t bytes = FRAME_BYTES;

    for (uint32_t i = 0; i < maps; i++) {
        bytes += sinter__bitmap_encoded_bytes(&vector->maps[i].bitmap);
    }
    if (vector->format == SINTER__DELETION_V1) {
        bytes += maps == 0 ? BITMAP_BYTES_MIN : 0;
    } else {
        const uint64_t keys = maps == 0 ? 0 : (uint64_t)vector->maps[maps - 1].key + 1;

        bytes += sizeof(uint64_t) + keys * WORD_BYTES + (keys - maps) * BITMAP_BYTES_MIN;
    }
    *out = bytes;
    if (bytes > INT32_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a deletion vector of %llu bytes, 2 GiB are the limit",
                           (unsigned long long)bytes);
    }
    return SINTER_OK;
}

static uint8_t *
put_maps(sinter__deletion_vector *vector, uint8_t *to)
{
    sinter__bitmap none = {.env = vector->env};
    uint32_t key = 0;

    sinter__put_le64(
        to, vector->map_count == 0 ? 0 : (uint64_t)vector->maps[vector->map_count - 1].key + 1);
    to += sizeof(uint64_t);
    for (uint32_t i = 0; i < vector->map_count; i++) {
        for (; key < vector->maps[i].key; key++) {
            sinter__put_le32(to, key);
            to = sinter__bitmap_encode(&none, to + WORD_BYTES);
        }
        sinter__put_le32(to, key++);
        to = sinter__bitmap_encode(&vector->maps[i].bitmap, to + WORD_BYTES);
    }
    return to;
}

uint8_t *
sinter__deletion_vector_encode(sinter__deletion_vector *vector, uint8_t *to)
{
    sinter__bitmap none = {.env = vector->env};
    uint8_t *const body = to + WORD_BYTES;
    uint8_t *end = body + WORD_BYTES;

    if (vector->format == SINTER__DELETION_V1) {
        sinter__put_be32(body, MAGIC_V1);
        end = sinter__bitmap_encode(vector->map_count == 0 ? &none : &vector->maps[0].bitmap, end);
    } else {
        sinter__put_be32(body, MAGIC_V2);
        end = put_maps(vector, end);
    }
    assert(end - body <= INT32_MAX);
    sinter__put_be32(to, (uint32_t)(end - body));
    sinter__put_be32(end, (uint32_t)crc32(0, body, (uInt)(end - body)));
    return end + WORD_BYTES;
}

/* ---- reading ---- */

#define BAD(source, at, err, ...) \
    SINTER__ERR_AT((err), SINTER_E_CORRUPT, (source)->path, (source)->offset + (at), __VA_ARGS__)

uint32_t
sinter__deletion_frame_length(const sinter__deletion_frame *frame)
{
    return frame->format == SINTER__DELETION_V1 ? frame->bytes - OUTER_BYTES : frame->bytes;
}

/* Compare the checksum, unless it is to be ignored. */
static sinter_status
check_sum(const sinter__deletion_source *source, uint32_t length, sinter_error *err)
{
    const uint8_t *body = source->bytes.data + WORD_BYTES;
    const uint32_t stored = sinter__get_be32(body + length);
    uint32_t computed = 0;

    if ((source->flags & SINTER__DELETION_IGNORE_CHECKSUM) != 0) {
        return SINTER_OK;
    }
    computed = (uint32_t)crc32(0, body, length);
    if (computed != stored) {
        return BAD(source, WORD_BYTES + length, err,
                   "checksum mismatch: a deletion vector has 0x%08x where its bytes give 0x%08x",
                   (unsigned)stored, (unsigned)computed);
    }
    return SINTER_OK;
}

sinter_status
sinter__deletion_frame_check(const sinter__deletion_source *source, sinter__deletion_frame *out,
                             sinter_error *err)
{
    const sinter_bytes bytes = source->bytes;
    uint32_t length = 0;
    uint32_t magic = 0;

    *out = (sinter__deletion_frame){.bitmap = bytes};
    if (bytes.size < (size_t)2 * WORD_BYTES) {
        return BAD(source, 0, err, "truncated: %zu bytes are no deletion vector", bytes.size);
    }
    length = sinter__get_be32(bytes.data);
    magic = sinter__get_be32(bytes.data + WORD_BYTES);
    if (magic != MAGIC_V1 && magic != MAGIC_V2) {
        return BAD(source, WORD_BYTES, err, "bad magic: no deletion vector has 0x%08x there",
                   (unsigned)magic);
    }
    if (length < WORD_BYTES + BITMAP_BYTES_MIN || length > INT32_MAX - OUTER_BYTES) {
        return BAD(source, 0, err, "length mismatch: a deletion vector of %u bytes",
                   (unsigned)length);
    }
    out->format = magic == MAGIC_V1 ? SINTER__DELETION_V1 : SINTER__DELETION_V2;
    out->bytes = length + OUTER_BYTES;
    if (source->length != 0 && source->length != sinter__deletion_frame_length(out)) {
        return BAD(source, 0, err,
                   "length mismatch: a deletion vector of length %u where it should be %llu",
                   (unsigned)sinter__deletion_frame_length(out),
                   (unsigned long long)source->length);
    }
    if (bytes.size < out->bytes) {
        return BAD(source, bytes.size, err,
                   "truncated: %zu bytes are left of a deletion vector of %u", bytes.size,
                   (unsigned)out->bytes);
    }
    out->bitmap = (sinter_bytes){bytes.data + (size_t)2 * WORD_BYTES, length - WORD_BYTES};
    return check_sum(source, length, err);
}

/** The bitmap's bytes, read from front to back. */
typedef struct body {
    const sinter__deletion_source *source;
    sinter_bytes bytes;
    size_t at;
} body;

/* Where the source the next byte is. */
static uint64_t
body_offset(const body *from)
{
    return (uint64_t)2 * WORD_BYTES + from->at;
}

/* Read the bitmap of a key behind the maps that are there. */
static sinter_status
read_map(sinter__deletion_vector *self, body *from, uint32_t key, sinter_error *err)
{
    const sinter_bytes rest = {from->bytes.data + from->at, from->bytes.size - from->at};
    sinter__bitmap *bitmap = NULL;
    sinter_error fault = SINTER_ERROR_INIT;
    size_t used = 0;
    uint64_t last = 0;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(insert_map(self, self->map_count, key, err));
    bitmap = &self->maps[self->map_count - 1].bitmap;
    st = sinter__bitmap_decode(bitmap, rest, &used, &fault);
    if (st == SINTER_E_CORRUPT) {
        fault.offset += (int64_t)(from->source->offset + body_offset(from));
        sinter__fail_file(&fault, from->source->path);
    }
    if (st != SINTER_OK) {
        if (err != NULL) {
            *err = fault;
        }
        return st;
    }
    from->at += used;
    if (bitmap->count == 0) {
        remove_map(self, self->map_count - 1);
        return SINTER_OK;
    }
    last = (uint64_t)key << 32 | sinter__bitmap_last(bitmap);
    if (last > position_max(self->format)) {
        return BAD(from->source, body_offset(from), err,
                   "position out of range: %llu in a deletion vector of format %d",
                   (unsigned long long)last, (int)self->format);
    }
    return SINTER_OK;
}

static sinter_status
read_maps(sinter__deletion_vector *self, body *from, sinter_error *err)
{
    const uint64_t maps = sinter__get_le64(from->bytes.data);
    int64_t before = -1;

    from->at = sizeof(uint64_t);
    if (maps > (from->bytes.size - from->at) / MAP_BYTES_MIN) {
        return BAD(from->source, body_offset(from), err,
                   "%llu bitmaps in a deletion vector of %zu bytes", (unsigned long long)maps,
                   from->bytes.size);
    }
    for (uint64_t i = 0; i < maps; i++) {
        uint32_t key = 0;

        if (from->bytes.size - from->at < WORD_BYTES) {
            return BAD(from->source, body_offset(from), err,
                       "truncated: a deletion vector ends at bitmap %llu of %llu",
                       (unsigned long long)i, (unsigned long long)maps);
        }
        key = sinter__get_le32(from->bytes.data + from->at);
        if (key > KEY_MAX || (int64_t)key <= before) {
            return BAD(from->source, body_offset(from), err,
                       "upper half %u behind %lld in a deletion vector", (unsigned)key,
                       (long long)before);
        }
        from->at += WORD_BYTES;
        before = key;
        SINTER__CHECK(read_map(self, from, key, err));
    }
    return SINTER_OK;
}

sinter_status
sinter__deletion_vector_decode(const sinter_env *env, const sinter__deletion_source *source,
                               sinter__deletion_vector **out, sinter_error *err)
{
    sinter__deletion_vector *vector = NULL;
    sinter__deletion_frame frame;
    body from = {.source = source};
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(sinter__deletion_frame_check(source, &frame, err));
    SINTER__TRY(sinter__deletion_vector_create(env, frame.format, &vector, err));
    from.bytes = frame.bitmap;
    SINTER__TRY(frame.format == SINTER__DELETION_V1 ? read_map(vector, &from, 0, err)
                                                    : read_maps(vector, &from, err));
    if (from.at != from.bytes.size) {
        st = BAD(source, body_offset(&from), err,
                 "length mismatch: %zu bytes behind a deletion vector's bitmap",
                 from.bytes.size - from.at);
        goto out;
    }
    *out = vector;
    vector = NULL;
out:
    sinter__deletion_vector_destroy(vector);
    return st;
}
