#include "compact/cut.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "compact/path.h"

enum {
    SAMPLES_PER_PART = 64,
    KEY_BYTES_MAX = 256 /* a cut may be any bytes: the beginning of a key is as good */
};

/* Size of formats that can tell of their blocks. */
#define EACH_BLOCK_SIZE (offsetof(sinter_format, each_block) + sizeof(void (*)(void)))

/* So many stored bytes begin at this key. */
typedef struct sample {
    sinter_bytes key;
    uint64_t bytes;
} sample;

/* Samples of all files of the request. */
typedef struct sampling {
    const sinter_env *env;
    sinter__arena *arena; /* of the keys */
    sample *samples;
    size_t count;
    size_t capacity;
    uint64_t step;    /* bytes that one sample stands for, about */
    uint64_t pending; /* bytes since the last sample of the file at hand */
    sinter_error *err;
} sampling;

static sinter_status
add_sample(sampling *s, sinter_bytes key, uint64_t bytes)
{
    const sinter_bytes start = {key.data, key.size < KEY_BYTES_MAX ? key.size : KEY_BYTES_MAX};
    sample *added = NULL;

    if (s->count == s->capacity) {
        const size_t capacity = s->capacity == 0 ? SAMPLES_PER_PART : 2 * s->capacity;

        SINTER__CHECK(
            sinter__resize(s->env, (void **)&s->samples, capacity, sizeof *s->samples, s->err));
        s->capacity = capacity;
    }
    added = &s->samples[s->count];
    added->bytes = bytes;
    SINTER__CHECK(sinter__arena_copy(s->arena, start, &added->key, s->err));
    s->count++;
    return SINTER_OK;
}

/* A block begins a sample when enough bytes came since the last one. */
static sinter_status
see_block(void *ctx, const sinter_block_info *info)
{
    sampling *s = ctx;
    const bool is_first = s->pending == 0;
    sinter_status st = SINTER_OK;

    if (is_first || s->pending >= s->step) {
        st = add_sample(s, info->first_key, 0);
        s->pending = 0;
    }
    if (st == SINTER_OK) {
        s->samples[s->count - 1].bytes += info->stored_bytes;
        s->pending += info->stored_bytes;
    }
    return st;
}

static sinter_status
sample_file(sampling *s, const sinter__read_config *read, const sinter_file_meta *file)
{
    const sinter_format *format = read->format;
    char *path = NULL;
    sinter_status st = SINTER_OK;

    if (format->struct_size < EACH_BLOCK_SIZE || format->each_block == NULL) {
        return add_sample(s, file->min_key, file->file_size);
    }
    SINTER__CHECK(sinter__path_of_file(s->env, read->base_dir, file, &path, s->err));
    s->pending = 0;
    st = format->each_block(format->self, s->env, path, see_block, s, s->err);
    if (st != SINTER_OK) {
        sinter__fail_file(s->err, path);
    }
    sinter__free(s->env, path);
    return st;
}

static sinter_status
each_file_of_run(const sinter_rewrite_run *run,
                 sinter_status (*each)(void *ctx, const sinter_file_meta *file), void *ctx)
{
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < run->count && st == SINTER_OK; i++) {
        st = each(ctx, run->files[i]);
    }
    return st;
}

static sinter_status
each_file(const sinter_rewrite_request *request,
          sinter_status (*each)(void *ctx, const sinter_file_meta *file), void *ctx)
{
    sinter_status st = SINTER_OK;

    for (size_t s = 0; s < request->section_count; s++) {
        const sinter_rewrite_section *section = &request->sections[s];

        for (size_t r = 0; r < section->count && st == SINTER_OK; r++) {
            st = each_file_of_run(&section->runs[r], each, ctx);
        }
    }
    return st;
}

static sinter_status
add_size(void *ctx, const sinter_file_meta *file)
{
    uint64_t *bytes = ctx;

    if (__builtin_add_overflow(*bytes, file->file_size, bytes)) {
        *bytes = UINT64_MAX;
    }
    return SINTER_OK;
}

typedef struct sample_all {
    sampling *sampling;
    const sinter__read_config *read;
} sample_all;

static sinter_status
sample_one(void *ctx, const sinter_file_meta *file)
{
    const sample_all *all = ctx;

    return sample_file(all->sampling, all->read, file);
}

static int
compare_samples(const void *a, const void *b)
{
    return sinter__key_compare(((const sample *)a)->key, ((const sample *)b)->key);
}

/* Go through the samples in key order and cut where a part is full. */
static sinter_status
cut_samples(const sampling *s, size_t parts, sinter__cuts *out, sinter_error *err)
{
    uint64_t total = 0;
    uint64_t before = 0;

    for (size_t i = 0; i < s->count; i++) {
        total += s->samples[i].bytes;
    }
    SINTER__CHECK(SINTER__NEW(s->env, out->keys, parts, err));
    for (size_t i = 0; i < s->count && out->count + 1 < parts; i++) {
        const sinter_bytes key = s->samples[i].key;
        const uint64_t wanted = total / parts * (out->count + 1);
        const sinter_bytes last = out->count > 0 ? out->keys[out->count - 1] : s->samples[0].key;

        /* A cut at the smallest key, or at the last cut, would leave a part without keys. */
        if (before >= wanted && before > 0 && sinter__key_compare(key, last) > 0) {
            out->keys[out->count++] = key;
        }
        before += s->samples[i].bytes;
    }
    return SINTER_OK;
}

/* Learn where the bytes lie, and cut. */
static sinter_status
sample_and_cut(sampling *s, const sinter__read_config *read, const sinter_rewrite_request *request,
               size_t parts, sinter__cuts *out)
{
    sample_all all = {s, read};

    SINTER__CHECK(each_file(request, sample_one, &all));
    assert(s->count > 0);
    qsort(s->samples, s->count, sizeof *s->samples, compare_samples);
    return cut_samples(s, parts, out, s->err);
}

sinter_status
sinter__cuts_choose(const sinter_env *env, const sinter__read_config *read,
                    const sinter_rewrite_request *request, sinter__cut_limits limits,
                    sinter__cuts *out, sinter_error *err)
{
    sampling s = {.env = env, .arena = &out->arena, .err = err};
    uint64_t bytes = 0;
    uint64_t parts = 0;
    sinter_status st = SINTER_OK;

    assert(limits.part_bytes_min > 0);
    *out = (sinter__cuts){.arena.env = env};
    (void)each_file(request, add_size, &bytes);
    parts = bytes / limits.part_bytes_min;
    parts = parts < limits.parts_max ? parts : limits.parts_max;
    if (parts < 2) {
        return SINTER_OK;
    }
    s.step = bytes / parts / SAMPLES_PER_PART + 1;
    st = sample_and_cut(&s, read, request, (size_t)parts, out);
    sinter__free(env, s.samples);
    return st;
}

void
sinter__cuts_fini(const sinter_env *env, sinter__cuts *cuts)
{
    sinter__free(env, cuts->keys);
    if (cuts->arena.env != NULL) {
        sinter__arena_fini(&cuts->arena);
    }
    *cuts = (sinter__cuts){.keys = NULL};
}
