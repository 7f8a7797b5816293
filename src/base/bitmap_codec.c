/*
 * The portable Roaring format, little-endian:
 *
 *   no runs   u32 12346 | u32 chunks
 *   runs      u32 12347 | (chunks - 1) << 16 ; a bit per chunk, set: it is of runs
 *   per chunk u16 upper half, u16 count - 1
 *   offsets   per chunk u32, of its data from the beginning; only without runs or from 4 chunks on
 *   data      runs: u16 how many, then u16 first, u16 length - 1 each
 *             up to 4096 numbers: u16 each; more: 1024 u64 of bits
 */
#include <assert.h>

#include "base/bitmap_priv.h"
#include "base/bytes.h"

enum { COOKIE_PLAIN = 12346, COOKIE_RUNS = 12347, OFFSETS_FROM = 4 };

/* ---- writing ---- */

uint32_t
sinter__words_runs(const uint64_t *words)
{
    uint32_t runs = 0;
    uint64_t before = 0;

    for (uint32_t i = 0; i < SINTER__CHUNK_WORDS; i++) {
        runs += (uint32_t)__builtin_popcountll(words[i] & ~(words[i] << 1 | before));
        before = words[i] >> 63;
    }
    return runs;
}

static uint32_t
plain_bytes(uint32_t count)
{
    return count <= SINTER__CHUNK_VALUES_MAX ? 2 * count : SINTER__CHUNK_BITS_BYTES;
}

static uint32_t
runs_bytes(uint32_t runs)
{
    return 2 + 4 * runs;
}

sinter__chunk_form
sinter__chunk_best_form(uint32_t count, uint32_t runs, bool was_runs)
{
    const bool is_array = count <= SINTER__CHUNK_VALUES_MAX;
    const uint32_t limit = plain_bytes(count) + (is_array && was_runs ? 3 : 0);

    if (runs_bytes(runs) < limit) {
        return SINTER__CHUNK_RUNS;
    }
    return is_array ? SINTER__CHUNK_VALUES : SINTER__CHUNK_BITS;
}

/** How a chunk is written. */
typedef struct plan {
    sinter__chunk_form form;
    uint32_t runs;
    uint32_t bytes;
} plan;

static plan
plan_chunk(const sinter__bitmap_chunk *chunk)
{
    sinter__chunk_run run;
    plan p = {.runs = 0};

    if (chunk->form == SINTER__CHUNK_BITS) {
        p.runs = sinter__words_runs(chunk->data);
    } else if (chunk->form == SINTER__CHUNK_RUNS) {
        p.runs = chunk->used;
    } else {
        for (uint32_t from = 0; sinter__chunk_next(chunk, from, &run); from = run.last + 1u) {
            p.runs++;
        }
    }
    p.form = sinter__chunk_best_form(chunk->count, p.runs, chunk->was_runs);
    p.bytes = p.form == SINTER__CHUNK_RUNS ? runs_bytes(p.runs) : plain_bytes(chunk->count);
    return p;
}

static uint32_t
head_bytes(uint32_t chunks, bool has_runs)
{
    const uint32_t cookie = has_runs ? 4 + (chunks + 7) / 8 : 8;
    const uint32_t offsets = !has_runs || chunks >= OFFSETS_FROM ? 4 * chunks : 0;

    return cookie + 4 * chunks + offsets;
}

static bool
has_runs(const sinter__bitmap *self)
{
    for (uint32_t i = 0; i < self->chunk_count; i++) {
        if (plan_chunk(&self->chunks[i]).form == SINTER__CHUNK_RUNS) {
            return true;
        }
    }
    return false;
}

uint64_t
sinter__bitmap_encoded_bytes(const sinter__bitmap *bitmap)
{
    bool any_runs = false;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < bitmap->chunk_count; i++) {
        const plan p = plan_chunk(&bitmap->chunks[i]);

        any_runs = any_runs || p.form == SINTER__CHUNK_RUNS;
        bytes += p.bytes;
    }
    return bytes + head_bytes(bitmap->chunk_count, any_runs);
}

static uint8_t *
put_bits(const sinter__bitmap_chunk *chunk, uint8_t *to)
{
    uint64_t words[SINTER__CHUNK_WORDS] = {0};
    const uint64_t *from = chunk->data;
    sinter__chunk_run run;

    if (chunk->form != SINTER__CHUNK_BITS) { /* runs, more in number than pay */
        for (uint32_t at = 0; sinter__chunk_next(chunk, at, &run); at = run.last + 1u) {
            for (uint32_t value = run.first; value <= run.last; value++) {
                words[value / 64] |= (uint64_t)1 << (value % 64);
            }
        }
        from = words;
    }
    for (uint32_t i = 0; i < SINTER__CHUNK_WORDS; i++) {
        sinter__put_le64(to + (size_t)8 * i, from[i]);
    }
    return to + SINTER__CHUNK_BITS_BYTES;
}

static uint8_t *
put_chunk(const sinter__bitmap_chunk *chunk, const plan *p, uint8_t *to)
{
    sinter__chunk_run run;

    if (p->form == SINTER__CHUNK_BITS) {
        return put_bits(chunk, to);
    }
    if (p->form == SINTER__CHUNK_RUNS) {
        sinter__put_le16(to, (uint16_t)p->runs);
        to += 2;
    }
    for (uint32_t from = 0; sinter__chunk_next(chunk, from, &run); from = run.last + 1u) {
        if (p->form == SINTER__CHUNK_RUNS) {
            sinter__put_le16(to, run.first);
            sinter__put_le16(to + 2, (uint16_t)(run.last - run.first));
            to += 4;
            continue;
        }
        for (uint32_t value = run.first; value <= run.last; value++, to += 2) {
            sinter__put_le16(to, (uint16_t)value);
        }
    }
    return to;
}

uint8_t *
sinter__bitmap_encode(sinter__bitmap *bitmap, uint8_t *to)
{
    const bool any_runs = has_runs(bitmap);
    const uint32_t chunks = bitmap->chunk_count;
    const bool any_offsets = !any_runs || chunks >= OFFSETS_FROM;
    uint8_t *flags = to + 4;
    uint8_t *heads = any_runs ? flags + (chunks + 7) / 8 : to + 8;
    uint8_t *offsets = heads + (size_t)4 * chunks;
    uint8_t *data = to + head_bytes(chunks, any_runs);

    if (any_runs) {
        sinter__put_le32(to, COOKIE_RUNS | (chunks - 1) << 16);
        memset(flags, 0, (chunks + 7) / 8);
    } else {
        sinter__put_le32(to, COOKIE_PLAIN);
        sinter__put_le32(to + 4, chunks);
    }
    for (uint32_t i = 0; i < chunks; i++) {
        sinter__bitmap_chunk *chunk = &bitmap->chunks[i];
        const plan p = plan_chunk(chunk);

        chunk->was_runs = p.form == SINTER__CHUNK_RUNS;
        if (chunk->was_runs) {
            flags[i / 8] |= (uint8_t)(1u << (i % 8));
        }
        sinter__put_le16(heads + (size_t)4 * i, chunk->key);
        sinter__put_le16(heads + (size_t)4 * i + 2, (uint16_t)(chunk->count - 1));
        if (any_offsets) {
            sinter__put_le32(offsets + (size_t)4 * i, (uint32_t)(data - to));
        }
        data = put_chunk(chunk, &p, data);
    }
    return data;
}

/* ---- reading ---- */

/** Bytes that are read from front to back. */
typedef struct source {
    const uint8_t *begin;
    size_t size;
    size_t at;
} source;

#define BAD(from, err, ...) SINTER__ERR_AT((err), SINTER_E_CORRUPT, NULL, (from)->at, __VA_ARGS__)

/* Take bytes, which must be there. */
static sinter_status
take(source *from, size_t size, const uint8_t **out, sinter_error *err)
{
    *out = from->begin + from->at;
    if (size > from->size - from->at) {
        return BAD(from, err, "truncated: a bitmap needs %zu bytes where %zu are left", size,
                   from->size - from->at);
    }
    from->at += size;
    return SINTER_OK;
}

/** What stands in front of the chunks' data. */
typedef struct head {
    uint32_t chunks;
    const uint8_t *flags;   /* NULL: no runs */
    const uint8_t *heads;   /* upper half and count of each */
    const uint8_t *offsets; /* NULL: none */
} head;

static sinter_status
read_head(source *from, head *out, sinter_error *err)
{
    const uint8_t *word = NULL;
    uint32_t cookie = 0;
    uint32_t chunks = 0;

    SINTER__CHECK(take(from, 4, &word, err));
    cookie = sinter__get_le32(word);
    if (cookie == COOKIE_PLAIN) {
        SINTER__CHECK(take(from, 4, &word, err));
        chunks = sinter__get_le32(word);
        if (chunks > SINTER__BITMAP_CHUNKS_MAX) {
            return BAD(from, err, "a bitmap of %u chunks", (unsigned)chunks);
        }
    } else if ((cookie & 0xffff) == COOKIE_RUNS) {
        chunks = (cookie >> 16) + 1;
        SINTER__CHECK(take(from, (chunks + 7) / 8, &out->flags, err));
    } else {
        return BAD(from, err, "no bitmap begins with 0x%08x", (unsigned)cookie);
    }
    SINTER__CHECK(take(from, (size_t)4 * chunks, &out->heads, err));
    if (out->flags == NULL || chunks >= OFFSETS_FROM) {
        SINTER__CHECK(take(from, (size_t)4 * chunks, &out->offsets, err));
    }
    out->chunks = chunks;
    return SINTER_OK;
}

static sinter_status
read_values(const sinter_env *env, source *from, sinter__bitmap_chunk *chunk, sinter_error *err)
{
    const uint8_t *bytes = NULL;
    uint16_t *values = NULL;

    SINTER__CHECK(take(from, (size_t)2 * chunk->count, &bytes, err));
    SINTER__CHECK(sinter__chunk_resize(env, chunk, 2 * chunk->count, err));
    values = chunk->data;
    for (uint32_t i = 0; i < chunk->count; i++) {
        values[i] = sinter__get_le16(bytes + (size_t)2 * i);
        if (i > 0 && values[i] <= values[i - 1]) {
            return BAD(from, err, "the numbers of a bitmap don't ascend: %u, %u",
                       (unsigned)values[i - 1], (unsigned)values[i]);
        }
    }
    chunk->used = (uint16_t)chunk->count;
    return SINTER_OK;
}

static sinter_status
read_runs(const sinter_env *env, source *from, sinter__bitmap_chunk *chunk, sinter_error *err)
{
    const uint8_t *bytes = NULL;
    sinter__chunk_run *runs = NULL;
    uint32_t count = 0;
    uint32_t numbers = 0;
    uint32_t free_from = 0; /* the lowest number that may come next */

    SINTER__CHECK(take(from, 2, &bytes, err));
    count = sinter__get_le16(bytes);
    SINTER__CHECK(take(from, (size_t)4 * count, &bytes, err));
    SINTER__CHECK(sinter__chunk_resize(env, chunk, 4 * count, err));
    runs = chunk->data;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = sinter__get_le16(bytes + (size_t)4 * i);
        const uint32_t last = first + sinter__get_le16(bytes + (size_t)4 * i + 2);

        if (first < free_from || last >= SINTER__CHUNK_NUMBERS) {
            return BAD(from, err, "a run %u..%u of a bitmap where %u..65535 are left",
                       (unsigned)first, (unsigned)last, (unsigned)free_from);
        }
        if (chunk->used > 0 && first == free_from) { /* goes on: one run for us */
            chunk->used--;
            runs[chunk->used].last = (uint16_t)last;
        } else {
            runs[chunk->used] = (sinter__chunk_run){(uint16_t)first, (uint16_t)last};
        }
        chunk->used++;
        numbers += last - first + 1;
        free_from = last + 1;
    }
    if (numbers != chunk->count) {
        return BAD(from, err, "%u numbers in runs where a bitmap counts %u", (unsigned)numbers,
                   (unsigned)chunk->count);
    }
    return SINTER_OK;
}

static sinter_status
read_bits(const sinter_env *env, source *from, sinter__bitmap_chunk *chunk, sinter_error *err)
{
    const uint8_t *bytes = NULL;
    uint64_t *words = NULL;
    uint32_t numbers = 0;

    SINTER__CHECK(take(from, SINTER__CHUNK_BITS_BYTES, &bytes, err));
    SINTER__CHECK(sinter__chunk_resize(env, chunk, SINTER__CHUNK_BITS_BYTES, err));
    words = chunk->data;
    for (uint32_t i = 0; i < SINTER__CHUNK_WORDS; i++) {
        words[i] = sinter__get_le64(bytes + (size_t)8 * i);
        numbers += (uint32_t)__builtin_popcountll(words[i]);
    }
    if (numbers != chunk->count) {
        return BAD(from, err, "%u bits are set where a bitmap counts %u", (unsigned)numbers,
                   (unsigned)chunk->count);
    }
    return SINTER_OK;
}

static sinter_status
read_chunk(sinter__bitmap *self, source *from, const head *h, sinter_error *err)
{
    const uint32_t at = self->chunk_count;
    sinter__bitmap_chunk *chunk = &self->chunks[at];

    *chunk = (sinter__bitmap_chunk){.key = sinter__get_le16(h->heads + (size_t)4 * at)};
    chunk->count = sinter__get_le16(h->heads + (size_t)4 * at + 2) + 1u;
    self->chunk_count++; /* fini releases it from here on */
    self->count += chunk->count;
    if (at > 0 && chunk->key <= chunk[-1].key) {
        return BAD(from, err, "the chunks of a bitmap don't ascend: %u, %u",
                   (unsigned)chunk[-1].key, (unsigned)chunk->key);
    }
    if (h->offsets != NULL && sinter__get_le32(h->offsets + (size_t)4 * at) != from->at) {
        return BAD(from, err, "a chunk of a bitmap at %zu where %u is told", from->at,
                   (unsigned)sinter__get_le32(h->offsets + (size_t)4 * at));
    }
    if (h->flags != NULL && (h->flags[at / 8] >> (at % 8) & 1) != 0) {
        chunk->form = SINTER__CHUNK_RUNS;
        chunk->was_runs = true;
        return read_runs(self->env, from, chunk, err);
    }
    if (chunk->count <= SINTER__CHUNK_VALUES_MAX) {
        chunk->form = SINTER__CHUNK_VALUES;
        return read_values(self->env, from, chunk, err);
    }
    chunk->form = SINTER__CHUNK_BITS;
    return read_bits(self->env, from, chunk, err);
}

sinter_status
sinter__bitmap_decode(sinter__bitmap *bitmap, sinter_bytes bytes, size_t *used_out,
                      sinter_error *err)
{
    source from = {.begin = bytes.data, .size = bytes.size};
    head h = {0};
    sinter_status st = SINTER_OK;

    assert(bitmap->chunk_count == 0 && bitmap->chunk_capacity == 0);
    SINTER__TRY(read_head(&from, &h, err));
    if (h.chunks > 0) {
        SINTER__TRY(sinter__bitmap_fit_list(bitmap, h.chunks, err));
    }
    while (bitmap->chunk_count < h.chunks) {
        SINTER__TRY(read_chunk(bitmap, &from, &h, err));
    }
    *used_out = from.at;
out:
    if (st != SINTER_OK) {
        sinter__bitmap_fini(bitmap);
    }
    return st;
}
