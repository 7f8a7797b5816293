#include "soak/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
soak_model_init(soak_model *model, uint32_t bucket, uint32_t key_count)
{
    *model = (soak_model){.bucket = bucket, .key_count = key_count};
    model->keys = soak_allocate(key_count * sizeof *model->keys);
    (void)pthread_mutex_init(&model->mutex, NULL);
    for (size_t i = 0; i < SOAK_PINS_MAX; i++) {
        model->pins[i] = UINT64_MAX;
    }
}

void
soak_model_fini(soak_model *model)
{
    for (uint32_t i = 0; i < model->key_count; i++) {
        free(model->keys[i].list);
    }
    free(model->keys);
    free(model->points);
    (void)pthread_mutex_destroy(&model->mutex);
}

static void
lock(soak_model *model)
{
    (void)pthread_mutex_lock(&model->mutex);
}

static void
unlock(soak_model *model)
{
    (void)pthread_mutex_unlock(&model->mutex);
}

/* ---- what nobody asks for any more ---- */

static uint64_t
oldest_needed(const soak_model *model)
{
    uint64_t oldest = model->committed;

    if (model->point_count > 0 && model->points[model->point_count - 1] < oldest) {
        oldest = model->points[model->point_count - 1];
    }
    for (size_t i = 0; i < SOAK_PINS_MAX; i++) {
        oldest = model->pins[i] < oldest ? model->pins[i] : oldest;
    }
    return oldest;
}

/* A version up to `oldest` that isn't lost never will be: that is at most what was committed. What
 * was written before the newest of these is covered by it for good. */
static void
prune_key(soak_versions *versions, uint64_t oldest)
{
    uint32_t first = 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < versions->count; i++) {
        if (versions->list[i].moment <= oldest && versions->list[i].lost_at == UINT64_MAX) {
            first = i;
        }
    }
    for (uint32_t i = first; i < versions->count; i++) {
        if (versions->list[i].lost_at > oldest) {
            versions->list[kept++] = versions->list[i];
        }
    }
    versions->count = kept;
}

static void
prune_points(soak_model *model)
{
    const uint64_t oldest = oldest_needed(model);
    size_t dropped = 0;

    while (dropped + 1 < model->point_count && model->points[dropped] < oldest) {
        dropped++;
    }
    if (dropped > 0) {
        model->point_count -= dropped;
        memmove(model->points, model->points + dropped, model->point_count * sizeof *model->points);
    }
}

static void
point_add(soak_model *model, uint64_t moment)
{
    if (model->point_count > 0 && model->points[model->point_count - 1] == moment) {
        return;
    }
    prune_points(model);
    if (model->point_count == model->point_capacity) {
        model->point_capacity = model->point_capacity == 0 ? 16 : model->point_capacity * 2;
        model->points = soak_resize(model->points, model->point_capacity, sizeof *model->points);
    }
    model->points[model->point_count++] = moment;
}

/* ---- the writer ---- */

uint64_t
soak_model_write_begin(soak_model *model, uint32_t key, bool is_delete)
{
    soak_versions *versions = &model->keys[key];
    uint64_t moment = 0;

    lock(model);
    if (versions->count >= 8) {
        prune_key(versions, oldest_needed(model));
    }
    if (versions->count == versions->capacity) {
        versions->capacity = versions->capacity == 0 ? 4 : versions->capacity * 2;
        versions->list = soak_resize(versions->list, versions->capacity, sizeof *versions->list);
    }
    moment = model->written + 1;
    versions->list[versions->count++] = (soak_version){moment, UINT64_MAX, is_delete};
    model->is_flushing = true;
    unlock(model);
    return moment;
}

void
soak_model_write_end(soak_model *model, uint32_t key, bool is_written, bool flushed)
{
    lock(model);
    model->is_flushing = false;
    if (flushed) {
        point_add(model, model->written);
    }
    if (is_written) {
        model->written++;
    } else {
        model->keys[key].count--;
    }
    unlock(model);
}

void
soak_model_flush_begin(soak_model *model)
{
    lock(model);
    model->is_flushing = true;
    unlock(model);
}

void
soak_model_flush_end(soak_model *model, bool flushed)
{
    lock(model);
    model->is_flushing = false;
    if (flushed) {
        point_add(model, model->written);
    }
    unlock(model);
}

void
soak_model_commit_begin(soak_model *model, uint64_t moment)
{
    lock(model);
    model->attempted = moment;
    unlock(model);
}

void
soak_model_commit_end(soak_model *model, uint64_t moment)
{
    lock(model);
    model->committed = moment;
    unlock(model);
}

void
soak_model_restart(soak_model *model, uint64_t moment, bool is_pooled)
{
    lock(model);
    if (moment != model->committed && moment != model->attempted) {
        soak_wrong("bucket %" PRIu32 ": the catalog holds moment %" PRIu64
                   ", committed was %" PRIu64 ", tried %" PRIu64,
                   model->bucket, moment, model->committed, model->attempted);
    }
    model->committed = moment;
    model->attempted = moment;
    model->is_pooled = is_pooled;
    model->written++;
    for (uint32_t i = 0; i < model->key_count; i++) {
        soak_versions *versions = &model->keys[i];

        for (uint32_t j = 0; j < versions->count; j++) {
            soak_version *version = &versions->list[j];

            if (version->moment > moment && version->lost_at == UINT64_MAX) {
                version->lost_at = model->written;
            }
        }
    }
    point_add(model, model->written);
    unlock(model);
}

uint64_t
soak_model_written(soak_model *model)
{
    uint64_t written = 0;

    lock(model);
    written = model->written;
    unlock(model);
    return written;
}

/* ---- readers ---- */

void
soak_model_acquire_begin(soak_model *model, uint32_t pin, soak_candidates *out)
{
    lock(model);
    out->count = 1;
    out->moments[0] = model->points[model->point_count - 1];
    model->pins[pin] = out->moments[0];
    unlock(model);
}

bool
soak_model_acquire_end(soak_model *model, soak_candidates *out)
{
    const uint64_t first = out->moments[0];
    bool has_room = true;

    lock(model);
    for (size_t i = 0; i < model->point_count; i++) {
        has_room = out->count + 1 < SOAK_CANDIDATES_MAX;
        if (model->points[i] > first && has_room) {
            out->moments[out->count++] = model->points[i];
        }
    }
    if ((model->is_flushing || model->is_pooled) &&
        out->moments[out->count - 1] != model->written) {
        out->moments[out->count++] = model->written;
    }
    unlock(model);
    return has_room;
}

void
soak_model_release(soak_model *model, uint32_t pin)
{
    lock(model);
    model->pins[pin] = UINT64_MAX;
    unlock(model);
}

/* The moment of the write that is seen; 0: none, or a delete. */
static uint64_t
seen_at(const soak_versions *versions, uint64_t moment)
{
    for (uint32_t i = versions->count; i > 0; i--) {
        const soak_version *version = &versions->list[i - 1];

        if (version->moment <= moment && version->lost_at > moment) {
            return version->is_delete ? 0 : version->moment;
        }
    }
    return 0;
}

typedef struct difference {
    uint32_t key;
    uint64_t expected;
    uint64_t got;
} difference;

static bool
fits(const soak_model *model, uint64_t moment, const soak_question *question, const soak_rows *rows,
     difference *out)
{
    size_t at = 0;

    for (uint32_t key = question->begin; key < question->end; key++) {
        const bool is_there = at < rows->count && rows->rows[at].key == key;
        const uint64_t got = is_there ? rows->rows[at].moment : 0;
        const uint64_t expected = seen_at(&model->keys[key], moment);

        if (got != expected) {
            *out = (difference){key, expected, got};
            return false;
        }
        at += is_there ? 1 : 0;
    }
    return true;
}

static void
print_wrong(const soak_model *model, uint64_t moment, const soak_question *question,
            const difference *first, const char *what)
{
    const soak_versions *versions = &model->keys[first->key];

    for (uint32_t i = 0; i < versions->count; i++) {
        const soak_version *version = &versions->list[i];

        fprintf(stderr, "  version of moment %" PRIu64 "%s, lost at %" PRIu64 "\n", version->moment,
                version->is_delete ? ", a delete" : "",
                version->lost_at == UINT64_MAX ? 0 : version->lost_at);
    }
    for (size_t i = 0; i < question->count; i++) {
        const sinter_file_meta *file = &question->files[i];

        fprintf(stderr,
                "  file %s level %d, sequences %" PRId64 " to %" PRId64 ", %" PRIu64 " rows\n",
                file->file_name, (int)file->level, file->min_sequence_number,
                file->max_sequence_number, file->row_count);
    }
    soak_wrong("%s: bucket %" PRIu32 ", key %" PRIu32 " at moment %" PRIu64 " is of %" PRIu64
               ", and %" PRIu64 " was read (0: none); written %" PRIu64 ", committed %" PRIu64,
               what, model->bucket, first->key, moment, first->expected, first->got, model->written,
               model->committed);
}

void
soak_model_check(soak_model *model, soak_candidates *candidates, const soak_question *question,
                 const soak_rows *rows, const char *what)
{
    const uint64_t last = candidates->moments[candidates->count - 1];
    difference first = {0, 0, 0};
    size_t kept = 0;

    lock(model);
    for (size_t i = 0; i < candidates->count; i++) {
        if (fits(model, candidates->moments[i], question, rows, &first)) {
            candidates->moments[kept++] = candidates->moments[i];
        }
    }
    if (kept == 0) {
        print_wrong(model, last, question, &first, what);
    }
    candidates->count = kept;
    unlock(model);
}
